"""Phase 2: the mix within the budget, without repeats and secrets; logs where recall is weak (§6.8.2.1)."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_memory import StoreError
from aurora_orchestration.settings import RetrievalSettings
from aurora_orchestration.soar.retrieve import budget_of, is_weak, mixed, retrieve
from aurora_orchestration.soar.stages import silence
from aurora_orchestration.types import Assessment, Complexity, ContextChunk, LogSection


def chunk(row: int, score: float, kind: Any = "code", tokens: int = 100, **changes: Any) -> ContextChunk:
    made = ContextChunk(
        row=row,
        id=f"{kind}:{row}",
        type=kind,
        name=f"expand_template_{row}",
        file=f"src/file{row}.py",
        line_start=1,
        line_end=10,
        score=score,
        tokens=tokens,
        content=f"def expand_template_{row}(): ...",
    )
    return msgspec.structs.replace(made, **changes)


LOG = LogSection(
    file="2026/01/template.md", section="Phase 3", line_start=4, line_end=9, content="we expanded", tokens=50, score=0.4
)


class Shelf:
    """A memory of these chunks: recall by type and limit as memory's own, and what was asked of it."""

    def __init__(self, *chunks: ContextChunk, logs: tuple[LogSection, ...] = (LOG,)) -> None:
        self.chunks, self.kept_logs = chunks, logs
        self.asked: list[Any] = []

    async def recall(
        self, query: str, *, budget: int, limit: int, types: Sequence[str] | None = None
    ) -> Sequence[ContextChunk]:
        self.asked.append(types)
        found, left = [], budget
        for one in sorted(self.chunks, key=lambda one: -one.score):
            if (types is None or one.type in types) and one.tokens <= left and len(found) < limit:
                found.append(one)
                left -= one.tokens
        return found

    async def logs(self, query: str, *, budget: int) -> Sequence[LogSection]:
        self.asked.append("logs")
        return self.kept_logs


async def found(shelf: Any, complexity: Complexity = "medium", **settings: Any) -> Any:
    assessment = Assessment(complexity=complexity, confidence=0.9, score=0.3, method="keyword")
    return await retrieve("expand the template", shelf, assessment, RetrievalSettings(**settings), tell=silence)


def test_harder_questions_get_more_context() -> None:
    levels: tuple[Complexity, ...] = ("simple", "medium", "complex", "critical")
    assert [budget_of(level, RetrievalSettings()) for level in levels] == [2_000, 6_000, 12_000, 16_000]


async def test_every_type_with_good_hits_gets_its_share() -> None:
    code = [chunk(row, 0.9, tokens=300) for row in range(1, 30)]
    others = [chunk(100, 0.6, "reas", 300), chunk(101, 0.55, "know", 300), chunk(102, 0.2, "know", 300)]
    bundle = await found(Shelf(*code, *others), medium_tokens=2_000)
    kinds = [one.type for one in bundle.chunks]
    assert (kinds.count("reas"), kinds.count("know")) == (1, 1)
    assert kinds.count("code") >= 4
    assert bundle.tokens <= bundle.budget == 2_000
    assert [one.score for one in bundle.chunks] == sorted((one.score for one in bundle.chunks), reverse=True)
    assert bundle.logs == ()


async def test_a_good_mix_is_asked_for_once() -> None:
    shelf = Shelf(chunk(1, 0.9), chunk(2, 0.8, "reas"), chunk(3, 0.7, "know"))
    await found(shelf)
    assert shelf.asked == [None]


async def test_weak_recall_looks_into_the_logs() -> None:
    shelf = Shelf(chunk(1, 0.3))
    bundle = await found(shelf)
    assert bundle.logs == (LOG,)
    assert bundle.tokens == 150
    assert shelf.asked[-1] == "logs"


def test_weak_is_a_low_score_or_few_of_the_words() -> None:
    query = "expand the template"
    assert is_weak(query, [])
    assert is_weak(query, [chunk(1, 0.4)])
    assert is_weak(query, [chunk(1, 0.9, name="other", content="nothing of it", file="")])
    assert not is_weak(query, [chunk(1, 0.9)])


async def test_nothing_comes_twice() -> None:
    whole = chunk(1, 0.9, file="a.py", line_start=1, line_end=50)
    inner = chunk(2, 0.8, file="a.py", line_start=10, line_end=20)
    beside = chunk(3, 0.7, file="a.py", line_start=51, line_end=60)
    copy = chunk(4, 0.6, content=beside.content)
    bundle = await found(Shelf(whole, inner, beside, copy))
    assert [one.row for one in bundle.chunks] == [1, 3]


async def test_secrets_stay_behind() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    leaky = chunk(1, 0.4, content=f'TOKEN = "{secret}"', summary=f"token {secret}")
    bundle = await found(Shelf(leaky, logs=(msgspec.structs.replace(LOG, content=secret),)))
    assert secret not in msgspec.json.encode(bundle).decode()
    assert bundle.chunks[0].row == 1
    assert bundle.logs


async def test_no_tokens_no_question() -> None:
    shelf = Shelf(chunk(1, 0.9))
    bundle = await found(shelf, medium_tokens=0)
    assert (bundle.chunks, shelf.asked) == ((), [])


