"""Soft limit of the budget (spending confirmation): from there on a question is paid for only after its user said so
(AURORA §3.1, §9.4.2).
"""

from __future__ import annotations

from aurora_orchestration.guardrails.blocked import OverBudget
from aurora_orchestration.types import AskUser, Declined, Nobody

_YES = frozenset({"y", "yes"})
_ALLOWED = "allow it with --force, or raise the limit: aurora config set cost_budgets.soft_limit_usd AMOUNT"


async def confirm(warning: str, ask_user: AskUser) -> None:
    """Approval of the user (human in the loop), in spite of `warning`. Raises OverBudget: refused, or nobody there."""
    try:
        answer = await ask_user(question(warning))
    except Declined:
        answer = ""
    except Nobody:
        raise unconfirmed(warning) from None
    if answer.strip().lower() not in _YES:
        raise declined(warning)


def question(warning: str) -> str:
    """What the user is asked."""
    return f"{warning}.\nGo on? [y/N]"


def unconfirmed(warning: str) -> OverBudget:
    """Error where nobody is there to be asked."""
    return OverBudget(f"{warning}; nobody is there to confirm that: {_ALLOWED}")


def declined(warning: str) -> OverBudget:
    """Error where the user would rather not."""
    return OverBudget(f"{warning}; you did not go on, and nothing was asked")
