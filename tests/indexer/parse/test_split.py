"""Long definitions in parts: on syntax borders, none too large or tiny, nothing lost."""

from __future__ import annotations

import sysconfig
from itertools import accumulate
from pathlib import Path

import pytest

from aurora_indexer.parse.chunk_parser import parse_file
from aurora_indexer.parse.split import MAX_PART, MAX_PARTS, split_at
from aurora_memory.chunks import CodeChunk
from aurora_memory.term_counts import Field, terms_in

STDLIB = Path(sysconfig.get_paths()["stdlib"])


def only(source: str, name: str, path: str = "a.py") -> CodeChunk:
    return next(c for c in parse_file(path, source.encode()).chunks if c.name == name)


def weight(lines: list[str]) -> int:
    return len("".join("".join(lines).split()).encode())


def statements(count: int) -> str:
    return "".join(f"    if condition_{n}:\n        total += amount_{n} * factor_{n}\n" for n in range(count))


def test_short_definitions_are_one_part() -> None:
    c = only("def f():\n" + statements(40), "f")
    assert [(p.line_start, p.line_end) for p in c.parts] == [(1, 81)]


def test_parts_follow_statements() -> None:
    source = "def f():\n" + statements(400)
    lines = source.splitlines(keepends=True)
    c = only(source, "f")
    assert len(c.parts) > 3
    assert (c.parts[0].line_start, c.parts[-1].line_end) == (c.line_start, c.line_end)
    for before, after in zip(c.parts, c.parts[1:], strict=False):
        assert after.line_start == before.line_end + 1
        assert lines[after.line_start - 1].startswith("    if condition_")
    weights = [weight(lines[p.line_start - 1 : p.line_end]) for p in c.parts]
    assert all(w <= MAX_PART for w in weights)
    assert all(w >= MAX_PART // 2 for w in weights[:-1])


def test_first_part_carries_the_fields_and_later_ones_name_and_body() -> None:
    first, *rest = only('def find_user():\n    """Looks."""\n' + statements(400), "find_user").parts
    others: list[Field] = ["signature", "path", "doc", "calls"]
    assert terms_in("body", first.occurrences)
    assert all(terms_in(field, first.occurrences) for field in others[:3])
    for part in rest:
        assert terms_in("name", part.occurrences) == terms_in("name", first.occurrences)
        assert terms_in("body", part.occurrences)
        assert not any(terms_in(field, part.occurrences) for field in others)


def test_nothing_is_lost_between_parts() -> None:
    c = only("def f():\n" + statements(400), "f")
    found = set().union(*(terms_in("body", p.occurrences) for p in c.parts))
    assert {f"amount{n}" for n in range(400)} <= found


def test_methods_do_not_count_towards_their_class() -> None:
    method = "    def m{n}(self):\n" + "        work(self.value)\n" * 100
    source = "class A:\n" + "".join(method.replace("{n}", str(n)) for n in range(50)) + "    last = 1\n"
    c = only(source, "A")
    assert len(c.parts) == 1
    assert "last" in terms_in("body", c.parts[0].occurrences)


def test_one_huge_statement_is_entered() -> None:
    c = only("TABLE = [\n" + "    ('key', 12345, 'value'),\n" * 2000 + "]\n", "<module>")
    assert len(c.parts) > 10


def test_one_huge_token_is_cut_between_lines() -> None:
    source = 'TEXT = """\n' + "some words of a long text\n" * 2000 + '"""\n'
    c = only(source, "<module>")
    assert len(c.parts) > 8
    assert all(p.line_end - p.line_start < 400 for p in c.parts)


def test_at_most_sixty_parts() -> None:
    c = only("def f():\n" + statements(6_000), "f")
    assert 30 <= len(c.parts) <= MAX_PARTS


@pytest.mark.parametrize("name", ["decimal.py", "_pydecimal.py", "argparse.py", "typing.py", "doctest.py"])
def test_parts_of_real_code_cover_their_chunk_in_order(name: str) -> None:
    for c in parse_file(name, (STDLIB / name).read_bytes()).chunks:
        assert c.parts[0].line_start == c.line_start
        assert len(c.parts) <= MAX_PARTS
        for part in c.parts:
            assert c.line_start <= part.line_start <= part.line_end <= c.line_end
        for before, after in zip(c.parts, c.parts[1:], strict=False):
            assert before.line_start <= after.line_start


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [
        pytest.param([MAX_PART, MAX_PART], 2, id="as full as the blocks allow"),
        pytest.param([2000, 2000, 2000], 2, id="two blocks together where both fit"),
        pytest.param([3900, 600], 1, id="a small end goes with what is before it, though that is more than full"),
        pytest.param([3900, 700], 2, id="a sixth of a part is one of its own"),
        pytest.param([600, 3900], 1, id="a small beginning goes with what follows"),
        pytest.param([700, 3900], 2, id="but not a sixth of a part"),
    ],
)
def test_a_text_is_cut_between_blocks_into_parts_worth_being_one(sizes: list[int], parts: int) -> None:
    text = b"".join(b"x" * size for size in sizes)
    spans = split_at(list(accumulate(sizes, initial=0)), text)
    assert len(spans) == parts
    assert b"".join(text[start:end] for start, end in spans) == text
