"""Choices of the store of deliverables, a rule each: what is committed together, which name means which, what goes."""

from __future__ import annotations

from collections import OrderedDict, deque
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_deliverables import deliverables
from aurora_deliverables.deliverables import TOGETHER, Deliverables, _placed, _Telling
from aurora_deliverables.event_validation import written
from aurora_deliverables.events import Event, Started
from aurora_memory.store import LoggedEvent


def store(**state: Any) -> Deliverables:
    made = Deliverables.__new__(Deliverables)
    made.__dict__.update(state)
    return made


def telling(*ids: str, is_alone: bool = False) -> _Telling:
    line: Any = None
    made = _Telling([(Event(each, "x", 1.0, Started()), line) for each in ids])
    made.is_alone = is_alone
    return made


def many(count: int, name: str = "e") -> _Telling:
    return telling(*(f"{name}{number}" for number in range(count)))


@pytest.mark.parametrize(
    ("tellings", "together"),
    [
        pytest.param([telling("a"), telling("b"), telling("c")], 3, id="those that wait go together"),
        pytest.param(
            [telling("a"), telling("b"), telling("a"), telling("c")], 2, id="up to one that tells the same again"
        ),
        pytest.param([many(TOGETHER - 1), telling("b"), telling("c")], 2, id="up to as many events as may be"),
        pytest.param([many(TOGETHER + 1), telling("b")], 1, id="one that is larger goes by itself"),
        pytest.param([telling("a", is_alone=True), telling("b")], 1, id="and so does one that failed with others"),
    ],
)
def test_which_tellings_are_committed_together(tellings: list[_Telling], together: int) -> None:
    waiting = deque(tellings)
    assert store(_waiting=waiting)._next_group(tellings[0]) == tellings[:together]
    assert list(waiting)[-1:] == tellings[together:][-1:], "the others wait"


def test_a_telling_that_another_took_along_is_tried_alone() -> None:
    first, behind = telling("a"), telling("b")
    assert store(_waiting=deque([behind]))._next_group(first) == [first]


@pytest.mark.parametrize(("name", "meant"), [("a", "a"), ("old", "b"), ("unknown", "unknown")])
def test_a_name_means_what_is_called_so_before_what_was(name: str, meant: str) -> None:
    assert store(_known={"a": None, "b": None}, _renamed={"a": "b", "old": "b"}).named(name) == meant


async def test_the_latest_updated_comes_first_and_of_one_moment_by_name() -> None:
    async def caught_up() -> None:
        return None

    known = {name: SimpleNamespace(change_id=name, updated_at=at) for name, at in (("b", 5.0), ("c", 9.0), ("a", 5.0))}
    told = await store(_known=known, _caught_up=caught_up).all()
    assert [each.change_id for each in told] == ["c", "a", "b"]


def test_of_an_event_that_was_told_with_two_times_the_earlier_counts() -> None:
    def line(at: float) -> LoggedEvent:
        event = Event("e", "x", at, Started())
        return LoggedEvent("e", "x", at, 0.0, None, written(event))

    assert [event.at for _, event in _placed([line(2.0), line(1.0)])] == [1.0]


def test_what_was_folded_longest_ago_goes_first_and_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliverables, "KEPT_FOLDS", 2)
    monkeypatch.setattr(deliverables, "KEPT_EVENTS", 2)
    folds, unread = OrderedDict.fromkeys("abc"), set[str]()
    kept = OrderedDict((name, [0]) for name in "abc") | {"d": [0, 0]}
    made = store(_folds=folds, _kept=OrderedDict(kept), _unread=unread)
    made._drop_oldest()
    assert (list(folds), unread, list(made._kept)) == (["b", "c"], {"a"}, ["d"])
