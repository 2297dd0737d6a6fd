"""Kept answers and what they rest on: none is given again whose facts have changed, those that only moved still are."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.documents import CitedSpan
from aurora_orchestration.soar.answer_cache import AnswerCache
from aurora_orchestration.soar.cited_spans import look_again, relocated, span_of, spans_of
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import ContextBundle, ContextChunk, Synthesis
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.runs import BEGAN, run
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind
from tests.orchestration.soar.test_run import MEDIUM, TWO
from tests.shares import examples

PROJECT = Path(__file__).parents[3]
FACTS = 150
MOVED = 60
FEWEST = 5
PER_FILE = 10


class Kept:
    """A workspace with one file of this project's, and an answer about one definition in it that is kept."""

    def __init__(self, place: Path, source: str, name: str, first: int, last: int) -> None:
        self.root = place / "workspace"
        self.file = self.root / "src/a.py"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(source)
        self.name = name
        self.lines = source.split("\n")
        self.first, self.last = first, last
        self.cache = AnswerCache(place / "answers", self.root)
        self.query = f"what does {name} do at {first}?"
        chunk = ContextChunk(
            row=1, id="code:src/a.py:x:1-2", type="code", name=name, file="src/a.py", line_start=first, line_end=last,
            score=1.0, tokens=9, content="",
        )  # fmt: skip
        context = ContextBundle(chunks=(chunk,))
        answer = f"`{name}` is what src/a.py:{first}-{last} says it is."
        record = run(
            query=self.query,
            answer=answer,
            context=context,
            results=(),
            synthesis=Synthesis(answer=answer, confidence=0.9),
        )
        spans = spans_of([answer], context, WorkspaceText(self.root))
        assert spans is not None
        assert self.cache.keep(record, self.cache.digests(context), spans)

    def given(self) -> str | None:
        """The kept answer, if it is given again now."""
        found, said = self.cache.find(self.query, BEGAN + 60)
        assert (found is None) == ("dropped" in said)
        return found.answer if found is not None else None


@cache
def facts() -> list[tuple[str, str, int, int]]:
    """Sources of this project, each with a definition: name, first and last line; the same ones each time."""
    found: list[tuple[str, str, int, int]] = []
    files = sorted((PROJECT / "memory").rglob("*.py")) + sorted((PROJECT / "orchestration").rglob("*.py"))
    for file in files:
        source = file.read_text()
        if source.count("\n") > 200:
            continue
        chunks = parse_file(file.name, source.encode()).chunks
        named = [chunk for chunk in chunks if chunk.kind in ("function", "method", "class")]
        found += [
            (source, chunk.name.rpartition(".")[2], chunk.line_start, chunk.line_end) for chunk in named[:PER_FILE]
        ]
    return found


def pick(lines: list[str], fact: Kept, chance: random.Random, pattern: str = r"\S") -> int | None:
    """The index of a line of the fact that has the pattern."""
    fitting = [n for n in range(fact.first - 1, fact.last) if re.search(pattern, lines[n])]
    return chance.choice(fitting) if fitting else None


def changed(pattern: str, by: Callable[[re.Match[str]], str]) -> Callable[[Kept, random.Random], list[str] | None]:
    def mutate(fact: Kept, chance: random.Random) -> list[str] | None:
        lines = list(fact.lines)
        at = pick(lines, fact, chance, pattern)
        if at is None:
            return None
        lines[at] = re.sub(pattern, by, lines[at], count=1)
        return lines

    return mutate


def deleted(fact: Kept, chance: random.Random) -> list[str] | None:
    lines = list(fact.lines)
    at = pick(lines, fact, chance)
    return None if at is None else lines[:at] + lines[at + 1 :]


def inserted(fact: Kept, chance: random.Random) -> list[str] | None:
    at = chance.randint(fact.first, fact.last)
    if at >= fact.last:
        return None
    return [*fact.lines[:at], "    return None  # early", *fact.lines[at:]]


