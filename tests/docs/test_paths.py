"""Files that people's documentation names are there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from docs.generate.citations import ROOT, rooms

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(str(each.relative_to(ROOT)) for each in ROOT.glob("docs/**/*.md")),
)
_PATH = re.compile(rf"`((?:{'|'.join([*rooms(), 'docs'])})/[\w./-]+)`")
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(?:#[^)\s]*)?\)")


@pytest.mark.parametrize("folder", sorted({str(Path(page).parent) for page in PAGES}))
def test_named_files_are_there(folder: str) -> None:
    missing = []
    for page in (each for each in PAGES if str(Path(each).parent) == folder):
        text = (ROOT / page).read_text(encoding="utf-8")
        paths = [each for each in _PATH.findall(text) if not each.endswith(".vsix")]
        missing += [(page, each) for each in paths if not (ROOT / each).exists()]
        missing += [(page, each) for each in _LINK.findall(text) if not (ROOT / folder / each).exists()]
    assert missing == []


MAPS = ("ARCHITECTURE.md", *(f"{room}/README.md" for room in rooms() if (ROOT / room / "README.md").exists()))
"""Pages that name files by the end of their path, and modules by their dotted name."""
SOMEBODY_ELSES = {"json.py"}
"""Files of a workspace that are spoken of."""
_FILE = re.compile(r"`([\w./*-]+\.(?:py|scm|yaml|toml))`")
_MODULE = re.compile(r"`(aurora_[a-z]+(?:\.\w+)*)`")


_MADE = {"__pycache__", "node_modules"}
"""Folders of what programs have made or fetched."""


@cache
def known() -> tuple[str, ...]:
    """Every file and folder of the rooms, from the repository's root on."""
    found = (each for room in rooms() for each in (ROOT / room, *(ROOT / room).rglob("*")))
    top = (each for each in ROOT.iterdir() if each.is_file())
    return tuple(f"/{each.relative_to(ROOT)}" for each in (*found, *top) if not _MADE & set(each.parts))


@cache
def ends() -> frozenset[str]:
    """What may be said of a file: its path from any folder on."""
    parts = (path.split("/")[1:] for path in known())
    return frozenset("/".join(each[start:]) for each in parts for start in range(len(each)))


def has_file(name: str) -> bool:
    """Whether a file is there that is called so, from any folder on; `*` stands for any part of a name."""
    return name in ends() or ("*" in name and any(Path(path).match(f"*/{name}") for path in known()))


def is_there(name: str) -> bool:
    """Whether a module, or what its code calls by the last name, exists."""
    place = name.replace(".", "/")
    if any(each.endswith((f"/{place}", f"/{place}.py")) for each in known()):
        return True
    module, _, last = name.rpartition(".")
    files = tuple(f"/{module.replace('.', '/')}{end}" for end in (".py", "/__init__.py")) if module else ()
    return any(_defines(each, last) for each in known() if each.endswith(files))


def _defines(file: str, name: str) -> bool:
    for node in ast.walk(ast.parse((ROOT / file.lstrip("/")).read_text("utf-8"))):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if node.name == name:
                return True
            case ast.Assign(targets=[ast.Name(id=found)]) if found == name:
                return True
            case ast.ImportFrom() if any((each.asname or each.name) == name for each in node.names):
                return True
    return False


@pytest.mark.parametrize("page", MAPS)
def test_named_modules_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    files = [each for each in _FILE.findall(text) if not has_file(each)]
    modules = [each for each in _MODULE.findall(text) if not is_there(each)]
    assert set(files) - SOMEBODY_ELSES == set() and modules == []
