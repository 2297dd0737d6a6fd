"""Who of an MCP client is asked what, a rule each: its user, its model, its roots, and for which call."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import types

from aurora_server.mcp import client_requests
from aurora_server.mcp.client_requests import AskedClient, client_root, roots_wanted
from aurora_server.mcp.input_rounds import ROUNDS_SINCE

OLD = "2025-06-18"

# Whom


def context(version: str = OLD, *, sends: bool = True, **capabilities: Any) -> Any:
    told = SimpleNamespace(**({"elicitation": None, "sampling": None, "roots": None} | capabilities))
    session = SimpleNamespace(client_capabilities=told, can_send_request=sends, protocol_version=version)
    return SimpleNamespace(session=session)


FORM, URL, NEITHER = (SimpleNamespace(form=form, url=url) for form, url in ((1, None), (None, 1), (None, None)))


@pytest.mark.parametrize(
    ("ctx", "elicits"),
    [
        pytest.param(context(elicitation=FORM), True, id="a client with forms"),
        pytest.param(context(elicitation=NEITHER), True, id="an older one, which had nothing else"),
        pytest.param(context(elicitation=URL), False, id="not one that has addresses alone"),
        pytest.param(context(), False, id="nor one that does not say"),
        pytest.param(context(elicitation=FORM, sends=False), False, id="nor one that cannot be reached"),
        pytest.param(context(ROUNDS_SINCE, elicitation=FORM, sends=False), True, id="but by rounds it can"),
    ],
)
def test_whose_user_is_asked(ctx: Any, elicits: bool) -> None:
    assert AskedClient().elicits(ctx) is elicits


@pytest.mark.parametrize(
    ("ctx", "samples"),
    [(context(sampling=1), True), (context(), False), (context(sampling=1, sends=False), False)],
)
def test_whose_model_is_asked(ctx: Any, samples: bool) -> None:
    assert AskedClient().samples(ctx) is samples


def test_a_question_goes_to_the_call_that_it_is_asked_for_else_to_the_last_one() -> None:
    asked = AskedClient()
    calls: Any = [SimpleNamespace(progress=SimpleNamespace(heard=n)) for n in range(3)]
    heard: Any = 1
    with asked.during(calls[0]), asked.during(calls[1]), asked.during(calls[2]):
        assert asked._call_of(heard) is calls[1] and asked._call_of(None) is calls[2]
    with pytest.raises(client_requests.DaemonUnreachable, match="no tool call is under way"):
        asked._call_of(None)


async def test_a_model_is_asked_for_as_much_as_the_daemon_says_else_for_the_usual(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most: list[int] = []

    async def create_message(_: Any, *, max_tokens: int, system_prompt: str) -> Any:
        most.append(max_tokens)
        return SimpleNamespace(content=types.TextContent(type="text", text="t"), model="m")

    ctx = context()
    ctx.session.create_message = create_message
    asked = AskedClient()
    call: Any = SimpleNamespace(ctx=ctx, progress=SimpleNamespace(heard=None))
    with asked.during(call):
        await asked.ask_model({"max_tokens": 7}, None)
        assert await asked.ask_model({}, None) == {"text": "t", "model": "m"}
    assert most == [7, client_requests.MAX_TOKENS]


# Roots


@pytest.mark.parametrize(
    ("ctx", "answers", "asked"),
    [
        pytest.param(context(ROUNDS_SINCE, roots=1), None, True, id="a client by rounds that has roots"),
        pytest.param(context(ROUNDS_SINCE, roots=1), {client_requests.ROOTS: 1}, False, id="once"),
        pytest.param(context(OLD, roots=1), None, False, id="an older one is asked meanwhile"),
        pytest.param(context(ROUNDS_SINCE), None, False, id="one without roots never"),
    ],
)
def test_who_is_asked_for_roots_before_a_call(ctx: Any, answers: Any, asked: bool) -> None:
    assert bool(roots_wanted(ctx, answers)) is asked


async def test_the_workspace_is_the_first_root_that_is_a_folder_here(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "file").touch()
    uris = [(tmp_path / "gone").as_uri(), (tmp_path / "file").as_uri(),
            (tmp_path / "one").as_uri(), (tmp_path / "two").as_uri()]  # fmt: skip
    told = types.ListRootsResult(roots=[types.Root(uri=uri) for uri in uris])  # type: ignore[arg-type]
    otherwise = Path("/else")
    rounds = context(ROUNDS_SINCE, roots=1)
    assert await client_root(rounds, otherwise, {client_requests.ROOTS: told}) == tmp_path / "one"
    assert await client_root(rounds, otherwise, {}) == otherwise
    assert await client_root(context(), otherwise, {client_requests.ROOTS: told}) == otherwise
    nowhere = types.ListRootsResult(roots=[])
    assert await client_root(rounds, otherwise, {client_requests.ROOTS: nowhere}) == otherwise

    async def roots() -> Any:
        return told

    older = context(roots=1)
    older.session.list_roots = roots
    assert await client_root(older, otherwise) == tmp_path / "one"
