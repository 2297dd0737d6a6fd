"""Choices of the daemon, a rule each: what is answered and what is not, what comes first, what is left out."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_server.lsp.documents import MAX_PARSED
from aurora_server.lsp.location import DocumentPlace, place_of


@pytest.mark.parametrize(
    ("uri", "text", "is_there"),
    [
        pytest.param("file:///w/a.py", None, True, id="a file that is not open"),
        pytest.param("file:///w/a.py", "", True, id="an empty buffer"),
        pytest.param("file:///w/a.py", "x" * MAX_PARSED, True, id="the largest buffer that is parsed"),
        pytest.param("file:///w/a.py", "x" * (MAX_PARSED + 1), False, id="no buffer larger than that"),
        pytest.param("file:///elsewhere/a.py", "x", False, id="nothing outside the session's folders"),
        pytest.param("untitled:a", "x", False, id="nothing that is no file"),
    ],
)
async def test_what_has_a_place_in_the_session(uri: str, text: str | None, is_there: bool) -> None:
    async def owner(path: Path) -> object:
        return workspace if path.is_relative_to("/w") else None

    workspace = object()
    buffer = SimpleNamespace(text=text) if text is not None else None
    ls: Any = SimpleNamespace(documents=SimpleNamespace(open=lambda _: buffer), folders=SimpleNamespace(owner=owner))
    assert await place_of(ls, uri) == (DocumentPlace(workspace, Path("/w/a.py"), text) if is_there else None)  # type: ignore[arg-type]