async def test_a_memory_that_cannot_answer_is_a_notice_not_an_error() -> None:
    class Broken(Shelf):
        async def recall(self, *_: Any, **__: Any) -> Sequence[ContextChunk]:
            raise StoreError("the file is not a database")

    told: list[Any] = []

    def tell(*what: Any, **data: Any) -> None:
        told.append((what, data))

    assessment = Assessment(complexity="simple", confidence=0.9, score=0.0, method="keyword")
    bundle = await retrieve("q", Broken(), assessment, RetrievalSettings(), tell=tell)
    assert bundle.chunks == ()
    assert "the file is not a database" in told[-1][0][2]


CHUNKS = st.builds(
    chunk,
    st.integers(1, 12),
    st.floats(0, 1),
    st.sampled_from(["code", "reas", "know"]),
    st.integers(0, 900),
    file=st.sampled_from(["a.py", "b.py", ""]),
    line_start=st.integers(0, 40),
    line_end=st.integers(0, 40),
)


@given(st.lists(CHUNKS, max_size=20), st.randoms(use_true_random=False), st.integers(0, 3_000), st.integers(1, 8))
def test_the_mix_fits_and_is_the_same_in_whatever_order_it_came(
    chunks: list[ContextChunk], random: Any, budget: int, most: int
) -> None:
    chunks = list({one.row: one for one in chunks}.values())
    bundle = mixed([chunks], (LOG,), budget, most)
    assert bundle.tokens <= budget
    assert len(bundle.chunks) <= most
    assert bundle.tokens == sum(one.tokens for one in bundle.chunks) + sum(log.tokens for log in bundle.logs)
    random.shuffle(chunks)
    assert mixed([chunks], (LOG,), budget, most) == bundle


@pytest.mark.parametrize("most", [1, 3])
async def test_no_more_chunks_than_configured(most: int) -> None:
    bundle = await found(Shelf(*(chunk(row, 0.9, tokens=1) for row in range(1, 9))), max_chunks=most)
    assert len(bundle.chunks) == most


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        pytest.param(0.9, 0.8, id="a method that is better than its class"),
        pytest.param(0.8, 0.9, id="a class that is better than its method"),
    ],
)
def test_of_two_chunks_one_of_which_holds_the_other_the_better_stays(inner: float, outer: float) -> None:
    method = chunk(1, inner, file="src/cart.py", line_start=4, line_end=6)
    around = chunk(2, outer, file="src/cart.py", line_start=1, line_end=10)
    assert mixed([[method, around]], (), 1_000, 10).chunks == (method if inner > outer else around,)


def test_good_hits_of_a_type_have_half_a_fifth_or_a_seventh_of_the_budget_and_the_best_of_all_the_rest() -> None:
    code = [chunk(n, 0.9) for n in range(10)]
    reasoning = [chunk(n, 0.6, "reas") for n in range(10, 15)]
    knowledge = [chunk(n, 0.55, "know") for n in range(20, 25)]
    bundle = mixed([code, reasoning, knowledge], (), 1_000, 100)
    kinds = [one.type for one in bundle.chunks]
    assert [kinds.count(kind) for kind in ("code", "reas", "know")] == [7, 2, 1]
    assert bundle.tokens == 1_000, "what fits exactly is taken"


def test_sections_of_logs_fill_a_quarter_of_the_budget_to_its_last_token_the_best_first() -> None:
    best, second, more = (
        msgspec.structs.replace(LOG, file=f"{name}.md", tokens=tokens, score=score)
        for name, tokens, score in (("best", 150, 0.9), ("second", 100, 0.5), ("more", 1, 0.4))
    )
    assert mixed([[]], (more, second, best), 1_000, 10).logs == (best, second)
    assert mixed([[]], (more, second, best), 996, 10).logs == (best, more), "249 tokens: the next that fits"
    alike = [
        msgspec.structs.replace(LOG, file=file, line_start=line)
        for file, line in (("b.md", 1), ("a.md", 9), ("a.md", 2))
    ]
    told = mixed([[]], alike, 1_000, 10).logs
    assert [(each.file, each.line_start) for each in told] == [("a.md", 2), ("a.md", 9), ("b.md", 1)]


def test_hits_that_are_not_good_have_no_share() -> None:
    weak = [chunk(n, 0.4, "reas") for n in range(10, 15)]
    assert all(one.type == "code" for one in mixed([[chunk(n, 0.9) for n in range(10)], weak], (), 1_000, 100).chunks)


async def test_a_type_of_which_nothing_good_was_found_is_asked_for_by_itself() -> None:
    shelf = Shelf(chunk(1, 0.9), chunk(2, 0.4, "reas"), chunk(3, 0.5, "know"))
    await found(shelf)
    assert shelf.asked == [None, ("reas",)], "even odds are good"


def test_half_of_the_words_are_enough() -> None:
    one = chunk(1, 0.9, name="expand", content="", file="", summary="")
    assert not is_weak("expand template", [one])
    assert is_weak("expand template variables", [one])


def test_chunks_that_lie_over_each_other_in_part_or_have_no_text_are_two() -> None:
    first = chunk(1, 0.9, file="a.py", line_start=1, line_end=20)
    second = chunk(2, 0.8, file="a.py", line_start=10, line_end=30)
    empty = [chunk(n, 0.7, content="") for n in (3, 4)]
    assert [one.row for one in mixed([[first, second, *empty]], (), 1_000, 10).chunks] == [1, 2, 3, 4]
