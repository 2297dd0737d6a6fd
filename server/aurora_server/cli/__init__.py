"""The command line: `aurora`, or `aur` for short.

Everything here is imported late. `main` first takes the workspace's own folders off the import path, and each command
brings in only what it needs: `aur mem` has to be over before one notices that it ran.
"""

import sys


def main() -> int:
    """Run the command that `sys.argv` spells, and end with its exit code, or return it."""
    from aurora_server.cli.import_path import close_import_path

    close_import_path()
    from aurora_server.cli.haste import hurry, leave, open_streams

    hurry()
    open_streams()
    from aurora_server.cli.app import run

    return leave(run(sys.argv[1:]))
