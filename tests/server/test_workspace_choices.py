"""Choices of a workspace, a rule each: whose spec a file is, which memory comes first, what hovers and charts show."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types
from msgspec.structs import replace

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.events import Ended, Event, ToolCalled
from aurora_manifest.editing.layout import LayoutStyle
from aurora_memory import StoreError
from aurora_orchestration.settings import SoarSettings
from aurora_server.configuration.model_selection import ModelChoice
from aurora_server.configuration.settings import DetectSettings
from aurora_server.daemon.daemon_log import describe
from aurora_server.dashboard import page
from aurora_server.dashboard.tier_chart import Dot, _borders, _scale, _segments
from aurora_server.lsp import synchronization
from aurora_server.lsp.hover import _related, _title, _wants_markdown
from aurora_server.lsp.manifests import commands as manifest_commands
from aurora_server.lsp.manifests import formatting
from aurora_server.workspace import (
    buffers,
    closed_memories,
    deliverable_documents,
    evidence,
    memory_settings,
    spec_checks,
    spec_files,
)
from aurora_server.workspace.buffers import Buffers
from aurora_server.workspace.change_history import WorkspaceGit
from aurora_server.workspace.open_deliverables import OpenDeliverables
from aurora_server.workspace.soar import Soar
from aurora_server.workspace.spec_files import Specs
from aurora_server.workspace.telemetry import TelemetryFollower
from tests.server.test_lsp_words import explained, link, recalled

# Specs


@pytest.mark.parametrize(
    ("path", "specs", "is_work"),
    [
        pytest.param("openspec/changes/x/tasks.md", [("openspec", "x")], False, id="a change's"),
        pytest.param("openspec/project.md", [], False, id="nobody's, but no work either"),
        pytest.param("specs/001-search/plan.md", [("speckit", "001-search")], False, id="a feature's"),
        pytest.param("specs/add-search.md", [("markdown", "specs/add-search.md")], False, id="its own"),
        pytest.param("docs/guide.md", [], True, id="a document that is no spec is work"),
        pytest.param("src/a.py", [], True, id="as code is"),
        pytest.param(".github/workflows/a.yml", [], False, id="and what tools keep for themselves is not"),
    ],
)
def test_whose_spec_a_file_is_and_what_is_work(path: str, specs: list[tuple[str, str]], is_work: bool) -> None:
    found = Specs(Path("/w"), DetectSettings(openspec=True, speckit=True, markdown=True))
    assert (list(found.of(path)), found.is_work(path)) == (specs, is_work)
    off = Specs(Path("/w"), DetectSettings(openspec=False, speckit=False, markdown=False, plugins=False))
    assert (list(off.of(path)), off.is_work(path), off.any) == ([], is_work, False)


@pytest.mark.parametrize(
    ("files", "path", "is_spec"),
    [
        pytest.param("plans/*.md, rfcs/*.md", "rfcs/a.md", True, id="where settings say"),
        pytest.param("plans/*.md", "specs/a.md", False, id="and nowhere else then"),
        pytest.param(" , ", "specs/a.md", True, id="the usual places where they say nothing"),
    ],
)
def test_where_documents_are_specs(files: str, path: str, is_spec: bool) -> None:
    assert bool(list(Specs(Path("/w"), DetectSettings(markdown=True, markdown_files=files)).of(path))) is is_spec


@pytest.mark.parametrize(
    ("source", "key", "place", "change_id"),
    [
        ("openspec", "x", "openspec/changes/x/", "x"),
        ("speckit", "001-x", "specs/001-x/", "001-x"),
        ("markdown", "docs/specs/mail/spec.md", "docs/specs/mail/spec.md", "docs-specs-mail"),
    ],
)
def test_where_a_spec_is_and_what_its_deliverable_is_called(source: str, key: str, place: str, change_id: str) -> None:
    specs = Specs(Path("/w"), DetectSettings())
    assert (specs.place(source, key), specs.change_id(source, key)) == (place, change_id)
    known = specs.key_of(source, change_id, key)
    assert known == key and specs.key_of("markdown", "a", None) == "a"


# Memory files


def test_memory_files_are_told_the_last_used_first_wherever_they_are(tmp_path: Path) -> None:
    """A log that was written later counts: it is what is in use."""
    (tmp_path / "memory").mkdir()
    for name, at in (("memory/a.db", 30), ("memory/b.db", 10), ("memory/b.db-wal", 40), ("mine-w.db", 20)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (at, at))
    (tmp_path / "memory/c.db").mkdir()
    usual: Any = SimpleNamespace(home=tmp_path, memory=SimpleNamespace(database_path=None))
    assert [path.name for path in memory_settings.memory_paths(usual)] == ["b.db", "a.db"]
    for said in ("mine.db", "mine-{workspace}.db"):
        usual.memory.database_path = str(tmp_path / said)
        assert [path.name for path in memory_settings.memory_paths(usual)] == ["b.db", "a.db", "mine-w.db"]


@pytest.mark.parametrize(("gone", "said"), [(1, "1 other memory was"), (2, "2 other memories were")])
def test_memories_of_folders_that_are_gone_are_counted_and_those_that_failed_named(
    gone: int, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Left:
        def __init__(self, path: Path, *_: Any) -> None:
            if path.name == "bad.db":
                raise StoreError("it is damaged")
            self.root, self.git_root = (tmp_path if path.name == "open.db" else tmp_path / "gone"), ""

        def close(self) -> None:
            pass

    paths = [Path("/m/bad.db"), Path("/m/open.db"), *(Path(f"/m/gone{n}.db") for n in range(gone))]
    monkeypatch.setattr(closed_memories, "memory_paths", lambda settings: paths)
    monkeypatch.setattr(closed_memories, "weighing_of", lambda settings: None)
    monkeypatch.setattr(closed_memories, "LeftMemory", Left)
    answers = closed_memories.ClosedAnswers([], [])
    nothing: Any = None
    closed_memories._ask(answers, nothing, nothing, [tmp_path], float("inf"))
    assert answers.found == []
    assert answers.left_out == ["/m/bad.db was not asked: it is damaged", f"{said} not asked: the folder is gone"]


def test_where_no_time_is_left_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closed_memories, "memory_paths", lambda settings: [Path("/m/a.db")] * 3)
    answers = closed_memories.ClosedAnswers([], [])
    nothing: Any = None
    closed_memories._ask(answers, nothing, nothing, [], -1.0)
    assert answers.left_out == ["3 other memories were not asked: the time was up"]
    monkeypatch.setattr(closed_memories, "MOST", 0)
    closed_memories._ask(answers, nothing, nothing, [], float("inf"))
    assert answers.left_out[-1].endswith("one question asks so many")


def test_of_parses_the_oldest_go_where_there_are_too_many_and_the_last_never(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "KEPT", 2)
    monkeypatch.setattr(buffers, "KEPT_CHARACTERS", 10)
    made: Any = Buffers.__new__(Buffers)
    made._kept, made._sizes = OrderedDict(), {}
    for name, size in (("a", 3), ("b", 3), ("c", 3)):
        made._keep(name, object(), size)
    assert list(made._kept) == ["b", "c"]
    made._keep("d", object(), 50)
    assert list(made._kept) == list(made._sizes) == ["d"]


# Hovers


def test_related_names_are_told_in_their_order_each_once_and_counted_whole() -> None:
    """Of overloads the first; what was cut off is counted, and what merely contains the chunk is not told."""
    links = [
        link("calls", "b"),
        link("contains", "inner"),
        *(link("called by", f"u{n}") for n in range(4)),
        link("calls", "b", line=9),
        replace(link("called by", "m"), likely=True),
    ]
    chunk = recalled("f", callers=9, likely_callers=1)
    assert _related(explained(chunk, links), lambda each: each.name) == (
        "called by u0, u1, u2 and 6 more · maybe called by m · calls b"
    )


@pytest.mark.parametrize(
    ("path", "is_around", "signature", "title"),
    [
        pytest.param("a.py", True, "def f()", "f", id="its name, where the cursor is elsewhere in it"),
        pytest.param("a.md", False, "# Part", "# Part", id="the heading of a document"),
        pytest.param("a.md", False, "", "f", id="or its name"),
        pytest.param("a.py", False, "def f()", "", id="nothing where the name stands there"),
    ],
)
def test_what_a_hover_is_titled(path: str, is_around: bool, signature: str, title: str) -> None:
    told = explained(recalled("f", signature=signature))
    assert _title(told, Path(path), is_around=is_around) == title


@pytest.mark.parametrize(
    ("formats", "markdown"), [(None, True), ([], True), (["plaintext"], False), (["plaintext", "markdown"], True)]
)
def test_which_clients_get_markdown(formats: Any, markdown: bool) -> None:
    client: Any = SimpleNamespace(text_document=SimpleNamespace(hover=SimpleNamespace(content_format=formats)))
    assert _wants_markdown(client) is markdown
    nothing: Any = SimpleNamespace(text_document=None)
    assert _wants_markdown(nothing), "who does not say shows it"


# Charts


@pytest.mark.parametrize(
    ("metric", "values", "least", "most"),
    [
        pytest.param("feature_throughput", [0.5, 0.8], 0.0, 1.0, id="up to the next border, from nothing"),
        pytest.param("feature_throughput", [9.0], 0.0, 9.0, id="beyond the last to the value"),
        pytest.param("spec_conformance", [0.8, 0.9], 0.7, 1.0, id="a score from the border below, up to one"),
        pytest.param("resolution_latency", [4000.0], 3600.0, 14_400.0, id="times between their borders"),
    ],
)
def test_what_a_chart_spans(metric: Any, values: list[float], least: float, most: float) -> None:
    assert _scale(metric, values)[:2] == (least, most)


def test_a_border_close_to_another_has_a_line_and_no_words() -> None:
    heights = {3.0: 20.0, 1.0: 25.0, 1 / 7: 100.0}
    found = _borders("feature_throughput", 0.0, 3.0, lambda value: heights[value])
    assert [bool(each.label) for each in found] == [True, False, True] and found[0].label == "elite ≥ 3 /day"
    assert len(_borders("feature_throughput", 0.5, 3.0, lambda value: heights[value])) == 2, "none outside"


def test_a_week_between_gaps_is_a_dot_without_a_line() -> None:
    one, two, alone = (Dot(float(n), 0.0, "") for n in (1, 2, 4))
    assert _segments([one, two, None, alone, None]) == ("1.0,0.0 2.0,0.0",)


# The log, and git


def test_what_an_error_says_is_logged_only_where_it_cannot_quote_a_user() -> None:
    quoting, ours = ValueError("what she wrote"), StoreError("disk is full")
    ours.__cause__ = quoting
    assert "message" not in describe(quoting, verbose=False)
    assert describe(quoting, verbose=True)["message"] == "what she wrote"
    told = describe(ours, verbose=False)
    assert told["message"] == "disk is full" and "message" not in str(told["cause"])


async def test_a_git_that_does_not_answer_says_of_nothing_that_it_is_lost_or_clean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def silent(*_: Any, **__: Any) -> None:
        return None

    git: Any = WorkspaceGit(Path("/w"))
    monkeypatch.setattr("aurora_server.workspace.change_history.commands.answer", silent)
    assert await git._touched("a", ["HEAD"], []) is True
    assert await git.is_clean(["a"]) is False
    assert await git._contents("a", ["c"]) is None and await git._contents("a", []) == {}


# What is open, and what is told of it


def test_a_run_is_no_open_deliverable_and_what_ends_is_none_any_more() -> None:
    made: Any = OpenDeliverables.__new__(OpenDeliverables)
    made._open, made._told, made.edited_at = {}, OrderedDict(a=object(), b=object()), {"a": 1.0}
    change = Deliverable("a", "executing", 1.0, 1.0)
    made.hear((), [change, replace(change, change_id="r", kind="run")])
    assert made.ids == ["a"]
    made.hear([Event("1", "a", 1.0, ToolCalled("x"))], [])
    assert list(made._told) == ["a", "b"], "a call changes nothing of what is known"
    made.hear([Event("2", "a", 2.0, Ended("failed"))], [replace(change, status="failed")])
    assert (made.ids, made.edited_at, list(made._told)) == ([], {}, ["b"])


def test_of_too_many_test_files_the_first_by_name_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec_checks, "MAX_TEST_FILES", 2)
    monkeypatch.setattr(spec_checks.files, "see", lambda root, path: SimpleNamespace(text=path))
    monkeypatch.setattr(spec_checks, "titles_in", lambda text, path: [path])
    indexed = ["tests/test_c.py", "src/a.py", "tests/test_b.py", "tests/test_a.py"]
    assert spec_checks._titles_of_tests(Path("/w"), indexed) == ["tests/test_a.py", "tests/test_b.py"]


@pytest.mark.parametrize(("width", "spaces"), [(2, "  "), (0, " "), (1_000_000, None)])
def test_an_indentation_is_as_wide_as_an_editor_asks_within_reason(
    width: int, spaces: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("aurora_manifest.editing.layout.laid_out", lambda document, style: asked.append(style.unit))
    snapshot: Any = SimpleNamespace(json=None, edits=lambda found: found)
    formatting._edits(snapshot, types.FormattingOptions(width, insert_spaces=True), None)
    assert asked == [spaces] if spaces is not None else len(asked[0]) < 100


@pytest.mark.parametrize(("asked", "ends"), [(True, True), (False, None), (None, None)])
def test_a_last_line_is_ended_where_an_editor_asks_for_that_and_else_left_as_it_is(
    asked: bool | None, ends: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    styles: list[LayoutStyle] = []
    monkeypatch.setattr("aurora_manifest.editing.layout.laid_out", lambda document, style: styles.append(style))
    snapshot: Any = SimpleNamespace(json=None, edits=lambda found: found)
    formatting._edits(snapshot, types.FormattingOptions(2, insert_spaces=False, insert_final_newline=asked), None)
    assert styles == [LayoutStyle("\t", ends)]


async def test_a_file_that_is_opened_may_be_what_was_recalled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not others follow open documents; a document that is no file is not."""
    used: list[str] = []
    owner = SimpleNamespace(relative=lambda path: path.name, uses=SimpleNamespace(opened=used.append))

    async def owned(path: Path) -> Any:
        return owner if path.is_relative_to("/w") else None

    ls: Any = SimpleNamespace(on_open=[], folders=SimpleNamespace(owner=owned))
    for uri in ("file:///w/a.py", "file:///elsewhere/b.py", "untitled:c"):
        await synchronization.did_open(ls, types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "", 1, "")))
    assert used == ["a.py"]


