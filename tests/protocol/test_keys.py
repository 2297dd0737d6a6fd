"""One spelling of keys: our messages are snake_case on the wire, and LSP's own members stay as LSP has them."""

from __future__ import annotations

import re

import msgspec
import pytest

from aurora_protocol import deliverable_methods, memory_methods, methods, query_methods

LSP = {"work_done_token": "workDoneToken", "partial_result_token": "partialResultToken"}
"""Members that any LSP request may have: clients and libraries fill and read them by these names."""

MESSAGES = sorted(
    {
        message
        for module in (methods, deliverable_methods, memory_methods, query_methods)
        for message in vars(module).values()
        if isinstance(message, type) and issubclass(message, methods.Wire)
    },
    key=lambda message: message.__name__,
)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_a_field_is_spelled_on_the_wire_as_everywhere(message: type[msgspec.Struct]) -> None:
    for field in msgspec.structs.fields(message):
        assert field.encode_name == LSP.get(field.name, field.name)
        assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", field.name)
