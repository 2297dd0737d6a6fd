"""What hovers, lenses and merged answers say, from plain data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from lsprotocol import types

from aurora_indexer.documents.document_parser import parse_document
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.views import UsageCounts
from aurora_protocol.methods import (
    ActivationTerms,
    Evidence,
    ExplainResult,
    Freshness,
    IndexResult,
    Lines,
    PatternUse,
    Recalled,
    RecallParams,
    RecallResult,
    RelatedChunk,
)
from aurora_protocol.positions import LineIndex
from aurora_server.lsp.code_lens import summary
from aurora_server.lsp.document_symbol import symbol_tree
from aurora_server.lsp.hover import markdown, plain, why
from aurora_server.lsp.index import summed
from aurora_server.lsp.memory_text import ago, escaped, fenced, file_uri, warmth
from aurora_server.lsp.recall import merged, with_patterns

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

FROM_FILE = Evidence(
    matched_terms=[],
    matches=[],
    accesses=["2026-11-20T16:00:00Z"],
    access_count=1,
    accesses_from="file",
    days_since_access=0.8,
    reached=[],
    episodes=[],
    learned=[],
    signals=[],
    question="",
    focus=Lines(line_start=1, line_end=2),
)


def recalled(name: str, **changes: Any) -> Recalled:
    total = changes.pop("total", 0.0)
    one = Recalled(
        id=f"code:a.py:{name}:1-2",
        type="code",
        kind="function",
        name=name,
        file="a.py",
        line_start=1,
        line_end=2,
        line=1,
        language="python",
        signature=f"def {name}()",
        score=0.5,
        activation=ActivationTerms(total=total, base_level=total, spreading=0.0, context_boost=0.0, decay=0.0),
        last_used=None,
        last_modified=None,
        tokens=10,
        summary="",
        callers=0,
        workspace="/w",
    )
    return msgspec.structs.replace(one, **changes)


def explained(chunk: Recalled, links: list[RelatedChunk] = [], **times: list[str]) -> ExplainResult:  # noqa: B006 - read only
    return ExplainResult(
        chunk=chunk,
        docstring="",
        content={},
        metadata={},
        accesses=times.get("accesses", []),
        commits=times.get("commits", []),
        relations=links,
        document={},
    )


def link(relation: str, name: str, file: str = "a.py", line: int = 7) -> RelatedChunk:
    return RelatedChunk(relation=relation, id=f"code:{file}:{name}:7-9", name=name, file=file, line=line)


def iso(**back: float) -> str:
    return (NOW - timedelta(**back)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize(
    ("back", "words"),
    [
        ({"seconds": 20}, "just now"),
        ({"seconds": -600}, "just now"),
        ({"seconds": -601}, f"on {(NOW + timedelta(seconds=601)):%Y-%m-%d}"),
        ({"minutes": 1}, "1 minute ago"),
        ({"hours": 23}, "23 hours ago"),
        ({"days": 1}, "1 day ago"),
        ({"days": 13}, "13 days ago"),
        ({"days": 14}, "2 weeks ago"),
        ({"days": 70}, "2 months ago"),
        ({"days": 800}, "2 years ago"),
    ],
)
def test_ages_are_told_in_the_largest_unit(back: dict[str, float], words: str) -> None:
    assert ago(NOW - timedelta(**back), NOW) == words


def test_warmth_falls_with_activation() -> None:
    assert [warmth(total) for total in (3.6, 1.0, 0.0, -1.0, -2.5, -4.0)] == [
        "hot",
        "hot",
        "warm",
        "warm",
        "cool",
        "cold",
    ]


def test_a_hover_is_three_lines_with_links() -> None:
    chunk = recalled("expand", total=0.2, last_modified=iso(days=3))
    links = [
        link("called by", "Action.request", "src/a b.py", 41),
        link("calls", "Expression.parse"),
        link("contains", "inner"),
        *(link("called by", f"user_{n}") for n in range(4)),
    ]
    text = markdown(explained(chunk, links, accesses=[iso(days=1), iso(days=2), iso(days=9)]), Path("/w"), NOW)
    assert text.split("\n\n") == [
        "`expand` — *warm: used in 2 answers this week, last changed 3 days ago*",
        "called by [Action.request](file:///w/src/a%20b.py#L41), [user\\_0](file:///w/a.py#L7), "
        "[user\\_1](file:///w/a.py#L7) and 2 more · calls [Expression.parse](file:///w/a.py#L7)",
    ]
    assert plain(explained(chunk, links[:1]), NOW).splitlines()[-1] == "called by Action.request (src/a b.py:41)"


def test_a_hover_names_an_overloaded_function_once_and_what_is_left_of_a_file_by_the_file() -> None:
    links = [link("calls", "lookup", line=line) for line in (7, 9, 11)]
    links += [link("calls", "lookup", "b.py"), link("called by", "lookup"), link("edited with", "<module>", "src/c.py")]
    text = plain(explained(recalled("expand"), links), NOW)
    assert text.splitlines()[-1] == (
        "called by lookup (a.py:7) · calls lookup (a.py:7), lookup (b.py:7) · edited with c.py (src/c.py:7)"
    )


def test_a_hover_names_the_way_of_working_that_went_best() -> None:
    used = [
        PatternUse(id="reas:a", query="add a *template*\noperator", score=0.92, uses=2),
        PatternUse(id="reas:b", query="another", score=0.81, uses=1),
    ]
    found = msgspec.structs.replace(explained(recalled("expand")), patterns=used)
    assert markdown(found, Path("/w"), NOW).split("\n\n")[-1] == (
        r'pattern: *"add a \*template\* operator"* (0.92, 2 uses)'
    )
    assert plain(found, NOW).splitlines()[-1] == 'pattern: "add a *template* operator" (0.92, 2 uses)'


def test_reasons_fit_what_is_known() -> None:
    assert why(explained(recalled("x", total=-5.0)), NOW) == "cold: not used, no change known"
    cut_off = recalled("x", total=-5.0, modified_before="2026-07-03T08:00:00Z")
    assert why(explained(cut_off), NOW) == "cold: last changed before Jul 2026"
    old = recalled("x", total=-2.0, last_used=iso(days=40), last_modified=iso(days=60))
    assert why(explained(old, commits=[iso(days=60), iso(days=90)]), NOW) == (
        "cool: last used 1 month ago, last changed 1 month ago, 2 commits"
    )


@pytest.mark.parametrize(
    ("known", "times", "reasons"),
    [
        pytest.param(
            {"last_used": iso(days=1)},
            {"accesses": [iso(days=1)]},
            "used in 1 answer this week",
            id="its uses, not also the last",
        ),
        pytest.param(
            {}, {"accesses": [iso(days=7), iso(days=8)]}, "used in 1 answer this week", id="a week has seven days"
        ),
        pytest.param(
            {"last_used": iso(days=8)},
            {"accesses": [iso(days=8)]},
            "last used 8 days ago",
            id="the last use where it is older",
        ),
        pytest.param(
            {"last_modified": iso(days=3), "modified_before": iso(days=90)},
            {},
            "last changed 3 days ago",
            id="when it changed, not also before when",
        ),
        pytest.param({}, {"commits": [iso(days=3)]}, "not used, no change known", id="one commit is no history"),
        pytest.param({}, {"commits": [iso(days=3), iso(days=5)]}, "2 commits", id="two are"),
        pytest.param(
            {"evidence": FROM_FILE},
            {},
            "no change known, its file was written 20 hours ago",
            id="what makes it present",
        ),
    ],
)
def test_each_reason_is_told_once_and_the_more_exact_one(
    known: dict[str, Any], times: dict[str, list[str]], reasons: str
) -> None:
    assert why(explained(recalled("x", total=-3.0, **known), **times), NOW) == f"cool: {reasons}"


def test_markdown_cannot_be_broken_out_of() -> None:
    assert escaped("operator[]*<b>\n_x_") == r"operator\[\]\*\<b\> \_x\_"
    assert fenced("a ```` b", "js") == "`````js\na ```` b\n`````"
    assert file_uri(Path("/a/b#c?d é.py"), 3) == "file:///a/b%23c%3Fd%20%C3%A9.py#L3"


def test_a_lens_says_who_calls_and_what_goes_along() -> None:
    assert summary(UsageCounts(callers=1)) == "1 caller"
    assert summary(UsageCounts(callers=3, subclasses=2)) == "3 callers · 2 subclasses"
    assert summary(UsageCounts(subclasses=2), "interface") == "2 implementers"
    assert summary(UsageCounts(likely_subclasses=1), "trait") == "maybe 1 implementer"
    assert summary(UsageCounts(callers=3, likely_callers=1, likely_subclasses=1)) == (
        "3 callers and maybe 1 more · maybe 1 subclass"
    )
    assert summary(UsageCounts(callers=1, handed_on=2)) == "1 caller · 2 pass it on"
    assert summary(UsageCounts()) == ""


def freshness(at: str | None, state: str = "ready") -> Freshness:
    return Freshness(indexed_at=at, pending_files=1, skipped_files=2, files=3, chunks=4, state=state)


class _Root:
    def __init__(self, root: str) -> None:
        self.root = Path(root)


def answers(*parts: tuple[str, list[Recalled], Freshness]) -> Any:
    return [
        (
            cast("Any", _Root(root)),
            RecallResult(query="q", took_ms=1.0, freshness=fresh, results=results, hint=f"hint of {root}"),
        )
        for root, results, fresh in parts
    ]


def test_answers_of_several_folders_become_one() -> None:
    outer = [
        recalled("top", score=0.9, file="x.py", workspace="/w"),
        recalled("twice", score=0.8, file="in/y.py", workspace="/w"),
        recalled("low", score=0.1, file="z.py", workspace="/w"),
    ]
    inner = [recalled("twice", score=0.7, file="y.py", workspace="/w/in")]
    parts = answers(("/w", outer, freshness(iso(days=1), "indexing")), ("/w/in", inner, freshness(iso(days=2))))
    found = merged(RecallParams(query="q", limit=2), parts, 3.0)
    assert [(one.name, one.workspace) for one in found.results] == [("top", "/w"), ("twice", "/w/in")]
    assert found.freshness == Freshness(
        indexed_at=iso(days=2), pending_files=2, skipped_files=4, files=6, chunks=8, state="indexing"
    )
    assert found.hint == "hint of /w hint of /w/in", "what is said beside results is said of each folder"
    tight = merged(RecallParams(query="q", budget_tokens=25), parts, 3.0)
    assert [one.name for one in tight.results] == ["top", "twice"]


def test_several_folders_share_one_budget() -> None:
    def of(root: str, *amounts: tuple[float, int]) -> tuple[str, list[Recalled], Freshness]:
        found = [
            recalled(f"{root}{n}", score=score, tokens=cost, workspace=root) for n, (score, cost) in enumerate(amounts)
        ]
        return (root, found, freshness(iso()))

    parts = answers(of("/a", (0.9, 80), (0.5, 20)), of("/b", (0.8, 90), (0.4, 10)))
    found = merged(RecallParams(query="q", budget_tokens=100), parts, 1.0).results
    assert [one.name for one in found] == ["/a0", "/a1"] and sum(one.tokens for one in found) <= 100
    found = merged(RecallParams(query="q", budget_tokens=185), parts, 1.0).results
    assert [one.name for one in found] == ["/a0", "/b0", "/b1"]


def test_nothing_found_anywhere_keeps_a_hint_and_admits_what_is_unknown() -> None:
    found = merged(RecallParams(query="q"), answers(("/a", [], freshness(None)), ("/b", [], freshness(iso()))), 1.0)
    assert found.hint == "hint of /a"
    assert found.freshness.indexed_at is None


def test_of_several_folders_the_least_read_history_and_the_worst_state_are_told_and_one_is_not_watched() -> None:
    whole = msgspec.structs.replace(freshness(iso()), heard=True)
    parts = [
        msgspec.structs.replace(whole, history_percent=80),
        msgspec.structs.replace(whole, history_percent=30, state="error"),
        msgspec.structs.replace(whole, heard=False, state="indexing"),
    ]
    found = merged(RecallParams(query="q"), answers(*((f"/{n}", [], each) for n, each in enumerate(parts))), 1.0)
    assert (found.freshness.history_percent, found.freshness.state, found.freshness.heard) == (30, "error", False)
    read = merged(RecallParams(query="q"), answers(("/a", [], whole)), 1.0)
    assert (read.freshness.history_percent, read.freshness.heard) == (None, True)


def test_patterns_of_other_repositories_stand_among_the_results_by_their_score_and_none_twice() -> None:
    here = [recalled("best", score=0.9), recalled("last", score=0.3)]
    answer = RecallResult(query="q", took_ms=1.0, freshness=freshness(iso()), results=here)
    pattern = msgspec.structs.replace(recalled("way", score=0.5), id="reas:way", file="")
    params = RecallParams(query="q", limit=2)
    assert [one.name for one in with_patterns(params, answer, [pattern, pattern]).results] == ["best", "way"]
    told = msgspec.structs.replace(answer, hint="3 callers")
    assert with_patterns(params, told, [pattern]) is told, "who calls what is no matter of patterns"
    assert with_patterns(params, answer, here) is answer, "what is known adds nothing"


def test_counts_of_several_folders_add_up() -> None:
    one = IndexResult(
        workspace="/a",
        files=1,
        chunks=2,
        definitions=1,
        kinds={"function": 1, "module": 1},
        languages={"python": 1},
        parsed_files=1,
        unchanged_files=0,
        removed_files=0,
        skipped_files=3,
        failed_files=0,
        took_ms=1.5,
    )
    both = summed([one, msgspec.structs.replace(one, workspace="/b", kinds={"function": 2})])
    assert (both.workspace, both.files, both.kinds, both.took_ms) == ("/a, /b", 2, {"function": 3, "module": 1}, 3.0)


def tree_of(path: str, text: str) -> list[types.DocumentSymbol]:
    parsed = parse_document(path, text.encode()) or parse_file(path, text.encode())
    return symbol_tree(list(parsed.chunks), LineIndex(text), "utf-16")


def selected(symbol: types.DocumentSymbol, text: str) -> str:
    line = text.split("\n")[symbol.selection_range.start.line]
    return line[symbol.selection_range.start.character : symbol.selection_range.end.character]


def test_names_are_selected_where_they_are_defined_not_where_they_are_mentioned() -> None:
    text = "# run is what runs\n@run.later\n@retry(run=3)\ndef run(run=1):\n    return run\n"
    (symbol,) = tree_of("a.py", text)
    assert (selected(symbol, text), symbol.selection_range.start) == ("run", types.Position(3, 4))
    assert symbol.range.start.line <= 1


def test_definitions_of_the_same_name_keep_their_own_children() -> None:
    text = "class A:\n    def one(self): ...\n\n\nclass A:\n    def two(self): ...\n"
    first, second = tree_of("a.py", text)
    assert [each.name for each in first.children or []] == ["one"]
    assert [each.name for each in second.children or []] == ["two"]


@pytest.mark.parametrize("text", ["class A { b() { return 1 } }\n", "class A { b() {\n  return 1 }\n}\n"])
def test_what_begins_on_the_line_of_its_class_stands_below_it(text: str) -> None:
    (outer,) = tree_of("a.js", text)
    assert (outer.name, [each.name for each in outer.children or []]) == ("A", ["b"])


def test_headings_of_the_same_words_keep_what_is_below_them() -> None:
    text = "# Guide\n\nAll of it.\n" + "".join(
        f"\n## Setup\n\nHow to.\n\n### {system}\n\nOn {system}.\n" for system in ("Linux", "Windows")
    )
    (guide,) = tree_of("a.md", text)
    below = [[each.name for each in setup.children or []] for setup in guide.children or []]
    assert below == [["Linux"], ["Windows"]]


def test_a_heading_holds_what_is_below_it_up_to_the_next_of_its_rank() -> None:
    text = "# Guide\n\nAll of it.\n\n## Setup\n\nHow to.\n\n### Linux\n\nOn Linux.\n\n## Use\n\nSo.\n"
    (guide,) = tree_of("a.md", text)
    setup, use = guide.children or []
    (linux,) = setup.children or []
    assert guide.range.end == use.range.end and setup.range.end == linux.range.end
    assert setup.range.end < use.range.start


def test_a_file_of_no_definitions_has_no_symbols_and_one_that_begins_later_comes_later() -> None:
    assert tree_of("a.py", "x = 1\n") == []
    text = "def b(): ...\n\n\nclass A:\n    def c(self): ...\n\n\ndef a(): ...\n"
    assert [each.name for each in tree_of("a.py", text)] == ["b", "A", "a"]


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.go", "package a\n\nfunc (r *Repo) Find(id int) int {\n\treturn id\n}\n", ["Find"]),
        ("a.rs", "struct S;\n\nimpl S {\n    fn new() -> S { S }\n}\n", ["S", "new"]),
        ("a.ts", "export const add = (a: number) => a + 1;\n", ["add"]),
        ("a.cpp", "int ns::Shape::area() const {\n  return 1;\n}\n", ["area"]),
    ],
)
def test_names_are_found_in_other_languages(path: str, text: str, names: list[str]) -> None:
    def flat(symbols: list[types.DocumentSymbol]) -> list[types.DocumentSymbol]:
        return [each for symbol in symbols for each in (symbol, *flat(list(symbol.children or [])))]

    found = flat(tree_of(path, text))
    assert [symbol.name for symbol in found] == names
    assert [selected(symbol, text) for symbol in found] == names
    for symbol in found:
        assert symbol.range.start <= symbol.selection_range.start
        assert symbol.selection_range.end <= symbol.range.end


def test_hover_counts_what_memory_counts_and_says_what_is_only_likely() -> None:
    links = [link("called by", f"f{n}") for n in range(5)] + [
        msgspec.structs.replace(link("called by", "g"), likely=True)
    ]
    found = explained(recalled("parse", callers=70, likely_callers=4), links)
    text = plain(found, NOW)
    assert "called by f0 (a.py:7), f1 (a.py:7), f2 (a.py:7) and 67 more · maybe called by g (a.py:7) and 3 more" in text
    handed = explained(recalled("parse", handed_on=9), [link("passed on by", f"f{n}") for n in range(4)])
    assert "passed on by f0 (a.py:7), f1 (a.py:7), f2 (a.py:7) and 6 more" in plain(handed, NOW)
