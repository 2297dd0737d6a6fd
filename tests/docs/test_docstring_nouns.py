"""First words of docstrings: a module's or a public class's say what it is, by a noun readers search for."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.syntax import statements

ROOT = Path(__file__).parents[2]

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


@cache
def modules() -> dict[str, ast.Module]:
    """Each module of the packages."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.glob("*/aurora_*/**/*.py"))
    }


def first_lines() -> dict[str, str]:
    """First line of each module's docstring; empty where there is none."""
    return {path: (ast.get_docstring(module) or "").partition("\n")[0] for path, module in modules().items()}


def begins_with_a_noun(line: str) -> bool:
    """Whether a line does, as far as its first word tells; what stands in backticks is a name."""
    verb = _ING.match(line)
    return bool(line) and not _NO_NOUN.match(line) and (verb is None or verb[1] in NOUNS_IN_ING)


def test_a_module_says_what_it_is() -> None:
    assert len(first_lines()) > 500, "the packages were not found"
    assert {path: line for path, line in first_lines().items() if not begins_with_a_noun(line)} == {}


@cache
def class_lines() -> dict[str, str]:
    """First line of each public class's docstring, where it has one."""
    return {
        f"{path}: {found.name}": said.partition("\n")[0]
        for path, module in modules().items()
        for found in statements(module)
        if isinstance(found, ast.ClassDef) and not found.name.startswith("_") and (said := ast.get_docstring(found))
    }


def test_a_class_says_what_it_is() -> None:
    """As a module does; its noun may have an article (`A file to index`), and an error may be a sentence."""
    assert len(class_lines()) > 900, "the classes were not found"
    assert {name: line for name, line in class_lines().items() if _QUESTION.match(line)} == {}


def test_what_begins_otherwise_is_known() -> None:
    for line in ("What is kept.", "The store: one file.", "A client.", "Noticing changes.", "Runs an agent.", ""):
        assert not begins_with_a_noun(line)
    for line in ("Store of chunks.", "`aurora who`: who knows.", "Folding ranges: objects.", "Whatever."):
        assert begins_with_a_noun(line)
