"""Budget of a run: what it is expected to cost, and whether that may be spent (AURORA §3.1, App. C)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from aurora_orchestration.guardrails.cost_estimate import estimate, tokens_of
from aurora_orchestration.guardrails.soft_limit import confirm
from aurora_orchestration.llm.completion import Models
from aurora_orchestration.run_record import RunRequest
from aurora_orchestration.settings import ComplexitySettings
from aurora_orchestration.soar.assess import routed
from aurora_orchestration.soar.keywords import classify
from aurora_orchestration.soar.plan import option_for
from aurora_orchestration.soar.services import Services
from aurora_orchestration.types import AskUser, Assessment, ContextBundle, Rate, Role


class RunBudget:
    """Budget of one run. `way` names what kind of run it is for the next estimate, `expected_usd` what was expected of
    it without knowing others."""

    def __init__(
        self,
        services: Services,
        request: RunRequest,
        settings: ComplexitySettings,
        *,
        ask_user: AskUser,
        notice: Callable[[str], None],
    ) -> None:
        self.way = ""
        self.expected_usd = 0.0
        self._budget = services.budget
        self._request = request
        self._settings = settings
        self._ask_user = ask_user
        self._notice = notice
        self._confirmed = request.force or request.mode == "headless"  # an experiment has its own limit

    async def precheck(self, query: str, rates: Mapping[Role, Rate]) -> float:
        """The dollars that the words alone let expect. Raises OverBudget."""
        level = classify(query, self._settings.keyword_classifier).complexity
        usd = estimate(tokens_of(query), 0, level, routed(level, self._settings), rates, self._settings)
        await self.check(usd)
        return round(usd, 6)

    async def check(self, usd: float) -> None:
        """Look whether about so many dollars may be spent, and ask where that is beyond the soft limit.

        Asked once in a run. Raises OverBudget.
        """
        warning = await asyncio.to_thread(self._budget.check, usd, force=self._request.force)
        if warning is None or usd <= 0:  # what is free is no matter of money
            return
        if not self._confirmed:
            await confirm(warning, self._ask_user)
            self._confirmed = True
        self._notice(warning)

    async def expect(self, query: str, assessment: Assessment, context: ContextBundle, models: Models) -> float:
        """Dollars that this run is expected to cost, now that its way, context and models are known."""
        option = assessment.verification
        if option != "none" and self._request.verification is None:
            option = option_for(option, assessment.complexity)
        asked = tokens_of(query), context.tokens, assessment.complexity, option, models.rates
        self.way = " ".join(
            (assessment.complexity, option, *(each.model for each in (models.reasoning, models.solving) if each))
        )
        self.expected_usd = estimate(*asked, self._settings)
        past = await asyncio.to_thread(self._budget.past, self.way)
        return estimate(*asked, self._settings, past)
