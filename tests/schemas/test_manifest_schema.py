"""Our manifest schema: sound, fully described, and equal in verdict to the reference on thousands of mutations."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

import aurora_schemas
from aurora_manifest.findings import Finding
from tests.manifests import SHARED, check, manifest, mutated, reference_manifests, reference_schema
from tests.schemas.verdicts import BASES, COUNT, cases, reference
from tests.shares import examples

MUTATIONS = 600


def test_the_loader_knows_its_schemas_and_says_so() -> None:
    assert "manifest-1.0" in aurora_schemas.names()
    assert aurora_schemas.load("manifest-1.0") is aurora_schemas.load("manifest-1.0")
    with pytest.raises(aurora_schemas.UnknownSchema, match=r'no schema "manifest-9": use one of .*manifest-1\.0'):
        aurora_schemas.load("manifest-9")


@pytest.mark.parametrize("name", aurora_schemas.names())
def test_every_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(aurora_schemas.load(name))


def members(schema: Any, place: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        for name, member in schema.get("properties", {}).items():
            yield f"{place}/{name}", member
        for keyword, inner in schema.items():
            for key, value in inner.items() if keyword in ("properties", "$defs") else [("", inner)]:
                yield from members(value, f"{place}/{keyword}/{key}")


def test_every_member_is_described_in_a_sentence() -> None:
    schema = aurora_schemas.load("manifest-1.0")
    described = [*members(schema), *((name, each) for name, each in schema["$defs"].items())]
    assert len(described) > 60
    for place, member in described:
        assert member.get("description", "").endswith("."), place


def of_kind(number: int) -> dict[str, Any]:
    """A manifest with one capability of a kind, and its resource."""
    whole = manifest(number + 1)
    return {**whole, **{part: dict([*whole[part].items()][-1:]) for part in ("capabilities", "resources")}}


@cache
def variations(count: int) -> list[tuple[Any, str, list[Finding]]]:
    """Manifests changed by chance, each with its text and what the check finds in it."""
    chance = random.Random(2026)
    originals = [*map(of_kind, range(4)), *reference_manifests()]
    documents = [mutated(originals[number % len(originals)], chance) for number in range(count)]
    texts = [text_of(each) for each in documents]
    return [(document, text, check(text)) for document, text in zip(documents, texts, strict=True)]


def text_of(document: Any) -> str:
    return json.dumps(document).replace("Infinity", "1e400")


def schema_errors(findings: list[Finding]) -> bool:
    """Whether the check finds a document invalid against the schema."""
    assert not any(each.rule.startswith("json-") for each in findings)
    return any(each.rule.startswith("schema-") and each.severity == "error" for each in findings)


def test_schema_and_check_give_every_kept_verdict() -> None:
    ours = Draft202012Validator(aurora_schemas.load("manifest-1.0"))
    verdicts = {True: 0, False: 0}
    for document, verdict in cases("manifest-1.0"):
        assert ours.is_valid(document) == verdict, json.dumps(document)
        assert schema_errors(check(text_of(document))) != verdict, json.dumps(document)
        verdicts[verdict] += 1
    assert verdicts == {True: COUNT // 2, False: COUNT // 2}


@pytest.mark.long
@pytest.mark.parametrize("name", BASES)
def test_kept_verdicts_are_the_references(name: str) -> None:
    if (theirs := reference(name)) is None:
        pytest.skip(f"no reference schemas at {SHARED}: set AURORA_SHARED")
    for document, verdict in cases(name):
        assert theirs.is_valid(document) == verdict, "python -m tests.schemas.verdicts"


@pytest.mark.hypothesis
def test_schema_and_check_give_the_verdict_of_the_reference_schema() -> None:
    theirs = Draft7Validator(reference_schema())
    ours = Draft202012Validator(aurora_schemas.load("manifest-1.0"))
    verdicts = {True: 0, False: 0}
    many = examples(MUTATIONS)
    for document, _, findings in variations(many):
        verdict = theirs.is_valid(document)
        assert ours.is_valid(document) == verdict, json.dumps(document)
        assert schema_errors(findings) != verdict, json.dumps(document)
        verdicts[verdict] += 1
    assert min(verdicts.values()) > many // 10


@pytest.mark.hypothesis
def test_the_check_agrees_with_jsonschema_on_our_schema() -> None:
    ours = Draft202012Validator(aurora_schemas.load("manifest-1.0"))
    for document, _, findings in variations(examples(MUTATIONS))[: examples(300)]:
        assert schema_errors(findings) != ours.is_valid(document), json.dumps(document)


def undefined(document: Any) -> set[str]:
    """The same question asked simply, of plain data."""
    found = set()
    capabilities = document.get("capabilities") if isinstance(document, dict) else None
    resources = document.get("resources") if isinstance(document, dict) else None
    if not isinstance(capabilities, dict) or not isinstance(resources, dict):
        return found
    for resource in resources.values():
        operations = resource.get("operations") if isinstance(resource, dict) else None
        for operation in operations.values() if isinstance(operations, dict) else ():
            target = operation.get("capabilityId") if isinstance(operation, dict) else None
            if isinstance(target, str) and target not in capabilities:
                found.add(target)
    return found


@pytest.mark.hypothesis
def test_undefined_capabilities_are_exactly_those_not_defined() -> None:
    some = 0
    many = examples(MUTATIONS)
    for document, text, findings in variations(many):
        told = [each for each in findings if each.rule == "manifest-undefined-capability"]
        assert {json.loads(text[each.start : each.end]) for each in told} == undefined(document)
        some += bool(told)
    assert some >= many // 100
