"""The official suites of RFC 6570 and JSON Schema, as a call uses them; every difference is listed, with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import SchemaError
from referencing.exceptions import Unresolvable

from aurora_manifest.client.argument_validator import validator_of
from aurora_manifest.client.request import expandable, expanded_template
from aurora_manifest.templates import parse_template
from aurora_protocol import SiteError
from tests.manifests import SHARED

SUITES = SHARED / "reference" / "suites"
DIALECTS = {
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

NEVER_FETCHED = "a manifest's references are never fetched: whoever wrote it would choose what we ask of whom"
ALWAYS_CHECKED = "formats of arguments are always checked: a wrong date is better told here than by the site"
NO_SUCH_PATTERN = "Python's expressions have none that means the same, so the pattern is not checked"
NOT_DECODED = "contentEncoding and contentMediaType describe; even 2020-12 no longer checks them"
OTHER_DIALECT = "the dialect that $schema names has no such keyword"

DIFFERENCES: dict[tuple[str, str, str], str] = {
    ("draft7", "refRemote", ""): NEVER_FETCHED,
    ("draft7", "optional/cross-draft", "refs to future drafts are processed as future drafts"): NEVER_FETCHED,
    ("draft7", "optional/content", ""): NOT_DECODED,
    ("draft2020-12", "refRemote", ""): NEVER_FETCHED,
    ("draft2020-12", "dynamicRef", "strict-tree schema, guards against misspelled properties"): NEVER_FETCHED,
    (
        "draft2020-12", "dynamicRef", "tests for implementation dynamic anchor and reference link",
    ): NEVER_FETCHED,
    ("draft2020-12", "dynamicRef", "$ref and $dynamicAnchor are independent of order - $defs first"): NEVER_FETCHED,
    ("draft2020-12", "dynamicRef", "$ref and $dynamicAnchor are independent of order - $ref first"): NEVER_FETCHED,
    ("draft2020-12", "dynamicRef", "$ref to $dynamicRef finds detached $dynamicAnchor"): NEVER_FETCHED,
    ("draft2020-12", "optional/cross-draft", ""): NEVER_FETCHED,
    ("draft2020-12", "format", ""): ALWAYS_CHECKED,
    (
        "draft2020-12", "vocabulary", "schema that uses custom metaschema with with no validation vocabulary",
    ): NEVER_FETCHED,
    ("draft2020-12", "optional/dependencies-compatibility", ""): OTHER_DIALECT,
    **{
        (dialect, f"optional/{file}", group): reason
        for dialect in DIALECTS
        for file, group, reason in (
            ("ecmascript-regex", "pattern with non-ASCII digits", NO_SUCH_PATTERN),
            ("ecmascript-regex", "patternProperties with non-ASCII digits", NO_SUCH_PATTERN),
            (
                "format/ecmascript-regex", r"\a is not an ECMA 262 control escape",
                "browsers take it for an a without the u flag, and sites write patterns for browsers",
            ),
            (
                "format/idn-email", "validation of an internationalized e-mail addresses",
                "a label that is not in NFC is none of IDNA 2008 (RFC 5891 §4.2.1), and mail goes to such labels only",
            ),
            (
                "format/idn-hostname", "validation of internationalized host names",
                "the order of letters is checked in each label, not over the whole name (RFC 5893 §2)",
            ),
        )
    },
}  # fmt: skip
"""Where we differ, by dialect, file and group (all of them where that is empty), and why."""


def read(path: Path) -> Any:
    if not path.exists():
        pytest.skip(f"no official suites at {SUITES}: set AURORA_SHARED")
    return json.loads(path.read_text(encoding="utf-8"))


def fits(schema: Any, value: Any) -> bool | str:
    try:
        return validator_of(schema).is_valid(value)
    except (SchemaError, Unresolvable) as error:
        return type(error).__name__


def failures(dialect: str) -> Iterator[tuple[str, str, str]]:
    folder = SUITES / "json-schema" / "tests" / dialect
    if not folder.is_dir():
        pytest.skip(f"no official suites at {SUITES}: set AURORA_SHARED")
    for path in sorted(folder.rglob("*.json")):
        for group in read(path):
            schema = group["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": DIALECTS[dialect], **schema}
            for test in group["tests"]:
                if fits(schema, test["data"]) != test["valid"]:
                    name = path.relative_to(folder).with_suffix("").as_posix()
                    yield name, group["description"], test["description"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_arguments_fit_a_schema_where_the_suite_says_so(dialect: str) -> None:
    used = set()
    for file, group, test in failures(dialect):
        known = {(dialect, file, group), (dialect, file, "")} & DIFFERENCES.keys()
        assert known, f"{file}: {group}: {test}"
        used |= known
    assert used == {each for each in DIFFERENCES if each[0] == dialect}, "a difference that is gone"


@pytest.mark.parametrize("name", ["spec-examples", "spec-examples-by-section", "extended-tests", "negative-tests"])
def test_templates_expand_as_the_suite_says(name: str) -> None:
    """No difference: every expansion and every refusal."""
    count = 0
    for title, group in read(SUITES / "uritemplate-test" / f"{name}.json").items():
        for written, expected in group["testcases"]:
            template = parse_template(written)
            values = {each: expandable(each, value) for each, value in group["variables"].items()}
            try:
                got = False if template.mistakes else expanded_template("test", template, values)
            except SiteError:
                got = False
            allowed = expected if isinstance(expected, list) else [expected]
            assert got in allowed, (title, written)
            count += 1
    assert count > 30
