"""Names in docstrings: what stands in backticks is a module, a name or a word of the program, or a known example."""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

EXAMPLES = {
    *("bash_complete", "v1_2", "payments_critical", "hunter2", "aaaaaa1", "list_users"),
    *("test_full_text_search", "parsehttpresponse2", "parse_http_response2", "cafe", "get_user"),
    *("api_security", "insecurity", "addlin", "findal", "sessi", "authenti", "authent"),
    *("budget_tracker_history", "input_required", "execute_fn"),
}
"""Words of somebody else's, and words that a docstring makes up to show something."""

_QUOTED = re.compile(r"(?<!`)`([a-z_][a-z_0-9]{2,}(?:\.[A-Za-z_]\w*)*)`(?!`)")
_NAMED = frozenset({"id", "attr", "arg", "name", "asname", "module"})
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Said:
    """What a file says: its docstrings, and the words of everything else."""

    docstrings: list[tuple[str, int]]
    words: set[str]


@cache
def program() -> dict[Path, Said]:
    """What each file says."""
    return {path: said(path.read_text(encoding="utf-8")) for path in sorted(ROOT.glob("*/aurora_*/**/*.py"))}


def said(source: str) -> Said:
    """Every name in code and every word of its texts, and beside them the docstrings."""
    found = Said([], set())
    alone = set()
    for node in ast.walk(ast.parse(source)):  # who holds a text comes before it
        if isinstance(node, _DOCUMENTED):
            for value in docstrings(node):
                alone.add(id(value))
                found.docstrings.append((str(value.value), value.lineno))
        if isinstance(node, ast.Constant):
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            if isinstance(text, str) and id(node) not in alone:
                found.words.update(re.findall(r"\w+", text))
        else:
            for field in _NAMED.intersection(node._fields):
                if isinstance(name := getattr(node, field), str):
                    found.words.update(name.split("."))
    return found


def docstrings(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Constant]:
    """Texts that stand alone as statements: of a module, class or function, and below what they explain."""
    for each in node.body:
        value = each.value if isinstance(each, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value


@cache
def unknown() -> dict[str, str]:
    """Quoted words that are nothing in the program, with where each stands."""
    modules = {part for path in program() for part in (path.stem, path.parent.name)}
    known = {*modules, *sys.stdlib_module_names}.union(*(each.words for each in program().values()))
    found = {}
    for path, file in program().items():
        for text, line in file.docstrings:
            for quoted in _QUOTED.findall(text):
                found |= {part: f"{path.relative_to(ROOT)}:{line}" for part in quoted.split(".") if part not in known}
    return found


def test_what_a_docstring_names_is_there() -> None:
    assert len(program()) > 500, "the packages were not found"
    assert {word: place for word, place in unknown().items() if word not in EXAMPLES} == {}


def test_every_example_is_one() -> None:
    assert {*EXAMPLES} - {*unknown()} == set()
