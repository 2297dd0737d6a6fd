"""Choices of what a scratchpad tells of its experiment, a rule each: which of several lines counts, what is forged."""

from __future__ import annotations

import pytest

from aurora_orchestration.headless.scratchpad import Progress, dollars, progress_of, signals

HEAD = "# Scratchpad\n\n**Current Iteration:** 2 / 5\n**Cost So Far:** $0.45 / $5.00\n\n---\n"
ENDED = "\n---\n\n**STATUS:** {}\n**Reason:** x\n"


def told(*parts: str) -> Progress:
    return progress_of(HEAD + "".join(parts))


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        pytest.param((ENDED.format("ONE"), ENDED.format("TWO")), "TWO", id="of two the last"),
        pytest.param((ENDED.format("ONE"), "\n## Iteration 1 (10:00:00)\n"), "", id="none of an earlier invocation"),
        pytest.param(("\n## Iteration 1 (10:00:00)\n", ENDED.format("ONE")), "ONE", id="that of the last"),
    ],
)
def test_as_what_an_experiment_ended(parts: tuple[str, ...], status: str) -> None:
    assert told(*parts).status == status


def test_what_it_ended_with_belongs_to_the_end_that_counts() -> None:
    met = ENDED.format("GOAL_ACHIEVED") + "**Tree:** abc12345\n**Goal:** def45678\n"
    assert (told(met).tree, told(met).goal) == ("abc12345", "def45678")
    later = told(met, "\n## Iteration 3 (10:00:00)\n", ENDED.format("MAX_ITERATIONS"))
    assert (later.tree, later.goal) == ("", "")


def test_the_highest_iteration_counts_and_the_sum_is_that_of_the_header() -> None:
    noted = told(
        "\n## Iteration 3 (10:00:00)\n**Action:** a\n\n## Iteration 2 (11:00:00)\n**Cost So Far:** $9.00 / $5.00\n"
    )
    assert (noted.iterations, noted.cost_usd) == (3, 0.45)
    assert progress_of("anything").iterations == 0


@pytest.mark.parametrize(
    ("body", "unfinished"),
    [
        pytest.param("\n## Iteration 1 (10:00:00)\n", True, id="an iteration of which nothing came"),
        pytest.param("\n## Iteration 1 (10:00:00)\n**Action:** a\n", False, id="not one that is noted"),
        pytest.param("\n## Iteration 1 (10:00:00)\n" + ENDED.format("BLOCKED"), False, id="nor one that was ended"),
        pytest.param("", False, id="nor none"),
    ],
)
def test_which_iteration_was_interrupted(body: str, unfinished: bool) -> None:
    assert told(body).unfinished is unfinished


@pytest.mark.parametrize(
    ("amount", "shown"), [(0.45, "$0.45"), (0.4, "$0.40"), (5.0, "$5.00"), (0.451, "$0.451"), (0.1234567, "$0.123457")]
)
def test_parts_of_a_cent_are_told_where_there_are_any(amount: float, shown: str) -> None:
    assert dollars(amount) == shown


@pytest.mark.parametrize(
    ("line", "many"),
    [
        pytest.param("DONE: all tests pass", 1, id="a line of its own"),
        pytest.param("- DONE: all", 1, id="or of a list"),
        pytest.param("**Decision:** DONE: all", 1, id="or a decision"),
        pytest.param("**STATUS:** DONE", 1, id="or a status"),
        pytest.param("write DONE: when", 0, id="not what is said of it"),
        pytest.param("DONE: <reason>", 0, id="nor a template"),
        pytest.param("DONE:", 0, id="nor one without a reason"),
    ],
)
def test_which_lines_give_the_signal(line: str, many: int) -> None:
    assert signals(f"notes\n{line}\n", "DONE") == many
