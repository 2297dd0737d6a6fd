"""Parser (streaming) of the output of `git log -p -U0` as it comes, in bytes: each commit's message, and the hunks of
files that matter.

With no context lines a hunk's header says how many lines follow, so content is skipped by counting: nothing in a file
can look like a part of the log, and no line of it is held. Only NUL, which git cuts from messages, marks a commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from msgspec import Struct

from aurora_indexer.git.line_moves import Hunk

FORMAT = "%x00%H%x00%ct%x00%P%x00%s%x00%b%x00"
"""Header before each commit's diff."""

ARGUMENTS = (
    "log --first-parent -m -p -U0 --inter-hunk-context=0 -M -l400 -D --src-prefix=a/ --dst-prefix=b/ --no-color"
    " --no-ext-diff --no-textconv --no-show-signature --no-notes --ignore-submodules=all --submodule=short"
    f" --encoding=UTF-8 --format={FORMAT}"
).split()
"""The log this reads; a revision and bounds are to follow."""

MAX_HEADER = 128 << 10
MAX_LINE = 64 << 10
MAX_HUNKS = 20_000
"""Bounds: one commit's message, one line of a diff's header (both in bytes), the hunks kept of one file."""

_FIELDS = 6
_HUNK = re.compile(rb"@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


class FileChange(Struct):
    """File change of a commit, renames too: its path there and the one before (None where it came or went), with its
    hunks.
    """

    path: bytes | None = None
    old_path: bytes | None = None
    hunks: list[Hunk] = []


class LoggedCommit(Struct):
    """Commit as git's log tells it: `at` in Unix seconds, how many files and lines it changed, and those files the
    reader keeps.
    """

    hash: str
    at: int
    parents: list[str]
    subject: str
    body: str
    files: int = 0
    lines: int = 0
    changes: list[FileChange] = []


class GitLogParser:
    """Parser of git log's output, fed its bytes; `take` gets each commit when it is complete.

    Paths not in `wanted` keep no hunks.
    """

    def __init__(self, wanted: Container[bytes], take: Callable[[LoggedCommit], None]) -> None:
        self._wanted = wanted
        self._take = take
        self._data = b""
        self._place = 0
        self._in_header = False
        self._skip = 0
        self._commit: LoggedCommit | None = None
        self._change = FileChange()
        self._kept = False

    def feed(self, piece: bytes) -> None:
        """Take the next bytes, wherever they were cut."""
        self._data = self._data[self._place :] + piece
        self._place = 0
        while self._header() if self._in_header else self._content() if self._skip else self._line():
            pass
        self._bound()

    def finish(self) -> None:
        """The log ended where a commit ends: hand over the last one."""
        if self._commit is not None and not self._in_header and not self._skip:
            self._close_commit()

    def _bound(self) -> None:
        """Of overlong things that wait for more bytes, keep the beginning only."""
        rest = self._data[self._place :]
        if self._skip:
            rest = rest[:1]
        elif self._in_header and len(rest) > MAX_HEADER:
            rest = rest[: MAX_HEADER // 2] + b"\0" * rest.count(b"\0", MAX_HEADER // 2)
        elif not self._in_header and len(rest) > MAX_LINE:
            rest = b" "  # starts no line that is looked at
        self._data, self._place = rest, 0

    def _header(self) -> bool:
        """Parser of a commit's header; False where not all of it is there yet."""
        if self._data.count(b"\0", self._place) < _FIELDS:
            return False
        fields = self._data[self._place :].split(b"\0", _FIELDS)
        _, commit, at, parents, subject, body, rest = fields
        self._commit = LoggedCommit(
            commit.decode("ascii", "replace"),
            int(at) if at.isdigit() and len(at) < 15 else 0,
            parents.decode("ascii", "replace").split(),
            subject.decode("utf-8", "replace"),
            body.decode("utf-8", "replace"),
        )
        self._in_header = False
        self._place = len(self._data) - len(rest)
        return True

    def _content(self) -> bool:
        """Skip over a hunk's lines; False where not all of them are there yet."""
        data, place, left = self._data, self._place, self._skip
        while left:
            newline = data.find(b"\n", place)
            if newline < 0:
                break
            if data[place] != 0x5C:  # "\\ No newline at end of file" is no line of either file
                left -= 1
            place = newline + 1
        self._place, self._skip = place, left
        return not left

    def _line(self) -> bool:
        """Parser of a line between hunks; False where it is not whole yet."""
        data, place = self._data, self._place
        if place < len(data) and data[place] == 0:
            if self._commit is not None:
                self._close_commit()
            self._in_header = True
            return True
        newline = data.find(b"\n", place)
        if newline < 0:
            return False
        if newline > place and self._commit is not None:
            self._diff_line(data[place:newline], self._commit)
        self._place = newline + 1
        return True

    def _diff_line(self, line: bytes, commit: LoggedCommit) -> None:
        """Parser of diff headers: hunks (`@@`), renames, and the paths of a file."""
        if line.startswith(b"@@ "):
            if found := _HUNK.match(line):
                removed, start, added = (1 if number is None else int(number) for number in found.groups())
                self._skip = removed + added
                commit.lines += removed + added
                if self._kept and len(self._change.hunks) < MAX_HUNKS:
                    self._change.hunks.append(Hunk(removed, start, added))
        elif line.startswith(b"diff --git "):
            self._close_change(commit)
            commit.files += 1
        elif line.startswith((b"rename from ", b"copy from ", b"--- ")):
            self._change.old_path = _path(line)
        elif line.startswith((b"rename to ", b"copy to ", b"+++ ")):
            self._change.path = _path(line)
            self._kept = self._change.path in self._wanted

    def _close_change(self, commit: LoggedCommit) -> None:
        """End of one file's diff, which is kept if the file matters."""
        if self._kept:
            commit.changes.append(self._change)
        self._change = FileChange()
        self._kept = False

    def _close_commit(self) -> None:
        """End of one commit, which is handed over."""
        assert self._commit is not None
        self._close_change(self._commit)
        commit, self._commit = self._commit, None
        self._take(commit)


def _path(line: bytes) -> bytes | None:
    """The path in `--- a/x`, `+++ b/x`, `rename from x` and the like; it is quoted where it holds odd characters."""
    prefixed = line.startswith((b"--- ", b"+++ "))
    raw = line[4:].removesuffix(b"\t") if prefixed else line.split(b" ", 2)[2]  # a tab stands behind names with spaces
    if prefixed and raw == b"/dev/null":
        return None
    if raw.startswith(b'"') and raw.endswith(b'"') and len(raw) > 1:
        raw = _ESCAPE.sub(_unescaped, raw[1:-1])
    return raw[2:] if prefixed else raw


def _unescaped(found: re.Match[bytes]) -> bytes:
    """Byte of an escape sequence in a quoted path (octal, or as in C)."""
    code = found.group(1)
    if len(code) == 3:
        return bytes((int(code, 8) & 0xFF,))
    return _LETTERS.get(code, code)
