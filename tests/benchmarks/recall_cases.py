"""Questions with known answers (evaluation set, relevance judgements), made from real repositories: what a docstring
says, what a commit message says.

A docstring's question is its first sentence, asked of a copy of the tree from which the docstrings of the functions
asked for are blanked. A commit's question is its subject, asked of the tree as it was before, with the functions the
commit changed as answers.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from aurora_indexer import languages
from aurora_indexer.files.scan import Limits, scan
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.chunks import CodeChunk
from aurora_memory.recall.places import is_test
from aurora_memory.recall.question_kind import ISSUE_WORDS

FUNCTIONS = ("function", "method")
MOST_FUNCTIONS = 10
"""Functions a commit may change to be asked for: one that changes more is about something else."""

MOST_FILES = 15
_ROUTINE = re.compile(r"(?i)^(bump|release|merge|revert|version|update dep|(chore|build)\(deps)|^v?\d+\.\d+")
_TRAILER = re.compile(r"(?i)(signed-off|co-authored|reviewed|change-id|git-svn|piperorigin)")
_NUMBER = re.compile(r"\s*\(#\d+\)$")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_MARKS = re.compile(rb"[rRuU]*\"\"\"|[rRuU]*'''|/\*+|\*+/")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", re.MULTILINE)

Function = tuple[str, str]
"""(path, qualified name)"""


class Case(Struct, frozen=True):
    """A question and the functions that answer it."""

    question: str
    answers: frozenset[Function]


def docstring_cases(root: Path, copy: Path, most: int, seed: int = 1) -> list[Case]:
    """Copy the sources of `root` to `copy` without the docstrings asked for; return the questions.

    Where several functions say the same of themselves, each is an answer, and it is asked once.
    """
    found: list[tuple[CodeChunk, str]] = []
    for path, source in _sources(root):
        for chunk in parse_file(path, source).chunks:
            sentence = first_sentence(chunk)
            if chunk.kind in FUNCTIONS and not is_test(path) and 4 <= len(sentence.split()) <= 30:
                found.append((chunk, sentence))
    chosen = random.Random(seed).sample(found, min(most, len(found)))
    answers: dict[str, set[Function]] = {sentence: set() for _, sentence in chosen}
    for chunk, sentence in found:
        if sentence in answers:
            answers[sentence].add((chunk.path, chunk.name))
    asked = set().union(*answers.values())
    for path, source in _sources(root):
        target = copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_undocumented(path, source, asked))
    return [Case(sentence, frozenset(those)) for sentence, those in answers.items()]


def first_sentence(chunk: CodeChunk) -> str:
    """A docstring's first sentence; without the function's own name, with which Go's begin."""
    paragraph = chunk.docstring.strip().partition("\n\n")[0].replace("\n", " ")
    sentence = _SENTENCE_END.split(paragraph)[0].strip()
    first, _, rest = sentence.partition(" ")
    return rest if first == chunk.name.rpartition(".")[2] else sentence


def _undocumented(path: str, source: bytes, asked: set[Function]) -> bytes:
    """Blank the docstring lines of the functions asked for; lines stay where they are."""
    lines = source.split(b"\n")
    for chunk in parse_file(path, source).chunks:
        if (path, chunk.name) not in asked:
            continue
        said = [_bare(line) for line in chunk.docstring.encode().splitlines()]
        todo = [line for line in said if line][::-1]
        for number in range(chunk.line_start - 1, min(chunk.line_end, len(lines))):
            if todo and _bare(lines[number]) == todo[-1]:
                todo.pop()
                marks = _MARKS.findall(lines[number])
                indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
                lines[number] = indent + b" ".join(marks)
    return b"\n".join(lines)


def _bare(line: bytes) -> bytes:
    """A line of documentation without what marks it as such."""
    return line.strip().lstrip(b"/*#!\"'rRuU ").rstrip(b"*/\"' \r")


