"""Scan state (parser state, panic mode): how far the reading of a text has come: what both gears of the parser
share."""

from __future__ import annotations

import re
from typing import cast

from aurora_manifest.json.document import Array, Member, Node, Object, Problem, Scalar, SyntaxRule
from aurora_manifest.json.value_text import quoted

_BREAK = re.compile(r"[\n\r]").search

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 100
MAX_NODES = 250_000
MAX_PROBLEMS = 1_000
MAX_SYNTAX_ERRORS = 10_000
"""Beyond so many the text is no JSON worth recovering: reading stops."""


class ScanState:
    """The state of one pass over one text.

    `stack` holds the open objects and arrays. `comma` is where a comma was just read, or -1; `expects_comma` tells that
    a value was just read instead. `panic` is on after a structural error until the next delimiter: what follows on the
    same line is a consequence, not news. `left_out` tells that something since the last delimiter was not understood.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.root: Node | None = None
        self.nodes = 0
        self.problems: list[Problem] = []
        self.stack: list[Object | Array] = []
        self.closers: dict[int, tuple[str, int]] = {}
        """By where a bracket of another kind opened: which may close it, and which problem tells of it."""
        self.comma = -1
        self.expects_comma = False
        self.panic = False
        self.last_error = 0
        self.left_out = False
        self.syntax_errors = 0

    def problem(
        self, rule: SyntaxRule, message: str, start: int, end: int, instead: str | None = None, certain: bool = False
    ) -> None:
        """Note what is wrong; beyond the first thousand problems nothing is noted any more."""
        self.note(Problem(rule, message, start, end, instead, certain))

    def note(self, problem: Problem) -> None:
        """Note a problem as `problem` does."""
        if problem.rule == "json-syntax":
            self.syntax_errors += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)

    def duplicate(self, name: str, start: int, end: int) -> None:
        """Note a name that its object already has."""
        self.problem("json-duplicate-key", f"{quoted(name)} is already a member here: only one counts", start, end)

    def lexical(self, problems: list[Problem]) -> None:
        """Note what is wrong within a value."""
        for each in problems:
            self.problem(each.rule, each.message, each.start, each.end, each.instead, each.certain)

    def is_consequence(self, start: int) -> bool:
        """Whether what is wrong at a place follows from what was told before it on its line."""
        return self.panic and not _BREAK(self.text, min(self.last_error, start), start)

    def structural(self, message: str, start: int, end: int, instead: str | None = None, certain: bool = False) -> None:
        """Note what is wrong between values; nothing of what follows from that is told."""
        consequence = self.is_consequence(start)
        self.panic = True
        self.last_error = end
        if consequence:
            self.syntax_errors += 1
        else:
            self.problem("json-syntax", message, start, end, instead, certain)


def replace_last(around: Object | Array, node: Object | Array | Scalar) -> None:
    """Put a value in place of the last one of an object, where its name stays, or array."""
    if isinstance(around, Object):
        last = around.members[-1]
        cast("list[Member]", around.members)[-1] = Member(last.name, last.name_start, last.name_end, node)
        around.value[last.name] = node.value
    else:
        cast("list[Node]", around.items)[-1] = node
        around.value[-1] = node.value
