"""Token usage: what a scripted agent spends to find code on twenty tasks, with AURORA and with grep alone. No provider.

`python -m tests.benchmarks.agent_tokens [FOLDER]`: the tasks are docstrings' first sentences, blanked in the copy that
is searched; the place is the function they stood in. Both agents read until they see it. Without: grep for the four
rarest words; then the files with most of them, in windows around the lines that match. With: the list of tools is paid,
recall asked, and its places read by their lines (as many at once as without), best first; where none is it, the agent
goes on as without. The target is for tasks whose place both find; all tasks are told beside, and both once more with
the list of `--tools core`.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.token_cost import estimated_tokens
from aurora_protocol import methods
from aurora_server.mcp.memory_tools import places_reply
from aurora_server.mcp.replies import DEFAULT_TOKENS
from aurora_server.mcp.server import described
from aurora_server.mcp.tool import Tool
from aurora_server.mcp.tools import BUILT_IN
from tests.benchmarks.recall_cases import Case, docstring_cases
from tests.server.daemons import Daemon

TASKS = 20
TARGET = 0.60
MOST_LINES = 60
"""Lines of one grep that an agent is shown."""
MOST_FILES = 10
WINDOW = 60
"""Lines around a match, or from a place's first on, that are read at once."""
_WORD = re.compile(r"[A-Za-z_]{4,}")

Span = tuple[str, int, int]


def main() -> int:
    """Print a line for each task, the worst and the whole; 1 where the target is missed."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "memory"
    listed, core = (_listed([tool for tool in BUILT_IN if tool.core or not short]) for short in (False, True))
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "copy"
        cases = docstring_cases(source, copy, TASKS)
        texts = {str(path.relative_to(copy)): path.read_text("utf-8", "replace") for path in sorted(copy.rglob("*.py"))}
        spans = {(path, chunk.name): (path, chunk.line_start, chunk.line_end)
                 for path, text in texts.items() for chunk in parse_file(path, text.encode()).chunks}  # fmt: skip
        rows = []
        with Daemon(Path(name) / "home") as daemon, daemon.client(copy) as client:
            client.request("aurora/index", {})
            for case in cases:
                wanted = {spans[answer] for answer in case.answers if answer in spans}
                found = client.request(methods.RECALL, {"query": case.question, "limit": 10})
                rows.append((case, without(case, wanted, texts), with_aurora(case, wanted, texts, found, listed)))
    print(f"{'without':>8} {'with':>8} {'ratio':>6}  found  task (list of tools: {listed} tokens in each)")
    for case, (spent, there), (less, here) in rows:
        marks = f"{'yes' if there else 'no'}/{'yes' if here else 'no'}"
        print(f"{spent:8,} {less:8,} {less / spent:6.2f}  {marks:7}{case.question[:70]}")
    whole = _told("", rows, 0)
    _told(f", with --tools core ({core} tokens)", rows, listed - core)
    lost = sum(there and not here for _, (_, there), (_, here) in rows)
    return int(whole > TARGET or lost > 0)


def _listed(tools: Sequence[Tool]) -> int:
    return _cost(*(described(tool).model_dump_json(by_alias=True, exclude_none=True) for tool in tools))


def _told(how: str, rows: Sequence[tuple[Case, tuple[int, bool], tuple[int, bool]]], spared: int) -> float:
    """Print what the tasks came to where each with AURORA is `spared` so many tokens; returns the ratio aimed at."""
    same = [(spent, less - spared) for _, (spent, there), (less, here) in rows if there and here]
    whole, worst = sum(b for _, b in same) / sum(a for a, _ in same), max(b / a for a, b in same)
    print(f"found by both{how}: {len(same)} of {len(rows)}; tokens with / without {whole:.3f}, worst task {worst:.2f}")
    every = sum(less - spared for _, _, (less, _) in rows) / sum(spent for _, (spent, _), _ in rows)
    print(f"all tasks{how}, also those that neither finds: {every:.3f}")
    return whole


def without(case: Case, wanted: set[Span], texts: dict[str, str]) -> tuple[int, bool]:
    """Tokens spent with grep and reading, and whether the place was seen."""
    words = sorted({each.casefold() for each in _WORD.findall(case.question)})
    numbered = [(path, number, line) for path, text in texts.items() for number, line in _numbered(text)]
    hits = {word: [each for each in numbered if word in each[2].casefold()] for word in words}
    known = sorted((word for word in words if hits[word]), key=lambda word: len(hits[word]))[:4]
    spent = _cost(case.question)
    score: dict[str, int] = {}
    lines: dict[str, list[int]] = {}
    for word in known:
        spent += _cost(*(f"{path}:{number}:{line}" for path, number, line in hits[word][:MOST_LINES]))
        for path in {path for path, _, _ in hits[word]}:
            score[path] = score.get(path, 0) + 1
        for path, number, _ in hits[word]:
            lines.setdefault(path, []).append(number)
    for path in sorted(score, key=lambda path: (-score[path], path))[:MOST_FILES]:
        whole = texts[path].splitlines()
        windows = sorted({(number - 1) // WINDOW for number in lines[path]})
        for window in windows:
            first = window * WINDOW + 1
            spent += _cost("\n".join(whole[first - 1 : first - 1 + WINDOW]))
            if any(path == file and first <= start < first + WINDOW for file, start, _ in wanted):
                return spent, True
    return spent, False


def with_aurora(
    case: Case, wanted: set[Span], texts: dict[str, str], found: dict[str, object], listed: int
) -> tuple[int, bool]:
    """Tokens spent with recall and reading its places, and whether the place was seen."""
    spent = listed + _cost(case.question, places_reply(found, DEFAULT_TOKENS).text)
    results = found["results"]
    assert isinstance(results, list)
    for each in results:
        path, first = each["file"], each["line_start"]
        last = min(each["line_end"], first + WINDOW - 1)
        spent += _cost("\n".join(texts.get(path, "").splitlines()[first - 1 : last]))
        if any(path == file and first <= start <= last for file, start, _ in wanted):
            return spent, True
    more, seen = without(case, wanted, texts)
    return spent + more, seen


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    yield from enumerate(text.splitlines(), 1)


def _cost(*texts: str) -> int:
    return sum(estimated_tokens(text.encode()) for text in texts)


if __name__ == "__main__":
    sys.exit(main())
