"""Merge conflicts (conflict markers) that git left in a text: each is one problem, and the text is read by its first
side."""

from __future__ import annotations

import re

from msgspec import Struct

from aurora_manifest.json.document import Problem

_MARK = re.compile(r"^(?:<{7}(?: [^\n\r]*)?|\|{7}(?: [^\n\r]*)?|={7}|>{7}(?: [^\n\r]*)?)(?=\r?$)", re.MULTILINE)
_ADVICE = "a merge conflict: keep one of its sides, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>"


class FirstSides(Struct, frozen=True):
    """A text of the same length with white space in place of what is not of the first side, and what is wrong."""

    text: str
    problems: tuple[Problem, ...]


def first_sides(text: str) -> FirstSides | None:
    """The text as one branch had it; None where it has no whole conflict. Takes one look at the text."""
    if "<<<<<<<" not in text:
        return None
    pieces, problems = list[str](), list[Problem]()
    at, begun, apart = 0, None, None
    for mark in _MARK.finditer(text):
        char = mark[0][0]
        if char == "<":
            begun, apart = mark, None
        elif char != ">" and begun is not None and apart is None:
            apart = mark
        elif char == ">" and begun is not None and apart is not None:
            pieces += (text[at : begun.start()], _blank(begun[0]), text[begun.end() : apart.start()])
            pieces.append(_blank(text[apart.start() : mark.end()]))
            at = mark.end()
            problems.append(Problem("json-syntax", _ADVICE, begun.start(), begun.end()))
            begun = apart = None
    return FirstSides("".join((*pieces, text[at:])), tuple(problems)) if problems else None


def _blank(text: str) -> str:
    """White space of the same length and lines."""
    return re.sub(r"[^\n\r]", " ", text)
