"""Schema of a hub as its catalogue tells it: keys, walls, partitions, migrations."""

from __future__ import annotations

import re
import threading
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

import psycopg

from aurora_team import HubRefused, HubTooNew, TeamError, schema
from aurora_team.hub import HEADS, IDS_AT, PULL, Hub, _columns
from tests.team.postgres import Server
from tests.team.records import REPOSITORY, TEAM, access, person, record_of


@pytest.fixture(scope="module")
def hub(server: Server) -> Server:
    with server.connect() as db:
        db.execute("CREATE ROLE ann LOGIN")
    with Hub.open(server.url(), as_owner=True) as owner:
        owner.create_team(TEAM)
        owner.add_member(TEAM, "ann")
    return server


def test_every_key_carries_the_team(hub: Server) -> None:
    with hub.connect() as db:
        keys = db.execute(
            """SELECT class.relname, (
                 SELECT array_agg(attribute.attname::text) FROM pg_attribute AS attribute
                 WHERE attribute.attrelid = class.oid AND attribute.attnum = ANY (index.indkey::int2[]))
               FROM pg_index AS index JOIN pg_class AS class ON class.oid = index.indrelid
               JOIN pg_namespace AS space ON space.oid = class.relnamespace
               WHERE space.nspname = 'aurora' AND index.indisunique"""
        ).fetchall()
    without = {table for table, columns in keys if "team_id" not in str(columns)}
    assert without == {"migrations"}
    assert {table for table, _ in keys} >= {"teams", "members", "entries", "entries_31"}


def test_every_table_of_a_team_has_its_wall_and_members_have_no_update(hub: Server) -> None:
    with hub.connect() as db:
        walls = dict(
            db.execute(
                """SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class
                   WHERE relnamespace = 'aurora'::regnamespace AND relkind IN ('r', 'p')"""
            ).fetchall()
        )
        rights = db.execute(
            """SELECT DISTINCT privilege_type FROM information_schema.role_table_grants
               WHERE table_schema = 'aurora' AND grantee IN ('aurora_members', 'PUBLIC')"""
        ).fetchall()
        paths = db.execute(
            "SELECT proname, prosecdef, proconfig FROM pg_proc WHERE pronamespace = 'aurora'::regnamespace"
        ).fetchall()
    assert walls.pop("migrations") is False
    assert all(walls.values())
    assert len(walls) == 3 + 32
    assert rights == [("SELECT",)]
    assert {path[0] for path in paths} == {"own_teams", "claim", "leave", "erase", "take_turn", "among"}
    assert all(path[2] == ["search_path=pg_catalog, pg_temp"] for path in paths)


def test_a_pull_touches_one_partition_by_its_index(hub: Server) -> None:
    values = {"team": TEAM, "repository": REPOSITORY, "authors": ["x"], "machines": ["m"], "numbers": [0], "limit": 5}
    with hub.connect("ann") as db:
        db.execute("SET enable_seqscan = off")  # empty tables are read whole else
        for query in (HEADS, PULL, IDS_AT):
            rows = db.execute("EXPLAIN " + query, values).fetchall()
            plan = "\n".join(str(row[0]) for row in rows)
            touched = {word for word in plan.split() if word.startswith("entries_") and word.count("_") == 1}
            assert len(touched) == 1, plan
            assert "Index Cond: ((team_id = " in plan, plan


