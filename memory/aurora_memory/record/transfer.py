"""Transfer of patterns across repositories (cross-project knowledge): ways of working that went well in another
repository, matched by concepts, domain and language.

Only patterns are taken from another record, no uses and no deliverables: what happened there did not happen here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from aurora_memory.documents import ReasoningDocument
from aurora_memory.learning import fingerprint
from aurora_memory.record.line_key import line_of, pattern_of
from aurora_memory.record.people import people
from aurora_memory.record.record_file import Record
from aurora_memory.semantic_tags import reasoning_tags, stems_of
from aurora_memory.store.export_format import ReasoningLine, UseLine
from aurora_memory.tag_lexicon import GENERAL

LEAST = 0.5
"""Share of a question's terms that a pattern has to have."""
_PLAIN, _SAME_DOMAIN, _SAME_LANGUAGE = 0.6, 0.25, 0.15
"""What concepts alone are worth, and what the same domain and language add."""


class TransferablePattern(Struct, frozen=True):
    """Pattern of another repository. `repository` is what that goes by here, `repository_id` which it is; `learned_by`
    is whose it is: "" for one's own, None for somebody who does not share his name. `files` are the paths that it was
    made with or rests on.
    """

    document: ReasoningDocument
    learned_at: float
    repository: str
    repository_id: str
    learned_by: str | None
    terms: frozenset[str]
    files: frozenset[str]


class PatternMatch(Struct, frozen=True):
    """Pattern that fits a question; `score` in [0, 1]; `terms` are the question's that it has. `drifted` are places
    there that do not say any more what the pattern rests on, as far as that was looked at.
    """

    pattern: TransferablePattern
    score: float
    terms: tuple[str, ...]
    drifted: tuple[str, ...] = ()


def patterns_of(record: Record, repository: str) -> list[TransferablePattern]:
    """Every pattern of a record that went well; of one that was recorded twice, the latest of the best."""
    names = people(record)
    files: dict[tuple[str, str], set[str]] = {}
    for entry in record.of_kind("use"):
        line = line_of(entry.body)
        if isinstance(line, UseLine) and line.chunk.path:
            files.setdefault((pattern_of(line.reasoning.name), line.reasoning.shape), set()).add(line.chunk.path)
    best: dict[tuple[str, str], TransferablePattern] = {}
    for entry in record.of_kind("reasoning"):
        line = line_of(entry.body)
        if not isinstance(line, ReasoningLine) or not line.document.is_pattern:
            continue
        content = line.document.content
        said = [
            content.original_query,
            *(step.description for step in content.subgoals),
            *line.document.metadata.keywords,
        ]
        key = pattern_of(line.document.id), fingerprint(content.subgoals).hex()
        own = entry.author == record.author
        found = TransferablePattern(
            line.document,
            line.at,
            repository,
            record.repository,
            "" if own else names.get(entry.author),
            frozenset(stems_of(" ".join(said))),
            frozenset(files.get(key, ())) | {each.file for each in content.cites},
        )
        known = best.get(key)
        if known is None or _order(found) > _order(known):
            best[key] = found
    return list(best.values())


def matching(
    patterns: Iterable[TransferablePattern], query: str, suffixes: frozenset[str], others_weight: float, limit: int
) -> list[PatternMatch]:
    """The patterns that fit a question best. `suffixes` are the endings (`.py`) of the files that are here.

    `others_weight` is what somebody else's counts beside one's own.
    """
    asked = stems_of(query)
    if not asked:
        return []
    domain = reasoning_tags(query).domain
    found = [match for each in patterns if (match := _match(each, asked, domain, suffixes, others_weight)) is not None]
    found.sort(key=lambda match: (-match.score, -match.pattern.learned_at, match.pattern.document.id))
    return _each_once(found)[:limit]


def _match(
    each: TransferablePattern, asked: set[str], domain: str, suffixes: frozenset[str], others_weight: float
) -> PatternMatch | None:
    """Relevance of a pattern of another repository: shared terms, weighed by domain, language, success and author."""
    shared = asked & each.terms
    cover = len(shared) / len(asked)
    if cover < LEAST:
        return None
    worth = _PLAIN
    if domain != GENERAL and each.document.metadata.domain == domain:
        worth += _SAME_DOMAIN
    if suffixes & {suffix_of(file) for file in each.files}:
        worth += _SAME_LANGUAGE
    worth *= each.document.content.success_score * (1.0 if each.learned_by == "" else others_weight)
    return PatternMatch(each, round(cover * worth, 6), tuple(sorted(shared)))


def suffix_of(path: str) -> str:
    """Ending of a file's name (`.py`), "" without one."""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return f".{ending.lower()}" if dot and stem else ""


def _each_once(matches: Sequence[PatternMatch]) -> list[PatternMatch]:
    """Of patterns that two repositories have in common, the first."""
    seen: set[tuple[str, str]] = set()
    kept: list[PatternMatch] = []
    for match in matches:
        document = match.pattern.document
        key = (document.id, document.content.original_query)
        if key not in seen:
            seen.add(key)
            kept.append(match)
    return kept


def _order(pattern: TransferablePattern) -> tuple[float, float]:
    return pattern.document.content.success_score, pattern.learned_at
