"""RFC 3339 times (timestamp parsing): read as programs write them, `z` and leap seconds too."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_LEAP = re.compile(r"(?<=:\d\d):60(?=[.,]|[Zz+-]|\Z)")


def parsed(text: str) -> datetime:
    """A time as RFC 3339 has it, `z` too; a leap second is told as the second after it. Raises ValueError."""
    given = re.sub(r"z\Z", "Z", text)
    if _LEAP.search(given) is None:
        return datetime.fromisoformat(given)
    return datetime.fromisoformat(_LEAP.sub(":59", given)) + timedelta(seconds=1)
