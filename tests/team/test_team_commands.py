"""`aurora team` from outside: two people with homes of their own, one server, one repository."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

from aurora_memory.record.entry import Entry, EntryDraft
from aurora_server.workspace.record_place import open_record, record_place
from aurora_team.hub import Hub
from aurora_team.membership import Memberships
from tests import programs
from tests.programs import COMMAND
from tests.server.deliverables import lifetime
from tests.team.faulty_hubs import CutLine, served
from tests.team.postgres import Server
from tests.team.records import access, held
from tests.wait_limits import HANG

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Command of a person, in his clone of one repository."""

    def call(who: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        clone = tmp_path / who
        if not clone.exists():
            clone.mkdir()
            _git(clone, "init", "-q")
            _git(clone, "config", "user.email", f"{who}@example.org")
            _git(clone, "config", "user.name", who)
            _git(clone, "remote", "add", "origin", "https://example.org/one.git")
        environ = {**os.environ, "AURORA_HOME": str(tmp_path / f"home-{who}"), **variables}
        environ.pop("PGPASSWORD", None)
        command = [*COMMAND, *arguments]
        return programs.run(command, cwd=clone, env=environ, capture_output=True, text=True, timeout=HANG, check=False)

    return call


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def _team(server: Server, run: Run, name: str, *people: str) -> None:
    """A team that the first of these people makes and all of them join."""
    with server.connect() as db:
        for role in people:
            db.execute(f"CREATE ROLE {role} LOGIN")
    url = server.url()
    for arguments in (("create", url, name), *(("members", url, name, "--add", who) for who in people)):
        done = run(people[0], "team", *arguments)
        assert done.returncode == 0, done.stderr
    for who in people:
        done = run(who, "team", "join", server.url(who))
        assert done.returncode == 0, done.stderr


def test_a_team_from_its_making_to_its_leaving(server: Server, tmp_path: Path, run: Run) -> None:
    with server.connect() as db:
        for role in ("ann", "bob"):
            db.execute(f"CREATE ROLE {role} LOGIN")
    url = server.url()
    assert run("ann", "team", "sync").stdout == "no team was joined; nothing was sent\n"
    for arguments in (
        ("create", url, "crew"),
        ("members", url, "crew", "--add", "ann"),
        ("members", url, "crew", "--add", "bob"),
    ):
        done = run("ann", "team", *arguments)
        assert done.returncode == 0, done.stderr
    assert "bob: has not joined yet" in done.stdout
    for who in ("ann", "bob"):
        done = run(who, "team", "join", server.url(who))
        assert done.returncode == 0, done.stderr
    _learn(tmp_path, "ann")
    said = run("ann", "team", "preview")
    entries = [json.loads(line) for line in said.stdout.splitlines()]
    assert [entry["kind"] for entry in entries] == ["access", "access"]
    assert "preview" not in said.stdout
    assert run("ann", "team", "sync").stdout.startswith("crew: 2 sent, 0 fetched")
    assert run("ann", "team", "preview").stdout == ""
    done = run("bob", "team", "sync", "--json")
    assert json.loads(done.stdout)["teams"][0]["fetched"] == 2, done.stderr
    assert run("bob", "team", "sync", AURORA_TEAM_SHARE="access").returncode == 0
    assert run("ann", "team", "forget", "--yes").stdout.startswith("crew: 1 sent, 0 fetched, 2 erased")
    assert json.loads(run("bob", "team", "sync", "--json").stdout)["teams"][0]["fetched"] == 1
    assert _kinds_held(tmp_path, "bob") == ["forget"]
    assert run("bob", "team", "leave", server.url("bob")).returncode == 0, "its address is a name, too"
    assert "nothing leaves" in run("bob", "team", "status").stdout
    home = tmp_path / "home-ann"
    assert (home / "team.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["My Team", "", "-x", "crew\n", "c" * 41])
def test_what_no_team_can_be_called_is_told_before_anything_is_made(server: Server, run: Run, name: str) -> None:
    done = run("ann", "team", "create", server.url(), "--", name)
    assert done.returncode != 0
    assert "a team is not called" in done.stderr and done.stderr.count("\n") == 1


def test_a_team_that_is_not_there_gets_no_member(server: Server, run: Run) -> None:
    with server.connect() as db:
        db.execute("CREATE ROLE zoe LOGIN")
    assert run("ann", "team", "create", server.url(), "there").returncode == 0
    done = run("ann", "team", "members", server.url(), "thier", "--add", "zoe")
    assert done.stderr == "aurora: the hub has no team 'thier'; make it with: aurora team create URL thier\n"
    done = run("zoe", "team", "join", server.url("zoe"))
    assert "aurora team members" in done.stderr, done.stderr


def test_preview_prints_what_the_server_is_given_byte_for_byte(server: Server, tmp_path: Path, run: Run) -> None:
    _team(server, run, "exact", "dora")
    assert run("dora", "team", "preview").returncode == 0, "what is in the record from now on is of today's rules"
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    _learn(
        tmp_path,
        "dora",
        [
            access(1.25, "plain"),
            access(1 / 3, "größe\u202e\x9b31m"),
            EntryDraft("note", "{}", 3.0),
            access(4.0, secret),
            EntryDraft("forget", '{"pattern":"none-such"}', 5.0),
        ],
    )
    shares = {"AURORA_TEAM_SHARE": "access,people"}
    said = run("dora", "team", "preview", **shares)
    assert said.returncode == 0, said.stderr
    assert not {"\x1b", "\x9b", "\u202e"} & set(said.stdout), "nothing of it acts on a terminal"
    previewed = [json.loads(line) for line in said.stdout.splitlines()]
    stopped = [line for line in said.stderr.splitlines() if "would stay" in line]
    assert len(stopped) == 2
    assert "of the kind note are never sent" in stopped[0]
    assert secret not in said.stdout + said.stderr
    assert run("dora", "team", "sync", **shares).returncode == 0
    columns = ("id", "repository", "author", "machine", "sequence", "at", "kind", "body")
    with server.connect() as db:
        rows = db.execute(
            f"SELECT {', '.join(columns)} FROM aurora.entries WHERE team_id = 'exact' ORDER BY sequence"
        ).fetchall()
    assert [dict(zip(columns, row, strict=True)) for row in rows] == previewed
    assert [entry["kind"] for entry in previewed] == ["access", "access", "forget", "person"]
    kept = {entry.body: entry.id for entry in _held(tmp_path, "dora")}
    (stopped_id,) = [identity for body, identity in kept.items() if secret in body]
    assert stopped_id in stopped[1], "it says which entry a secret stopped"
    assert run("dora", "team", "preview", **shares).stdout == "", "it was sent"


def test_secrets_of_rules_that_came_later_are_gone_from_record_and_hub_without_a_daemon(
    server: Server, tmp_path: Path, run: Run
) -> None:
    _team(server, run, "later", "hans")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    place = asyncio.run(record_place(tmp_path / "hans", tmp_path / "home-hans"))
    with closing(open_record(place)) as record, Hub.open(server.url("hans")) as hub:
        sent = record.append([access(1.0, secret), access(2.0)])
        assert hub.push("later", record.repository, (record.author, record.machine), sent)[0] == 2
    assert run("hans", "team", "sync").returncode == 0
    with server.connect() as db:
        bodies = db.execute("SELECT body FROM aurora.entries WHERE team_id = 'later'").fetchall()
    assert len(bodies) == 3 and sum(body is None for (body,) in bodies) == 1
    assert secret not in str(bodies) and not any(secret in entry.body for entry in _held(tmp_path, "hans"))


def test_nothing_goes_over_the_line_but_what_preview_prints_and_what_says_whose_it_is(
    server: Server, tmp_path: Path, run: Run
) -> None:
    """Read off the line itself: entries, hashes of who and where, and queries; no name, path, machine or question."""
    _team(server, run, "sniffed", "ida")
    assert run("ida", "team", "preview").returncode == 0, "what is in the record from now on is of today's rules"
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    run_of = {"type": "run", "id": "r", "at": 1.0, "outcome": "failure", "score": 0.1, "query": "why does it cost so"}
    question = EntryDraft("run", json.dumps(run_of), 1.0)
    _learn(tmp_path, "ida", [access(1.5, "plain"), access(2.5, "größe"), access(4.0, secret), question])
    (tmp_path / "ida" / "cart.py").write_text("def quokka_total():\n    return 'wombat'\n")
    previewed = [json.loads(line) for line in run("ida", "team", "preview").stdout.splitlines()]
    assert len(previewed) == 2
    line = CutLine(server.port)
    with served(line.pass_on) as port:
        memberships = Memberships(tmp_path / "home-ida")
        (joined,) = memberships.read()
        joined.url = f"postgresql://ida@127.0.0.1:{port}/postgres"
        memberships.write([joined])
        assert run("ida", "team", "sync").stdout.startswith("sniffed: 2 sent")
    sent = bytes(line.sent)
    hidden = (
        str(tmp_path),
        "ida@example.org",
        socket.gethostname(),
        "example.org",
        "quokka",
        "wombat",
        secret,
        "cost so",
    )
    assert not [each for each in hidden if each.encode() in sent]
    for entry in previewed:
        # A body travels within an array: quoted once, with its quotes escaped.
        body = entry["body"].replace("\\", "\\\\").replace('"', '\\"').encode()
        assert (sent.count(body), sent.count(entry["id"].encode())) == (1, 1)
        sent = sent.replace(body, b"").replace(entry["id"].encode(), b"")
    identities = {entry[name] for entry in previewed for name in ("author", "machine", "repository")}
    for known in (*identities, "sniffed", "postgres", "ida"):
        sent = sent.replace(known.encode(), b"")
    said = b" ".join(re.findall(rb"[ -~]{4,}", sent)).decode()
    for query in sorted(_queries(), key=len, reverse=True):
        said = said.replace(query, "")
    assert not re.search(r"[A-Za-z0-9_]{9,}", said), said


def _queries() -> set[str]:
    """Words of the statements that a hub is asked with, which are AURORA's own."""
    from aurora_team import hub

    return set(re.findall(r"\w+", Path(hub.__file__).read_text()))


def test_who_lets_colleagues_see_what_he_knows_and_who_takes_it_back(server: Server, tmp_path: Path, run: Run) -> None:
    _team(server, run, "knowing", "eve", "fay")
    _learn(tmp_path, "eve", [access(time.time() - 50.0), access(time.time() - 20.0)])
    (tmp_path / "fay" / "a.py").write_text("def f():\n    return 1\n")
    try:
        told = {}
        for shared in ("access", "access,people", "access"):
            assert run("eve", "team", "sync", AURORA_TEAM_SHARE=shared).returncode == 0
            assert run("fay", "team", "sync").returncode == 0
            done = run("fay", "who", "a.py:f", "--json")
            run("fay", "daemon", "stop")  # it exchanges records, too
            assert done.returncode == 0, done.stderr
            found = json.loads(done.stdout)
            told[len(told)] = [(each["name"], each["uses"], each["you"]) for each in found["people"]], found["others"]
    finally:
        run("fay", "daemon", "stop")
    assert told == {0: ([], True), 1: ([("eve", 2, False)], False), 2: ([], True)}


def test_ci_writes_events_of_deliverables_to_the_hub(server: Server, tmp_path: Path, run: Run) -> None:
    _team(server, run, "built", "ci", "gil")
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86_400.0))
    (tmp_path / "ci" / "events.jsonl").write_text(lifetime("add-cart", day, name="claude", model="opus"))
    try:
        for _ in range(2):  # a job that runs again tells nothing new
            done = run("ci", "deliverable", "ingest", "events.jsonl")
            assert done.returncode == 0, done.stderr
            assert run("ci", "daemon", "stop").returncode == 0
            assert run("ci", "team", "sync", AURORA_TEAM_SHARE="deliverable").returncode == 0
            assert run("gil", "team", "sync").returncode == 0
            reply = json.loads(run("gil", "metrics", "--team", "--json").stdout)
            run("gil", "daemon", "stop")  # it exchanges records, too
            assert reply["window"]["deliverables"] == 1
            assert (reply["cost"]["cost_usd"], reply["cost"]["cost_per_accepted_usd"]) == (0.5, 0.5)
            assert [each["name"] for each in reply["groups"]["repository"]] == ["one"]
    finally:
        for who in ("ci", "gil"):
            run(who, "daemon", "stop")
    with server.connect() as db:
        kinds = db.execute("SELECT kind, count(*) FROM aurora.entries WHERE team_id = 'built' GROUP BY kind").fetchall()
    assert kinds == [("deliverable", 6)]


