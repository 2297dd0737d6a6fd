"""Text of a workspace as a reader of an answer looks things up in it (grep): lines of a file, whether a name is
anywhere, where it is defined.

Reads at most what its bounds allow; what lies beyond them counts as not looked at, never as missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from aurora_indexer.files.ignore import IgnoreRules
from aurora_indexer.files.safe_read import NotARegularFile, read_prefix
from aurora_indexer.files.scan import walk

MAX_FILE = 4 << 20
MAX_READ = 256 << 20
"""Bytes of all files together in which a name is looked for."""

MAX_FILES = 100_000
MAX_LINE = 2_000
"""Bytes of a line that may define something: longer ones are nobody's writing."""

_CUT = re.compile(r"\r\n|\n|\r")


class WorkspaceText:
    """The files below `root`, read as they are asked for by name and kept. All methods block: call them in a thread.

    What the workspace's ignore rules leave out is read where an answer names it, and not looked through for names.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._real = root.resolve()
        self._texts: dict[str, bytes | None] = {}
        self._files: tuple[str, ...] | None = None
        self._by_name: dict[str, list[str]] = {}
        self._names: dict[str, bool] = {}
        self._defined: dict[str, list[tuple[str, int]]] = {}

    def lines(self, file: str) -> list[str] | None:
        """The lines of a file by its path; None where there is no such file or it cannot be read."""
        data = self._read(file)
        if data is None:
            return None
        text = data.decode("utf-8", "replace")
        return _CUT.split(text.removesuffix("\n"))

    def files_named(self, path: str) -> list[str]:
        """The files that a path as somebody writes it can mean: that very one, and those it is the end of.

        Where it has a folder in it and is a file, it means that one.
        """
        path = path.removeprefix("./").replace("\\", "/")
        exact = [path] if self._read(path) is not None else []
        if exact and "/" in path:
            return exact
        if self._files is None:
            self._list()
        return exact + [each for each in self._by_name.get(path.rpartition("/")[2], ()) if each.endswith(f"/{path}")]

    def has(self, name: str) -> bool:
        """Whether the name stands anywhere as a word of its own; True where there is too much to look through."""
        if name not in self._names:
            self.look_for([name])
        return self._names[name]

    def look_for(self, names: Iterable[str]) -> None:
        """Batch lookup of several names, for `has`: every file is read once, and not kept."""
        wanted = {name: name.encode() for name in names if name not in self._names}
        if not wanted:
            return
        if self._files is None:
            self._list()
        assert self._files is not None
        left = MAX_READ if len(self._files) < MAX_FILES else 0
        for file in self._files:
            data = self._texts[file] if file in self._texts else self._content(file)
            left -= len(data or b"")
            if left < 0 or not wanted:
                break
            parts = set(re.split(r"[/.]", file))
            for name in [name for name, word in wanted.items() if name in parts or _stands_in(word, data or b"")]:
                self._names[name] = True
                del wanted[name]
        self._names |= dict.fromkeys(wanted, left < 0)

    def definitions(self, name: str) -> list[tuple[str, int]]:
        """Where a name is defined, as far as its line says so: file and index. None where too much is there."""
        if name not in self._defined:
            self.define([name])
        return self._defined[name]

    def define(self, names: Iterable[str]) -> None:
        """Look up where several names are defined at once, for `definitions`: every file is read once, and not kept."""
        wanted = {name: _definition(name) for name in names if name not in self._defined}
        if not wanted:
            return
        if self._files is None:
            self._list()
        assert self._files is not None
        found: dict[str, list[tuple[str, int]]] = {name: [] for name in wanted}
        left = MAX_READ if len(self._files) < MAX_FILES else 0
        for file in self._files:
            data = (self._texts[file] if file in self._texts else self._content(file)) or b""
            left -= len(data)
            if left < 0:
                found = {name: [] for name in wanted}
                break
            for name, line in wanted.items():
                found[name] += [(file, number) for number in _lines_like(line, name.encode(), data)]
        self._defined |= found

    def _list(self) -> None:
        """List of the workspace's files, ignore rules heeded."""
        found: list[str] = []
        try:
            for folder in walk(IgnoreRules(self._root)):
                found += [folder.folder.prefix + entry.name for entry in folder.files]
                if len(found) >= MAX_FILES:
                    break
        except OSError:  # the folder is gone: nothing can be found in it
            found = []
        self._files = tuple(found[:MAX_FILES])
        for file in self._files:
            self._by_name.setdefault(file.rpartition("/")[2], []).append(file)

    def _read(self, file: str) -> bytes | None:
        if file not in self._texts:
            self._texts[file] = self._content(file)
        return self._texts[file]

    def _content(self, file: str) -> bytes | None:
        """File's bytes, bounded; None outside the root (path traversal), for binary and large files."""
        if not file or "\0" in file:
            return None
        try:
            path = (self._root / file).resolve()
            if not path.is_relative_to(self._real):
                return None
            data = read_prefix(str(path), MAX_FILE + 1)
        except (OSError, NotARegularFile, ValueError, RuntimeError):  # no such file, or none to read
            return None
        return None if len(data) > MAX_FILE or b"\0" in data[:8192] else data


def _definition(name: str) -> re.Pattern[bytes]:
    """Definition pattern, a line that defines a name."""
    word = re.escape(name.encode())
    return re.compile(
        rb"[^\n#'\"`]*?(?:\b(?:def|function|func|fn|fun|sub|class|struct|interface|trait|object|module)[ \t]+"
        rb"(?:\([^)\n]*\)[ \t]*)?(?:[\w:.]+[.:])?" + word + rb"(?!\w))"
        rb"|[ \t]*(?:(?:public|private|protected|static|async|final|override|export|default|get|set)[ \t]+)*"
        + word
        + rb"[ \t]*\([^;\n]*\)[^;\n]*\{[ \t\r]*$"
    )


def _lines_like(line: re.Pattern[bytes], name: bytes, data: bytes) -> Iterator[int]:
    """The indexes of the lines with a name that look like `line`."""
    at, number, counted = data.find(name), 0, 0
    while at >= 0:
        begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        end = end if end >= 0 else len(data)
        if end - begin <= MAX_LINE and line.match(data[begin:end]):
            number += data.count(b"\n", counted, begin)
            counted = begin
            yield number
        at = data.find(name, end)


def _stands_in(name: bytes, data: bytes) -> bool:
    """Whether a name stands in some text, with no letter, digit or underscore on either side."""
    at = data.find(name)
    while at >= 0:
        end = at + len(name)
        before, after = data[at - 1 : at], data[end : end + 1]
        if not _is_word(before) and not _is_word(after):
            return True
        at = data.find(name, at + 1)
    return False


def _is_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_"
