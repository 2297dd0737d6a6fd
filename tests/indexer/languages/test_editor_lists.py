"""Lists of languages in the editors' clients and in what people read: each has every language that is understood."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aurora_indexer.languages import LANGUAGES

ROOT = Path(__file__).parents[3]
VSCODE = {"tsx": "typescriptreact", "bash": "shellscript"}
NEOVIM = {"tsx": "typescriptreact", "csharp": "cs", "bash": "sh"}
ZED = {"cpp": r"C\+\+", "csharp": "CSharp", "bash": "Shell Script"}
READ = {"tsx": "TypeScript", "cpp": r"C\+\+", "csharp": "C#", "bash": "shell"}
"""What a language is called where it does not go by its name here; who reads TypeScript reads TSX as well."""


@pytest.mark.parametrize(
    ("file", "listed", "otherwise"),
    [
        ("editor-clients/vscode/package.json", '"onLanguage:{}"', VSCODE),
        ("editor-clients/vscode/src/server/connection.ts", '"{}"', VSCODE),
        ("editor-clients/neovim/lua/aurora/settings.lua", "'{}'", NEOVIM),
        ("editor-clients/zed/extension.toml", '"{}"', ZED),
        ("README.md", r"(?<!\w){}(?![\w+#])", READ),
        ("docs/how-to/recall.md", r"(?<!\w){}(?![\w+#])", READ),
    ],
)
def test_every_language_is_listed(file: str, listed: str, otherwise: dict[str, str]) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    missing = {
        each.name
        for each in LANGUAGES
        if not re.search(listed.format(otherwise.get(each.name, each.name)), text, re.IGNORECASE)
    }
    assert missing == set(), f"{file} does not list {missing}"
