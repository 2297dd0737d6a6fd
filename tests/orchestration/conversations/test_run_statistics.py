"""What runs came to: drawn from logs, and still known when the logs are gone."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aurora_memory.learning import Learned
from aurora_orchestration.conversations.log_retention import tidy
from aurora_orchestration.conversations.run_statistics import first_at, report, rows
from aurora_orchestration.settings import ConversationSettings
from tests.orchestration.runs import BEGAN, run
from tests.orchestration.written_log import write_log

DAY = 86_400.0
SETTINGS = ConversationSettings()


def asked(folder: Path, number: int, days: float, **changed: Any) -> Path:
    """A run begun so many days after the first, its log last written then."""
    at = BEGAN + days * DAY
    record = run(id=f"aurora-{number}", started_at=at, ended_at=at + 12.8, **changed)
    path = write_log(record, folder, SETTINGS)
    os.utime(path, (at, at))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    context = run().context
    assert context is not None
    pattern = msgspec.structs.replace(context.chunks[0], type="reas", id="reas:oauth2")
    helped = msgspec.structs.replace(context, chunks=(*context.chunks, pattern))
    asked(tmp_path, 1, 0)
    asked(tmp_path, 2, 1, score=0.43, learned=None, state="failed", workspace="/home/someone/other")
    other = Learned(outcome="success", reasoning_id="reas:oauth2-logout", is_pattern=True)
    asked(tmp_path, 3, 40, context=helped, score=0.97, learned=other)
    return tmp_path


ALL = (BEGAN - 1, BEGAN + 41 * DAY)


def test_figures_of_a_stretch(folder: Path) -> None:
    told = report(folder, *ALL, parts=[(BEGAN - 1, BEGAN + 31 * DAY), (BEGAN + 31 * DAY, BEGAN + 41 * DAY)])
    assert (told["queries"], told["states"], told["errors"]) == (3, {"complete": 2, "failed": 1}, 1)
    assert told["accuracy"] == pytest.approx((0.93 + 0.43 + 0.97) / 3, abs=1e-4)
    assert (told["cost_usd"], told["tokens"], told["llm_calls"]) == (0.03, 18_000, 15)
    assert (told["cache_hits"], told["cache_hit_rate"]) == (1, 0.3333)
    assert told["patterns"] == {"stored": 2, "marked": 2}
    assert told["learning"] == {"with_patterns": 0.97, "without": 0.68, "improvement": 0.29}
    assert [(each["queries"], each["patterns"], each["errors"]) for each in told["trend"]] == [(2, 1, 1), (1, 2, 0)]
    assert told["workspaces"][0] == {"workspace": "/home/someone/shop", "queries": 2, "cost_usd": 0.02}
    assert report(folder, BEGAN + 1, BEGAN + 2)["queries"] == 0
    assert report(folder / "none", *ALL)["accuracy"] is None


def test_like_runs_are_one_pattern_in_reports_too(tmp_path: Path) -> None:
    for number in range(3):
        asked(tmp_path, number, number)
    assert report(tmp_path, *ALL)["patterns"] == {"stored": 1, "marked": 1}
    tidy(tmp_path, SETTINGS, BEGAN + 229 * DAY)
    assert not list(tmp_path.rglob("*.md*"))
    assert report(tmp_path, *ALL)["patterns"] == {"stored": 1, "marked": 1}


def test_what_is_deleted_or_compressed_is_still_counted_once(folder: Path) -> None:
    before = report(folder, *ALL)
    for days in (50, 51, 75, 100, 129, 150, 179, 200, 229):
        tidy(folder, SETTINGS, BEGAN + days * DAY)
        assert report(folder, *ALL) == before, days
        assert first_at(folder) == pytest.approx(BEGAN, abs=DAY)
    assert not list(folder.rglob("*.md*")), "all are deleted by now"
    assert {path.stat().st_mode & 0o777 for path in (folder / ".figures").iterdir()} == {0o600}


def test_compressed_logs_that_are_known_are_not_read_again(folder: Path) -> None:
    tidy(folder, SETTINGS, BEGAN + 50 * DAY)
    for packed in folder.rglob("*.gz"):
        packed.write_bytes(b"not any more")
    assert [each.score for each in rows(folder, *ALL)] == [0.93, 0.43, 0.97]


@pytest.mark.parametrize("kept", ["", "{", "[1]", json.dumps([{"file": "x"}]), "[" * 5000])
def test_kept_figures_that_someone_edited_are_drawn_anew(folder: Path, kept: str) -> None:
    (folder / ".figures").mkdir()
    (folder / ".figures" / "2025-12.json").write_text(kept)
    assert report(folder, *ALL)["queries"] == 3
    tidy(folder, SETTINGS, BEGAN + 50 * DAY)
    assert report(folder, *ALL)["queries"] == 3
