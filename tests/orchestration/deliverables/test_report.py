"""Reports on a stretch of time: what counts as ended and as worked on in it, and which parts a trend has."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from aurora_deliverables.choices import FailureType
from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.events import Ended, Event, Started, TokensUsed
from aurora_deliverables.reducer import fold
from aurora_deliverables.report import DAY, MOST_PARTS, WEEK, DeliverableReport, months, report, weeks


def told(name: str, begun: float, over: float | None, *spent: float) -> list[Event]:
    """Events of a deliverable that began and ended on days of 1970, and spent a dollar on each of some more."""
    events = [Event(f"{name}-b", name, begun * DAY, Started())]
    events += [Event(f"{name}-{at}", name, at * DAY, TokensUsed(10, 1, cost_usd=1.0)) for at in spent]
    return [*events, Event(f"{name}-e", name, over * DAY, Ended("completed"))] if over is not None else events


def reported(histories: Sequence[Sequence[Event]], start: float, end: float, now: float) -> DeliverableReport:
    """Report on days of 1970, with each of those days as a part."""
    events = {each[0].change_id: each for each in histories}
    known = [folded for each in histories if (folded := fold(each)) is not None]

    async def events_of(each: Deliverable) -> Sequence[Event]:
        return events[each.change_id]

    days = [(day * DAY, (day + 1) * DAY) for day in range(int(start), int(end))]
    return asyncio.run(report(known, events_of, start * DAY, end * DAY, now * DAY, days))


def test_what_ends_in_the_first_moment_after_a_stretch_was_worked_on_in_it_and_ends_in_the_next() -> None:
    histories = [told("a", 10.5, 12)]
    day = reported(histories, 11, 12, 20)
    assert ([each.change_id for each in day.working], day.ended) == (["a"], ())
    after = reported(histories, 12, 13, 20)
    assert ([each.change_id for each in after.ended], after.working) == (["a"], ())


def test_what_began_in_the_first_moment_after_a_stretch_is_none_of_it() -> None:
    found = reported([told("a", 12, None)], 11, 12, 20)
    assert (found.began, found.working) == (0, ())
    assert reported([told("a", 12, None)], 12, 13, 20).began == 1


def test_the_latest_comes_first_among_what_ended_and_what_is_worked_on() -> None:
    histories = [told("early", 1, 2), told("late", 1, 3), told("quiet", 1, None), told("busy", 1, None, 3.5)]
    found = reported(histories, 1, 4, 4)
    assert [each.change_id for each in found.ended] == ["late", "early"]
    assert [each.change_id for each in found.working] == ["busy", "quiet"]


def test_what_is_told_of_one_after_its_end_moves_it_to_no_other_place() -> None:
    late = told("a", 1, 2), told("b", 1, 3)
    late[0].append(Event("a-t", "a", 3.5 * DAY, TokensUsed(10, 1, cost_usd=1.0)))
    assert [each.change_id for each in reported(late, 1, 4, 4).ended] == ["b", "a"]


def test_what_was_spent_in_the_first_moment_of_a_stretch_was_spent_in_it() -> None:
    found = reported([told("a", 1, None, 3)], 3, 4, 5)
    assert found.tokens is not None and found.tokens.cost_usd == 1.0


def test_what_was_spent_counts_on_its_own_day_and_not_on_that_of_the_beginning() -> None:
    found = reported([told("a", 1, 4, 1.5, 3.5, 3.6)], 1, 4, 5)
    assert [each.tokens.cost_usd if each.tokens else None for each in found.parts] == [1.0, None, 2.0]
    assert found.tokens is not None and found.tokens.cost_usd == 3.0


def test_what_ends_between_two_parts_is_of_the_later_one() -> None:
    found = reported([told("a", 1, 2), told("b", 1, 1), told("c", 1, 2.5)], 1, 3, 5)
    assert [(each.completed, each.failed) for each in found.parts] == [(1, 0), (2, 0)]


def test_the_rates_of_a_day_that_is_not_over_are_over_the_days_up_to_now() -> None:
    found = reported([told("a", 1, 1.5), told("b", 1, 2.5)], 1, 9, 3)
    assert found.metrics is not None
    throughput = found.metrics.metrics.feature_throughput
    assert (throughput.value, throughput.tier) == (1.0, "high"), "two in two days, of which eight are asked for"


def test_one_deliverable_in_a_day_is_one_a_day_and_that_is_high() -> None:
    found = reported([told("a", 1, 1)], 1, 2, 9)
    assert found.metrics is not None
    throughput = found.metrics.metrics.feature_throughput
    assert (throughput.value, throughput.tier) == (1.0, "high"), "its first moment belongs to a day, and adds nothing"


def test_weeks_are_counted_from_the_beginning_the_last_is_short_and_the_latest_are_kept() -> None:
    assert weeks(0.0, 2 * WEEK + DAY) == [(0.0, WEEK), (WEEK, 2 * WEEK), (2 * WEEK, 2 * WEEK + DAY)]
    many = weeks(0.0, (MOST_PARTS + 1) * WEEK)
    assert (len(many), many[0]) == (MOST_PARTS, (WEEK, 2 * WEEK)), "what is older is in the sums only"


def test_a_trend_by_months_keeps_the_latest_and_the_stretchs_own_ends() -> None:
    begin, end = (datetime(year, 5, 11, tzinfo=UTC).timestamp() for year in (2000, 2026))
    found = months(begin, end)
    assert len(found) == MOST_PARTS
    assert found[-1] == (datetime(2026, 5, 1, tzinfo=UTC).timestamp(), end)
    (short,) = months(begin, begin + DAY)
    assert short == (begin, begin + DAY)
    crossing = months(datetime(2025, 12, 31, tzinfo=UTC).timestamp(), datetime(2026, 1, 2, tzinfo=UTC).timestamp())
    assert [end - start for start, end in crossing] == [DAY, DAY], "a month ends with its year"


def test_the_rates_of_a_stretch_that_is_asked_for_ahead_are_over_the_days_until_the_last_end() -> None:
    """A clock that was set back, or a document of tomorrow: what has ended took its time."""
    found = reported([told("a", 0, 1), told("b", 0, 4), told("c", 0, 4)], 0, 10, 2)
    assert found.metrics is not None
    assert found.metrics.metrics.feature_throughput.value == 0.75, "three in four days, though two are over"


def test_what_began_and_ended_in_a_stretch_was_spent_on_its_days_too() -> None:
    found = reported([told("a", 1, 3, 1.5, 2.5)], 1, 4, 5)
    assert [each.tokens.cost_usd if each.tokens else None for each in found.parts] == [1.0, 1.0, None]


def test_the_commonest_reason_to_fail_comes_first_and_one_that_nobody_told_is_told_as_that() -> None:
    reasons: list[FailureType | None] = ["regression", None, None, "incomplete", "incomplete", "incomplete"]
    histories = [
        [Event(f"{n}-b", f"{n}", DAY, Started()), Event(f"{n}-e", f"{n}", 2 * DAY, Ended("failed", why))]
        for n, why in enumerate(reasons)
    ]
    found = reported(histories, 1, 4, 5)
    assert list(found.failure_types.items()) == [("incomplete", 3), ("unclassified", 2), ("regression", 1)]
