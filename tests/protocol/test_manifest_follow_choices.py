"""Choices between findings, a rule each: which follows from which, which of two fixes is made, what an edit changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from aurora_manifest.check import Checker
from aurora_manifest.consequences import without_consequences
from aurora_manifest.findings import Edit, Finding, Fix, finding
from aurora_manifest.fix_all import fix_all
from tests.manifests import check

A, B, R, S = "/capabilities/a", "/capabilities/b", "/resources/r", "/resources/s"


def told(rule: str, path: str, message: str = "", meant: str = "") -> Finding:
    fix = Fix("mend it", (Edit(0, 1, f'"{meant}"'),)) if meant else None
    return finding(rule, message or f"{rule} at {path}", path, 0, 1, fix=fix)


def left(*findings: Finding) -> list[tuple[str, str]]:
    return [(each.rule, each.path) for each in without_consequences(findings)]


# Which follows from which


@pytest.mark.parametrize(
    ("mistake", "follows"),
    [
        pytest.param(("schema-type", "/resources"), ("capability-unreferenced", A), id="no resources"),
        pytest.param(("schema-type", f"{R}/operations"), ("capability-unreferenced", A), id="no operations"),
        pytest.param(
            ("schema-unknown-member", f"{R}/operations/GET/id", "", "capabilityId"),
            ("capability-unreferenced", A),
            id="a reference under another name",
        ),
        pytest.param(
            ("schema-required", R, 'needs the member "operations"'), ("capability-unreferenced", A), id="none at all"
        ),
        *(
            pytest.param(
                ("schema-unknown-member", f"{A}/x", "", name),
                ("secret-value", f"{A}/x/password"),
                id=f"{name} misspelt",
            )
            for name in ("parameterMapping", "parameterLocation", "properties", "required")
        ),
        *(
            pytest.param(mistake, (rule, f"{A}/{rest}"), id=f"{rule}, {why}")
            for mistake, why in (
                (("schema-unknown-member", f"{A}/paramaters", "", "parameters"), "parameters misspelt"),
                (("schema-unknown-member", f"{A}/parameters/propertys", "", "properties"), "properties misspelt"),
                (("schema-type", f"{A}/parameters"), "parameters no object"),
                (("schema-type", f"{A}/parameters/properties"), "properties no object"),
            )
            for rule, rest in (
                ("mapping-unknown-parameter", "action/parameterMapping/id"),
                ("path-variable-optional", "action/urlTemplate"),
                ("parameters-required", "parameters/required/0"),
            )
        ),
        *(
            pytest.param(("parameters-object", f"{A}/parameters/type"), (rule, f"{A}/x"), id=f"{rule} in no object")
            for rule in ("mapping-array-index", "mapping-unknown-parameter", "parameters-keyword")
        ),
        pytest.param(
            ("resource-uri-pattern", f"{R}/uriPattern"), ("operation-repeats", f"{R}/operations/GET"), id="leads astray"
        ),
        pytest.param(
            ("resource-uri-pattern", f"{R}/uriPattern"),
            ("operation-repeats", f"{S}/operations/GET", '"r" has the same'),
            id="repeats what leads astray",
        ),
        pytest.param(
            ("parameters-range", f"{A}/parameters/properties/x/minimum"),
            ("parameters-default", f"{A}/parameters/properties/x/default"),
            id="no default fits an empty range",
        ),
        *(
            pytest.param(
                ("parameter-location-unmapped", f"{A}/action/parameterLocation/x"),
                (rule, f"{A}/action/parameterLocation/x"),
                id=f"{rule} of what is not mapped",
            )
            for rule in ("parameter-location", "parameter-location-conflict")
        ),
        *(
            pytest.param((rule, path), ("path-variable-optional", f"{A}/action/urlTemplate"), id=f"{rule} of required")
            for rule, path in (
                ("json-syntax", f"{A}/parameters/required/0"),
                ("schema-type", f"{A}/parameters/required"),
                ("parameters-schema", f"{A}/parameters/required"),
                ("parameters-required", f"{A}/parameters/required/0"),
            )
        ),
        pytest.param(
            ("parameters-schema", f"{A}/parameters/properties/x/minItems"),
            ("parameters-keyword", f"{A}/parameters/properties/x/minItems"),
            id="a keyword whose value is none",
        ),
        pytest.param(
            ("template-variable-unmapped", f"{A}/action/urlTemplate"),
            ("parameter-not-sent", f"{A}/action/parameterMapping/x"),
            id="not sent, since the variable is another",
        ),
        pytest.param(
            ("resource-uri-pattern", f"{A}/action/urlTemplate"),
            ("parameter-not-sent", f"{A}/action/parameterMapping/x"),
            id="not sent, since the template leads elsewhere",
        ),
        pytest.param(
            ("template-variable-unmapped", f"{A}/action/urlTemplate"),
            ("resource-uri-pattern", f"{A}/action/urlTemplate"),
            id="a template that leads elsewhere by a variable",
        ),
        *(
            pytest.param(
                ("template-variable-unmapped", f"{A}/action/urlTemplate", 'no "ID"; did you mean "id"?'),
                ("resource-uri-pattern", f"{R}/uriPattern", message),
                id=f"a pattern that is right but for a variable: {message}",
            )
            for message in ('"a" goes to /x/{ID}', '/x/{id} is not where "a" goes: /x/{ID}')
        ),
    ],
)
def test_what_only_another_mistake_made_goes_with_it(mistake: Sequence[str], follows: Sequence[str]) -> None:
    first, second = told(*mistake), told(*follows)
    assert left(first, second) == left(second, first) == [(first.rule, first.path)]
    elsewhere = follows[1].replace(A, B).replace(R, "/resources/t").replace(S, "/resources/t")
    if elsewhere != follows[1] and follows[0] != "capability-unreferenced" and len(follows) == 2:
        assert len(left(first, told(follows[0], elsewhere))) == 2, "in another part it is a mistake of its own"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(("schema-type", f"{R}/uriPattern"), ("capability-unreferenced", A), id="of a pattern"),
        pytest.param(
            ("schema-type", f"{A}/parameters/properties/x"),
            ("mapping-unknown-parameter", f"{A}/y"),
            id="of one of many",
        ),
        pytest.param(
            ("schema-unknown-member", f"{A}/x", "", "description"), ("secret-value", f"{A}/x/password"), id="of a text"
        ),
        pytest.param(
            ("template-variable-unmapped", f"{A}/action/urlTemplate", 'no "ID"'),
            ("resource-uri-pattern", f"{R}/uriPattern", '"a" goes to /x/{ID}'),
            id="where nothing else was meant",
        ),
    ],
)
def test_a_mistake_beside_another_is_told(one: Sequence[str], other: Sequence[str]) -> None:
    assert len(left(told(*one), told(*other))) == 2


def test_what_stands_outside_is_told_with_the_first_that_lacks_it_alone() -> None:
    lacks = [told("schema-required", f"{A}/action", f'needs "{name}"') for name in ("method", "urlTemplate")]
    found = without_consequences([*lacks, told("extension-name", f"{A}/action/urlTemplat")])
    assert [each.message for each in found] == [
        'needs "method"; "urlTemplat" beside it has no meaning here',
        'needs "urlTemplate"',
    ]


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        (("secret-value", "secret-token"), "secret-token"),
        (("secret-in-url", "secret-token"), "secret-token"),
        (("secret-value", "secret-in-url"), "secret-in-url"),
    ],
)
def test_of_a_secret_the_rule_that_says_most_is_told(rules: Sequence[str], kept: str) -> None:
    found = [finding(rule, rule, A, 5, 9) for rule in rules]
    assert [each.rule for each in without_consequences(found)] == [kept]
    apart = [finding(rule, rule, A, 10 * place, 10 * place + 5) for place, rule in enumerate(rules)]
    assert len(without_consequences(apart)) == 2, "of two secrets each"


def test_an_address_is_told_beside_a_secret_that_is_not_in_it() -> None:
    secret, site = finding("secret-token", "s", A, 50, 60), finding("site-url", "u", "/site/url", 5, 20)
    assert without_consequences([site, secret]) == [site, secret]
    within = finding("secret-token", "s", "/site/url", 10, 15)
    assert without_consequences([site, within]) == [within]


# Which fixes are made


def mends(text: str, old: str, new: str) -> list[Finding]:
    at = text.find(old)
    edits = (Edit(at, at + len(old), new),)
    return [finding("rule", f"{old} is wrong", "", at, at + len(old), fix=Fix("f", edits, True))] if at >= 0 else []


def test_of_two_fixes_that_harm_together_the_first_is_made() -> None:
    def finds(text: str) -> list[Finding]:
        harm = [finding("harm", "x and y", "", 0, 1)] if "x" in text and "y" in text else []
        return [*mends(text, "a", "x"), *mends(text, "b", "y"), *harm]

    assert fix_all("ab", finds).text == "xb"


def test_a_fix_that_tells_once_more_what_was_told_is_not_made() -> None:
    def finds(text: str) -> list[Finding]:
        return [*mends(text, "a", "hh"), *(finding("harm", "h", "", 0, 1) for each in text if each == "h")]

    assert fix_all("ah", finds).text == "ah"
    assert fix_all("a", lambda text: mends(text, "a", "hh")).text == "hh"


def test_a_fix_that_shows_another_is_made_with_a_hundred_behind_it() -> None:
    def finds(text: str) -> list[Finding]:
        return mends(text, text, str(int(text) + 1)) if int(text) < 100 else []

    assert fix_all("0", finds).text == "100"


# What an edit changes

MANIFEST = """{"protocol": "AURA", "capabilities": {
 "a": {"id": "a", "v": 0, "description": "One"},
 "b": {"id": "b", "v": 0, "description": "Two"}
 }, "resources": {
 "r": {"uriPattern": "/r", "description": "R", "operations": {"GET": {"capabilityId": "a"}}}}, "site": {"nam": 1}}"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("One", "Ones", id="a word in one part"),
        pytest.param('"v": 0, "description": "Two"', '"v": 1, "description": "Two"', id="what was wrong is right"),
        pytest.param(' "a": {"id"', '  "a": {"id"', id="space before a part"),
        pytest.param('"Two"}\n', '"Two"}  \n', id="space behind the last"),
        pytest.param(' "a": {"id": "a", "v": 0, "description": "One"},\n', '"a": {"id": "a", "v": 0, "description": '
                     '"One"} ,\n', id="space that went from before a part to behind it"),
        pytest.param('"a": {"id": "a"', '"c": {"id": "a"', id="another name"),
        pytest.param('{"nam": 1}', '{"name": "x"}', id="what lies beside parts"),
        pytest.param('"capabilityId": "a"', '"capabilityId": "z"', id="a reference"),
        pytest.param('"v": 0, "description": "One"', '"v": 0, "description": "One", "x": [1,', id="a broken text"),
    ],
)  # fmt: skip
def test_after_an_edit_is_told_what_a_first_look_tells(old: str, new: str) -> None:
    assert MANIFEST.count(old) == 1
    checker = Checker()
    assert checker.check(checker.read(MANIFEST)) == check(MANIFEST)
    changed = MANIFEST.replace(old, new)
    assert checker.check(checker.read(changed)) == check(changed)
    assert checker.check(checker.read(MANIFEST)) == check(MANIFEST), "and back"


# What of a broken text is told


def test_of_a_torn_text_what_stands_before_the_tear_is_told() -> None:
    torn = MANIFEST.replace('"r": {"uriPattern": "/r",', '"r": [{"uriPattern": "/r",').replace("\n", " ")
    rules = [(each.rule, each.path) for each in check(torn)]
    assert ("schema-constraint", f"{A}/v") in rules or any(path.startswith(A) for _, path in rules), rules
    assert not any(path.startswith("/site") for _, path in rules)


def test_fixes_of_other_parts_stay_where_one_part_is_broken() -> None:
    parts: dict[str, Any] = {name: {"id": "x", "v": 1, "description": "D"} for name in "ab"}
    text = json.dumps({"protocol": "AURA", "capabilities": parts}, indent=1).replace('"D"', "nan", 1)
    offered = {each.path: each.fix is not None for each in check(text) if each.path.endswith("/id")}
    assert offered == {f"{A}/id": False, f"{B}/id": True}
