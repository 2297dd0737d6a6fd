"""The command line: `aurora`, or `aur` for short.

Everything here is imported late. `main` first takes the workspace's own folders off the import path, and each command
brings in only what it needs: `aur mem` has to be over before one notices that it ran.
"""

import sys

DETACHED = ["daemon", "run", "--detached"]
"""How `aurora_protocol.launch` starts the daemon: nobody reads its help, so it goes without what parses options."""


def main() -> int:
    """Run the command that `sys.argv` spells, and end with its exit code, or return it."""
    from aurora_cli.import_path import close_import_path

    close_import_path()
    from aurora_cli.fast_exit import hurry, leave, open_streams

    hurry()
    open_streams()
    if sys.argv[1:] == DETACHED:
        from aurora_cli.detached import run_detached

        return run_detached()
    from aurora_cli.app import run

    return leave(run(sys.argv[1:]))
