"""Hub client: a connection to the PostgreSQL server of a team, as one member, with a deadline.

Blocks; run it in a thread. A server that hangs is hung up on when the deadline has passed.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, LiteralString

import msgspec
import psycopg
from msgspec import Struct
from psycopg import Connection, Pipeline, sql

from aurora_memory.record.entry import Entry
from aurora_protocol import typed
from aurora_team import HubAway, HubRefused, TeamError
from aurora_team.address import connection_text
from aurora_team.deadline import Deadline
from aurora_team.pseudonyms import Stream
from aurora_team.schema import migrate, refuse_name, refuse_newer, refuse_older

DEADLINE = 20.0
"""Seconds after which a hub counts as hanging, for one step of a synchronization."""


class TeamMember(Struct, frozen=True):
    """Member of a team: his PostgreSQL role, the author of his entries ("" before he joined), since when (Unix s)."""

    role: str
    author: str
    since: float
    has_left: bool


class Arrival(Struct, frozen=True):
    """Entry at the hub and its number there; None where its body is erased or it is no entry."""

    stream: Stream
    number: int
    id: str
    entry: Entry | None
    is_erased: bool


class News(Struct, frozen=True):
    """News of a hub, what it has now (cursors): the highest number of each stream, the ids of the entries that have the
    numbers that were asked about, and what arrived after these.
    """

    heads: dict[Stream, int]
    ids: dict[Stream, str]
    arrivals: list[Arrival]


class Hub:
    """Hub that `open` has reached. Not for several threads at once."""

    def __init__(self, db: Connection[tuple[Any, ...]], deadline: float) -> None:
        self._db = db
        self._deadline = Deadline(deadline, self._hang_up)

    @classmethod
    @contextmanager
    def open(cls, url: str, *, as_owner: bool = False, deadline: float = DEADLINE) -> Iterator[Hub]:
        """Reach a hub. Raises a TeamError: HubAway, HubRefused, HubTooNew. The owner's need not be set up yet."""
        text = connection_text(url, os.environ)
        try:
            db = psycopg.connect(text, autocommit=True)
        except psycopg.Error as error:
            raise HubAway(f"the hub cannot be reached: {_said(error)}{_hint(error)}") from error
        hub = cls(db, deadline)
        try:
            if as_owner:
                with hub._step():
                    db.execute(_OWN_NAMES)
            else:
                shape = hub._shape()
                refuse_newer(shape)
                refuse_older(shape)
            yield hub
        finally:
            hub._deadline.close()
            with suppress(psycopg.Error):
                db.close()

    def create_team(self, team: str) -> None:
        """Set the hub up, or bring it to this AURORA's shape, and make a team with this role in it."""
        refuse_name(team)
        with self._step() as db:
            migrate(db)
            with db.transaction():
                db.execute("INSERT INTO aurora.teams (team_id) VALUES (%s) ON CONFLICT DO NOTHING", (team,))
        with self._step() as db:
            user = str(_one(db.execute("SELECT session_user")))
        self.add_member(team, user)

    def add_member(self, team: str, role: str) -> None:
        """Grant of access: let a role of the server into a team, as the hub's owner; one who left comes back."""
        with self._step() as db, db.transaction():
            if not _one(db.execute("SELECT count(*) FROM pg_roles WHERE rolname = %s", (role,))):
                raise TeamError(f"the server has no role {role!r}; make it with: createuser {role} --pwprompt")
            if not _one(db.execute("SELECT count(*) FROM aurora.teams WHERE team_id = %s", (team,))):
                raise TeamError(f"the hub has no team {team!r}; make it with: aurora team create URL {team}")
            db.execute(sql.SQL("GRANT aurora_members TO {}").format(sql.Identifier(role)))
            db.execute(
                """INSERT INTO aurora.members (team_id, role) VALUES (%s, %s)
                   ON CONFLICT (team_id, role) DO UPDATE SET left_at = NULL""",
                (team, role),
            )

    def remove_member(self, team: str, role: str) -> bool:
        """Revocation of access: take a member out of a team, as the hub's owner; whether he was in it. What he sent
        stays, and whose it is another role may say then: that person's new one."""
        with self._step() as db:
            cursor = db.execute(
                """UPDATE aurora.members SET left_at = now(), author = NULL
                   WHERE team_id = %s AND role = %s AND left_at IS NULL""",
                (team, role),
            )
            return bool(cursor.rowcount)

    def own_teams(self) -> list[str]:
        """Teams that this role is in."""
        with self._step() as db:
            return sorted(typed.convert(_one(db.execute("SELECT aurora.own_teams()")), list[str]))

    def members(self, team: str) -> list[TeamMember]:
        """Members of a team, who left too, by role."""
        with self._step() as db:
            rows = db.execute(
                """SELECT role::text, coalesce(author, ''), extract(epoch FROM since)::float8, left_at IS NOT NULL
                   FROM aurora.members WHERE team_id = %s ORDER BY role""",
                (team,),
            ).fetchall()
            return [TeamMember(*row) for row in typed.convert(rows, list[tuple[str, str, float, bool]])]

    def claim(self, team: str, author: str) -> None:
        """Ownership: this role's entries are `author`'s. Raises HubRefused where another's are, or it has another."""
        with self._step() as db:
            try:
                db.execute("SELECT aurora.claim(%s, %s)", (team, author))
            except psycopg.errors.UniqueViolation as error:
                raise HubRefused(f"another role of the team {team} has the entries of this person") from error

    def leave(self, team: str) -> None:
        """Leave a team: nothing is read or written there any more. What was sent stays; forget it first."""
        with self._step() as db:
            db.execute("SELECT aurora.leave(%s)", (team,))

    def push(self, team: str, repository: str, stream: Stream, entries: Sequence[Entry]) -> tuple[int, int]:
        """Send entries of one stream, in one transaction; how many the hub did not have, and the highest number that
        it gave to one of them (0 where it had them all). May be repeated.
        """
        columns = list(zip(*((e.id, e.sequence, e.at, e.kind, e.body) for e in entries), strict=True))
        if not columns:
            return 0, 0
        author, machine = stream
        with self._step() as db, db.transaction():
            # Numbers of a stream are given out and seen in one order: a reader's cursor passes over none.
            db.execute("SELECT aurora.take_turn(%s)", (team,))
            numbers = db.execute(
                """INSERT INTO aurora.entries (team_id, repository, author, machine, id, sequence, at, kind, body)
                   SELECT %s, %s, %s, %s, id, sequence, at, kind, body
                   FROM unnest(%s::text[], %s::bigint[], %s::float8[], %s::text[], %s::text[])
                     AS given (id, sequence, at, kind, body)
                   ON CONFLICT (team_id, repository, author, id) DO NOTHING RETURNING arrival""",
                (team, repository, author, machine, *map(list, columns)),
            ).fetchall()
            told = typed.convert(numbers, list[tuple[int]])
        return len(told), max((row[0] for row in told), default=0)

    def news(self, team: str, repository: str, cursors: Mapping[Stream, int], limit: int) -> News:
        """What is new beside these numbers of streams, with at most `limit` arrivals of each, in one round trip: where
        the server, or this machine, has much to do, every other one is a wait in two queues.
        """
        values = {"team": team, "repository": repository, "limit": limit, **_columns(cursors)}
        with self._step() as db:
            # A libpq older than 14 asks one after the other.
            with db.pipeline() if Pipeline.is_supported() else nullcontext():
                heads, ids, found = (db.execute(each, values) for each in (HEADS, IDS_AT, PULL))
            numbers = typed.convert(heads.fetchall(), list[tuple[str, str, int]])
            told = typed.convert(ids.fetchall(), list[tuple[str, str, str]])
            return News(
                {(author, machine): number for author, machine, number in numbers},
                {(author, machine): identity for author, machine, identity in told},
                _arrivals(repository, found.fetchall(), cursors),
            )

    def pull(self, team: str, repository: str, cursors: Mapping[Stream, int], limit: int) -> list[Arrival]:
        """Pagination by cursors: a page of what arrived in each of these streams after its number, at most `limit` of
        each, in the order of arrival."""
        values = {"team": team, "repository": repository, "limit": limit, **_columns(cursors)}
        with self._step() as db:
            return _arrivals(repository, db.execute(PULL, values).fetchall(), cursors)

    def live_ids(self, team: str, repository: str, stream: Stream) -> set[str]:
        """Ids in a stream whose bodies are at the hub."""
        with self._step() as db:
            rows = db.execute(
                """SELECT id FROM aurora.entries WHERE team_id = %s AND repository = %s AND author = %s
                   AND machine = %s AND body IS NOT NULL AND kind <> 'forget'""",
                (team, repository, *stream),
            ).fetchall()
            return {row[0] for row in typed.convert(rows, list[tuple[str]])}

    def erase(self, team: str, repository: str, ids: Sequence[str]) -> int:
        """Erase the bodies of one's own entries at the hub; how many were there."""
        with self._step() as db:
            return int(_one(db.execute("SELECT aurora.erase(%s, %s, %s)", (team, repository, list(ids)))))

    def _shape(self) -> int:
        """Schema version of the hub. Raises HubRefused for who is in no team."""
        try:
            with self._step() as db, db.pipeline() if Pipeline.is_supported() else nullcontext():
                db.execute(_OWN_NAMES)
                return int(_one(db.execute("SELECT max(number) FROM aurora.migrations")) or 0)
        except HubRefused as error:
            raise HubRefused(
                "this role is in no team of the hub, or it is no hub; "
                f"its owner lets a role in with: aurora team members URL TEAM --add ROLE ({error})"
            ) from error

    @contextmanager
    def _step(self) -> Iterator[Connection[tuple[Any, ...]]]:
        """One step: its errors as ours; the line is cut when it takes too long. psycopg's own waits have no end.

        Answers are read within it: garbage may look like rows.
        """
        try:
            with self._deadline.kept():
                yield self._db
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedTable) as error:
            raise HubRefused(f"the hub refuses: {_said(error)}") from error
        except psycopg.Error as error:
            raise HubAway(f"the hub fails: {_said(error)}") from error
        except (ValueError, TypeError, LookupError, msgspec.ValidationError) as error:
            raise HubAway(f"the hub answers what no hub does: {_said(error)}") from error

    def _hang_up(self) -> None:
        """Shutdown of the socket, which ends whatever waits on it."""
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self._db.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)


