"""`aurora manifest do`: a request in natural language, planned by the configured model as calls of a site's
capabilities.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import click
import msgspec

from aurora_cli.errors import FINE, NO
from aurora_cli.global_options import GlobalOptions
from aurora_cli.manifest_plan import GivenValues, PlanRun, plan_document, plan_lines
from aurora_cli.output import style_of
from aurora_cli.shared_options import flags_of, model_options, words_given
from aurora_cli.site_call import (
    CommandDeadline,
    confirming_option,
    document_given,
    pairs_given,
    patience,
    warn_of_errors,
)
from aurora_cli.site_options import SiteOptions, site_options
from aurora_cli.site_view import print_document
from aurora_manifest.client.fetch import Published
from aurora_manifest.client.fetch import fetch as fetch_manifest
from aurora_manifest.client.state import SiteState, read_state
from aurora_manifest.client.transport import RequestPolicy
from aurora_orchestration.guardrails.audit import guard_noted
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.guardrails.cost_estimate import estimate, tokens_of
from aurora_orchestration.guardrails.guard import Guarded
from aurora_orchestration.guardrails.soft_limit import declined, question, unconfirmed
from aurora_orchestration.llm.completion import CapReached, Llm, LlmError, NotConfigured
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.settings import SoarSettings
from aurora_orchestration.sites.planner import Planned, plan_calls
from aurora_orchestration.sites.spoken_passwords import without_passwords
from aurora_orchestration.types import ModelCall, Rate, Role
from aurora_protocol import SiteError
from aurora_protocol.human_text import count, plain
from aurora_server.configuration.budget import budget_of
from aurora_server.configuration.layers import settings_for
from aurora_server.configuration.trust import Trust


@click.command("do")
@click.argument("url")
@click.argument("request", nargs=-1, required=True)
@click.option(
    "--arg",
    "pairs",
    metavar="NAME=VALUE",
    multiple=True,
    help="A value the model may use by its name, and never sees. Repeatable; lists repeat it.",
)
@click.option(
    "--args", "document", metavar="JSON", help="Such values as a JSON object; - reads standard input: for passwords."
)
@click.option("--dry-run", is_flag=True, help="Show the plan and call nothing.")
@confirming_option
@model_options
@site_options
@click.pass_obj
def do(
    settings: GlobalOptions,
    url: str,
    request: tuple[str, ...],
    pairs: tuple[str, ...],
    document: str | None,
    dry_run: bool,
    yes: bool,
    llm_provider: str | None,
    llm_model: str | None,
    force: bool,
    site: SiteOptions,
) -> int:
    """Do what REQUEST says on the site at URL, by calls that its manifest declares; - reads it from standard input.

    The configured model plans the calls. It sees the request, the manifest and the names of --arg and --args, not
    their values: give passwords that way. All that can be checked is checked before the first call is sent.

    Exits 0 when all was done, 1 when it cannot be done or a call failed, 4 when a guardrail or the budget blocked it,
    or something may be destroyed and nobody was there to ask.
    """
    if document == "-" and request == ("-",):
        raise click.UsageError("standard input is either REQUEST or --args", click.get_current_context())
    text = words_given(request)
    if not text.strip():
        raise click.UsageError("REQUEST is empty", click.get_current_context())
    given = GivenValues(document_given(document), pairs_given(pairs))
    unspoken = without_passwords(text)
    with open_model(settings, flags_of(llm_provider, llm_model), force=force) as asked:
        guarded = asked.guarded(unspoken, force=force)
        _tell(asked)
        if guarded.redactions or unspoken != text:
            _say("give such values with --arg NAME=VALUE: the model then sees their names only")
        cookies, token = site.cookies(settings, url), site.checked_token()
        with CommandDeadline(site.timeout).running():
            published = asyncio.run(
                fetch_manifest(url, site.policy, cache=site.cache(settings), cookies=cookies, token=token)
            ).checked()
        if not published.manifest.capabilities:
            raise SiteError(f"{published.url}: the manifest has no capabilities; nothing can be done there")
        warn_of_errors(published)
        with _waiting(settings, asked):
            planned = asyncio.run(
                plan_calls(
                    guarded.query,
                    published.manifest,
                    given.names,
                    asked.llm,
                    state=_state(published),
                    patience=patience,
                )
            )
    _tell_hidden(planned, len(published.manifest.capabilities))
    _tell_kept(planned)
    plan, style = planned.plan, style_of(sys.stdout, os.environ, no_color=settings.no_color)
    if not settings.json:
        print("\n".join(plan_lines(plan, published.manifest, asked.llm.model, asked.cost_usd, style)), flush=True)
    doing = PlanRun(
        planned.sent,
        published,
        given,
        RequestPolicy(timeout=site.timeout, insecure_http=site.insecure_http, whole=True),
        site.jar(settings, published.origin),
        token,
        yes=yes,
        style=None if settings.json else style,
    )
    code = NO if plan.impossible else FINE
    if not plan.impossible:
        doing.check(dry_run=dry_run)
        code = FINE if dry_run else doing.all()
    if settings.json:
        print_document(
            {
                "request": planned.kept.text,
                "model": asked.llm.model,
                "cost_usd": round(asked.cost_usd, 6),
                "plan": plan_document(plan, published.manifest),
                "dry_run": dry_run,
                "answers": doing.documents,
                "failed": msgspec.to_builtins(doing.failed),
                "ok": code == FINE,
            }
        )
    return code


def _state(published: Published) -> SiteState | None:
    """What the site said of the session with its manifest; None where it said nothing that can be read."""
    if published.state is None:
        return None
    try:
        return read_state(published.state)
    except SiteError as error:
        _say(f"what the site says of the session was left out: {error}")
        return None


def _tell(asked: ModelSession) -> None:
    for notice in asked.notices:
        _say(notice)


def _tell_hidden(planned: Planned, declared: int) -> None:
    if planned.hidden:
        shown = declared - planned.hidden
        _say(f"the site declares {declared:,} capabilities: the model was shown the {shown:,} nearest to the request")


def _tell_kept(planned: Planned) -> None:
    if planned.kept.words:
        kept = count(len(planned.kept.words), "word")
        _say(f"{kept} of the request were kept from the model, and are filled in where it put [KEPT-1], [KEPT-2], …")


def _say(text: str) -> None:
    print(f"aurora: {plain(text)}", file=sys.stderr)


def _waiting(settings: GlobalOptions, asked: ModelSession) -> AbstractContextManager[object]:
    """Something that moves while the model thinks, on a terminal."""
    if settings.json or not style_of(sys.stderr, os.environ, no_color=settings.no_color).rich:
        return nullcontext()
    from rich.console import Console

    return Console(file=sys.stderr, force_terminal=True).status(f"{asked.llm.model} is planning …")


_MANIFEST_TOKENS = 3_000
"""Tokens that a manifest's capabilities take, more or less: they go with the request."""


