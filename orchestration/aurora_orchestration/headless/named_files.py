"""Named files of a goal (artifacts that must exist): those its criteria say are there, looked up before any judge is
believed. Blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from aurora_indexer.files.scan import known_by_name
from aurora_orchestration.soar.workspace_text import WorkspaceText

MOST_FILES = 50
"""Files of one goal that are looked up."""

_FILE = re.compile(r"(?<![\w/:.@-])(?P<file>(?:[\w.@+-]+/)*[\w.@+-]*\.(?P<ending>[A-Za-z]\w{0,5}))(?![\w/(-])")
_TEXTS = frozenset("txt csv tsv log cfg ini html css xml svg lock rst adoc env sample pdf png".split())
_PRODUCT = re.compile(r"[A-Z][\w-]*\.\w+|(?:node|next|vue|nuxt|react|express|three|d3|chart|moment|discord)\.js")
"""What is written like a file and is none: Node.js."""

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(?P<title>.+)$")
_CRITERIA = re.compile(r"\b(?:criteri\w+|done when|acceptance|definition of done)\b", re.IGNORECASE)
_GONE = re.compile(
    r"\b(?:no|not|never|none|without|nor|neither|longer|instead|unlike|like|similar|delet\w*|remov\w*|drop\w*|renam\w*|"
    r"mov(?:e|es|ed|ing)|replac\w*|port\w*|convert\w*|migrat\w*|split\w*|merg\w*|extract\w*|gone|if|unless|optional\w*|"
    r"example|e\.g|such as|may|might|could|or|from|upstream|elsewhere|download\w*|ignored?|temporary)\b|n't\b",
    re.IGNORECASE,
)
"""Words of a criterion that need not mean that the files it names are there in the end."""


def missing_file(goal: str, root: Path) -> str:
    """A file that a criterion names and that is nowhere below `root`; "" where there is none.

    Only criteria that can mean nothing else count: what speaks of removing, renaming or choosing is left to the judge.
    """
    workspace = WorkspaceText(root)
    for file in islice(_named(goal), MOST_FILES):
        if not (root / file).exists() and not workspace.files_named(file):
            return file
    return ""


def _named(goal: str) -> Iterator[str]:
    """The files that the criteria of a goal name, in its order."""
    within = False
    for line in goal.splitlines():
        heading = _HEADING.match(line)
        if heading is not None:
            within = _CRITERIA.search(heading["title"]) is not None
        elif within and not _GONE.search(line):
            for match in _FILE.finditer(line):
                name = match["file"].rpartition("/")[2]
                known = known_by_name(name) or match["ending"].lower() in _TEXTS
                if known and ("/" in match["file"] or not _PRODUCT.fullmatch(name)):
                    yield match["file"].removeprefix("./")
