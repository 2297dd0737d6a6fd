"""Soft limit of the budget: from there on a question is paid for only after its user said so (AURORA §3.1, §9.4.2)."""

from __future__ import annotations

from aurora_orchestration.guardrails.blocked import OverBudget
from aurora_orchestration.types import AskUser, Declined, Nobody

_YES = frozenset({"y", "yes"})
_ALLOWED = "allow it with --force, or raise the limit: aurora config set cost_budgets.soft_limit_usd AMOUNT"


async def confirm(warning: str, ask_user: AskUser) -> None:
    """Ask whether to go on in spite of `warning`. Raises OverBudget where the answer is no, or nobody is there."""
    try:
        answer = await ask_user(f"{warning}.\nGo on? [y/N]")
    except Declined:
        answer = ""
    except Nobody:
        raise OverBudget(f"{warning}; nobody is there to confirm that: {_ALLOWED}") from None
    if answer.strip().lower() not in _YES:
        raise OverBudget(f"{warning}; you did not go on, and nothing was asked")
