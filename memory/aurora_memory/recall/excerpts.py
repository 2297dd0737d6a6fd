"""Excerpt (snippet) of a chunk: its signature, what it is for, and the lines that answer the question. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aurora_memory.chunk_text import ELLIPSIS, GAP, Line
from aurora_memory.tokens import terms

MAX_LINES = 24
"""Telling lines, with their surroundings, that an excerpt shows below its signature."""

FEW_LINES = 6
"""As many of them in an excerpt that must be short."""

MAX_READ = 2000
"""Lines of a chunk that are looked at."""

MAX_WIDTH = 400
"""Characters of a line that are read for terms."""

_SENTENCE = 3
"""Lines at most of a documentation's first sentence."""

_OPENING = 3
"""Lines shown of the beginning where no line tells more than others."""


def excerpt(
    text: Sequence[Line],
    signature: str,
    header: int,
    docstring: str,
    matched: Sequence[str],
    focus: tuple[int, int] | None = None,
    most: int = MAX_LINES,
) -> list[Line]:
    """Shorten a chunk's own text; gaps are lines with the number GAP.

    `header` is the line its signature stands on. `focus` are the lines of its best-matching part, None where it is
    searched as one; `matched` the question's stemmed terms. Of lines with as many of them, those in focus come first;
    at most `most` lines are shown below signature and documentation. The result may be as long as `text`.
    """
    read = text[:MAX_READ]
    if not read:
        return []
    place = next((place for place, (number, _) in enumerate(read) if number >= header), 0)
    first = read[place][1]
    indent = first[: len(first) - len(first.lstrip())]
    after = _after_signature(read, place, signature)
    shown = {place, *_sentence(read, docstring)}
    body = [each for each in range(len(read)) if (each < place or each >= after) and each not in shown]
    telling = _telling(read, body, matched, focus, most)
    if not telling:
        near = [each for each in body if each >= after and _in(read[each], focus) and read[each][1].strip()]
        telling = near[: min(_OPENING, most)]
    lines = dict.fromkeys(sorted(shown | set(telling)))
    return _with_gaps(read, list(lines), {place: f"{indent}{signature}"} if signature else {}, range(place, after))


def _after_signature(text: Sequence[Line], place: int, signature: str) -> int:
    """The place of the first line below a signature, which may go over several."""
    wanted = "".join(signature.split())
    written = ""
    for each in range(place, len(text)):
        written += "".join(text[each][1].split())
        if len(written) >= len(wanted) or not wanted:
            return each + 1
    return place + 1


def _sentence(text: Sequence[Line], docstring: str) -> Iterator[int]:
    """The places of the first sentence of a chunk's documentation, as it is written in the source."""
    paragraph = docstring.partition("\n\n")[0].strip()
    wanted = paragraph.split("\n", 1)[0].strip()
    if not wanted:
        return
    start = next((each for each, (_, line) in enumerate(text) if wanted in line), None)
    if start is None:
        return
    for each, said in enumerate(paragraph.split("\n")[:_SENTENCE], start):
        if each < len(text):
            yield each
        if ". " in said or said.rstrip().endswith((".", "!", "?")):
            return


def _telling(
    text: Sequence[Line], places: Sequence[int], matched: Sequence[str], focus: tuple[int, int] | None, most: int
) -> list[int]:
    """The lines with most of the terms, each with one line of context."""
    wanted = frozenset(matched)
    if not wanted:
        return []
    counts = {each: len(wanted.intersection(terms(text[each][1][:MAX_WIDTH]))) for each in places}
    allowed = frozenset(places)
    chosen: set[int] = set()
    found = [each for each, count in counts.items() if count]
    for each in sorted(found, key=lambda each: (-counts[each], not _in(text[each], focus), each)):
        around = allowed.intersection((each - 1, each, each + 1))
        if len(chosen | around) > most:
            break
        chosen |= around
    return sorted(each for each in chosen if text[each][1].strip())


def _in(line: Line, focus: tuple[int, int] | None) -> bool:
    return focus is None or focus[0] <= line[0] <= focus[1]


def _with_gaps(text: Sequence[Line], places: Sequence[int], instead: dict[int, str], folded: range) -> list[Line]:
    """The lines at those places; `instead` says what to write at some, `folded` are places one line stands for."""
    found: list[Line] = []
    last = -1
    for each in places:
        if any(text[between][1].strip() and between not in folded for between in range(last + 1, each)) and found:
            found.append((GAP, _indented(text[each][1])))
        found.append((text[each][0], instead.get(each, text[each][1])))
        last = each
    if any(text[rest][1].strip() and rest not in folded for rest in range(last + 1, len(text))):
        found.append((GAP, _indented(text[last][1])))
    return found


def _indented(line: str) -> str:
    return line[: len(line) - len(line.lstrip())] + ELLIPSIS
