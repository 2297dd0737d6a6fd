"""Sections of a document of headings and nothing else: merged from below, evenly, without losing a word."""

from __future__ import annotations

import pytest

from aurora_indexer.documents import sections
from aurora_indexer.documents.document_parser import parse_document
from aurora_memory.chunks import ParsedFile

FEW = sections.FEW_SECTIONS


def parsed(text: str) -> ParsedFile:
    found = parse_document("docs/a.md", text.encode())
    assert found is not None
    return found


def names(text: str) -> list[str]:
    return [chunk.name for chunk in parsed(text).chunks]


def test_as_many_sections_as_a_document_may_have_are_all_there() -> None:
    assert len(names("# a\n" * FEW)) == FEW
    long = f"# a\n{'word ' * (sections.SECTION_CHARACTERS // 5)}\n" * (2 * FEW)
    assert len(names(long)) == 2 * FEW, "it is as long as so many sections are"


def test_the_deepest_level_is_merged_first() -> None:
    versions = "".join(f"## {n}\n### Added\n- a{n}\n### Fixed\n- b{n}\n" for n in range(FEW // 2))
    found = names(f"# Changes\n{versions}")
    assert len(found) <= FEW
    assert set(found) >= {f"Changes.{n}" for n in range(FEW // 2)}
    assert any(name.endswith((".Added", ".Fixed")) for name in found), "what there is room for is kept"


@pytest.mark.parametrize("count", [FEW + 1, 2 * FEW, 20 * FEW])
def test_headings_of_one_level_are_kept_evenly(count: int) -> None:
    found = parsed("".join(f"## section{n:05}\n" for n in range(count)))
    assert FEW / 2 - 1 <= len(found.chunks) <= FEW
    lengths = [chunk.line_end - chunk.line_start + 1 for chunk in found.chunks]
    assert max(lengths[1:-1]) == min(lengths[1:-1])
    assert sum(lengths) == count


def test_the_first_heading_stays_where_others_are_above_it() -> None:
    found = names("### deep\n" + "## two\n" * 5 + "### three\n" * 2 * FEW)
    assert found[0] == "deep" and found.count("two") == 5 and len(found) <= FEW


def test_no_word_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "FEW_SECTIONS", 7)
    monkeypatch.setattr(sections, "SECTION_CHARACTERS", 1000)
    text = "".join(f"{'#' * (n % 3 + 1)} heading{n}\nsays{n}\n\n" for n in range(60))
    found = parsed(text)
    assert len(found.chunks) <= 7
    covered = sorted(line for chunk in found.chunks for line in range(chunk.line_start, chunk.line_end + 1))
    assert set(covered) >= {n for n, line in enumerate(text.splitlines(), 1) if line}
    assert len(covered) == len(set(covered))
    terms = {term for chunk in found.chunks for part in chunk.parts for term in part.occurrences}
    assert terms >= {f"says{n}" for n in range(60)} | {f"heading{n}" for n in range(60)}


def test_of_many_headings_every_so_many_is_kept_with_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "FEW_SECTIONS", 5)
    assert names("".join(f"## s{n}\n" for n in range(13))) == ["s0", "s3", "s6", "s9", "s12"]


@pytest.mark.parametrize(
    "admonition",
    ['!!! tip "Added in 3.1"', "???+ note\n    hidden", "> [!WARNING]\n> Not to be used.", ":::caution\nSlow.\n:::"],
)
def test_an_admonition_is_beside_what_a_section_says(admonition: str) -> None:
    (section,) = parsed(f"# Toast\n\n{admonition}\n\nA message that goes away.\n").chunks
    assert section.docstring == "A message that goes away."
    (section,) = parsed(f"# Toast\n\nYes! {admonition} is said.\n").chunks
    assert section.docstring.startswith("Yes!")
