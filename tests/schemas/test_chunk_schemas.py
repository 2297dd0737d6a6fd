"""The schemas of chunk documents: described, of one piece, and equal in verdict to the structs on many mutations."""

from __future__ import annotations

import copy
import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

import aurora_schemas
from aurora_memory.chunk_validation import InvalidChunkDocument, document_problems, plain, read_document
from aurora_memory.document_builder import knowledge_document
from aurora_memory.documents import Document
from aurora_memory.learning import lesson_of
from tests.memory.runs import NOON, run
from tests.shares import examples


def members(schema: Any, place: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        for name, member in schema.get("properties", {}).items():
            yield f"{place}/{name}", member
        for keyword, inner in schema.items():
            for key, value in inner.items() if keyword in ("properties", "$defs") else [("", inner)]:
                yield from members(value, f"{place}/{keyword}/{key}")


NAMES = ("code-chunk", "reasoning-chunk", "knowledge-chunk")
SPEC = Path(os.environ.get("AURORA_SHARED", Path(__file__).parents[3] / "shared")) / "seeds/aurora-context-spec.md"

CODE: dict[str, Any] = {
    "id": "code:src/auth.py:login:45-78",
    "type": "code",
    "content": {
        "file": "src/auth.py",
        "function": "login",
        "line_start": 45,
        "line_end": 78,
        "signature": "def login(username: str) -> Token",
        "dependencies": ["code:db.py:get_user:1-9"],
        "imports": ["hashlib"],
        "calls": ["get_user"],
        "ast_summary": {"complexity": "medium", "branches": 3, "loops": 0},
    },
    "metadata": {
        "language": "python",
        "last_modified": "2025-12-12T10:30:00Z",
        "git_hash": "abc123def",
        "semantic_role": "authentication-handler",
        "keywords": ["login", "token"],
        "domain": "security",
    },
    "governance": {
        "compliance_tags": ["tested"],
        "lifespan_policy": "conditional",
        "retention_rules": [{"if": "access_count > 0", "then": "retain_while_active"}],
    },
    "conversation_log_reference": {
        "date": "2025-12-13",
        "file": "oauth-authentication-2025-12-13.md",
        "section": "Phase 6: COLLECT",
        "line_range": [45, 78],
    },
}


def documents() -> list[dict[str, Any]]:
    reasoning = lesson_of(run()).document
    knowledge = knowledge_document("oauth2", "OAuth2 providers", "Which suits.", ["Auth0 is hosted."], ["x"], 0.8, NOON)
    assert reasoning is not None
    return [CODE, plain(reasoning), plain(knowledge)]


@pytest.mark.parametrize("name", NAMES)
def test_every_member_is_described_in_a_sentence(name: str) -> None:
    schema = aurora_schemas.load(name)
    described = [*members(schema), *schema["$defs"].items()]
    assert len(described) > 25
    for place, member in described:
        assert member.get("description", "").endswith("."), place


def test_what_the_three_share_is_the_same() -> None:
    first, *others = (aurora_schemas.load(name) for name in NAMES)
    for other in others:
        assert other["$defs"] == first["$defs"]


def nothing_is_lost(examples: list[dict[str, Any]]) -> None:
    read = [read_document(json.dumps(example)) for example in examples]
    assert [plain(each)["type"] for each in read] == ["code", "reasoning", "knowledge"]
    for example, document in zip(examples, read, strict=True):
        assert example.items() <= plain(document).items()


def test_a_document_of_each_kind_is_read_and_nothing_of_it_is_lost() -> None:
    nothing_is_lost(documents())


def test_the_published_examples_are_valid() -> None:
    if not SPEC.exists():
        pytest.skip("the specification is not here")
    text = SPEC.read_text(encoding="utf-8")
    part = text[text.index("#### 6.3.5") : text.index("#### 6.3.6")]
    nothing_is_lost([json.loads(example) for example in re.findall(r"```json\n(.*?)```", part, re.DOTALL)])


def schema_accepts(document: Any) -> bool:
    return document_problems(document) == []


def struct_accepts(document: Any) -> bool:
    try:
        msgspec.json.decode(json.dumps(document), type=Document)
    except msgspec.ValidationError:
        return False
    return True


ODD: list[Any] = [
    None, True, -1, 0, 1, 2, 0.5, 1.5, "", "x", "code:a:b", "reas:x", "reas:x:v2", "know:y", "other:z", "conditional",
    "2025-12-12T10:30:00Z", "2025-99-12T10:30:00Z", "retain_for_5_days", "retain_forever", [], {}, ["x"], [1, 2],
    [0, 1], [""], "option_b", "simple", "a b", "x" * 300, ["k"] * 8,
]  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, inner in inside for place in places(inner, (*at, key)))]


