"""Log reader (conversation history, past runs): which conversations there were, what each came to, and where words
stand in them (AURORA §9.7).

Files may be compressed, edited by hand, half-written or not ours: what can't be told is None, and nothing here raises
for what is in a file. Names are compared with what is there, never joined to a path.
"""

from __future__ import annotations

import json
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from aurora_orchestration.conversations.log_markdown import SUMMARY
from aurora_orchestration.conversations.log_names import PACKED, SUFFIX, day_of

MAX_LOG = 64 << 20
"""Bytes of a log that are read; a compressed one may claim to be anything."""

_ENDS = 64 << 10
"""Bytes at either end of a log that tell what it is about and what it came to."""

_YEAR, _MONTH = re.compile(r"\d{4}"), re.compile(r"\d{2}")
_HEAD = re.compile(r"^## Query: (\S{1,40}) \| ID: (\S{1,200})\s*$", re.M)
_ASKED = re.compile(r"^\*\*User Query\*\*: (.+)$", re.M)
_KEYWORDS = re.compile(r"^\*\*Keywords\*\*: (.+)$", re.M)
_FACT = re.compile(r"^- \*\*([A-Z][\w -]{1,30})\*\*: (.*)$", re.M)
_BLOCK = re.compile(r"^```json\n(.*?)^```$", re.M | re.S)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_MAX_QUERY = 20_000


class Conversation(Struct, frozen=True, kw_only=True):
    """Conversation as one log has it. `file` is its path below the folder of logs without `.gz`, as memory's index has
    it; `day` is UTC's.

    `state` is that of the run, `unfinished` where no summary ends the log. `facts` is the summary's JSON, maybe empty.
    """

    file: str
    path: Path
    day: str
    id: str | None = None
    query: str | None = None
    keywords: tuple[str, ...] = ()
    started_at: str | None = None
    state: str = "unfinished"
    complexity: str | None = None
    score: float | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    duration_ms: float | None = None
    facts: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """What `aurora logs view` takes: `oauth-login-2025-12-13`."""
        return self.file.rpartition("/")[2].removesuffix(SUFFIX)


def files(
    folder: Path, first: str = "0000-00-00", last: str = "9999-99-99", *, whole: bool = False
) -> Iterator[tuple[str, str, Path]]:
    """Every log whose name's day lies in `first` … `last`, the latest day first: (file, day, path). Links are none.

    With `whole` a folder that cannot be read raises OSError; else it has none.
    """
    for year in _folders(folder, _YEAR, whole):
        if not first[:4] <= year.name <= last[:4]:
            continue
        for month in _folders(year, _MONTH, whole):
            if not first[:7] <= f"{year.name}-{month.name}" <= last[:7]:
                continue
            found: dict[str, tuple[str, Path]] = {}
            for each in _entries(month, whole):
                day = day_of(each.name)
                if day is None or not each.is_file(follow_symlinks=False) or not first <= day <= last:
                    continue
                plain = each.name.removesuffix(".gz")
                if plain not in found or each.name.endswith(SUFFIX):
                    found[plain] = (day, Path(each.path))
            for plain, (day, path) in sorted(
                found.items(), key=lambda item: (item[1][0], item[0][: -len(SUFFIX)]), reverse=True
            ):
                yield f"{year.name}/{month.name}/{plain}", day, path


def conversations(folder: Path, first: str = "0000-00-00", last: str = "9999-99-99") -> list[Conversation]:
    """What there is of those days, the latest first."""
    found = [conversation(*each) for each in files(folder, first, last)]
    return sorted(found, key=lambda each: (each.started_at or each.day, each.file), reverse=True)


def conversation(file: str, day: str, path: Path) -> Conversation:
    """What a log is about and what it came to."""
    head, tail = _ends(path)
    place = tail.rfind(f"\n{SUMMARY}")
    ending = tail[place:] if place >= 0 else ""
    named, asked, words = _HEAD.search(head), _ASKED.search(head), _KEYWORDS.search(head)
    facts = _facts(ending)
    told = {name.lower(): said.strip() for name, said in _FACT.findall(ending)}
    scores = told.get("verification scores", "")
    return Conversation(
        file=file,
        path=path,
        day=day,
        id=named.group(2) if named else None,
        query=_spelled(asked.group(1)) if asked else None,
        keywords=tuple(word.strip() for word in words.group(1).split(",")[:10] if word.strip()) if words else (),
        started_at=named.group(1) if named and re.fullmatch(r"\d{4}-\d{2}-\d{2}T[\d:.]+Z", named.group(1)) else None,
        state=_word(facts.get("state")) or _word(told.get("status")) or ("complete" if ending else "unfinished"),
        complexity=_word(facts.get("complexity")) or _word(told.get("complexity", "").partition(" ")[0].lower()),
        score=_amount(facts.get("score"), told.get("score", scores.rpartition(",")[2])),
        cost_usd=_amount(facts.get("cost_usd"), told.get("estimated cost", "")),
        tokens=_whole(_amount(_inner(facts.get("tokens"), "total"), told.get("tokens used", ""))),
        duration_ms=_amount(facts.get("total_duration_ms"), told.get("total duration", ""), 1000.0),
        facts=facts,
    )


