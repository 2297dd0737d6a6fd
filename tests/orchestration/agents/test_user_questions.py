"""Choices on questions that agents put to the user, a rule each: which are put at all, and which answer holds."""

from __future__ import annotations

from typing import Any

from aurora_orchestration.agents.user_questions import MAX_QUESTIONS, UNANSWERED, Dialogue
from aurora_orchestration.types import Nobody


class User:
    """Answers with what is left, `None` standing for nobody."""

    def __init__(self, *answers: str | None) -> None:
        self.answers, self.asked = list(answers), list[str]()

    async def __call__(self, question: str) -> str:
        self.asked.append(question)
        answer = self.answers.pop(0)
        if answer is None:
            raise Nobody("nobody is there")
        return answer


def dialogue(user: Any) -> Dialogue:
    return Dialogue("coder", "SG1", user, lambda: 0.0)


async def test_what_was_asked_before_is_not_asked_again_however_it_is_spaced() -> None:
    user = User("blue", None)
    talk = dialogue(user)
    assert [await talk.ask(each) for each in ("Which one?", " Which\none? ")] == ["blue", "blue"]
    assert [await talk.ask("Sure?"), await talk.ask("Sure?")] == [None, None], "nobody is asked twice either"
    assert user.asked == ["coder (SG1): Which one?", "coder (SG1): Sure?"]
    assert [each.user_response for each in talk.interactions] == ["blue", UNANSWERED]
    assert [each.turn for each in talk.interactions] == [1, 2]


async def test_an_agent_may_ask_five_things_and_hear_old_answers_after_that() -> None:
    user = User(*"abcde")
    talk = dialogue(user)
    answers = [await talk.ask(f"{number}?") for number in range(MAX_QUESTIONS + 1)]
    assert answers == [*"abcde", None] and len(user.asked) == MAX_QUESTIONS
    assert await talk.ask("0?") == "a"


async def test_a_question_without_a_word_is_none_and_no_sign_in_one_commands_a_terminal() -> None:
    user = User("x")
    talk = dialogue(user)
    assert await talk.ask("  \n ") is None and not talk.interactions
    await talk.ask("a\x1b[2Jb")
    assert user.asked == ["coder (SG1): a\ufffd[2Jb"]
