"""Candidates of a question, before they are ranked: the chunks that are weighed, and the features (columns) of each
that its ranking signals are made of (feature extraction).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct
from msgspec.structs import astuple

from aurora_memory.activation import Activation, context_boost, decay_penalty
from aurora_memory.chunks import MODULE_NAME
from aurora_memory.recall.access_history import histories_of, levels_of, not_after, with_others
from aurora_memory.recall.places import standing_at
from aurora_memory.recall.pointers import Pointed
from aurora_memory.recall.question import Question
from aurora_memory.recall.search import Findings, PartMatch
from aurora_memory.store import chunk_reader, commit_reader, file_reader, learned_reader
from aurora_memory.store.reader import Reader
from aurora_memory.tokens import stem_word, terms
from aurora_memory.views import ChunkHead, Commits, OthersUses

_UNMATCHED = PartMatch(-1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""Of a chunk that was found otherwise than by words."""

_OF_TESTS = frozenset({"test", "spec"})
"""Terms of folders that say nothing of what is in them."""

Column = Sequence[float]
"""One value for each candidate, in their order."""


class NameShares(Struct, frozen=True, gc=False):
    """Shares: of the question that a file's name says, of that name that the question says, of its folders', and of a
    change's scope that its name or folders say.
    """

    said: float
    heard: float
    above: float
    scoped: float = 0.0


_NO_SHARES = NameShares(0.0, 0.0, 0.0)


class Candidates(Struct, frozen=True, dict=True):
    """Candidates in columns: the n-th value of each sequence is of the n-th chunk.

    `reached` is activation that came over relations, `brought` from similar commits, `brought_to_file` the most that
    these brought to any candidate of the file; `boosts` (context), `decays` and `learned` are terms of AURORA §6.3.
    `standing` is how exactly a chunk is what a place in the question means, `declares` that it is a remainder which
    declares a name of the question. `histories` are access times without colleagues' uses (`of_others`, by row id),
    which `counts` and `levels` have. `last_used` (by row id), `commits` and `mtimes` tell when chunks were used and
    changed, and files, `names_of_files` by path what files' names have of the question, `alike` is the cosine by word
    vectors, `pointed` what a report points at, `phrased` the
    share of the question's phrases that stand in each.
    """

    question: Question
    now: float
    heads: Sequence[ChunkHead]
    matches: Sequence[PartMatch]
    reached: Column
    brought: Column
    brought_to_file: Column
    histories: Sequence[tuple[float, ...]]
    counts: Sequence[int]
    levels: Column
    boosts: Column
    decays: Column
    learned: Column
    standing: Column
    declares: Sequence[bool]
    last_used: Mapping[int, float]
    of_others: Mapping[int, OthersUses]
    commits: Mapping[int, Commits]
    mtimes: Mapping[str, float]
    names_of_files: Mapping[str, NameShares]
    alike: Column
    pointed: Pointed
    phrased: Column

    @cached_property
    def matched(self) -> Mapping[str, Column]:
        """Columns of the matches, by the names of their fields."""
        fields = PartMatch.__struct_fields__
        columns = zip(*map(astuple, self.matches), strict=True) if self.matches else [()] * len(fields)
        return dict(zip(fields, columns, strict=True))

    @cached_property
    def paths(self) -> Sequence[str]:
        """The file of each."""
        return [head.path for head in self.heads]

    @cached_property
    def kinds(self) -> Sequence[str]:
        """The kind of each."""
        return [head.kind for head in self.heads]

    @cached_property
    def remainders(self) -> Sequence[int]:
        """The places of those that are a file's remainder, which few are."""
        return [n for n, head in enumerate(self.heads) if head.name == MODULE_NAME]

    @cached_property
    def file_names(self) -> Sequence[NameShares]:
        """What the name of each one's file has of the question."""
        return list(map(self.names_of_files.__getitem__, self.paths))

    def activation(self, n: int) -> Activation:
        """The terms of one candidate's activation."""
        return Activation(
            self.levels[n], self.reached[n] + self.brought[n], self.boosts[n], self.decays[n], self.learned[n]
        )


