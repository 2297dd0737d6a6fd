"""What is cut first, and how much, where a tool's answer costs more than was allowed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from aurora_server.mcp.memory_tools import MEMORY_TOOLS, Explain, hits_reply, places_reply
from aurora_server.mcp.replies import (
    MAX_LINKS,
    ToolReply,
    chunk_of,
    chunk_uri,
    cost,
    document_reply,
    within,
    within_document,
)

LINE = "def collect_rows(table, limit):"
HINT = "ask for more with `max_tokens`"


def price(reply: ToolReply) -> int:
    """What text, links and structured content cost together."""
    data = "" if reply.data is None else json.dumps(reply.data, ensure_ascii=False, separators=(",", ":"))
    return cost(reply.text) + sum(link.cost for link in reply.links) + cost(data)


def test_a_text_that_fits_to_the_token_is_left_alone_and_one_token_less_cuts_it() -> None:
    text = "\n".join([LINE] * 10)
    assert within(text, cost(text)) == text
    cut = within(text, cost(text) - 1)
    assert cut != text and cost(cut) <= cost(text) - 1


def test_texts_are_cut_from_the_end_at_a_lines_end_and_say_so() -> None:
    text = "\n".join(f"{number} {LINE}" for number in range(200))
    *kept, last = within(text, 300).splitlines()
    assert kept == text.splitlines()[: len(kept)]
    assert last == f"… cut at 300 tokens; {HINT}"
    assert 250 < cost(within(text, 300)) <= 300, "much of what was allowed is used"


def test_a_first_line_that_is_too_long_is_cut_within_itself() -> None:
    text = "word " * 5_000 + "\nsecond"
    first, last = within(text, 200).splitlines()
    assert text.startswith(first) and first and last.startswith("… cut at 200")
    assert cost(within(text, 200)) <= 200


def test_only_the_first_line_is_cut_within_itself() -> None:
    text = f"{LINE}\n{'word ' * 5_000}"
    assert within(text, 200).splitlines() == [LINE, f"… cut at 200 tokens; {HINT}"]


@pytest.mark.parametrize("tokens", [100, 150, 500, 4_000])
@pytest.mark.parametrize(
    "text",
    ["ä" * 20_000, ("word " * 39 + "\n") * 300, "漢字" * 5_000, "\n" * 9_000, "{}[]();" * 3_000, "𝔘nicode 🙂 " * 2_000],
)
def test_whatever_it_is_made_of_it_costs_no_more(text: str, tokens: int) -> None:
    assert cost(within(text, tokens)) <= tokens


PROSE = "The template is expanded with the values of the request. "


def document(words: int = 1, items: int = 3) -> dict[str, Any]:
    return {
        "goal": PROSE * words,
        "steps": [{"id": f"S{number}", "n": number} for number in range(items)],
        "score": 0.5,
    }


@pytest.mark.parametrize(
    ("given", "tokens", "goal", "steps"),
    [
        pytest.param(document(), 500, len(PROSE), 3, id="what fits is whole"),
        pytest.param(document(words=100), 1_200, 4_000, 3, id="long texts are cut to 4,000 characters first"),
        pytest.param(document(words=100), 500, 1_000, 3, id="then to 1,000"),
        pytest.param(document(words=100), 150, 250, 3, id="then to 250"),
        pytest.param(document(words=100), 70, 60, 3, id="then to 60"),
        pytest.param(document(words=2, items=200), 1_000, 60, 50, id="lists only after texts: to 50 items"),
        pytest.param(document(words=2, items=200), 300, 60, 20, id="then to 20"),
        pytest.param(document(words=2, items=200), 120, 60, 5, id="then to 5"),
        pytest.param(document(words=2, items=200), 45, 60, 1, id="then to one"),
        pytest.param(document(words=2, items=200), 1, 60, 1, id="what can be cut no more stays, whatever it costs"),
    ],
)
def test_of_a_document_texts_are_cut_first_then_lists(
    given: dict[str, Any], tokens: int, goal: int, steps: int
) -> None:
    fitted = within_document(given, tokens)
    assert (len(fitted["goal"]), len(fitted["steps"])) == (goal, steps)
    assert set(fitted) == set(given) and fitted["score"] == 0.5, "no member is dropped, no number changed"
    assert fitted["goal"] == given["goal"] or fitted["goal"].endswith("…")
    assert fitted["steps"] == given["steps"][:steps], "from the end"
    assert tokens == 1 or cost(json.dumps(fitted, ensure_ascii=False, separators=(",", ":"))) <= tokens


def test_a_text_and_its_structured_content_have_half_each() -> None:
    reply = document_reply(document(words=100), 1_000)
    assert reply.data is not None and json.loads(reply.text) == reply.data
    assert cost(reply.text) <= 500 and price(reply) <= 1_000
    alone = document_reply(document(words=100), 1_200, structured=False)
    assert alone.data is None and len(json.loads(alone.text)["goal"]) == 4_000


def found(count: int, *, lines: int = 0, indexed: bool = True, pending: int = 0, hint: str = "") -> dict[str, Any]:
    """What a recall found: chunks of so many lines of text."""
    results = [
        {
            "id": f"code:src/rows.py:collect_{number}",
            "kind": "function",
            "name": f"collect_{number}",
            "file": "src/rows.py",
            "line_start": number,
            "line": number,
            "line_end": number + lines,
            "score": 0.9 - number / 1_000,
            "signature": f"def collect_{number}(rows)",
            "language": "python",
            "content": "\n".join([LINE] * lines),
        }
        for number in range(count)
    ]
    freshness = {"indexed_at": "2026-01-01T00:00:00Z" if indexed else None, "pending_files": pending}
    return {"results": results, "freshness": freshness, "hint": hint}


def blocks(reply: ToolReply) -> list[str]:
    """The names of results that stand in the text, in order."""
    return [line.split()[1] for line in reply.text.splitlines() if line.split(".")[0].isdigit()]


def test_results_are_told_whole_best_first_and_the_others_are_links() -> None:
    reply = hits_reply(found(10, lines=20), 1_500)
    told = blocks(reply)
    assert 0 < len(told) < 10 and told == [f"collect_{number}" for number in range(len(told))]
    assert reply.text.count(LINE) == 20 * len(told), "no chunk is cut"
    rest = [f"collect_{number}" for number in range(len(told), 10)]
    assert reply.links and [link.name for link in reply.links] == rest[: len(reply.links)]
    assert f"({10 - len(told)} more did not fit; links lead to them, or ask for more tokens)" in reply.text
    assert price(reply) <= 1_500


def test_a_small_result_behind_a_large_one_is_told_where_it_fits() -> None:
    given = found(3, lines=1)
    given["results"][1]["content"] = "\n".join([LINE] * 500)
    reply = hits_reply(given, 600)
    assert blocks(reply) == ["collect_0", "collect_2"]
    assert [link.name for link in reply.links] == ["collect_1"]


def test_where_not_even_a_link_fits_the_rest_is_counted() -> None:
    reply = hits_reply(found(60, lines=5), 200)
    assert len(reply.links) < 60 and price(reply) <= 200
    assert f"({60 - len(blocks(reply))} more did not fit" in reply.text


def test_there_are_fifty_links_at_most() -> None:
    reply = hits_reply(found(80, lines=4_000), 20_000)
    assert blocks(reply) == [] and MAX_LINKS == len(reply.links) == 50
    assert len(hits_reply(found(80), 50_000).links) == 50


def test_a_result_without_its_text_has_its_link_beside_it() -> None:
    assert hits_reply(found(2, lines=3), 4_000).links == ()
    assert [link.name for link in hits_reply(found(2), 4_000).links] == ["collect_0", "collect_1"]
    given = found(2, lines=3)
    given["results"][1]["excerpt"] = True
    assert [link.name for link in hits_reply(given, 4_000).links] == ["collect_1"]


def test_ten_places_are_told_once_in_four_hundred_tokens() -> None:
    given = found(10)
    for each in given["results"]:
        each |= {"summary": "Collects the rows of a table, those that are hidden too, and gives them back. " * 3}
    given["results"][3]["also"] = [{"name": "collect_all", "line": 40}]
    given["results"][4] |= {"file": "", "id": "reas:rotate:v1", "signature": "rotate the login key"}
    reply = places_reply(given, 4_000)
    assert (reply.links, reply.data) == ((), None) and cost(reply.text) <= 400
    lines = reply.text.splitlines()
    assert lines[0] == "1. collect_0 src/rows.py:0-0", "a summary that does not fit is left out whole"
    assert lines[3] == "4. collect_3 src/rows.py:3-3 — also collect_all :40"
    assert lines[4] == "5. reas:rotate:v1 rotate the login key"


def test_a_place_says_what_it_is_for_where_there_is_room() -> None:
    given = found(1)
    given["results"][0]["summary"] = "Collects the rows."
    assert places_reply(given, 100).text == "1. collect_0 src/rows.py:0-0 — Collects the rows."


def test_a_line_that_answers_stands_in_place_of_all() -> None:
    given = found(1)
    given["results"][0] |= {"name": "<module>", "kind": "module", "line": 77}
    assert " src/rows.py:77" in places_reply(given, 100).text
    given["results"][0] |= {"line": 0, "line_end": 90}
    assert " src/rows.py:0-90" in places_reply(given, 100).text, "else all that is left of the file"


def test_of_what_is_known_of_a_place_how_it_was_found_is_told_then_what_else_is_there_then_what_it_is_for() -> None:
    also, told = [{"name": "all", "line": 40}], []
    facts: dict[str, Any] = {"relation": "called by main", "also": also, "summary": "Collects the rows."}
    for left in range(3):
        given = found(1)
        given["results"][0] |= dict(list(facts.items())[left:])
        told.append(places_reply(given, 100).text.partition(" — ")[2])
    assert told == ["called by main", "also all :40", "Collects the rows."]
    given["results"][0] |= {"relation": "called by " + "x" * 500}
    assert places_reply(given, 200).text.endswith(" — Collects the rows."), "what does not fit is passed over"


def test_a_place_that_just_fits_is_told() -> None:
    given = found(1)
    whole = places_reply(given, 1_000).text
    least = next(tokens for tokens in range(1, 1_000) if places_reply(given, tokens).text == whole)
    assert cost(whole) <= least < cost(whole) + 100 and places_reply(given, least - 1).text != whole


def test_a_pattern_is_told_with_where_it_is_from_then_whose_it_is_then_what_holds_no_more() -> None:
    given = found(1)
    given["results"][0] |= {
        "file": "", "id": "reas:rotate", "signature": "rotate keys", "transferred_from": "bank", "learned_by": "Ann",
        "provenance": {"name": "Bob", "at": "2026-11-02T10:00:00Z"}, "drifted": ["a.py:3"],
    }  # fmt: skip
    marks = [each.partition("]")[0] for each in places_reply(given, 400).text.split(" [")[1:]]
    assert marks[0].startswith("Ann solved this in another repository, bank")
    assert marks[1:] == ["Bob learned this on 2026-11-02", "drifted: a.py:3 changed since"]
    given["results"][0] |= {"content": "x " * 5_000, "learned_by": ""}
    assert hits_reply(given, 400).links == (), "nobody can be led to what is in another repository"
    assert "you solved this" in places_reply(given, 400).text


def test_a_text_with_fences_in_it_has_one_around_it_that_is_in_none_of_it() -> None:
    given = found(1, lines=1)
    given["results"][0]["content"] = "```\n````\nx\n````"
    assert hits_reply(given, 1_000).text.count("`````") == 2


def test_places_that_do_not_fit_are_counted() -> None:
    reply = places_reply(found(60), 300)
    assert cost(reply.text) <= 300 and reply.text.endswith(f"({60 - len(blocks(reply))} more did not fit; {HINT})")


@pytest.mark.parametrize("tell", [hits_reply, places_reply])
@pytest.mark.parametrize(
    ("given", "last"),
    [
        (found(0), "Memory knows nothing like that."),
        (found(0, hint="did you mean collect?"), "did you mean collect?"),
        (found(0, pending=3), "(3 files still to be indexed)"),
        (found(0, pending=1), "(1 file still to be indexed)"),
        (found(0, pending=3, indexed=False), "(memory of this workspace is still being built; ask again in a minute)"),
    ],
)
def test_what_is_behind_is_said_last(
    tell: Callable[[dict[str, Any], int], ToolReply], given: dict[str, Any], last: str
) -> None:
    assert tell(given, 500).text.splitlines()[-1] == last


@pytest.mark.parametrize("chunk", ["code:src/a b.py:f", "reas:why?#1", "know:docs/ä%20.md:Part 2"])
def test_a_chunks_address_leads_back_to_it(chunk: str) -> None:
    uri = chunk_uri(chunk)
    assert chunk_of(uri) == chunk and "/" not in uri.removeprefix("aurora://chunk/")
    assert chunk_of(f"file:///{chunk}") is None


@pytest.mark.parametrize(
    ("tokens", "linked"),
    [
        pytest.param(4_000, True, id="beside a chunk stands where its text is"),
        pytest.param(100, False, id="a link that costs half of what is allowed gives way to what is known"),
    ],
)
async def test_what_is_known_of_a_chunk_comes_before_the_link_to_it(tokens: int, linked: bool) -> None:
    class Link:
        async def request(self, *_: Any, **__: Any) -> dict[str, Any]:
            chunk = {"id": f"code:{'deep/' * 60}a.py:f", "name": "f", "kind": "function", "signature": "f()"}
            known: dict[str, list[Any]] = {"accesses": [], "commits": [], "relations": []}
            return {"chunk": {**chunk, "activation": {}}, "docstring": "", **known}

    (explain,) = (tool for tool in MEMORY_TOOLS if tool.takes is Explain)
    link: Any = Link()
    reply = await explain.handler(link, Explain(id="code:a.py:f", max_tokens=tokens), lambda _: None)
    assert bool(reply.links) == linked
