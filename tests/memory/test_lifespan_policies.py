"""Policies: the built-in ones, those of configuration, and what is said of those that cannot be used."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_memory.lifespans import PolicyError
from aurora_memory.lifespans.conditions import spelled
from aurora_memory.lifespans.lifespan import Lifespan
from aurora_memory.lifespans.policies import (
    BUILT_IN,
    Layer,
    Merged,
    Policies,
    merged,
    policy,
    retention_rules,
    section_of,
)
from aurora_memory.store.lifespans import understood_rules

USUAL = {"condition": "score >= 0.5", "lifespan": "90_days"}


def over(*given: object) -> Merged:
    return merged(Layer(f"file{number}", each) for number, each in enumerate(given))


def names(policies: Policies) -> list[str]:
    return [each.name for each in policies.policies]


def test_the_built_in_policies_are_those_of_the_specification() -> None:
    told = [
        (each.name, spelled(each.condition), each.lifespan.spelled, each.decay_mechanism, each.escalation_action)
        for each in BUILT_IN.policies
    ]
    assert told == [
        ("patterns", "is_pattern == true AND success_score >= 0.8", "indefinite", "logarithmic", None),
        ("security_critical", "contains_tag('security') OR domain == 'security'", "365_days", "none", None),
        ("high_usage", "access_count > 10", "indefinite", "logarithmic", "candidate_for_fine_tuning"),
        ("inactive", "last_accessed_days > 90 AND access_count <= 2", "decay", "exponential", None),
        ("default", "success_score >= 0.5", "180_days", "logarithmic", None),
    ]
    assert (BUILT_IN.enabled, BUILT_IN.default.name) == (True, "default")
    assert over() == Merged(BUILT_IN)


def test_policies_of_the_same_name_replace_and_new_ones_are_asked_first() -> None:
    found = over(
        {"policies": {"default": USUAL, "mine": USUAL}},
        {
            "policies": {
                "fintech": USUAL,
                "mine": {**USUAL, "lifespan": "decay"},
                "default": {**USUAL, "lifespan": "7_days"},
            }
        },
    )
    assert found.problems == ()
    assert names(found.policies) == ["fintech", "mine", *names(BUILT_IN)]
    lifespans = {each.name: each.lifespan.spelled for each in found.policies.policies}
    assert (lifespans["mine"], lifespans["default"], lifespans["fintech"]) == ("decay", "7_days", "90_days")
    assert BUILT_IN.default.lifespan == Lifespan("days", 180)


def test_the_weightier_layer_says_whether_policies_are_on_and_which_is_the_default() -> None:
    assert not over({"enabled": False}).policies.enabled
    assert not over({"enabled": False}, {"policies": {}}).policies.enabled
    assert over({"enabled": False}, {"enabled": True}).policies.enabled
    assert over({"default_policy": "inactive"}, {"policies": {}}).policies.default.name == "inactive"


def test_the_default_of_the_specifications_sample_configuration_is_known() -> None:
    found = over({"enabled": True, "default_policy": "usage_based", "policies": {}})
    assert found.problems == ()
    assert found.policies.default.lifespan == Lifespan("while_active")
    assert names(found.policies) == names(BUILT_IN)
    own = over({"default_policy": "usage_based", "policies": {"usage_based": USUAL}}).policies
    assert names(own) == ["usage_based", *names(BUILT_IN)]
    assert own.default.lifespan == Lifespan("days", 90)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {**USUAL, "condition": "scor > 1"},
            "policy 'p', condition, column 1: no property is called 'scor'; did you mean",
        ),
        ({**USUAL, "condition": 5}, "policy 'p', condition: must be a text, not 5"),
        ({"lifespan": "decay"}, "policy 'p' lacks its condition"),
        ({"condition": "score > 1"}, "policy 'p' lacks its lifespan"),
        ({**USUAL, "lifespan": "forever"}, "policy 'p', lifespan: must be indefinite, N_days"),
        ({**USUAL, "lifespan": "0_days"}, "not '0_days'"),
        ({**USUAL, "lifespan": "99999999999_days"}, "not '99999999999_days'"),
        ({**USUAL, "lifespan": 90}, "policy 'p', lifespan: must be a text, not 90"),
        ({**USUAL, "decay_mechanism": "logaritmic"}, "not 'logaritmic'; did you mean 'logarithmic'?"),
        ({**USUAL, "escalation_action": "rm -rf"}, "policy 'p', escalation_action: must be a name such as"),
        ({**USUAL, "description": "x" * 501}, "policy 'p', description: has 501 characters"),
        ({**USUAL, "lifspan": "decay"}, "policy 'p' has no field 'lifspan'; did you mean 'lifespan'?"),
        ([], "policy 'p' must be an object, not a list"),
        (None, "policy 'p' must be an object, not None"),
    ],
)
def test_a_bad_policy_is_named_with_its_field_and_value_and_the_others_hold(given: object, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy("p", given)
    assert message in str(caught.value)
    found = over({"policies": {"p": given, "default": given, "q": USUAL}})
    assert names(found.policies) == ["q", *names(BUILT_IN)]
    assert found.policies.default == BUILT_IN.default
    assert len(found.problems) == 2
    assert found.problems[0].startswith("file0: policy 'p'")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "lifespan_policies must be an object, not a list"),
        ("off", "lifespan_policies must be an object, not 'off'"),
        ({"enable": False}, "lifespan_policies has no 'enable'; did you mean 'enabled'?"),
        ({"enabled": "no"}, "lifespan_policies.enabled must be true or false, not 'no'"),
        ({"default_policy": "defalt"}, "default_policy names no policy: 'defalt'; did you mean 'default'?"),
        ({"default_policy": 5}, "default_policy names no policy: 5"),
        ({"policies": [USUAL]}, "lifespan_policies.policies must be an object, not a list"),
        ({"policies": {f"p{n}": USUAL for n in range(65)}}, "has 65 policies, and none is used; at most 64"),
        ({"policies": {"a\nb": USUAL}}, "policy 'a\\nb': a name has 1 to 64"),
    ],
)
def test_a_bad_layer_is_told_of_in_one_line_and_the_built_in_policies_hold(given: object, message: str) -> None:
    found = over(given)
    assert found.policies == BUILT_IN
    (problem,) = found.problems
    assert problem.startswith("file0: ")
    assert message in problem


@pytest.mark.parametrize(
    ("document", "section"),
    [
        ({"memory": {"lifespan_policies": {"enabled": False}}, "daemon": {}}, {"enabled": False}),
        ({"lifespan_policies": {"policies": {}}}, {"policies": {}}),
        ({"policies": {"p": USUAL}}, {"policies": {"p": USUAL}}),
        ({"enabled": False}, {"enabled": False}),
        ({"retention_policies": {"p": USUAL}}, {"policies": {"p": USUAL}}),
        ({"memory": {"database_path": "x"}}, None),
        ({"memory": 5}, None),
        ({}, None),
    ],
)
def test_policies_are_found_in_whole_configurations_and_in_files_of_their_own(
    document: dict[str, Any], section: object
) -> None:
    assert section_of(document) == section


def test_a_default_that_names_no_policy_takes_nothing_else_of_its_layer_away() -> None:
    found = over({"default_policy": "nobody", "enabled": False, "policies": {"mine": USUAL}})
    assert (names(found.policies)[0], found.policies.enabled, found.policies.default) == (
        "mine",
        False,
        BUILT_IN.default,
    )


json_like: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=12,
)
fields = st.dictionaries(
    st.sampled_from(["condition", "lifespan", "decay_mechanism", "escalation_action", "description", "x"]), json_like
)
sections = st.fixed_dictionaries(
    {},
    optional={
        "enabled": json_like,
        "default_policy": json_like,
        "policies": st.dictionaries(st.text(), fields | json_like),
    },
)


@given(sections | json_like)
def test_no_configuration_takes_the_built_in_policies_away(given: object) -> None:
    found = over(given)
    assert set(names(BUILT_IN)) <= set(names(found.policies))
    assert found.policies.default is not None
    assert all(len(problem.splitlines()) == 1 for problem in found.problems)


def test_retention_rules_are_read() -> None:
    actions = ["retain_indefinitely", "retain_for_365_days", "retain_while_active", "decay_to_inactive"]
    rules = retention_rules([{"if": "score > 0", "then": action} for action in [*actions, "escalation_candidate"]])
    assert [rule.lifespan.spelled if rule.lifespan else None for rule in rules] == [
        "indefinite",
        "365_days",
        "while_active",
        "decay",
        None,
    ]
    assert [rule.escalation_action for rule in rules] == [None] * 4 + ["candidate_for_fine_tuning"]


def test_a_policy_without_an_escalation_may_say_so() -> None:
    (found,) = [
        each
        for each in over({"policies": {"p": {**USUAL, "escalation_action": None}}}).policies.policies
        if each.name == "p"
    ]
    assert found.escalation_action is None
    refused = over({"policies": {"p": {**USUAL, "decay_mechanism": None}}})
    assert "p" not in names(refused.policies) and refused.problems


def test_a_rule_of_a_document_that_nobody_understands_leaves_the_others() -> None:
    rules = understood_rules((("score >", "decay_to_inactive"), ("score > 0", "retain_indefinitely")))
    assert [rule.lifespan.spelled for rule in rules if rule.lifespan] == ["indefinite"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "retention_rules must be a list"),
        ([5], 'retention_rules[0] must be an object with "if" and "then"'),
        ([{"if": "score > 0"}], "retention_rules[0] must be an object"),
        ([{"if": "score > 0", "then": "decay_to_inactive", "else": "x"}], "and nothing else"),
        ([{"if": 5, "then": "decay_to_inactive"}], '"if" must be a condition in text, not int'),
        ([{"if": "score >", "then": "decay_to_inactive"}], 'retention_rules[0]: "if", column 8: expected a number'),
        ([{"if": "score > 0", "then": "retain_indefinitly"}], "did you mean 'retain_indefinitely'?"),
        ([{"if": "score > 0", "then": "retain_for_0_days"}], "not 'retain_for_0_days'"),
        ([{"if": "score > 0", "then": ["x"]}], '"then" must be retain_indefinitely'),
        ([{}] * 33, "at most 32"),
    ],
)
def test_a_bad_rule_is_named_with_its_place_and_field(given: object, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        retention_rules(given)
    assert message in str(caught.value)
