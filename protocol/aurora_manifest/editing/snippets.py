"""JSON to be put into a manifest, with holes for the user to fill (tab stops, placeholders): LSP snippets, or plain
text for clients without."""

from __future__ import annotations

import re

from msgspec import Struct

from aurora_manifest.edits import spelt

_SPECIAL_IN_HOLE = re.compile(r"([\\$}])")
_SPECIAL_IN_CHOICE = re.compile(r"([\\$},|])")
_SPECIAL = re.compile(r"([\\$])")


class Hole(Struct, frozen=True):
    """A place to fill in. `text` stands there until then; `choices` are offered, where there are any.

    A `bare` hole is a number, a word or nothing at all; others are the content of a string. Holes with the same `link`
    are filled in together.
    """

    text: str = ""
    choices: tuple[str, ...] = ()
    bare: bool = False
    link: str = ""


class Braces(Struct, frozen=True):
    """An empty object or array with the cursor in it: `{}` or `[]`."""

    text: str = "{}"


Tree = dict[str, "Tree"] | list["Tree"] | str | int | bool | None | Hole | Braces
"""A JSON value in which parts are left to fill in."""


class Writer:
    """Writer of trees that numbers their holes in the order of the text. `unit` is one step of indentation."""

    def __init__(self, unit: str, line_end: str, *, snippets: bool) -> None:
        self._unit = unit
        self._line_end = line_end
        self._snippets = snippets
        self._holes = 0
        self._linked: dict[str, int] = {}

    def text(self, text: str) -> str:
        """Text as it is, with what a snippet would take for a placeholder escaped."""
        return _SPECIAL.sub(r"\\\1", text) if self._snippets else text

    def value(self, tree: Tree, depth: int = 0) -> str:
        """A value; lines after the first are indented by `depth` and more."""
        match tree:
            case Hole():
                filled = self._hole(tree)
                return filled if tree.bare else f'"{filled}"'
            case Braces():
                return f"{tree.text[0]}{self._hole(Hole(bare=True))}{tree.text[1]}"
            case dict() if tree:
                members = (f"{self.text(spelt(name))}: {self.value(each, depth + 1)}" for name, each in tree.items())
                return self._lines("{", list(members), "}", depth)
            case list() if tree:
                return f"[{', '.join(self.value(each, depth + 1) for each in tree)}]"
        return self.text(spelt(tree))

    def _lines(self, opening: str, parts: list[str], closing: str, depth: int) -> str:
        inner = self._line_end + self._unit * (depth + 1)
        return f"{opening}{inner}{f',{inner}'.join(parts)}{self._line_end}{self._unit * depth}{closing}"

    def _hole(self, hole: Hole) -> str:
        """Placeholder (tab stop) of a snippet: linked ones are one, choices are offered."""
        text = hole.text if hole.bare else spelt(hole.text)[1:-1]
        if not self._snippets:
            return text
        if hole.link in self._linked:
            return f"${self._linked[hole.link]}"
        self._holes += 1
        if hole.link:
            self._linked[hole.link] = self._holes
        if hole.choices:
            spelt_choices = hole.choices if hole.bare else [spelt(each)[1:-1] for each in hole.choices]
            choices = [_SPECIAL_IN_CHOICE.sub(r"\\\1", each) for each in spelt_choices]
            return f"${{{self._holes}|{','.join(choices)}|}}"
        escaped = _SPECIAL_IN_HOLE.sub(r"\\\1", text)
        return f"${{{self._holes}:{escaped}}}" if text else f"${self._holes}"
