"""Exchange of this daemon's open records with the hubs of joined teams (background sync): `aurora team sync`, in a
subprocess, with longer pauses after failures (backoff).

So a hub that hangs, refuses or answers garbage costs an editor nothing, and psycopg is never in the daemon. What went
wrong is one line of `aurora team status`. Where no team was joined nothing is started.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from aurora_server.workspace.shared_records import SharedRecords
from aurora_team import TeamError
from aurora_team.membership import Memberships

logger = logging.getLogger(__name__)

SOON_SECONDS = 3.0
"""Seconds after something was learned until it is sent: more may follow."""
LONGEST_SECONDS = 180.0
"""Seconds after which an exchange is given up: it has deadlines of its own for each step."""
MOST_PATIENCE = 10
"""A hub that is away is asked ever more seldom, down to once in so many rounds."""

SYNC = (sys.executable, "-P", "-m", "aurora_cli")


class TeamExchange:
    """Exchange of all open records, every so many seconds, and soon after something was learned. Belongs to the event
    loop's thread.
    """

    def __init__(
        self,
        records: SharedRecords,
        environment: Mapping[str, str],
        every: float,
        command: Sequence[str] = SYNC,
    ) -> None:
        self.failures = 0
        self._records = records
        own = {name: value for name, value in environment.items() if not name.upper().startswith("PYTHON")}
        self._environment = {**own, "AURORA_HOME": str(records.home)}
        self._every = every
        self._command = command
        self._task = asyncio.create_task(self._work(), name="exchange with teams")

    async def close(self) -> None:
        """Stop; an exchange under way is killed, and done again another time."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self) -> None:
        """Loop of the task: periodic sync, soon after something new, with backoff after failures."""
        while True:
            try:
                await self._round()
            except OSError as error:
                logger.warning("teams not exchanged with", extra={"error": str(error)})
                self.failures += 1
            if self.failures:
                await asyncio.sleep(self._every * min(self.failures, MOST_PATIENCE))
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._records.appended.wait()
                    await asyncio.sleep(SOON_SECONDS)

    async def _round(self) -> None:
        """One round over all open records; it ends at the first hub that is away."""
        self._records.appended.clear()
        if not await asyncio.to_thread(_joined, self._records.home):
            self.failures = 0
            return
        for shared in self._records.opened():
            if await self._sync(shared.root):
                self.failures = 0
            else:
                self.failures += 1
                break  # the next one would wait for the same hub

    async def _sync(self, root: Path) -> bool:
        """Exchange one repository's record; False where a hub was away, which the command has written down."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            "--workspace",
            str(root),
            "team",
            "sync",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=self._records.home,
            env=self._environment,
        )
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                return await process.wait() == 0
        except TimeoutError:
            logger.warning("an exchange with teams was given up", extra={"root": str(root), "after": LONGEST_SECONDS})
            return False
        finally:
            if process.returncode is None:
                process.kill()
                await asyncio.shield(process.wait())


def _joined(home: Path) -> bool:
    """Whether a team was joined: without one, no process is started. What cannot be read the command tells of."""
    try:
        return bool(Memberships(home).read())
    except TeamError:
        return True
