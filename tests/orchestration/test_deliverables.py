"""The deliverables of a workspace on a real memory file: kept, refused, told of, found again."""

import asyncio
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aurora_deliverables import deliverables as module
from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.deliverables import Deliverables
from aurora_deliverables.event_validation import read as reading
from aurora_deliverables.event_validation import written
from aurora_deliverables.events import Ended, Event, EventBody, Started, TasksCounted, TokensUsed, ToolCalled
from aurora_deliverables.reducer import fold
from aurora_deliverables.tracking import Recorded, Tracking
from aurora_memory import StoreError
from aurora_memory.store import LoggedEvent, Store, deliverable_log
from aurora_memory.store.reader import Reader
from aurora_memory.store.record_position import RecordPosition
from tests.growth import bytes_kept
from tests.orchestration.logs import NINE, begin, end, log
from tests.programs import CODE, start
from tests.shares import long
from tests.wait_limits import HANG


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path / "memory.db")
    yield store
    await store.close()


@pytest.fixture
async def deliverables(store: Store) -> Deliverables:
    return Deliverables(store, lambda: NINE)


def test_it_is_what_the_others_expect(deliverables: Deliverables) -> None:
    tracking: Tracking = deliverables
    assert callable(tracking.record)


async def test_what_was_recorded_is_there_for_the_next_process(store: Store, deliverables: Deliverables) -> None:
    events = log((0, Started("Add search")), (1, begin("apply")), (2, ToolCalled("bash")))
    assert await deliverables.record(events) == Recorded(accepted=3)
    assert await deliverables.record(events[1:]) == Recorded(duplicates=2)
    other = Deliverables(store, lambda: NINE)
    expected = fold(events)
    assert expected is not None
    assert await other.get("add-search") == await deliverables.get("add-search") == expected
    assert list(await other.all()) == [expected]
    assert list(await other.events("add-search")) == events
    assert await other.get("nothing") is None and list(await other.events("nothing")) == []


