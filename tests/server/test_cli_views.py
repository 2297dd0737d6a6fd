"""How answers look: pure functions from replies to lines."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aurora_cli.output import Style
from aurora_cli.recall_view import footer, location, recall_lines, title
from aurora_protocol.human_text import ago, count, plain, plain_lines, shorten, size, took

NOW = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
FRESH: dict[str, Any] = {"indexed_at": "x", "pending_files": 0, "skipped_files": 0, "state": "ready"}


def item(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "function",
        "name": "expand",
        "file": "src/http/template.py",
        "line_start": 41,
        "signature": "def expand(template, values) -> str",
        "score": 0.906,
        "last_modified": "2026-11-18T20:00:00Z",
        "summary": "RFC 6570 expansion.",
        "callers": 4,
        "workspace": "/w",
        **changes,
    }


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("2026-11-21T19:59:30Z", "just now"),
        ("2026-11-21T20:05:00Z", "just now"),
        ("2026-11-21T19:10:00Z", "50 min ago"),
        ("2026-11-21T08:00:00+00:00", "12 h ago"),
        ("2026-11-18T19:00:00Z", "3 d ago"),
        ("2026-08-01T00:00:00Z", "3 mo ago"),
        ("2021-11-21T00:00:00Z", "5 y ago"),
    ],
)
def test_ago(moment: str, said: str) -> None:
    assert ago(moment, NOW) == said


def test_amounts() -> None:
    assert [took(value) for value in (0.42, 3.7, 999.4, 1800.0, 99_940, 125_000)] == [
        "0.4 ms",
        "4 ms",
        "999 ms",
        "1.8 s",
        "99.9 s",
        "2 min 5 s",
    ]
    assert [size(value) for value in (512, 2048, 5 * 2**20, 3 * 2**30)] == ["512 B", "2.0 KiB", "5.0 MiB", "3.0 GiB"]
    assert (count(1, "file"), count(3911, "chunk")) == ("1 file", "3,911 chunks")
    assert shorten("abcdef", 4) == "abc…"


def test_nothing_of_a_repository_commands_the_terminal() -> None:
    assert plain("a\n b\x1b[2Jc\u202e") == "a b\ufffd[2Jc\ufffd"
    assert plain_lines("\tx\r\n\x07y") == ["    x", "\ufffdy"]


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "expand(template, values) -> str"),
        ({"name": "A.expand", "kind": "method"}, "A.expand(template, values) -> str"),
        ({"name": "Site.Render", "signature": "func (s *Site) Render(x int) error {"}, "Site.Render(x int) error"),
        ({"name": "Request", "kind": "class", "signature": "class Request(Message):"}, "class Request(Message)"),
        ({"name": "get", "signature": "async def get_get(get)"}, "get)"),
        ({"name": "operator+", "signature": "V operator+(V a)"}, "operator+(V a)"),
        ({"name": "nowhere", "signature": "x"}, "nowhere"),
        ({"name": "<module>", "kind": "module", "signature": ""}, "module src/http/template.py"),
    ],
)
def test_a_title_is_the_qualified_name_with_its_signature(changes: dict[str, Any], shown: str) -> None:
    assert title(item(**changes)) == shown


def test_locations() -> None:
    assert location(item(), Path("/w")) == "src/http/template.py:41"
    assert location(item(), Path("/w/src/tests")) == "../http/template.py:41"
    assert location(item(), Path("/elsewhere")) == "/w/src/http/template.py:41"


def test_on_a_terminal_columns_line_up_and_fit() -> None:
    long = item(file="a.py", signature=f"def expand({'x' * 200})", summary="s" * 300)
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": [item(), long]}
    lines = recall_lines(reply, style=Style(width=80), here=Path("/w"), now=NOW)
    assert all(len(line) <= 80 for line in lines), [len(line) for line in lines]
    assert lines[0].endswith("  0.91")
    assert lines[2].endswith("…  0.91")
    assert lines[0].index("expand(") == lines[2].index("expand(")
    assert lines[1] == "    RFC 6570 expansion. · changed 3 d ago · 4 callers"


def test_piped_lines_are_not_cut_to_a_terminal() -> None:
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": [item(summary="s" * 300)]}
    lines = recall_lines(reply, style=Style(), here=Path("/w"), now=NOW)
    assert "s" * 300 in lines[1]


def test_content_is_numbered_and_what_else_there_is_is_said() -> None:
    cut = item(
        content="def expand(template)\n    …\n    return done",
        content_lines=[41, 0, 108],
        similar=["a", "b"],
        excerpt=True,
    )
    whole = item(content="one\n\ntwo", line_start=9)
    pattern = item(content="First this", file="", id="reas:x", kind="reasoning", line_start=0)
    log = {"file": "2026/11/a.md", "line_start": 7, "section": "Phase 5\x1b: COLLECT"}
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": [cut, whole, pattern], "logs": [log]}
    lines = recall_lines(reply, style=Style(), here=Path("/w"), now=NOW)
    assert lines[1].endswith(" · changed 3 d ago · 4 callers · +2 alike · excerpt")
    assert lines[2:6] == ["     41  def expand(template)", "             …", "    108      return done", ""]
    assert lines[8:12] == ["     9  one", "    10", "    11  two", ""]
    assert lines[14] == "    First this"
    assert lines[-2] == "see also 2026/11/a.md:7 Phase 5\ufffd: COLLECT"


def test_nothing_found_without_a_hint() -> None:
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": [], "hint": None}
    assert recall_lines(reply, style=Style(), here=Path("/w"), now=NOW)[0] == "nothing in memory answers 'q'"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "index up to date · 4 ms"),
        ({"pending_files": 1}, "1 file still being indexed · 4 ms"),
        ({"state": "scanning"}, "still being indexed · 4 ms"),
        (
            {"state": "error", "skipped_files": 1},
            "indexing failed (aurora doctor) · 1 file skipped (aurora doctor) · 4 ms",
        ),
    ],
)
def test_the_footer_says_how_fresh(changes: dict[str, Any], said: str) -> None:
    assert footer({"freshness": {**FRESH, **changes}, "took_ms": 4.0}) == said


@pytest.mark.parametrize(
    ("kind", "name", "signature", "shown"),
    [
        ("section", "Shop.Install.Linux", "### Linux", "section Shop › Install › Linux"),
        ("section", "<module>", "", "section docs/a.md"),
        ("operation", "listPets", "GET /pets", "operation GET /pets"),
        ("schema", "Pet", "Pet {id, tag}", "schema Pet {id, tag}"),
        ("table", "shop.users", "CREATE TABLE shop.users (id)", "table shop.users (id)"),
    ],
)
def test_titles_of_knowledge(kind: str, name: str, signature: str, shown: str) -> None:
    assert title({"kind": kind, "name": name, "signature": signature, "file": "docs/a.md"}) == shown


def test_what_is_known_of_a_change_is_said_and_no_more() -> None:
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH | {"history_percent": 40}}
    cut_off = item(last_modified=None, modified_before="2026-07-03T08:00:00Z")
    lines = recall_lines(
        reply | {"results": [cut_off, item(last_modified=None)]}, style=Style(), here=Path("/w"), now=NOW
    )
    assert "changed before Jul 2026" in lines[1]
    assert "changed" not in lines[3]
    assert "reading history 40 %" in lines[-1]
