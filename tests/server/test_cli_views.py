"""How answers look: pure functions from replies to lines."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aurora_cli.output import TerminalStyle
from aurora_cli.recall_view import footer, location, parameters, recall_lines, title
from aurora_protocol.human_text import ago, count, plain, plain_lines, shorten, size, took, whole_clause

NOW = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
FRESH: dict[str, Any] = {"indexed_at": "x", "pending_files": 0, "skipped_files": 0, "state": "ready"}


def item(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "function",
        "name": "expand",
        "file": "src/http/template.py",
        "line_start": 38,
        "line": 41,
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
        ("2026-11-21T20:10:00Z", "just now"),
        ("2026-11-21T20:10:01Z", "on 2026-11-21"),
        ("2026-11-21T19:10:00Z", "50 min ago"),
        ("2026-11-21T08:00:00+00:00", "12 h ago"),
        ("2026-11-18T19:00:00Z", "3 d ago"),
        ("2026-11-20T20:00:01Z", "23 h ago"),
        ("2026-11-20T20:00:00Z", "1 d ago"),
        ("2026-09-22T20:00:01Z", "59 d ago"),
        ("2026-09-22T20:00:00Z", "2 mo ago"),
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


def test_a_sentence_is_cut_at_the_last_clause_that_fits_and_no_shorter_than_says_something() -> None:
    clause = "x" * 24
    assert whole_clause(f"{clause}. More follows.", 30) == clause
    assert whole_clause(f"{clause[1:]}. More follows.", 30) == "", "too short to be worth a line"
    assert whole_clause(f"{clause}, and one; and another, too long", 45) == f"{clause}, and one"
    assert whole_clause(f"{clause} (and more than fits)", 30) == clause
    assert whole_clause(f"{clause} ``(one, two)`` of these", 31) == "", "no clause ends among arguments"
    assert whole_clause(f"{clause}: as {{one, two}}, three and four", 44) == f"{clause}: as {{one, two}}"
    assert whole_clause(f"{clause}. Fits.", 32) == f"{clause}. Fits.", "whole where there is room"


def test_nothing_of_a_repository_commands_the_terminal() -> None:
    assert plain("a\n b\x1b[2Jc\u202e") == "a b\ufffd[2Jc\ufffd"
    assert plain_lines("\tx\r\n\x07y") == ["    x", "\ufffdy"]


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "expand"),
        ({"name": "A.expand", "kind": "method"}, "A.expand"),
        ({"name": "Request", "kind": "class", "signature": "class Request(Message):"}, "class Request"),
        ({"name": "<module>", "kind": "module", "signature": ""}, "module template"),
    ],
)
def test_a_title_is_the_qualified_name(changes: dict[str, Any], shown: str) -> None:
    assert title(item(**changes)) == shown


@pytest.mark.parametrize(
    ("language", "name", "signature", "shown"),
    [
        ("python", "expand", "def expand(a: str, values: Mapping[str, int] = {}) -> str", "(a, values) → str"),
        ("python", "A.get", "def get(self, path: Annotated[str, Doc('a, b')], *, n: int = 1)", "(path, *, n)"),
        ("python", "A.get", "def get(self)", ""),
        ("typescript", "get", "get<T>(url: string, fn: (a: T) => void): Promise<T>", "(url, fn) → Promise<T>"),
        ("go", "Site.Render", "func (s *Site) Render(x int) error {", "(x int) → error"),
        ("rust", "read", "pub fn read(&mut self, buf: &mut [u8]) -> Result<usize>", "(buf) → Result<usize>"),
        ("java", "get", "public String get(String a, int b)", "(String a, int b)"),
        ("python", "f", f"def f({', '.join(['parameter'] * 9)})", f"({'parameter, ' * 5}…)"),
        ("python", "f", "def f(a, b: Annotated[str, Doc(", "(a, b)"),
        ("python", "f", "def f(a, b, long_na…", "(a, b, …)"),  # a signature that is kept cut
        ("python", "f", "def f(a, b) -> No…", "(a, b)"),
        ("python", "nowhere", "x", ""),
    ],
)  # fmt: skip
def test_parameters_are_told_by_name(language: str, name: str, signature: str, shown: str) -> None:
    assert parameters(item(language=language, name=name, signature=signature)) == shown


def test_a_line_that_answers_stands_in_place_of_the_first() -> None:
    assert location(item(line=77), Path("/w")) == "src/http/template.py:77"


def test_locations() -> None:
    assert location(item(), Path("/w")) == "src/http/template.py:41"
    assert location(item(), Path("/w/src/tests")) == "../http/template.py:41"
    assert location(item(), Path("/elsewhere")) == "/w/src/http/template.py:41"
    place = {key: item()[key] for key in ("file", "workspace", "line")}
    assert location(place, Path("/w")) == "src/http/template.py:41", "as `aurora who` has it, of no kind"


def lines_of(*results: dict[str, Any], width: int | None = None) -> list[str]:
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": list(results)}
    return recall_lines(reply, style=TerminalStyle(width=width), here=Path("/w"), now=NOW)[:-1]


def test_the_name_comes_first_and_the_place_to_its_right() -> None:
    other = item(file="a.py", name="A.longer_name", summary="")
    assert lines_of(item(), other, width=100) == [
        " 1  expand         src/http/template.py:41  4 callers · changed 3 d ago",
        "    (template, values) → str  RFC 6570 expansion.",
        " 2  A.longer_name  a.py:41  4 callers · changed 3 d ago",
    ]


def test_on_a_narrow_terminal_the_place_has_a_line_of_its_own() -> None:
    assert lines_of(item(callers=0, last_modified=None), width=60) == [
        " 1  expand",
        "    src/http/template.py:41",
        "    (template, values) → str  RFC 6570 expansion.",
    ]


def test_what_is_known_of_a_result_stands_beside_it_else_below_else_alone() -> None:
    told = "4 callers · changed 3 d ago"
    beside, below = item(signature="", summary="Short."), item(signature="", summary="x" * 60)
    assert lines_of(beside, width=100)[0].endswith(f"  {told}")
    assert lines_of(beside, width=60)[1:] == [f"    {where(beside)}  {told}", "    Short."], (
        "the place is below the name"
    )
    far = {"file": f"{'f' * 40}.py"}
    assert lines_of(beside | far, width=60)[-1] == f"    Short. · {told}"
    assert lines_of(below | far, width=70)[-2:] == [f"    {told}", f"    {'x' * 60}"]
    assert lines_of(item(signature="", summary="") | far, width=60)[-1] == f"    {told}"
    also = item(signature="", also=[{"id": "o", "name": "other", "kind": "function", "line": 7}]) | far
    assert lines_of(also, width=60)[-2:] == [f"    {told}", "    also here: other :7"], "not of another"


def where(told: dict[str, Any]) -> str:
    return f"{told['file']}:{told['line']}"


@pytest.mark.parametrize(("width", "lines"), [(79, 2), (80, 1)])
def test_a_terminal_of_eighty_columns_is_not_narrow(width: int, lines: int) -> None:
    assert len(lines_of(item(callers=0, last_modified=None, summary="", signature=""), width=width)) == lines


def test_what_else_answers_in_the_file_is_named_whole_on_two_lines_and_the_rest_counted() -> None:
    also = [{"id": name, "name": name, "kind": "function", "line": 7} for name in ("first", "second", "third")]
    plain_item = item(callers=0, last_modified=None, signature="", also=also)
    assert lines_of(plain_item, width=80)[-1].strip() == "also here: first :7, second :7, third :7"
    assert lines_of(plain_item, width=40)[-2:] == ["    also here: first :7, second :7,", "      third :7"]
    many = {**plain_item, "also": also * 3}
    assert lines_of(many, width=50)[-2:] == [
        "    also here: first :7, second :7, third :7,",
        "      first :7, second :7, third :7, +3 more",
    ]
    assert lines_of(many)[-1].count(" :7") == 9, "whole where something else reads it"
    takes = {**many, "signature": "def expand(template, values)"}
    assert lines_of(takes, width=80)[-2:] == [
        "    (template, values)  also here: first :7, second :7, third :7, first :7,",
        "      second :7, third :7, first :7, second :7, third :7",
    ]
    assert lines_of(takes, width=40)[-2:] == ["    (template, values)", "      also here: first :7, +8 more"]
    long = {**many, "signature": f"def expand({'a' * 50}, b) -> {'r' * 40}"}
    assert lines_of(long, width=80)[-2].startswith("    also here: first"), "what fits no line is left out"
    wide = {**plain_item, "also": [{**also[0], "name": "x" * 99}]}
    assert lines_of(wide, width=80)[-1] == f"    also here: {'x' * 56}… :7"
    rest = [{"id": "m", "name": "<module>", "kind": "module", "line": 1}]
    assert lines_of({**plain_item, "also": rest}, width=80)[-1].strip() == "also here: the file itself :1"


@pytest.mark.parametrize("width", [40, 60, 79, 80, 120])
def test_every_line_fits_the_terminal(width: int) -> None:
    long = item(name=f"A.{'x' * 200}", signature=f"def f({'x' * 200})", summary="word " * 60)
    assert all(len(line) <= width for line in lines_of(item(), long, width=width)), lines_of(item(), long, width=width)


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({}, "4 callers · changed 3 d ago"),
        ({"callers": 1}, "1 caller · changed 3 d ago"),
        ({"last_modified": "2026-10-25T00:00:00Z"}, "4 callers · changed 27 d ago"),
        ({"last_modified": "2026-10-22T20:00:00Z"}, "4 callers · changed 30 d ago"),
        ({"last_modified": "2026-10-21T20:00:00Z"}, "4 callers"),  # what is older says nothing
        ({"last_modified": None}, "4 callers"),  # what is unknown is not guessed
    ],
)
def test_facts_of_a_result(changes: dict[str, Any], facts: str) -> None:
    assert lines_of(item(**changes))[0].partition(":41  ")[2] == facts


def test_no_score_unless_it_is_explained() -> None:
    assert not any("0.91" in line for line in lines_of(item(), width=100))


@pytest.mark.parametrize(
    ("summary", "below"),
    [
        ("Opens it.", "Opens it."),
        ("", ""),
        ("Opens the file that was named, then reads every line of it.", "Opens the file that was named"),
        ("Opensthefilethatwasnamedfirstthenreadseverylineofitintomemoryatonce and more.", ""),
    ],
)  # fmt: skip
def test_a_sentence_that_does_not_fit_ends_at_a_clause_or_is_left_out(summary: str, below: str) -> None:
    lines = lines_of(item(summary=summary, signature="", callers=0, last_modified=None), width=60)
    assert [line.strip() for line in lines[2:]] == ([below] if below else [])


def test_content_is_numbered_and_what_else_there_is_is_said() -> None:
    cut = item(
        content="def expand(template)\n    …\n    return done",
        content_lines=[41, 0, 108],
        similar=["a", "b"],
        also=[{"id": "c", "name": "URI.\x1bexpand", "kind": "method", "line": 7}],
        excerpt=True,
    )
    whole = item(content="one\n\ntwo", line_start=9)
    pattern = item(content="First this", file="", id="reas:x", kind="reasoning", line_start=0)
    log = {"file": "2026/11/a.md", "line_start": 7, "section": "Phase 5\x1b: COLLECT"}
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": [cut, whole, pattern], "logs": [log]}
    lines = recall_lines(reply, style=TerminalStyle(), here=Path("/w"), now=NOW)
    assert lines[0].endswith("  4 callers · changed 3 d ago · +2 alike · excerpt")
    assert lines[1] == "    (template, values) → str  also here: URI.\ufffdexpand :7"
    assert lines[2:6] == ["     41  def expand(template)", "             …", "    108      return done", ""]
    assert lines[8:12] == ["     9  one", "    10", "    11  two", ""]
    assert lines[14] == "    First this"
    assert lines[-2] == "see also 2026/11/a.md:7 Phase 5\ufffd: COLLECT"


def test_nothing_found_without_a_hint() -> None:
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": [], "hint": None}
    assert recall_lines(reply, style=TerminalStyle(), here=Path("/w"), now=NOW)[0] == "nothing in memory answers 'q'"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "index up to date · 4 ms"),
        ({"pending_files": 1}, "1 file still being indexed · 4 ms"),
        ({"state": "scanning"}, "looking for files that changed · 4 ms"),
        ({"state": "scanning", "indexed_at": None}, "still being indexed · 4 ms"),
        ({"state": "error", "pending_files": 1}, "indexing failed (aurora doctor) · 4 ms"),
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
        ("section", "Shop.Install.Linux", "### Linux", "Shop › Install › Linux"),
        ("section", "Shop { #shop }.In { #in-the", "## In", "Shop › In"),
        ("section", "<module>", "", "section a.md"),
        ("operation", "listPets", "GET /pets", "operation GET /pets"),
        ("schema", "Pet", "Pet {id, tag}", "schema Pet"),
        ("table", "shop.users", "CREATE TABLE shop.users (id)", "table shop.users"),
    ],
)
def test_titles_of_knowledge(kind: str, name: str, signature: str, shown: str) -> None:
    assert title({"kind": kind, "name": name, "signature": signature, "file": "docs/a.md"}) == shown


def test_what_is_known_of_a_change_is_said_and_no_more() -> None:
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH | {"history_percent": 40}}
    terms = {"total": 0.0, "base_level": 0.0, "spreading": 0.0, "context_boost": 0.0, "decay": 0.0}
    cut_off = item(last_modified=None, modified_before="2026-07-03T08:00:00Z", activation=terms)
    told = reply | {"results": [cut_off, item(last_modified=None, activation=terms)]}
    lines = recall_lines(told, style=TerminalStyle(), here=Path("/w"), now=NOW, explain=True)
    assert sum("changed before Jul 2026" in line for line in lines) == 1
    assert sum("changed" in line for line in lines) == 1
    assert "reading history 40 %" in lines[-1]
