"""What is read out of a model's answer, and the shapes it is asked for in."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from aurora_orchestration import types
from aurora_orchestration.llm.completion import Ask, CapReached, LlmError, ModelReply, Rejected, Truncated, Unavailable
from aurora_orchestration.llm.shapes import is_closed, shape_of
from aurora_orchestration.llm.structured import MAX_CHARACTERS, Unusable, ask_for, decode
from aurora_orchestration.soar.replies import DecompositionReply


class Inner(msgspec.Struct, frozen=True):
    """Written for developers (§5.4)."""

    score: Annotated[float, Meta(ge=0, le=1)]


class Outer(msgspec.Struct, frozen=True):
    name: Annotated[str, Meta(min_length=2, description="what it is called")]
    inner: Inner
    pairs: tuple[int, int] = (0, 0)
    kind: Literal["a", "b"] = "a"
    maybe: Inner | None = None


class Loose(msgspec.Struct):
    data: Any = None
    named: dict[str, int] = {}


class Looped(msgspec.Struct):
    again: Looped | None = None


GOOD = '{"name": "it", "inner": {"score": 0.5}}'
FOUND = Outer("it", Inner(0.5))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f"Sure! Here is the answer:\n\n{GOOD}\n\nTell me if you need more.",
        f"I took {{x}} and {{}} for it: {GOOD}",
        f'{GOOD} (scores like {{"score": 1}} are another matter)',
        f"<think>a {{b: c}} d</think>{GOOD}",
        f"\ufeff{GOOD}",
    ],
)
def test_fences_and_prose_are_overlooked(text: str) -> None:
    assert decode(text, Outer) == FOUND


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not one JSON object"),
        ("no", "not one JSON object"),
        ("[]", "not one JSON object"),
        ("{", "not one JSON object"),
        (GOOD + GOOD, "2 JSON objects"),
        (GOOD[:-1], "truncated"),
        ('{"name": "it", "inner": {"score": 2}}', r"\$\.inner\.score"),
        ('{"name": "it", "inner": {"score": NaN}}', "malformed"),
        ('{"name": "it"}', "missing required field `inner`"),
        ('{"name": "i", "inner": {"score": 0.5}}', r"\$\.name"),
        ('{"name": "it", "inner": {"score": 0.5}, "pairs": ' + "[" * 50 + "]" * 50 + "}", "nested"),
        ('{"a": ' * 100_000, "."),
        ("{" * 200_000, "."),
        (" " * (MAX_CHARACTERS + 1) + GOOD, "at most"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, told: str) -> None:
    with pytest.raises(Unusable, match=told):
        decode(text, Outer)


@pytest.mark.parametrize("sign", ["\u0000", "\u001b", "\u009b", "\u202e", "\u2066"])
def test_no_sign_that_commands_a_terminal_or_turns_a_line_is_read(sign: str) -> None:
    for text in (json.dumps({"name": f"a{sign}b"}), json.dumps({"name": f"a{sign}b"}, ensure_ascii=False)):
        assert decode(text, Named).name == "a\ufffdb"
    assert decode(r'{"name": "a\\u202eb"}', Named).name == r"a\u202eb", "that is a word about it"


class Named(msgspec.Struct):
    name: str


def test_the_inside_of_a_broken_answer_is_not_the_answer() -> None:
    with pytest.raises(Unusable):
        decode('{"data": {"data": 1}, "named": ', Loose)


def test_a_shape_is_closed_whole_and_without_references() -> None:
    shape = shape_of(Outer)
    text = json.dumps(shape)
    for word in ("$ref", "$defs", "default", "minLength", "minimum", "prefixItems", "title", "developers"):
        assert word not in text
    assert shape["required"] == ["name", "inner", "pairs", "kind", "maybe"]
    assert shape["properties"]["name"]["description"] == "what it is called; at least 2 characters"
    assert shape["properties"]["pairs"] == {
        "type": "array",
        "items": {"type": "integer"},
        "description": "exactly 2 items",
    }
    assert {"type": "null"} in shape["properties"]["maybe"]["anyOf"]
    assert is_closed(shape) and not is_closed(shape_of(Loose))


def test_no_shape_holds_itself() -> None:
    with pytest.raises(TypeError, match="Looped"):
        shape_of(Looped)


@pytest.mark.parametrize("kind", [types.Decomposition, types.Verification, types.Synthesis, types.AgentResponse])
def test_the_phases_shapes_can_be_asked_for(kind: type[Any]) -> None:
    text = json.dumps(shape_of(kind))
    assert "$ref" not in text and len(text) < 20_000


class Nested(msgspec.Struct, frozen=True):
    id: Annotated[str, Meta(max_length=100)]
    facts: tuple[Annotated[str, Meta(min_length=1, max_length=500)], ...]
    within: tuple[Nested, ...] = ()


def test_prose_that_is_too_long_is_cut_and_not_paid_for_again() -> None:
    long = {"id": "a", "facts": ["x" * 9_000, "short", "y" * 501], "within": [{"id": "b", "facts": ["z" * 600]}]}
    found = decode(json.dumps(long), Nested)
    assert [len(each) for each in found.facts] == [500, 5, 500] and found.facts[0].endswith("x…")
    assert [len(each) for each in found.within[0].facts] == [500]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"id": "a" * 101, "facts": ["x" * 600]}, r"length <= 100 - at `\$.id`"),
        ({"id": "a", "facts": ["x" * 600, ""]}, r"length >= 1"),
        ({"id": "a", "facts": ["x" * 600, 7]}, r"Expected `str`, got `int`"),
        ({"id": "a", "facts": ["x" * 600], "within": ["facts"]}, r"Expected `object`, got `str`"),
    ],
)
def test_a_name_is_not_cut_and_what_else_is_wrong_is_told(wrong: dict[str, Any], error: str) -> None:
    with pytest.raises(Unusable, match=error):
        decode(json.dumps(wrong), Nested)


def test_a_plan_that_repeats_long_notes_is_a_plan() -> None:
    given = [{"id": "G1", "fact": "note " * 1_800, "source": "query"}]
    goal = {"description": "goal " * 1_000, "success_criteria": ["it holds " * 600]}
    step = {"id": "SG1", "description": "do " * 2_000, "agent": "llm-executor", "requires": ["G1"]}
    body = decode(
        json.dumps({"decomposition": {"given": given, "goal": goal, "subgoals": [step]}}), DecompositionReply
    ).decomposition
    texts = (body.given[0].fact, body.goal.description, body.goal.success_criteria[0], body.subgoals[0].description)
    assert [len(text) for text in texts] == [4_000] * 4


class Telling:
    """A model that answers, or raises, one after the other; what it was asked."""

    model = "m"

    def __init__(self, *said: str | LlmError) -> None:
        self.said = list(said)
        self.asked: list[Ask] = []

    async def ask(self, ask: Ask) -> ModelReply:
        self.asked.append(ask)
        said = self.said.pop(0)
        if isinstance(said, LlmError):
            raise said
        return ModelReply(text=said, model="m", provider="p")


ASK = Ask(phase="verify", purpose="verify", system="", prompt="{}", max_tokens=100)
CUT = Truncated("cut", max_tokens=100)


@pytest.mark.parametrize(
    ("said", "raised", "rooms"),
    [
        pytest.param([CUT, GOOD], None, [100, 200], id="with twice the room it fits"),
        pytest.param([CUT, CUT], Truncated, [100, 200], id="that once"),
        pytest.param([CUT, CapReached("no money")], Truncated, [100, 200], id="where there is money for it"),
        pytest.param([CUT, Rejected("too many tokens")], Truncated, [100, 200], id="and the model can say so much"),
        pytest.param([CUT, Unavailable("gone")], Unavailable, [100, 200], id="what else goes wrong is told"),
        pytest.param([Truncated("cut")], Truncated, [100], id="and not where nobody knows the room"),
    ],
)
async def test_an_answer_that_was_cut_is_asked_for_once_more(
    said: list[str | LlmError], raised: type[LlmError] | None, rooms: list[int]
) -> None:
    model = Telling(*said)
    if raised is None:
        assert await ask_for(model, ASK, Outer) == FOUND
    else:
        with pytest.raises(raised):
            await ask_for(model, ASK, Outer)
    assert [each.max_tokens for each in model.asked] == rooms


@pytest.mark.parametrize(
    ("said", "found", "calls"),
    [
        pytest.param(["It is in expand."], "It is in expand.", 1, id="words are an answer, and not asked for again"),
        pytest.param(["nothing"], None, 2, id="one word is none"),
        pytest.param(["<html>Log in to the portal</html>"], None, 2, id="nor is markup"),
        pytest.param(['{"name": "it"'], None, 2, id="nor JSON that broke off"),
        pytest.param(['Set it so: {"a": 1} in the settings.'], 'Set it so: {"a": 1} in the settings.', 1,
                     id="a little JSON among words is"),
    ],
)  # fmt: skip
async def test_words_in_the_place_of_json(said: list[str], found: str | None, calls: int) -> None:
    model = Telling(*said, GOOD)
    answer = await ask_for(model, ASK, Outer, prose=lambda text: Outer(text, Inner(0.0)))
    assert answer == (FOUND if found is None else Outer(found, Inner(0.0))) and len(model.asked) == calls
