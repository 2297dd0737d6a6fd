"""Rights at a hub: the server itself refuses what a member of another team, or a colleague, tries with psql."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

from aurora_team import HubRefused
from aurora_team.hub import Hub
from tests.team.postgres import Server
from tests.team.records import REPOSITORY, access, person, record_of
from tests.team.walls import ANN, BOB, EVE, entry_of_ann, everything, insert, walled


@pytest.fixture(scope="module")
def hub(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Server:
    return walled(server, tmp_path_factory.mktemp("records"))


_OVER = "ON CONFLICT (team_id, repository, id) DO UPDATE SET body = 'x'"
_REPLACED = "CREATE OR REPLACE FUNCTION aurora.own_teams() RETURNS text[] LANGUAGE sql AS $$ SELECT '{red}'::text[] $$"


def _first(insert: str) -> str:
    return insert.replace("(team_id", "(arrival, team_id").replace("VALUES (", "VALUES (1, ")


REFUSED = {
    "update what a colleague wrote": ("ann", f"UPDATE aurora.entries SET body = 'x' WHERE author = '{BOB}'"),
    "update what is one's own": ("ann", f"UPDATE aurora.entries SET body = 'x' WHERE author = '{ANN}'"),
    "delete": ("ann", "DELETE FROM aurora.entries"),
    "truncate": ("ann", "TRUNCATE aurora.entries"),
    "write as a colleague": ("ann", insert("red", BOB)),
    "write into another team as oneself": ("eve", insert("red", EVE)),
    "write into another team as one of it": ("eve", insert("red", ANN)),
    "write into a team that is not there": ("ann", insert("green", ANN)),
    "write over an entry": ("ann", f"{insert('red', ANN)} {_OVER}"),
    "choose a number of arrival": ("ann", _first(insert("red", ANN))),
    "copy in": ("ann", "COPY aurora.entries FROM PROGRAM 'true'"),
    "write as a colleague in a role of his": ("ann", f"SET ROLE bob; {insert('red', BOB)}"),
    "become a colleague": ("ann", "SET SESSION AUTHORIZATION bob"),
    "become the owner": ("ann", "SET ROLE owner"),
    "read a partition past its table": ("eve", "SELECT * FROM aurora.entries_0"),
    "write a partition past its table": ("eve", insert("red", ANN).replace("aurora.entries", "aurora.entries_0")),
    "turn the wall off": ("ann", "SET row_security = off; SELECT count(*) FROM aurora.entries"),
    "take the wall down": ("ann", "ALTER TABLE aurora.entries DISABLE ROW LEVEL SECURITY"),
    "make a policy": ("ann", "CREATE POLICY mine ON aurora.entries USING (true)"),
    "enter another team": ("eve", "INSERT INTO aurora.members (team_id, role) VALUES ('red', 'eve')"),
    "change who one is": ("ann", f"UPDATE aurora.members SET author = '{BOB}' WHERE role = 'ann'"),
    "claim a colleague's name": ("ann", f"SELECT aurora.claim('red', '{BOB}')"),
    "claim a name in another team": ("eve", f"SELECT aurora.claim('red', '{EVE}')"),
    "replace a function": ("ann", _REPLACED),
    "set the numbers back": ("ann", "SELECT setval('aurora.arrivals', 1)"),
    "pretend a migration": ("ann", "INSERT INTO aurora.migrations VALUES (99)"),
    "make a table in the schema": ("ann", "CREATE TABLE aurora.mine (x int)"),
    "drop a team's table": ("ann", "DROP TABLE aurora.entries"),
    "rewrite what comes in": ("ann", "CREATE RULE r AS ON INSERT TO aurora.entries DO ALSO NOTHING"),
    "watch what comes in by a trigger": (
        "ann",
        "CREATE TRIGGER t BEFORE INSERT ON aurora.entries "
        "FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    ),
    "subscribe to what is written": ("ann", "CREATE PUBLICATION p FOR TABLE aurora.entries"),
    "merge over a colleague": (
        "ann",
        f"MERGE INTO aurora.entries AS e USING (SELECT 1) AS s ON e.author = '{BOB}' WHEN MATCHED THEN DELETE",
    ),
    "delete within a query": ("ann", "WITH gone AS (DELETE FROM aurora.entries RETURNING 1) SELECT count(*) FROM gone"),
    "copy a colleague's entries as his": (
        "ann",
        "INSERT INTO aurora.entries (team_id, repository, author, machine, id, sequence, at, kind, body) "
        "SELECT team_id, repository, author, machine, md5(id), 9, at, kind, body FROM aurora.entries "
        f"WHERE author = '{BOB}'",
    ),
    "lock a colleague's entries": ("ann", f"SELECT 1 FROM aurora.entries WHERE author = '{BOB}' FOR UPDATE"),
    "lock a colleague's membership": ("ann", "SELECT 1 FROM aurora.members WHERE role = 'bob' FOR KEY SHARE"),
    "lock everybody out": ("ann", "BEGIN; LOCK TABLE aurora.entries IN SHARE ROW EXCLUSIVE MODE; COMMIT"),
    "lock migrations out": ("ann", "BEGIN; LOCK TABLE aurora.migrations IN EXCLUSIVE MODE; COMMIT"),
    "add a partition of one's own": (
        "ann",
        "CREATE TEMP TABLE mine (LIKE aurora.entries); ALTER TABLE aurora.entries ATTACH PARTITION mine "
        "FOR VALUES WITH (MODULUS 64, REMAINDER 0)",
    ),
    "become a colleague by a setting": ("ann", "SELECT set_config('session_authorization', 'bob', false)"),
    "become a colleague by his role's setting": ("ann", "SELECT set_config('role', 'bob', false)"),
    "let somebody in": ("ann", "GRANT aurora_members TO mallory"),
    "change a colleague's password": ("ann", "ALTER ROLE bob PASSWORD 'x'"),
    "take the definer's rights away": ("ann", "ALTER FUNCTION aurora.own_teams() SECURITY INVOKER"),
    "call a function leakproof": (
        "eve",
        "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE sql LEAKPROOF AS $$ SELECT true $$",
    ),
    "see whether an id is taken elsewhere": ("eve", insert("red", EVE, "TAKEN")),
    "see whether an id is taken elsewhere, quietly": (
        "eve",
        f"{insert('red', EVE, 'TAKEN')} ON CONFLICT DO NOTHING",
    ),
    "see by a key whether a team is there": ("eve", "CREATE TEMP TABLE t (x text REFERENCES aurora.teams)"),
    "count what others send by the sequence": ("eve", "SELECT last_value FROM aurora.arrivals"),
    "read what the planner knows": ("eve", "SELECT count(*) FROM pg_statistic"),
    "read a file of the server": ("eve", "SELECT pg_read_file('postgresql.conf')"),
    "read a file as a large object": ("eve", "SELECT lo_import('/etc/passwd')"),
    "reach the server from itself": ("eve", "CREATE EXTENSION dblink"),
    "dump past the wall": ("eve", "SET row_security = off; COPY aurora.entries TO STDOUT"),
    "read without a membership": ("mallory", "SELECT count(*) FROM aurora.entries"),
    "erase without a membership": ("mallory", f"SELECT aurora.erase('red', '{REPOSITORY}', ARRAY[]::text[])"),
}  # fmt: skip


@pytest.mark.parametrize("way", REFUSED)
def test_the_server_refuses(hub: Server, way: str) -> None:
    role, statement = REFUSED[way]
    taken = entry_of_ann(hub)
    statement = statement.replace("TAKEN", taken)
    before = everything(hub)
    done = hub.ask(role, statement)
    assert done.returncode != 0, f"{way}: {done.stdout}"
    assert "ERROR:" in done.stderr
    assert everything(hub) == before


NOTHING_SEEN = {
    "entries of another team": ("eve", f"SELECT count(*) FROM aurora.entries WHERE author <> '{EVE}'"),
    "members of another team": ("eve", "SELECT count(*) FROM aurora.members WHERE team_id = 'red'"),
    "names of other teams": ("eve", "SELECT count(*) FROM aurora.teams WHERE team_id <> 'blue'"),
    "a colleague's bodies, erased by another": (
        "bob",
        f"SELECT aurora.erase('red', '{REPOSITORY}', "
        f"(SELECT array_agg(id) FROM aurora.entries WHERE author = '{ANN}'))",
    ),
    "entries of another team, in the role of all members": (
        "eve",
        "SET ROLE aurora_members; SELECT count(*) FROM aurora.entries WHERE team_id = 'red'",
    ),
    "entries of another team, by a view": (
        "eve",
        "CREATE TEMP VIEW v AS SELECT * FROM aurora.entries; SELECT count(*) FROM v WHERE team_id = 'red'",
    ),
    "entries of another team, prepared": (
        "eve",
        "PREPARE p (text) AS SELECT count(*) FROM aurora.entries WHERE team_id = $1; EXECUTE p ('red')",
    ),
    "entries of another team, by a cursor that is held": (
        "eve",
        "BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT count(*) FROM aurora.entries WHERE team_id = 'red'; COMMIT; "
        "FETCH c",
    ),
    "entries of another team, by a function of one's own": (
        "eve",
        "CREATE FUNCTION pg_temp.f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS "
        "$$ SELECT count(*) FROM aurora.entries WHERE team_id = 'red' $$; SELECT pg_temp.f()",
    ),
    "entries of another team, by a place in the file": (
        "eve",
        "SELECT count(*) FROM aurora.entries WHERE ctid = '(0,1)' AND team_id = 'red'",
    ),
    "a body by the error that it makes": (
        "eve",
        "SELECT count(*) FROM aurora.entries WHERE team_id = 'red' AND 1 / (length(body) - length(body)) = 1",
    ),
    "an operator that looks into rows before the wall does": (
        "eve",
        "CREATE FUNCTION pg_temp.leak(text, text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS "
        "$$ BEGIN RAISE NOTICE 'leak %', $1; RETURN true; END $$; "
        "CREATE OPERATOR pg_temp.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.leak); "
        f"SELECT count(*) FROM aurora.entries WHERE author OPERATOR(pg_temp.===) 'x' AND author <> '{EVE}'",
    ),
    "what the planner knows of a walled table": ("eve", "SELECT count(*) FROM pg_stats WHERE schemaname = 'aurora'"),
    "what others ask": (
        "eve",
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE usename <> 'eve' AND query NOT IN ('', '<insufficient privilege>')",
    ),
    "channels that tell of others": (
        "eve",
        "LISTEN entries; SELECT count(*) FROM pg_notification_queue_usage() AS q WHERE q > 0",
    ),
    "what is everybody's, erased": ("ann", f"SELECT aurora.erase('red', '{REPOSITORY}', NULL)"),
    "entries of another team, erased": (
        "eve",
        f"SELECT aurora.erase('red', '{REPOSITORY}', ARRAY(SELECT id FROM aurora.entries))",
    ),
    "a table of one's own in a function's way": (
        "eve",
        "CREATE TEMP TABLE members AS SELECT 'red'::text AS team_id, 'eve'::name AS role, NULL::timestamptz AS left_at;"
        " SET search_path = pg_temp, aurora; SELECT count(*) FROM aurora.entries WHERE team_id = 'red'",
    ),
    "a function that looks into rows before the wall does": (
        "eve",
        "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS "
        "$$ BEGIN RAISE NOTICE 'leak %', $1; RETURN true; END $$; "
        f"SELECT count(*) FROM aurora.entries WHERE pg_temp.leak(author) AND author <> '{EVE}'",
    ),
}


@pytest.mark.parametrize("what", NOTHING_SEEN)
def test_there_is_nothing_to_be_seen(hub: Server, what: str) -> None:
    role, statement = NOTHING_SEEN[what]
    before = everything(hub)
    done = hub.ask(role, statement)
    assert done.stdout.splitlines()[-1] == "0", done.stderr
    assert ANN not in done.stderr
    assert everything(hub) == before


def test_a_colleague_reads_and_a_member_who_left_does_not(hub: Server) -> None:
    assert hub.ask("bob", f"SELECT count(*) FROM aurora.entries WHERE author = '{ANN}'").stdout == "2\n"
    with hub.connect() as db:
        db.execute("CREATE ROLE carl LOGIN")
    with Hub.open(hub.url(), as_owner=True) as owner:
        owner.add_member("red", "carl")
    with Hub.open(hub.url("carl")) as member:
        member.claim("red", person("carl"))
        assert member.own_teams() == ["red"]
        member.leave("red")
        assert member.own_teams() == []
    assert hub.psql("carl", "SELECT count(*) FROM aurora.entries").stdout == "0\n"
    assert hub.psql("carl", insert("red", person("carl"))).returncode != 0


def test_nobody_keeps_a_colleague_from_sending(hub: Server, tmp_path: Path) -> None:
    """He takes the ids of entries before they are sent, and every lock that he sees or reckons."""
    with closing(record_of(tmp_path, "ann")) as record:
        entries = record.append([access(float(at)) for at in range(100, 120)])
    key = "\x1f".join(("red", REPOSITORY, ANN, "m1"))
    with hub.connect("bob") as bob, hub.connect("eve") as eve:
        for each in entries[:10]:
            bob.execute(insert("red", BOB, each.id))  # type: ignore[arg-type]
        eve.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (key,))
        for role in (bob, eve):
            role.execute("BEGIN")
            for team in ("red", "blue"):
                role.execute("SELECT aurora.take_turn(%s)", (team,))
        with Hub.open(hub.url("ann"), deadline=60) as ann:
            assert ann.push("red", REPOSITORY, (ANN, "m1"), entries)[0] == len(entries)
            assert {each.id for each in entries} <= ann.live_ids("red", REPOSITORY, (ANN, "m1"))


def test_who_is_taken_out_leaves_his_name_to_his_new_role(hub: Server) -> None:
    with hub.connect() as db:
        for role in ("dora", "dora2"):
            db.execute(f"CREATE ROLE {role} LOGIN")  # type: ignore[arg-type]
    with Hub.open(hub.url(), as_owner=True) as owner:
        owner.add_member("red", "dora")
        owner.add_member("red", "dora2")
        with Hub.open(hub.url("dora")) as member:
            member.claim("red", person("dora"))
        with Hub.open(hub.url("dora2")) as member, pytest.raises(HubRefused, match="another role of the team red"):
            member.claim("red", person("dora"))
        assert owner.remove_member("red", "dora")
        with Hub.open(hub.url("dora2")) as member:
            member.claim("red", person("dora"))
    assert hub.ask("dora", insert("red", person("dora"))).returncode != 0
