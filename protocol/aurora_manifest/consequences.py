"""Consequences of a mistake (cascading errors, suppressed): findings that only another finding made, which go with it;
one mistake is told once.

Whoever mends the first and made a second mistake beside it is told of that then.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from aurora_manifest.findings import Finding
from aurora_manifest.json.pointers import to_pointer
from aurora_manifest.json.value_text import quoted

_SHAPE = frozenset({"schema-type", "schema-required", "schema-unknown-member"})
_OF_MAPPING = frozenset({"mapping-unknown-parameter", "path-variable-optional"})
_OF_OBJECTS = frozenset({"mapping-array-index", "mapping-unknown-parameter", "parameters-keyword"})
_OF_REQUIRED = frozenset({"json-syntax", "schema-type", "parameters-schema", "parameters-required"})
_MAY_HAVE_SOME = _SHAPE | _OF_REQUIRED | {"template-variable-unmapped", "parameters-range", "parameters-object"}
_MAY_HAVE_SOME |= {"resource-uri-pattern"}
_LOCATIONS = frozenset({"parameter-location", "parameter-location-conflict"})
_SECRETS = ("secret-token", "secret-in-url", "secret-value")
"""Rules that may tell of the same secret, those that say more of it first."""

_MAY_HAVE_SOME |= {*_SECRETS, "parameter-location-unmapped"}
_REFERENCES = frozenset({"parameterMapping", "parameterLocation", "properties", "required"})
"""Members in which names of parameters are keys: what stands beside them is no secret."""


_REFERRING = ("resources", "operations", "capabilityId")


def without_consequences(findings: Sequence[Finding]) -> list[Finding]:
    """The findings less those that follow from others among them, in the same order.

    A missing member says which of its own members stand outside it.
    """
    names = {each.rule for each in findings}
    if len(findings) < 2 or not names & _MAY_HAVE_SOME:
        return list(findings)
    findings = _each_secret_once(findings) if len(names.intersection(("site-url", *_SECRETS))) > 1 else findings
    by_rule = {rule: [each for each in findings if each.rule == rule] for rule in names}
    unreferred = any(_hides_references(each) for rule in _SHAPE & names for each in by_rule[rule])
    lacking = {each.path for each in by_rule.get("schema-required", ())}
    misspelt = by_rule.get("schema-unknown-member", [])
    keyed = tuple(f"{each.path}/" for each in misspelt if _meant(each) in _REFERENCES)
    unread = {_part(each.path) for each in misspelt if _is_parameters(each.path, _meant(each))}
    no_object = {_part(each.path) for each in by_rule.get("schema-type", ()) if _are_parameters(each.path)}
    other_type = {_part(each.path) for each in by_rule.get("parameters-object", ())}
    unlocated = {each.path for each in by_rule.get("parameter-location-unmapped", ())}
    elsewhere = [each.path for each in by_rule.get("resource-uri-pattern", ())]
    at_template = {path for path in elsewhere if path.endswith("/urlTemplate")}
    astray = {_part(path) for path in at_template}
    moved = tuple(f"{quoted(_plain(_step(path, 1)))} has " for path in elsewhere)
    contradictory = {each.path.rpartition("/")[0] for each in by_rule.get("parameters-range", ())}
    required = {
        _part(each.path)
        for rule in _OF_REQUIRED & names
        for each in by_rule[rule]
        if each.path.endswith("/required") or "/required/" in each.path
    }
    refused = {each.path for each in by_rule.get("parameters-schema", ())}
    unmapped = {_part(each.path) for each in by_rule.get("template-variable-unmapped", ())}
    strayed = tuple(
        told
        for each in by_rule.get("template-variable-unmapped", ())
        if "; did you mean " in each.message
        for name in [quoted(_plain(_step(each.path, 1)))]
        for told in (f"{name} goes to ", f" is not where {name} goes: ")
    )
    outside: dict[str, list[str]] = {}
    kept: list[Finding] = []
    for each in findings:
        parent = each.path.rpartition("/")[0]
        if each.rule == "extension-name" and parent in lacking:
            outside.setdefault(parent, []).append(each.path.rpartition("/")[2])
        elif not (
            (each.rule == "capability-unreferenced" and unreferred)
            or (each.rule == "secret-value" and keyed and each.path.startswith(keyed))
            or (each.rule in _OF_MAPPING and _part(each.path) in unread | no_object)
            or (each.rule == "parameters-required" and _part(each.path) in unread | no_object)
            or (each.rule in _OF_OBJECTS and _part(each.path) in other_type)
            or (each.rule == "operation-repeats" and _follows(each, elsewhere, moved))
            or (each.rule == "parameters-default" and parent in contradictory)
            or (each.rule in _LOCATIONS and each.path in unlocated)
            or (each.rule == "path-variable-optional" and _part(each.path) in required)
            or (each.rule == "parameters-keyword" and each.path in refused)
            or (each.rule == "parameter-not-sent" and _part(each.path) in unmapped | astray)
            or (each.rule == "resource-uri-pattern" and each.path in at_template and _part(each.path) in unmapped)
            or (each.rule == "resource-uri-pattern" and any(told in each.message for told in strayed))
        ):
            kept.append(each)
    told: set[str] = set()
    for place, each in enumerate(kept):
        if each.rule == "schema-required" and each.path in outside and each.path not in told:
            told.add(each.path)
            names_outside = ", ".join(quoted(_plain(name)) for name in outside[each.path])
            kept[place] = replace(each, message=f"{each.message}; {names_outside} beside it has no meaning here")
    return kept


def _each_secret_once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings with one of each secret, which has the fix of those that are left out where it has none."""
    secrets = sorted((each for each in findings if each.rule in _SECRETS), key=lambda each: _SECRETS.index(each.rule))
    kept: list[Finding] = []
    fixed: dict[Finding, Finding] = {}
    for each in secrets:
        same = next((one for one in kept if one.start < each.end and each.start < one.end), None)
        if same is None:
            kept.append(each)
        elif each.fix is not None and fixed.get(same, same).fix is None:
            fixed[same] = replace(same, fix=each.fix)
    return [
        fixed.get(each, each)
        for each in findings
        if each in kept
        or not (
            each.rule in _SECRETS
            or (each.rule == "site-url" and any(each.start <= one.start < each.end for one in kept))
        )
    ]


