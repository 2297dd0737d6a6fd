"""The document model: values, ranges, places and recovery."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_manifest.json.document import Array, Broken, JsonDocument, Node, Object, Scalar
from aurora_manifest.json.parser import parse
from aurora_manifest.json.pointers import PointerError, from_pointer, to_pointer
from aurora_manifest.json.scan import Scan
from aurora_manifest.json.scan_state import MAX_DEPTH, MAX_NODES
from tests.manifests import damaged, manifest
from tests.shares import examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)
JSONISH = st.text(alphabet=st.sampled_from("{}[],:\"\\/* \n\r\t'01.eE+-truefalsnxNaI\ufeff📝\ud800\x00u"), max_size=60)


def nodes(document: JsonDocument) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    pending: list[tuple[tuple[str | int, ...], Node]] = [((), document.root)] if document.root else []
    while pending:
        path, node = pending.pop()
        yield path, node
        if isinstance(node, Object):
            pending += [((*path, member.name), member.value) for member in node.members]
        elif isinstance(node, Array):
            pending += [((*path, index), item) for index, item in enumerate(node.items)]


@given(JSON, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_valid_json_reads_as_the_standard_library_reads_it(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    document = parse(text)
    assert document.problems == ()
    assert document.root is not None
    assert document.root.value == json.loads(text)
    for path, node in nodes(document):
        assert json.loads(text[node.start : node.end]) == node.value
        assert document.node(to_pointer(path)) is node
        if isinstance(node, Object):
            for member in node.members:
                assert json.loads(text[member.name_start : member.name_end]) == member.name


@given(JSONISH)
def test_the_two_gears_agree_on_any_text(text: str) -> None:
    fast, slow = Scan(text), Scan(text, fast=False)
    fast.document()
    slow.document()
    assert repr(fast.root) == repr(slow.root)
    assert [each.__repr__() for each in fast.problems] == [each.__repr__() for each in slow.problems]


@pytest.mark.hypothesis
def test_the_two_gears_agree_on_damaged_manifests() -> None:
    chance = random.Random(4)
    text = json.dumps(manifest(), indent=2, ensure_ascii=False)
    for _ in range(examples(300)):
        broken = damaged(text, chance)
        fast, slow = Scan(broken), Scan(broken, fast=False)
        fast.document()
        slow.document()
        assert repr((fast.root, fast.problems)) == repr((slow.root, slow.problems)), broken


@given(JSONISH)
def test_json_is_free_of_problems_exactly_when_the_standard_library_reads_it(text: str) -> None:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
        valid = True
    except ValueError:
        valid = False
    problems = [problem for problem in parse(text).problems if problem.rule != "json-duplicate-key"]
    assert valid == (not problems)


@given(JSONISH)
def test_nodes_lie_inside_each_other_in_order(text: str) -> None:
    document = parse(text)
    for _, node in nodes(document):
        assert 0 <= node.start <= node.end <= len(text)
        inner = node.items if isinstance(node, Array) else []
        if isinstance(node, Object):
            inner = [member.value for member in node.members]
            assert all(node.start < member.name_start < member.name_end for member in node.members)
        edges = [edge for child in inner for edge in (child.start, child.end)]
        assert edges == sorted(edges)
        assert all(node.start < edge <= node.end for edge in edges)
    for offset in range(len(text) + 1):
        document.place(offset)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1 "b": 2}', [("json-syntax", '"b"')]),
        ('{"a": 1,}', [("json-trailing-comma", ",")]),
        ("[1, 2,\n]", [("json-trailing-comma", ",")]),
        ("[,1,,2]", [("json-syntax", ","), ("json-syntax", ",")]),
        ('{"a": }', [("json-syntax", '"a":')]),
        ('{"a"}', [("json-syntax", '"a"')]),
        ('{"a" 1}', [("json-syntax", "1")]),
        ('{"a" = 1; "b": 2}', [("json-syntax", "="), ("json-syntax", ";")]),
        ("{a: 1}", [("json-syntax", "a")]),
        ("{'a': 'b'}", [("json-syntax", "'a'"), ("json-syntax", "'b'")]),
        ('{"a": 1 // why\n}', [("json-comment", "// why")]),
        ("/* one */ [1] # two", [("json-comment", "/* one */"), ("json-comment", "# two")]),
        ("[1] /* open", [("json-syntax", "/*")]),
        ('{"a": 1, "b": 2, "a": 3}', [("json-duplicate-key", '"a"')]),
        ('{"a": 1, "\\u0061": 3}', [("json-duplicate-key", '"\\u0061"')]),
        ("[01, +1, .5, 1., 0x10, 1e]", [("json-syntax", each) for each in ("01", "+1", ".5", "1.", "0x10", "1e")]),
        ("[NaN, Infinity, -Infinity]", [("json-syntax", each) for each in ("NaN", "Infinity", "-Infinity")]),
        ("[True, None, undefined]", [("json-syntax", each) for each in ("True", "None", "undefined")]),
        (r'["\x", "\u12", "\ud83d"]', [("json-syntax", r"\x"), ("json-syntax", r"\u12")]),
        ('["a\tb\x01"]', [("json-syntax", "\t"), ("json-syntax", "\x01")]),
        ('{"a": "b,\n "c": "d"}', [("json-syntax", '"b')]),
        ('{"a": "b', [("json-syntax", "{")]),
        ('{"a": [1, 2}', [("json-syntax", "}")]),
        ("[1}]", [("json-syntax", "}")]),
        ('{"a": [{"b": 1', [("json-syntax", "{")]),
        ('{"a": 1} x y', [("json-syntax", "x y")]),
        ("\ufeff[1]", [("json-byte-order-mark", "\ufeff")]),
        ("", [("json-syntax", "")]),
        ('{"a": 01,\n"b": tru,\n"c" 3,\n"d": 4,}', [("json-syntax", "01"), ("json-syntax", "tru"), ("json-syntax", "3"),
                                                    ("json-trailing-comma", ",")]),
    ],
)  # fmt: skip
def test_each_error_is_told_once_and_covers_the_wrong_text(text: str, expected: list[tuple[str, str]]) -> None:
    problems = parse(text).problems
    assert [(problem.rule, text[problem.start : problem.end]) for problem in problems] == expected


def test_members_after_an_error_are_still_read() -> None:
    document = parse('{"method: "GET",\r\n "urlTemplate": "/x",\r\n "cors": ,\r\n "v": 01 // one\r\n}')
    assert document.root is not None
    assert document.root.value.items() >= {"urlTemplate": "/x", "cors": None, "v": 1}.items()
    assert isinstance(document.node("/cors"), Broken)
    assert isinstance(document.node("/v"), Scalar)
    assert len(document.problems) == 4


def test_a_name_without_a_value_does_not_take_the_next_line_with_it() -> None:
    document = parse('{"a":\n "b": 1, "c"\n "d": 2}')
    assert document.root is not None
    assert document.root.value == {"a": None, "b": 1, "c": None, "d": 2}


def test_of_repeated_names_the_last_counts_and_all_are_kept() -> None:
    document = parse('{"a": 1, "a": 2}')
    assert isinstance(document.root, Object)
    assert document.root.value == {"a": 2}
    assert [member.value.value for member in document.root.members] == [1, 2]
    assert document.node("/a") is document.root.members[1].value


def test_a_place_tells_names_from_values() -> None:
    text = '{"a": [10, {"b/c": "x"}], "d": }'
    document = parse(text)
    in_name = document.place(text.index("b/c"))
    assert in_name is not None
    assert (in_name.pointer, in_name.in_name) == ("/a/1/b~1c", True)
    in_value = document.place(text.index("x"))
    assert in_value is not None
    assert (in_value.pointer, in_value.in_name, in_value.node.value) == ("/a/1/b~1c", False, "x")
    missing = document.place(text.index("}", 25))
    assert missing is not None
    assert missing.pointer == ""
    assert document.pointer_at(text.index("10") + 1) == "/a/0"
    assert document.place(len(text) + 5) is None


@pytest.mark.parametrize("pointer", ["", "/a", "/a~1b/0/~0", "/", "//x"])
def test_pointers_come_back(pointer: str) -> None:
    assert to_pointer(from_pointer(pointer)) == pointer


@pytest.mark.parametrize("pointer", ["a", "/~", "/~2"])
def test_what_is_no_pointer_is_refused(pointer: str) -> None:
    with pytest.raises(PointerError, match="is not a JSON Pointer"):
        from_pointer(pointer)


def test_a_pointer_to_nothing_finds_nothing() -> None:
    document = parse('{"a": [1]}')
    for pointer in ("/b", "/a/1", "/a/01", "/a/-", "/a/0/x", "/a/" + "9" * 5000):
        assert document.node(pointer) is None


def test_numbers_of_any_size_are_read() -> None:
    document = parse(f"[1e400, -1e400, {'9' * 500}, {'9' * 100_000}, -0]")
    assert document.root is not None
    assert document.root.value == [float("inf"), float("-inf"), int("9" * 500), float("inf"), 0]
    assert document.problems == ()


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth_is_bounded_and_told(opening: str) -> None:
    document = parse(opening * 100_000)
    assert "json-too-deep" in [problem.rule for problem in document.problems]
    closing = "]" if opening == "[" else "}"
    assert parse(opening * MAX_DEPTH + "1" + closing * MAX_DEPTH).problems == ()
    over = parse(opening * (MAX_DEPTH + 1) + "1" + closing * (MAX_DEPTH + 1))
    assert [problem.rule for problem in over.problems] == ["json-too-deep"]


def test_size_is_bounded_and_told() -> None:
    for text in (" " * (8 * 1024 * 1024 + 1), "漢" * (3 * 1024 * 1024), "[" + "1," * MAX_NODES + "1]"):
        document = parse(text)
        assert document.root is None
        assert document.problems[0].rule == "json-too-large"
