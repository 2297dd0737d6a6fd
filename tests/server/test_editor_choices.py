"""What an editor's session and its daemon choose, a rule each: which folders, what is told again, when it is over."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types

from aurora_deliverables.deliverable import Deliverable
from aurora_indexer.files.safe_read import NotARegularFile
from aurora_memory.views import UsageCounts
from aurora_server.configuration import live_settings, values
from aurora_server.configuration.config_file import ConfigFile, SettingsError, users_path
from aurora_server.daemon.daemon import Daemon
from aurora_server.lsp import deliverable_diagnostics as diagnostics
from aurora_server.lsp import deliverable_lens, lifecycle
from aurora_server.lsp.spec_files import Checklist, Section, SpecFile
from aurora_server.workspace import buffers, closed_memories, soar_memory, symbol_at, telemetry
from aurora_server.workspace.recall_uses import RecallUses
from tests.memory.chunks import chunk

# Folders


def folder(uri: str) -> types.WorkspaceFolder:
    return types.WorkspaceFolder(uri, "x")


@pytest.mark.parametrize(
    ("folders", "root_uri", "root_path", "roots"),
    [
        pytest.param(["file:///a", "file:///b"], "file:///c", "/d", ["/a", "/b"], id="the folders that are told"),
        pytest.param([], "file:///c", "/d", ["/c"], id="else the root"),
        pytest.param(None, None, "/d", ["/d"], id="else the root as it was told before there were URIs"),
        pytest.param(None, None, "d", [], id="which is absolute"),
        pytest.param(["untitled:x", "file:///a"], None, None, ["/a"], id="of those that are none the others"),
        pytest.param(["untitled:x"], "file:///c", None, [], id="not what else was told"),
        pytest.param(None, None, None, [], id="or none"),
    ],
)
def test_which_folders_a_session_has(folders: Any, root_uri: Any, root_path: Any, roots: list[str]) -> None:
    told: Any = SimpleNamespace(
        workspace_folders=None if folders is None else [folder(each) for each in folders],
        root_uri=root_uri,
        root_path=root_path,
    )
    assert [str(each) for each in lifecycle._roots(told)] == roots


def test_a_folder_that_comes_and_goes_at_once_stays() -> None:
    done: list[tuple[str, str]] = []
    folders = SimpleNamespace(
        add=lambda path: done.append(("add", str(path))), remove=lambda path: done.append(("remove", str(path)))
    )
    ls: Any = SimpleNamespace(folders=folders)
    event = types.WorkspaceFoldersChangeEvent(
        added=[folder("file:///same"), folder("file:///new"), folder("untitled:x")],
        removed=[folder("file:///same"), folder("file:///old")],
    )
    lifecycle.did_change_workspace_folders(ls, types.DidChangeWorkspaceFoldersParams(event))
    assert done[0] == ("remove", "/old") and sorted(done[1:]) == [("add", "/new"), ("add", "/same")]


@pytest.mark.parametrize(
    ("born", "was_there", "gone"),
    [
        pytest.param([None], False, 0, id="a process of another machine means nothing"),
        pytest.param([None], True, 1, id="one that was there has ended"),
        pytest.param([5.0, 5.0, None], False, 1, id="one that ends"),
        pytest.param([5.0, 9.0], False, 1, id="a number that another has now"),
        pytest.param([0.0, 0.0, None], False, 1, id="one that may not be looked at"),
    ],
)
async def test_when_an_editor_is_gone(born: Any, was_there: bool, gone: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    answers = iter(born)
    monkeypatch.setattr(lifecycle, "_born", lambda _: next(answers))
    await lifecycle.watch_parent(7, lambda: told.append(1), 0.0, was_there=was_there)
    assert len(told) == gone and next(answers, "all") == "all"


# Specs in editors


def spec(lines: list[str], *, first_open: int | None = None, sections: tuple[Section, ...] = (), total: int = 0) -> Any:
    workspace: Any = SimpleNamespace(root=Path("/w"))
    boxes = Checklist(1, total, first_open, frozenset({first_open} - {None}), sections)  # type: ignore[arg-type]
    found = Deliverable("x", "executing", 1.0, time.time())
    return SpecFile(SimpleNamespace(workspace=workspace), found, boxes, lines)  # type: ignore[arg-type]


async def test_a_section_has_a_lens_where_it_has_boxes_and_is_not_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    async def found(*_: Any) -> Any:
        return spec([], sections=(Section(3, 1, 2), Section(5, 0, 0), Section(9, 0, 2)), total=4)

    monkeypatch.setattr(deliverable_lens, "spec_file", found)
    ls: Any = None
    lenses = await deliverable_lens.lenses(ls, "u")
    assert [each.range.start.line for each in lenses] == [0, 3, 9]
    assert [each.command.title for each in lenses if each.command][1:] == ["1/2 tasks", "0/2 tasks"]

    async def one(*_: Any) -> Any:
        return spec([], sections=(Section(3, 1, 2),), total=2)

    monkeypatch.setattr(deliverable_lens, "spec_file", one)
    assert len(await deliverable_lens.lenses(ls, "u")) == 1


@pytest.mark.parametrize(("line", "shown"), [(0, True), (4, True), (3, False)])
async def test_where_in_a_spec_its_deliverable_is_told(line: int, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """On its first line and on its tasks."""

    async def found(*_: Any) -> Any:
        return spec([], first_open=4, total=1)

    monkeypatch.setattr(deliverable_lens, "spec_file", found)
    ls: Any = None
    told = await deliverable_lens.hover(ls, "u", types.Position(line, 0), markdown=False)
    assert (told is not None) is shown


@pytest.mark.parametrize(
    ("lines", "first_open", "encoding", "place"),
    [
        pytest.param(["# a", "  - [ ] 😀b\r"], 1, "utf-16", (1, 2, 11), id="the first open task, as it is counted"),
        pytest.param(["# a", "  - [ ] 😀b"], 1, "utf-32", (1, 2, 10), id="in characters"),
        pytest.param(["# a", "  - [ ] 😀b"], 1, "utf-8", (1, 2, 13), id="or bytes"),
        pytest.param(["# a"], None, "utf-16", (0, 0, 3), id="else the first line"),
        pytest.param([], None, "utf-16", (0, 0, 0), id="of a text that is gone"),
    ],
)
def test_where_the_trouble_of_a_deliverable_stands(
    lines: list[str], first_open: int | None, encoding: Any, place: tuple[int, int, int]
) -> None:
    found = diagnostics._range(spec(lines, first_open=first_open), encoding)
    assert (found.start.line, found.start.character, found.end.character) == place


async def test_trouble_that_is_told_already_is_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def diagnosed(_: Any, uri: str) -> Any:
        asked.append(uri)
        return [types.Diagnostic(types.Range(types.Position(2, 0), types.Position(2, 1)), "m", code="stuck")], None

    monkeypatch.setattr(diagnostics, "_diagnose", diagnosed)
    ls: Any = SimpleNamespace(preferences=SimpleNamespace(diagnostics=True))
    first = await diagnostics.pull(ls, "u")
    assert isinstance(first, types.RelatedFullDocumentDiagnosticReport) and len(first.items) == 1
    assert isinstance(await diagnostics.pull(ls, "u", first.result_id), types.RelatedUnchangedDocumentDiagnosticReport)
    ls.preferences.diagnostics = False
    off = await diagnostics.pull(ls, "u", first.result_id)
    assert isinstance(off, types.RelatedFullDocumentDiagnosticReport) and off.items == [] and len(asked) == 2


@pytest.mark.parametrize(
    ("pulls", "refreshes", "looked", "spawned"),
    [
        pytest.param(False, True, 1, 0, id="who is told is told anew"),
        pytest.param(True, True, 0, 1, id="who asks is told to ask"),
        pytest.param(True, False, 0, 0, id="where he can be"),
    ],
)
def test_who_hears_of_a_deliverable_that_changed(pulls: bool, refreshes: bool, looked: int, spawned: int) -> None:
    done: list[Any] = []
    support = SimpleNamespace(refresh_support=refreshes)
    ls: Any = SimpleNamespace(
        pulls_diagnostics=pulls,
        client=SimpleNamespace(workspace=SimpleNamespace(diagnostics=support)),
        spawn=lambda work, _: (work.close(), done.append("spawn")),
    )
    follower = diagnostics._DiagnosticsFollower(ls)
    follower.look_at_all = lambda: done.append("look")  # type: ignore[method-assign]
    nothing: Any = None
    follower.changed(nothing, [])
    assert (done.count("look"), done.count("spawn")) == (looked, spawned)


# Buffers and names


async def test_of_definitions_of_one_name_each_has_its_own_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = [SimpleNamespace(name="f", id=1), SimpleNamespace(name="g", id=2), SimpleNamespace(name="f", id=3)]

    async def read(*_: Any) -> Any:
        return stored, {1: UsageCounts(callers=1), 3: UsageCounts(callers=3)}

    async def parsed(*_: Any) -> Any:
        chunks = [SimpleNamespace(name=n, ordinal=o) for n, o in (("f", 0), ("f", 1), ("f", 2), ("g", 0))]
        return SimpleNamespace(chunks=chunks)

    made: Any = buffers.Buffers.__new__(buffers.Buffers)
    made._read, made._parsed, made._relative, made._kept = read, parsed, lambda path: path.name, OrderedDict()
    told = await made.usages(Path("/w/a.py"), "text")
    assert [usage.callers for _, usage in told] == [1, 3, 0, 0]
    assert await made.usages(Path("/w/a.md"), "text") == [], "of documents nothing is told"


@pytest.mark.parametrize(("extra", "read"), [(0, True), (1, False)])
def test_a_file_that_is_larger_than_is_read_is_none(extra: int, read: bool, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(buffers, "MAX_CONTENT_FILE", 8)
    (tmp_path / "a.py").write_text("x" * (8 + extra))
    assert (buffers._read(tmp_path / "a.py") is not None) is read

    def pipe(*_: Any, **__: Any) -> Any:
        raise NotARegularFile("it is a pipe")

    monkeypatch.setattr(buffers, "read_prefix", pipe)
    assert buffers._read(tmp_path / "a.py") is None and buffers._read(tmp_path / "gone.py") is None


@pytest.mark.parametrize(
    ("word", "imports", "asked"),
    [
        pytest.param("get", [], ["get"], id="a name"),
        pytest.param("take", [("get", "take")], ["take", "get"], id="an import by its other name"),
        pytest.param("get", [("get", "take")], ["get"], id="and by its own"),
        pytest.param("get", [("other", "x"), ("", "get")], ["get"], id="no other import"),
    ],
)
def test_by_which_names_a_definition_is_looked_for(
    word: str, imports: list[tuple[str, str]], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    monkeypatch.setattr(
        symbol_at, "relation_reader", SimpleNamespace(definitions=lambda _, name: found.append(name) or [])
    )
    monkeypatch.setattr(symbol_at, "Scope", lambda *_: SimpleNamespace(resolve=lambda *_: []))
    told: Any = [SimpleNamespace(name=name, alias=alias) for name, alias in imports]
    nothing: Any = None
    assert symbol_at.chunk_at(nothing, "a.py", f"{word}()", [], told, 0, 1) is None and found == asked


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        pytest.param("def f(): pass", "function", "own", id="its own name, where it is defined"),
        pytest.param("see f there", "section", "meant", id="a name in a document, where it means code"),
        pytest.param("see g there", "section", None, id="and nothing else"),
    ],
)
def test_what_a_name_means_where_it_stands(
    text: str, kind: Any, found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    mentions = [SimpleNamespace(kind="calls", name="g"), SimpleNamespace(kind="mentions", name="f")]
    around: Any = SimpleNamespace(
        name="f" if kind == "function" else "Part", kind=kind, line_start=1, line_end=3, references=mentions,
        language="", parent=None,
    )  # fmt: skip
    monkeypatch.setattr(symbol_at, "_stored", lambda *_: "own")
    monkeypatch.setattr(symbol_at, "_meant", lambda *_: "meant")
    nothing: Any = None
    lines = "\n" * (kind == "section") + text
    told: Any = symbol_at.chunk_at(nothing, "a", lines, [around], [], int(kind == "section"), 4)
    assert told == found


# Memory


@pytest.mark.parametrize(("changed_at", "used"), [(9.0, []), (10.0, [1]), (11.0, [1]), (None, [])])
async def test_what_was_edited_since_it_was_recalled_is_of_use(changed_at: float | None, used: list[int]) -> None:
    recorded: list[Any] = []

    async def read(*_: Any) -> Any:
        return {1: SimpleNamespace(changed_at=changed_at)}

    async def record(rows: Any, use: str, at: float) -> None:
        recorded.append((list(rows), use))

    store: Any = SimpleNamespace(read=read, record_accesses=record)
    uses = RecallUses(store, lambda: 12.0)
    shown: Any = [SimpleNamespace(id=1, path="a.py", line_start=1, line_end=2)]
    uses._shown.show(shown, 10.0)
    uses.files_indexed()
    await uses.close()
    assert recorded == ([(used, "edited")] if used else [])


def test_memories_that_are_open_are_not_asked_and_a_file_that_fails_is_named_with_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Left:
        def __init__(self, path: Path, *_: Any) -> None:
            if path.name == "gone.db":
                raise OSError("it is gone")
            self.root, self.git_root = tmp_path / path.stem, "c"
            self.root.mkdir(exist_ok=True)

        def close(self) -> None:
            pass

    names = ["open", "gone", "a", "b"]
    monkeypatch.setattr(closed_memories, "memory_paths", lambda _: [Path(f"/m/{name}.db") for name in names])
    monkeypatch.setattr(closed_memories, "weighing_of", lambda _: None)
    monkeypatch.setattr(closed_memories, "LeftMemory", Left)
    monkeypatch.setattr(closed_memories, "_answer", lambda memory, *_: memory.root.name)
    monkeypatch.setattr(closed_memories, "MOST", 1)
    answers = closed_memories.ClosedAnswers([], [])
    nothing: Any = None
    closed_memories._ask(answers, nothing, nothing, [tmp_path / "open"], float("inf"))
    assert [(str(memory.root.name), told) for memory, told in answers.found] == [("a", "a")]
    assert answers.left_out == [
        "/m/gone.db was not asked: it is gone", "1 other memory was not asked: one question asks so many"
    ]  # fmt: skip


async def test_patterns_of_elsewhere_come_behind_ones_own_within_what_is_left_of_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    async def ready() -> None:
        asked.append("ready")

    async def with_texts(params: Any) -> Any:
        asked.append(params.types)
        hit = SimpleNamespace(chunk=chunk("a.py", "own"), score=0.5, activation=SimpleNamespace(total=0.1))
        view = SimpleNamespace(id=1, kind="reasoning", name="own", path="", line_start=0, line_end=0, docstring="")
        hit.chunk = view  # type: ignore[assignment]
        return [(hit, SimpleNamespace(tokens=30, content="text"), None)]

    async def transferred(_: str) -> Any:
        return ["x"]

    budgets: list[Any] = []
    monkeypatch.setattr(soar_memory, "shown_id", lambda each: f"reas:{each.name}")
    monkeypatch.setattr(
        soar_memory, "_fitting", lambda matches, known, left: budgets.append((set(known), left)) or ["e1", "e2"]
    )
    recall: Any = SimpleNamespace(with_texts=with_texts)
    nothing: Any = None
    memory = soar_memory.SoarMemory(recall, nothing, nothing, ready, transferred)
    found: Any = await memory.recall("q", budget=100, limit=2, types=["reas"])
    assert [getattr(each, "id", each) for each in found] == ["reas:own", "e1"]
    assert budgets == [({"reas:own"}, 70)] and asked[0] == "ready", "the workspace is indexed before"
    for types_ in (None, ["code"], ["code", "reas"]):
        assert len(await memory.recall("q", budget=100, limit=2, types=types_)) == 1
    assert len(budgets) == 1 and asked.count(None) == 1


# Settings


@pytest.mark.parametrize(
    ("environ", "given", "found"),
    [
        ({}, None, ("/h/config.json", "")),
        ({"AURORA_CONFIG": "/v.json"}, None, ("/v.json", "variable")),
        ({"AURORA_CONFIG": "/v.json", "AURORA_CONFIG_FLAG": "/v.json"}, None, ("/v.json", "flag")),
        ({"AURORA_CONFIG": "/v.json", "AURORA_CONFIG_FLAG": "/w.json"}, None, ("/v.json", "variable")),
        ({"AURORA_CONFIG": "/v.json"}, Path("/f.json"), ("/f.json", "flag")),
        ({"AURORA_CONFIG": ""}, None, ("/h/config.json", "")),
    ],
)
def test_which_file_is_the_users(environ: dict[str, str], given: Path | None, found: tuple[str, str]) -> None:
    path, named = users_path({"AURORA_HOME": "/h", **environ}, given)
    assert (str(path), named) == found


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("a, b ,", tuple[str, ...], ("a", "b")),
        (' ["a,b"]', tuple[str, ...], ("a,b",)),
        ("a=1, b = 2,", dict[str, str], {"a": "1", "b": "2"}),
        ('{"a": "1,2"}', dict[str, str], {"a": "1,2"}),
        ("5", int, 5),
        ("true", bool, True),
    ],
)
def test_how_a_variable_is_read(text: str, kind: Any, value: Any) -> None:
    assert values._value("a.b", "AURORA_A_B", text, kind) == value


def test_a_section_that_is_none_is_named_as_far_as_it_is_wrong() -> None:
    with pytest.raises(SettingsError, match=r"/c\.json: 'a\.b' must be an object"):
        values.given("a.b.c", {"a": {"b": 1}}, Path("/c.json"))
    assert values.given("a.b", {"a": {}}, Path("/c.json")) == {}
    assert values.merged({"a": {"x": 1, "y": 2}, "b": [1]}, {"a": {"x": 3}, "b": [2]}) == {
        "a": {"x": 3, "y": 2}, "b": [2]
    }  # fmt: skip


def test_settings_that_cannot_be_used_are_told_and_those_from_before_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is read again when it changed, once; what is mended is told no more."""
    stamps: list[Any] = [(1, 1, 1)]
    reads: list[Any] = []
    monkeypatch.setattr(live_settings, "_stamp", lambda _: stamps[-1])

    def read(_: Any) -> Any:
        reads.append(stamps[-1])
        if stamps[-1] == (2, 2, 2):
            raise SettingsError("broken")
        return ConfigFile(Path("/c.json")), f"settings {stamps[-1][0]}"

    monkeypatch.setattr(live_settings.SettingsSource, "_read", read)
    source: Any = live_settings.SettingsSource({"AURORA_HOME": "/h"})
    assert (source.current(), source.current(), len(reads)) == ("settings 1", "settings 1", 1)
    stamps.append((2, 2, 2))
    assert (source.current(), source.current(), source.problem, len(reads)) == ("settings 1",) * 2 + ("broken", 2)
    stamps.append((3, 3, 3))
    assert (source.current(), source.problem, source.started) == ("settings 3", None, "settings 1")


