"""A report is asked as a whole, by its title and as a topic: each says in turns what comes first, and none is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_memory.recall import Hit, parse_question, recall
from aurora_memory.recall.recall import in_turns
from aurora_memory.store import Store
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store

NOW = 1_800_000_000.0
LONG = " ".join(
    ["We ship parcels to Norway and the carrier prints labels with the wrong postal code for every second parcel."] * 4
)
"""More than forty words, none of which are the title's."""


async def _asked(store: Store, text: str, limit: int = 10) -> list[Hit]:
    return await store.read(recall, parse_question(text), limit, NOW)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Store]:
    """Two files that the text speaks of, and one that only the title does, and hardly."""
    store = await new_store(tmp_path / "memory.db")
    said = {
        "src/labels.py": ("print_label", "carrier prints labels with the wrong postal code for each parcel to norway"),
        "src/carrier.py": ("ship_parcels", "ship parcels to norway, carrier prints every second postal code"),
        "src/tax.py": ("invoice_total", "total of norway"),
        "src/coupons.py": ("redeem", "coupon total"),
    }
    await store.write([file(path, chunk(path, name, body)) for path, (name, body) in said.items()])
    yield store
    await store.close()


async def test_a_report_is_asked_as_a_whole_and_by_its_title(shop: Store) -> None:
    """The title's first answer is among the first two, although the text has more to say of others."""
    title = "The total in the invoice is off"
    report = parse_question(f"{title}\n\n{LONG}")
    hits = await shop.read(recall, report, 10, NOW)
    of_text = await shop.read(recall, replace(report, title=None), 10, NOW)
    of_title = await _asked(shop, title)
    assert of_title[0].chunk.id != of_text[0].chunk.id
    assert {hit.chunk.id for hit in hits[:2]} == {of_text[0].chunk.id, of_title[0].chunk.id}
    strengths = [hit.strength for hit in hits]
    assert strengths == sorted(strengths, reverse=True)
    assert len({hit.chunk.id for hit in hits}) == len(hits)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        pytest.param(f"Redeemed coupon is missing\n\n{LONG}", "Redeemed coupon is missing", id="a title and a text"),
        pytest.param(LONG, None, id="all is one line"),
        pytest.param(f"Traceback (most recent call last):\n{LONG}", None, id="a trace's beginning"),
        pytest.param(f"redeem_coupon\n{LONG}", None, id="a name"),
        pytest.param(f"Help!\n{LONG}", None, id="one word"),
        pytest.param(f"{LONG}\n{LONG}", None, id="a first line that is a text itself"),
        pytest.param("where are coupons\nredeemed", None, id="a question in two lines that is no report"),
    ],
)
def test_what_a_title_is(query: str, title: str | None) -> None:
    asked = parse_question(query).title
    assert (asked and asked.text) == title


async def test_both_take_turns_and_what_both_have_comes_first(shop: Store) -> None:
    one, two, three, *_ = await _asked(shop, "ship parcels, redeem coupon, prints labels")

    def places(text: Sequence[Hit], title: Sequence[Hit]) -> list[int]:
        return [hit.chunk.id for hit in in_turns(text, title)]

    a, b, c = one.chunk.id, two.chunk.id, three.chunk.id
    assert places([one, two], [three]) == [a, c, b], "the text's first"
    assert places([one, two], [two, one]) == [a, b]
    assert places([one, two], [two, three]) == [b, a, c], "first and second is more than first"
    assert places([one, two], []) == [a, b] and places([], [one, two]) == [a, b]


async def test_each_takes_the_strength_of_its_place_and_is_told_once(shop: Store) -> None:
    one, two, three, *_ = await _asked(shop, "ship parcels, redeem coupon, prints labels")
    beside = replace(three, also=(one.chunk, two.chunk), strength=9.0)
    fused = in_turns([replace(one, strength=2.0)], [beside])
    assert [hit.strength for hit in fused] == [9.0, 2.0]
    assert fused[0].chunk.id == one.chunk.id and fused[0].score > fused[1].score
    assert [each.id for each in fused[1].also] == [two.chunk.id], "what is told by itself is told beside nothing"


async def test_no_more_than_asked_for(shop: Store) -> None:
    assert len(await _asked(shop, f"Redeemed coupon is missing from the cart's total\n\n{LONG}", limit=2)) == 2


