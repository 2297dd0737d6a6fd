"""Carrying out a plan of calls, step by step; what is not fine ends it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

import click
from msgspec import Struct

from aurora_cli.call_view import answer_lines, reply_document
from aurora_cli.errors import BLOCKED, FINE, INTERRUPTED, NO
from aurora_cli.output import Style
from aurora_cli.site_call import call_with, can_ask, confirm_call, hint_after, send_call, typed
from aurora_cli.site_view import body_value
from aurora_manifest.client.consent import destructive
from aurora_manifest.client.cookies import Jar
from aurora_manifest.client.fetch import Published
from aurora_manifest.client.request import CapabilityCall
from aurora_manifest.client.transport import RequestPolicy
from aurora_manifest.model import Capability
from aurora_orchestration.sites.plan import CallStep, SitePlan, arguments_of, waits
from aurora_protocol import Blocked, SiteError
from aurora_protocol.human_text import plain


class Given:
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


class Failed(Struct, frozen=True):
    """The step at which it ended, counted from 1, and why."""

    step: int
    capability: str
    why: str


class Doing:
    """One plan at one site. `documents` are the answers so far, as `--json` prints them; `failed` is what ended it.

    With a `style`, answers are printed as they come.
    """

    def __init__(
        self,
        plan: SitePlan,
        published: Published,
        given: Given,
        policy: RequestPolicy,
        jar: Jar | None,
        token: str | None,
        *,
        yes: bool,
        style: Style | None,
    ) -> None:
        self.documents: list[dict[str, Any]] = []
        self.failed: Failed | None = None
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
        """Check all that is known before anything is sent. Raises SiteError or Blocked.

        What may be destroyed without anybody to ask is found here, not after half of the plan.
        """
        for number, step in enumerate(self._steps, start=1):
            if not waits(step):
                self._call(step)
            reason = destructive(self._capability(step))
            if reason is not None and not (self._yes or dry_run or can_ask()):
                raise Blocked(
                    f"step {number}, {plain(step.capability)}, may destroy something ({plain(reason)}): nothing was "
                    "sent; look at the plan with --dry-run, and give --yes to do it"
                )

    def all(self) -> int:
        """Do one step after the other; returns the exit code, after a line on standard error where one failed."""
        for number, step in enumerate(self._steps, start=1):
            code, why = self._attempt(number, step)
            if code != FINE:
                self.failed = Failed(number, step.capability, why)
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
        except Blocked as error:
            return BLOCKED, _told(step, error)
        except (SiteError, click.BadParameter) as error:
            return NO, _told(step, error)
        except (KeyboardInterrupt, click.Abort):
            return INTERRUPTED, "interrupted; the site may have done it" if sent else "interrupted before it was sent"

    def _send(self, number: int, planned: CapabilityCall, step: CallStep) -> tuple[int, str]:
        reply = asyncio.run(send_call(planned, self._policy, self._jar))
        self._answers.append(body_value(reply))
        self.documents.append(reply_document(planned, reply))
        if self._style is not None:
            head = f"{number}  {self._style.bold(plain(step.capability))}"
            print("\n".join(["", head, *answer_lines(planned, reply, self._style)]), flush=True)
        hint_after(planned, reply)
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
