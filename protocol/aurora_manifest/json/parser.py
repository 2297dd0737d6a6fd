"""Parser of JSON text into a document, with the line and column of everything: a scan of it, of one side where it holds
merge conflicts, or of what its indentation says where brackets do not match.
"""

from __future__ import annotations

from collections.abc import Iterable

from aurora_manifest.json.document import JsonDocument, Problem
from aurora_manifest.json.indentation import rebalanced
from aurora_manifest.json.merge_conflicts import first_sides
from aurora_manifest.json.scan import Scan
from aurora_manifest.json.scan_state import MAX_BYTES, MAX_NODES


def parse(text: str) -> JsonDocument:
    """Read `text` as JSON. Never raises: what is wrong is in `JsonDocument.problems`, in the order of the text."""
    if too_large(text):
        return _refused(text, [], f"the file is larger than {MAX_BYTES // 1024**2} MiB and was not checked")
    scan = Scan(text)
    scan.document()
    if scan.nodes > MAX_NODES:
        return _refused(text, scan.problems, f"the file holds more than {MAX_NODES:,} values and was not checked")
    if scan.syntax_errors and (sides := first_sides(text)):
        whole = parse(sides.text)
        return JsonDocument(text, whole.root, in_order([*whole.problems, *sides.problems]), whole.nodes, whole.torn)
    if scan.torn is not None and (known := rebalanced(text)):
        other = Scan(known.text)
        other.document()
        if other.torn is None and other.nodes <= MAX_NODES and other.syntax_errors <= scan.syntax_errors:
            return JsonDocument(text, other.root, in_order([*other.problems, *known.problems]), other.nodes)
    return JsonDocument(text, scan.root, in_order(scan.problems), scan.nodes, scan.torn)


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems in the order of the text."""
    return tuple(sorted(problems, key=lambda problem: (problem.start, problem.end)))


def too_large(text: str) -> bool:
    """Whether the text is longer than may be looked at."""
    size = len(text)
    return size > MAX_BYTES or (size * 4 > MAX_BYTES and len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES)


def _refused(text: str, problems: list[Problem], message: str) -> JsonDocument:
    return JsonDocument(text, None, (Problem("json-too-large", message, 0, min(1, len(text))), *problems))
