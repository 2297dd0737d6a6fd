"""Constants and variables of a file's top level, found where they are declared."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_memory.recall import Hit, parse_question, recall
from aurora_memory.recall.declarations import declarations
from aurora_memory.recall.signals import named
from aurora_memory.store import Store
from tests.memory.chunks import chunk, file
from tests.memory.stores import filled_store

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", "LIMIT = 3"),
        ("python", "LIMIT: int = 3"),
        ("python", "LIMIT: int"),
        ("python", "    LIMIT = load("),
        ("python", "lower, LIMIT = 1, 3"),
        ("ruby", "LIMIT = 3"),
        ("typescript", "export const LIMIT = 3"),
        ("typescript", "const LIMIT: Map<string, number> = new Map()"),
        ("javascript", "const { other, LIMIT } = require('./limits')"),
        ("javascript", "let lower, LIMIT"),
        ("go", "const LIMIT = 3"),
        ("go", "var LIMIT time.Duration"),
        ("go", "\tLIMIT time.Duration = 3 * time.Second"),
        ("go", "\tLIMIT           = 3 // of them"),
        ("go", "\tLIMIT // as the one above"),
        ("rust", "pub(crate) const LIMIT: usize = 3;"),
        ("rust", "static mut LIMIT: usize = 3;"),
        ("java", "  private static final Map<String, Integer> LIMIT = new HashMap<>();"),
        ("c", "#define LIMIT 3"),
        ("c", "#  define LIMIT(a) a"),
        ("c", "static const char *LIMIT[2] = {"),
        ("cpp", "inline constexpr std::size_t LIMIT{3};"),
        ("cpp", "extern int LIMIT;"),
    ],
)
def test_a_declaration_is_told_by_its_line(language: str, line: str) -> None:
    assert list(declarations("LIMIT", f"first\n{line}\nlast", language)) == [2]
    assert list(declarations("LIMIT", f"first\r\n{line}\r\nlast", language)) == [2]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", "from limits import LIMIT"),
        ("python", "if LIMIT == 3:"),
        ("python", "    LIMIT=3,"),
        ("python", "other = LIMIT"),
        ("python", "UPPER_LIMIT = 3"),
        ("python", "LIMITS = 3"),
        ("python", "self.LIMIT = 3"),
        ("typescript", "import { LIMIT } from './limits'"),
        ("typescript", "const other = LIMIT"),
        ("typescript", "export { LIMIT }"),
        ("typescript", "  LIMIT: 3,"),
        ("typescript", "  LIMIT => 3"),
        ("go", "var other LIMIT"),
        ("go", "register(LIMIT)"),
        ("java", "import shop.limits.LIMIT;"),
        ("java", "return LIMIT;"),
        ("cpp", "using LIMIT;"),
        ("c", "#ifdef LIMIT"),
    ],
)
def test_a_use_is_no_declaration(language: str, line: str) -> None:
    assert list(declarations("LIMIT", f"first\n{line}\nlast", language)) == []


def test_long_lines_cost_little() -> None:
    for line in (
        "a, " * 30_000 + "LIMIT",
        "const {" + " a," * 30_000 + "LIMIT",
        "int " * 30_000 + "LIMIT",
        " " * 90_000,
    ):
        for language in ("python", "go", "cpp"):
            list(declarations("LIMIT", line * 2, language))


TEXTS = {
    "src/limits.py": "import os\n\nMAX_ROWS = 3\n\n\ndef rows():\n    MAX_ROWS = 4\n    return MAX_ROWS\n",
    "src/use.py": "from limits import MAX_ROWS\n\nprint(MAX_ROWS)\n",
    "tests/test_limits.py": "MAX_ROWS = 9\n",
}


async def fill(store: Store) -> None:
    files = []
    for path, text in TEXTS.items():
        rest = replace(chunk(path, "<module>", text, kind="module"), line_end=text.count("\n"))
        files.append(file(path, rest))
    rows = replace(chunk("src/limits.py", "max_of_rows", "the max rows of max rows", line=6), line_end=8)
    rest = replace(files[0].parsed.chunks[0], line_end=8)
    await store.write([file("src/limits.py", rest, rows), *files[1:], file("a.py", chunk("a.py", "known"))])


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill)
    yield store
    await store.close()


async def found(store: Store, query: str, read: list[str] | None = None) -> list[Hit]:
    def text(path: str) -> str:
        if read is not None:
            read.append(path)
        return TEXTS.get(path, "")

    return await store.read(recall, parse_question(query), 5, NOW, read=text)


async def test_a_constant_is_found_where_it_is_declared(store: Store) -> None:
    first, second, *rest = await found(store, "MAX_ROWS")
    assert (first.chunk.path, first.focus, round(first.score, 2)) == ("src/limits.py", (3, 3), 1.0)
    assert second.chunk.path == "tests/test_limits.py"
    assert all(hit.score < second.score for hit in rest), "what only uses it"
    assert (await found(store, "where is limits.MAX_ROWS defined"))[0].chunk.id == first.chunk.id


async def test_only_a_query_of_names_looks_for_them(store: Store) -> None:
    read: list[str] = []
    await found(store, "how is the max of all rows known", read)
    await found(store, "max rows", read)
    await found(store, "how is MAX_ROWS raised when the disk is full", read)
    await found(store, "known", read)
    assert read == [], "more than a name is asked for, or a definition is called so"
    assert not any(hit.signals[named] for hit in await found(store, "max_rows")), "spelled otherwise"


@pytest.mark.parametrize(("defined_in", "looked_for"), [("tests/fakes.py", True), ("src/fakes.py", False)])
async def test_a_name_that_only_tests_define_is_looked_for_all_the_same(
    store: Store, defined_in: str, looked_for: bool
) -> None:
    await store.write([file(defined_in, chunk(defined_in, "MAX_ROWS"))])
    read: list[str] = []
    await found(store, "MAX_ROWS", read)
    assert ("src/limits.py" in read) == looked_for


async def test_a_file_that_cannot_be_read_declares_nothing(store: Store) -> None:
    assert not any(
        hit.signals[named] for hit in await store.read(recall, parse_question("MAX_ROWS"), 5, NOW, read=lambda path: "")
    )
