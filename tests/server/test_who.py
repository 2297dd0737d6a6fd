"""`aurora who`: who knows a place, by git and by the repository's record, and nothing of those who do not share it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_memory.record.entry import EntryDraft
from aurora_memory.record.people import people, state
from aurora_memory.record.person import person_id
from aurora_memory.record.record_file import Record
from aurora_server.workspace.record_place import RecordPlace, record_place
from tests import programs
from tests.programs import COMMAND
from tests.server.daemons import Daemon, until
from tests.wait_limits import HANG

LOGIN = "def login(user):\n    return user\n\n\n"
LOGOUT = "def logout(user):\n    return None\n"
DAY = 86_400.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Ann wrote both functions, Bob changed one of them two days ago, and this is Bob's machine."""
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.email", "bob@example.org")
    git(root, "config", "user.name", "Bob Stone")
    auth = root / "src" / "auth.py"
    auth.write_text(LOGIN + LOGOUT)
    commit(root, "Ann Lee", "ann@old.example", 90)
    auth.write_text(LOGIN.replace("return user", "return user.strip()") + LOGOUT)
    commit(root, "Bob Stone", "bob@example.org", 2)
    return root


@pytest.fixture
def daemon(home: Path, shop: Path) -> Iterator[Daemon]:
    with Daemon(home) as daemon:
        with daemon.client(shop) as client:
            client.request("aurora/index")
            until(lambda: not client.request("aurora/status")["workspaces"][0]["learning_history"], "history is read")
        yield daemon


def git(root: Path, *arguments: str, **variables: str) -> None:
    command = ["git", "-c", "commit.gpgsign=false", *arguments]
    subprocess.run(command, cwd=root, env={**os.environ, **variables}, check=True, capture_output=True, timeout=HANG)


def commit(root: Path, name: str, email: str, days: float) -> None:
    at = f"{int(now() - days * DAY)} +0000"
    git(root, "add", "-A")
    said = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email}
    git(root, "commit", "-q", "-m", f"by {name}", **said, GIT_COMMITTER_NAME=name, GIT_COMMITTER_EMAIL=email)


def now() -> float:
    import time

    return time.time()


def ask(daemon: Daemon, root: Path, place: str) -> dict[str, Any]:
    with daemon.client(root) as client:
        found: dict[str, Any] = client.request("aurora/who", {"place": place})
        return found


def told(found: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    return [(each["name"], each["lines"], each["commits"], each["uses"]) for each in found["people"]]


def run(home: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *arguments]
    environ = {**os.environ, "AURORA_HOME": str(home)}
    return programs.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=HANG, check=False)


def use(name: str, at: float, path: str = "src/auth.py") -> EntryDraft:
    chunk = {"path": path, "name": name, "kind": "function", "shape": "00", "ordinal": 0}
    return EntryDraft("access", json.dumps({"type": "access", "chunk": chunk, "at": at, "kind": "success"}), at)


def record_of(place: RecordPlace, email: str) -> Record:
    return Record.open(place.path, place.repository, person_id(email, "", ""), f"machine of {email}")


def test_a_person_goes_by_the_name_of_the_latest_commit(home: Path, shop: Path) -> None:
    auth = shop / "src" / "auth.py"
    auth.write_text(auth.read_text().replace("strip()", "strip().lower()"))
    commit(shop, "Robert Stone", "bob@example.org", 1)
    with Daemon(home) as daemon:
        with daemon.client(shop) as client:
            client.request("aurora/index")
            until(lambda: not client.request("aurora/status")["workspaces"][0]["learning_history"], "history is read")
        assert told(ask(daemon, shop, "src/auth.py:login")) == [("Robert Stone", 1, 2, 0), ("Ann Lee", 1, 1, 0)]


def test_git_tells_who_changed_a_place_without_any_team(daemon: Daemon, shop: Path) -> None:
    found = ask(daemon, shop, "src/auth.py:login")
    assert told(found) == [("Bob Stone", 1, 1, 0), ("Ann Lee", 1, 1, 0)]
    bob, ann = found["people"]
    assert (bob["you"], ann["you"]) == (True, False)
    assert bob["activation"] > ann["activation"], "who touched it lately knows it better"
    assert bob["last_touch"] > ann["last_touch"]
    assert (found["others"], found["unknown"]) == (False, [])
    assert (found["place"]["file"], found["place"]["name"]) == ("src/auth.py", "login")
    assert told(ask(daemon, shop, "logout")) == [("Ann Lee", 2, 1, 0)]
    whole = ask(daemon, shop, "src/auth.py")
    assert (whole["place"]["id"], [each["lines"] for each in whole["people"]]) == (None, [1, 5])


