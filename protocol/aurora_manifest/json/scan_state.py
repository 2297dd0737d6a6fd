"""Scan state (parser state): how far the reading of a text has come: what both gears of the parser share."""

from __future__ import annotations

from aurora_manifest.json.document import Array, Node, Object, Problem, SyntaxRule
from aurora_manifest.json.value_text import quoted

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
        self.comma = -1
        self.expects_comma = False
        self.panic = False
        self.left_out = False
        self.syntax_errors = 0

    def problem(
        self, rule: SyntaxRule, message: str, start: int, end: int, instead: str | None = None, certain: bool = False
    ) -> None:
        """Note what is wrong; beyond the first thousand problems nothing is noted any more."""
        if rule == "json-syntax":
            self.syntax_errors += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(rule, message, start, end, instead, certain))

    def duplicate(self, name: str, start: int, end: int) -> None:
        """Note a name that its object already has."""
        self.problem("json-duplicate-key", f"{quoted(name)} is already a member here: only one counts", start, end)
