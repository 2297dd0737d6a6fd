"""No text makes the check raise, hang or point outside the text."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.growth import grows_with_length
from tests.manifests import check, damaged, manifest, mutated, reference_manifests
from tests.protocol.rule_cases import BASE, patched, spelt, update, url
from tests.shares import examples

SMALL, LARGE = 500, 5_000


def looked_at(text: str) -> None:
    findings = check(text)
    for each in findings:
        assert 0 <= each.start <= each.end <= len(text)
        assert each.message
        assert "\n" not in each.message
        assert each.start < each.end or not text
    assert [each.start for each in findings] == sorted(each.start for each in findings)
    json.dumps([[each.message, each.path] for each in findings], ensure_ascii=False).encode()


@settings(max_examples=examples(300))
@given(st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=200))
def test_any_text(text: str) -> None:
    looked_at(text)


@settings(max_examples=examples(300))
@given(st.text(alphabet=st.sampled_from("{}[],:\"\\/* \n\r\t'0.eE+-truefalsnxNaI\ufeff📝\ud800\x00"), max_size=100))
def test_anything_like_json(text: str) -> None:
    looked_at(text)


@pytest.mark.hypothesis
def test_damaged_manifests() -> None:
    chance = random.Random(14)
    small = [manifest(1), manifest(2)]
    texts = [json.dumps(each, indent=1, ensure_ascii=False) for each in [*small, *reference_manifests()]]
    for number in range(examples(400)):
        looked_at(damaged(texts[number % len(texts)], chance))


@pytest.mark.hypothesis
def test_mutated_manifests_of_every_shape() -> None:
    chance = random.Random(15)
    for _ in range(examples(500)):
        looked_at(json.dumps(mutated(manifest(chance.randint(1, 2)), chance), ensure_ascii=chance.random() < 0.5))


BOMBS = {
    "brackets": "[" * 10_000,
    "braces": '{"a":' * 10_000,
    "closers": "[" + "}" * 100_000,
    "brackets beside each other": "[" + "[]," * 80_000 + "[]]",
    "a long string": '"' + "x" * 500_000 + '"',
    "a long unclosed string": '"' + "x" * 500_000,
    "escaped quotes": '"' + '\\"' * 200_000,
    "escapes": '["' + "\\n\\u0041" * 50_000 + '"]',
    "bad escapes": '["' + "\\x" * 100_000 + '"]',
    "quotes too deep to look at": "[" * 101 + '"\\"' * 50_000,
    "control characters": '["' + "\t a" * 100_000 + '"]',
    "junk": "[" + "@ " * 100_000,
    "junk in an object": "{" + ": " * 100_000,
    "commas": "{" + "," * 100_000,
    "quotes": "{" + '"' * 100_000,
    "words": "{" + "a " * 100_000,
    "bare names": "{" + "a:" * 100_000,
    "missing commas": "{" + '"a":1 ' * 30_000,
    "comments": "[" + "/**/" * 50_000,
    "open comments": "[" + "/*" * 200_000,
    "slashes": "/" * 200_000,
    "signs": "[" + "-" * 200_000,
    "zeros": "0" * 100_000,
    "zeros as a member": '{"v": ' + "0" * 100_000 + "}",
    "signs and zeros": "[" + "-0" * 50_000,
    "exponents": "[" + "e+" * 50_000,
    "brackets on lines": "{\n" * 50_000,
    "brackets on deeper lines": "[" * 90 + "\n 1," * 30_000,
    "names on lines": "{" + '"a":\n' * 30_000,
    "closers on lines": "[\n" + "}\n" * 50_000,
    "steps of indentation": "".join(f"{' ' * number}[\n" for number in range(500)),
    "digits": "[" + "1" * 500_000,
    "digits and dots": "[" + "1." * 100_000,
    "hexadecimal": "0x" + "f" * 100_000,
    "white space": " " * 500_000,
    "NaN": "[NaN, -Infinity, 1e99999, -1e99999]",
    "half characters": '{"\ud800": "\udfff", "\\ud800": "\\udfff"}',
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.long
def test_bombs(name: str) -> None:
    text = BOMBS[name]
    looked_at(text)
    # Both end alike: of a text that is cut off other rules look than of a whole one.
    assert grows_with_length(lambda size: check(text[: size - 1] + text[-1]), len(text) // 20, len(text) // 2)


NAMES: dict[str, Callable[[int], str]] = {
    "repeated names": lambda size: "{" + '"a":1,' * size + '"a":1}',
    "unknown names": lambda size: json.dumps({f"capabilitie{number}": 1 for number in range(size)}),
    "empty capabilities": lambda size: json.dumps({"capabilities": {f"c{number}": {} for number in range(size)}}),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.long
def test_bombs_of_names(name: str) -> None:
    looked_at(NAMES[name](LARGE))
    assert grows_with_length(lambda size: check(NAMES[name](size)), SMALL, LARGE)


PATCHES: dict[str, Callable[[int], Any]] = {
    "a template of opening braces": lambda size: url("/{a" * size),
    "a template of escapes": lambda size: url('é" ' * size),
    "many variables": lambda size: url("/{" + ",".join(f"v{number}" for number in range(size)) + "}"),
    "one variable many times": lambda size: url("/{?" + ",".join(["v"] * size) + "}"),
    "many mappings": lambda size: {"action": {"parameterMapping": {f"v{n}": f"/v{n}" for n in range(size)}}},
    "many required": lambda size: {"parameters": {"required": [f"w{number}" for number in range(size)]}},
    "many names that are close": lambda size: {
        "parameters": {"properties": {f"va{number}": {} for number in range(size // 4)}},
        "action": {
            "parameterMapping": {f"x{number}": f"/vab{number}" for number in range(size // 4)},
            "parameterLocation": {f"xy{number}": "body" for number in range(size // 4)},
        },
    },
    "many choices": lambda size: {"parameters": {"properties": {"text": {"enum": [["a"] * 50] * (size // 8)}}}},
    "a pattern of brackets": lambda size: {"parameters": {"properties": {"text": {"pattern": "(" * (size // 5)}}}},
    "a long description": lambda size: {"description": " " * (10 * size)},
    "half tokens": lambda size: {"x-a": ["eyJ" * size, "sk-a" * size, "Bearer " * size, "a://b" * size + "@"]},
    "many passwords": lambda size: {"x-password": [[{"password": "abcd9"}] * (size // 2)]},
    "many ignored": lambda size: {"x-a": [{"x-aurora-ignore": ["capability-id"] * 5} for _ in range(size // 4)]},
}


@pytest.mark.parametrize("name", PATCHES)
@pytest.mark.long
def test_bombs_in_a_capability(name: str) -> None:
    looked_at(spelt(patched(BASE, update(PATCHES[name](LARGE)))))
    assert grows_with_length(lambda size: check(spelt(patched(BASE, update(PATCHES[name](size))))), SMALL, LARGE)


@pytest.mark.long
def test_undefined_capabilities_by_the_thousand_cost_no_guessing_by_the_million() -> None:
    def undefined(size: int) -> None:
        document = manifest(size)
        for resource in document["resources"].values():
            for operation in resource["operations"].values():
                operation["capabilityId"] += "_missing"
        looked_at(json.dumps(document))

    assert grows_with_length(undefined, 200, 2000)


@pytest.mark.long
def test_a_large_wrong_value_deep_down_is_not_looked_at_once_per_level() -> None:
    inner: object = {"type": 5, "required": ["x"] * 100_000}
    for _ in range(40):
        inner = {"additionalProperties": {"items": inner}}
    document = manifest()
    document["capabilities"]["note_0"]["parameters"] = inner
    looked_at(json.dumps(document))


def test_a_variable_name_with_a_line_break_is_told_in_one_line() -> None:
    document = manifest()
    name = next(iter(document["resources"]))
    document["resources"][name]["uriPattern"] = "/notes/{i\nd}"
    looked_at(json.dumps(document))
    assert '"i\\u000ad" is no variable name' in [each.message.partition(",")[0] for each in check(json.dumps(document))]