async def test_nothing_is_read_before_the_first_question(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    rows = Reader.rows

    def counted(reader: Reader, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        asked.append(sql)
        return rows(reader, sql, values)

    monkeypatch.setattr(Reader, "rows", counted)
    deliverables = Deliverables(store, time.time)
    deliverables.listen(lambda *_: None)
    assert asked == []
    await deliverables.all()
    assert len(asked) == 1
    await deliverables.all()
    assert len(asked) == 1, "nothing was written since"


@pytest.mark.parametrize(
    ("before", "then", "legal"),
    [
        ([], Ended("completed"), ["deliverable_start", "phase_start", "propose"]),
        ([], end("apply"), ["deliverable_start"]),
        ([begin("apply")], end("verify"), ["phase_end of apply", "phase_start"]),
        ([begin("apply"), end("apply")], end("apply"), ["phase_start of propose"]),
        ([begin("apply"), Ended("completed")], begin("verify"), ["tokens", "change id of its own"]),
        ([begin("apply"), Ended("failed")], ToolCalled("bash"), ["conformance"]),
        ([begin("apply"), Ended("failed")], Ended("completed"), ["failed already"]),
        ([begin("archive"), end("archive")], begin("apply"), ["is completed", "deliverable_start"]),
    ],
)
async def test_what_may_not_follow_is_refused_with_what_may(
    deliverables: Deliverables, before: list[EventBody], then: EventBody, legal: list[str]
) -> None:
    await deliverables.record(log(*((minute, what) for minute, what in enumerate(before))))
    known = await deliverables.get("add-search")
    bad = Event("bad", "add-search", NINE + 3600, then)
    recorded = await deliverables.record([bad])
    assert (recorded.accepted, recorded.duplicates) == (0, 0)
    (refusal,) = recorded.refused
    assert refusal.event_id == "bad" and "\n" not in refusal.reason and "add-search" in refusal.reason
    assert all(word in refusal.reason for word in legal), refusal.reason
    assert await deliverables.get("add-search") == known
    assert bad not in await deliverables.events("add-search")


async def test_an_end_that_overtook_its_beginning_counts_when_that_comes(deliverables: Deliverables) -> None:
    start, apply, stop = log((0, Started()), (1, begin("apply")), (2, Ended("completed")))
    early = await deliverables.record([stop])
    assert [each.event_id for each in early.refused] == [stop.id]
    assert await deliverables.get("add-search") is None
    assert (await deliverables.record([apply, start])).accepted == 2
    known = await deliverables.get("add-search")
    assert known is not None and known.status == "completed"


async def _recorded_by_agents(path: Path, events: Sequence[Event], chance: random.Random) -> dict[str, Deliverable]:
    """Several agents at once, each with some of the events in some order, some of them told twice."""
    store = await Store.open(path)
    try:
        deliverables = Deliverables(store, lambda: NINE)
        told = [*events, *chance.sample(list(events), len(events) // 3)]
        chance.shuffle(told)
        agents = [told[n::4] for n in range(4)]

        async def agent(mine: Sequence[Event]) -> None:
            while mine:
                size = chance.randint(1, 5)
                await deliverables.record(mine[:size])
                mine = mine[size:]

        await asyncio.gather(*map(agent, agents))
        known = {each.change_id: each for each in await deliverables.all()}
        again = {each.change_id: each for each in await Deliverables(store, lambda: NINE).all()}
        assert again == known, "what is remembered is what the log says"
        await deliverables.close()
        kept = {each.change_id: each for each in await Deliverables(store, lambda: NINE).all()}
        assert kept == known
        return known
    finally:
        await store.close()


@pytest.mark.parametrize("seed", [0, 1, 5, *map(long, (2, 3, 4))])  # of three seeds each setting is one once
async def test_four_agents_in_any_order_end_in_one_state(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(module, "KEPT_EVENTS", chance.choice([0, 20, 100_000]))
    monkeypatch.setattr(module, "KEPT_FOLDS", seed % 3)
    monkeypatch.setattr(module, "PAGE", chance.choice([3, 5000]))
    monkeypatch.setattr(module, "SAVE_EVERY", chance.choice([10, 1000]))
    monkeypatch.setattr(module, "FEW", chance.choice([0, 50]))
    kinds: list[EventBody] = [
        Started("x"),
        *(begin(phase) for phase in ("propose", "tasks", "apply", "verify", "apply", "verify", "archive")),
        end("apply"),
        end("verify"),
        TasksCounted(8, 3),
        ToolCalled("bash", 2),
        TokensUsed(3, 4),
        Ended("completed"),
    ]
    events = [Event(f"e{n}", f"change-{n % 3}", NINE + chance.randint(0, 40), chance.choice(kinds)) for n in range(120)]
    expected = {
        change: folded
        for change in {event.change_id for event in events}
        if (folded := fold(event for event in events if event.change_id == change)) is not None
    }
    assert await _recorded_by_agents(tmp_path / "memory.db", events, chance) == expected


@pytest.mark.long
async def test_a_deliverable_more_costs_what_it_amounts_to_and_its_events_are_on_the_disk(
    deliverables: Deliverables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those told of before only what they amount to stays: a year of 2,000 is 2 MB."""
    monkeypatch.setattr(module, "KEPT_FOLDS", 8)
    monkeypatch.setattr(module, "KEPT_EVENTS", 16)
    kinds: list[EventBody] = [Started("x"), begin("apply"), TasksCounted(8, 3), *[ToolCalled("bash", 2)] * 20]

    async def change(number: int) -> None:
        told = [Event(f"e{number}-{place}", f"change-{number}", NINE - place, what) for place, what in enumerate(kinds)]
        for few in (told[:2], told[2:]):
            await deliverables.record(few)

    kept = await bytes_kept(change, 12, 24)
    assert kept < 2_000
    (first,) = [each for each in await deliverables.all() if each.change_id == "change-0"]
    assert first.tool_calls == {"bash": 40}
    await deliverables.record([Event("late", "change-0", NINE, ToolCalled("bash", 2))])
    assert (await deliverables.get("change-0")).tool_calls == {"bash": 42}  # type: ignore[union-attr]


async def test_events_out_of_bounds_are_refused_and_cost_nothing(store: Store, deliverables: Deliverables) -> None:
    good = log((0, begin("apply")))
    bad = [
        Event("", "x", NINE, begin("apply")),
        Event("n" * 300, "x", NINE, begin("apply")),
        Event("no-name", "", NINE, begin("apply")),
        Event("lines", "a\nb", NINE, begin("apply")),
        Event("surrogate", "\ud800", NINE, begin("apply")),
        Event("no-time", "x", float("nan"), begin("apply")),
        Event("before-time", "x", -1.0, begin("apply")),
        Event("minus", "x", NINE, ToolCalled("bash", -1)),
        Event("long", "x", NINE, Started("d" * 5000)),
        Event("no-phase", "x", NINE, begin("coffee")),  # type: ignore[arg-type]
    ]
    recorded = await deliverables.record([*bad, *good])
    assert (recorded.accepted, len(recorded.refused)) == (1, len(bad))
    assert all(refusal.reason for refusal in recorded.refused)
    assert await store.read(deliverable_log.change_ids) == ["add-search"]


async def test_listeners_hear_what_is_new_and_may_fail(deliverables: Deliverables) -> None:
    heard: list[tuple[list[Event], list[Deliverable]]] = []

    def fails(events: Sequence[Event], changed: Sequence[Deliverable]) -> None:
        raise RuntimeError("no")

    deliverables.listen(fails)
    stop = deliverables.listen(lambda events, changed: heard.append((list(events), list(changed))))
    events = log((0, begin("apply")), (1, end("verify")))
    await deliverables.record(events)
    known = await deliverables.get("add-search")
    assert heard == [(events[:1], [known])], "without what was refused"
    await deliverables.record(events)
    assert len(heard) == 1, "nothing was new"
    stop()
    stop()
    await deliverables.record(log((5, begin("verify")), change_id="other"))
    assert len(heard) == 1


async def test_imported_events_are_found_at_the_next_question(store: Store, tmp_path: Path) -> None:
    other = await Store.open(tmp_path / "other.db")
    await Deliverables(other, lambda: NINE).record(log((0, begin("apply")), change_id="theirs"))
    await other.export_learned(tmp_path / "memory.jsonl", "other")
    await other.close()
    deliverables = Deliverables(store, lambda: NINE)
    await deliverables.record(log((0, begin("propose")), change_id="ours"))
    await store.import_learned(tmp_path / "memory.jsonl")
    assert {each.change_id for each in await deliverables.all()} == {"ours", "theirs"}
    await deliverables.record(log((1, begin("apply")), (2, begin("verify")), change_id="more"))
    assert len(await deliverables.all()) == 3


@pytest.mark.parametrize("asked_before", [True, False])
async def test_what_is_told_just_after_rows_were_forgotten_stands_by_what_that_left(
    store: Store, deliverables: Deliverables, asked_before: bool
) -> None:
    """`team forget` takes the rows out in one transaction, and says so after it: an event may come in between."""
    await deliverables.record(log((0, Started("Add search")), (1, begin("apply")), (2, ToolCalled("bash"))))
    await deliverables.close()
    deliverables = Deliverables(store, lambda: NINE)
    await deliverables.all()
    if asked_before:
        await deliverables.events("add-search")
    gone = await store.forget_rows(lambda lines: [True] * len(lines), RecordPosition("r", ()))
    assert gone == 3
    after = Event("after", "add-search", NINE + 60, begin("verify"))
    assert await deliverables.record([after]) == Recorded(accepted=1)
    assert await deliverables.get("add-search") == fold([after])
    assert await deliverables.record([after]) == Recorded(duplicates=1)


async def test_what_many_tell_at_once_is_committed_together_and_each_hears_of_its_own(
    store: Store, deliverables: Deliverables, monkeypatch: pytest.MonkeyPatch
) -> None:
    await deliverables.record([Event("known", "c0", NINE, ToolCalled("bash"))])
    commits: list[int] = []
    append = deliverable_log.append

    async def counted(db: Any, events: Sequence[LoggedEvent]) -> dict[str, int]:
        commits.append(len(events))
        return await append(db, events)

    monkeypatch.setattr(deliverable_log, "append", counted)
    told = [Event(f"e{n}", f"c{n}", NINE, ToolCalled("bash")) for n in range(50)]
    told[20] = Event("known", "c0", NINE, ToolCalled("bash"))
    told[30] = Event("e30", "", NINE, ToolCalled("bash"))
    answers = await asyncio.gather(*(deliverables.record([event]) for event in told))
    assert len(commits) <= 3 and sum(commits) == 49
    assert [n for n, each in enumerate(answers) if each != Recorded(accepted=1)] == [20, 30]
    assert answers[20] == Recorded(duplicates=1) and len(answers[30].refused) == 1
    with closing(sqlite3.connect(store.path)) as db:
        kept = {id_ for (id_,) in db.execute("SELECT id FROM deliverable_events")}
    assert kept == {"known"} | {f"e{n}" for n in range(50)} - {"e20", "e30"}


async def test_one_event_told_by_many_at_once_is_accepted_once(deliverables: Deliverables) -> None:
    event = Event("e", "c", NINE, ToolCalled("bash"))
    answers = await asyncio.gather(*(deliverables.record([event]) for _ in range(20)))
    assert sorted(each.accepted for each in answers) == [0] * 19 + [1]
    assert sum(each.duplicates for each in answers) == 19


async def test_of_many_that_tell_at_once_only_the_one_that_cannot_be_kept_fails(
    deliverables: Deliverables, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = deliverable_log.append

    async def without_one(db: Any, events: Sequence[LoggedEvent]) -> dict[str, int]:
        if any(each.id == "e7" for each in events):
            raise sqlite3.DataError("string or blob too big")
        return await append(db, events)

    monkeypatch.setattr(deliverable_log, "append", without_one)
    told = [[Event(f"e{n}", "c", NINE + n, ToolCalled("bash"))] for n in range(20)]
    answers = await asyncio.gather(*map(deliverables.record, told), return_exceptions=True)
    assert [n for n, each in enumerate(answers) if each != Recorded(accepted=1)] == [7]
    assert isinstance(answers[7], StoreError)


async def test_the_clock_may_be_put_back_and_what_happens_keeps_its_order(store: Store) -> None:
    clock = [NINE + 100]
    deliverables = Deliverables(store, lambda: clock[0])
    for what in (begin("apply"), begin("verify"), Ended("completed")):
        at = await deliverables.moment("add-search")
        assert (await deliverables.record([Event(f"e{at}", "add-search", at, what)])).accepted == 1
        clock[0] -= 50
    known = await deliverables.get("add-search")
    assert known is not None and known.status == "completed" and known.started_at == NINE + 100
    assert [span.phase for span in known.spans] == ["apply", "verify"]
    assert await deliverables.moment("other") == clock[0]


async def test_a_line_nobody_can_read_is_left_out(store: Store, deliverables: Deliverables) -> None:
    await store.log_deliverable_events([LoggedEvent("e1", "x", NINE, NINE, "cli", '{"id": "e1"}')])
    await deliverables.record(log((0, begin("apply"))))
    assert [each.change_id for each in await deliverables.all()] == ["add-search"]


@pytest.mark.parametrize("changes", [3, 80])
async def test_after_a_start_only_what_is_new_is_read(
    store: Store, changes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Deliverables(store, lambda: NINE)
    for n in range(changes):
        await first.record(log((0, begin("apply")), (1, begin("verify")), change_id=f"c{n}"))
    await first.record(log((0, Ended("completed")), change_id="ended-before-it-began"))
    await first.close()
    await store.log_deliverable_events([_line(Event("late", "c1", NINE + 30, ToolCalled("bash")))])
    read: list[str] = []
    monkeypatch.setattr(module, "read", lambda body: (read.append(body), reading(body))[1])
    second = Deliverables(store, lambda: NINE)
    known = {each.change_id: each for each in await second.all()}
    assert len(read) == 3, "the events of the one that something was told of since"
    assert len(known) == changes and known["c1"].tool_calls == {"bash": 1}
    await second.record([Event("more", "c0", NINE + 180, ToolCalled("bash"))])
    more = await second.get("c0")
    assert more is not None and (more.tool_calls, more.status) == ({"bash": 1}, "verifying")
    assert len(await second.events("c2")) == 2
    assert await second.moment("c2") > NINE + 60
    third = Deliverables(store, lambda: NINE, threshold=0.5)
    read.clear()
    assert list(await third.all()) == list(await second.all())
    assert len(read) == 2 * changes + 3, "by another threshold nothing that was kept counts"


async def test_what_is_kept_beside_the_log_may_be_damaged(store: Store) -> None:
    deliverables = Deliverables(store, lambda: NINE)
    await deliverables.record(log((0, begin("apply"))))
    known = await deliverables.all()
    await deliverables.close()
    with closing(sqlite3.connect(store.path)) as db:
        assert db.execute("UPDATE deliverable_folds SET body = '{\"change_id\": 3}'").rowcount == 1
        db.commit()
    assert await Deliverables(store, lambda: NINE).all() == known
    await store.rebuild()
    again = Deliverables(store, lambda: NINE)
    assert await again.all() == known
    await again.forget()
    assert await again.all() == known


def _line(event: Event) -> LoggedEvent:
    return LoggedEvent(event.id, event.change_id, event.at, NINE, event.source, written(event))


async def test_a_cancelled_record_is_whole(store: Store, deliverables: Deliverables) -> None:
    others = asyncio.all_tasks()
    for n in range(20):
        task = asyncio.create_task(deliverables.record(log((n, ToolCalled("bash")), change_id=f"c{n}")))
        await asyncio.sleep(0.001 * (n % 4))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    while under_way := asyncio.all_tasks() - others:  # what goes on though nobody waits for it any more
        await asyncio.wait(under_way, timeout=HANG)
    known = {each.change_id for each in await deliverables.all()}
    assert known == set(await store.read(deliverable_log.change_ids))


async def test_a_killed_process_loses_no_acknowledged_event(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for patience in (0.05, 0.4):
        path.unlink(missing_ok=True)
        code = Path(__file__).with_name("event_writer.py").read_text()
        with start([*CODE, code, str(path)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            told = process.stdout.readline()
            time.sleep(patience)
            process.send_signal(signal.SIGKILL)
            lines = [told, *process.stdout.readlines()]
        acknowledged = int(lines[-1] if lines[-1].endswith("\n") else lines[-2])
        store = await Store.open(path)
        assert (await store.check()).faults == ()
        known = await Deliverables(store, time.time).all()
        counted = sum(each.tool_calls["bash"] for each in known)
        await store.close()
        assert counted >= acknowledged > 0 and counted % 7 == 0, "whole batches"
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("SELECT count(*) FROM deliverable_events").fetchone() == (counted,)
        for each in tmp_path.glob("memory.db*"):
            each.unlink()


async def test_of_one_event_with_two_times_the_earlier_counts_whichever_came_first(tmp_path: Path) -> None:
    begun, over = log((5, begin("propose")), (9, Ended("completed")))
    earlier = replace(begun, at=begun.at - 120)
    at_once = [earlier, begun, over]
    for number, order_of_arrival in enumerate((at_once, [begun, over, earlier], [over, earlier, begun])):
        another = await Store.open(tmp_path / f"{number}.db")
        try:
            told = Deliverables(another, lambda: NINE)
            for event in order_of_arrival:
                await told.record([event])
            assert (await told.record([begun, earlier])).duplicates == 2, "known, with both times"
            for known in (told, Deliverables(another, lambda: NINE)):
                found = await known.get("add-search")
                assert found is not None and found.started_at == earlier.at
                assert [event.at for event in await known.events("add-search")] == [earlier.at, over.at]
        finally:
            await another.close()


@pytest.mark.parametrize("of_the_same", [True, False], ids=["of the same deliverable", "of another"])
async def test_what_another_told_while_one_was_about_to_is_taken_in_too(store: Store, of_the_same: bool) -> None:
    """Its number is below those of one's own events: who looked only at what comes later would never see it."""
    deliverables, another = Deliverables(store, lambda: NINE), Deliverables(store, lambda: NINE)
    await deliverables.all()
    theirs = log((0, Started("Theirs")), change_id="add-search" if of_the_same else "theirs")
    keep = store.log_deliverable_events

    async def keep_later(events: Sequence[LoggedEvent]) -> dict[str, int]:
        store.log_deliverable_events = keep  # type: ignore[method-assign]
        await another.record(theirs)
        return await keep(events)

    store.log_deliverable_events = keep_later  # type: ignore[method-assign,assignment]
    own = log((0, Started()), (1, begin("apply")))[1:]
    assert await deliverables.record(own) == Recorded(accepted=1)
    assert list(await deliverables.all()) == list(await another.all())
    found = await deliverables.get("add-search")
    assert found is not None and found.description == ("Theirs" if of_the_same else None)
    assert list(await deliverables.events(theirs[0].change_id)) == [*theirs, *(own if of_the_same else ())]
