"""What makes a file the place of a topic, and how much of one outweighs how much of another."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from aurora_memory.chunks import MODULE_NAME
from aurora_memory.recall import parse_question
from aurora_memory.recall.candidates import Candidates, NameShares
from aurora_memory.recall.file_evidence import evidence
from aurora_memory.recall.pointers import Pointed
from aurora_memory.recall.ranking import Rank
from aurora_memory.recall.search import PartMatch
from aurora_memory.recall.signals import Signals
from aurora_memory.views import ChunkHead

SURE, HALF, POOR = 9.9, 5.5, 4.0
"""Strengths (log odds) of scores of .9, .5 and .3."""


class Said(NamedTuple):
    """What a chunk says of the topic: its strength, its cosine, and of a remainder what its documentation says."""

    strength: float = SURE
    near: float = 0.0
    doc: float | None = None


def worth(*chunks: Said, path: str = "shop/a.py", kind: str = "function", topic: str = "retry of uploads") -> float:
    """The evidence of a file of such chunks, beside one of code."""
    names = ["function" if each.doc is None else MODULE_NAME for each in chunks]
    heads = [ChunkHead(n, path, name, kind, None, 1, 5, None) for n, name in enumerate(names)]
    heads.append(ChunkHead(len(chunks), "shop/other.py", "other", "function", None, 1, 5, None))
    said = [*chunks, Said(POOR)]
    asked = parse_question(topic)
    made = Candidates(
        question=asked,
        now=0.0,
        heads=heads,
        matches=[PartMatch(0, 0, 0, 0, 0, 0, 0, each.doc or 0.0, 0, 0) for each in said],
        reached=[],
        brought=[],
        brought_to_file=[],
        histories=[],
        counts=[],
        levels=[],
        boosts=[],
        decays=[],
        learned=[],
        standing=[],
        declares=[],
        last_used={},
        of_others={},
        commits={},
        mtimes={},
        names_of_files={each: NameShares(0, 0, 0) for each in (path, "shop/other.py")},
        alike=[each.near for each in said],
        pointed=Pointed(),
    )
    ranks = [Rank(n, n, each.strength, Signals(())) for n, each in enumerate(said)]
    return evidence(made, sorted(ranks, key=lambda rank: -rank.strength))[path]


ALL = Said(SURE, doc=1.0)
TEST = "tests/test_a.py"

TRADES = [
    ("documentation that says all outweighs a second sure answer", worth(ALL), worth(Said(), Said())),
    ("two more sure answers outweigh it", worth(Said(), Said(), Said()), worth(ALL)),
    ("documentation that says most outweighs that which says less", worth(Said(doc=0.75)), worth(Said(doc=0.65))),
    ("what says a little more than half outweighs what says half", worth(Said(doc=0.65)), worth(Said(doc=0.5))),
    ("a chunk near in meaning outweighs a second half answer", worth(Said(near=0.8)), worth(Said(), Said(HALF))),
    ("a second sure answer outweighs it", worth(Said(), Said()), worth(Said(near=0.8))),
    (
        "one chunk that is nearer outweighs three that are less near",
        worth(Said(near=0.8), Said(), Said()),
        worth(*[Said(near=0.5)] * 3),
    ),
    (
        "of files that are as near the one with two such chunks",
        worth(*[Said(near=0.5)] * 2),
        worth(Said(near=0.5), Said()),
    ),
    ("a half answer of code outweighs two sure ones of a test", worth(Said(HALF)), worth(Said(), Said(), path=TEST)),
    ("two sure answers of a test outweigh poor code", worth(Said(), Said(), path=TEST), worth(Said(POOR))),
    ("a half answer of code outweighs a sure one of a document", worth(Said(HALF)), worth(Said(), kind="section")),
    ("a sure answer of a document outweighs poor code", worth(Said(), kind="section"), worth(Said(POOR))),
    ("half answers of code outweigh an example that is sure", worth(Said(HALF)), worth(Said(), path="examples/a.py")),
]


@pytest.mark.parametrize(("more", "less"), [trade[1:] for trade in TRADES], ids=[rule for rule, *_ in TRADES])
def test_what_outweighs_what(more: float, less: float) -> None:
    assert more > less


def test_documentation_counts_where_it_says_clearly_more_than_half_and_is_whole_where_little_is_missing() -> None:
    assert worth(Said(doc=0.6)) == worth(Said(doc=0.0)) == worth(Said())
    assert worth(Said(doc=0.8)) == worth(ALL) > worth(Said(doc=0.75))


def test_documentation_that_has_the_only_word_of_a_topic_says_nothing_of_its_file() -> None:
    assert worth(ALL, topic="retries") == worth(Said(), topic="retries")


def test_who_asks_for_tests_gets_them() -> None:
    assert worth(Said(), path=TEST, topic="tests of the retry of uploads") == worth(Said())
