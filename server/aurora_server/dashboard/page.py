"""Page and its sections, rendered as HTML (templates) from a picture. Whatever a repository or an agent said is
escaped.
"""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

import jinja2
from msgspec import Struct

from aurora_protocol.human_text import ago, count, lasting, size
from aurora_server.dashboard.charts import bars, timeline
from aurora_server.dashboard.picture import ChangeView, Picture
from aurora_server.dashboard.tier_chart import tier_chart
from aurora_server.dashboard.view import PAGE

SECTIONS = ("health", "metrics", "groups", "filters", "changes", "phases", "failures", "spent")
"""The parts of the page that are sent anew when they changed, in their order."""


class Page:
    """The templates, compiled once."""

    def __init__(self) -> None:
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("aurora_server.dashboard", "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(
            lasting=lasting,
            size=size,
            counted=count,
            number=_number,
            dollars=_dollars,
            quoted=lambda text: quote(text, ""),
            moment=_moment,
            iso=_iso,
        )

    def whole(self, picture: Picture | None, problem: str | None) -> str:
        """The HTML of the page; without a picture it only says what the problem is."""
        sections = self.sections(picture) if picture is not None else {}
        told = {"root": picture.root, "team": picture.team} if picture is not None else {"root": "", "team": False}
        return self._templates.get_template("page.html").render(sections=sections, problem=problem, **told)

    def sections(self, picture: Picture) -> dict[str, str]:
        """The HTML within each section."""
        now = datetime.fromtimestamp(picture.taken_at, UTC)

        def since(moment: float) -> str:
            return ago(datetime.fromtimestamp(moment, UTC).isoformat(), now)

        stretches, ticks = timeline(picture.chosen, picture.taken_at) if picture.chosen is not None else ([], [])
        told = {
            "picture": picture,
            "since": since,
            "chart": tier_chart,
            "view": picture.view,
            "pages": Pagination.of(picture),
            "stretches": stretches,
            "ticks": ticks,
            "failures": bars(picture.failure_types),
            "tools": bars(picture.tool_calls),
            "named": lambda names: [(name, name) for name in names],
            "costly": [each for each in picture.changes if _spent(each)][:10],
        }
        return {name: self._templates.get_template(f"{name}.html").render(told) for name in SECTIONS}


class Pagination(Struct, frozen=True):
    """Pagination of the deliverables shown, counted from 1: `first` to `last` of all, page `number` of `count`."""

    first: int
    last: int
    number: int
    count: int

    @classmethod
    def of(cls, picture: Picture) -> Pagination:
        """The pages of what a picture's view asks for."""
        first = (picture.view.page - 1) * PAGE + 1
        return cls(first, first + len(picture.changes) - 1, picture.view.page, max(1, -(-picture.total // PAGE)))


def _moment(moment: float) -> str:
    """`23 Nov 2026, 14:05`, of this machine's clock."""
    at = datetime.fromtimestamp(moment).astimezone()
    return f"{at.day} {at:%b %Y, %H:%M}"


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def _spent(change: ChangeView) -> bool:
    return change.cost_usd is not None or change.input_tokens is not None


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _dollars(value: float | None) -> str:
    return "–" if value is None else f"${value:,.2f}" if value >= 0.01 or value == 0 else f"${value:.4f}"