def _hides_references(each: Finding) -> bool:
    """Whether it tells that capabilities which a resource names were not read there."""
    if each.rule == "schema-type":
        return _step(each.path, 0) == "resources" and _step(each.path, 2) in ("", "operations")
    if each.rule == "schema-unknown-member":
        return _meant(each) in _REFERRING
    return any(each.message.endswith(f" {quoted(name)}") for name in _REFERRING)


def _follows(each: Finding, elsewhere: Sequence[str], moved: tuple[str, ...]) -> bool:
    """Whether a repeated operation is of a resource whose pattern leads elsewhere anyway."""
    return f"{_part(each.path)}/uriPattern" in elsewhere or each.message.startswith(moved)


def _step(path: str, place: int) -> str:
    steps = path.split("/")[1:]
    return steps[place] if len(steps) > place else ""


def _plain(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _part(path: str) -> str:
    """The capability or resource that a place is in: the first two steps."""
    return to_pointer((_step(path, 0), _step(path, 1)))


def _is_parameters(path: str, meant: str | None) -> bool:
    """Whether names of parameters are not found for this misspelling: of `parameters`, or of `properties` in it."""
    return meant == "parameters" or _step(path, 2) == "parameters"


def _are_parameters(path: str) -> bool:
    """Whether that place is a capability's `parameters`, or their `properties`: of another type it names none."""
    steps = path.split("/")[1:]
    return len(steps) > 2 and steps[0] == "capabilities" and steps[2:] in (["parameters"], ["parameters", "properties"])


def _meant(each: Finding) -> str | None:
    return each.fix.edits[0].text.strip('"') if each.fix is not None and each.fix.edits else None
