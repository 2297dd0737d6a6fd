"""Whatever bytes a document holds: reading ends, in time, with chunks whose lines exist or an error with a name."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora_indexer.documents.document_parser import parse_document
from aurora_indexer.documents.sections import SECTION_CHARACTERS
from aurora_indexer.documents.yaml_document import TooDeep
from tests.growth import grows_with_length
from tests.shares import examples

SOURCES = {file.name: file.read_bytes() for file in sorted((Path(__file__).parent / "samples").iterdir())}
MARKS = [
    b"#",
    b"`",
    b"```\n",
    b"'",
    b'"',
    b"\n",
    b"\r\n",
    b"{",
    b"]",
    b"- ",
    b": ",
    b"&a *a ",
    b"/*",
    b"$$",
    b";",
    b"\xff",
]


def check(path: str, source: bytes) -> int:
    try:
        found = parse_document(path, source)
    except TooDeep:
        return 0
    if found is None:
        return 0
    lines = source.count(b"\n") + 1
    keys = set()
    for chunk in found.chunks:
        assert 1 <= chunk.line_start <= chunk.line_end <= lines
        assert chunk.parts
        assert all(chunk.line_start <= p.line_start <= p.line_end <= chunk.line_end for p in chunk.parts)
        assert chunk.name and ":" not in chunk.name and "\n" not in chunk.signature
        assert len(chunk.signature) <= 300 and len(chunk.docstring) <= 2000
        keys.add((chunk.name, chunk.ordinal))
    assert len(keys) == len(found.chunks)
    return len(keys)


@settings(max_examples=examples(200), deadline=None)
@given(name=st.sampled_from(sorted(SOURCES)), data=st.data())
def test_mutated_documents(name: str, data: st.DataObject) -> None:
    source = SOURCES[name]
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, min(len(source), start + 60)))
    inserted = data.draw(st.one_of(st.binary(max_size=12), st.sampled_from(MARKS)))
    check(name, source[:start] + inserted + source[end:])


@settings(max_examples=examples(100), deadline=None)
@given(suffix=st.sampled_from(["md", "rst", "sql", "yaml", "json"]), source=st.binary(max_size=300))
def test_any_bytes(suffix: str, source: bytes) -> None:
    check(f"a.{suffix}", source)
    check(f"a.{suffix}", b"openapi: 3.0.0\npaths:\n" + source)


def test_a_broken_document_keeps_what_was_read() -> None:
    text = SOURCES["petstore.yaml"].decode().replace("  /pets/{id}:", "  /pets/{id}: ]")
    found = parse_document("petstore.yaml", text.encode())
    assert found is not None
    assert found.syntax_errors == 1
    assert [chunk.name for chunk in found.chunks] == ["<module>", "pets_list"]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.md", lambda depth: b"> " * depth),
        ("a.md", lambda depth: _indented(b"  ", b"- x\n", depth // 100)),
        ("a.yaml", lambda depth: b"openapi: 3.0.0\nx: " + b"[" * depth),
        ("a.yaml", lambda depth: b"openapi: 3.0.0\nx:\n  " + b"- " * depth),
        ("a.yaml", lambda depth: _indented(b" ", b"openapi:\n", depth // 100)),
        ("a.json", lambda depth: b'{"openapi": "3.0.0", "x": ' + b'{"a":' * depth),
        ("a.sql", lambda depth: b"create table a (" + b"(" * depth),
    ],
)
@pytest.mark.long
def test_deep_nesting_ends_in_time(path: str, source: Callable[[int], bytes]) -> None:
    assert grows_with_length(lambda depth: check(path, source(depth)), 7_000, 70_000)


def _indented(step: bytes, line: bytes, lines: int) -> bytes:
    return b"".join(step * depth + line for depth in range(lines))


def test_aliases_do_not_unfold() -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    source = "\n".join(["openapi: 3.0.0", "a0: &a0 lol", *levels])
    assert check("bomb.yaml", source.encode()) == 1


@pytest.mark.parametrize("suffix", ["md", "rst", "sql", "yaml", "json"])
@pytest.mark.parametrize(
    "letters", [b"#->*`[](){}:'\"&|!%@$;. \n\tab01", b"[](", b"`a ", b"-- a\n", b"<!--", b"=\na", b"$a1"]
)
@pytest.mark.long
def test_marks_take_as_long_as_they_are(suffix: str, letters: bytes) -> None:
    noise = bytes(random.Random(3).choices(letters, k=60_000))
    head = {"yaml": b"openapi: 3.0.0\n", "json": b'{"openapi": "3.0.0", "x": '}.get(suffix, b"")

    def read(size: int) -> None:
        check(f"a.{suffix}", head + letters * (size * 7 // 10 // len(letters)) + noise[: size * 3 // 10])

    assert grows_with_length(read, 20_000, 200_000)


@pytest.mark.long
def test_markdown_takes_as_long_as_it_is_and_gives_so_many_chunks() -> None:
    block = "## Heading {0}\n\nWords about `get_user_{0}` and [a link](src/a{0}.py).\n\n"
    block += "- one\n- two\n\n```py\ncode({0})\n```\n\n"

    def read(headings: int) -> int:
        return check("a.md", "".join(block.format(number) for number in range(headings)).encode())

    assert grows_with_length(read, 400, 4_000)
    assert 600 < read(5_100) <= 5_100 * len(block) // SECTION_CHARACTERS
