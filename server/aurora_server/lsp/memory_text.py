"""Memory text: how memory is put into words: warmth, ages, and links that editors can open."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from aurora_protocol.human_text import CLOCKS_APART

HOT, WARM, COOL = 1.0, -1.0, -3.0
"""Activation from which a chunk counts as hot (minutes to hours ago), warm (days), cool (weeks); below that, cold."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#!|~])")


def warmth(activation: float) -> str:
    """An activation (AURORA §6.3) as one word."""
    if activation >= HOT:
        return "hot"
    if activation >= WARM:
        return "warm"
    return "cool" if activation >= COOL else "cold"


def moment(iso: str) -> datetime:
    """A time from the wire, with its zone."""
    parsed = datetime.fromisoformat(iso)
    return parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)


def month(then: datetime) -> str:
    """`Jul 2026`, whatever the language of the machine."""
    return f"{_MONTHS[then.month - 1]} {then.year}"


def ago(then: datetime, now: datetime) -> str:
    """Relative time, in the largest unit that fits: `just now`, `5 minutes ago`, `3 days ago`, `2 years ago`; of what
    is yet to come `on 2031-01-01`.
    """
    seconds = (now - then).total_seconds()
    if seconds < -CLOCKS_APART:
        return f"on {then:%Y-%m-%d}"
    for unit, length in (("year", 365.25 * 86400), ("month", 30.44 * 86400), ("week", 7 * 86400.0), ("day", 86400.0)):
        if seconds >= length * (1 if unit != "week" else 2):
            return f"{counted(int(seconds // length), unit)} ago"
    for unit, length in (("hour", 3600.0), ("minute", 60.0)):
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"


def within(times: list[str], span: timedelta, now: datetime) -> int:
    """How many of `times` lie at most `span` back."""
    return sum(now - moment(time) <= span for time in times)


def counted(number: int, noun: str) -> str:
    """Plural: `1 caller`, `2 callers`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def escaped(text: str) -> str:
    """Escaped Markdown: `text` shown as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def file_uri(path: Path, line: int | None = None) -> str:
    """A `file:` URI, with the fragment editors understand as a 1-based line."""
    uri = "file://" + quote(path.as_posix())
    return uri if line is None else f"{uri}#L{line}"


def fenced(code: str, language: str) -> str:
    """Code fence (Markdown block) around `code`, longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"
