"""How a lifespan may be spelled: a row for each side of a rule."""

from __future__ import annotations

import pytest

from aurora_memory.lifespans.lifespan import MAX_DAYS, Lifespan, lifespan_of


@pytest.mark.parametrize(
    ("text", "lifespan"),
    [
        ("indefinite", Lifespan("indefinite")),
        ("while_active", Lifespan("while_active")),
        ("decay", Lifespan("decay")),
        ("1_day", Lifespan("days", 1)),
        ("1_days", Lifespan("days", 1)),
        ("007_days", Lifespan("days", 7)),
        (f"{MAX_DAYS}_days", Lifespan("days", MAX_DAYS)),
        (f"{MAX_DAYS + 1}_days", None),
        ("0_days", None),
        ("100000_days", None),
        ("-1_days", None),
        ("1_days ", None),
        ("1 days", None),
        ("days", None),
        ("forever", None),
        ("", None),
    ],
)
def test_a_lifespan_is_spelled(text: str, lifespan: Lifespan | None) -> None:
    assert lifespan_of(text) == lifespan
