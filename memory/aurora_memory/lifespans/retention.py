"""The rules a chunk carries itself: `governance.retention_rules` of AURORA §6.3.6."""

from __future__ import annotations

import re

from aurora_memory.lifespans import ConditionError, PolicyError
from aurora_memory.lifespans.condition_parser import parse
from aurora_memory.lifespans.facts import did_you_mean
from aurora_memory.lifespans.lifespan import FINE_TUNING, Lifespan, LifespanRule, lifespan_of

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
    """Read a list of `{"if": condition, "then": action}`. Raises PolicyError, naming the rule, field and value."""
    if not isinstance(given, list | tuple):
        raise PolicyError(f"retention_rules must be a list of rules, not {type(given).__name__}")
    if len(given) > MAX_RULES:
        raise PolicyError(f"retention_rules has {len(given)} rules; at most {MAX_RULES} are read")
    return tuple(_rule(f"retention_rules[{place}]", entry) for place, entry in enumerate(given))


def _rule(where: str, given: object) -> LifespanRule:
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
