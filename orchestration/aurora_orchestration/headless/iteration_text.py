"""Texts of one iteration of headless mode: its prompt, what is noted of it, what the judge sees of it (§9.8). Pure."""

from __future__ import annotations

from aurora_orchestration.headless.goals import Experiment, Observed
from aurora_orchestration.headless.work_tree import Changes
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.types import SubgoalResult
from aurora_protocol.human_text import without_controls

MAX_QUERY = 9_000
"""Characters of the question of one iteration; guardrails let 10,000 pass."""

_MAX_NOTES = 4_000


def query_of(experiment: Experiment, notes: str, signal: str) -> str:
    """The question of one iteration: the goal, what was noted last, what is wanted. Pure; at most `MAX_QUERY` long.

    The goal's title comes first: it is what memory shows of what was learned.
    """
    wanted = (
        "Take the next step towards the goal, and report what was done and observed. End with one line: "
        f"'{signal}: <reason>' if every criterion of the goal has been observed to hold, else 'Next step: <what>'."
    )
    room = MAX_QUERY - len(wanted) - len(experiment.title) - 100
    # Agents write there too: what no question may have in it would end the run at the next one.
    noted = without_controls(notes.partition("\n---\n")[2]).strip()
    noted = noted[-min(_MAX_NOTES, max(0, room - len(experiment.goal))) :] if len(experiment.goal) < room else ""
    goal = experiment.goal[:room]
    return f"{experiment.title}\n\nGoal:\n{goal}\n\nNotes of earlier iterations:\n{noted or '(none)'}\n\n{wanted}"


def action(record: RunRecord) -> str:
    """What agents did, and how each of them that failed did so."""
    tried = [result for result in record.results if not result.skipped]
    if tried:
        return "; ".join(map(_done, tried))
    if record.from_memory is not None:
        return "None: an earlier answer was given again"
    if record.state in ("complete", "partial") and record.answer:
        return "None: a model answered, no agent was started"
    return f"None: the run ended as {record.state} before an agent was started"


def _done(result: SubgoalResult) -> str:
    what, code = result.subgoal.description, result.response.metadata.exit_code
    if result.response.status != "error":
        return what
    why = result.response.error or (f"exit code {code}" if code else "")
    return f"{what} (failed{': ' + why if why else ''})"


def observation(record: RunRecord) -> str:
    """What came of it: why it failed where it did, else what the answer says."""
    scored = f" (score {record.score:.2f})" if record.score is not None else ""
    said = record.answer
    if record.error and record.state not in ("complete", "partial"):
        return f"The run {_ENDED.get(record.state, record.state)}: {record.error}{scored}"
    if record.error:
        return f"{said or 'No answer'}{scored}; {record.error}"
    return (said or f"The run ended as {record.state}") + scored


CLAIM = "goal claimed to be met"
"""What agents' words, names of files and of branches say in the place of the signal."""

_ENDED = {"failed": "failed", "blocked": "was blocked", "cancelled": "was cancelled", "no_provider": "found no model"}


def nothing_done(record: RunRecord, happened: Changes) -> str:
    """Why a claim is not even judged: nothing was done that it could rest on. "" where something was."""
    if record.from_memory is not None:
        return "the answer is an earlier run's, nothing was done now"
    if record.state not in ("complete", "partial"):
        return f"the run ended as {record.state}"
    tried = [result for result in record.results if not result.skipped]
    if tried and all(result.response.status == "error" for result in tried):
        return "every agent failed"
    if not tried and not happened:
        return "no agent was started, and nothing has changed"
    return ""


def observed(record: RunRecord, happened: Changes) -> Observed:
    """What was seen of an iteration, besides what agents say of it."""
    return Observed(
        commits=happened.commits,
        changed_files=happened.files,
        diff=happened.diff,
        agents=tuple(
            {
                "agent": result.response.agent_id or result.subgoal.agent,
                "task": result.subgoal.description,
                "status": "not begun" if result.skipped else result.response.status,
                "exit_code": result.response.metadata.exit_code,
                "error": result.skipped or result.response.error,
            }
            for result in record.results
        ),
        score=record.score,
    )
