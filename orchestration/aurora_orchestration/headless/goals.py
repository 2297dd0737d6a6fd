"""Goal of an experiment: what an experiment is to achieve: prompt.md (AURORA §9.8)."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from aurora_indexer.files.safe_read import NotARegularFile, read_prefix
from aurora_orchestration import OrchestrationError

MAX_PROMPT = 64 << 10
"""Bytes of a prompt file; more is no goal, and would not fit into a question."""

_BUDGET = re.compile(r"^[ \t>*-]*\**BUDGET_LIMIT:?\**:?[ \t]*(.*?)[ \t*]*$", re.MULTILINE)
_AMOUNT = re.compile(r"(?:\$|USD)?[ \t]*(\d{1,9}(?:\.\d{1,6})?)[ \t]*(?:\$|USD)?")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_MAX_TITLE = 120


class BadPrompt(OrchestrationError):
    """The prompt file cannot be read, or does not say what it should."""


class Experiment(Struct, frozen=True, kw_only=True):
    """A goal in its author's words, a line to name it by, and the dollars it may cost, if the file says so."""

    goal: str
    title: str
    budget_usd: float | None = None


def read_experiment(file: Path) -> Experiment:
    """The experiment `file` describes. Blocks for one read. Raises BadPrompt, with what is wrong and the next step."""
    try:
        content = read_prefix(str(file), MAX_PROMPT + 1, follow=True)
    except FileNotFoundError:
        raise BadPrompt(f"{file}: there is no such file; write the goal there, or name it with --prompt") from None
    except (OSError, NotARegularFile) as error:
        raise BadPrompt(f"{file} cannot be read: {error}; name another with --prompt") from error
    if len(content) > MAX_PROMPT:
        raise BadPrompt(
            f"{file} has more than {MAX_PROMPT >> 10} KiB; a goal is one page, keep the rest in other files"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPrompt(f"{file} is not UTF-8 (byte {error.start}); save it as UTF-8") from error
    return experiment_of(text, str(file))


def experiment_of(text: str, where: str) -> Experiment:
    """The experiment `text` describes; the last BUDGET_LIMIT counts. Pure. Raises BadPrompt."""
    limits = _BUDGET.findall(text)
    goal = _BUDGET.sub("", text).strip()
    if not goal:
        raise BadPrompt(f"{where} names no goal; write one measurable goal there")
    amount = _AMOUNT.fullmatch(limits[-1]) if limits else None
    if limits and amount is None:
        raise BadPrompt(f"{where}: BUDGET_LIMIT {limits[-1]!r} is no amount; write it as BUDGET_LIMIT: $5.00")
    return Experiment(goal=goal, title=_title(goal), budget_usd=float(amount.group(1)) if amount else None)


def _title(goal: str) -> str:
    """The first line of the goal's section if there is one, else the first heading or line."""
    after = re.search(r"(?im)^#{1,6}[ \t]+(?:goal|objective)\b.*\n+[ \t]*(?:[-*][ \t]+)?(\S.*)$", goal)
    heading = _HEADING.search(goal)
    title = after.group(1) if after else heading.group(1) if heading else goal.splitlines()[0]
    title = " ".join(title.replace("*", "").split())
    return title if len(title) <= _MAX_TITLE else f"{title[: _MAX_TITLE - 1]}…"