def swapped(fact: Kept, chance: random.Random) -> list[str] | None:
    lines = list(fact.lines)
    one, other = pick(lines, fact, chance), pick(lines, fact, chance)
    if one is None or other is None or lines[one] == lines[other]:
        return None
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def indented(fact: Kept, chance: random.Random) -> list[str] | None:
    lines = list(fact.lines)
    at = pick(lines, fact, chance)
    if at is None or fact.last == fact.first:
        return None
    lines[at] = f"    {lines[at]}"
    return lines


def twin(fact: Kept, chance: random.Random) -> list[str] | None:
    """The definition changed, and a copy of what it was put elsewhere, under another heading."""
    lines = deleted(fact, chance)
    if lines is None:
        return None
    copy = [f"    {line}" for line in fact.lines[fact.first - 1 : fact.last]]
    return [*lines, "class Elsewhere:", *copy]


MUTATIONS: dict[str, Callable[[Kept, random.Random], list[str] | None]] = {
    "number": changed(r"\b\d+\b", lambda found: str(int(found[0]) + 1)),
    "comparison": changed(r"<=?|>=?|==|!=", lambda found: "!=" if found[0] != "!=" else "=="),
    "name": changed(r"\b[a-z_]{4,}\b", lambda found: f"{found[0]}_2"),
    "truth": changed(
        r"\b(?:True|False|None|not|and|or)\b", lambda found: {"and": "or", "or": "and"}.get(found[0], "0")
    ),
    "string": changed(r"\"[^\"]+\"", lambda found: '"other"'),
    "comment": changed(r"#.*", lambda found: f"{found[0]} (no longer)"),
    "deleted": deleted,
    "inserted": inserted,
    "swapped": swapped,
    "indented": indented,
    "twin": twin,
}


@pytest.mark.hypothesis
def test_of_many_facts_that_were_changed_none_is_given_as_fresh(tmp_path: Path) -> None:
    chance = random.Random(9)
    known = facts()
    counted = dict.fromkeys(MUTATIONS, 0)
    served: list[str] = []
    while sum(counted.values()) < max(examples(FACTS), FEWEST * len(MUTATIONS)):
        kind = min(MUTATIONS, key=lambda each: (counted[each] >= FEWEST, counted[each] + chance.random() * 40, each))
        fact = Kept(tmp_path, *chance.choice(known))
        if counted[kind] % 5 == 0:
            assert fact.given() is not None
        lines = MUTATIONS[kind](fact, chance)
        if lines is None:
            continue
        fact.file.write_text("\n".join(lines))
        counted[kind] += 1
        if fact.given() is not None:
            served.append(f"{kind}: {fact.name} {fact.first}-{fact.last}")
    assert served == []
    assert min(counted.values()) >= FEWEST, counted


@pytest.mark.hypothesis
def test_facts_that_only_moved_are_found_again_and_their_places_told_anew(tmp_path: Path) -> None:
    chance = random.Random(10)
    known = facts()
    for _ in range(examples(MOVED)):
        fact = Kept(tmp_path, *chance.choice(known))
        shift = chance.randint(1, 30)
        above = [f"# {number}" if number % 3 else "" for number in range(shift)]
        fact.file.write_text("\n".join([*above, *fact.lines]))
        given = fact.given()
        assert given == f"`{fact.name}` is what src/a.py:{fact.first + shift}-{fact.last + shift} says it is.", (
            fact.name
        )
        fact.file.write_text("\n".join(["", *above, *fact.lines, "# more"]))
        assert f":{fact.first + shift + 1}-" in (fact.given() or "")


@pytest.mark.parametrize("answer", ["Only `load` calls it (src/a.py:1).", "It is called nowhere, see src/a.py:1-2."])
def test_what_speaks_of_whole_files_is_dropped_with_any_change_of_them(tmp_path: Path, answer: str) -> None:
    fact = Kept(tmp_path, "def load():\n    return 1\n", "load", 1, 2)
    context = ContextBundle(
        chunks=(
            ContextChunk(
                row=1, id="c", type="code", name="load", file="src/a.py", line_start=1, line_end=2, score=1.0, tokens=9,
                content="",
            ),
        )
    )  # fmt: skip
    record = run(query=fact.query, answer=answer, context=context, results=(), synthesis=Synthesis(answer=answer))
    spans = spans_of([answer], context, WorkspaceText(fact.root))
    assert spans and fact.cache.keep(record, fact.cache.digests(context), spans)
    assert fact.given() == answer
    fact.file.write_text("def load():\n    return 1\n\n\nload()\n")
    assert fact.given() is None
    fact.file.write_text("def load():\n    return 1\n")
    assert fact.cache.find(fact.query, BEGAN + 60) == (None, ""), "it was dropped for good"


