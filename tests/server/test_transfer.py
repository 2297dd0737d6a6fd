"""Patterns of other repositories: told where they fit, with where they are from; deliverables stay where they were."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aurora_memory.documents import PatternSubgoal
from aurora_memory.learning import fingerprint, lesson_of
from aurora_memory.lifespans.policies import BUILT_IN
from aurora_memory.record.entry import EntryDraft
from aurora_memory.record.people import state
from aurora_memory.record.person import person_id
from aurora_memory.record.record_file import Record
from aurora_memory.record.transfer import matching, patterns_of, suffix_of
from aurora_memory.store.export_format import ChunkKey, ReasoningLine, UseLine
from aurora_server.workspace.record_place import RecordPlace, open_record
from tests import programs
from tests.memory.runs import NOON, retrieved, run
from tests.programs import COMMAND
from tests.server.daemons import Daemon
from tests.server.deliverables import lifetime
from tests.server.test_team_metrics import clone, drafts, place_of

ASKED = "Implement OAuth2 token validation for the API"


def solved(
    query: str, *, at: float = NOON, score: float = 0.95, file: str = "", step: str = "Check"
) -> list[EntryDraft]:
    """Entries of a question that went well, as the daemon appends them."""
    steps = (PatternSubgoal(id="SG1", description=f"{step} the signature of the token", agent="coder"),)
    document = lesson_of(run(1, score, at=at, query=query, subgoals=steps)).document
    assert document is not None
    lines: list[ReasoningLine | UseLine] = [ReasoningLine(at, document)]
    if file:
        own = ChunkKey("", document.id.removeprefix("reas:"), "reasoning", fingerprint(steps).hex())
        lines.append(UseLine(own, ChunkKey(file, "f", "function", "00" * 8), 1.0))
    return [EntryDraft(str(line.__struct_config__.tag), msgspec.json.encode(line).decode(), at) for line in lines]


def tell(place: RecordPlace, who: str, entries: Sequence[EntryDraft], *, name: str = "") -> None:
    author = place.author if who == "me" else person_id(f"{who}@example.org", "", "")
    with closing(Record.open(place.path, place.repository, author, f"machine of {who}")) as record:
        record.append(entries)
        if name:
            state(record, name, time.time(), shares=True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def shop(home: Path, tmp_path: Path) -> Path:
    """Work goes on in `shop`; the question was solved in `bank`, and a colleague solved another one there."""
    shop, bank = clone(tmp_path, "shop"), clone(tmp_path, "bank")
    at_bank = place_of(bank, home)
    tell(at_bank, "me", [*solved(ASKED, file="auth.py"), *drafts(lifetime("add-safe", "2026-01-05"))])
    tell(at_bank, "ann", solved("Rotate the signing key of OAuth2 tokens", step="Replace"), name="Ann Lee")
    return shop


def ask(daemon: Daemon, root: Path, query: str, **params: Any) -> list[dict[str, Any]]:
    with daemon.client(root) as client:
        reply = client.request("aurora/recall", {"query": query, **params})
        found: list[dict[str, Any]] = reply["results"]
        return found


def test_what_was_solved_in_another_repository_is_told_with_where_it_is_from(home: Path, shop: Path) -> None:
    with Daemon(home) as daemon:
        with daemon.client(shop) as client:
            client.request("aurora/index")
        for params in ({"types": ["reas"]}, {"everywhere": True}):
            first, *_ = ask(daemon, shop, ASKED, include_content=True, **params)
            assert (first["transferred_from"], first["learned_by"], first["workspace"]) == ("bank", "", "")
            assert first["content"].startswith("You solved this in another repository, bank, on 2025-12-12:")
            assert "Check the signature" in first["content"]
        (other,) = ask(daemon, shop, "rotate OAuth2 signing key", types=["reas"])
        assert (other["learned_by"], other["score"] < first["score"]) == ("Ann Lee", True)
        assert ask(daemon, shop, ASKED, types=["code"]) == []
        assert [each["transferred_from"] for each in ask(daemon, shop, ASKED)] == [], "unasked nothing is mixed in"
        assert ask(daemon, shop, "pack parcels into boxes", types=["reas"]) == []
        with daemon.client(shop) as client:
            assert client.request("aurora/deliverable", {"action": "list"})["deliverables"] == []
        assert ask(daemon, shop.parent / "bank", ASKED, types=["reas"]) == [], "one's own repository is no other"
        command = [*COMMAND, "mem", ASKED, "--type", "reas"]
        environ = {**os.environ, "AURORA_HOME": str(home)}
        done = programs.run(command, cwd=shop, env=environ, capture_output=True, text=True, check=True)
        assert "you solved this in another repository: bank" in done.stdout


def test_what_is_recorded_later_is_told_and_what_is_forgotten_is_not(home: Path, shop: Path) -> None:
    at_bank = place_of(shop.parent / "bank", home)
    with Daemon(home) as daemon:
        assert len(ask(daemon, shop, "parse the header of a PDF", types=["reas"])) == 0
        tell(at_bank, "me", solved("Parse the header of a PDF file"))
        assert len(ask(daemon, shop, "parse the header of a PDF", types=["reas"])) == 1
        tell(at_bank, "me", [EntryDraft("forget", "{}", time.time())])
        assert ask(daemon, shop, "parse the header of a PDF", types=["reas"]) == []


def test_domain_and_language_and_whose_it_is_decide_between_patterns(home: Path, shop: Path) -> None:
    place = place_of(clone(shop.parent, "vault"), home)
    tell(place, "me", solved("Validate OAuth2 token signatures in handlers", file="web/app.ts", step="Compare"))
    tell(place, "bob", solved("Validate OAuth2 token signatures in workers", file="app.py", step="Verify"))
    tell(place, "me", solved("Validate OAuth2 token signatures in queues", file="app.py", step="Look at"))
    tell(place, "me", solved("Validate OAuth2 token signatures badly", score=0.6))
    with closing(open_record(place)) as record:
        patterns = patterns_of(record, "vault")
    asked = "validate OAuth2 token signatures"
    found = matching(patterns, asked, frozenset({".py"}), 0.5, 5)
    told = [match.pattern.document.content.original_query.rsplit(" ", 1)[1] for match in found]
    assert told == ["queues", "handlers", "workers"], "same language first, others' last, what went badly never"
    assert found[2].pattern.learned_by is None, "who does not share his name has none"
    assert [suffix_of(each) for each in ("a/b.PY", ".env", "x/Makefile", "a.tar.gz")] == [".py", "", "", ".gz"]


def test_of_patterns_that_fit_as_well_the_one_learned_last_is_told_first(home: Path, shop: Path) -> None:
    place = place_of(clone(shop.parent, "vault"), home)
    for day, where in enumerate(("queues", "workers")):
        said = f"Validate OAuth2 token signatures in {where}"
        tell(place, "me", solved(said, at=NOON + day * 86_400, step=f"Compare in {where}"))
    with closing(open_record(place)) as record:
        patterns = patterns_of(record, "vault")
    found = matching(patterns, "validate OAuth2 token signatures", frozenset(), 0.5, 5)
    told = [match.pattern.document.content.original_query.rsplit(" ", 1)[1] for match in found]
    assert told == ["workers", "queues"] and found[0].score == found[1].score


def test_a_pattern_whose_lines_have_changed_where_it_was_learned_is_told_as_drifted(home: Path, shop: Path) -> None:
    from aurora_orchestration.soar.cited_spans import span_of
    from aurora_orchestration.soar.workspace_text import WorkspaceText

    asked = "Pack parcels into boxes by weight"
    bank = shop.parent / "bank"
    file = bank / "parcels" / "pack.py"
    file.parent.mkdir()
    file.write_text("def pack(parcels):\n    return sorted(parcels, key=weight)\n")
    place = place_of(bank, home)
    span = span_of("parcels/pack.py", 1, 2, WorkspaceText(bank))
    assert span is not None
    steps = (PatternSubgoal(id="SG1", description="Sort the parcels", agent="coder"),)
    document = lesson_of(run(1, 0.95, at=NOON, query=asked, subgoals=steps)).document
    assert document is not None
    content = msgspec.structs.replace(document.content, cites=(span,))
    line = ReasoningLine(NOON, msgspec.structs.replace(document, content=content))
    tell(place, "me", [EntryDraft("reasoning", msgspec.json.encode(line).decode(), NOON)])
    environ = {**os.environ, "AURORA_HOME": str(home)}
    command = [*COMMAND, "mem", asked, "--type", "reas"]

    def told(daemon: Daemon) -> tuple[list[str], bool, str]:
        (found,) = ask(daemon, shop, asked, types=["reas"], include_content=True)
        done = programs.run(command, cwd=shop, env=environ, capture_output=True, text=True, check=True)
        return found["drifted"], "drifted: parcels/pack.py:1 changed since there" in found["content"], done.stdout

    with Daemon(home) as daemon:
        with daemon.client(shop) as client:
            client.request("aurora/index")
        drifted, said, shown = told(daemon)
        assert (drifted, said, "drifted" in shown) == ([], False, False)
        file.write_text("import math\n\n\ndef pack(parcels):\n    return sorted(parcels, key=weight)\n")
        assert told(daemon)[0] == [], "it moved, and says the same"
        file.write_text("def pack(parcels):\n    return sorted(parcels, key=volume)\n")
        drifted, said, shown = told(daemon)
        assert (drifted, said) == (["parcels/pack.py:1"], True)
        assert "drifted: parcels/pack.py:1 changed since" in shown
        bank.rename(shop.parent / "away")
        assert told(daemon)[0] == [], "nothing is said of what cannot be looked at"


def test_of_several_work_trees_the_one_where_git_was_at_work_last_is_looked_at(tmp_path: Path) -> None:
    from aurora_server.workspace.transferred_patterns import work_tree_in_use
    from tests.e2e.repositories import commit, git

    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    origin.joinpath("a.py").write_text("x = 1\n")
    commit(origin, "begun")
    git(origin, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    git(tmp_path, "clone", "-q", str(origin), "later")
    commons = [origin / ".git", tmp_path / "later" / ".git", tmp_path / "gone" / ".git"]
    index = {
        "origin": origin / ".git" / "index",
        "side": origin / ".git" / "worktrees" / "side" / "index",
        "later": tmp_path / "later" / ".git" / "index",
    }
    for number, last in enumerate(("origin", "side", "later")):
        os.utime(index[last], (NOON * 2 + number, NOON * 2 + number))
        assert work_tree_in_use(commons) == tmp_path / last
    assert work_tree_in_use(commons[2:]) is None
    assert work_tree_in_use([tmp_path / "side"]) == tmp_path / "side", "a folder without git is its own"


@pytest.mark.parametrize("scores", [(0.95, 0.85), (0.85, 0.95)])
def test_of_two_learnings_of_one_pattern_the_better_is_carried_over(
    home: Path, shop: Path, scores: tuple[float, float]
) -> None:
    place = place_of(clone(shop.parent, "vault"), home)
    for day, score in enumerate(scores):
        tell(place, "me", solved(ASKED, at=NOON + day * 86_400, score=score))
    with closing(open_record(place)) as record:
        (kept,) = patterns_of(record, "vault")
    assert kept.document.content.success_score == max(scores)


async def test_a_question_is_given_patterns_of_other_repositories_only_where_patterns_are_asked_for(
    home: Path, shop: Path
) -> None:
    from aurora_memory.store import Store
    from aurora_server.workspace.colleagues import Colleagues
    from aurora_server.workspace.recall import MemoryRecall
    from aurora_server.workspace.recall_uses import RecallUses
    from aurora_server.workspace.soar_memory import SoarMemory
    from aurora_server.workspace.transferred_patterns import TransferredPatterns

    async def ready() -> None:
        return None

    store = await Store.open(home / "memory" / "shop.db")
    try:
        uses = RecallUses(store)
        recall = MemoryRecall(shop, store.read, BUILT_IN, None, uses, Colleagues(shop))
        patterns = TransferredPatterns(shop, home, store.read)
        memory = SoarMemory(recall, store, lambda: home, ready, patterns.matching)
        assert await memory.recall(ASKED, budget=2000, limit=10) == []
        (found,) = await memory.recall(ASKED, budget=2000, limit=10, types=("reas",))
        assert found.content.startswith("You solved this in another repository, bank")
        assert found.row < 0
        assert await memory.recall(ASKED, budget=5, limit=10, types=("reas",)) == []
        assert await memory.cites([found.row]) == {}
        learned = await memory.learn(run(7, query=ASKED, retrieved=retrieved(found.row)))
        assert learned.reasoning_id is not None, "a run that was given it is learned from as any other"
        await uses.close()
    finally:
        await store.close()


def test_agents_are_told_where_a_pattern_is_from() -> None:
    from aurora_server.mcp.memory_tools import hits_reply, places_reply

    found = {
        "id": "reas:oauth2",
        "name": "oauth2",
        "kind": "reasoning",
        "file": "",
        "score": 0.9,
        "signature": ASKED,
        "language": "",
        "transferred_from": "bank",
        "learned_by": None,
    }
    result = {"results": [found], "freshness": {"indexed_at": "2026-01-01T00:00:00Z", "pending_files": 0}}
    for text in (places_reply(result, 500).text, hits_reply(result, 500).text):
        assert "a colleague solved this in another repository, bank" in text
