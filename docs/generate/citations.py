"""Citations of the founding documents in code, tests and READMEs: which sections are named where.

Three documents are cited: `AURORA §6.3` and `AURORA Appendix D` (the specification of the product), `AURA-M §2.5` (the
metrics framework) and `AURA-P "Core Concepts"` (the manifest protocol, by heading); besides these `ruling 7`, a page of
`docs/decisions`. A section without a document's name belongs to the document that was named last before it in the same
file, be it an RFC; an appendix is always AURORA's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_SUFFIXES = frozenset({".py", ".md", ".json", ".yaml", ".toml", ".ts", ".lua", ".scm"})
_NOT_OURS = frozenset({"node_modules", "dist", "artefacts", "__pycache__", "samples", "bundled"})
_COPIED = "editor-clients/vscode/schemas/"

# Citations wrap over lines of docstrings and comments.
_GAP = r"[\s#*/]+"
_NUMBER = r"\d+(?:\.\d+)*"
_SECTION = rf"§\s?{_NUMBER}(?:\s?[–-]\s?§?{_NUMBER})?"
_APPENDIX = r"App(?:\.|endix)\s?[A-I](?:\.\d+)?"
_HEADING = r'\\?"[^"\\\n]{3,60}\\?"'
_ITEM = rf"(?:{_SECTION}|{_APPENDIX}|{_HEADING})"
_CHAIN = rf"{_ITEM}(?:[,;]?{_GAP}(?:(?:and|or){_GAP})?{_ITEM})*"
_CITATION = re.compile(
    r"(?=[AR2§r])(?:"  # what each of these begins with: most places are passed over at once
    rf"(?P<document>AURORA|AURA-M|AURA-P)(?:'s)?{_GAP}(?P<chain>{_CHAIN})"
    rf"|(?P<foreign>RFC\s\d+|2020-12)"
    rf"|(?P<bare>{_SECTION}|{_APPENDIX})"
    rf"|\bruling{_GAP}(?P<ruling>\d+(?:\s?[,–]\s?\d+)*))"
)


def cited(text: str) -> Iterator[str]:
    """Citations of a file's text as `AURORA §6.3`, `AURORA App. C.2`, `AURA-P "Core Concepts"`, `ruling 7`."""
    document = "AURORA"
    for found in _CITATION.finditer(text):
        if found["foreign"]:
            document = ""
        elif found["ruling"]:
            yield from (f"ruling {each}" for each in _range_of(found["ruling"].split(",")))
        elif found["document"]:
            document = found["document"]
            yield from _sections(document, found["chain"])
        elif found["bare"].startswith("App"):
            yield from _sections("AURORA", found["bare"])
        elif document:
            yield from _sections(document, found["bare"])


def _sections(document: str, chain: str) -> Iterator[str]:
    for item in re.findall(_ITEM, chain):
        if item.startswith("§"):
            yield from (f"{document} §{each}" for each in _range_of([item.replace("§", "")]))
        elif item.startswith("App"):
            yield f"{document} App. {item.split('.', 1)[1].strip() if item.startswith('App.') else item.split()[-1]}"
        elif document == "AURA-P":
            yield f'{document} "{item.strip(chr(92) + chr(34))}"'
        # Elsewhere words in quotation marks say which part of a section is meant.


def _range_of(items: list[str]) -> Iterator[str]:
    """Numbers, ranges spelled out: `3–5` is 3, 4 and 5, `8.3–8.5` and `8.3–5` are 8.3, 8.4 and 8.5."""
    for item in items:
        first, *rest = re.split(r"\s?[–-]\s?", item.strip())
        if not rest:
            yield first
            continue
        stem, _, low = first.rpartition(".")
        for number in range(int(low), int(rest[0].rpartition(".")[2]) + 1):
            yield f"{stem}.{number}" if stem else str(number)


def rooms(root: Path = ROOT) -> list[str]:
    """Folders with code that cites: those of the packages in the wheel, the editors' and the tests'."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    return sorted({each.split("/")[0] for each in packages} | {"editor-clients", "tests"})


def files(root: Path = ROOT) -> Iterator[Path]:
    """Files that may cite, in the order of their paths."""
    for room in rooms(root):
        for path in sorted((root / room).rglob("*")):
            place = path.relative_to(root)
            ours = not _NOT_OURS & set(place.parts) and not place.as_posix().startswith(_COPIED)
            if path.suffix in _SUFFIXES and ours:
                yield path


def citations(root: Path = ROOT) -> Mapping[str, list[str]]:
    """Files by what they cite: paths relative to the repository with `/`, sorted, none twice."""
    found: dict[str, list[str]] = {}
    for path in files(root):
        place = path.relative_to(root).as_posix()
        if place.startswith("tests/docs/"):
            continue
        for citation in cited(path.read_text(encoding="utf-8")):
            places = found.setdefault(citation, [])
            if place not in places:
                places.append(place)
    return found
