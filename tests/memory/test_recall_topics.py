"""A small part of `make bench-recall`: topics of this package, asked of its own sources, and the files meant."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

import aurora_memory
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.file_evidence import SECOND
from aurora_memory.recall.recall import TOPICS as answers_to_topics
from aurora_memory.recall.recall import Level
from aurora_memory.recall.signals import weights_of
from aurora_memory.store import FileStat, IndexedFile, Store
from tests.benchmarks.recall_topics import Answer, Target, figures, ndcg
from tests.memory.stores import new_store

TOPICS = [
    ("near-duplicate folding", "recall/dedupe.py"),
    ("how is a damaged memory file saved", "store/salvage.py"),
    ("token budget of an answer", "recall/token_budget.py"),
    ("spreading activation over relations", "recall/spreading_activation.py"),
    ("reciprocal rank fusion", "recall/fusion.py"),
    ("BM25 scores of parts", "bm25.py"),
    ("how are identifiers split into terms", "tokens.py"),
    ("schema migrations", "store/migrations.py"),
    ("conditions of lifespan policies", "lifespans/conditions.py"),
    ("integrity check of tables", "store/integrity.py"),
    ("excerpt of a chunk", "recall/excerpts.py"),
    ("places and line numbers in a query", "recall/places.py"),
]


ROOT = Path(aurora_memory.__file__).parent
ALL = ("*.py",)
_MADE: dict[tuple[str, ...], bytes] = {}


@asynccontextmanager
async def of_this_package(path: Path, *patterns: str) -> AsyncIterator[Store]:
    """Memory of the files of this package that these patterns have: parsed and written once, then copied."""
    if patterns not in _MADE:
        store = await new_store(path)
        paths = [each.relative_to(ROOT).as_posix() for pattern in patterns for each in sorted(ROOT.rglob(pattern))]
        await store.write(
            [IndexedFile(FileStat(10, 1), parse_file(each, (ROOT / each).read_bytes())) for each in paths]
        )
        await store.resolve()
        await store.close()
        _MADE[patterns] = path.read_bytes()
    path.write_bytes(_MADE[patterns])
    store = await Store.open(path)
    try:
        yield store
    finally:
        await store.close()


@pytest.mark.parametrize(
    ("level", "kinds"),
    [("function", {"function", "method"}), ("class", {"class"}), ("file", {"module"})],
)
async def test_answers_of_one_size(tmp_path: Path, level: Level, kinds: set[str]) -> None:
    """Classes are not pushed down where they are asked for; a file is told once, with what is best in it beside."""
    paths = ["recall/recall.py", "recall/places.py", "recall/dedupe.py", "recall/signals.py", "views.py"]
    async with of_this_package(tmp_path / "memory.db", *paths) as store:
        asked = parse_question("folding of near duplicates")
        hits = await store.read(recall, asked, 10, 1_800_000_000.0, level=level)
    assert hits and {hit.chunk.kind for hit in hits} <= kinds, [(hit.chunk.kind, hit.chunk.name) for hit in hits]
    if level == "file":
        assert hits[0].chunk.path == "recall/dedupe.py" and len(hits[0].also) > 1
        assert hits[0].also[0].name == "fold_near_duplicates", "the best in it comes first"
        assert len({hit.chunk.path for hit in hits}) == len(hits)
        assert all(hit.chunk.id not in {each.id for each in hit.also} for hit in hits), "nor beside itself"


async def test_of_files_the_one_that_is_called_so_comes_first(tmp_path: Path) -> None:
    """Who asks by one name for a file wants that file before those which have something of the name."""
    async with of_this_package(tmp_path / "memory.db", "recall/*.py", "activation.py") as store:
        for name in ("recall", "Signals", "activation"):
            hits = await store.read(recall, parse_question(name), 10, 1_800_000_000.0, level="file")
            assert Path(hits[0].chunk.path).stem == name.lower(), [hit.chunk.path for hit in hits]
            strengths = [hit.strength for hit in hits]
            assert strengths == sorted(strengths, reverse=True)


async def test_topics_of_this_package_lead_to_their_files(tmp_path: Path) -> None:
    async with of_this_package(tmp_path / "memory.db", *ALL) as store:
        gains = {}
        for query, wanted in TOPICS:
            asked = parse_question(query)
            hits = await store.read(recall, asked, 10, 1_800_000_000.0)
            answers = [Answer(hit.chunk.path, hit.chunk.line_start, hit.chunk.line_end) for hit in hits]
            by_file = answers[: answers_to_topics if asked.is_open else len(answers)]
            twice = by_file[SECOND].path == by_file[0].path
            files = {answer.path for answer in by_file}
            assert len(files) == len(by_file) - twice, "each file is told once, one that leads clearly twice"
            gains[query] = ndcg([Target(wanted)], answers)
    assert sum(gains.values()) / len(gains) >= 0.8, gains


async def test_what_may_be_a_report_is_answered_as_a_topic_first_and_function_by_function_then(tmp_path: Path) -> None:
    """Of a title that reads like a topic, the functions of one file may all be meant."""
    async with of_this_package(tmp_path / "memory.db", "recall/*.py") as store:
        open_one = parse_question("names of a question looked up with another case")
        assert open_one.kind == "topic" and open_one.is_open
        topic = replace(open_one, is_open=False)
        found, as_topic, as_report = [
            [hit.chunk.id for hit in await store.read(recall, asked, 10, 1_800_000_000.0)]
            for asked in (open_one, topic, replace(topic, kind="report"))
        ]
    assert found[:answers_to_topics] == as_topic[:answers_to_topics]
    assert len(found) == len(set(found)) == 10
    rest = [chunk for chunk in as_report if chunk not in found[:answers_to_topics]]
    assert found != as_topic and set(found[answers_to_topics:]) & set(rest[:5])


async def test_a_reports_two_likeliest_files_answer_first(tmp_path: Path) -> None:
    """Six functions of one file resemble a report more than any of the other, which has to be changed as well."""
    async with of_this_package(tmp_path / "memory.db", *ALL) as store:
        asked = parse_question("Policies of lifespan are not applied to patterns")
        assert asked.kind == "report"
        hits = await store.read(recall, asked, 10, 1_800_000_000.0)
        plain = await store.read(recall, asked, 10, 1_800_000_000.0, weights=weights_of("report"))
    assert [hit.chunk.path for hit in hits[:2]] == ["lifespans/policies.py", "recall/patterns.py"]
    assert hits[0].chunk.id == plain[0].chunk.id
    assert "recall/patterns.py" not in {hit.chunk.path for hit in plain[:5]}, "by their weights alone it comes later"


async def test_a_task_names_a_file_that_has_clearly_more_to_do_with_it_than_its_first_two_answers(
    tmp_path: Path,
) -> None:
    """`score` and `computed` are names of functions elsewhere; that a file is called BM25 counts as well."""
    async with of_this_package(tmp_path / "memory.db", *ALL) as store:
        asked = parse_question("Compute the BM25 score of a document.")
        assert asked.kind == "task"
        hits = await store.read(recall, asked, 10, 1_800_000_000.0)
        plain = await store.read(recall, asked, 10, 1_800_000_000.0, weights=weights_of("task"))
        assert await store.read(recall, asked, 10, 1_800_000_000.0, types={"know"}) == [], "there are no documents"
    found, by_weights = [[hit.chunk.path for hit in each[:5]] for each in (hits, plain)]
    assert "bm25.py" in found[:3] and found[:2] == by_weights[:2], found
    assert "bm25.py" not in by_weights[:3], "by their weights alone it comes later"


@pytest.mark.parametrize(("rank", "share"), [(0, 1.0), (2, 1.0), (3, 0.0)])
def test_a_file_that_is_wanted_counts_among_the_first_three_whichever_lines_of_it_answer(
    rank: int, share: float
) -> None:
    answers = [Answer(f"other{n}.py", 1, 9) for n in range(5)]
    answers[rank] = Answer("cart.py", 50, 60)
    told = figures([Target("cart.py", 1, 9)], answers)
    assert (told.at_3, told.ndcg) == (share, 0.0)
