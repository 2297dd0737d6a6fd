"""Lists of languages in the editors' clients and in what people read: each has every language that is understood."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aurora_cli.recall_view import TYPED_AFTER
from aurora_indexer.languages import LANGUAGES
from aurora_indexer.parse.chunk_parser import parse_file

ROOT = Path(__file__).parents[3]
SAMPLES = Path(__file__).parents[1] / "samples"
VSCODE = {"tsx": "typescriptreact", "bash": "shellscript"}
NEOVIM = {"tsx": "typescriptreact", "csharp": "cs", "bash": "sh"}
ZED = {"cpp": r"C\+\+", "csharp": "CSharp", "bash": "Shell Script"}
READ = {"tsx": "TypeScript", "cpp": r"C\+\+", "csharp": "C#", "bash": "shell"}
"""What a language is called where it does not go by its name here; who reads TypeScript reads TSX as well."""


VIM = {"tsx": r"typescript(?:react|\*)", "csharp": "cs", "bash": "sh"}
EMACS = {"javascript": "js", "cpp": r"c\+\+", "tsx": "tsx-ts", "bash": "sh"}
"""Names of file types, and of modes without `-mode`."""


@pytest.mark.parametrize(
    ("file", "otherwise"),
    [
        ("docs/how-to/editors.md", VIM),
        ("editor-clients/neovim/README.md", VIM),
        ("editor-clients/vim/README.md", VIM),
        ("editor-clients/emacs/README.md", EMACS),
    ],
)
def test_every_list_that_is_to_be_pasted_has_every_language(file: str, otherwise: dict[str, str]) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    lists: list[str] = re.findall(r"[\[{(]([^\[\]{}()]*kotlin[^\[\]{}()]*)[\]})]", text)
    assert len(lists) == text.count("kotlin") > 0
    for listed in lists:
        missing = {
            each.name
            for each in LANGUAGES
            if not re.search(rf"(?<!\S)'?{otherwise.get(each.name, each.name)}(?:-mode|\*)?'?,?(?!\S)", listed)
        }
        assert missing == set(), f"a list in {file} does not have {missing}"


def test_parameters_are_named_without_their_types_in_every_language_that_says_them_after_a_colon() -> None:
    """By the samples; Ruby and PHP say other things so."""
    typed = set()
    for language in LANGUAGES:
        for sample in SAMPLES.iterdir():
            if sample.suffix in language.suffixes and language.name not in ("ruby", "php"):
                parsed = parse_file(sample.name, sample.read_bytes())
                if any(re.search(r"\((?:[^()]*, )?\w+\??: ?\w[^()]*\)", each.signature) for each in parsed.chunks):
                    typed.add(language.name)
    assert typed <= TYPED_AFTER


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
