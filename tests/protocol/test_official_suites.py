"""The official suites of RFC 6570 and JSON Schema, as a call uses them; every difference is listed, with its reason.

The documents that the suite asks implementations to know beforehand (`remotes`) are known to its validators.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import SchemaError
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

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

OWN_DIALECT = "a metaschema of one's own is not looked up, so no keyword is switched off by it"
ALWAYS_CHECKED = "formats of arguments are always checked: a wrong date is better told here than by the site"
NO_SUCH_PATTERN = "Python's expressions have none that means the same, so the pattern is not checked"
NOT_DECODED = "contentEncoding and contentMediaType describe; even 2020-12 no longer checks them"
OTHER_DIALECT = "the dialect that $schema names has no such keyword"

DIFFERENCES: dict[tuple[str, str, str], str] = {
    ("draft7", "optional/content", ""): NOT_DECODED,
    ("draft2020-12", "format", ""): ALWAYS_CHECKED,
    (
        "draft2020-12", "vocabulary", "schema that uses custom metaschema with with no validation vocabulary",
    ): OWN_DIALECT,
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


@cache
def remotes(dialect: str) -> Registry[Any]:
    """The documents of the suite that its references lead to, where it says that they are."""
    folder, default = SUITES / "json-schema" / "remotes", specification_with(DIALECTS[dialect])
    known = ((path, read(path)) for path in sorted(folder.rglob("*.json")))
    return Registry().with_resources(
        (f"http://localhost:1234/{path.relative_to(folder).as_posix()}", Resource.from_contents(each, default))
        for path, each in known
        if isinstance(each, dict)
    )


def fit(schema: Any, values: list[Any], known: Registry[Any] | None = None) -> list[bool | str]:
    """Whether each value fits, or the error that tells why nobody can say."""
    try:
        made: Any = validator_of(schema)
    except SchemaError as error:
        return [type(error).__name__ for _ in values]
    if known is not None:
        made = type(made)(made.schema, format_checker=made.format_checker, registry=known)
    return [_fits(made, value) for value in values]


def _fits(made: Any, value: Any) -> bool | str:
    try:
        return bool(made.is_valid(value))
    except Unresolvable as error:
        return type(error).__name__


@cache
def failures(dialect: str) -> tuple[tuple[str, str, str], ...]:
    """File, group and name of each case that we say otherwise of."""
    return tuple(_failures(dialect))


def _failures(dialect: str) -> Iterator[tuple[str, str, str]]:
    folder = SUITES / "json-schema" / "tests" / dialect
    if not folder.is_dir():
        pytest.skip(f"no official suites at {SUITES}: set AURORA_SHARED")
    for path in sorted(folder.rglob("*.json")):
        for group in read(path):
            schema = group["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": DIALECTS[dialect], **schema}
            told = fit(schema, [test["data"] for test in group["tests"]], remotes(dialect))
            for test, ours in zip(group["tests"], told, strict=True):
                if ours != test["valid"]:
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


@pytest.mark.parametrize(("dialect", "differs"), [("draft7", 0), ("draft2020-12", 20)])
def test_so_many_of_the_required_cases_differ(dialect: str, differs: int) -> None:
    """Of 927 and 1,299: `format` of 2020-12 in 19, and a vocabulary of one's own."""
    assert sum(not file.startswith("optional/") for file, _, _ in failures(dialect)) == differs


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_document_that_nobody_gave_is_never_fetched(dialect: str) -> None:
    """Whoever wrote a manifest would choose what we ask of whom."""
    for group in read(SUITES / "json-schema" / "tests" / dialect / "refRemote.json"):
        schema = {"$schema": DIALECTS[dialect], **group["schema"]}
        assert fit(schema, [group["tests"][0]["data"]]) == ["_WrappedReferencingError"], group["description"]


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
