"""Retention policies of lifespans, built in and of configuration (AURORA App. C.2), and the retention rules of a chunk
(§6.3.6).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from aurora_memory.lifespans import ConditionError, PolicyError
from aurora_memory.lifespans.condition_parser import parse
from aurora_memory.lifespans.conditions import Condition
from aurora_memory.lifespans.facts import did_you_mean
from aurora_memory.lifespans.lifespan import FINE_TUNING, MAX_DAYS, Lifespan, LifespanRule, Mechanism, lifespan_of
from aurora_memory.lifespans.predicates import Matcher, matcher

MAX_POLICIES = 64
MAX_DESCRIPTION = 500

_NAME = re.compile(r"\w[\w.-]{0,63}\Z")
_ACTION = re.compile(r"[A-Za-z]\w{0,63}\Z")
_MECHANISMS = get_args(Mechanism)
_FIELDS = ["condition", "lifespan", "decay_mechanism", "escalation_action", "description"]
_KEYS = ["enabled", "default_policy", "policies"]


class NamedPolicy(Struct, frozen=True, dict=True):
    """Retention policy: chunks that meet `condition` live for `lifespan`, fading by `decay_mechanism`, and may be
    flagged.
    """

    name: str
    condition: Condition
    lifespan: Lifespan
    decay_mechanism: Mechanism = "logarithmic"
    escalation_action: str | None = None
    description: str = ""

    @cached_property
    def is_configured(self) -> bool:
        """Whether it says anything else than what is built in: the built-in ones, copied out, are nobody's choice."""
        built_in = BUILT_IN.named(self.name)
        return built_in is None or any(
            getattr(self, field) != getattr(built_in, field) for field in ("condition", "lifespan", "decay_mechanism")
        )


class Policies(Struct, frozen=True, dict=True):
    """Lifespan policies of a workspace: those in the order they are asked, and the one for all others.

    `fallbacks` are policies that are never asked but may be named by `default_policy`. With `enabled` false nothing
    expires, is flagged or ranks lower; activation keeps its ordinary decay.
    """

    policies: tuple[NamedPolicy, ...]
    fallbacks: tuple[NamedPolicy, ...] = ()
    default_policy: str = "default"
    enabled: bool = True

    def named(self, name: str) -> NamedPolicy | None:
        """The policy of that name, asked or not: a fallback that configuration defines is one that is asked."""
        return next((each for each in (*self.policies, *self.fallbacks) if each.name == name), None)

    @cached_property
    def checks(self) -> tuple[tuple[Matcher, NamedPolicy], ...]:
        """Each policy with its condition as a function, in order."""
        return tuple((matcher(each.condition), each) for each in self.policies)

    @cached_property
    def flags(self) -> tuple[tuple[Matcher, str], ...]:
        """Flags: escalation actions, each with the test of its policy."""
        return tuple((matches, each.escalation_action) for matches, each in self.checks if each.escalation_action)

    @cached_property
    def default(self) -> NamedPolicy:
        """The policy for chunks that no condition fits. Raises PolicyError where `default_policy` names none."""
        found = self.named(self.default_policy)
        if found is None:
            raise PolicyError(f"default_policy names no policy: {self.default_policy!r}")
        return found


class Layer(Struct, frozen=True):
    """Layer of policies: one `lifespan_policies` object as configuration gave it, and where it stands, for errors."""

    place: str
    given: object


class Merged(Struct, frozen=True):
    """The policies that hold, and one line for each thing that could not be used."""

    policies: Policies
    problems: tuple[str, ...] = ()


