"""Choices of a run, a rule each: how strictly it is checked, what comes first in a prompt, which error is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from aurora_orchestration.guardrails import audit
from aurora_orchestration.guardrails.audit import guard_noted
from aurora_orchestration.guardrails.blocked import QuestionBlocked
from aurora_orchestration.llm.structured import Unusable, decode, is_prose
from aurora_orchestration.settings import ComplexitySettings, GuardrailSettings
from aurora_orchestration.soar import cited_spans
from aurora_orchestration.soar.assess import AssessmentReply, as_asked, at_least, by_model
from aurora_orchestration.soar.cited_spans import relocated, span_of, spans_of
from aurora_orchestration.soar.follow_up import with_givens
from aurora_orchestration.soar.keywords import CERTAIN, Keyed
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import Assessment, ContextBundle, Given, LogSection

MEDIUM = Assessment(complexity="medium", confidence=0.7, score=0.4, method="keyword", verification="option_a")


@pytest.mark.parametrize(
    ("wanted", "complexity", "verification"),
    [
        pytest.param((), "medium", "option_a", id="nothing"),
        pytest.param(("option_a",), "medium", "option_a", id="what it has"),
        pytest.param(("option_c", "option_b"), "critical", "option_c", id="the strictest of several"),
    ],
)
def test_the_strictest_verification_that_anybody_wants_is_taken(
    wanted: tuple[Any, ...], complexity: str, verification: str
) -> None:
    found = at_least(MEDIUM, wanted)
    assert (found.complexity, found.verification, found.method) == (complexity, verification, "keyword")
    critical = msgspec.structs.replace(MEDIUM, complexity="critical", verification="option_c")
    assert at_least(critical, wanted) is critical, "and nobody's wish makes it less"


def test_who_names_a_verification_gets_it_less_strict_or_more() -> None:
    critical = msgspec.structs.replace(MEDIUM, complexity="critical", verification="option_c")
    for each in (MEDIUM, critical):
        found = as_asked(each, "option_b")
        assert (found.complexity, found.verification, found.method) == ("complex", "option_b", "asked")


@pytest.mark.parametrize(
    ("keyed", "confidence", "judged", "method"),
    [
        pytest.param("critical", CERTAIN, "simple", "keyword", id="not where words are certain"),
        pytest.param("critical", CERTAIN - 0.01, "simple", "llm", id="where they are nearly"),
        pytest.param("critical", CERTAIN, "critical", "llm", id="nor where it agrees"),
        pytest.param("complex", CERTAIN, "simple", "llm", id="where less is at stake"),
    ],
)
def test_when_a_model_decides_how_hard_a_question_is(keyed: Any, confidence: float, judged: Any, method: str) -> None:
    words = Keyed(keyed, 0.9, confidence, ("word",), decided=False)
    reply = AssessmentReply(complexity=judged, confidence=0.9)
    found = by_model(reply, words, ComplexitySettings())
    assert (found.method, found.indicators) == (method, ("word",)), "the words are told where it names none"
    named = msgspec.structs.replace(reply, indicators=("other",))
    assert by_model(named, words, ComplexitySettings()).indicators == (("other",) if method == "llm" else ("word",))


def test_what_a_session_knows_stands_before_what_memory_found() -> None:
    log = LogSection(file="l", section="s", line_start=1, line_end=1, content="c", tokens=5, score=1.0)
    context = ContextBundle(logs=(log,), tokens=5)
    found = with_givens(context, [Given(id=name, fact="one\ntwo", source="run") for name in ("g1", "g2")])
    assert [each.section for each in found.logs] == ["g1", "g2", "s"]
    assert found.logs[0].line_end == 2 and found.tokens > 5
    assert with_givens(context, []) is context


def test_an_answer_rests_on_all_its_lines_or_on_none_that_can_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("one = 1\n\ntwo = 2\n\nthree = 3\n")
    workspace = WorkspaceText(tmp_path)

    def places(*texts: str) -> list[int] | None:
        found = spans_of(texts, ContextBundle(), workspace)
        return None if found is None else [each.line_start for each in found]

    monkeypatch.setattr(cited_spans, "MAX_SPANS", 2)
    assert places("a.py:1 and a.py:3") == [1, 3]
    assert places("a.py:1 and a.py:3 and a.py:5") is None, "too many"
    assert places("a.py:1 and a.py:9") is None, "one that is not there"
    assert places("nothing") is None


def test_lines_that_moved_are_told_where_they_are_and_the_others_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "a1.py").write_text("one = 1\n\ntwo = 2\n")
    workspace = WorkspaceText(tmp_path)
    span = span_of("a1.py", 1, 1, workspace)
    assert span is not None
    now = msgspec.structs.replace(span, line_start=11, line_end=11)
    found = [cited_spans.Found("moved", span, now)]
    assert relocated("a1.py:1, b1.py:1 and a1.py:3", found) == "a1.py:11, b1.py:1 and a1.py:3"


class Shape(msgspec.Struct):
    a: int
    b: str = ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param('{"a": "x"} {"a": 1.5, "b": "longer"}', "float", id="of several that do not fit the longest"),
        pytest.param('{"a": 1} {"a": 2}', "2 JSON objects of this shape", id="of several that fit their number"),
        pytest.param("no object", "is not one JSON object", id="of none that"),
    ],
)
def test_which_mistake_of_an_answer_a_model_is_told(text: str, told: str) -> None:
    with pytest.raises(Unusable, match=told):
        decode(text, Shape)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("two words", True),
        ("word", False),
        ("a b c", False),
        ('say it so {"a": 1}', True),
        ('as is {"a": 1, "b": 2, "c": 3}', False),
        ("<p>two words</p>", False),
        ("```\ntwo words\n```", False),
    ],
)
def test_what_is_an_answer_in_words(text: str, words: bool) -> None:
    assert is_prose(text) is words


def test_a_question_is_held_back_also_where_that_cannot_be_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(audit.Audit, "_write", full)
    with pytest.raises(QuestionBlocked, match="the question is empty"):
        guard_noted(" ", GuardrailSettings(), tmp_path, "run", lambda: 0.0)
    guarded, told = guard_noted("mail a@b.example", GuardrailSettings(), tmp_path, "run", lambda: 0.0)
    assert told[:-1] == guarded.notices and "what was redacted is not noted" in told[-1]
    assert guard_noted("ask", GuardrailSettings(), tmp_path, "run", lambda: 0.0)[1] == ()


def test_a_trail_that_has_reached_its_size_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> None:
        guard_noted("mail a@b.example", GuardrailSettings(), tmp_path, "run", lambda: 0.0)

    ask()
    (file,) = (tmp_path / "logs").glob("*.jsonl")
    monkeypatch.setattr(audit, "ROTATE_BYTES", file.stat().st_size + 1)
    ask()
    assert len(list((tmp_path / "logs").glob("*.jsonl"))) == 1, "one byte less is room for one more"
    monkeypatch.setattr(audit, "ROTATE_BYTES", file.stat().st_size)
    ask()
    assert len(list((tmp_path / "logs").glob("*.jsonl"))) == 2
