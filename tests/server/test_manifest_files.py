"""A file's text replaced at once, with everything else about the file kept."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from aurora_cli.manifest_files import FileChanged, replace_text


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_the_text_changes_and_the_permissions_stay(tmp_path: Path) -> None:
    file = tmp_path / "aura.json"
    file.write_bytes(b'{"\xc3\xa9": 1}\r\n')
    file.chmod(0o640)
    replace_text(file, '{"é": 1}\r\n', '{"é": 2}\r\n')
    assert file.read_bytes() == b'{"\xc3\xa9": 2}\r\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert names(tmp_path) == ["aura.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "sub").mkdir()
    link = tmp_path / "sub" / "aura.json"
    link.symlink_to("../real.json")
    replace_text(link, "old", "new")
    assert link.is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"
    assert names(tmp_path / "sub") == ["aura.json"]


def test_a_file_that_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "aura.json"
    file.write_text("somebody's work")
    with pytest.raises(FileChanged, match=r"aura\.json: it was changed while it was being fixed"):
        replace_text(file, "old", "new")
    assert file.read_text() == "somebody's work"
    assert names(tmp_path) == ["aura.json"]


def test_what_is_no_regular_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileChanged, match="not a regular file"):
        replace_text(tmp_path / "pipe", "old", "new")
    assert names(tmp_path) == ["pipe"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_what_another_users_link_leads_to_is_not_fixed(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("old")
    link = tmp_path / "aura.json"
    link.symlink_to(tmp_path / "mine.json")
    os.chown(link, 65534, 65534, follow_symlinks=False)
    with pytest.raises(FileChanged, match=r"is not fixed: .* is a link of user 65534"):
        replace_text(link, "old", "new")
    assert (tmp_path / "mine.json").read_text() == "old"
