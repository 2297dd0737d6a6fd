"""Authors and users of a place in the code (code ownership, expertise): who knows it, by git and by the repository's
record.

What git tells is everybody's who has the repository. What a record tells is shown of oneself, and of others only where
they let it (`team.share` with `people`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from aurora_indexer.git.authorship import Authored, LineCommits, authors, lines_of
from aurora_memory import UnknownChunk
from aurora_memory.chunks import MODULE_NAME
from aurora_memory.recall import parse_question
from aurora_memory.recall.access_history import levels_of
from aurora_memory.recall.places import below
from aurora_memory.record.people import people
from aurora_memory.record.person import person_id
from aurora_memory.store import chunk_reader, commit_reader, file_reader
from aurora_memory.store.reader import Reader
from aurora_memory.store.reader_thread import ReaderThread
from aurora_memory.views import ChunkView
from aurora_protocol.who_methods import KnowingPerson, WhoPlace, WhoResult
from aurora_server.workspace.explanation import chunk_named
from aurora_server.workspace.record_place import RecordPlace, record_if_there, record_place
from aurora_server.workspace.wire import iso, shown_id

MOST = 20
"""People told of one place."""


class AskedPlace(Struct, frozen=True):
    """Place that is asked about, as memory knows it: its chunks, the commits that changed them, edits not committed."""

    place: WhoPlace
    names: tuple[str, ...]
    commits: tuple[str, ...]
    edited_at: float | None
    own_uses: tuple[float, ...]


async def who(root: Path, home: Path, read: ReaderThread, asked: str, now: float, *, reading: bool) -> WhoResult:
    """Experts (code owners), who know `asked`. `reading`: git's history is not read to its end. Raises UnknownChunk."""
    found = await read(asked_place, root, asked)
    place = found.place
    lines, record = await asyncio.gather(
        lines_of(root, place.file, place.line_start, place.line_end), record_place(root, home)
    )
    commits = {*found.commits, *(lines.by_commit if lines is not None else ())}
    known = await authors(root, commits)
    uses, names = await asyncio.to_thread(_recorded, record, found)
    unknown = []
    if lines is None:
        unknown.append("git does not tell who wrote the lines that stand there")
    if reading:
        unknown.append("git's history is still being read")
    if len({each.commit for each in known}) < len(commits):
        unknown.append("commits that changed it are not in the repository any more")
    gathered = _Gathered(record.author, known)
    for each in known:
        gathered.touch(
            gathered.of(each), each.at, commits=1, lines=(lines.by_commit if lines else {}).get(each.commit, 0)
        )
    others = False
    for author, at in uses:
        person = gathered.canonical(author)
        if person != gathered.own and author not in names:
            others = True
            continue
        gathered.touch(person, at, uses=1)
        gathered.names.setdefault(person, names.get(author, ""))
    _add_edits(gathered, found, lines)
    gathered.names.setdefault(gathered.own, record.name)
    return WhoResult(place=place, people=gathered.people(now), others=others, unknown=unknown)


def asked_place(reader: Reader, root: Path, asked: str) -> AskedPlace:
    """What memory knows of a place. Raises UnknownChunk where there is none such."""
    question = parse_question(below(str(root), asked))
    whole = [each for each in question.places if each.name is None and each.line is None]
    paths = file_reader.files_like(reader, whole[0].path, 1) if len(whole) == len(question.places) == 1 else []
    if paths:
        chunks = chunk_reader.of_file(reader, paths[0])
        if not chunks:
            raise UnknownChunk(f"{paths[0]} holds nothing that memory knows")
        end = max(chunk.line_end for chunk in chunks)
        place = WhoPlace(
            id=None, name=Path(paths[0]).name, file=paths[0], line_start=1, line_end=end, line=1, workspace=str(root)
        )
    else:
        chunk = chunk_named(reader, root, asked)
        if not chunk.path:
            raise UnknownChunk(f"{asked} stands in no file; ask for a place in one")
        chunks = [chunk]
        name = Path(chunk.path).name if chunk.name == MODULE_NAME else chunk.name
        place = WhoPlace(
            id=shown_id(chunk),
            name=name,
            file=chunk.path,
            line_start=chunk.line_start,
            line_end=chunk.line_end,
            line=chunk.line,
            workspace=str(root),
        )
    return _known(reader, place, chunks)


