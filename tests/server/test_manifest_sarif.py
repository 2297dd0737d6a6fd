"""SARIF of `aurora manifest validate`: as the standard has it, and with places that lead to the very text."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from jsonschema import Draft7Validator

from aurora_manifest.rules import catalogue
from aurora_protocol.positions import LineIndex, Pos
from tests.server.validate_command import BAD, make_site, validate

TEXT = BAD.replace('"method": "FETCH"', '"method": "F😀E"')


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return make_site(tmp_path)


# The part of the standard that is used, closed: a misspelt member would not be noticed by any reader.
REGION = {
    "type": "object",
    "required": ["startLine", "startColumn", "endLine", "endColumn"],
    "additionalProperties": False,
    "properties": {
        name: {"type": "integer", "minimum": 1} for name in ("startLine", "startColumn", "endLine", "endColumn")
    },
}


def closed(required: str, optional: str = "", **properties: Any) -> dict[str, Any]:
    names = [*required.split(), *optional.split()]
    return {
        "type": "object",
        "required": required.split(),
        "additionalProperties": False,
        "properties": {name: properties.get(name, {}) for name in names},
    }


def many(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


MESSAGE = closed("text", "markdown", text={"type": "string", "minLength": 1})
LEVEL = {"enum": ["none", "note", "warning", "error"]}
ARTIFACT = closed("uri", "uriBaseId", uri={"type": "string", "pattern": "^[!-~]+$"})
PHYSICAL = closed("artifactLocation region", artifactLocation=ARTIFACT, region=REGION)
LOCATION = closed(
    "physicalLocation logicalLocations", physicalLocation=PHYSICAL, logicalLocations=many(closed("fullyQualifiedName"))
)
INSERTED = closed("text", text={"type": "string"})
CHANGE = closed(
    "artifactLocation replacements",
    artifactLocation=ARTIFACT,
    replacements=many(closed("deletedRegion insertedContent", deletedRegion=REGION, insertedContent=INSERTED)),
)
RESULT = closed(
    "ruleId ruleIndex level message locations",
    "fixes",
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations=many(LOCATION),
    fixes=many(closed("description artifactChanges", description=MESSAGE, artifactChanges=many(CHANGE))),
)
RULE = closed(
    "id",
    "shortDescription help defaultConfiguration",
    shortDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=closed("level", level=LEVEL),
)
RUN = closed(
    "tool invocations originalUriBaseIds columnKind results",
    tool=closed("driver", driver=closed("name version rules", rules=many(RULE))),
    invocations=many(
        closed(
            "executionSuccessful",
            "toolExecutionNotifications",
            toolExecutionNotifications=many(closed("level message", level=LEVEL, message=MESSAGE)),
        )
    ),
    columnKind={"const": "utf16CodeUnits"},
    results=many(RESULT),
)
LOG = closed("$schema version runs", version={"const": "2.1.0"}, runs=many(RUN))


def sarif(root: Path, *arguments: str, code: int) -> dict[str, Any]:
    done = validate(root, "--sarif", *arguments)
    assert done.returncode == code, done
    log: dict[str, Any] = json.loads(done.stdout)
    Draft7Validator(LOG).validate(log)
    if named := os.environ.get("AURORA_SARIF_SCHEMA"):  # sarif-schema-2.1.0.json of OASIS, where it is at hand
        Draft7Validator(json.loads(Path(named).read_text(encoding="utf-8"))).validate(log)
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_what_is_wrong_with_a_whole_document_is_at_its_root(site: Path) -> None:
    (site / "aura.json").write_text("[]", encoding="utf-8")
    (result, *_) = sarif(site, "aura.json", code=1)["results"]
    assert result["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "/"}]


def test_results_are_the_findings(site: Path) -> None:
    (site / "some folder é").mkdir()
    (site / "some folder é" / "aura.json").write_text(TEXT, encoding="utf-8")
    run = sarif(site, "**/aura.json", code=1)
    (file,) = [
        each for each in json.loads(validate(site, "--json", "**/aura.json").stdout)["files"] if each["diagnostics"]
    ]
    lines = LineIndex(TEXT)
    found = []
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "some%20folder%20%C3%A9/aura.json", "uriBaseId": "WORKSPACE"}
        region = place["region"]
        start = lines.offset(Pos(region["startLine"] - 1, region["startColumn"] - 1))
        end = lines.offset(Pos(region["endLine"] - 1, region["endColumn"] - 1))
        found.append((result["ruleId"], result["message"]["text"], TEXT[start:end]))
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert [each[:2] for each in found] == [(each["rule"], each["message"]) for each in file["diagnostics"]]
    assert '"F😀E"' in [each[2] for each in found]


def test_files_are_told_relative_to_the_workspace(site: Path, tmp_path: Path) -> None:
    (tmp_path / "out side.json").write_text(TEXT, encoding="utf-8")
    run = sarif(site, "../out side.json", code=1)
    base = run["originalUriBaseIds"]["WORKSPACE"]["uri"]
    assert base == site.as_uri() + "/"
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert Path(unquote(urlsplit(artifact["uri"]).path)) == tmp_path / "out side.json"


def test_standard_input_has_a_place_too(site: Path) -> None:
    done = validate(site, "--sarif", "-", "--stdin-filename", "a b.json", given=TEXT)
    (run,) = json.loads(done.stdout)["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "a%20b.json"}


def test_every_rule_is_described(site: Path) -> None:
    rules = sarif(site, code=0)["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == [each.id for each in catalogue()]
    assert all(each["help"]["markdown"] and each["shortDescription"]["text"].endswith(".") for each in rules)


def test_fixes_are_told_as_replacements(site: Path) -> None:
    text = TEXT.replace('"protocol": "AURA"', '"x-é😀": 1, "protocol": "aura"')
    (site / "bad.json").write_text(text, encoding="utf-8")
    results = sarif(site, "bad.json", code=1)["results"]
    (wrong,) = [each for each in results if each["ruleId"] == "schema-const"]
    (change,) = wrong["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement["insertedContent"] == {"text": '"AURA"'}
    assert replacement["deletedRegion"] == wrong["locations"][0]["physicalLocation"]["region"]


def test_a_valid_manifest_has_no_results(site: Path) -> None:
    run = sarif(site, code=0)
    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_what_could_not_be_read_is_a_notification(site: Path) -> None:
    run = sarif(site, "none.json", ".well-known/aura.json", code=2)
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (told,) = invocation["toolExecutionNotifications"]
    assert told == {"level": "error", "message": {"text": "none.json: there is no such file; check the path"}}


@pytest.mark.parametrize(("severity", "level"), [("warning", "warning"), ("info", "note"), ("hint", "note")])
def test_severities_are_levels(site: Path, severity: str, level: str) -> None:
    (site / "bad.json").write_text(TEXT, encoding="utf-8")
    options = [f"--severity={rule}={severity}" for rule in ("schema-enum", "schema-type")]
    run = sarif(site, "bad.json", *options, code=0)
    assert {each["level"] for each in run["results"] if each["ruleId"] in ("schema-enum", "schema-type")} == {level}
