"""Daemon process (server main loop): claim the address, listen, serve sessions, end when idle, and shut down cleanly.

It listens before it imports what sessions need, so that whoever started it is connected at once. It ends by itself when
nobody has been connected for a while, and when its socket or its home disappears.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import sys
import time

from aurora_protocol import DaemonUnreachable
from aurora_protocol.address import Address
from aurora_protocol.version import __version__
from aurora_server.configuration.live_settings import SettingsSource
from aurora_server.configuration.settings import SettingsError
from aurora_server.daemon import daemon_log
from aurora_server.daemon.endpoint import Endpoint
from aurora_server.daemon.idle_memory import IdleMemory, use_few_arenas
from aurora_server.daemon.lifetime import close_core, core_of, end_for_certain, stop_on_signals
from aurora_server.daemon.listener import Listener
from aurora_server.daemon.standalone import run_stdio
from aurora_server.workspace.composition import WorkspaceOpener

__all__ = ["Daemon", "run", "run_stdio"]

logger = logging.getLogger(__name__)

EXIT_USAGE = 2
EXIT_UNREACHABLE = 3

OPEN_FILES = 65_536
"""Files we ask to have open at most, where the system lets us."""
LOOK_EVERY = 1.0
"""Seconds between two looks at whether we are still wanted and can still be found."""
LEAVE_WITHIN = 0.7
"""Seconds that taking leave of the sessions may take."""


def run(address: Address, *, detached: bool) -> int:
    """Be the daemon of `address`; return its exit code. 0 at once when another daemon has that home already.

    `detached`: started in the background, with no terminal. Otherwise the log is shown on stderr as well.
    """
    os.umask(0o077)
    faulthandler.enable()
    _raise_file_limit()
    use_few_arenas()
    try:
        endpoint = Endpoint.claim(address, time.time())
        if endpoint is None:
            return 0
        try:
            source = SettingsSource({**os.environ, "AURORA_HOME": os.fspath(address.home)})
            chosen = source.started
            log = daemon_log.log_file(address.log, chosen.logging, address.home)
            with daemon_log.to_file(log, chosen.logging, chosen.logging.rotation, echo=not detached):
                if detached:
                    os.chdir(address.home)  # or the folder it was started in could not be unmounted
                asyncio.run(Daemon(endpoint, source, WorkspaceOpener(source, os.environ)).serve())
        finally:
            endpoint.release()
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_USAGE
    except DaemonUnreachable as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_UNREACHABLE
    return 0


def _raise_file_limit() -> None:
    """File descriptor limit raised (RLIMIT_NOFILE): the usual 1,024, or macOS's 256, are too few for a large
    tree.
    """
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # a system that allows less keeps what it has
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Daemon:
    """Daemon: one run of it at a claimed endpoint. `serve` is called once, and the process is to end afterwards."""

    def __init__(self, endpoint: Endpoint, source: SettingsSource, opener: WorkspaceOpener) -> None:
        self._endpoint = endpoint
        self._source = source
        self._in_force = source.started
        self._stopping = asyncio.Event()
        self._reason = ""
        address = endpoint.address
        log = daemon_log.log_file(address.log, source.started.logging, address.home)
        self._core = core_of(source, opener, endpoint.listening_at, log, self.stop)
        self._listener = Listener(endpoint, self._core)
        self._idle_memory = IdleMemory(self._core.workspaces)

    def stop(self, reason: str) -> None:
        """Ask it to end, for this reason."""
        if not self._stopping.is_set():
            self._reason = reason
            self._stopping.set()

    async def serve(self) -> None:
        """Main loop: serve until asked to stop, then end everything in an orderly way, within about two seconds."""
        stop_on_signals(self.stop)
        await self._listener.start()
        logger.info("daemon started", extra={"version": __version__, "pid": os.getpid()})
        looking = asyncio.create_task(self._look(), name="look around")
        try:
            await self._stopping.wait()
        except asyncio.CancelledError:  # the loop itself broke, as where it gets no memory: asyncio ends all that runs
            self.stop("an internal error")
        logger.info("daemon stopping", extra={"reason": self._reason})
        end_for_certain(self._endpoint.release)
        looking.cancel()
        self._endpoint.withdraw()  # who comes from now on starts the next daemon
        try:
            await self._listener.stop("the daemon is stopping", LEAVE_WITHIN)
        except Exception:
            logger.warning("sessions were not taken leave of", exc_info=True)
        await close_core(self._core)
        logger.info("daemon stopped", extra={"pid": os.getpid()})

    async def _look(self) -> None:
        """Idle timeout: end when nobody comes, or could come: another daemon would start beside this one."""
        first, failing = True, False
        while True:
            idle_after = self._in_force.daemon.idle_minutes * 60
            try:
                await self._look_once(idle_after, first=first)
                failing = False
            except Exception:  # a thread that is refused, say; who does not look any more would never end
                if not failing:
                    logger.warning("settings and socket cannot be looked at", exc_info=True)
                failing = True
            first = False
            await asyncio.sleep(min(LOOK_EVERY, idle_after / 4))

    async def _look_once(self, idle_after: float, *, first: bool) -> None:
        """Periodic check: idle timeout, changed settings, memory to give back, the socket still there."""
        if self._listener.idle_seconds >= idle_after:
            self.stop("idle")
        if first:
            await asyncio.to_thread(self._source.tell_log)
        await self._take_settings()
        await self._idle_memory.look()
        if not await asyncio.to_thread(self._endpoint.intact):
            self.stop("its socket is gone")

    async def _take_settings(self) -> None:
        """Use what the user has written into the configuration meanwhile; what asks for it each time has it anyway."""
        chosen = await asyncio.to_thread(self._source.current)
        if chosen is self._in_force:
            return
        self._in_force = chosen
        logging.getLogger().setLevel(chosen.logging.level)
        self._core.workspaces.linger = chosen.daemon.linger_minutes * 60
        await asyncio.to_thread(self._source.tell_log)
