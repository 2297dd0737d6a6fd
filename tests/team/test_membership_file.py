"""File of memberships: who may read it and the folder it lies in."""

from pathlib import Path

from aurora_team.membership import Membership, Memberships


def test_the_folder_and_the_file_are_this_users_alone(tmp_path: Path) -> None:
    home = tmp_path / "new"
    with Memberships(home).held() as memberships:
        memberships.append(Membership("postgresql://x", "crew", "ann"))
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "team.json").stat().st_mode & 0o777 == 0o600
    assert [each.team for each in Memberships(home).read()] == ["crew"]
