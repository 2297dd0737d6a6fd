"""Search (candidate generation): the chunks that words, names, places, relations and similar commits bring up for a
question. Reads only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import starmap

from msgspec import Struct, field

from aurora_memory.bm25 import Matches, Parts, match, numbers_of, rarity
from aurora_memory.chunks import CHUNK_TYPES
from aurora_memory.recall.constant_uses import users_of
from aurora_memory.recall.declarations import remainder_declarations
from aurora_memory.recall.kinship import kinship, nearest, share_told
from aurora_memory.recall.places import meant
from aurora_memory.recall.pointers import Pointed, pointed_at
from aurora_memory.recall.prefix import entries_of
from aurora_memory.recall.question import Question, spelled_out
from aurora_memory.recall.question_kind import QuestionKind
from aurora_memory.recall.quotations import DOCUMENTED, MAX_USED_IN, phrased, quoted
from aurora_memory.recall.similar_commits import COMMITS, Primed, prime, similar_enough
from aurora_memory.recall.spreading_activation import HUB, Spread
from aurora_memory.store import chunk_reader, commit_reader, file_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView

CANDIDATES = 90
WIDELY = 200
"""Parts looked at closely, and for a report: what it is about stands far behind what resembles its words. One in plain
words is told by a topic's answers, and only its own first ones count beside these.
"""

MEMBERS = 20
"""Further parts of each of a report's likeliest files that are looked at: what is to be mended there resembles its
words less than what is named in them.
"""

_WIDE: frozenset[QuestionKind] = frozenset({"report", "error", "issue"})

REMEMBERED = 30
"""Chunks that similar commits changed and words alone may not have found."""

MAX_MATCHED = 64
"""Terms of a question that are weighed: of a long one, those that tell most."""

EVERYWHERE = 1 << 14
"""Parts in which a word that the question only suggests stands, beyond which it is left out: half of what was weighed
of a question to a million parts were such words, and the answers were as good without.
"""

SOURCES = 12
"""The question's best matches, which prime what they are related to."""

MAX_USERS = 5
"""Users of a constant that is asked for, told before what resembles its name."""

PLACED_FILES = 5
PLACED_CHUNKS = 100
"""Files of the same name, and chunks of each, that a place in a query stands for."""

ReadText = Callable[[str], str]
"""The text of a file by its path, "" where there is none. May block: it is called on the reader's thread."""


class Focus(Struct, frozen=True):
    """Attention in the editor, as shares of it: chunks at the cursor, in its file, and of files saved lately."""

    shares: Mapping[int, float]


class PartMatch(Struct, frozen=True, gc=False):
    """Match of a question's words with a chunk's best part: its number, and shares of the question (see `Matches`).

    `file_best` is the `words` of the best part of its file, `heading_words` those of a report's first line alone.
    """

    part: int
    words: float
    cover: float
    name_cover: float
    name_share: float
    file_cover: float
    signature_cover: float
    doc_cover: float
    file_words: float
    file_best: float
    heading_words: float = 0.0


class Findings(Struct, frozen=True):
    """Findings of a search, by row id: what each way of looking says of the chunks it found.

    `declared` are remainders, each with the line that declares what the question names; `ids` are all chunks in the
    order in which they were found, `by_words` those of them that are found without an embedding. `alone` says that the
    question is the id of one, so that nothing else is meant. `rarities` is what each known term of the question weighs,
    `alike` the cosine of each chunk's nearest part with the question, where word vectors were asked, `pointed` what a
    report points at. `first` is what answers before anything else, in its order, each with words about it: who says
    what is quoted, and who uses a constant that is asked for. `is_whole`: what is quoted is the whole of a text.
    `phrased` is by chunk the share of the question's phrases that stand in it.
    """

    matches: Mapping[int, PartMatch] = {}
    spread: Spread = field(default_factory=lambda: Spread({}))
    episodes: Mapping[int, Primed] = {}
    declared: Mapping[int, int] = {}
    ids: Sequence[int] = ()
    by_words: Collection[int] = ()
    alone: bool = False
    rarities: Mapping[str, float] = {}
    alike: Mapping[int, float] = {}
    pointed: Pointed = field(default_factory=Pointed)
    first: Mapping[int, str] = {}
    is_whole: bool = True
    phrased: Mapping[int, float] = {}


