"""Views of what memory holds (data transfer objects): live chunks, their parts, relations and commits, as readers hand
them out.

Who needs a type of these need not know SQL: `store` makes them, everybody else only imports them.
"""

from __future__ import annotations

from msgspec import Struct


class ChunkHead(Struct, frozen=True, array_like=True, gc=False):
    """Head of a live chunk: all that its rank depends on. Lines are 1-based, inclusive.

    A question weighs hundreds of chunks and shows ten: the bodies of the others are never read.
    """

    id: int
    path: str
    name: str
    kind: str
    parent: str | None
    line_start: int
    line_end: int
    changed_at: float | None


class ChunkView(ChunkHead, frozen=True, array_like=True, gc=False):
    """Live chunk as it is shown: in answers, hovers and explanations. `changed_at` is Unix seconds, `lead` how many of
    its lines stand before the one of its name.
    """

    language: str
    signature: str
    docstring: str
    complexity: str
    branches: int
    loops: int
    keywords: str
    tokens: int
    lead: int = 0

    @property
    def line(self) -> int:
        """Line of its name: where one is led."""
        return self.line_start + self.lead


class PartView(Struct, frozen=True, array_like=True):
    """Searchable part of a chunk: its number in the word index, its lines, and its packed counts by term."""

    number: int
    line_start: int
    line_end: int
    occurrences: dict[str, int]


Arc = tuple[int, int, str, float, bool]
"""Relation as activation follows it: from one chunk (row id) to another, kind, weight, and whether that is its own
direction. A tuple, as it is read: a question follows hundreds, and takes them apart.
"""


class Edge(Struct, frozen=True, array_like=True):
    """Relation seen from one chunk: `outgoing` when that chunk is the one that calls, contains, …"""

    kind: str
    outgoing: bool
    weight: float
    other: ChunkView


class ReferenceTarget(Struct, frozen=True, array_like=True, gc=False):
    """Target of references: a chunk as something that a name may mean."""

    id: int
    path: str
    name: str
    leaf: str
    parent: str | None
    kind: str
    language: str


class UsageCounts(Struct, frozen=True, array_like=True):
    """Usage of a chunk: how many other live chunks call it and inherit from it, surely and only likely, and how many
    surely hand it on by its name and do not call it.

    What the command line, hovers and lenses tell, all by `store.relation_reader.usages`.
    """

    callers: int = 0
    likely_callers: int = 0
    subclasses: int = 0
    likely_subclasses: int = 0
    handed_on: int = 0


class OthersUses(Struct, frozen=True):
    """Colleagues' uses of a chunk: how many, what their `Σ t^−d` is without a weight, and when the last was."""

    count: int
    amount: float
    last: float


class Commits(Struct, frozen=True, array_like=True):
    """Git history of a chunk: commit times (Unix seconds, newest first), last short hash and its subject.

    Sweeping commits are left out, except the one that brought the chunk in. With hash "" the only time is one at which
    the chunk was there already.
    """

    times: list[int]
    last_hash: str
    last_subject: str
    changed: bool = True
    """False where the only time is one at which the chunk was there already."""
    latest: int | None = None
    """Time of the last change, of a sweeping commit, too: these are no use, and change what they change."""


class Companion(Struct, frozen=True, array_like=True):
    """Chunk (row id) that commits changed with another, and how many did.

    Of two the one with the higher `rank` changes likelier again: by what these commits weigh, then by how near it lies,
    then by what all weigh that changed it.
    """

    id: int
    commits: int
    rank: tuple[float, int, float]


class SimilarCommit(Struct, frozen=True, array_like=True):
    """Commit whose message resembles a question; `likeness` in [0, 1]."""

    id: int
    likeness: float
    hash: str
    subject: str


class ChunkPlace(Struct, frozen=True, array_like=True, gc=False):
    """Place of a live chunk, to follow it through git's history. Lines are 1-based, inclusive."""

    path: str
    id: int
    name: str
    line_start: int
    line_end: int


class FileToEmbed(Struct, frozen=True, array_like=True):
    """File as it was indexed: its stat then, and when that was (Unix seconds)."""

    path: str
    size: int
    mtime_ns: int
    indexed_at: float


class ChunkToEmbed(Struct, frozen=True, array_like=True):
    """Live chunk without a vector of today's model and body. Lines are 1-based, inclusive."""

    id: int
    path: str
    name: str
    line_start: int
    line_end: int
    signature: str
    docstring: str
    body_hash: bytes
