"""Files that may name agents: whose word is taken, and what is said of one that is not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_orchestration.agents.sources import MAX_FILE_BYTES, AgentSource, read_text


def source(path: Path, *, ours: bool) -> AgentSource:
    return AgentSource(path, "agents.json", path.parent, ours, trusted=True)


@pytest.mark.parametrize(("ours", "read"), [(False, "elsewhere"), (True, "")], ids=["the user's own", "a workspace's"])
def test_a_link_is_followed_in_the_users_own_folders_only(tmp_path: Path, ours: bool, read: str) -> None:
    """A workspace's could point anywhere."""
    (tmp_path / "real").write_text("elsewhere")
    (tmp_path / "agents.json").symlink_to(tmp_path / "real")
    text, problem = read_text(source(tmp_path / "agents.json", ours=ours))
    assert text == read and bool(problem) == ours


@pytest.mark.parametrize(
    ("content", "text", "problem"),
    [
        pytest.param(b"x" * MAX_FILE_BYTES, "x" * MAX_FILE_BYTES, "", id="the largest that is read"),
        pytest.param(
            b"x" * (MAX_FILE_BYTES + 1), "", "agents.json: is larger than 1,024 KiB, and was left out", id="no"
        ),
        pytest.param(b"\xef\xbb\xbfone", "one", "", id="without the mark of its order of bytes"),
        pytest.param(b"\xff", "", "agents.json: is not UTF-8 text", id="text alone"),
    ],
)
def test_a_file_is_read_whole_or_not_at_all(tmp_path: Path, content: bytes, text: str, problem: str) -> None:
    (tmp_path / "agents.json").write_bytes(content)
    assert read_text(source(tmp_path / "agents.json", ours=True)) == (text, problem)
