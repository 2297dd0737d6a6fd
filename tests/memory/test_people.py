"""Who says in a record who he is: which of his statements counts, and when one is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from aurora_memory.record.entry import EntryDraft
from aurora_memory.record.people import LONGEST_NAME, PERSON, Person, people, state
from aurora_memory.record.record_file import Record

REPOSITORY = "a" * 32


def opened(folder: Path, machine: str) -> Record:
    return Record.open(folder / f"{machine}.db", REPOSITORY, "ann", machine)


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(opened(tmp_path, "desk")) as record:
        yield record


def said(name: str, at: float, *, shares: bool = True) -> EntryDraft:
    return EntryDraft(PERSON, msgspec.json.encode(Person(name, shares)).decode(), at)


@pytest.mark.parametrize(
    ("desk", "laptop", "named"),
    [
        pytest.param([], [], {}, id="who never said so is not named"),
        pytest.param([said("Ann", 1)], [], {"ann": "Ann"}, id="who said so is"),
        pytest.param([said("Ann", 1), said("Ann B.", 2)], [], {"ann": "Ann B."}, id="the latest counts"),
        pytest.param([said("Ann", 1), said("Ann B.", 1)], [], {"ann": "Ann B."}, id="at one time, the one said last"),
        pytest.param([said("Ann", 1), said("", 2, shares=False)], [], {}, id="it can be taken back"),
        pytest.param([said("", 1, shares=False), said("Ann", 2)], [], {"ann": "Ann"}, id="and said again"),
        pytest.param(
            [said("Ann", 1), said("Anna", 2), said("Ann", 3)],
            [said("Ann B.", 9)],
            {"ann": "Ann B."},
            id="the later machine",
        ),
        pytest.param(
            [said("Ann", 9)], [said("Anna", 1), said("Ann B.", 2)], {"ann": "Ann"}, id="not the one that said more"
        ),
        pytest.param([said("Ann", 1), said("", 2)], [], {}, id="somebody without a name is not named"),
        pytest.param([said("Ann", 1), said("Ann B.", 2, shares=False)], [], {}, id="who does not share keeps his name"),
        pytest.param(
            [said("Ann", 1), EntryDraft(PERSON, "{", 2)], [], {"ann": "Ann"}, id="what cannot be read says nothing"
        ),
    ],
)
def test_who_is_named_to_others(
    record: Record, tmp_path: Path, desk: Sequence[EntryDraft], laptop: Sequence[EntryDraft], named: dict[str, str]
) -> None:
    record.append(desk)
    with closing(opened(tmp_path, "laptop")) as other:
        record.union(other.append(laptop))
    assert people(record) == named


def test_only_news_are_said(record: Record) -> None:
    long = "x" * (LONGEST_NAME + 1)
    steps = [
        ("Ann", False, False, None),  # who never shared says nothing
        ("", True, False, None),
        ("Ann", True, True, "Ann"),
        ("Ann", True, False, "Ann"),
        ("Ann B.", True, True, "Ann B."),
        (long, True, True, long[:LONGEST_NAME]),
        (long, True, False, long[:LONGEST_NAME]),
        ("Ann", False, True, None),
        ("Ann", False, False, None),
    ]
    for at, (name, shares, is_new, known) in enumerate(steps):
        assert state(record, name, float(at), shares=shares) is is_new
        assert people(record).get("ann") == known
    *_, last = record.of_kind(PERSON)
    assert msgspec.json.decode(last.body) == {"name": "", "shares": False}, "his name goes with it"
