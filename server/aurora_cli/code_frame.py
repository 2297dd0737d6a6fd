"""Code frame (source excerpt of an error): a piece of source with its line number, and carets under exactly the text
that is meant.
"""

from __future__ import annotations

from collections.abc import Callable

from aurora_protocol.positions import LineIndex

TAB = "    "
LEAST_WIDTH = 40
_ELLIPSIS = "…"
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
"""Left out: whether they join or widen what is around them is for each terminal to decide."""


def code_frame(
    lines: LineIndex,
    start: int,
    end: int,
    width: int,
    mark: Callable[[str], str] = str,
    dim: Callable[[str], str] = str,
) -> list[str]:
    """The line or lines from offset `start` up to `end`, with carets below, cut to `width` columns around them.

    Of a stretch over several lines, the first and the last are shown. `mark` colours the carets, `dim` the gutter.
    """
    first = lines.position(start).line
    last = lines.position(max(start, end - 1)).line
    gutter = len(str(last + 1))
    room = max(LEAST_WIDTH, width - gutter - 3)

    def row(label: str, sign: str, text: str) -> str:
        return f"{dim(f'{label:>{gutter}} {sign}')} {text}".rstrip()

    shown = [row("", "|", "")]
    for number in dict.fromkeys((first, last)):
        if number > first + 1:
            shown.append(row("", ":", ""))
        begin, stop = lines.line_start(number), lines.line_end(number)
        of_line = max(start, begin), min(end, stop)
        if number != first:  # the indentation of a later line is not what is meant
            of_line = min(_first_sign(lines.text, begin, stop), of_line[1]), of_line[1]
        text, before, under = _excerpt(lines.text, begin, stop, *of_line, room)
        shown += [row(str(number + 1), "|", text), row("", "|", " " * before + mark("^" * under))]
    return shown


def _excerpt(text: str, begin: int, stop: int, start: int, end: int, room: int) -> tuple[str, int, int]:
    """A line as it can be shown in `room` columns, the columns before the stretch that is meant, and its own.

    Only the neighbourhood of the stretch is looked at: a line may be a megabyte.
    """
    end = max(start, end)
    meant = [visible(sign) for sign in text[start : min(end, start + room)]]
    meant, cut_within = _fitting(meant, room - 2) if end > start else ([], False)
    left = room - 2 - _columns(meant)
    behind = [visible(sign) for sign in text[end : min(stop, end + left)]] if not cut_within else []
    ahead = [visible(sign) for sign in text[max(begin, start - room) : start]]
    # A third of what is left goes behind; what one side does not need, the other has.
    ahead_width, behind_width = _columns(ahead), _columns(behind)
    for_behind = min(behind_width, max(left // 3, left - ahead_width))
    ahead_cells, cut_ahead = _fitting(ahead[::-1], left - for_behind)
    behind_cells, cut_behind = _fitting(behind, for_behind)
    cut_ahead = cut_ahead or start - len(ahead) > begin
    while cut_ahead and ahead_cells and not columns(ahead_cells[-1]):
        ahead_cells.pop()  # an accent whose letter was cut off
    cut_behind = cut_behind or cut_within or end + len(behind) < stop
    before = "".join(ahead_cells[::-1])
    shown = (_ELLIPSIS if cut_ahead else "") + before + "".join(meant) + "".join(behind_cells)
    return shown + (_ELLIPSIS if cut_behind else ""), cut_ahead + columns(before), max(1, _columns(meant))


def visible(sign: str) -> str:
    """Escaped character, as it is shown: tabs widened, what a terminal could obey (escape sequence) replaced."""
    if sign == "\t":
        return TAB
    if sign in _JOINERS:
        return ""
    return sign if sign.isprintable() else "\ufffd"


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: two for wide characters, none for accents that combine."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # 15 ms, and most manifests are ASCII

    return cell_len(text)


def _columns(cells: list[str]) -> int:
    return columns("".join(cells))


def _fitting(cells: list[str], room: int) -> tuple[list[str], bool]:
    """As many of the cells as fit, and whether some did not."""
    if _columns(cells) <= room:
        return cells, False
    taken = 0
    for number, cell in enumerate(cells):
        taken += columns(cell)
        if taken > room:
            return cells[:number], True
    return cells, False


def _first_sign(text: str, begin: int, stop: int) -> int:
    return begin + len(text[begin:stop]) - len(text[begin:stop].lstrip(" \t"))
