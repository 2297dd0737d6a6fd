"""What a re-parsed file changes in the store: which chunks stay, move, change, come and go. Pure; no I/O.

Identity is (path, name, ordinal). A chunk whose name is new but whose shape is that of one that vanished is the same
chunk renamed or moved, and keeps its row and its history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from aurora_memory.chunks import CodeChunk
from aurora_memory.occurrences import terms_in

RENAME_SIMILARITY = 0.6
"""Share of terms two bodies must have in common to be one function renamed and edited in the same save."""

TELLING_TOKENS = 15
"""Chunks shorter than this look like many others; they are known again by name only."""


class StoredChunk(Struct, frozen=True, array_like=True, gc=False):
    """What the store knows of a chunk, as far as comparing needs it."""

    id: int
    path: str
    name: str
    ordinal: int
    kind: str
    parent: str | None
    line_start: int
    line_end: int
    body_hash: bytes
    shape_hash: bytes
    part_count: int
    gone: bool


class FilePlan(Struct, frozen=True):
    """The least that has to be written: `shifted` only moved lines, `rewritten` changed text, name or path."""

    shifted: list[tuple[StoredChunk, CodeChunk]]
    rewritten: list[tuple[StoredChunk, CodeChunk]]
    added: list[CodeChunk]
    vanished: list[StoredChunk]
    unchanged: int


def plan_file(
    stored: Sequence[StoredChunk],
    parsed: Sequence[CodeChunk],
    terms: Mapping[int, frozenset[str]] | None = None,
) -> FilePlan:
    """Compare one file's stored chunks with its parsed ones.

    `terms` holds body terms of stored chunks by id, where they were loaded, for renames that also edited the body.
    """
    by_key = {(chunk.name, chunk.ordinal): chunk for chunk in stored}
    shifted: list[tuple[StoredChunk, CodeChunk]] = []
    rewritten: list[tuple[StoredChunk, CodeChunk]] = []
    unchanged = 0
    strangers: list[CodeChunk] = []
    for chunk in parsed:
        old = by_key.pop((chunk.name, chunk.ordinal), None)
        if old is None:
            strangers.append(chunk)
        elif old.gone or old.body_hash != chunk.body_hash or old.path != chunk.path or old.kind != chunk.kind:
            rewritten.append((old, chunk))
        elif (old.line_start, old.line_end) != (chunk.line_start, chunk.line_end):
            shifted.append((old, chunk))
        else:
            unchanged += 1
    missing = [chunk for chunk in by_key.values() if not chunk.gone]
    pairs, strangers, missing = _match_by_shape(strangers, missing)
    edited, strangers, missing = _match_by_terms(strangers, missing, terms or {})
    return FilePlan(shifted, [*rewritten, *pairs, *edited], strangers, missing, unchanged)


def claim_orphans(plans: Sequence[FilePlan], orphans: Sequence[StoredChunk]) -> list[FilePlan]:
    """Let new chunks of any file take over chunks that vanished from another (moved files, moved functions).

    `orphans` are the chunks of removed files and those gone earlier; what vanished within `plans` is added here. Tiny
    chunks look alike everywhere, so they are claimed by a chunk of their own name only.
    """
    pool = [*orphans, *(old for plan in plans for old in plan.vanished)]
    if not pool:
        return list(plans)
    claimed: set[int] = set()
    result: list[FilePlan] = []
    for plan in plans:
        free = [old for old in pool if old.id not in claimed]
        pairs, added, _ = _match_by_shape(plan.added, free)
        claimed.update(old.id for old, _ in pairs)
        result.append(FilePlan(plan.shifted, [*plan.rewritten, *pairs], added, plan.vanished, plan.unchanged))
    return [
        FilePlan(
            plan.shifted,
            plan.rewritten,
            plan.added,
            [old for old in plan.vanished if old.id not in claimed],
            plan.unchanged,
        )
        for plan in result
    ]


def _match_by_shape(
    strangers: list[CodeChunk], missing: list[StoredChunk]
) -> tuple[list[tuple[StoredChunk, CodeChunk]], list[CodeChunk], list[StoredChunk]]:
    """Pair new chunks with vanished ones of the same shape; among several, the one whose name is the same wins."""
    by_shape: dict[tuple[str, bytes], list[StoredChunk]] = {}
    for old in missing:
        by_shape.setdefault((old.kind, old.shape_hash), []).append(old)
    pairs: list[tuple[StoredChunk, CodeChunk]] = []
    left: list[CodeChunk] = []
    for chunk in strangers:
        candidates = by_shape.get((chunk.kind, chunk.shape_hash), [])
        match = next((old for old in candidates if old.name == chunk.name), None)
        if match is None and candidates and chunk.tokens >= TELLING_TOKENS:
            match = candidates[0]
        if match is None:
            left.append(chunk)
            continue
        candidates.remove(match)
        pairs.append((match, chunk))
    taken = {old.id for old, _ in pairs}
    return pairs, left, [old for old in missing if old.id not in taken]


def _match_by_terms(
    strangers: list[CodeChunk], missing: list[StoredChunk], terms: Mapping[int, frozenset[str]]
) -> tuple[list[tuple[StoredChunk, CodeChunk]], list[CodeChunk], list[StoredChunk]]:
    """Pair what is left when a function was renamed and edited at once: same kind and parent, mostly the same terms."""
    scored: list[tuple[float, int, int]] = []
    if not missing or not terms:
        return [], strangers, missing
    for n, chunk in enumerate(strangers):
        new_terms = body_terms(chunk)
        for m, old in enumerate(missing):
            if old.kind == chunk.kind and old.parent == chunk.parent and old.id in terms:
                union = len(new_terms | terms[old.id])
                score = len(new_terms & terms[old.id]) / union if union else 0.0
                if score >= RENAME_SIMILARITY:
                    scored.append((score, n, m))
    pairs: list[tuple[StoredChunk, CodeChunk]] = []
    used_new: set[int] = set()
    used_old: set[int] = set()
    for _, n, m in sorted(scored, key=lambda entry: (-entry[0], entry[1], entry[2])):
        if n not in used_new and m not in used_old:
            used_new.add(n)
            used_old.add(m)
            pairs.append((missing[m], strangers[n]))
    return (
        pairs,
        [chunk for n, chunk in enumerate(strangers) if n not in used_new],
        [old for m, old in enumerate(missing) if m not in used_old],
    )


def body_terms(chunk: CodeChunk) -> frozenset[str]:
    """The distinct body terms of a parsed chunk."""
    return frozenset().union(*(terms_in("body", part.occurrences) for part in chunk.parts))
