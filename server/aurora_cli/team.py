"""`aurora team` (share, sync): records of repositories exchanged with colleagues, by a hub on a PostgreSQL server."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from aurora_cli.errors import FINE, NO, CommandError
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json
from aurora_protocol.human_text import plain

if TYPE_CHECKING:
    from aurora_memory.record.record_file import Record
    from aurora_server.configuration.settings import TeamSettings
    from aurora_server.workspace.record_place import RecordPlace
    from aurora_team.membership import Membership, Memberships
    from aurora_team.pseudonyms import Guise

SHOWN = 5
"""Ids named of entries that stay for one reason."""

UNHASHED = "it was joined by name, and team.names is hashed now: leave it, and join by another role"
"""Problem of a membership that would tell what its member does not want told any more."""

INSTALL = "aurora team needs psycopg: pip install 'aurora-context[team]'"


@click.group(no_args_is_help=False)
def team() -> None:
    """Share what was learned with a team, by a hub on PostgreSQL. Nothing is sent unless a team was joined."""
    try:
        importlib.import_module("psycopg")
    except ImportError as error:
        raise CommandError(INSTALL) from error


@team.command("create")
@click.argument("url")
@click.argument("name")
@click.pass_obj
def create(settings: GlobalOptions, url: str, name: str) -> None:
    """Make a team NAME at the database URL, as its owner; again after an upgrade, which brings the hub up to date."""
    from aurora_team.hub import Hub

    with Hub.open(url, as_owner=True, deadline=600) as hub:
        hub.create_team(name)
    _tell(settings, {"team": name}, f"the team {name} is there; let others in with: aurora team members URL {name}")


@team.command("join")
@click.argument("url")
@click.option("--team", "name", help="The team, where this role is in several.")
@click.option(
    "--key",
    "key_file",
    type=click.Path(allow_dash=True),
    help="File with the team's key of pseudonyms, as aurora team key printed it elsewhere; - for the standard input.",
)
@click.pass_obj
def join(settings: GlobalOptions, url: str, name: str | None, key_file: str | None) -> None:
    """Join the team at URL. A password comes from ~/.pgpass, a service file or PGPASSWORD, never from URL.

    Where team.names is hashed, or with --key, the team knows you by a pseudonym. Without --key a new key is made.
    """
    from aurora_team import HubRefused
    from aurora_team.hub import Hub
    from aurora_team.membership import Membership
    from aurora_team.pseudonyms import Guise, checked_key, new_key

    given = checked_key(_read(key_file)) if key_file is not None else ""
    with Hub.open(url) as hub:
        place = _place(settings)
        teams = hub.own_teams()
        if name is None and len(teams) == 1:
            name = teams[0]
        if name is None or name not in teams:
            told = (
                f"this role is in: {', '.join(teams)}; say which: --team NAME"
                if teams
                else "this role is in no team; the hub's owner lets it in with: aurora team members URL TEAM --add ROLE"
            )
            raise CommandError(told)
        with _memberships(settings).held() as memberships:
            found = [each for each in memberships if (each.url, each.team) == (url, name)]
            known = found[0].key if found else new_key() if _team(settings).names == "hashed" and not given else given
            if given not in ("", known):
                raise CommandError(
                    f"{name} was joined with another key; leave it, and join again with a role of its own"
                )
            author = Guise(place.author, place.machine, known).stream[0]
            try:
                hub.claim(name, author)
            except HubRefused as error:
                raise CommandError(
                    f"{plain(str(error))}: this role joined by another name or with another key; "
                    "give its key with --key, as aurora team key prints it there"
                ) from error
            if not found:
                memberships.append(Membership(url, name, author, reached_at=time.time(), key=known))
    by = f" as {author[:8]}, by pseudonyms; their key: aurora team key {name}" if known else ""
    joined: dict[str, object] = {"team": name, "author": author, "names": "hashed" if known else "plain"}
    _tell(settings, joined, f"joined {name}{by}; what would be sent: aurora team preview")


@team.command("key")
@click.argument("name")
@click.pass_obj
def key(settings: GlobalOptions, name: str) -> None:
    """Print the key of the pseudonyms in the team NAME, for colleagues and your other machines; not for its hub."""
    each = _named(_memberships(settings).read(), name)
    if not each.key:
        raise CommandError(f"in the team {name} members go by their names; there is no key")
    _tell(settings, {"team": each.team, "key": each.key}, each.key)


@team.command("status")
@click.pass_obj
def status(settings: GlobalOptions) -> int:
    """Say which teams were joined, when each was last reached, and what went wrong since. Asks no server."""
    memberships = _memberships(settings).read()
    if settings.json:
        told = [
            {
                "team": each.team,
                "url": each.url,
                "names": "hashed" if each.key else "plain",
                "reached_at": each.reached_at,
                "problem": each.problem,
            }
            for each in memberships
        ]
        print_json({"teams": told})
    elif not memberships:
        print("no team was joined; nothing leaves this machine")
    for each in () if settings.json else memberships:
        reached = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.reached_at))
        by = ", by pseudonyms" if each.key else ""
        print(plain(f"{each.team} at {each.url}{by}: {each.problem or 'fine'}; last reached {reached}"))
    return NO if any(each.problem for each in memberships) else FINE


@team.command("members")
@click.argument("url")
@click.argument("name")
@click.option("--add", metavar="ROLE", help="Let a role of the server in, as the hub's owner.")
@click.option("--remove", metavar="ROLE", help="Take a member out, as the hub's owner; what he sent stays.")
@click.pass_obj
def members(settings: GlobalOptions, url: str, name: str, add: str | None, remove: str | None) -> None:
    """List the members of the team NAME at URL, let one in or take one out."""
    from aurora_team.hub import Hub

    with Hub.open(url) as hub:
        if add is not None:
            hub.add_member(name, add)
        if remove is not None and not hub.remove_member(name, remove):
            raise CommandError(f"{remove} is not in the team {name}")
        found = hub.members(name)
    if settings.json:
        print_json(
            {"members": [{"role": each.role, "author": each.author, "has_left": each.has_left} for each in found]}
        )
        return
    for each in found:
        state = "left" if each.has_left else "joined" if each.author else "has not joined yet"
        print(plain(f"{each.role}: {state}"))


@team.command("leave")
@click.argument("name")
@click.pass_obj
def leave(settings: GlobalOptions, name: str) -> None:
    """Leave the team NAME (or its address). What was sent stays there; to take it back, aurora team forget first."""
    from aurora_team.hub import Hub

    with _memberships(settings).held() as memberships:
        each = _named(memberships, name)
        with Hub.open(each.url) as hub:
            hub.leave(each.team)
        memberships.remove(each)
    _tell(settings, {"left": each.team}, f"left {each.team}")


@team.command("forget")
@click.option("--pattern", default="", help="Forget this pattern, of everyone, by its id without version.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def forget(settings: GlobalOptions, pattern: str, yes: bool) -> int:
    """Forget all that you learned of this repository until now, here and at every member; or a pattern."""
    import msgspec

    from aurora_memory.record.entry import FORGET, EntryDraft, Forget

    what = f"the pattern {pattern}" if pattern else "all that you learned of this repository"
    if not yes:
        click.confirm(f"Forget {what}, here and at every member?", abort=True)
    with _record(settings) as (record, _):
        record.append(
            [EntryDraft(FORGET, msgspec.json.encode(Forget(pattern.removeprefix("reas:"))).decode(), time.time())]
        )
    return _sync(settings, again=False)


@team.command("preview")
@click.pass_obj
def preview(settings: GlobalOptions) -> None:
    """Print exactly what would be sent of this repository, an entry a line, and what stays, which, and why."""
    import msgspec

    from aurora_team import synchronization
    from aurora_team.membership import ExchangeProgress, Membership
    from aurora_team.pseudonyms import new_key

    sharing = _team(settings)
    kinds, hashed = sharing.share, sharing.names == "hashed"
    joined = _memberships(settings).read()
    unjoined = Membership("", "", "", key=new_key() if hashed else "")
    stays: dict[str, list[str]] = {}
    with _outgoing(settings, kinds) as (record, place):
        for each in joined or [unjoined]:
            to = f"{each.team} at {each.url}" if joined else "a team, with other pseudonyms" if hashed else "a team"
            if joined and hashed and not each.key:
                click.echo(plain(f"to {to}: nothing, {UNHASHED}"), err=True)
                continue
            progress = each.repositories.get(record.repository, ExchangeProgress())
            number = 0
            for entry, reason in synchronization.preview(record, progress, kinds, _guise(each, place)):
                if reason:
                    stays.setdefault(reason, []).append(entry.id)
                else:
                    number += 1
                    print(json.dumps(msgspec.to_builtins(entry)))  # escaped, so that nothing of it acts on a terminal
            click.echo(plain(f"to {to}: {number:,} {'entry' if number == 1 else 'entries'}"), err=True)
    for reason, ids in sorted(stays.items()):
        few = [*dict.fromkeys(ids)]
        more = f" and {len(few) - SHOWN:,} more" if len(few) > SHOWN else ""
        click.echo(plain(f"would stay: {len(few):,}, {reason}: {', '.join(few[:SHOWN])}{more}"), err=True)


@team.command("sync")
@click.option("--again", is_flag=True, help="Begin anew, as after a hub was restored from a backup.")
@click.pass_obj
def sync(settings: GlobalOptions, again: bool) -> int:
    """Exchange this repository's record with every team that was joined: fetch what is missing, send what is yours."""
    return _sync(settings, again=again)