def gather(
    reader: Reader, question: Question, heads: Sequence[ChunkHead], findings: Findings, now: float
) -> Candidates:
    """Look up what memory knows of the chunks that a search found. `now` is Unix seconds."""
    ids = [head.id for head in heads]
    own: Mapping[int, Sequence[float]] = {}
    of_others: Mapping[int, OthersUses] = {}
    learned: Mapping[int, float] = {}
    if learned_reader.has_learned(reader):
        used, of_others = chunk_reader.summed_accesses(reader, ids, now)
        own = {each: kept for each, times in used.items() if (kept := not_after(times, now))}
        learned = learned_reader.boosts(reader, ids)
    commits = commit_reader.commit_times(reader, ids)
    unknown = {head.path for head in heads if head.id not in commits}  # git knows nothing of them
    mtimes = file_reader.mtimes(reader, unknown) if unknown else {}
    histories = histories_of(heads, own, of_others, commits, mtimes, now)
    levels = levels_of(histories, now, reader.weighing.decay_rate)
    counts = [len(times) for times in histories]
    last = [times[-1] if times else now for times in histories]
    last_used = {each: times[-1] for each, times in own.items()}
    if of_others:
        others = [of_others.get(each) for each in ids]
        levels = with_others(levels, histories, others, reader.weighing.others_weight)
        for n, uses in enumerate(others):
            if uses is not None:
                counts[n] += uses.count
                # When it was used last is a fact, whoever did: it counts less, and not as if it were old as well.
                last[n] = max((*histories[n][-1:], uses.last))
                last_used[ids[n]] = max((*own.get(ids[n], ())[-1:], uses.last))
    matches = [findings.matches.get(each, _UNMATCHED) for each in ids]
    brought = [findings.episodes[each].amount if each in findings.episodes else 0.0 for each in ids]
    by_file = dict.fromkeys([head.path for head in heads], 0.0)
    for head, amount in zip(heads, brought, strict=True):
        if amount > by_file[head.path]:
            by_file[head.path] = amount
    standing = standing_at(question.places, heads) if question.places else {}
    most = reader.weighing.context_boost_max
    decays = {each: decay_penalty((now - each) / 86_400) for each in set(last)}
    rarity = sum(findings.rarities.get(term, 0.0) for term in question.terms) or 1.0
    return Candidates(
        question,
        now,
        heads,
        matches,
        [findings.spread.amounts.get(each, 0.0) for each in ids],
        brought,
        [by_file[head.path] for head in heads],
        histories,
        counts,
        levels,
        [context_boost(match.name_cover, most) if match.name_cover else 0.0 for match in matches],
        [decays[each] for each in last],
        [learned.get(each, 0.0) for each in ids],
        [standing.get(each, 0.0) for each in ids],
        [each in findings.declared for each in ids],
        last_used,
        of_others,
        commits,
        mtimes,
        {path: _name_shares(path, rarity, findings.rarities, question.scope) for path in by_file},
        [findings.alike.get(each, 0.0) for each in ids],
        findings.pointed,
        [findings.phrased.get(each, 0.0) for each in ids] if findings.phrased else [0.0] * len(ids),
    )


def _name_shares(path: str, total: float, rarities: Mapping[str, float], scope: Sequence[str]) -> NameShares:
    """`total` is what a question's terms weigh together, `rarities` what each does."""
    stem, above = _name_terms(path)
    if not scope and rarities.keys().isdisjoint(stem) and rarities.keys().isdisjoint(above):
        return _NO_SHARES
    said = [rarities[term] for term in stem if term in rarities]
    return NameShares(
        min(1.0, sum(said) / total),
        len(said) / max(1, len(stem)),
        len([term for term in above if term in rarities]) / max(1, len(above)),
        len([term for term in scope if term in stem or term in above]) / len(scope) if scope else 0.0,
    )


@lru_cache(maxsize=2048)
def _name_terms(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The terms of a file's name before its first dot, and those of its folders that it does not have itself."""
    above, _, name = path.rpartition("/")
    pieces = stem_word(name.partition(".")[0] or name)
    stem = tuple(dict.fromkeys(pieces[:-1] if len(pieces) > 2 else pieces))  # without all of them joined
    of_folders = dict.fromkeys(terms(above.replace("/", " ")))
    return stem, tuple(each for each in of_folders if each not in stem and each not in _OF_TESTS)
