"""Session of a command with the daemon (connect, initialize), which is started on demand if nobody did."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aurora_cli.global_options import GlobalOptions
from aurora_protocol.client import Client, ConnectionLost
from aurora_protocol.connection import NobodyThere

CLIENT_NAME = "aurora-cli"


@contextmanager
def open_session(
    settings: GlobalOptions, root: Path | None, options: Mapping[str, Any] | None = None
) -> Iterator[Client]:
    """Connection to the daemon, started when needed, initialized with the workspace at `root` (None: with none).

    `options` are `initializationOptions`.
    """
    started = time.monotonic()
    client = reach_daemon(settings)
    try:
        try:
            client.initialize(root, CLIENT_NAME, os.getpid(), options=options)
        except ConnectionLost:  # it was on its way out; the next one is not
            client.close()
            client = reach_daemon(settings)
            client.initialize(root, CLIENT_NAME, os.getpid(), options=options)
        if settings.verbosity:
            spent = 1000 * (time.monotonic() - started)
            print(f"session with {settings.address.socket} for {root} after {spent:.0f} ms", file=sys.stderr)
        yield client
    finally:
        client.close()


def reach_daemon(settings: GlobalOptions) -> Client:
    """A connected client; starts the daemon when none listens. Raises DaemonUnreachable."""
    address = settings.address
    try:
        client = Client.connect(address)
    except NobodyThere:
        from aurora_protocol.launch import ensure_daemon

        return ensure_daemon(address, environ={**os.environ, **settings.variables})
    late = {"--config": settings.config, "--lifespan-policies": settings.lifespan_policies}
    if named := " and ".join(option for option, file in late.items() if file is not None):
        print(f"aurora: the daemon runs already, with a configuration of its own; stop it for {named}", file=sys.stderr)
    return client