def _sync(settings: GlobalOptions, *, again: bool) -> int:
    """Exchange with every team, its progress kept; the exit code."""
    from aurora_memory import StoreError
    from aurora_team import TeamError
    from aurora_team.hub import Hub
    from aurora_team.membership import ExchangeProgress
    from aurora_team.synchronization import synchronize

    sharing = _team(settings)
    kinds = sharing.share
    told: list[dict[str, object]] = []
    file = _memberships(settings)
    with file.held() as memberships, _outgoing(settings, kinds) as (record, place):
        for each in memberships:
            if sharing.names == "hashed" and not each.key:
                each.problem = UNHASHED
                told.append({"team": each.team, "problem": each.problem})
                continue
            progress = each.repositories.setdefault(record.repository, ExchangeProgress())
            try:
                with Hub.open(each.url) as hub:
                    done = synchronize(
                        hub,
                        each.team,
                        record,
                        progress,
                        kinds,
                        guise=_guise(each, place),
                        again=again,
                        keep=partial(file.write, memberships),
                    )
            except (TeamError, StoreError) as error:
                each.problem = plain(str(error))
                told.append({"team": each.team, "problem": each.problem})
                continue
            each.problem, each.reached_at = "", time.time()
            told.append({"team": each.team, **vars(done)})
    if settings.json:
        print_json({"teams": told})
        return NO if any("problem" in each for each in told) else FINE
    if not told:
        print("no team was joined; nothing was sent")
    for outcome in told:
        _print_outcome(outcome)
    return NO if any("problem" in each for each in told) else FINE


