"""Command line: `aurora`, or `aur` for short.

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
        return run_detached()
    from aurora_cli.app import run

    return leave(run(sys.argv[1:]))


def run_detached() -> int:
    """Run the daemon of $AURORA_HOME until it is stopped or idle, as every command starts it; somebody waits for it."""
    import os

    from aurora_cli.fast_exit import stay
    from aurora_protocol.address import Address, home

    try:
        from aurora_server.daemon.daemon import run

        stay()
        return run(Address.of(home(os.environ)), detached=True)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the other place where errors become exit codes
        from aurora_cli.errors import report

        return report(error, verbosity=0)
