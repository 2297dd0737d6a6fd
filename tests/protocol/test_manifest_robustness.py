"""No text makes the check raise, hang or point outside the text."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora_manifest.check import check
from tests.manifests import damaged, manifest, mutated, reference_manifests
from tests.protocol.rule_cases import BASE, patched, spelt, update, url

TIMES = 400
"""Far above what any of these takes, in counts to a million and a half (some 30 ms); a quadratic path takes minutes."""


def seconds() -> float:
    """How long this machine takes to count to a million and a half just now."""
    began = time.process_time()
    for _ in range(1_500_000):
        pass
    return time.process_time() - began


def looked_at(text: str) -> None:
    began = time.process_time()
    findings = check(text)
    taken = time.process_time() - began
    assert taken < 2.0 or taken < TIMES * seconds()
    for each in findings:
        assert 0 <= each.start <= each.end <= len(text)
        assert each.message
        assert "\n" not in each.message
        assert each.start < each.end or not text
    assert [each.start for each in findings] == sorted(each.start for each in findings)
    json.dumps([[each.message, each.path] for each in findings], ensure_ascii=False).encode()


@settings(max_examples=300)
@given(st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=200))
def test_any_text(text: str) -> None:
    looked_at(text)


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("{}[],:\"\\/* \n\r\t'0.eE+-truefalsnxNaI\ufeff📝\ud800\x00"), max_size=100))
def test_anything_like_json(text: str) -> None:
    looked_at(text)


def test_damaged_manifests() -> None:
    chance = random.Random(14)
    texts = [json.dumps(each, indent=1, ensure_ascii=False) for each in [manifest(), *reference_manifests()]]
    for number in range(1000):
        looked_at(damaged(texts[number % len(texts)], chance))


def test_mutated_manifests_of_every_shape() -> None:
    chance = random.Random(15)
    for _ in range(500):
        looked_at(json.dumps(mutated(manifest(), chance), ensure_ascii=chance.random() < 0.5))


BOMBS = {
    "brackets": "[" * 100_000,
    "braces": '{"a":' * 100_000,
    "closers": "[" + "}" * 1_000_000,
    "brackets beside each other": "[" + "[]," * 80_000 + "[]]",
    "a long string": '"' + "x" * 5_000_000 + '"',
    "a long unclosed string": '"' + "x" * 5_000_000,
    "escaped quotes": '"' + '\\"' * 2_000_000,
    "escapes": '["' + "\\n\\u0041" * 500_000 + '"]',
    "bad escapes": '["' + "\\x" * 1_000_000 + '"]',
    "quotes too deep to look at": "[" * 101 + '"\\"' * 500_000,
    "control characters": '["' + "\t a" * 1_000_000 + '"]',
    "junk": "[" + "@ " * 1_000_000,
    "junk in an object": "{" + ": " * 1_000_000,
    "commas": "{" + "," * 1_000_000,
    "quotes": "{" + '"' * 1_000_000,
    "words": "{" + "a " * 1_000_000,
    "bare names": "{" + "a:" * 1_000_000,
    "missing commas": "{" + '"a":1 ' * 300_000,
    "comments": "[" + "/**/" * 500_000,
    "open comments": "[" + "/*" * 2_000_000,
    "slashes": "/" * 2_000_000,
    "signs": "[" + "-" * 2_000_000,
    "zeros": "0" * 1_000_000,
    "zeros as a member": '{"v": ' + "0" * 1_000_000 + "}",
    "signs and zeros": "[" + "-0" * 500_000,
    "exponents": "[" + "e+" * 500_000,
    "brackets on lines": "{\n" * 500_000,
    "brackets on deeper lines": "[" * 90 + "\n 1," * 300_000,
    "names on lines": "{" + '"a":\n' * 300_000,
    "closers on lines": "[\n" + "}\n" * 500_000,
    "steps of indentation": "".join(f"{' ' * number}[\n" for number in range(1500)),
    "digits": "[" + "1" * 5_000_000,
    "digits and dots": "[" + "1." * 1_000_000,
    "hexadecimal": "0x" + "f" * 1_000_000,
    "repeated names": "{" + '"a":1,' * 200_000 + '"a":1}',
    "unknown names": json.dumps({f"capabilitie{number}": 1 for number in range(100_000)}),
    "empty capabilities": json.dumps({"capabilities": {f"c{number}": {} for number in range(50_000)}}),
    "white space": " " * 5_000_000,
    "NaN": "[NaN, -Infinity, 1e99999, -1e99999]",
    "half characters": '{"\ud800": "\udfff", "\\ud800": "\\udfff"}',
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name: str) -> None:
    looked_at(BOMBS[name])


PATCHES: dict[str, Any] = {
    "a template of opening braces": url("/{a" * 200_000),
    "a template of escapes": url('é" ' * 200_000),
    "many variables": url("/{" + ",".join(f"v{number}" for number in range(50_000)) + "}"),
    "one variable many times": url("/{?" + ",".join(["v"] * 100_000) + "}"),
    "many mappings": {"action": {"parameterMapping": {f"v{number}": f"/v{number}" for number in range(50_000)}}},
    "many required": {"parameters": {"required": [f"w{number}" for number in range(50_000)]}},
    "many names that are close": {
        "parameters": {"properties": {f"va{number}": {} for number in range(3000)}},
        "action": {
            "parameterMapping": {f"x{number}": f"/vab{number}" for number in range(3000)},
            "parameterLocation": {f"xy{number}": "body" for number in range(3000)},
        },
    },
    "many choices": {"parameters": {"properties": {"text": {"enum": [["a"] * 50] * 3000}}}},
    "a pattern of brackets": {"parameters": {"properties": {"text": {"pattern": "(" * 1900}}}},
    "a long description": {"description": " " * 2_000_000},
    "half tokens": {"x-a": ["eyJ" * 300_000, "sk-a" * 300_000, "Bearer " * 100_000, "a://b" * 100_000 + "@"]},
    "many passwords": {"x-password": [[{"password": "abcd9"}] * 20_000]},
    "many ignored": {"x-a": [{"x-aurora-ignore": ["capability-id"] * 5} for _ in range(5000)]},
}


@pytest.mark.parametrize("name", PATCHES)
def test_bombs_in_a_capability(name: str) -> None:
    looked_at(spelt(patched(BASE, update(PATCHES[name]))))


def test_undefined_capabilities_by_the_thousand_cost_no_guessing_by_the_million() -> None:
    document = manifest(3000)
    for resource in document["resources"].values():
        for operation in resource["operations"].values():
            operation["capabilityId"] += "_missing"
    looked_at(json.dumps(document))


def test_a_large_wrong_value_deep_down_is_not_looked_at_once_per_level() -> None:
    inner: object = {"type": 5, "required": ["x"] * 100_000}
    for _ in range(40):
        inner = {"additionalProperties": {"items": inner}}
    document = manifest()
    document["capabilities"]["note_0"]["parameters"] = inner
    looked_at(json.dumps(document))