def _print_outcome(told: dict[str, object]) -> None:
    if "problem" in told:
        print(f"{told['team']}: {told['problem']}")
        return
    print(f"{told['team']}: {told['sent']} sent, {told['fetched']} fetched, {told['erased']} erased at the hub")
    if told["refused"]:
        print(f"  {told['refused']} refused: they are not what they say they are")
    stopped = told["stopped"]
    assert isinstance(stopped, dict)
    for reason, number in sorted(stopped.items()):
        print(f"  stayed: {number:,}, {plain(reason)}")
    secrets = told["secrets"]
    assert isinstance(secrets, list)
    for identity in secrets:
        print(f"  stopped for a secret: entry {identity}")


def _read(file: str) -> str:
    try:
        with click.open_file(file) as opened:
            return str(opened.read(200))
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}") from error


def _memberships(settings: GlobalOptions) -> Memberships:
    from aurora_team.membership import Memberships

    return Memberships(settings.address.home)


def _named(memberships: list[Membership], name: str) -> Membership:
    """Membership by the name of its team, or its address."""
    # All other commands name a hub by its address; where that is of one team, it is one's name as well.
    named = [each for each in memberships if each.team == name] or [each for each in memberships if each.url == name]
    if len(named) == 1:
        return named[0]
    if named:
        raise CommandError(f"several teams were joined at {name}; name one: {', '.join(each.team for each in named)}")
    raise CommandError(f"the team {name} was not joined; aurora team status lists those that were")


def _team(settings: GlobalOptions) -> TeamSettings:
    from aurora_server.configuration.settings import load

    return load({**os.environ, **settings.variables}).team


def _place(settings: GlobalOptions) -> RecordPlace:
    from aurora_server.workspace.record_place import record_place

    return asyncio.run(record_place(settings.workspace, settings.address.home))


def _guise(membership: Membership, place: RecordPlace) -> Guise:
    """What one is known by in a team."""
    from aurora_team.pseudonyms import Guise

    return Guise(place.author, place.machine, membership.key, (place.name, place.email))


@contextmanager
def _record(settings: GlobalOptions) -> Iterator[tuple[Record, RecordPlace]]:
    """Record of the repository that this workspace is in, without secrets; made where there is none yet."""
    from aurora_memory.record.secret_exchange import exchange_secrets
    from aurora_server.workspace.record_place import open_record

    place = _place(settings)
    with closing(open_record(place)) as record:
        exchange_secrets(record)
        yield record, place


@contextmanager
def _outgoing(settings: GlobalOptions, kinds: tuple[str, ...]) -> Iterator[tuple[Record, RecordPlace]]:
    """The record as it would be sent: where `team.share` has `people`, or had, it says so."""
    from aurora_memory.record import people
    from aurora_team.outbox import PEOPLE

    with _record(settings) as (record, place):
        people.state(record, place.name, time.time(), shares=PEOPLE in kinds)
        yield record, place


def _tell(settings: GlobalOptions, told: dict[str, object], words: str) -> None:
    if settings.json:
        print_json(told)
    else:
        print(plain(words))
