"""`aurora manifest do`: a request in words, planned by the configured model as calls of a site's capabilities."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any

import click
import msgspec

from aurora_orchestration.site_planning import SitePlan, Step, arguments_of, described, plan_calls
from aurora_protocol.manifest.client.calling import build_call, find_capability
from aurora_protocol.manifest.client.caution import MASK, secret
from aurora_protocol.manifest.client.cookies import Jar
from aurora_protocol.manifest.client.fetching import Published
from aurora_protocol.manifest.client.fetching import fetch as fetch_manifest
from aurora_protocol.manifest.client.transport import Policy
from aurora_server.cli.errors import FINE, NO
from aurora_server.cli.manifest_call import TOKEN_VARIABLE, reply_document
from aurora_server.cli.manifest_calling import (
    check_arguments,
    confirm_call,
    pairs_given,
    send_call,
    typed,
    warn_of_errors,
    with_token,
)
from aurora_server.cli.models import Asking
from aurora_server.cli.output import Style, style_of
from aurora_server.cli.settings import Settings
from aurora_server.cli.site_options import cache_of, policy_of, site_options
from aurora_server.cli.site_view import body_value, print_document, reply_lines
from aurora_server.cli.words import plain


@click.command("do")
@click.argument("url")
@click.argument("request", nargs=-1, required=True)
@click.option(
    "--arg", "pairs", metavar="NAME=VALUE", multiple=True, help="A value the model may use by name, and never sees."
)
@click.option("--dry-run", is_flag=True, help="Show the plan and send nothing to the site.")
@click.option("--yes", is_flag=True, help="Do not ask before something may be destroyed.")
@click.option("--token", envvar=TOKEN_VARIABLE, help=f"Send this bearer token. [env var: {TOKEN_VARIABLE}]")
@click.option("--no-cookies", is_flag=True, help="Send and keep no cookies.")
@site_options
@click.pass_obj
def do(
    settings: Settings,
    url: str,
    request: tuple[str, ...],
    pairs: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    token: str | None,
    no_cookies: bool,
    timeout: float,
    insecure_http: bool,
    no_cache: bool,
    allow_cross_origin: bool,
) -> int:
    """Do what REQUEST says on the site at URL, by calls its manifest declares. Exits 1 when it cannot be done.

    The configured model plans the calls and sees the request, the manifest and the names of --arg, not their values:
    give passwords that way. Every call is checked against the manifest before it is sent.
    """
    policy = policy_of(timeout, insecure_http, allow_cross_origin)
    given = pairs_given(pairs)
    published = asyncio.run(fetch_manifest(url, policy, cache=cache_of(settings, no_cache)))
    warn_of_errors(published)
    asking = Asking.of(settings)
    plan = asyncio.run(
        asking.ask(" ".join(request), lambda text, llm: plan_calls(text, published.manifest, [*given], llm))
    )
    for notice in asking.notices:
        print(f"aurora: {plain(notice)}", file=sys.stderr)
    style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
    if not settings.json:
        print("\n".join(plan_lines(plan)))
    if plan.impossible or dry_run:
        if settings.json:
            print_document({"plan": msgspec.to_builtins(plan), "cost_usd": asking.cost_usd, "answers": []})
        return NO if plan.impossible else FINE
    own = Policy(timeout=timeout, insecure_http=insecure_http, whole=True)
    jar = None if no_cookies else Jar.of(settings.address.home, published.origin)
    run = _Run(published, given, own, jar, token, yes=yes, style=None if settings.json else style)
    fine = all(run.step(step) for step in plan.steps)
    if settings.json:
        print_document(
            {"plan": msgspec.to_builtins(plan), "cost_usd": asking.cost_usd, "answers": run.documents, "ok": fine}
        )
    return FINE if fine else NO


def plan_lines(plan: SitePlan) -> list[str]:
    """A plan for people: one line per call, its arguments below it."""
    if plan.impossible:
        return [f"cannot be done: {plain(plan.impossible)}"]
    lines: list[str] = []
    for number, step in enumerate(plan.steps, start=1):
        lines.append(f"{number}  {plain(step.capability)}" + (f" · {plain(step.why)}" if step.why else ""))
        lines += [f"     {plain(line)}" for line in described(_masked(step))]
    return lines


def _masked(step: Step) -> Step:
    """The step without what a model should not have put into it."""
    hidden = [
        msgspec.structs.replace(each, value=MASK) if each.value is not None and secret(each.name, None) else each
        for each in step.arguments
    ]
    return msgspec.structs.replace(step, arguments=tuple(hidden))


class _Run:
    """Carries a plan out, step by step; an answer that is not fine ends it."""

    def __init__(
        self,
        published: Published,
        given: Mapping[str, list[str]],
        policy: Policy,
        jar: Jar | None,
        token: str | None,
        *,
        yes: bool,
        style: Style | None,
    ) -> None:
        self.documents: list[dict[str, Any]] = []
        self._answers: list[Any] = []
        self._published = published
        self._given = given
        self._policy = policy
        self._jar = jar
        self._token = token
        self._yes = yes
        self._style = style

    def step(self, step: Step) -> bool:
        """Send one call. Raises SiteError or Blocked before anything is sent that does not fit."""
        capability = find_capability(self._published.manifest, step.capability)
        words = {
            each.given: typed(capability, each.name, self._given[each.given]) for each in step.arguments if each.given
        }
        arguments = arguments_of(step, words, self._answers)
        check_arguments(capability, arguments)
        planned = build_call(capability, self._published.origin, arguments)
        if self._token:
            planned = with_token(planned, self._token)
        if not self._yes:
            confirm_call(capability, planned)
        reply = asyncio.run(send_call(planned, self._policy, self._jar))
        self._answers.append(body_value(reply))
        self.documents.append(reply_document(planned, reply))
        if self._style is not None:
            print(f"\n{len(self._answers)}  {plain(step.capability)}")
            print("\n".join(reply_lines(reply, planned.request.method, self._style)))
        return reply.fine
