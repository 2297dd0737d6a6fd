"""Places that a query names (paths, `file:line`, symbols in files), parsed: files, definitions and lines in them, and
ids as people see them. Pure.

`auth.py`, `src/auth.py:login`, `src/auth.py:45`, `code:src/auth.py:login:45-78`, `know:README.md:Shop.Prices`. Also as
tools print them: `src/auth.ts(45,7)`, `src/auth.ts#L45-L78`, `File "src/auth.py", line 45`, `(Auth.java:45)`,
`src/auth.rb:45:in 'login'`, `src/auth.php on line 45`, `tests/test_auth.py::TestLogin::test_it[empty]`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from aurora_memory.chunks import MODULE_NAME
from aurora_memory.views import ChunkHead, ChunkView

_TEST_MODULE = re.compile(r"(?:^|\.)(?:tests?|test_[a-z0-9_]+|[a-z0-9_]+_tests?)\.")
_TEST_PATH = re.compile(
    r"(^|/)([Tt]ests|[Ss]pecs?|__tests__|unittests?|testsuite)(/|$)|[a-z0-9](Test|Tests|[._-][Tt]ests?)/|^t/|(^|/)testing\.go$"
    r"|(^|/)test/(?!.*\.pyi?$)|^test(ing)?/|(^|/)(test_(?!\w*\.rb$)|test$|conftest\.)"
    r"|_(test|spec|unittest)\.|\.(test|spec)\.|[a-z0-9](Test|Tests|TestCase)\.(java|kt|scala|cs)$"
)
"""Paths of tests. A folder `testing` below the root ships what others test with, and so does `test` inside a Python
package, and a file of Ruby's in `lib/`, whatever it is called.
"""

_ASIDE_PATH = re.compile(
    r"(?i)(^|/)(examples?|demos?([_-][\w-]+)?|(asv_)?bench(marks?)?|\.github)/"
    r"|[-.](min|\d+(\.\d+)+)\.(m?js|css)$|(^|/)(([\w.]+-)?dist|docs/assets)/.*\.([cm]?js|css)$"
    r"|(^|/)(migrations?|migrate)/(.*/)?(\d{4,}|v\d+_)[^/]*$"
)
"""Paths of examples, benchmarks, forms of a forge, bundles that were built, and migrations of a database, which are
numbered: what they did once is done.
"""

_COPIED_PATH = re.compile(r"(?i)(^|/)(_?vendor(s|ed)?|third[_-]?party|extern|node_modules)/")
"""Paths of libraries that were copied in."""

MAX_PLACES = 4
AROUND = 0.1
"""Exactness with which a line means what is around the chunk that it stands in."""

LATER = 0.95
"""What each place that stands before another counts more: of a traceback the frame that raised comes first."""

MAX_ID = 1000
MAX_WORD = 300
"""Characters; longer words are no paths that people spell."""

_ID = re.compile(r"(code|know):([^:]+):(.+?)(?::(\d+)-(\d+))?")
_PLACE = re.compile(r"(?:\./)?([^\s:]*/[^\s:]*[^\s:/]|[^\s:/]*\.[A-Za-z]\w{0,11})(?::([^\s:][^\s]*))?")
_LINES = re.compile(r"(\d{1,9})(?:[-:]\d{1,9})*(?::\D.*)?")
_TEST = re.compile(r"(?:\./)?([^\s:]*\.py|[^\s:]*/[^\s:]*\.[A-Za-z]\w{0,11})((?:::[A-Za-z_]\w*)+)(?:\[.*)?")
"""A test as pytest names it, without the parameters of one of its runs."""

_CALLED_AT = re.compile(r"[\w$.<>/]+\(([^()\s:]+\.[A-Za-z]\w{0,11}:\d{1,9})")
_ON_LINE = re.compile(r"(?<=\w)(?: on line |:line )(?=\d{1,9}\b)")
_OTHERWISE = re.compile(r"([^:#]+?)(?:#L(\d{1,9})(?:C\d+)?(?:-L?\d+(?:C\d+)?)?|\((\d{1,9})(?:,\d+){0,3}\)?)")
"""A line in a path, as web pages spell it and as compilers do."""
_TRACED = re.compile(r'\bFile "([^"\n]{1,300})", line (\d{1,9})(?:, in ([\w.]+|<\w+>))?')
_INSTALLED = re.compile(r".*/(?:site|dist)-packages/")
_AROUND_WORDS = "`'\",;()?!"


class QueryPlace(Struct, frozen=True):
    """Place in a query: a file by the end of its path, and what is meant in it: a name, a 1-based line, or all of it.

    `is_id` says that nothing else is meant: it was spelled as an id; `may_be_call` that it can be read as code.
    """

    path: str
    name: str | None = None
    line: int | None = None
    is_id: bool = False
    may_be_call: bool = False

    @property
    def is_certain(self) -> bool:
        """Whether its spelling can mean nothing but a place: `read/write`, `AuthService.login`, `Math.max(2,3)` may be
        words.
        """
        if self.may_be_call:
            return False
        return self.is_id or self.name is not None or self.line is not None or ("/" in self.path and "." in self.path)


def below(root: str, query: str) -> str:
    """The query with files below `root`, an absolute path, spelled from there: `/home/me/shop/src/a.py:3`."""
    if f"{root}/" not in query:
        return query
    return re.sub(rf"(?<![^\s`'\"(])(?:file://)?{re.escape(root)}/(?=[^\s/])", "", query)


def places_in(query: str) -> tuple[tuple[QueryPlace, ...], str]:
    """The places a query may name, and its words without those that are certainly places. Whether they exist, the store
    knows.
    """
    whole = _ID.fullmatch(query.strip()[:MAX_ID])
    if whole is not None:
        line = int(whole[4]) if whole[4] else None
        return (QueryPlace(whole[2], whole[3], line, is_id=True),), ""
    found: list[QueryPlace] = []
    frames = [*_TRACED.finditer(query)]
    for traced in reversed(frames):  # Python prints the frame that raised last
        if len(found) < MAX_PLACES:
            found.append(QueryPlace(from_top(traced[1]), None, int(traced[2])))
            query = query.replace(traced[0], f" {traced[3] or ''} " if len(frames) > 1 else " ", 1)
    words: list[str] = []
    for word in _ON_LINE.sub(":", query).split():
        place = _place(_without_marks(word)) if len(word) <= MAX_WORD and len(found) < MAX_PLACES else None
        if place is not None:
            found.append(place)
        if place is None or not place.is_certain:
            words.append(word)
    return tuple(found), " ".join(words)


def bare_path(query: str, places: Sequence[QueryPlace]) -> str | None:
    """The path that a query consists of, nothing else; None of any other. `session.get` may be one as well."""
    if len(places) != 1:
        return None
    (place,) = places
    bare = place.name is None and place.line is None and place.path == from_top(query.strip().removeprefix("./"))
    return place.path if bare else None


def is_test(path: str) -> bool:
    """Whether a file is there to test others, by its name or folder."""
    return _beside(path) == "test"


def is_test_code(path: str, name: str) -> bool:
    """Whether a definition of a file is there to test others: it stands in a test, or in a module of tests beside what
    these test, as Rust has it.
    """
    return is_test(path) or (path.endswith(".rs") and _TEST_MODULE.search(name) is not None)


def is_aside(path: str) -> bool:
    """Whether a file lies beside what is made here: an example, a benchmark, vendored code (somebody else's library),
    what is built of it; no test.
    """
    return _beside(path) in {"aside", "copied"}


def is_copied(path: str) -> bool:
    """Whether a file is vendored code, somebody else's library that was copied in; no test."""
    return _beside(path) == "copied"


@lru_cache(maxsize=2048)
def _beside(path: str) -> Literal["test", "aside", "copied", ""]:
    """What a file is by its path, if not what is made here: one look, since each question asks of many files."""
    if _TEST_PATH.search(path):
        return "test"
    if _COPIED_PATH.search(path):
        return "copied"
    return "aside" if _ASIDE_PATH.search(path) else ""


def _without_marks(word: str) -> str:
    """A word without the marks of the sentence around it; a bracket that is closed in it is its own: `(auth)/a.ts`."""
    bare = word.strip(_AROUND_WORDS)
    return f"({bare}" if bare.count(")") > bare.count("(") and f"({bare}" in word else bare


def _place(word: str) -> QueryPlace | None:
    """Parser of one place: a path, or a file with a line, a symbol or a test's id."""
    called_at = _CALLED_AT.fullmatch(word)  # a frame of Java's
    if called_at is not None:
        word = called_at[1]
    test = _TEST.fullmatch(word)
    if test is not None:
        return QueryPlace(from_top(test[1]), test[2].removeprefix("::").replace("::", "."))
    otherwise = _OTHERWISE.fullmatch(word.rstrip(":)"))
    if otherwise is not None:
        match = _PLACE.fullmatch(otherwise[1])
        if match is None:
            return None
        path = from_top(match[1])
        return QueryPlace(
            path, None, int(otherwise[2] or otherwise[3]), may_be_call=not otherwise[2] and "/" not in path
        )
    match = _PLACE.fullmatch(word) or _PLACE.fullmatch(word.rstrip(":"))
    if match is None:
        return None
    path, inner = from_top(match[1]), match[2]
    lines = _LINES.fullmatch(inner.rstrip(":")) if inner else None
    return QueryPlace(path, None if lines else inner, int(lines[1]) if lines else None)


def from_top(path: str) -> str:
    """A path without the root of a disk, and without the folder that a package was installed in."""
    return _INSTALLED.sub("", path).removeprefix("/")


def within(place: QueryPlace, path: str) -> bool:
    """Whether a path is the place's file, which may be told from the root of a disk, as tracebacks do."""
    if path == place.path or path.endswith(f"/{place.path}"):
        return True
    return "/" in path and place.path.endswith(f"/{path}")


def standing_at(places: Sequence[QueryPlace], chunks: Collection[ChunkHead]) -> dict[int, float]:
    """Exactness with which chunks (by row id) are what a place means, in (0, 1]; those that none means are left out.

    A line means the smallest chunk that holds it; those around it stand far behind, the larger the farther. A file's
    remainder, whose lines go around its definitions, is only meant where nothing else holds the line.
    """
    found: dict[int, float] = {}
    for n, place in enumerate(places):
        of_file: dict[str, list[ChunkHead]] = {}
        for chunk in chunks:
            if within(place, chunk.path):
                of_file.setdefault(chunk.path, []).append(chunk)
        for there in of_file.values():
            for chunk, exactness in _around(place.line, there) if _is_line(place) else _called(place, there):
                found[chunk.id] = max(exactness * LATER**n, found.get(chunk.id, 0.0))
    return found


def meant(places: Sequence[QueryPlace], chunks: Collection[ChunkView]) -> list[ChunkView]:
    """Of the chunks of those files, the ones that a place means."""
    standing = standing_at(places, chunks)
    return [chunk for chunk in chunks if chunk.id in standing]


def _is_line(place: QueryPlace) -> bool:
    return place.name is None and place.line is not None


def _around(line: int | None, chunks: Iterable[ChunkHead]) -> Iterator[tuple[ChunkHead, float]]:
    """The chunks of one file that hold a line, the smallest first."""
    holding = [chunk for chunk in chunks if line is not None and chunk.line_start <= line <= chunk.line_end]
    holding.sort(key=lambda chunk: (chunk.name == MODULE_NAME, chunk.line_end - chunk.line_start, -len(chunk.name)))
    for farther, chunk in enumerate(holding):
        yield chunk, AROUND / farther if farther else 1.0


def _called(place: QueryPlace, chunks: Iterable[ChunkHead]) -> Iterator[tuple[ChunkHead, float]]:
    for chunk in chunks:
        exactness = _exactness(place, chunk)
        if exactness:
            yield chunk, exactness


def _exactness(place: QueryPlace, chunk: ChunkHead) -> float:
    if place.name is not None:
        if place.name == chunk.name:
            return 1.0 if place.line in (None, chunk.line_start) else 0.9
        if place.is_id:
            return 0.0
        return 0.8 if chunk.name.lower().endswith((f".{place.name.lower()}", place.name.lower())) else 0.0
    return 0.9
