"""`docs/decisions`: numbered as they are; that those which code cites are there, `test_generated.py` holds."""

import re

from docs.generate.citations import ROOT


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
