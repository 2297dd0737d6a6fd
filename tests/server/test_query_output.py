"""What one sees of a run: -v and -vv as in §9.5, a log in the order of its phases, and a pattern's way back to it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.soar.minds import Mind
from tests.server.client_requests import MEDIUM, TWO, asked
from tests.server.test_query_money import aurora, query

LONG = "supercalifragilistic " * 40


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, LoopbackProvider, Path, list[str]]]:
    """A home, a provider, a workspace, and the lines of a run with -vv whose plan and answer were mended once."""
    place = tmp_path_factory.mktemp("answered")
    mind = Mind(TWO)
    mind.scores |= {"decomposition": [0.6, 0.9], "synthesis": [0.65, 0.9]}
    mind.claims = [{"text": f"{LONG} holds.", "sources": ["SG1"]}]
    with asked(place, mind) as (_, provider, root):
        done = query(place / "home", provider, root, "-vv", MEDIUM)
        assert done.returncode == 0, done.stderr
        yield place / "home", provider, root, done.stdout.splitlines()


def test_the_stages_name_their_option_words_subgoals_and_checks(answered: Any) -> None:
    lines = answered[3]
    assert "aurora: verifying (self)... RETRY (0.60)" in lines and "aurora: verifying (self)... PASS (0.90)" in lines
    assert "  keywords: [explain, compare] → score: 0.30" in lines
    assert f'  subgoal 1: "{TWO[0]}" → llm-executor' in lines
    passed = lines.index("aurora: verifying (self)... PASS (0.90)")
    assert lines[passed + 1 : passed + 6] == [
        "  completeness: 0.90",
        "  consistency: 0.90",
        "  groundedness: 0.90",
        "  routability: 0.90",
        "  overall: 0.90 → PASS",
    ]
    assert any(re.match(r"    code: .*src/template\.py:\d+ \d\.\d\d", line) for line in lines)


def test_a_log_tells_its_phases_in_their_order_and_the_pattern_points_to_its_section(answered: Any) -> None:
    home = answered[0]
    log = next((home / "logs/conversations").rglob("*.md"))
    lines = log.read_text().splitlines()
    heads = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    wanted = ["0", "1", "2", "3", "4", "5", "6", "7", "4b", "8", "9"]
    assert [head.split()[1].rstrip(":") for head in heads if head.startswith("Phase")] == wanted
    collect, synthesize = (next(n for n, line in enumerate(lines) if f"Phase {each}:" in line) for each in (6, 7))
    assert [n for n, line in enumerate(lines) if line.startswith("**Agent SG")], "each agent's answer is in it"
    assert all(collect < n < synthesize for n, line in enumerate(lines) if line.startswith("**Agent SG"))
    database = next((home / "memory").glob("*.db"))
    with closing(sqlite3.connect(database)) as db:
        ((document,),) = db.execute("SELECT json FROM documents").fetchall()
    reference = json.loads(document)["conversation_log_reference"]
    first, last = reference["line_range"]
    assert reference["section"] == "Phase 3: DECOMPOSE" and lines[first - 1] == "### Phase 3: DECOMPOSE"
    told = "\n".join(lines[first - 1 : last])
    assert TWO[0] in told and lines[last - 1].strip()
    for member in ("success_criteria", "given", "requires", "depends_on", "expected_output", "parallelizable"):
        assert f'"{member}"' in told, "a plan is told whole (§4.2)"
    assert "Phase 4" not in "\n".join(lines[first - 1 : last])


def test_a_search_in_logs_prints_lines_that_a_terminal_can_hold_with_the_hit_in_them(answered: Any) -> None:
    home, provider, root, _ = answered
    found = aurora(home, provider, root, "logs", "search", "holds.").stdout.splitlines()
    assert found and max(map(len, found)) <= 130
    assert any("holds." in line and line.lstrip()[:1].isdigit() for line in found), found
