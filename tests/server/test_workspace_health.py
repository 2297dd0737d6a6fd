"""What a workspace says of its health and of empty answers, a rule each: what comes first, what is left out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_memory.recall import parse_question
from aurora_protocol.methods import Freshness
from aurora_server.workspace import doctor, nothing_found, telemetry_status

# Doctor


async def checkup(*, skips: dict[str, Any] = {}, scan: Any = None, **more: Any) -> Any:  # noqa: B006 - read only
    """A doctor's look at a workspace of which everything has something to say."""
    answers: dict[Any, Any] = {
        doctor.file_reader.skips: skips,
        doctor.lifespans.in_archive: more.pop("archived", []),
        doctor.lifespans.escalated: more.pop("escalated", []),
        doctor.record_outbox.count: 0,
    }

    async def read(what: Any, *_: Any) -> Any:
        return answers[what]

    async def check() -> Any:
        return SimpleNamespace(version=more.pop("version", 7), faults=more.pop("faults", []))

    async def state() -> str:
        return "semantic recall"

    store: Any = SimpleNamespace(path=Path("/tmp/m.db"), read=read, check=check)
    usual = {"state": "ready", "pending": 2, "counts": None, "warning": "", "last_error": "", "history_percent": None}
    indexer: Any = SimpleNamespace(last_scan=scan, **usual)
    record: Any = SimpleNamespace(problem=None, place=None)
    older: Any = SimpleNamespace(root="/gone")
    embedder: Any = SimpleNamespace(state=state)
    return await doctor.checkup(Path("/no-git"), store, indexer, ["a policy"], older, embedder, record)


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    free = [doctor.LITTLE_SPACE]
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=free[0]))
    monkeypatch.setattr(doctor, "find_git_directory", lambda _: None)
    return free


def status(shown: str, what: str = "") -> Any:
    return SimpleNamespace(shown=shown, what=what)


async def test_a_doctor_tells_the_index_first_then_the_memory_then_the_record_and_last_how_meaning_is_found(
    space: list[int],
) -> None:
    flagged = [status("a", "review"), status("b", "alert"), status("c", "review")]
    found = await checkup(archived=[status("x")], escalated=flagged)
    assert [each.what.split()[0] + " " + each.what.split()[1] for each in found.findings] == [
        "2 files", "/tmp/m.db is", "the repository's", "1 in", "2 flagged", "1 flagged", "memory of", "a policy",
        "semantic recall",
    ]  # fmt: skip
    assert "2 flagged review: a, c" in [each.what for each in found.findings]


async def test_of_a_memory_that_cannot_be_read_nothing_else_is_told(space: list[int]) -> None:
    fault: Any = SimpleNamespace(mend="salvage", what="torn", count=1)
    found = await checkup(version=0, faults=[fault], skips={"a": ("binary", "", 0)})
    assert [each.level for each in found.findings] == ["warning", "error"] and not found.skipped


@pytest.mark.parametrize(("free", "warned"), [(doctor.LITTLE_SPACE, False), (doctor.LITTLE_SPACE - 1, True)])
async def test_below_a_hundred_mebibytes_little_space_is_told(space: list[int], free: int, warned: bool) -> None:
    space[0] = free
    assert ("MiB free" in " ".join(each.what for each in (await checkup()).findings)) is warned


@pytest.mark.parametrize(
    ("mend", "what", "fix"),
    [
        ("salvage", "/m is damaged: torn", "keeps the file, saves what was learned"),
        ("rebuild", "/m: 3 torn", "makes the index anew and keeps"),
        ("", "/m: torn", "upgrade aurora-context"),
    ],
)
def test_how_a_memory_is_mended(mend: str, what: str, fix: str) -> None:
    fault: Any = SimpleNamespace(mend=mend, what="torn", count=3)
    found = doctor._fault(Path("/m"), fault)
    assert found.what == what and fix in str(found.fix)


async def test_of_what_is_skipped_the_most_frequent_reason_is_told_first_and_unknown_kinds_by_their_ending(
    space: list[int],
) -> None:
    """Each file of another kind is none worth a line: they are counted by suffix, most first, behind all else."""
    scan = SimpleNamespace(
        other_files=Counter({".bin": 1, ".dat": 2}),
        skips=[SimpleNamespace(path="big.py", reason="too-large", detail="9 MB")],
        ignored=4,
        ignored_paths=["dist"],
    )
    looked_into = {"x.bin": (doctor.UNKNOWN, "", 0), "bad.py": ("binary", "NUL", 0), "noend": (doctor.UNKNOWN, "", 0)}
    found = await checkup(skips=looked_into, scan=scan)
    assert found.skipped == {doctor.UNKNOWN: 5, "ignored": 4, "binary": 1, "too-large": 1}
    assert list(found.skipped)[:2] == [doctor.UNKNOWN, "ignored"]
    told = [each.path for each in found.examples]
    assert told[:3] == ["bad.py", "big.py", "dist"] and sorted(told[3:]) == ["(no ending)", "*.bin", "*.dat"]
    assert told[-1] == "(no ending)"