def test_of_many_accesses_the_last_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    none: Any = lambda *_: {}  # noqa: E731
    monkeypatch.setattr(evidence, "chunk_reader", SimpleNamespace(parts_of=none, accesses=none, by_id=none))
    monkeypatch.setattr(evidence, "commit_reader", SimpleNamespace(chunk_commits=none))
    monkeypatch.setattr(evidence, "learned_reader", SimpleNamespace(lessons=none))
    history = tuple(86_400.0 * day for day in range(evidence.ACCESSES + 5))
    chunk = SimpleNamespace(id=1, changed_at=None)
    hit: Any = SimpleNamespace(
        matched=(), history=history, chunk=chunk, path=(), episodes=(), nearness=None, focus=(1, 2)
    )
    nothing: Any = None
    colleagues: Any = SimpleNamespace(parts=none)
    (told,) = evidence.evidence_of(nothing, [hit], None, history[-1] + 86_400.0, colleagues)
    assert (len(told.accesses), told.access_count, told.days_since_access) == (evidence.ACCESSES, len(history), 1.0)
    assert told.accesses[-1] == evidence.iso(history[-1])


async def test_of_what_was_archived_the_last_word_is_waited_for_and_once() -> None:
    """Its scores may come at once; what is settled goes at once."""
    sent: list[str] = []

    async def put(*_: Any) -> bool:
        return True

    async def send(change_id: str) -> None:
        sent.append(change_id)

    cancelled: list[str] = []
    made: Any = TelemetryFollower.__new__(TelemetryFollower)
    made._outbox, made._closed, made._grace, made._send = SimpleNamespace(put=put), False, 1.0, send
    made._later = {}
    made._loop = SimpleNamespace(
        call_later=lambda seconds, what, name: SimpleNamespace(cancel=lambda: cancelled.append(name))
    )
    open_yet = Deliverable("x", "completed", 1.0, 2.0, 2.0)
    await made._put(open_yet)
    await made._put(open_yet)
    assert (sent, cancelled, list(made._later)) == ([], ["x"], ["x"])
    await made._put(replace(open_yet, settled=True))
    assert (sent, cancelled, list(made._later)) == (["x"], ["x", "x"], [])


