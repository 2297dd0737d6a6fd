"""What makes a file the place of a topic, and how much of one outweighs how much of another."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from aurora_memory.chunks import MODULE_NAME
from aurora_memory.recall import parse_question
from aurora_memory.recall.candidates import Candidates, NameShares, _name_shares
from aurora_memory.recall.file_evidence import evidence
from aurora_memory.recall.pointers import Pointed
from aurora_memory.recall.ranking import Rank
from aurora_memory.recall.search import PartMatch
from aurora_memory.recall.signals import Signals
from aurora_memory.views import ChunkHead

SURE, HALF, POOR = 9.9, 5.5, 4.0
"""Strengths (log odds) of scores of .9, .5 and .3."""


UNNAMED = NameShares(0, 0, 0)


class Said(NamedTuple):
    """What a chunk says of the topic: its strength, its cosine, of a remainder what its documentation says, the words
    of its file and those of its file's best part, and what similar commits brought to its file.
    """

    strength: float = SURE
    near: float = 0.0
    doc: float | None = None
    file: float = 0.0
    best: float = 0.0
    brought: float = 0.0


def worth(
    *chunks: Said,
    path: str = "shop/a.py",
    kind: str = "function",
    topic: str = "retry of uploads",
    named: NameShares = UNNAMED,
    of_reports: bool = False,
) -> float:
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
        matches=[PartMatch(0, 0, 0, 0, 0, 0, 0, each.doc or 0.0, each.file, each.best) for each in said],
        reached=[],
        brought=[],
        brought_to_file=[each.brought for each in said],
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
        names_of_files={path: named, "shop/other.py": UNNAMED},
        alike=[each.near for each in said],
        pointed=Pointed(),
        phrased=[],
    )
    ranks = [Rank(n, n, each.strength, Signals(())) for n, each in enumerate(said)]
    return evidence(made, sorted(ranks, key=lambda rank: -rank.strength), of_reports=of_reports)[path]


ALL = Said(SURE, doc=1.0)
TEST, EXAMPLE, OLD = "tests/test_a.py", "examples/a.py", "shop/legacy/a.py"
CALLED, CALLED_BY, FOLDERS = NameShares(1, 0, 0), NameShares(0, 1, 0), NameShares(0, 0, 1)

TRADES = [
    ("a second sure answer outweighs documentation that says all", worth(Said(), Said()), worth(ALL)),
    ("which outweighs documentation that says half", worth(ALL), worth(Said(doc=0.5))),
    ("a function that is near in meaning outweighs it", worth(Said(near=0.8)), worth(ALL)),
    ("documentation that says most outweighs that which says less", worth(Said(doc=0.75)), worth(Said(doc=0.65))),
    ("what says a little more than half outweighs what says half", worth(Said(doc=0.65)), worth(Said(doc=0.5))),
    ("a function that is somewhat near outweighs a second sure answer", worth(Said(near=0.4)), worth(Said(), Said())),
    ("two more sure answers outweigh it", worth(*[Said()] * 3), worth(Said(near=0.4))),
    ("a function that is near outweighs a class that is", worth(Said(near=0.5)), worth(Said(near=0.5), kind="class")),
    (
        "a class that is near outweighs one that is not",
        worth(Said(near=0.5), kind="class"),
        worth(Said(), kind="class"),
    ),
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
    ("words all over a file outweigh two more sure answers", worth(Said(file=0.5)), worth(*[Said()] * 3)),
    ("a second sure answer outweighs a few of them", worth(Said(), Said()), worth(Said(file=0.1))),
    ("of scores that are all good the best one tells", worth(Said(14.0), Said(14.0)), worth(*[Said(12.0)] * 2)),
    ("a second sure answer outweighs that", worth(Said(12.0), Said(12.0)), worth(Said(14.0))),
    ("a name that says all outweighs a second sure answer", worth(Said(), named=CALLED), worth(Said(), Said())),
    ("two more outweigh it", worth(*[Said()] * 3), worth(Said(), named=CALLED)),
    ("a function that is near outweighs it", worth(Said(near=0.8)), worth(Said(), named=CALLED)),
    ("one that is all said outweighs a second sure answer", worth(Said(), named=CALLED_BY), worth(Said(), Said())),
    ("two more outweigh that, too", worth(*[Said()] * 3), worth(Said(), named=CALLED_BY)),
    (
        "a name that says all outweighs one that is all said",
        worth(Said(), named=CALLED),
        worth(Said(), named=CALLED_BY),
    ),
    ("two more sure answers outweigh folders that are called so", worth(*[Said()] * 3), worth(Said(), named=FOLDERS)),
    ("folders that are called so outweigh a second sure answer", worth(Said(), named=FOLDERS), worth(Said(), Said())),
    ("words in its best part outweigh a second sure answer", worth(Said(best=0.6)), worth(Said(), Said())),
    ("a second sure answer outweighs fewer of them", worth(Said(), Said()), worth(Said(best=0.4))),
    ("what a like commit brought outweighs two more sure answers", worth(Said(brought=0.1)), worth(*[Said()] * 3)),
    ("a second sure answer outweighs a little of that", worth(Said(), Said()), worth(Said(brought=0.03))),
    (
        "of equals the file that lies in fewer folders",
        worth(Said(), path="shop/a.py"),
        worth(Said(), path="shop/b/a.py"),
    ),
    ("a second sure answer outweighs two", worth(Said(), Said(), path="shop/b/c/a.py"), worth(Said())),
    ("poor code outweighs two sure answers of a test", worth(Said(POOR)), worth(Said(), Said(), path=TEST)),
    ("a sure test with the words all over it outweighs poor code", worth(Said(file=1.0), path=TEST), worth(Said(POOR))),
    ("a half answer of code outweighs a sure one of a document", worth(Said(HALF)), worth(Said(), kind="section")),
    ("poor code outweighs two sure answers of a document", worth(Said(POOR)), worth(Said(), Said(), kind="section")),
    ("a document with the words all over it outweighs it", worth(Said(file=0.7), kind="section"), worth(Said(POOR))),
    ("poor code outweighs two sure answers of an example", worth(Said(POOR)), worth(Said(), Said(), path=EXAMPLE)),
    ("an example with the words all over it outweighs it", worth(Said(file=1.0), path=EXAMPLE), worth(Said(POOR))),
    ("a sure example outweighs a sure test", worth(Said(), path=EXAMPLE), worth(Said(), path=TEST)),
    ("today's sure answer outweighs one of a folder that is kept", worth(Said()), worth(Said(), path=OLD)),
    ("such a folder with the words all over it outweighs it", worth(Said(file=1.0), path=OLD), worth(Said())),
]


REPORTED = [
    (
        "words all over a file outweigh two more sure answers for a report, too",
        worth(Said(file=0.5), of_reports=True),
        worth(*[Said()] * 3, of_reports=True),
    ),
    (
        "a function that is near in meaning says nothing: no vectors are asked",
        worth(Said(), Said(), of_reports=True),
        worth(Said(near=0.9), of_reports=True),
    ),
    (
        "a sure answer of code outweighs three of a test",
        worth(Said(), of_reports=True),
        worth(*[Said()] * 3, path=TEST, of_reports=True),
    ),
    (
        "a sure answer of code outweighs two of a document",
        worth(Said(), of_reports=True),
        worth(Said(), Said(), kind="section", of_reports=True),
    ),
    (
        "a name that says all outweighs two more sure answers",
        worth(Said(), named=CALLED, of_reports=True),
        worth(*[Said()] * 3, of_reports=True),
    ),
]
"""What outweighs what for who wants something changed."""

TRADES += REPORTED


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


SAID = {"cart": 1.0, "total": 1.0, "test": 1.0, "gitignor": 1.0}


@pytest.mark.parametrize(
    ("path", "shares"),
    [
        pytest.param("shop/cart.py", (0.25, 1.0, 0.0), id="a name that is said as a whole says a quarter of it"),
        pytest.param("shop/cart_total.py", (0.5, 1.0, 0.0), id="of two words both count, and not both as one"),
        pytest.param("shop/cart_rate.py", (0.25, 0.5, 0.0), id="one of the two is said"),
        pytest.param("shop/rate.cart.py", (0.0, 0.0, 0.0), id="what stands behind the first dot is no name"),
        pytest.param("shop/.gitignore", (0.25, 1.0, 0.0), id="but where nothing stands before it"),
        pytest.param("cart/rate.py", (0.0, 0.0, 1.0), id="a folder that is said"),
        pytest.param("cart/shop/rate.py", (0.0, 0.0, 0.5), id="one of two folders is said"),
        pytest.param("cart/cart.py", (0.25, 1.0, 0.0), id="a folder called as its file says nothing besides"),
        pytest.param("test/rate.py", (0.0, 0.0, 0.0), id="nor does one of tests"),
    ],
)
def test_what_the_name_of_a_file_has_of_a_question(path: str, shares: tuple[float, float, float]) -> None:
    assert _name_shares(path, 4.0, SAID, ()) == NameShares(*shares)


def test_a_name_says_no_more_than_all_of_a_question_though_it_says_what_that_may_mean_as_well() -> None:
    assert _name_shares("cart_total.py", 1.0, SAID, ()).said == 1.0
