"""Budget of this user, the one there is, as their settings have it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.settings import BudgetSettings
from aurora_server.configuration.settings import load


def open_budget(
    environ: Mapping[str, str], config_file: Path | None = None, now: Callable[[], float] = time.time
) -> Budget:
    """The budget of the user's own settings; a workspace has no say in it. Touches no file but the configuration.

    Raises SettingsError.
    """
    return budget_of(load(environ, config_file).soar.cost_budgets, now)


def budget_of(settings: BudgetSettings, now: Callable[[], float] = time.time) -> Budget:
    """The budget of settings that are loaded, whose `tracking_file` has the home folder in it already."""
    return Budget(Path(settings.tracking_file).expanduser().absolute(), settings, now)
