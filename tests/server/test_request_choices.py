"""What a request means where there are several folders, deliverables or places, a rule each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from aurora_deliverables import InvalidRequest
from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.event_request import read_request
from aurora_memory import UnknownChunk
from aurora_orchestration.types import Declined, Nobody
from aurora_protocol.methods import DoctorFinding, DoctorResult, RecallParams, Skipped
from aurora_protocol.query_methods import QueryParams
from aurora_server.lsp import client_requests, deliverables, index, memory, query, recall, watched_files, who
from aurora_server.lsp import workspace_symbol as symbols
from aurora_server.lsp.doctor import MAX_EXAMPLES, _together
from aurora_server.lsp.explain import explain
from aurora_server.lsp.location import DocumentPlace
from aurora_server.lsp.progress import INTERVAL, Reporter
from aurora_server.session.errors import RequestError
from aurora_server.session.folders import owner_of
from aurora_server.workspace import repository_changes
from aurora_server.workspace.registry import WorkspaceError
from tests.server.test_lsp_words import recalled


def change(name: str, *, over: bool = False, kind: Any = "change") -> Deliverable:
    return Deliverable(name, "completed" if over else "executing", 1.0, 1.0, 2.0 if over else None, kind=kind)


class Folder:
    """A workspace, as requests see it."""

    def __init__(self, root: str, *changes: Deliverable, **answers: Any) -> None:
        self.root = Path(root)
        self.deliverables = self
        self._changes = changes
        self._answers = answers

    async def get(self, name: str) -> Deliverable | None:
        return next((each for each in self._changes if name in (each.change_id, *each.names)), None)

    async def all(self) -> Sequence[Deliverable]:
        return self._changes

    async def explain(self, name: str) -> Any:
        if name not in self._answers:
            raise UnknownChunk(f"{self.root} has no {name}")
        return self._answers[name]

    who = explain

    async def symbols(self, *_: Any) -> Any:
        return self._answers["symbols"]


def session(*folders: Folder, **more: Any) -> Any:
    """A session that has these open, told deepest first, as its folders tell them."""
    known: Any = sorted(folders, key=lambda each: len(each.root.parts), reverse=True)

    async def opened() -> Any:
        return known

    async def owner(path: Path) -> Any:
        return owner_of(path, known)

    async def group(paths: list[Path]) -> Any:
        found: dict[Any, list[Path]] = {}
        for path in paths:
            if (one := owner_of(path, known)) is not None:
                found.setdefault(one, []).append(path)
        return found

    return SimpleNamespace(folders=SimpleNamespace(opened=opened, owner=owner, group=group), **more)


# Which deliverable


@pytest.mark.parametrize(
    ("asked", "folders", "found"),
    [
        pytest.param(None, [Folder("/a", change("x"), change("y", over=True))], "x", id="the only one that is open"),
        pytest.param(None, [Folder("/a", change("x"), change("r", kind="run"))], "x", id="a run is none"),
        pytest.param("y", [Folder("/a", change("x")), Folder("/b", change("y", over=True))], "y", id="or one named"),
        pytest.param("r", [Folder("/a", change("r", kind="run"))], "r", id="whatever it is"),
    ],
)
async def test_which_deliverable_is_meant(asked: str | None, folders: list[Any], found: str) -> None:
    workspace, known = await deliverables._known(folders, read_request({"action": "show", "change_id": asked}))
    assert known.change_id == found and known in await workspace.deliverables.all()


@pytest.mark.parametrize(
    ("asked", "folders", "said"),
    [
        pytest.param(
            None, [Folder("/a", change("x", over=True))], "no deliverable is open; begin one", id="none is open"
        ),
        pytest.param(
            None,
            [Folder("/a", *(change(f"x{n}") for n in range(9)))],
            "9 deliverables are open: x0, x1, x2, x3, x4, x5, x6, x7 and 1 more; name one",
            id="several are: eight are named",
        ),
        pytest.param(None, [Folder("/a", *(change(f"x{n}") for n in range(8)))], "x6, x7; name one", id="all of eight"),
        pytest.param("z", [Folder("/a")], "no deliverable z here; none was started yet; begin it", id="there is none"),
        pytest.param(
            "z",
            [Folder("/a", change("r", kind="run"), change("y", over=True), *(change(f"x{n}") for n in range(8)))],
            "there are y, x0, x1, x2, x3, x4, x5, x6 and 1 more; begin a new one",
            id="those that there are, ended too, but no runs",
        ),
        pytest.param(
            "z", [Folder("/a", *(change(f"x{n}") for n in range(8)))], "x6, x7; begin a new one", id="eight, whole"
        ),
        pytest.param("x", [Folder("/a", change("x")), Folder("/b", change("x"))], "2 folders have a x; name", id="two"),
    ],
)
async def test_where_none_is_meant_those_there_are_are_told(asked: str | None, folders: list[Any], said: str) -> None:
    with pytest.raises((InvalidRequest, RequestError), match=said):
        await deliverables._known(folders, read_request({"action": "show", "change_id": asked}))


async def test_a_change_that_two_clones_of_a_repository_have_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def first_commit(root: Path) -> str:
        return "c:." if root.name.startswith("clone") else str(root)

    monkeypatch.setattr(repository_changes, "repository_of", first_commit)
    clones: list[Any] = [Folder("/clone1", change("x")), Folder("/clone2", change("x", over=True))]
    request = read_request({"action": "show", "change_id": "x"})
    assert (await deliverables._known(clones, request))[1].status == "completed"
    with pytest.raises(InvalidRequest, match="3 folders have a x"):
        await deliverables._known([*clones, Folder("/other", change("x"))], request)  # type: ignore[list-item]


async def test_a_change_begins_again_where_it_is_known_else_in_the_only_folder() -> None:
    here, there = Folder("/a"), Folder("/b", change("x", over=True))
    folders: Any = [here, there]
    start: Any = read_request({"action": "start", "change_id": "x", "description": "d"})
    assert await deliverables._starting(folders, start) == (there, "x")
    assert await deliverables._starting(folders[:1], start) == (here, "x")
    new: Any = read_request({"action": "start", "change_id": "new", "description": "d"})
    with pytest.raises(InvalidRequest, match=r"several folders \(/a, /b\); name one"):
        await deliverables._starting(folders, new)
    nameless: Any = SimpleNamespace(change_id=None)
    with pytest.raises(InvalidRequest, match="name the change that begins"):
        await deliverables._starting(folders, nameless)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (None, ["/deep/app", "/app", "/lib"]),
        ("/lib", ["/lib"]),
        ("file:///lib", ["/lib"]),
        ("lib", ["/lib"]),
        ("/deep/app", ["/deep/app"]),
        pytest.param("app", None, id="a name that two have"),
        pytest.param("/elsewhere", None, id="a folder of another session"),
    ],
)
async def test_which_folder_is_named(asked: str | None, found: list[str] | None) -> None:
    ls = session(Folder("/app"), Folder("/lib"), Folder("/deep/app"))
    request = read_request({"action": "list", "workspace": asked})
    if found is None:
        with pytest.raises(InvalidRequest, match="this session has /deep/app, /app, /lib"):
            await deliverables._workspaces(ls, request)
    else:
        assert [str(each.root) for each in await deliverables._workspaces(ls, request)] == found


async def test_of_the_latest_some_are_left_out_and_the_next_are_told() -> None:
    """What belongs to the whole list is told with each page of it."""
    folder: Any = Folder("/a", *(Deliverable(f"x{n}", "executing", float(n), float(n)) for n in range(4)))
    told = await deliverables._listed([folder], read_request({"action": "list", "offset": 1, "limit": 2}))  # type: ignore[arg-type]
    assert [each["change_id"] for each in told["deliverables"]] == ["x2", "x1"] and told["total"] == 4


# Which folder, which place


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["a.py"], {"/w": ["/w/a.py"]}),
        (["in/a.py", "file:///other/b.py"], {"/w/in": ["/w/in/a.py"], "/other": ["/other/b.py"]}),
        (["/other/b.py"], {"/other": ["/other/b.py"]}),
    ],
)
async def test_paths_are_indexed_from_the_first_of_the_outermost_folders(given: list[str], found: Any) -> None:
    ls = session(Folder("/w/in"), Folder("/w"), Folder("/other"))
    owners = await index._owners(ls, given)
    assert {str(each.root): [str(path) for path in paths] for each, paths in owners.items()} == found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param(["/w/a.py", "/x/b.py", "/y/c.py"], "/x/b.py is outside", id="the first that is outside is named"),
        pytest.param(["/x/b.py", "a\0.py"], "a NUL", id="a name that no file can have before all else"),
    ],
)
async def test_where_one_path_is_outside_nothing_is_indexed(given: list[str], said: str) -> None:
    with pytest.raises(WorkspaceError, match=said):
        await index._owners(session(Folder("/w")), given)


async def test_memory_is_carried_by_sessions_of_one_folder_from_absolute_paths() -> None:
    one: Any = Folder("/w")
    assert await memory._only(session(one)) is one
    with pytest.raises(RequestError, match=r"several workspaces \(/a/b, /w\); open one"):
        await memory._only(session(one, Folder("/a/b")))
    assert memory._absolute("/x/y") == Path("/x/y")
    for path in ("x/y", "/x\0", "r" * 300):
        with pytest.raises(RequestError, match="must be an absolute path") as refused:
            memory._absolute(path)
        assert len(refused.value.message) < 300, "a long text is not said again whole"


async def test_a_question_is_about_the_folder_of_its_file_else_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    first, other = Folder("/a/b"), Folder("/w")

    async def place(_: Any, uri: str) -> Any:
        return DocumentPlace(other, Path("/w/a.py"), None) if uri == "file:///w/a.py" else None  # type: ignore[arg-type]

    monkeypatch.setattr(query, "place_of", place)
    ls = session(other, first)
    for uri, found in (("file:///w/a.py", other), ("file:///x/a.py", first), (None, first)):
        params: Any = SimpleNamespace(context=None if uri is None else SimpleNamespace(uri=uri))
        asked: Any = await query._asked(ls, params)
        assert asked is found


async def test_an_id_and_a_place_are_those_of_the_first_folder_that_knows_them() -> None:
    known: Any = [Folder("/a/b"), Folder("/a", x="of a"), Folder("/w", x="of w", y="y")]
    ls = session(*known)
    for name, found in (("x", "of a"), ("y", "y")):
        assert [await explain(ls, {"id": name}), await who.who(ls, {"place": name})] == [found, found]  # type: ignore[comparison-overlap]
    for ask in (lambda: explain(ls, {"id": "z"}), lambda: who.who(ls, {"place": "z"})):
        with pytest.raises(UnknownChunk, match="/w has no z"):
            await ask()
    with pytest.raises(RequestError, match="give `id`, or `uri` and `position`"):
        await explain(ls, {"uri": "file:///a/b.py"})


@pytest.mark.parametrize(
    ("place", "fits"), [("f", True), ("f" * who.MAX_PLACE, True), (" ", False), ("f" * (who.MAX_PLACE + 1), False)]
)
async def test_how_long_a_place_may_be(place: str, fits: bool) -> None:
    ls = session(Folder("/w", **{place: "known"}))
    if fits:
        assert await who.who(ls, {"place": place}) == "known"  # type: ignore[comparison-overlap]
    else:
        with pytest.raises(RequestError, match="`place` has 1 to"):
            await who.who(ls, {"place": place})


async def test_everywhere_are_all_folders_that_are_open_deepest_first_else_the_sessions() -> None:
    opened: Any = [Folder("/w"), Folder("/a/b")]
    own = Folder("/own")
    ls = session(own, core=SimpleNamespace(workspaces=SimpleNamespace(opened=lambda: opened)))
    assert [str(each.root) for each in await recall._asked(ls, everywhere=True)] == ["/a/b", "/w"]
    assert [str(each.root) for each in await recall._asked(ls, everywhere=False)] == ["/own"]
    opened.clear()
    assert [str(each.root) for each in await recall._asked(ls, everywhere=True)] == ["/own"]


# What can be answered


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"query": " "}, "`query` is empty"),
        ({"query": "x" * recall.MAX_QUERY}, None),
        ({"query": "x" * (recall.MAX_QUERY + 1)}, f"the limit is {recall.MAX_QUERY}"),
        ({"limit": 0}, "`limit` is 0"),
        ({"limit": 1}, None),
        ({"limit": recall.MAX_LIMIT}, None),
        ({"limit": recall.MAX_LIMIT + 1}, "it must be from 1 to"),
        ({"budget_tokens": 1}, None),
        ({"budget_tokens": 0}, "`budget_tokens` is 0"),
        ({"types": ["code", "reas", "know"]}, None),
        ({"types": ["code", "docs", "x"]}, "`types` has 'docs'; the types are code, reas, know"),
        ({"query": "", "limit": 0}, "`query` is empty"),
    ],
)
def test_which_recalls_can_be_answered(params: dict[str, Any], said: str | None) -> None:
    given = RecallParams(**({"query": "q"} | params))
    if said is None:
        assert recall.checked(given) is given
    else:
        with pytest.raises(RequestError, match=said):
            recall.checked(given)


# Symbols


async def test_of_symbols_what_is_called_so_comes_first_then_what_begins_so_then_what_has_it_in_it() -> None:
    """Among equals, the order of each folder, and the deeper folder first."""
    near = ["loose", "my_Get", "getter", "Store.get", "get"]
    deep = Folder("/w/in", symbols=[recalled(name, workspace="/w/in") for name in near])
    outer = Folder("/w", symbols=[recalled("x.get", workspace="/w"), recalled("f", workspace="/w", file="in/a.py")])
    found = await symbols.workspace_symbols(session(outer, deep), types.WorkspaceSymbolParams("Get"))
    assert [each.name for each in found or ()] == ["get", "get", "get", "getter", "my_Get", "loose"]
    assert [each.container_name for each in (found or ())[:3]] == ["Store", "a.py", "x"]


async def test_of_symbols_the_nearest_are_told_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "LIMIT", 2)
    folder = Folder("/w", symbols=[recalled("f"), recalled("get_it"), recalled("get")])
    found = await symbols.workspace_symbols(session(folder), types.WorkspaceSymbolParams("get"))
    assert [each.name for each in found or ()] == ["get", "get_it"]


@pytest.mark.parametrize(
    ("kind", "shown"), [("class", types.SymbolKind.Class), ("of_a_newer_memory", types.SymbolKind.Function)]
)
def test_a_kind_that_nobody_knows_is_shown_as_a_function(kind: str, shown: types.SymbolKind) -> None:
    found = symbols._symbol(recalled("f", kind=kind))
    assert (found.kind, found.location.range.start.line, found.location.range.end.line) == (shown, 0, 2)


# Findings


def checkup(name: str, many: int = 0) -> DoctorResult:
    examples = [Skipped(path=f"{name}{n}", reason="binary", detail="") for n in range(many)]
    return DoctorResult(findings=[DoctorFinding(level="ok", what=name)], skipped={"binary": many}, examples=examples)


def test_what_doctors_of_several_folders_say_is_told_in_their_order_and_what_they_skip_is_summed() -> None:
    one, other = checkup("a", 1), checkup("b", MAX_EXAMPLES)
    assert _together([one]) is one
    both = _together([one, other])
    assert [each.what for each in both.findings] == ["a", "b"]
    assert both.skipped == {"binary": MAX_EXAMPLES + 1}
    assert [each.path for each in both.examples[:2]] == ["a0", "b0"] and len(both.examples) == MAX_EXAMPLES


# What is asked of a client


def client(answer: Any, *, asks_user: bool = True) -> Any:
    async def ask(*_: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return SimpleNamespace(asks_user=asks_user, protocol=SimpleNamespace(ask=ask))


@pytest.mark.parametrize(
    ("asked", "raised"),
    [
        pytest.param(client({"answer": "yes"}, asks_user=False), Nobody, id="a client that asks nobody"),
        pytest.param(client(JsonRpcException("no")), Nobody, id="one that cannot"),
        pytest.param(client({"answer": " "}), Declined, id="a user who says nothing"),
        pytest.param(client({"answer": 1}), Declined, id="or no text"),
        pytest.param(client(None), Declined, id="or does not answer"),
    ],
)
async def test_where_a_user_does_not_answer(asked: Any, raised: type[Exception]) -> None:
    with pytest.raises(raised) as refused:
        await client_requests.SessionUser(asked)("which one?")
    assert type(refused.value) is raised


async def test_of_a_long_answer_the_beginning_is_taken() -> None:
    long = "a" * client_requests.MAX_ANSWER + "b"
    assert await client_requests.SessionUser(client({"answer": long}))("?") == long[:-1]


# Progress


def pushed(**more: Any) -> tuple[Any, list[tuple[Any, bool]]]:
    told: list[tuple[Any, bool]] = []

    def push(_: str, params: Any, *, droppable: bool = False) -> None:
        told.append((params["value"], droppable))

    return SimpleNamespace(protocol=SimpleNamespace(push=push), **more), told


def test_of_indexing_a_step_is_told_at_most_every_fifth_of_a_second_but_the_last_one_always() -> None:
    """A percentage never falls, though each phase counts anew; what is between begin and end may be dropped."""
    ls, told = pushed()
    now = [0.0]
    reporter = Reporter(ls, "t", "Indexing", lambda: now[0])
    reporter.begin(cancellable=True)
    for at, done, total in ((0.0, 50, 100), (INTERVAL - 0.01, 60, 100), (INTERVAL, 10, 100), (INTERVAL, 100, 100)):
        now[0] = at
        progress: Any = SimpleNamespace(done=done, total=total, chunks=0, message="parsing")
        reporter.report(progress)
    now[0] = 9.0
    nothing: Any = SimpleNamespace(done=0, total=0, chunks=0, message="waiting")
    reporter.report(nothing)
    reporter.end()
    assert [value.get("percentage") for value, _ in told] == [0, 50, 50, 100, 100, None]
    assert [droppable for _, droppable in told] == [False, True, True, True, True, False]


def test_a_run_is_named_from_its_first_stage_on_and_its_steps_may_be_dropped() -> None:
    ls, told = pushed()
    telling = query.Telling(ls, QueryParams(query="what  is\n" + "x" * 80, work_done_token="t"))
    telling.begin()
    stage: Any = SimpleNamespace(run="r1", stage="plan", detail="", progress=0.5)
    telling.stage(stage)
    stage.detail, stage.run = "two subgoals", "r1"
    telling.stage(stage)
    telling.end()
    assert told[0][0]["title"] == "Asking: what is " + "x" * 52
    assert [value.get("message") for value, _ in told] == [None, "plan", "plan: two subgoals", None]
    assert ([droppable for _, droppable in told], telling.run) == ([False, True, True, False], "r1")
    silent, nothing = pushed()
    query.Telling(silent, QueryParams(query="q")).begin()
    assert nothing == [], "who gave no token is told nothing"


# Watching


@pytest.mark.parametrize(
    ("capability", "asked"),
    [
        pytest.param(None, 0, id="an editor that says nothing"),
        pytest.param(types.DidChangeWatchedFilesClientCapabilities(), 0, id="one that does not register"),
        pytest.param(types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True), 1, id="one that does"),
    ],
)
async def test_which_editors_are_asked_to_watch(capability: Any, asked: int) -> None:
    """Code, and the rules of what is ignored; one that refuses is let be."""
    requests: list[Any] = []

    async def ask(_: str, params: Any) -> None:
        requests.append(params)
        raise JsonRpcException("no")

    workspace = types.WorkspaceClientCapabilities(did_change_watched_files=capability)
    ls: Any = SimpleNamespace(client=SimpleNamespace(workspace=workspace), protocol=SimpleNamespace(ask=ask))
    await watched_files.subscribe(ls)
    assert len(requests) == asked
    code, *rules = watched_files._patterns()
    suffixes = code.removeprefix("**/*.{").removesuffix("}").split(",")
    assert {"py", "ts", "go"} <= set(suffixes) and suffixes == sorted(suffixes)
    assert rules == ["**/.gitignore", "**/.auroraignore"]