# The daemon


@pytest.mark.parametrize(
    ("idle", "intact", "reason"),
    [(9.9, True, ""), (10.0, True, "idle"), (0.0, False, "its socket is gone"), (10.0, False, "idle")],
)
async def test_when_a_daemon_ends(idle: float, intact: bool, reason: str) -> None:
    told: list[str] = []

    async def nothing() -> None:
        return None

    made: Any = Daemon.__new__(Daemon)
    made._stopping, made._reason = asyncio.Event(), ""
    made._listener = SimpleNamespace(idle_seconds=idle)
    made._source = SimpleNamespace(tell_log=lambda: told.append("log"))
    made._idle_memory, made._take_settings = SimpleNamespace(look=nothing), nothing
    made._endpoint = SimpleNamespace(intact=lambda: intact)
    await made._look_once(10.0, first=True)
    assert (made._reason, told) == (reason, ["log"])
    await made._look_once(10.0, first=False)
    assert told == ["log"], "what is wrong in the settings is told at the start"


# Telemetry


@pytest.mark.parametrize(
    ("ago", "live"), [(0.0, True), (telemetry.LIVE + 4.0, True), (telemetry.LIVE + 6.0, False), (None, False)]
)
def test_of_what_ended_long_ago_nobody_knows_the_branch(ago: float | None, live: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr(telemetry.time, "time", lambda: 1e6)
    made: Any = telemetry.TelemetryFollower.__new__(telemetry.TelemetryFollower)
    made._grace = 5.0
    ended: Any = SimpleNamespace(completed_at=None if ago is None else 1e6 - ago)
    assert made._is_live(ended) is live


async def test_what_is_under_way_to_a_collector_or_was_begun_again_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"x": Deliverable("x", "executing", 1.0, 1.0)}
    asked: list[str] = []

    async def get(name: str) -> Any:
        asked.append(name)
        return known.get(name)

    made: Any = telemetry.TelemetryFollower.__new__(telemetry.TelemetryFollower)
    made._under_way, made._tracking = {"y"}, SimpleNamespace(get=get)
    for name in ("y", "x", "gone"):
        await made._send(name)
    assert asked == ["x", "gone"] and made._under_way == {"y"}


