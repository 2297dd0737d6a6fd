"""Templates (Jinja, ERB): a file is one passage, since what it will be nobody knows before it is rendered.

Its first comment is what it says of itself.
"""

from __future__ import annotations

import re

from aurora_indexer.documents.knowledge_chunk import Builder, DocumentPiece
from aurora_memory.chunks import MODULE_NAME

_COMMENT = re.compile(r"\s*+(?:\{#-?(?P<jinja>[^#]*+)|<%#-?(?P<erb>[^%]*+)|<!--(?P<html>[^>]*)-->)")
_BORDER = re.compile(r"\n(?=[ \t]*+\n|<|\{|[^\s<{])")
"""Lines that stand at the left, and empty ones: there a long template may be cut."""


def add_template(builder: Builder, _path: str, text: str) -> None:
    """Make a chunk of a template, if it says anything."""
    if not text.strip():
        return
    comment = _COMMENT.match(text)
    doc = "" if comment is None else str(next(filter(None, comment.groups()), ""))
    builder.add(
        DocumentPiece(
            MODULE_NAME,
            "section",
            0,
            len(text),
            doc=" ".join(doc.strip(" -#%\n\t").split()),
            silent=[comment.span()] if comment is not None else (),
            borders=[found.end() for found in _BORDER.finditer(text)],
        )
    )
