"""Learning in a real SQLite file: once per run, all or nothing, and never lost to an edit."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.chunk_validation import InvalidChunkDocument, document_problems, plain
from aurora_memory.documents import PatternSubgoal
from aurora_memory.learning import Feedback, Judged, Learned, LearningPolicy, Retrieved
from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.patterns import _say_the_same, recall_reasoning
from aurora_memory.store import (
    FileStat,
    IndexedFile,
    Store,
    chunk_reader,
    learned_reader,
    learned_writer,
    relation_reader,
)
from aurora_memory.tokens import terms
from aurora_memory.views import ChunkView
from tests.memory.chunks import chunk, file
from tests.memory.runs import DAY, NOON, STEPS, retrieved, run
from tests.memory.stores import new_store

LOGIN = """
def login(username, password):
    '''Check the password and hand out a token.'''
    user = find_user(username)
    if not user or not user.check(password):
        raise PermissionError(username)
    return issue_token(user, lifetime=3600)
"""
OTHER = """
def parse_row(line):
    fields = [field.strip() for field in line.split(',')]
    return dict(zip(('name', 'price', 'stock'), fields))
"""


OTHER_STEPS = (PatternSubgoal(id="SG1", description="Restore yesterday's backup", agent="admin"),)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await new_store(tmp_path / "memory.db")
    yield store
    await store.close()


def parsed(path: str, source: str) -> IndexedFile:
    return IndexedFile(FileStat(len(source), 1), parse_file(path, source.encode()))


async def only(store: Store, path: str, name: str) -> int:
    (found,) = await store.read(chunk_reader.by_name, path, name)
    return found.id


async def two(store: Store) -> tuple[int, int]:
    """Two functions of a file, as row ids."""
    await store.write([parsed("auth.py", LOGIN + OTHER)])
    return await only(store, "auth.py", "login"), await only(store, "auth.py", "parse_row")


async def test_a_success_boosts_what_helped_and_keeps_a_pattern(store: Store) -> None:
    login, row = await two(store)
    learned = await store.learn(run(retrieved=(Retrieved(login, True), Retrieved(row, False), Retrieved(999))))
    assert learned == Learned(
        outcome="success",
        runs=1,
        reasoning_id="reas:oauth2-authentication-api-implementation",
        is_pattern=True,
        accessed=1,
        boosted=1,
        unknown=(999,),
    )
    assert await store.read(learned_reader.boosts, [login, row, 999]) == {login: 0.2}
    assert await store.read(chunk_reader.accesses, [login, row]) == {login: [NOON + 1]}
    chunk_id = await store.read(learned_reader.reasoning_named, str(learned.reasoning_id))
    assert chunk_id is not None
    edges = await store.read(relation_reader.edges, chunk_id)
    assert [(edge.kind, edge.outgoing, edge.weight, edge.other.id) for edge in edges] == [("used", True, 1.0, login)]
    document = (await store.read(learned_reader.reasoning, [chunk_id]))[chunk_id]
    assert document_problems(plain(document)) == []
    assert (document.access_count, document.created_at, document.last_accessed) == (
        1,
        "2025-12-12T12:00:01Z",
        "2025-12-12T12:00:01Z",
    )


async def test_a_memory_learns_by_the_numbers_it_was_opened_with(tmp_path: Path) -> None:
    policy = LearningPolicy(pattern_score=0.95, success=0.3, helpful=0.1, unhelpful=-0.1, neutral=0.02)
    store = await new_store(tmp_path / "other.db", policy=policy)
    try:
        login, row = await two(store)
        learned = await store.learn(run(score=0.9, retrieved=(Retrieved(login, True), Retrieved(row))))
        assert (learned.outcome, learned.is_pattern) == ("partial", False)
        assert await store.read(learned_reader.boosts, [login, row]) == {login: 0.1, row: 0.02}
    finally:
        await store.close()


async def test_a_partial_success_tells_helpful_from_unhelpful(store: Store) -> None:
    login, row = await two(store)
    learned = await store.learn(run(score=0.65, retrieved=(Retrieved(login, True), Retrieved(row, False))))
    assert (learned.outcome, learned.is_pattern, learned.accessed, learned.boosted) == ("partial", False, 1, 2)
    assert await store.read(learned_reader.boosts, [login, row]) == {login: 0.05, row: -0.05}
    assert await store.read(chunk_reader.accesses, [login, row]) == {login: [NOON + 1]}
    assert learned.reasoning_id is not None


async def test_a_failure_blames_reasoning_only_and_marks_the_question(store: Store) -> None:
    login, _ = await two(store)
    await store.learn(run(1, query="Fix database migration"))
    reasoning = await store.read(learned_reader.reasoning_named, "reas:database-migration-fix")
    assert reasoning is not None
    learned = await store.learn(run(2, score=0.3, retrieved=retrieved(login, reasoning)))
    assert learned == Learned(outcome="failure", boosted=1)
    assert await store.read(learned_reader.boosts, [login, reasoning]) == {reasoning: -0.1}
    assert await store.read(chunk_reader.accesses, [login]) == {}
    assert await store.read(learned_reader.difficult, "implement oauth2 authentication in our API", NOON)
    assert not await store.read(learned_reader.difficult, "render a button", NOON)
    await store.learn(run(3, score=0.2))
    assert [(each.failures, each.last_score) for each in await store.read(learned_reader.difficulties)] == [(2, 0.2)]
    await store.learn(run(4, score=0.7))
    assert await store.read(learned_reader.difficult, run().query, NOON), "a partial success does not prove it easy"
    await store.learn(run(5, score=0.9, query="Implement OAuth2 authentication for API clients"))
    assert await store.read(learned_reader.difficulties) == []


async def test_the_same_run_twice_changes_nothing(store: Store) -> None:
    login, _ = await two(store)
    once = await store.learn(run(retrieved=retrieved(login)))
    before = dump(store.path)
    again = await store.learn(run(retrieved=retrieved(login), score=0.1))
    assert again.repeated and (again.reasoning_id, again.outcome) == (once.reasoning_id, "success")
    assert dump(store.path) == before


def dump(path: Path) -> list[str]:
    with sqlite3.connect(path) as db:
        lines = list(db.iterdump())
    db.close()
    return lines


async def test_concurrent_runs_each_count_once(store: Store) -> None:
    login, row = await two(store)
    runs = [run(number, retrieved=retrieved(login, row)) for number in range(12)]
    learned = await asyncio.gather(*(store.learn(each) for each in [*runs, *runs]))
    assert sum(each.repeated for each in learned) == 12
    assert len((await store.read(chunk_reader.accesses, [login]))[login]) == 12
    assert await store.read(learned_reader.boosts, [login, row]) == {login: 1.0, row: 1.0}, "2.4, held at 1.0"
    assert {each.reasoning_id for each in learned} == {"reas:oauth2-authentication-api-implementation"}


async def test_two_processes_may_learn_at_once(store: Store, tmp_path: Path) -> None:
    login, _ = await two(store)
    other = await Store.open(tmp_path / "memory.db")
    try:
        each = [run(number, retrieved=retrieved(login)) for number in range(8)]
        await asyncio.gather(*(one.learn(a_run) for one in (store, other) for a_run in each))
        assert len((await store.read(chunk_reader.accesses, [login]))[login]) == 8
    finally:
        await other.close()


async def test_another_decomposition_is_another_version(store: Store) -> None:
    shorter = (PatternSubgoal(id="SG1", description="Use the library", agent="coder"),)
    ids = [
        (await store.learn(each)).reasoning_id
        for each in (run(1), run(2, subgoals=shorter), run(3), run(4, subgoals=STEPS[:1]), run(5, subgoals=shorter))
    ]
    name = "reas:oauth2-authentication-api-implementation"
    assert ids == [name, f"{name}:v2", name, f"{name}:v3", f"{name}:v2"]
    first = await store.read(learned_reader.reasoning_named, name)
    assert first is not None
    assert (await store.read(learned_reader.reasoning, [first]))[first].access_count == 2


async def test_a_pattern_is_not_undone_by_a_worse_run(store: Store) -> None:
    for number, score in enumerate((0.6, 0.95, 0.7), start=1):
        learned = await store.learn(run(number, score=score))
    chunk_id = await store.read(learned_reader.reasoning_named, str(learned.reasoning_id))
    assert chunk_id is not None
    document = (await store.read(learned_reader.reasoning, [chunk_id]))[chunk_id]
    assert (document.content.success_score, document.is_pattern, document.confidence) == (0.95, True, "high")
    assert (document.created_at, document.metadata.timestamp) == ("2025-12-12T12:00:01Z", "2025-12-12T12:00:02Z")
    assert document.access_count == 3


async def test_of_two_runs_that_went_equally_well_the_later_is_remembered(store: Store) -> None:
    for number, query in ((1, "Implement OAuth2 authentication in the API"), (2, "Implement OAuth2 in the shop's API")):
        learned = await store.learn(run(number, score=0.9, query=query, pattern="oauth2"))
    chunk_id = await store.read(learned_reader.reasoning_named, str(learned.reasoning_id))
    assert chunk_id is not None
    document = (await store.read(learned_reader.reasoning, [chunk_id]))[chunk_id]
    assert document.content.original_query == "Implement OAuth2 in the shop's API"


async def test_a_run_that_reuses_its_pattern_counts_it_once(store: Store) -> None:
    await store.learn(run(1))
    chunk_id = await store.read(learned_reader.reasoning_named, "reas:oauth2-authentication-api-implementation")
    assert chunk_id is not None
    await store.learn(run(2, retrieved=retrieved(chunk_id)))
    assert await store.read(chunk_reader.accesses, [chunk_id]) == {chunk_id: [NOON + 1, NOON + 2]}
    assert await store.read(relation_reader.edges, chunk_id) == [], "it does not use itself"


async def test_reasoning_is_not_code(store: Store) -> None:
    login, _ = await two(store)
    before = await store.counts()
    await store.learn(run(retrieved=retrieved(login), pattern="login"))
    after = await store.counts()
    assert (after.chunks, after.kinds, after.files) == (before.chunks, before.kinds, before.files)
    assert {view.kind for view in await store.read(chunk_reader.named, ["login"])} == {"function"}
    assert {view.kind for view in await store.read(chunk_reader.name_prefix, "", 50)} == {"function"}
    assert "" not in await store.read(chunk_reader.names_with, "o")
    assert {
        hit.chunk.path for hit in await store.read(recall, parse_question("login oauth2 authentication"), 50, NOON)
    } == {"auth.py"}
    assert (await store.read(chunk_reader.of_file, "auth.py"))[0].kind == "function"


async def test_history_survives_edit_rename_and_move_of_real_files(store: Store) -> None:
    login, row = await two(store)
    name = (await store.learn(run(retrieved=retrieved(login)))).reasoning_id
    reasoning = await store.read(learned_reader.reasoning_named, str(name))
    assert reasoning is not None

    async def kept() -> int:
        (edge,) = await store.read(relation_reader.edges, reasoning)
        assert await store.read(learned_reader.boosts, [edge.other.id]) == {edge.other.id: 0.2}
        assert await store.read(chunk_reader.accesses, [edge.other.id]) == {edge.other.id: [NOON + 1]}
        return edge.other.id

    edited = LOGIN.replace("3600", "7200")
    await store.write([parsed("auth.py", OTHER + edited)])
    await store.resolve()
    assert await kept() == login
    await store.write([parsed("auth.py", OTHER + edited.replace("def login", "def sign_in"))])
    await store.resolve()
    assert await kept() == login == await only(store, "auth.py", "sign_in")
    moved = parsed("web/session.py", edited.replace("def login", "def sign_in"))
    await store.write([moved, parsed("auth.py", OTHER)])
    await store.resolve()
    assert await kept() == login == await only(store, "web/session.py", "sign_in")
    # Gone with a branch switch, back with the next.
    await store.write(removed=["web/session.py"])
    await store.resolve()
    assert await store.read(relation_reader.edges, reasoning) == []
    await store.write([moved])
    await store.resolve()
    assert await kept() == login
    # Saved into its new file before it left the old one.
    await store.write([parsed("late.py", edited.replace("def login", "def sign_in"))])
    await store.write(removed=["web/session.py"])
    await store.resolve()
    assert await kept() == await only(store, "late.py", "sign_in") != login
    assert await store.read(learned_reader.boosts, [row]) == {}


async def test_a_penalty_alone_keeps_a_chunk_that_vanishes(store: Store) -> None:
    login, _ = await two(store)
    await store.learn(run(score=0.6, retrieved=retrieved(login, helpful=False), subgoals=()))
    await store.write(removed=["auth.py"])
    await store.write([parsed("auth.py", LOGIN)])
    assert await only(store, "auth.py", "login") == login
    assert await store.read(learned_reader.boosts, [login]) == {login: -0.05}


async def test_what_nothing_was_learned_of_is_deleted(store: Store) -> None:
    await two(store)
    await store.write(removed=["auth.py"])
    with sqlite3.connect(store.path) as db:
        assert db.execute("SELECT count(*) FROM chunks").fetchone() == (0,)
    db.close()


async def test_reasoning_survives_a_whole_new_index(store: Store) -> None:
    login, _ = await two(store)
    await store.learn(run(retrieved=retrieved(login)))
    await store.write(removed=["auth.py"])
    await store.write([parsed("auth.py", LOGIN + OTHER)], first_time=True)
    await store.resolve()
    (hit,) = await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON + DAY)
    assert [edge.other.id for edge in await store.read(relation_reader.edges, hit.chunk.id)] == [login]


async def test_a_pattern_fades_from_its_last_use_not_from_its_first(store: Store) -> None:
    await store.learn(run(1))
    (once,) = await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON + 100 * DAY)
    await store.learn(run(2, at=NOON + 99 * DAY))
    (again,) = await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON + 100 * DAY)
    assert once.activation.decay > 0.9 and again.activation.decay == 0.0


async def test_what_is_learned_after_a_first_question_is_found_by_the_next(store: Store) -> None:
    assert await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON) == []
    assert not await store.read(learned_reader.has_learned)
    await store.learn(run(1))
    assert len(await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON + DAY)) == 1
    assert await store.read(learned_reader.has_learned)


async def test_reasoning_is_found_by_its_words(store: Store) -> None:
    await store.learn(run(1))
    steps = (PatternSubgoal(id="SG1", description="Profile the slow query", agent="tuner"),)
    await store.learn(
        run(2, query="Optimize the database query", subgoals=steps, tools_used=(), tool_sequence=("psql",))
    )
    await store.learn(run(3, score=0.6, query="Optimize database rendering", subgoals=steps[:1]))
    found = await store.read(learned_reader.match_reasoning, terms("slow database queries"), 10)
    assert len(found) == 2 and found[0][1] >= found[1][1] > 0
    hits = await store.read(recall_reasoning, parse_question("optimize a slow database query"), 10, NOON + DAY)
    assert [hit.chunk.name for hit in hits] == ["database-query-optimization", "database-rendering-optimization"]
    assert 0 < hits[1].score < hits[0].score <= 1
    by_tool = await store.read(recall_reasoning, parse_question("psql"), 10, NOON + DAY)
    assert [hit.chunk.name for hit in by_tool] == ["database-query-optimization"]
    assert await store.read(learned_reader.match_reasoning, [], 5) == []
    assert await store.read(learned_reader.match_reasoning, ['x" OR y', "NEAR(", "*", ""], 5) == []
    assert await store.read(recall_reasoning, parse_question("kubernetes"), 5, NOON) == []


async def test_what_went_only_partly_well_ranks_behind_a_pattern_that_fits_as_well(store: Store) -> None:
    await store.learn(run(1, query="Optimize the renderer", subgoals=STEPS[:1]))
    await store.learn(run(2, score=0.6, query="Optimize the archive", subgoals=OTHER_STEPS))
    hits = await store.read(recall_reasoning, parse_question("optimize"), 10, NOON + DAY)
    assert [hit.chunk.signature for hit in hits] == ["Optimize the renderer", "Optimize the archive"]
    assert hits[0].strength - hits[1].strength > 0.4
    (best,) = await store.read(recall_reasoning, parse_question("optimize"), 1, NOON + DAY)
    assert best.chunk.id == hits[0].chunk.id, "who asks for one gets the best of all"


async def test_of_solutions_that_fit_equally_well_the_latest_are_looked_at(store: Store) -> None:
    rows = []
    for number, said in enumerate(("Mill flour", "Paint walls", "Weld pipes"), 1):
        steps = (PatternSubgoal(id="SG1", description=said, agent="coder"),)
        learned = await store.learn(run(number, subgoals=steps, pattern="oauth2"))
        rows.append(await store.read(learned_reader.reasoning_named, str(learned.reasoning_id)))
    found = await store.read(learned_reader.match_reasoning, terms("implement authentication"), 2)
    assert [row for row, _ in found] == rows[:0:-1]
    assert len({score for _, score in found}) == 1, "what was asked fits both alike"


async def test_lessons_and_difficult_questions_are_told_latest_first(store: Store) -> None:
    login, _ = await two(store)
    for number in (2, 3, 1):
        await store.learn(run(number, score=0.1, query=f"Draw {'circle square line'.split()[number - 1]}s"))
        await store.learn(run(10 + number, retrieved=retrieved(login), at=NOON + number))
    lessons = (await store.read(learned_reader.lessons, [login]))[login]
    assert [each.run for each in lessons] == ["aurora-13", "aurora-12", "aurora-11"]
    told = await store.read(learned_reader.difficulties)
    assert [each.query for each in told] == ["Draw lines", "Draw squares", "Draw circles"]


@pytest.mark.parametrize(("score", "is_difficult"), [(0.9, False), (0.6, True), (0.1, True)])
async def test_only_a_success_makes_a_question_that_failed_an_easy_one(
    store: Store, score: float, is_difficult: bool
) -> None:
    await store.learn(run(1, score=0.1, query="Draw all circles", at=NOON + 60))
    await store.learn(run(2, score=score, query="Draw all the circles", at=NOON + 30))
    assert await store.read(learned_reader.difficult, "draw circles", NOON + DAY) is is_difficult
    told = await store.read(learned_reader.difficulties)
    assert [(each.failures, each.last_at) for each in told] == ([(2 if score < 0.5 else 1, NOON + 60)] * is_difficult)


async def test_of_too_many_questions_that_failed_the_latest_are_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned_writer, "MAX_DIFFICULT", 2)
    for number, said in enumerate(("Draw circles", "Weld pipes", "Paint walls")):
        await store.learn(run(number, score=0.1, query=said, at=NOON + (60, 0, 30)[number]))
    assert [each.query for each in await store.read(learned_reader.difficulties)] == ["Draw circles", "Paint walls"]


@pytest.mark.parametrize(("days", "is_difficult"), [(30.0, True), (30.1, False)])
async def test_what_failed_is_difficult_for_thirty_days(store: Store, days: float, is_difficult: bool) -> None:
    await store.learn(run(1, score=0.1, query="Draw all circles", at=NOON))
    assert await store.read(learned_reader.difficult, "draw circles", NOON + days * DAY) is is_difficult


async def test_a_pattern_that_is_learned_again_keeps_its_first_day(store: Store) -> None:
    row = await store.read(learned_reader.reasoning_named, str((await store.learn(run(1))).reasoning_id))
    assert row is not None
    (first,) = (await store.read(learned_reader.reasoning, [row])).values()
    await store.learn(run(2, score=0.99, at=NOON + 9 * DAY))
    (later,) = (await store.read(learned_reader.reasoning, [row])).values()
    assert (later.created_at, later.content.success_score) == (first.created_at, 0.99)


async def test_boosts_are_part_of_a_patterns_activation(store: Store) -> None:
    await store.learn(run(1))
    (before,) = await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON + DAY)
    await store.learn(run(2, score=0.2, retrieved=retrieved(before.chunk.id)))
    (after,) = await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON + DAY)
    assert after.activation.learned == -0.1
    assert after.activation.total == pytest.approx(before.activation.total - 0.1)
    assert after.score < before.score


async def test_a_run_that_cannot_be_kept_changes_nothing(store: Store) -> None:
    before = dump(store.path)
    endless = (PatternSubgoal(id="SG1", description="x" * 5000, agent="coder"),)
    with pytest.raises(InvalidChunkDocument, match="description"):
        await store.learn(run(subgoals=endless))
    assert dump(store.path) == before


async def test_twins_without_history_stay_apart(store: Store) -> None:
    """Two equal functions: the one that leaves does not take over, or lose to, one that has a history of its own."""
    await store.write([file("a.py", chunk("a.py", "f", "the same")), file("b.py", chunk("b.py", "f", "the same"))])
    mine, theirs = await only(store, "a.py", "f"), await only(store, "b.py", "f")
    await store.learn(run(1, retrieved=retrieved(mine)))
    await store.learn(run(2, score=0.6, retrieved=retrieved(theirs, helpful=True)))
    await store.write(removed=["a.py"])
    assert await store.read(learned_reader.boosts, [mine, theirs]) == {mine: 0.2, theirs: 0.05}


async def test_a_user_who_judges_an_answer_moves_its_pattern_once(store: Store) -> None:
    learned = await store.learn(run(1, 0.9))
    assert learned.reasoning_id is not None
    row = await store.read(learned_reader.reasoning_named, learned.reasoning_id)
    assert row is not None
    before = (await store.read(learned_reader.boosts, [row])).get(row, 0.0)

    def said(verdict: Judged, name: str = learned.reasoning_id or "") -> Feedback:
        return Feedback(run="r-judged", reasoning_id=name, verdict=verdict, query="how is this judged", at=NOON)

    assert await store.judge(said("praised")) and not await store.judge(said("praised"))
    assert (await store.read(learned_reader.boosts, [row]))[row] == pytest.approx(before + 0.1)
    assert not await store.read(learned_reader.difficult, "how is this judged", NOON)
    assert await store.judge(said("incorrect"))
    assert (await store.read(learned_reader.boosts, [row])).get(row, 0.0) == pytest.approx(before)
    assert await store.read(learned_reader.difficult, "how is this judged", NOON)
    assert not await store.judge(said("praised", "reas:never-heard-of"))


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        # the same in other words: one where it is kept
        ("Fix the database migration", {"query": "please fix the database migrations"}, [1]),
        # nearly the same: one where it is shown, with a count
        (
            "Fix the broken database migration of orders in the shop scripts",
            {"query": "Fix the broken database migration of orders in the shop steps"},
            [2],
        ),
        # the same steps for another question
        ("Fix the database migration", {"query": "Fix the stylesheet of migration pages"}, [1, 1]),
        # another way for the same
        ("Fix the database migration", {"query": "Fix the database migration", "subgoals": OTHER_STEPS}, [1, 1]),
    ],
)
async def test_patterns_that_say_the_same_are_one_with_a_count(
    store: Store, first: str, second: dict[str, Any], kept: list[int]
) -> None:
    await store.learn(run(1, query=first, pattern="one"))
    await store.learn(run(2, pattern="two", **second))
    hits = await store.read(recall_reasoning, parse_question("fix migration"), 5, NOON + DAY)
    assert [1 + len(hit.similar) for hit in hits] == kept


EIGHT = "alpha beta gamma delta epsilon zeta theta iota"
NINE = "alpha beta gamma delta epsilon zeta theta kappa lambda"
"""Seven words in common, of ten."""


@pytest.mark.parametrize(
    ("asked", "steps", "same"),
    [
        pytest.param((EIGHT, NINE), (EIGHT, NINE), True, id="seven words of ten in both"),
        pytest.param((EIGHT, f"{NINE} omega"), (EIGHT, EIGHT), False, id="fewer in the question"),
        pytest.param((EIGHT, EIGHT), (EIGHT, f"{NINE} omega"), False, id="fewer in the steps"),
        pytest.param((EIGHT, EIGHT), ("", ""), True, id="of two without steps the question tells"),
        pytest.param((EIGHT, EIGHT), ("", EIGHT), False, id="but not of one without"),
    ],
)
def test_patterns_say_the_same_with_seven_words_of_ten_in_question_and_steps(
    asked: tuple[str, str], steps: tuple[str, str], same: bool
) -> None:
    one, other = [SimpleNamespace(signature=asked[n], docstring=steps[n]) for n in (0, 1)]
    assert _say_the_same(cast("ChunkView", one), cast("ChunkView", other)) is same
