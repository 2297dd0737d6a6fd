"""Baselines that AURORA's recall is measured against: ripgrep, and BM25 over the text of functions."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from aurora_indexer import languages
from aurora_indexer.files.scan import Limits, scan
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.stopwords import QUESTION_WORDS as STOP_WORDS
from aurora_memory.tokens import words
from tests.benchmarks.recall_cases import FUNCTIONS, Function

Ranker = Callable[[str], list[Function]]
"""From a question to functions, best first."""


class Functions:
    """Every function of a tree with its text."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.names: list[Function] = []
        self.texts: list[str] = []
        self.spans: dict[str, list[tuple[int, int, int]]] = {}
        for file in scan(root, Limits()).files:
            if languages.for_path(file.path) is None:
                continue
            source = (root / file.path).read_bytes()
            lines = source.decode("utf-8", "replace").split("\n")
            for chunk in parse_file(file.path, source).chunks:
                if chunk.kind in FUNCTIONS:
                    self.spans.setdefault(file.path, []).append((chunk.line_start, chunk.line_end, len(self.names)))
                    self.names.append((file.path, chunk.name))
                    self.texts.append("\n".join(lines[chunk.line_start - 1 : chunk.line_end]))


def bm25(functions: Functions, k1: float = 1.2, b: float = 0.75) -> Ranker:
    """Okapi BM25 over each function's whole text, identifiers split, without stop words in the question."""
    counts = [Counter(words(text)) for text in functions.texts]
    lengths = [sum(count.values()) for count in counts]
    average = sum(lengths) / max(1, len(lengths))
    index: dict[str, list[tuple[int, int]]] = {}
    for number, count in enumerate(counts):
        for word, times in count.items():
            index.setdefault(word, []).append((number, times))

    def rank(question: str) -> list[Function]:
        scores: dict[int, float] = {}
        asked = dict.fromkeys(words(question))
        for word in [word for word in asked if word not in STOP_WORDS] or asked:
            found = index.get(word, ())
            rarity = math.log(1 + (len(counts) - len(found) + 0.5) / (len(found) + 0.5))
            for number, times in found:
                weight = times * (k1 + 1) / (times + k1 * (1 - b + b * lengths[number] / average))
                scores[number] = scores.get(number, 0.0) + rarity * weight
        best = sorted(scores, key=lambda number: (-scores[number], number))
        return [functions.names[number] for number in best[:10]]

    return rank


def ripgrep(functions: Functions) -> Ranker | None:
    """How people look with ripgrep: functions by how many of the question's words their lines hold, then how often."""
    program = shutil.which("rg")
    if program is None:
        return None

    def rank(question: str) -> list[Function]:
        asked = [word for word in dict.fromkeys(re.findall(r"\w{3,}", question.lower())) if word not in STOP_WORDS]
        if not asked:
            return []
        patterns = [part for word in asked for part in ("-e", word)]
        done = subprocess.run(
            [program, "-inoF", "--no-heading", "--with-filename", *patterns, "."],
            cwd=functions.root,
            capture_output=True,
            check=False,
        )
        seen: dict[int, Counter[str]] = {}
        for line in done.stdout.decode("utf-8", "replace").splitlines():
            path, _, rest = line.removeprefix("./").partition(":")
            number, _, word = rest.partition(":")
            for start, end, function in functions.spans.get(path, ()):
                if number.isdigit() and start <= int(number) <= end:
                    seen.setdefault(function, Counter())[word.lower()] += 1
        best = sorted(seen, key=lambda n: (-len(seen[n]), -sum(seen[n].values()), n))
        return [functions.names[number] for number in best[:10]]

    return rank
