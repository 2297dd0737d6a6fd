"""Questions that agents have for the user: who answers them is the server's business."""

from __future__ import annotations

from typing import Protocol


class Nobody(Exception):
    """There is no user to ask, or they gave no answer."""


class Declined(Nobody):
    """The user was asked, and gave no answer."""


class AskUser(Protocol):
    """Puts one question to the user; a terminal prompt, LSP or MCP elicitation."""

    async def __call__(self, question: str) -> str:
        """The user's answer. Raises `Nobody`."""


async def ask_nobody(question: str) -> str:
    """What runs without a user are given."""
    raise Nobody(f"nobody is there to answer: {question[:200]}")
