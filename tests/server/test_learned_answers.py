"""What finished runs taught, as the wire carries it: recalled beside code, explained with its document."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET

from aurora_indexer.workers.pool import WorkerPool
from aurora_memory import UnknownChunk
from aurora_memory.chunk_validation import read_document
from aurora_memory.store import Store, chunk_reader
from aurora_protocol.methods import PatternUse, RecallParams
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.workspace import Workspace, database_path
from tests.memory.runs import retrieved, run

NAME = "reas:oauth2-authentication-api-implementation"


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    root, home, work = (tmp_path / name for name in ("shop", "home", "work"))
    for folder in (root, home, work):
        folder.mkdir()
    (root / "auth.py").write_text(
        "def authenticate(token):\n    '''Check an OAuth2 token.'''\n    return token.valid\n"
    )
    settings = Settings(home=home)
    pool = WorkerPool(1, folder=work, environment=os.environ)
    opened = await Workspace.open(root, settings, pool)
    await opened.index(None)
    store = await Store.open(database_path(root, settings))
    (code,) = await store.read(chunk_reader.by_name, "auth.py", "authenticate")
    await store.learn(run(retrieved=retrieved(code.id, helpful=True)))
    await store.close()
    yield opened
    await opened.close()
    await pool.aclose()


async def test_patterns_are_recalled_beside_code(workspace: Workspace) -> None:
    async def types(*wanted: str) -> set[str]:
        params = RecallParams(query="oauth2 authentication", types=list(wanted) or None)
        return {each.type for each in (await workspace.recall(params)).results}

    assert await types() == {"code", "reas"}
    assert await types("reas") == {"reas"}
    assert await types("code") == {"code"}
    assert await types("know") == set()
    params = RecallParams(query="oauth2 authentication", types=["reas"], include_content=True, explain=True)
    (pattern,) = (await workspace.recall(params)).results
    assert (pattern.id, pattern.kind, pattern.file) == (NAME, "reasoning", "")
    assert pattern.content == "Research OAuth2 providers; Implement token validation"
    assert pattern.signature == "Implement OAuth2 authentication for our API"
    assert pattern.activation.total == pytest.approx(
        pattern.activation.base_level
        + pattern.activation.spreading
        + pattern.activation.context_boost
        - pattern.activation.decay
        + pattern.activation.learned,
        abs=1e-5,
    )


async def test_both_are_explained_by_their_documents(workspace: Workspace) -> None:
    code = await workspace.explain("code:auth.py:authenticate")
    document = read_document(msgspec.json.encode(code.document))
    assert (document.id, document.access_count) == ("code:auth.py:authenticate:1-3", 1)
    assert code.content == code.document["content"] and code.metadata["domain"] == "security"
    assert [(each.relation, each.id) for each in code.relations] == [("used by", NAME)]
    pattern = await workspace.explain(NAME)
    assert read_document(msgspec.json.encode(pattern.document)).id == NAME
    assert [(each.relation, each.id) for each in pattern.relations] == [("used", "code:auth.py:authenticate:1-3")]
    assert pattern.accesses == ["2025-12-12T12:00:01Z"]
    with pytest.raises(UnknownChunk, match="reas:nothing"):
        await workspace.explain("reas:nothing")


async def test_patterns_are_no_symbols_and_no_files(workspace: Workspace) -> None:
    assert {each.type for each in await workspace.symbols("oauth2", 20)} == {"code"}
    status = workspace.status()
    assert (status.files, status.chunks) == (1, 1)


async def test_evidence_tells_what_runs_taught(workspace: Workspace) -> None:
    params = RecallParams(query="authenticate token", types=["code"], explain=True)
    (code, *_) = (await workspace.recall(params)).results
    assert code.evidence is not UNSET
    (lesson,) = code.evidence.learned
    assert (lesson.run, lesson.at) == ("aurora-1", "2025-12-12T12:00:01Z")
    assert lesson.amount == code.activation.learned > 0
    assert (code.evidence.accesses_from, code.evidence.accesses) == ("answers", ["2025-12-12T12:00:01Z"])
    explained = await workspace.explain("code:auth.py:authenticate")
    assert explained.chunk.evidence is not UNSET and explained.chunk.evidence.learned == [lesson]
    params = RecallParams(query="oauth2 authentication", types=["reas"], explain=True)
    (pattern,) = (await workspace.recall(params)).results
    assert pattern.evidence is not UNSET
    assert {match.term for match in pattern.evidence.matches} == set(pattern.evidence.matched_terms) != set()


async def test_a_function_knows_the_patterns_that_used_it(workspace: Workspace) -> None:
    (pattern,) = (await workspace.explain("code:auth.py:authenticate")).patterns
    assert pattern == PatternUse(id=NAME, query="Implement OAuth2 authentication for our API", score=0.92, uses=1)
    assert (await workspace.explain(NAME)).patterns == []


async def test_a_pattern_is_found_by_its_id(workspace: Workspace) -> None:
    (pattern,) = (await workspace.recall(RecallParams(query=NAME))).results
    assert pattern.id == NAME
    assert (await workspace.recall(RecallParams(query=NAME, types=["know"]))).results == []


async def test_weak_answers_name_the_logs_that_tell_more(workspace: Workspace, tmp_path: Path) -> None:
    store = await Store.open(database_path(workspace.root, Settings(home=tmp_path / "home")))
    log = "# Run\n\n## Phase 3: Kubernetes ingress\n\nThe ingress controller for kubernetes routes webhook traffic.\n"
    await store.index_log("2025/ingress.md", log)
    await store.close()
    weak = await workspace.recall(RecallParams(query="kubernetes ingress routes"))
    (log_seen, *_) = weak.logs
    assert (log_seen.file, log_seen.section, log_seen.line_start) == (
        "2025/ingress.md",
        "Phase 3: Kubernetes ingress",
        3,
    )
    assert "kubernetes" in log_seen.keywords
    strong = await workspace.recall(RecallParams(query="authenticate token"))
    assert strong.results and strong.logs == []
