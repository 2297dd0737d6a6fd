"""Choices of the tolerant reader of JSON, a rule each: what a text is taken for, what is put in its place, how sure."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_manifest.edits import adding_member, same, spelling
from aurora_manifest.findings import MAX_FINDINGS, finding, in_order
from aurora_manifest.json import incremental_parse, parser
from aurora_manifest.json.document import Object
from aurora_manifest.json.incremental_parse import reparse
from aurora_manifest.json.indentation import rebalanced
from aurora_manifest.json.parser import parse
from aurora_manifest.json.value_text import excerpt, with_article
from aurora_manifest.kind_checks import against_schema, schema_of
from aurora_manifest.kinds import CONFIGURATION, DELIVERABLE, METRICS_OUTPUT, kind_of
from aurora_manifest.shape import Shapes

Told = list[tuple[str, str | None, bool]]
"""The text that is wrong, what it should be where that is known, and whether it can be nothing else."""


OF_ANOTHER_KIND = ' "p": [\n  1\n },\n'
"""A member whose list ends in the wrong bracket."""


def read(text: str) -> tuple[Any, Told]:
    document = parse(text)
    problems = [(text[each.start : each.end], each.instead, each.certain) for each in document.problems]
    return document.root.value if document.root else None, problems


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [
        pytest.param("no", False, [("no", "false", False)], id="no may be a country"),
        pytest.param("None", None, [("None", "null", False)], id="None may be a member to be left out"),
        pytest.param("True", True, [("True", "true", True)], id="another case is the same word"),
        pytest.param("-inf", None, [("-inf", None, False)], id="there is no infinity"),
        pytest.param("+1", 1, [("+1", "1", True)], id="a sign says nothing"),
        pytest.param("007", 7, [("007", "7", False)], id="zeros may be a code"),
        pytest.param("1O", 10, [("1O", "10", False)], id="a letter O may be a digit"),
        pytest.param("1I", 11, [("1I", "11", False)], id="so may an I"),
        pytest.param("'b'", "b", [("'b'", '"b"', True)], id="other quotes are quotes"),
        pytest.param(
            r"'b\qc'", "bqc", [(r"'b\qc'", '"bqc"', False), (r"\q", r"\\q", False)], id="but for what is wrong in them"
        ),
        pytest.param(r"'it\'s'", "it's", [(r"'it\'s'", '"it\'s"', True)], id="an escaped quote is none"),
        pytest.param(
            '"1\n2\n3\n4\n5\n6\n7"', "1\n2\n3\n4\n5\n6\n7", [("\n", r"\n", False)] * 6, id="a text has seven lines"
        ),
        pytest.param(r'"\ud83d\ude00"', "😀", [], id="two halves are one sign"),
        pytest.param(
            r"'\ud83d\ude00'", "😀", [(r"'\ud83d\ude00'", '"😀"', True)], id="in other quotes as well"
        ),
        pytest.param("[1, …]", [1, None], [("…", "", False)], id="what stands for more is left out"),
        pytest.param("[1, ***]", [1, None], [("***", None, False)], id="anything else may mean something"),
        pytest.param('["a" "b"]', ["a", "b"], [('"b"', ',"b"', False)], id="two texts may be one"),
        pytest.param("[{} {}]", [{}, {}], [("{", ",{", True)], id="two objects are two"),
        pytest.param('{"a": 1,, "b": 2}', {"a": 1, "b": 2}, [(",", "", True)], id="no member is between two commas"),
        pytest.param("[1,,2]", [1, 2], [(",", "", False)], id="an item may be"),
        pytest.param('{"a": 1, x, }', {"a": 1}, [("x", None, False)], id="a comma ends what is no member"),
        pytest.param('{"a": "x" + "y"}', {"a": "x"}, [('"x" + "y"', '"xy"', False)], id="texts that are put together"),
        pytest.param("[;1]", [1], [(";", None, False)], id="what separates nothing is no item"),
        pytest.param('["b ""]', ["b "], [('"', "", False)], id="one quote too many before a bracket"),
        pytest.param('{"a": "b ""\n}', {"a": "b "}, [('"', "", False)], id="and before the end of its line"),
        pytest.param('{a {"b": 1}}', {"a": {"b": 1}}, [("a", '"a":', False)], id="a name before a bracket"),
    ],
)  # fmt: skip
def test_what_a_value_was_meant_to_be(text: str, value: Any, told: Told) -> None:
    assert read(text) == (value, told)


@pytest.mark.parametrize(("digits", "known"), [(598, True), (599, False)])
def test_a_number_of_six_hundred_signs_is_the_longest_that_is_put_right(digits: int, known: bool) -> None:
    ((_, instead, certain),) = read("0x" + "1" * digits)[1]
    assert (instead is not None, certain) == (known, known)


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [
        pytest.param('{"a": "b]}', {"a": "b"}, [('"b', '"b"', False), ("]", "", False)], id="before brackets"),
        pytest.param('{\n"a": "b,\n"c": 1}', {"a": "b", "c": 1}, [('"b', '"b"', False)], id="before a comma"),
        pytest.param('{"a": "x{b]}\n}', {"a": "x{b]}"}, [('"x{b]}', '"x{b]}"', False)], id="behind what it opened"),
        pytest.param(
            '{"a": "b\tc\n}', {"a": "b\tc"}, [('"b\tc', None, False), ("\t", r"\t", True)], id="with a mistake in it"
        ),
        pytest.param('{"a": "b, "c": 1}', {"a": "b", "c": 1}, [('"b', '"b"', False)], id="before the next name"),
        pytest.param('["a, "b"]', ["a", "b"], [('"a', '"a"', False)], id="before the next item"),
        pytest.param(
            '{"a": "b {x}, "c": 1}', {"a": "b {x}", "c": 1}, [('"b {x}', '"b {x}"', False)], id="behind its brackets"
        ),
        pytest.param(
            '{"x": {"a": "b}, "c": 1}', {"x": {"a": "b"}, "c": 1}, [('"b', '"b"', False)], id="before a bracket"
        ),
        pytest.param('{"a: "N"}', {"a": "N"}, [('"a', '"a"', False)], id="a name at its colon"),
    ],
)
def test_where_a_text_without_its_last_quote_ends(text: str, value: Any, told: Told) -> None:
    assert read(text) == (value, told)


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [
        pytest.param('{a": 1}', {"a": 1}, [('a"', '"a"', False)], id="a name"),
        pytest.param('{"a": b c",\n"d": 1}', {"a": "b c", "d": 1}, [('b c"', '"b c"', False)], id="a member's value"),
        pytest.param(
            '{"a": b, c",\n"d": 1}', {"a": "b, c", "d": 1}, [('b, c"', '"b, c"', False)], id="with a comma in it"
        ),
        pytest.param('[b, c",\n1]', [None, "c", 1], [("b", '"b"', False), ('c"', '"c"', False)], id="not in a list"),
        pytest.param('[b c"\n]', ["b c"], [('b c"', '"b c"', False)], id="an item"),
        pytest.param('{"a": some words\n}', {"a": "some words"}, [("some words", '"some words"', False)], id="both"),
        pytest.param('{"a": none of it\n}', {"a": None}, [("none", "null", False)], id="a word of JSON begins no text"),
        pytest.param(
            "[some words\n]", [None, None], [("some", '"some"', False)], id="nor do an item's words end alone"
        ),
    ],
)
def test_what_a_text_without_its_first_quote_is(text: str, value: Any, told: Told) -> None:
    assert read(text) == (value, told)


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [
        pytest.param('{"a": "b": 1}}', {"a": {"b": 1}}, [('"b"', '{ "b"', False)], id="where one closes too many"),
        pytest.param('["a": 1]', {"a": 1}, [("[", "{", False)], id="members in a list"),
        pytest.param('["a":]', ["a"], [(":", None, False)], id="but a name without a value"),
        pytest.param('{"a", "b"}', ["a", "b"], [("{", "[", False)], id="items in an object"),
        pytest.param('{"a", "b": 1}', {"a": None, "b": 1}, [('"a"', None, False)], id="but where members follow"),
        pytest.param('{{"a": 1}', {"a": 1}, [("{", "", False)], id="opened twice and closed once"),
        pytest.param('{{"a": 1}}', {}, [("{", None, False)], id="opened and closed twice"),
        pytest.param('{"x": 1, {"a": 1}}', {"x": 1}, [("{", None, False)], id="opened behind a member"),
        pytest.param('{"a": ("x", 1)}', {"a": ["x", 1]}, [("(", "[", False)], id="items in parentheses"),
        pytest.param('{"a": ("x": 1)}', {"a": {"x": 1}}, [("(", "{", False)], id="members in parentheses"),
        pytest.param('{\n"a": [1, 2}\n}', {"a": [1, 2]}, [("}", "]", False)], id="another one closes"),
        pytest.param("[[1, 2}]", [[1, 2]], [("[", "[", False), ("}", "", False)], id="nor whether it closes anything"),
        pytest.param('{"a": [1, 2}}', {"a": [1, 2]}, [("}", None, False), ("}", "", False)], id="not on one line"),
    ],
)  # fmt: skip
def test_which_bracket_was_meant(text: str, value: Any, told: Told) -> None:
    assert read(text) == (value, told)


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        pytest.param('{"a": [{"b": 1', "}]}", id="three on one line"),
        pytest.param('{\n "a": {\n  "b": [\n   1', "\n  ]\n }\n}", id="three, each below what it closes"),
        pytest.param('{"a": {"b": [[1', None, id="four are too many"),
        pytest.param('{"a": [1, x y', None, id="what is not understood may have more"),
        pytest.param('{"a": 1,', None, id="a member is missing as well"),
    ],
)
def test_which_brackets_are_put_to_the_end(text: str, closed: str | None) -> None:
    first = parse(text).problems[0]
    assert [each[2] for each in first.also] == ([closed] if closed else [])
    assert (first.instead is None) is (closed is None)


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ('module.exports = {"a": 1};', ";"),
        ('```json\n{"a": 1}\n```', "```"),
        ('```json\n{"a": 1}' + " " * 60 + "```", "```"),
        ("const x = [1]", ""),
    ],
)
def test_what_belongs_to_a_wrapping_goes_with_it(text: str, behind: str) -> None:
    (told,) = parse(text).problems
    assert [text[start:end] for start, end, _ in told.also] == [behind]


@pytest.mark.parametrize(("behind", "instead"), [("x" * 40, ""), ("x" * 41, None)])
def test_little_behind_the_json_is_offered_to_go(behind: str, instead: str | None) -> None:
    assert [each.instead for each in parse(f"[1] {behind}").problems] == [instead]


@pytest.mark.parametrize(("count", "known"), [(3, True), (4, False)])
def test_three_missing_brackets_are_found_by_the_lines(count: int, known: bool) -> None:
    parts = "".join(f' "p{number}": {{\n  "x": 1\n' for number in range(count))
    text = "{\n" + parts + ' "last": 1\n}\n'
    assert (parse(text).torn is None) is known


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        pytest.param('{\n "a":\n ]\n}', '{\n "a":\n  \n}', id="what is no deeper than a name is not its value"),
        pytest.param('{\n "a":\n  "b"\n}', None, id="a value on a line of its own lacks nothing"),
        pytest.param('{\n "a": [\n  []],\n "b": 1\n}', None, id="what comes next is beside it, so it ends there"),
        pytest.param('{\n "a": {"b": []}},\n "c": 1\n}', '{\n "a": {"b": []} ,\n "c": 1\n}', id="it goes on"),
        pytest.param('{\n "a": 1},\n "b": 2\n}', '{\n "a": 1},\n "b": 2\n ', id="behind a value a bracket ends it"),
        pytest.param('{\n "a": [\n  1]}\n ]', '{\n "a": [\n  1]}\n  ', id="a bracket that follows is too many itself"),
        pytest.param('{\n "a": [\n  1,\n}', '{\n "a": [\n  1,]}', id="a comma before the end is told by itself"),
        pytest.param('{\n "a": [\n  },\n  1\n ]\n}', '{\n "a": [\n    \n  1\n ]\n}', id="what goes takes its comma"),
        pytest.param("{\n{\n}", None, id="there is no room for a bracket and a comma"),
        pytest.param('[\n "a": [],{\n}', None, id="a bracket amid a line was opened by nobody knows what"),
        pytest.param('{\n "a": [\n  1\n }]\n}', '{\n "a": [\n  1\n  ]\n}', id="the right one stands behind it"),
        pytest.param("{\n" + "}\n" * 4, "{\n}\n" + " \n" * 3, id="three too many"),
        pytest.param("{\n" + "}\n" * 5, None, id="four too many"),
        pytest.param(
            f"{{\n{OF_ANOTHER_KIND * 3}}}", f"{{\n{OF_ANOTHER_KIND * 3}}}".replace(" }", " ]"), id="three wrong"
        ),
        pytest.param(f"{{\n{OF_ANOTHER_KIND * 4}}}", None, id="four wrong"),
    ],
)
def test_what_lines_say_of_brackets(text: str, mended: str | None) -> None:
    found = rebalanced(text)
    assert (found.text if found else None) == mended


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        pytest.param('{\n "a": [\n  1\n}', ["1\n ]"], id="on a line of its own, as deep as what it closes"),
        pytest.param('{\n\t"a": [\n\t\t1\n}', ["1\n]"], id="blanks and no text are taken over"),
        pytest.param('{\n "a": [\n  {\n   "b": 1  \n}', [None, None], id="of two, no place of one is right"),
    ],
)
def test_how_a_missing_bracket_is_put_in(text: str, instead: list[str | None]) -> None:
    found = rebalanced(text)
    assert found is not None and [each.instead for each in found.problems] == instead


def test_a_tab_is_as_deep_as_eight_blanks() -> None:
    text = '{\n\t"a": {\n\t\t"b": 1,\n        "c": 2\n}\n'
    assert parse(text).torn is None and list(read(text)[0]) == ["a", "c"]


@pytest.mark.parametrize("middle", ["|||||||", "======="])
def test_of_a_conflict_the_first_side_ends_at_the_first_line_between(middle: str) -> None:
    text = f'{{\n<<<<<<< a\n"a": 1\n{middle}\n"a": 2\n=======\n"a": 3\n>>>>>>> b\n}}'
    found, problems = read(text)
    assert found == {"a": 1} and len(problems) == 1


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        pytest.param('{"a": [1, 2], "b": 3}', "2]", "2, [3]", id="a bracket in an array"),
        pytest.param('{"a": {"x": "y"}, "b": 3}', '"y"', '"y', id="a quote that is missing on its line"),
        pytest.param('{"a": {"x": 1}, "b": 3}', "1}", "1}}", id="one bracket too many"),
        pytest.param('{"a": {"x": 1\n}, "b": 3}', "1\n", "1, \n", id="a comma"),
        pytest.param('{"a": {"x": {"y": 1}\n}, "b": 3}', "1}", "1", id="one bracket too few"),
        pytest.param('{"a": {"x": 1}}', "1", "[" * 99 + "]" * 99, id="as deep as is looked at"),
        pytest.param('{\n "a": {\n  "x": 1\n }\n}', "{\n  ", "{{", id="one bracket before another"),
        pytest.param('{\n "a": {\n  "b": "x"\n }\n}', "{\n  ", "{] ", id="a bracket of another kind"),
        pytest.param('{"a": [{}]}', "{}", "]}", id="an end before the end"),
        pytest.param('{"a": {"x": 1}, "b": tru}', "1", "2", id="a fault elsewhere, which is still there"),
        pytest.param('{"a": {"b": {},\n"c": 1\n}}', ": 1", "// 1", id="what is told last stands first"),
        pytest.param('{"a": {"b": {"c": ["x", "y"]\n}}}', '",', '":', id="a bracket of another kind than its fellow"),
    ],
)
def test_an_edit_is_read_as_the_whole_text_is(before: str, old: str, new: str) -> None:
    after = before.replace(old, new)
    found, whole = reparse(parse(before), after), parse(after)
    assert (found.root.value if found.root else None) == (whole.root.value if whole.root else None)
    assert found.problems == whole.problems and found.torn == whole.torn


def test_an_edit_that_makes_too_many_values_is_refused_as_the_whole_text_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (parser, incremental_parse):
        monkeypatch.setattr(module, "MAX_NODES", 4)
    found = reparse(parse('{"a": {"x": 1}}'), '{"a": {"x": [1, 2]}}')
    assert [each.message for each in found.problems] == ["the file holds more than 4 values and was not checked"]


def test_what_moves_twice_before_anybody_looks_has_moved_by_both() -> None:
    document = parse('{"a": {"x": 1}, "b": {"y": [2]}}')
    for number in ("12", "12345"):
        document = reparse(document, f'{{"a": {{"x": {number}}}, "b": {{"y": [2]}}}}')
    assert repr(document.root) == repr(parse(document.text).root)


def test_a_cursor_right_behind_a_name_is_in_it_and_one_step_on_it_is_not() -> None:
    document = parse('{"a" : {"b": 1}}')
    places = [document.place(offset) for offset in (4, 5, 8)]
    assert [each.in_name for each in places if each] == [True, False, True]
    assert [each.path for each in places if each] == [("a",), ("a",), ("a", "b")]


def test_an_item_is_no_member_of_what_its_list_is() -> None:
    document = parse('{"a": [1]}')
    assert document.follow(("a", 0))[1] is None and document.follow(("a",))[1] is not None


# Words


def test_forty_characters_are_shown() -> None:
    assert excerpt("x" * 40) == "x" * 40 and excerpt("x" * 41) == "x" * 39 + "…"
    assert spelling(parse("1").root, "1" * 40).title == f"Write {'1' * 40}"  # type: ignore[arg-type]
    assert spelling(parse("1").root, "1" * 41).title == f"Write {'1' * 39}…"  # type: ignore[arg-type]


def test_the_article_goes_by_how_a_word_is_said() -> None:
    assert [with_article(each) for each in ("unit", "object", "URL")] == ["a unit", "an object", "a URL"]


# Which findings, in which order


def test_where_there_are_too_many_errors_stay_and_then_the_first() -> None:
    warnings = [finding("w", "m", "", place, place, "warning") for place in range(MAX_FINDINGS)]
    errors = [finding("e", "m", "", 2 * MAX_FINDINGS + place, 0) for place in range(2)]
    kept = in_order([*reversed(warnings), *errors])
    assert [each.start for each in kept] == [*range(MAX_FINDINGS - 2), 2 * MAX_FINDINGS, 2 * MAX_FINDINGS + 1]


def test_at_one_place_the_shorter_comes_first_and_then_the_alphabet() -> None:
    found = [
        finding(rule, said, "", 1, end)
        for rule, said, end in (("b", "a", 3), ("a", "b", 3), ("a", "a", 3), ("z", "z", 2))
    ]
    assert [(each.rule, each.message) for each in in_order(found)] == [("z", "z"), ("a", "a"), ("a", "b"), ("b", "a")]


# Kinds of documents


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("file:///w/%2Eaurora/agents.json", True),
        ("./.aurora/./agents.json", True),
        ("/own/./agents.json", True),
        ("/w//.aurora//agents.json", True),
        ("/w/%2Eaurora/agents.json", False),
        ("/w/.aurora/x.agents.json", False),
    ],
)
def test_a_path_is_read_however_it_is_spelt(path: str, known: bool) -> None:
    assert (kind_of(path, "/own") is not None) is known


@pytest.mark.parametrize("member", ["metrics", "schema_version", "completed_at"])
def test_what_only_the_end_of_a_deliverable_has_tells_it(member: str) -> None:
    final = schema_of(METRICS_OUTPUT)
    assert schema_of(DELIVERABLE, parse(f'{{"{member}": 1}}')) is final
    assert schema_of(DELIVERABLE, parse('{"change_id": 1}')) is not final


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param('{"llm": {"capz": 1}}', ["caps"], id="one that is near"),
        pytest.param('{"llm": {"caps": {}, "capz": 1}}', [None], id="but none that is there"),
        pytest.param('{"llm": {"capz": 1', [], id="nothing in a text whose brackets do not match"),
    ],
)
def test_what_a_setting_that_nothing_reads_was_meant_to_be(text: str, told: list[str | None]) -> None:
    found = [each for each in against_schema(parse(text), CONFIGURATION) if each.rule == "schema-unknown-member"]
    assert [each.fix and each.fix.edits[0].text.strip('"') for each in found] == told


# Shapes


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"$ref": "#/$defs/d", "description": "own"}, ("own", ("a",), ("x",)), id="by its own words"),
        pytest.param({"$ref": "#/$defs/d"}, ("other", ("a",), ("x",)), id="or by those of what it refers to"),
        pytest.param({"$ref": "#/$defs/d", "required": ["b"]}, ("other", ("a", "b"), ("x",)), id="needs of both"),
        pytest.param({"enum": ["y"], "$ref": "#/$defs/d"}, ("other", ("a",), ("y",)), id="its own choices"),
    ],
)
def test_a_place_is_described_by_its_schema_and_what_that_refers_to(schema: dict[str, Any], value: Any) -> None:
    other = {"description": "other", "required": ["a"], "enum": ["x"]}
    shape = Shapes({**schema, "$defs": {"d": other}}).root
    assert (shape.description, tuple(sorted(shape.needed)), shape.choices) == value


def test_of_one_member_told_twice_the_places_own_shape_counts() -> None:
    branch = {"properties": {"a": {"type": "string"}, "b": {"type": "null"}}}
    shape = Shapes({"anyOf": [branch], "properties": {"a": {"type": "number"}}}).root
    assert {name: each.kinds for name, each in shape.members.items()} == {"a": ("number",), "b": ("null",)}


def test_a_value_fits_where_it_fits_one_branch() -> None:
    shape = Shapes({"anyOf": [{"type": "string"}, {"type": "null"}]}).root
    assert shape.kinds == ("string", "null")
    assert shape.accepts("x") and shape.accepts(None) and not shape.accepts(1)


def test_members_that_no_schema_names_have_the_shape_of_the_others() -> None:
    for keyword in ("additionalProperties", "x-aurora-values"):
        shapes = Shapes({"properties": {"a": {"type": "null"}}, keyword: {"type": "string"}})
        assert [found.kinds for name in "az" if (found := shapes.along([name]))] == [("null",), ("string",)]


# Edits


@pytest.mark.parametrize(
    ("text", "made"),
    [
        pytest.param('{"a": 1}', '{"a": 1, "b": 2}', id="on one line with a blank"),
        pytest.param('{"a":1}', '{"a":1, "b": 2}', id="at the beginning nothing tells otherwise"),
        pytest.param('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"b": 2\r\n}', id="on lines that end as these do"),
        pytest.param("{}", '{"b": 2}', id="alone"),
        pytest.param('{"b": 1}', None, id="not twice"),
    ],
)
def test_a_member_is_laid_out_as_those_before_it(text: str, made: str | None) -> None:
    document = parse(text)
    assert isinstance(document.root, Object)
    fix = adding_member(document, document.root, "b", 2)
    edit = fix.edits[0] if fix is not None else None
    assert (text[: edit.start] + edit.text + text[edit.end :] if edit else None) == made


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("[1, 1]", True),
        ("[1, 1.0]", False),
        ('["a", "\\u0061"]', True),
        ('[{"a": 1}, {"a": 1}]', True),
        ("[1, 2]", False),
    ],
)
def test_two_values_are_the_same_where_everybody_reads_them_so(text: str, alike: bool) -> None:
    one, other = parse(text).root.items  # type: ignore[union-attr]
    assert same(text, one, other) is alike
