"""Choices of what several memories answer together, and of what a doctor says, a rule each."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from aurora_memory import StoreCorrupt, StoreForeign
from aurora_memory.views import Commits
from aurora_protocol.methods import RecallParams, RecallResult, SeenLog
from aurora_server.lsp.recall import MAX_LOGS, OtherAnswers, _new_ones, merged, with_patterns
from aurora_server.mcp.memory_tools import hits_reply, places_reply
from aurora_server.workspace import closed_memories, doctor, recall_documents
from aurora_server.workspace.closed_memories import ClosedAnswers, ClosedMemory
from aurora_server.workspace.recall_uses import RecallUses
from aurora_server.workspace.telemetry import TelemetryFollower
from tests.server.test_lsp_words import freshness, iso, recalled
from tests.server.test_mcp_replies import found as replied

PARAMS = RecallParams(query="q", limit=10)


def answer(root: str, *names: str, hint: str | None = None, **more: Any) -> tuple[Any, RecallResult]:
    """What the memory at a root tells, a file each."""
    results = [recalled(name, file=f"{name}.py", workspace=root, score=0.5) for name in names]
    told = RecallResult(query="q", took_ms=1.0, freshness=freshness(iso()), results=results, hint=hint, **more)
    return cast("Any", SimpleNamespace(root=Path(root))), told


def closed(root: str, *names: str, commit: str = "", hint: str | None = None) -> tuple[ClosedMemory, RecallResult]:
    return ClosedMemory(Path(root), commit), answer(root, *names, hint=hint)[1]


def others(*found: tuple[ClosedMemory, RecallResult], **first_commits: str) -> OtherAnswers:
    return OtherAnswers(ClosedAnswers(list(found), []), first_commits)


def names(result: RecallResult) -> list[str]:
    return [each.name for each in result.results]


def test_where_one_memory_tells_an_answer_the_others_likenesses_are_left_out() -> None:
    """Who calls what is a fact; what is merely like the question in another folder is none."""
    told, like = answer("/a", "caller", hint="1 caller"), answer("/b", "like")
    assert names(merged(PARAMS, [told, like], 1.0)) == ["caller"]
    assert names(merged(PARAMS, [like], 1.0, others(closed("/c", "x", hint="2 callers")))) == ["x"]
    both = merged(PARAMS, [told], 1.0, others(closed("/c", "x", hint="2 callers"), closed("/d", "y")))
    assert names(both) == ["caller", "x"] and both.hint == "1 caller 2 callers"


def test_beside_results_nothing_is_said_of_folders_that_have_none() -> None:
    assert merged(PARAMS, [answer("/a", "f"), answer("/b", hint="nothing here")], 1.0).hint is None
    nothing = merged(PARAMS, [answer("/a", hint="nothing here"), answer("/b", hint="nor here")], 1.0)
    assert nothing.hint == "nothing here", "and where none has any, it is said once"


def test_what_any_folder_misses_is_missing_where_nothing_is_found() -> None:
    missing = answer("/a", missing=True)
    assert merged(PARAMS, [missing, answer("/b")], 1.0).missing
    assert not merged(PARAMS, [missing, answer("/b", "f")], 1.0).missing


def test_of_conversations_the_nearest_are_told_whatever_folder_they_are_of() -> None:
    def logs(*scores: float) -> list[SeenLog]:
        fixed: dict[str, Any] = {
            "line_start": 1,
            "line_end": 2,
            "phase": None,
            "query_id": "",
            "topic": "",
        }
        return [SeenLog(file=f"{score}", section="s", score=score, keywords=[], **fixed) for score in scores]

    found = merged(PARAMS, [answer("/a", logs=logs(0.1, 0.5, 0.9)), answer("/b", logs=logs(0.2, 0.6, 0.8))], 1.0)
    assert [log.score for log in found.logs] == [0.9, 0.8, 0.6, 0.5, 0.2] and len(found.logs) == MAX_LOGS


def test_patterns_of_elsewhere_stand_for_no_missing_file_and_make_a_hint_needless() -> None:
    pattern = replace(recalled("way", score=0.5), id="reas:way", file="")
    nothing = answer("/a", hint="nothing like that")[1]
    assert with_patterns(PARAMS, nothing, [pattern]).hint is None
    missing = replace(nothing, missing=True)
    assert with_patterns(PARAMS, missing, [pattern]) is missing


@pytest.mark.parametrize(
    ("memories", "told"),
    [
        pytest.param([("/c", "", ["f", "g"])], ["f", "g"], id="what nobody told"),
        pytest.param([("/c", "abc", ["f", "g"])], ["g"], id="not what a clone of an open one tells too"),
        pytest.param([("/w", "", ["f"])], [], id="nor the very same place"),
        pytest.param([("/c", "xyz", ["g"]), ("/d", "xyz", ["g"])], ["g"], id="nor two closed clones each"),
        pytest.param([("/c", "", ["g"]), ("/d", "", ["g"])], ["g", "g"], id="nobody knows that those are one"),
    ],
)
def test_what_closed_memories_add(memories: list[tuple[str, str, list[str]]], told: list[str]) -> None:
    known = answer("/w", "f")[1].results
    found = [closed(root, *has, commit=commit) for root, commit, has in memories]
    assert [each.name for each in _new_ones(known, {"/w": "abc"}, found)] == told


@pytest.mark.parametrize(
    ("kind", "weight", "outgoing", "relation", "likely"),
    [
        ("calls", 0.5, True, "calls", True),
        ("calls", 1.0, False, "called by", False),
        ("inherits", 0.5, False, "inherited by", True),
        ("imports", 0.5, True, "imports", False),
        ("mentions", 0.5, False, "mentioned in", False),
        ("hands on", 1.0, True, "passes on", False),
        ("hands on", 1.0, False, "passed on by", False),
    ],
)
def test_how_a_relation_is_told(kind: str, weight: float, outgoing: bool, relation: str, likely: bool) -> None:
    """Only calls and heirs are guessed; of the others a weight says how much, not whether."""
    chunk: Any = SimpleNamespace(id=1, kind="function", path="a.py", name="f", line=1)
    edge: Any = SimpleNamespace(kind=kind, weight=weight, outgoing=outgoing, other=chunk)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recall_documents, "shown_id", lambda _: "code:a.py:f")
        (told,) = recall_documents.links([edge])
    assert (told.relation, told.likely) == (relation, likely)


@pytest.mark.parametrize(
    ("kind", "focus", "relation", "line"),
    [
        ("function", (1, 9), "", 3),
        pytest.param("function", (7, 7), "", 3, id="a function by its name, whichever of its lines matches"),
        pytest.param("function", (7, 7), "says it", 7, id="but to the line that says a message"),
        pytest.param("function", (7, 7), "uses MESSAGE", 3, id="not of who uses it"),
        pytest.param("module", (7, 7), "", 7, id="what is left of a file by the one line that answers"),
        pytest.param("module", (1, 9), "", 3, id="and by its own where several do"),
    ],
)
def test_the_line_that_a_result_leads_to(kind: str, focus: tuple[int, int], relation: str, line: int) -> None:
    hit: Any = SimpleNamespace(chunk=SimpleNamespace(kind=kind, line=3), focus=focus, relation=relation)
    assert recall_documents._line(hit) == line


def test_ways_of_working_are_told_the_best_first_then_the_most_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def learned(name: str, score: float, uses: int, *, pattern: bool = True) -> Any:
        content = SimpleNamespace(original_query="q", success_score=score)
        return SimpleNamespace(id=name, content=content, access_count=uses, is_pattern=pattern)

    known = dict(enumerate([learned("c", 0.8, 1), learned("b", 0.8, 1), learned("d", 0.8, 5), learned("a", 0.9, 0)]))
    known[9] = learned("no pattern", 1.0, 9, pattern=False)
    monkeypatch.setattr(recall_documents.learned_reader, "reasoning", lambda reader, ids: known)
    state = SimpleNamespace(provenance=None, drifted=())
    colleagues: Any = SimpleNamespace(patterns=lambda reader, ids: dict.fromkeys(known, state))
    edges: Any = [SimpleNamespace(kind="used", outgoing=False, other=SimpleNamespace(id=1))]
    reader: Any = None
    assert [each.id for each in recall_documents.patterns_of(reader, edges, colleagues)] == ["a", "d", "b", "c"]


# Replies to an agent


def test_what_a_place_is_told_with_is_what_was_asked_for_then_what_else_is_there_then_what_it_is_for() -> None:
    given = replied(3)
    for each in given["results"]:
        each |= {"also": [{"name": "other", "line": 4}], "summary": "Collects.", "relation": "called by g"}
    given["results"][1]["relation"] = given["results"][2]["relation"] = ""
    given["results"][2]["also"] = []
    assert [line.rpartition("— ")[2] for line in places_reply(given, 500).text.splitlines()] == [
        "called by g",
        "also other :4",
        "Collects.",
    ]
    given["results"][0]["relation"] = "called by " + "g" * 200
    assert places_reply(given, 500).text.splitlines()[0].endswith("also other :4"), "what is too long gives way"


@pytest.mark.parametrize(
    ("learned_by", "who"), [("", "you solved"), (None, "a colleague solved"), ("Ann", "Ann solved")]
)
def test_who_solved_it_elsewhere(learned_by: str | None, who: str) -> None:
    given = replied(1)
    given["results"][0] |= {"file": "", "transferred_from": "shop", "learned_by": learned_by}
    assert f"[{who} this in another repository, shop]" in places_reply(given, 500).text
    assert hits_reply(given, 10).links == (), "which has no link: it is not in this memory"


def test_where_a_pattern_is_from_is_told_before_what_of_it_holds_no_more() -> None:
    given = replied(1)
    given["results"][0] |= {"file": "", "transferred_from": "shop", "learned_by": "", "drifted": ["a.py"]}
    assert places_reply(given, 500).text.index("shop]") < places_reply(given, 500).text.index("a.py")


@pytest.mark.parametrize(
    ("pending", "said"),
    [
        (0, "memory knows no file a.py; 'aurora doctor' says what is left out"),
        (2, "memory knows no file a.py; 2 files still being indexed"),
    ],
)
def test_why_a_file_is_not_known(pending: int, said: str) -> None:
    """What is still to come may be it: nobody has to look yet."""
    assert recall_documents._no_file("a.py", pending) == said


def test_a_text_with_a_fence_in_it_has_a_longer_one_around_it() -> None:
    given = replied(1, lines=1)
    given["results"][0]["content"] = "```\ncode\n```"
    assert "````python\n```\ncode\n```\n````" in hits_reply(given, 500).text


@pytest.mark.parametrize("tell", [hits_reply, places_reply])
def test_what_is_said_beside_results_stands_below_them(tell: Any) -> None:
    assert tell(replied(1, hint="2 callers of 9"), 500).text.splitlines()[-1] == "2 callers of 9"


# The doctor


def indexer(**state: Any) -> Any:
    usual = {"state": "ready", "pending": 0, "counts": None, "warning": "", "last_error": "", "history_percent": None}
    return SimpleNamespace(**{**usual, **state})


@pytest.mark.parametrize(
    ("state", "told"),
    [
        pytest.param({"state": "error", "pending": 3, "last_error": "full"}, ["error"], id="that it stopped, no more"),
        pytest.param({"pending": 3}, ["warning"], id="what is still to come"),
        pytest.param(
            {"counts": SimpleNamespace(files=0, chunks=0)}, ["ok", "warning"], id="that there is nothing it knows"
        ),
        pytest.param(
            {"counts": SimpleNamespace(files=0, chunks=0), "state": "indexing"}, ["ok"], id="once it has looked"
        ),
        pytest.param(
            {"counts": SimpleNamespace(files=2, chunks=5), "warning": "no watch"}, ["ok", "warning"], id="two"
        ),
    ],
)
def test_what_a_doctor_says_of_an_index(state: dict[str, Any], told: list[str]) -> None:
    assert [each.level for each in doctor._index(Path("/w"), indexer(**state))] == told


def test_a_memory_of_a_newer_version_is_not_to_be_repaired() -> None:
    foreign = doctor.unopened(StoreForeign("it is of a newer one; upgrade aurora-context")).findings[0]
    assert foreign.fix == "upgrade aurora-context"
    damaged = doctor.unopened(StoreCorrupt("it is damaged; see what")).findings[0]
    assert damaged.what == "it is damaged" and "aurora doctor --repair" in damaged.fix


@pytest.mark.parametrize(("count", "ends"), [(20, "c19"), (21, "c19 and 1 more")])
def test_twenty_chunks_are_named(count: int, ends: str) -> None:
    chunks: Any = [SimpleNamespace(shown=f"c{n}") for n in range(count)]
    assert doctor._few(chunks).endswith(ends)


@pytest.mark.parametrize(
    ("passing", "problem", "level", "what", "fix"),
    [
        pytest.param(
            True, "it is locked; wait", "warning", "it is locked", "nothing: it is tried again within half a minute",
            id="what passes needs nobody",
        ),
        pytest.param(False, "it is a link; remove it", "error", "it is a link", "remove it", id="its own next step"),
        pytest.param(False, "broken", "error", "broken", "aurora doctor --repair", id="else the usual one"),
    ],
)  # fmt: skip
async def test_what_a_doctor_says_of_a_record_that_cannot_be_used(
    passing: bool, problem: str, level: str, what: str, fix: str
) -> None:
    async def none_wait(_: Any) -> int:
        return 0

    record: Any = SimpleNamespace(problem=problem, passing=passing)
    store: Any = SimpleNamespace(read=none_wait)
    found = await doctor._record(record, store)
    assert (found.level, found.what, found.fix) == (level, f"what is learned here stays in this memory: {what}", fix)


def test_of_a_memory_that_is_not_open_it_is_told_which_files_are_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of what is gone; what stands in no file does not change."""
    for name in ("same.py", "other.py", "new.py"):
        (tmp_path / name).write_text("x")
    at = (tmp_path / "same.py").stat().st_mtime_ns
    indexed = {
        "same.py": SimpleNamespace(size=1, mtime_ns=at),
        "other.py": SimpleNamespace(size=2, mtime_ns=(tmp_path / "other.py").stat().st_mtime_ns),
    }
    monkeypatch.setattr(closed_memories.file_reader, "files_at", lambda reader, paths: indexed)
    hits: Any = [
        SimpleNamespace(chunk=SimpleNamespace(path=each)) for each in ("same.py", "other.py", "new.py", "gone.py", "")
    ]
    memory: Any = SimpleNamespace(root=tmp_path, reader=None)
    assert closed_memories._states(memory, hits) == [True, False, False, None, True]


