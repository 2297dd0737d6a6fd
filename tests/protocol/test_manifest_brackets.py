"""One bracket that is missing, or one too many, is one finding, and where it is."""

from __future__ import annotations

import json
import random
import re
from functools import cache

import pytest

from aurora_manifest.findings import Finding
from aurora_manifest.fix_all import edited
from aurora_manifest.json.parser import parse
from tests.manifests import check, manifest, reference_manifests
from tests.shares import examples, one_of_each

LAYOUTS = (2, 4, "\t")
_LAID_OUT = [json.dumps(each, indent=by) for by in LAYOUTS for each in (manifest(4), *reference_manifests())]
TEXTS = one_of_each(_LAID_OUT, kind=lambda text: text.partition('"')[0])
"""Of each layout one manifest."""


@cache
def known(text: str) -> list[tuple[str, str]]:
    return [(each.rule, each.message) for each in check(text)]


def told(text: str, broken: str, line: int) -> Finding:
    """The one finding that the broken text has and the text has not; it is at that line, or at the one before."""
    news = [each for each in check(broken) if (each.rule, each.message) not in known(text)]
    assert len(news) == 1, [each.message for each in news]
    assert line - 1 <= broken.count("\n", 0, news[0].start) <= line, (line, news[0])
    return news[0]


def lines_with(text: str, pattern: str) -> list[int]:
    found = [number for number, line in enumerate(text.split("\n")) if re.search(pattern, line)]
    return random.Random(20).sample(found, min(examples(32), len(found)))


@pytest.mark.hypothesis
@pytest.mark.parametrize("text", TEXTS)
def test_a_missing_closing_bracket_is_told_where_it_is_missing(text: str) -> None:
    lines = text.split("\n")
    for number in lines_with(text, r"^\s*[}\]],?$"):
        bracket = lines[number].strip()[0]
        for instead in ([], [lines[number].replace(bracket, "")], [lines[number].replace(bracket, "").rstrip(",")]):
            broken = "\n".join([*lines[:number], *instead, *lines[number + 1 :]])
            found = told(text, broken, number)
            assert f'"{bracket}" is missing here' in found.message or "is never closed" in found.message
            assert found.fix is None or "\n" not in found.fix.title, "a title is one line"
            document = parse(broken)
            if document.torn is None:
                assert document.root is not None and document.root.value == json.loads(text)


@pytest.mark.hypothesis
@pytest.mark.parametrize("text", TEXTS)
def test_a_missing_opening_bracket_is_told_where_it_is_missing(text: str) -> None:
    lines = text.split("\n")
    for number in lines_with(text, r'": \{$'):
        broken = "\n".join([*lines[:number], lines[number][:-1], *lines[number + 1 :]])
        assert told(text, broken, number).message == '"{" is missing here'


@pytest.mark.hypothesis
@pytest.mark.parametrize("text", TEXTS)
def test_a_bracket_too_many_is_told_where_it_is(text: str) -> None:
    lines = text.split("\n")
    for number in lines_with(text, r'^\s*"'):
        space = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
        if lines[number - 1].endswith(("{", "[")):
            continue
        broken = "\n".join([*lines[:number], f"{space}}}", *lines[number:]])
        assert told(text, broken, number).message == '"}" closes nothing'


@pytest.mark.hypothesis
@pytest.mark.parametrize("text", TEXTS)
def test_a_bracket_too_many_takes_its_comma_with_it(text: str) -> None:
    lines = text.split("\n")
    for number in lines_with(text, r'^\s*"'):
        if not lines[number - 1].endswith(","):
            continue
        space = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
        broken = "\n".join([*lines[:number], f"{space}}},", *lines[number:]])
        found = told(text, broken, number)
        assert found.message == '"}" closes nothing'
        assert found.fix is None or json.loads(edited(broken, found.fix.edits)) == json.loads(text)


