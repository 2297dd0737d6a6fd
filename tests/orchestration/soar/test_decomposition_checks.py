"""Rules alone: how many spoilt decompositions they catch, how many good ones they spare, and what each rule says."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.decompose import built
from aurora_orchestration.soar.decomposition_checks import MOST_TOLD, _shortened, check
from aurora_orchestration.soar.replies import DecompositionReply
from aurora_orchestration.soar.structure import ordered
from aurora_orchestration.types import Decomposition, Verification
from tests.orchestration.soar.planned import AGENTS, QUERY, bundle, good, subgoal
from tests.orchestration.soar.planted_plan_faults import KINDS, Case, corpus, spoilt
from tests.shares import one_of_each

CORPUS = corpus()
SETS = {
    "old": CORPUS,
    "tuned a": corpus("decompositions_blind_a"),
    "tuned b": corpus("decompositions_blind_b"),
    "blind c": corpus("decompositions_blind_c"),
}
SETTINGS = ScoringSettings()
MOST_FALSE_ALARMS = 0.05
"""The share of good ones that may be flagged, of each set; C is the one that no rule was tuned on: data/README.md."""


def judged(decomposition: Decomposition, case: Case) -> Verification:
    return check(decomposition, case.decomposition.original_query, case.bundle, CORPUS.agents, SETTINGS)


def caught(cases: tuple[Case, ...], kind: str) -> tuple[int, int]:
    """How many of this kind's spoilt decompositions do not pass, and how many there are."""
    verdicts = [judged(bad, case).verdict for case in cases for bad in spoilt(case, cases, kind)]
    return sum(verdict != "pass" for verdict in verdicts), len(verdicts)


@pytest.mark.parametrize("name", one_of_each(SETS, lambda _: ""))
def test_most_spoilt_decompositions_are_caught(name: str) -> None:
    counts = {kind: caught(SETS[name].cases, kind) for kind in KINDS}
    rates = {kind: hits / of for kind, (hits, of) in counts.items()}
    assert sum(rates.values()) / len(rates) >= 0.7, rates
    assert sum(hits for hits, _ in counts.values()) / sum(of for _, of in counts.values()) >= 0.7, counts
    assert rates["cycle"] == rates["unknown agent"] == 1.0
    assert rates["ungrounded"] >= 0.7 and rates["contradiction"] >= 0.55 and rates["missing dependency"] >= 0.6, rates
    assert rates["dropped requirement"] >= 0.25, rates


@pytest.mark.parametrize("name", SETS)
def test_good_decompositions_are_spared(name: str) -> None:
    cases = SETS[name].cases
    flagged = {
        case.name: found.critical_issues
        for case in cases
        if (found := judged(case.decomposition, case)).verdict != "pass"
    }
    assert len(flagged) / len(cases) <= MOST_FALSE_ALARMS, flagged


@pytest.mark.parametrize("name", SETS)
def test_each_corpus_is_large_and_is_spoilt_in_every_way(name: str) -> None:
    cases = SETS[name].cases
    assert len(cases) >= 44
    for kind in KINDS:
        assert sum(1 for case in cases for _ in spoilt(case, cases, kind)) >= 43


def made(**changed: object) -> Decomposition:
    import msgspec

    body = msgspec.convert(good(**changed), DecompositionReply).decomposition
    return built(body, QUERY, "medium")


def found(decomposition: Decomposition) -> str:
    return " | ".join(check(decomposition, QUERY, bundle(), AGENTS, SETTINGS).critical_issues)


GOOD = good()["decomposition"]["subgoals"]
GIVEN = good()["decomposition"]["given"]
LIMITS = {"id": "G2", "fact": "The limits need documentation", "source": "query"}
BOTH = {"requires": ["G1", "G2"]}


def test_nothing_is_found_against_a_good_one() -> None:
    assert found(made()) == ""


@pytest.mark.parametrize(
    ("changed", "issue"),
    [
        ({"subgoals": GOOD[:1]}, "it has 1 subgoals"),
        ({"subgoals": [*GOOD, *(subgoal(f"SG{n}", f"Log rejected request kind {n}") for n in (4, 5, 6))]}, "it has 6"),
        ({"subgoals": [GOOD[0], GOOD[1], {**GOOD[2], "id": "SG2"}]}, "subgoal id SG2 is used 2 times"),
        ({"subgoals": [{**GOOD[0], "depends_on": ["SG3"]}, *GOOD[1:]]}, "dependencies run in a circle: SG"),
        ({"subgoals": [{**GOOD[0], "depends_on": ["SG1"]}, *GOOD[1:]]}, "dependencies run in a circle: SG1 → SG1"),
        ({"subgoals": [{**GOOD[0], "depends_on": ["SG9"]}, *GOOD[1:]]}, "SG1 depends on SG9, which does not exist"),
        ({"subgoals": [{**GOOD[0], "requires": ["G7"]}, *GOOD[1:]]}, "SG1 requires G7, which is no given"),
        ({"subgoals": [{**GOOD[0], "requires": []}, *GOOD[1:]]}, "SG1 traces to no given fact"),
        ({"execution_order": ["SG2", "SG1", "SG3"]}, "execution_order has SG2 before SG1"),
        ({"execution_order": ["SG1", "SG2"]}, "execution_order does not name every subgoal"),
        ({"parallelizable": [["SG1", "SG2"]]}, "parallelizable runs SG1 and SG2 at once"),
        ({"parallelizable": [["SG2", "SG8"]]}, "parallelizable names SG8"),
        ({"subgoals": GOOD[:2], "given": [*GIVEN, LIMITS]}, "no subgoal covers “The limits need documentation”"),
        (
            {"subgoals": [GOOD[0], {**GOOD[1], "agent": "ghost"}, GOOD[2]]},
            "given to ghost, an agent that does not exist",
        ),
        ({"subgoals": [*GOOD, {**GOOD[0], "id": "SG4"}]}, "are the same subgoal"),
        ({"subgoals": [*GOOD, subgoal("SG4", "Never log rejected requests")]}, "contradict each other"),
        (
            {"subgoals": [*GOOD[:2], {**GOOD[2], "depends_on": [], "description": "Document the limits of SG1"}]},
            "speaks of SG1",
        ),
        (
            {"given": [{"id": "G1", "fact": "Branch offices print invoices on Fridays", "source": "query"}]},
            "given G1 (Branch offices print invoices on Fridays) is not in the query",
        ),
        (
            {"given": [{"id": "G1", "fact": "PaymentGateway charges cards", "source": "context"}]},
            "is not in the context",
        ),
        (
            {"subgoals": [*GOOD, subgoal("SG4", "Clean the queue of stale jobs")]},
            "SG4 and SG1, SG2, SG3 both rest on G1, but no dependency joins them",
        ),
        (
            {"subgoals": [*GOOD, subgoal("SG4", "Translate onboarding screens into Portuguese and Finnish")]},
            "SG4 (Translate onboarding screens into Portuguese and Finnish) has nothing to do",
        ),
    ],
)
def test_each_fault_is_named(changed: dict[str, object], issue: str) -> None:
    decomposition = made(**changed)
    assert issue in found(decomposition)
    assert check(decomposition, QUERY, bundle(), AGENTS, SETTINGS).verdict != "pass"


