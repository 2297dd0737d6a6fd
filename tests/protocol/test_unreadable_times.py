"""Times in documents of deliverables: what nobody can read is found where it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aurora_manifest.json.parser import parse
from aurora_manifest.kinds import DELIVERABLE_STATE, METRICS_OUTPUT
from aurora_manifest.unreadable_times import unreadable_times
from tests.manifests import check_text


@pytest.mark.parametrize(
    "time", ["yesterday", "", "2026-13-01T10:00:00Z", "26.02.2026", "2026-02-26T10:61:00Z", "2026-02-26T10:60Z"]
)
def test_a_text_that_is_no_time_is_an_error_at_its_place(time: str) -> None:
    phases = {"apply": {"started_at": time, "completed_at": "2026-02-26T10:00:00Z"}}
    text = json.dumps({"change_id": "x", "status": "executing", "started_at": time, "phases": phases})
    found = [each for each in check_text(text, DELIVERABLE_STATE) if "a time such as" in each.message]
    assert [(each.rule, each.severity) for each in found] == [("schema-constraint", "error")] * 2
    assert [text[each.start : each.end] for each in found] == [json.dumps(time)] * 2
    assert any("a time such as" in each.message for each in check_text(text, METRICS_OUTPUT))


@pytest.mark.parametrize(
    "time",
    [
        *("2026-02-26T10:00:00Z", "2026-02-26t10:00:00.25z", "2026-02-26T10:00:00", "2026-02-26 10:00:00+05:30"),
        *("2016-12-31T23:59:60Z", "2016-12-31T15:59:60-08:00", "2026-02-26"),
    ],
)
def test_every_time_that_the_importer_reads_is_one(time: str) -> None:
    text = json.dumps({"change_id": "x", "status": "executing", "started_at": time})
    assert check_text(text, DELIVERABLE_STATE) == []


TIME = {"type": "string", "format": "date-time"}


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        pytest.param({"properties": {"a": TIME}}, ["a"], id="a member that is named"),
        pytest.param({"additionalProperties": TIME}, ["a", "b"], id="any other"),
        pytest.param({"properties": {"b": {}}, "additionalProperties": TIME}, ["a"], id="but for those"),
        pytest.param({"properties": {"b": {"items": TIME}}}, ["b"], id="what stands in a list, by the list's name"),
        pytest.param({"anyOf": [{"properties": {"a": TIME}}, {"properties": {"a": TIME}}]}, ["a"],
                     id="what two branches ask for is told once"),
        pytest.param({"properties": {"a": {"$ref": "#/$defs/t"}}, "$defs": {"t": TIME}}, ["a"], id="by a reference"),
    ],
)  # fmt: skip
def test_where_times_are_looked_for(schema: dict[str, Any], names: list[str]) -> None:
    document = parse('{"a": "soon", "b": ["late"]}' if "b" in names[0] else '{"a": "soon", "b": "late"}')
    told = [each.message.split(" ")[0].strip('"') for each in unreadable_times(document, schema)]
    assert told == names
