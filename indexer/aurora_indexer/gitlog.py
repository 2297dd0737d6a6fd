"""Reading `git log -z --name-only` as it comes: per file its commit times and last commit."""

from __future__ import annotations

from msgspec import Struct

MAX_TIMES = 64
"""Commit times kept of one file: older ones add next to nothing to its activation."""

MAX_SUBJECT = 200
MAX_FILES = 200_000

# With -z every field ends in NUL, and nothing but NUL separates commits; \x01 marks where one begins, as no path that
# we index does. In `-z --name-only` output a newline stands before a commit's first path.
_MARK = b"\x01"
FORMAT = "%x01%ct%x00%h%x00%s%x00"


class FileHistory(Struct, frozen=True, array_like=True):
    """One file's commits: times (Unix seconds, newest first, at most `MAX_TIMES`), the last one's hash and subject."""

    times: tuple[int, ...]
    last_hash: str
    last_subject: str


class LogReader:
    """Feed it bytes of `git log -z --name-only --format=FORMAT`; `files()` gives what they told."""

    def __init__(self) -> None:
        self.commits = 0
        self._rest = b""
        self._times: dict[bytes, list[int]] = {}
        self._last: dict[bytes, tuple[bytes, bytes]] = {}
        self._header: list[bytes] = []
        self._time = 0

    def feed(self, piece: bytes) -> None:
        """Take the next bytes, wherever they were cut."""
        fields = (self._rest + piece).split(b"\0")
        self._rest = fields.pop()
        for field in fields:
            self._field(field)

    def files(self) -> dict[str, FileHistory]:
        """By path relative to the root. Paths that are not UTF-8 are left out, as the scan does."""
        found: dict[str, FileHistory] = {}
        for raw, times in self._times.items():
            try:
                path = raw.decode()
            except UnicodeDecodeError:
                continue
            commit, subject = self._last[raw]
            found[path] = FileHistory(tuple(times), commit.decode("ascii", "replace"), _subject(subject))
        return found

    def _field(self, field: bytes) -> None:
        if 0 < len(self._header) < 3:
            self._header.append(field)
            return
        if field.startswith(_MARK):
            self.commits += 1
            stamp = field[1:]
            self._time = int(stamp) if stamp.isdigit() else 0
            self._header = [field]
            return
        path = field.removeprefix(b"\n")
        if not path or not self._header:
            return
        times = self._times.get(path)
        if times is None:
            if len(self._times) >= MAX_FILES:
                return
            self._times[path] = [self._time]
            self._last[path] = (self._header[1], self._header[2])
        elif len(times) < MAX_TIMES:
            times.append(self._time)


def _subject(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return text if len(text) <= MAX_SUBJECT else text[: MAX_SUBJECT - 1] + "…"
