"""What policies and rules decide: every example of AURORA §6.7.1, §6.3.5 and App. C.2, and the decay that follows."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aurora_memory.activation import decay_penalty
from aurora_memory.lifespans.evaluate import Verdict, decay_term, judge, ranking_factor, review
from aurora_memory.lifespans.facts import ChunkFacts, ChunkType
from aurora_memory.lifespans.policies import BUILT_IN, Layer, Policies, merged, retention_rules
from aurora_memory.lifespans.predicates import DAY
from tests.growth import grows_with_length

NOW = 1_800_000_000.0
FLAG = ("candidate_for_fine_tuning",)


def chunk(
    type: ChunkType = "reasoning", *, used: float | None = 10, made: float | None = 20, **more: Any
) -> ChunkFacts:
    """A chunk that was used and made so many days ago."""
    last_used = None if used is None else NOW - used * DAY
    made_at = None if made is None else NOW - made * DAY
    return ChunkFacts(more.pop("id", 1), type, last_used=last_used, made_at=made_at, **more)


def said(verdict: Verdict) -> tuple[str, str, str, float | None, tuple[str, ...]]:
    days = None if verdict.expires_at is None else (verdict.expires_at - NOW) / DAY
    return verdict.policy, verdict.state, verdict.decay_mechanism, days, verdict.escalations


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        # A proven pattern stays for good, however old; one that proved less falls through.
        (
            chunk(used=3000, made=3000, is_pattern=True, success_score=0.8),
            ("patterns", "kept", "logarithmic", None, ()),
        ),
        (chunk(is_pattern=True, success_score=0.79), ("default", "kept", "logarithmic", 170, ())),
        (chunk(is_pattern=False, success_score=0.9), ("default", "kept", "logarithmic", 170, ())),
        # What concerns security: a year without decay, by tag or by domain, and only that year.
        (chunk(tags=("security-critical",)), ("security_critical", "kept", "none", 355, ())),
        (chunk(domain="security", used=364, made=999), ("security_critical", "kept", "none", 1, ())),
        (chunk(domain="security", used=365, made=365), ("security_critical", "expired", "logarithmic", 0, ())),
        # Frequent use keeps and flags; a flag also comes from a policy that does not decide.
        (chunk(access_count=11, used=900, made=999), ("high_usage", "kept", "logarithmic", None, FLAG)),
        (chunk(access_count=10), ("default", "kept", "logarithmic", 170, ())),
        (chunk(access_count=11, domain="security"), ("security_critical", "kept", "none", 355, FLAG)),
        (chunk(access_count=11, is_pattern=True, success_score=1.0), ("patterns", "kept", "logarithmic", None, FLAG)),
        # Long unused and never much used: it fades, and fast.
        (chunk(used=91, made=400, access_count=2), ("inactive", "decaying", "exponential", None, ())),
        (chunk(used=None, made=91), ("inactive", "decaying", "exponential", None, ())),
        (chunk(used=90, made=90, access_count=2), ("default", "kept", "logarithmic", 90, ())),
        (chunk(used=91, made=400, access_count=3), ("default", "kept", "logarithmic", 89, ())),
        # Everything else: half a year after its last use, with a score or without.
        (chunk(success_score=0.5), ("default", "kept", "logarithmic", 170, ())),
        (chunk(success_score=0.4), ("default", "kept", "logarithmic", 170, ())),
        (chunk("knowledge", confidence=0.85), ("default", "kept", "logarithmic", 170, ())),
        (chunk("knowledge", access_count=5, used=180, made=300), ("default", "expired", "logarithmic", 0, ())),
        (chunk("code", used=None), ("default", "kept", "logarithmic", 160, ())),
        (chunk(used=None, made=None), ("default", "kept", "logarithmic", None, ())),
    ],
)
def test_the_built_in_policies(facts: ChunkFacts, expected: tuple[object, ...]) -> None:
    assert said(judge(facts, BUILT_IN, NOW)) == expected


def test_code_whose_file_is_there_ranks_lower_but_never_expires() -> None:
    for facts in (
        chunk("code", access_count=5, used=500, made=900),
        chunk("code", domain="security", used=500, made=900),
        chunk("knowledge", mirrors_file=True, access_count=5, used=500, made=900),
    ):
        verdict = judge(facts, BUILT_IN, NOW)
        assert (verdict.state, verdict.decay_mechanism) == ("decaying", "logarithmic")
        assert "its file is still there" in verdict.reason


def project(**section: object) -> Policies:
    found = merged([Layer("config.json", section)])
    assert found.problems == ()
    return found.policies


FINTECH = project(
    enabled=True,
    default_policy="default",
    policies={
        "fintech_critical": {
            "condition": "domain == 'fintech' OR contains_tag('security')",
            "lifespan": "730_days",
            "decay_mechanism": "none",
        },
        "default": {"condition": "score >= 0.5", "lifespan": "90_days", "decay_mechanism": "exponential"},
    },
)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (chunk(domain="fintech"), ("fintech_critical", "kept", "none", 720, ())),
        (chunk(tags=("security",)), ("fintech_critical", "kept", "none", 720, ())),
        (chunk(domain="security"), ("security_critical", "kept", "none", 355, ())),
        (chunk(success_score=0.6), ("default", "kept", "exponential", 80, ())),
        (chunk("code", used=None), ("default", "kept", "exponential", 70, ())),
        (chunk(access_count=4, used=90, made=90), ("default", "expired", "exponential", 0, ())),
    ],
)
def test_a_projects_own_policies(facts: ChunkFacts, expected: tuple[object, ...]) -> None:
    assert said(judge(facts, FINTECH, NOW)) == expected


def test_the_usage_based_default_keeps_what_is_used() -> None:
    policies = project(default_policy="usage_based")
    assert said(judge(chunk(access_count=3, used=89), policies, NOW)) == (
        "usage_based",
        "kept",
        "logarithmic",
        None,
        (),
    )
    assert judge(chunk(access_count=3, used=90), policies, NOW).state == "decaying"
    assert judge(chunk(used=None, made=None), policies, NOW).state == "kept", (
        "of what has no times nobody says it is idle"
    )


def test_a_default_policy_that_flags_does_not_flag_what_it_does_not_fit() -> None:
    flagging = {"condition": "score >= 0.9", "lifespan": "decay", "escalation_action": "look_at_it"}
    policies = project(policies={"default": flagging})
    assert judge(chunk(success_score=0.1), policies, NOW).escalations == ()
    assert judge(chunk(success_score=0.9), policies, NOW).escalations == ("look_at_it",)


def test_what_was_made_anew_after_its_last_use_lives_from_then_on() -> None:
    assert said(judge(chunk(used=300, made=10, access_count=3), BUILT_IN, NOW))[:4] == (
        "default",
        "kept",
        "logarithmic",
        170,
    )


def test_switched_off_policies_decide_nothing() -> None:
    facts = chunk(access_count=50, used=4000, made=4000, rules=RULES)
    verdict = judge(facts, project(enabled=False), NOW)
    assert said(verdict) == ("none", "kept", "logarithmic", None, ())
    assert ranking_factor(verdict) == 1.0


RULES = retention_rules(
    [
        {"if": "is_pattern == true", "then": "retain_indefinitely"},
        {"if": "success_score >= 0.8", "then": "retain_for_365_days"},
        {"if": "access_count > 10", "then": "escalation_candidate"},
        {"if": "contains_tag('security')", "then": "retain_for_365_days"},
        {"if": "inactive_for_90_days", "then": "decay_to_inactive"},
    ]
)
CODE_RULES = retention_rules(
    [
        {"if": "access_count > 0", "then": "retain_while_active"},
        {"if": "contains_tag('security')", "then": "retain_for_365_days"},
        {"if": "inactive_for_90_days", "then": "decay_to_inactive"},
    ]
)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (chunk(is_pattern=True, used=999), ("retain_indefinitely", "kept", "logarithmic", None, ())),
        (chunk(success_score=0.92), ("retain_for_365_days", "kept", "logarithmic", 355, ())),
        (chunk(success_score=0.92, access_count=11), ("retain_for_365_days", "kept", "logarithmic", 355, FLAG)),
        (chunk(success_score=0.92, used=365, made=400), ("retain_for_365_days", "expired", "logarithmic", 0, ())),
        (chunk(tags=("security-critical",)), ("retain_for_365_days", "kept", "logarithmic", 355, ())),
        (chunk(used=90), ("decay_to_inactive", "decaying", "exponential", None, ())),
        # No rule of its own fits, or none that sets a lifespan: the policies decide.
        (chunk(used=89, made=89), ("default", "kept", "logarithmic", 91, ())),
        (chunk(access_count=11, used=1), ("high_usage", "kept", "logarithmic", None, FLAG)),
    ],
)
def test_a_chunks_own_rules_win(facts: ChunkFacts, expected: tuple[object, ...]) -> None:
    assert said(judge(replace(facts, rules=RULES), BUILT_IN, NOW)) == expected


COPIED = {
    "condition": "is_pattern == true AND success_score >= 0.8",
    "lifespan": "indefinite",
    "decay_mechanism": "logarithmic",
    "description": "Proven patterns",
}
PATTERN = chunk(is_pattern=True, success_score=0.9)
FOREVER = ("retain_indefinitely", "kept", "logarithmic", None, ())


@pytest.mark.parametrize(
    ("policies", "facts", "expected"),
    [
        # Somebody's own word on patterns, and on a domain, holds for chunks with the rules that they were made with.
        (
            project(policies={"patterns": {"condition": "is_pattern == true", "lifespan": "30_days"}}),
            PATTERN,
            ("patterns", "kept", "logarithmic", 20, ()),
        ),
        (FINTECH, replace(PATTERN, domain="fintech"), ("fintech_critical", "kept", "none", 720, ())),
        (FINTECH, chunk(success_score=0.6), ("default", "kept", "exponential", 80, ())),
        # What a project says of all others is not said of what a policy before it is about (App. C.2's own example).
        (FINTECH, PATTERN, FOREVER),
        # What is flagged otherwise lives no longer or shorter than before.
        (project(policies={"patterns": COPIED | {"escalation_action": "show"}}), PATTERN, (*FOREVER[:4], ("show",))),
        # The built-in ones copied out, as App. C shows them, change nothing.
        (project(policies={"patterns": COPIED}), PATTERN, FOREVER),
    ],
)
def test_a_policy_that_somebody_configured_weighs_more_than_a_chunks_own_rules(
    policies: Policies, facts: ChunkFacts, expected: tuple[object, ...]
) -> None:
    assert said(judge(replace(facts, rules=RULES), policies, NOW)) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (chunk("code", access_count=1, used=89, made=400), ("retain_while_active", "kept", "logarithmic", None, ())),
        # No longer active: the rules behind it are asked, and with none left it fades.
        (
            chunk("code", access_count=1, used=90, made=400, tags=("security-reviewed",)),
            ("retain_for_365_days", "kept", "logarithmic", 275, ()),
        ),
        (chunk("code", access_count=1, used=90, made=400), ("decay_to_inactive", "decaying", "exponential", None, ())),
        (chunk("code", used=None, made=5), ("default", "kept", "logarithmic", 175, ())),
    ],
)
def test_a_rule_retains_only_while_active(facts: ChunkFacts, expected: tuple[object, ...]) -> None:
    assert said(judge(replace(facts, rules=CODE_RULES), BUILT_IN, NOW)) == expected


def test_what_was_to_be_kept_while_active_fades_where_nothing_else_is_said() -> None:
    facts = chunk(access_count=1, used=90, made=400, rules=CODE_RULES[:1])
    assert said(judge(facts, BUILT_IN, NOW)) == ("retain_while_active", "decaying", "logarithmic", None, ())


def test_every_verdict_gives_its_reason_in_a_sentence() -> None:
    for facts in (
        chunk(),
        chunk(used=500, made=500),
        chunk(access_count=12),
        chunk(used=500, made=500, access_count=4),
    ):
        verdict = judge(facts, BUILT_IN, NOW)
        assert verdict.policy in verdict.reason
        assert verdict.reason.endswith(".")


days = st.floats(0, 1e9)


@given(days)
def test_logarithmic_decay_is_the_ordinary_one_and_none_is_none(since: float) -> None:
    assert decay_term(since, "logarithmic") == decay_penalty(since)
    assert decay_term(since, "none") == 0.0


@given(days, st.floats(0, 1000))
def test_exponential_decay_is_never_less_than_logarithmic_and_grows_faster(since: float, more: float) -> None:
    assert decay_term(since, "exponential") >= decay_term(since, "logarithmic")
    grown = decay_term(since + more, "exponential") - decay_term(since, "exponential")
    slower = decay_term(since + more, "logarithmic") - decay_term(since, "logarithmic")
    assert grown >= slower - 1e-9
    assert math.isfinite(decay_term(1e300, "exponential"))


@given(st.floats(0, 2000))
def test_decay_has_no_jumps(since: float) -> None:
    assert decay_term(since + 1e-6, "exponential") == pytest.approx(decay_term(since, "exponential"), abs=1e-5)


@pytest.mark.parametrize(
    ("since", "decay"), [(0, 0), (1, 0), (91, 0.5 * math.log10(91) + math.log(2)), (1e6, 3 + 10 * math.log(2))]
)
def test_exponential_decay_halves_in_ninety_days_ten_times(since: float, decay: float) -> None:
    assert decay_term(since, "exponential") == pytest.approx(decay, abs=1e-12)


def test_fading_chunks_rank_below_kept_ones() -> None:
    kept, fading, over = (
        judge(facts, BUILT_IN, NOW)
        for facts in (chunk(), chunk(used=200, made=200), chunk(used=200, made=200, access_count=5))
    )
    assert [kept.state, fading.state, over.state] == ["kept", "decaying", "expired"]
    assert 1 == ranking_factor(kept) > ranking_factor(fading) > ranking_factor(over) > 0


def test_a_review_archives_what_was_learned_and_never_code() -> None:
    old = {"used": 200.0, "made": 300.0, "access_count": 5}
    found = review(
        [
            chunk(id=1, **old),
            chunk("knowledge", id=2, **old),
            chunk("code", id=3, **old),
            chunk(id=4),
            chunk(id=5, access_count=40),
            chunk("code", id=6, used=100, access_count=1),
        ],
        BUILT_IN,
        NOW,
    )
    assert [each.id for each in found.archive] == [1, 2]
    assert [each.id for each in found.decaying] == [3, 6]
    assert [(each.id, each.verdict.escalations) for each in found.escalate] == [(5, FLAG)]


@given(st.floats(0, 1e5), st.floats(0, 1e5), st.integers(0, 50), st.floats(0, 1))
def test_age_alone_never_takes_code_out_of_memory(used: float, made: float, count: int, score: float) -> None:
    facts = chunk("code", used=used, made=made, access_count=count, success_score=score)
    assert review([facts], FINTECH, NOW).archive == ()


def test_a_review_takes_as_long_as_there_are_chunks() -> None:
    chunks = [
        chunk("code", id=n, used=None, made=n / 20, path=f"src/{n}.py", keywords="login auth token check password")
        for n in range(5_000)
    ]
    assert grows_with_length(lambda count: review(chunks[:count], BUILT_IN, NOW), 500, 5_000)
