"""Which agent gets a subgoal: rows of what the subgoal says, who is there, and who does it. Numbers are fits as `route`
counts them: a capability 0.15, a domain or the id 0.1, a word of the description 0.03."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from aurora_orchestration.settings import AgentSettings, DefaultAgent
from aurora_orchestration.soar.route import best_for, route, waves_of
from aurora_orchestration.types import Agent, Decomposition, Goal, RoutingPlan, Subgoal

SETTINGS = AgentSettings()
TASK = "Mend the fence, mow the lawn and trim the hedge"
"""No area of work that AURORA knows: only the words below match."""


def agent(name: str, *capabilities: str, **more: object) -> Agent:
    """An agent with these capabilities; `on_call` is one that is not always there."""
    if more.pop("on_call", False):
        more["availability"] = "on request"
    return replace(Agent(id=name, type="builtin", capabilities=capabilities), **more)


def step(description: str = TASK, named: str = "nobody", name: str = "SG1", needs: Sequence[str] = ()) -> Subgoal:
    return Subgoal(id=name, description=description, agent=named, depends_on=tuple(needs))


def plan(steps: Sequence[Subgoal], agents: Sequence[Agent], settings: AgentSettings = SETTINGS) -> RoutingPlan:
    decomposition = Decomposition(
        id="d", original_query="q", goal=Goal(description="g"), given=(), subgoals=tuple(steps)
    )
    return route(decomposition, agents, settings)


def chosen(agents: Sequence[Agent], named: str = "nobody", description: str = TASK) -> str:
    return plan([step(description, named)], agents).assignments[0].agent.id


GOOD = agent("x1", "fence", "lawn", "hedge")
"""Fits everything that is asked (0.45)."""


@pytest.mark.parametrize(
    ("rate", "who"),
    [(None, "n1"), (1.0, "n1"), (0.3, "n1"), (0.29, "x1"), (0.0, "x1")],
    ids=lambda value: str(value),
)
def test_who_is_named_does_it_however_badly_it_fits_unless_it_did_poorly(rate: float | None, who: str) -> None:
    assert chosen([agent("n1", success_rate=rate), GOOD], named="n1") == who


@pytest.mark.parametrize(
    ("named", "agents", "who", "why", "said"),
    [
        ("n1", [agent("n1")], "n1", "named by the plan", ""),
        ("llm-executor", [GOOD], "llm-executor", "named by the plan", ""),
        ("llm-executor", [agent("llm-executor", success_rate=0.1)], "llm-executor", "named by the plan", ""),
        ("gone", [], "llm-executor", "agent gone is not there, and no other agent fits", "is not there; llm-executor"),
        ("gone", [GOOD], "x1", "agent gone is not there; fits best by fence, lawn, hedge", "is not there; x1 does it"),
        ("n1", [agent("n1", trusted=False)], "llm-executor", "agent n1 may not run here, and no", "may not run here"),
        ("n1", [agent("n1", trusted=False), GOOD], "x1", "agent n1 may not run here; fits", "may not run here; x1"),
        ("n1", [agent("n1", success_rate=0.2)], "llm-executor", "n1 has done well in only 20%", "; llm-executor does"),
        ("gone", [agent("x1", "fence", "lawn", success_rate=0.8)], "x1", "success rate 80%", "x1 does it"),
    ],
)
def test_the_plan_says_why_and_the_user_is_told_what_was_changed(
    named: str, agents: list[Agent], who: str, why: str, said: str
) -> None:
    made = plan([step(named=named)], agents)
    assert made.assignments[0].agent.id == who
    assert why in made.assignments[0].why
    if said:
        assert made.notices[0].startswith("SG1: ") and said in made.notices[0]
    else:
        assert made.notices == ()


@pytest.mark.parametrize("availability", ["never", "disabled", "unavailable", "Off"])
def test_who_is_switched_off_is_never_chosen(availability: str) -> None:
    assert chosen([agent("x1", "fence", "lawn", "hedge", availability=availability)], named="x1") == "llm-executor"


def test_who_did_poorly_is_not_found_again_as_the_one_that_fits_best() -> None:
    assert (
        chosen([agent("n1", "fence", "lawn", "hedge", success_rate=0.29), agent("x1", "fence", "lawn")], "n1") == "x1"
    )
    assert chosen([agent("n1", "fence", "lawn", "hedge", success_rate=0.29)], "n1") == "llm-executor"


@pytest.mark.parametrize(
    ("one", "fits"),
    [
        (agent("x1"), False),
        (agent("x1", "fence"), False),  # 0.15
        (agent("x1", "fence", "lawn"), True),  # 0.3
        (agent("x1", domains=("fence",)), False),  # 0.1
        (agent("x1", domains=("fence", "lawn")), True),  # 0.2: the least that is taken
        (agent("fence-1", domains=("lawn",)), False),  # half of the id's words: 0.15
        (agent("fence", domains=("lawn",)), True),  # 0.2
        (agent("x1", "fence", description="mows a lawn"), True),  # 0.15 + 0.06
        (agent("x1", "fence", description="a lawn"), False),  # 0.15 + 0.03
        (agent("x1", "red fence", "lawn"), True),  # half of a capability's words count half: 0.225
        (agent("x1", "red fence", "green lawn"), False),  # 0.15
        (agent("x1", "fence lawn pool", "red hedge", description="mow"), True),  # two thirds, a half: 0.205
        (agent("x1", domains=("red fence",), description=TASK), True),  # 0.05 + 0.15, the most a description brings
        (agent("x1", "fence", domains=("general",)), False),  # no area of work was told, which is none to know about
        (agent("x1", "fence", "lawn", "hedge", success_rate=0.29), False),  # did poorly
        (agent("x1", "fence", "lawn", "hedge", success_rate=0.3), True),
    ],
)
def test_an_agent_that_was_not_named_is_taken_from_two_telling_words_on(one: Agent, fits: bool) -> None:
    assert (best_for(step(), [one]) is not None) == fits
    assert chosen([one]) == (one.id if fits else "llm-executor")


@pytest.mark.parametrize(
    ("first", "second", "who"),
    [
        # The better fit; of equals, the first.
        (agent("a1", "fence", "lawn"), agent("b1", "fence", "lawn", "hedge"), "b1"),
        (agent("a1", "fence", "lawn"), agent("b1", "fence", "lawn"), "a1"),
        (agent("a1", domains=("fence", "lawn", "hedge")), agent("b1", "fence", "lawn", "hedge"), "b1"),
        (agent("a1", "mend", "fence", "mow", "lawn"), agent("b1", "mend", "fence", "mow", "lawn", "trim"), "b1"),
        # One that is always there before one that is asked for, unless that one fits clearly better: 0.9 of its fit.
        (agent("a1", "fence", "lawn", on_call=True), agent("b1", "fence", "lawn"), "b1"),
        (agent("a1", "fence", "lawn", on_call=True), agent("b1", "fence", domains=("lawn",)), "a1"),  # 0.27, 0.25
        (
            agent("a1", "fence", "lawn", on_call=True),  # 0.27
            agent("b1", "fence", domains=("lawn",), description="hedge"),  # 0.28
            "b1",
        ),
        # Whoever did well; one that is untried stands where one does that succeeds half of the time.
        (agent("a1", "fence", "lawn", success_rate=0.6), agent("b1", "fence", "lawn", success_rate=0.9), "b1"),
        (agent("a1", "fence", "lawn"), agent("b1", "fence", "lawn", success_rate=0.51), "b1"),
        (agent("a1", "fence", "lawn", success_rate=0.49), agent("b1", "fence", "lawn"), "b1"),
        # Success weighs by half: 0.45 x (0.5 + 0.4) is more than 0.3 x (0.5 + 0.8).
        (agent("a1", "fence", "lawn", success_rate=0.8), agent("b1", "fence", "lawn", "hedge", success_rate=0.4), "b1"),
        (agent("a1", "fence", "lawn", success_rate=1.0), agent("b1", "fence", "lawn", "hedge", success_rate=0.4), "a1"),
    ],
)
def test_of_those_that_fit_one_is_better(first: Agent, second: Agent, who: str) -> None:
    assert chosen([first, second]) == who


@pytest.mark.parametrize(
    ("said", "one"),
    [
        ("Mend the fence, mow the lawn, trim the hedge, water roses", agent("x1", description=TASK + ", water roses")),
        ("Tell all of it in general words", agent("x1", "all", "general", domains=("all", "general"))),
    ],
    ids=["a description is no capability", "who does everything does nothing in particular"],
)
def test_words_that_anybody_could_say_of_himself_make_no_expert(said: str, one: Agent) -> None:
    assert best_for(step(said), [one]) is None


@pytest.mark.parametrize(("domain", "fits"), [("passwords", True), ("red passwords", False)])
def test_the_area_of_work_counts_as_a_domain_that_is_named(domain: str, fits: bool) -> None:
    said = "Encrypt passwords, rotate oauth tokens and check permissions of the login"
    assert (best_for(step(said), [agent("x1", domains=("security", domain))]) is not None) == fits  # 0.2, 0.15


def test_an_agent_of_the_area_of_work_comes_before_one_with_the_same_words() -> None:
    said = "Encrypt passwords, rotate oauth tokens and check permissions of the login"
    expert = agent("b1", "passwords", "tokens", domains=("security",))
    found = best_for(step(said), [agent("a1", "passwords", "tokens"), expert])
    assert found is not None and found[0].id == "b1" and "security" in found[1]


def test_what_is_expected_says_as_much_as_what_is_to_be_done() -> None:
    subgoal = Subgoal(id="SG1", description="Do it", agent="nobody", expected_output="a fence, a lawn")
    found = best_for(subgoal, [agent("x1", "fence", "lawn")])
    assert found is not None and found[0].id == "x1"


def test_no_more_than_five_words_are_given_as_the_reason() -> None:
    found = best_for(step(), [agent("x1", "mend", "fence", "mow", "lawn", "trim", "hedge")])
    assert found is not None and found[1] == "fits best by mend, fence, mow, lawn, trim"


@pytest.mark.parametrize(
    ("mode", "there", "who"),
    [
        ("llm_only", ["helper"], "llm-executor"),
        ("default_agents", ["helper"], "helper"),
        ("default_agents", [], "llm-executor"),
        ("fail", ["helper"], "llm-executor"),
    ],
)
def test_settings_say_who_does_what_nobody_else_can(mode: str, there: list[str], who: str) -> None:
    settings = replace(SETTINGS, fallback_mode=mode, default_agent=DefaultAgent(id="helper"))
    made = plan([step(named="gone"), step(named="llm-executor")], [agent(each) for each in there], settings)
    assert [each.agent.id for each in made.assignments] == [who, who]
    assert made.notices == (f"SG1: agent gone is not there; {who} does it",), "llm-executor stands for whoever it is"


def test_an_llm_executor_of_the_user_takes_the_place_of_the_built_in_one() -> None:
    own = agent("llm-executor", prompt="Answer in rhymes.")
    settings = AgentSettings(fallback_mode="default_agents", default_agent=DefaultAgent(id="helper"))
    for each in (SETTINGS, settings):
        assert plan([step(named="gone")], [own], each).assignments[0].agent is own
    both = [own, agent("helper")]
    assert plan([step(named="gone")], both, settings).assignments[0].agent.id == "helper", "where that is asked for"


def test_the_default_agent_is_nobody_that_gives_way_or_that_is_found() -> None:
    settings = AgentSettings(fallback_mode="default_agents", default_agent=DefaultAgent(id="helper"))
    poor = agent("helper", "fence", "lawn", success_rate=0.1)
    made = plan([step(named="helper"), step(named="gone")], [poor, GOOD], settings)
    assert [(each.agent.id, each.why[:17]) for each in made.assignments[:1]] == [("helper", "named by the plan")]
    made = plan([step(named="gone")], [agent("helper", "fence", "lawn")], settings)
    assert made.assignments[0].why == "agent gone is not there, and no other agent fits"


@pytest.mark.parametrize(
    ("needs", "waves"),
    [
        ({"a": "", "b": "", "c": ""}, {"a": 0, "b": 0, "c": 0}),
        ({"a": "", "b": "a", "c": "ab"}, {"a": 0, "b": 1, "c": 2}),
        ({"a": "b", "b": ""}, {"a": 1, "b": 0}),
        ({"a": "", "b": "", "c": "ab", "d": "c", "e": "a"}, {"a": 0, "b": 0, "c": 1, "d": 2, "e": 1}),
        ({"a": "z"}, {"a": 0}),  # what is not there is not waited for
        ({"a": "a"}, {"a": 0}),  # nor is itself
        ({"a": "b", "b": "a", "c": "", "d": "a"}, {"c": 0, "a": 1, "b": 1, "d": 1}),  # a circle is let go on
        ({}, {}),
    ],
)
def test_the_wave_is_the_longest_chain_before_a_subgoal(needs: dict[str, str], waves: dict[str, int]) -> None:
    assert waves_of([step(name=name, needs=before) for name, before in needs.items()]) == waves


def test_subgoals_keep_their_order_and_each_has_its_wave() -> None:
    made = plan([step(name="B", needs=["A"], named="x1"), step(name="A", named="x1")], [GOOD])
    assert [(each.subgoal.id, each.wave) for each in made.assignments] == [("B", 1), ("A", 0)]
