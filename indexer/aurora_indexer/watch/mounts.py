"""Mounts below a folder (mount points, bind mounts): what the kernel tells of no event when it is put over a folder, or
taken away (Linux).
"""

from __future__ import annotations

import re
from pathlib import Path

_TABLE = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")


def mounts_below(root: Path) -> frozenset[tuple[str, str]]:
    """The mounts at and below `root`, each by its number and place; none where the system has no such table.

    A mount over another has a number of its own. Blocks for a moment.
    """
    try:
        table = _TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return frozenset()
    here = str(root)
    below = f"{here}/"
    found: set[tuple[str, str]] = set()
    for line in table.splitlines():
        fields = line.split(" ", 5)
        if len(fields) > 4:
            place = _ESCAPED.sub(lambda code: chr(int(code[1], 8)), fields[4])
            if place == here or place.startswith(below):
                found.add((fields[0], place))
    return frozenset(found)
