"""Files are forced to the disk behind their writer, many writes in one go; what fails is told to the next writer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_orchestration.group_commit import Syncing
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.settings import BudgetSettings
from tests.wait_limits import HANG

RESERVES_AND_DIES = """
import os, signal, sys, time
from pathlib import Path
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.llm.journal import JournalEntry, Journal
from aurora_orchestration.settings import BudgetSettings
os.fsync = lambda _: time.sleep(3600)
home = Path(sys.argv[1])
budget, journal = Budget(home / "budget.json", BudgetSettings(), time.time), Journal(home / "runs", "run-1")
budget.reserve("a", "run-1", 0.5)
budget.settle("a", 0.25)
journal.record(JournalEntry(key="a", digest="d", phase="assess", usd=0.25))
budget.reserve("b", "run-1", 0.5)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def descriptor(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    yield descriptor
    os.close(descriptor)


def test_writes_while_the_disk_is_busy_are_forced_in_one_go(descriptor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    syncing, busy, go_on, times = Syncing(), threading.Event(), threading.Event(), []

    def fsync(_: int) -> None:
        times.append(1)
        busy.set()
        assert go_on.wait(HANG)

    monkeypatch.setattr(os, "fsync", fsync)
    syncing.soon(descriptor)
    assert busy.wait(HANG)
    for _ in range(20):
        syncing.soon(descriptor)
    go_on.set()
    syncing.wait()
    assert len(times) == 2, "the first write, and the twenty that came meanwhile"


def test_what_could_not_be_forced_is_told_to_the_next_writer_once(
    descriptor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(_: int) -> None:
        raise OSError(5, "Input/output error")

    syncing = Syncing()
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fsync)
        syncing.soon(descriptor)
        syncing.wait()
    with pytest.raises(OSError, match="Input/output"):
        syncing.soon(descriptor)
    syncing.soon(descriptor)
    syncing.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_before_anything_is_forced_to_the_disk_budget_and_journal_have_it_all(tmp_path: Path) -> None:
    died = subprocess.run([sys.executable, "-c", RESERVES_AND_DIES, str(tmp_path)], timeout=HANG, check=False)
    assert died.returncode == -signal.SIGKILL
    budget = Budget(tmp_path / "budget.json", BudgetSettings(), lambda: 4e9)
    assert [(each.key, each.usd) for each in budget.history().entries] == [("a", 0.25)]
    assert '"key":"a"' in (tmp_path / "runs" / "run-1.jsonl").read_text()
    budget.settle("a", 0.25)
    budget.end_run("run-1", query_counted=False)
    entries = {each.key: (each.usd, each.uncertain) for each in budget.history().entries}
    assert entries == {"a": (0.25, False), "b": (0.5, True)}, "a is paid once, b perhaps"
