"""Who uses a constant, which no chunk is called by."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_indexer.workers.process_file import parse_source
from aurora_memory.recall.constant_uses import _uses
from aurora_memory.recall.question import parse_question
from aurora_memory.recall.relation_answer import answer
from aurora_memory.store import FileStat, IndexedFile, Store
from aurora_memory.views import ChunkView
from tests.memory.stores import filled_store

FILES = {
    "limits.py": "MAX_BYTES = 9\n\n\ndef check(size):\n    return size < MAX_BYTES\n",
    "load.py": "from limits import MAX_BYTES\n\n\ndef load(size):\n    return size // MAX_BYTES\n",
    "save.py": "import limits\n\n\ndef save(size):\n    return size // limits.MAX_BYTES\n",
    "words.py": "from limits import MAX_BYTES\n\n\ndef words():\n    '''Not as MAX_BYTES.'''\n    # MAX_BYTES\n",
    "kind.py": "from limits import MAX_BYTES\n\n\nclass Kind:\n    def size(self):\n        return MAX_BYTES\n",
    "other.py": "def other():\n    '''Says MAX and BYTES, not MAX_BYTES_PER_FILE.'''\n    return MAX_BYTES_PER_FILE\n",
    "one.ts": "export const STEP = 1;\nfunction up(n) { return n + STEP; }\n",
    "two.ts": "const STEP = 2;\nfunction down(n) { return n - STEP; }\n",
    "three.ts": "import { STEP } from './one';\nfunction twice(n) { return n * STEP; }\n",
    "main.go": "package main\n\nconst (\n\tLimit = 3\n)\n\nfunc run() int {\n\treturn Limit\n}\n",
    "lib.rs": "pub const DEPTH: usize = 4;\n\nfn dig() -> usize {\n    DEPTH\n}\n",
    "alone.py": "UNUSED = 1\n",
    "a/tests/a.py": "from limits import MAX_BYTES\n\n\ndef probe(size):\n    return size % MAX_BYTES\n",
}


async def fill(store: Store) -> None:
    parsed = [parse_source(path, text.encode(), 5.0) for path, text in FILES.items()]
    await store.write([IndexedFile(FileStat(1, 1), each) for each in parsed if each])
    await store.resolve()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill)
    yield store
    await store.close()


@pytest.mark.parametrize(
    ("text", "users", "said"),
    [
        pytest.param(
            "who uses MAX_BYTES",
            [("Kind.size", False), ("check", False), ("load", False), ("probe", False), ("save", True)],
            "'MAX_BYTES' is defined at limits.py:1; 4 use it, and maybe 1 more.",
            id="where it is declared or imported surely, in tests after other code",
        ),
        pytest.param(
            "where is STEP used?",
            [("up", False), ("down", False), ("twice", True)],
            "'STEP' is defined at one.ts:1, two.ts:1; 2 use it, and maybe 1 more.",
            id="one of two by an import only maybe",
        ),
        pytest.param(
            "who uses Limit", [("run", False)], "'Limit' is defined at main.go:4; 1 uses it.", id="of a block in Go"
        ),
        pytest.param("usages of DEPTH", [("dig", False)], "'DEPTH' is defined at lib.rs:1; 1 uses it.", id="in Rust"),
        pytest.param("who uses UNUSED", [], "'UNUSED' is defined at alone.py:1; nothing here uses it.", id="none"),
    ],
)
async def test_who_uses_a_constant(store: Store, text: str, users: list[tuple[str, bool]], said: str) -> None:
    found = await store.read(answer, parse_question(text), 10, 1000.0, FILES.__getitem__)
    assert found is not None
    assert [(hit.chunk.name, hit.is_likely) for hit in found.hits] == users
    assert found.said == said


@pytest.mark.parametrize("text", ["who uses MAX_BITES", "subclasses of MAX_BYTES", "what changes with MAX_BYTES"])
async def test_what_is_declared_nowhere_and_what_no_constant_has_is_unknown(store: Store, text: str) -> None:
    found = await store.read(answer, parse_question(text), 10, 1000.0, FILES.__getitem__)
    assert found is not None
    assert found.is_unknown


async def test_without_the_text_of_files_nothing_is_told(store: Store) -> None:
    found = await store.read(answer, parse_question("who uses MAX_BYTES"), 10, 1000.0)
    assert found is not None
    assert found.is_unknown


@pytest.mark.parametrize(
    ("language", "line", "used"),
    [
        *((language, "  # as MAX_BYTES", False) for language in ("python", "ruby", "bash")),
        *((language, "  // as MAX_BYTES", True) for language in ("python", "ruby", "bash")),
        ("go", "  // as MAX_BYTES", False),
        ("go", "   * as MAX_BYTES", False),
        ("c", "  # define LESS MAX_BYTES", True),
    ],
)
def test_what_a_comment_says_is_no_use(language: str, line: str, used: bool) -> None:
    chunk = ChunkView(1, "a", "f", "function", None, 1, 2, None, language, "", "", "low", 0, 0, "", 9)
    assert _uses(re.compile(r"\bMAX_BYTES\b"), chunk, ["f", line], []) is used
