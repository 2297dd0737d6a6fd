"""File evidence (aggregation by file): what a question's candidates say of their files together, and the order of
answers it gives: one for each file where a topic is asked for. Pure.

Evidence adds up over a file: ten functions that each have a little to do with a topic make their file its place, which
none of them is alone. The sum decays, so that a large file does not win by its size. What a file and its folders are
called counts besides (`file_features.py`, by fitted weights). For a topic, each file then answers once, by the chunk
that tells most of it (`answering`), the likeliest one twice where it leads clearly (`_leads`), and the rest of its
members is told beside that (`also`). For a change, every
function answers for itself: measured, evidence of files adds nothing to the signals then, which say as much of a
chunk's file. It tells which other files come behind the first ten answers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct

from aurora_memory.module_paths import stem
from aurora_memory.recall.candidates import Candidates
from aurora_memory.recall.file_features import answering, features_of, file_order, weighed
from aurora_memory.recall.question_kind import QuestionKind
from aurora_memory.recall.ranking import Rank
from aurora_memory.recall.signals import named, test

ALSO = 5
"""Members of a file told beside its answer."""

BEHIND = 6.0
"""How far behind its file's best answer, in log odds, a member is still told."""

UNMOVED = 2
LIKELIEST = 2
"""Answers to a task or change that stay where they are, and its likeliest files of which one comes behind these. Of a
report only those stay whose name it spells.
"""

CLEARLY = 0.4
"""How much more evidence such a file of a task needs than the files of the answers before it."""

BY_FILE: frozenset[QuestionKind] = frozenset({"topic", "how", "name"})
"""Kinds of questions that each file answers once."""

TO_CHANGE: frozenset[QuestionKind] = frozenset({"change", "report", "error", "issue"})
"""Kinds of those who want something changed: answered function by function, and then by the other likeliest files."""

SECOND = 2
"""Answers to a topic behind which the second chunk of a file that leads clearly comes."""

CALLERS = 24
"""Files, the strongest first, of which it is looked up what their strongest chunk calls."""

BEFORE_MEMBERS, AMONG = 4, 30
"""Answers to a report that stay before others of its first one's file, and those among which these are looked for."""

TOLD = 10
OTHERS = 5
"""Answers to such a question behind which other files come first, and the likeliest files of which these are."""


class Ordered(Struct, frozen=True):
    """Ranks in the order of answers, strengths falling; `also` are row ids told beside a rank's, by its own."""

    ranks: list[Rank]
    also: Mapping[int, list[int]] = {}


def in_order(candidates: Candidates, ranks: Sequence[Rank], calls: Mapping[int, Collection[int]] = {}) -> Ordered:
    """Ranks (best first) in the order in which they answer a question of its kind. `calls` are those of the strongest
    chunks of files (`strongest`).

    Each rank takes the strength of the place it comes to, so that the order stays comparable with that of other
    recalls.
    """
    kind = candidates.question.kind
    if any(candidates.standing) and candidates.question.by_name:  # a place may look like a name: `auth.py`
        return Ordered(list(ranks))
    if kind in BY_FILE:
        return _one_of_each_file(candidates, ranks, calls)
    return Ordered(list(ranks))


def strongest(candidates: Candidates, ranks: Sequence[Rank]) -> list[int]:
    """The strongest chunks (row ids) of the files that one of several may answer for, of the strongest of these."""
    if candidates.question.kind not in BY_FILE or candidates.question.by_name:
        return []
    first: dict[str, int] = {}
    several: dict[str, int] = {}
    for rank in ranks:
        path = candidates.heads[rank.place].path
        if path in first:
            several[path] = first[path]
        else:
            first[path] = rank.id
    return [chunk for path, chunk in first.items() if path in several][:CALLERS]


