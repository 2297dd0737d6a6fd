"""What of a record leaves the machine: verdict by verdict, and why the rest stays."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

import pytest

from aurora_memory.record.entry import FORGET, Entry, EntryDraft
from aurora_memory.record.people import PERSON
from aurora_memory.record.record_file import Record
from aurora_team.membership import ExchangeProgress
from aurora_team.outbox import PEOPLE, SHARED_KINDS, judge, texts_of
from aurora_team.synchronization import preview

ALL = (*SHARED_KINDS, PEOPLE)
KEY = "ghp_" + "a1B2" * 9


def entry(kind: str, body: object) -> Entry:
    text = body if isinstance(body, str) else json.dumps(body)
    return Entry("0" * 32, "r", "ann", "m", 1, 1.0, kind, text)


@pytest.mark.parametrize(
    ("kind", "body", "kinds", "reason"),
    [
        pytest.param("access", {}, ["access"], "", id="what is shared is sent"),
        pytest.param("access", {}, ["boost"], "team.share leaves out access", id="what is not shared stays"),
        pytest.param(
            "difficult", {}, [*ALL, "difficult"], "entries of the kind difficult are never sent", id="failed questions"
        ),
        pytest.param("difficult", {}, [], "entries of the kind difficult are never sent", id="whatever else is shared"),
        pytest.param(
            "later", {}, [*ALL, "later"], "entries of the kind later are never sent", id="kinds of a newer AURORA"
        ),
        pytest.param("run", {"reasoning": "reas:a"}, ["run"], "", id="a question whose solution was kept"),
        pytest.param(
            "run",
            {"query": "why"},
            ["run"],
            "it is the question of a run that was not kept",
            id="one whose solution was not",
        ),
        pytest.param("run", [1], ["run"], "it is the question of a run that was not kept", id="a run that is none"),
        pytest.param(
            "access",
            {"run": "q7Zx2LmV9tRb4KcW8nHd3JpF", "text": "two words"},
            ["access"],
            "",
            id="an id is no secret, however many words are beside it",
        ),
        pytest.param("access", "{", ["access"], "its body is not JSON", id="what cannot be looked through"),
        pytest.param("access", "[" * 5000, ["access"], "its body is not JSON", id="what is nested too deep to be"),
        pytest.param(FORGET, {}, [], "", id="that something is forgotten is told whatever is shared"),
        pytest.param(PERSON, {"name": "Ann", "shares": True}, [PEOPLE], "", id="a name that is shared"),
        pytest.param(
            PERSON, {"name": "Ann", "shares": True}, SHARED_KINDS, "team.share leaves out people", id="one that is not"
        ),
        pytest.param(PERSON, {"name": "", "shares": False}, [], "", id="a name that is taken back is so everywhere"),
        pytest.param(
            PERSON, {"name": 1}, [PEOPLE], "its body is not what its kind says", id="no statement of a person"
        ),
    ],
)
def test_what_is_sent(kind: str, body: object, kinds: Collection[str], reason: str) -> None:
    verdict = judge(entry(kind, body), kinds)
    assert (verdict.reason, verdict.is_secret) == (reason, False)


@pytest.mark.parametrize("body", [{"a": [{"b": f"key {KEY}"}]}, {KEY: 1}, [KEY], {"text": f"export TOKEN={KEY}"}])
def test_what_holds_a_secret_stays_wherever_it_stands(body: object) -> None:
    verdict = judge(entry("access", body), ALL)
    assert verdict.is_secret
    assert verdict.reason.startswith("it holds what looks like ")
    assert KEY not in verdict.reason


def test_a_secret_is_seen_through_escapes_of_json() -> None:
    escaped = "".join(f"\\u{ord(sign):04x}" for sign in KEY)
    assert judge(entry("access", f'{{"text": "{escaped}"}}'), ALL).is_secret


def test_texts_are_keys_and_values_at_any_depth_and_nothing_else() -> None:
    assert sorted(texts_of({"a": ["b", {"c": "d"}], "e": 1, "f": None})) == ["a", "b", "c", "d", "e", "f"]


def test_a_preview_shows_all_again_where_other_kinds_are_shared_now(tmp_path: Path) -> None:
    chunk = {"path": "a.py", "name": "f", "kind": "function", "shape": "00", "ordinal": 0}
    used = json.dumps({"type": "access", "chunk": chunk, "at": 1.0, "kind": "success"})
    with closing(Record.open(tmp_path / "records" / "r.sqlite", "r", "ann", "m")) as record:
        record.append([EntryDraft("access", used, 1.0)])
        sent = ExchangeProgress(sent=record.last_number(), kinds=("access",))
        assert list(preview(record, sent, ["access"])) == []
        told = list(preview(record, sent, ["access", "run"]))
        assert [(each.author, each.machine, reason) for each, reason in told] == [("ann", "m", "")]
