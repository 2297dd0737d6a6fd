"""The daemon, its LSP sessions and the command line: where the rooms come together."""
