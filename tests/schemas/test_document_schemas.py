"""The schemas of configuration, agents and deliverables: described, true to what is read, and to the references."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from jsonschema import Draft202012Validator
from msgspec.inspect import (
    FloatType,
    IntType,
    LiteralType,
    Metadata,
    NoneType,
    StrType,
    StructType,
    UnionType,
    type_info,
)

import aurora_schemas
from aurora_memory.lifespans.policies import BUILT_IN, Layer, merged
from aurora_server.configuration import settings, soar
from tests.documents import EXAMPLES, documents
from tests.manifests import SHARED
from tests.schemas.verdicts import COUNT, cases
from tests.shares import examples

NAMES = ("configuration", "agents", "deliverable-state", "metrics-output")
LATER = "Not read yet by this version."
STRANGE: list[Any] = [None, True, 0, -1, 1.5, "", "x", "0.1.0", "2026-02-26T09:00:00Z", "failed", [], ["a"], [1], {}]


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(aurora_schemas.load(name))


def members(schema: Any, place: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every member that a schema names, with the descriptions of what it refers to."""
    if isinstance(schema, dict):
        for name, member in schema.get("properties", {}).items():
            yield f"{place}/{name}", member
        for keyword, inner in schema.items():
            if keyword in ("if", "then"):
                continue
            for key, value in inner.items() if keyword in ("properties", "$defs") else [("", inner)]:
                yield from members(value, f"{place}/{keyword}/{key}")
    elif isinstance(schema, list):
        for number, each in enumerate(schema):
            yield from members(each, f"{place}/{number}")


@pytest.mark.parametrize("name", NAMES)
def test_every_member_is_described_in_a_sentence(name: str) -> None:
    schema = aurora_schemas.load(name)
    described = list(members(schema))
    assert len(described) > 10
    for place, member in described:
        said = member if "description" in member else schema["$defs"][member["$ref"].rpartition("/")[2]]
        assert said["description"].endswith((".", ".*")), place


# Configuration: what the daemon reads


READ = settings.SECTIONS | dict(soar.SECTIONS.values())


def sections() -> Iterator[tuple[str, str, msgspec.inspect.Type, Any]]:
    for name, kind in READ.items():
        yield from fields(name, kind, kind())


def fields(name: str, kind: type[msgspec.Struct], usual: Any) -> Iterator[tuple[str, str, msgspec.inspect.Type, Any]]:
    info = type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    for field in info.fields:
        kinds = field.type.types if isinstance(field.type, UnionType) else (field.type,)
        inner = [each.type if isinstance(each, Metadata) else each for each in kinds]
        structs = [each.cls for each in inner if isinstance(each, StructType)]
        default = field.default if usual is None else getattr(usual, field.name)
        if structs:
            yield from fields(f"{name}.{field.name}", structs[0], default)
        else:
            yield name, field.name, field.type, default


def described(path: str) -> dict[str, Any]:
    place: dict[str, Any] = aurora_schemas.load("configuration")
    for step in path.split("."):
        place = place["properties"][step]
        if "$ref" in place:
            place = {**aurora_schemas.load("configuration")["$defs"][place["$ref"].rpartition("/")[2]], **place}
    return place


@pytest.mark.parametrize(("section", "name", "kind", "default"), list(sections()))
def test_every_setting_is_in_the_schema_with_its_bounds(
    section: str, name: str, kind: msgspec.inspect.Type, default: Any
) -> None:
    said, around = described(f"{section}.{name}"), described(section)
    assert LATER not in said["description"] + around["description"]
    variable = f"AURORA_{section}_{name}".replace(".", "_").upper()
    if section in ("llm.reasoning_llm", "llm.solving_llm"):
        assert f"AURORA_{section}_".replace(".", "_").upper() + "…" in around["description"]
    else:
        assert f"`{variable}`" in said["description"]
        if default is not msgspec.NODEFAULT and default is not None:
            assert said["default"] == json.loads(msgspec.json.encode(default))
    some = [each for each in kind.types if not isinstance(each, NoneType)] if isinstance(kind, UnionType) else [kind]
    plain = some[0].type if isinstance(some[0], Metadata) else some[0]
    if isinstance(plain, IntType | FloatType):
        assert (said.get("minimum"), said.get("maximum"), said.get("exclusiveMinimum")) == (
            plain.ge,
            plain.le,
            plain.gt,
        )
    if isinstance(plain, StrType) and plain.pattern:
        assert all(re.fullmatch(plain.pattern, each) for each in said["enum"])
        assert len(said["enum"]) == plain.pattern.count("|") + 1
    if isinstance(plain, LiteralType):
        assert set(said["enum"]) == set(plain.values)
    if name == "severities":
        assert set(said["additionalProperties"]["enum"]) == set(get_args(settings.Level))


