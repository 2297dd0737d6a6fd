"""Tables for people: what gives way on a narrow terminal, and that a pipe gets everything, uncoloured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aurora_cli.doctor import doctor_lines, without_daemon
from aurora_cli.metrics import metrics_lines
from aurora_cli.output import TerminalStyle
from aurora_cli.query_view import detail_lines
from aurora_cli.table import markdown_table, table_lines
from aurora_protocol import DaemonUnreachable
from aurora_protocol.address import Address

PIPED = TerminalStyle()
QUESTION = "how does the log-in work, and where are its tokens kept after the browser was closed"
ROWS = [["2026-02-26 10:00", "0.91", QUESTION], ["2026-02-26 11:00", "12.50", "x"]]


def asked(style: TerminalStyle) -> list[str]:
    return table_lines(ROWS, style, right={1}, cut=2)


def test_a_pipe_gets_the_same_whatever_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert asked(PIPED) == [f"  2026-02-26 10:00   0.91  {QUESTION}", "  2026-02-26 11:00  12.50  x"]


def test_a_pipe_gets_no_colour_even_where_a_cell_has_one() -> None:
    coloured = TerminalStyle(rich=True).colored("a", "red")
    assert table_lines([[coloured, "b"]], PIPED) == ["  a  b"]


@pytest.mark.parametrize(("width", "shown"), [(60, 33), (80, 53), (200, len(QUESTION))])
def test_on_a_terminal_one_column_alone_gives_way(width: int, shown: int) -> None:
    first, second = asked(TerminalStyle(width=width))
    assert first.startswith("  2026-02-26 10:00   0.91  how does") and second == "  2026-02-26 11:00  12.50  x"
    kept = first.removeprefix("  2026-02-26 10:00   0.91  ")
    assert len(kept) == shown and len(first) <= width
    assert kept == QUESTION or (kept.endswith("…") and QUESTION.startswith(kept[:-1]))


def test_on_a_terminal_too_narrow_something_is_still_said() -> None:
    first, _ = asked(TerminalStyle(width=10))
    assert first == f"  2026-02-26 10:00   0.91  {QUESTION[:19]}…", "20 columns"


def test_without_a_column_to_cut_nothing_is_cut() -> None:
    assert table_lines(ROWS, TerminalStyle(width=30), right={1}) == asked(PIPED)


def test_characters_that_take_two_columns_count_as_two() -> None:
    assert table_lines([["漢字", "a"], ["b", "c"]], PIPED) == ["  漢字  a", "  b     c"]
    assert table_lines([["a", "漢字" * 20]], TerminalStyle(width=30), cut=1) == ["  a  " + "漢字" * 6 + "…"]


def test_marks_of_the_style_take_no_room_and_words_are_not_read_as_marks() -> None:
    style = TerminalStyle(rich=True, width=80)
    first, second = table_lines([[style.bold("[red]a[/red]"), ":smile:"], ["b", "c"]], style, indent=0)
    assert first == "\x1b[1m[red]a[/red]\x1b[0m  :smile:" and second == "b             c"
    plain = table_lines([["[bold]x", "\\[y]"]], PIPED, indent=0, gap=1)
    assert plain == ["[bold]x \\[y]"]


def test_tables_below_each_other_stand_in_line() -> None:
    for rows in ([["a", "1"]], [["abcdef", "1"]]):
        assert table_lines(rows, PIPED, least={0: 8}, right={1})[0].index("1") == 12


def test_markdown_is_aligned_and_its_cells_stay_as_they_are() -> None:
    assert markdown_table(["a", "bb"], [["ccc", "d"]]) == "| a   | bb |\n|-----|----|\n| ccc | d  |"
    assert markdown_table(["a"], [["x\\|[y] :z:"], [""]]).splitlines()[2:] == ["| x\\|[y] :z: |", "|            |"]
    assert len(markdown_table(["a"], [["x" * 500]]).splitlines()) == 3, "a long cell is one line"


def test_a_metric_without_data_and_one_with() -> None:
    known = {"value": 4.0, "unit": "percent", "tier": "elite", "change": -2, "better": True, "history": [2, 1]}
    unknown: dict[str, Any] = {"value": None, "unit": "percent", "tier": None, "change": None, "history": []}
    window = {"deliverables": 1, "from": "2026-02-20T10:00:00+00:00", "to": "2026-02-27T10:00:00+00:00"}
    metrics = {"deliverable_failure_rate": known, "recovery_efficiency": unknown}
    lines = metrics_lines({"window": window, "metrics": metrics, "groups": {}}, PIPED)
    assert lines[1:] == [
        "  failure rate               4.0 %  elite   ↓  █▁",
        "  recovery share                 –  –",
    ]


def test_skipped_files_are_ranked_by_number_and_examples_stand_below_their_reason() -> None:
    reply = {
        "findings": [],
        "skipped": {"binary": 3, "too large": 1200},
        "examples": [{"reason": "too large", "path": f"{name}.json", "detail": "3 MiB"} for name in "abcdef"],
    }
    lines = doctor_lines(reply, PIPED)
    assert lines[1:4] == ["not indexed: 1,203 paths", "    1,200  too large", "           a.json  3 MiB"]
    assert lines[-2:] == ["           … and 1,195 more (-v lists more)", "        3  binary"]
    assert doctor_lines(reply, PIPED, verbose=True)[-2] == "           … and 1,194 more"
    equals = {"findings": [], "skipped": {"ignored": 3, "binary": 3}, "examples": []}
    assert doctor_lines(equals, PIPED)[2:] == ["        3  binary", "        3  ignored"], "of equals by name"


def test_files_that_nobody_reads_are_told_by_their_endings_and_the_rest_by_how_many_endings_there_are() -> None:
    endings = [{"reason": "no-language", "path": f"*.{name}", "detail": "9 files."} for name in "abcdefg"]
    reply = {"findings": [], "skipped": {"no-language": 63}, "examples": endings}
    assert doctor_lines(reply, PIPED)[-1] == "           … and 2 other endings (-v lists them)"
    assert doctor_lines({**reply, "examples": endings[:5]}, PIPED)[-1] == "           *.e  9 files."
    assert doctor_lines(reply, PIPED, verbose=True)[-1] == "           *.g  9 files."


def test_the_log_of_a_daemon_that_does_not_start_is_told_as_far_as_something_is_wrong(tmp_path: Path) -> None:
    address = Address.of(tmp_path)
    address.log.parent.mkdir(parents=True)
    lines = ['{"level": "info", "message": "daemon stopped"}', '{"level": "error", "message": "oh"}', "no!", ""]
    address.log.write_text("\n".join(lines))
    findings = without_daemon(DaemonUnreachable("it did not start; see the log"), address)["findings"]
    told = [each["what"] for each in findings if each["level"] == "warning"]
    assert told == ['log: {"level": "error", "message": "oh"}', "log: no!"]


def test_the_time_of_each_phase_and_of_all() -> None:
    phases = [
        {"phase": "assess", "duration_ms": 12.3, "percentage": 0.1},
        {"phase": "synthesize", "duration_ms": 10_000, "percentage": 99.9, "llm_ms": 9000},
    ]
    timing = {"phases": phases, "total_duration_ms": 10_012.3, "llm_ms": 9000, "agents_ms": 0, "own_ms": 1012.3}
    told = detail_lines({"timing": timing})
    assert told[told.index("time:") :][:4] == [
        "time:",
        "  assess           12 ms    0.1 %",
        "  synthesize      10.0 s   99.9 %  9.0 s in models",
        "  total           10.0 s  9.0 s in models · 0.0 ms in agents · 1.0 s of our own",
    ]
