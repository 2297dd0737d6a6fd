"""Arguments of requests to the demo site: how a text of an address is read."""

from typing import Any

import pytest

from aurora_server.demo_site.request_arguments import converted


@pytest.mark.parametrize(
    ("values", "kind", "read"),
    [
        (["7"], "integer", 7),
        (["-7"], "integer", -7),
        (["9" * 15], "integer", 999_999_999_999_999),
        pytest.param(["9" * 16], "integer", "9" * 16, id="a number that JSON cannot carry exactly stays a text"),
        (["7.5"], "integer", "7.5"),
        pytest.param(["٧"], "integer", "٧", id="digits of ASCII alone"),
        (["7"], "string", "7"),
        pytest.param(["1", "2"], "string", "2", id="the last of several"),
        pytest.param(["1", "2"], "array", ["1", "2"], id="all of them for an array"),
    ],
)
def test_a_text_is_read_as_its_schema_wants_it(values: list[str], kind: str, read: Any) -> None:
    assert converted(values, {"type": kind}) == read
