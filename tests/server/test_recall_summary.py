"""Summaries of chunks: the second line of an answer says something, or is not there."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_memory.views import ChunkView
from aurora_server.workspace.recall_documents import summary


def documented(text: str) -> ChunkView:
    """A chunk with that documentation."""
    fields: dict[str, Any] = dict.fromkeys(ChunkView.__struct_fields__, "")
    return ChunkView(**{**fields, "docstring": text})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Removes old archives. Then more.", "Removes old archives."),
        ("{% include snippet/command-line/sample.md %}", ""),
        ("TODO: mock fs", ""),
        (
            "TODO: remove when appropriate\nThis signature keeps older callers going.",
            "This signature keeps older callers going.",
        ),
        ("npm version(https://npmjs.com/package/nitropack)\nnpm downloads(https://npmjs.com/package/nitropack)", ""),
        ("Default:", ""),
        ("Default: 3 (1 while tests run)", "Default: 3 (1 while tests run)"),
        ("Takes units, i.e. bytes, e.g. KiB. More.", "Takes units, i.e. bytes, e.g. KiB."),
        ("Reads rows, cells etc. of a table. More.", "Reads rows, cells etc. of a table."),
        ("Reads a table, cf. its format. More.", "Reads a table, cf. its format."),
        ("See the manual (https://example.com/manual) first.", "See the manual (https://example.com/manual) first."),
    ],
)
def test_a_summary_says_something_or_nothing(text: str, said: str) -> None:
    assert summary(documented(text)) == said
