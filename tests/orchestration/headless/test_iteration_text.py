"""Choices of what an iteration is noted as, a rule each."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aurora_orchestration.headless.iteration_text import _done
from tests.orchestration.runs import SG1, result


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
