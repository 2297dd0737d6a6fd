"""Skips: why a file is not indexed (binary, generated, minified, too large), as data: a reason id for programs and one
sentence for people.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

Reason = Literal[
    "ignored",
    "nested-repository",
    "no-language",
    "too-large",
    "too-many",
    "symlink",
    "symlink-outside",
    "symlink-loop",
    "not-a-file",
    "name-encoding",
    "unreadable",
    "changing",
    "gone",
    "binary",
    "minified",
    "generated",
]


class Skip(Struct, frozen=True, array_like=True):
    """A file or folder left out. `path` is relative to the root, with `/`, and always valid Unicode."""

    path: str
    reason: Reason
    detail: str


BINARY_HEAD = 8_192
"""Bytes looked at for a NUL."""

MINIFIED_FROM = 4_096
MINIFIED_LINE = 1_000
"""Files from the first size on whose average line is longer than this (bytes) are written by machines for machines."""

GENERATED_HEAD = 4_096
GENERATED_LINES = 20

LOCK_FILES = frozenset(
    {
        "Cargo.lock",
        "Gemfile.lock",
        "Pipfile.lock",
        "Podfile.lock",
        "bun.lock",
        "composer.lock",
        "deno.lock",
        "flake.lock",
        "go.sum",
        "gradle.lockfile",
        "mix.lock",
        "npm-shrinkwrap.json",
        "package-lock.json",
        "packages.lock.json",
        "pdm.lock",
        "pnpm-lock.yaml",
        "poetry.lock",
        "pubspec.lock",
        "uv.lock",
        "yarn.lock",
    }
)

_COMMENT_STARTS = (b"#", b"//", b"/*", b"*", b"--", b";", b"%", b"<!--", b"(*", b"<?", b"'use ", b'"use ')
"""Beginnings of a header's lines, with those that may come before it (`<?php`, `"use strict"`)."""

_BLOCKS = {b"/*": b"*/", b"<!--": b"-->", b"(*": b"*)"}
_MARKERS = re.compile(
    rb"""(?:
        (?<![\w"'`@-])@generated(?![\w"'`-])
      | \bcode\ generated\b[^\n]*\bdo\ not\ edit\b
      | \bgenerated\b[^\n]*\bdo\ not\ (?:edit|modify)\b
      | \bdo\ not\ (?:edit|modify)\b[^\n]*\bgenerated\b
      | <auto-?generated
      | \bthis\ file\ (?:is|was|has\ been)\ (?:auto(?:matically)?[\ -]?)generated\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)


_MARKUP = re.compile(rb"\s*<(?:\?xml\b|!DOCTYPE\s+TS\b)")
"""How Qt's translations begin. They end as TypeScript's files do, whose grammar would look for code in one for seconds.
"""


def unknown(path: str) -> Skip:
    """Neither source code nor a document that is understood."""
    return Skip(path, "no-language", "No known programming language or document.")


def by_name(path: str, name: str) -> Skip | None:
    """Skip by a file's name alone: lock files and `.min.` files."""
    if name in LOCK_FILES:
        return Skip(path, "generated", "A lock file, written by a package tool.")
    if ".min." in name:
        return Skip(path, "minified", "The name says minified (.min.).")
    return None


def by_size(path: str, size: int, limit: int) -> Skip | None:
    """Larger than `limit` bytes."""
    if size <= limit:
        return None
    return Skip(path, "too-large", f"{size:,} bytes, over the limit of {limit:,}.")


def by_content(path: str, source: bytes) -> Skip | None:
    """Detection of binary, generated and minified files, and of what only ends as code does, by a look into them."""
    if b"\0" in source[:BINARY_HEAD]:
        return Skip(path, "binary", f"Holds a NUL byte in its first {BINARY_HEAD // 1024} KiB.")
    if path.endswith(".ts") and _MARKUP.match(source.removeprefix(b"\xef\xbb\xbf")):
        return Skip(path, "no-language", "Begins as XML, as Qt's translations do: no TypeScript.")
    if line := _marked_line(source):
        return Skip(path, "generated", f"Line {line} says it is generated and not edited by hand.")
    if len(source) >= MINIFIED_FROM:
        average = len(source) // (source.count(b"\n") + 1)
        if average > MINIFIED_LINE:
            return Skip(path, "minified", f"Its lines are {average:,} bytes long on average.")
    return None


def _marked_line(source: bytes) -> int:
    """The line of the comments a file begins with that says it is generated; 0 for none."""
    head = source[:GENERATED_HEAD]
    if b"generated" not in head.lower():
        return 0
    block_end = b""
    for number, line in enumerate(head.split(b"\n")[:GENERATED_LINES], 1):
        text = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not block_end and text and not text.startswith(_COMMENT_STARTS):
            return 0
        if _MARKERS.search(text):
            return number
        if not block_end:
            block_end = next((end for start, end in _BLOCKS.items() if text.startswith(start)), b"")
        if block_end and block_end in text:
            block_end = b""
    return 0


def printable(path: str) -> str:
    """`path` with bytes that are not UTF-8 spelled as `\\xNN`, fit for a database, a log or a wire."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def unreadable(path: str, error: OSError) -> Skip:
    """The system refused; its reason is the detail."""
    return Skip(path, "unreadable", f"{error.strerror or error}.")