def search(
    reader: Reader,
    question: Question,
    focus: Focus | None = None,
    types: Collection[str] | None = None,
    near: Sequence[tuple[int, float]] = (),
    read: ReadText | None = None,
    *,
    by_meaning: bool = False,
) -> Findings:
    """Everything that may answer a question; parameters as `recall` has them. `by_meaning`: word vectors are asked."""
    parts = reader.words.parts(reader.writes)
    entries = {
        term: found
        for term, found in entries_of(reader, question).items()
        if term in question.terms or len(found[0]) <= EVERYWHERE
    }
    if question.synonyms.issuperset(entries):  # of what the question says nothing is here: something else is no answer
        entries = {}
    matches: dict[int, PartMatch] = {}
    rarities = {
        term: question.weights[term] * rarity(parts.living, len(numbers)) for term, (numbers, _) in entries.items()
    }
    if len(entries) > MAX_MATCHED:
        rarities = dict(sorted(rarities.items(), key=lambda entry: -entry[1])[:MAX_MATCHED])
        entries = {term: entries[term] for term in rarities}
    places = None if types is None else [place for place, name in enumerate(CHUNK_TYPES) if name in types]
    cosines = None
    pointed = pointed_at(reader, question)
    if entries:
        looked_at, members = (
            (WIDELY, MEMBERS) if question.kind in _WIDE and not question.is_in_plain_words else (CANDIDATES, 0)
        )
        cosines = kinship(reader, question, len(parts.chunks)) if by_meaning else None
        also = None if cosines is None else nearest(cosines)
        into = _files_of(reader, parts, pointed)
        found = match(
            parts, entries, question.weights, question.terms, looked_at, places, members, also, into, question.heading
        )
        matches = _by_chunk(found)
    exact = chunk_reader.named(reader, question.identifiers) if question.identifiers else []
    placed = _placed(reader, question, exact)
    alone = bool(placed) and question.is_id
    declared: dict[int, tuple[ChunkView, int]] = {}
    if read is not None and question.by_name and not question.is_id:
        declared = remainder_declarations(reader, question, exact, parts, entries, read)
    if alone:
        matches, exact, near = {}, [], ()
    lines = {chunk_id: line for chunk_id, (_, line) in declared.items()}
    first: Mapping[int, str] = {}
    is_whole = True
    phrases: Mapping[int, float] = {}
    if read is not None and declared:
        first = _uses(reader, question, declared, read)
    elif read is not None and matches and not question.by_name:
        likeliest = [match.part for match in matches.values()]
        documented = [chunk for chunk, match in matches.items() if match.doc_cover >= DOCUMENTED]
        said = quoted(reader, question, parts, entries, likeliest, documented, read)
        first, lines, is_whole = said.answers, dict(said.lines), said.is_whole
        phrases = phrased(reader, question, parts, likeliest, read) if question.phrases else {}
    exact = [*placed, *exact, *(chunk for chunk, _ in declared.values())]
    episodes = _episodes(reader, question)
    spread, primed = _spread(reader, _sources(matches, exact))
    if focus is not None and (matches or exact or episodes or near):
        spread, _ = _spread(reader, _sources(matches, exact, focus))  # context ranks what was found, and adds nothing
    remembered = sorted(episodes, key=lambda chunk: -episodes[chunk].amount)[:REMEMBERED]
    others = () if alone else (*primed, *remembered)
    by_words = dict.fromkeys([*matches, *(chunk.id for chunk in exact), *others, *pointed.chunks, *first, *phrases])
    alike: dict[int, float] = {}
    # Vectors find what they find, cursor or not; between what words leave open it decides, and they would outweigh it.
    if cosines is not None and focus is None:
        numbers = numbers_of(parts, by_words)
        numbers = numbers[cosines[numbers].argsort()]  # of a chunk's parts the last to come stays: the nearest
        told = share_told(question, rarities)
        alike = dict(zip(parts.chunks[numbers].tolist(), (cosines[numbers].clip(0) * told).tolist(), strict=True))
    return Findings(
        matches,
        spread,
        episodes,
        lines,
        list(dict.fromkeys([*by_words, *(chunk for chunk, _ in near)])),
        by_words,
        alone,
        rarities,
        alike,
        pointed,
        first,
        is_whole,
        phrases,
    )


