"""What came from colleagues is marked where it plays a part, and a pattern whose cited lines changed says so."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from aurora_indexer.workers.pool import WorkerPool
from aurora_memory.record.line_key import line_of
from aurora_memory.record.people import state
from aurora_memory.record.places import in_repository, in_workspace
from aurora_memory.store import chunk_reader
from aurora_memory.store.export_format import ReasoningLine
from aurora_orchestration.soar.cited_spans import span_of
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_protocol.methods import RecallParams
from aurora_server.configuration.settings import Settings
from aurora_server.lsp import hover
from aurora_server.mcp.memory_tools import hits_reply, places_reply
from aurora_server.workspace.record_place import open_record, record_place
from aurora_server.workspace.shared_records import SharedRecords
from aurora_server.workspace.workspace import Workspace
from tests.e2e.repositories import git
from tests.memory.runs import NOON, retrieved, run

ASKED = "Implement OAuth2 authentication for our API"
CODE = "def total(lines):\n    return sum(line.price for line in lines)\n"
NOW = datetime.fromtimestamp(NOON + 100, UTC)


def clone(folder: Path, who: str) -> Path:
    root = folder / who
    root.mkdir()
    git(root, "init", "-q")
    git(root, "config", "user.email", f"{who}@example.org")
    git(root, "remote", "add", "origin", "https://example.org/one.git")
    (root / "cart.py").write_text(CODE)
    return root


@asynccontextmanager
async def opened(folder: Path, who: str) -> AsyncIterator[Workspace]:
    home = folder / f"home-{who}"
    pool = WorkerPool(1, folder=folder, environment=os.environ)
    workspace = await Workspace.open(folder / who, Settings(home=home), pool, records=SharedRecords(home))
    assert workspace.record is not None
    try:
        await workspace.record.settled()
        yield workspace
    finally:
        await workspace.close()
        await pool.aclose()


async def sent(folder: Path, giver: str, taker: str, name: str) -> None:
    """Bring what one has recorded into the other's record, as a hub would; he shares his name, if it is one."""
    of = await record_place(folder / giver, folder / f"home-{giver}")
    to = await record_place(folder / taker, folder / f"home-{taker}")
    with closing(open_record(of)) as given, closing(open_record(to)) as taken:
        state(given, name, NOON, shares=bool(name))
        taken.union(entry for _, entry in given.after(0))


async def test_a_colleagues_pattern_and_uses_are_marked_wherever_they_play_a_part(tmp_path: Path) -> None:
    for who in ("ann", "bob"):
        clone(tmp_path, who)
    async with opened(tmp_path, "ann") as ann:
        (total,) = await ann._store.read(chunk_reader.by_name, "cart.py", "total")
        cited = span_of("cart.py", 1, 2, WorkspaceText(tmp_path / "ann"))
        assert cited is not None
        await ann._store.learn(run(1, query=ASKED, retrieved=retrieved(total.id), cites=(cited,)))
        (own,) = (await ann.recall(RecallParams(query=ASKED, types=["reas"]))).results
        assert (own.provenance, own.drifted) == (None, []), "it is hers"
    await sent(tmp_path, "ann", "bob", "")
    async with opened(tmp_path, "bob") as bob:
        (found,) = (await bob.recall(RecallParams(query=ASKED, types=["reas"]))).results
        assert found.provenance is not None
        assert (found.provenance.name, found.provenance.at[:10], found.drifted) == (None, "2025-12-12", [])
    await sent(tmp_path, "ann", "bob", "Ann Lee")
    async with opened(tmp_path, "bob") as bob:
        (tmp_path / "bob" / "cart.py").write_text(CODE.replace("price", "cost"))
        answer = await bob.recall(RecallParams(query=ASKED, types=["reas"], include_content=True, explain=True))
        (found,) = answer.results
        assert found.provenance is not None and found.provenance.name == "Ann Lee"
        assert found.drifted == ["cart.py:1"]
        wire = msgspec.to_builtins(answer)
        for told in (places_reply(wire, 500).text, hits_reply(wire, 500).text):
            assert "Ann Lee learned this on 2025-12-12" in told
            assert "drifted: cart.py:1 changed since" in told
        explained = await bob.explain("cart.py:total")
        evidence = explained.chunk.evidence
        assert not isinstance(evidence, msgspec.UnsetType)
        (part,) = evidence.colleagues
        assert (part.name, part.uses, part.boosts, part.last[:10]) == ("Ann Lee", 1, 1, "2025-12-12")
        assert (evidence.access_count, evidence.accesses_from) == (1, "answers"), "hers are his history, too"
        asked = await bob.recall(RecallParams(query="total", types=["code"], explain=True))
        recalled = asked.results[0].evidence
        assert not isinstance(recalled, msgspec.UnsetType)
        assert (recalled.access_count, recalled.accesses) == (1, evidence.accesses)
        (pattern,) = explained.patterns
        assert pattern.provenance is not None and pattern.provenance.name == "Ann Lee"
        for text in (hover.plain(explained, NOW), hover.markdown(explained, tmp_path / "bob", NOW)):
            assert "Ann Lee learned this on" in text.replace("\\", "") and "drifted" in text
            assert "of colleagues: Ann Lee (1 use, 1 boost, last" in text.replace("\\", "")
        context = await bob.soar._memory.recall(ASKED, budget=2000, limit=5, types=("reas",))
        assert context[0].content.startswith("(Ann Lee learned this on 2025-12-12")
        await bob._store.learn(run(2, query=ASKED, score=0.99, retrieved=()))
        (found,) = (await bob.recall(RecallParams(query=ASKED, types=["reas"]))).results
        assert found.provenance is None, "what went better since is his own"


async def test_a_pattern_of_a_folder_in_a_repository_cites_its_files_where_they_stand(tmp_path: Path) -> None:
    clone(tmp_path, "ann")
    async with opened(tmp_path, "ann") as ann:
        cited = span_of("cart.py", 1, 2, WorkspaceText(tmp_path / "ann"))
        assert cited is not None
        await ann._store.learn(run(1, query=ASKED, cites=(cited,)))
    place = await record_place(tmp_path / "ann", tmp_path / "home-ann")

    def recorded() -> ReasoningLine:
        with closing(open_record(place)) as record:
            (entry,) = record.of_kind("reasoning")
        line = line_of(entry.body)
        assert isinstance(line, ReasoningLine)
        return line

    line = await asyncio.to_thread(recorded)

    def files(of: object) -> list[str]:
        assert isinstance(of, ReasoningLine)
        return [each.file for each in of.document.content.cites]

    below = in_repository(line, "shop")
    assert files(below) == ["shop/cart.py"]
    assert in_workspace(below, "shop") == line
    assert files(in_workspace(below, "bank")) == [], "what stands elsewhere is not looked for here"