def policy(name: str, given: object) -> NamedPolicy:
    """Read one policy object. Raises PolicyError, naming the policy, the field and its value."""
    if not _NAME.match(name):
        raise PolicyError(f"policy {_shown(name)}: a name has 1 to 64 letters, digits, '_', '-' or '.'")
    if not isinstance(given, dict):
        raise PolicyError(f"policy '{name}' must be an object, not {_shown(given)}")
    for field, value in given.items():
        if field not in _FIELDS:
            raise PolicyError(f"policy '{name}' has no field {_shown(field)}{did_you_mean(field, _FIELDS)}")
        if not isinstance(value, str) and not (value is None and field == "escalation_action"):
            raise PolicyError(f"policy '{name}', {field}: must be a text, not {_shown(value)}")
    for field in ("condition", "lifespan"):
        if field not in given:
            raise PolicyError(f"policy '{name}' lacks its {field}")
    try:
        condition = parse(given["condition"])
    except ConditionError as error:
        raise PolicyError(f"policy '{name}', condition, {error}") from error
    lifespan = lifespan_of(given["lifespan"])
    if lifespan is None:
        raise PolicyError(
            f"policy '{name}', lifespan: must be indefinite, N_days (1 to {MAX_DAYS}), while_active or decay, "
            f"not {_shown(given['lifespan'])}"
        )
    mechanism = given.get("decay_mechanism", "logarithmic")
    if mechanism not in _MECHANISMS:
        raise PolicyError(
            f"policy '{name}', decay_mechanism: must be {', '.join(_MECHANISMS)}, not {_shown(mechanism)}"
            f"{did_you_mean(mechanism, list(_MECHANISMS))}"
        )
    action = given.get("escalation_action")
    if action is not None and not _ACTION.match(action):
        raise PolicyError(
            f"policy '{name}', escalation_action: must be a name such as {FINE_TUNING}, not {action!r:.60}"
        )
    description = given.get("description", "")
    if len(description) > MAX_DESCRIPTION:
        raise PolicyError(f"policy '{name}', description: has {len(description)} characters, at most {MAX_DESCRIPTION}")
    return NamedPolicy(name, condition, lifespan, cast(Mechanism, mechanism), action, description)


DOCUMENT: dict[str, dict[str, Any]] = {
    "patterns": {
        "condition": "is_pattern == true AND success_score >= 0.8",
        "lifespan": "indefinite",
        "decay_mechanism": "logarithmic",
        "description": "Patterns that proved themselves stay for good and fade slowly",
    },
    "security_critical": {
        "condition": "contains_tag('security') OR domain == 'security'",
        "lifespan": "365_days",
        "decay_mechanism": "none",
        "description": "What concerns security stays a year at full activation",
    },
    "high_usage": {
        "condition": "access_count > 10",
        "lifespan": "indefinite",
        "decay_mechanism": "logarithmic",
        "escalation_action": FINE_TUNING,
        "description": "What is used often stays, and is a candidate for fine-tuning",
    },
    "inactive": {
        "condition": "last_accessed_days > 90 AND access_count <= 2",
        "lifespan": "decay",
        "decay_mechanism": "exponential",
        "description": "What is hardly used, and not lately, fades quickly",
    },
    "default": {
        "condition": "score >= 0.5",
        "lifespan": "180_days",
        "decay_mechanism": "logarithmic",
        "description": "What succeeded stays half a year after its last use",
    },
}
"""The five policies of App. C.2 in their order, as configuration spells them."""

# App. C names `usage_based` as its default without defining it; §6.7.1's table says what it means.
_USAGE_BASED = {
    "condition": "access_count > 0",
    "lifespan": "while_active",
    "description": "Stays while it is used and fades after 90 days without",
}

BUILT_IN = Policies(
    tuple(policy(name, given) for name, given in DOCUMENT.items()), fallbacks=(policy("usage_based", _USAGE_BASED),)
)


def section_of(document: dict[str, Any]) -> object:
    """The policies' object in a document: of a whole configuration, of its `memory`, or the object itself.

    The older spelling of AURORA §6.7.1, `{"retention_policies": {name: policy}}`, is read as well. None where a
    configuration has no policies.
    """
    if "retention_policies" in document:
        return {"policies": document["retention_policies"]}
    if set(document) & set(_KEYS):
        return document
    memory = document.get("memory", document)
    return memory.get("lifespan_policies") if isinstance(memory, dict) else None


def merged(layers: Iterable[Layer]) -> Merged:
    """Configuration layered over the built-in policies (precedence, override), the weightiest layer last.

    A policy of a known name takes that one's place; new ones are asked first, those of later layers before those of
    earlier ones. What cannot be used is left out and told of in `problems`; what it would have replaced holds.
    """
    policies, problems = BUILT_IN, list[str]()
    for layer in layers:
        policies = _laid_over(policies, layer, problems)
    return Merged(policies, tuple(problems))


