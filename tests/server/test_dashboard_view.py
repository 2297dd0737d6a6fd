"""Which deliverables the dashboard shows, and how their metrics are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl

import pytest

from aurora_server.dashboard.picture import MetricView, WeekView
from aurora_server.dashboard.tier_chart import BOTTOM, LEFT, LINE, RIGHT, TOP, WIDE, tier_chart
from aurora_server.dashboard.view import View, view_of
from tests.server.daemons import Daemon
from tests.server.dashboards import Dashboard
from tests.wait_limits import HANG

DAY = 86_400.0
MANY = 120


def test_an_address_says_which_deliverables_are_shown_and_what_cannot_be_is_left_out() -> None:
    given = {"q": " cart ", "status": "open", "kind": "run", "agent": "claude", "start": "2026-11-01", "page": "3"}
    view = view_of(given)
    assert view == View(q="cart", status="open", kind="run", agent="claude", start="2026-11-01", page=3)
    assert view_of(dict(parse_qsl(view.address()[1:]))) == view
    odd = {"status": "<b>", "kind": "x", "start": "yesterday", "end": "0001-01-01", "page": "-1", "q": "a\x00\nb" * 200}
    assert view_of(odd) == View(q=("ab" * 200)[:200])
    assert view_of({"page": "9" * 400}).page == view_of({"page": "²"}).page == 1


def test_a_filter_begins_at_the_first_page_and_a_choice_stays_on_its_own() -> None:
    view = View(q="cart", page=4)
    assert view.address(agent="claude") == "?q=cart&agent=claude"
    assert view.address(change="add-cart") == "?change=add-cart&q=cart&page=4"
    assert view.address(page=5) == "?q=cart&page=5"
    assert View().address() == "?" and view.request()["offset"] == 150


def test_a_range_of_days_is_of_this_machines_clock() -> None:
    asked = View(start="2026-11-01", end="2026-11-02").request()
    since, until = datetime.fromisoformat(asked["since"]), datetime.fromisoformat(asked["until"])
    assert (since.hour, until.hour, since.day, until.day) == (0, 0, 1, 3) and since.tzinfo is not None


def metric(key: str, *values: float | None) -> MetricView:
    weeks = tuple(
        WeekView(n * 7 * DAY, (n + 1) * 7 * DAY, 3, value, f"{value}", "high" if value is not None else None)
        for n, value in enumerate(values)
    )
    return MetricView(key, key, values[-1], "", None, None, None, False, None, weeks)


def test_a_chart_has_gaps_where_nothing_is_known() -> None:
    assert tier_chart(metric("spec_conformance", None, None)) is None
    chart = tier_chart(metric("spec_conformance", None, 0.9, 0.8, None, 1.0))
    assert chart is not None and len(chart.lines) == 1 and len(chart.dots) == 3
    assert chart.lines[0].startswith(f"{LEFT},") and "nothing known" in chart.words
    assert chart.dots[2].y == TOP and chart.dates[0].words == "15 Jan", "it begins with the first week that is known"


@pytest.mark.parametrize("key", ["feature_throughput", "resolution_latency", "deliverable_failure_rate"])
@pytest.mark.parametrize("values", [(0.0,), (0.0, 0.0), (1e9, 1.0), (5.0, 3600.0, 0.3), (14.9, 15.1)])
def test_all_is_drawn_within_the_plot_and_no_two_labels_stand_on_each_other(
    key: str, values: tuple[float, ...]
) -> None:
    chart = tier_chart(metric(key, *values))
    assert chart is not None
    assert all(TOP <= each.y <= BOTTOM for each in (*chart.dots, *chart.borders))
    heights = sorted(each.y for each in chart.borders if each.label)
    assert all(after - before >= LINE for before, after in pairwise(heights))


def test_a_better_week_stands_higher_for_throughput_and_the_borders_are_where_the_tiers_end() -> None:
    chart = tier_chart(metric("feature_throughput", 0.5, 2.0))
    assert chart is not None and chart.dots[1].y < chart.dots[0].y
    assert [(each.at, each.label) for each in chart.borders if each.label][:2] == [
        (3.0, "elite ≥ 3 /day"),
        (1.0, "high ≥ 1 /day"),
    ]
    latency = tier_chart(metric("resolution_latency", 600.0, 200_000.0))
    assert latency is not None and latency.borders[0].label == "elite < 1 h"


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("feature_throughput", (0.01, 99.0)),
        ("resolution_latency", (60.0, 5_000_000.0)),
        ("deliverable_failure_rate", (0.0, 100.0)),
        ("recovery_efficiency", (0.0, 100.0)),
        ("spec_conformance", (0.1, 1.0)),
    ],
)
def test_no_label_is_cut_off_where_the_picture_ends(key: str, values: tuple[float, ...]) -> None:
    """A letter is 0.56 of its size wide on the whole, and 11 px high on a narrow screen (Chromium, its usual font)."""
    chart = tier_chart(metric(key, *values))
    assert chart is not None and any(each.label for each in chart.borders)
    letter, gap = 0.56 * 11, 4
    assert max(len(each.label or "") for each in chart.borders) * letter <= WIDE - RIGHT - gap
    assert max(len(each.words) for each in chart.heights) * letter <= LEFT - gap


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    home, root = tmp_path_factory.mktemp("h"), tmp_path_factory.mktemp("w") / "shop"
    (root / ".git").mkdir(parents=True)
    with Daemon(home) as daemon, daemon.client(root) as client:
        fill(client, MANY)
        with Dashboard(home, root) as dashboard:
            dashboard.log_in()
            yield dashboard


def fill(client: Any, many: int) -> None:
    for n in range(many):
        at = datetime.fromtimestamp(1_790_000_000 + n * DAY).astimezone().isoformat()
        agent = {"agent": "codex" if n % 3 else "claude", "model": "large"}
        told = {"change_id": f"change-{n:03}", "description": f"the {'cart' if n % 2 else 'menu'}", "at": at, **agent}
        client.request("aurora/deliverable", {"action": "start", **told}, timeout=HANG)
        if n % 4 == 0:
            done = {"action": "complete", "change_id": f"change-{n:03}", "at": at}
            client.request("aurora/deliverable", done, timeout=HANG)


def names(text: str) -> list[str]:
    return [part.split('"')[0] for part in text.split('<a id="change-change-')[1:]]


def test_every_deliverable_is_on_one_of_the_pages(full: Dashboard) -> None:
    found = [name for page in (1, 2, 3) for name in names(full.get(f"/?page={page}")[1])]
    assert found == [f"{n:03}" for n in reversed(range(MANY))]
    assert "51–100 of 120 deliverables" in full.get("/?page=2")[1]
    assert names(full.get("/?page=77")[1]) == found[100:], "a page that is none is the last one"


def test_words_states_agents_and_days_say_which_are_shown(full: Dashboard) -> None:
    assert names(full.get("/?q=CART+change-01")[1]) == ["019", "017", "015", "013", "011"]
    assert "30 deliverables, the latest" in full.get("/?status=completed")[1]
    assert "40 deliverables, the latest" in full.get("/?agent=claude")[1]
    assert "20 deliverables, the latest" in full.get("/?agent=claude&q=cart")[1]
    day = datetime.fromtimestamp(1_790_000_000 + 8 * DAY).astimezone().date().isoformat()
    assert names(full.get(f"/?status=completed&start={day}&end={day}")[1]) == ["008"]
    _, none = full.get("/?q=nowhere")
    assert "Nothing is like that." in none and 'href="?"' in none


def test_a_deliverable_of_another_page_can_be_looked_at(full: Dashboard) -> None:
    _, text = full.get("/?change=change-000&q=cart")
    assert "<strong>change-000</strong>" in text and 'value="cart"' in text
    _, text = full.get("/?change=no-such")
    assert "<strong>change-119</strong>" in text


def test_what_an_address_says_is_escaped(full: Dashboard) -> None:
    evil = "%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E"
    for field in ("q", "agent", "model", "change"):
        _, text = full.get(f"/?{field}={evil}")
        assert "<img" not in text
