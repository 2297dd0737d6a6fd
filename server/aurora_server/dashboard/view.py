"""View of the deliverables (filters in the URL's query string): which of them a page shows, as its address says.
Addresses are the only state there is, so a view can be kept as a bookmark and works without a script.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import asdict, replace

from aurora_deliverables.choices import STATUSES

PAGE = 50
"""Deliverables on one page."""

MOST_TEXT = 200
MOST_PAGE = 200_000
STATES = ("open", *STATUSES)
KINDS = ("change", "run")


class View(Struct, frozen=True):
    """Filter of a page. Empty is everything; `start` and `end` are days (`2026-11-23`) of this machine's clock."""

    change: str = ""
    q: str = ""
    status: str = ""
    kind: str = ""
    agent: str = ""
    model: str = ""
    start: str = ""
    end: str = ""
    page: int = 1

    @property
    def filters(self) -> bool:
        """Whether it leaves anything out."""
        return any((self.q, self.status, self.kind, self.agent, self.model, self.start, self.end))

    def address(self, **changes: Any) -> str:
        """The address of this view, from the page's own, with something of it changed; of its first page, where that is
        not the page.
        """
        told = asdict(replace(self, **({"page": 1} | changes if set(changes) - {"change"} else changes)))
        query = urlencode({name: value for name, value in told.items() if value and (name, value) != ("page", 1)})
        return f"?{query}"

    def request(self) -> dict[str, Any]:
        """What the daemon is asked for."""
        told = {
            "search": self.q,
            "status": self.status,
            "kind": self.kind,
            "agent": self.agent,
            "model": self.model,
            "since": _midnight(self.start, 0),
            "until": _midnight(self.end, 1),
        }
        asked = {name: value for name, value in told.items() if value}
        return {"action": "list", "limit": PAGE, "offset": (self.page - 1) * PAGE, **asked}


def view_of(params: Mapping[str, str]) -> View:
    """The view that an address asks for; what cannot be is left out."""
    told = {name: _line(params.get(name, "")) for name in ("change", "q", "agent", "model")}
    page = params.get("page", "")
    return View(
        status=_one_of(STATES, params.get("status", "")),
        kind=_one_of(KINDS, params.get("kind", "")),
        start=_day(params.get("start", "")),
        end=_day(params.get("end", "")),
        page=min(max(1, int(page)), MOST_PAGE) if page.isascii() and page.isdecimal() and len(page) < 10 else 1,
        **told,
    )


def _line(given: str) -> str:
    return "".join(each for each in given if each.isprintable())[:MOST_TEXT].strip()


def _one_of(choices: tuple[str, ...], given: str) -> str:
    return given if given in choices else ""


def _day(given: str) -> str:
    try:
        day = date.fromisoformat(given)
    except ValueError:
        return ""
    return day.isoformat() if 1970 < day.year < 9000 else ""


def _midnight(day: str, later: int) -> str:
    """The moment at which a day, or the one so many days later, begins here; empty for no day."""
    if not day:
        return ""
    return datetime.combine(date.fromisoformat(day) + timedelta(later), time()).astimezone().isoformat()
