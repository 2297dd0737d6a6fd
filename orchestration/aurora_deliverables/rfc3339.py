"""Times as the documents have them: RFC 3339, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def timestamp(seconds: float) -> str:
    """Unix seconds as `2026-02-26T10:00:00Z`, with a fraction (to the microsecond) only where there is one."""
    moment = datetime.fromtimestamp(round(seconds, 6), UTC)
    return moment.replace(tzinfo=None).isoformat() + "Z"


def seconds_of(text: str) -> float:
    """Unix seconds of an RFC 3339 time; without an offset it is taken for UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.timestamp()
    except OverflowError as error:
        raise ValueError(f"{text} is out of range") from error
