"""Messages as large as a frame: looked at in slices, refused by their envelope, and told apart as decoding would."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora_server.daemon import large_messages
from aurora_server.daemon.large_messages import SLICE_BYTES, envelope_of, holds_too_much
from tests.shares import examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a"\\,[{é\n'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('k"\\:'), inner),
)


def values_of(value: Any) -> int:
    """Commas and opening brackets outside strings."""
    if isinstance(value, list):
        return 1 + max(0, len(value) - 1) + sum(map(values_of, value))
    if isinstance(value, dict):
        return 1 + max(0, len(value) - 1) + sum(map(values_of, value.values()))
    return 0


@settings(max_examples=examples(200), deadline=None)
@given(value=JSON, sliced=st.integers(2, 9), ascii_only=st.booleans())
@pytest.mark.long
def test_values_are_counted_as_they_are_however_they_are_sliced(value: Any, sliced: int, ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    held = values_of(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_messages, "SLICE_BYTES", sliced)
        patch.setattr(large_messages, "PAUSE", 0)
        for most in {0, max(0, held - 1), held, held + 1}:
            patch.setattr(large_messages, "MAX_VALUES", most)
            strings = body.count(b'"')  # keys are strings and no values, as many as values at most
            assert holds_too_much(bytearray(body)) == (held > most) or strings > 4 * most


@pytest.mark.parametrize("body", [b'"', b'"\\', b'["a\\', b'"\\"', b'{"a', b'"' + b"\\" * 99])
def test_a_text_that_does_not_end_is_for_decoding_to_tell(body: bytes) -> None:
    assert not holds_too_much(body)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'"' + b"a" * 999_998 + b'"', id="one string"),
        pytest.param(b'"' + b"\\n" * 499_999 + b'"', id="escapes"),
        pytest.param(b'"' + b"\\\\" * 499_999 + b'"', id="backslashes"),
        pytest.param(b" " * 1_000_000, id="spaces"),
        pytest.param(b"x" * 1_000_000, id="no JSON"),
    ],
)
def test_others_get_their_turn_after_each_slice(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    assert not holds_too_much(text)
    assert len(pauses) == (len(text) - 1) // SLICE_BYTES and min(pauses) > 0


@pytest.mark.long
def test_many_small_strings_give_others_their_turn_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    assert not holds_too_much(b'{"a":{"a":""}}' * 3000)
    assert len(pauses) >= 12
    assert holds_too_much(b'""' * (2 * large_messages.MAX_VALUES + 1)), "nobody passes over so many"


HUGE = "[" + "1," * 100_000 + "1]"


@pytest.mark.parametrize(
    ("body", "method", "identity"),
    [
        pytest.param('{"jsonrpc":"2.0","id":7,"method":"m","params":%s}', "m", 7, id="as everybody writes it"),
        pytest.param('{"jsonrpc":"2.0","method":"m","params":%s,"id":7}', "m", 7, id="the id behind"),
        pytest.param(' { "params" : %s , "method" : "m" , "id" : "a\\"b" } \n', "m", 'a"b', id="both behind"),
        pytest.param('{"id":7,"result":%s}', None, 7, id="a response"),
        pytest.param('{"method":"m","params":%s}', "m", None, id="a notification"),
        pytest.param('{"method":"m","params":{"a":%s,"id":7}}', "m", None, id="an id of the params is none"),
        pytest.param('{"params":{"id":7,"a":%s},"method":"m"}', "m", None, id="nor is one before"),
        pytest.param('{"method":"m","params":["\\",\\"id\\":7}",%s]}', "m", None, id="nor one in a string"),
        pytest.param('[{"id":7,"method":"m","params":%s}]', None, None, id="a batch"),
        pytest.param("%s", None, None, id="no message"),
    ],
)
def test_whose_a_message_is_is_told_by_its_ends(body: str, method: str | None, identity: object) -> None:
    found = envelope_of((body % HUGE).encode())
    assert (found.method, found.id) == (method, identity)


@pytest.mark.parametrize("tail", [',"id":1' * 9000 + "}}", " " * 60_000, '"' * 60_000, ',"id":"' + "\\" * 60_000])
def test_ends_of_any_kind_are_read(tail: str) -> None:
    assert envelope_of(f'{{"a":{HUGE}{tail}'.encode()).id is None
