"""What is kept of a run, what a continuation takes over, and what goes when it is over."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from aurora_orchestration.run_record import RunRequest
from aurora_orchestration.soar import checkpoint as module
from aurora_orchestration.soar.checkpoint import CannotResume, Checkpoint, RunStore
from aurora_orchestration.soar.run import Run
from aurora_orchestration.types import Assessment, ContextBundle
from tests.orchestration.runs import run as made

RUN = "aurora-20260101-120000-abc123"
KEPT = Checkpoint(
    id=RUN,
    workspace="/w",
    request=RunRequest(query="why"),
    started_at=100.0,
    state="interrupted",
    log="2026/01/why.md",
    deliverable="prompt-why",
    assessment=Assessment(complexity="complex", confidence=0.9, score=0.7, method="llm"),
    context=ContextBundle(tokens=7, budget=9),
)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path, tmp_path / "work")


def files(tmp_path: Path) -> list[str]:
    return sorted(path.name.removeprefix(RUN) for path in (tmp_path / "runs").glob("*"))


def test_all_of_a_checkpoint_is_read_as_it_was_written(store: RunStore, tmp_path: Path) -> None:
    store.save(KEPT)
    assert store.load(RUN) == KEPT
    assert (tmp_path / "runs" / f"{RUN}.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("state", "deliverable", "resumed", "goes_on_as"),
    [
        ("running", "prompt-why", 0, "prompt-why"),  # killed: the same deliverable goes on
        ("interrupted", "prompt-why", 3, "prompt-why"),
        ("interrupted", "", 0, f"prompt-{RUN}"),
        ("cancelled", "prompt-why", 0, f"prompt-{RUN}-1"),  # that one has failed: another begins
        ("cancelled", "prompt-why", 4, f"prompt-{RUN}-5"),
    ],
)
def test_what_was_cancelled_goes_on_as_another_deliverable(
    state: str, deliverable: str, resumed: int, goes_on_as: str
) -> None:
    kept = replace(KEPT, state=state, deliverable=deliverable, resumed=resumed)
    again = kept.continued(500.0, force=True)
    assert (again.deliverable, again.resumed, again.state, again.started_at) == (
        goes_on_as,
        resumed + 1,
        "running",
        500.0,
    )
    assert (again.request.resume, again.request.force, again.request.query) == (RUN, True, "why")
    assert (again.log, again.assessment, again.context) == (KEPT.log, KEPT.assessment, KEPT.context)
    assert not kept.continued(500.0, force=False).request.force


def test_what_is_kept_of_a_run_that_is_over_is_what_may_yet_be_counted(store: RunStore, tmp_path: Path) -> None:
    lock = store.lock(RUN)
    store.save(KEPT)
    for kind in ("agents", "jsonl", "jsonl.lock"):
        (tmp_path / "runs" / f"{RUN}.{kind}").touch()
    store.forget(RUN)
    assert files(tmp_path) == [".jsonl", ".jsonl.lock", ".lock"], "what was paid for is not forgotten with it"
    store.forget_journal(RUN)
    store.release(RUN, lock)
    assert files(tmp_path) == []


def test_the_lock_of_a_run_that_can_be_resumed_stays(store: RunStore, tmp_path: Path) -> None:
    store.save(KEPT)
    store.release(RUN, store.lock(RUN))
    assert files(tmp_path) == [".json", ".lock"]


def test_a_run_is_idle_while_nobody_is_at_it(store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.05)
    lock = store.lock(RUN)
    other = RunStore(tmp_path, tmp_path / "work")
    with pytest.raises(CannotResume, match="under way in another process"):
        other.lock(RUN)
    with other.idle(RUN) as idle:
        assert not idle
    store.release(RUN, lock)
    with other.idle(RUN) as idle:
        assert idle
        with store.idle(RUN) as taken:
            assert not taken, "while one looks, no other takes it up"
    store.release(RUN, store.lock(RUN))
    assert files(tmp_path) == [] and (tmp_path / "runs").stat().st_mode & 0o777 == 0o700


def test_unfinished_runs_come_by_id_without_those_that_cannot_be_read(store: RunStore, tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        store.save(replace(KEPT, id=name))
    (tmp_path / "runs" / "b.json").write_text("{")
    assert [each.id for each in store.unfinished()] == ["a", "c"]


@pytest.mark.parametrize(
    ("content", "said"), [(None, "there is no unfinished run"), ("{", "cannot be read"), ("x" * 11, "is too large")]
)
def test_what_cannot_be_resumed_says_why(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, said: str
) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    (tmp_path / "runs").mkdir()
    if content is not None:
        (tmp_path / "runs" / f"{RUN}.json").write_text(content)
    with pytest.raises(CannotResume, match=said):
        store.load(RUN)


@pytest.mark.parametrize(
    ("run", "fine"),
    [("a", True), ("a" * 80, True), ("a" * 81, False), ("", False), ("-a", False), ("../a", False), ("a\n", False)],
)
def test_an_id_is_no_path(store: RunStore, run: str, fine: bool) -> None:
    with pytest.raises(CannotResume, match="there is no unfinished run" if fine else "is no id of a run"):
        store.load(run)


@pytest.mark.parametrize(
    ("state", "kept"),
    [
        pytest.param("cancelled", "cancelled", id="what was cancelled is kept as that"),
        pytest.param("failed", "running", id="everything else as what it is until it has ended"),
        pytest.param("complete", "running", id="whatever it has come to so far"),
    ],
)
def test_as_what_a_run_is_kept(state: Any, kept: str) -> None:
    run = Run.__new__(Run)
    run._begun, run.request = KEPT, RunRequest(query="why, key=hunter2", resume=RUN)
    run.record = made(id=RUN, query="why", state=state)
    run.trace = cast(Any, SimpleNamespace(log=SimpleNamespace(file="2026/01/other.md")))
    point = run.checkpoint()
    assert (point.state, point.log, point.deliverable) == (kept, "2026/01/other.md", KEPT.deliverable)
    assert (point.request.query, point.request.resume) == ("why", None), "without what was redacted"
