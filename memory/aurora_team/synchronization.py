"""Synchronization (replication, by cursors) of a repository's record with a hub: fetch what is missing, then send what
is one's own.

Everything may be cut off anywhere and done again (at-least-once delivery): the record and the hub take an entry once,
and a cursor moves only after what it passes over is on the disk. Blocks; run it in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from aurora_memory import StoreError
from aurora_memory.record.entry import FORGET, Entry
from aurora_memory.record.record_file import Record
from aurora_team.hub import Arrival, Hub
from aurora_team.membership import ExchangeProgress
from aurora_team.outbox import SendVerdict, judge
from aurora_team.pseudonyms import Guise, Stream

BATCH = 1000
"""Entries that are sent in one transaction."""
PAGE = 5000
"""Entries that are fetched at once, of all streams together."""
LEAST_PAGE = 50


@dataclass
class Outcome:
    """Outcome of a synchronization: entries fetched and new, sent and new to the hub, erased there, refused here.

    `stopped` has each reason for which entries stayed, with their number; `secrets` the ids of those that hold one.
    """

    fetched: int = 0
    sent: int = 0
    erased: int = 0
    refused: int = 0
    stopped: dict[str, int] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)


def _unkept() -> None:
    """What keeps a progress that is to be forgotten."""


def synchronize(
    hub: Hub,
    team: str,
    record: Record,
    progress: ExchangeProgress,
    kinds: Collection[str],
    *,
    guise: Guise | None = None,
    again: bool = False,
    keep: Callable[[], None] = _unkept,
) -> Outcome:
    """Set reconciliation: bring a record and a hub to the same entries. `progress` is moved on, also where an error
    ends it, and `keep` is called whenever it was: who is killed in a long exchange does not begin anew.

    `guise` is by what one is known at the hub; without it as oneself. `again` begins anew, as after a hub was restored
    from a backup. Raises TeamError, StoreError.
    """
    guise = guise or Guise(record.author, record.machine)
    if again:
        progress.pulled, progress.ids, progress.sent, progress.acknowledged = [], [], 0, 0
    outcome = Outcome()
    forgets, head = _fetch(hub, team, record, guise, progress, outcome, keep)
    forgets |= _send(hub, team, record, guise, progress, head, kinds, outcome, keep)
    forgotten = record.forgotten()
    if forgets or forgotten > progress.forgotten:
        gone = hub.live_ids(team, record.repository, guise.stream) - _own_ids(record, guise)
        outcome.erased = hub.erase(team, record.repository, sorted(gone))
    if progress.forgotten != forgotten:
        progress.forgotten = forgotten
        keep()
    return outcome


def preview(
    record: Record, progress: ExchangeProgress, kinds: Collection[str], guise: Guise | None = None
) -> Iterable[tuple[Entry, str]]:
    """Own entries that were not sent yet, as they would be, each with the reason for which it stays, "" for none."""
    guise = guise or Guise(record.author, record.machine)
    number = progress.sent if progress.kinds == _named(kinds) else 0
    while found := record.after(number, BATCH):
        number = found[-1][0]
        for _, entry in found:
            if (entry.author, entry.machine) == (record.author, record.machine):
                leaving = guise.leaving(entry)
                yield leaving, _judge(leaving, kinds, guise).reason


def _fetch(
    hub: Hub,
    team: str,
    record: Record,
    guise: Guise,
    progress: ExchangeProgress,
    outcome: Outcome,
    keep: Callable[[], None],
) -> tuple[bool, int]:
    """Fetch what is missing; whether something of it says that something is forgotten, and the highest number that the
    hub has of what was sent from here.
    """
    reached: dict[Stream, int] = {(author, machine): number for author, machine, number in progress.pulled}
    known = {(author, machine): identity for author, machine, identity in progress.ids}
    # What came from here is not fetched, unless that was begun: a record that was lost gets all of it back.
    is_here = (record.author, record.machine) in record.heads() and guise.stream not in reached
    news = hub.news(team, record.repository, reached, _page(reached))
    heads, there = news.heads, news.ids
    wanted: dict[Stream, int] = {}
    restored: set[Stream] = set()
    for stream, head in heads.items():
        if stream == guise.stream and is_here:
            continue
        after = reached.get(stream, 0)
        # The hub was restored: it has less than it had, or has given the numbers that it had to other entries since.
        if after > head or known.get(stream, there.get(stream)) != there.get(stream):
            restored.add(stream)
            after = 0
        wanted[stream] = after
    known = there | known
    forgets = False
    arrivals = [each for each in news.arrivals if each.stream in wanted and each.stream not in restored]
    while True:
        if arrivals:
            forgets |= _take(record, guise, arrivals, outcome)
            for each in arrivals:
                if each.number > wanted[each.stream]:
                    wanted[each.stream], known[each.stream] = each.number, each.id
            reached |= wanted
            progress.ids = [(author, machine, identity) for (author, machine), identity in sorted(known.items())]
            progress.pulled = [(author, machine, number) for (author, machine), number in sorted(reached.items())]
            keep()
        wanted = {stream: number for stream, number in wanted.items() if number < heads[stream]}
        arrivals = hub.pull(team, record.repository, wanted, _page(wanted)) if wanted else []
        if not arrivals:
            return forgets, heads.get(guise.stream, 0)


def _page(streams: Collection[object]) -> int:
    """Entries that are fetched of each stream at once."""
    return max(LEAST_PAGE, PAGE // max(1, len(streams)))


def _take(record: Record, guise: Guise, arrivals: list[Arrival], outcome: Outcome) -> bool:
    """Ingestion of what came. One that is not what it says it is does not keep the others out."""
    entries = [guise.arriving(each.entry) for each in arrivals if each.entry is not None]
    outcome.refused += sum(each.entry is None and not each.is_erased for each in arrivals)
    try:
        outcome.fetched += record.union(entries)
    except (StoreError, ValueError):
        for entry in entries:
            try:
                outcome.fetched += record.union([entry])
            except (StoreError, ValueError):
                outcome.refused += 1
    return any(entry.kind == FORGET for entry in entries)


def _send(
    hub: Hub,
    team: str,
    record: Record,
    guise: Guise,
    progress: ExchangeProgress,
    head: int,
    kinds: Collection[str],
    outcome: Outcome,
    keep: Callable[[], None],
) -> bool:
    """Send what is one's own; whether something of it says that something is forgotten."""
    own = (record.author, record.machine)
    if progress.kinds != _named(kinds) or head < progress.acknowledged:
        progress.sent = 0  # other kinds are shared now, or the hub was restored
        progress.kinds = _named(kinds)
    forgets = False
    while found := record.after(progress.sent, BATCH):
        passed: list[Entry] = []
        for _, entry in found:
            if (entry.author, entry.machine) != own:
                continue
            leaving = guise.leaving(entry)
            verdict = _judge(leaving, kinds, guise)
            if not verdict.reason:
                passed.append(leaving)
                continue
            outcome.stopped[verdict.reason] = outcome.stopped.get(verdict.reason, 0) + 1
            if verdict.is_secret:
                outcome.secrets.append(entry.id)
        new, number = hub.push(team, record.repository, guise.stream, passed)
        outcome.sent += new
        forgets |= any(entry.kind == FORGET for entry in passed)
        progress.sent = found[-1][0]
        progress.acknowledged = max(progress.acknowledged, number)
        keep()
    return forgets


def _judge(leaving: Entry, kinds: Collection[str], guise: Guise) -> SendVerdict:
    """Verdict of the sharing policy, and on names that are to stay hidden."""
    verdict = judge(leaving, kinds)
    if not verdict.reason and guise.names_in(leaving):
        return SendVerdict("it holds your name, and names are hashed")
    return verdict


def _own_ids(record: Record, guise: Guise) -> set[str]:
    """Ids by which the hub knows what is in the record and was sent from here."""
    found: set[str] = set()
    sequence = 0
    while page := record.of(record.author, record.machine, sequence):
        found.update(guise.leaving(each).id for each in page)
        sequence = page[-1].sequence
    return found


def _named(kinds: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(kinds))
