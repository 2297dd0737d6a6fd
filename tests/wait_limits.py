"""Limits of waits: long enough for a machine that does ten other things, since all they do is end what hangs."""

from __future__ import annotations

HANG = 240.0
"""Seconds after which one wait counts as hung; how long things take is for `make bench` to say.

Shorter than the indexer's sweep (600 s), which would find what a watch missed.
"""

INSTALL_HANG = 900.0
"""The same for a program that downloads and installs others."""
