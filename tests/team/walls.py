"""Hub with walls to be tried: two teams, three members, and one who is in none."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from aurora_team.hub import Hub
from tests.team.postgres import Server
from tests.team.records import REPOSITORY, access, person, record_of

ANN, BOB, EVE = person("ann"), person("bob"), person("eve")


def walled(server: Server, folder: Path) -> Server:
    """Hub with ann and bob in the team red, eve in the team blue, and mallory in none; each sent two entries."""
    with server.connect() as db:
        for role in ("ann", "bob", "eve", "mallory"):
            db.execute(f"CREATE ROLE {role} LOGIN")
    with Hub.open(server.url(), as_owner=True) as owner:
        for team, roles in (("red", ("ann", "bob")), ("blue", ("eve",))):
            owner.create_team(team)
            for role in roles:
                owner.add_member(team, role)
    for team, role in (("red", "ann"), ("red", "bob"), ("blue", "eve")):
        with closing(record_of(folder, role)) as record, Hub.open(server.url(role)) as member:
            member.claim(team, person(role))
            entries = record.append([access(1.0), access(2.0)])
            assert member.push(team, REPOSITORY, (person(role), "m1"), entries)[0] == 2
    return server


def insert(team: str, author: str, identity: str = "f" * 32) -> str:
    """Statement that writes an entry."""
    return (
        "INSERT INTO aurora.entries (team_id, repository, author, machine, id, sequence, at, kind, body) "
        f"VALUES ('{team}', '{REPOSITORY}', '{author}', 'm1', '{identity}', 9, 1.0, 'access', '{{}}')"
    )


def everything(server: Server) -> list[tuple[object, ...]]:
    """All that the hub has, by a connection: `psql`, as which others come, takes five times as long to begin."""
    with server.connect() as db:
        return db.execute("SELECT * FROM aurora.entries, aurora.members ORDER BY 1, 3, 5, 11, 12").fetchall()


def entry_of_ann(server: Server) -> str:
    """Id of an entry of Ann's."""
    with server.connect() as db:
        ((identity,),) = db.execute("SELECT id FROM aurora.entries WHERE author = %s LIMIT 1", [ANN]).fetchall()
    return str(identity)
