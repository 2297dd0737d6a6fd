"""What a session keeps of its last run, and what each signal about it leads to (Appendix E)."""

import msgspec
import pytest

from aurora_memory.learning import Learned
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.settings import SignalSettings
from aurora_orchestration.soar.follow_up_signals import detect
from aurora_orchestration.soar.sessions import Continuation, Sessions, clarified, continuation
from aurora_orchestration.types import LEVELS, Assessment, Complexity, Given


def record(complexity: Complexity = "medium", **changes: object) -> RunRecord:
    made = RunRecord(
        id="aurora-20260102-030405-abcdef",
        query="how does the cache expire entries?",
        workspace="/w",
        started_at=1.0,
        ended_at=2.0,
        state="complete",
        answer="By a heap of deadlines, in cache.py:40.",
        score=0.83,
        assessment=Assessment(complexity=complexity, confidence=0.9, score=0.3, method="keyword"),
        learned=Learned("success", reasoning_id="reas:cache-expiry"),
        complexity=complexity,
    )
    return msgspec.structs.replace(made, **changes)


def after(message: str, run: RunRecord | None = None) -> Continuation:
    sessions = Sessions()
    sessions.remember("/w", "editor-1", run or record())
    previous = sessions.last("/w", "editor-1")
    assert previous is not None
    signal = detect(message, SignalSettings(), has_previous=True)
    assert signal is not None
    return continuation(signal, previous)


def test_a_follow_up_keeps_the_context_and_the_complexity() -> None:
    found = after("also, where is it tested?", record("complex"))
    assert found.query == "where is it tested?"
    assert [given.id for given in found.given] == ["previous-question", "previous-answer"]
    assert found.given[1].fact == "By a heap of deadlines, in cache.py:40."
    assert found.assessment is not None
    assert (found.assessment.complexity, found.assessment.method) == ("complex", "session")
    assert (found.option, found.fresh, found.boost) == ("option_b", False, 0.0)


def test_praise_boosts_the_pattern_and_is_acknowledged() -> None:
    found = after("thanks")
    assert (found.query, found.boost, found.previous.reasoning_id) == ("", 0.1, "reas:cache-expiry")
    assert found.say and found.given == (), "nothing is asked, so nothing is given"


@pytest.mark.parametrize("message", ["Thanks! How do I raise the limit?", "thanks, and where is it tested?"])
def test_praise_before_a_follow_up_counts_and_not_where_nothing_was_answered(message: str) -> None:
    assert after(message).boost == 0.1
    found = after(message, record(state="failed", answer=""))
    assert found.query and found.boost == 0.0


def test_praise_with_a_question_asks_it_in_context() -> None:
    found = after("Thanks! How do I raise the limit?")
    assert (found.query, found.boost, found.say) == ("How do I raise the limit?", 0.1, "")
    assert found.given
    assert found.assessment is None


def test_praise_before_a_follow_up_counts_too() -> None:
    assert after("great, also where is it tested?").boost == 0.1


def test_a_denial_starts_from_scratch_and_asks_what_was_meant() -> None:
    found = after("that's not right")
    assert (found.query, found.fresh, found.mark) == ("how does the cache expire entries?", True, "incorrect")
    assert found.ask
    assert [given.id for given in found.given] == ["rejected-answer"]
    clear = clarified(found, "I mean the disk cache")
    assert clear.ask == ""
    assert clear.given[-1] == Given(id="clarification", fact="I mean the disk cache", source="the user")


def test_a_denial_that_says_what_was_meant_asks_nothing() -> None:
    found = after("No, I meant the disk cache")
    assert (found.ask, found.given[-1].fact) == ("", "I meant the disk cache")


@pytest.mark.parametrize(
    ("before", "then", "option"),
    [
        ("simple", "medium", "option_a"),
        ("medium", "complex", "option_b"),
        ("complex", "critical", "option_c"),
        ("critical", "critical", "option_c"),
    ],
)
def test_trying_again_goes_up_one_level(before: Complexity, then: Complexity, option: str) -> None:
    found = after("try again", record(before))
    assert found.assessment is not None
    assert (found.assessment.complexity, found.option, found.mark) == (then, option, "insufficient")
    assert bool(found.notices) == (before == then == LEVELS[-1])


def test_stopping_costs_nothing() -> None:
    found = after("never mind")
    assert found.abort
    assert (found.query, found.boost, found.mark) == ("", 0.0, None)


def test_an_empty_clarification_changes_nothing() -> None:
    found = after("wrong")
    assert clarified(found, "  ") == found


def test_facts_fit_what_a_decomposition_may_hold() -> None:
    found = after("also why?", record(answer="x" * 100_000, query="y" * 9_000))
    for given in found.given:
        msgspec.convert(msgspec.to_builtins(given), Given)


def test_only_answers_are_remembered_and_only_within_their_session_and_workspace() -> None:
    sessions = Sessions()
    sessions.remember("/w", "a", record())
    sessions.remember("/w", "a", record(state="failed", answer=""))
    sessions.remember("/w", "", record())
    kept = sessions.last("/w", "a")
    assert kept is not None
    sessions.remember("/w", "a", record(query="thanks", answer="Glad that helped.", assessment=None))
    assert sessions.last("/w", "a") == kept, "thanks are no question"
    assert sessions.last("/w", "b") is None
    assert sessions.last("/v", "a") is None
    assert sessions.last("/w", "") is None


def test_a_question_that_was_only_tried_is_not_remembered_and_one_that_failed_is_where_it_is_the_first() -> None:
    sessions = Sessions()
    sessions.remember("/w", "a", record(state="dry_run", answer=""))
    assert sessions.last("/w", "a") is None, "thanks would be for nothing"
    sessions.remember("/w", "a", record(state="failed", answer=""))
    assert sessions.last("/w", "a") is not None, "it may be tried again"


def test_the_session_unused_for_longest_is_forgotten_first() -> None:
    sessions = Sessions(per_workspace=2, workspaces=2)
    for name in ("a", "b"):
        sessions.remember("/w", name, record())
    sessions.last("/w", "a")
    sessions.remember("/w", "c", record())
    assert [sessions.last("/w", name) is not None for name in "abc"] == [True, False, True]
    for workspace in ("/x", "/y"):
        sessions.remember(workspace, "a", record())
    assert sessions.last("/w", "a") is None
    sessions.forget("/y")
    assert sessions.last("/y", "a") is None
