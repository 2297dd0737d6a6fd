"""What the dashboard shows, a rule each: which deliverable is chosen, which groups come first, what is put together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aurora_deliverables.deliverable import Deliverable, PhaseSpan
from aurora_protocol.client import DaemonUnreachable, RequestFailed
from aurora_server.dashboard import picture_builder
from aurora_server.dashboard.charts import LEAST, SPAN, bars, timeline
from aurora_server.dashboard.page import Pagination
from aurora_server.dashboard.picture_builder import PictureReader, _groups, _ranked, _window_words
from aurora_server.dashboard.view import PAGE, View

AT = "2026-02-01T10:00:00+00:00"


def state(name: str, status: str = "executing") -> dict[str, Any]:
    return {"change_id": name, "status": status, "started_at": AT}


class Client:
    """A daemon that has these deliverables, `PAGE` to a page."""

    def __init__(self, *states: dict[str, Any]) -> None:
        self.states = list(states)
        self.asked: list[str] = []
        self.closed = False
        self.fails = False

    def close(self) -> None:
        self.closed = True

    def request(self, method: str, params: Any, **_: Any) -> Any:
        if self.fails:
            raise DaemonUnreachable("gone")
        if method != "aurora/deliverable":
            self.asked.append(method)
            window = {"deliverables": 0}
            return {"window": window, "metrics": {}} if method == "aurora/metrics" else None
        self.asked.append(params["action"])
        if params["action"] == "list":
            begin = params.get("offset", 0)
            return {"deliverables": self.states[begin : begin + PAGE], "total": len(self.states)}
        if params["action"] == "show":
            found = next((each for each in self.states if each["change_id"] == params["change_id"]), None)
            if found is None:
                raise RequestFailed("there is none", 0, None)
            return found
        return {"events": []}


@pytest.fixture(autouse=True)
def status(monkeypatch: pytest.MonkeyPatch) -> None:
    told = SimpleNamespace(version="1", uptime_s=1.0, rss_bytes=1, connections=1, workspaces=())
    monkeypatch.setattr(
        PictureReader,
        "_of_all_views",
        lambda self, client: (told, picture_builder._Metrics(picture_builder._Window(0), {})),
    )
    monkeypatch.setattr(PictureReader, "_fold", lambda self, client, chosen: chosen)


def chosen(view: View, *states: dict[str, Any]) -> str | None:
    client = Client(*states)
    found: Any = PictureReader("/w", lambda: client).picture(view).chosen  # type: ignore[arg-type, return-value]
    return None if found is None else str(found.change_id)


@pytest.mark.parametrize(
    ("change", "states", "found"),
    [
        pytest.param("c", [state("a"), state("c", "failed")], "c", id="the one that the address names"),
        pytest.param("", [state("a", "completed"), state("b"), state("c")], "b", id="else the first that is open"),
        pytest.param("", [state("a", "completed"), state("b", "failed")], "a", id="else the first"),
        pytest.param("gone", [state("a", "completed"), state("b")], "b", id="where the address names one that is gone"),
        pytest.param("", [], None, id="or none"),
    ],
)
def test_which_deliverable_is_shown_whole(change: str, states: list[Any], found: str | None) -> None:
    assert chosen(View(change=change), *states) == found


def test_one_of_another_page_is_shown_beside_the_page_and_an_old_address_leads_to_the_last_page() -> None:
    states = [state(f"x{n}", "completed") for n in range(PAGE + 1)]
    assert chosen(View(change=f"x{PAGE}"), *states) == f"x{PAGE}"
    client = Client(*states)
    picture = PictureReader("/w", lambda: client).picture(View(page=9))  # type: ignore[arg-type, return-value]
    assert (picture.view.page, len(picture.changes), picture.total) == (2, 1, PAGE + 1)
    pages = Pagination.of(picture)
    assert (pages.first, pages.last, pages.number, pages.count) == (PAGE + 1, PAGE + 1, 2, 2)
    assert client.asked.count("list") == 2


def test_a_session_that_broke_is_begun_anew_and_one_that_holds_is_kept() -> None:
    clients = [Client(state("a")), Client(state("b"))]
    left = iter(clients)
    reader = PictureReader("/w", lambda: next(left))  # type: ignore[arg-type, return-value]
    reader.picture(View())
    reader.picture(View())
    clients[0].fails = True
    with pytest.raises(DaemonUnreachable):
        reader.picture(View())
    assert clients[0].closed and not clients[1].closed
    assert [each.change_id for each in reader.picture(View()).changes] == ["b"]


def test_groups_with_the_most_deliverables_come_first_and_of_equals_by_name() -> None:
    groups = [{"name": name, "deliverables": many, "metrics": {}} for name, many in
              (("b", 1), ("c", 2), ("a", 1), ("d", None))]  # fmt: skip
    metrics = picture_builder._Metrics(picture_builder._Window(1), {"m": {}}, groups={"agent": groups})
    assert [each.name for each in _groups(metrics, "agent")] == ["c", "a", "b", "d"]
    assert _groups(metrics, "model") == ()
    assert _ranked({"b": 1, "c": 2, "a": 1}) == (("c", 2), ("a", 1), ("b", 1)) and _ranked(None) == ()


@pytest.mark.parametrize(("limited_by", "words"), [("days", "last 7 days"), ("count", "last 20 deliverables")])
def test_a_window_is_told_by_what_ended_it(limited_by: str, words: str) -> None:
    assert _window_words(picture_builder._Window(1, limited_by)) == words


@pytest.mark.parametrize(("many", "last"), [(8, ("n7", 1)), (9, ("others", 1)), (11, ("others", 3))])
def test_eight_counts_have_a_bar_and_the_others_one(many: int, last: tuple[str, int]) -> None:
    found = bars([("n0", 5), *((f"n{n}", 1) for n in range(1, many))])
    assert (found[-1].name, found[-1].count) == last and len(found) == min(many, 9)
    assert (found[0].width, found[1].width) == (SPAN, SPAN / 5)
    assert [each.width for each in bars([("a", 0)])] == [0.0] and bars([]) == []


def test_a_phase_that_begins_at_the_end_is_seen_and_one_taken_up_again_is_numbered() -> None:
    spans = (
        PhaseSpan("apply", 0.0, 100.0, 1),
        PhaseSpan("apply", 100.0, 100.0, 2, recovery=True),
        PhaseSpan("verify", 100.0, None, 1),
    )
    made = Deliverable("x", "executing", 0.0, 100.0, spans=spans)
    stretches, ticks = timeline(made, 100.0)
    assert [each.label for each in stretches] == ["apply", "apply 2", "verify"]
    assert (stretches[1].x, stretches[1].width) == (SPAN - LEAST, LEAST), "within the picture"
    assert [each.under_way for each in stretches] == [False, False, True]
    assert ticks[-1].last and timeline(Deliverable("x", "executing", 0.0, 0.0), 1.0) == ([], [])
