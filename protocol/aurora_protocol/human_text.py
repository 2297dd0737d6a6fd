"""Human text (formatting of durations, byte sizes, counts, relative times): small amounts of data as people say
them."""

from __future__ import annotations

import re
from datetime import datetime

_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)")
"""What terminals take as a command: CSI, and OSC up to its end."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the order of what follows: a line would be read otherwise than it is."""
_STEPS = ((3600, 60, "min"), (86400, 3600, "h"), (60 * 86400, 86400, "d"), (730 * 86400, 30 * 86400, "mo"))
_YEAR = 365 * 86400


CLOCKS_APART = 600.0
"""Seconds by which another machine's clock may be ahead. What is dated later was dated by one that is wrong."""


def ago(moment: str, now: datetime) -> str:
    """Relative time of an ISO 8601 moment before `now` (with a time zone): `just now`, `5 min ago`, `2 y ago`; of one
    that is yet to come `on 2031-01-01`.
    """
    seconds = (now - datetime.fromisoformat(moment)).total_seconds()
    if seconds < -CLOCKS_APART:
        return f"on {moment[:10]}"
    if seconds < 60:
        return "just now"
    for limit, unit, name in _STEPS:
        if seconds < limit:
            return f"{int(seconds // unit)} {name} ago"
    return f"{int(seconds // _YEAR)} y ago"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def count(number: int, noun: str) -> str:
    """Pluralization: `1 file`, `3,911 chunks`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def used(sure: int, likely: int, noun: str) -> str:
    """`3 callers`, `3 callers and maybe 2 more`, `maybe 1 subclass`; empty where there are none."""
    said = _users(sure, noun) if sure else ""
    if likely:
        said += f" and maybe {likely:,} more" if said else f"maybe {_users(likely, noun)}"
    return said


def handed_on(number: int) -> str:
    """`2 pass it on`: how many name a definition without calling it; empty where none does."""
    return f"{number:,} {'passes' if number == 1 else 'pass'} it on" if number else ""


def heir(kind: str) -> str:
    """What one is called that inherits from a chunk of that kind, or does what it asks: `implementer`, `subclass`."""
    return "implementer" if kind in ("interface", "trait") else "subclass"


def _users(number: int, noun: str) -> str:
    return count(number, noun) if number == 1 or not noun.endswith("s") else f"{number:,} {noun}es"


def month(iso: str) -> str:
    """`Jul 2026`, of a time as the wire has it."""
    return f"{_MONTHS[int(iso[5:7]) - 1]} {iso[:4]}"


def took(milliseconds: float) -> str:
    """`0.4 ms`, `12 ms`, `1.8 s`, `2 min 5 s`."""
    if milliseconds < 1:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def size(amount: int) -> str:
    """Byte size: `512 B`, `4.2 MiB`."""
    value = float(amount)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


_LEAST_CLAUSE = 24
"""Characters of the shortest part of a sentence that is worth a line."""

_CLAUSE_END = re.compile(r"[.;:,] | – | — | \(")


def plain(text: str) -> str:
    """Sanitized text, one printable line: names and comments of a repository must not be able to command the
    terminal.
    """
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(sign if sign.isprintable() else "\ufffd" for sign in line)


def without_controls(text: str) -> str:
    """Sanitized text, without terminal escape sequences (ANSI), of several lines: colours and cursor moves are left
    out, and every other control character but tabs and line ends replaced."""
    return _CONTROL.sub("\ufffd", _SEQUENCE.sub("", text))


def plain_lines(text: str) -> list[str]:
    """The lines of a text as they stand, with tabs widened and whatever is not printable replaced."""
    return [
        "".join(sign if sign.isprintable() else "\ufffd" for sign in line.expandtabs(4)) for line in text.splitlines()
    ]


def shorten(text: str, width: int) -> str:
    """Truncation to `width` characters, with an ellipsis for what is missing."""
    return text if len(text) <= width else text[: max(width - 1, 0)].rstrip() + "…"


def whole_clause(text: str, width: int) -> str:
    """As much of a sentence as fits `width` and still says something whole; empty where no part of it does."""
    if len(text) <= width:
        return text
    ends = (each.start() for each in _CLAUSE_END.finditer(text, 0, max(width, 0)))
    whole = [end for end in ends if end >= _LEAST_CLAUSE and _is_closed(text[:end])]
    return text[: whole[-1]].rstrip(" .;:,") if whole else ""


def _is_closed(text: str) -> bool:
    """Whether no bracket, and no code in backticks, is left open: a comma among arguments ends no clause."""
    return text.count("`") % 2 == 0 and all(text.count(one) <= text.count(other) for one, other in ("()", "[]", "{}"))


def lasting(seconds: float) -> str:
    """Duration: `40 s`, `5 min`, `3 h 10 min`, `2 d 4 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    large, small, units = whole // 3600, whole % 3600 // 60, ("h", "min")
    if whole >= 86400:
        large, small, units = whole // 86400, whole % 86400 // 3600, ("d", "h")
    return f"{large} {units[0]}" + (f" {small} {units[1]}" if small else "")
