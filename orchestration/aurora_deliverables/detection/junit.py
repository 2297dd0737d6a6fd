"""JUnit XML reports (test results), parsed: what a test run's XML says, in the dialects of pytest, Jest, Surefire,
gotestsum and their likes.

There is no standard; what these have in common is `<testcase>`, and that a `<failure>` or an `<error>` in one says that
it failed. Read by expat as a stream: no document type, so no external entity (XXE); bounded in size, depth and number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from xml.parsers import expat

from msgspec import Struct

from aurora_deliverables.detection.names_in_tests import TestTitle
from aurora_deliverables.events import TestsRan
from aurora_deliverables.evidence import shown
from aurora_protocol.rfc3339 import parsed

SOURCE = "junit"
MAX_CHARACTERS = 32 << 20
"""Of all reports of one run together."""
MAX_REPORTS = 2000
MAX_CASES = 200_000
MAX_DEPTH = 64
MAX_TITLE = 400

_ROOTS = frozenset({"testsuites", "testsuite"})
_FAILED = frozenset({"failure", "error"})
_SKIPPED = frozenset({"skipped", "ignored", "disabled"})
_NOT_RUN = frozenset({"skipped", "notrun", "disabled", "ignored", "suppressed"})
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udfff]")
"""What XML forbids and runners write all the same, from the output of what they ran."""


class UnreadableReport(ValueError):
    """XML that is no JUnit report, damaged, or beyond the bounds; the message says what, and where."""


class TestReport(Struct, frozen=True):
    """Report of a test run, as one or more files say. `ended_at` is None where none names a time with its zone.

    A time without a zone is left out: pytest writes the clock on the wall, Jest that of UTC.
    """

    __test__ = False

    passed: int
    failed: int
    skipped: int
    titles: tuple[TestTitle, ...]
    ended_at: float | None = None

    @property
    def ran(self) -> TestsRan:
        """The run as an event has it."""
        good = None if not self.passed and not self.failed else not self.failed
        return TestsRan(passed=self.passed, failed=self.failed, succeeded=good, command="JUnit report")

    @property
    def said(self) -> str:
        """The same in words."""
        return f"JUnit: {self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def read_reports(texts: Iterable[str]) -> TestReport:
    """What the reports of one test run say together. Raises UnreadableReport."""
    readers: list[_Reader] = []
    left = MAX_CHARACTERS
    for number, text in enumerate(texts):
        left -= len(text)
        if left < 0 or number >= MAX_REPORTS:
            raise UnreadableReport(f"more than {MAX_CHARACTERS >> 20} MiB or {MAX_REPORTS:,} reports at once")
        readers.append(_read(text))
    titles = [title for reader in readers for title in reader.titles]
    if len(titles) > MAX_CASES:
        raise UnreadableReport(f"more than {MAX_CASES:,} test cases")
    ended = [reader.ended_at for reader in readers if reader.ended_at is not None]
    return TestReport(
        passed=sum(each.passed is True for each in titles),
        failed=sum(reader.failed for reader in readers),
        skipped=sum(reader.skipped for reader in readers),
        titles=tuple(titles),
        ended_at=max(ended, default=None),
    )


def _read(text: str) -> _Reader:
    """XML parser (SAX, expat) of one report; entities and document types are refused (XXE)."""
    reader = _Reader()
    parser = expat.ParserCreate("utf-8")  # as the text is now, whatever it declares
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    parser.StartElementHandler = reader.begin
    parser.EndElementHandler = reader.end
    clean = _CONTROL.sub("\ufffd", text.removeprefix("\ufeff")).lstrip()
    try:
        parser.Parse(clean.encode("utf-8"), True)
    except expat.ExpatError as error:
        place = f"line {error.lineno}, column {error.offset + 1}"
        raise UnreadableReport(f"this XML cannot be read at {place}: {expat.ErrorString(error.code)}") from error
    return reader


def _refuse(*_: Any) -> None:
    raise UnreadableReport("this XML declares a document type, which no JUnit report does")


class _Reader:
    """One report while it is read."""

    def __init__(self) -> None:
        self.titles: list[TestTitle] = []
        self.skipped = 0
        self.ended_at: float | None = None
        self._counted = 0
        self._declared = 0
        self._depth = 0
        self._case: dict[str, str] | None = None
        self._case_depth = 0
        self._outcome: bool | None = True
        self._suites: list[bool] = []

    @property
    def failed(self) -> int:
        """Test cases that failed; where a suite says more of itself, as of one that did not even begin, so many."""
        return max(self._counted, self._declared)

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Handler of a start tag: suites, cases and their outcomes; too deep XML is refused."""
        tag = name.rpartition(":")[2]
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadableReport(f"this XML is deeper than {MAX_DEPTH} elements")
        if self._depth == 1 and tag not in _ROOTS:
            raise UnreadableReport(f"this XML is no JUnit report: it begins with <{shown(tag, 40)}>")
        if tag in _ROOTS and self._case is None:
            self._suite(tag, attributes)
        elif tag == "testcase" and self._case is None:
            if len(self.titles) + self.skipped >= MAX_CASES:
                raise UnreadableReport(f"more than {MAX_CASES:,} test cases")
            self._case, self._case_depth, self._outcome = attributes, self._depth, True
            states = {attributes.get(each, "").lower() for each in ("status", "result")}
            if not states.isdisjoint(_NOT_RUN):
                self._outcome = None
        elif self._case is not None and self._depth == self._case_depth + 1:
            if tag in _FAILED:
                self._outcome = False
            elif tag in _SKIPPED and self._outcome:
                self._outcome = None

    def end(self, name: str) -> None:
        """Handler of an end tag: a case that is over is counted as passed, failed or skipped."""
        if self._case is not None and self._depth == self._case_depth:
            if self._outcome is None:
                self.skipped += 1
            else:
                self._counted += not self._outcome
                self.titles.append(_title(self._case, self._outcome))
            self._case = None
        elif name.rpartition(":")[2] in _ROOTS and self._suites:
            self._suites.pop()
        self._depth -= 1

    def _suite(self, tag: str, attributes: dict[str, str]) -> None:
        """Test suite that begins: its declared failures and its timestamp."""
        told = any(self._suites)
        said = [_count(attributes.get(each)) for each in ("failures", "errors")]
        counts = [each for each in said if each is not None]
        if counts and not told:  # of suites within suites the outermost counts for all
            self._declared += sum(counts)
        self._suites.append(bool(counts))
        began = _moment(attributes.get("timestamp"))
        if began is not None:
            took = _seconds(attributes.get("time")) if tag == "testsuite" else 0.0
            self.ended_at = max(self.ended_at or 0.0, began + took)


def _title(case: dict[str, str], passed: bool) -> TestTitle:
    """Title of a test case, of its class name and name."""
    said, owner = case.get("name", "").strip(), case.get("classname", "").strip()
    # Jest's class name is the whole title already; elsewhere it is a class, a module or a package.
    title = said if not owner or owner in said else owner if said in owner else f"{owner} {said}"
    path = case.get("file", "").strip().replace("\\", "/").removeprefix("./")
    return TestTitle(shown(title, MAX_TITLE), shown(path) if path else "", _count(case.get("line")) or 0, passed)


def _count(said: str | None) -> int | None:
    return int(said) if said is not None and len(said) < 10 and said.isascii() and said.isdigit() else None


def _seconds(said: str | None) -> float:
    text = (said or "").replace(",", "")  # Surefire writes 1,234.5
    return float(text) if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text) else 0.0


def _moment(said: str | None) -> float | None:
    """Timestamp of a suite in Unix seconds; None without a time zone."""
    if not said:
        return None
    try:
        moment: datetime = parsed(said[:64])
        return moment.timestamp() if moment.tzinfo is not None else None
    except (ValueError, OverflowError, OSError):
        return None
