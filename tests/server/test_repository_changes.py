"""Changes of repositories: which record of a change counts where several work trees have one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aurora_deliverables.deliverable import Deliverable, PhaseSpan
from aurora_server.workspace.repository_changes import fullness

OPEN = Deliverable("add-search", "executing", 100.0, 150.0)
DONE = Deliverable("add-search", "completed", 100.0, 200.0, completed_at=200.0)
APPLIED = (PhaseSpan("apply", 100.0, 150.0, 1),)


@pytest.mark.parametrize(
    ("counts", "not_that"),
    [
        pytest.param(DONE, OPEN, id="what is over before what is open"),
        pytest.param(DONE, replace(DONE, deliverable_failed=True), id="what was delivered before what failed"),
        pytest.param(replace(DONE, deliverable_failed=True), OPEN, id="what failed before what is open"),
        pytest.param(replace(OPEN, spans=APPLIED, started_at=2.0), OPEN, id="more that was done"),
        pytest.param(replace(OPEN, started_at=1.0), replace(OPEN, started_at=2.0), id="what began earlier"),
    ],
)
def test_the_fullest_record_counts(counts: Deliverable, not_that: Deliverable) -> None:
    assert fullness(counts) > fullness(not_that)
