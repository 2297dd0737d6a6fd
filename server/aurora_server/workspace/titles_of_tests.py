"""Titles of tests in a workspace: where each stands, and how it went where a report names it. Reading blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from aurora_deliverables.detection import files
from aurora_deliverables.detection.names_in_tests import MAX_TITLES, TestTitle, is_test_file, titles_in, words

MAX_TEST_FILES = 3000


def test_titles(root: Path, indexed: Iterable[str]) -> list[TestTitle]:
    """The titles in the test files among those that memory knows, at most so many."""
    found: list[TestTitle] = []
    for path in sorted(path for path in indexed if is_test_file(path))[:MAX_TEST_FILES]:
        seen = files.see(root, path)
        if seen is not None:
            found += titles_in(seen.text, path)
        if len(found) >= MAX_TITLES:
            break
    return found[:MAX_TITLES]


def placed_titles(ran: Sequence[TestTitle], titles: Sequence[TestTitle]) -> list[TestTitle]:
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
