"""Rules about JSON syntax (RFC 8259): trailing commas, comments, quotes, brackets. The parser finds; the rules here
tell and mend.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from aurora_manifest.edits import removing_member, renaming, same, spelt, without_member
from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import JsonDocument, Member, Object, Problem, SyntaxRule
from aurora_manifest.json.literals import NOT_FINITE
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
    muddled = _muddled(subject.document)
    for problem in _of(subject, "json-syntax"):
        yield _found(subject, problem, _put_right(subject.document, problem, muddled), *_finite(subject, problem))


@text_rule("json-comment", "error")
def comment(subject: Subject) -> Iterator[RuleMatch]:
    """The text has a comment, which JSON does not allow.

    Editors often show comments in JSON files as if they were fine; clients refuse the file. A member of your own, such
    as `x-note`, is a place for remarks.

    Bad: {"protocol": "AURA" /* ours */}
    Good: {"protocol": "AURA", "x-note": "ours"}
    """
    text = subject.document.text
    # Where a quote is lost, an address looks like one: `https://…`.
    sound = not _muddled(subject.document)
    for problem in _of(subject, "json-comment"):
        start, end = problem.start, problem.end
        line = text.rfind("\n", 0, start) + 1
        if not text[line:start].strip() and text[end : end + 1] in ("\n", "\r", "") and line:
            start = line - (2 if text[line - 2 : line] == "\r\n" else 1)
        yield _found(subject, problem, Fix("Remove the comment", (Edit(start, end, ""),), sound))


@text_rule("json-trailing-comma", "error")
def trailing_comma(subject: Subject) -> Iterator[RuleMatch]:
    """A comma stands before a closing bracket.

    JavaScript and Python allow it, JSON does not.

    Bad: {"protocol": "AURA",}
    Good: {"protocol": "AURA"}
    """
    muddled = _muddled(subject.document)
    for problem in _of(subject, "json-trailing-comma"):
        sound = _line(subject.document, problem) not in muddled
        yield _found(subject, problem, Fix("Remove the comma", (Edit(problem.start, problem.end, ""),), sound))


@text_rule("json-duplicate-key", "error")
def duplicate_key(subject: Subject) -> Iterator[RuleMatch]:
    """An object has two members of the same name.

    Most readers keep the last and drop the others without a word, some keep the first: what the manifest says depends
    on who reads it. Where both say the same, one of them can go; otherwise only you know which is meant, or what the
    other was to be called.

    Bad: {"version": "1.0", "version": "1.0"}
    Good: {"version": "1.0"}
    """
    seen: dict[int, dict[str, list[int]]] = {}
    for problem in _of(subject, "json-duplicate-key"):
        yield _found(subject, problem, *_of_two(subject.document, problem, seen))


@text_rule("json-byte-order-mark", "warning", decides=False)
def byte_order_mark(subject: Subject) -> Iterator[RuleMatch]:
    r"""The file begins with a byte order mark.

    RFC 8259 §8.1 forbids to write one; some readers skip it, others refuse the file.

    Bad: \ufeff{"protocol": "AURA"}
    Good: {"protocol": "AURA"}
    """
    for problem in _of(subject, "json-byte-order-mark"):
        fix = Fix("Remove the byte order mark", (Edit(problem.start, problem.end, ""),), True)
        yield _found(subject, problem, fix)


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


def _found(subject: Subject, problem: Problem, fix: Fix | None = None, *others: Fix) -> RuleMatch:
    pointer = subject.document.pointer_at(problem.start)
    return RuleMatch(problem.message, pointer, problem.start, problem.end, fix, others=others)


def _muddled(document: JsonDocument) -> set[int]:
    """The lines on which it is not certain what was meant: what else seems to be there may be something else."""
    return {
        line
        for problem in document.problems
        if problem.rule == "json-syntax" and not problem.certain
        for line in range(_line(document, problem), document.lines.line_of(problem.end) + 1)
    }


def _line(document: JsonDocument, problem: Problem) -> int:
    return document.lines.line_of(problem.start)


def _put_right(document: JsonDocument, problem: Problem, muddled: set[int]) -> Fix | None:
    """What would put it right: without loss where it is certain, and so is the line that would be changed."""
    if problem.instead is None:
        return None
    clear = _line(document, problem) not in muddled
    token = document.text[problem.start : problem.end]
    if problem.instead == f",{token}":  # it goes behind the value before, on its line
        end = len(document.text[: problem.start].rstrip(" \t\n\r"))
        if not any(each.end == end and each.rule == "json-comment" for each in document.problems):
            clear = clear and document.lines.line_of(end) not in muddled
            return Fix("Write ,", (Edit(end, end, ","),), problem.certain and clear)
    shown = " ".join(problem.instead.split())  # a closed bracket may stand on a line of its own; a title is one line
    title = f"Write {shown}" if len(shown) <= 40 else "Write it as JSON"
    if not problem.instead:
        removed = " ".join(token.split())
        title = "Remove the comma" if token == "," else f"Remove the {removed}" if len(removed) <= 40 else "Remove it"
    elif problem.instead == token:  # what is missing belongs elsewhere
        title = f"Write {' '.join(''.join(text for _, _, text in problem.also).split())} at the end"
    elif len(token) == 1 and not token.isalnum() and problem.instead.startswith(token):  # put in behind it
        title = f"Write {' '.join(problem.instead[1:].split())}"
    edits = Edit(problem.start, problem.end, problem.instead), *(Edit(*each) for each in problem.also)
    return Fix(title, edits, problem.certain and clear)


def _finite(subject: Subject, problem: Problem) -> Iterator[Fix]:
    """A choice for a number that JSON has not, or for nothing: mostly it is a bound that is none, and can go."""
    document = subject.document
    if document.text[problem.start : problem.end].lstrip("+-").lower() not in NOT_FINITE | {"undefined"}:
        return
    place = document.place(problem.start)
    around = document.follow(place.path[:-1])[0] if place is not None and place.path else None
    if isinstance(around, Object) and not any(
        around.start <= each.start < around.end and each is not problem for each in document.problems
    ):
        for index, member in enumerate(around.members):
            if member.value.start == problem.start:
                yield Fix(f"Remove {spelt(member.name)}", (without_member(around, index),))


def _of_two(
    document: JsonDocument, problem: Problem, seen: dict[int, dict[str, list[int]]]
) -> tuple[Fix | None, *tuple[Fix, ...]]:
    """Take out the member before that has the same name, if it says the same; otherwise there is nothing but choices.

    `seen` keeps the places of each name by object, so that a thousand repeats do not cost a thousand searches.
    """
    place = document.place(problem.start)
    around = document.follow(place.path[:-1])[0] if place else None
    if not isinstance(around, Object) or place is None or not around.start <= problem.start < around.end:
        return (None,)
    if around.start not in seen:
        places = seen.setdefault(around.start, {})
        for index, member in enumerate(around.members):
            places.setdefault(member.name, []).append(index)
    name = str(place.path[-1])
    indices = seen[around.start].get(name, [])
    at = bisect_left(indices, problem.start, key=lambda index: around.members[index].name_start)
    if not at:
        return (None,)
    earlier, later = indices[at - 1], indices[at]
    first, second = around.members[earlier], around.members[later]
    if same(document.text, first.value, second.value) and not _has_comment(
        document, first, around.members[earlier + 1]
    ):
        title = f"Remove the earlier {spelt(name)}, which says the same"
        return (removing_member(around, earlier, title, loss_free=True),)
    numbers = range(2, len(around.members) + 3)
    free = next(other for number in numbers if (other := f"{name}_{number}") not in around.value)
    choices = (
        removing_member(around, earlier, f"Remove the earlier {spelt(name)}, which does not count"),
        removing_member(around, later, f"Remove this {spelt(name)}"),
        renaming(second.name_start, second.name_end, free),
    )
    return (None, *(each for each in choices if each is not None))


def _has_comment(document: JsonDocument, member: Member, following: Member) -> bool:
    """Whether there is something beside its value that goes with a member when it is taken out.

    That its own name is a repeat is nothing of it.
    """
    return any(
        member.name_start <= each.start < following.name_start and each.rule != "json-duplicate-key"
        for each in document.problems
    )
