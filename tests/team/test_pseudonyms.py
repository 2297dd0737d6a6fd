"""`team.names = hashed`: what a server is given has no name in it, and none that could be found by trying names."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

from aurora_deliverables.events import Event, Started
from aurora_memory.record.entry import Entry, EntryDraft, entry_id
from aurora_memory.record.people import people
from aurora_memory.record.person import person_id
from aurora_server.workspace.record_place import open_record, record_place
from aurora_team import TeamError
from aurora_team.membership import Memberships
from aurora_team.pseudonyms import Guise, checked_key
from tests import programs
from tests.programs import COMMAND
from tests.team.postgres import PROGRAMS, Server
from tests.team.records import access, held
from tests.wait_limits import HANG

NAMES = {"jo": "Jo Hansen", "kim": "Kim Ito"}
HASHED = {"AURORA_TEAM_NAMES": "hashed"}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Command of a person, in a clone of one repository; `machine` 2 is another one of his."""

    def call(
        who: str, *arguments: str, machine: int = 1, given: str = "", **more: str
    ) -> subprocess.CompletedProcess[str]:
        clone = tmp_path / f"{who}{machine}"
        if not clone.exists():
            clone.mkdir()
            for words in (
                ("init", "-q"),
                ("config", "user.email", f"{who}@example.org"),
                ("config", "user.name", NAMES[who]),
                ("remote", "add", "origin", "https://example.org/one.git"),
            ):
                subprocess.run(["git", *words], cwd=clone, check=True, capture_output=True)
        environ = {**os.environ, "AURORA_HOME": str(tmp_path / f"home-{who}{machine}"), **HASHED, **more}
        command = [*COMMAND, "team", *arguments]
        return programs.run(
            command, cwd=clone, env=environ, input=given, capture_output=True, text=True, timeout=HANG, check=False
        )

    return call


def learn(folder: Path, who: str, *drafts: EntryDraft) -> None:
    place = asyncio.run(record_place(folder / who, folder / f"home-{who}"))
    with closing(open_record(place)) as record:
        record.append(drafts)


def entries(folder: Path, who: str) -> tuple[set[Entry], dict[str, str], str]:
    """What a person's record holds, who is named in it, and he himself."""
    place = asyncio.run(record_place(folder / who, folder / f"home-{who}"))
    with closing(open_record(place)) as record:
        return held(record), people(record), record.author


def proposed(author: str, at: float) -> EntryDraft:
    """Event of a deliverable that somebody proposed."""
    event = Event(f"e{at}", "add-cart", at, Started(author=author))
    line = {"id": event.id, "change_id": event.change_id, "at": at, "received_at": at, "source": "cli"}
    body = {"type": "deliverable", **line, "body": msgspec.Raw(msgspec.json.encode(event))}
    return EntryDraft("deliverable", msgspec.json.encode(body).decode(), at)


def everything(server: Server) -> str:
    """All that a backup of the hub holds."""
    assert PROGRAMS is not None
    command = [str(PROGRAMS / "pg_dump"), "--schema=aurora", "--dbname", server.url()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG).stdout


def test_the_hub_gets_no_name_and_none_that_can_be_guessed(server: Server, tmp_path: Path, run: Run) -> None:
    with server.connect() as db:
        for role in ("jo", "kim"):
            db.execute(f"CREATE ROLE {role} LOGIN")
    for arguments in (
        ("create", server.url(), "veiled"),
        *(("members", server.url(), "veiled", "--add", role) for role in ("jo", "kim")),
    ):
        done = run("jo", *arguments)
        assert done.returncode == 0, done.stderr
    assert run("jo", "join", server.url("jo")).returncode == 0
    key = run("jo", "key", "veiled").stdout
    assert run("kim", "join", server.url("kim"), "--key", "-", given=key).returncode == 0
    assert run("kim", "key", "veiled").stdout == key
    learn(
        tmp_path,
        "jo1",
        access(1.0),
        proposed("Jo Hansen", 2.0),
        proposed("Kim Ito", 3.0),
        access(4.0, "written_by jo  hansen"),
        access(5.0, "mail_of(jo@example.org)"),
    )
    shared = "access,deliverable,people"
    said = run("jo", "preview", AURORA_TEAM_SHARE=shared)
    assert "would stay: 2, it holds your name" in said.stderr
    previewed = {json.loads(line)["id"] for line in said.stdout.splitlines()}
    assert len(previewed) == 4 and "Hansen" not in said.stdout
    for who in ("jo", "kim", "jo"):
        done = run(who, "sync", AURORA_TEAM_SHARE=shared)
        assert done.returncode == 0, done.stdout
    told = everything(server)
    own = person_id("jo@example.org", "", "")
    machine = (tmp_path / "home-jo1" / "machine").read_text().strip()
    assert not [each for each in ("ansen", "Ito", "example.org", own, machine, key.strip()) if each in told]
    with server.connect() as db:
        ids = {row[0] for row in db.execute("SELECT id FROM aurora.entries").fetchall()}
    assert previewed <= ids, "preview says what is sent"
    his, named, _ = entries(tmp_path, "kim1")
    assert sorted(set(named.values())) == sorted({_shown(key, "Jo Hansen"), "Kim Ito"}), "he is called so at home only"
    assert any(_shown(key, "Kim Ito") in each.body for each in his), "one pseudonym of one person, whoever names him"
    mine, _, author = entries(tmp_path, "jo1")
    assert author == own
    assert "Jo Hansen" in str(mine), "at home nothing is hidden"


