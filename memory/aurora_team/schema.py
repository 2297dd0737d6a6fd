"""Schema of a hub: row-level security between teams and members, and migrations, append-only, under one advisory lock.

Every primary and unique key begins with `team_id`, so that the tables distribute on it. Row-level security is the wall
between teams and between members: `session_user`, which no member can change, says who asks. Members have no UPDATE
and no DELETE; what they may change they change through functions with a fixed search path.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, LiteralString

from aurora_team import HubRefused, HubTooNew, TeamError

if TYPE_CHECKING:
    from psycopg import Connection

PARTITIONS = 32

_LOCK = 0x4155524F5241
"""Key of the advisory lock that one migration holds at a time."""

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

MIGRATIONS: tuple[tuple[LiteralString, ...], ...] = (
    (*_TABLES, *_PARTITIONS_BY_HASH, *_RIGHTS, *_FUNCTIONS),
    _OWN_LOCKS_AND_IDS,
)
"""Shapes of the hub, the latest last; append only. The table `aurora.migrations` says which are there."""


def migrate(db: Connection[tuple[object, ...]]) -> int:
    """Bring a hub's tables and their row-level security to this AURORA's shape; how many migrations that took.

    Raises HubTooNew where a newer AURORA has been there. `db` commits by itself.
    """
    made = 0
    while True:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            db.execute("CREATE SCHEMA IF NOT EXISTS aurora")
            db.execute(
                """CREATE TABLE IF NOT EXISTS aurora.migrations (
                     number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now()
                   )"""
            )
            row = db.execute("SELECT coalesce(max(number), 0) FROM aurora.migrations").fetchone()
            shape = int(str(row[0])) if row else 0
            refuse_newer(shape)
            if shape == len(MIGRATIONS):
                return made
            for statement in MIGRATIONS[shape]:
                db.execute(statement)
            db.execute("INSERT INTO aurora.migrations (number) VALUES (%s)", (shape + 1,))
        made += 1


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
