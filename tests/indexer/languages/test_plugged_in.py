"""Languages of plug-ins stand behind ours: they take what none of ours takes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aurora_indexer import languages
from aurora_indexer.languages import LANGUAGES, for_path


@pytest.mark.parametrize(
    ("path", "name"),
    [("a.py", "python"), ("a.other", "other"), ("Rakefile", "ruby"), ("Otherfile", "other"), ("a.nothing", None)],
)
def test_a_suffix_or_name_of_ours_stays_ours(monkeypatch: pytest.MonkeyPatch, path: str, name: str | None) -> None:
    plugged = replace(LANGUAGES[0], name="other", suffixes=(".py", ".other"), file_names=("Rakefile", "Otherfile"))
    monkeypatch.setattr(languages, "_plugged", lambda: languages._LanguageTable([plugged]))
    found = for_path(path)
    assert (found.name if found else None) == name
