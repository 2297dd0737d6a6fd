"""Exchange of records with a hub: union, forgetting, what stays, killed and restored servers, hubs that are no help."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

from aurora_memory.record.entry import FORGET, EntryDraft
from aurora_memory.record.record_file import Record
from aurora_memory.record.secret_exchange import exchange_secrets
from aurora_team import HubAway, synchronization
from aurora_team.hub import Hub
from aurora_team.membership import ExchangeProgress
from aurora_team.outbox import SendVerdict
from aurora_team.synchronization import Outcome, preview, synchronize
from tests.team.postgres import PROGRAMS, Server
from tests.team.records import KINDS, TEAM, access, boost, held, person, record_of
from tests.wait_limits import HANG


@pytest.fixture(scope="module")
def hub(server: Server) -> Server:
    with server.connect() as db:
        for role in ("ann", "bob"):
            db.execute(f"CREATE ROLE {role} LOGIN")
    with Hub.open(server.url(), as_owner=True) as owner:
        owner.create_team(TEAM)
        owner.add_member(TEAM, "ann")
        owner.add_member(TEAM, "bob")
    for role in ("ann", "bob"):
        with Hub.open(server.url(role)) as member:
            member.claim(TEAM, person(role))
    return server


@pytest.fixture
def repository(request: pytest.FixtureRequest) -> str:
    """Repository of one test's own."""
    return f"{abs(hash(request.node.name)):032x}"[-32:]


def _sync(hub: Server, role: str, record: Record, progress: ExchangeProgress, *, again: bool = False) -> Outcome:
    with Hub.open(hub.url(role)) as member:
        return synchronize(member, TEAM, record, progress, KINDS, again=again)


@pytest.mark.long
def test_both_end_with_the_same_and_nothing_goes_twice(hub: Server, tmp_path: Path, repository: str) -> None:
    with (
        closing(record_of(tmp_path, "ann", repository=repository)) as ann,
        closing(record_of(tmp_path, "bob", repository=repository)) as bob,
    ):
        of_ann, of_bob = ExchangeProgress(), ExchangeProgress()
        ann.append([access(float(at)) for at in range(1, 2500)])
        bob.append([access(1.5), access(2.5)])
        assert _sync(hub, "ann", ann, of_ann).sent == 2499
        done = _sync(hub, "bob", bob, of_bob)
        assert (done.fetched, done.sent, done.refused) == (2499, 2, 0)
        assert _sync(hub, "ann", ann, of_ann).fetched == 2
        assert held(ann) == held(bob)
        for role, record, progress in (("ann", ann, of_ann), ("bob", bob, of_bob)):
            assert _sync(hub, role, record, progress) == Outcome()
            assert _sync(hub, role, record, progress, again=True) == Outcome()
        with closing(record_of(tmp_path / "new", "ann", repository=repository)) as lost:
            assert (
                _sync(hub, "ann", lost, ExchangeProgress()).fetched == 2501
            )  # one's own, too, where the record is gone
            assert held(lost) == held(ann)


def test_what_is_forgotten_is_erased_at_the_hub_and_everywhere(hub: Server, tmp_path: Path, repository: str) -> None:
    with (
        closing(record_of(tmp_path, "ann", repository=repository)) as ann,
        closing(record_of(tmp_path, "bob", repository=repository)) as bob,
    ):
        of_ann, of_bob = ExchangeProgress(), ExchangeProgress()
        ann.append([access(1.0, "telling"), boost("p", "r", 1.0)])
        bob.append([boost("p", "s", 1.0), access(1.0, "his")])
        for _ in range(2):
            _sync(hub, "ann", ann, of_ann)
            _sync(hub, "bob", bob, of_bob)
        ann.append([EntryDraft(FORGET, "{}", 2.0), EntryDraft(FORGET, '{"pattern":"p"}', 2.0)])
        assert _sync(hub, "ann", ann, of_ann).erased == 2
        assert _sync(hub, "bob", bob, of_bob).erased == 1  # his boost of the pattern
        with hub.connect() as db:
            bodies = db.execute("SELECT body FROM aurora.entries WHERE repository = %s", (repository,)).fetchall()
        assert not any("telling" in str(body) for body in bodies)
        assert held(ann) == held(bob)
        assert {entry.kind for entry in held(bob)} == {"access", FORGET}
        with closing(record_of(tmp_path / "new", "bob", "m2", repository)) as third:
            _sync(hub, "bob", third, ExchangeProgress())
            assert held(third) == held(bob)


def test_a_hub_restored_from_a_backup_gets_what_it_lacks(hub: Server, tmp_path: Path, repository: str) -> None:
    with (
        closing(record_of(tmp_path, "ann", repository=repository)) as ann,
        closing(record_of(tmp_path, "bob", repository=repository)) as bob,
    ):
        of_ann, of_bob = ExchangeProgress(), ExchangeProgress()
        ann.append([access(1.0), access(2.0)])
        _sync(hub, "ann", ann, of_ann)
        with hub.connect() as db:
            db.execute("DELETE FROM aurora.entries WHERE repository = %s AND sequence = 2", (repository,))
        assert _sync(hub, "ann", ann, of_ann).sent == 1
        _sync(hub, "bob", bob, of_bob)
        assert held(bob) == held(ann)


