"""Rules about the text as JSON (RFC 8259). The scanner finds; the rules here tell and mend."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from aurora_manifest.edits import removing_member, spelt
from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import JsonDocument, Object, Problem, SyntaxRule
from aurora_manifest.rules.registry import RuleMatch, text_rule
from aurora_manifest.rules.subject import Subject


@text_rule("json-syntax", "error")
def broken_json(subject: Subject) -> Iterator[RuleMatch]:
    """The text is not JSON here.

    Clients read manifests with strict JSON readers: one missing comma and they see nothing at all. Reading goes on
    behind each error, so that all of them are told at once.

    Bad: {"protocol": "AURA" "version": "1.0"}
    Good: {"protocol": "AURA", "version": "1.0"}
    """
    for problem in _of(subject, "json-syntax"):
        yield _found(subject, problem, _put_right(problem))


@text_rule("json-comment", "error")
def comment(subject: Subject) -> Iterator[RuleMatch]:
    """The text has a comment, which JSON does not allow.

    Editors often show comments in JSON files as if they were fine; clients refuse the file. A member of your own, such
    as `x-note`, is a place for remarks.

    Bad: {"protocol": "AURA" /* ours */}
    Good: {"protocol": "AURA", "x-note": "ours"}
    """
    text = subject.document.text
    for problem in _of(subject, "json-comment"):
        start, end = problem.start, problem.end
        line = text.rfind("\n", 0, start) + 1
        if not text[line:start].strip() and text[end : end + 1] in ("\n", "\r", "") and line:
            start = line - (2 if text[line - 2 : line] == "\r\n" else 1)
        yield _found(subject, problem, Fix("Remove the comment", (Edit(start, end, ""),)))


@text_rule("json-trailing-comma", "error")
def trailing_comma(subject: Subject) -> Iterator[RuleMatch]:
    """A comma stands before a closing bracket.

    JavaScript and Python allow it, JSON does not.

    Bad: {"protocol": "AURA",}
    Good: {"protocol": "AURA"}
    """
    for problem in _of(subject, "json-trailing-comma"):
        yield _found(subject, problem, Fix("Remove the comma", (Edit(problem.start, problem.end, ""),)))


@text_rule("json-duplicate-key", "error")
def duplicate_key(subject: Subject) -> Iterator[RuleMatch]:
    """An object has two members of the same name.

    Most readers keep the last and drop the others without a word, some keep the first: what the manifest says depends
    on who reads it.

    Bad: {"version": "1.0", "version": "1.0"}
    Good: {"version": "1.0"}
    """
    seen: dict[int, dict[str, list[int]]] = {}
    for problem in _of(subject, "json-duplicate-key"):
        yield _found(subject, problem, _without_earlier(subject.document, problem, seen))


@text_rule("json-byte-order-mark", "warning", decides=False)
def byte_order_mark(subject: Subject) -> Iterator[RuleMatch]:
    r"""The file begins with a byte order mark.

    RFC 8259 §8.1 forbids to write one; some readers skip it, others refuse the file.

    Bad: \ufeff{"protocol": "AURA"}
    Good: {"protocol": "AURA"}
    """
    for problem in _of(subject, "json-byte-order-mark"):
        yield _found(subject, problem, Fix("Remove the byte order mark", (Edit(problem.start, problem.end, ""),)))


@text_rule("json-too-deep", "error")
def too_deep(subject: Subject) -> Iterator[RuleMatch]:
    """Something is nested deeper than a hundred levels.

    No manifest needs that, many readers stop earlier, and what lies deeper is not checked here.

    Bad: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
         ]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
    Good: [[[[[[[[[[]]]]]]]]]]
    """
    for problem in _of(subject, "json-too-deep"):
        yield _found(subject, problem)


@text_rule("json-too-large", "error")
def too_large(subject: Subject) -> Iterator[RuleMatch]:
    """The file is too large to be checked: more than 8 MiB, or more than 250,000 values.

    A manifest is fetched by every client: keep it far below. Split what is really several sites.

    Bad: (a text of nine million characters)
    Good: {"protocol": "AURA"}
    """
    for problem in _of(subject, "json-too-large"):
        yield _found(subject, problem)


def _of(subject: Subject, rule: SyntaxRule) -> Iterator[Problem]:
    return (problem for problem in subject.document.problems if problem.rule == rule)


def _found(subject: Subject, problem: Problem, fix: Fix | None = None) -> RuleMatch:
    pointer = subject.document.pointer_at(problem.start)
    return RuleMatch(problem.message, pointer, problem.start, problem.end, fix)


def _put_right(problem: Problem) -> Fix | None:
    if problem.instead is None:
        return None
    title = f"Write {problem.instead}" if len(problem.instead) <= 40 else "Write it as JSON"
    return Fix(title, (Edit(problem.start, problem.end, problem.instead),))


def _without_earlier(document: JsonDocument, problem: Problem, seen: dict[int, dict[str, list[int]]]) -> Fix | None:
    """Take out the member before that has the same name: the later one is what counts.

    `seen` keeps the places of each name by object, so that a thousand repeats do not cost a thousand searches.
    """
    place = document.place(problem.start)
    around = document.follow(place.path[:-1])[0] if place else None
    if not isinstance(around, Object) or place is None or not around.start <= problem.start < around.end:
        return None
    if around.start not in seen:
        places = seen.setdefault(around.start, {})
        for index, member in enumerate(around.members):
            places.setdefault(member.name, []).append(index)
    name = str(place.path[-1])
    indices = seen[around.start].get(name, [])
    at = bisect_left(indices, problem.start, key=lambda index: around.members[index].name_start)
    if not at:
        return None
    return removing_member(around, indices[at - 1], f"Remove the earlier {spelt(name)}, which does not count")
