"""Late quotes (unterminated strings): a text that lacks its last quote, and so ends with the first quote of what comes
after it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aurora_manifest.json.document import Object, Problem, Scalar
from aurora_manifest.json.scan_state import replace_last

if TYPE_CHECKING:
    from aurora_manifest.json.scan import Scan

_NAME_BEGUN = re.compile(r'[A-Za-z_$][\w$-]{0,60}+"[ \t]*+:').match
_ITEM_BEGUN = re.compile(r'[\w$-]{1,60}+"[ \t]*+[,\]]').match
_UP_TO_COMMA = re.compile(r'("[^"\\\n\r]*[^"\\\n\r\s,])[ \t]*,[ \t]*"\Z').match


def given_back(scan: Scan) -> bool:
    """End the string that was just read where it lacks its quote: what is behind that is read once more."""
    top = scan.stack[-1]
    read = [each.value for each in top.members[-1:]] if isinstance(top, Object) else list(top.items[-1:])
    if not read or read[0].end != scan.pos or not isinstance(read[0].value, str):
        return False
    late = _ended_too_late(scan.text, read[0].start, scan.pos, in_object=isinstance(top, Object))
    if late is None:
        return False
    node = Scalar(late.start, late.end, scan.text[late.start + 1 : late.end])
    scan.structural(late.message, late.start, late.end, late.instead)
    scan.panic = False
    replace_last(top, node)
    scan.pos = late.end
    return True


def _ended_too_late(text: str, start: int, end: int, *, in_object: bool) -> Problem | None:
    """A string that lacks its last quote and seems to end where the next name or item begins: `"a, "b": 1`."""
    if not (_NAME_BEGUN if in_object else _ITEM_BEGUN)(text, end):
        return None
    content = _UP_TO_COMMA(text, start, end)
    if content is None:
        return None
    written = content[1] if "{" in content[1] or "[" in content[1] else content[1].rstrip("]} \t")
    if len(written) < 2:
        return None
    return Problem("json-syntax", "this text lacks its last quote", start, start + len(written), f'{written}"')
