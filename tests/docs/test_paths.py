"""Files that people's documentation names are there."""

import re
from pathlib import Path

import pytest

from docs.generate.citations import ROOT, rooms

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(str(each.relative_to(ROOT)) for each in ROOT.glob("docs/**/*.md")),
)
_PATH = re.compile(rf"`((?:{'|'.join([*rooms(), 'docs'])})/[\w./-]+)`")
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(?:#[^)\s]*)?\)")


@pytest.mark.parametrize("page", PAGES)
def test_named_files_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = [each for each in _PATH.findall(text) if not each.endswith(".vsix") and not (ROOT / each).exists()]
    missing += [each for each in _LINK.findall(text) if not (ROOT / Path(page).parent / each).exists()]
    assert missing == []
