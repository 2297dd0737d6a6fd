"""Lifespan (TTL, time to live, expiry, retention): how long something is kept, and how it fades meanwhile: the
vocabulary that policies and rules share.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from aurora_memory.lifespans.conditions import Condition

Mechanism = Literal["logarithmic", "exponential", "none"]

ACTIVE_DAYS = 90
"""Days without an access after which something is no longer actively used (AURORA §6.7.1's own figure)."""

MAX_DAYS = 36_500

FINE_TUNING = "candidate_for_fine_tuning"
"""The escalation action of App. C.2."""


class Lifespan(Struct, frozen=True):
    """Lifespan (TTL, time to live): `indefinite`; `N_days` since the last use; `while_active`, until unused for
    ACTIVE_DAYS; or `decay` at once.
    """

    kind: Literal["indefinite", "days", "while_active", "decay"]
    days: int = 0

    @property
    def spelled(self) -> str:
        return f"{self.days}_days" if self.kind == "days" else self.kind


class LifespanRule(Struct, frozen=True):
    """Rule of a chunk's own (AURORA §6.3.6): it sets a lifespan, or an escalation flag, where `condition` holds."""

    condition: Condition
    then: str
    lifespan: Lifespan | None = None
    decay_mechanism: Mechanism = "logarithmic"
    escalation_action: str | None = None


_PLAIN = {each.spelled: each for each in (Lifespan("indefinite"), Lifespan("while_active"), Lifespan("decay"))}
_DAYS = re.compile(r"([0-9]{1,5})_days?\Z")


def lifespan_of(text: str) -> Lifespan | None:
    """Read `indefinite`, `N_days` (1 to MAX_DAYS), `while_active` or `decay`; None for anything else."""
    if text in _PLAIN:
        return _PLAIN[text]
    counted = _DAYS.match(text)
    if counted and 1 <= int(counted[1]) <= MAX_DAYS:
        return Lifespan("days", int(counted[1]))
    return None
