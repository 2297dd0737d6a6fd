"""Side doors of a hub: what the server knows beside the tables, what it could be made to run, and what can be held."""

from __future__ import annotations

import re
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

import psycopg

from aurora_team import HubAway, schema
from aurora_team.hub import Hub
from tests.team.postgres import Server
from tests.team.records import REPOSITORY, access, person, record_of
from tests.team.walls import ANN, BOB, entry_of_ann, everything, walled


@pytest.fixture(scope="module")
def hub(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Server:
    return walled(server, tmp_path_factory.mktemp("records"))


REFUSED = {
    "run a program": "COPY (SELECT 1) TO PROGRAM 'id'",
    "write a file of the server": "COPY (SELECT 1) TO '/tmp/aurora'",
    "be told of every statement": (
        "CREATE FUNCTION pg_temp.t() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$; "
        "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION pg_temp.t()"
    ),
    "hold locks without a session": "BEGIN; SELECT 1 FROM aurora.entries; PREPARE TRANSACTION 'held'",
    "pass as a replica": "SET session_replication_role = replica",
    "keep what is written": "SELECT pg_create_logical_replication_slot('s', 'pgoutput')",
    "let a colleague's statements time out": "ALTER ROLE bob SET statement_timeout = 1",
    "let everybody's statements time out": "ALTER DATABASE postgres SET statement_timeout = 1",
    "let the server's statements time out": "ALTER SYSTEM SET statement_timeout = 1",
    "an index of one's own": "CREATE INDEX ON aurora.entries (body)",
    "statistics of one's own": "CREATE STATISTICS s (mcv) ON author, machine FROM aurora.entries",
    "let the planner learn values": "ALTER TABLE aurora.entries ALTER COLUMN author SET STATISTICS 100",
    "a table that is a part of it": "CREATE TEMP TABLE mine () INHERITS (aurora.entries_0)",
    "call it otherwise": "ALTER TABLE aurora.entries RENAME TO gone",
    "own it": "ALTER TABLE aurora.entries OWNER TO ann",
    "own all": "REASSIGN OWNED BY owner TO ann",
    "drop what the owner has": "DROP OWNED BY owner",
    "take every member's rights away": "DROP OWNED BY aurora_members",
    "let a friend in": "GRANT aurora_members TO mallory",
    "let a friend in as the members' role": "SET ROLE aurora_members; GRANT aurora_members TO mallory",
    "let nobody read as a member": "ALTER ROLE aurora_members SET search_path = pg_temp",
    "pass a function off as one that tells nothing": (
        "CREATE FUNCTION pg_temp.told(text) RETURNS boolean LEAKPROOF LANGUAGE sql AS 'SELECT true'"
    ),
    "join a part of one's own to it": (
        "CREATE TEMP TABLE mine (LIKE aurora.entries); "
        "ALTER TABLE aurora.entries ATTACH PARTITION mine FOR VALUES WITH (MODULUS 32, REMAINDER 1)"
    ),
    "take a part away from it": "ALTER TABLE aurora.entries DETACH PARTITION aurora.entries_3",
    "probe by a foreign key": "CREATE TABLE pg_temp.probe (team_id text REFERENCES aurora.teams)",
    "read a part past the wall": "COPY aurora.entries_3 TO STDOUT",
    "read the highest number": "SELECT last_value FROM aurora.arrivals",
    "stand in for the wall's function": (
        "CREATE OR REPLACE FUNCTION aurora.among(teams text[], team text) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    ),
    "leave it locked while it is built anew": "REINDEX TABLE aurora.entries",
    "begin the numbers anew": "ALTER SEQUENCE aurora.arrivals RESTART",
    "read the server's settings": "SELECT * FROM pg_hba_file_rules",
    "read passwords": "SELECT rolpassword FROM pg_authid",
    "read the server's log": "SELECT pg_ls_logdir()",
    "another server's tables": "CREATE EXTENSION postgres_fdw",
    "a language that may do anything": "CREATE LANGUAGE plpython3u",
    "claim a name for nobody": "SELECT aurora.claim('red', NULL)",
    "a schema before the others": "CREATE SCHEMA ann",
    "functions for everybody": "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "functions for the hub": "CREATE FUNCTION aurora.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "turns of everybody": "SELECT team_id FROM aurora.members FOR NO KEY UPDATE",
}


@pytest.mark.parametrize("way", REFUSED)
def test_the_server_refuses(hub: Server, way: str) -> None:
    before = everything(hub)
    done = hub.ask("ann", REFUSED[way])
    assert done.returncode != 0 and "ERROR:" in done.stderr, f"{way}: {done.stdout}"
    assert everything(hub) == before


NOTHING_SEEN = {
    "by a function of the wall in its way": (
        "CREATE FUNCTION pg_temp.own_teams() RETURNS text[] LANGUAGE sql AS $$ SELECT '{red}'::text[] $$; "
        "CREATE FUNCTION pg_temp.array_agg(text) RETURNS text[] LANGUAGE sql AS $$ SELECT '{red}'::text[] $$; "
        "SET search_path = pg_temp, aurora, pg_catalog; SELECT count(*) FROM aurora.entries WHERE team_id = 'red'"
    ),
    "by a statement that a function makes": (
        "SELECT array_length(xpath('//row', query_to_xml("
        "'SELECT * FROM aurora.entries WHERE team_id = ''red''', true, false, '')), 1) IS NOT NULL AS seen"
    ),
    "by a sample": "SELECT count(*) FROM aurora.entries TABLESAMPLE SYSTEM (100) WHERE team_id = 'red'",
    "beside a row of one's own": (
        "SELECT count(*) FROM (SELECT 'red' AS team) AS mine, LATERAL "
        "(SELECT * FROM aurora.entries WHERE team_id = mine.team) AS theirs"
    ),
    "by a loop": (
        "DO $$ DECLARE each record; BEGIN FOR each IN SELECT * FROM aurora.entries WHERE team_id = 'red' LOOP "
        "RAISE EXCEPTION 'seen %', each.author; END LOOP; END $$; SELECT 0"
    ),
    "by taking their turn": "SELECT aurora.take_turn('red'); SELECT count(*) FROM aurora.members WHERE team_id = 'red'",
    "by taking them out": "SELECT aurora.leave('red'); SELECT count(*) FROM aurora.teams WHERE team_id = 'red'",
    "by erasing nothing of them": f"SELECT aurora.erase('red', '{REPOSITORY}', ARRAY[[NULL, ''], ['TAKEN', 'TAKEN']])",
}


@pytest.mark.parametrize("way", NOTHING_SEEN)
def test_nothing_of_another_team_is_seen(hub: Server, way: str) -> None:
    taken = entry_of_ann(hub)
    before = everything(hub)
    done = hub.ask("eve", NOTHING_SEEN[way].replace("TAKEN", taken))
    assert done.returncode == 0 and done.stdout.splitlines()[-1] in ("0", "f"), done.stdout + done.stderr
    assert everything(hub) == before


def test_explain_tells_nobody_who_writes_to_another_team(hub: Server) -> None:
    """What it says of a name is the same whether somebody goes by it or not, however the rows are read."""
    with hub.connect() as db:
        db.execute(
            """INSERT INTO aurora.entries (team_id, repository, author, machine, id, sequence, at, kind, body)
               SELECT 'red', %s, %s, 'm1', md5(n::text), n, n, 'access', '{}' FROM generate_series(1, 3000) AS n""",
            (REPOSITORY, ANN),
        )
        db.execute("ANALYZE aurora.entries, aurora.members, aurora.teams")
    ways = ("", "SET enable_seqscan = off;", "SET enable_indexscan = off; SET enable_bitmapscan = off;")
    queries = (
        "SELECT 1 FROM aurora.entries WHERE author = '{}'",
        "SELECT 1 FROM aurora.entries WHERE author = ANY (ARRAY['{}'])",
        f"SELECT 1 FROM aurora.entries WHERE team_id = 'red' AND repository = '{REPOSITORY}' AND author = '{{}}'",
        "SELECT 1 FROM aurora.members WHERE author = '{}'",
    )
    try:
        for way, query in product(ways, queries):
            told = []
            for author in (ANN, person("nobody")):
                explain = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)"
                done = hub.ask("eve", f"{way} {explain} {query.format(author)}")
                said = done.stdout.partition("Planning:")[0].replace(author, "WHO")
                told.append(re.sub("(shared hit|read|dirtied)=[0-9]+", "", said))
            assert told[0] == told[1], (way, query)
            assert "rows=3000" not in told[0]
    finally:
        with hub.connect() as db:
            db.execute("DELETE FROM aurora.entries WHERE sequence > 2")


def test_a_colleague_cannot_end_ones_session(hub: Server) -> None:
    with hub.connect("ann") as ann:
        pid = ann.info.backend_pid
        for function in ("pg_terminate_backend", "pg_cancel_backend"):
            done = hub.ask("bob", f"SELECT {function}({pid})")
            assert done.returncode != 0 and "ERROR:" in done.stderr
        assert ann.execute("SELECT 1").fetchone() == (1,)


def test_functions_of_others_are_not_run_as_who_sends(server: Server, hub: Server, tmp_path: Path) -> None:
    """In a database that a PostgreSQL before 15 made, anyone may make functions in `public`."""
    trap = "CREATE FUNCTION public.{} AS $$ BEGIN RAISE EXCEPTION 'run as %', session_user; END $$"
    with hub.connect() as db:
        db.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    try:
        with hub.connect("eve") as eve:
            for signature in (
                "unnest(text[]) RETURNS SETOF text LANGUAGE plpgsql",
                "unnest(bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql",
                "unnest(double precision[]) RETURNS SETOF double precision LANGUAGE plpgsql",
                "format(text, integer, integer) RETURNS text LANGUAGE plpgsql",
                "format(text, regclass, name) RETURNS text LANGUAGE plpgsql",
            ):
                eve.execute(trap.format(signature))  # type: ignore[arg-type]
        with closing(record_of(tmp_path, "ann")) as record, Hub.open(hub.url("ann")) as ann:
            entries = record.append([access(5.0)])
            assert ann.push("red", REPOSITORY, (ANN, "m1"), entries)[0] == 1
            assert ann.news("red", REPOSITORY, {(ANN, "m1"): 0}, 10).arrivals
        with hub.connect() as db:
            db.execute("CREATE DATABASE second TEMPLATE postgres")
        url = server.url().replace("/postgres?", "/second?")
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("DROP SCHEMA aurora CASCADE")
        with Hub.open(url, as_owner=True) as owner:
            owner.create_team("red")
    finally:
        with hub.connect() as db:
            db.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
            db.execute("DROP OWNED BY eve")
        with Hub.open(hub.url(), as_owner=True) as owner:
            owner.add_member("blue", "eve")


def test_nobody_holds_up_the_owner_for_long(server: Server, hub: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """An advisory lock of a member costs nothing; a table that he reads in a transaction is told, with his name."""
    with hub.connect("eve") as eve, monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("ALTER TABLE aurora.entries ADD more text",)))
        newer.setattr(schema, "LOCK_SECONDS", 1)
        eve.execute("SELECT pg_advisory_lock(%s)", (0x4155524F5241,))
        eve.execute("BEGIN")
        eve.execute("SELECT count(*) FROM aurora.entries")
        pid = eve.info.backend_pid
        with (
            Hub.open(hub.url(), as_owner=True) as owner,
            pytest.raises(HubAway, match=re.escape(f"held by eve (process {pid})")),
        ):
            owner.create_team("red")
        newer.undo()
        with Hub.open(hub.url("bob")) as bob:
            assert bob.own_teams() == ["red"]


