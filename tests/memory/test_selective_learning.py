"""What is learned of many runs: one pattern of like ones, apart from others, and nothing held against them for ever."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.documents import PatternSubgoal
from aurora_memory.learning import POLICY, FinishedRun
from aurora_memory.store import Store, learned_reader
from tests.memory.runs import DAY, NOON, run
from tests.memory.stores import new_store

BEFORE = ("", "please ", "could you ", "I would like to know: ", "once more, ", "hey, ", "now ")
AFTER = ("", "?", " please", ", thanks", " in detail?", " here")
STEPS = (
    ("Explain how expand fills a template", "Compare expand with request"),
    ("Describe how a template is filled by expand", "Compare what expand does with what request does"),
    ("Explain the filling of the template in expand", "Compare it with request"),
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await new_store(tmp_path / "memory.db")
    yield opened
    await opened.close()


def asked(number: int, query: str, steps: tuple[str, ...], score: float = 0.9) -> FinishedRun:
    made = tuple(PatternSubgoal(id=f"SG{n}", description=text, agent="llm-executor") for n, text in enumerate(steps, 1))
    return run(number, score, query=query, subgoals=made, tools_used=())


async def count(store: Store) -> int:
    return len(await store.read(lambda reader: reader.rows("SELECT 1 FROM documents")))


async def test_twenty_like_questions_are_one_pattern_that_counts_them(store: Store) -> None:
    learned = None
    for number in range(20):
        query = (
            f"{BEFORE[number % 7]}explain how expand fills a template and compare it with request{AFTER[number % 6]}"
        )
        learned = await store.learn(asked(number, query, STEPS[number % 3], 0.85 + number / 200))
        assert learned.reasoning_id is not None
    assert learned is not None and (await count(store), learned.runs) == (1, 20)
    row = await store.read(learned_reader.reasoning_named, learned.reasoning_id or "")
    assert row is not None
    document = (await store.read(learned_reader.reasoning, [row]))[row]
    assert document.content.success_score == pytest.approx(0.85 + 19 / 200), "the best of them is what is remembered"
    assert (document.access_count, document.is_pattern) == (20, True)


async def test_other_words_of_asking_make_no_other_pattern(store: Store) -> None:
    for number, query in enumerate(
        (
            "Explain how expand works and compare it with request",
            "Describe how expand works and contrast it with request",
            "Clarify how expand operates, and compare it with request",
            "I want to understand how expand behaves and compare it with request",
        )
    ):
        steps = ("Outline how expand works", "Contrast expand with request") if number % 2 else STEPS[0]
        await store.learn(asked(number, query, steps))
    assert await count(store) == 1
    for number, query in enumerate(("Fix the session of login", "Mend the session of login"), 10):
        await store.learn(asked(number, query, (query, "Write a test of it")))
    assert await count(store) == 2
    for number, query in enumerate(("Explain describe() in base.py", "Explain clarify() in base.py"), 20):
        await store.learn(asked(number, query, (query, f"Say who calls it: {query}")))
    assert await count(store) == 4, "names of code are no words of asking"


async def test_a_worse_run_takes_nothing_from_the_pattern_it_is_like(store: Store) -> None:
    query = "Explain how expand fills a template and compare it with request"
    good = await store.learn(asked(1, query, STEPS[0], 0.95))
    worse = await store.learn(asked(2, f"please {query}", STEPS[1], 0.6))
    assert (worse.reasoning_id, worse.is_pattern, worse.runs) == (good.reasoning_id, True, 2)


async def test_other_questions_and_other_ways_stay_apart(store: Store) -> None:
    questions = (
        "Explain how expand fills a template and compare it with request",
        "Explain how login checks a password",
        "Explain how logout ends a session",
        "Design retries for request",
        "Design caching for request",
        "Where is the token of a user refreshed",
        "Add audit logging to login",
        "Add audit logging to the payments API with a migration of its tables",
    )
    for number, query in enumerate(questions):
        await store.learn(asked(number, query, (query, f"Check that this holds: {query}")))
    assert await count(store) == len(questions)
    other_way = ("Write a failing test", "Bisect the commits", "Mend what broke")
    learned = await store.learn(asked(50, questions[0], other_way))
    assert learned.reasoning_id is not None and learned.reasoning_id.endswith(":v2")


async def test_a_question_is_not_difficult_for_ever(store: Store) -> None:
    failed = asked(1, "Why does the login page flicker", STEPS[0], 0.2)
    await store.learn(failed)
    assert await store.read(learned_reader.difficult, failed.query, NOON + DAY)
    later = NOON + (POLICY.difficult_days + 1) * DAY
    assert not await store.read(learned_reader.difficult, failed.query, later)
    await store.learn(run(2, 0.2, query=failed.query, at=later))
    assert await store.read(learned_reader.difficult, failed.query, later + DAY), "it failed again"
