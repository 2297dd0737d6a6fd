"""The log index: sections of real conversation logs, found by their words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_memory.conversation_logs import MAX_SECTIONS, index_of
from aurora_memory.recall import Hit, parse_question, recall
from aurora_memory.recall.conversation_logs import recall_logs, weak
from aurora_memory.store import Store, conversation_log_index
from tests.growth import grows_with_length
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store

LOG = (Path(__file__).parent / "conversation.md").read_text(encoding="utf-8")
NAME = "2026/11/migrate-postgresql-2026-11-20.md"
QUERY_ID = "aurora-20261120-091500-a1b2c3"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await new_store(tmp_path / "memory.db")
    yield store
    await store.close()


def test_sections_carry_their_lines_phase_and_query() -> None:
    sections = index_of(NAME, LOG)
    assert [(each.title, each.phase) for each in sections] == [
        (f"Query: 2026-11-20T09:15:00Z | ID: {QUERY_ID}", None),
        ("Phase 1: ASSESS", 1),
        ("Phase 3: DECOMPOSE", 3),
        ("Phase 6: COLLECT (Agent Outputs)", 6),
    ], "headings in code blocks are none, and what says nothing is left out"
    lines = LOG.splitlines()
    for each in sections:
        assert lines[each.line_start - 1].endswith(each.title)
        assert lines[each.line_end - 1].strip() not in ("", "---")
        assert each.query_id == QUERY_ID
        assert each.topic == "persistence"
        assert 3 <= len(each.keywords) <= 7
    assert [section.line_end for section in sections][-1] == lines.index("### Phase 9: RESPOND") - 1


def test_keywords_are_what_was_talked_about() -> None:
    words = {each.phase: [word for _, word in each.keywords] for each in index_of(NAME, LOG)}
    assert words[3][0] in ("table", "database", "engineer")
    assert {"replication", "rollback"} & set(words[1])
    assert "replication" in words[6]
    assert not {"phase", "json", "timestamp", "confidence", "output"} & {
        word for each in words.values() for word in each
    }


def test_several_queries_in_one_file_keep_their_ids() -> None:
    second = LOG.replace(QUERY_ID, "aurora-2")
    ids = [each.query_id for each in index_of(NAME, LOG + second)]
    assert ids == [QUERY_ID] * 4 + ["aurora-2"] * 4


def test_a_log_without_ids_takes_the_given_one() -> None:
    (section,) = index_of("x.md", "# Notes on replication slots\n\nLag was low.", "aurora-9", "database-advice")
    assert (section.query_id, section.topic, section.phase) == ("aurora-9", "database-advice", None)


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        pytest.param("# Kangaroo ##\n", ["Kangaroo"], id="marks at the end of a heading are none of its words"),
        pytest.param("#Kangaroo\n# Wallaby\n", ["Wallaby"], id="a heading has a space behind its mark"),
        pytest.param(
            "# Kangaroo\n```\n```json\n# wallaby\n```\n# Emu\n", ["Kangaroo", "Emu"], id="code ends at a bare fence"
        ),
        pytest.param(
            "# Kangaroo\n~~~~\n~~~\n# wallaby\n", ["Kangaroo"], id="which is as long as the one it began with"
        ),
    ],
)
def test_what_a_section_of_a_log_is_called(text: str, titles: list[str]) -> None:
    assert [each.title for each in index_of("a.md", text)] == titles


def test_of_json_only_what_was_said_is_found_and_not_what_its_format_calls_it() -> None:
    (section,) = index_of("a.md", '# Kangaroo\n{"wallaby": "koala"}\n')
    assert [word for _, word in section.keywords] == ["kangaroo", "koala"]


@given(st.text(alphabet="#`~ \n-ab{}\"':Phase19", max_size=300))
def test_any_text_can_be_indexed(text: str) -> None:
    lines = len(text.splitlines())
    last = 0
    for each in index_of("a.md", text):
        assert last < each.line_start <= each.line_end <= lines
        last = each.line_end


def test_of_a_hostile_log_the_first_sections_are_found() -> None:
    sections = index_of("a.md", "# kangaroo\n" * 20_000)
    assert [each.line_start for each in sections] == list(range(1, MAX_SECTIONS + 1))


@pytest.mark.long
def test_hostile_logs_take_no_time_and_no_room() -> None:
    assert grows_with_length(lambda size: index_of("a.md", "# kangaroo\n" * size), 500, 5_000)
    assert grows_with_length(lambda size: index_of("a.md", '# x\n"' + '"a' * size), 10_000, 100_000)
    assert grows_with_length(lambda size: index_of("a.md", "# x\n" + "`" * size + "\n" + "{" * size), 10_000, 100_000)
    assert grows_with_length(lambda size: index_of("a.md", "# " + "y" * size), 10_000, 100_000)


async def test_references_are_ranked_by_rare_words(store: Store) -> None:
    await store.index_log(NAME, LOG)
    await store.index_log(
        "2026/11/table-layout-2026-11-21.md", "## Phase 1: ASSESS\nA table with columns, centred table."
    )
    best, *_ = await store.read(conversation_log_index.find, ["replic", "tabl"], 10)
    assert best.file == NAME
    assert {reference.file for reference in await store.read(conversation_log_index.find, ["tabl"], 10)} == {
        NAME,
        "2026/11/table-layout-2026-11-21.md",
    }
    (column,) = await store.read(conversation_log_index.find, ["column"], 10)
    assert (column.line_start, column.line_end, column.phase, column.keywords) == (1, 2, 1, ("columns",))
    assert len(await store.read(conversation_log_index.find, ["tabl", "replic"], 1)) == 1
    assert await store.read(conversation_log_index.find, ["kangaroo"], 10) == []
    assert await store.read(conversation_log_index.find, [], 10) == []


async def test_indexing_again_replaces_and_forgetting_removes(store: Store) -> None:
    await store.index_log(NAME, LOG)
    await store.index_log(NAME, "## Phase 2: RETRIEVE\nKangaroos instead.")
    assert await store.read(conversation_log_index.find, ["replic"], 10) == []
    assert [reference.phase for reference in await store.read(conversation_log_index.find, ["kangaroo"], 10)] == [2]
    assert await store.read(conversation_log_index.logs) == [NAME]
    await store.forget_logs([NAME])
    assert await store.read(conversation_log_index.logs) == []
    assert await store.read(conversation_log_index.find, ["kangaroo"], 10) == []


async def test_oauth2_is_found_as_oauth(store: Store) -> None:
    await store.index_log("a.md", "# OAuth2 providers\ncompared")
    for term in ("oauth", "oauth2"):
        assert [reference.keywords for reference in await store.read(conversation_log_index.find, [term], 5)] == [
            ("oauth2",)
        ]


async def test_logs_answer_where_memory_is_weak(store: Store) -> None:
    await store.write([file("orders.py", chunk("orders.py", "total_price", "sum of the prices in a basket table"))])
    await store.index_log(NAME, LOG)
    strong = await store.read(recall, parse_question("total price of a basket"), 10, 1000.0)
    assert not weak(parse_question("total price of a basket"), strong)
    assert await store.read(recall_logs, parse_question("total price of a basket"), strong) == []
    asked = "how does replication lag behave while the table is migrated"
    poor = await store.read(recall, parse_question(asked), 10, 1000.0)
    assert poor and weak(parse_question(asked), poor) and weak(parse_question(asked), [])
    references = await store.read(recall_logs, parse_question(asked), poor, limit=2)
    assert len(references) == 2 and {reference.file for reference in references} == {NAME}


@pytest.mark.parametrize(
    ("matched", "is_weak"),
    [
        pytest.param([1], True, id="a quarter of it"),
        pytest.param([2], False, id="half of it"),
        pytest.param([1, 2], False, id="wherever that answer stands"),
    ],
)
def test_an_answer_with_half_of_what_is_asked_is_none_that_logs_make_up_for(matched: list[int], is_weak: bool) -> None:
    question = parse_question("expiry of session cookies in carts")
    assert len(question.terms) == 4
    hits = cast("list[Hit]", [SimpleNamespace(matched=question.terms[:many]) for many in matched])
    assert weak(question, hits) is is_weak


async def test_of_logs_that_tell_as_much_the_newest_come_first_and_of_one_its_first_section(store: Store) -> None:
    for day in (20, 22, 21):
        await store.index_log(f"2026/11/a-2026-11-{day}.md", "# Tables\nTables.\n\n# Tables\nTables again.")
    found = await store.read(conversation_log_index.find, ["tabl"], 4)
    assert [(each.file[-5:-3], each.line_start) for each in found] == [("22", 1), ("22", 4), ("21", 1), ("21", 4)]
