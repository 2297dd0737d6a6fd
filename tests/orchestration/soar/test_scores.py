"""Scores are weighted, clamped, and followed by a verdict that nobody else decides."""

from __future__ import annotations

import math

import msgspec
import pytest

from aurora_orchestration.settings import DecompositionWeights, OutputWeights, ScoringSettings, WeightedScoring
from aurora_orchestration.soar.replies import CheckReply
from aurora_orchestration.soar.scores import Judged, ScoringError, judge, notices, outcome, stricter, verdict
from aurora_orchestration.types import Verification

SETTINGS = ScoringSettings()
WEIGHTS = DecompositionWeights()


def verification(*scores: float, **more: object) -> Verification:
    names = ("completeness", "consistency", "groundedness", "routability")
    return judge(Judged(scores=dict(zip(names, scores, strict=True)), **more), WEIGHTS, SETTINGS, by="option_a")  # type: ignore[arg-type]


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


def test_outputs_are_kept_in_part_when_retries_run_out() -> None:
    middling = verification(0.6, 0.6, 0.6, 0.6)
    assert [outcome(middling, attempt, SETTINGS) for attempt in (0, 1, 2)] == ["retry", "retry", "partial"]
    assert outcome(verification(0.9, 0.9, 0.9, 0.9), 2, SETTINGS) == "accept"
    assert outcome(verification(0.1, 0.1, 0.1, 0.1), 0, SETTINGS) == "reject"