async def test_some_of_the_first_are_taken_in_turns_and_then_one_goes_on_alone(shop: Store) -> None:
    one, two, three, four, *_ = await _asked(shop, "ship parcels, redeem coupon, prints labels, total of norway")
    a, b, c, d = (hit.chunk.id for hit in (one, two, three, four))

    def places(most: int | None) -> list[int]:
        return [hit.chunk.id for hit in in_turns([one, two, three], [four, three], most)]

    assert places(2) == [a, d, b, c], "behind the two first, those of the first answer in their order"
    assert places(1) == [a, b, c, d], "what only the other has comes last"
    assert places(None) == [a, d, c, b], "second and third is more than second"


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        pytest.param("the invoice has no total", True, id="a report"),
        pytest.param("Invoice has no total", True, id="a report's title"),
        pytest.param("also show the total in the invoice", True, id="a change as people type it"),
        pytest.param("Add the total to the invoice", False, id="a subject"),
        pytest.param("fix: show the total in the invoice", False, id="a subject with a label"),
        pytest.param("add the total to the invoice.", False, id="a sentence with its point"),
        pytest.param("test fails if the invoice is empty, fix invoice tests", False, id="tests are to be changed"),
        pytest.param("invoice total", False, id="a topic"),
        pytest.param("where is the total of the invoice made", False, id="a place asked for"),
    ],
)
def test_what_is_asked_as_a_topic_as_well(query: str, topic: bool) -> None:
    asked = parse_question(query)
    assert (asked.as_topic is not None) is topic
    assert asked.as_topic is None or (asked.as_topic.kind == "topic" and asked.as_topic.as_topic is None)


async def test_a_report_is_answered_as_a_topic_too(shop: Store) -> None:
    """The first four are taken in turns with a topic's, which has one answer of each file. In plain words a topic's
    come first, and a report's first one is the third.
    """
    await shop.write(
        [
            file(
                "src/a.py",
                *(chunk("src/a.py", f"check_{n}", "receipt is empty, basket", line=9 * n + 1) for n in range(4)),
            ),
            file("src/b.py", chunk("src/b.py", "blank_receipt", "basket is empty")),
            file("src/c.py", chunk("src/c.py", "empty_invoice", "basket")),
        ]
    )
    report = parse_question("Receipt is empty when the basket is")
    assert report.kind == "report" and report.as_topic is not None
    own = await shop.read(recall, replace(report, as_topic=None), 10, NOW)
    as_topic = await shop.read(recall, report.as_topic, 10, NOW)
    assert [hit.chunk.id for hit in own] != [hit.chunk.id for hit in as_topic]
    hits = await shop.read(recall, report, 10, NOW)
    assert [hit.chunk.id for hit in hits] == [hit.chunk.id for hit in in_turns(own, as_topic, 4)][:10]
    assert [hit.chunk.name for hit in own][:4] == ["check_0", "blank_receipt", "check_1", "check_2"]
    assert [hit.chunk.name for hit in hits][:4] == ["check_0", "blank_receipt", "check_1", "empty_invoice"]
    three = await shop.read(recall, report, 3, NOW)
    assert [hit.chunk.id for hit in three] == [hit.chunk.id for hit in hits][:3], "whatever number is asked for"
    plain = await shop.read(recall, parse_question("receipt is empty when the basket is"), 10, NOW)
    assert [hit.chunk.id for hit in plain] == [hit.chunk.id for hit in in_turns(as_topic, own, 4, 0.4)][:10]
    assert [hit.chunk.name for hit in plain][:4] != [hit.chunk.name for hit in hits][:4]


async def test_a_rank_that_counts_for_less_comes_behind_two_of_the_other(shop: Store) -> None:
    one, two, three, four, *_ = await _asked(shop, "ship parcels, redeem coupon, prints labels, total of norway")
    found = in_turns([one, two, three], [four], None, 0.4)
    assert [hit.chunk.id for hit in found] == [each.chunk.id for each in (one, two, four, three)]


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        pytest.param("the invoice has no total", True, id="as people type it"),
        pytest.param("Invoice has no total", False, id="a title"),
        pytest.param("the invoice has no total.", False, id="a sentence with its point"),
        pytest.param("invoice_total is missing in the invoice", False, id="with a name"),
        pytest.param("also show the total in the invoice", False, id="a change"),
        pytest.param("invoice total", False, id="a topic"),
    ],
)
def test_what_is_in_plain_words(query: str, plain: bool) -> None:
    assert parse_question(query).is_in_plain_words is plain
