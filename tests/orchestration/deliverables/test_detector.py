"""Detectors of plug-ins: what a broken one costs, and that what one sees is told under its own name."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_deliverables.detection import detector
from aurora_deliverables.detection.detector import Detector, GuardedDetector
from aurora_deliverables.detection.observation import Observation
from aurora_deliverables.events import SpecSource
from aurora_protocol import plugins
from aurora_protocol.plugins import Plugin

SEEN = Observation(change_id="other", source="git", spec=SpecSource("todo", "x", 1), spec_evidence="x")
TODO = Detector(
    source="todo",
    key_of=lambda path: path.removesuffix(".todo") if path.endswith(".todo") else None,
    keys=lambda root: iter("abcdef"),
    see=lambda root, key: SEEN if key == "a" else None,
)


def test_what_it_sees_is_told_under_its_own_name(tmp_path: Path) -> None:
    guarded = GuardedDetector(Plugin("todo", TODO, "dist"))
    assert (guarded.key_of("x.todo"), guarded.key_of("x.py")) == ("x", None)
    assert guarded.keys(tmp_path, 3) == ["a", "b", "c"]
    assert guarded.see(tmp_path, "a") == replace(SEEN, source="todo", change_id="a")
    assert guarded.see(tmp_path, "b") is None


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_left_out", {})


def _raises(*_: object) -> Iterable[str]:
    raise RuntimeError("no\nluck")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (replace(TODO, key_of=_raises), "RuntimeError: no luck"),
        (replace(TODO, key_of=lambda path: 7), "TypeError: gave a int, not str"),
        (replace(TODO, keys=_raises), "RuntimeError: no luck"),
        (replace(TODO, keys=lambda root: None), "TypeError"),
        (replace(TODO, see=_raises), "RuntimeError: no luck"),
        (replace(TODO, see=lambda root, key: "x"), "TypeError: gave a str, not Observation"),
    ],
)
def test_a_broken_one_costs_one_line_and_is_not_asked_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: Detector, said: str
) -> None:
    guarded = GuardedDetector(Plugin("todo", broken, "dist"))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            guarded.key_of("x.todo")
            guarded.keys(tmp_path, 3)
            guarded.see(tmp_path, "a")
    (record,) = caplog.records
    assert record.getMessage().startswith(f"plug-in todo of dist (aurora.detectors) is left out: {said}")
    assert "\n" not in record.getMessage()
    assert (guarded.key_of("x.todo"), guarded.keys(tmp_path, 3), guarded.see(tmp_path, "a")) == (None, [], None)


@pytest.mark.parametrize("source", ["openspec", "todo", ""])
def test_sources_that_are_taken_are_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, source: str
) -> None:
    found = [Plugin("todo", TODO, "dist-0"), Plugin("other", replace(TODO, source=source), "dist-1")]
    monkeypatch.setattr(plugins, "load", lambda group, kind: found)
    detector.plugged.cache_clear()
    assert list(detector.plugged(frozenset({"openspec"}))) == ["todo"]
    detector.plugged.cache_clear()
    why = f"there is a source {source} already" if source else "it has no source"
    told = f"plug-in other of dist-1 (aurora.detectors) is left out: {why}"
    assert [record.getMessage() for record in caplog.records] == [told]
