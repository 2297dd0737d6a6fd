"""`aurora/who` and what it carries: who knows a place in the code (expertise, code ownership). Keys are snake_case."""

from __future__ import annotations

from aurora_protocol.methods import Wire

WHO = "aurora/who"

COMMANDS = {"aurora.who": WHO}


class WhoParams(Wire, frozen=True, kw_only=True):
    """`aurora/who`: a file, a place in one (`src/auth.py:45`, `src/auth.py:login`), a name or a chunk's id."""

    place: str


class WhoPlace(Wire, frozen=True, kw_only=True):
    """Place that was asked about. Lines are 1-based, inclusive; its name is on `line`; `id` is null where it is a whole
    file.
    """

    id: str | None
    name: str
    file: str
    line_start: int
    line_end: int
    line: int
    workspace: str


class KnowingPerson(Wire, frozen=True, kw_only=True):
    """Somebody who knows a place: who changed it, as git tells, or used it, as the repository's record does.

    `author` is the id that his entries in a record have. `activation` is ACT-R's base level of his changes and uses.
    `lines` are those that stand there by him, with `uncommitted` ones; `name` is "" where he is you and git has none.
    """

    author: str
    name: str
    you: bool
    activation: float
    last_touch: str
    commits: int
    lines: int
    uses: int
    uncommitted: int = 0


class WhoResult(Wire, frozen=True, kw_only=True):
    """People who know a place, who knows it best first.

    `others`: more people used it who do not share who they are. `unknown` has a line for each thing that is not known.
    """

    place: WhoPlace
    people: list[KnowingPerson]
    others: bool
    unknown: list[str]
