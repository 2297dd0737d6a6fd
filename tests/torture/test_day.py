"""The measure of a day: where a process's memory lies, and what a value gains."""

from __future__ import annotations

import mmap
import random
import sys
from pathlib import Path

import psutil
import pytest

from tests.e2e.repositories import git, large
from tests.torture.day import PARTS, Measurement, diverged, kept, mapped, noted, slope


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere mappings are told otherwise, or not at all")
def test_memory_is_told_by_where_it_lies_and_adds_up() -> None:
    process = psutil.Process()
    before = dict(zip(PARTS, mapped(process), strict=True))
    large = mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE)
    large.write(b"x" * (32 << 20))
    after = dict(zip(PARTS, mapped(process), strict=True))
    assert after["python_mb"] - before["python_mb"] == pytest.approx(32, abs=2)
    assert after["files_mb"] == pytest.approx(before["files_mb"], abs=2)
    assert sum(after.values()) == pytest.approx(process.memory_info().rss / (1 << 20), rel=0.05)
    large.close()


def line(at: float, rss: float) -> Measurement:
    return Measurement(at, rss, 0.0, 0.0, 0.0, 30, 12, 2, 1.0, 1.0, 1.0, 0.0, 100)


def test_what_is_gained_in_an_hour_is_that_of_the_second_half() -> None:
    begins = [line(10.0 * number, 100.0 + 5 * number) for number in range(30)]
    rests = [line(10.0 * number, 245.0) for number in range(30, 60)]
    grows = [line(10.0 * number, 245.0 + number / 360) for number in range(30, 60)]
    assert slope([*begins, *rests], "rss_mb") == pytest.approx(0)
    assert slope([*begins, *grows], "rss_mb") == pytest.approx(1)


def test_a_module_that_is_edited_all_day_keeps_its_size() -> None:
    chance = random.Random(1)
    text = "def one():\n    return 1\n"
    edited = [text := noted(text, chance) for _ in range(50)]
    assert len(set(edited)) > 40
    assert {each.count("\n") for each in edited} == {3}
    assert all("def one():" in each and "    return 1" in each for each in edited)


def test_every_module_differs_between_the_branches_from_the_beginning(tmp_path: Path) -> None:
    root = large(tmp_path / "work", 30)
    git(root, "init", "-q", "-b", "main")
    diverged(root, random.Random(1))
    assert git(root, "branch", "--show-current").strip() == "main"
    assert len(git(root, "diff", "--name-only", "main", "side").split()) == 30


def test_of_memory_what_is_kept_counts_and_not_what_is_worked_on_in_between() -> None:
    """Given back every two minutes, and more of it taken each time."""
    busier = [line(10.0 * number, 140.0 + (number % 12) * number / 144) for number in range(180)]
    assert slope(busier, "rss_mb") > 5
    assert slope(kept(busier), "rss_mb") == pytest.approx(0)
    grows = [line(each.at, each.rss_mb + each.at / 360) for each in busier]
    assert slope(kept(grows), "rss_mb") == pytest.approx(10, abs=1)
    assert kept(busier[:100]) == busier[:100]
    assert kept(busier)[-1].at < 1680, "a period that has only begun has not been given back yet"