@pytest.mark.parametrize(("said", "address"), [(b"", None), (None, None), (b"git@a.example:x\n", "git@a.example:x")])
async def test_a_repository_without_a_remote_has_no_address(said: Any, address: Any, monkeypatch: Any) -> None:
    asked: list[Any] = []

    async def answer(*given: Any) -> Any:
        asked.append(given)
        return said

    monkeypatch.setattr(telemetry, "commands", SimpleNamespace(answer=answer))
    made: Any = telemetry.TelemetryFollower.__new__(telemetry.TelemetryFollower)
    made._workspace, made._remote = "/w", None
    assert [await made._remote_url(), await made._remote_url()] == [address, address] and len(asked) == 1


@pytest.mark.parametrize(("given", "kept"), [({}, True), ({"kept": False}, False)])
def test_what_went_out_is_noted_in_the_users_home_unless_somebody_only_looks(
    given: Any, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    exporter = SimpleNamespace(signal="metrics", name="otlp", place="c")
    choice = SimpleNamespace(problems=(), exporters=[exporter])
    monkeypatch.setattr(telemetry, "choice_of", lambda *_: choice)
    monkeypatch.setattr("aurora_deliverables.telemetry.sender.Sender", lambda *told: made.append(told))
    nothing: Any = None
    telemetry.sender_of(nothing, {"AURORA_HOME": "/h"}, **given)
    ((_, _, record, _),) = made
    assert (record is not None and record.is_relative_to("/h")) is kept
    choice.exporters = []
    assert telemetry.sender_of(nothing, {}) is None and len(made) == 1
