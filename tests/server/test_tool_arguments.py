"""Arguments that several tools take: which numbers and texts are taken, and which are refused."""

from typing import Any

import msgspec
import pytest

from aurora_server.mcp.replies import MAX_TOKENS
from aurora_server.mcp.tool import DocumentTokens, Query, Tokens


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
