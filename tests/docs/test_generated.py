"""Generated documentation is what `make docs` would write now, and has a place for each section and ruling cited."""

from collections.abc import Mapping
from functools import cache

import pytest

from docs.generate import requirements
from docs.generate.__main__ import stale
from docs.generate.citations import ROOT, citations


@cache
def cited_in() -> Mapping[str, list[str]]:
    """Files by what they cite: two thousand are read once for all that is asked of them."""
    return citations()


def test_generated_pages_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "citations", lambda root: cited_in() if root == ROOT else citations(root))
    assert not list(stale()), "run `make docs`"


def test_each_cited_section_has_a_line() -> None:
    page = (ROOT / requirements.PAGE).read_text(encoding="utf-8")
    lines, found = requirements.sections(page), cited_in()
    assert len(lines) == len(set(lines)), "a section has two lines"
    missing = {section: places for section, places in found.items() if section not in lines}
    assert not missing, f"cited, but without a line in {requirements.PAGE}"
    assert not set(lines) - set(found), f"lines of {requirements.PAGE} that nothing cites"


def test_each_cited_ruling_has_its_page() -> None:
    for ruling in (each for each in cited_in() if each.startswith("ruling ")):
        number = int(ruling.removeprefix("ruling "))
        pages = sorted((ROOT / "docs/decisions").glob(f"{number:04}-*.md"))
        assert len(pages) == 1, f"{ruling}: {pages}"
