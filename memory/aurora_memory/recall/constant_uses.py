"""Uses of constants (find references of a variable): who uses what a file declares at its top level, and no chunk is
called.

They are looked for when they are asked for: where the name stands by the word index, then in the lines themselves. A
use is sure in a file (of Go, a package) that declares the name, and where a file imports it by name, if one file alone
declares it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from aurora_memory.chunks import MODULE_NAME, type_of
from aurora_memory.recall.declarations import remainder_declarations
from aurora_memory.recall.places import is_test
from aurora_memory.recall.prefix import entries_of
from aurora_memory.recall.question import parse_question
from aurora_memory.store import chunk_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.tokens import stem_word
from aurora_memory.views import ChunkView

MAX_FILES = 300
"""Files that are read for one question: for what declares the name, and for who uses it."""


_HASHED = frozenset({"python", "ruby", "bash"})
"""Languages whose comments begin with a hash."""

_HASH_COMMENT = re.compile(r"(?:^|\s)#.*")
_SLASH_COMMENT = re.compile(r"//.*|^\s*\*\s.*")


class ConstantUses(Struct, frozen=True):
    """Uses of a constant: where it is declared (`path:line`), and the row ids of who uses it, each if surely."""

    declared: tuple[str, ...]
    users: Sequence[tuple[int, bool]]


def constant_uses(reader: Reader, name: str, read: Callable[[str], str]) -> ConstantUses | None:
    """Who uses a constant; None where no file declares that name at its top level."""
    named = parse_question(name)
    spelled = stem_word(name)
    parts = reader.words.parts(reader.writes)
    entries = entries_of(reader, named)
    if not spelled or spelled[-1] not in entries:
        return None
    declared = remainder_declarations(reader, named, [], parts, entries, read, MAX_FILES)
    if not declared:
        return None
    return ConstantUses(
        tuple(f"{chunk.path}:{line}" for chunk, line in declared.values()),
        [
            (each.id, sure)
            for each, sure in users_of(reader, name, {chunk.path for chunk, _ in declared.values()}, read, MAX_FILES)
        ],
    )


def users_of(
    reader: Reader, name: str, places: Collection[str], read: Callable[[str], str], most: int
) -> list[tuple[ChunkView, bool]]:
    """Who uses what those files declare at their top level, each if surely; sure ones and those of no tests first.
    `most` files are read.
    """
    parts = reader.words.parts(reader.writes)
    spelled = stem_word(name)
    entries = reader.words.entries(spelled[-1:])
    if not entries:
        return []
    numbers, _ = entries[spelled[-1]]
    ids = sorted(set(parts.chunks[numbers[numbers < len(parts.chunks)]].tolist()))
    using: list[tuple[ChunkView, bool]] = []
    texts: dict[str, list[str]] = {}
    imports: dict[str, bool] = {}
    mates: dict[str, Sequence[ChunkView]] = {}
    packages = set(map(posixpath.dirname, places))
    pattern = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    standing = chunk_reader.by_id(reader, ids).values()
    for chunk in sorted(standing, key=lambda each: each.path not in places):
        if type_of(chunk.kind) != "code" or chunk.name == MODULE_NAME:
            continue
        if chunk.path not in texts:
            if len(texts) >= most:
                continue
            texts[chunk.path] = read(chunk.path).split("\n")
            imports[chunk.path] = any(each.name == name for each in relation_reader.imports(reader, chunk.path))
            mates[chunk.path] = chunk_reader.of_file(reader, chunk.path)
        if _uses(pattern, chunk, texts[chunk.path], mates[chunk.path]):
            is_near = chunk.language == "go" and posixpath.dirname(chunk.path) in packages
            is_sure = chunk.path in places or is_near or (imports[chunk.path] and len(places) == 1)
            using.append((chunk, is_sure))
    return sorted(using, key=lambda each: (not each[1], is_test(each[0].path), each[0].path, each[0].line_start))


def _uses(pattern: re.Pattern[str], chunk: ChunkView, lines: Sequence[str], mates: Sequence[ChunkView]) -> bool:
    """Whether a definition's own lines have the name, but for its documentation and comments."""
    inside = [
        each
        for each in mates
        if each.id != chunk.id and chunk.line_start <= each.line_start and each.line_end <= chunk.line_end
    ]
    comment = _HASH_COMMENT if chunk.language in _HASHED else _SLASH_COMMENT
    named = sum(
        len(pattern.findall(comment.sub("", lines[n - 1])))
        for n in range(chunk.line_start, min(chunk.line_end, len(lines)) + 1)
        if pattern.search(lines[n - 1]) and not any(each.line_start <= n <= each.line_end for each in inside)
    )
    return named > len(pattern.findall(chunk.docstring))
