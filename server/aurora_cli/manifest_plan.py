"""Plan of calls carried out (executed), step by step, with values of earlier answers; the first failure ends it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

import click
import msgspec
from msgspec import Struct

from aurora_cli.errors import BLOCKED, FINE, INTERRUPTED, NO
from aurora_cli.output import TerminalStyle
from aurora_cli.site_call import (
    answer_lines,
    call_with,
    can_ask,
    confirm_call,
    hint_after,
    reply_document,
    send_call,
    typed,
)
from aurora_cli.site_view import body_value
from aurora_manifest.client.consent import MASK, destructive, secret
from aurora_manifest.client.cookies import Jar
from aurora_manifest.client.fetch import Published
from aurora_manifest.client.request import CapabilityCall
from aurora_manifest.client.transport import RequestPolicy
from aurora_manifest.model import Capability, Manifest
from aurora_orchestration.sites.plan import CallStep, SitePlan, arguments_of, described, waits
from aurora_protocol import CallBlocked, SiteError
from aurora_protocol.human_text import count, plain, shorten

_WIDE = 200


class GivenValues:
    """The values of `--args`, as they stand, and of `--arg`, words that a parameter gives their type."""

    def __init__(self, values: Mapping[str, Any], words: Mapping[str, list[str]]) -> None:
        self._values = values
        self._words = words

    @property
    def names(self) -> list[str]:
        """What a model is told of them."""
        return [*dict.fromkeys([*self._values, *self._words])]

    def for_step(self, step: CallStep, capability: Capability) -> dict[str, Any]:
        """Those a step uses, by their names, for the parameters they go to. Raises BadParameter."""
        found = {}
        for each in step.arguments:
            if each.given is not None:
                words = self._words.get(each.given)
                found[each.given] = typed(capability, each.name, words) if words else self._values[each.given]
        return found


class FailedStep(Struct, frozen=True):
    """The step at which it ended, counted from 1, and why."""

    step: int
    capability: str
    why: str


class PlanRun:
    """Run of a plan at one site. `documents` are the answers so far, as `--json` prints them; `failed` is what ended
    it.

    With a `style`, answers are printed as they come.
    """

    def __init__(
        self,
        plan: SitePlan,
        published: Published,
        given: GivenValues,
        policy: RequestPolicy,
        jar: Jar | None,
        token: str | None,
        *,
        yes: bool,
        style: TerminalStyle | None,
    ) -> None:
        self.documents: list[dict[str, Any]] = []
        self.failed: FailedStep | None = None
        self._answers: list[Any] = []
        self._steps = plan.steps
        self._published = published
        self._given = given
        self._policy = policy
        self._jar = jar
        self._token = token
        self._yes = yes
        self._style = style

    def check(self, *, dry_run: bool) -> None:
        """Check all that is known before anything is sent. Raises SiteError or CallBlocked.

        What may be destroyed without anybody to ask is found here, not after half of the plan.
        """
        for number, step in enumerate(self._steps, start=1):
            if not waits(step):
                self._call(step)
            reason = destructive(self._capability(step))
            if reason is not None and not (self._yes or dry_run or can_ask()):
                raise CallBlocked(
                    f"step {number}, {plain(step.capability)}, may destroy something ({plain(reason)}): nothing was "
                    "sent; look at the plan with --dry-run, and give --yes to do it"
                )

    def all(self) -> int:
        """Do one step after the other; returns the exit code, after a line on standard error where one failed."""
        for number, step in enumerate(self._steps, start=1):
            code, why = self._attempt(number, step)
            if code != FINE:
                self.failed = FailedStep(number, step.capability, why)
                self._tell(number, why)
                return code
        return FINE

    def _attempt(self, number: int, step: CallStep) -> tuple[int, str]:
        """One step: the exit code it would end with, and why."""
        sent = False
        try:
            planned = self._call(step)
            if not self._yes:
                confirm_call(self._capability(step), planned)
            sent = True
            return self._send(number, planned, step)
        except CallBlocked as error:
            return BLOCKED, _told(step, error)
        except (SiteError, click.BadParameter) as error:
            return NO, _told(step, error)
        except (KeyboardInterrupt, click.Abort):
            return INTERRUPTED, "interrupted; the site may have done it" if sent else "interrupted before it was sent"

    def _send(self, number: int, planned: CapabilityCall, step: CallStep) -> tuple[int, str]:
        """Call of a step sent, its answer kept for later steps."""
        reply = asyncio.run(send_call(planned, self._policy, self._jar))
        self._answers.append(body_value(reply))
        self.documents.append(reply_document(planned, reply))
        if self._style is not None:
            head = f"{number}  {self._style.bold(plain(step.capability))}"
            print("\n".join(["", head, *answer_lines(planned, reply, self._style)]), flush=True)
        hint_after(planned, reply)
        if reply.fine and reply.cut:
            return NO, "the answer is cut, and nothing further rests on it"
        return (FINE, "") if reply.fine else (NO, f"the site answered {reply.status} {plain(reply.reason)}".strip())

    def _call(self, step: CallStep) -> CapabilityCall:
        capability = self._capability(step)
        arguments = arguments_of(step, self._given.for_step(step, capability), self._answers)
        return call_with(capability, self._published.origin, arguments, self._token)

    def _capability(self, step: CallStep) -> Capability:
        return self._published.manifest.capabilities[step.capability]

    def _tell(self, number: int, why: str) -> None:
        total = len(self._steps)
        before = {1: "", 2: "; step 1 was done"}.get(number, f"; steps 1 to {number - 1} were done")
        after = "" if number == total else "; the rest was not tried"
        sys.stdout.flush()
        name = plain(self._steps[number - 1].capability)
        print(f"aurora: step {number} of {total}, {name}: {why}{before}{after}", file=sys.stderr)


def _told(step: CallStep, error: Exception) -> str:
    """What went wrong with a step, without its name: that is said already."""
    said = error.format_message() if isinstance(error, click.ClickException) else str(error)
    return plain(said).removeprefix(f"{plain(step.capability)}: ")


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


def plan_lines(plan: SitePlan, manifest: Manifest, model: str, cost_usd: float, style: TerminalStyle) -> list[str]:
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
