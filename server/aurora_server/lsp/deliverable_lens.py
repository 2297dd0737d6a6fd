"""Code lenses and hovers of spec and task files: where their deliverable stands, and each section's progress."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.deliverable_text import hover_lines, lens_title
from aurora_server.lsp.spec_files import SpecFile, spec_file

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


async def lenses(ls: AuroraServer, uri: str) -> list[types.CodeLens]:
    """One above the file, `add-search · apply · 4/8 tasks`, and one per section that has boxes; resolved already."""
    found = await spec_file(ls, uri)
    if found is None:
        return []
    boxes = found.boxes
    shown = [_lens(0, lens_title(found.deliverable, boxes.done, boxes.total), found)]
    shown += [
        _lens(section.line, f"{section.done}/{section.total} tasks", found)
        for section in boxes.sections
        if section.total and section.total < boxes.total
    ]
    return shown


async def hover(ls: AuroraServer, uri: str, position: types.Position, *, markdown: bool) -> types.Hover | None:
    """Hover of a deliverable, on the first line of its file and on its tasks; None elsewhere."""
    found = await spec_file(ls, uri)
    if found is None or (position.line != 0 and position.line not in found.boxes.boxes):
        return None
    lines = hover_lines(found.deliverable, datetime.now(UTC), markdown=markdown)
    if markdown:
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(lines)))
    return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, "\n".join(lines)))


def _lens(line: int, title: str, found: SpecFile) -> types.CodeLens:
    start = types.Position(line, 0)
    asked = {"action": "show", "change_id": found.deliverable.change_id, "workspace": str(found.place.workspace.root)}
    command = types.Command(title=title, command="aurora.deliverable", arguments=[asked])
    return types.CodeLens(types.Range(start, start), command=command)
