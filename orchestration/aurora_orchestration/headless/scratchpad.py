"""Scratchpad: the working memory between iterations, a file (scratchpad.md) that people and agents edit (AURORA §9.8).

Iterations are only ever appended, and what agents wrote stays. Every change replaces the file at once, so that a kill
leaves the text before it or after it. Cost and count live in the file alone: an experiment goes on where it was left.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from aurora_indexer.files.safe_read import NotARegularFile, read_prefix
from aurora_orchestration import OrchestrationError
from aurora_protocol.human_text import without_controls
from aurora_protocol.strict_modes import link_complaint

MAX_SCRATCHPAD = 4 << 20
"""Bytes of a scratchpad that is gone on with."""

MAX_LINE = 2_000
"""Characters of an action, observation or next step that are noted; the conversation log has it all."""

TITLE = "# Headless Experiment Scratchpad"
_FIELD = re.compile(r"^\*\*(Experiment|Started|Current Iteration|Cost So Far):\*\*[ \t]*(.*)$", re.MULTILINE)
_ITERATION = re.compile(r"^## Iteration (\d{1,6})\b.*$", re.MULTILINE)
_STATUS = re.compile(r"^\*\*STATUS:\*\*[ \t]*(\S+)[ \t]*$", re.MULTILINE)
_TREE = re.compile(r"^\*\*Tree:\*\*[ \t]*([0-9a-f]{8,64})[ \t]*$", re.MULTILINE)
_GOAL = re.compile(r"^\*\*Goal:\*\*[ \t]*([0-9a-f]{8,64})[ \t]*$", re.MULTILINE)
_COST = re.compile(r"\$(\d+(?:\.\d+)?)")
_BODY = re.compile(r"^\*\*(?:Action|Observation|Decision):\*\*", re.MULTILINE)


class BadScratchpad(OrchestrationError):
    """The scratchpad cannot be read, written, or gone on with."""


class Progress(Struct, frozen=True, kw_only=True):
    """Progress as a scratchpad has it: iterations begun, dollars spent, how it ended last ("" while it has not).

    `tree` is the digest of the work tree in which the goal was met last, `goal` that of the goal it ended with, where
    that counts; `unfinished` says that the last iteration was
    begun and never told of: its process was killed.
    """

    iterations: int = 0
    cost_usd: float = 0.0
    status: str = ""
    tree: str = ""
    goal: str = ""
    unfinished: bool = False


class Scratchpad:
    """Scratchpad of one experiment. All methods block for a read, and those that write for a write."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._place = Path(os.path.realpath(file))
        self._kept: str | None = None

    def text(self) -> str:
        """What it holds; "" where there is none yet. Raises BadScratchpad.

        Once begun, what agents put in its place (a folder, a pipe, a flood) is moved aside and the notes are put back.
        """
        if self._kept is None:
            return self._read()
        try:
            # Links that agents make lead anywhere: to what is not theirs, and must not be ours to write.
            text = self._read() if os.path.realpath(self.file) == str(self._place) else None
        except BadScratchpad:
            text = None
        if text is None or (self._kept and not text and not self.file.exists()):
            return self._put_back(self._kept)
        return text

    def _read(self) -> str:
        """Text of the file, bounded. Raises BadScratchpad."""
        try:
            content = read_prefix(str(self.file), MAX_SCRATCHPAD + 1, follow=True)
        except FileNotFoundError:
            return ""
        except (OSError, NotARegularFile) as error:
            raise BadScratchpad(f"{self.file} cannot be read: {error}; name another with --scratchpad") from error
        if len(content) > MAX_SCRATCHPAD:
            raise BadScratchpad(f"{self.file} has more than {MAX_SCRATCHPAD >> 20} MiB; move it away to start anew")
        return content.decode("utf-8", "replace")

    def _put_back(self, kept: str) -> str:
        """Restore of the notes as they were last, with a word of where what stands in their way now is."""
        told = "It was gone and is put back as it was before"
        try:
            if (stands := _in_the_way(self.file, self._place)) is not None:
                aside = _free_beside(stands)
                stands.rename(aside)
                self._place = Path(os.path.realpath(self.file))
                told = f"What agents put in its place is in {aside.name}; these are the notes as they were before"
        except OSError as error:
            raise BadScratchpad(
                f"{self.file} cannot be put back: {error.strerror}; name another with --scratchpad"
            ) from error
        text = f"{kept.rstrip()}\n**Scratchpad:** {told}\n"
        self._write(text)
        return text

    def begin(self, title: str, limit: int, budget_usd: float | None, now: datetime) -> Progress:
        """Start the experiment, or go on with the one that is there. Returns how far it is."""
        if problem := link_complaint(self.file):
            raise BadScratchpad(f"no notes are written to {self.file}: {problem}")
        text = self.text()
        if self.file.is_symlink() and text.strip() and TITLE not in text:
            raise BadScratchpad(
                f"{self.file} is a link to {self._place}, which is no scratchpad; take the link away, or name a file "
                "with --scratchpad"
            )
        if text.strip() and TITLE not in text:
            # Notes somebody left for the agent: they stay, below the header.
            text = f"{_header(title, limit, budget_usd, now)}\n{text.strip()}\n"
        elif not text.strip():
            text = _header(title, limit, budget_usd, now)
        progress = progress_of(text)
        if progress.unfinished:
            text = (
                f"{text.rstrip()}\n**Observation:** Interrupted before it ended; what it cost is not in the sum above\n"
            )
        self._write(_with_fields(text, progress.iterations, limit, progress.cost_usd, budget_usd))
        return progress

    def begin_iteration(
        self, number: int, limit: int, cost_usd: float, budget_usd: float | None, now: datetime
    ) -> None:
        """Note that an iteration begins."""
        text = _with_fields(self.text(), number, limit, cost_usd, budget_usd)
        self._write(f"{text.rstrip()}\n\n## Iteration {number} ({now:%H:%M:%S})\n")

    def end_iteration(
        self, lines: tuple[tuple[str, str], ...], number: int, limit: int, cost_usd: float, budget_usd: float | None
    ) -> None:
        """Note what came of it: (label, text) as `**Label:** text`, each on one line."""
        body = "\n".join(f"**{label}:** {one_line(text)}" for label, text in lines if text.strip())
        self._write(_with_fields(f"{self.text().rstrip()}\n{body}\n", number, limit, cost_usd, budget_usd))

    def end(self, status: str, reason: str, iterations: int, cost_usd: float, tree: str = "", goal: str = "") -> None:
        """Note how it ended, and with which work tree or goal where that counts (digests)."""
        self._write(
            f"{self.text().rstrip()}\n\n---\n\n**STATUS:** {status}\n**Reason:** {one_line(reason)}\n"
            f"**Total Cost:** {dollars(cost_usd)}\n**Total Iterations:** {iterations}\n"
            + (f"**Tree:** {tree}\n" if tree else "")
            + (f"**Goal:** {goal}\n" if goal else "")
        )

    def unconfirmed(self, signal: str, before: str) -> None:
        """Have every line by which agents claim the goal say that it is a claim: scripts look for the signal.

        `before` is the text before they worked; a status that is not in it is theirs as well.
        """
        text = self.text()
        claimed = _signal(signal).sub(lambda line: line[0].replace(f"{signal}:", "Claimed, not confirmed:"), text)
        ours = len(_STATUS.findall(before))
        forged = [found for found in list(_STATUS.finditer(claimed))[ours:] if found.group(1) == signal]
        for found in reversed(forged):
            claimed = f"{claimed[: found.start()]}Claimed, not confirmed: a status{claimed[found.end() :]}"
        if claimed != text:
            self._write(claimed)

    def _write(self, text: str) -> None:
        """Put `text` in the file's place atomically (temporary file, rename); a link stays one."""
        try:
            target = self._place
            target.parent.mkdir(parents=True, exist_ok=True)
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
            handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(text.encode("utf-8"))
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).chmod(mode)
                Path(name).replace(target)
                self._kept = text
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise BadScratchpad(
                f"{self.file} cannot be written: {error.strerror}; name another with --scratchpad"
            ) from error


