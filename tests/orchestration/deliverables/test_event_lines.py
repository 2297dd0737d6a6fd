"""Lines that are no events: why, by a row for each."""

from __future__ import annotations

import pytest

from aurora_deliverables.event_lines import MAX_BYTES, BadLine, events_of


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Input data was truncated"),
        ("[]", "an event is a JSON object"),
        ("{}", "neither `event_type` (AURA-M §5.3) nor `what` says what happened"),
        ('"\ud800"', "'utf-8' codec can't encode"),
        (f'"{"x" * (MAX_BYTES - 1)}"', "an event is longer than 64 KiB"),
        (f'"{"x" * (MAX_BYTES - 2)}"', "an event is a JSON object"),  # and this one is just not
    ],
)
def test_why_a_line_is_no_event(line: str, reason: str) -> None:
    events, (bad,) = events_of([line])
    assert events == [] and bad.line == 1 and bad.reason.startswith(reason)


def test_empty_lines_are_left_out_and_counted() -> None:
    assert events_of(["", "  ", "\ufeff", "[]"]) == ([], [BadLine(4, "an event is a JSON object")])
