"""Lists of languages in the editors' clients and in what people read: each has every language that is understood."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aurora_indexer.languages import LANGUAGES

ROOT = Path(__file__).parents[3]
OTHERWISE = {"cpp": ("c\\+\\+",), "tsx": ("typescriptreact", "typescript")}
"""What a language is called where it does not go by its name here; who reads TypeScript reads TSX as well."""


@pytest.mark.parametrize(
    ("file", "listed"),
    [
        ("editor-clients/vscode/package.json", '"onLanguage:{}"'),
        ("editor-clients/vscode/src/server/connection.ts", '"{}"'),
        ("editor-clients/neovim/lua/aurora/settings.lua", "'{}'"),
        ("editor-clients/zed/extension.toml", '"{}"'),
        ("README.md", r"(?<!\w){}(?![\w+])"),
        ("docs/how-to/recall.md", r"(?<!\w){}(?![\w+])"),
    ],
)
def test_every_language_is_listed(file: str, listed: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    missing = {
        each.name
        for each in LANGUAGES
        if not any(
            re.search(listed.format(name), text, re.IGNORECASE) for name in (each.name, *OTHERWISE.get(each.name, ()))
        )
    }
    assert missing == set(), f"{file} does not list {missing}"
