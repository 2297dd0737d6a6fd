"""What is loaded for a first save, in a process of its own: this one has it all by now."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.patience import HANG

READY = """
import sys
from aurora_indexer import languages
from aurora_indexer.workers import process_file
process_file.get_ready({used!r})
assert "aurora_indexer.parse.chunk_parser" in sys.modules
print(languages.compiled.cache_info().currsize)
if {used!r}.get("go"):
    languages.compiled("go")
    print(languages.compiled.cache_info().hits)
"""


@pytest.mark.parametrize(
    ("used", "said"),
    [({"python": 2, "go": 3, "markdown": 9}, ["1", "1"]), ({"markdown": 9}, ["0"]), ({}, ["0"])],
)
def test_the_commonest_language_is_ready_before_the_first_save(used: dict[str, int], said: list[str]) -> None:
    command = [sys.executable, "-c", READY.format(used=used)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG)
    assert done.stdout.split() == said