def test_what_nothing_reads_says_so() -> None:
    read = {name.partition(".")[0] for name in READ} | {"$schema", "version", "retention_policies"}
    for name, member in aurora_schemas.load("configuration")["properties"].items():
        assert (LATER in member["description"]) == (name not in read), name


@pytest.mark.hypothesis
def test_what_the_schema_accepts_the_daemon_reads(tmp_path: Path) -> None:
    ours = validator("configuration")
    chance = random.Random(5)
    values: list[Any] = [
        0,
        1,
        2,
        64,
        65,
        1024,
        1 << 26,
        -3,
        0.5,
        True,
        False,
        None,
        "INFO",
        "DEBUG",
        "info",
        "x",
        {},
        {"a": "off"},
        ["a"],
        [0.1, 0.9],
        "monthly",
    ]
    accepted = 0
    places = [each for each in sections() if "_llm" not in each[0]]
    many = examples(3000)
    for number in range(many):
        section, name, _, _ = chance.choice(places)
        document: dict[str, Any] = {}
        place = document
        for step in section.split("."):
            place = place.setdefault(step, {})
        place[name] = chance.choice(values)
        if ours.is_valid(document):
            file = tmp_path / f"{number}.json"
            file.write_text(json.dumps(document))
            settings.load({"AURORA_HOME": str(tmp_path)}, file)
            accepted += 1
    assert accepted > many // 15


POLICY = {"condition": "score >= 0.5", "lifespan": "90_days", "decay_mechanism": "none"}


@pytest.mark.parametrize(
    "policies",
    [
        {"a": POLICY},
        {"a": {"condition": "score >= 0.5", "lifespan": "decay", "escalation_action": None}},
        {"a": {**POLICY, "lifespan": "5 days"}},
        {"a": {**POLICY, "lifespan": "0_days"}},
        {"a": {**POLICY, "lifespan": "00007_days"}},
        {"a": {**POLICY, "decay_mechanism": "slow"}},
        {"a": {**POLICY, "description": "x" * 501}},
        {"a": {**POLICY, "escalation_action": "no spaces"}},
        {"a": {**POLICY, "colour": "red"}},
        {"a": {"lifespan": "decay"}},
        {"a": []},
        {str(number): POLICY for number in range(65)},
        [],
    ],
)
def test_policies_get_the_verdict_that_reading_them_gives(policies: Any) -> None:
    given = {"policies": policies}
    document = {"memory": {"lifespan_policies": given}}
    assert validator("configuration").is_valid(document) == (not merged([Layer("here", given)]).problems)


def test_the_built_in_policies_are_what_the_schema_allows() -> None:
    policies = {
        each.name: {
            "condition": "score > 0",
            "lifespan": each.lifespan.spelled,
            "decay_mechanism": each.decay_mechanism,
        }
        for each in (*BUILT_IN.policies, *BUILT_IN.fallbacks)
    }
    document = {"memory": {"lifespan_policies": {"policies": policies}}}
    assert validator("configuration").is_valid(document)


