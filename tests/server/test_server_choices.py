"""Choices of the daemon, a rule each: what is answered and what is not, what comes first, what is left out."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aurora_memory.chunks import MODULE_NAME
from aurora_memory.recall.signals import SIGNALS, Signals, weights_of
from aurora_memory.store.others_rows import OthersPart
from aurora_memory.views import UsageCounts
from aurora_server.lsp import code_lens, commands
from aurora_server.lsp.documents import MAX_PARSED
from aurora_server.lsp.location import DocumentPlace, place_of
from aurora_server.session.errors import RequestError
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.evidence import _origin, signals
from aurora_server.workspace.wire import iso
from tests.memory.chunks import chunk

USED = UsageCounts(callers=2)


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


@pytest.mark.parametrize(
    ("used", "times", "committed", "edited", "origin"),
    [
        pytest.param(True, 0, True, True, "answers", id="answers that it stood in, before all else"),
        pytest.param(False, 1, True, True, "git", id="commits, before the edit that memory saw"),
        pytest.param(False, 1, False, True, "edits", id="that edit, where no commit is known"),
        pytest.param(False, 1, False, False, "file", id="the time of its file, where nothing else is"),
        pytest.param(False, 0, True, True, "unknown", id="nothing, where there are none"),
    ],
)
def test_where_a_chunks_accesses_are_said_to_come_from(
    used: bool, times: int, committed: bool, edited: bool, origin: str
) -> None:
    chunk = SimpleNamespace(id=1, changed_at=5.0 if edited else None)
    hit: Any = SimpleNamespace(history=(4.0,) * times, chunk=chunk)
    commits: Any = {1: SimpleNamespace(changed=True)} if committed else {}
    assert _origin(hit, commits, used) == origin


def test_the_commit_at_which_a_history_is_cut_off_is_none_of_a_chunks_own() -> None:
    hit: Any = SimpleNamespace(history=(4.0,), chunk=SimpleNamespace(id=1, changed_at=None))
    commits: Any = {1: SimpleNamespace(changed=False)}
    assert _origin(hit, commits, used=False) == "unknown"


async def test_above_which_chunks_of_a_file_a_lens_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of which there is something to say; not the rest of a file, however much of it others use."""

    async def nothing(*_: Any) -> Any:
        return []

    async def no_manifest(*_: Any) -> None:
        return None

    async def usages(*_: Any) -> Any:
        return [
            (chunk("a.py", name), used) for name, used in [(MODULE_NAME, USED), ("idle", UsageCounts()), ("f", USED)]
        ]

    async def place(*_: Any) -> Any:
        buffers = SimpleNamespace(usages=usages)
        return DocumentPlace(SimpleNamespace(buffers=buffers), Path("/w/a.py"), None)  # type: ignore[arg-type]

    for name, function in {"manifest_of": no_manifest, "place_of": place}.items():
        monkeypatch.setattr(code_lens, name, function)
    monkeypatch.setattr(code_lens.deliverable_lens, "lenses", nothing)
    ls: Any = SimpleNamespace(preferences=SimpleNamespace(code_lens=True))
    params: Any = SimpleNamespace(text_document=SimpleNamespace(uri="file:///w/a.py"))
    found = await code_lens.code_lenses(ls, params)
    assert [lens.data["title"] for lens in found] == ["2 callers"]


def test_signals_are_told_the_largest_first_whatever_their_sign_and_only_those_that_count() -> None:
    values = Signals(tuple(-1.0 if each is SIGNALS[0] else 0.0 for each in SIGNALS))
    chunk = SimpleNamespace(kind="function")
    strength = values.strength(weights_of()) + 0.001
    hit: Any = SimpleNamespace(chunk=chunk, signals=values, strength=strength)
    assert [each.name for each in signals(hit)] == [SIGNALS[0].name, "order"]
    pattern: Any = SimpleNamespace(chunk=SimpleNamespace(kind="reasoning"), signals=values, strength=strength)
    assert signals(pattern)[-1].name == "partial success"


def test_what_colleagues_did_is_told_by_name_those_who_share_none_as_one() -> None:
    def part(author: str, uses: int, last: float) -> OthersPart:
        told: Any = SimpleNamespace(author=author, uses=uses, boosts=1, last=last)
        return cast(OthersPart, told)

    colleagues = Colleagues(Path("/w"))
    colleagues.names = {"a": "Ann"}
    found = colleagues._named([part("x", 1, 90.0), part("a", 2, 10.0), part("y", 4, 20.0)])
    assert [(each.name, each.uses, each.last) for each in found] == [(None, 5, iso(90.0)), ("Ann", 2, iso(10.0))]


async def test_a_command_takes_one_object_or_none() -> None:
    async def request(given: Any) -> Any:
        return given

    command = commands._command("aurora.recall", request)
    assert [await command(), await command({"query": "q"})] == [None, {"query": "q"}]
    with pytest.raises(RequestError, match="takes one object, not 2 values"):
        await command({}, {})
