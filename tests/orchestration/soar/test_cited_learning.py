"""What a run reinforces: what its answer cites, not what it was shown."""

from __future__ import annotations

from msgspec.structs import replace

from aurora_orchestration.soar.record import retrieved
from aurora_orchestration.types import Claim, ContextBundle, ContextChunk, Output
from tests.orchestration.runs import run


def chunk(row: int, name: str, first: int, last: int) -> ContextChunk:
    return ContextChunk(
        row=row, id=f"code:src/auth.py:{name}:{first}-{last}", type="code", name=name, file="src/auth.py",
        line_start=first, line_end=last, score=0.9, tokens=10, content="…",
    )  # fmt: skip


CHUNKS = (
    chunk(1, "login", 1, 9),
    chunk(2, "logout", 17, 30),
    chunk(3, "login_all", 100, 120),
    chunk(4, "never", 200, 220),
)


def helped(answer: str, *claims: Claim, found: str = "") -> dict[int, bool | None]:
    """What is said of each chunk's use, for an answer with claims, and for what the first agent found."""
    done = run(context=ContextBundle(chunks=CHUNKS))
    first, *others = done.results
    if found:
        first = replace(first, response=replace(first.response, output=Output(summary=found, confidence=0.9)))
    assert done.synthesis is not None
    synthesis = replace(done.synthesis, answer=answer, claims=claims)
    return {each.id: each.helpful for each in retrieved(replace(done, synthesis=synthesis, results=(first, *others)))}


def test_what_the_words_of_the_answer_name_was_of_use_and_no_neighbour_of_it() -> None:
    assert helped("It is checked in src/auth.py:17, so be it.") == {1: False, 2: True, 3: False, 4: False}
    assert helped("See code:src/auth.py:login_all:100-120.") == {1: False, 2: False, 3: True, 4: False}


def test_a_claim_counts_and_so_does_the_step_it_rests_on() -> None:
    assert helped("-", Claim(text="a", sources=("src/auth.py:3",)))[1] is True
    assert helped("-", Claim(text="a", sources=("SG1",)), found="It is in src/auth.py:205.")[4] is True


def test_what_an_agent_found_and_the_answer_has_no_use_for_is_not_reinforced() -> None:
    told = helped("-", Claim(text="a", sources=("src/auth.py:3",)), found="It is in src/auth.py:205.")
    assert told == {1: True, 2: False, 3: False, 4: False}


def test_where_nothing_is_cited_nothing_is_held_against_anything() -> None:
    assert set(helped("It works.").values()) == {None}
