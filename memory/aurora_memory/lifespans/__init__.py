"""Lifespans: how long a chunk is kept and how fast it fades: conditions, policies, verdicts (AURORA §6.7.1, App.
C.2). Pure.
"""

from aurora_memory import StoreError


class PolicyError(StoreError):
    """Error of a lifespan policy or retention rule; the message names it, the field and what is expected."""


class ConditionError(PolicyError):
    """Error of a condition that does not parse.

    `column` is 1-based, `problem` what is wrong there and what was expected.
    """

    def __init__(self, column: int, problem: str) -> None:
        super().__init__(f"column {column}: {problem}")
        self.column = column
        self.problem = problem
