"""Standalone session over standard input and output, in this process, without a daemon (`aurora lsp --standalone`)."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import sys
from collections.abc import Mapping
from typing import BinaryIO

from aurora_protocol import DaemonUnreachable
from aurora_protocol.address import Address, home
from aurora_server.configuration.live_settings import SettingsSource
from aurora_server.configuration.settings import SettingsError
from aurora_server.daemon import daemon_log
from aurora_server.daemon.lifetime import close_core, core_of, end_for_certain, stop_on_signals
from aurora_server.workspace.composition import WorkspaceOpener

logger = logging.getLogger(__name__)

EXIT_USAGE = 2
EXIT_UNREACHABLE = 3


def run_stdio(environ: Mapping[str, str] = os.environ) -> int:
    """Serve standard input until it ends; return the exit code."""
    # Whatever prints (a library, a worker) must not write into the middle of a frame.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        source = SettingsSource(environ)
        address = Address.of(home(environ))
        address.prepare()
        chosen = source.started
        log = daemon_log.log_file(address.log.with_name("standalone.log"), chosen.logging, address.home)
        with daemon_log.to_file(log, chosen.logging, chosen.logging.rotation, echo=False):
            asyncio.run(_serve(source, address, environ, replies))
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_USAGE
    except DaemonUnreachable as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_UNREACHABLE
    return 0


async def _serve(configured: SettingsSource, address: Address, environ: Mapping[str, str], replies: BinaryIO) -> None:
    """Session on standard input and output, until it ends."""
    from aurora_server.session import lean_lsprotocol  # half a second of imports; --help does without

    lean_lsprotocol.load()
    from aurora_server.daemon.connection import ByteSource, ClientConnection

    loop = asyncio.get_running_loop()
    source: ByteSource
    if _can_be_waited_for(sys.stdin.fileno()):
        source = reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    else:
        source = _FileStream(sys.stdin.buffer)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), replies
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    stopped: list[ClientConnection] = []

    def stop(reason: str) -> None:
        for connection in stopped:
            connection.end(reason)

    core = core_of(configured, WorkspaceOpener(configured, environ), "stdio", address.log, stop)
    connection = ClientConnection(source, writer, core, 1)
    stopped.append(connection)
    core.connections = 1
    stop_on_signals(stop)
    try:
        await connection.run()
    finally:
        end_for_certain(lambda: None)
        await close_core(core)


def _can_be_waited_for(descriptor: int) -> bool:
    """Whether the event loop can watch it: pipes, sockets and terminals, not files and not the null device."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


class _FileStream:
    """Stream of a redirected file. Reading from a file never waits for anybody."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def read(self, n: int = -1, /) -> bytes:
        return await asyncio.to_thread(self._file.read1, n)  # type: ignore[attr-defined]
