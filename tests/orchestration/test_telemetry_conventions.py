"""What is emitted, held against the published conventions."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import yaml

from aurora_deliverables.events import Event, ToolCalled
from aurora_deliverables.telemetry import names
from aurora_deliverables.telemetry.instruments import INSTRUMENTS, measurements
from aurora_deliverables.telemetry.repository import repository_of
from aurora_deliverables.telemetry.span_tree import MAX_CALLS, tree_of
from aurora_deliverables.telemetry.spans import Span
from tests.orchestration.changes import ACCEPTED, EVENTS, FAILED, START

SHOP = repository_of("git@github.com:acme/shop.git", "shop", "main")
GROUPS: list[dict[str, Any]] = yaml.safe_load(
    files("aurora_deliverables.telemetry").joinpath("conventions.yaml").read_text("utf-8")
)["groups"]
ATTRIBUTES = {each["id"]: each for group in GROUPS if group["id"] == "registry.aura" for each in group["attributes"]}
SPANS = {group["id"].removeprefix("span."): group for group in GROUPS if group["type"] == "span"}
MARKS = {group["name"]: group for group in GROUPS if group["type"] == "event"}
METRICS = {group["metric_name"]: group for group in GROUPS if group["type"] == "metric"}
TYPES: dict[str, type | tuple[type, ...]] = {"string": str, "int": int, "double": (float, int)}


def emitted() -> list[Span]:
    crowd = [Event(str(n), "add-dark-mode", START + 490, ToolCalled("bash")) for n in range(MAX_CALLS)]
    return [*tree_of(ACCEPTED, EVENTS).walk(), *tree_of(FAILED, [], SHOP).walk(), tree_of(ACCEPTED, [*EVENTS, *crowd])]


def refs(group: dict[str, Any], level: str | None = None) -> set[str]:
    return {each["ref"] for each in group["attributes"] if level is None or each["requirement_level"] == level}


def check(attributes: Any, group: dict[str, Any], where: str) -> None:
    assert set(attributes) <= refs(group), where
    assert refs(group, "required") <= set(attributes), where
    for name, value in attributes.items():
        if name.startswith(("gen_ai.", "vcs.")):
            continue
        kind = ATTRIBUTES[name]["type"]
        if isinstance(kind, dict):
            assert value in {member["value"] for member in kind["members"]}, (where, name)
        else:
            assert isinstance(value, TYPES[kind]), (where, name)


def test_every_span_event_and_attribute_that_is_emitted_is_described() -> None:
    for span in emitted():
        group = SPANS[span.name]
        assert group["span_kind"] == ("client" if span.client else "internal")
        check(span.attributes, group, span.name)
        for mark in span.marks:
            assert mark.name in group["events"], mark.name
            check(mark.attributes, MARKS[mark.name], mark.name)


def test_every_span_event_and_attribute_that_is_described_is_emitted() -> None:
    spans = emitted()
    assert {span.name for span in spans} == set(SPANS)
    assert {mark.name for span in spans for mark in span.marks} == set(MARKS)
    used = {name for span in spans for name in span.attributes}
    used |= {name for span in spans for mark in span.marks for name in mark.attributes}
    assert {name for name in used if name.startswith("aura.")} == set(ATTRIBUTES)


def test_every_instrument_is_described_with_its_kind_unit_and_labels() -> None:
    assert {each.name: (each.kind, each.unit) for each in INSTRUMENTS} == {
        name: (group["instrument"], group["unit"]) for name, group in METRICS.items()
    }
    for deliverable in (ACCEPTED, FAILED):
        for each in measurements(deliverable):
            assert set(each.labels) <= refs(METRICS[each.instrument.name])
    assert {each.instrument.name for one in (ACCEPTED, FAILED) for each in measurements(one)} == set(METRICS)


def test_names_are_in_the_registry_or_are_names_of_spans_and_events() -> None:
    said = {value for key, value in vars(names).items() if key.isupper() and key not in ("SCOPE", "SCHEMA_URL")}
    assert said <= set(ATTRIBUTES) | set(SPANS) | set(MARKS)
