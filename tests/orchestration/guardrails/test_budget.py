"""The budget: limits, periods, reservations, and that nothing is lost or doubled by many processes or dead ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest

from aurora_orchestration.guardrails import budget as budgets
from aurora_orchestration.guardrails.blocked import OverBudget, QuestionBlocked, Unrecorded
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.guardrails.budget_periods import period_at
from aurora_orchestration.guardrails.cost_estimate import estimate, tokens_of
from aurora_orchestration.guardrails.ledger import LedgerEvent, begin, since
from aurora_orchestration.settings import BudgetSettings, ComplexitySettings, Route, Routes
from aurora_orchestration.types import Complexity, Rate, Role, VerificationOption
from tests.wait_limits import HANG

NOON = datetime(2025, 12, 20, 14, 30, tzinfo=UTC).timestamp()
DAY = 86_400.0
SPENDING = str(Path(__file__).with_name("spender.py"))


class Clock:
    def __init__(self, at: float = NOON) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "budget_tracker.json"


def budget_of(file: Path, clock: Clock, **settings: Any) -> Budget:
    return Budget(file, BudgetSettings(**settings), clock)


def spend(budget: Budget, key: str, usd: float, run: str = "run-1") -> None:
    budget.reserve(key, run, usd)
    budget.settle(key, usd)


def written(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(file.read_text())
    return document


def test_the_tracking_file_has_the_members_of_the_specification(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock, hard_limit_usd=100.0)
    spend(budget, "a", 18.5)
    budget.end_run("run-1")
    told = written(file)
    assert {name: told[name] for name in list(told)[:7]} == {
        "period_start": "2025-12-01T00:00:00Z",
        "period_end": "2025-12-31T23:59:59Z",
        "limit_usd": 100.0,
        "consumed_usd": 18.5,
        "remaining_usd": 81.5,
        "query_count": 1,
        "last_updated": "2025-12-20T14:30:00Z",
    }
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.with_name("budget_tracker_history.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_tracking_file_of_another_program_is_gone_on_with(file: Path, clock: Clock) -> None:
    file.parent.mkdir()
    file.write_text(
        '{"period_start": "2025-12-01T00:00:00Z", "period_end": "2025-12-31T23:59:59Z", "limit_usd": 100.0,'
        ' "consumed_usd": 99.0, "remaining_usd": 1.0, "query_count": 142, "last_updated": "2025-12-20T14:30:00Z"}'
    )
    budget = budget_of(file, clock, hard_limit_usd=100.0)
    budget.reserve("a", "run-1", 0.75)
    assert budget_of(file, clock).status().reserved_usd == 0.75
    budget.settle("a", 0.5)
    assert (written(file)["consumed_usd"], written(file)["query_count"]) == (99.5, 142)
    with pytest.raises(OverBudget, match=r"\$99\.50 of \$100\.00"):
        budget.reserve("b", "run-1", 0.6)


def test_the_soft_limit_warns_and_the_hard_limit_blocks(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock, soft_limit_usd=10.0, hard_limit_usd=20.0)
    assert budget.check(7.9) is None
    spend(budget, "a", 7.0)
    budget.end_run("run-1")
    said = budget.check(1.0)
    assert said is not None and "$8.00" in said and "$10.00" in said and "80%" in said and "2025-12-31" in said
    assert budget.check(13.0) is not None, "exactly the limit may be spent"
    with pytest.raises(OverBudget) as raised:
        budget.check(13.01)
    assert raised.value.reason == "budget" and "aurora config set cost_budgets.hard_limit_usd" in str(raised.value)
    spend(budget, "b", 13.0)
    assert budget.status().state == "blocked"
    assert budget.check(0.0) is not None, "what costs nothing is never blocked"


def test_force_counts_only_where_it_is_allowed(file: Path, clock: Clock) -> None:
    with pytest.raises(OverBudget, match="allow_force_override"):
        budget_of(file, clock, hard_limit_usd=1.0).check(2.0, force=True)
    with pytest.raises(OverBudget):
        budget_of(file, clock, hard_limit_usd=1.0).reserve("a", "r", 2.0, force=True)
    allowed = budget_of(file, clock, hard_limit_usd=1.0, soft_limit_usd=1.0, allow_force_override=True)
    assert "forced" in (allowed.check(2.0, force=True) or "")
    allowed.reserve("a", "r", 2.0, force=True)
    allowed.settle("a", 2.0)
    with pytest.raises(OverBudget):
        allowed.check(0.1)


def test_reservations_count_until_they_are_settled_or_released(file: Path, clock: Clock) -> None:
    budget, other = (budget_of(file, clock, hard_limit_usd=1.0) for _ in range(2))
    budget.reserve("a", "run-1", 0.8)
    with pytest.raises(OverBudget):
        other.reserve("b", "run-2", 0.3)
    budget.reserve("a", "run-1", 0.9)
    assert other.status().reserved_usd == 0.9, "the same key holds one amount"
    budget.settle("a", 0.1, phase="assess", model="m-1")
    other.reserve("b", "run-2", 0.3)
    other.release("b")
    assert (other.status().reserved_usd, other.status().consumed_usd) == (0.0, 0.1)


def test_a_key_counts_once(file: Path, clock: Clock) -> None:
    for _ in range(2):
        for budget in (budget_of(file, clock), budget_of(file, clock)):
            budget.reserve("a", "run-1", 0.5)
            budget.settle("a", 0.2)
            budget.settle("a", 0.2)
            budget.settle("never reserved", 0.1)
    status = budget_of(file, clock).status()
    assert (status.consumed_usd, status.reserved_usd) == (0.3, 0.0)


def test_what_a_run_leaves_reserved_counts_when_it_ends(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock)
    budget.reserve("a", "run-1", 0.5)
    budget.reserve("b", "run-2", 0.25)
    budget.end_run("run-1", query_counted=False)
    status = budget.status()
    assert (status.consumed_usd, status.uncertain_usd, status.reserved_usd, status.query_count) == (0.5, 0.5, 0.25, 0)
    budget.settle("a", 0.1)
    assert (budget.status().consumed_usd, budget.status().uncertain_usd) == (0.1, 0.0)
    assert [(each.run, each.usd) for each in budget.history().entries] == [("run-1", 0.1)], "it is still that run's"


def test_a_call_that_is_made_again_needs_no_more_than_itself(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock, hard_limit_usd=1.0)
    for again in range(2):
        budget.reserve("a", "run-1", 0.75)
        budget.reserve("a", "run-1", 0.5 + again / 4)
    budget.end_run("run-1")
    budget.reserve("a", "run-1", 0.75)
    assert (budget.status().reserved_usd, budget.status().consumed_usd) == (0.75, 0.0)
    with pytest.raises(OverBudget):
        budget.reserve("b", "run-1", 0.5)


def test_a_period_ends_with_its_last_second_and_what_was_said_is_said_once(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock)
    spend(budget, "a", 1.0)
    clock.at = datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
    assert budget.status().consumed_usd == 1.0
    clock.at += 1
    assert (budget.status().consumed_usd, budget.status().period_start[:10]) == (0.0, "2026-01-01")
    file.write_text("{")
    assert [len(budget.status().notices), len(budget.status().notices)] == [1, 1]


@pytest.mark.parametrize(
    ("period", "start", "end"),
    [
        ("daily", "2025-12-20T00:00:00Z", "2025-12-20T23:59:59Z"),
        ("weekly", "2025-12-15T00:00:00Z", "2025-12-21T23:59:59Z"),
        ("monthly", "2025-12-01T00:00:00Z", "2025-12-31T23:59:59Z"),
    ],
)
def test_periods_end_and_begin_in_utc(file: Path, clock: Clock, period: str, start: str, end: str) -> None:
    budget = budget_of(file, clock, period=period)
    spend(budget, "a", 3.0)
    status = budget.status()
    assert (status.period_start, status.period_end) == (start, end)
    clock.at = datetime.fromisoformat(end).timestamp() + 0.5
    assert budget.status().consumed_usd == 3.0, "the last second belongs to it"
    clock.at = datetime.fromisoformat(end).timestamp() + 1
    assert budget.status().consumed_usd == 0.0, "the first moment after it does not"
    spend(budget, "b", 1.0)
    assert written(file)["consumed_usd"] == 1.0
    (ended,) = budget.history().ended
    assert (ended.period_start, ended.consumed_usd, ended.by_hand) == (start, 3.0, False)


def test_a_clock_that_goes_back_begins_no_period(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock)
    spend(budget, "a", 3.0)
    clock.at -= 40 * DAY
    assert budget.status().consumed_usd == 3.0
    spend(budget, "b", 1.0)
    clock.at = NOON
    assert budget.status().consumed_usd == 4.0


def test_without_auto_reset_a_period_goes_on_until_it_is_reset(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock, auto_reset=False, hard_limit_usd=5.0)
    spend(budget, "a", 5.0)
    clock.at += 40 * DAY
    with pytest.raises(OverBudget, match="aurora budget reset"):
        budget.check(1.0)
    status = budget.reset()
    assert (status.consumed_usd, status.period_start) == (0.0, "2026-01-01T00:00:00Z")
    assert budget.history().ended[0].by_hand
    budget.settle("a", 5.0)
    assert budget.status().consumed_usd == 0.0, "settled keys are remembered beyond a reset"


def test_a_call_that_is_being_made_goes_on_beyond_a_reset(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock)
    spend(budget, "a", 3.0)
    budget.reserve("b", "run-1", 2.0)
    status = budget.reset()
    assert (status.consumed_usd, status.reserved_usd) == (0.0, 2.0)
    budget.settle("b", 1.5)
    assert (budget.status().consumed_usd, budget.status().reserved_usd) == (1.5, 0.0)


def test_another_period_counts_what_was_spent_in_it(file: Path, clock: Clock) -> None:
    spend(budget_of(file, clock), "a", 3.0)
    clock.at += DAY
    spend(budget_of(file, clock), "b", 1.0)
    assert budget_of(file, clock, period="daily").status().consumed_usd == 1.0
    spend(budget_of(file, clock, period="daily"), "c", 1.0)
    assert written(file)["consumed_usd"] == 2.0 and written(file)["period"] == "daily"


def test_what_is_reserved_stays_so_where_another_period_is_chosen(file: Path, clock: Clock) -> None:
    budget_of(file, clock).reserve("a", "run-1", 2.0)
    daily = budget_of(file, clock, period="daily")
    assert daily.status().reserved_usd == 2.0
    daily.settle("a", 1.5)
    assert (daily.status().reserved_usd, daily.status().consumed_usd) == (0.0, 1.5)


def test_a_run_that_was_free_or_not_estimated_tells_nothing_of_its_kind(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock)
    for n, (estimated, usd) in enumerate(((0.0, 1.0), (1.0, 0.0), (2.0, 1.0))):
        budget.end_run(f"run-{n}", way="simple", estimated=estimated, usd=usd)
    budget.end_run("run-x", estimated=1.0, usd=1.0)
    assert budget.past("simple") == (0.5,) and budget.past("") == ()


def test_history_by_month(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock)
    budget.reserve("a", "run-1", 1.0)
    budget.settle("a", 0.4, phase="decompose", model="m-1")
    budget.end_run("run-1")
    clock.at += 30 * DAY
    spend(budget, "b", 0.5, "run-2")
    december, january = budget.history("2025-12"), budget.history("2026-01")
    assert (december.total_usd, december.query_count, january.total_usd) == (0.4, 1, 0.5)
    (entry,) = december.entries
    assert (entry.run, entry.phase, entry.model, entry.at[:10]) == ("run-1", "decompose", "m-1", "2025-12-20")
    assert budget.history().total_usd == 0.9 and [day.usd for day in budget.history().days] == [0.4, 0.5]
    with pytest.raises(ValueError, match="YYYY-MM"):
        budget.history("2025-13")


@pytest.mark.long
def test_many_processes_lose_and_double_nothing(file: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, SPENDING, str(file), f"run-{number}", "settle", "25"]) for number in range(4)
    ]
    assert [each.wait(HANG) for each in started] == [0] * 4
    status = Budget(file, BudgetSettings(), time.time).status()
    assert (status.consumed_usd, status.query_count, status.reserved_usd) == (0.1, 4, 0.0)
    history = Budget(file, BudgetSettings(), time.time).history()
    assert (len(history.entries), history.total_usd) == (100, 0.1)


def test_a_reservation_of_a_killed_process_counts_until_the_run_that_goes_on_settles_it(file: Path) -> None:
    with subprocess.Popen([sys.executable, SPENDING, str(file), "run-1", "hold"], stdout=subprocess.PIPE) as held:
        assert held.stdout is not None and held.stdout.readline() == b"held\n"
        budget = Budget(file, BudgetSettings(), time.time)
        assert budget.status().reserved_usd == 0.25
        held.send_signal(signal.SIGKILL)
    status = budget.status()
    assert (status.consumed_usd, status.uncertain_usd, status.reserved_usd) == (0.25, 0.25, 0.0)
    budget.reserve("run-1:0", "run-1", 0.3)
    assert (budget.status().consumed_usd, budget.status().reserved_usd) == (0.0, 0.3)
    budget.settle("run-1:0", 0.125)
    budget.settle("run-1:0", 0.125)
    assert (budget.status().consumed_usd, budget.status().uncertain_usd) == (0.125, 0.0)
    assert [each.uncertain for each in budget.history().entries] == [False]


@pytest.mark.long
def test_killed_while_writing_nothing_that_was_settled_is_lost(file: Path) -> None:
    for attempt in range(6):
        with subprocess.Popen(
            [sys.executable, SPENDING, str(file), f"run-{attempt}", "forever"], stdout=subprocess.PIPE, text=True
        ) as spending:
            assert spending.stdout is not None
            for _ in range(3 + attempt):
                spending.stdout.readline()
            time.sleep(0.003 * attempt)
            spending.send_signal(signal.SIGKILL)
            said = 3 + attempt + len(spending.stdout.readlines())
        history = Budget(file, BudgetSettings(), time.time).history()
        mine = [each for each in history.entries if each.run == f"run-{attempt}" and not each.uncertain]
        assert said <= len(mine) <= said + 1
    budget = Budget(file, BudgetSettings(), time.time)
    budget.end_run("nothing", query_counted=False)
    history = budget.history()
    assert budget.status().consumed_usd == pytest.approx(history.total_usd, abs=1e-9)
    assert budget.status().reserved_usd == 0.0


def test_a_history_line_that_was_cut_off_is_left_out(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock)
    spend(budget, "a", 1.0)
    with file.with_name("budget_tracker_history.jsonl").open("ab") as history:
        history.write(b'{"at":"2025-12-20T14:30:00Z","kind":"spent","key":"b","us')
    spend(budget, "c", 1.0)
    assert budget_of(file, clock).status().consumed_usd == 2.0
    assert [each.key for each in budget.history().entries] == ["a", "c"]


@pytest.mark.parametrize("content", [b"", b"\x00" * 300, b"[]", b'{"period_start": "x", "period_end": "y"}', b"\xff"])
def test_a_broken_tracking_file_is_put_aside_and_rebuilt(file: Path, clock: Clock, content: bytes) -> None:
    budget = budget_of(file, clock)
    spend(budget, "a", 1.5)
    budget.reserve("b", "run-1", 0.25)
    budget.end_run("run-0")
    file.write_bytes(content)
    fresh = budget_of(file, clock)
    assert fresh.status().consumed_usd == 1.5 and file.read_bytes() == content, "looking changes nothing"
    assert "could not be read" in fresh.status().notices[0]
    fresh.settle("c", 0.5)
    assert (written(file)["consumed_usd"], written(file)["reserved_usd"], written(file)["query_count"]) == (
        2.0,
        0.25,
        1,
    )
    assert file.with_name("budget_tracker.json.corrupt-1").read_bytes() == content


def test_a_lost_tracking_file_is_rebuilt_for_its_period(file: Path, clock: Clock) -> None:
    spend(budget_of(file, clock), "a", 1.5)
    clock.at += 30 * DAY
    spend(budget_of(file, clock), "b", 0.5)
    file.unlink()
    assert budget_of(file, clock).status().consumed_usd == 0.5


def test_without_room_to_write_nothing_is_spent(file: Path, tmp_path: Path) -> None:
    code = (
        "import resource, sys, time; from pathlib import Path\n"
        "from aurora_orchestration.guardrails.budget import Budget\n"
        "from aurora_orchestration.settings import BudgetSettings\n"
        "from aurora_orchestration.guardrails.blocked import Unrecorded\n"
        "budget = Budget(Path(sys.argv[1]), BudgetSettings(), time.time)\n"
        "budget.reserve('a', 'r', 1.0)\n"
        "size = Path(sys.argv[1]).with_name('budget_tracker_history.jsonl').stat().st_size\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, size + 20))\n"
        "for act in (lambda: budget.reserve('b', 'r', 1.0), lambda: budget.settle('a', 0.5)):\n"
        "    try: act()\n"
        "    except Unrecorded as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout.count(f"cannot write the budget, {file.with_suffix('')}") == 2
    status = Budget(file, BudgetSettings(), time.time).status()
    assert (status.consumed_usd, status.uncertain_usd) == (1.0, 1.0), "it is not known what the first call cost"


def test_where_nothing_can_be_written_the_file_is_named(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "home").write_text("not a folder")
    budget = budget_of(tmp_path / "home" / "budget_tracker.json", clock)
    with pytest.raises(Unrecorded, match="home") as raised:
        budget.reserve("a", "run-1", 0.1)
    assert isinstance(raised.value, QuestionBlocked) and raised.value.reason == "storage"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_named(file: Path, clock: Clock) -> None:
    file.parent.mkdir(mode=0o500)
    with pytest.raises(Unrecorded, match="ermission"):
        budget_of(file, clock).reserve("a", "run-1", 0.1)


def test_a_disabled_budget_leaves_no_trace(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock, enabled=False, hard_limit_usd=0.0)
    budget.reserve("a", "run-1", 5.0)
    budget.settle("a", 5.0)
    budget.end_run("run-1")
    assert budget.check(10.0) is None and budget.status().state == "off" and not file.parent.exists()


def test_a_large_history_is_put_aside_between_periods(
    file: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aurora_orchestration.guardrails.budget_files.ROTATE_BYTES", 100)
    budget = budget_of(file, clock)
    spend(budget, "a", 1.0)
    budget.reserve("b", "run-1", 0.5)
    clock.at += 30 * DAY
    budget.settle("b", 0.5)
    spend(budget, "c", 0.25)
    assert file.with_name("budget_tracker_history.2025-12-31.jsonl").exists()
    assert budget_of(file, clock).status().consumed_usd == 0.75
    assert budget.history().total_usd == 1.75 and budget.history("2025-12").total_usd == 1.0


SONNET: dict[Role, Rate] = {"reasoning": Rate(3.0, 15.0), "solving": Rate(3.0, 15.0)}


def test_an_estimate_counts_question_context_answer_and_price() -> None:
    settings = ComplexitySettings()
    bare = estimate(10, 0, "simple", "none", SONNET, settings)
    assert bare == pytest.approx((260 * 3 + 250 * 15) / 1e6)
    assert estimate(1010, 0, "simple", "none", SONNET, settings) - bare == pytest.approx(1000 * 3 / 1e6)
    assert estimate(10, 2000, "simple", "none", SONNET, settings) - bare == pytest.approx(2000 * 3 / 1e6)
    dear: dict[Role, Rate] = {role: Rate(rate.input * 5, rate.output * 5) for role, rate in SONNET.items()}
    assert estimate(10, 0, "simple", "none", dear, settings) == pytest.approx(5 * bare)
    ways: tuple[tuple[Complexity, Literal["none"] | VerificationOption], ...] = (
        ("simple", "none"), ("medium", "option_a"), ("complex", "option_b"), ("critical", "option_c")
    )  # fmt: skip
    told = [estimate(10, 2000, level, way, SONNET, settings) for level, way in ways]
    assert told == sorted(told) and told[0] < told[1] / 3
    free: dict[Role, Rate] = {"reasoning": Rate(0.0, 0.0), "solving": Rate(0.0, 0.0)}
    assert estimate(10, 2000, "critical", "option_c", free, settings) == 0.0
    assert (tokens_of(""), tokens_of("abcde")) == (1, 2)


def test_a_multiplier_that_was_raised_counts_by_how_far() -> None:
    settings = ComplexitySettings(routing=Routes(simple=Route(verification="none", cost_multiplier=2.0)))
    usual = estimate(10, 0, "simple", "none", SONNET, ComplexitySettings())
    assert estimate(10, 0, "simple", "none", SONNET, settings) == pytest.approx(2 * usual)


def test_past_runs_of_a_kind_correct_its_estimate_and_survive_the_process(file: Path, clock: Clock) -> None:
    budget = budget_of(file, clock)
    for run, usd in enumerate((0.2, 0.3, 0.9)):
        budget.end_run(f"r{run}", way="medium option_a m m", estimated=0.1, usd=usd)
    budget.end_run("r3", way="simple none m m", estimated=0.1, usd=0.1)
    budget.end_run("r4", query_counted=False, way="medium option_a m m", estimated=0.1, usd=9.0)
    again = budget_of(file, clock)
    assert again.past("medium option_a m m") == pytest.approx((2.0, 3.0, 9.0))
    assert again.past("nothing") == () and again.history().total_usd == 0.0, "what a run cost is in its calls"
    usual = estimate(10, 0, "medium", "option_a", SONNET, ComplexitySettings())
    known = estimate(10, 0, "medium", "option_a", SONNET, ComplexitySettings(), again.past("medium option_a m m"))
    assert known == pytest.approx(2.5 * usual), "the median of theirs and of 1"


@pytest.mark.parametrize(
    ("kind", "held", "spent"),
    [
        pytest.param("reserved", 0.5, 0.0, id="a call that is still being made holds what it held"),
        pytest.param("spent", 0.0, 0.0, id="what was spent before is of the period before"),
    ],
)
def test_what_a_new_period_takes_over(kind: Any, held: float, spent: float) -> None:
    february = begin(period_at(datetime(2026, 2, 1, tzinfo=UTC).timestamp(), "monthly"), "monthly")
    tracker = since([LedgerEvent(at="2026-01-31T23:59:59Z", kind=kind, key="k", usd=0.5)], february)
    assert (tracker.held, tracker.consumed_usd) == (held, spent)


@pytest.mark.parametrize(("error", "lives"), [(psutil.NoSuchProcess, False), (psutil.AccessDenied, True)])
def test_a_process_that_may_not_be_looked_at_is_there(
    error: type[Exception], lives: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def process(pid: int) -> None:
        raise error(pid)

    monkeypatch.setattr(psutil, "Process", process)
    assert budgets._lives(os.getppid(), 1.0) is lives