def test_who_had_read_more_than_a_restored_hub_has_reads_it_from_the_beginning(
    hub: Server, tmp_path: Path, repository: str
) -> None:
    with (
        closing(record_of(tmp_path, "ann", repository=repository)) as ann,
        closing(record_of(tmp_path, "bob", repository=repository)) as bob,
    ):
        ann.append([access(1.0), access(2.0)])
        _sync(hub, "ann", ann, ExchangeProgress())
        before_the_restore = ExchangeProgress(pulled=[(ann.author, ann.machine, 10**9)])
        assert _sync(hub, "bob", bob, before_the_restore).fetched == 2
        assert held(bob) == held(ann)


def test_a_restored_hub_that_has_gone_on_since_is_read_again(hub: Server, tmp_path: Path, repository: str) -> None:
    backup = hub.folder / "backup"
    database = ("--dbname", hub.url())
    with (
        closing(record_of(tmp_path, "ann", repository=repository)) as ann,
        closing(record_of(tmp_path, "bob", repository=repository)) as bob,
    ):
        of_ann, of_bob = ExchangeProgress(), ExchangeProgress()
        ann.append([access(1.0), access(2.0)])
        _sync(hub, "ann", ann, of_ann)
        _sync(hub, "bob", bob, of_bob)
        _program("pg_dump", "--format=custom", "--schema=aurora", "--file", str(backup), *database)
        with hub.connect() as db:
            db.execute("SELECT nextval('aurora.arrivals') FROM generate_series(1, 5)")  # others send as well
        ann.append([access(3.0)])
        _sync(hub, "ann", ann, of_ann)
        assert _sync(hub, "bob", bob, of_bob).fetched == 1
        with hub.connect() as db:
            db.execute("DROP SCHEMA aurora CASCADE")
        _program("pg_restore", "--exit-on-error", *database, str(backup))
        ann.append([access(float(at)) for at in range(4, 14)])
        assert _sync(hub, "ann", ann, of_ann).sent == 11
        with Hub.open(hub.url("bob")) as member:
            head = member.news(TEAM, repository, {}, 1).heads[ann.author, ann.machine]
        assert head > max(number for _, _, number in of_bob.pulled), "it has caught up in numbers"
        assert _sync(hub, "bob", bob, of_bob).fetched == 10
        assert held(bob) == held(ann)
        assert _sync(hub, "bob", bob, of_bob) == Outcome(), "once is enough"
        unmarked = ExchangeProgress(pulled=list(of_bob.pulled))  # as an older AURORA left it
        assert _sync(hub, "bob", bob, unmarked) == Outcome()


def _program(name: str, *arguments: str) -> None:
    assert PROGRAMS is not None
    subprocess.run([str(PROGRAMS / name), *arguments], check=True, capture_output=True, timeout=HANG)