def of_files(candidates: Candidates, ranks: Sequence[Rank]) -> Ordered:
    """One rank for each file, its best by what the file says together, whatever the kind of question; a file that is
    called what one name asks for comes first.
    """
    ordered = _one_of_each_file(candidates, ranks)
    first: dict[str, Rank] = {}
    for rank in ordered.ranks:
        first.setdefault(candidates.heads[rank.place].path, rank)
    if len(candidates.question.identifiers) == 1 and candidates.question.by_name:
        called = candidates.question.identifiers[0].lower()
        own = [path for path in first if stem(path).lower() == called]
        order = [*(first[path].id for path in own), *(rank.id for rank in first.values())]
        return Ordered(_placed(list(first.values()), order), ordered.also)
    return Ordered(list(first.values()), ordered.also)


def with_report(ordered: Ordered, ranks: Sequence[Rank], most: int) -> Ordered:
    """The first `most` answers to a topic, then those to a report (`ranks`, best first) that are none of them."""
    first = ordered.ranks[:most]
    answered = {rank.id for rank in first}
    order = [*(rank.id for rank in first), *(rank.id for rank in ranks if rank.id not in answered)]
    return Ordered(_placed(ordered.ranks, [*order, *(rank.id for rank in ordered.ranks)]), ordered.also)


def with_these_first(ordered: Ordered, chunks: Collection[int], unmoved: int = 0) -> Ordered:
    """The answers with those chunks (row ids), as far as they are among them, before all others, in their order; behind
    the first ones that stay where they are.
    """
    if not chunks:
        return ordered
    there = {rank.id for rank in ordered.ranks}
    stay = [rank.id for rank in ordered.ranks[:unmoved]]
    order = [*stay, *(chunk for chunk in chunks if chunk in there), *(rank.id for rank in ordered.ranks)]
    return Ordered(_placed(ordered.ranks, order), ordered.also)


def with_likeliest_files(candidates: Candidates, ordered: Ordered, worth: Mapping[str, float]) -> Ordered:
    """Answers to a report, of which one of each of its two likeliest files comes first, or behind those whose name it
    spells; answers to a task or a change, of which these are among the first four.

    `worth` is the evidence of each file: it adds up to where a report belongs, although what is to be changed there
    may not say much of it by itself. Who tells a change knows more of the function. A task mostly means one: its first
    answers make way only where a file has clearly more to do with it than theirs.
    """
    likeliest = sorted(worth, key=lambda path: -worth[path])[:LIKELIEST]
    if candidates.question.kind == "task":
        enough = max((worth[path] for path in _first_files(candidates, ordered)), default=0.0) + CLEARLY
        likeliest = [path for path in likeliest if worth[path] >= enough]
    first = ordered.ranks[:UNMOVED]
    if candidates.question.kind == "report":
        first = list(takewhile(lambda rank: rank.signals[named] > 0, first))
    return _moved_in(candidates, ordered, likeliest, len(first))


def with_files_pointed_at(candidates: Candidates, ordered: Ordered) -> Ordered:
    """Answers to a report, of which one of each of the two files that it points at most is among the first four."""
    files = candidates.pointed.files
    most = sorted(files, key=lambda path: -files[path])[:LIKELIEST]
    return _moved_in(candidates, ordered, most)


def with_other_files(candidates: Candidates, ordered: Ordered, worth: Mapping[str, float]) -> Ordered:
    """Answers of which, behind the first ten, the best one of each of the five likeliest files comes that none of these
    is of: who has read ten answers and goes on has not found it in their files.
    """
    told = {candidates.heads[rank.place].path for rank in ordered.ranks[:TOLD]}
    likeliest = sorted(worth, key=lambda path: -worth[path])[:OTHERS]
    return _moved_in(candidates, ordered, [path for path in likeliest if path not in told], TOLD)


def with_members(candidates: Candidates, ordered: Ordered) -> Ordered:
    """Answers to a report of which, behind the first ones, those come next that are of the file of the very first and
    little weaker: where that is right, what is to be mended there says less of the report than what other files say.
    """
    heads = candidates.heads
    path = heads[ordered.ranks[0].place].path if ordered.ranks else ""
    stay = [rank.id for rank in ordered.ranks[:BEFORE_MEMBERS]]
    own = [rank.id for rank in ordered.ranks[BEFORE_MEMBERS:AMONG] if heads[rank.place].path == path]
    return Ordered(_placed(ordered.ranks, [*stay, *own, *(rank.id for rank in ordered.ranks)]), ordered.also)


