"""Version number of the release: the one place it is written."""

__version__ = "0.1.0"
