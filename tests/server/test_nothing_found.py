"""An answer that is empty says why, and shows nothing else in its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aurora_memory import UnknownChunk
from aurora_memory.chunks import CodeChunk
from aurora_memory.lifespans.policies import BUILT_IN
from aurora_memory.recall import parse_question
from aurora_memory.store import Store
from aurora_memory.store.reader import Reader
from aurora_protocol.methods import Freshness, RecallParams
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.nothing_found import why_nothing
from aurora_server.workspace.recall import RecallFindings, find
from aurora_server.workspace.workspace import Workspace
from tests.memory.chunks import chunk, file
from tests.server.daemons import Daemon, until


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


async def found_in(
    tmp_path: Path, files: dict[str, list[CodeChunk]], query: str, pending: int = 0, state: str = "ready"
) -> RecallFindings:
    """What is found in a memory of those files."""
    store = await Store.open(tmp_path / "memory.db")
    await store.write([file(path, *chunks) for path, chunks in files.items()])
    try:
        return await store.read(
            find,
            parse_question(query),
            RecallParams(query=query),
            BUILT_IN,
            1000.0,
            focus=None,
            near=(),
            read_text=lambda path: "",
            freshness=Freshness(
                indexed_at=None, pending_files=pending, skipped_files=0, files=1, chunks=1, state=state
            ),
            colleagues=Colleagues(tmp_path),
        )
    finally:
        await store.close()


CODE = {"tokens.py": "def expand_template(url):\n    return url\n"}


@pytest.mark.parametrize(
    ("files", "params", "said"),
    [
        ({}, {"query": "expand"}, "No file of this workspace is indexed"),
        ({"a.py": "x = 1\n", ".gitignore": "*\n"}, {"query": "x"}, "all are ignored (.gitignore, .auroraignore)"),
        ({"blob.py": "\0\0"}, {"query": "expand"}, "its only file is left out; `aurora doctor` says why"),
        (CODE, {"query": "frobnicate"}, "No file here says 'frobnicate'."),
        (CODE, {"query": "expnad"}, "No file here says 'expnad'; did you mean 'expand'?"),
        (CODE, {"query": "xepand"}, "did you mean 'expand'?"),
        (CODE, {"query": "frobnicate the wumpus"}, "No file here says 'frobnicate', 'wumpus'."),
        (CODE, {"query": "src/none.py:login"}, "memory knows no file src/none.py;"),
        (CODE, {"query": "code:Makefile:all:1-2"}, "memory knows no file Makefile;"),
        (
            {},
            {"query": "code:Makefile:all:1-2"},
            "memory knows no file Makefile; no file of this workspace is indexed:",
        ),
        ({}, {"query": "a.py:1"}, "memory knows no file a.py; no file of this workspace is indexed:"),
        (
            {},
            {"query": "who calls expand_it"},
            "Nothing here is called 'expand_it'; no file of this workspace is indexed:",
        ),
        (
            {"blob.py": "\0\0"},
            {"query": "who calls expand"},
            "'expand'; no file of this workspace is indexed: its only",
        ),
        (CODE, {"query": "expand", "types": ["know"]}, "Nothing among documents answers that; ask for every type."),
    ],
)
def test_an_empty_answer_says_why(
    daemon: Daemon, tmp_path: Path, files: dict[str, str], params: dict[str, Any], said: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    with daemon.client(tmp_path) as client:
        client.request("aurora/index")
        reply = client.request("aurora/recall", params)
    assert reply["results"] == []
    assert said in reply["hint"]


@pytest.mark.parametrize(("query", "is_missing"), [("b.py", True), ("src/b.py", True), ("frob.nicate", False)])
def test_a_file_that_is_not_there_is_missing_with_or_without_its_folder(
    daemon: Daemon, tmp_path: Path, query: str, is_missing: bool
) -> None:
    (tmp_path / "tokens.py").write_text(CODE["tokens.py"], encoding="utf-8")
    (tmp_path / ".git").mkdir()
    with daemon.client(tmp_path) as client:
        client.request("aurora/index")
        reply = client.request("aurora/recall", {"query": query})
    assert reply.get("missing", False) is is_missing
    assert ("memory knows no file" in reply["hint"]) is is_missing


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("who calls parse_it", "Nothing here is called 'parse_it'"),
        ("tokens.py:900", "tokens.py has nothing at line 900"),
        ("code:tokens.py:frob", "tokens.py defines no frob"),
        ("src/none.py", "memory knows no file src/none.py"),
    ],
)
@pytest.mark.parametrize("pending", [0, 2])
async def test_what_is_not_there_may_come_while_files_are_still_being_indexed(
    tmp_path: Path, query: str, said: str, pending: int
) -> None:
    found = await found_in(tmp_path, {"tokens.py": [chunk("tokens.py", "expand_template")]}, query, pending)
    assert found.missing
    assert found.hint is not None
    assert found.hint.startswith(said)
    assert found.hint.endswith("; 2 files still being indexed") == (pending > 0)


TEMPLATES = {
    "tokens.py": [chunk("tokens.py", "expand_template", "purge old entries")],
    "queue.py": [chunk("queue.py", "queue_latency", "how long a job of the queue waited")],
}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("expand frobnicated template", "No file here says 'frobnicated'. These are answers to the rest."),
        ("expand the wumpus, frobnicated", "No file here says 'wumpus', 'frobnicated'. These are answers to the rest."),
        ("queue latncy", "No file here says 'latncy'; did you mean 'latency'? These are answers to the rest."),
        ("expand template", None),
        ("expand old template entries frobnicated", None),  # one of five: the rest is what is asked
        ("evict template entries", None),  # what `evict` may mean stands here
        ("expand_template", None),
        ("expand_template fails with a frobnication of wumpuses", None),  # a report tells more than stands here
    ],
)
async def test_words_that_stand_nowhere_are_told_beside_answers_to_the_rest(
    tmp_path: Path, query: str, said: str | None
) -> None:
    found = await found_in(tmp_path, TEMPLATES, query)
    assert found.hits
    assert found.hint == said


LONG = "test" + "RetrievesWhatIsStored" * 4
CONTEXT = {
    "core.py": [
        chunk("core.py", "Context", "close the nosuchoption and the echo zone", kind="class"),
        chunk("core.py", "Context.invoke", "the echo", kind="method", line=10),
        chunk("core.py", "echo_via_pager", "print", line=20),
        chunk("core.py", LONG, "end", line=50),
        chunk("core.py", "ff_one", "is_ok stays nozzle", line=30),
        chunk("core.py", "Context.close", "end the stored", kind="method", line=40),
    ],
}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("Context.nosuch", "No file here says 'nosuch'. These are answers to the rest."),
        ("Context::nosuch()", "No file here says 'nosuch'. These are answers to the rest."),
        ("echo_zzz", "No file here says 'echo_zzz'. These are answers to its words."),
        ("where is echo_zzz", "No file here says 'echo_zzz'. These are answers to its words."),
        ("Context.nozzle", "Nothing here is called 'Context.nozzle'; these are answers to its words."),
        ("Zorblax.invoke", "No file here says 'Zorblax'. These are answers to the rest."),
        ("ok_one", "No file here says 'ok_one'. These are answers to its words."),
        ("Context.invoke", None),
        ("context.INVOKE", None),
        ("Context.inv", None),  # what it may become is found
        ("ctx.invoke", None),  # only the asker's file has it
        ("click.core.Context", None),
        ("echo_via_pag", None),
        ("is_ok", None),  # a file has it, though nothing is called so
        ("Context.stored", None),  # what it holds, as its methods say
        ("Context.ff_one", None),  # which it may have from elsewhere
        ("core.py:10", None),
        (LONG, None),  # too long to be indexed
        (f"Context.{LONG}", None),
    ],
)
async def test_a_name_that_stands_nowhere_is_said_to_beside_what_resembles_it(
    tmp_path: Path, query: str, said: str | None
) -> None:
    found = await found_in(tmp_path, CONTEXT, query)
    assert found.hits
    assert (found.hint or None) == said


@pytest.mark.parametrize(("pending", "state"), [(2, "ready"), (0, "indexing")])
async def test_words_may_stand_in_what_is_not_indexed_yet(tmp_path: Path, pending: int, state: str) -> None:
    found = await found_in(tmp_path, TEMPLATES, "expand frobnicated template", pending, state)
    assert found.hits
    assert found.hint is None


@pytest.mark.parametrize(("pending", "still"), [(2, "; 2 files still being indexed"), (0, ""), (None, "")])
async def test_an_explanation_of_what_is_not_there_says_that_it_may_come(pending: int | None, still: str) -> None:
    async def changes_pending() -> int | None:
        return pending

    async def missing() -> None:
        raise UnknownChunk("nothing here is called 'frob'")

    indexer = SimpleNamespace(changes_pending=changes_pending, pending=0)
    with pytest.raises(UnknownChunk) as raised:
        await Workspace._or_may_come(cast(Workspace, SimpleNamespace(_indexer=indexer)), missing())
    assert str(raised.value) == f"nothing here is called 'frob'{still}"


def test_a_cursor_shows_nothing_in_its_place(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "tokens.py").write_text(CODE["tokens.py"], encoding="utf-8")
    with daemon.client(tmp_path) as client:
        client.request("aurora/index")
        context = {"uri": (tmp_path / "tokens.py").as_uri(), "position": {"line": 0, "character": 5}}
        reply = client.request("aurora/recall", {"query": "frobnicate", "context": context})
        typed = client.request("aurora/recall", {"query": "templ", "context": context, "prefix": True})
    assert (reply["results"], reply["hint"]) == ([], "No file here says 'frobnicate'.")
    assert [one["name"] for one in typed["results"]] == ["expand_template"]


def test_where_indexing_failed_that_is_the_reason_whatever_was_left_out() -> None:
    freshness = Freshness(indexed_at=None, pending_files=0, skipped_files=3, files=0, chunks=0, state="error")
    nobody = cast("Reader", None)  # without files memory is not asked
    assert why_nothing(nobody, parse_question("login"), freshness).startswith("No file is indexed: indexing failed")


async def test_a_word_that_nothing_here_says_is_the_reason_whatever_types_are_asked_for(tmp_path: Path) -> None:
    freshness = Freshness(indexed_at=1.0, pending_files=0, skipped_files=0, files=1, chunks=1, state="ready")
    store = await Store.open(tmp_path / "memory.db")
    await store.write([file("tokens.py", chunk("tokens.py", "expand_template"))])
    try:
        said = [
            await store.read(why_nothing, parse_question(query), freshness, types)
            for query, types in (
                ("frobnicate", ["know"]),
                ("expand", ["know"]),
                ("expand", ["reas", "know"]),
                ("frobnicate at src/none.py:3", ["know"]),
                ("tepmlate expnad", None),
            )
        ]
    finally:
        await store.close()
    assert said == [
        "No file here says 'frobnicate'.",
        "Nothing among documents answers that; ask for every type.",
        "Nothing among documents and earlier solutions answers that; ask for every type.",
        "No file or place here is called 'src/none.py'.",
        "No file here says 'tepmlate', 'expnad'; did you mean 'template'?",
    ]


async def test_a_word_that_a_file_says_by_now_is_no_reason_any_more(tmp_path: Path) -> None:
    freshness = Freshness(indexed_at=1.0, pending_files=0, skipped_files=0, files=1, chunks=1, state="ready")
    store = await Store.open(tmp_path / "memory.db")
    try:
        said = []
        for name in ("expand_template", "frobnicate"):
            await store.write([file(f"{name}.py", chunk(f"{name}.py", name))])
            said.append(await store.read(why_nothing, parse_question("frobnicate templates"), freshness, ["know"]))
    finally:
        await store.close()
    assert said == ["No file here says 'frobnicate'.", "Nothing among documents answers that; ask for every type."]


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("ExpandTepmlate", "No file here says 'ExpandTepmlate'; did you mean 'ExpandTemplate' (shop.py:1)?"),
        ("shop.ExpandTepmlate", "No file here says 'shop.ExpandTepmlate'; did you mean 'ExpandTemplate' (shop.py:1)?"),
        ("shop.Tepmlate", "No file here says 'shop.Tepmlate'; did you mean 'Template' (shop.py:6)?"),
        ("where is ExpandTepmlate", "No file here says 'ExpandTepmlate'; did you mean 'ExpandTemplate' (shop.py:1)?"),
        pytest.param("ExpandTemplate", None, id="a name that is here"),
        pytest.param("ExpandSomethingElse", None, id="nothing is spelled alike"),
        pytest.param("ExpandsPlate", None, id="what is spelled alike need not be meant"),
        pytest.param("how is ExpandTepmlate filled", None, id="not all that is asked"),
        pytest.param("ExpandTempl", None, id="the beginning of a word"),
        pytest.param("unkonwn.py", None, id="a file"),
    ],
)
def test_a_name_that_is_misspelled_finds_nothing_else_and_says_what_is_meant(
    daemon: Daemon, tmp_path: Path, query: str, hint: str | None
) -> None:
    text = "class ExpandTemplate:\n    def expand(self, template, unknown):\n        return template\n"
    text += "\n\nclass Template:\n    pass\n"
    (tmp_path / "shop.py").write_text(text, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    with daemon.client(tmp_path) as client:
        client.request("aurora/index")
        reply = client.request("aurora/recall", {"query": query})
    if hint is None:
        assert reply["results"] or "did you mean" not in reply["hint"]
    else:
        assert (reply["results"], reply["hint"]) == ([], hint)


def test_a_name_that_was_removed_is_said_to_stand_nowhere(daemon: Daemon, tmp_path: Path) -> None:
    kept = "def ff_one():\n    return 1\n"
    (tmp_path / ".git").mkdir()
    asked = {"query": "ok_one"}
    with daemon.client(tmp_path) as client:
        for text, hint in ((f"{kept}\n\ndef ok_one():\n    return 2\n", None), (kept, "No file here says 'ok_one'")):
            (tmp_path / "a.py").write_text(text, encoding="utf-8")
            client.request("aurora/index")
            until(
                lambda: client.request("aurora/recall", asked)["freshness"]["pending_files"] == 0, what="all is indexed"
            )
            reply = client.request("aurora/recall", asked)
            assert (reply["hint"] or "").partition(".")[0] == (hint or "")
            assert reply["results"]