def test_lines_not_committed_yet_are_those_of_whose_machine_it_is(daemon: Daemon, shop: Path) -> None:
    (shop / "src" / "auth.py").write_text(LOGIN + LOGOUT.replace("return None", "user.leave()"))
    with daemon.client(shop) as client:
        client.request("aurora/index")
    found = ask(daemon, shop, "logout")
    assert [(each["name"], each["you"], each["uncommitted"]) for each in found["people"]] == [
        ("Bob Stone", True, 1),
        ("Ann Lee", False, 0),
    ]


def test_uses_of_others_are_told_with_their_consent_only(daemon: Daemon, home: Path, shop: Path) -> None:
    place = asyncio.run(record_place(shop, home))
    for email, drafts in (
        ("ann@old.example", [use("login", now() - 60), use("login", now() - 120), use("logout", now() - 9)]),
        ("carla@example.org", [use("login", now() - 30)]),
        ("bob@example.org", [use("login", now() - DAY), use("login", now() - 5, "other/auth.py")]),
    ):
        record = record_of(place, email)
        record.append(drafts)
        record.close()
    found = ask(daemon, shop, "login")
    assert told(found) == [("Bob Stone", 1, 1, 1), ("Ann Lee", 1, 1, 0)], "only git's word of Ann, and none of Carla"
    assert found["others"]
    before = found["people"][1]["activation"]
    for email, name in (("ann@old.example", "Ann"), ("carla@example.org", "Carla Poe")):
        record = record_of(place, email)
        assert state(record, name, now(), shares=True)
        assert not state(record, name, now(), shares=True), "said once"
        record.close()
    found = ask(daemon, shop, "login")
    assert sorted(told(found)) == [("Ann Lee", 1, 1, 2), ("Bob Stone", 1, 1, 1), ("Carla Poe", 0, 0, 1)]
    assert not found["others"]
    assert next(each["activation"] for each in found["people"] if each["name"] == "Ann Lee") > before
    record = record_of(place, "carla@example.org")
    assert state(record, "Carla Poe", now(), shares=False)
    assert not state(record, "Carla Poe", now(), shares=False)
    assert set(people(record)) == {person_id("ann@old.example", "", "")}
    record.close()
    assert "Carla Poe" not in [each["name"] for each in ask(daemon, shop, "login")["people"]]


def test_a_person_of_two_addresses_is_one_by_the_mailmap(daemon: Daemon, shop: Path) -> None:
    (shop / ".mailmap").write_text("Robert Stone <bob@example.org>\nRobert Stone <bob@example.org> <ann@old.example>\n")
    assert told(ask(daemon, shop, "login")) == [("Robert Stone", 2, 2, 0)]
    assert ask(daemon, shop, "login")["people"][0]["you"]


def test_from_the_command_line(daemon: Daemon, home: Path, shop: Path) -> None:
    done = run(home, shop / "src", "who", "auth.py:login")
    assert done.returncode == 0, done.stderr
    first, bob, ann = done.stdout.splitlines()
    assert first == "login  auth.py:1"
    assert bob.split()[:4] == ["1", "Bob", "Stone", "(you)"]
    assert "1 line, 1 commit" in ann
    assert "Ann Lee" in ann
    assert json.loads(run(home, shop, "who", "login", "--json").stdout)["people"][0]["name"] == "Bob Stone"
    for missing in ("src/none.py", "src/auth.py:logn", "nowhere_to_be_found"):
        done = run(home, shop, "who", missing)
        assert done.returncode == 1, missing
        assert len(done.stderr.splitlines()) == 1
        assert done.stdout == ""


def test_a_folder_without_git_says_what_it_does_not_know(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    (root / "a.py").write_text(LOGIN)
    with Daemon(home):
        done = run(home, root, "who", "login")
    assert done.stdout.splitlines() == [
        "login  a.py:1",
        "nobody is known to have touched it",
        "git does not tell who wrote the lines that stand there",
    ]
