"""Files as people type them in a folder, spelled from the workspace's root, from where memory spells them."""

from __future__ import annotations

import os
import re
from pathlib import Path

_MAX_WORDS = 40
_MAX_PATH = 1000
_WORD = re.compile(r"([`'\"(]*)([^\s:#]+?)((?::|#L\d|\(\d)\S*|[`'\",;)?!]*)")
_SPACED = re.compile(r"(\S[^:\n]*\.\w+):(\d{1,9})(?:[-:]\d{1,9})*")


def from_root(query: str, here: Path, root: Path) -> str:
    """A query with the places in it that are files below `root` spelled from there; all else stays as it is typed.

    So the places that `aur mem` prints in a folder (`../src/a.py:3`) are places to ask for there, and `a.py:3` is the
    file in that folder where there is one. A path with spaces becomes `File "my notes/a.py", line 3`, which cannot be
    taken for several words.
    """
    spaced = _SPACED.fullmatch(query)
    if spaced is not None and " " in spaced[1]:
        path = _below(spaced[1], here, root) or _below(spaced[1], root, root)
        if path is not None:
            return f'File "{path}", line {spaced[2]}'
    words = query.split(" ")
    if len(words) > _MAX_WORDS:
        return query
    return " ".join(_respelled(word, here, root) for word in words)


def _respelled(word: str, here: Path, root: Path) -> str:
    parts = _WORD.fullmatch(word)
    if parts is None or not ("/" in parts[2] or parts[3].startswith((":", "#", "("))):
        return word
    path = _below(parts[2], here, root)
    return word if path is None else f"{parts[1]}{path}{parts[3]}"


def _below(typed: str, here: Path, root: Path) -> str | None:
    """The file from `root`, through links as they are typed or as they are; None where there is no such file below."""
    if len(typed) > _MAX_PATH or "\0" in typed:
        return None
    full = Path(os.path.normpath(here / typed))
    try:
        for file, folder in ((full, root), (full.resolve(), root.resolve())):
            if file.is_relative_to(folder) and file.is_file():
                return file.relative_to(folder).as_posix()
    except OSError:  # no name that a file can have, or a folder that may not be looked into
        return None
    return None