def test_secrets_difficulties_and_questions_that_were_not_kept_stay(
    hub: Server, tmp_path: Path, repository: str
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    difficult = {
        "type": "difficult",
        "signature": "s",
        "query": "why",
        "failures": 1,
        "last_score": 0.1,
        "last_at": 1.0,
    }
    run = {"type": "run", "id": "r", "at": 1.0, "outcome": "failure", "score": 0.1, "query": "how"}
    with closing(record_of(tmp_path, "ann", repository=repository)) as ann:
        ann.append([access(1.0), access(2.0, f"f_{secret}"), EntryDraft("difficult", json.dumps(difficult), 1.0)])
        ann.append([EntryDraft("run", json.dumps(run), 1.0), boost("p", "r", 3.0)])
        progress = ExchangeProgress()
        told = [reason for _, reason in preview(ann, progress, ("access", "run"))]
        with Hub.open(hub.url("ann")) as member:
            done = synchronize(member, TEAM, ann, progress, ("access", "run"))
            assert done.sent == told.count("") == 1
            assert len(done.secrets) == 1
            assert sorted(done.stopped) == sorted(filter(None, told))
            assert any("not kept" in reason for reason in told)
            assert synchronize(member, TEAM, ann, progress, ("access", "boost")).sent == 1  # shared later
        with hub.connect() as db:
            bodies = db.execute("SELECT body FROM aurora.entries WHERE repository = %s", (repository,)).fetchall()
        assert secret not in str(bodies)


def test_entries_that_are_not_what_they_say_do_not_keep_others_out(
    hub: Server, tmp_path: Path, repository: str
) -> None:
    with (
        closing(record_of(tmp_path, "ann", repository=repository)) as ann,
        closing(record_of(tmp_path, "bob", repository=repository)) as bob,
    ):
        (good,) = ann.append([access(1.0)])
        with hub.connect("ann") as db:
            for identity, body in (("e" * 32, "{}"), ("d" * 32, '{"type":')):
                db.execute(
                    """INSERT INTO aurora.entries (team_id, repository, author, machine, id, sequence, at, kind, body)
                       VALUES (%s, %s, %s, 'm1', %s, 7, 'NaN', 'access', %s)""",
                    (TEAM, repository, person("ann"), identity, body),
                )
        _sync(hub, "ann", ann, ExchangeProgress())
        done = _sync(hub, "bob", bob, ExchangeProgress())
        assert (done.fetched, done.refused) == (1, 2)
        assert held(bob) == {good}


def test_a_hub_that_hangs_costs_its_deadline_and_then_all_goes_on(hub: Server, tmp_path: Path, repository: str) -> None:
    with closing(record_of(tmp_path, "ann", repository=repository)) as ann:
        ann.append([access(1.0)])
        progress = ExchangeProgress()
        with Hub.open(hub.url("ann"), deadline=0.5) as member:
            hub.signal(signal.SIGSTOP)
            try:
                with pytest.raises(HubAway):
                    synchronize(member, TEAM, ann, progress, KINDS)
            finally:
                hub.signal(signal.SIGCONT)
        assert progress == ExchangeProgress()
        assert _sync(hub, "ann", ann, progress).sent == 1


def test_a_killed_server_comes_back_with_all_that_it_acknowledged(hub: Server, tmp_path: Path, repository: str) -> None:
    with (
        closing(record_of(tmp_path, "ann", repository=repository)) as ann,
        closing(record_of(tmp_path, "bob", repository=repository)) as bob,
    ):
        progress = ExchangeProgress()
        ann.append([access(float(at)) for at in range(1, 1500)])
        _sync(hub, "ann", ann, progress)
        acknowledged = progress.sent
        ann.append([access(float(at)) for at in range(2000, 2100)])
        hub.kill()
        with pytest.raises(HubAway):
            _sync(hub, "ann", ann, progress)
        assert progress.sent == acknowledged
        hub.revive()
        assert _sync(hub, "ann", ann, progress).sent == 100
        _sync(hub, "bob", bob, ExchangeProgress())
        assert held(bob) == held(ann)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00" * 4096, b"R\x7f\xff\xff\xff", b""])
def test_what_is_no_hub_is_told_in_one_line(answer: bytes) -> None:
    with _listener(answer) as port:
        began = time.monotonic()
        url = f"postgresql://ann@127.0.0.1:{port}/x?connect_timeout=2&sslmode=disable"
        with pytest.raises(HubAway) as told, Hub.open(url):
            pass
        assert time.monotonic() - began < 30
        assert "\n" not in str(told.value)


def test_a_hub_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://ann@127.0.0.1:{silent.getsockname()[1]}/x?connect_timeout=2"
        with pytest.raises(HubAway), Hub.open(url):
            pass


@contextmanager
def _listener(answer: bytes) -> Iterator[int]:
    """Server that says the same to everyone and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    line, _ = listening.accept()
                except OSError:
                    return
                with line:
                    line.recv(4096)
                    line.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_secrets_that_were_sent_before_they_were_known_are_erased_at_the_hub(
    hub: Server, tmp_path: Path, repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0iL3oR6"
    with (
        closing(record_of(tmp_path, "ann", repository=repository)) as ann,
        closing(record_of(tmp_path, "bob", repository=repository)) as bob,
    ):
        of_ann, of_bob = ExchangeProgress(), ExchangeProgress()
        ann.append([access(1.0, secret), access(2.0)])
        with monkeypatch.context() as before:
            before.setattr(synchronization, "_judge", lambda *_: SendVerdict())  # rules that did not know it
            assert _sync(hub, "ann", ann, of_ann).sent == 2
        assert _sync(hub, "bob", bob, of_bob).fetched == 2
        assert exchange_secrets(ann) == exchange_secrets(bob) == 1
        done = _sync(hub, "ann", ann, of_ann)
        assert (done.sent, done.erased) == (1, 1)
        with hub.connect() as db:
            bodies = db.execute("SELECT body FROM aurora.entries WHERE repository = %s", (repository,)).fetchall()
        assert len(bodies) == 3 and not any(secret in str(body) for body in bodies)
        _sync(hub, "bob", bob, of_bob)
        assert held(ann) == held(bob)
        assert _sync(hub, "ann", ann, of_ann) == Outcome(), "what is gone is looked for once"


def test_a_lost_record_that_is_cut_off_gets_the_rest_of_it_too(
    hub: Server, tmp_path: Path, repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synchronization, "PAGE", 50)
    with closing(record_of(tmp_path, "ann", repository=repository)) as ann:
        ann.append([access(float(at)) for at in range(1, 300)])
        _sync(hub, "ann", ann, ExchangeProgress())
        with closing(record_of(tmp_path / "new", "ann", repository=repository)) as lost:
            progress = ExchangeProgress()
            pages = 0

            def cut() -> None:
                nonlocal pages
                pages += 1
                if pages == 2:
                    raise HubAway("killed")

            with Hub.open(hub.url("ann")) as member, pytest.raises(HubAway):
                synchronize(member, TEAM, lost, progress, KINDS, keep=cut)
            assert 0 < len(held(lost)) < 299
            _sync(hub, "ann", lost, progress)
            assert held(lost) == held(ann)