def _confirm(warning: str) -> None:
    """Ask at the terminal whether to go on. Raises OverBudget where the answer is no, or there is no terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise unconfirmed(warning)
    if not click.confirm(question(warning).removesuffix(" [y/N]"), err=True):
        raise declined(warning)


class ModelSession:
    """The model a command asks, opened by `open_model`. `llm` meters, reserves and settles every call."""

    def __init__(
        self,
        soar: SoarSettings,
        home: Path,
        run: str,
        budget: Budget,
        llm: Llm,
        calls: list[ModelCall],
        rate: Rate,
    ) -> None:
        self.llm = llm
        self._rates: dict[Role, Rate] = {"reasoning": rate, "solving": rate}
        self.notices: list[str] = []
        self._soar = soar
        self._home = home
        self._run = run
        self._budget = budget
        self._calls = calls

    @property
    def cost_usd(self) -> float:
        """What was paid so far in dollars, calls of unknown price left out."""
        return sum(call.cost_usd or 0.0 for call in self._calls)

    def guarded(self, text: str, *, force: bool = False) -> Guarded:
        """`text` as it may be sent; what is to be said of it joins `notices`.

        Raises QuestionBlocked where a guardrail or the budget holds it back; beyond the soft limit its user is asked.
        """
        guarded, notices = guard_noted(text, self._soar.guardrails, self._home, self._run, time.time)
        self.notices += notices
        usd = estimate(tokens_of(guarded.query), _MANIFEST_TOKENS, "simple", "none", self._rates, self._soar.complexity)
        warning = self._budget.check(usd, force=force)
        if warning and usd > 0:
            self.notices.append(warning)
            if not force:
                _confirm(warning)
        return guarded


@contextmanager
def open_model(settings: GlobalOptions, flags: Mapping[str, str], *, force: bool = False) -> Iterator[ModelSession]:
    """Open the solving model as it is configured for this workspace, as far as its user trusts it; `flags` count most.

    Raises SettingsError, NotConfigured where there is no model, and what the block raises; an LlmError says that it is
    the model's answer that cannot be used.
    """
    root, home = settings.workspace, settings.address.home
    soar, found = settings_for(root, Trust(home).is_trusted(root), os.environ, settings.config, flags)
    calls: list[ModelCall] = []
    run = f"command-{secrets.token_hex(6)}"
    budget = budget_of(soar.cost_budgets)
    models = open_models(
        soar.llm, os.environ, None, run=run, budget=budget, journal=None, heard=calls.append, force=force
    )
    if models.solving is None:
        raise NotConfigured(models.why)
    asked = ModelSession(soar, home, run, budget, models.solving, calls, models.rates["solving"])
    asked.notices += [*(notice.line for notice in found), *models.notices]
    try:
        try:
            yield asked
        finally:
            if calls:
                budget.end_run(run)
    except CapReached:
        raise
    except LlmError as error:
        raise LlmError(f"the model gave no answer that can be used: {error}") from error
