"""What is left of a run that was interrupted."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aurora_orchestration.llm.completion import LlmError, ModelReply
from aurora_orchestration.llm.journal import Journal, JournalEntry, answered

WRITER = """
import sys
from pathlib import Path
from aurora_orchestration.llm.completion import ModelReply
from aurora_orchestration.llm.journal import JournalEntry, Journal
journal = Journal(Path(sys.argv[1]), "run-1")
for number in range(100_000):
    reply = ModelReply(text="x" * 5000, model="m", provider="p")
    journal.record(JournalEntry(key=f"k{number}", digest=str(number), phase="verify", usd=0.01, reply=reply))
    print(number, flush=True)
"""


def entry(digest: str, text: str = "x", usd: float = 0.5) -> JournalEntry:
    reply = ModelReply(text=text, model="m", provider="p")
    return JournalEntry(key=f"run:{digest}:{text}", digest=digest, phase="verify", usd=usd, reply=reply)


def test_answers_come_back_in_their_order_and_once(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "run")
    for each in (entry("a", "1"), entry("b", "2"), entry("a", "3")):
        journal.record(each)
    journal.close()
    again = Journal(tmp_path, "run")
    told = [found.reply.text if (found := again.replay(digest)) and found.reply else None for digest in "abaab"]
    assert told == ["1", "2", "3", None, None]
    again.close()


def test_only_its_user_may_read_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs", "run")
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.path.parent.stat().st_mode) == 0o700
    journal.close()


def test_a_torn_line_is_dropped_and_written_over(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "run")
    journal.record(entry("a"))
    journal.record(entry("b"))
    journal.close()
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-20])
    again = Journal(tmp_path, "run")
    assert [each.digest for each in again.entries] == ["a"]
    again.record(entry("c"))
    again.close()
    last = Journal(tmp_path, "run")
    assert [each.digest for each in last.entries] == ["a", "c"]
    last.close()


@pytest.mark.parametrize("content", [b"", b'{"run": "ru', b"\x00\xff\n", b"[" * 100_000 + b"\n"])
def test_a_journal_that_never_began_begins_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.jsonl").write_bytes(content)
    assert answered(tmp_path, "run")[0] == []
    journal = Journal(tmp_path, "run")
    assert journal.entries == ()
    journal.record(entry("a"))
    journal.close()
    assert [each.digest for each in answered(tmp_path, "run")[0]] == ["a"]


def test_killed_in_the_middle_of_writing(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    for _ in range(5):
        process.stdout.readline()
    with pytest.raises(LlmError, match="going on in another process"):
        Journal(tmp_path, "run-1")
    os.kill(process.pid, signal.SIGKILL)
    told = 5 + len(process.stdout.read().splitlines())
    process.wait()
    process.stdout.close()
    entries, heard = answered(tmp_path, "run-1")
    assert told <= len(entries) <= told + 1, "all that was told of, and perhaps one that was not"
    assert abs(heard - time.time()) < 60
    with contextlib.closing(Journal(tmp_path, "run-1")) as again:
        assert len(again.entries) == len(entries)


def test_a_run_that_ended_leaves_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "run")
    journal.record(entry("a"))
    journal.delete()
    assert list(tmp_path.iterdir()) == []
    journal.delete()


@pytest.mark.parametrize("run", ["../escape", "", "a/b", ".hidden", "x" * 200])
def test_ids_that_are_paths_are_none(tmp_path: Path, run: str) -> None:
    with pytest.raises(LlmError, match="no run"):
        Journal(tmp_path, run)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_is_named_with_what_to_look_at(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LlmError, match=r"cannot keep a journal in .*file.*; check AURORA_HOME"):
        Journal(tmp_path / "file" / "runs", "run-1")
