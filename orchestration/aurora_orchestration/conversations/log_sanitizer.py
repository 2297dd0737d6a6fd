"""Log sanitizer (escaping against log injection): what a run's data is brought into before it is written down: plain
JSON, bounded, secrets redacted.

A JSON text made here has no line that begins like a heading or a fence, whatever its strings hold: every line break
within a string is escaped, also those that only some programs take for one. So it can't break the Markdown around it.
"""

from __future__ import annotations

import json
import math
import re
from itertools import islice
from typing import Any

import msgspec

from aurora_orchestration.guardrails.redaction import REDACTED, redact

MAX_DEPTH = 40
MAX_TEXT = 200_000
MAX_BLOCK = 1 << 20
SHORT = 2_000
"""Characters of each string that are left where a block would be larger than `MAX_BLOCK`."""

MAX_ITEMS = 5_000
_WORD = re.compile(r"[a-z_]{1,30}")
"""What most keys and many values are; it takes no looking into."""

INTERACTIONS = "user_interactions"
_SECRET_NAME = re.compile(
    r"passw(?:or)?d|passphrase|secret|api_?key|private_?key|authorization|(?:access|refresh|auth|bearer)_?token", re.I
)

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202f\u2060-\u2069\ufeff\ud800-\udfff]")


def clean(value: Any, *, interactions: bool = True, longest: int = MAX_TEXT, depth: int = 0) -> Any:
    """Plain JSON of anything: secrets and personal data redacted, too deep, too long and unknown things said to be so.

    Without `interactions`, what users were asked and answered is left out.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return text(value, longest)
    if depth >= MAX_DEPTH:
        return "… (deeper levels left out)"

    def below(item: Any) -> Any:
        return clean(item, interactions=interactions, longest=longest, depth=depth + 1)

    if isinstance(value, dict):
        kept = {
            text(str(key), SHORT): REDACTED if _names_secret(key, item) else below(item)
            for key, item in list(value.items())[:MAX_ITEMS]
            if interactions or key != INTERACTIONS
        }
        return kept if len(value) <= MAX_ITEMS else {**kept, "…": f"{len(value) - MAX_ITEMS} more left out"}
    if isinstance(value, list | tuple | set | frozenset):
        items = [below(item) for item in list(value)[:MAX_ITEMS]]
        return items if len(value) <= MAX_ITEMS else [*items, f"… {len(value) - MAX_ITEMS} more left out"]
    if isinstance(value, msgspec.Struct):
        return below(msgspec.structs.asdict(value))
    return text(str(value), longest)


def _names_secret(key: object, value: object) -> bool:
    """Whether a value is a secret by the name it goes by: `hunter2` alone does not look like one."""
    return isinstance(value, str) and bool(value) and _SECRET_NAME.search(str(key)) is not None


def text(given: str, longest: int = MAX_TEXT) -> str:
    """A text without secrets and personal data, cut where it is longer than `longest`."""
    if _WORD.fullmatch(given):
        return given
    said = redact(given[: longest + SHORT]).text
    if len(said) <= longest and len(given) <= longest + SHORT:
        return said
    return f"{said[:longest]}… ({len(given) - longest:,} characters left out)"


def json_text(value: Any, *, interactions: bool = True) -> str:
    """A value as JSON, indented, cleaned and bounded."""
    longest, size = MAX_TEXT, _size(value, MAX_TEXT)
    if size > MAX_BLOCK:
        longest, size = SHORT, _size(value, SHORT)
    if size > MAX_BLOCK:
        value = {"left_out": f"about {size:,} characters, too many for a log"}
    return _dumped(clean(value, interactions=interactions, longest=longest))


def one_line(given: str) -> str:
    """A text as a JSON string, which is one line."""
    return _escaped(json.dumps(text(given), ensure_ascii=False))


def named(given: str) -> str:
    """An id or a name of ours as part of a line; it holds nothing to redact."""
    return _UNSEEN.sub("", " ".join(given.split()))[:200]


def sentence(given: str, longest: int = 500) -> str:
    """A text as part of a line."""
    return _UNSEEN.sub("\ufffd", " ".join(text(given, longest).split()))


def quoted(given: str) -> str:
    """A text as a Markdown quotation: nothing in it is a heading or a fence of the document it stands in."""
    lines = (_UNSEEN.sub("\ufffd", line) for line in text(given).splitlines())
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _size(value: Any, longest: int, depth: int = 0) -> int:
    """Size estimate, about how many characters a value takes, its texts cut at `longest`."""
    if isinstance(value, str):
        return min(len(value), longest) + 4
    if depth >= MAX_DEPTH:
        return 4
    if isinstance(value, dict):
        return sum(
            _size(str(key), SHORT) + _size(item, longest, depth + 1) for key, item in islice(value.items(), MAX_ITEMS)
        )
    if isinstance(value, list | tuple | set | frozenset):
        return sum(_size(item, longest, depth + 1) for item in islice(value, MAX_ITEMS))
    if isinstance(value, msgspec.Struct):
        return _size(msgspec.structs.asdict(value), longest, depth + 1)
    return 8


def _dumped(value: Any) -> str:
    return _escaped(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def _escaped(dumped: str) -> str:
    """Everything unseen is spelt out; json itself leaves some of what `str.splitlines` breaks lines at."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", dumped)
