"""The table of faults and targets: it has every command and every method, and shows what was never tried."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import click
import pytest

from tests.shares import long, one_of_each
from tests.torture import targets
from tests.torture.faults import FAULTS
from tests.torture.hostile_ways import WORKSPACES
from tests.torture.hostile_workspaces import Trap, trap_in
from tests.torture.table import CELLS, furnish, table_text
from tests.torture.workspace import workspace

ASKED_FOR = {
    "kill", "stop", "cut", "flip", "fill", "descriptors", "memory", "processes", "clock", "unsynced", "stranger",
    "hostile",
}  # fmt: skip


def test_every_command_is_a_target() -> None:
    assert set(targets.commands()) == set(targets.COMMANDS)
    assert {*targets.SERVE, *targets.LOSE} <= set(targets.COMMANDS)


@pytest.mark.parametrize("words", targets.COMMANDS)
def test_the_arguments_of_a_command_are_ones_that_it_takes(words: str) -> None:
    from aurora_cli.app import aurora

    command: click.Command = aurora
    context = click.Context(command, info_name="aurora")
    for word in words.split():
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None
        command = found
    command.make_context(words, list(targets.COMMANDS[words]), parent=context)  # raises click.UsageError


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


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    """One for all: nothing here walks into it."""
    return trap_in(tmp_path_factory.mktemp("trap"))


LARGE = ("deep_folders", "crowded_folder", "changes_of_headings", "attributes_bomb")
"""Thousands of folders or lines, which take as long to make and to remove as all others together."""
SMALL = one_of_each([name for name in WORKSPACES if name not in LARGE], kind=lambda name: name.partition("_")[0])
"""Of those of git one, and so on."""


@pytest.mark.skipif(sys.platform == "win32", reason="made of links, pipes and modes")
@pytest.mark.parametrize("name", [*SMALL, *map(long, LARGE)])
def test_the_workspace_of_a_cell_can_become_any_hostile_one(tmp_path: Path, trap: Trap, name: str) -> None:
    root = workspace(tmp_path)
    furnish(root)
    before = {path: path.lstat().st_mtime_ns for path in [root, *root.iterdir()]}
    WORKSPACES[name](root, trap)
    try:
        assert {path: path.lstat().st_mtime_ns for path in [root, *root.iterdir()]} != before
    finally:
        subprocess.run(["rm", "-rf", root], check=True)  # shutil's way down has an end
