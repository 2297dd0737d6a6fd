"""Questions that agents put to the user (clarification, human in the loop): one at a time, few, recorded, and not on
the agent's own time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from aurora_orchestration.types import AskUser, Interaction, Nobody

MAX_QUESTIONS = 5
MAX_QUESTION = 2_000
MAX_ANSWER = 20_000
UNANSWERED = "(nobody answered)"


class Dialogue:
    """Dialogue with the user: what one agent asks about one subgoal. `turn` lets one agent speak at a time; `limit`
    stands still meanwhile.
    """

    def __init__(
        self, agent: str, subgoal: str, ask_user: AskUser, now: Callable[[], float], turn: asyncio.Lock | None = None
    ) -> None:
        self._who = f"{agent[:60]} ({subgoal})"
        self._ask_user = ask_user
        self._now = now
        self._turn = turn or asyncio.Lock()
        self._interactions: list[Interaction] = []
        self.limit: asyncio.Timeout | None = None

    @property
    def interactions(self) -> tuple[Interaction, ...]:
        """Every question so far, answered or not."""
        return tuple(self._interactions)

    async def ask(self, question: str) -> str | None:
        """Question to the user; None where nobody answers, or the agent asked too often: it does its best then.

        A question that was answered before is not put again.
        """
        asked = _plain(question)
        for before in self._interactions:
            if before.agent_question == asked:
                return None if before.user_response == UNANSWERED else before.user_response
        if not asked or len(self._interactions) >= MAX_QUESTIONS:
            return None
        loop = asyncio.get_running_loop()
        left = None
        if self.limit is not None and (until := self.limit.when()) is not None:
            left = until - loop.time()
            self.limit.reschedule(None)
        try:
            async with self._turn:
                answer: str | None = (await self._ask_user(f"{self._who}: {asked}"))[:MAX_ANSWER]
        except Nobody:
            answer = None
        finally:
            if self.limit is not None and left is not None:
                self.limit.reschedule(loop.time() + max(left, 0.0))
        self._interactions.append(
            Interaction(
                turn=len(self._interactions) + 1,
                agent_question=asked,
                user_response=UNANSWERED if answer is None else answer,
                timestamp=datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="milliseconds"),
            )
        )
        return answer


def _plain(text: str) -> str:
    """A question in one printable line: an agent must not be able to command the terminal."""
    line = " ".join(text[:MAX_QUESTION].split())
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in line)
