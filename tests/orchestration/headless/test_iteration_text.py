"""Choices of what an iteration is noted as, a rule each."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aurora_orchestration.headless.iteration_text import _done, nothing_done
from aurora_orchestration.headless.work_tree import Changes
from tests.orchestration.runs import SG1, result, run


@pytest.mark.parametrize(
    ("error", "code", "noted"),
    [
        pytest.param("it broke", 3, " (failed: it broke)", id="what it says of itself"),
        pytest.param(None, 3, " (failed: exit code 3)", id="else how its process ended"),
        pytest.param(None, 0, " (failed)", id="or that it failed"),
    ],
)
def test_why_a_step_failed(error: str | None, code: int, noted: str) -> None:
    step = result(SG1, 0, 1)
    metadata = replace(step.response.metadata, exit_code=code)
    failed = replace(step, response=replace(step.response, status="error", error=error, metadata=metadata))
    assert _done(failed) == f"{SG1.description}{noted}"
    assert _done(step) == SG1.description


FAILED = replace(result(SG1, 0, 1), response=replace(result(SG1, 0, 1).response, status="error"))
SKIPPED = replace(result(SG1, 0, 1), skipped="SG1 failed")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        pytest.param({"from_memory": "reas:x"}, "the answer is an earlier run's, nothing was done now", id="memory"),
        pytest.param({"state": "failed"}, "the run ended as failed", id="failed"),
        pytest.param({"state": "partial"}, "", id="in part"),
        pytest.param({"results": (FAILED,)}, "every agent failed", id="all failed"),
        pytest.param({"results": (FAILED, result(SG1, 0, 1))}, "", id="one did not"),
        pytest.param({"results": (FAILED, SKIPPED)}, "every agent failed", id="all that were begun"),
        pytest.param({"results": (SKIPPED,)}, "no agent was started, and nothing has changed", id="none was begun"),
        pytest.param({"results": ()}, "no agent was started, and nothing has changed", id="nothing"),
    ],
)
def test_why_a_claim_is_not_even_judged(changed: dict[str, Any], why: str) -> None:
    assert nothing_done(run(**changed), Changes()) == why


def test_a_claim_of_no_agent_is_judged_where_something_has_changed() -> None:
    assert nothing_done(run(results=()), Changes(files=("made.py",))) == ""
