"""The table of faults and targets: it has every command and every method, and shows what was never tried."""

from __future__ import annotations

from collections import Counter

from tests.torture import targets
from tests.torture.faults import FAULTS
from tests.torture.table import CELLS, table_text

ASKED_FOR = {
    "kill", "stop", "cut", "flip", "fill", "descriptors", "memory", "processes", "clock", "unsynced", "stranger",
    "hostile",
}  # fmt: skip


def test_every_command_is_a_target() -> None:
    assert set(targets.commands()) == set(targets.COMMANDS)
    assert {*targets.SERVE, *targets.LOSE} <= set(targets.COMMANDS)


def test_every_method_is_a_target() -> None:
    assert targets.known_methods() - targets.TOLD == set(targets.METHODS)


def test_every_fault_has_a_cell_for_every_target() -> None:
    assert set(FAULTS) == ASKED_FOR
    assert len(CELLS) == len(set(CELLS)) == len(FAULTS) * (len(targets.COMMANDS) + len(targets.METHODS))


def test_a_cell_that_was_never_tried_is_seen() -> None:
    lines = table_text(Counter({("kill", "mem"): 3})).splitlines()
    assert len(lines) == 1 + len(targets.TARGETS)
    (mem,) = [line for line in lines if line.split()[0] == "mem"]
    assert mem.split() == ["mem", "3", *["."] * (len(FAULTS) - 1)]
    assert sum(line.count(".") for line in lines[1:]) >= len(CELLS) - 1