def mutated(document: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    *above, last = chance.choice([place for place in places(changed) if place])
    holder = changed
    for step in above:
        holder = holder[step]
    match chance.randrange(4):
        case 0 if isinstance(holder, dict):
            del holder[last]
        case 1 if isinstance(holder, dict):
            holder["unheard_of"] = chance.choice(ODD)
        case _:
            holder[last] = chance.choice(ODD)
    return changed


def in_order(document: dict[str, Any]) -> bool:
    """Whether every pair of lines is in order: what no schema can say."""
    try:
        first, last = (document["conversation_log_reference"] or {"line_range": [1, 1]})["line_range"]
        content = document["content"]
        return bool(first <= last and content.get("line_start", 1) <= content.get("line_end", 1))
    except (KeyError, TypeError, ValueError, AttributeError):
        return True


@pytest.mark.hypothesis
def test_schema_and_structs_give_one_verdict() -> None:
    chance = random.Random(2026)
    originals = documents()
    verdicts = {True: 0, False: 0}
    many = examples(3000)
    for number in range(many):
        document = mutated(originals[number % 3], chance)
        verdict = schema_accepts(document) and in_order(document)
        assert struct_accepts(document) == verdict, (json.dumps(document), document_problems(document))
        verdicts[verdict] += 1
    assert min(verdicts.values()) > many // 20


@pytest.mark.parametrize(
    ("place", "value", "named"),
    [
        (("id",), "reas:login", "id"),
        (("content", "line_start"), 0, "content/line_start"),
        (("content", "line_start"), "45", "content/line_start"),
        (("content", "line_start"), 79, "first line, 79, comes after the last, 78"),
        (("conversation_log_reference", "line_range"), [9, 3], "first line, 9, comes after the last, 3"),
        (("metadata", "keywords"), ["x"] * 8, "metadata/keywords"),
        (("governance", "retention_rules", 0, "then"), "keep", "governance/retention_rules/0/then"),
        (("type",), "music", "type: one of code, reasoning, knowledge"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(place: tuple[Any, ...], value: Any, named: str) -> None:
    document = copy.deepcopy(CODE)
    holder: Any = document
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = value
    with pytest.raises(InvalidChunkDocument, match=re.escape(named)):
        read_document(json.dumps(document))


@pytest.mark.parametrize("score", ["1.01", "-0.1", "1e999", "NaN", '"high"', "true", "null"])
def test_scores_stay_between_nothing_and_one(score: str) -> None:
    document = documents()[1]
    document["content"]["success_score"] = "SCORE"
    with pytest.raises(InvalidChunkDocument):
        read_document(json.dumps(document).replace('"SCORE"', score))


@pytest.mark.parametrize(
    "text", ["", "[", "null", "[]", "7", '{"type": []}', "[" * 200_000, '{"a":' * 100_000, "\ud800"]
)
def test_hostile_documents_are_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidChunkDocument):
        read_document(text)


def test_a_document_too_large_is_refused_before_it_is_read() -> None:
    with pytest.raises(InvalidChunkDocument, match="too large"):
        read_document(json.dumps(CODE | {"id": "code:a:" + "x" * (1 << 20)}))
    whole = json.dumps(CODE)
    assert read_document(whole + " " * ((1 << 20) - len(whole))), "one of 1 MiB is read"


@pytest.mark.long  # in `make test`, test_manifest_schema.py asks it of every schema
@pytest.mark.parametrize("name", NAMES)
def test_each_schema_is_sound(name: str) -> None:
    Draft202012Validator.check_schema(aurora_schemas.load(name))