def test_parts_that_have_nothing_to_do_with_each_other_may_run_at_once() -> None:
    query = "Fix the typo in the welcome mail, and raise the upload limit to 50 MB."
    parts = made(
        given=[
            {"id": "G1", "fact": "The welcome mail has a typo", "source": "query"},
            {"id": "G2", "fact": "The upload limit becomes 50 MB", "source": "query"},
        ],
        subgoals=[
            subgoal("SG1", "Correct the spelling in the welcome mail", requires=["G1"], depends_on=[]),
            subgoal("SG2", "Set the maximum upload size to 50 MB", requires=["G2"], depends_on=[]),
        ],
        execution_order=["SG1", "SG2"],
        parallelizable=[["SG1", "SG2"]],
    )
    assert check(parts, query, bundle(), AGENTS, SETTINGS).verdict == "pass"


def test_what_is_only_likely_is_told_but_does_not_hold_a_plan_back() -> None:
    asked = f"{QUERY} Also honour the X_TENANT_KEY header."
    verification = check(made(), asked, bundle(), AGENTS, SETTINGS)
    assert verification.verdict == "pass" and not verification.critical_issues
    assert any("X_TENANT_KEY" in issue for issue in verification.checks["completeness"].issues)


@pytest.mark.parametrize(
    ("changed", "check_name", "issue"),
    [
        (
            {"given": [*GIVEN, {**LIMITS, "fact": "Invoices matter"}], "subgoals": [*GOOD[:2], {**GOOD[2], **BOTH}]},
            "groundedness",
            "given G2 (Invoices matter) is not in the query",
        ),
        (
            {"subgoals": [*GOOD, subgoal("SG4", "Translate onboarding screens to Portuguese", depends_on=["SG1"])]},
            "groundedness",
            "has nothing to do with the query",
        ),
    ],
)
def test_what_only_words_say_does_not_hold_a_plan_back(changed: dict[str, object], check_name: str, issue: str) -> None:
    verification = check(made(**changed), QUERY, bundle(), AGENTS, SETTINGS)
    assert verification.verdict == "pass" and not verification.critical_issues
    assert any(issue in one for one in verification.checks[check_name].issues)


def test_groups_of_subgoals_that_share_no_given_may_stand_side_by_side() -> None:
    two = [*GIVEN, LIMITS]
    side_by_side = [GOOD[0], GOOD[1], {**GOOD[2], "depends_on": [], "requires": ["G2"]}]
    assert "joins them" not in found(made(given=two, subgoals=side_by_side))
    shared = [GOOD[0], GOOD[1], {**GOOD[2], "depends_on": [], "requires": ["G1", "G2"]}]
    assert "SG3 and SG1, SG2 both rest on G1" in found(made(given=two, subgoals=shared))


def test_the_agent_that_is_always_there_is_known() -> None:
    everyone = tuple(replace(each, agent="llm-executor") for each in made().subgoals)
    assert found(replace(made(), subgoals=everyone)) == ""


def test_an_order_that_is_left_out_is_worked_out() -> None:
    shuffled = made(subgoals=[GOOD[2], GOOD[1], GOOD[0]])
    assert (
        shuffled.execution_order == ordered(shuffled.subgoals) == ("SG1", "SG2", "SG3")
        or shuffled.execution_order[0] == "SG1"
    )


def test_absurd_input_is_judged_in_time() -> None:
    long = "word " * 700
    many = made(subgoals=[subgoal(f"SG{n}", long, expected_output=long[:3900]) for n in range(20)])
    assert check(many, long * 10, bundle(long * 20), AGENTS, SETTINGS).verdict != "pass"


def test_of_what_a_subgoal_says_a_bounded_part_is_compared() -> None:
    plan = CORPUS.cases[0].decomposition
    long = replace(
        plan,
        subgoals=tuple(
            replace(each, description="a b " * 9_999, expected_output="c d " * 9_999) for each in plan.subgoals
        ),
    )
    told = _shortened(long).subgoals
    assert {len(each.description) for each in told} == {len(each.expected_output) for each in told} == {MOST_TOLD}
