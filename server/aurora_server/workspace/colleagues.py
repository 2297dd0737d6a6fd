"""Colleagues' part in what memory says: whose a pattern is (provenance, authors), who used a chunk, and which patterns
have drifted (are stale).

Whoever does not share his name (`team.share` with `people`) is told without one, together with others who do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from aurora_memory.documents import ReasoningDocument
from aurora_memory.store import learned_reader, others_rows
from aurora_memory.store.others_rows import OthersPart
from aurora_memory.store.reader import Reader
from aurora_protocol.methods import ColleaguesPart, Provenance
from aurora_server.workspace.wire import iso


class PatternState(Struct, frozen=True):
    """State of a pattern: whose it is, None for one's own, and the cited places that do not say any more what they
    said.
    """

    provenance: Provenance | None
    drifted: Sequence[str]


class Colleagues:
    """Colleagues, as they are known in the workspace at `root`. `names` are those of authors who share theirs, as the
    repository's record last said; whoever exchanges with it keeps them. Methods block, on a reader's thread.
    """

    def __init__(self, root: Path) -> None:
        self.names: Mapping[str, str] = {}
        self._root = root

    def parts(self, reader: Reader, ids: Sequence[int]) -> dict[int, list[ColleaguesPart]]:
        """What colleagues have to do with those chunks, who was there last first."""
        return {chunk: self._named(found) for chunk, found in others_rows.parts(reader, ids).items()}

    def patterns(self, reader: Reader, ids: Sequence[int]) -> dict[int, PatternState]:
        """State of those reasoning chunks; each is compared with the files as they stand."""
        known = learned_reader.reasoning(reader, ids) if ids else {}
        whose = others_rows.patterns_by(reader, list(known))
        return {row: PatternState(self._provenance(whose.get(row)), self._drifted(each)) for row, each in known.items()}

    def _provenance(self, told: tuple[str, float] | None) -> Provenance | None:
        return None if told is None else Provenance(name=self.names.get(told[0]), at=iso(told[1]))

    def _drifted(self, document: ReasoningDocument) -> Sequence[str]:
        """Cited places that have changed since (stale)."""
        cites = document.content.cites
        if not cites:
            return ()
        # Only where a pattern cites something: of questions to models, recall needs no more.
        from aurora_orchestration.soar.cited_spans import drifted_of
        from aurora_orchestration.soar.workspace_text import WorkspaceText

        return drifted_of(cites, WorkspaceText(self._root))

    def _named(self, parts: Sequence[OthersPart]) -> list[ColleaguesPart]:
        by_name: dict[str | None, list[OthersPart]] = {}
        for each in parts:
            by_name.setdefault(self.names.get(each.author), []).append(each)
        return [
            ColleaguesPart(
                name=name,
                uses=sum(each.uses for each in some),
                boosts=sum(each.boosts for each in some),
                last=iso(max(each.last for each in some)),
            )
            for name, some in by_name.items()
        ]
