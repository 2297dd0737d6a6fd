"""`aurora daemon run --detached`, as every command starts it when nobody listens: somebody waits for it."""

from __future__ import annotations

import os

from aurora_cli.fast_exit import stay
from aurora_protocol.address import Address, home


def run_detached() -> int:
    """Run the daemon of $AURORA_HOME until it is stopped or idle; returns its exit code."""
    try:
        from aurora_server.daemon.daemon import run

        stay()
        return run(Address.of(home(os.environ)), detached=True)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the other place where errors become exit codes
        from aurora_cli.errors import report

        return report(error, verbosity=0)