def _in_the_way(file: Path, place: Path) -> Path | None:
    """What stands where the scratchpad was: a link, something that is no file, or no folder above it."""
    for each in (*reversed(place.parents), place):
        if each.is_symlink() or (os.path.lexists(each) and each != place and not each.is_dir()):
            return each
    # It was a link of the user's and is another now; else what is there cannot be gone on with.
    there = file if os.path.realpath(file) != str(place) else place
    return there if os.path.lexists(there) else None


def _free_beside(path: Path) -> Path:
    """Free backup name beside a path."""
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.aside-{number}")):
        number += 1
    return aside


def progress_of(text: str) -> Progress:
    """Progress that a scratchpad's text tells. Pure; anything is a text."""
    fields = dict(_FIELD.findall(text.split("\n---", 1)[0]))
    iterations = list(_ITERATION.finditer(text))
    cost = _COST.match(fields.get("Cost So Far", ""))
    statuses = list(_STATUS.finditer(text))
    last = iterations[-1].end() if iterations else 0
    ended = statuses[-1] if statuses and statuses[-1].start() >= last else None
    return Progress(
        iterations=max((int(each.group(1)) for each in iterations), default=0),
        cost_usd=float(cost.group(1)) if cost else 0.0,
        status=ended.group(1) if ended else "",
        tree=met.group(1) if ended and (met := _TREE.search(text, ended.end())) else "",
        goal=told.group(1) if ended and (told := _GOAL.search(text, ended.end())) else "",
        unfinished=bool(iterations) and ended is None and not _BODY.search(text, last),
    )


