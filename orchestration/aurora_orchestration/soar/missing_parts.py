"""Parts that are missing (completeness of an answer): those of a question that an answer leaves out: things it names,
and things it asks for beside each other. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_indexer.files.scan import known_by_name
from aurora_orchestration.soar.concepts import PROCESS, telling
from aurora_orchestration.soar.sentences import bounded

MAX_PARTS = 12
TELLING = 3
"""How many telling words a part has that is sure to be asked for in words of its own."""

_CODE = re.compile(
    r"`([^`\n]{2,200})`|(?<![\w./])((?:[A-Za-z_]\w*\.)*(?:[A-Za-z]\w*_\w+|[a-z]+[a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w+"
    r"|[A-Za-z_]\w+(?=\(\))))(?!\w)"
)
_PATH = re.compile(r"(?<![\w/])(?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w{0,5}(?![\w/])")
_CUT = re.compile(
    r"[?;]\s+|\n+|,\s*(?:and\s+)?|\s+(?:and|as well as|and also|versus|vs\.?)\s+|\s*\(\d\)\s*", re.IGNORECASE
)


def named_in(question: str) -> Iterator[str]:
    """Names and files that a question spells out, each once."""
    seen: set[str] = set()
    for match in _CODE.finditer(question):
        name = (match[1] or match[2]).strip("() ")
        last = re.split(r"\.|::|#", name)[-1] if not known_by_name(name) else name
        if last and last.lower() not in seen:
            seen.add(last.lower())
            yield last
    for match in _PATH.finditer(question):
        if match[0].lower() not in seen and known_by_name(match[0].rpartition("/")[2]):
            seen.add(match[0].lower())
            yield match[0]


def missing_parts(question: str, answer: str) -> tuple[tuple[str, ...], int]:
    """The parts of a question that its answer says nothing of, and how many parts it has."""
    question, answer = bounded(question), bounded(answer)
    parts: list[tuple[str, bool]] = []
    lowered, said = answer.lower(), telling(answer)
    names = list(named_in(question))[:MAX_PARTS]
    for name in names:
        # A file may be told of by its name alone.
        spelt = name.lower().rpartition("/")[2]
        parts.append((name, re.search(rf"(?<!\w){re.escape(spelt)}(?!\w)", lowered) is not None))
    clauses = [clause for clause in _CUT.split(question) if clause and clause.strip()]
    for clause in clauses if len(clauses) > 1 else ():
        rest = _PATH.sub(" ", _CODE.sub(" ", clause))
        if rest != clause:
            continue  # it is about what it names
        own = telling(rest).stems - PROCESS
        if len(own) >= TELLING:
            near = any(said.has(stem) or said.nearly(stem) for stem in own)
            parts.append((" ".join(clause.split()), near))
    return tuple(part for part, is_there in parts[:MAX_PARTS] if not is_there), len(parts[:MAX_PARTS])