def _laid_over(below: Policies, layer: Layer, problems: list[str]) -> Policies:
    """Policies with one layer of configuration over those below (override)."""
    given = layer.given
    if not isinstance(given, dict):
        problems.append(f"{layer.place}: lifespan_policies must be an object, not {_shown(given)}")
        return below
    problems.extend(
        f"{layer.place}: lifespan_policies has no {_shown(key)}{did_you_mean(key, _KEYS)}"
        for key in given
        if key not in _KEYS
    )
    enabled = given.get("enabled", below.enabled)
    if not isinstance(enabled, bool):
        problems.append(f"{layer.place}: lifespan_policies.enabled must be true or false, not {_shown(enabled)}")
        enabled = below.enabled
    found = replace(_with_policies(below, layer.place, given.get("policies", {}), problems), enabled=enabled)
    default = given.get("default_policy", below.default_policy)
    if not isinstance(default, str) or found.named(default) is None:
        known = [each.name for each in (*found.policies, *found.fallbacks)]
        hint = did_you_mean(default, known) if isinstance(default, str) else ""
        problems.append(f"{layer.place}: default_policy names no policy: {_shown(default)}{hint}")
        return found
    return replace(found, default_policy=default)


def _with_policies(below: Policies, place: str, given: object, problems: list[str]) -> Policies:
    """Merge of one layer's policies into those below: of one name the upper one wins, new ones are asked first."""
    if not isinstance(given, dict):
        problems.append(f"{place}: lifespan_policies.policies must be an object, not {_shown(given)}")
        return below
    if len(given) > MAX_POLICIES:
        problems.append(f"{place}: has {len(given)} policies, and none is used; at most {MAX_POLICIES} may be given")
        return below
    read: dict[str, NamedPolicy] = {}
    for name, entry in given.items():
        try:
            read[name] = policy(name, entry)
        except PolicyError as error:
            problems.append(f"{place}: {error}")
    asked = {each.name for each in below.policies}
    new = [each for name, each in read.items() if name not in asked]
    known = [read.get(each.name, each) for each in below.policies]
    return replace(below, policies=(*new, *known))


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:59]}…"


MAX_RULES = 32

_RETAIN_FOR = re.compile(r"retain_for_([0-9]+_days?)\Z")
_ACTIONS = [
    "retain_indefinitely",
    "retain_for_365_days",
    "retain_while_active",
    "escalation_candidate",
    "decay_to_inactive",
]


def retention_rules(given: object) -> tuple[LifespanRule, ...]:
    """Retention rules a chunk carries itself, each `{"if": condition, "then": action}`.

    Raises PolicyError, naming the rule, field and value.
    """
    if not isinstance(given, list | tuple):
        raise PolicyError(f"retention_rules must be a list of rules, not {type(given).__name__}")
    if len(given) > MAX_RULES:
        raise PolicyError(f"retention_rules has {len(given)} rules; at most {MAX_RULES} are read")
    return tuple(_rule(f"retention_rules[{place}]", entry) for place, entry in enumerate(given))


def _rule(where: str, given: object) -> LifespanRule:
    """Parser of one retention rule. Raises PolicyError."""
    if not isinstance(given, dict) or set(given) != {"if", "then"}:
        raise PolicyError(f'{where} must be an object with "if" and "then", and nothing else')
    text, action = given["if"], given["then"]
    if not isinstance(text, str):
        raise PolicyError(f'{where}: "if" must be a condition in text, not {type(text).__name__}')
    try:
        condition = parse(text)
    except ConditionError as error:
        raise PolicyError(f'{where}: "if", {error}') from error
    lifespan = None
    if action == "escalation_candidate":
        return LifespanRule(condition, action, escalation_action=FINE_TUNING)
    if action == "decay_to_inactive":
        return LifespanRule(condition, action, Lifespan("decay"), "exponential")
    if action == "retain_indefinitely":
        lifespan = Lifespan("indefinite")
    elif action == "retain_while_active":
        lifespan = Lifespan("while_active")
    elif isinstance(action, str) and (counted := _RETAIN_FOR.match(action)):
        lifespan = lifespan_of(counted[1])
    if lifespan is None:
        hint = did_you_mean(action, _ACTIONS) if isinstance(action, str) else ""
        shown = repr(action)[:60]
        raise PolicyError(f'{where}: "then" must be {", ".join(_ACTIONS[:-1])} or {_ACTIONS[-1]}, not {shown}{hint}')
    return LifespanRule(condition, action, lifespan)
