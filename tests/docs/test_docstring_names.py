"""Names in docstrings: what stands in backticks is a module, a name or a word of the program, or a known example."""

import ast
import re
import sys
from collections.abc import Iterator
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


@cache
def program() -> dict[Path, list[ast.AST]]:
    """All that each file says."""
    files = sorted(ROOT.glob("*/aurora_*/**/*.py"))
    return {path: list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))) for path in files}


def docstrings(nodes: list[ast.AST]) -> Iterator[ast.Constant]:
    """Texts that stand alone as statements: of modules, classes and functions, and below what they explain."""
    for node in nodes:
        if isinstance(node, _DOCUMENTED):
            for each in node.body:
                value = each.value if isinstance(each, ast.Expr) else None
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value


def names(nodes: list[ast.AST]) -> Iterator[str]:
    """Every name in code, and every word of its texts that are no docstrings."""
    said = {id(each) for each in docstrings(nodes)}
    for node in nodes:
        for field in _NAMED.intersection(node._fields):
            if isinstance(name := getattr(node, field), str):
                yield from name.split(".")
        if isinstance(node, ast.Constant) and id(node) not in said:
            value = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            if isinstance(value, str):
                yield from re.findall(r"\w+", value)


@cache
def unknown() -> dict[str, str]:
    """Quoted words that are nothing in the program, with where each stands."""
    modules = {part for path in program() for part in (path.stem, path.parent.name)}
    known = {*modules, *sys.stdlib_module_names, *(name for nodes in program().values() for name in names(nodes))}
    found = {}
    for path, nodes in program().items():
        for text in docstrings(nodes):
            place = f"{path.relative_to(ROOT)}:{text.lineno}"
            for quoted in _QUOTED.findall(str(text.value)):
                found |= {part: place for part in quoted.split(".") if part not in known}
    return found


def test_what_a_docstring_names_is_there() -> None:
    assert len(program()) > 500, "the packages were not found"
    assert {word: place for word, place in unknown().items() if word not in EXAMPLES} == {}


def test_every_example_is_one() -> None:
    assert {*EXAMPLES} - {*unknown()} == set()
