"""`docs/reference/rules.md`: the page of the manifest's rules, which ships with the package as well."""

from __future__ import annotations

from pathlib import Path

from aurora_manifest.rules import page
from aurora_manifest.rules.page import FILE
from docs.generate.citations import ROOT

PAGE = "docs/reference/rules.md"


def pages(root: Path = ROOT) -> dict[str, str]:
    """The page in both its places."""
    text = page()
    return {PAGE: text, FILE.resolve().relative_to(root).as_posix(): text}
