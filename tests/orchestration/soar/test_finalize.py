"""What of a run that is over counts against the budget, and what of it tells what such a question costs."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_orchestration.soar.finalize import is_counted, tells_cost
from tests.orchestration.runs import run


@pytest.mark.parametrize(
    ("changed", "counted", "tells"),
    [
        pytest.param({}, True, True, id="a run that answered"),
        pytest.param({"state": "partial"}, True, True, id="in part, too"),
        pytest.param({"state": "failed"}, True, False, id="one that failed half way costs less than another"),
        pytest.param({"resumed": 1}, True, False, id="of one that was resumed a part was paid for before"),
        pytest.param({"state": "cancelled"}, False, False, id="one that was stopped is no query"),
        pytest.param({"state": "blocked"}, False, False, id="nor is one that was held back"),
        pytest.param({"from_memory": "reas:x"}, False, False, id="nor what memory answered"),
        pytest.param({"calls": ()}, False, False, id="nor what no model was asked"),
    ],
)
def test_what_of_a_run_counts(changed: dict[str, Any], counted: bool, tells: bool) -> None:
    assert (is_counted(run(**changed)), tells_cost(run(**changed))) == (counted, tells)
