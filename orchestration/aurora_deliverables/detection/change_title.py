"""Change titles (conventional types, slugs): what people's names for a change say of it: its type, and a description of
one line.
"""

from __future__ import annotations

import re

from aurora_deliverables.evidence import shown

MAX_DESCRIPTION = 160

_COMMIT = re.compile(r"^(?P<type>[a-z]+)(?:\([^)]*\))?!?:\s")
_TYPES = {
    "feat": "feature",
    "feature": "feature",
    "add": "feature",
    "implement": "feature",
    "create": "feature",
    "introduce": "feature",
    "support": "feature",
    "enhancement": "feature",
    "story": "feature",
    "fix": "bugfix",
    "bug": "bugfix",
    "bugfix": "bugfix",
    "hotfix": "bugfix",
    "refactor": "refactoring",
    "refactoring": "refactoring",
    "docs": "docs",
    "doc": "docs",
    "documentation": "docs",
    "document": "docs",
    "chore": "chore",
    "build": "chore",
    "ci": "chore",
    "perf": "performance",
    "test": "test",
    "tests": "test",
}


def type_of_word(word: str) -> str | None:
    """`fix` and `bug` are a bugfix, `feat` a feature, …; None for words that say nothing."""
    return _TYPES.get(word.strip().lower())


def type_of_name(name: str) -> str | None:
    """The type that a change's name begins with, as `add-search` does."""
    return type_of_word(re.split(r"[-_/ ]", name, maxsplit=1)[0])


def type_of_subject(subject: str) -> str | None:
    """The type of a conventional commit: `feat(search): …` (conventionalcommits.org)."""
    found = _COMMIT.match(subject)
    return type_of_word(found["type"]) if found else None


def summary(text: str) -> str | None:
    """Title, the first sentence of a text, on one line, without secrets; None where there is nothing."""
    line = " ".join(text.split())
    sentence = re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0]
    return shown(sentence.strip("*_ "), MAX_DESCRIPTION) or None
