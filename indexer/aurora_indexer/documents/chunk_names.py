"""Names of knowledge chunks: what a heading or a key becomes in an id like `know:README.md:Install.Linux:3-9`."""

from __future__ import annotations

import re

MAX_NAME = 80
UNTITLED = "Untitled"

_DOT = re.compile(r"\.(?=\w)")
_APART = re.compile(r"[\s.:]+")


def clean_name(text: str) -> str:
    """Make one segment of a qualified name: no dots (they join segments), no colons (they join ids), one line.

    A dot inside a word becomes `_` (`Node.js` → `Node_js`, `v1.2` → `v1_2`); at most 80 characters.
    """
    text = _DOT.sub("_", text[: 4 * MAX_NAME])
    return " ".join(_APART.split(text)).strip()[:MAX_NAME].rstrip() or UNTITLED
