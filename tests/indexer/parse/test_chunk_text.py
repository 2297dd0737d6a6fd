"""What is shown of a chunk and what it is said to cost agree, on real files in every language and format."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_indexer.workers.process_file import parse_source
from aurora_memory.chunk_text import SHORT, cost, folds, in_order, joined, own_lines
from aurora_memory.chunks import CodeChunk
from tests.shares import long

ROOT = Path(__file__).parents[3]
SAMPLES = sorted((Path(__file__).parents[1] / "samples").iterdir())
OWN = sorted((ROOT / "memory").rglob("*.py"))
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "schemas").rglob("*.json"))]


def own_texts(path: str, source: bytes) -> list[tuple[CodeChunk, str]]:
    parsed = parse_source(path, source)
    if parsed is None:
        return []
    lines = source.decode("utf-8", "replace").split("\n")
    others = in_order(parsed.chunks)
    return [(chunk, joined(own_lines(chunk, lines, others))) for chunk in parsed.chunks]


@pytest.mark.parametrize("own", [OWN[::8], long(OWN)], ids=len)
def test_tokens_are_those_of_what_is_shown(own: list[Path]) -> None:
    seen = 0
    for path in [*SAMPLES, *own, *DOCUMENTS]:
        for chunk, text in own_texts(path.name, path.read_bytes()):
            if chunk.line_end - chunk.line_start < 2:
                continue  # may share its lines with others, which are shown whole
            assert cost(text) == pytest.approx(chunk.tokens, rel=0.15, abs=3), (path, chunk.name)
            seen += 1
    assert seen > 300


def test_short_chunks_are_shown_as_they_stand() -> None:
    for path in SAMPLES:
        lines = path.read_text("utf-8").split("\n")
        for chunk, text in own_texts(path.name, path.read_bytes()):
            if chunk.line_end - chunk.line_start < SHORT:
                assert text == "\n".join(lines[chunk.line_start - 1 : chunk.line_end])


def long_class(methods: int) -> str:
    method = """    @cached
    def method_{0}(self, x: int) -> int:
        y = {0}
        if x > y:
            return x
        return y
"""
    body = "\n".join(method.format(number) for number in range(methods))
    return f'class Service:\n    """Many things."""\n\n    LIMIT = 3\n\n{body}\n\nCONSTANT = 1\n'


def test_long_classes_fold_what_they_hold_to_signatures() -> None:
    source = long_class(20)
    texts = {chunk.name: (chunk, text) for chunk, text in own_texts("a.py", source.encode())}
    chunk, text = texts["Service"]
    assert folds(chunk)
    assert text.splitlines()[:8] == [
        "class Service:",
        '    """Many things."""',
        "",
        "    LIMIT = 3",
        "",
        "    def method_0(self, x: int) -> int …",
        "",
        "    def method_1(self, x: int) -> int …",
    ]
    assert "return y" not in text
    assert cost(text) < 0.6 * cost(source)
    assert "return y" in texts["Service.method_3"][1], "functions are shown whole"


def test_folded_lines_keep_their_numbers() -> None:
    source = long_class(20)
    lines = source.split("\n")
    parsed = parse_source("a.py", source.encode())
    assert parsed is not None
    others = in_order(parsed.chunks)
    service = next(chunk for chunk in parsed.chunks if chunk.name == "Service")
    for number, text in own_lines(service, lines, others):
        assert lines[number - 1].rstrip(":") == text.removesuffix(" …").rstrip(":")


def test_a_file_that_became_shorter_than_its_chunks_is_shown_as_far_as_it_goes() -> None:
    source = long_class(20)
    parsed = parse_source("a.py", source.encode())
    assert parsed is not None
    for chunk in parsed.chunks:
        assert own_lines(chunk, ["class Service:"], in_order(parsed.chunks)) in ([], [(1, "class Service:")])
