"""Files that pass something between a command and the daemon: gone when done, and those of killed commands later."""

from __future__ import annotations

import os
from pathlib import Path

from aurora_protocol.passing_files import ABANDONED, forget_passed, passing_file


def test_a_file_is_for_its_user_alone_and_gone_when_done(tmp_path: Path) -> None:
    with passing_file(tmp_path / "home") as path:
        path.write_text("{}")
        assert path.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    assert not path.exists()


def test_what_killed_commands_left_goes_with_the_next_one_and_with_the_daemon(tmp_path: Path) -> None:
    left, young, export = (tmp_path / name for name in (".passed-1.jsonl", ".passed-2.jsonl", "memory-backup.jsonl"))
    for each in (left, young, export):
        each.write_text("{}")
        os.utime(each, (0, 0))
    assert forget_passed(tmp_path, ABANDONED - 1) == []
    os.utime(young)
    with passing_file(tmp_path):
        assert not left.exists() and young.exists() and export.exists()
    left.write_text("{}")
    os.utime(left, (0, 0))
    assert forget_passed(tmp_path) == [left]
