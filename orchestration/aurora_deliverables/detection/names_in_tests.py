"""Names in tests (traceability): which requirement, scenario or constraint a test is named after, matched by words,
whatever the language it is in.

A name is compared by its words: `test_full_text_search`, `it("full-text search")` and `fullTextSearch` are the same
three. A name of one word is in too many others: there the whole title must be it, or say `Requirement:` before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

MAX_TITLES = 20_000
MAX_LINE = 500
"""Characters of a line that are looked at: a test's title stands at its beginning."""

_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e|it|features)/|(?:^|/)test_[^/]*\.\w+$|[_.-](?:test|tests|spec)\.\w+$"
    r"|(?:Test|Tests|IT|Spec)\.\w+$|\.feature$"
)
_DEFINED = re.compile(r"\b(?:def|func|fn|fun|function|void|test|it)\s+`?([\w ]{3,200})`?\s*[({]")
_TITLED = re.compile(
    r"(?:\b(?:it|test|describe|context|specify|scenario|feature|should|Run|DisplayName|Fact|Theory|TEST|TEST_CASE|SECTION)"
    r"(?:\.\w+)?\s*\(?[^\"'`\n]{0,24})([\"'`])((?:(?!\1).){3,300})\1"
)
_SAID = re.compile(r"\b(?:Requirement|Scenario|Constraint|Rule|FR)\s*[:#-]\s*([^\n*`\"']{2,300})", re.IGNORECASE)
_LEADING = frozenset({"test", "tests", "it", "should", "can", "requirement", "scenario", "constraint", "rule"})
_QUOTES = "\"'`"
_STOP = frozenset("a an the any all in on of to for from by with at as be is are it its or and that this than".split())
_NEGATION = frozenset({"not", "never", "no", "cannot", "without", "rejects", "refuses", "doesnt", "dont"})


class TestTitle(Struct, frozen=True):
    """Title of a test, where it stands (`line` from 1; 0 where nobody knows), and how it went last, where that is
    known."""

    __test__ = False

    title: str
    path: str = ""
    line: int = 0
    passed: bool | None = None

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        if not self.path:
            return self.title
        return f"{self.path}:{self.line} {self.title}" if self.line else f"{self.path} {self.title}"


def words(text: str) -> tuple[str, ...]:
    """The words of a name, in lower case: those of `camelCase` and `snake_case` apart."""
    return tuple(each.casefold() for each in _WORD.findall(_CAMEL.sub(" ", text.replace("’", "'").replace("'", ""))))


def is_test_file(path: str) -> bool:
    """Whether the file at `path` (relative, `/`) has tests in it, by its name alone."""
    return _TEST_FILE.search(path) is not None


def titles_in(text: str, path: str) -> Iterator[TestTitle]:
    """The titles of tests in a file, and what its comments and texts call `Requirement: …` or `Scenario: …`."""
    for number, line in enumerate(text.splitlines(), 1):
        line = line[:MAX_LINE]
        for found in _DEFINED.finditer(line):
            yield TestTitle(found[1].strip(), path, number)
        for found in _TITLED.finditer(line) if any(quote in line for quote in _QUOTES) else ():
            yield TestTitle(found[2].strip(), path, number)
        for found in _SAID.finditer(line):
            yield TestTitle(found[0].strip(), path, number)


def names(title: Sequence[str], name: Sequence[str]) -> bool:
    """Whether a title, as words, names what is called `name`."""
    if not name:
        return False
    if len(name) > 1:
        return _within(title, name)
    begin = 0
    while begin < len(title) - 1 and title[begin] in _LEADING:
        begin += 1
    return tuple(title[begin:]) == tuple(name)


def names_constraint(title: Sequence[str], forbidden: Sequence[str]) -> bool:
    """Whether a title says that something is not done: it negates, and has every word that tells what is forbidden."""
    wanted = telling(forbidden)
    return len(wanted) > 1 and wanted <= set(map(stem, title)) and not _NEGATION.isdisjoint(title)


def telling(forbidden: Sequence[str]) -> set[str]:
    """The words of a constraint that tell what is forbidden, as `names_constraint` compares them."""
    return {stem(each) for each in forbidden if each not in _STOP}


def stem(word: str) -> str:
    """Stem of a word (stemming), without the `s` of *shows* and *products*."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _within(title: Sequence[str], name: Sequence[str]) -> bool:
    """Whether a name's words stand in a title's words one after the other (subsequence)."""
    first, count = name[0], len(name)
    return any(
        word == first and tuple(title[n : n + count]) == tuple(name)
        for n, word in enumerate(title[: len(title) - count + 1])
    )
