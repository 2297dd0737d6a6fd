"""Docstrings: what stands in backticks is a module, a name or a word of the program, or a known example; and the first
words of a module's or a public class's say what it is, by a noun readers search for.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.syntax import statements

ROOT = Path(__file__).parents[2]

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Said:
    """What a file says: its text, its docstrings, and how its own one and those of public classes begin."""

    source: str
    docstrings: list[ast.Constant]
    begins: str
    classes: dict[str, str]


@cache
def program() -> dict[str, Said]:
    """What each file of the packages says."""
    return {
        path.relative_to(ROOT).as_posix(): said(path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.glob("*/aurora_*/**/*.py"))
    }


def said(source: str) -> Said:
    """A file is parsed once for all tests, and its tree is let go: of all files they take 300 MB."""
    module = ast.parse(source)
    found: list[ast.Constant] = []
    classes = {}
    for node in (module, *statements(module)):
        if isinstance(node, _DOCUMENTED):
            found += docstrings(node)
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name] = (ast.get_docstring(node) or "").partition("\n")[0]
    return Said(source, found, (ast.get_docstring(module) or "").partition("\n")[0], classes)


def docstrings(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Constant]:
    """Texts that stand alone as statements: of a module, class or function, and below what they explain."""
    for each in node.body:
        value = each.value if isinstance(each, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value


# Names in them


EXAMPLES = {
    *("bash_complete", "v1_2", "payments_critical", "hunter2", "aaaaaa1", "list_users"),
    *("test_full_text_search", "parsehttpresponse2", "parse_http_response2", "cafe", "get_user"),
    *("api_security", "insecurity", "addlin", "findal", "sessi", "authenti", "authent"),
    *("budget_tracker_history", "input_required", "execute_fn"),
}
"""Words of somebody else's, and words that a docstring makes up to show something."""

_QUOTED = re.compile(r"(?<!`)`([a-z_][a-z_0-9]{2,}(?:\.[A-Za-z_]\w*)*)`(?!`)")
_WORD = re.compile(r"\w+")
_NAMED = frozenset({"id", "attr", "arg", "name", "asname", "module"})


def words(file: Said) -> set[str]:
    """Every name in code and every word of its texts, but for docstrings."""
    found: set[str] = set()
    alone = {(each.lineno, each.col_offset) for each in file.docstrings}
    for node in ast.walk(ast.parse(file.source)):
        if isinstance(node, ast.Constant):
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            if isinstance(text, str) and (node.lineno, node.col_offset) not in alone:
                found.update(_WORD.findall(text))
        else:
            for field in _NAMED.intersection(node._fields):
                if isinstance(name := getattr(node, field), str):
                    found.update(name.split("."))
    return found


def words_at_a_glance(file: Said) -> set[str]:
    """Most of them, and Python's own: the words of lines in which no docstring stands, up to what may be a comment."""
    lines = file.source.splitlines()
    for each in file.docstrings:
        lines[each.lineno - 1 : each.end_lineno] = [""] * ((each.end_lineno or each.lineno) - each.lineno + 1)
    return set(_WORD.findall("\n".join(line.partition("#")[0] for line in lines)))


@cache
def unknown() -> dict[str, str]:
    """Quoted words that are nothing in the program, with where each stands."""
    modules = {part for path in program() for part in (Path(path).stem, Path(path).parent.name)}
    known = {*modules, *sys.stdlib_module_names}.union(*map(words_at_a_glance, program().values()))
    found = {
        part: f"{path}:{each.lineno}"
        for path, file in program().items()
        for each in file.docstrings
        for quoted in _QUOTED.findall(str(each.value))
        for part in quoted.split(".")
        if part not in known
    }
    if found:
        any_of_them = re.compile(rf"\b(?:{'|'.join(found)})\b")
        known.update(*(words(file) for file in program().values() if any_of_them.search(file.source)))
    return {part: place for part, place in found.items() if part not in known}


def test_what_a_docstring_names_is_there() -> None:
    assert len(program()) > 500, "the packages were not found"
    assert {word: place for word, place in unknown().items() if word not in EXAMPLES} == {}


def test_every_example_is_one() -> None:
    assert {*EXAMPLES} - {*unknown()} == set()


def test_a_word_that_only_docstrings_and_comments_have_is_told_from_one_of_the_program() -> None:
    file = said('"""Of `spam`."""\n\ndef eggs(ham: int) -> str:\n    """Spam."""\n    return "a#b \\nbacon"  # toast\n')
    assert words(file) == {"eggs", "ham", "int", "str", "a", "b", "bacon"}
    assert {"eggs", "ham"} < words_at_a_glance(file) and not {"spam", "Spam", "toast"} & words_at_a_glance(file)


# Nouns that they begin with


NOUNS_IN_ING = {
    *("Editing", "Embedding", "Folding", "Formatting", "Leading", "Learning", "Nothing", "Parsing", "Pending"),
    *("Ranking", "Spreading", "Tracking"),
}
"""Those that name a thing or a property of one, as in "Folding ranges"."""

_ASKS = "One|Every|All|Some|What|Whether|Which|Who|Whose|Why|How|Where|When"
_QUESTION = re.compile(rf"(?:{_ASKS})\b")
_NO_NOUN = re.compile(
    rf"(?:An?|The|{_ASKS}"
    r"|Asks?|Builds?|Checks? whether|Does|Gets?|Gives?|Keeps?|Makes?|Reads?|Runs|Says?|Takes?|Tells?|Writes?)\b"
)
_ING = re.compile(r"([A-Z]\w*ing)\b")


def begins_with_a_noun(line: str) -> bool:
    """Whether a line does, as far as its first word tells; what stands in backticks is a name."""
    verb = _ING.match(line)
    return bool(line) and not _NO_NOUN.match(line) and (verb is None or verb[1] in NOUNS_IN_ING)


def test_a_module_says_what_it_is() -> None:
    assert len(program()) > 500, "the packages were not found"
    assert {path: file.begins for path, file in program().items() if not begins_with_a_noun(file.begins)} == {}


def test_a_class_says_what_it_is() -> None:
    """As a module does; its noun may have an article (`A file to index`), and an error may be a sentence."""
    lines = {f"{path}: {name}": line for path, file in program().items() for name, line in file.classes.items() if line}
    assert len(lines) > 900, "the classes were not found"
    assert {name: line for name, line in lines.items() if _QUESTION.match(line)} == {}


def test_what_begins_otherwise_is_known() -> None:
    for line in ("What is kept.", "The store: one file.", "A client.", "Noticing changes.", "Runs an agent.", ""):
        assert not begins_with_a_noun(line)
    for line in ("Store of chunks.", "`aurora who`: who knows.", "Folding ranges: objects.", "Whatever."):
        assert begins_with_a_noun(line)
