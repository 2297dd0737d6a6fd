"""What stands in a file and in a list: a forgotten row of a list is told, whichever list it is."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import click
import pytest

import aurora_cli
import aurora_server.lsp
import aurora_server.mcp
from aurora_cli.app import COMMANDS, aurora
from aurora_indexer.documents import FORMATS, DocumentFormat
from aurora_indexer.documents.document_parser import parse_document
from aurora_manifest import rules
from aurora_server.lsp.features import FEATURES
from aurora_server.mcp.tool import Tool
from aurora_server.mcp.tools import BUILT_IN

T = TypeVar("T")


def modules(package: ModuleType) -> list[ModuleType]:
    """The modules of a package and of those in it; not `__main__`, which would run."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [importlib.import_module(each.name) for each in found if not each.name.endswith("__main__")]


def those(package: ModuleType, kind: type[T]) -> list[T]:
    """Values of a type that modules have as such, or in a tuple."""
    values = [value for module in modules(package) for value in vars(module).values()]
    inner = [each for value in values for each in (value if isinstance(value, tuple) else (value,))]
    return list({id(each): each for each in inner if isinstance(each, kind)}.values())


def test_every_file_that_answers_requests_of_editors_is_a_feature() -> None:
    answering = [each for each in modules(aurora_server.lsp) if "register" in vars(each)]
    assert {each.__name__ for each in answering} == {each.__name__ for each in FEATURES}, "a row of FEATURES"


def test_every_file_with_a_rule_of_manifests_is_imported_with_the_others() -> None:
    """By what is written: a file that something else imported would have its rules all the same."""
    written = {
        file.stem
        for file in Path(rules.__path__[0]).glob("*.py")
        if re.search(r"^@\w+_rule\b", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    source = ast.parse(Path(str(rules.__file__)).read_text(encoding="utf-8"))
    imported = {
        each.name
        for node in source.body
        if isinstance(node, ast.ImportFrom) and node.module == rules.__name__
        for each in node.names
    }
    assert written <= imported, "import it in __init__.py"


def test_every_tool_is_built_in() -> None:
    assert {tool.name for tool in those(aurora_server.mcp, Tool)} == {tool.name for tool in BUILT_IN}


def test_every_command_is_below_aurora() -> None:
    reached: set[int] = set()

    def walk(command: click.Command) -> None:
        reached.add(id(command))
        if isinstance(command, click.Group):
            ctx = click.Context(command)
            for name in command.list_commands(ctx):
                inner = command.get_command(ctx, name)
                assert inner is not None
                walk(inner)

    walk(aurora)
    assert len(reached) > len(COMMANDS)
    lost = [each.name for each in those(aurora_cli, click.Command) if id(each) not in reached]
    assert lost == [], "a row of COMMANDS"


@pytest.mark.parametrize("format_", [each for each in FORMATS if not each.data], ids=lambda each: each.name)
def test_every_format_of_documents_is_read_by_all_its_suffixes(format_: DocumentFormat) -> None:
    for suffix in format_.suffixes:
        assert parse_document(f"a{suffix}", b"Title\n=====\n\nSaid.\n") is not None