def test_what_is_asked_at_each_exchange_reads_no_more_than_it_answers(hub: Server) -> None:
    """The planner knows nothing of the values (shape 3): only a whole key, for each row asked, keeps it from reading a
    repository from its beginning.
    """
    with hub.connect() as db:
        db.execute(
            """INSERT INTO aurora.entries (team_id, repository, author, machine, id, sequence, at, kind, body)
               SELECT %s, %s, 'a' || n %% 20, 'm1', md5('read' || n), n, n, 'access', repeat('x', 120)
               FROM generate_series(1, 20000) AS n""",
            (TEAM, REPOSITORY),
        )
        db.execute("VACUUM ANALYZE aurora.entries")
    with Hub.open(hub.url("ann")) as ann:
        heads = ann.news(TEAM, REPOSITORY, {}, 1).heads
    cursors = {stream: head - 40 for stream, head in heads.items()}
    with hub.connect("ann") as db:
        values = {"team": TEAM, "repository": REPOSITORY, "limit": 100, **_columns(cursors)}
        for name, query in (("heads", HEADS), ("ids at", IDS_AT), ("pull", PULL)):
            rows = db.execute("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF) " + query, values).fetchall()
            plan = "\n".join(str(row[0]) for row in rows).partition("Planning:")[0]
            pages = sum(
                map(int, re.findall("(?:shared hit|read)=([0-9]+)", plan.partition("Buffers:")[2].split("\n")[0]))
            )
            assert pages <= 20 * len(cursors), f"{name}\n{plan}"
    with hub.connect() as db:
        db.execute("DELETE FROM aurora.entries WHERE author ~ '^a[0-9]+$'")


def test_migrations_run_once_however_many_ask(server: Server, hub: Server) -> None:
    with server.connect() as db:
        db.execute("CREATE DATABASE other")
    url = server.url().replace("/postgres?", "/other?")
    failed: list[TeamError] = []

    def create() -> None:
        try:
            with Hub.open(url, as_owner=True) as owner:
                owner.create_team(TEAM)
        except TeamError as error:
            failed.append(error)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed
    with Hub.open(url, as_owner=True) as owner:
        owner.create_team(TEAM)
        assert [member.role for member in owner.members(TEAM)] == ["owner"]


def test_a_hub_of_before_keeps_everything_and_takes_what_it_lacks(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.connect() as db:
        db.execute("CREATE DATABASE before")
        db.execute("CREATE ROLE dora LOGIN")
    url, own = (server.url(role).replace("/postgres?", "/before?") for role in ("owner", "dora"))
    with monkeypatch.context() as older, Hub.open(url, as_owner=True) as owner:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        owner.create_team(TEAM)
        owner.add_member(TEAM, "dora")
        with Hub.open(own) as hub:
            hub.claim(TEAM, person("dora"))
    with closing(record_of(tmp_path, "dora")) as record:
        entries = record.append([access(float(at)) for at in range(1, 30)])
    stream = (person("dora"), "m1")
    with psycopg.connect(own, autocommit=True) as db:
        for each in entries[:9]:
            db.execute(
                """INSERT INTO aurora.entries (team_id, repository, author, machine, id, sequence, at, kind, body)
                   VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)""",
                (TEAM, REPOSITORY, *stream, each.id, each.sequence, each.at, each.kind, each.body),
            )
    with pytest.raises(HubRefused, match="its owner runs"), Hub.open(own):
        pass
    with Hub.open(url, as_owner=True) as owner:
        owner.create_team(TEAM)
    with Hub.open(own) as hub:
        assert hub.push(TEAM, REPOSITORY, stream, entries)[0] == 20
        assert [each.entry for each in hub.pull(TEAM, REPOSITORY, {stream: 0}, 100)] == list(entries)


def test_a_newer_and_an_older_hub_are_told(hub: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub.connect() as db:
        db.execute("INSERT INTO aurora.migrations (number) VALUES (%s)", (len(schema.MIGRATIONS) + 1,))
        try:
            with pytest.raises(HubTooNew, match="goes on alone"), Hub.open(hub.url("ann")):
                pass
            with pytest.raises(HubTooNew), Hub.open(hub.url(), as_owner=True) as owner:
                owner.create_team("another")
        finally:
            db.execute("DELETE FROM aurora.migrations WHERE number > %s", (len(schema.MIGRATIONS),))
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("SELECT 1",)))
    with pytest.raises(HubRefused, match="its owner runs"), Hub.open(hub.url("ann")):
        pass
