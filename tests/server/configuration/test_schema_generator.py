"""One source of settings: what is generated is what is checked in, and a setting that nobody reads is not there."""

from __future__ import annotations

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
from tests.server.configuration.setting_reads import SettingReads

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


def test_every_setting_is_read() -> None:
    reads = SettingReads((*members(DaemonSections), *members(SoarSettings)))
    reads.look_through(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    unread = {
        member.place
        for member in settings()
        if (member.owner.__name__, member.name) not in reads.found
        and member.name not in FOR_PEOPLE
        and member.owner.__name__ not in BY_NAME
    }
    assert unread == set()


class One(Struct):
    """A section."""

    wait: int = 1


class Other(Struct):
    """Another section, with a setting of the same name."""

    wait: int = 1


class Sections(Struct):
    """All sections."""

    one: One
    other: Other


@pytest.mark.parametrize(
    "text",
    [
        "def f(settings): return settings.one.wait",
        "def f(one: One): return one.wait",
        "def f(given: One | None): return given.wait",
        "def f(settings):\n    own = settings.one\n    return own.wait",
        "class C:\n    def f(self, own: One): self._own = own\n    def g(self): return self._own.wait",
        "def f(settings, level): return getattr(settings, level).wait",
        "def f(settings): return [each.wait for each in (settings.one,)]",
    ],
)
def test_a_setting_is_read_by_what_reads_it_of_its_section_and_by_nothing_else(text: str, tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text("def settings() -> Sections: ...\n" + text)
    reads = SettingReads(members(Sections))
    reads.look_through([tmp_path / "reader.py"])
    others = {("Other", "wait")} if "getattr" in text else set()
    assert {each for each in reads.found if each[1] == "wait"} == {("One", "wait"), *others}


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