def test_a_hub_that_went_away_is_one_line_in_the_status(server: Server, tmp_path: Path, run: Run) -> None:
    _team(server, run, "other", "carl")
    server.kill()
    done = run("carl", "team", "sync")
    assert done.returncode == 1
    assert "cannot be reached" in done.stdout
    done = run("carl", "team", "status")
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 1
    server.revive()
    assert run("carl", "team", "sync").returncode == 0
    assert ": fine;" in run("carl", "team", "status").stdout


@pytest.mark.long
def test_a_long_exchange_that_is_killed_goes_on_where_it_was(server: Server, tmp_path: Path, run: Run) -> None:
    _team(server, run, "long", "ivo")
    number = 12_000  # a dozen batches
    _learn(tmp_path, "ivo", [access(float(each)) for each in range(number)])
    home = tmp_path / "home-ivo"

    def sent() -> int:
        (membership,) = Memberships(home).read()
        return max((each.sent for each in membership.repositories.values()), default=0)

    command = [sys.executable, "-P", "-m", "aurora_cli", "team", "sync"]
    with subprocess.Popen(
        command, cwd=tmp_path / "ivo", env={**os.environ, "AURORA_HOME": str(home)}, stdout=subprocess.DEVNULL
    ) as process:
        while not sent():
            assert process.poll() is None, "it is cut while it sends"
            time.sleep(0.01)
        process.kill()
    assert 0 < sent() < number
    assert run("ivo", "team", "sync").returncode == 0
    with server.connect() as db:
        row = db.execute("SELECT count(*), count(DISTINCT id) FROM aurora.entries WHERE team_id = 'long'").fetchone()
    assert row == (number, number)


def test_without_the_extra_it_says_in_one_line_how_to_install_it(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\nfrom aurora_cli.app import run; sys.exit(run(['team', 'status']))"
    )
    environ = {**os.environ, "AURORA_HOME": str(tmp_path / "h")}
    done = subprocess.run([sys.executable, "-P", "-c", code], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "aurora: aurora team needs psycopg: pip install 'aurora-context[team]'\n"


def _learn(tmp_path: Path, who: str, drafts: Sequence[EntryDraft] = (access(1.0), access(2.0))) -> None:
    """Append to a person's record, as a daemon would."""
    place = asyncio.run(record_place(tmp_path / who, tmp_path / f"home-{who}"))
    with closing(open_record(place)) as record:
        record.append(drafts)


def _held(tmp_path: Path, who: str) -> set[Entry]:
    from aurora_memory.record.record_file import Record

    (path,) = [each for each in (tmp_path / f"home-{who}" / "records").glob("*.sqlite") if len(each.stem) == 32]
    with closing(Record.open(path, path.stem, "x", "y")) as record:
        return held(record)


def _kinds_held(tmp_path: Path, who: str) -> list[str]:
    return [entry.kind for entry in _held(tmp_path, who)]
