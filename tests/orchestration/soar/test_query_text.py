"""What is read of a question: steps, names of code, traces; and how long what a model says may be."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from aurora_orchestration.soar.query_text import Clause, read
from aurora_orchestration.types import Given, Goal, Subgoal


@pytest.mark.parametrize(
    ("query", "steps"),
    [
        pytest.param("1. add a field\n2. show it", 2, id="numbered items"),
        pytest.param("- add a field\n- show it\n- test it", 3, id="or marked ones"),
        pytest.param("1. add a field", 0, id="one is no list"),
        pytest.param("add a field", 0, id="nor is none"),
        pytest.param("```\n1. a\n2. b\n```", 0, id="nor is what stands in code"),
    ],
)
def test_steps_are_the_items_of_a_list(query: str, steps: int) -> None:
    assert read(query).steps == steps


@pytest.mark.parametrize(
    ("words", "opening"),
    [
        ("please can you list users", "list users"),
        ("i want to add users", "add users"),
        ("can i add users", "can i add users"),
        ("we have to add users", "add users"),
        ("add users please", "add users please"),
    ],
)
def test_where_the_asking_begins(words: str, opening: str) -> None:
    assert " ".join(Clause(tuple(words.split())).opening) == opening


@pytest.mark.parametrize(("length", "is_taken"), [(0, False), (1, True), (4000, True), (4001, False)])
@pytest.mark.parametrize(
    ("kind", "said", "text"),
    [
        (Given, {"id": "G1", "source": "query"}, "fact"),
        (Goal, {}, "description"),
        (Subgoal, {"id": "SG1", "agent": "a"}, "description"),
    ],
)
def test_what_a_model_says_of_a_plan_is_bounded(
    kind: type[Any], said: dict[str, str], text: str, length: int, is_taken: bool
) -> None:
    document = {**said, text: "x" * length}
    if is_taken:
        assert getattr(msgspec.convert(document, kind), text) == "x" * length
    else:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(document, kind)