def _known(reader: Reader, place: WhoPlace, chunks: Sequence[ChunkView]) -> AskedPlace:
    """Place with its commits, edits and uses."""
    ids = [chunk.id for chunk in chunks]
    used = chunk_reader.accesses(reader, ids)
    edits = [chunk.changed_at for chunk in chunks if chunk.changed_at is not None]
    return AskedPlace(
        place,
        tuple(dict.fromkeys(chunk.name for chunk in chunks)),
        tuple(commit_reader.changing_commits(reader, ids)),
        max(edits, default=None),
        tuple(sorted(at for times in used.values() for at in times)),
    )


def _recorded(place: RecordPlace, found: AskedPlace) -> tuple[list[tuple[str, float]], dict[str, str]]:
    """Uses by author as the record has them, and the names of those who share theirs."""
    path = f"{place.below}/{found.place.file}" if place.below else found.place.file
    with record_if_there(place) as record:
        if record is None:
            return [(place.author, at) for at in found.own_uses], {}
        uses = record.uses_of(path, found.names)
        names = people(record)
    return uses, names


def _add_edits(gathered: _Gathered, found: AskedPlace, lines: LineCommits | None) -> None:
    """Lines that are in no commit yet, and the edit that memory saw, are whose machine this is."""
    uncommitted = lines.uncommitted if lines is not None else 0
    if found.edited_at is not None and (uncommitted or lines is None):
        gathered.touch(gathered.own, found.edited_at)
    if uncommitted and gathered.own in gathered.times:
        gathered.uncommitted[gathered.own] = uncommitted


class _Gathered:
    """What is gathered of people, by the id that their mail address gives them."""

    def __init__(self, own: str, known: Sequence[Authored]) -> None:
        self._alias = {_id(each.raw_email): _id(each.email) for each in known}
        self.own = self.canonical(own)
        self.times: dict[str, list[float]] = {}
        self.names: dict[str, str] = {}
        self.uncommitted: dict[str, int] = {}
        self._counts: dict[str, dict[str, int]] = {}
        for each in sorted(known, key=lambda each: each.at):
            self.names[_id(each.email)] = each.name

    def canonical(self, author: str) -> str:
        """One id of a person who has several, by `.mailmap`."""
        return self._alias.get(author, author)

    def of(self, each: Authored) -> str:
        return _id(each.email)

    def touch(self, person: str, at: float, **counts: int) -> None:
        self.times.setdefault(person, []).append(at)
        held = self._counts.setdefault(person, {})
        for name, number in counts.items():
            held[name] = held.get(name, 0) + number

    def people(self, now: float) -> list[KnowingPerson]:
        """Those who know most first."""
        known = list(self.times)
        levels = levels_of([tuple(sorted(self.times[person])) for person in known], now)
        found = [self._person(person, level) for person, level in zip(known, levels, strict=True)]
        return sorted(found, key=lambda each: (-each.activation, each.name, each.author))[:MOST]

    def _person(self, person: str, level: float) -> KnowingPerson:
        """Person with counts, score and last touch."""
        counts: Mapping[str, int] = self._counts[person]
        return KnowingPerson(
            author=person,
            name=self.names.get(person, ""),
            you=person == self.own,
            activation=round(level, 6),
            last_touch=iso(max(self.times[person])),
            commits=counts.get("commits", 0),
            lines=counts.get("lines", 0),
            uses=counts.get("uses", 0),
            uncommitted=self.uncommitted.get(person, 0),
        )


def _id(email: str) -> str:
    return person_id(email or "nobody", "", "")
