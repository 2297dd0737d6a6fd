"""A command that asks the configured model itself, without the daemon: guarded, within the budget, and counted."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from aurora_cli.errors import SaysNo
from aurora_cli.settings import Settings
from aurora_orchestration.guardrails.audit import guard_noted
from aurora_orchestration.guardrails.blocked import Blocked as HeldBack
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.guardrails.cost_estimate import estimate, tokens_of
from aurora_orchestration.guardrails.guard import Guarded
from aurora_orchestration.llm.completion import CapReached, Llm, LlmError
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.settings import SoarSettings
from aurora_orchestration.types import Call
from aurora_protocol import Blocked
from aurora_server.configuration.budget import budget_of
from aurora_server.configuration.config_file import SettingsError
from aurora_server.configuration.layers import settings_for
from aurora_server.configuration.trust import Trust


class Asking:
    """The model a command asks, opened by `asking`. `llm` meters, reserves and settles every call."""

    def __init__(self, soar: SoarSettings, home: Path, run: str, budget: Budget, llm: Llm, calls: list[Call]) -> None:
        self.llm = llm
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

        Raises the orchestration's Blocked where a guardrail or the budget holds it back.
        """
        guarded, notices = guard_noted(text, self._soar.guardrails, self._home, self._run, time.time)
        self.notices += notices
        usd = estimate(tokens_of(guarded.query), "simple", self._soar.complexity)
        warning = self._budget.check(usd, force=force)
        self.notices += [warning] if warning else []
        return guarded


@contextmanager
def asking(settings: Settings, flags: Mapping[str, str], *, force: bool = False) -> Iterator[Asking]:
    """Open the solving model as it is configured for this workspace, as far as its user trusts it; `flags` count most.

    What the block raises of the orchestration's errors becomes the command line's: Blocked where a guardrail, a cap or
    the budget held back, SaysNo where no model is configured or none gave an answer that can be used.
    """
    root, home = settings.workspace, settings.address.home
    try:
        soar, found = settings_for(root, Trust(home).is_trusted(root), os.environ, settings.config, flags)
    except SettingsError as error:
        raise click.ClickException(str(error)) from error
    calls: list[Call] = []
    run = f"command-{secrets.token_hex(6)}"
    budget = budget_of(soar.cost_budgets)
    models = open_models(
        soar.llm, os.environ, None, run=run, budget=budget, journal=None, heard=calls.append, force=force
    )
    if models.solving is None:
        raise SaysNo(models.why)
    asked = Asking(soar, home, run, budget, models.solving, calls)
    asked.notices += [*(notice.line for notice in found), *models.notices]
    try:
        try:
            yield asked
        finally:
            if calls:
                budget.end_run(run)
    except (CapReached, HeldBack) as error:
        raise Blocked(str(error)) from error
    except LlmError as error:
        raise SaysNo(f"the model gave no answer that can be used: {error}") from error
