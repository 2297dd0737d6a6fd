"""What an experiment is called, and what judging it has cost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aurora_orchestration.headless.goals import Judge, experiment_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        pytest.param("# Notes\n\n## Goal\n\n- Make **it** fast\n", "Make it fast", id="by what its goal says"),
        pytest.param("# Notes\n## Objective: speed\nMake it fast\n", "Make it fast", id="by any word for it"),
        pytest.param("Make it fast.\n# Notes\n", "Notes", id="else by its first heading"),
        pytest.param("Make it\nfast.", "Make it", id="else by its first line"),
        pytest.param("x" * 120, "x" * 120, id="in full, where that is a line"),
        pytest.param("x" * 121, "x" * 119 + "…", id="cut, where it is more"),
    ],
)
def test_what_an_experiment_is_called(text: str, title: str) -> None:
    assert experiment_of(text, "prompt.md").title == title


def test_judging_costs_what_was_not_paid_for_before() -> None:
    calls: Any = [SimpleNamespace(counted_usd=usd, replayed=usd > 1) for usd in (0.25, 0.5, 2.0)]
    llm: Any = None
    assert Judge(llm, calls).spent_usd == 0.75
