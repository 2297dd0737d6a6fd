"""File of memberships: who may read it and the folder it lies in."""

from pathlib import Path

import pytest

from aurora_team import TeamError
from aurora_team.membership import Membership, Memberships


def test_the_folder_and_the_file_are_this_users_alone(tmp_path: Path) -> None:
    home = tmp_path / "new"
    with Memberships(home).held() as memberships:
        memberships.append(Membership("postgresql://x", "crew", "ann"))
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "team.json").stat().st_mode & 0o777 == 0o600
    assert [each.team for each in Memberships(home).read()] == ["crew"]


@pytest.mark.parametrize("content", [b"[{", b"5", b'[{"url": "\xff"}]', b"\xff\xfe"])
def test_what_is_no_list_of_memberships_says_what_to_do(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "team.json").write_bytes(content)
    with pytest.raises(TeamError, match="remove it and join again"):
        Memberships(tmp_path).read()
