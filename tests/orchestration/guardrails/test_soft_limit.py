"""Soft limit of the budget: which answers pay, and who is asked."""

import pytest

from aurora_orchestration.guardrails.blocked import OverBudget
from aurora_orchestration.guardrails.soft_limit import confirm
from aurora_orchestration.types import Declined, Nobody


@pytest.mark.parametrize("answer", ["y", "Y", "yes", "YES", " yes\n"])
async def test_only_yes_pays(answer: str) -> None:
    async def say(question: str) -> str:
        assert question == "$9 of $10 are spent.\nGo on? [y/N]"
        return answer

    await confirm("$9 of $10 are spent", say)


@pytest.mark.parametrize("answer", ["", "n", "no", "yep", "yes, but", "ja", "1"])
async def test_everything_else_pays_nothing(answer: str) -> None:
    async def say(_: str) -> str:
        return answer

    with pytest.raises(OverBudget, match="you did not go on"):
        await confirm("$9 of $10 are spent", say)


@pytest.mark.parametrize(("refusal", "told"), [(Declined, "you did not go on"), (Nobody, "nobody is there")])
async def test_no_answer_pays_nothing(refusal: type[Exception], told: str) -> None:
    async def say(_: str) -> str:
        raise refusal

    with pytest.raises(OverBudget, match=told):
        await confirm("$9 of $10 are spent", say)
