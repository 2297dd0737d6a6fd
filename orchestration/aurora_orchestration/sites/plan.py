"""Plans of calls at a site, validated against its manifest (AURA-P). Pure; whose ideas they are does not matter."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from aurora_manifest.client.arguments import Misfit, lookup, misfits
from aurora_manifest.client.consent import password, secret
from aurora_manifest.json.pointers import PointerError, from_pointer
from aurora_manifest.model import Capability, Manifest
from aurora_orchestration.guardrails.redaction import REDACTED
from aurora_orchestration.sites.kept_words import NOTHING_KEPT, KeptWords
from aurora_protocol import SiteError

MAX_STEPS = 10
MAX_VALUE = 100_000
"""Characters of JSON that one argument may have."""
_MAX_NAMED = 20

Patience = Callable[[], AbstractContextManager[None]]
"""Bounds the time that one check may take: a site's patterns may be such that matching them never ends."""


class StepArgument(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Argument of a step, and the one place it comes from: JSON text, a value of the user's, or an earlier step's
    answer.
    """

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    value: str | None = None
    given: str | None = None
    step: int | None = None
    pointer: str | None = None


class CallStep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Step of a plan, one call: which capability, with what, and why."""

    capability: Annotated[str, Meta(min_length=1, max_length=500)]
    arguments: tuple[StepArgument, ...] = ()
    why: Annotated[str, Meta(max_length=1000)] = ""


class SitePlan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The calls that do what was asked, in order; none where `impossible` says why not."""

    steps: tuple[CallStep, ...] = ()
    impossible: Annotated[str, Meta(max_length=2000)] = ""


def misfits_of(
    plan: SitePlan,
    manifest: Manifest,
    given: Collection[str],
    patience: Patience = nullcontext,
    kept: KeptWords = NOTHING_KEPT,
) -> list[str]:
    """Every way in which a plan cannot be carried out, as far as that can be told before it runs; one line each.

    The words that are `kept` from whoever made the plan are in no line.

    Raises SiteError for a capability whose parameters are no schema, and what `patience` raises.
    """
    if not plan.steps:
        return [] if plan.impossible.strip() else ["it has no steps and `impossible` does not say why"]
    if plan.impossible.strip():
        return ["it has steps, and says that it is impossible"]
    if len(plan.steps) > MAX_STEPS:
        return [f"it has {len(plan.steps)} steps; the limit is {MAX_STEPS}"]
    found: list[str] = []
    for number, step in enumerate(plan.steps, start=1):
        capability = manifest.capabilities.get(step.capability)
        if capability is None:
            found.append(f'step {number}: there is no capability "{step.capability}"')
            continue
        problems = _argument_problems(step, number, capability, given, patience, kept)
        found += [f"step {number}, {step.capability}: {problem}" for problem in problems]
    return found


def arguments_of(step: CallStep, given: Mapping[str, Any], answers: Sequence[Any]) -> dict[str, Any]:
    """A step's arguments as values; `answers` are the bodies of earlier steps. Raises SiteError where one is missing.

    The plan must fit (`misfits_of`).
    """
    found: dict[str, Any] = {}
    for each in step.arguments:
        if each.given is not None:
            found[each.name] = given[each.given]
        elif each.step is not None:
            there, value = lookup(answers[each.step - 1], each.pointer or "")
            if not there:
                place = f"{each.pointer} of" if each.pointer else "all of"
                raise SiteError(
                    f"{each.name} was to come from {place} answer {each.step}, where there is no such thing"
                )
            found[each.name] = value
        else:
            found[each.name] = _decoded(each.value or "")
    return found


def with_words(plan: SitePlan, manifest: Manifest, kept: KeptWords) -> SitePlan:
    """A plan that fits with its kept words filled in: what is sent, and shown to no model."""
    steps = []
    for step in plan.steps:
        capability = manifest.capabilities[step.capability]
        arguments = tuple(
            replace(each, value=json.dumps(_filled(each, capability, kept), ensure_ascii=False))
            if each.value is not None and kept.stands_in(each.value)
            else each
            for each in step.arguments
        )
        steps.append(replace(step, arguments=arguments))
    return replace(plan, steps=tuple(steps))


def waits(step: CallStep) -> bool:
    """Whether a step's arguments are not all known before earlier steps are answered."""
    return any(each.step is not None for each in step.arguments)


def described(step: CallStep) -> list[str]:
    """A step's arguments for people: `id = /posts/0/id of answer 1`."""
    lines = []
    for each in step.arguments:
        if each.given is not None:
            source = f"the {each.given} you gave" if each.given != each.name else "as you gave it"
        elif each.step is not None:
            source = f"{each.pointer or 'all'} of answer {each.step}"
        else:
            source = each.value or "null"
        lines.append(f"{each.name} = {source}")
    return lines


def _argument_problems(
    step: CallStep,
    number: int,
    capability: Capability,
    given: Collection[str],
    patience: Patience,
    kept: KeptWords,
) -> list[str]:
    """Problems of a step's arguments: given twice, unknown, missing, or against their schema."""
    found: list[str] = []
    filled = False
    known: dict[str, Any] = {}
    later: set[str] = set()
    for each in step.arguments:
        if each.name in known or each.name in later:
            found.append(f"{each.name} is given twice")
        elif problem := _source_problem(each, number, capability, given, kept):
            later.add(each.name)
            found.append(f"{each.name} {problem}")
        elif each.value is None:
            later.add(each.name)
        else:
            try:
                known[each.name] = _filled(each, capability, kept)
                filled = filled or kept.stands_in(each.value)
            except (ValueError, RecursionError):
                later.add(each.name)
                found.append(f"{each.name}: its `value` is no JSON text; a text needs quotes within it")
    schema = capability.parameters.value if capability.parameters else None
    with patience():
        try:
            wrong = misfits(_without(schema, later), known)
        except SiteError as error:
            raise SiteError(f"{capability.name}: {error}") from error
    wrong = [each for each in wrong if not _about(each, later)]
    if not filled:
        return found + [f"{each.path} {each.message}".strip() for each in wrong]
    return found + [f"{each.path} does not fit its schema with the kept words filled in".strip() for each in wrong]


def _source_problem(
    argument: StepArgument, number: int, capability: Capability, given: Collection[str], kept: KeptWords
) -> str | None:
    """What is wrong with where an argument goes and comes from; None where nothing is."""
    if not _takes(capability, argument.name):
        names = ", ".join([*capability.properties][:_MAX_NAMED])
        return f"is no parameter; there is {names}" if names else "is no parameter; there are none"
    sources = (argument.value is not None) + (argument.given is not None) + (argument.step is not None)
    if sources != 1:
        return f"has {sources} sources; give one of `value`, `given` and `step`"
    if argument.pointer and argument.step is None:
        return "has a `pointer` and no `step` whose answer it points into"
    member = capability.properties.get(argument.name)
    schema = member.value.value if member is not None else None
    if argument.given is not None:
        if argument.given not in given:
            return f'is to be "{argument.given}", which the user has not given'
        if secret(argument.given) and not secret(argument.name, schema):
            return f'is to be "{argument.given}", a secret, and is no place for one'
        return None
    if argument.step is not None:
        if not 1 <= argument.step < number:
            return f"is to come from step {argument.step}, which does not come before"
        return _pointer_problem(argument.pointer or "")
    text = argument.value or ""
    if len(text) > MAX_VALUE:
        return f"has {len(text):,} characters; the limit is {MAX_VALUE:,}"
    if REDACTED in text:
        return f"is {REDACTED}, which stands for what was taken out of the request; it must be `given`"
    if unknown := kept.unknown(text):
        return f"has {unknown[0]}, which stands for no word of the request"
    if password(argument.name, schema) and not kept.is_all_of(text):
        return "is a password: it must be `given`"
    return None


def _takes(capability: Capability, name: str) -> bool:
    """Whether a capability has a parameter of this name, or sends all that it is given."""
    steps = [each.steps for each in capability.mapped.values()]
    variables = {each.name for each in capability.template.variables} if capability.template else set()
    taken = {each[0] for each in steps if each}
    return name in capability.properties or name in variables or name in taken or () in steps


def _without(schema: Any, names: set[str]) -> Any:
    """The schema as far as it can be checked while the values of `names` are not known."""
    if not isinstance(schema, dict) or not names:
        return schema
    whole = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "minProperties", "dependencies", "const", "enum")
    kept = {key: value for key, value in schema.items() if key not in whole}
    if isinstance(kept.get("required"), list):
        kept["required"] = [name for name in kept["required"] if name not in names]
    return kept


def _about(misfit: Misfit, names: set[str]) -> bool:
    steps = from_pointer(misfit.path)
    return bool(steps) and steps[0] in names


def _filled(argument: StepArgument, capability: Capability, kept: KeptWords) -> Any:
    member = capability.properties.get(argument.name)
    return kept.filled(_decoded(argument.value or ""), member.value.value if member is not None else None)


def _decoded(text: str) -> Any:
    """JSON text as a value. Raises ValueError, also for what only Python takes for JSON or cannot be sent."""
    value = json.loads(text, parse_constant=_no_constant)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _pointer_problem(pointer: str) -> str | None:
    """Problem of a JSON Pointer; None where it is one."""
    try:
        from_pointer(pointer)
    except PointerError as error:
        return f"is to come from a place that is none: {error}"
    return None
