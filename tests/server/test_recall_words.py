"""What `aur mem` says of each answer and of how far to trust it: what is told first, in which word, and what is not."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aurora_cli.explain import related_lines
from aurora_cli.mem import from_root
from aurora_cli.output import TerminalStyle
from aurora_cli.recall_view import as_files, explanation, footer, location, parameters, recall_lines, title

NOW = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
FRESH: dict[str, Any] = {"indexed_at": "x", "pending_files": 0, "skipped_files": 0, "state": "ready"}
ITEM: dict[str, Any] = {
    "id": "code:a.py:load", "kind": "function", "name": "load", "file": "a.py", "line_start": 7, "line": 7,
    "score": 0.5, "signature": "", "summary": "", "workspace": "/w",
}  # fmt: skip


def lines_of(width: int | None = None, **changes: Any) -> list[str]:
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": [ITEM | changes]}
    return recall_lines(reply, style=TerminalStyle(width=width), here=Path("/w"), now=NOW)[:-1]


def test_where_files_are_asked_for_each_is_told_by_its_name_with_what_answers_first_of_what_is_in_it() -> None:
    beside = {"id": "c", "name": "Session.close", "kind": "method", "line": 88, "line_end": 90}
    best = ITEM | {"name": "login", "kind": "function", "file": "app/session.py", "line": 12, "callers": 3}
    whole = ITEM | {"name": "<module>", "kind": "module", "file": "app/tokens.py", "summary": "Tokens and their end."}
    pattern = ITEM | {"name": "p", "kind": "reasoning", "file": "", "id": "reas:p:v1", "signature": "Pattern"}
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": [best | {"also": [beside]}, whole, pattern]}
    lines = recall_lines(as_files(reply), style=TerminalStyle(), here=Path("/w"), now=NOW)[:-1]
    assert [" ".join(line.split()) for line in lines] == [
        "1 session.py app/session.py",
        "also here: login :12, Session.close :88",
        "2 tokens.py app/tokens.py",
        "Tokens and their end.",
        "3 Pattern reas:p:v1",
    ]


def test_of_who_imports_the_file_is_told_whichever_chunk_stands_for_it() -> None:
    importing = {"relation": "imports Reader from io", "file": "app/read.rs", "callers": 2, "summary": "One line."}
    assert lines_of(**importing, name="Line", kind="struct")[0].split() == (
        "1 read.rs app/read.rs imports Reader from io".split()
    )
    assert len(lines_of(**importing, name="Line", kind="struct")) == 1, "nothing of what only stands for it"
    whole = lines_of(**importing, name="<module>", kind="module")
    assert whole[0].split()[1:3] == ["read.rs", "app/read.rs"] and whole[1].strip() == "One line."
    called = lines_of(**(importing | {"relation": "3 of 4 commits"}), name="Line", kind="struct")
    assert called[0].split()[1:4] == ["struct", "Line", "app/read.rs:7"], "by another relation the definition is meant"


def test_a_file_with_several_answers_is_told_once() -> None:
    found = [ITEM | {"id": str(n), "name": f"step{n}", "file": "app/a.py", "line": n} for n in (4, 9)]
    found.insert(1, ITEM | {"id": "b", "name": "other", "file": "app/b.py", "line": 1})
    found.append(ITEM | {"id": "m", "name": "<module>", "kind": "module", "file": "app/a.py", "also": [found[0]]})
    told = as_files({"results": found})["results"]
    assert [(each["file"], [one["name"] for one in each["also"]]) for each in told] == [
        ("app/a.py", ["step4", "step9"]),
        ("app/b.py", ["other"]),
    ]


@pytest.mark.parametrize(
    ("freshness", "said"),
    [
        pytest.param({"pending_files": 2, "indexed_at": None}, "2 files still being indexed", id="how many, if known"),
        pytest.param({"indexed_at": None}, "still being indexed", id="never indexed to its end"),
        pytest.param({"state": "indexing"}, "still being indexed", id="indexing, and no file waits"),
        pytest.param({"heard": False}, "indexed, the newest changes may be missing", id="the watcher did not answer"),
        pytest.param({"heard": False, "pending_files": 1}, "1 file still being indexed", id="what waits comes first"),
        pytest.param({"history_percent": 0}, "index up to date · reading history 0 %", id="history that just begins"),
        pytest.param(
            {"history_percent": 40, "skipped_files": 1},
            "index up to date · reading history 40 % · 1 file skipped (aurora doctor)",
            id="what is left out comes last",
        ),
    ],
)
def test_how_far_an_answer_can_be_trusted(freshness: dict[str, Any], said: str) -> None:
    assert footer({"freshness": FRESH | freshness, "took_ms": 4.0}) == f"{said} · 4 ms"


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        pytest.param(
            {"relation": "3 of 4 commits", "callers": 2}, "3 of 4 commits · 2 callers", id="the relation first"
        ),
        pytest.param({"callers": 1, "likely_callers": 2}, "1 caller and maybe 2 more", id="sure ones first"),
        pytest.param({"likely_callers": 1}, "maybe 1 caller", id="no more than maybe"),
        pytest.param({"kind": "class", "subclasses": 2}, "2 subclasses", id="who inherits from a class"),
        pytest.param({"kind": "interface", "subclasses": 1}, "1 implementer", id="who implements an interface"),
        pytest.param({"kind": "trait", "likely_subclasses": 2}, "maybe 2 implementers", id="or a trait"),
        pytest.param(
            {"kind": "class", "callers": 2, "subclasses": 1},
            "2 callers · 1 subclass",
            id="who calls before who inherits",
        ),
        pytest.param({"handed_on": 2, "callers": 1}, "1 caller · 2 pass it on", id="who calls before who passes it on"),
        pytest.param({"similar": ["a"], "excerpt": True}, "+1 alike · excerpt", id="what stands under it, how much"),
        pytest.param(
            {"transferred_from": "bank", "learned_by": ""}, "you solved this in another repository: bank", id="oneself"
        ),
        pytest.param(
            {"transferred_from": "bank", "learned_by": "Ann"},
            "Ann solved this in another repository: bank",
            id="another",
        ),
        pytest.param(
            {"transferred_from": "bank", "learned_by": None},
            "a colleague solved this in another repository: bank",
            id="somebody who does not share his name",
        ),
        pytest.param({"as_of": "2026-11-20T20:00:00Z"}, "as of 1 d ago", id="of a memory that is not open"),
        pytest.param(
            {"as_of": "2026-11-20T20:00:00Z", "changed_since": True},
            "as of 1 d ago, file changed since",
            id="which is not what the file says now",
        ),
        pytest.param(
            {"drifted": ["a.py:1", "a.py:2", "a.py:3", "a.py:4"]},
            "drifted: a.py:1, a.py:2, a.py:3 and 1 more changed since",
            id="three places that changed are named",
        ),
    ],
)
def test_what_is_told_beside_a_result(changes: dict[str, Any], facts: str) -> None:
    assert lines_of(**changes)[0].partition("a.py:7  ")[2] == facts


def test_what_only_may_be_an_answer_says_so() -> None:
    assert lines_of(likely=True)[0].startswith(" 1  maybe load  ")


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"file": "", "id": "reas:a"}, "reas:a"),
        ({"file": "", "id": "reas:a", "as_of": "x", "workspace": "/w"}, "reas:a"),
        ({"file": "", "id": "reas:a", "as_of": "x", "workspace": "/other"}, "reas:a in /other"),
        ({"workspace": ""}, "a.py:7"),
        ({"workspace": "/other"}, "/other/a.py:7"),
    ],
)
def test_where_a_result_stands(changes: dict[str, Any], where: str) -> None:
    assert location(ITEM | changes, Path("/w")) == where


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"kind": "reasoning", "name": "login", "signature": "Fix the login"}, "Fix the login"),
        ({"kind": "macro", "name": "MAX"}, "MAX"),
        ({"kind": "enum", "name": "Color"}, "enum Color"),
        ({"kind": "operation", "name": "pets"}, "operation pets"),
    ],
)
def test_what_a_result_is_called(changes: dict[str, Any], shown: str) -> None:
    assert title(ITEM | changes) == shown


@pytest.mark.parametrize(
    ("changes", "below"),
    [
        pytest.param({"signature": "def load(path)"}, [], id="one parameter alone says nothing"),
        pytest.param({"signature": "def load(path, mode)"}, ["(path, mode)"], id="two do"),
        pytest.param({"signature": "def load() -> str"}, ["() → str"], id="what it gives does"),
        pytest.param(
            {
                "signature": "def load(path, mode)",
                "summary": "Reads a file.",
                "also": [{"name": "save", "line": 9}],
            },
            ["(path, mode)  also here: save :9"],
            id="what else answers there rather than what it is for",
        ),
        pytest.param(
            {"also": [{"name": "Shop.Install", "kind": "section", "line": 9}]},
            ["also here: Install :9"],
            id="a section by its own heading",
        ),
        pytest.param(
            {"also": [{"name": "Cart.add", "kind": "method", "line": 9}]},
            ["also here: Cart.add :9"],
            id="a member by its whole name",
        ),
    ],
)
def test_what_stands_below_a_result(changes: dict[str, Any], below: list[str]) -> None:
    assert [line.strip() for line in lines_of(**changes)[1:]] == below


def test_logs_come_before_what_was_left_out_and_a_hint_instead_of_that_nothing_was_found() -> None:
    log = {"file": "l.md", "line_start": 3, "section": "Assess"}
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": [], "logs": [log], "left_out": ["1 left out"]}
    said = recall_lines(reply | {"hint": "try r"}, style=TerminalStyle(), here=Path("/w"), now=NOW)
    assert said[:-1] == ["try r", "see also l.md:3 Assess", "1 left out"]


@pytest.mark.parametrize(
    ("changes", "last"),
    [
        pytest.param({"name": "n" * 40}, "2 callers", id="a fact that just fits stands beside the place"),
        pytest.param({"name": "n" * 41}, "    2 callers", id="else on a line of its own"),
        pytest.param(
            {"name": "n" * 41, "summary": "s" * 64}, f"    {'s' * 64} · 2 callers", id="else below, if it fits"
        ),
        pytest.param({"name": "n" * 41, "summary": "s" * 65}, "    2 callers", id="else before what it is for"),
    ],
)
def test_where_the_facts_of_a_result_stand_in_eighty_columns(changes: dict[str, Any], last: str) -> None:
    lines = lines_of(width=80, file=f"{'f' * 18}.py", callers=2, **changes)
    assert all(len(line) <= 80 for line in lines)
    (said,) = [line for line in lines if "callers" in line]
    assert said.endswith(f"  {last}" if said.startswith(" 1") else last)
    assert said.startswith(" 1") or said == last


def test_the_longest_place_leaves_names_their_room_and_they_keep_twenty_four_columns() -> None:
    long = ITEM | {"name": "n" * 60, "file": f"{'f' * 27}.py"}
    results = [long, long | {"file": "a.py"}]
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": results}
    said = recall_lines(reply, style=TerminalStyle(width=80), here=Path("/w"), now=NOW)
    assert [line.index("  ", 4) for line in said[:2]] == [46, 46], "as many as the longer of two places leaves"
    farther = long | {"file": f"{'f' * 60}.py"}
    said = recall_lines(
        reply | {"results": [*results, farther]}, style=TerminalStyle(width=80), here=Path("/w"), now=NOW
    )
    assert [line.index("  ", 4) for line in said[:2]] == [46, 46], "a longer place takes no room from others' names"
    assert [line.strip() for line in said if "n" * 60 in line or "f" * 60 in line] == [
        f"3  {'n' * 60}",
        f"{'f' * 60}.py:7",
    ]
    for most in (48, 49):
        (first, *_) = lines_of(width=80, name="n" * 60, file="f" * most)
        assert (f"{'n' * 23}…  {'f' * 48}:7" in first) == (most == 48), "beside it is what leaves twenty-four columns"


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        pytest.param(f"def load({'a' * 28}, {'b' * 30})", f"({'a' * 28}, {'b' * 30})", id="sixty columns of names"),
        pytest.param(f"def load({'a' * 28}, {'b' * 31})", f"({'a' * 28}, …)", id="of more those that fit"),
        pytest.param(f"def load() -> {'r' * 60}", f"() → {'r' * 60}", id="a result of sixty"),
        pytest.param(f"def load() -> {'r' * 61}", "", id="none that is longer"),
    ],
)
def test_how_much_of_a_signature_is_told(signature: str, said: str) -> None:
    assert parameters(ITEM | {"signature": signature}) == said


@pytest.mark.parametrize(
    ("language", "said"),
    [
        *((each, "(path, mode)") for each in ("python", "typescript", "tsx", "javascript")),
        *((each, "(path, mode)") for each in ("rust", "kotlin", "swift", "scala")),
        ("", "(path: str, mode: int)"),
    ],
)
def test_a_type_behind_a_name_is_left_out_in_languages_that_write_it_there(language: str, said: str) -> None:
    assert parameters(ITEM | {"signature": "load(path: str, mode: int)", "language": language}) == said


def test_nothing_is_cut_where_no_terminal_is() -> None:
    takes = ", ".join(f"{letter * 40}: int" for letter in "abcd")
    also = [{"name": f"{'m' * 40}{n}", "kind": "method", "line": n} for n in range(9)]
    signature = f"def {'n' * 90}({takes}) -> {'r' * 70}"
    head, below = lines_of(name="n" * 90, summary="s" * 300, signature=signature, language="python")
    assert head == f" 1  {'n' * 90}  a.py:7", "names are no table that the longest may widen"
    assert below == f"    ({', '.join(letter * 40 for letter in 'abcd')}) → {'r' * 70}  {'s' * 300}"
    _, below = lines_of(also=also)
    assert below.endswith(f"{'m' * 40}8 :8"), "all that answers beside it"
    assert not any("…" in line for line in (head, below))


def test_places_stand_below_each_other_up_to_a_width_where_no_terminal_is() -> None:
    results = [ITEM | {"name": "n" * 60}, ITEM, ITEM | {"name": "n" * 30}]
    reply = {"query": "q", "took_ms": 4.0, "freshness": FRESH, "results": results}
    said = recall_lines(reply, style=TerminalStyle(), here=Path("/w"), now=NOW)
    assert [line.index("a.py") for line in said[:3]] == [66, 54, 54]


def test_subjects_of_commits_are_whole_where_no_terminal_is() -> None:
    commits = [{"commit": "c0", "subject": "x" * 60}]
    item = ITEM | {"activation": TERMS, "evidence": {"episodes": commits}}
    assert f"commits like it: c0 {'x' * 60}" in explanation(item, NOW, whole=True)


def test_where_not_both_fit_what_it_is_for_is_told_rather_than_what_it_takes() -> None:
    _, below = lines_of(width=80, signature=f"def load({'a' * 28}, {'b' * 20})", summary="s" * 76)
    assert below.strip() == "s" * 76


TERMS = {"total": 1.0, "base_level": 0.5, "spreading": 0.25, "context_boost": 0.5, "decay": 0.25}
ACTIVATION = "activation 1.00 = base level 0.50{} + spreading 0.25 + context 0.50 − decay 0.25{}"


def explained(changes: dict[str, Any] | None = None, **evidence: Any) -> list[str]:
    return explanation(ITEM | {"activation": TERMS, "evidence": evidence} | (changes or {}), NOW)


@pytest.mark.parametrize(
    ("evidence", "history", "aged"),
    [
        pytest.param({}, "", "", id="of what nobody used"),
        pytest.param(
            {"accesses": ["2026-11-19T20:00:00Z"], "accesses_from": "answers", "access_count": 3},
            " (3 uses, last 2 d ago)",
            "",
            id="how often and when last",
        ),
        pytest.param(
            {"accesses": ["2026-11-01T20:00:00Z", "2026-11-20T20:00:00Z"], "accesses_from": "git", "access_count": 2},
            " (2 commits, last 1 d ago)",
            "",
            id="of several the last one",
        ),
        pytest.param(
            {"accesses": ["2026-11-19T20:00:00Z"], "accesses_from": "file", "access_count": 1},
            " (file time 2 d ago)",
            "",
            id="a file's time is told as that",
        ),
        pytest.param({"days_since_access": 0.9}, "", "", id="less than a day does not fade"),
        pytest.param({"days_since_access": 1.0}, "", " (1 d)", id="a day does"),
    ],
)
def test_where_an_activation_comes_from(evidence: dict[str, Any], history: str, aged: str) -> None:
    assert ACTIVATION.format(history, aged) in explained(**evidence)


@pytest.mark.parametrize(
    ("learned", "runs", "said"),
    [
        pytest.param(0.0, [], "", id="nothing where nothing was learned"),
        pytest.param(0.2, [], " + learned 0.20", id="what the memory says"),
        pytest.param(0.0, ["r"], " + learned 0.00 (1 run)", id="also where good and bad cancel out"),
    ],
)
def test_what_runs_taught_is_told(learned: float, runs: list[str], said: str) -> None:
    lines = explained({"activation": TERMS | {"learned": learned}}, learned=runs)
    assert ACTIVATION.format("", "") + said in lines


def test_six_signals_that_count_are_told_with_their_sign() -> None:
    told = [{"name": "tiny", "contribution": 0.049}, *({"name": f"s{n}", "contribution": 1.0 - n} for n in range(9))]
    (line,) = [each for each in explained(signals=told) if each.startswith("ranked by")]
    assert line == "ranked by: s0 +1.0 · s2 −1.0 · s3 −2.0 · s4 −3.0 · s5 −4.0 · s6 −5.0"


def test_a_signal_counts_from_a_twentieth_on() -> None:
    told = [{"name": "tiny", "contribution": 0.049}, {"name": "little", "contribution": -0.05}]
    assert explained(signals=told)[-1].startswith("ranked by: little −0.")


def test_eight_words_that_matched_are_told_with_where_they_stand() -> None:
    told = [{"term": f"w{n}", "fields": ["name", "body"] if n == 0 else []} for n in range(10)]
    assert "words: w0 (name, body) · w1 · w2 · w3 · w4 · w5 · w6 · w7 and 2 more" in explained(matches=told)
    assert "words: w0 (name, body) · w1 · w2 · w3 · w4 · w5 · w6 · w7" in explained(matches=told[:8]), "all there are"


def test_two_commits_like_the_question_are_told_and_what_meaning_says() -> None:
    commits = [{"commit": f"c{n}", "subject": "x" * 60} for n in range(3)]
    said = explained(episodes=commits, semantic={"rank": 2, "similarity": 0.5})
    short = "x" * 49 + "…"
    assert f"commits like it: c0 {short} · c1 {short} · by meaning: number 2, similarity 0.50" in said


def test_the_way_that_activation_came_is_told_from_who_calls_to_what_is_called() -> None:
    steps = [
        {"name": "first", "relation": "calls", "forward": True, "amount": 0.5},
        {"name": "second", "relation": "contains", "forward": False, "amount": 0.25},
    ]
    assert "reached: load → contains → second ← calls ← first (0.25)" in explained(reached=steps)


def test_without_evidence_there_is_a_score_and_an_activation() -> None:
    plain = ITEM | {"activation": TERMS, "modified_before": "2026-07-03T08:00:00Z"}
    assert explanation(plain, NOW) == ["score 0.50, changed before Jul 2026", ACTIVATION.format("", "")]


def related(*relations: tuple[str, str], likely: bool = False, **chunk: int) -> list[str]:
    told = [{"relation": of, "name": name, "file": "a.py", "likely": likely} for of, name in relations]
    return related_lines({"relations": told, "chunk": chunk}, TerminalStyle(), Path("/shop/src"))


def test_who_uses_it_is_told_before_what_it_uses_and_sure_ones_first() -> None:
    found = {
        "chunk": {},
        "relations": [
            {"relation": "edited with", "name": "d", "file": "a.py"},
            {"relation": "calls", "name": "c", "file": "a.py"},
            {"relation": "called by", "name": "b", "file": "a.py", "likely": True},
            {"relation": "called by", "name": "a", "file": "a.py"},
            {"relation": "called by", "name": "<module>", "file": "main.py"},
            {"relation": "called by", "name": "a", "file": "other.py"},
        ],
    }
    assert related_lines(found, TerminalStyle(), Path("/shop/src")) == [
        "called by a, main.py",
        "maybe called by b",
        "calls c",
        "edited with d",
    ]


def test_eight_of_one_relation_are_named_and_the_others_counted() -> None:
    many = [("called by", f"f{n}") for n in range(9)]
    named = ", ".join(f"f{n}" for n in range(8))
    assert related(*many[:8]) == [f"called by {named}"]
    assert related(*many) == [f"called by {named} and 1 more"]
    assert related(*many, callers=20) == [f"called by {named} and 12 more"], "as many as memory knows of"
    assert related(*many[:8], callers=3) == [f"called by {named}"], "no fewer than are named"


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        pytest.param("a.py:3", "src/a.py:3", id="a line of a file beside"),
        pytest.param("../lib/b.py", "lib/b.py", id="a path from here"),
        pytest.param("a.py", "a.py", id="a name alone may be meant anywhere"),
        pytest.param("why `../lib/b.py:7` fails", "why `lib/b.py:7` fails", id="within words, and its marks stay"),
        pytest.param("none.py:3", "none.py:3", id="what is not there"),
        pytest.param("a.py(3,4)", "src/a.py(3,4)", id="as compilers spell it"),
        pytest.param("a.py#L3", "src/a.py#L3", id="as web pages do"),
        pytest.param("my notes.md:3", 'File "src/my notes.md", line 3', id="a path with a space is one place"),
        pytest.param("lib/my list.md:3", 'File "lib/my list.md", line 3', id="from the root where it is not here"),
        pytest.param("../../out.py:3", "../../out.py:3", id="what lies outside stays as it is"),
        pytest.param(" ".join(["w"] * 40 + ["a.py:3"]), " ".join(["w"] * 40 + ["a.py:3"]), id="of a report all stays"),
        pytest.param(" ".join(["w"] * 39 + ["a.py:3"]), " ".join(["w"] * 39 + ["src/a.py:3"]), id="of forty words not"),
    ],
)
def test_places_are_asked_for_from_the_root(tmp_path: Path, typed: str, asked: str) -> None:
    root = tmp_path / "shop"
    for name in ("src/a.py", "lib/b.py", "src/my notes.md", "lib/my list.md", "../out.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    assert from_root(typed, root / "src", root) == asked
