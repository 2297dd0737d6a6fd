"""Chunks counted against somebody else's parser: every definition is one chunk, no more, no fewer."""

from __future__ import annotations

import ast
import functools
import re
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.chunks import CodeChunk
from tests.shares import long

STDLIB = Path(sysconfig.get_paths()["stdlib"])
FOLDERS = ("", "asyncio", "concurrent/futures", "email", "json", "unittest", "xml/etree")
SAMPLES = Path(__file__).parents[1] / "samples"


SHARE = 24


@functools.cache
def stdlib_files(share: int = 0) -> list[Path]:
    """One of so many files, from that one on."""
    files = [file for folder in FOLDERS for file in sorted((STDLIB / folder).glob("*.py"))]
    assert len(files) > 150
    return files[share::SHARE]


@functools.cache
def chunks_of(file: Path) -> tuple[CodeChunk, ...]:
    """Chunks of a file that several tests ask of: parsing is what they cost."""
    return parse_file(file.name, file.read_bytes()).chunks


def defined(tree: ast.AST) -> Counter[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return Counter(node.name for node in ast.walk(tree) if isinstance(node, kinds))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("share", [0, *map(long, range(1, SHARE))])
def test_python_agrees_with_ast_on_the_standard_library(share: int) -> None:
    wrong: list[str] = []
    for file in stdlib_files(share):
        source = file.read_bytes()
        tree = ast.parse(source)
        chunks = [c for c in chunks_of(file) if c.kind not in ("module", "type")]
        names = Counter(c.name.rpartition(".")[2] for c in chunks)
        if names != defined(tree):
            wrong.append(f"{file.name}: {names - defined(tree)} {defined(tree) - names}")
    assert wrong == []


def test_python_lines_agree_with_ast() -> None:
    """A chunk starts at its decorators or comments, and may end with comments that stand in its block."""
    for file in stdlib_files():
        source = file.read_bytes()
        lines = source.decode("utf-8", "replace").split("\n")
        chunks = chunks_of(file)
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.end_lineno is None:
                continue
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            own = [c for c in chunks if c.name.rpartition(".")[2] == node.name and c.line_start <= first <= c.line_end]
            closest = max(own, key=lambda c: c.line_start)
            extra = lines[closest.line_start - 1 : first - 1] + lines[node.end_lineno : closest.line_end]
            assert all(not line.strip() or line.strip().startswith("#") for line in extra), f"{file.name}: {node.name}"


def test_python_docstrings_agree_with_ast() -> None:
    wrong = 0
    seen = 0
    for file in stdlib_files():
        source = file.read_bytes()
        expected = Counter(
            (node.name, (ast.get_docstring(node) or "").split("\n")[0].strip())
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node)
        )
        found = Counter((c.name.rpartition(".")[2], c.docstring.split("\n")[0].strip()) for c in chunks_of(file))
        seen += sum(expected.values())
        wrong += sum((expected - found).values())
    # Escapes stay as written, which ast does not.
    assert seen > 150
    assert wrong <= seen * 0.01


def test_chunks_nest_in_the_standard_library() -> None:
    for file in stdlib_files():
        chunks = [c for c in chunks_of(file) if c.kind != "module"]
        open_: list[tuple[int, int]] = []
        for c in sorted(chunks, key=lambda c: (c.line_start, -c.line_end)):
            while open_ and open_[-1][1] < c.line_start:
                open_.pop()
            assert not open_ or c.line_end <= open_[-1][1], f"{file.name}: {c.name} crosses what is around it"
            open_.append((c.line_start, c.line_end))
        by_name = {c.name for c in chunks}
        assert all(c.parent in by_name for c in chunks if c.parent)


def test_go_agrees_with_a_regular_expression() -> None:
    source = (SAMPLES / "repo.go").read_bytes()
    functions = len(re.findall(rb"(?m)^(?:func |\t\tFind\()", source))  # an interface asks for one
    types = len(re.findall(rb"(?m)^\s*(?:type )?(\w+)(?:\[.*?\])?\s+(?:=|struct|interface|string)", source))
    kinds = Counter(c.kind for c in parse_file("repo.go", source).chunks)
    assert kinds["function"] + kinds["method"] == functions == 6
    assert kinds["struct"] + kinds["interface"] + kinds["type"] == types == 5
