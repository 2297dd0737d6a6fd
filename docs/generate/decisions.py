"""`docs/decisions/README.md`: the list of decisions below a text that stays as it was written."""

from __future__ import annotations

from pathlib import Path

from docs.generate.citations import ROOT

INDEX = "docs/decisions/README.md"
_LIST = "## All of them\n"


def pages(root: Path = ROOT) -> dict[str, str]:
    """The index, with a line per page in the order of their numbers."""
    text = (root / INDEX).read_text(encoding="utf-8").partition(_LIST)[0]
    lines = []
    for page in sorted((root / INDEX).parent.glob("[0-9]*.md")):
        title, _, rest = page.read_text(encoding="utf-8").partition("\n")
        status = rest.strip().partition("\n")[0].removeprefix("Status: ").strip()
        open_yet = " (not carried out in full yet)" if status.startswith("decided") else ""
        lines.append(f"- [{title.removeprefix('# ')}]({page.name}){open_yet}\n")
    return {INDEX: f"{text}{_LIST}\n{''.join(lines)}"}