def test_a_model_that_a_session_chose_is_asked_with_its_own_key_and_over_what_is_configured(tmp_path: Path) -> None:
    """The key is looked up like any other, and kept nowhere; flags of the question come before the session's."""
    asked: list[Any] = []

    def configured(*, trusted: bool, flags: Any = None) -> Any:
        asked.append(flags)
        return SoarSettings(), []

    nothing: Any = None
    soar = Soar(tmp_path, tmp_path, configured, nothing, nothing, {"A": "1"})
    choice = ModelChoice(provider="openai", model="m", api_key="k")
    chosen = soar.services(trusted=False, choice=choice)
    assert chosen.environ == choice.variables({"A": "1"}) and "k" in chosen.environ.values()
    chosen.settings({"llm_model": "other"})
    assert asked[-1] == {**choice.flags, "llm_model": "other"}
    plain = soar.services(trusted=True)
    plain.settings({})
    assert (plain.environ, asked[-1], plain.trusted) == ({"A": "1"}, None, True)


@pytest.mark.parametrize(
    ("usd", "shown"), [(None, "–"), (0.0, "$0.00"), (0.0099, "$0.0099"), (0.01, "$0.01"), (1234.5, "$1,234.50")]
)
def test_parts_of_a_cent_are_shown_on_the_dashboard_where_there_is_nothing_else(usd: float | None, shown: str) -> None:
    assert page._dollars(usd) == shown


