"""Scores are weighted, clamped, and followed by a verdict that nobody else decides."""

from __future__ import annotations

import math

import msgspec
import pytest
from msgspec.structs import replace

from aurora_orchestration.scoring_settings import DecompositionWeights, OutputWeights, ScoringSettings, WeightedScoring
from aurora_orchestration.soar.collect import outcome_of
from aurora_orchestration.soar.replies import CheckReply
from aurora_orchestration.soar.scores import (
    Judged,
    ScoringError,
    below_pass,
    computed,
    judge,
    notices,
    stricter,
    verdict,
)
from aurora_orchestration.types import AgentResponse, Check, Output, Verification

SETTINGS = ScoringSettings()
WEIGHTS = DecompositionWeights()


def verification(*scores: float, **more: object) -> Verification:
    names = ("completeness", "consistency", "groundedness", "routability")
    return judge(Judged(scores=dict(zip(names, scores, strict=True)), **more), WEIGHTS, SETTINGS, by="option_a")  # type: ignore[arg-type]


def _weighted(relevance: float, completeness: float, groundedness: float) -> ScoringSettings:
    weights = OutputWeights(relevance=relevance, completeness=completeness, groundedness=groundedness)
    return ScoringSettings(weighted_scoring=WeightedScoring(agent_output=weights))


def _check(score: float) -> Check:
    return Check(score=score, passed=True)


def test_completeness_weighs_most() -> None:
    assert verification(0.0, 1, 1, 1).overall_score == pytest.approx(0.6)
    assert verification(1, 0.0, 1, 1).overall_score == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("score", "expected"),
    [(0.7, "pass"), (0.6999, "retry"), (0.5, "retry"), (0.4999, "fail"), (0, "fail"), (1, "pass")],
)
def test_borders_belong_to_the_better_verdict(score: float, expected: str) -> None:
    assert verdict(score, SETTINGS) == expected
    assert verification(score, score, score, score).verdict == expected


def test_a_critical_issue_never_passes() -> None:
    assert verification(1, 1, 1, 1, critical_issues=("a circle",)).verdict == "retry"


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ScoringError, match="completeness is no number"):
        verification(math.nan, 1, 1, 1)
    with pytest.raises(ScoringError, match="no score for"):
        judge(Judged(scores={"completeness": 1.0}), WEIGHTS, SETTINGS, by="option_a")
    for text in (b'{"score": NaN}', b'{"score": 1e999}', b'{"score": "0.9"}', b'{"score": true}'):
        with pytest.raises(msgspec.DecodeError):
            msgspec.json.decode(text, type=CheckReply)


def test_scores_out_of_range_are_clamped_and_told() -> None:
    found = verification(3.0, -1.0, 1, 1)
    assert (found.checks["completeness"].score, found.checks["consistency"].score) == (1.0, 0.0)
    assert len(found.notices) == 2


def test_weights_that_do_not_sum_to_one_are_scaled_with_a_notice() -> None:
    weights = OutputWeights(relevance=1, completeness=1, groundedness=0)
    found = judge(
        Judged(scores={"relevance": 1.0, "completeness": 0.0, "groundedness": 0.0}), weights, SETTINGS, by="option_a"
    )
    assert found.overall_score == pytest.approx(0.5)
    settings = ScoringSettings(weighted_scoring=WeightedScoring(agent_output=weights))
    assert "agent_output: weights sum to 2" in notices(settings)[0]
    assert notices(SETTINGS) == ()
    with pytest.raises(ScoringError, match="all 0"):
        judge(Judged(scores={}), OutputWeights(relevance=0, completeness=0, groundedness=0), SETTINGS, by="option_a")


def test_no_judge_raises_what_rules_found() -> None:
    rules = verification(0.4, 1, 1, 1, issues={"completeness": ("logs are missing",)})
    both = stricter(rules, verification(1, 0.5, 1, 1), WEIGHTS, SETTINGS)
    assert (both.checks["completeness"].score, both.checks["consistency"].score) == (0.4, 0.5)
    assert "logs are missing" in both.checks["completeness"].issues


def test_the_stricter_of_rules_and_judge_says_whether_a_check_passed_and_why() -> None:
    detail = {"completeness": "by rule", "consistency": "by rule"}
    rules = verification(0.9, 0.6, 1, 1, details=detail, suggestions=("a", "b"))
    both = stricter(
        rules,
        verification(0.6, 0.9, 1, 1, details={"completeness": "judged"}, suggestions=("b", "c")),
        WEIGHTS,
        SETTINGS,
    )
    checks = both.checks
    assert [checks[name].passed for name in ("completeness", "consistency", "routability")] == [False, False, True]
    assert (checks["completeness"].detail, checks["consistency"].detail) == ("judged", "by rule")
    assert both.suggestions == ("a", "b", "c") and both.overall_score == pytest.approx(0.76)


