"""Commands that record events: what can happen to a deliverable, one command each: their options, and the params
these stand for.
"""

from __future__ import annotations

from typing import Any

import click

from aurora_cli.command_types import Finite
from aurora_cli.deliverable_command import happening

PHASES = ("propose", "specs", "design", "tasks", "apply", "verify", "archive")
COMPLEXITIES = ("trivial", "simple", "moderate", "complex", "unknown")
FAILURES = (
    "spec_misunderstanding",
    "hallucination",
    "infinite_loop",
    "tool_failure",
    "constraint_violation",
    "incomplete",
    "regression",
)

WHOLE = click.IntRange(min=0)
SHARE = Finite(0, 1)
AMOUNT = Finite(min=0)


@happening("start")
@click.option("--description", metavar="TEXT", help="What it is, in a sentence.")
@click.option("--type", metavar="TYPE", help="feature, bugfix, refactoring, docs, chore, or your own.")
@click.option("--complexity", type=click.Choice(COMPLEXITIES), help="How hard it looks.")
@click.option("--framework", metavar="NAME", help="Where the spec is from: openspec, jira, markdown, prompt, …")
@click.option("--spec-id", metavar="ID", help="The spec within that: a folder, a ticket, a file.")
@click.option("--requirements", type=WHOLE, help="How many requirements the spec has.")
def start(
    description: str | None,
    type: str | None,
    complexity: str | None,
    framework: str | None,
    spec_id: str | None,
    requirements: int | None,
) -> dict[str, Any]:
    """Begin a deliverable, or say more of one that has begun."""
    return {
        "description": description,
        "type": type,
        "complexity": complexity,
        "framework": framework,
        "spec_id": spec_id,
        "requirements_count": requirements,
    }


@happening("phase", "phase", choices={"phase": PHASES})
@click.option("--end", is_flag=True, help="It ends, and none begins yet.")
def phase(end: bool) -> dict[str, Any]:
    """Begin a PHASE (propose, specs, design, tasks, apply, verify, archive); the one before ends with it."""
    return {"end": end}


@happening("task")
@click.option("--completed", "--done", type=WHOLE, help="How many are done now.")
@click.option("--total", type=WHOLE, help="How many there are.")
def task(completed: int | None, total: int | None) -> dict[str, Any]:
    """Say how many tasks are planned and done."""
    return {"completed": completed, "total": total}


@happening("tool-call", "tool")
@click.option("--count", type=click.IntRange(1, 1_000_000), default=1, show_default=True, help="How many times.")
@click.option("--ok/--failed", "succeeded", default=None, help="Whether it went well.")
@click.option("--seconds", type=AMOUNT, help="How long it took.")
def tool_call(count: int, succeeded: bool | None, seconds: float | None) -> dict[str, Any]:
    """Count calls of a TOOL."""
    return {"count": count, "succeeded": succeeded, "duration_seconds": seconds}


@happening("tokens")
@click.option("--input", "given", type=WHOLE, default=0, help="Input tokens.")
@click.option("--output", "produced", type=WHOLE, default=0, help="Output tokens.")
@click.option("--cached", type=WHOLE, default=0, help="Input tokens that came from a cache.")
@click.option("--cost", type=AMOUNT, help="What they cost, in US dollars.")
@click.option("--provider", metavar="NAME", help="Who ran the model.")
@click.option("--seconds", type=AMOUNT, help="How long it took.")
def tokens(
    given: int, produced: int, cached: int, cost: float | None, provider: str | None, seconds: float | None
) -> dict[str, Any]:
    """Add tokens and their cost."""
    return {
        "input_tokens": given,
        "output_tokens": produced,
        "cached_tokens": cached,
        "cost_usd": cost,
        "provider": provider,
        "duration_seconds": seconds,
    }


@happening("recovery")
@click.option("--reason", metavar="TEXT", help="What went wrong.")
@click.option("--failure-type", type=click.Choice(FAILURES), help="Of what kind that was.")
def recovery(reason: str | None, failure_type: str | None) -> dict[str, Any]:
    """Rework begins after a failure."""
    return {"reason": reason, "failure_type": failure_type}


@happening("iterate")
def iterate() -> dict[str, Any]:
    """Count one more apply cycle, where phases do not tell."""
    return {}


@happening("session", "session")
def session() -> dict[str, Any]:
    """A SESSION works on it."""
    return {}


@happening("intervention")
@click.option("--waited", type=AMOUNT, metavar="SECONDS", help="How long the work stood still for it.")
@click.option("--note", metavar="TEXT", help="What was decided.")
@click.option("--count", type=click.IntRange(0, 1_000_000), default=1, show_default=True, help="How many times.")
def intervene(waited: float | None, note: str | None, count: int) -> dict[str, Any]:
    """A person had to step in; a count of 0 says that nobody had to so far."""
    return {"waited_seconds": waited, "note": note, "count": count}


@happening("conform")
@click.option("--completed", type=WHOLE, help="Requirements that are met.")
@click.option("--total", type=WHOLE, help="Requirements there are.")
@click.option("--functional", type=SHARE, help="The share that is met, where it is not counted.")
@click.option("--correctness", type=SHARE, help="How correct it is, 0 to 1.")
@click.option("--violations", type=WHOLE, help="Constraints that were violated.")
@click.option("--constraints", type=SHARE, help="Adherence to constraints, where violations are not counted.")
def conform(
    completed: int | None,
    total: int | None,
    functional: float | None,
    correctness: float | None,
    violations: int | None,
    constraints: float | None,
) -> dict[str, Any]:
    """Say how it conforms to its spec; what is left out keeps what was said before."""
    return {
        "completed": completed,
        "total": total,
        "functional": functional,
        "correctness": correctness,
        "constraint_violations": violations,
        "constraints": constraints,
    }


@happening("tests")
@click.option("--passed", type=WHOLE, help="Tests that passed.")
@click.option("--failed", type=WHOLE, help="Tests that failed.")
@click.option("--ok/--not-ok", "succeeded", default=None, help="How the run ended.")
@click.option("--command", metavar="TEXT", help="What was run.")
def tests(passed: int | None, failed: int | None, succeeded: bool | None, command: str | None) -> dict[str, Any]:
    """A test run ended."""
    return {"passed": passed, "failed": failed, "succeeded": succeeded, "command": command}


@happening("complete")
@click.option("--reason", metavar="TEXT", help="A word on it.")
def complete(reason: str | None) -> dict[str, Any]:
    """It is accepted and archived; its five numbers are printed."""
    return {"reason": reason}


@happening("fail")
@click.option("--failure-type", type=click.Choice(FAILURES), help="Why, in AURA's words.")
@click.option("--reason", metavar="TEXT", help="Why, in yours.")
def fail(failure_type: str | None, reason: str | None) -> dict[str, Any]:
    """It is abandoned, or not good enough."""
    return {"failure_type": failure_type, "reason": reason}


COMMANDS = (
    start,
    phase,
    task,
    tool_call,
    tokens,
    recovery,
    iterate,
    session,
    intervene,
    conform,
    tests,
    complete,
    fail,
)
