"""As one types (`prefix`), names in questions about relations and in places are completed, as words are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from aurora_protocol.client import Client
from tests.server.daemons import Daemon

FILES = {
    "term.py": """def echo_via_pager(text):
    return text


def echo_via_pager_twice(text):
    return echo_via_pager(text)


class Context:
    def invoke_all(self):
        return echo_via_pager_twice(1)
""",
    "other.py": """from term import Context


def run(cached):
    return Context().invoke_all()


class Sub(Context):
    pass


def cached_rows():
    return run(1)
""",
    "my notes.py": "def written_down():\n    return 1\n",
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    root = tmp_path_factory.mktemp("shop")
    (root / ".git").mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon, daemon.client(root) as client:
        client.request("aurora/index")
        yield client


def typed(client: Client, query: str, **more: Any) -> dict[str, Any]:
    reply: dict[str, Any] = client.request("aurora/recall", {"query": query, "prefix": True, **more})
    return reply


def names(reply: dict[str, Any]) -> list[str]:
    return [each["name"] for each in reply["results"]]


@pytest.mark.parametrize(
    ("query", "found", "hint"),
    [
        ("who calls echo_via_pag", ["echo_via_pager_twice"], "1 calls 'echo_via_pager'."),
        ("who calls echo_via_pager", ["echo_via_pager_twice"], "1 calls 'echo_via_pager'."),
        ("who calls echo_via_pager_", ["Context.invoke_all"], "1 calls 'echo_via_pager_twice'."),
        ("who calls Context.inv", ["run"], "1 calls 'Context.invoke_all'."),
        ("who calls term.py:echo_via_pag", ["echo_via_pager_twice"], "1 calls 'term.py:echo_via_pager'."),
        ("what inherits from Cont", ["Sub"], "1 inherits from 'Context'."),
        ("what does echo_via_pager_t call", ["echo_via_pager"], "1 is called by 'echo_via_pager_twice'."),
        ("who calls ech", ["echo_via_pager_twice"], "1 calls 'echo_via_pager'."),
    ],
)
def test_a_relation_of_a_name_that_is_begun(client: Client, query: str, found: list[str], hint: str) -> None:
    reply = typed(client, query)
    assert (names(reply), reply["hint"], reply["missing"]) == (found, hint, False)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("who calls zzz", "Nothing here is called 'zzz'."),
        ("who calls term.py:run", "Nothing here is called 'term.py:run'"),
        ("who calls Context.zzz", "Nothing here is called 'Context.zzz'."),
        ("who calls `ru`", "Nothing here is called 'ru'; did you mean"),  # two letters may begin anything
        ("who calls cached", "Nothing here is called 'cached'"),  # a word is itself
    ],
)
def test_what_begins_nothing_is_not_here(client: Client, query: str, said: str) -> None:
    reply = typed(client, query)
    assert (reply["results"], reply["missing"]) == ([], True)
    assert reply["hint"].startswith(said.removesuffix("; did you mean"))


def test_a_name_is_not_completed_for_who_has_typed_it(client: Client) -> None:
    reply = client.request("aurora/recall", {"query": "who calls echo_via_pag"})
    assert (reply["results"], reply["missing"]) == ([], True)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("term.py:echo_vi", ["echo_via_pager", "echo_via_pager_twice"]),
        ("term.py:ECHO_VI", ["echo_via_pager", "echo_via_pager_twice"]),
        ("term.py:inv", ["Context.invoke_all"]),
        ("term.py:Context.inv", ["Context.invoke_all"]),
        ("my notes.py:wri", ["written_down"]),
    ],
)
def test_a_place_whose_name_is_begun(client: Client, query: str, found: list[str]) -> None:
    assert names(typed(client, query)) == found
    assert names(typed(client, query, limit=1)) == found[:1]


def test_a_place_that_is_whole_is_that_place(client: Client) -> None:
    assert names(typed(client, "term.py:echo_via_pager"))[0] == "echo_via_pager"
    assert names(typed(client, "term.py:echo_via_pag", types=["know"])) == []
    for query, said in (("term.py:zzz", "term.py defines no zzz"), ("gone.py:echo", "memory knows no file gone.py")):
        reply = typed(client, query)
        assert reply["missing"] and reply["hint"].startswith(said)
    whole = client.request("aurora/recall", {"query": "term.py:echo_vi"})
    assert whole["missing"], "who asks for it has typed it"


@pytest.mark.parametrize("query", ["ec", "who_ec", "where zz ec"])
def test_what_is_too_short_to_be_completed_is_said_to_be(client: Client, query: str) -> None:
    said = "'ec' may begin anything yet: words are completed from 3 letters on."
    reply = typed(client, query)
    assert (reply["results"], reply["hint"]) == ([], said)
    assert client.request("aurora/recall", {"query": "ec"})["hint"].startswith("No file here says 'ec'")
    assert typed(client, "echo via ec")["hint"] is None, "something answers the rest meanwhile"
    assert "says 'zzz'" in typed(client, "zzz")["hint"]
