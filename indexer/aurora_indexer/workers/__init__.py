"""Worker processes that read and parse files for the daemon."""
