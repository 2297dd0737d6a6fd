"""Commands that record events of a deliverable, generated from the events' types: an event's field is an option here.

What is slow to import is imported when such a command is made, so that `aurora deliverable ingest`, which runs in
agents' hooks, does not wait for it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from aurora_cli.command_types import Finite
from aurora_cli.deliverable_view import ended_lines, gap_lines, state_line
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json, style_of_output
from aurora_cli.session import open_session

if TYPE_CHECKING:
    from aurora_deliverables.choices import EventAction
    from aurora_protocol.client import Client

DELIVERABLE = "aurora/deliverable"

NAMES: Mapping[str, str] = {"intervention": "intervene"}
"""Commands that are called otherwise than their actions."""

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "completed": ("--completed", "--done"),
    "requirements_count": ("--requirements",),
    "duration_seconds": ("--seconds",),
    "input_tokens": ("--input",),
    "output_tokens": ("--output",),
    "cached_tokens": ("--cached",),
    "cost_usd": ("--cost",),
    "waited_seconds": ("--waited",),
    "constraint_violations": ("--violations",),
    "succeeded": ("--ok/--failed",),
    "deliverable_failed": ("--counts-as-failed/--counts-as-delivered",),
}
"""Options that are called otherwise than their fields. Any other field is an option of its own name …"""

OPTIONS_OF: Mapping[tuple[str, str], tuple[str, ...]] = {("tests", "succeeded"): ("--ok/--not-ok",)}
"""… and these where another option of the command has that name."""

UNITS: Mapping[str, str] = {"waited_seconds": "SECONDS", "spec_id": "ID", "type": "TYPE"}
"""What stands for the value in the help, where that is neither the kind of value nor TEXT or NAME."""

SHORT = 200
"""A text that may be longer than this is TEXT in the help, else it is a NAME."""


@cache
def names() -> Mapping[str, EventAction]:
    """The actions that record an event by the names of their commands."""
    from aurora_deliverables.event_request import ACTIONS

    return {NAMES.get(action, action): action for action in ACTIONS}


@cache
def command(action: EventAction) -> click.Command:
    """The command of an action: its event's fields as options, after the optional CHANGE those that are words."""
    from aurora_deliverables.event_request import ACTIONS, EventRequest, choices_of, members

    spec = ACTIONS[action]
    taken = [each for each in members(action) if each.name not in EventRequest.__struct_fields__]
    choices = {each.name: choices_of(each.annotation) for each in taken}

    def run(settings: GlobalOptions, /, words_: tuple[str, ...], **options: Any) -> None:
        change, named = split(words_, spec.words, choices)
        params = {"action": action, "change_id": change, **options, **named}
        record(settings, {key: value for key, value in params.items() if value is not None})

    shown = " ".join(["[CHANGE]", *(word.upper() for word in spec.words)])
    return click.Command(
        NAMES.get(action, action),
        help=spec.said,
        callback=click.pass_obj(run),
        params=[
            click.Argument(["words_"], nargs=-1, metavar=shown),
            *(
                _option(action, each.name, each.annotation, each.default)
                for each in taken
                if each.name not in spec.words
            ),
            *_about(),
        ],
    )


def _option(action: str, name: str, annotation: Any, default: Any) -> click.Option:
    """The option that a field is."""
    from msgspec import inspect

    from aurora_deliverables.event_request import choices_of, description_of

    said = description_of(annotation)
    spelled = OPTIONS_OF.get((action, name)) or OPTIONS.get(name) or (f"--{name.replace('_', '-')}",)
    more: dict[str, Any] = {"help": said, "metavar": UNITS.get(name)}
    kind = _kind(annotation)
    if isinstance(kind, inspect.BoolType):
        if default is None and "/" not in spelled[0]:
            spelled = (f"{spelled[0]}/--no-{spelled[0].removeprefix('--')}",)
        more |= {"is_flag": True, "default": default}
    elif choices := choices_of(annotation):
        more["type"] = click.Choice(choices)
    elif isinstance(kind, inspect.IntType):
        more["type"] = click.IntRange(min=kind.ge)
        more["default"] = default or None
        more["show_default"] = bool(default)
    elif isinstance(kind, inspect.FloatType):
        more["type"] = Finite(kind.ge, 1 if kind.le == 1 else None)
    else:
        short = isinstance(kind, inspect.StrType) and (kind.max_length or SHORT + 1) <= SHORT
        more["metavar"] = UNITS.get(name, "NAME" if short else "TEXT")
    return click.Option([*spelled, name], **more)


