"""Cited spans (content hashes): the lines that an answer rests on, so that a later use sees whether they still say the
same, or have moved.

A span that stands elsewhere in its file, under the same headings, is found again. One that changed is `drifted`: it is
verified anew before its answer may be given at no cost. Without a model only one thing can be verified: that nothing
but the layout has changed, where layout means nothing.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from aurora_memory.documents import CitedSpan
from aurora_orchestration.soar.said_places import block_of, places_of
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import ContextBundle

MAX_SPANS = 200
_BY_INDENTATION = (".py", ".pyi", ".pyx", ".yaml", ".yml", ".nim", ".coffee", ".haml", ".pug", ".sass", ".md", ".rst",
                   ".mk", ".txt", ".fs", ".hs", ".jl", ".ipynb")  # fmt: skip
"""Files in which white space may mean something."""

State = Literal["fresh", "moved", "reformatted", "drifted"]


class Found(Struct, frozen=True):
    """State of a cited span now: as it was, and where it stands now (the same where it has `drifted`)."""

    state: State
    before: CitedSpan
    now: CitedSpan


def span_of(file: str, first: int, last: int, workspace: WorkspaceText) -> CitedSpan | None:
    """Lines of a file as a span, of a single line with the block it begins; None where they are not there. Blocks."""
    lines = workspace.lines(file)
    if lines is None or not 1 <= first <= last <= len(lines):
        return None
    if first == last:
        last = first + len(block_of(lines, first - 1)) - 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    text = lines[first - 1 : last]
    told, squeezed = _plain(text), _squeezed(text)
    span = CitedSpan(
        file=file,
        line_start=first,
        line_end=last,
        lines=len(told),
        hash=_hash("\n".join(told)),
        headings=_hash("\n".join(_headings(lines, first - 1))),
        squeezed=_hash(squeezed),
        length=len(squeezed),
    )
    return replace(span, copies=max(1, len(_by_hash(lines, span))))


def spans_of(texts: Iterable[str], context: ContextBundle, workspace: WorkspaceText) -> tuple[CitedSpan, ...] | None:
    """The spans that texts name, and those that a context showed; None where one of them cannot be read. Blocks."""
    named = [
        (file, first, last)
        for text in texts
        for path, first, last, _, _ in places_of(text)
        for file in workspace.files_named(path)[:1]
    ]
    shown = [
        (chunk.file, chunk.line_start, chunk.line_end)
        for chunk in context.chunks
        if chunk.type != "reas" and chunk.file and chunk.line_start
    ]
    found: dict[tuple[str, int, int], CitedSpan] = {}
    for place in dict.fromkeys((*named, *shown)):
        span = span_of(*place, workspace)
        if span is None:
            return None
        found.setdefault((span.file, span.line_start, span.line_end), span)
    return tuple(found.values()) if 0 < len(found) <= MAX_SPANS else None


def look_again(span: CitedSpan, workspace: WorkspaceText) -> Found:
    """What became of a span since. Blocks."""
    lines = workspace.lines(span.file)
    if lines is None:
        return Found("drifted", span, span)
    there = lines[span.line_start - 1 : span.line_end]
    if len(there) == span.line_end - span.line_start + 1 and _same(span, lines, span.line_start - 1, there):
        return Found("fresh", span, span)
    places = _by_hash(lines, span)
    under = [place for place in places if _heading_hash(lines, place[0]) == span.headings]
    # As many as there were: of two that were alike, the one that is left need not be the one that was meant.
    if len(places) == span.copies and len(under) == 1:
        return Found("moved", span, _at(span, under[0]))
    if not span.file.endswith(_BY_INDENTATION):
        laid_out = _by_squeezed(lines, span)
        if len(laid_out) == 1:
            return Found("reformatted", span, _at(span, laid_out[0]))
    return Found("drifted", span, span)


def drifted_of(spans: Iterable[CitedSpan], workspace: WorkspaceText) -> list[str]:
    """The places of those spans that do not say what they said. Blocks."""
    found = [look_again(span, workspace) for span in spans]
    return [f"{each.before.file}:{each.before.line_start}" for each in found if each.state == "drifted"]


def relocated(text: str, found: Sequence[Found]) -> str:
    """Line numbers shifted: a text whose places say where their lines stand now."""
    moves = [each for each in found if each.now.line_start != each.before.line_start]
    pieces: list[str] = []
    done = 0
    for path, first, last, begin, end in places_of(text) if moves else ():
        for each in moves:
            old, shift = each.before, each.now.line_start - each.before.line_start
            if f"/{old.file}".endswith(f"/{path}") and old.line_start <= first <= last <= old.line_end:
                pieces += [text[done:begin], _shifted(text[begin:end], path, first, last, shift)]
                done = end
                break
    return "".join((*pieces, text[done:]))


def _shifted(said: str, path: str, first: int, last: int, shift: int) -> str:
    """A place as it is said, its line numbers changed; digits of the path stay."""
    at = said.find(path)
    before, inside, after = ("", said, "") if at < 0 else (said[:at], path, said[at + len(path) :])
    numbers = {str(first): str(first + shift), str(last): str(last + shift)}

    def moved(part: str) -> str:
        return re.sub(r"\d+", lambda number: numbers.get(number[0], number[0]), part)

    return moved(before) + (inside if at >= 0 else moved(inside)) + moved(after)


def _same(span: CitedSpan, lines: Sequence[str], begin: int, there: Sequence[str]) -> bool:
    return _hash("\n".join(_plain(there))) == span.hash and _heading_hash(lines, begin) == span.headings


def _at(span: CitedSpan, place: tuple[int, int]) -> CitedSpan:
    return replace(span, line_start=place[0] + 1, line_end=place[1] + 1)


def _by_hash(lines: Sequence[str], span: CitedSpan) -> list[tuple[int, int]]:
    """Where the span's very text stands (first and last index), blank lines and common indentation aside."""
    full = [number for number, line in enumerate(lines) if line.strip()]
    found = []
    for begin in range(len(full) - span.lines + 1):
        window = full[begin : begin + span.lines]
        if _hash("\n".join(_plain([lines[number] for number in window]))) == span.hash:
            found.append((window[0], window[-1]))
    return found


def _by_squeezed(lines: Sequence[str], span: CitedSpan) -> list[tuple[int, int]]:
    """Fuzzy match: where the span's text stands when no white space counts."""
    squeezed = [_squeezed([line]) for line in lines]
    found = []
    for begin, first in enumerate(squeezed):
        if not first:
            continue
        length, end = 0, begin
        while end < len(squeezed) and length < span.length:
            length += len(squeezed[end])
            end += 1
        if length == span.length and _hash("".join(squeezed[begin:end])) == span.squeezed:
            found.append((begin, end - 1))
    return found


def _headings(lines: Sequence[str], begin: int) -> list[str]:
    """The lines that a line stands under, by their indentation: `class A:`, `def b(self):`. The lowest comes first."""
    found: list[str] = []
    indent = _indent(lines[begin])
    for line in reversed(lines[:begin]):
        if indent == 0:
            break
        if line.strip() and _indent(line) < indent:
            indent = _indent(line)
            found.append(line.strip())
    return found


def _heading_hash(lines: Sequence[str], begin: int) -> str:
    return _hash("\n".join(_headings(lines, begin)))


def _plain(lines: Sequence[str]) -> list[str]:
    """Lines without blank ones, trailing white space and what all of them are indented by."""
    return textwrap.dedent("\n".join(line.rstrip() for line in lines if line.strip())).split("\n")


def _squeezed(lines: Sequence[str]) -> str:
    return "".join("".join(line.split()) for line in lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
