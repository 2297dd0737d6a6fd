"""Who is let in by `aurora mcp --http`: whoever sends the token, in whatever case the scheme is written."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aurora_server.mcp.http_server import Admission

TOKEN = "t" * 43


@pytest.mark.parametrize(
    ("header", "let_in"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer {TOKEN}", True),
        (f"BEARER  {TOKEN} ", True),
        (TOKEN, False),
        (f"Basic {TOKEN}", False),
        (f"Bearer {TOKEN}x", False),
        (f"Bearer {TOKEN[:-1]}", False),
        ("Bearer é", False),
        ("Bearer", False),
        (None, False),
    ],
)
async def test_who_is_let_in(header: str | None, let_in: bool) -> None:
    reached: list[str] = []
    answers: list[Any] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["type"])

    async def send(message: Any) -> None:
        answers.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    headers = [] if header is None else [(b"authorization", header.encode("latin-1"))]
    known: list[Any] = []
    unauthenticated: Any = SimpleNamespace(know=known.append)
    scope = {"type": "http", "headers": headers, "client": ["127.0.0.1", 5]}
    await Admission(inner, TOKEN, unauthenticated)(scope, receive, send)
    assert reached == (["http"] if let_in else [])
    assert known == ([("127.0.0.1", 5)] if let_in else []), "who sends it is no stranger"
    assert [each["status"] for each in answers if "status" in each] == ([] if let_in else [401])
