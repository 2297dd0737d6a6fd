"""Checks of a deliverable's spec: which of its requirements and constraints are met, by its tests and its boxes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from aurora_deliverables.detection import files, junit
from aurora_deliverables.detection.names_in_tests import MAX_TITLES, TestTitle, is_test_file, titles_in, words
from aurora_deliverables.detection.observation import Observation, summed
from aurora_deliverables.detection.recorded_state import passed
from aurora_deliverables.detection.spec_check import check, told_by_tests
from aurora_deliverables.events import MAX_CRITERIA, Event, SpecChecked, TestsRan
from aurora_deliverables.evidence import event_id, shown
from aurora_memory.store import Store, file_reader
from aurora_server.workspace.open_deliverables import OpenDeliverables
from aurora_server.workspace.spec_files import Specs

MAX_TEST_FILES = 3000


class SpecChecks:
    """Checks of specs in the workspace at `root`, and at the tests that its index knows."""

    def __init__(self, root: Path, store: Store, specs: Specs, open_: OpenDeliverables) -> None:
        self._root = root
        self._store = store
        self._specs = specs
        self._open = open_
        self._deliverables = open_.deliverables

    async def events_of(self, change_id: str, tests: Sequence[TestTitle] = ()) -> list[Event]:
        """What of a deliverable's spec is met, by these tests or those that ran last: events to be recorded, if any."""
        known = await self._deliverables.get(change_id)
        spec = known.spec_source if known is not None else None
        if known is None or spec is None or spec.framework is None or spec.framework not in self._specs.sources:
            return []
        key = self._specs.key_of(spec.framework, (known.change_id, *known.names)[-1], spec.spec_id)
        seen = await asyncio.to_thread(self._specs.see, spec.framework, key)
        checked = await self.checked(known.change_id, seen, tests) if seen is not None else None
        state = await self._open.known(known.change_id)
        if seen is None or checked is None or checked == state.checked:
            return []
        at = await self._deliverables.moment(known.change_id)
        id_ = event_id(known.change_id, "spec_check", checked, state.count("spec_check"))
        return [Event(id_, known.change_id, at, checked, source=seen.source, evidence=shown(summed(checked)))]

    async def checked(self, change_id: str, seen: Observation, tests: Sequence[TestTitle] = ()) -> SpecChecked | None:
        """What a spec's criteria are found to be; None where it states none."""
        many = len(seen.criteria.requirements) + len(seen.criteria.constraints)
        if not seen.criteria.stated or many > MAX_CRITERIA:  # of a part of them nothing follows
            return None
        state = await self._open.known(change_id)
        events = await self._deliverables.events(change_id)
        runs = [event for event in events if isinstance(event.what, TestsRan)]
        last = runs[-1] if runs else None
        outcome = passed(last.what) if last is not None and isinstance(last.what, TestsRan) else None
        indexed = await self._store.read(file_reader.files)

        def look() -> SpecChecked:
            titles = _titles_of_tests(self._root, indexed)
            # Who tells no names tells of all: where nothing failed, whatever is named there passed.
            by_names = tests or (last is not None and last.source == junit.SOURCE)
            placed = _placed(tests, titles) if by_names else [replace(each, passed=outcome or None) for each in titles]
            failing = outcome is False and not by_names
            return check(seen.criteria, placed, told_by_tests(state.checked) if by_names else {}, failing=failing)

        return await asyncio.to_thread(look)


def _titles_of_tests(root: Path, indexed: Iterable[str]) -> list[TestTitle]:
    """The titles in the test files among those that memory knows, at most so many."""
    found: list[TestTitle] = []
    for path in sorted(path for path in indexed if is_test_file(path))[:MAX_TEST_FILES]:
        seen = files.see(root, path)
        if seen is not None:
            found += titles_in(seen.text, path)
        if len(found) >= MAX_TITLES:
            break
    return found[:MAX_TITLES]


def _placed(ran: Sequence[TestTitle], titles: Sequence[TestTitle]) -> list[TestTitle]:
    """The tests that ran, and titles in files with how the test went that is called so; of several the worst counts.

    A report's name ends in the test's own (`tests.test_search.TestPage test_no_match[wide]`), so ends are compared.
    """
    in_files = [words(each.title) for each in titles]
    wanted = set(in_files)
    outcomes: dict[tuple[str, ...], bool] = {}
    for each in ran:
        whole = words(each.title.partition("[")[0])
        for start in range(len(whole)):
            end = whole[start:]
            if end in wanted:
                outcomes[end] = outcomes.get(end, True) and bool(each.passed)
    placed = [replace(each, passed=outcomes.get(named)) for each, named in zip(titles, in_files, strict=True)]
    return [*(each for each in placed if each.passed is not None), *ran]