def signals(text: str, signal: str) -> int:
    """How many lines of `text` give the signal: `SIGNAL: reason`, or it as a status.

    It counts as a line of its own or as a decision, so that talking of the signal does not set it off; nor does a
    template of it, whose reason is in brackets.
    """
    return len(_signal(signal).findall(text)) + list(_STATUS.findall(text)).count(signal)


def _signal(signal: str) -> re.Pattern[str]:
    return re.compile(
        rf"^[ \t]*(?:[-*][ \t]+)?(?:\*\*Decision:\*\*[ \t]*)?{re.escape(signal)}:[ \t]*[^\s\[<{{].*$", re.MULTILINE
    )


def one_line(text: str, most: int = MAX_LINE) -> str:
    """`text` on one line that no heading, status or signal can begin."""
    flat = " ".join(without_controls(text).split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def dollars(amount: float) -> str:
    """`$0.45`; parts of a cent where there are any, so that sums stay right over many resumes."""
    exact = f"{amount:.6f}".rstrip("0")
    return f"${exact}" if len(exact.partition(".")[2]) >= 2 else f"${amount:.2f}"


def _header(title: str, limit: int, budget_usd: float | None, now: datetime) -> str:
    return (
        f"{TITLE}\n\n**Experiment:** {one_line(title)}\n**Started:** {now:%Y-%m-%d %H:%M:%S}\n"
        f"**Current Iteration:** 0 / {limit}\n**Cost So Far:** {_dollars(0.0, budget_usd)}\n\n---\n"
    )


def _with_fields(text: str, number: int, limit: int, cost_usd: float, budget_usd: float | None) -> str:
    """`text` with its header up to date; a header somebody removed is put back."""
    head, mark, body = text.partition("\n---")
    new = {"Current Iteration": f"{number} / {limit}", "Cost So Far": _dollars(cost_usd, budget_usd)}
    for label, value in new.items():
        line = f"**{label}:** {value}"
        found = re.search(rf"^\*\*{label}:\*\*.*$", head, re.MULTILINE)
        head = f"{head[: found.start()]}{line}{head[found.end() :]}" if found else f"{head.rstrip()}\n{line}\n"
    return f"{head}{mark}{body}"


def _dollars(cost_usd: float, budget_usd: float | None) -> str:
    return f"{dollars(cost_usd)} / {dollars(budget_usd) if budget_usd is not None else 'no limit'}"