def commit_cases(repository: Path, tree: Path, back: int, most: int, *, whole: bool = False) -> list[Case]:
    """Check the tree of `back` first-parent commits ago out at `tree`, history included; ask for what came since.

    A question is a commit's subject; with `whole` the message of one that says as much as a report.
    """
    (base,) = _git(repository, "rev-list", "--first-parent", f"--skip={back}", "-n1", "HEAD").split()
    subprocess.run(["git", "clone", "-q", "-s", "-n", str(repository), str(tree)], check=True)
    _git(tree, "checkout", "-q", "--detach", base)
    _git(tree, "remote", "remove", "origin")
    known = {(path, chunk.name) for path, source in _sources(tree) for chunk in parse_file(path, source).chunks}
    cases: list[Case] = []
    for line in _git(repository, "log", "--no-merges", "--reverse", "--format=%H %s", f"{base}..HEAD").splitlines():
        commit, _, subject = line.partition(" ")
        if len(subject.split()) < (3 if whole else 4) or _ROUTINE.search(subject):
            continue
        said = _message(repository, commit) if whole else _NUMBER.sub("", subject)
        if whole and len(said.split()) < ISSUE_WORDS:
            continue
        changed = frozenset(_changed(repository, commit)) & known
        if 1 <= len(changed) <= MOST_FUNCTIONS:
            cases.append(Case(said, changed))
        if len(cases) == most:
            break
    return cases


class Step(Struct, frozen=True):
    """A commit as its developer meets it: the tree before it, what was to be done, what was changed, and when."""

    before: str
    at: float
    case: Case


def walked(repository: Path, back: int, most: int) -> Iterator[Step]:
    """The commits of a history from `back` first-parent commits ago on, oldest first, that say what they change."""
    log = ("log", "--first-parent", "--no-merges", "--reverse", "--format=%H %P %ct %s", f"-n{back}")
    count = 0
    for line in _git(repository, *log).splitlines():
        commit, before, at, *subject = line.split(" ")
        said = _NUMBER.sub("", " ".join(subject))
        if len(said.split()) < 4 or _ROUTINE.search(said):
            continue
        changed = frozenset(_changed(repository, commit))
        if 1 <= len(changed) <= MOST_FUNCTIONS:
            yield Step(before, float(at), Case(said, changed))
            count += 1
        if count == most:
            return


def _message(repository: Path, commit: str) -> str:
    """A commit's message without the lines that tools add: who signed it, who reviewed it."""
    lines = _git(repository, "show", "-s", "--format=%B", commit).splitlines()
    return "\n".join(line for line in lines if not _TRAILER.match(line))


def _changed(repository: Path, commit: str) -> Iterator[Function]:
    """The functions whose lines a commit changed, as its parent has them."""
    diff = _git(repository, "show", "--format=", "-U0", "--no-color", "--no-ext-diff", "-M", commit)
    yield from _changed_by(repository, f"{commit}^", diff)


def changed_between(repository: Path, before: str, after: str) -> Iterator[Function]:
    """The functions whose lines are others in one commit than in another, as the first has them."""
    yield from _changed_by(
        repository, before, _git(repository, "diff", "-U0", "--no-color", "--no-ext-diff", "-M", before, after)
    )


def _changed_by(repository: Path, parent: str, diff: str) -> Iterator[Function]:
    files = re.split(r"^diff --git ", diff, flags=re.MULTILINE)[1:]
    for text in files if len(files) <= MOST_FILES else ():
        before = re.search(r"^--- a/(.+)$", text, re.MULTILINE)
        if before is None or languages.for_path(before[1]) is None:
            continue
        source = subprocess.run(
            ["git", "-C", str(repository), "show", f"{parent}:{before[1]}"], check=True, capture_output=True
        ).stdout
        hunks = [(int(start), 1 if count is None else int(count)) for start, count in _hunks(text)]
        for chunk in parse_file(before[1], source).chunks:
            if chunk.kind in FUNCTIONS and any(_touches(chunk, start, count) for start, count in hunks):
                yield before[1], chunk.name


def _hunks(text: str) -> Iterator[tuple[str, str | None]]:
    for match in _HUNK.finditer(text):
        yield match[1], match[2]


def _touches(chunk: CodeChunk, start: int, count: int) -> bool:
    if count == 0:  # lines were added after `start`
        return chunk.line_start <= start < chunk.line_end
    return start <= chunk.line_end and start + count - 1 >= chunk.line_start


def _sources(root: Path) -> Iterator[tuple[str, bytes]]:
    for file in scan(root, Limits()).files:
        if languages.for_path(file.path) is not None:
            yield file.path, (root / file.path).read_bytes()


def _git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def emptied(folder: Path) -> Path:
    """A folder that does not exist."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder
