"""Texts with a cursor in them, written `|`."""

from __future__ import annotations

from aurora_manifest.editing.completion import Proposal, complete
from aurora_manifest.findings import Edit
from aurora_manifest.fix_all import edited
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Manifest


def marked(text: str) -> tuple[Manifest, int]:
    """The manifest without its one `|`, and where that was."""
    assert text.count("|") == 1, text
    offset = text.index("|")
    return Manifest(parse(text.replace("|", ""))), offset


def proposals(text: str, *, snippets: bool = False) -> list[Proposal]:
    """What can be written at the `|`."""
    manifest, offset = marked(text)
    return complete(manifest, offset, snippets=snippets)


def labels(text: str) -> list[str]:
    """The labels of what can be written at the `|`."""
    return [each.label for each in proposals(text)]


def chosen(text: str, label: str, *, snippets: bool = False) -> str:
    """The text after the proposal called `label` was taken."""
    manifest, offset = marked(text)
    found = {each.label: each for each in complete(manifest, offset, snippets=snippets)}
    assert label in found, (label, list(found))
    taken = found[label]
    return edited(manifest.document.text, [Edit(taken.start, taken.end, taken.text), *taken.more])
