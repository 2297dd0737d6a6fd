"""What an agent is told of a question that the nine phases worked on: the order, what is cut, and what failed."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_server.mcp.soar_tools import SOAR_TOOLS, AskArguments

REPLY = {
    "answer": "In expand().", "claims": [{"text": "expand fills it", "sources": ["SG1", "a.py:3"]}], "sources": [],
    "state": "complete", "score": 0.9, "cost_usd": 0.01, "unpriced_calls": 0, "id": "aurora-1", "error": "",
    "notices": [],
}  # fmt: skip


async def asked(reply: dict[str, Any], **given: Any) -> Any:
    class Link:
        async def request(self, method: str, params: dict[str, Any], **more: Any) -> dict[str, Any]:
            return {**REPLY, **reply}

    tool = next(each for each in SOAR_TOOLS if each.name == "aurora_query")
    link: Any = Link()
    return await tool.handler(link, AskArguments(query="where?", **given), lambda _: None)


@pytest.mark.parametrize(
    ("reply", "lines", "failed"),
    [
        pytest.param({}, ["In expand().", "- expand fills it [SG1, a.py:3]",
                          "(state complete, score 0.90, cost $0.0100; id aurora-1)"], False, id="answer first"),
        pytest.param({"answer": "", "claims": [], "state": "failed", "score": None, "error": "no model"},
                     ["no model", "(state failed, cost $0.0100; id aurora-1)"], True, id="an error before the facts"),
        pytest.param({"claims": [], "notices": ["n1", "n2"], "unpriced_calls": 2},
                     ["In expand().", "(state complete, score 0.90, cost $0.0100 and 2 calls of unknown price;"
                      " id aurora-1)", "note: n1", "note: n2"], False, id="notes behind them"),
        pytest.param({"claims": [], "state": "partial"},
                     ["In expand().", "(state partial, score 0.90, cost $0.0100; id aurora-1)"], False,
                     id="a part of an answer is one"),
    ],
)  # fmt: skip
async def test_what_is_told_of_an_answer(reply: dict[str, Any], lines: list[str], failed: bool) -> None:
    told = await asked(reply)
    assert told.text.split("\n") == lines and told.failed is failed


async def test_the_facts_are_told_however_long_the_answer_is() -> None:
    told = await asked({"answer": "word " * 5000, "claims": []}, max_tokens=200)
    assert told.text.split("\n")[-1] == "(state complete, score 0.90, cost $0.0100; id aurora-1)"
