"""What a workspace answers of its people and its runs, a rule each: what comes first, what is left out."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_memory import UnknownChunk
from aurora_memory.store.record_position import RecordPosition
from aurora_server.workspace import closed_memories, query_documents, record_exchange, soar_memory, who
from aurora_server.workspace.learned_memory import LearnedMemory
from aurora_server.workspace.query_telemetry import _retries, run_measurements
from aurora_server.workspace.recall_uses import LATELY, MOST, ShownChunks
from aurora_server.workspace.recalled_text import _whole, raw_text
from aurora_server.workspace.record_exchange import RecordExchange
from aurora_server.workspace.soar_steps import _names
from aurora_server.workspace.symbol_at import _best, _defines, chunk_around
from aurora_server.workspace.transferred_patterns import work_tree_in_use
from tests.memory.chunks import chunk
from tests.server.test_lsp_words import recalled
from tests.server.test_symbol_at import lines

DAY = 86_400.0

# People


def authored(email: str, name: str, at: float, raw: str = "") -> Any:
    return SimpleNamespace(email=email, raw_email=raw or email, name=name, at=at, commit=f"c{at}")


def test_who_touched_it_last_and_most_is_told_first_and_of_equals_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered = who._Gathered("me", [])
    for person, name, at in (("1", "Bob", 50 * DAY), ("2", "Ann", 50 * DAY), ("3", "Eve", 90 * DAY), ("4", "", 0)):
        gathered.names[person] = name
        gathered.touch(person, at, commits=1)
        gathered.touch(person, at, lines=2)
    found = gathered.people(100 * DAY)
    assert [each.name for each in found] == ["Eve", "Ann", "Bob", ""]
    assert (found[1].commits, found[1].lines, found[1].uses) == (1, 2, 0)
    monkeypatch.setattr(who, "MOST", 2)
    assert [each.name for each in gathered.people(100 * DAY)] == ["Eve", "Ann"]


def test_a_person_is_last_seen_at_the_latest_of_what_was_done_whatever_came_last() -> None:
    gathered = who._Gathered("me", [])
    gathered.touch("a", 90.0, commits=1)
    gathered.touch("a", 10.0, commits=1)
    (one,) = gathered.people(100.0)
    other = who._Gathered("me", [])
    other.touch("a", 10.0, commits=1)
    other.touch("a", 90.0, commits=1)
    assert (one.last_touch, one.activation) == (other.people(100.0)[0].last_touch, other.people(100.0)[0].activation)
    assert one.last_touch == who.iso(90.0)


@pytest.mark.parametrize(
    ("uncommitted", "edited", "by_git", "touched", "lines"),
    [
        pytest.param(0, 50.0, False, 1, 0, id="without git an edit is of whose machine this is"),
        pytest.param(2, 50.0, True, 1, 2, id="as are lines that are in no commit"),
        pytest.param(0, 50.0, True, 0, 0, id="what is committed is of whoever committed it"),
        pytest.param(2, None, True, 0, 0, id="of lines that nobody saw edited nothing is known"),
    ],
)
def test_whose_an_edit_is(uncommitted: int, edited: float | None, by_git: bool, touched: int, lines: int) -> None:
    gathered = who._Gathered("me", [])
    told: Any = SimpleNamespace(uncommitted=uncommitted, by_commit={}) if by_git else None
    found: Any = SimpleNamespace(edited_at=edited)
    who._add_edits(gathered, found, told)
    assert len(gathered.times.get("me", ())) == touched and gathered.uncommitted.get("me", 0) == lines


def test_a_person_goes_by_the_latest_name_and_by_one_id() -> None:
    later, earlier = authored("a@new", "Ann Lee", 9.0, "a@old"), authored("a@new", "ann", 1.0)
    gathered = who._Gathered(who._id("a@old"), [later, earlier])
    assert gathered.names == {who._id("a@new"): "Ann Lee"} and gathered.own == who._id("a@new")
    assert who._id("") == who._id("nobody")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        pytest.param("a.py", ("a.py", 1, 9), id="a file is asked about as a whole"),
        pytest.param("f", ("f", 1, 2), id="a chunk by its lines"),
        pytest.param("nowhere", None, id="what stands in no file has nobody"),
    ],
)
def test_what_is_asked_about(asked: str, told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    inner, outer = lines("f", 1, 2), lines("g", 3, 9)
    made: Any = {"f": inner, "nowhere": SimpleNamespace(path="")}
    monkeypatch.setattr(who, "chunk_reader", SimpleNamespace(of_file=lambda *_: [outer, inner]))
    monkeypatch.setattr(who, "file_reader", SimpleNamespace(files_like=lambda _, path, many: [path, "b/a.py"]))
    monkeypatch.setattr(who, "chunk_named", lambda reader, root, name: made[name])
    monkeypatch.setattr(who, "shown_id", lambda each: each.name)
    monkeypatch.setattr(who, "_known", lambda reader, place, chunks: place)
    nothing: Any = None
    if told is None:
        with pytest.raises(UnknownChunk, match="stands in no file"):
            who.asked_place(nothing, Path("/w"), asked)
    else:
        place: Any = who.asked_place(nothing, Path("/w"), asked)
        assert (place.name, place.line_start, place.line_end) == told


def test_of_a_place_the_latest_edit_counts_and_each_name_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(who, "chunk_reader", SimpleNamespace(accesses=lambda *_: {1: (9.0, 3.0), 2: (5.0,)}))
    monkeypatch.setattr(who, "commit_reader", SimpleNamespace(changing_commits=lambda *_: ["c"]))
    chunks: Any = [SimpleNamespace(id=n, name=name, changed_at=at) for n, name, at in
                   [(1, "g", 4.0), (2, "f", 7.0), (3, "g", None)]]  # fmt: skip
    nothing: Any = None
    found = who._known(nothing, nothing, chunks)
    assert (found.names, found.edited_at, found.own_uses) == (("g", "f"), 7.0, (3.0, 5.0, 9.0))


# What was recalled is used


def shown(*spans: tuple[str, int, int]) -> Any:
    return [SimpleNamespace(id=n, path=path, line_start=a, line_end=b) for n, (path, a, b) in enumerate(spans, 1)]


def test_a_place_that_is_looked_at_is_the_innermost_chunk_there_and_a_file_its_best_of_the_latest_answer() -> None:
    seen = ShownChunks()
    chunks = shown(("a.py", 1, 20), ("a.py", 5, 9), ("b.py", 1, 9), ("", 0, 0))
    seen.show(chunks, 0.0)
    assert seen.looked_at("a.py", 5, 1.0) == [2] and seen.looked_at("a.py", 9, 1.0) == [1], "each once"
    assert seen.looked_at("a.py", 9, 1.0) == [] and 4 not in seen.since(1.0)
    seen.show(chunks[:2], 1.0)
    seen.show(reversed(chunks[:2]), 2.0)
    assert seen.opened("a.py", 2.0) == [2], "the last answer says which is best"


@pytest.mark.parametrize(("after", "used"), [(0.0, [1]), (LATELY, [1]), (LATELY + 0.1, []), (-0.1, [])])
def test_what_was_recalled_half_an_hour_ago_is_used_and_nothing_of_tomorrow(after: float, used: list[int]) -> None:
    seen = ShownChunks()
    seen.show(shown(("a.py", 1, 2)), 100.0)
    assert seen.used([1, 1, 7], 100.0 + after) == used


def test_of_too_much_that_was_recalled_the_oldest_is_forgotten() -> None:
    seen = ShownChunks()
    seen.show(shown(*[("a.py", 1, 2)] * MOST), 0.0)
    seen.show(shown(("a.py", 1, 2)), 1.0)  # the first once more
    more: Any = [SimpleNamespace(id=MOST + 1, path="a.py", line_start=1, line_end=2)]
    seen.show(more, 2.0)
    kept = seen.since(2.0)
    assert len(kept) == MOST and 1 in kept and 2 not in kept and MOST + 1 in kept


# Names at a cursor


@pytest.mark.parametrize(
    ("kind", "name", "line", "its_own"),
    [
        ("function", "f", 3, True),
        ("function", "f", 1, True),
        ("function", "g", 1, False),
        ("function", "f", 9, False),
        pytest.param("section", "f", 3, False, id="of a document only the heading is"),
        pytest.param("section", "f", 0, True, id="which is"),
    ],
)
def test_whether_a_name_in_a_chunk_is_its_own(kind: Any, name: str, line: int, its_own: bool) -> None:
    made: Any = SimpleNamespace(kind=kind, name="A.f", line_start=1, line_end=5)
    assert _defines(made, name, line) is its_own


def test_of_what_a_name_may_mean_the_surest_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Any = SimpleNamespace(by_id=lambda _, ids: {n: f"chunk {n}" for n in ids})
    monkeypatch.setattr("aurora_server.workspace.symbol_at.chunk_reader", rows)
    edges: Any = [SimpleNamespace(to_id=n, weight=w) for n, w in [(1, 0.4), (2, 0.9), (3, 0.9), (4, 0.1)]]
    nothing: Any = None
    found: list[object] = [_best(nothing, edges), _best(nothing, [])]
    assert found == ["chunk 2", None], "of equals the first"


@pytest.mark.parametrize(
    ("text", "name", "kind", "found"),
    [
        pytest.param(None, "f", "function", True, id="a position is within a definition"),
        pytest.param("  f(x)", "f", "function", True, id="a name in code may be of it"),
        pytest.param("  ", "f", "function", False, id="between names nothing is shown"),
        pytest.param("word", "f", "section", False, id="nor for the words of a document"),
        pytest.param(None, "<module>", "module", False, id="what is left of a file is no definition"),
    ],
)
def test_whether_the_definition_around_is_shown(
    text: str | None, name: str, kind: Any, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aurora_server.workspace.symbol_at._stored", lambda reader, each: each)
    nothing: Any = None
    around = chunk("a.py", name, kind=kind) if name == "f" else lines(name, 1, 2)
    shown_there = chunk_around(nothing, [around], around.line_start - 1, text=text, column=2)
    assert (shown_there is not None) is found


# Runs


def run(**changes: Any) -> Any:
    usual = {
        "complexity": None, "assessment": None, "state": "complete", "score": None, "from_memory": None,
        "context": None, "results": (), "calls": (), "plan": None, "synthesis": None,
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **changes})


def called(*, replayed: bool = False, role: str = "solving", **tokens: int) -> Any:
    usage = {f"{kind}_tokens": 0 for kind in ("input", "output", "cache_read", "cache_write")} | tokens
    return SimpleNamespace(phase="collect", role=role, replayed=replayed, usage=SimpleNamespace(**usage))


def measured(ran: Any) -> dict[str, list[tuple[float, dict[str, str]]]]:
    found: dict[str, list[tuple[float, dict[str, str]]]] = {}
    for each in run_measurements(ran):
        found.setdefault(each.instrument.name, []).append((each.value, dict(each.labels)))
    return found


def test_what_a_run_without_anything_adds_is_that_it_ran() -> None:
    assert list(measured(run()).values()) == [[(1, {"state": "complete", "complexity": "unknown"})]]


def test_a_run_is_as_hard_as_it_was_found_to_be_in_the_end() -> None:
    assessed = SimpleNamespace(complexity="simple")
    for ran, level in (
        (run(assessment=assessed), "simple"),
        (run(assessment=assessed, complexity="complex"), "complex"),
    ):
        (_, labels), *_ = next(iter(measured(ran).values()))
        assert labels["complexity"] == level


def test_an_answer_from_memory_has_no_score_of_its_own_and_is_one_hit() -> None:
    context = SimpleNamespace(chunks=[SimpleNamespace(type="reas")])
    fresh, kept = (
        run_measurements(run(score=0.9, context=context)),
        run_measurements(run(score=0.9, context=context, from_memory="reas:1")),
    )
    assert [dict(each.labels) for each in fresh if "kind" in each.labels] == [{"kind": "pattern"}]
    assert [dict(each.labels) for each in kept if "kind" in each.labels] == [{"kind": "answer"}]
    assert len(fresh) == len(kept) + 1, "a score less"


def test_calls_that_are_replayed_cost_nothing_again_and_tokens_are_counted_by_kind() -> None:
    calls = [called(input_tokens=5, output_tokens=2, cache_read_tokens=3), called(replayed=True, input_tokens=9),
             called(role="reasoning", input_tokens=1, cache_write_tokens=4)]  # fmt: skip
    told = [(each.value, dict(each.labels)) for each in run_measurements(run(calls=calls))]
    tokens = {labels["kind"]: value for value, labels in told if "kind" in labels}
    assert tokens == {"input": 6, "output": 2, "cache_read": 3, "cache_write": 4}
    assert [value for value, labels in told if "role" in labels] == [1, 1]


def test_retries_are_tries_beyond_the_first() -> None:
    tries = SimpleNamespace(tries=(1, 2, 3))
    none = SimpleNamespace(tries=())
    plan = SimpleNamespace(attempts=(1, 2))
    ran = run(plan=plan, synthesis=SimpleNamespace(attempts=()), results=(tries, none))
    assert _retries(ran) == {"decomposition": 1, "agent_output": 2, "synthesis": 0}
    assert set(_retries(run()).values()) == {0}


@pytest.mark.parametrize(
    ("asked", "same"), [("code:a.py:f:1-2", True), ("code:a.py:f", True), ("code:a.py", False), ("f", False)]
)
def test_a_chunk_that_helped_is_named_with_or_without_its_lines(asked: str, same: bool) -> None:
    one: Any = SimpleNamespace(id="code:a.py:f:1-2")
    assert _names(one, asked) is same


# Memory of a run


def test_whose_a_pattern_is_stands_before_it() -> None:
    def told(name: str | None) -> str:
        provenance = SimpleNamespace(name=name, at="2026-02-01T10:00:00Z")
        state: Any = SimpleNamespace(provenance=provenance)
        return soar_memory._told(state, "do it")

    assert told("Ann").startswith("(Ann learned this on 2026-02-01;") and told("Ann").endswith("\ndo it")
    assert told(None).startswith("(a colleague learned this")
    own: Any = SimpleNamespace(provenance=None)
    assert soar_memory._told(own, "do it") == soar_memory._told(None, "do it") == "do it"


def test_of_earlier_conversations_those_that_fit_are_told_best_first(tmp_path: Path) -> None:
    """One that is too long makes room for the next; of a long section its beginning is told."""
    (tmp_path / "a.md").write_text("\n".join(f"line {n}" for n in range(400)))
    (tmp_path / "b.md").write_text("short\nmore\n")
    made: Any = soar_memory.SoarMemory.__new__(soar_memory.SoarMemory)
    made._logs_folder = lambda: tmp_path

    def section(file: str, start: int, end: int) -> Any:
        return SimpleNamespace(file=file, section="s", line_start=start, line_end=end, score=0.5)

    found = made._sections([section("a.md", 1, 300), section("b.md", 1, 2), section("gone.md", 1, 2)], 20)
    assert [(each.file, each.content) for each in found] == [("b.md", "short\nmore")]
    (whole,) = made._sections([section("a.md", 2, 400)], 100_000)
    assert whole.content.count("\n") == soar_memory.MAX_SECTION_LINES - 1 and whole.content.startswith("line 1\n")
    assert made._sections([section("../" + tmp_path.name + "/../x.md", 1, 2)], 100) == [], "nothing elsewhere is read"


def test_patterns_of_elsewhere_are_told_where_they_are_not_known_and_as_many_as_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = {"known": 1, "large": 90, "a": 5, "b": 5, "c": 5}
    monkeypatch.setattr(
        soar_memory, "recalled", lambda name, now, *, content: recalled(name, id=name, tokens=sizes[name], content=name)
    )
    matches: Any = list(sizes)
    found = soar_memory._fitting(matches, {"known"}, 10)
    assert [each.id for each in found] == ["a", "b"] and len({each.row for each in found}) == 2
    assert all(each.row < 0 for each in found), "nothing here is learned of them"


# Records and files


def test_what_one_told_from_another_machine_is_ones_own() -> None:
    made: Any = RecordExchange.__new__(RecordExchange)
    made.place = SimpleNamespace(author="me")
    line: Any = object()
    assert made._others([(1, line, "me"), (2, line, "you")]) == {2: "you"}


def test_of_work_trees_that_where_git_was_at_work_last_is_in_use(tmp_path: Path) -> None:
    for name, at in (("old", 10), ("new", 30), ("gone", 50)):
        common = tmp_path / name / ".git"
        common.mkdir(parents=True)
        (common / "index").touch()
        os.utime(common / "index", (at, at))
    (tmp_path / "plain").mkdir()
    os.utime(tmp_path / "plain", (20, 20))
    commons = [tmp_path / "old/.git", tmp_path / "new/.git", tmp_path / "plain"]
    assert work_tree_in_use(commons) == tmp_path / "new"
    assert work_tree_in_use([commons[0], commons[2]]) == tmp_path / "plain", "a folder without git is its own"
    assert work_tree_in_use([tmp_path / "nowhere/.git"]) is None


@pytest.mark.parametrize(
    ("kind", "numbers", "told"),
    [
        pytest.param("function", [3, 4, 5], None, id="lines as they stand"),
        pytest.param("function", [3, 4, 9], [3, 4, 9], id="what is folded leaves a gap"),
        pytest.param("function", [], None, id="a file that is gone"),
        pytest.param("reasoning", [0, 0, 0], None, id="what stands in no file"),
    ],
)
def test_lines_are_numbered_where_some_are_left_out(kind: str, numbers: list[int], told: list[int] | None) -> None:
    hit: Any = SimpleNamespace(chunk=SimpleNamespace(kind=kind))
    assert _whole(hit, ([(n, f"l{n}") for n in numbers], 0)).lines == told


def test_of_a_chunk_its_own_lines_are_read_and_no_secret(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\ufeffone\ntwo\npassword = 'hunter2hunter2'\nfour\n")
    made: Any = SimpleNamespace(path="a.py", line_start=2, line_end=3)
    text = raw_text(tmp_path, made)
    assert text.startswith("two\npassword") and "hunter2" not in text and "four" not in text
    made.path = "gone.py"
    assert raw_text(tmp_path, made) == ""


# Closed memories


@pytest.mark.parametrize(
    ("more", "told"),
    [
        pytest.param({}, {0: None, 1: None, 2: None}, id="places alone"),
        pytest.param({"include_content": True}, {0: "text 0", 1: None, 2: "text 2"}, id="of what changed no text"),
        pytest.param({"budget_tokens": 9}, {2: "text 2"}, id="and within a budget it is not chosen"),
    ],
)
def test_of_a_file_that_changed_since_it_was_indexed_no_lines_are_told(
    more: dict[str, Any], told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closed_memories, "texts", lambda root, hits, around: [f"text {hit}" for hit in hits])
    monkeypatch.setattr(
        closed_memories, "within_budget", lambda root, hits, around, budget, limit: {len(hits) - 1: f"text {hits[-1]}"}
    )
    params: Any = SimpleNamespace(**({"budget_tokens": None, "include_content": False, "limit": 5} | more))
    found: Any = SimpleNamespace(hits=[0, 1, 2], around={})
    assert dict(closed_memories._texts(found, params, Path("/w"), [True, False, True])) == told


def test_whether_a_file_is_as_it_was_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "same.py").write_text("x")
    (tmp_path / "more.py").write_text("xx")
    status = (tmp_path / "same.py").stat()
    known = {name: SimpleNamespace(size=1, mtime_ns=status.st_mtime_ns) for name in ("same.py", "more.py", "gone.py")}
    monkeypatch.setattr(closed_memories, "file_reader", SimpleNamespace(files_at=lambda reader, paths: known))
    memory: Any = SimpleNamespace(root=tmp_path, reader=None)
    (tmp_path / "new.py").touch()
    hits: Any = [SimpleNamespace(chunk=SimpleNamespace(path=path))
                 for path in ("same.py", "more.py", "gone.py", "new.py", "")]  # fmt: skip
    assert closed_memories._states(memory, hits) == [True, False, None, False, True]


@pytest.mark.parametrize(
    ("mine", "theirs", "same"), [("a", "a", True), ("a", "b", False), ("a", None, None), (None, "a", None)]
)
async def test_whether_a_memory_is_of_this_repository_is_told_where_both_are_known(
    mine: Any, theirs: Any, same: Any
) -> None:
    async def git_root() -> Any:
        return mine

    made: Any = LearnedMemory.__new__(LearnedMemory)
    made._root, made._more_came = Path("/w"), lambda: None
    made._adoption = SimpleNamespace(git_root=git_root)
    header = SimpleNamespace(git_root=theirs, workspace="w")
    done: Any = SimpleNamespace(header=header, lines=1, added={}, moved=0, waiting=0, left_out=0)
    assert (await made._taken_in(done)).same_repository is same


@pytest.mark.parametrize(
    ("length", "told"), [(query_documents.MAX_SUMMARY, True), (query_documents.MAX_SUMMARY + 1, False)]
)
def test_of_what_an_agent_says_the_beginning_is_told(length: int, told: bool) -> None:
    said = "s" * (length - 1) + "e"
    response = SimpleNamespace(
        output=SimpleNamespace(summary=said), error="e", agent_id="a", metadata=SimpleNamespace(exit_code=None)
    )
    subgoal = SimpleNamespace(id="SG1", description="d")
    result: Any = SimpleNamespace(response=response, skipped="not begun", tries=(), subgoal=subgoal, usable=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(query_documents, "usable", lambda _: False)
        step = query_documents._step(result)
    assert step.summary.endswith("e") is told and step.error == "not begun", "that it was not begun comes first"


@pytest.mark.parametrize(
    ("known", "begins", "at"),
    [
        pytest.param(None, True, 0, id="one that knows none begins"),
        pytest.param(RecordPosition("mark", record_exchange._KINDS, 7, 0), False, 7, id="one that knows this goes on"),
        pytest.param(RecordPosition("other", record_exchange._KINDS, 7, 0), True, 0, id="of another it begins anew"),
        pytest.param(RecordPosition("mark", ("x",), 7, 0), False, 0, id="what it did not understand it reads again"),
    ],
)
async def test_where_a_memory_goes_on_in_a_record(known: Any, begins: bool, at: int) -> None:
    begun: list[Any] = []

    async def read(_: Any) -> Any:
        return known

    async def begin(position: Any) -> None:
        begun.append(position)

    made: Any = RecordExchange.__new__(RecordExchange)
    made._store = SimpleNamespace(read=read, begin_record=begin)
    record: Any = SimpleNamespace(mark="mark")
    found = await made._position(record)
    assert (found.number, bool(begun), found.record, found.kinds) == (at, begins, "mark", record_exchange._KINDS)
