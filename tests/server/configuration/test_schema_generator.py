"""One source of settings: what is generated is what is checked in, and a setting that nobody reads is not there."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct

from aurora_orchestration.settings import SoarSettings
from aurora_schemas.retired_settings import RETIRED
from aurora_server.configuration import schema_generator, schema_lookup
from aurora_server.configuration.layers import OF_THE_USER, SAY, STRICTER
from aurora_server.configuration.marks import ConfigMember, members
from aurora_server.configuration.settings import DaemonSections, load

ROOT = Path(__file__).parents[3]
PACKAGES = ("server", "orchestration", "indexer", "memory")
BY_NAME = ("DecompositionWeights", "OutputWeights", "SynthesisWeights")
"""Structs whose fields are read all at once, by their names."""
FOR_PEOPLE = ("purpose",)
"""What is there for whoever reads the file."""


def settings() -> Iterator[ConfigMember]:
    for member in (*members(DaemonSections), *members(SoarSettings)):
        if member.section is None:
            yield member


@pytest.mark.parametrize("name", schema_generator.files())
def test_what_is_checked_in_is_what_is_generated(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == schema_generator.files()[name], "run: make docs"


def test_a_setting_without_a_docstring_is_refused() -> None:
    class Section(Struct):
        """A section."""

        told: int = 1
        """Something."""
        untold: int = 2

    with pytest.raises(schema_generator.UndescribedError, match="untold"):
        [schema_generator.described(member) for member in members(Section, "section")]


def read_names() -> set[str]:
    """Every attribute that the product reads outside the structs themselves."""
    found: set[str] = set()
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            if file.name == "settings.py":
                continue
            tree = ast.parse(file.read_text(encoding="utf-8"))
            found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return found


def test_every_setting_is_read() -> None:
    read = read_names()
    unread = {
        member.place
        for member in settings()
        if member.name not in (*read, *FOR_PEOPLE) and member.owner.__name__ not in BY_NAME
    }
    assert unread == set()


def test_settings_that_did_nothing_are_gone_and_files_that_have_them_load(tmp_path: Path) -> None:
    places = {member.place for member in settings()}
    document: dict[str, Any] = {}
    for path in RETIRED:
        assert path not in places
        assert schema_lookup.member(path) is None
        assert "leave it out" in schema_lookup.unknown_hint(path)
        place = document
        *above, last = path.split(".")
        for step in above:
            place = place.setdefault(step, {})
        place[last] = "whatever"
    usual = load({"AURORA_HOME": str(tmp_path)}).soar
    (tmp_path / "config.json").write_text(json.dumps(document))
    assert load({"AURORA_HOME": str(tmp_path)}).soar == usual
    assert schema_lookup.unknown(document) == ()


def test_marks_are_ones_that_somebody_reads() -> None:
    allowed = {
        "workspace": {"any", "trusted"},
        "stricter": {"higher", "lower"},
        "in_force": {"start"},
        "path": {"home"},
        "at": {"logging.conversations"},
    }
    for member in (*members(DaemonSections), *members(SoarSettings)):
        for mark, value in member.marks.items():
            assert value in allowed[mark], member.place


def test_a_workspace_has_a_say_only_where_a_mark_gives_it() -> None:
    class Unmarked(Struct, frozen=True):
        """A section."""

        plain: int = 1
        own: Annotated[int, Meta(extra={"workspace": "any"})] = 1

    assert [member.place for member in members(Unmarked) if member.marks.get("workspace")] == ["own"]
    assert set(OF_THE_USER) == {
        "cost_budgets",
        "daemon",
        "deliverables",
        "indexing",
        "logging",
        "manifest",
        "memory",
        "reporting",
        "team",
        "telemetry",
    }
    assert {place for place, say in SAY.items() if say == "trusted"} == {
        "llm",
        "aurora",
        "agents",
        "headless",
        "scoring.calibration_examples.external_path",
    }
    assert all(place.partition(".")[0] in SAY for place in STRICTER)