def test_what_was_done_and_spent_is_told_by_repository_person_agent_and_model() -> None:
    costs: dict[str, Any] = {group: {} for group in ("author", "agent", "model", "type", "complexity")}
    report: Any = SimpleNamespace(ended=(), metrics=SimpleNamespace(group_costs=costs))
    assert list(deliverable_documents._shares(report, {})) == ["repository", "author", "agent", "model"]
    report.metrics = None
    assert deliverable_documents._shares(report, {"b": (), "a": ()})["model"] == [], "of nothing that ended nothing"


def test_of_too_many_specs_of_a_kind_the_first_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec_files, "MAX_SPECS", 1)
    monkeypatch.setattr(spec_files.openspec, "open_changes", lambda _: ["a", "b"])
    monkeypatch.setattr(spec_files.speckit, "features", lambda _: ["001-c", "002-d"])
    specs = Specs(Path("/w"), DetectSettings(openspec=True, speckit=True, markdown=True, plugins=False))
    found = specs.all(["docs/specs/z.md", "docs/specs/e.md", "src/a.py"])
    assert found == {("openspec", "a"), ("speckit", "001-c"), ("markdown", "docs/specs/e.md")}


@pytest.mark.parametrize(
    ("show", "shown"),
    [
        pytest.param(SimpleNamespace(support=True), 1, id="in editors that can"),
        pytest.param(SimpleNamespace(support=False), 0, id="not in those that say they cannot"),
        pytest.param(None, 0, id="nor in those that do not say"),
    ],
)
async def test_the_first_use_of_a_capability_is_shown(show: Any, shown: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spawned: list[Any] = []
    place = types.Range(types.Position(1, 0), types.Position(1, 4))
    use = SimpleNamespace(start=5, end=9)
    monkeypatch.setattr("aurora_manifest.editing.occurrences.uses_of", lambda *_: [use, use])
    snapshot: Any = SimpleNamespace(uri="file:///w/aura.json", manifest=None, range=lambda *_: place)
    window = SimpleNamespace(show_document=show)
    ls: Any = SimpleNamespace(client=SimpleNamespace(window=window), spawn=lambda work, _: spawned.append(work))
    found = await manifest_commands.uses(ls, snapshot, manifest_commands.Which("file:///w/aura.json", "find"))
    for each in spawned:
        each.close()
    assert (len(found), len(spawned)) == (2, shown)