def _shown(key: str, name: str) -> str:
    return Guise("a", "m", key.strip()).shown(name)


def test_one_person_of_two_machines_is_one_and_forgets_from_both(server: Server, tmp_path: Path, run: Run) -> None:
    with server.connect() as db:
        db.execute("DROP ROLE IF EXISTS two")
        db.execute("CREATE ROLE two LOGIN")
    for arguments in (("create", server.url(), "both"), ("members", server.url(), "both", "--add", "two")):
        assert run("jo", *arguments).returncode == 0
    assert run("jo", "join", server.url("two")).returncode == 0
    learn(tmp_path, "jo1", access(1.0), proposed("Jo Hansen", 2.0))
    assert run("jo", "sync").returncode == 0
    missing = run("jo", "join", server.url("two"), "--key", "no.key", machine=2)
    assert missing.stderr == "aurora: no.key cannot be read: No such file or directory\n"
    refused = run("jo", "join", server.url("two"), machine=2)
    assert refused.returncode != 0 and "--key" in refused.stderr
    key = run("jo", "key", "both").stdout
    assert run("jo", "join", server.url("two"), "--key", "-", machine=2, given=key).returncode == 0
    assert run("jo", "sync", machine=2).returncode == 0
    second, _, author = entries(tmp_path, "jo2")
    assert {each.author for each in second} == {author}, "what one sent from elsewhere is one's own"
    assert len(second) == 2
    (tmp_path / "home-jo1" / "records").rename(tmp_path / "lost")
    assert json.loads(run("jo", "sync", "--again", "--json").stdout)["teams"][0]["fetched"] == 2
    assert json.loads(run("jo", "sync", "--again", "--json").stdout)["teams"][0]["sent"] == 0, "they are at the hub"
    assert run("jo", "forget", "--yes", machine=2).returncode == 0
    assert json.loads(run("jo", "sync", "--json").stdout)["teams"][0]["erased"] == 2
    assert {each.kind for each in entries(tmp_path, "jo1")[0]} == {"forget"}


def test_who_joined_by_name_and_hides_it_later_sends_nothing(server: Server, tmp_path: Path, run: Run) -> None:
    with server.connect() as db:
        db.execute("CREATE ROLE known LOGIN")
    for arguments in (("create", server.url(), "open"), ("members", server.url(), "open", "--add", "known")):
        assert run("jo", *arguments).returncode == 0
    assert run("jo", "join", server.url("known"), AURORA_TEAM_NAMES="plain").returncode == 0
    learn(tmp_path, "jo1", access(1.0))
    done = run("jo", "sync")
    assert done.returncode == 1 and "joined by name" in done.stdout
    assert "joined by name" in run("jo", "preview").stderr
    assert run("jo", "key", "open").returncode != 0
    with server.connect() as db:
        assert db.execute("SELECT count(*) FROM aurora.entries WHERE team_id = 'open'").fetchone() == (0,)
    assert run("jo", "sync", AURORA_TEAM_NAMES="plain").stdout.startswith("open: 1 sent")
    (membership,) = Memberships(tmp_path / "home-jo1").read()
    assert (membership.key, membership.problem) == ("", "")


def test_pseudonyms_go_by_the_key_and_what_is_one_stays() -> None:
    key, other = "0" * 64, "1" * 64
    guise = Guise("ann", "m1", key)
    assert guise.shown("Ann  LEE") == guise.shown("ann lee") != Guise("ann", "m1", other).shown("Ann Lee")
    assert guise.shown(guise.shown("Ann Lee")) == guise.shown("Ann Lee")
    assert Guise("ann", "m1").stream == ("ann", "m1") != guise.stream
    body = '{"a":[{"author":"Ann Lee"}]}'
    entry = Entry(entry_id("ann", "m1", 1, "deliverable", body), "r" * 8, "ann", "m1", 1, 1.0, "deliverable", body)
    leaving = guise.leaving(entry)
    assert "Ann" not in str(leaving)
    assert guise.leaving(guise.arriving(leaving)) == leaving
    assert guise.arriving(entry) == entry, "somebody else's stays as it is"
    theirs = Guise("jo", "m2", key).leaving(entry)
    assert guise.arriving(theirs) == theirs, "a colleague's with the same key as well"
    ours = Guise("ann", "m2", key)
    back = ours.arriving(leaving)
    assert (back.author, back.machine) == ("ann", guise.stream[1]), "one's own of another machine stays of that machine"
    for wrong in ("", "0" * 63, "g" * 64):
        with pytest.raises(TeamError):
            checked_key(wrong)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Max", "max", False),
        ("Max", "Max did it", True),
        ("Max", "Maximum", False),
        ("Max Lee", "by MAX\tLEE.", True),
        ("ann@x.org", "ANN@x.org", True),
        ("ann@x.org", "joann@x.org", False),
        ("", "anything", False),
    ],
)
def test_a_name_in_a_text_is_found_as_a_word(name: str, text: str, found: bool) -> None:
    guise = Guise("a", "m", "0" * 64, (name,))
    entry = Entry("0" * 32, "r", "a", "m", 1, 1.0, "access", json.dumps({"text": [text]}))
    assert guise.names_in(entry) is found
