"""What people and programs see of a site's answer and of what its manifest offers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aurora_cli.output import TerminalStyle
from aurora_cli.site_view import body_value, reply_lines
from aurora_manifest.client.transport import SiteReply

PLAIN = TerminalStyle()


def reply(body: bytes, kind: str | None = "application/json", **more: Any) -> SiteReply:
    headers = () if kind is None else (("content-type", kind),)
    return SiteReply(url="https://a.example/", status=200, headers=headers, body=body, took_ms=1.0, **more)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        pytest.param(reply(b'{"a": 1}'), {"a": 1}, id="JSON is its value"),
        pytest.param(
            reply(b"[1]", "application/problem+JSON; charset=utf-8"), [1], id="of any media type that says so"
        ),
        pytest.param(reply(b"[1]", "text/plain"), "[1]", id="and text where it says it is text"),
        pytest.param(reply(b"[1]", None), "[1]", id="or nothing"),
        pytest.param(reply(b'{"a": '), '{"a": ', id="broken JSON is the text that came"),
        pytest.param(reply(b""), None, id="nothing is nothing"),
        pytest.param(reply(b"\xff\xfe\x00", "image/png"), None, id="what is no text is none"),
        pytest.param(
            reply("né".encode()[:-1], "text/plain", cut="larger than 2 bytes"),
            "n\ufffd",
            id="but for a letter cut apart",
        ),
    ],
)
def test_what_a_body_says(answer: SiteReply, value: Any) -> None:
    assert body_value(answer) == value


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        pytest.param(reply(b'{"b": 1, "a": 2}'), json.dumps({"b": 1, "a": 2}, indent=2).split("\n"), id="as it came"),
        pytest.param(reply(b"\xff\xfe", "image/png"), ["2 B of image/png"], id="what is no text is told by its size"),
        pytest.param(reply(b"\xff\xfe", None), ["2 B of an unnamed type"], id="also where it has no name"),
    ],
)
def test_how_a_body_is_shown(answer: SiteReply, end: list[str]) -> None:
    assert reply_lines(answer, PLAIN)[-len(end) :] == end
