"""What the repositories of a machine go by, and in which order their records are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_memory.record.repositories import NAME, Repositories, RepositoryFacts


@pytest.mark.parametrize(
    ("seen", "names"),
    [
        pytest.param([("/w/shop/.git", "forge.io/ann/cart")], ["cart"], id="the last part of the remote"),
        pytest.param([("/w/shop/.git", "file:/srv/cart")], ["cart"], id="of one on this machine as well"),
        pytest.param([("/w/shop/.git", "")], ["shop"], id="the folder, where it has no remote"),
        pytest.param([("/w/shop", "")], ["shop"], id="and where it has no git"),
        pytest.param(
            [
                ("/w/a/.git", "forge.io/ann/cart"),
                ("/w/b/.git", "forge.io/bob/cart"),
                ("/w/c/.git", "forge.io/bob/till"),
            ],
            ["forge.io/ann/cart", "forge.io/bob/cart", "till"],
            id="the whole where two would be called the same",
        ),
        pytest.param(
            [("/w/a/.git", "file:/srv/cart"), ("/w/b/.git", "forge.io/bob/cart")],
            ["/srv/cart", "forge.io/bob/cart"],
            id="a folder as it is spelled elsewhere",
        ),
        pytest.param(
            [("/w/b/.git", "forge.io/ann/cart"), ("/w/a/.git", "forge.io/ann/cart")],
            ["cart"],
            id="once, in however many folders it is",
        ),
    ],
)
def test_what_a_repository_goes_by(tmp_path: Path, seen: list[tuple[str, str]], names: list[str]) -> None:
    known = Repositories(tmp_path)
    for common, remote in seen:
        known.belonging(RepositoryFacts(common, "c0ffee", remote, [remote] if remote else []))
    assert sorted(known.names()[0].values()) == names


def test_records_that_another_has_taken_over_come_last_and_one_that_nobody_knows_goes_by_its_id(tmp_path: Path) -> None:
    known = Repositories(tmp_path)
    assert known.records() == []
    first = known.belonging(RepositoryFacts("/w/a/.git", "", "")).id
    later = known.belonging(RepositoryFacts("/w/a/.git", "c0ffee", "forge.io/ann/cart", ["forge.io/ann/cart"]))
    assert later.former == (first,)
    ids = [first, later.id, "0" * 32, "f" * 32]
    for each in ids:
        (tmp_path / f"{each}.sqlite").touch()
    found = [(each.repository, each.name, each.taken_over) for each in known.records()]
    assert found[-1] == (first, first[:8], True)
    assert found[:-1] == sorted([("0" * 32, "0" * 8, False), ("f" * 32, "f" * 8, False), (later.id, "cart", False)])
    assert all(each.path.name != NAME for each in known.records()), "the register is no record"
