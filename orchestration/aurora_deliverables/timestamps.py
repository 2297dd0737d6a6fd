"""Timestamps: as our documents have them (RFC 3339, in UTC), and as others write them (ISO 8601, RFC 2822, Jira's
exports).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from aurora_protocol.rfc3339 import parsed


def timestamp(seconds: float) -> str:
    """Unix seconds as `2026-02-26T10:00:00Z`, with a fraction (to the microsecond) only where there is one."""
    moment = datetime.fromtimestamp(round(seconds, 6), UTC)
    return moment.replace(tzinfo=None).isoformat() + "Z"


def seconds_of(text: str) -> float:
    """Unix seconds of an RFC 3339 time; without an offset it is taken for UTC. Raises ValueError."""
    moment = parsed(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.timestamp()
    except OverflowError as error:
        raise ValueError(f"{text} is out of range") from error


_FORMATS = ("%d/%b/%y %I:%M %p", "%d/%b/%Y %I:%M %p", "%d/%b/%y %H:%M", "%Y-%m-%d %H:%M", "%d/%b/%y")


class UnreadableTime(ValueError):
    """A time that cannot be read, or is missing where one is needed; the message says which, and what to do."""


def opening(opened: float | None, seen: float, closed: bool, name: str) -> float:
    """When a ticket was opened, or, while it is open, seen first. Raises UnreadableTime where it is closed already.

    How long it took would be made up otherwise, and a made-up 0 is the best there is.
    """
    if opened is None and closed:
        raise UnreadableTime(f"it is closed and {name} is missing, so nobody knows how long it took; export {name} too")
    return seen if opened is None else opened


def told(said: object, name: str) -> float | None:
    """`seconds` of what stands under `name`: None only where nothing does. Raises UnreadableTime.

    Months are read in English, as in most exports; a time in another tongue must not become none, and so now.
    """
    if said is None or (isinstance(said, str) and not said.strip()):
        return None
    found = seconds(said)
    if found is None:
        shown = "".join(each if each.isprintable() else " " for each in str(said))[:64]
        raise UnreadableTime(f"{name} is {shown!r}, which cannot be read as a time; write it as 2026-02-26 10:00")
    return found


def seconds(said: object) -> float | None:
    """Unix seconds of a moment that is written as text or given as a number of seconds; None for anything else.

    Without an offset it is taken as UTC.
    """
    if isinstance(said, bool) or said is None:
        return None
    if isinstance(said, int | float):
        return float(said) if 0 <= said < 253_402_300_800 else None
    if not isinstance(said, str) or not said.strip() or len(said) > 64:
        return None
    text = said.strip()
    for read in (parsed, _rfc_2822, *map(_reader, _FORMATS)):
        try:
            moment = read(text)
            found = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
        return found if found >= 0 else None
    return None


def _rfc_2822(text: str) -> datetime:
    """Date of an e-mail header, parsed."""
    from email.utils import parsedate_to_datetime

    return parsedate_to_datetime(text)


def _reader(pattern: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, pattern).replace(tzinfo=UTC)