def _uses(
    reader: Reader, question: Question, declared: Mapping[int, tuple[ChunkView, int]], read: ReadText
) -> dict[int, str]:
    """What declares the constants that are asked for, then who uses them, each with words about it."""
    found = dict.fromkeys(declared, "")
    for name in dict.fromkeys(name.rpartition(".")[2] for name in question.identifiers):
        users = users_of(reader, name, {chunk.path for chunk, _ in declared.values()}, read, MAX_USED_IN)
        for chunk, is_sure in users[:MAX_USERS]:
            found.setdefault(chunk.id, f"uses {name}" if is_sure else f"may use {name}")
    return found


def _files_of(reader: Reader, parts: Parts, pointed: Pointed) -> list[int]:
    """The numbers of the files that a report points at."""
    numbers = (number for path in pointed.files for number in chunk_reader.first_part(reader, path))
    return [int(parts.files[number]) for number in numbers if number < len(parts.files)]


def _placed(reader: Reader, question: Question, exact: Sequence[ChunkView]) -> list[ChunkView]:
    """The chunks at the places a query consists of. What may be a name is one where something is called so."""
    if not question.by_name:
        return []
    found: list[ChunkView] = []
    for place in question.places:
        if exact and not place.is_certain:
            continue
        for path in file_reader.files_like(reader, place.path, PLACED_FILES):
            found += meant([place], chunk_reader.of_file(reader, path))[:PLACED_CHUNKS]
    return found


def _by_chunk(matches: Matches) -> dict[int, PartMatch]:
    """Max pooling of matches: each chunk by its best part."""
    numbers, chunks, files, words, *shares, heading_words = (column.tolist() for column in matches)
    best_of_file: dict[int, float] = {}
    for file, said in zip(files, words, strict=True):
        if said > best_of_file.get(file, -1.0):
            best_of_file[file] = said
    of_files = [best_of_file[file] for file in files]
    found: dict[int, PartMatch] = {}
    rows = zip(numbers, words, *shares, of_files, heading_words, strict=True)
    for chunk, each in zip(chunks, starmap(PartMatch, rows), strict=True):
        known = found.get(chunk)
        if known is None or each.words > known.words:
            found[chunk] = each
    return found


def _sources(
    matches: Mapping[int, PartMatch], exact: Sequence[ChunkView], focus: Focus | None = None
) -> dict[int, float]:
    """Shares of attention: the best matches by their words, exact names, and the editor's focus."""
    best = sorted(matches.items(), key=lambda entry: -(entry[1].words + entry[1].name_share))[:SOURCES]
    shares = {chunk: match.words**2 for chunk, match in best}
    for chunk in exact[:SOURCES]:
        shares[chunk.id] = max(1.0, shares.get(chunk.id, 0.0))
    if focus is not None:
        whole = sum(shares.values()) or 1.0
        for chunk_id, share in focus.shares.items():
            shares[chunk_id] = shares.get(chunk_id, 0.0) + share * whole
    return shares


def _episodes(reader: Reader, question: Question) -> dict[int, Primed]:
    if question.by_name:
        return {}
    similar = similar_enough(commit_reader.similar_commits(reader, spelled_out(question), COMMITS))
    if not similar:
        return {}
    changed = commit_reader.changed_by(reader, [commit.id for commit in similar])
    return prime(similar, changed, reader.weighing.spread_factor)


def _spread(reader: Reader, sources: Mapping[int, float]) -> tuple[Spread, list[int]]:
    spread = Spread(sources, reader.weighing)
    while frontier := spread.frontier():
        spread.follow(relation_reader.arcs(reader, frontier, HUB))
    strongest = sorted(spread.amounts.items(), key=lambda entry: -entry[1])[:SOURCES]
    return spread, [chunk for chunk, _ in strongest]
