"""`make bench-cold REPOS="clone …"`: indexing throughput (cold start) of any repository, against a plain parse of its
very files."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tree_sitter_language_pack import get_parser

from aurora_indexer import languages
from aurora_indexer.files.scan import Limits, scan
from aurora_indexer.workers.messages import Parsed, WorkItem
from aurora_indexer.workers.process_file import parse_source, process_file
from tests.benchmarks import measures

_GRAMMARS: dict[str, Any] = {each.name: each.grammar or each.name for each in languages.LANGUAGES}
_GRAMMARS["restructuredtext"] = "rst"
"""Where a grammar's name may not be the language's; the other documents' names are theirs."""


def indexed(root: Path) -> list[tuple[Path, Any]]:
    """The files that an index takes in, each with the name of its grammar."""
    found = []
    limits = Limits()
    for file in scan(root, limits).files:
        reply = process_file(str(root), WorkItem(file.path, file.size, b""), limits.max_file_bytes, parse_source)
        if isinstance(reply, Parsed):
            found.append((root / file.path, _GRAMMARS.get(reply.file.language, reply.file.language)))
    return found


def plain_parse(files: list[tuple[Path, Any]]) -> float:
    """Seconds to read and tree-sitter-parse every file in one process."""
    parsers = {grammar: get_parser(grammar) for grammar in dict(files).values()}
    return measures.timed(lambda: [parsers[grammar].parse(file.read_bytes()) and None for file, grammar in files])


def cold_index(root: Path) -> float:
    """Seconds of one `aurora/index` of a workspace that a new daemon has never seen."""
    with (
        tempfile.TemporaryDirectory(prefix="aurora-bench-") as folder,
        measures.daemon(Path(folder, "home")) as address,
        measures.session(address, root) as client,
    ):
        return measures.index(client)[0]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("repos", nargs="+", type=Path, help="clones of repositories")
    options.add_argument("--rounds", type=int, default=5, help="how often each is measured, the two in turns")
    given = options.parse_args()
    for root in given.repos:
        files = indexed(root.resolve())
        kinds = ", ".join(f"{count} {name}" for name, count in Counter(grammar for _, grammar in files).most_common())
        print(f"{root.name}: {kinds}")
        parses, colds = [], []
        for _ in range(given.rounds):
            parses.append(plain_parse(files))
            colds.append(cold_index(root.resolve()))
            print(f"  plain parse {parses[-1]:.2f} s, cold index {colds[-1]:.2f} s = {colds[-1] / parses[-1]:.2f} x")
        ratio = statistics.median(colds) / statistics.median(parses)
        noise = f"parse {measures.noise(parses)}, index {measures.noise(colds)}"
        print(f"  medians: {ratio:.2f} x (target <= 3); machine noise: {noise}")


if __name__ == "__main__":
    main()
