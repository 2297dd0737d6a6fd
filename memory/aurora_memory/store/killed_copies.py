"""Cleanup after a crash (stale temporary files): what a process was making beside a memory file when it was killed:
copies before an upgrade or for another work tree, new files, what passes from one memory to another.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path

from aurora_protocol.process_state import may_live

_ABANDONED = 3600.0
"""Seconds without a write after which nobody goes on with one, though a process of that id lives."""


def forget_killed_copies(path: Path) -> list[Path]:
    """Remove those of the memory file `path`, of whichever version, with SQLite's files beside them; what was removed.

    One of a process that lives may go on, for an hour. Blocks.
    """
    name = re.escape(path.name)
    copy = re.compile(
        rf"(?:{name}\.v\d+\.bak\.|{name}\.new-|\.{name}\.)(\d+)(?:-\d+|\.copy|\.adopting)(?:-wal|-shm|-journal)?"
    )
    gone: list[Path] = []
    with suppress(OSError):  # no folder yet; what is wrong with it is told by who opens the file
        for each in path.parent.iterdir():
            found = copy.fullmatch(each.name)
            if found is None:
                continue
            with suppress(OSError):  # another one did
                if not may_live(int(found[1])) or time.time() - each.stat().st_mtime > _ABANDONED:
                    each.unlink()
                    gone.append(each)
    return gone