def test_a_name_in_code_does_not_speak_of_all(tmp_path: Path) -> None:
    fact = Kept(tmp_path, "def count():\n    return 1\n", "count", 1, 2)
    fact.file.write_text("def count():\n    return 1\n\n\nOTHER = 1\n")
    assert fact.given() == "`count` is what src/a.py:1-2 says it is."


def test_a_place_outside_of_the_context_is_looked_at_as_well(tmp_path: Path) -> None:
    fact = Kept(tmp_path, "def load():\n    return 1\n", "load", 1, 2)
    other = fact.root / "src/b.py"
    other.write_text("LIMIT = 3\n")
    answer = "It is bounded by src/b.py:1."
    context = ContextBundle(
        chunks=(
            ContextChunk(
                row=1, id="c", type="code", name="load", file="src/a.py", line_start=1, line_end=2, score=1.0, tokens=9,
                content="",
            ),
        )
    )  # fmt: skip
    record = run(query=fact.query, answer=answer, context=context, results=(), synthesis=Synthesis(answer=answer))
    spans = spans_of([answer], context, WorkspaceText(fact.root))
    assert spans and fact.cache.keep(record, fact.cache.digests(context), spans)
    assert fact.given() == answer
    other.write_text("LIMIT = 4\n")
    assert fact.given() is None


def span(root: Path, file: str, first: int, last: int) -> CitedSpan:
    found = span_of(file, first, last, WorkspaceText(root))
    assert found is not None
    return found


def test_of_two_that_are_alike_the_one_that_is_left_is_not_taken_for_the_other(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n\n\ndef f():\n    return 1\n")
    first = span(tmp_path, "a.py", 1, 2)
    assert first.copies == 2
    (tmp_path / "a.py").write_text("def f():\n    return 2\n\n\ndef f():\n    return 1\n")
    assert look_again(first, WorkspaceText(tmp_path)).state == "drifted"


def test_layout_alone_is_verified_anew_where_it_means_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("function f(a) {\n  return g(a, 1);\n}\n")
    (tmp_path / "a.py").write_text("def f(a):\n    return g(a, 1)\n")
    spans = [span(tmp_path, "a.js", 1, 3), span(tmp_path, "a.py", 1, 2)]
    (tmp_path / "a.js").write_text("// new\nfunction f(a) {\n  return g(\n    a,\n    1);\n}\n")
    (tmp_path / "a.py").write_text("def f(a):\n  return g(a,  1)\n")
    found = [look_again(each, WorkspaceText(tmp_path)) for each in spans]
    assert [each.state for each in found] == ["reformatted", "drifted"]
    assert (found[0].now.line_start, found[0].now.line_end) == (2, 6)
    assert relocated("see a.js:1-3 and a.py:1", found) == "see a.js:2-4 and a.py:1"


async def test_a_pattern_keeps_what_it_cites_and_is_told_to_have_drifted(
    tmp_path: Path,
) -> None:
    with LoopbackProvider() as provider:
        provider.otherwise = Mind(TWO)
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            first = await it.ask(MEDIUM)
            assert first.learned is not None and first.learned.is_pattern
            [learned] = it.memory.learned
            assert {(each.file, each.line_start) for each in learned.cites} >= {("src/template.py", 1)}
            second = await it.ask("Explain how expand fills a template and compare it with request once more")
            assert not any("drifted" in notice for notice in second.notices)
            (it.root / "src/template.py").write_text("def expand(template, values):\n    return ''\n\n\n# RFC 6570\n")
            third = await it.ask(MEDIUM)
            assert third.from_memory is None
            assert any("has drifted and was dropped: src/template.py:1" in notice for notice in third.notices)
            assert any(
                "has drifted: src/template.py:1 changed since this was learned" in each for each in third.notices
            )
