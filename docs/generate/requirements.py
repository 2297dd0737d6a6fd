"""`docs/requirements.md`: below each section's line, where it is cited; the line itself stays as it was written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from docs.generate.citations import ROOT, citations

PAGE = "docs/requirements.md"
_LINE = re.compile(r"- \*\*(?P<section>[^*]+ [^*]+)\*\* \S")
_PLACES = ("    - in ", "    - tests ")


def sections(page: str) -> list[str]:
    """Sections that have a line, in the page's order."""
    return [found["section"] for line in page.splitlines() if (found := _LINE.match(line))]


def filled(page: str, places: Mapping[str, list[str]]) -> str:
    """A page with the places below its lines made anew."""
    lines: list[str] = []
    for line in page.splitlines():
        if line.startswith(_PLACES):
            continue
        lines.append(line)
        if found := _LINE.match(line):
            cited = places.get(found["section"], [])
            code = [each for each in cited if not each.startswith("tests/")]
            tests = [each for each in cited if each.startswith("tests/")]
            lines += [
                lead + ", ".join(f"`{each}`" for each in some)
                for lead, some in zip(_PLACES, (code, tests), strict=True)
                if some
            ]
    return "\n".join(lines) + "\n"


def pages(root: Path = ROOT) -> dict[str, str]:
    """The page as it should be, by its path."""
    return {PAGE: filled((root / PAGE).read_text(encoding="utf-8"), citations(root))}