_OWN_NAMES: LiteralString = "SET search_path = pg_catalog"
"""What is not of `aurora` is PostgreSQL's own: where anyone may make functions in `public`, as in a database that was
made by a PostgreSQL before 15, one that fits a call better would be run, and as whoever makes the call.
"""

HEADS: LiteralString = """
WITH RECURSIVE streams AS (
  (SELECT author, machine FROM aurora.entries
   WHERE team_id = %(team)s AND repository = %(repository)s ORDER BY author, machine LIMIT 1)
  UNION ALL
  SELECT following.author, following.machine FROM streams CROSS JOIN LATERAL (
    SELECT author, machine FROM aurora.entries AS entry
    WHERE team_id = %(team)s AND repository = %(repository)s
      AND (entry.author, entry.machine) > (streams.author, streams.machine)
    ORDER BY author, machine LIMIT 1
  ) AS following
)
SELECT streams.author, streams.machine, latest.arrival FROM streams CROSS JOIN LATERAL (
  SELECT arrival FROM aurora.entries AS entry
  WHERE team_id = %(team)s AND repository = %(repository)s
    AND entry.author = streams.author AND entry.machine = streams.machine
  ORDER BY arrival DESC LIMIT 1
) AS latest
"""

IDS_AT: LiteralString = """
SELECT wanted.author, wanted.machine, found.id
FROM unnest(%(authors)s::text[], %(machines)s::text[], %(numbers)s::bigint[]) AS wanted (author, machine, arrival)
CROSS JOIN LATERAL (
  SELECT arrival, id FROM aurora.entries AS entry
  WHERE team_id = %(team)s AND repository = %(repository)s
    AND entry.author = wanted.author AND entry.machine = wanted.machine AND entry.arrival >= wanted.arrival
  ORDER BY entry.arrival LIMIT 1
) AS found WHERE found.arrival = wanted.arrival
"""
"""The first from each number on: only the key by which arrivals are in order gives that at once. As a join, or by
equality alone, the planner, who knows nothing of the values, reads all of the repository or of the author instead.
"""

