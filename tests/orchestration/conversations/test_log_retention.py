"""Retention and compression of conversation logs: what is due and ours, once, and nothing else."""

from __future__ import annotations

import gzip
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from aurora_orchestration.conversations.log_reader import conversations, text_of
from aurora_orchestration.conversations.log_retention import Tidied, tidy
from aurora_orchestration.settings import ConversationSettings
from tests.orchestration.conversations.test_log_names import said_by
from tests.programs import CODE, start

SETTINGS = ConversationSettings()
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0


def log(folder: Path, days: float, name: str = "token-refresh", written: float | None = None) -> str:
    """A log whose name is of so many days ago, last written then (or `written` days ago)."""
    day = f"{datetime.fromtimestamp(NOW - days * DAY, UTC):%Y-%m-%d}"
    file = f"{day[:4]}/{day[5:7]}/{name}-{day}.md"
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"## Query: {day}T00:00:00Z | ID: aurora-{name}\n" + "words\n" * 50)
    at = NOW - (days if written is None else written) * DAY
    os.utime(path, (at, at))
    return file


def left(folder: Path) -> set[str]:
    found = {each.relative_to(folder).as_posix() for each in folder.rglob("*-*.*") if each.is_file()}
    return {each for each in found if not each.startswith(".figures/")}


def test_old_logs_are_compressed_older_ones_deleted_and_memory_is_told(tmp_path: Path) -> None:
    new, week, old, ancient = (log(tmp_path, days) for days in (1, 9, 80, 95))
    text = (tmp_path / week).read_text()
    done = tidy(tmp_path, SETTINGS, NOW)
    assert done == Tidied(deleted=(ancient,), compressed=(week, old))
    assert left(tmp_path) == {new, f"{week}.gz", f"{old}.gz"}
    assert text_of(tmp_path / f"{week}.gz") == text
    assert gzip.decompress((tmp_path / f"{week}.gz").read_bytes()).decode() == text
    assert (tmp_path / f"{week}.gz").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / f"{week}.gz").stat().st_mtime == (NOW - 9 * DAY)
    assert not (tmp_path / ancient).parent.exists(), "an empty month is no use"
    assert tidy(tmp_path, SETTINGS, NOW + 60) == Tidied()
    assert tidy(tmp_path, SETTINGS, NOW + 12 * DAY) == Tidied(deleted=(old,), compressed=(new,))
    assert {each.name for each in conversations(tmp_path)} == {Path(file).stem for file in (new, week)}


def test_what_is_young_by_name_or_by_writing_stays(tmp_path: Path) -> None:
    kept = {
        log(tmp_path, 200, "edited", written=2),
        log(tmp_path, 2, "copied", written=200),
        log(tmp_path, -400, "tomorrow", written=300),
    }
    assert tidy(tmp_path, SETTINGS, NOW) == Tidied()
    assert left(tmp_path) == kept


def test_files_that_are_not_ours_are_never_touched(tmp_path: Path) -> None:
    strange = {
        log(tmp_path, 200, "moved").replace("/", "/"): "2024/01/moved-2025-11-13.md",
    }
    for file, moved in strange.items():
        (tmp_path / moved).parent.mkdir(parents=True)
        (tmp_path / file).rename(tmp_path / moved)
    for name in ("2025/01/notes.md", "2025/01/a-2025-01-01.txt", "a-b-2025-01-01.md", "2025/a-b-2025-01-01.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine")
        os.utime(tmp_path / name, (1e9, 1e9))
    outside = tmp_path.parent / f"{tmp_path.name}-outside-2025-01-01.md"
    outside.write_text("mine")
    os.utime(outside, (1e9, 1e9))
    (tmp_path / "2025/01/link-2025-01-01.md").symlink_to(outside)
    before = left(tmp_path)
    assert tidy(tmp_path, SETTINGS, NOW) == Tidied()
    assert left(tmp_path) == before and outside.read_text() == "mine"


def test_a_crash_between_compressing_and_removing_is_mended(tmp_path: Path) -> None:
    file = log(tmp_path, 9)
    content = (tmp_path / file).read_bytes()
    (tmp_path / f"{file}.gz").write_bytes(gzip.compress(content))
    (tmp_path / file).with_name(f".{Path(file).name}.gz.tmp").write_bytes(b"half")
    assert tidy(tmp_path, SETTINGS, NOW).compressed == (file,)
    assert f"{file}.gz" in left(tmp_path) and file not in left(tmp_path)


def test_two_different_logs_of_one_name_are_both_kept(tmp_path: Path) -> None:
    file = log(tmp_path, 9)
    (tmp_path / f"{file}.gz").write_bytes(gzip.compress(b"something else"))
    done = tidy(tmp_path, SETTINGS, NOW)
    assert not done.compressed and "says something else" in done.problems[0]
    assert {file, f"{file}.gz"} <= left(tmp_path)


def test_a_clock_that_leaps_ahead_deletes_nothing_until_it_has_gone_on_for_a_day(tmp_path: Path) -> None:
    files = [log(tmp_path, days, f"log-{days}x") for days in (1, 20, 60)]
    assert tidy(tmp_path, SETTINGS, NOW).deleted == ()
    wrong = NOW + 3650 * DAY
    assert tidy(tmp_path, SETTINGS, wrong).held
    assert tidy(tmp_path, SETTINGS, wrong + 3600).held
    assert tidy(tmp_path, SETTINGS, NOW + DAY) == Tidied(), "mended in time: nothing is lost"
    assert len(conversations(tmp_path)) == 3
    away = NOW + 200 * DAY
    assert tidy(tmp_path, SETTINGS, away).held
    assert set(tidy(tmp_path, SETTINGS, away + 1.1 * DAY).deleted) == set(files)


def test_a_clock_that_goes_back_does_no_harm(tmp_path: Path) -> None:
    file = log(tmp_path, 9)
    assert tidy(tmp_path, SETTINGS, NOW - 3650 * DAY) == Tidied()
    assert (tmp_path / file).exists()


def test_whoever_is_late_leaves_it_to_the_other(tmp_path: Path) -> None:
    log(tmp_path, 95)
    with FileLock(tmp_path / ".upkeep.lock"):
        assert tidy(tmp_path, SETTINGS, NOW).busy
    assert len(tidy(tmp_path, SETTINGS, NOW).deleted) == 1


TIDY = """
import sys
from pathlib import Path
from aurora_orchestration.conversations.log_retention import tidy
from aurora_orchestration.settings import ConversationSettings
sys.stdin.read(1)
for _ in range(20):
    done = tidy(Path(sys.argv[1]), ConversationSettings(), float(sys.argv[2]))
    print(*done.deleted, *done.compressed, *("PROBLEM " + each for each in done.problems), sep="\\n")
"""


def test_two_daemons_at_once_do_each_thing_once(tmp_path: Path) -> None:
    due = {log(tmp_path, 10 + number, f"log-{number}x") for number in range(60)}
    both = [
        start([*CODE, TIDY, str(tmp_path), str(NOW)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for each in both:
        assert each.stdin is not None
        each.stdin.write("x")
        each.stdin.flush()
    said = [line for each in both for line in said_by(each) if line]
    assert sorted(said) == sorted(due)
    assert len(conversations(tmp_path)) == len([file for file in due if f"{file}.gz" in left(tmp_path)])


def test_a_folder_that_is_not_there_is_fine(tmp_path: Path) -> None:
    assert tidy(tmp_path / "none", SETTINGS, NOW) == Tidied()
    assert not (tmp_path / "none").exists()
