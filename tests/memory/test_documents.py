"""Documents of what memory really holds: parsed files through the store, held to the schema."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory import chunk_validation
from aurora_memory.chunk_validation import (
    InvalidChunkDocument,
    _shortened,
    document_problems,
    plain,
    read_document,
)
from aurora_memory.chunks import chunk_id
from aurora_memory.document_builder import code_document, knowledge_document
from aurora_memory.documents import CodeDocument
from aurora_memory.recall import weigh
from aurora_memory.store import FileStat, IndexedFile, Store, chunk_reader, file_reader, relation_reader
from aurora_memory.views import ChunkView, Commits, Edge
from tests.memory.runs import NOON
from tests.memory.stores import new_store
from tests.shares import long

ROOT = Path(__file__).parents[2]
SOURCES = ("memory/aurora_memory/recall/places.py", "memory/aurora_memory/semantic_tags.py", "tests/indexer/samples")
MORE = (*SOURCES, "memory/aurora_memory/recall")


@pytest.fixture
async def store(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    store = await new_store(tmp_path / "memory.db")
    paths = {path for each in request.param for path in (ROOT / each, *(ROOT / each).rglob("*")) if path.is_file()}
    files = []
    for path in sorted(paths):
        if path.suffix in (".py", ".ts", ".go", ".rs", ".java", ".js", ".c", ".cpp", ".rb"):
            source = path.read_bytes()
            files.append(IndexedFile(FileStat(len(source), 1), parse_file(str(path.relative_to(ROOT)), source)))
    await store.write(files, first_time=True)
    await store.resolve()
    yield store
    await store.close()


async def document(store: Store, chunk: ChunkView) -> CodeDocument:
    reader = store.read
    (hit,) = await reader(weigh, [chunk], NOON)
    return code_document(
        chunk,
        await reader(relation_reader.edges, chunk.id),
        await reader(relation_reader.references, chunk.id),
        [entry.module for entry in await reader(relation_reader.imports, chunk.path)],
        None,
        hit.last_modified,
    )


@pytest.mark.parametrize("store", [SOURCES, long((MORE,))], indirect=True, ids=len)
async def test_documents_of_real_files_hold_to_the_schema(store: Store) -> None:
    seen = 0
    domains = set()
    for path in await store.read(file_reader.files):
        for chunk in await store.read(chunk_reader.of_file, path):
            made = await document(store, chunk)
            assert document_problems(plain(made)) == [], made.id
            domains.add(made.metadata.domain)
            seen += 1
    assert seen > 100
    assert len(domains) > 4
    (chunk,) = await store.read(chunk_reader.by_name, "memory/aurora_memory/semantic_tags.py", "pattern_name")
    made = await document(store, chunk)
    assert made.id == f"code:memory/aurora_memory/semantic_tags.py:pattern_name:{chunk.line_start}-{chunk.line_end}"
    assert made.content.signature.startswith("def pattern_name(query: str)")
    assert any(":topic_of:" in each for each in made.content.dependencies)
    assert "topic_of" in made.content.calls
    assert "aurora_memory.tokens" in made.content.imports
    assert made.metadata.git_hash is None and made.metadata.language == "python"
    assert made.governance.lifespan_policy == "conditional"


def view(**changes: object) -> ChunkView:
    fields: dict[str, object] = {
        "id": 1, "path": "src/auth.py", "name": "login", "kind": "function", "language": "python", "line_start": 45,
        "line_end": 78, "signature": "def login()", "docstring": "", "parent": None, "complexity": "medium",
        "branches": 3, "loops": 0, "keywords": "login token", "tokens": 9, "changed_at": None,
    }  # fmt: skip
    return ChunkView(**(fields | changes))  # type: ignore[arg-type]


def test_history_and_commits_are_told() -> None:
    made = code_document(
        view(), commits=Commits([5], "abc123def", "Fix"), last_modified=NOON, accesses=[NOON, NOON + 60]
    )
    assert (made.metadata.git_hash, made.metadata.last_modified) == ("abc123def", "2025-12-12T12:00:00Z")
    assert (made.access_count, made.last_accessed) == (2, "2025-12-12T12:01:00Z")
    assert made.metadata.semantic_role == "authentication-handler"
    assert made.governance.compliance_tags == ("security",)
    assert code_document(view(), commits=Commits([5], "", "")).metadata.git_hash is None


def test_what_no_document_can_hold_is_refused_when_it_is_made() -> None:
    for changes in ({"line_start": 0}, {"complexity": "enormous"}, {"path": ""}, {"branches": -1}):
        with pytest.raises(InvalidChunkDocument, match="code:"):
            code_document(view(**changes))
    with pytest.raises(ValueError, match="comes after"):
        code_document(view(line_start=79))
    with pytest.raises(InvalidChunkDocument, match="confidence"):
        knowledge_document("x", "Topic", "Summary.", [], [], 1.5, NOON)


def test_ids_people_see() -> None:
    assert chunk_id("a.py", "f", 1, 2, "function") == "code:a.py:f:1-2"
    assert chunk_id("", "auth-flow:v2", 0, 0, "reasoning") == "reas:auth-flow:v2"


@pytest.mark.parametrize(("size", "said"), [(10, "is not JSON"), (11, "too large")])
def test_a_document_is_looked_at_up_to_a_limit(monkeypatch: pytest.MonkeyPatch, size: int, said: str) -> None:
    monkeypatch.setattr(chunk_validation, "MAX_BYTES", 10)
    for raw in ("x" * size, b"x" * size):
        with pytest.raises(InvalidChunkDocument, match=said):
            read_document(raw)


def test_what_is_called_is_told_with_what_it_is_called_of() -> None:
    references = [("calls", "post", "http"), ("calls", "go", ""), ("mentions", "x", "y"), ("calls", "post", "http")]
    assert list(dict.fromkeys(code_document(view(), references=references).content.calls)) == ["http.post", "go"]


def test_what_has_no_name_is_neither_called_nor_imported_and_each_module_is_told_once() -> None:
    made = code_document(view(), references=[("calls", "", ""), ("calls", "go", "")], imports=["os", "", "re", "os"])
    assert (made.content.calls, made.content.imports) == (("go",), ("os", "re"))


def test_a_chunk_depends_on_what_it_calls_and_inherits_from() -> None:
    kinds = [("calls", True), ("inherits", True), ("imports", True), ("mentions", True), ("calls", False)]
    edges = [Edge(kind, out, 1.0, view(id=n, name=f"f{n}")) for n, (kind, out) in enumerate(kinds)]
    found = code_document(view(), edges).content.dependencies
    assert [each.split(":")[2] for each in found] == ["f0", "f1"]


@pytest.mark.parametrize(
    ("topic", "validated", "tags"),
    [
        ("Opening hours", False, ()),
        ("Opening hours", True, ("validated",)),
        ("OAuth2 login tokens", False, ("security",)),
        ("OAuth2 login tokens", True, ("validated", "security")),
    ],
)
def test_knowledge_that_was_validated_and_what_concerns_security_say_so(
    topic: str, validated: bool, tags: tuple[str, ...]
) -> None:
    made = knowledge_document("x", topic, topic, [], [], 0.5, NOON, validated=validated)
    assert made.governance.compliance_tags == tags
    kept = [rule for rule in made.governance.retention_rules if rule.then == "retain_for_365_days"]
    assert len(kept) == ("security" in tags), "a year for what concerns security"


@pytest.mark.parametrize(("length", "said"), [(200, "x" * 200), (201, f"{'x' * 100} … {'x' * 90}")])
def test_a_problem_is_told_in_two_hundred_letters(length: int, said: str) -> None:
    assert _shortened("x" * length) == said