@pytest.mark.parametrize(
    ("commit", "told"),
    [
        pytest.param("c1", ["2001-09-09T01:46:40Z"], id="when it was committed"),
        pytest.param("", [], id="not when it only was there already"),
    ],
)
def test_when_a_chunk_was_committed(commit: str, told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {"content": {}, "metadata": {}, "governance": {}}
    monkeypatch.setattr(recall_documents.chunk_validation, "plain", lambda _: plain)
    any_: Any = SimpleNamespace(docstring="")
    commits = Commits([1_000_000_000], commit, "s")
    assert [each[:19] + "Z" for each in recall_documents.explained(any_, any_, any_, [], commits, []).commits] == told


@pytest.mark.parametrize(
    ("follower", "tasks", "said"),
    [
        pytest.param(RecallUses, "_writing", "a use was not written down", id="uses"),
        pytest.param(TelemetryFollower, "_tasks", "a deliverable was not handed to telemetry", id="telemetry"),
    ],
)
def test_what_failed_aside_is_told_in_the_log_and_what_was_broken_off_is_not(
    follower: Any, tasks: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    made = follower.__new__(follower)
    setattr(made, tasks, set())

    def broken_off() -> None:
        raise asyncio.CancelledError

    made._done(Mock(cancelled=lambda: True, exception=broken_off))
    made._done(Mock(cancelled=lambda: False, exception=lambda: None))
    assert caplog.messages == []
    made._done(Mock(cancelled=lambda: False, exception=lambda: OSError("disk full")))
    assert caplog.messages == [said]
