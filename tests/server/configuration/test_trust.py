"""Trust of workspaces: in a folder itself, since a moment, and in nothing where the file is not what it should be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from aurora_server.configuration.config_file import SettingsError
from aurora_server.configuration.trust import MOST, Trust, trusted_by_editor


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return Trust(home, now=lambda: 0.0)


def test_nothing_is_trusted_at_first(trust: Trust, tmp_path: Path) -> None:
    assert trust.roots() == {}
    assert not trust.is_trusted(tmp_path)
    assert not trust.revoke(tmp_path)


def test_trust_is_in_the_folder_and_not_in_those_below_or_above(trust: Trust, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    trust.trust(folder.parent)
    assert [trust.is_trusted(each) for each in (folder.parent.parent, folder.parent, folder)] == [False, True, False]


def test_a_folder_is_trusted_since_the_first_time(tmp_path: Path) -> None:
    now = 0.0
    (tmp_path / "home").mkdir(mode=0o700)
    trust = Trust(tmp_path / "home", now=lambda: now)
    assert trust.trust(tmp_path)
    now = 100.0
    assert not trust.trust(tmp_path), "it was before"
    assert trust.roots() == {str(tmp_path): "1970-01-01T00:00:00Z"}
    assert trust.revoke(tmp_path)
    assert trust.trust(tmp_path)
    assert trust.roots() == {str(tmp_path): "1970-01-01T00:01:40Z"}


def test_a_link_to_a_trusted_folder_is_that_folder(trust: Trust, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    trust.trust(tmp_path / "link")
    assert trust.is_trusted(tmp_path / "real") and list(trust.roots()) == [str(tmp_path / "real")]


def test_one_revoked_leaves_the_others(trust: Trust, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        trust.trust(tmp_path / name)
    trust.revoke(tmp_path / "a")
    assert list(trust.roots()) == [str(tmp_path / "b")]


@pytest.mark.parametrize(
    "trusted",
    [["{root}"], {"{root}": 1}, {"{root}": "since", "other": None}, {f"/{n}": "since" for n in range(MOST + 1)}],
    ids=["a list", "a number", "one of two", "too many"],
)
def test_a_file_that_is_not_ours_trusts_nothing(trust: Trust, tmp_path: Path, trusted: object) -> None:
    text = json.dumps({"version": "1.0", "trusted": trusted}).replace("{root}", str(tmp_path))
    trust.path.write_text(text)
    trust.path.chmod(0o600)
    assert not trust.is_trusted(tmp_path)
    with pytest.raises(SettingsError, match=r"trusted\.json is not what aurora trust wrote"):
        trust.roots()
    with pytest.raises(SettingsError):
        trust.trust(tmp_path)
    assert trust.path.read_text() == text


def test_as_many_as_are_read_are_trusted(trust: Trust, tmp_path: Path) -> None:
    roots = {f"/{n}": "since" for n in range(MOST - 1)} | {str(tmp_path): "since"}
    trust.path.write_text(json.dumps({"version": "1.0", "trusted": roots}))
    trust.path.chmod(0o600)
    assert trust.is_trusted(tmp_path)


@pytest.mark.parametrize(
    "options", [None, [], {"workspaceTrusted": False}, {"workspaceTrusted": "true"}, {"workspaceTrusted": 1}, {}]
)
def test_an_editor_says_so_in_as_many_words(options: object) -> None:
    assert trusted_by_editor({"workspaceTrusted": True})
    assert not trusted_by_editor(options)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize(
    ("what", "mode", "owner"),
    [
        ("shared/work", 0o777, 0),
        ("shared/work", 0o775, 65534),
        ("shared", 0o777, 0),
        ("shared", 0o755, 65534),
        ("shared", 0o1777, 65534),
    ],
)
def test_trust_counts_only_while_nobody_can_exchange_the_folder_or_write_into_it(
    trust: Trust, tmp_path: Path, what: str, mode: int, owner: int
) -> None:
    """Trust is kept by path: who may rename a trusted folder could put one of his own there, with agents to run."""
    work = tmp_path / "shared" / "work"
    work.mkdir(parents=True)
    assert trust.trust(work) and trust.is_trusted(work)
    (tmp_path / what).chmod(mode)
    os.chown(tmp_path / what, owner, owner)
    assert not trust.is_trusted(work)
    with pytest.raises(SettingsError, match=r"work cannot be trusted: .*(belongs to user|chmod go-w)"):
        trust.trust(work)
    assert trust.revoke(work)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_another_user_may_be_trusted_and_so_may_one_in_a_sticky_folder(
    trust: Trust, tmp_path: Path
) -> None:
    work = tmp_path / "theirs" / "work"
    work.mkdir(parents=True)
    for each in (work, work.parent):
        os.chown(each, 65534, 65534)
    assert trust.trust(work) and trust.is_trusted(work)
    own = tmp_path / "open" / "work"
    own.mkdir(parents=True)
    own.parent.chmod(0o1777)
    assert trust.trust(own) and trust.is_trusted(own)