def spec_blocks(*words: str) -> list[Any]:
    path = SHARED / "seeds" / "aurora-context-spec.md"
    if not path.is_file():
        pytest.skip(f"no specification at {path}: set AURORA_SHARED")
    found = []
    for block in re.findall(r"```json\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
        try:
            value = json.loads(block)
        except ValueError:
            continue
        if isinstance(value, dict) and any(word in value for word in words):
            found.append(value)
    return found


def test_the_specifications_own_configurations_are_valid() -> None:
    blocks = spec_blocks("llm", "memory", "logging", "cost_budgets", "headless", "agents")
    examples = [each for each in blocks if set(each) <= set(aurora_schemas.load("configuration")["properties"])]
    assert len(examples) >= 8
    for each in examples:
        problems = [error.json_path for error in validator("configuration").iter_errors(each)]
        # App. C.2 lists the fields of a policy as a policy called `policy_name`, with all their values at once.
        assert [at for at in problems if ".policy_name." not in at] == [], each


AGENT = {
    "id": "gardener",
    "type": "mcp",
    "path": "~/agents/gardener",
    "endpoint": None,
    "capabilities": ["pruning"],
    "domains": ["python"],
    "availability": "always",
    "success_rate": 0.75,
    "last_refresh": "2026-03-01T08:00:00Z",
}
REGISTRY = {
    "agent_registry": {
        "agents": [
            AGENT,
            {**AGENT, "id": "surveyor", "type": "executable", "path": "/opt/surveyor"},
            {**AGENT, "id": "courier", "type": "http", "path": None, "endpoint": "https://courier.example/ask"},
        ],
        "refresh_interval_days": 15,
        "auto_discover": True,
    }
}


def test_a_registry_is_valid_and_each_agent_has_what_its_type_needs() -> None:
    a_registry_is_valid_until_an_agent_is_broken(REGISTRY)


def test_the_specifications_own_registry_is_valid() -> None:
    (registry,) = spec_blocks("agent_registry")
    a_registry_is_valid_until_an_agent_is_broken(registry)


def a_registry_is_valid_until_an_agent_is_broken(registry: dict[str, Any]) -> None:
    assert validator("agents").is_valid(registry)
    agents = registry["agent_registry"]["agents"]
    for wrong in ({"type": "mpc"}, {"path": None}, {"success_rate": 1.5}, {"id": 5}):
        broken = copy.deepcopy(registry)
        broken["agent_registry"]["agents"][0] = {**agents[0], **wrong}
        assert not validator("agents").is_valid(broken), wrong


# Deliverables: the references


def references(name: str) -> tuple[Draft202012Validator, list[dict[str, Any]]]:
    folder = SHARED / "reference" / "aura-metrics"
    if not folder.is_dir():
        pytest.skip(f"no reference schemas at {folder}: set AURORA_SHARED")
    theirs = json.loads((folder / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    examples = [folder / "examples" / f"{each}.json" for each in EXAMPLES[name]]
    return Draft202012Validator(theirs), [json.loads(each.read_text(encoding="utf-8")) for each in examples]


def mutated(original: dict[str, Any], names: list[str], chance: random.Random) -> Any:
    changed = copy.deepcopy(original)
    for _ in range(chance.choice((1, 1, 2, 3))):
        objects = [changed]
        for each in objects:
            objects += [value for value in each.values() if isinstance(value, dict)]
        inside = chance.choice(objects)
        name = chance.choice([*inside, chance.choice(names)])
        if chance.random() < 0.3:
            inside.pop(name, None)
        else:
            inside[name] = copy.deepcopy(chance.choice(STRANGE))
    return changed


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_deliverable_documents_get_every_kept_verdict(name: str) -> None:
    ours = validator(name)
    assert all(ours.is_valid(each) for each in documents(name))
    verdicts = {True: 0, False: 0}
    for document, verdict in cases(name):
        assert ours.is_valid(document) == verdict, json.dumps(document)
        verdicts[verdict] += 1
    assert verdicts == {True: COUNT // 2, False: COUNT // 2}


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", list(EXAMPLES))
def test_deliverable_documents_get_the_verdict_of_the_reference(name: str) -> None:
    theirs, originals = references(name)
    ours = validator(name)
    assert all(ours.is_valid(each) for each in originals)
    names = [place.rpartition("/")[2] for place, _ in members(theirs.schema)]
    chance = random.Random(2026)
    verdicts = {True: 0, False: 0}
    many = examples(1000)
    for number in range(many):
        document = mutated(originals[number % len(originals)], names, chance)
        verdict = theirs.is_valid(document)
        assert ours.is_valid(document) == verdict, json.dumps(document)
        verdicts[verdict] += 1
    assert min(verdicts.values()) > many // 10


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_they_describe_every_member_of_the_reference(name: str) -> None:
    theirs, _ = references(name)
    assert {place.rpartition("/")[2] for place, _ in members(theirs.schema)} == {
        place.rpartition("/")[2] for place, _ in members(aurora_schemas.load(name))
    }