def _first_files(candidates: Candidates, ordered: Ordered) -> set[str]:
    return {candidates.heads[rank.place].path for rank in ordered.ranks[:UNMOVED]}


def _moved_in(candidates: Candidates, ordered: Ordered, paths: Sequence[str], unmoved: int = UNMOVED) -> Ordered:
    """The answers with the best one of each of those files behind the first that stay where they are."""
    wanted, heads = set(paths), candidates.heads
    best: dict[str, int] = {}
    for rank in ordered.ranks if wanted else ():
        path = heads[rank.place].path
        if path in wanted:
            best.setdefault(path, rank.id)
    if not best:
        return ordered
    moved = [best[path] for path in paths if path in best]
    order = [*(rank.id for rank in ordered.ranks[:unmoved]), *moved, *(rank.id for rank in ordered.ranks)]
    return Ordered(_placed(ordered.ranks, order), ordered.also)


def evidence(candidates: Candidates, ranks: Sequence[Rank], *, of_reports: bool = False) -> dict[str, float]:
    """Score aggregation by path: what the features of its file amount to, for who asks about something or,
    `of_reports`, wants something changed. `ranks` are the candidates, best first.
    """
    told = features_of(candidates, ranks)
    return {path: weighed(features, of_reports=of_reports) for path, features in told.items()}


def _one_of_each_file(
    candidates: Candidates, ranks: Sequence[Rank], calls: Mapping[int, Collection[int]] = {}
) -> Ordered:
    """Chunks that the query spells by name, each file's best, then the best chunk of each file by its evidence."""
    worth = evidence(candidates, ranks)
    of_file: dict[str, list[Rank]] = {}
    for rank in ranks:
        of_file.setdefault(candidates.heads[rank.place].path, []).append(rank)
    spelled: dict[str, Rank] = {}
    if candidates.question.by_name:
        for rank in ranks:
            if rank.signals[named] > 0:
                spelled.setdefault(candidates.heads[rank.place].path, rank)
        answers = {path: members[0] for path, members in of_file.items()}
    else:
        answers = {path: answering(candidates, own, calls.get(own[0].id, ())) for path, own in of_file.items()}
    best = sorted(of_file, key=lambda path: -worth[path])
    order = dict.fromkeys([*(rank.id for rank in spelled.values()), *(answers[path].id for path in best)])
    also: dict[int, list[int]] = {}
    for members in of_file.values():
        first = next(rank for rank in members if rank.id in order)
        others = {candidates.heads[first.place].name: first.id}  # overloads are one name
        for rank in members:
            if rank.strength > first.strength - BEHIND and rank.signals[test] <= first.signals[test]:
                others.setdefault(candidates.heads[rank.place].name, rank.id)
        also[first.id] = list(others.values())[1 : 1 + ALSO]
    ids = list(order)
    rest = [rank for rank in of_file[best[0]] if rank.id not in order] if best else []
    if rest and not candidates.question.by_name and _leads(worth, best):
        ids.insert(SECOND, answering(candidates, rest, calls.get(of_file[best[0]][0].id, ())).id)
    return Ordered(_placed(ranks, [*ids, *(rank.id for rank in ranks)]), also)


def _leads(worth: Mapping[str, float], best: Sequence[str]) -> bool:
    """Whether the first of the likeliest files has so much more evidence than the third that its second chunk is
    likelier to be meant than anything there.
    """
    return len(best) > SECOND and worth[best[0]] - worth[best[SECOND]] >= file_order().lead


def _placed(ranks: Sequence[Rank], order: Sequence[int]) -> list[Rank]:
    """The ranks in another order of their row ids, each with the strength of the place it comes to."""
    by_id = {rank.id: rank for rank in ranks}
    return [
        place if chunk == place.id else by_id[chunk].as_strong(place.strength)
        for chunk, place in zip(dict.fromkeys(order), ranks, strict=True)
    ]
