"""Schema of a hub (multi-tenant PostgreSQL DDL): row-level security between teams and members, and its migrations,
append-only.

Each is a transaction of its own, under one lock that only the hub's owner can take.

Every primary and unique key begins with `team_id`, so that the tables distribute on it. Row-level security is the wall
between teams and between members: `session_user`, which no member can change, says who asks. Members have no UPDATE
and no DELETE; what they may change they change through functions with a fixed search path.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, LiteralString

from psycopg.errors import DuplicateSchema, DuplicateTable, LockNotAvailable, UniqueViolation

from aurora_team import HubAway, HubRefused, HubTooNew, TeamError

if TYPE_CHECKING:
    from psycopg import Connection

LOCK_SECONDS = 10
"""Seconds that a migration waits for a table. Whoever asks for one meanwhile waits as well, and with a deadline."""

_PARTITIONS_BY_HASH: tuple[LiteralString, ...] = (
    """DO $$ BEGIN
         FOR part IN 0..31 LOOP
           EXECUTE format('CREATE TABLE aurora.entries_%s PARTITION OF aurora.entries
                           FOR VALUES WITH (MODULUS 32, REMAINDER %s)', part, part);
           EXECUTE format('ALTER TABLE aurora.entries_%s ENABLE ROW LEVEL SECURITY', part);
           EXECUTE format('ALTER TABLE aurora.entries_%s FORCE ROW LEVEL SECURITY', part);
         END LOOP;
       END $$""",
)

_TABLES: tuple[LiteralString, ...] = (
    "REVOKE ALL ON SCHEMA aurora FROM PUBLIC",
    """DO $$ BEGIN
         IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'aurora_members') THEN
           CREATE ROLE aurora_members NOLOGIN;
         END IF;
       END $$""",
    "GRANT USAGE ON SCHEMA aurora TO aurora_members",
    """CREATE TABLE aurora.teams (
         team_id text COLLATE "C" PRIMARY KEY CHECK (team_id ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
         made_at timestamptz NOT NULL DEFAULT now()
       )""",
    """CREATE TABLE aurora.members (
         team_id text COLLATE "C" NOT NULL REFERENCES aurora.teams,
         role name NOT NULL,
         author text COLLATE "C" CHECK (length(author) BETWEEN 1 AND 400),
         since timestamptz NOT NULL DEFAULT now(),
         left_at timestamptz,
         PRIMARY KEY (team_id, role),
         UNIQUE (team_id, author)
       )""",
    "CREATE SEQUENCE aurora.arrivals",
    # `arrival` rises within what one person sends from one machine: a writer takes his turn before it counts.
    """CREATE TABLE aurora.entries (
         team_id text COLLATE "C" NOT NULL,
         repository text COLLATE "C" NOT NULL CHECK (length(repository) BETWEEN 1 AND 400),
         author text COLLATE "C" NOT NULL CHECK (length(author) BETWEEN 1 AND 400),
         machine text COLLATE "C" NOT NULL CHECK (length(machine) BETWEEN 1 AND 400),
         arrival bigint NOT NULL DEFAULT nextval('aurora.arrivals'),
         id text COLLATE "C" NOT NULL CHECK (id ~ '^[0-9a-f]{32}$'),
         sequence bigint NOT NULL CHECK (sequence > 0),
         at double precision NOT NULL,
         kind text COLLATE "C" NOT NULL CHECK (length(kind) BETWEEN 1 AND 400),
         body text CHECK (octet_length(body) <= 8388608),
         PRIMARY KEY (team_id, repository, author, machine, arrival),
         UNIQUE (team_id, repository, id)
       ) PARTITION BY HASH (team_id, repository)""",
)

_RIGHTS: tuple[LiteralString, ...] = (
    """CREATE FUNCTION aurora.own_teams() RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER
       SET search_path = pg_catalog, pg_temp AS $$
         SELECT coalesce(array_agg(team_id), '{}') FROM aurora.members WHERE role = session_user AND left_at IS NULL
       $$""",
    "ALTER TABLE aurora.teams ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE aurora.teams FORCE ROW LEVEL SECURITY",
    "ALTER TABLE aurora.members ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE aurora.members FORCE ROW LEVEL SECURITY",
    "ALTER TABLE aurora.entries ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE aurora.entries FORCE ROW LEVEL SECURITY",
    # The owner of the schema: it adds members, and the functions below run as it.
    "CREATE POLICY owner ON aurora.teams TO CURRENT_USER USING (true) WITH CHECK (true)",
    "CREATE POLICY owner ON aurora.members TO CURRENT_USER USING (true) WITH CHECK (true)",
    "CREATE POLICY owner ON aurora.entries TO CURRENT_USER USING (true) WITH CHECK (true)",
    """CREATE POLICY of_own_teams ON aurora.teams FOR SELECT TO aurora_members
       USING (team_id = ANY ((SELECT aurora.own_teams())::text[]))""",
    """CREATE POLICY of_own_teams ON aurora.members FOR SELECT TO aurora_members
       USING (team_id = ANY ((SELECT aurora.own_teams())::text[]))""",
    """CREATE POLICY of_own_teams ON aurora.entries FOR SELECT TO aurora_members
       USING (team_id = ANY ((SELECT aurora.own_teams())::text[]))""",
    """CREATE POLICY as_oneself ON aurora.entries FOR INSERT TO aurora_members
       WITH CHECK ((team_id, author) IN (
         SELECT member.team_id, member.author FROM aurora.members AS member
         WHERE member.role = session_user AND member.left_at IS NULL
       ))""",
    "GRANT SELECT ON aurora.migrations, aurora.teams, aurora.members, aurora.entries TO aurora_members",
    """GRANT INSERT (team_id, repository, author, machine, id, sequence, at, kind, body)
       ON aurora.entries TO aurora_members""",
    "GRANT USAGE ON SEQUENCE aurora.arrivals TO aurora_members",
)

_FUNCTIONS: tuple[LiteralString, ...] = (
    """CREATE FUNCTION aurora.claim(team text, person text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
       SET search_path = pg_catalog, pg_temp AS $$ BEGIN
         UPDATE aurora.members SET author = person
         WHERE team_id = team AND role = session_user AND left_at IS NULL AND (author IS NULL OR author = person);
         IF NOT FOUND THEN
           RAISE insufficient_privilege
             USING MESSAGE = format('%s is not %s in the team %s', session_user, person, team);
         END IF;
       END $$""",
    """CREATE FUNCTION aurora.leave(team text) RETURNS void LANGUAGE sql SECURITY DEFINER
       SET search_path = pg_catalog, pg_temp AS $$
         UPDATE aurora.members SET left_at = now()
         WHERE team_id = team AND role = session_user AND left_at IS NULL
       $$""",
    # An entry that says that something is forgotten stays, else those who come later would not hear of it.
    """CREATE FUNCTION aurora.erase(team text, of_repository text, ids text[]) RETURNS bigint
       LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
         WITH erased AS (
           UPDATE aurora.entries AS entry SET body = NULL
           FROM aurora.members AS member
           WHERE entry.team_id = team AND entry.repository = of_repository AND entry.id = ANY (ids)
             AND entry.kind <> 'forget' AND entry.body IS NOT NULL
             AND member.team_id = entry.team_id AND member.author = entry.author
             AND member.role = session_user AND member.left_at IS NULL
           RETURNING 1
         )
         SELECT count(*) FROM erased
       $$""",
    "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA aurora FROM PUBLIC",
    "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA aurora TO aurora_members",
)

_OWN_LOCKS_AND_IDS: tuple[LiteralString, ...] = (
    # Whoever else knows an entry's id must not be able to take it first: the writer would think that he has sent it.
    "ALTER TABLE aurora.entries DROP CONSTRAINT entries_team_id_repository_id_key",
    "ALTER TABLE aurora.entries ADD UNIQUE (team_id, repository, author, id)",
    # An advisory lock can be held by any role of the server, for ever; this row by its own member alone.
    """CREATE FUNCTION aurora.take_turn(team text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
       SET search_path = pg_catalog, pg_temp AS $$ BEGIN
         PERFORM FROM aurora.members WHERE team_id = team AND role = session_user AND left_at IS NULL
         FOR NO KEY UPDATE;
       END $$""",
    "REVOKE ALL ON FUNCTION aurora.take_turn(text) FROM PUBLIC",
    "GRANT EXECUTE ON FUNCTION aurora.take_turn(text) TO aurora_members",
)

_NOTHING_BY_EXPLAIN: tuple[LiteralString, ...] = (
    # By EXPLAIN anyone is told how many rows the planner expects of a value, also of rows that he may not see. All
    # that is asked goes by a key, so that the planner needs to know nothing of the values.
    """DO $$ DECLARE of_table regclass; of_column name; BEGIN
         FOR of_table, of_column IN
           SELECT attrelid, attname FROM pg_attribute
           WHERE attrelid IN ('aurora.teams'::regclass, 'aurora.members'::regclass, 'aurora.entries'::regclass)
             AND attnum > 0 AND NOT attisdropped
         LOOP
           EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', of_table, of_column);
         END LOOP;
       END $$""",
    # Where rows are read one after the other, the server looks first at what costs least, so that a comparison with a
    # name could come before the wall, and EXPLAIN ANALYZE would tell whether a row passed it. Nothing costs less than
    # this function; the wall that is told by an array is the one that an index is read by.
    """CREATE FUNCTION aurora.among(teams text[], team text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
       PARALLEL SAFE COST 0.0001 SET search_path = pg_catalog, pg_temp AS $$ BEGIN
         RETURN team = ANY (teams);
       END $$""",
    "REVOKE ALL ON FUNCTION aurora.among(text[], text) FROM PUBLIC",
    "GRANT EXECUTE ON FUNCTION aurora.among(text[], text) TO aurora_members",
    """DO $$ DECLARE of_table text; BEGIN
         FOREACH of_table IN ARRAY ARRAY['teams', 'members', 'entries'] LOOP
           EXECUTE format('DROP POLICY of_own_teams ON aurora.%I', of_table);
           EXECUTE format('CREATE POLICY of_own_teams ON aurora.%I FOR SELECT TO aurora_members
                           USING (aurora.among((SELECT aurora.own_teams())::text[], team_id)
                                  AND team_id = ANY ((SELECT aurora.own_teams())::text[]))', of_table);
         END LOOP;
       END $$""",
    # One id after the other, each by its whole key: whatever the planner knows of the table, it can do nothing else.
    """CREATE OR REPLACE FUNCTION aurora.erase(team text, of_repository text, ids text[]) RETURNS bigint
       LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
       DECLARE own text; one text; erased bigint := 0; BEGIN
         SELECT author INTO own FROM aurora.members WHERE team_id = team AND role = session_user AND left_at IS NULL;
         IF own IS NULL OR ids IS NULL THEN RETURN 0; END IF;
         FOREACH one IN ARRAY ids LOOP
           UPDATE aurora.entries SET body = NULL
           WHERE team_id = team AND repository = of_repository AND author = own AND id = one
             AND kind <> 'forget' AND body IS NOT NULL;
           IF FOUND THEN erased := erased + 1; END IF;
         END LOOP;
         RETURN erased;
       END $$""",
)

MIGRATIONS: tuple[tuple[LiteralString, ...], ...] = (
    (*_TABLES, *_PARTITIONS_BY_HASH, *_RIGHTS, *_FUNCTIONS),
    _OWN_LOCKS_AND_IDS,
    _NOTHING_BY_EXPLAIN,
)
"""Shapes of the hub, the latest last; append only. The table `aurora.migrations` says which are there."""


def migrate(db: Connection[tuple[object, ...]]) -> int:
    """Schema migration: bring a hub's tables and their row-level security to this AURORA's shape; how many steps that
    took.

    Raises HubTooNew where a newer AURORA has been there, HubAway where somebody holds its tables. `db` commits by
    itself.
    """
    # Another owner may make them at the same moment; then they are there.
    with suppress(UniqueViolation, DuplicateSchema, DuplicateTable), db.transaction():
        db.execute("CREATE SCHEMA IF NOT EXISTS aurora")
        db.execute(
            """CREATE TABLE IF NOT EXISTS aurora.migrations (
                 number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now()
               )"""
        )
    made = 0
    try:
        while _migrated(db):
            made += 1
    except LockNotAvailable as error:
        raise HubAway(
            f"the hub's tables are held by {_holders(db) or 'somebody'}: end that session, as a superuser with "
            "SELECT pg_terminate_backend(number), and try again"
        ) from error
    return made


def _migrated(db: Connection[tuple[object, ...]]) -> bool:
    """Make the next migration under an exclusive lock; False where there is none left."""
    with db.transaction():
        db.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
        # Members, who may read the table, cannot hold this lock; an advisory one any role of the server can.
        db.execute("LOCK TABLE aurora.migrations IN EXCLUSIVE MODE")
        row = db.execute("SELECT coalesce(max(number), 0) FROM aurora.migrations").fetchone()
        shape = int(str(row[0])) if row else 0
        refuse_newer(shape)
        if shape == len(MIGRATIONS):
            return False
        for statement in MIGRATIONS[shape]:
            db.execute(statement)
        db.execute("INSERT INTO aurora.migrations (number) VALUES (%s)", (shape + 1,))
    return True


def _holders(db: Connection[tuple[object, ...]]) -> str:
    """Who has a transaction open in which the hub's tables were touched."""
    rows = db.execute(
        """SELECT DISTINCT coalesce(usename, '?'), pid FROM pg_locks JOIN pg_class ON pg_class.oid = relation
           LEFT JOIN pg_stat_activity USING (pid)
           WHERE relnamespace = 'aurora'::regnamespace AND granted AND pid <> pg_backend_pid() ORDER BY pid"""
    ).fetchall()
    return ", ".join(f"{role} (process {number})" for role, number in rows)


def refuse_name(team: str) -> None:
    """Raise TeamError where a team cannot be called so."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", team):
        raise TeamError(f"a team is not called {team[:60]!r}: up to 40 small letters, digits and hyphens, as red-crew")


def refuse_newer(shape: int) -> None:
    """Raise HubTooNew where a hub's shape is one that this AURORA does not know."""
    if shape > len(MIGRATIONS):
        raise HubTooNew(
            f"the hub has shape {shape}, and this AURORA knows {len(MIGRATIONS)}: it goes on alone; "
            "upgrade aurora-context"
        )


def refuse_older(shape: int) -> None:
    """Raise HubRefused where a hub's owner has not brought it to this AURORA's shape yet."""
    if shape < len(MIGRATIONS):
        raise HubRefused(
            f"the hub has shape {shape}, and this AURORA needs {len(MIGRATIONS)}: "
            "its owner runs 'aurora team create' again, which keeps everything"
        )
