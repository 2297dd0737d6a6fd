"""A plan of calls for people and as JSON, without what should not have come into it."""

from __future__ import annotations

from typing import Any

import msgspec

from aurora_cli.output import Style
from aurora_manifest.client.consent import MASK, destructive, secret
from aurora_manifest.model import Manifest
from aurora_orchestration.sites.plan import CallStep, SitePlan, described
from aurora_protocol.human_text import count, plain, shorten

_WIDE = 200


def plan_document(plan: SitePlan, manifest: Manifest) -> dict[str, Any]:
    """What `--json` prints of a plan: each step with where its arguments come from, and whether it asks first."""
    steps = []
    for step in plan.steps:
        risk = destructive(manifest.capabilities[step.capability])
        arguments = [
            {name: value for name, value in msgspec.to_builtins(each).items() if value is not None}
            for each in _masked(step).arguments
        ]
        steps.append(
            {
                "capability": step.capability,
                "arguments": arguments,
                "why": step.why,
                "destructive": risk is not None,
            }
        )
    return {"steps": steps, "impossible": plan.impossible or None}


def plan_lines(plan: SitePlan, manifest: Manifest, model: str, cost_usd: float, style: Style) -> list[str]:
    """A plan for people: one line per call, its arguments below it."""
    by = style.dim(f"planned by {plain(model)} for ${cost_usd:.4f}")
    if plan.impossible:
        return [f"cannot be done: {plain(plan.impossible)}", by]
    lines = [f"{style.bold(count(len(plan.steps), 'call'))}  {by}"]
    for number, step in enumerate(plan.steps, start=1):
        capability = manifest.capabilities[step.capability]
        method = plain(str(capability.method.value)) if capability.method else "?"
        template = plain(str(capability.url_template.value)) if capability.url_template else "?"
        risk = destructive(capability)
        warning = style.colored(f"  asks first: {plain(risk)}", "yellow") if risk else ""
        lines.append(f"{number}  {style.bold(plain(step.capability))}  {method} {shorten(template, _WIDE)}{warning}")
        if step.why.strip():
            lines.append(style.dim(f"   {shorten(plain(step.why), _WIDE)}"))
        lines += [f"   {shorten(plain(line), _WIDE)}" for line in described(_masked(step))]
    return lines


def _masked(step: CallStep) -> CallStep:
    """The step without what a model should not have put into it."""
    hidden = [
        msgspec.structs.replace(each, value=MASK) if each.value is not None and secret(each.name) else each
        for each in step.arguments
    ]
    return msgspec.structs.replace(step, arguments=tuple(hidden))
