"""Identity of repositories with real git: clones, forks, renamed remotes, shallow clones, monorepos, no git at all."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import aurora_indexer.git.repository_identity as asked
from aurora_indexer.git.commands import GitSilent
from aurora_indexer.git.repository_identity import normalized_remote, repository_identity
from aurora_memory import StoreError
from aurora_memory.record.person import machine_id, person_id
from aurora_memory.record.repositories import Belonging, Repositories, RepositoryFacts
from tests.wait_limits import HANG

URL = "git@Example.org:team/Project.git"


def git(folder: Path, *arguments: str) -> str:
    identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment["FILTER_BRANCH_SQUELCH_WARNING"] = "1"  # it would wait for ten seconds before it begins
    command = ["git", "-c", "maintenance.auto=false", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=HANG
    )
    return done.stdout.strip()


_BEGUN: dict[str, dict[Path, bytes]] = {}


def repository(folder: Path, url: str = URL, *, said: str = "begun") -> Path:
    """Two commits that say so: made once, then copied. Where the same is said, the history is the same."""
    if said not in _BEGUN:
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "-b", "main", "--template=")
        for number in range(2):
            (folder / "a.py").write_text(f"x = {number}\n")
            git(folder, "add", ".")
            git(folder, "commit", "-qm", f"{said} {number}")
        _BEGUN[said] = {each.relative_to(folder): each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    for path, content in _BEGUN[said].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / path).exists():
            (folder / path).write_bytes(content)
    for name in ("objects/info", "objects/pack", "refs/tags"):
        (folder / ".git" / name).mkdir(parents=True, exist_ok=True)
    if url:
        with (folder / ".git" / "config").open("a") as config:
            config.write(f'[remote "origin"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n')
    return folder


def clone(origin: Path, folder: Path, url: str = URL, *more: str) -> Path:
    git(origin.parent, "clone", "-q", *more, f"file://{origin}", str(folder))
    if url:
        git(folder, "remote", "set-url", "origin", url)
    return folder


class Machine:
    """A register, asked about folders as a daemon asks."""

    def __init__(self, folder: Path) -> None:
        self.repositories = Repositories(folder / "records")

    def belonging(self, root: Path) -> Belonging:
        first = asyncio.run(repository_identity(root))
        known = self.repositories.known_commit(str(first.common))
        found = asyncio.run(repository_identity(root, known)) if known else first
        return self.repositories.belonging(
            RepositoryFacts(str(found.common), found.first_commit, found.remote, found.remotes, found.known_commit)
        )

    def id(self, root: Path) -> str:
        return self.belonging(root).id


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "home")


@pytest.mark.parametrize(
    "url",
    [
        "git@example.org:team/project.git",
        "git@EXAMPLE.org:team/project",
        "example.org:/team/project/",
        "ssh://git@example.org/team/project.git",
        "ssh://git@example.org:22/team/project",
        "https://user:secret@Example.Org/team/project.git",
        "https://example.org:443/team/project.git/",
        "git://example.org/team/project",
    ],
)
def test_one_remote_has_one_name_however_it_is_reached(url: str) -> None:
    assert normalized_remote(url, Path("/r/.git")) == "example.org/team/project"


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:Team/Project.git",
        "https://GitHub.com/team/project",
        "https://github.com./Team/project.git",
        "https://www.github.com/TEAM/project",
        "ssh://git@ssh.github.com:443/team/Project.git",
    ],
)
def test_where_the_host_does_not_mind_the_case_of_a_path_is_no_other_remote(url: str) -> None:
    assert normalized_remote(url, Path("/r/.git")) == "github.com/team/project"


def test_other_remotes_have_other_names() -> None:
    urls = [
        "https://example.org/team/project",
        "https://example.org/other/project",
        "https://example.org/Team/project",
        "https://example.org:8443/team/project",
        "https://example.com/team/project",
        "/srv/git/project.git",
        "../project",
        "ssh://[::1]/team/project",
        "https://example.org:port/x",
    ]
    names = [normalized_remote(url, Path("/home/ann/project/.git")) for url in urls]
    assert len(set(names)) == len(urls)
    assert normalized_remote("../project", Path("/srv/one/.git")) == "file:/srv/project"
    assert normalized_remote("file:///srv/project/.git", Path("/home/ann/project/.git")) == "file:/srv/project"
    assert normalized_remote("  ", Path("/home/ann/project/.git")) == ""


def test_clones_and_work_trees_are_one_repository_on_every_machine(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    two = clone(one, tmp_path / "two", "https://token@example.org/team/Project")
    git(one, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    ids = {machine.id(each) for each in (one, two, tmp_path / "tree")}
    assert len(ids) == 1
    assert {Machine(tmp_path / "home2").id(two)} == ids
    assert asyncio.run(repository_identity(tmp_path / "tree")).work_tree == tmp_path / "tree"
    assert asyncio.run(repository_identity(one)).work_tree == one


def test_forks_and_other_repositories_have_records_of_their_own(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    fork = clone(one, tmp_path / "fork", "git@example.org:me/Project.git")
    other = repository(tmp_path / "other", said="something else")  # the same remote, used anew
    assert len({machine.id(each) for each in (one, fork, other)}) == 3
    mine = clone(one, tmp_path / "mine")
    assert machine.id(mine) == machine.id(one)
    git(mine, "remote", "rename", "origin", "upstream")
    git(mine, "remote", "add", "origin", "git@example.org:me/Project.git")
    assert machine.id(mine) == machine.id(fork)


def test_of_several_remotes_origin_names_the_repository_and_without_it_the_first_by_name(tmp_path: Path) -> None:
    root = repository(tmp_path / "a", "https://example.org/team/project")
    for name in ("zoo", "backup"):
        git(root, "remote", "add", name, f"https://example.org/{name}/project")
    assert asyncio.run(repository_identity(root)).remote == "example.org/team/project"
    git(root, "remote", "remove", "origin")
    assert asyncio.run(repository_identity(root)).remote == "example.org/backup/project"


def test_of_a_remote_with_two_addresses_the_first_is_what_it_is_known_by(tmp_path: Path) -> None:
    root = repository(tmp_path / "a")
    git(root, "remote", "set-url", "--add", "origin", "git@mirror.org:team/Copy.git")
    assert asyncio.run(repository_identity(root)).remote == "example.org/team/Project"


def test_a_renamed_remote_keeps_its_record_for_later_clones_too(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    before = machine.id(one)
    git(one, "remote", "set-url", "origin", "git@elsewhere.org:team/renamed.git")
    assert machine.id(one) == before
    assert machine.id(clone(one, tmp_path / "two", "https://elsewhere.org/team/renamed")) == before
    git(one, "remote", "remove", "origin")
    assert machine.id(one) == before


def test_a_shallow_clone_goes_by_its_remote_until_its_history_is_whole(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    shallow = clone(one, tmp_path / "shallow", URL, "--depth", "1")
    assert asyncio.run(repository_identity(shallow)).first_commit == ""
    alone = machine.id(shallow)
    git(shallow, "-c", "protocol.file.allow=always", "fetch", "-q", "--unshallow", f"file://{one}")
    whole = machine.belonging(shallow)
    assert whole == Belonging(machine.id(one), (alone,))
    assert machine.belonging(shallow) == whole
    assert machine.id(clone(one, tmp_path / "later", URL, "--depth", "1")) == whole.id


def test_a_shallow_clone_that_was_here_first_joins_the_whole_one(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    shallow = clone(one, tmp_path / "shallow", URL, "--depth", "1")
    alone = machine.id(shallow)
    whole = machine.id(clone(one, tmp_path / "whole"))
    assert machine.belonging(shallow) == Belonging(whole, (alone,))
    assert machine.belonging(shallow) == Belonging(whole, (alone,))
    other = repository(tmp_path / "other", said="another")
    assert machine.id(other) != whole
    assert machine.id(shallow) == whole, "what it is stays so, though the remote has two histories now"


def test_another_shallow_clone_in_the_same_place_is_anotherrepository(tmp_path: Path, machine: Machine) -> None:
    one, other = repository(tmp_path / "one"), repository(tmp_path / "other", said="other")
    place = clone(one, tmp_path / "build", URL, "--depth", "1")
    before = machine.id(place)
    place.rename(tmp_path / "gone")
    clone(other, place, "git@example.org:team/other.git", "--depth", "1")
    assert machine.belonging(place) == Belonging(machine.id(place))
    assert machine.id(place) != before


def test_a_git_directory_made_anew_is_anotherrepository(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    before = machine.id(one)
    one.rename(tmp_path / "old")
    assert machine.id(repository(one, said="anew")) != before


def test_without_a_remote_the_path_tells_and_clones_of_it_belong_to_it(tmp_path: Path, machine: Machine) -> None:
    one, two = repository(tmp_path / "one", ""), repository(tmp_path / "two", "")
    assert machine.id(one) != machine.id(two)
    assert machine.id(clone(one, tmp_path / "clone", "")) == machine.id(one)
    before = machine.id(two)
    git(two, "remote", "add", "origin", "git@example.org:team/two.git")
    found = machine.belonging(two)
    assert found.id != before
    assert found.former == (before,)


def test_a_branch_that_began_anew_does_not_change_whose_record_it_is(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    before = machine.id(one)
    two = clone(one, tmp_path / "two")
    for each in (one, two):
        git(each, "checkout", "-q", "--orphan", "pages")
        git(each, "commit", "-qm", "pages", "--allow-empty")
        assert machine.id(each) == before


def test_workspaces_of_a_monorepo_share_the_record_and_know_their_place(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    (one / "services" / "pay").mkdir(parents=True)
    assert machine.id(one / "services" / "pay") == machine.id(one)
    assert asyncio.run(repository_identity(one / "services" / "pay")).below == "services/pay"
    assert asyncio.run(repository_identity(one)).below == ""


def test_a_folder_without_git_is_its_own_and_brings_its_record_along(tmp_path: Path, machine: Machine) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    before = machine.id(tmp_path / "one")
    assert before != machine.id(tmp_path / "two")
    git(tmp_path / "one", "init", "-q")
    git(tmp_path / "one", "commit", "-qm", "first", "--allow-empty")
    assert machine.belonging(tmp_path / "one").former == (before,)


def test_a_folder_cannot_claim_to_be_a_work_tree(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    liar = tmp_path / "liar"
    liar.mkdir()
    (liar / ".git").write_text(f"gitdir: {one / '.git'}\n")
    assert machine.id(liar) != machine.id(one)
    assert asyncio.run(repository_identity(liar)).common == liar


def test_a_record_of_before_stays_where_the_remote_is_only_written_otherwise(tmp_path: Path, machine: Machine) -> None:
    """As AURORA itself writes it otherwise since it knows which hosts do not mind."""
    one = repository(tmp_path / "one", "https://github.com/Team/Project")
    identity = asyncio.run(repository_identity(one))
    before = RepositoryFacts(
        str(identity.common), identity.first_commit, "github.com/Team/Project", {"github.com/Team/Project"}
    )
    known = machine.repositories.belonging(before)
    assert machine.belonging(one) == known
    assert machine.id(clone(one, tmp_path / "two", "git@github.com:team/project.git")) == known.id


def test_an_address_in_a_users_short_form_is_that_which_git_calls(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "user"
    home.mkdir()
    (home / ".gitconfig").write_text(
        '[url "https://"]\n\tinsteadOf = hub\n[url "ssh://git@Example.org/"]\n\tinsteadOf = hub:\n'
        '[remote "origin"]\n\tfetch = +refs/pull/*:refs/pull/*\n'
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    one, short = repository(tmp_path / "one"), repository(tmp_path / "short", "hub:team/Project")
    assert asyncio.run(repository_identity(short)).remote == asyncio.run(repository_identity(one)).remote
    assert machine.id(clone(one, tmp_path / "two", "hub:team/Project.git")) == machine.id(one)
    assert asyncio.run(repository_identity(repository(tmp_path / "none", ""))).remote == ""


def test_work_trees_of_a_bare_repository_are_of_the_repository(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    for bare in (tmp_path / "project.git", tmp_path / "project" / ".bare"):
        git(tmp_path, "clone", "-q", "--bare", f"file://{one}", str(bare))
        git(bare, "remote", "set-url", "origin", URL)
        tree = bare.parent / f"{bare.name}-main"
        git(bare, "worktree", "add", "-q", str(tree), "main")
        assert machine.id(tree) == machine.id(one)


def test_a_submodule_is_the_repository_that_it_is_a_clone_of(tmp_path: Path, machine: Machine) -> None:
    one = repository(tmp_path / "one")
    outer = repository(tmp_path / "outer", "https://example.org/team/outer", said="outer")
    for name in ("lib", "vendor/again"):
        git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", f"file://{one}", name)
        git(outer / name, "remote", "set-url", "origin", URL)
        assert machine.id(outer / name) == machine.id(one) != machine.id(outer)
    git(outer / "lib", "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert machine.id(tmp_path / "side") == machine.id(one)
    liar = tmp_path / "liar"
    liar.mkdir()
    (liar / ".git").write_text(f"gitdir: {outer / '.git' / 'modules' / 'lib'}\n")
    assert machine.id(liar) != machine.id(one)


def test_a_history_that_took_in_another_one_is_the_same_repository(tmp_path: Path, machine: Machine) -> None:
    one, other = repository(tmp_path / "one"), repository(tmp_path / "other", "", said="another root")
    before = machine.id(one)
    late = clone(one, tmp_path / "late")
    for each in (one, late):
        git(each, "-c", "protocol.file.allow=always", "fetch", "-q", f"file://{other}", "main")
        git(each, "merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "taken in", "FETCH_HEAD")
    assert len(git(one, "rev-list", "--max-parents=0", "HEAD").split()) == 2
    assert {machine.id(one), machine.id(late), Machine(tmp_path / "home2").id(late)} == {before}


def test_a_history_that_was_rewritten_is_the_same_repository_while_git_has_its_first_commit(
    tmp_path: Path, machine: Machine
) -> None:
    one = repository(tmp_path / "one")
    before = machine.id(one)
    git(one, "filter-branch", "-f", "--msg-filter", "cat; echo without the secret", "--", "--all")
    assert machine.belonging(one) == Belonging(before)
    git(one, "update-ref", "-d", "refs/original/refs/heads/main")
    git(one, "reflog", "expire", "--expire=now", "--all")
    git(one, "gc", "-q", "--prune=now")
    rewritten = machine.id(one)  # nothing of what it was known by is left, as where it was made anew
    assert rewritten != before
    assert machine.id(clone(one, tmp_path / "two")) == rewritten


def test_a_person_is_known_by_mail_and_a_machine_by_its_own_number(tmp_path: Path) -> None:
    one = repository(tmp_path / "one")
    git(one, "config", "user.email", "Ann@Example.org")
    email = asyncio.run(repository_identity(one)).email
    assert email == "ann@example.org"
    here, there = machine_id(tmp_path / "home"), machine_id(tmp_path / "home2")
    assert here != there
    assert machine_id(tmp_path / "home") == here
    assert (tmp_path / "home" / "machine").stat().st_mode & 0o777 == 0o600
    assert person_id(email, "ann", here) == person_id(" ANN@example.org", "root", there)
    assert person_id("", "dev", here) != person_id("", "dev", there)
    assert "ann" not in person_id(email, "ann", here)
    (tmp_path / "home" / "machine").write_text("me\n")
    with pytest.raises(StoreError, match="machine id"):
        machine_id(tmp_path / "home")


@pytest.mark.parametrize("silence", ["exec sleep 60", "kill -9 $$"])
@pytest.mark.parametrize("word", ["user.email", "rev-list", "remote"])
async def test_who_it_is_is_not_guessed_where_git_does_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silence: str, word: str
) -> None:
    root = repository(tmp_path / "shop")
    real = shutil.which("git")
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "git"
    fake.write_text(f'#!/bin/sh\ncase "$*" in *{word}*) {silence};; *) exec {real} "$@";; esac\n')
    fake.chmod(0o755)
    monkeypatch.setattr(asked, "PATIENCE", 1.0)
    environment = {**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"}
    with pytest.raises(GitSilent, match="try again"):
        await repository_identity(root, environment=environment)


def test_a_remote_that_names_no_folder_has_no_name(tmp_path: Path) -> None:
    assert normalized_remote("file:///a%00b", tmp_path) == ""
    (tmp_path / "circle").symlink_to("circle")
    assert normalized_remote("circle", tmp_path / ".git") == f"file:{tmp_path.resolve()}/circle"