# Telemetry


def signal(**outcome: Any) -> Any:
    exporter = SimpleNamespace(
        name=outcome.pop("name", "otlp"), signal="metrics", place="http://c:4318", protocol="http"
    )
    usual = {"last_success": None, "last_failure": None, "rejected": 0, "why": "refused"}
    return SimpleNamespace(exporter=exporter, outcome=SimpleNamespace(**{**usual, **outcome}))


@pytest.mark.parametrize(
    ("outcome", "level", "told"),
    [
        pytest.param({}, "ok", "; taken last: never yet", id="nothing was sent yet"),
        pytest.param({"last_success": 1.0, "rejected": 2}, "ok", "; 2 rejected by the collector so far", id="taken"),
        pytest.param({"last_failure": 2.0}, "warning", "(refused)", id="refused"),
        pytest.param({"last_success": 1.0, "last_failure": 2.0}, "warning", "(refused)", id="refused since"),
        pytest.param({"last_success": 2.0, "last_failure": 2.0}, "ok", "(refused)", id="taken again in that second"),
        pytest.param({"name": "prometheus", "last_failure": 2.0}, "ok", "can be fetched at", id="fetched"),
    ],
)
def test_a_signal_is_fine_where_it_was_taken_since_it_was_refused(
    outcome: dict[str, Any], level: str, told: str
) -> None:
    found = telemetry_status._signal(signal(**outcome))
    assert found.level == level and told in found.what


@pytest.mark.parametrize(
    ("off", "waiting", "told"),
    [
        (None, 0, ["wrong", "metrics go"]),
        (None, 1, ["wrong", "metrics go", "1 deliverable waits"]),
        (None, 2, ["wrong", "metrics go", "2 deliverables wait"]),
        ("no address", 2, ["wrong", "is off: no address"]),
    ],
)
def test_of_telemetry_that_is_off_nothing_more_is_told(off: str | None, waiting: int, told: list[str]) -> None:
    sender: Any = SimpleNamespace(off=off, status=lambda: [signal()])
    found = telemetry_status.telemetry_findings(sender, waiting, ["wrong"])
    assert len(found) == len(told) and all(said in each.what for said, each in zip(told, found, strict=True))
    assert len(telemetry_status.telemetry_findings(None, 2, ["wrong"])) == 1, "where none is sent, none waits"


# Nothing found


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": "error"}, "indexing failed"),
        ({"state": "error", "skipped_files": 1}, "indexing failed"),
        ({"skipped_files": 1}, "its only file is left out"),
        ({"skipped_files": 2}, "all 2 files are left out"),
        ({}, "it has none, none is in a language"),
        ({"state": "scanning"}, "No file is indexed yet. Files are still being looked through."),
        ({"state": "indexing"}, "No file is indexed yet. Files are"),
        ({"pending_files": 1, "state": "error"}, "1 file is still being indexed."),
        ({"pending_files": 2}, "2 files are still being indexed."),
    ],
)
def test_why_no_file_is_indexed(changes: dict[str, Any], said: str) -> None:
    """Where files are still looked at, that is the reason; then that it failed, then what is left out."""
    told = {"indexed_at": None, "pending_files": 0, "skipped_files": 0, "files": 0, "chunks": 0, "state": "ready"}
    nothing: Any = None
    assert said in nothing_found.why_nothing(nothing, nothing, Freshness(**{**told, **changes}))


@pytest.mark.parametrize(
    ("types", "said"),
    [
        (None, "Nothing in this workspace answers that"),
        ({"know", "code"}, "Nothing among code and documents answers that"),
        ({"reas"}, "Nothing among earlier solutions answers that"),
        ({"know", "code", "reas"}, "Nothing in this workspace answers that"),
    ],
)
def test_where_some_types_are_asked_for_the_others_may_answer(types: Any, said: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(nothing_found, "_unknown", lambda *_: "")
    fresh = Freshness(indexed_at="x", pending_files=0, skipped_files=0, files=1, chunks=1, state="ready")
    nothing: Any = None
    assert nothing_found.why_nothing(nothing, nothing, fresh, types).startswith(said)


def test_three_unknown_words_are_named_and_the_first_that_may_be_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nothing_found, "_meant", lambda _, word: {"frobnicat": "b", "wumpus": "c"}.get(word))
    words = SimpleNamespace(parts=lambda _: None, entries=lambda _: {})
    reader: Any = SimpleNamespace(words=words, writes=0)
    said = nothing_found._unknown(reader, parse_question("quux Frobnicat wumpus xyzzy"))
    assert said == "No file here says 'quux', 'Frobnicat', 'wumpus'; did you mean 'b'?"