@pytest.mark.parametrize(
    ("by_rule", "by_judge", "score", "expected"),
    [
        (1.0, 1.0, 0.6, "retry"),  # whoever found it: half-way between trying again and passing
        (0.55, 1.0, 0.55, "retry"),  # what is worse stays as bad
        (0.1, 1.0, 0.1, "fail"),
    ],
)
@pytest.mark.parametrize("finder", ["rule", "judge"])
def test_one_broken_thing_is_not_averaged_away(
    finder: str, by_rule: float, by_judge: float, score: float, expected: str
) -> None:
    broken = {"critical_issues": ("a circle",)}
    rules = verification(*[by_rule] * 4, **(broken if finder == "rule" else {}))
    judged = verification(*[by_judge] * 4, **(broken if finder == "judge" else {}))
    both = stricter(rules, judged, WEIGHTS, SETTINGS)
    assert both.critical_issues == ("a circle",)
    assert (round(both.overall_score, 6), both.verdict) == (score, expected)
    assert both.overall_score < SETTINGS.pass_threshold


@pytest.mark.parametrize(
    ("passing", "retrying", "expected"), [(0.7, 0.5, 0.6), (0.8, 0.2, 0.5), (0.5, 0.9, 0.49), (0.0, 0.0, 0.0)]
)
def test_what_is_broken_gets_no_better_than_half_way_to_passing(
    passing: float, retrying: float, expected: float
) -> None:
    settings = ScoringSettings(pass_threshold=passing, retry_threshold=retrying)
    assert below_pass(settings) == expected, "as people write scores"
    if passing:
        assert verdict(below_pass(settings), settings) != "pass"


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"stated_score": 0.82}, ""),  # within two hundredths
        ({"stated_score": 0.781}, ""),
        ({"stated_score": 0.821}, "the judge said 0.821 overall; its checks make 0.80"),
        ({"stated_score": 0.779}, "the judge said 0.779 overall; its checks make 0.80"),
        ({"stated_score": math.nan}, "the judge said nan overall"),
        ({"stated_verdict": "pass"}, ""),
        ({"stated_verdict": "retry"}, "the judge said retry; its checks make pass"),
        ({"stated_passes": {"completeness": True, "nonsense": False}}, ""),
        ({"stated_passes": {"completeness": False}}, "completeness: said to fail with a score of 0.80"),
    ],
)
def test_what_a_judge_concludes_otherwise_is_told_and_counts_for_nothing(stated: dict[str, object], said: str) -> None:
    found = verification(0.8, 0.8, 0.8, 0.8, **stated)
    assert (found.overall_score, found.verdict) == (0.8, "pass")
    assert len(found.notices) == (1 if said else 0) and "".join(found.notices).startswith(said)


def test_the_border_of_a_single_check_belongs_to_passing() -> None:
    checks = verification(0.7, 0.6999, 1, 1, stated_passes={"completeness": False, "consistency": True})
    assert (checks.checks["completeness"].passed, checks.checks["consistency"].passed) == (True, False)
    assert [each.partition(" with")[0] for each in checks.notices] == [
        "completeness: said to fail",
        "consistency: said to pass",
    ]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (ScoringSettings(pass_threshold=0.5, retry_threshold=0.5), ""),
        (ScoringSettings(pass_threshold=0.5, retry_threshold=0.51), "nothing will ever be retried"),
        (_weighted(0.2, 0.2, 0.2), "scoring.weighted_scoring.agent_output: weights sum to 0.6"),
        (_weighted(0.4, 0.3, 0.3000005), ""),  # rounding is no oddity
        (_weighted(0.4, 0.3, 0.300005), "weights sum to 1.0000"),
        (_weighted(0.0, 0.0, 0.0), ""),  # an error of its own, where they are used
    ],
)
def test_odd_settings_are_told_of(settings: ScoringSettings, said: str) -> None:
    told = notices(settings)
    assert len(told) == (1 if said else 0) and said in "".join(told)


def test_what_is_exact_on_paper_misses_no_threshold_by_a_bit() -> None:
    assert computed({"a": _check(0.1), "b": _check(0.7)}, {"a": 0.1, "b": 0.9}) == 0.64
    assert computed({"a": _check(1.0)}, {"a": 1.0000001}) == 1.0
    assert computed({"a": _check(0.1234564)}, {"a": 1.0}) == 0.123456


@pytest.mark.parametrize(
    ("score", "expected"), [(None, "pass"), (0.7, "pass"), (0.6999, "retry"), (0.5, "retry"), (0.4999, "reject")]
)
def test_an_output_is_taken_tried_again_or_given_to_another(score: float | None, expected: str) -> None:
    """App. D. One that nobody could verify is taken as it is; a critical issue holds back from passing."""
    response = AgentResponse(
        subgoal_id="SG1", agent_id="a", status="success", output=Output(summary="x", confidence=0.1)
    )
    judged = None if score is None else verification(score, score, score, score)
    assert outcome_of(response, judged, SETTINGS) == expected
    assert outcome_of(replace(response, output=None), judged, SETTINGS) == "reject", "nothing is there to be judged"
    if judged is not None and score is not None and score >= 0.5:
        broken = verification(score, score, score, score, critical_issues=("x",))
        assert outcome_of(response, broken, SETTINGS) == "retry"
