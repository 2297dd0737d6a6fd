"""Diff of a file's chunks: what a re-parsed file changes in the store: which chunks stay, move, change, come and go.
Pure; no I/O.

Identity is (path, name, ordinal). Of several chunks of one name (overloads, `from` of several `impl`s) each is known by
its text first: one more of them before the others changes only their ordinals. A chunk whose name is new but whose
shape is that of one that vanished is the same chunk renamed or moved, and keeps its row and its history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aurora_memory.chunks import CodeChunk
from aurora_memory.store.chunk_identity import StoredChunk, leaf, match_by_terms, match_names, wherever

TELLING_TOKENS = 15
"""Chunks shorter than this look like many others; they are known again by name only."""


class FilePlan(Struct, frozen=True):
    """The least that has to be written: `shifted` only moved lines or ordinals, `rewritten` changed text, name or path.

    `displaced` are those that are gone or vanish and whose name and ordinal another chunk now has, with a free ordinal.
    """

    shifted: list[tuple[StoredChunk, CodeChunk]]
    rewritten: list[tuple[StoredChunk, CodeChunk]]
    added: list[CodeChunk]
    vanished: list[StoredChunk]
    unchanged: int
    displaced: list[tuple[StoredChunk, int]]


def plan_file(
    stored: Sequence[StoredChunk],
    parsed: Sequence[CodeChunk],
    terms: Mapping[int, frozenset[str]] | None = None,
    *,
    anew: bool = False,
) -> FilePlan:
    """Compare one file's stored chunks with its parsed ones.

    `terms` holds body terms of stored chunks by id, where they were loaded, for renames that also edited the body.
    `anew`: files become chunks by other rules, and what a chunk refers to may differ though its text does not.
    """
    if not stored:
        return FilePlan([], [], list(parsed), [], 0, [])
    namesakes = match_names(stored, parsed, terms)
    shifted: list[tuple[StoredChunk, CodeChunk]] = []
    rewritten: list[tuple[StoredChunk, CodeChunk]] = []
    unchanged = 0
    strangers: list[CodeChunk] = []
    for chunk in parsed:
        old = namesakes.get((chunk.name, chunk.ordinal))
        if old is None:
            strangers.append(chunk)
        elif anew or old.gone or old.body_hash != chunk.body_hash or old.path != chunk.path or old.kind != chunk.kind:
            rewritten.append((old, chunk))
        elif _place(old) != _place(chunk):
            shifted.append((old, chunk))
        else:
            unchanged += 1
    known = {old.id for old in namesakes.values()}
    missing = [old for old in stored if not old.gone and old.id not in known]
    pairs, strangers, missing = _match_by_shape(strangers, missing)
    edited, strangers, missing = match_by_terms(strangers, missing, terms or {})
    known.update(old.id for old, _ in [*pairs, *edited])
    unknown = [old for old in stored if old.id not in known]
    displaced = _displaced(unknown, stored, parsed) if unknown else []
    return FilePlan(shifted, [*rewritten, *pairs, *edited], strangers, missing, unchanged, displaced)


def _place(chunk: StoredChunk | CodeChunk) -> tuple[int, int, int, int]:
    return chunk.line_start, chunk.line_end, chunk.lead, chunk.ordinal


def _displaced(
    unknown: Sequence[StoredChunk], stored: Sequence[StoredChunk], parsed: Sequence[CodeChunk]
) -> list[tuple[StoredChunk, int]]:
    """Name collisions: stored chunks whose name and ordinal another one takes, each with a free ordinal."""
    taken = {(chunk.name, chunk.ordinal) for chunk in parsed}
    last: dict[str, int] = {}
    for name, ordinal in (*taken, *((old.name, old.ordinal) for old in stored)):
        last[name] = max(ordinal, last.get(name, 0))
    found: list[tuple[StoredChunk, int]] = []
    for old in unknown:
        if (old.name, old.ordinal) in taken:
            last[old.name] += 1
            found.append((old, last[old.name]))
    return found


def claim_orphans(plans: Sequence[FilePlan], orphans: Sequence[StoredChunk]) -> list[FilePlan]:
    """Move and rename detection: let new chunks of any file take over chunks that vanished from another (moved files,
    moved functions).

    `orphans` are the chunks of removed files and those gone earlier; what vanished within `plans` is added here. Tiny
    chunks look alike everywhere, so they are claimed by a chunk of their own name only.
    """
    pool = [*orphans, *(old for plan in plans for old in plan.vanished)]
    if not pool:
        return list(plans)
    claimed = {old.id for plan in plans for old, _ in plan.rewritten}  # one gone earlier may be back by its name
    result: list[FilePlan] = []
    for plan in plans:
        free = [old for old in pool if old.id not in claimed]
        pairs, added, _ = _match_by_shape(plan.added, free)
        claimed.update(old.id for old, _ in pairs)
        result.append(replace(plan, rewritten=[*plan.rewritten, *pairs], added=added))
    return [replace(plan, vanished=[old for old in plan.vanished if old.id not in claimed]) for plan in result]


def _match_by_shape(
    strangers: list[CodeChunk], missing: list[StoredChunk]
) -> tuple[list[tuple[StoredChunk, CodeChunk]], list[CodeChunk], list[StoredChunk]]:
    """Move detection by hash: pair new chunks with vanished ones of the same shape; among several, the one whose name
    is the same wins."""
    by_shape: dict[tuple[str, bytes], list[StoredChunk]] = {}
    for old in missing:
        by_shape.setdefault((wherever(old.kind), old.shape_hash), []).append(old)
    pairs: list[tuple[StoredChunk, CodeChunk]] = []
    left: list[CodeChunk] = []
    for chunk in strangers:
        candidates = by_shape.get((wherever(chunk.kind), chunk.shape_hash), [])
        match = next((old for old in candidates if old.name == chunk.name), None)
        if match is None and candidates and chunk.tokens >= TELLING_TOKENS:
            match = next((old for old in candidates if leaf(old.name) == leaf(chunk.name)), candidates[0])
        if match is None:
            left.append(chunk)
            continue
        candidates.remove(match)
        pairs.append((match, chunk))
    taken = {old.id for old, _ in pairs}
    return pairs, left, [old for old in missing if old.id not in taken]
