"""A command that asks the configured model itself, without the daemon: guarded, within the budget, and counted."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from aurora_orchestration import OrchestrationError
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.guardrails.guarding import guard
from aurora_orchestration.llm.asking import Llm, LlmError
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.settings import SoarSettings
from aurora_orchestration.soar.run import Call
from aurora_protocol import SiteError
from aurora_server.cli.settings import Settings
from aurora_server.configuration.layers import settings_for

T = TypeVar("T")


class Asking:
    """The solving model as this user has configured it; a workspace has no say in where a command's request goes."""

    def __init__(self, soar: SoarSettings) -> None:
        self._soar = soar
        self._calls: list[Call] = []
        self.notices: list[str] = []

    @classmethod
    def of(cls, settings: Settings) -> Asking:
        """With the settings of a command. Raises SettingsError."""
        soar, _ = settings_for(settings.address.home, False, os.environ, settings.config)
        return cls(soar)

    @property
    def cost_usd(self) -> float:
        """What was paid so far, unknown prices left out."""
        return sum(call.cost_usd or 0.0 for call in self._calls)

    async def ask(self, text: str, put: Callable[[str, Llm], Awaitable[T]]) -> T:
        """Guard `text`, open the model and have `put` ask it. Raises SiteError where that cannot be done."""
        try:
            guarded = guard(text, self._soar.guardrails)
            self.notices += guarded.notices
            budget = Budget(Path(self._soar.cost_budgets.tracking_file), self._soar.cost_budgets, time.time)
            run = f"site-{secrets.token_hex(6)}"
            models = await asyncio.to_thread(
                open_models,
                self._soar.llm,
                os.environ,
                None,
                run=run,
                budget=budget,
                journal=None,
                heard=self._calls.append,
            )
            self.notices += models.notices
            if models.solving is None:
                raise SiteError(models.why)
            return await put(guarded.query, models.solving)
        except LlmError as error:
            raise SiteError(f"the model could not be asked: {error}") from error
        except OrchestrationError as error:
            raise SiteError(str(error)) from error