def _kind(annotation: Any) -> Any:
    """What a value is, by msgspec's account of the type: that beside null."""
    from msgspec import inspect

    kind = inspect.type_info(annotation)
    while isinstance(kind, inspect.Metadata | inspect.UnionType):
        if isinstance(kind, inspect.Metadata):
            kind = kind.type
        else:
            kind = next(each for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind


def named_change(change: str | None) -> str | None:
    """A change as it was named; None for the only one that is open. Raises UsageError where the name is empty."""
    if change is not None and not change.strip():
        raise click.UsageError("the name of a change is empty", click.get_current_context())
    return change


def split(
    given: tuple[str, ...], words: Sequence[str], choices: Mapping[str, tuple[str, ...]]
) -> tuple[str | None, dict[str, str]]:
    """The change that was named, if one was, and the words after it. Raises UsageError."""
    if len(given) not in (len(words), len(words) + 1):
        wanted = " ".join(["[CHANGE]", *(word.upper() for word in words)])
        raise click.UsageError(f"expected {wanted}, got {len(given)} arguments", click.get_current_context())
    change = named_change(given[0] if len(given) > len(words) else None)
    named = dict(zip(words, given[len(given) - len(words) :], strict=True))
    for word, value in named.items():
        allowed = choices.get(word)
        if allowed and value not in allowed:
            raise click.UsageError(
                f"{value!r} is no {word}; choose from {', '.join(allowed)}", click.get_current_context()
            )
    return change, named


def record(settings: GlobalOptions, params: dict[str, Any]) -> None:
    """Tell the daemon what happened; print what the deliverable is now. Raises RequestFailed when it is refused."""
    with open_session(settings, settings.workspace) as client:
        state = client.request(DELIVERABLE, params)
        final = shown = None
        if not settings.json:
            shown = client.request(DELIVERABLE, {"action": "criteria", "change_id": state["change_id"]})
            if params["action"] in ("complete", "fail"):
                final = client.request(DELIVERABLE, {"action": "export", "change_id": state["change_id"]})
    if "change_id" not in params:
        print(f"aurora: {state['change_id']} is meant, the only one that is open", file=sys.stderr)
    if shown is None:
        print_json(state)
        return
    style = style_of_output(settings)
    print(state_line(state, style, shown.get("name")))
    if final is not None:
        print("\n".join(ended_lines(final, style)))
    if shown["gaps"] and params["action"] == "complete":
        print("\n".join(gap_lines(shown["gaps"], style)))


def called(client: Client, change_id: str) -> str | None:
    """What a deliverable is called now; the document of AURA-M §5.1 knows only the name that it began with."""
    name = client.request(DELIVERABLE, {"action": "criteria", "change_id": change_id}).get("name")
    return name if isinstance(name, str) else None


def _about() -> list[click.Option]:
    """Options of the envelope, which every event has."""
    return [
        click.Option(
            ["--at"],
            metavar="TIME",
            callback=with_zone,
            help="When it happened (ISO 8601; local time where it names no zone). [default: now]",
        ),
        click.Option(["--event-id"], metavar="ID", help="The same id twice is one event."),
        click.Option(["--session"], metavar="ID", help="The session it happened in."),
        click.Option(["--agent"], metavar="NAME", help="Who did it."),
        click.Option(["--model"], metavar="NAME", help="The agent's model."),
        click.Option(["--agent-framework"], metavar="NAME", help="What the agent runs in."),
    ]


def with_zone(_: click.Context, __: click.Parameter, given: str | None) -> str | None:
    """A time with its zone: a person who names none means that of the clock on the wall. Raises BadParameter."""
    if given is None:
        return None
    from aurora_protocol.rfc3339 import parsed

    try:
        return parsed(given).astimezone().isoformat()
    except (ValueError, OverflowError, OSError) as error:
        raise click.BadParameter(f"{given[:100]!r} is no time; write a time as 2026-02-26T10:00") from error