def test_erasing_reads_only_what_it_erases_whatever_the_planner_knows(hub: Server) -> None:
    """In a table that was never analyzed, too: rows are reached by their whole key."""
    with hub.connect() as db:
        db.execute(
            """INSERT INTO aurora.entries (team_id, repository, author, machine, id, sequence, at, kind, body)
               SELECT 'red', %s, %s, 'm1', md5('bob' || n), n, n, 'access', '{}' FROM generate_series(10, 4009) AS n""",
            (REPOSITORY, BOB),
        )
        ids = [row[0] for row in db.execute("SELECT md5('bob' || n) FROM generate_series(10, 209) AS n").fetchall()]
        db.execute("SELECT pg_stat_reset()")
    with hub.connect("bob") as bob:
        assert bob.execute("SELECT aurora.erase('red', %s, %s)", (REPOSITORY, ids)).fetchone() == (200,)
        bob.execute("SELECT pg_stat_force_next_flush()")
    with hub.connect() as db:
        read = db.execute(
            """SELECT sum(seq_tup_read), sum(idx_tup_fetch) FROM pg_stat_user_tables
               WHERE schemaname = 'aurora' AND relname LIKE 'entries_%'"""
        ).fetchone()
        db.execute("DELETE FROM aurora.entries WHERE author = %s AND sequence > 9", (BOB,))
    assert read == (0, 200)
