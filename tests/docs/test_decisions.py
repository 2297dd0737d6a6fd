"""`docs/decisions`: a page for each ruling that code cites, numbered as it is."""

import re

from docs.generate.citations import ROOT, citations


def test_each_cited_ruling_has_its_page() -> None:
    for ruling in (each for each in citations() if each.startswith("ruling ")):
        number = int(ruling.removeprefix("ruling "))
        pages = sorted((ROOT / "docs/decisions").glob(f"{number:04}-*.md"))
        assert len(pages) == 1, f"{ruling}: {pages}"


def test_decisions_are_numbered_in_order() -> None:
    """Rulings without gaps; decisions are given numbers in blocks to who works on them."""
    pages = sorted(each for each in (ROOT / "docs/decisions").glob("*.md") if each.name != "README.md")
    last = 0
    for page in pages:
        name = re.fullmatch(r"(\d{4})-[a-z0-9]+(-[a-z0-9]+)*\.md", page.name)
        assert name, page.name
        number = int(name[1])
        assert number == last + 1 or (number > last and number > 100), page.name
        assert page.read_text(encoding="utf-8").startswith(f"# {number}. "), page.name
        last = number
    assert last > 101
