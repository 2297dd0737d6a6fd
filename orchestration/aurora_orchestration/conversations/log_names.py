"""Names of conversation logs (file name slugs): two words of the question, and the day (AURORA §9.7).

Days are UTC's, as those of run ids. A name is free where neither it nor its compressed form is taken.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from aurora_memory.semantic_tags import keywords_of, topic_of
from aurora_orchestration.guardrails.redaction import redact
from aurora_orchestration.settings import ConversationSettings, FileNaming
from aurora_protocol.strict_modes import make_private_folder

SUFFIX = ".md"
PACKED = ".md.gz"
MOST_KEYWORDS = 6
MAX_KEYWORD = 32
"""Characters of a word in a name."""

MAX_STEM_BYTES = 200
"""File systems take 255 bytes; the day, a number and the suffix come on top."""

_NAME = re.compile(r"(?P<words>[^/\\]+?)-(?P<day>\d{4}-\d{2}-\d{2})(?:-(?P<number>\d{1,9}))?\.md(?:\.gz)?")
_NUMBERED = re.compile(r"([^\W\d_]{4,})\d+")
_ACCENTS = re.compile(r"(?<=[A-Za-z])[\u0300-\u036f]+")
_PLACEHOLDER = re.compile(r"[\[<{][^\[\]<>{}\n]{0,60}[\]>}]")

_WEAK = frozenset(
    """
    add app application area behaviour behavior bug build change class code codebase component create current debug
    detail details error existing explain feature file files find fix fixes good help implement implementation improve
    issue issues list look module need package part piece problem problems program project repo repository resource
    result show software solve stuff system tell thing things way work working workspace write api
    """.split()
)
"""Words that many questions share: taken only where there is nothing better."""


def keywords(query: str, count: int = 2) -> tuple[str, ...]:
    """Keyword extraction: the `count` words that tell most of a question, in order, fit for a file's name; maybe none.

    What it is about comes before what is to be done, and both before words that many questions share. A name tells no
    secrets either.
    """
    text = _bare(_PLACEHOLDER.sub(" ", redact(query).text))
    telling = list(dict.fromkeys(map(_spelled, (*topic_of(text), *keywords_of(text, limit=20)))))
    telling = [word for word in telling if len(word) > 1]
    best = sorted(telling, key=lambda word: word in _WEAK)[: min(count, MOST_KEYWORDS)]
    return tuple(word for word in telling if word in best)


def logs_folder(settings: ConversationSettings) -> Path:
    """The folder of all logs, as configured."""
    return Path(settings.path).expanduser().absolute()


def folder_of(at: float) -> str:
    """The folder of a day's logs below the folder of all: `2025/12`."""
    return f"{datetime.fromtimestamp(at, UTC):%Y/%m}"


def names(query: str, at: float, naming: FileNaming) -> Iterator[str]:
    """Names for a log, each to be tried where the one before is taken: `a-b-2025-12-13.md`, `a-b-2025-12-13-2.md`, …"""
    day = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
    stem = _cut("-".join(keywords(query, naming.keyword_count)))
    number = 1
    if not stem:
        prefix = _cut(_spelled(naming.fallback_prefix)) or "query"
        while True:
            yield f"{prefix}-{number}-{day}{SUFFIX}"
            number += 1
    yield f"{stem}-{day}{SUFFIX}"
    while True:
        number += 1
        yield f"{stem}-{day}-{number}{SUFFIX}"


def reserve(folder: Path, query: str, at: float, naming: FileNaming) -> tuple[Path, int]:
    """Make a log's empty file under the first free name; returns its path and a descriptor that appends.

    Two processes never get the same one. Folders are made, closed to other users. Raises OSError.
    """
    place = folder / folder_of(at)
    make_private_folder(place)
    taken = {each.name.lower().removesuffix(".gz") for each in place.iterdir()}
    for name in names(query, at, naming):
        if name.lower() in taken:
            continue
        path = place / name
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileExistsError:
            continue
        if not path.with_name(f"{name}.gz").exists():
            return path, descriptor
        os.close(descriptor)  # it was compressed between our look and our making
        path.unlink()
    raise AssertionError("names never end")


def day_of(name: str) -> str | None:
    """The day in a log's name, `2025-12-13`; None where it is not the name of one of our logs."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    try:
        date.fromisoformat(found["day"])
    except ValueError:
        return None
    return found["day"]


def _spelled(word: str) -> str:
    """A word in lower case, without accents and signs; `oauth2` is `oauth`, short ones (`ipv6`) keep their number."""
    kept = "".join(sign for sign in _bare(word).lower() if sign.isalnum())[:MAX_KEYWORD]
    numbered = _NUMBERED.fullmatch(kept)
    return numbered.group(1) if numbered else kept


def _bare(text: str) -> str:
    """Transliteration of Latin letters with accents, spelled in two ways by file systems; words are not cut there."""
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def _cut(stem: str) -> str:
    return stem.encode()[:MAX_STEM_BYTES].decode(errors="ignore").strip("-")
