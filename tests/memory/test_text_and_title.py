"""A report's text and its title: each says in turns what comes first, and neither is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_memory.recall import Hit, parse_question, recall
from aurora_memory.recall.recall import by_text_and_title
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
        return [hit.chunk.id for hit in by_text_and_title(text, title)]

    a, b, c = one.chunk.id, two.chunk.id, three.chunk.id
    assert places([one, two], [three]) == [a, c, b], "the text's first"
    assert places([one, two], [two, one]) == [a, b]
    assert places([one, two], [two, three]) == [b, a, c], "first and second is more than first"
    assert places([one, two], []) == [a, b] and places([], [one, two]) == [a, b]


async def test_each_takes_the_strength_of_its_place_and_is_told_once(shop: Store) -> None:
    one, two, three, *_ = await _asked(shop, "ship parcels, redeem coupon, prints labels")
    beside = replace(three, also=(one.chunk, two.chunk), strength=9.0)
    fused = by_text_and_title([replace(one, strength=2.0)], [beside])
    assert [hit.strength for hit in fused] == [9.0, 2.0]
    assert fused[0].chunk.id == one.chunk.id and fused[0].score > fused[1].score
    assert [each.id for each in fused[1].also] == [two.chunk.id], "what is told by itself is told beside nothing"


async def test_no_more_than_asked_for(shop: Store) -> None:
    assert len(await _asked(shop, f"Redeemed coupon is missing from the cart's total\n\n{LONG}", limit=2)) == 2