@pytest.mark.parametrize("base", ["", "||||||| 1234567\n{line}\n"])
def test_a_merge_conflict_is_one_finding_and_the_rest_is_read_by_its_first_side(base: str) -> None:
    document = manifest(2)
    document["capabilities"]["note_0"]["id"] = "other"
    lines = json.dumps(document, indent=2).split("\n")
    number = next(at for at, line in enumerate(lines) if '"protocol"' in line)
    theirs = lines[number].replace("AURA", "AURORA")
    sides = [f"<<<<<<< HEAD\n{lines[number]}\n", base.format(line=theirs), f"=======\n{theirs}\n>>>>>>> theirs"]
    broken = "\n".join([*lines[:number], "".join(sides), *lines[number + 1 :]])
    found = check(broken)
    assert [each.rule for each in found] == ["json-syntax", "capability-id"]
    assert found[0].message.startswith("a merge conflict: keep one of its sides")
    assert broken[found[0].start : found[0].end] == "<<<<<<< HEAD"
    assert parse(broken).root.value == document, "as the first side has it"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text", ["<<<<<<< HEAD\n{}", "<<<<<<< a\n=======\n{}", '{"a": "<<<<<<< b"}', "=======\n>>>>>>> b\n{}"]
)
def test_a_part_of_a_conflict_is_none(text: str) -> None:
    assert not any("merge conflict" in each.message for each in check(text))


def test_the_fix_puts_the_bracket_where_it_is_missing() -> None:
    text = '{\n  "a": {\n    "b": 1,\n  "c": 2\n}\n'
    (found,) = [each for each in check(text) if each.rule == "json-syntax"]
    assert found.message == '"}" is missing here: the "{" of "a" in line 2 is not closed'
    assert found.fix is not None and not found.fix.loss_free
    (edit,) = found.fix.edits
    mended = text[: edit.start] + edit.text + text[edit.end :]
    assert json.loads(mended) == {"a": {"b": 1}, "c": 2}


@pytest.mark.parametrize(("missing", "told_of"), [(1, 1), (2, 2), (3, 3), (4, 0)])
def test_three_brackets_are_put_in_where_the_lines_tell_them_and_of_more_none(missing: int, told_of: int) -> None:
    names = [f'  "m{n}": {{\n    "x": {n}{"," if n < missing else ""}\n' for n in range(missing)]
    whole = [f'  "k{n}": {{\n    "x": {n}\n  }},\n' for n in range(2)]
    text = "{\n" + "".join(whole) + "".join(each.replace(",\n", "\n") for each in names) + '  "z": 1\n}\n'
    problems = parse(text).problems
    laid_out = [each for each in problems if "is missing here: the" in each.message]
    assert len(laid_out) == told_of and problems


@pytest.mark.parametrize(
    "text",
    [
        '{"resources": {}, "capabilities": {"a": {"v": 1.5, "id": "b"}',
        '{"capabilities": {"a": {"v": 1.5]}, "site": {}}',
        '{"site": {}}}, "protocol": "aura"}',
    ],
)
def test_where_nothing_tells_what_belongs_to_what_nothing_else_is_told(text: str) -> None:
    assert {each.rule for each in check(text)} == {"json-syntax"}


def test_what_stands_before_is_told_all_the_same() -> None:
    document = manifest(2)
    document["capabilities"]["note_0"]["id"] = "other"
    text = json.dumps(document)
    broken = text[: text.rindex("/text")] + '/text", "x": [}' + text[text.rindex("/text") + 6 :]
    assert "capability-id" in {each.rule for each in check(broken)}


def test_a_sound_text_may_be_laid_out_in_any_way() -> None:
    chance = random.Random(11)
    text = json.dumps(manifest(3), indent=1)
    lines = [" " * chance.randrange(9) + line.strip() for line in text.split("\n")]
    assert check("\n".join(lines)) == [] or {each.rule for each in check("\n".join(lines))} == {
        each.rule for each in check(text)
    }
    assert parse("\n".join(lines)).problems == ()
