"""Drift: what is told of patterns whose lines changed, and what an answer may be said to rest on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from aurora_orchestration.soar.answer_cache import AnswerCache, digest
from aurora_orchestration.soar.cited_spans import span_of
from aurora_orchestration.soar.drift import cited_of, told_of_drift
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import ContextBundle, ContextChunk


def chunk(row: int, type_: Any, file: str = "a.py") -> ContextChunk:
    return ContextChunk(
        row=row, id=f"{type_}:{row}", type=type_, name="f", file=file, line_start=1, line_end=2, score=1.0, tokens=9,
        content="what was learned",
    )  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    root.mkdir()
    for name in "abcde":
        (root / f"{name}.py").write_text(f"def {name}():\n    return 1\n")
    return root


@pytest.mark.parametrize(("saved", "cited"), [(False, 1), (True, 0)])
async def test_what_was_saved_while_agents_were_at_work_is_not_what_they_saw(
    root: Path, tmp_path: Path, saved: bool, cited: int
) -> None:
    answers = AnswerCache(tmp_path / "answers", root)
    context = ContextBundle(chunks=(chunk(1, "code"),))
    before = answers.digests(context)
    if saved:
        (root / "a.py").write_text("def a():\n    return 2\n")
    found = await cited_of("It is in a.py:1.", context, before, answers, WorkspaceText(root))
    assert len(found) == cited


async def test_of_a_patterns_lines_that_changed_three_are_told(root: Path) -> None:
    spans = [span_of(f"{name}.py", 1, 2, WorkspaceText(root)) for name in "abcde"]
    for name in "abcd":
        (root / f"{name}.py").write_text("gone\n")

    class Remembering:
        async def cites(self, rows: list[int]) -> dict[int, Any]:
            assert rows == [2, 3], "patterns alone are asked for"
            return {2: spans, 3: spans[4:]}

    memory: Any = Remembering()
    told: list[str] = []
    context = ContextBundle(chunks=(chunk(1, "code"), chunk(2, "reas"), chunk(3, "reas")))
    found = await told_of_drift(context, memory, WorkspaceText(root), told.append)
    assert told == ["reas:2 has drifted: a.py:1, b.py:1, c.py:1 changed since this was learned"]
    assert [each.content.count("drifted") for each in found.chunks] == [0, 1, 0]
    assert found.chunks[1].content.endswith("\nwhat was learned")


@pytest.mark.skipif(os.name == "nt", reason="pipes and links are POSIX's")
def test_what_is_no_file_of_the_workspace_has_no_digest(root: Path, tmp_path: Path) -> None:
    os.mkfifo(root / "pipe.py")
    (root / "circle.py").symlink_to("circle.py")
    (root / "device.py").symlink_to(os.devnull)
    (root / "outside.py").symlink_to(tmp_path / "there.py")
    (tmp_path / "there.py").write_text("x = 1\n")
    assert digest(root, "a.py") is not None
    for name in ("pipe.py", "circle.py", "device.py", "outside.py", "gone.py", "a\0.py"):
        assert digest(root, name) is None, name
