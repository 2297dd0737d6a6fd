"""Training pairs of word vectors: what people say of code, and the code, from clones.

Three kinds: the first sentence of a documentation and what it documents, the subject of a commit and the lines it
changed in a file, and a name of several words and what is called so. A question is a list of terms; code is, by field,
the counts of its terms, as the word index has them. Nothing of a text is kept beyond its terms.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from aurora_indexer import IndexerError, languages
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_indexer.parse.parts import text_terms
from aurora_memory.chunks import CodeChunk
from aurora_memory.recall.places import is_test
from aurora_memory.stopwords import QUESTION_WORDS, without_stop_words
from aurora_memory.term_counts import LIMITS, SHIFTS, Field
from aurora_memory.tokens import stem_word, terms, words_in
from tests.benchmarks.recall_cases import first_sentence

FIELDS: tuple[Field, ...] = ("name", "signature", "path", "calls", "body")
KINDS = ("documentation", "commit", "name")

SIZES = range(400, 60_000)
FILES = 500
COMMITS = 350
MOST = {"documentation": 5000, "commit": 2500, "name": 1666}
"""Pairs of one repository, so that none outweighs the others."""

_BODY = 64
_SECONDS = 5.0
_LONG_LINE = 2000
_NOT_WRITTEN_HERE = re.compile(
    r"(^|/)(vendor|node_modules|third_party|thirdparty|dist|deps|external|generated|_vendor|extern|bundled|testdata|"
    r"fixtures?|locales?)/|\.min\.|\.pb\.|_pb2|\.generated\.|zz_generated"
)
_MARKUP = re.compile(r"<[^>]{1,30}>|\{@\w+|[@\\:]\w+[:`]*")
_ROUTINE = re.compile(r"(?i)^(bump|release|merge|revert|version|update dep|(chore|build)\(deps)|^v?\d+\.\d+")
_NUMBER = re.compile(r"\s*\(#\d+\)$")
_KINDS = frozenset({"function", "method", "class", "interface", "struct", "trait", "macro", "type", "enum"})

Counts = Mapping[Field, Mapping[str, int]]


class Pair(NamedTuple):
    """A pair: its kind (a place in `KINDS`), the question's terms, and the counts of the code's terms by field."""

    kind: int
    asked: Sequence[str]
    code: Counts


def pairs_of(repository: Path, seed: int = 1) -> list[Pair]:
    """The pairs of one clone, in any order."""
    found: dict[str, list[Pair]] = {kind: [] for kind in KINDS}
    for pair in (*_of_files(repository, seed), *_of_commits(repository)):
        found[KINDS[pair.kind]].append(pair)
    mixed = random.Random(seed)
    chosen = []
    for kind, pairs in found.items():
        mixed.shuffle(pairs)
        chosen += pairs[: MOST[kind]]
    mixed.shuffle(chosen)
    return chosen


def question_terms(text: str) -> list[str]:
    """The terms of a question, without its stop words."""
    return [term for word in without_stop_words(words_in(text), QUESTION_WORDS) for term in stem_word(word)]


def _of_files(repository: Path, seed: int) -> Iterator[Pair]:
    files = []
    for line in git(repository, "ls-tree", "-r", "-l", "HEAD").decode("utf-8", "replace").splitlines():
        about, _, path = line.partition("\t")
        _, kind, name, size = about.split()
        if kind == "blob" and size.isdigit() and int(size) in SIZES and _is_read(path):
            files.append((path, name))
    random.Random(seed).shuffle(files)
    for path, name in files[:FILES]:
        source = git(repository, "cat-file", "blob", name)
        if max(map(len, source.split(b"\n"))) > _LONG_LINE:
            continue
        try:
            parsed = parse_file(path, source, _SECONDS)
        except IndexerError:
            continue
        for chunk in parsed.chunks:
            if chunk.kind in _KINDS and chunk.parts:
                yield from _of_chunk(chunk)


def _of_chunk(chunk: CodeChunk) -> Iterator[Pair]:
    code = _code_of(chunk)
    if len(code["body"]) < 3:
        return
    sentence = _MARKUP.sub(" ", first_sentence(chunk)) if chunk.docstring else ""
    asked = question_terms(sentence)
    if 3 <= len(sentence.split()) <= 40 and 2 <= len(asked) <= 40:
        yield Pair(0, asked, code)
    name = stem_word(chunk.name.rpartition(".")[2])
    if len(name) >= 3:  # several words, and all of them as one
        said = set(name)
        rest = {field: {term: n for term, n in counts.items() if term not in said} for field, counts in code.items()}
        yield Pair(2, name[:-1], {**rest, "name": {}, "path": code["path"]})


def _code_of(chunk: CodeChunk) -> dict[Field, dict[str, int]]:
    """The counts of a chunk's first part by field; what its documentation says is not its body's."""
    found: dict[Field, dict[str, int]] = {field: {} for field in FIELDS}
    for term, value in chunk.parts[0].occurrences.items():
        for field in FIELDS:
            count = (value >> SHIFTS[field]) & LIMITS[field]
            if count:
                found[field][term] = count
    if chunk.docstring:
        said = text_terms(chunk.docstring.encode("utf-8", "replace"))
        left = {term: count - said.get(term, 0) for term, count in found["body"].items()}
        found["body"] = {term: count for term, count in left.items() if count > 0}
    found["body"] = dict(Counter(found["body"]).most_common(_BODY))
    return found


def _of_commits(repository: Path) -> Iterator[Pair]:
    endings = [f"*{suffix}" for each in languages.all_languages() for suffix in each.suffixes]
    log = ("log", "--no-merges", f"-n{COMMITS}", "-U0", "--no-color", "--no-ext-diff", "-M", "--diff-filter=AM")
    text = git(repository, *log, "--format=%x01%s", "--", *endings)
    for commit in text.split(b"\x01")[1:]:
        line, _, diff = commit.partition(b"\n")
        subject = _NUMBER.sub("", line.decode("utf-8", "replace"))
        asked = question_terms(subject)
        files = re.split(rb"^diff --git ", diff, flags=re.MULTILINE)[1:]
        if len(subject.split()) < 4 or _ROUTINE.search(subject) or not 2 <= len(asked) <= 30 or len(files) > 8:
            continue
        for file in files[:4]:
            code = _changed(file)
            if code is not None:
                yield Pair(1, asked, code)


def _changed(diff: bytes) -> Counts | None:
    """The lines that a commit changed in one file, and the definitions around them as git tells them."""
    path = re.search(rb"^\+\+\+ b/(.+)$", diff, re.MULTILINE)
    if path is None or not _is_read(path[1].decode("utf-8", "replace")):
        return None
    lines = diff.split(b"\n")
    around = dict.fromkeys(line.split(b"@@", 2)[-1] for line in lines if line.startswith(b"@@"))
    changed = [line[1:] for line in lines if line[:1] in b"+-" and not line.startswith((b"+++", b"---"))]
    body = dict(Counter(text_terms(b"\n".join(changed))).most_common(_BODY))
    if not 1 <= len(changed) <= 200 or len(body) < 3:
        return None
    named = path[1].decode("utf-8", "replace").rpartition(".")[0]
    return {
        "name": {},
        "signature": text_terms(b" ".join(around)),
        "path": Counter(terms(named)),
        "calls": {},
        "body": body,
    }


def _is_read(path: str) -> bool:
    return languages.for_path(path) is not None and not is_test(path) and not _NOT_WRITTEN_HERE.search(path)


def git(repository: Path, *arguments: str) -> bytes:
    """What git says of a clone."""
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True).stdout