def text_of(path: Path) -> str:
    """A log's text, whether compressed or not; a broken end is left out. Raises OSError where it can't be read."""
    return _read(path).decode("utf-8", "replace").replace("\r\n", "\n")


def section(folder: Path, file: str, line_start: int, line_end: int) -> str | None:
    """Lines of a log that memory's index names, 1-based, inclusive; None where the log is gone."""
    for each, _, path in files(folder, *_day_range(file)):
        if each == file:
            try:
                lines = text_of(path).splitlines()
            except OSError:
                return None
            return "\n".join(lines[max(line_start, 1) - 1 : line_end])
    return None


def gone(folder: Path, known: Iterable[str]) -> list[str]:
    """Which of these logs, by their paths below the folder, are not there any more, compressed or not.

    None where a folder cannot be read: what it holds will be found again.
    """
    try:
        there = {file for file, _, _ in files(folder, whole=True)}
    except OSError:
        return []
    return [file for file in known if file not in there]


def by_name(folder: Path, name: str) -> list[Conversation]:
    """The logs that a name may mean: its own where there is one, else all that begin with it, the latest first.

    With or without day, suffix and folder.
    """
    wanted = name.strip().removesuffix(".gz").removesuffix(SUFFIX).lower()
    begun: list[tuple[str, str, Path]] = []
    for each in files(folder):
        path = each[0].removesuffix(SUFFIX).lower()
        stem = path.rpartition("/")[2]
        if wanted in (path, stem):
            return [conversation(*each)]
        if wanted and stem.startswith(f"{wanted}-"):
            begun.append(each)
    return [conversation(*each) for each in begun]


def by_id(folder: Path, run: str) -> Conversation | None:
    """The log of a run."""
    near = re.fullmatch(r"aurora-(\d{4})(\d{2})(\d{2})-.*", run)
    day = "-".join(near.groups()) if near else None
    if day is not None:
        for each in files(folder, day, day):
            if (found := conversation(*each)).id == run:
                return found
    for each in files(folder):
        if each[1] != day and (found := conversation(*each)).id == run:
            return found
    return None


def _folders(place: Path | os.DirEntry[str], like: re.Pattern[str], whole: bool) -> list[os.DirEntry[str]]:
    found = [
        each for each in _entries(place, whole) if like.fullmatch(each.name) and each.is_dir(follow_symlinks=False)
    ]
    return sorted(found, key=lambda each: each.name, reverse=True)


def _entries(place: Path | os.DirEntry[str], whole: bool) -> list[os.DirEntry[str]]:
    """Directory entries; none of a folder that is missing or closed to us."""
    try:
        with os.scandir(place) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:  # closed to us, say: nothing to read
        if whole:
            raise
        return []


def _day_range(file: str) -> tuple[str, str]:
    day = day_of(file.rpartition("/")[2]) or "0000-00-00"
    return day, day


def _ends(path: Path) -> tuple[str, str]:
    """The first and the last part of a log; empty where it can't be read."""
    try:
        if path.name.endswith(PACKED):
            whole = _read(path)
            head, tail = whole[:_ENDS], whole[-_ENDS:]
        else:
            with _opened(path) as file:
                head = file.read(_ENDS)
                length = os.fstat(file.fileno()).st_size
                file.seek(max(length - _ENDS, 0))
                tail = file.read(_ENDS)
    except OSError:
        return "", ""
    return tuple(part.decode("utf-8", "replace").replace("\r\n", "\n") for part in (head, tail))  # type: ignore[return-value]


def _read(path: Path) -> bytes:
    """Log's bytes, bounded, decompressed (gzip) where it is packed."""
    with _opened(path) as file:
        if not path.name.endswith(PACKED):
            return bytes(file.read(MAX_LOG))
        found, packed = bytearray(), zlib.decompressobj(wbits=31)
        try:
            while len(found) < MAX_LOG and not packed.eof and (part := packed.unconsumed_tail or file.read(1 << 16)):
                found += packed.decompress(part, MAX_LOG - len(found))
        except zlib.error:
            pass  # cut off, or not ours: what came out so far is what there is
        return bytes(found)


def _opened(path: Path) -> Any:
    """Open for reading; never waits, as for a pipe. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is not a regular file")
    return os.fdopen(descriptor, "rb")


def _facts(ending: str) -> dict[str, Any]:
    """Execution summary in a log's last JSON block; empty where there is none."""
    for block in _BLOCK.findall(ending):
        try:
            document = json.loads(block)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict) and isinstance(document.get("execution_summary"), dict):
            facts: dict[str, Any] = document["execution_summary"]
            return facts
    return {}


def _spelled(said: str) -> str:
    """A query as it was asked, of a JSON string or of what someone wrote in its place."""
    try:
        query = json.loads(said)
    except (ValueError, RecursionError):
        query = said.strip().strip('"')
    return query[:_MAX_QUERY] if isinstance(query, str) else said.strip()[:_MAX_QUERY]


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"[a-z_]{1,30}", value) else None


def _amount(fact: object, said: str, factor: float = 1.0) -> float | None:
    """A number from the facts, else the first one in words."""
    if isinstance(fact, int | float) and not isinstance(fact, bool):
        return float(fact)
    number = _NUMBER.search(said)
    return float(number.group().replace(",", "")) * factor if number else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _inner(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None
