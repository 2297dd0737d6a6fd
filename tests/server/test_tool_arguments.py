"""Arguments that several tools take: which numbers and texts are taken, and which are refused."""

from typing import Any

import msgspec
import pytest

from aurora_server.mcp.arguments import BadArguments, given_as
from aurora_server.mcp.replies import MAX_TOKENS
from aurora_server.mcp.tool import DocumentTokens, Query, Tokens


class Asked(msgspec.Struct):
    """Arguments of a tool as it takes them."""

    query: Query
    limit: int = 10
    types: list[str] = []


@pytest.mark.parametrize(
    ("arguments", "taken"),
    [
        pytest.param({"query": "q"}, Asked("q"), id="what is left out is as usual"),
        pytest.param({"query": "q", "limit": "3"}, Asked("q", 3), id="a number that a model wrote as text"),
        pytest.param({"query": "q", "types": '["code"]'}, Asked("q", types=["code"]), id="a list written as text"),
        pytest.param({"query": '["q"]'}, Asked('["q"]'), id="a text that looks like a list stays one"),
    ],
)
def test_arguments_are_read_as_they_are_meant(arguments: dict[str, Any], taken: Asked) -> None:
    assert given_as(Asked, arguments) == taken


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(
            {"query": "q", "limt": 3},
            "there is no `limt`; did you mean `limit`?; it takes query, limit, types",
            id="one that no tool has, with the one that may be meant, though all that is needed is there",
        ),
        pytest.param({"zzz": 1}, "there is no `zzz`; it takes query, limit, types", id="it before what is missing"),
        pytest.param({"query": "q", "limit": "many"}, "limit", id="a text that is no number"),
    ],
)
def test_arguments_that_a_tool_does_not_take_are_told(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(BadArguments) as refused:
        given_as(Asked, arguments)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "least", "most"), [(Tokens, 100, MAX_TOKENS), (DocumentTokens, 500, MAX_TOKENS)], ids=["text", "document"]
)
def test_an_answer_has_room_for_something_and_an_end(kind: Any, least: int, most: int) -> None:
    assert [msgspec.convert(each, kind) for each in (least, most)] == [least, most]
    for each in (least - 1, most + 1):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(each, kind)


@pytest.mark.parametrize(("length", "taken"), [(0, False), (1, True), (10_000, True), (10_001, False)])
def test_a_question_says_something_and_is_no_file(length: int, taken: bool) -> None:
    try:
        msgspec.convert("q" * length, Query)
    except msgspec.ValidationError:
        assert not taken
    else:
        assert taken