PULL: LiteralString = """
SELECT wanted.author, wanted.machine, found.arrival, found.id, found.sequence, found.at, found.kind, found.body
FROM unnest(%(authors)s::text[], %(machines)s::text[], %(numbers)s::bigint[]) AS wanted (author, machine, arrival)
CROSS JOIN LATERAL (
  SELECT arrival, id, sequence, at, kind, body FROM aurora.entries AS entry
  WHERE team_id = %(team)s AND repository = %(repository)s
    AND entry.author = wanted.author AND entry.machine = wanted.machine AND entry.arrival > wanted.arrival
  ORDER BY entry.arrival LIMIT %(limit)s
) AS found
"""


def _columns(numbers: Mapping[Stream, int]) -> dict[str, list[str] | list[int]]:
    """Numbers of streams as the three arrays that a query unnests."""
    return {
        "authors": [author for author, _ in numbers],
        "machines": [machine for _, machine in numbers],
        "numbers": list(numbers.values()),
    }


def _arrivals(repository: str, rows: Sequence[tuple[Any, ...]], cursors: Mapping[Stream, int]) -> list[Arrival]:
    """Arrivals of fetched rows. Raises ValueError for what was not asked for."""
    arrivals = [_arrival(repository, row) for row in rows]
    if any(each.number <= cursors[each.stream] for each in arrivals):
        raise ValueError("it sends what was not asked for")
    return arrivals


def _arrival(repository: str, row: tuple[Any, ...]) -> Arrival:
    """Arrival of one row: what is no entry counts as none."""
    author, machine, number, identity = typed.convert(row[:4], tuple[str, str, int, str])
    sequence, at, kind, body = row[4:]
    entry = None
    if body is not None:
        given = {"id": identity, "repository": repository, "author": author, "machine": machine}
        with suppress(msgspec.ValidationError):
            entry = typed.convert({**given, "sequence": sequence, "at": at, "kind": kind, "body": body}, Entry)
    return Arrival((author, machine), number, identity, entry, body is None)


def _one(cursor: psycopg.Cursor[tuple[Any, ...]]) -> Any:
    row = cursor.fetchone()
    return row[0] if row else None


def _said(error: Exception) -> str:
    """The first line of what a server said, and no more of it than fits on one."""
    return (str(error).strip().splitlines() or ["it hung up"])[0][:300]


def _hint(error: Exception) -> str:
    """What to do about a line that was refused, where libpq says only what it lacks."""
    said = str(error)
    if "authentication method requirement" in said:  # `address.connection_text` has it of hubs on this machine
        return "; if the hub is to have it, add ?require_auth=password, or md5, to its address"
    return "; put it into ~/.pgpass or PGPASSWORD" if "no password supplied" in said else ""
