"""Commands that say what happens to a deliverable: how one is made of a function, and what it does when it is run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import click

from aurora_cli.deliverable_view import ended_lines, state_line
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json, style_of_output
from aurora_cli.session import open_session

DELIVERABLE = "aurora/deliverable"


def happening(
    name: str, *words: str, choices: Mapping[str, tuple[str, ...]] | None = None
) -> Callable[[Callable[..., dict[str, Any]]], click.Command]:
    """Make a command of a function from its options to the request's params.

    `words` are what comes after the optional CHANGE; `choices` are what a word may be.
    """

    def made(params_of: Callable[..., dict[str, Any]]) -> click.Command:
        @click.pass_obj
        def run(settings: GlobalOptions, /, words_: tuple[str, ...], **options: Any) -> None:
            change, named = split(words_, words, choices or {})
            about = {key: options.pop(key) for key in ("at", "event_id", "in_session", "agent", "model", "framework_")}
            params = {"action": name, "change_id": change, **_named(about), **params_of(**options), **named}
            record(settings, {key: value for key, value in params.items() if value is not None})

        shown = " ".join(["[CHANGE]", *(word.upper() for word in words)])
        command = click.command(name.replace("intervention", "intervene"), help=params_of.__doc__)(run)
        command.params = [
            click.Argument(["words_"], nargs=-1, metavar=shown),
            *reversed(getattr(params_of, "__click_params__", [])),
            *_about(),
        ]
        return command

    return made


def split(
    given: tuple[str, ...], words: tuple[str, ...], choices: Mapping[str, tuple[str, ...]]
) -> tuple[str | None, dict[str, str]]:
    """The change that was named, if one was, and the words after it. Raises UsageError."""
    if len(given) not in (len(words), len(words) + 1):
        wanted = " ".join(["[CHANGE]", *(word.upper() for word in words)])
        raise click.UsageError(f"expected {wanted}, got {len(given)} arguments", click.get_current_context())
    change = given[0] if len(given) > len(words) else None
    named = dict(zip(words, given[len(given) - len(words) :], strict=True))
    for word, value in named.items():
        allowed = choices.get(word)
        if allowed is not None and value not in allowed:
            raise click.UsageError(
                f"{value!r} is no {word}; choose from {', '.join(allowed)}", click.get_current_context()
            )
    return change, named


def record(settings: GlobalOptions, params: dict[str, Any]) -> None:
    """Tell the daemon what happened; print what the deliverable is now. Raises RequestFailed when it is refused."""
    with open_session(settings, settings.workspace) as client:
        state = client.request(DELIVERABLE, params)
        ended = params["action"] in ("complete", "fail")
        final = client.request(DELIVERABLE, {"action": "export", "change_id": state["change_id"]}) if ended else None
    if "change_id" not in params:
        print(f"aurora: {state['change_id']} is meant, the only one that is open", file=sys.stderr)
    if settings.json:
        print_json(state)
        return
    style = style_of_output(settings)
    print(state_line(state, style))
    if final is not None:
        print("\n".join(ended_lines(final, style)))


def _about() -> list[click.Option]:
    return [
        click.Option(
            ["--at"],
            metavar="TIME",
            callback=_with_zone,
            help="When it happened (ISO 8601; local time where it names no zone). [default: now]",
        ),
        click.Option(["--event-id"], metavar="ID", help="The same id twice is one event."),
        click.Option(["--session", "in_session"], metavar="ID", help="The session it happened in."),
        click.Option(["--agent"], metavar="NAME", help="Who did it."),
        click.Option(["--model"], metavar="NAME", help="The agent's model."),
        click.Option(["--agent-framework", "framework_"], metavar="NAME", help="What the agent runs in."),
    ]


def _with_zone(_: click.Context, __: click.Parameter, given: str | None) -> str | None:
    """A time with its zone: a person who names none means that of the clock on the wall. Raises BadParameter."""
    if given is None:
        return None
    try:
        return datetime.fromisoformat(given).astimezone().isoformat()
    except (ValueError, OverflowError, OSError) as error:
        raise click.BadParameter(f"{given[:100]!r} is no time; write a time as 2026-02-26T10:00") from error


def _named(about: Mapping[str, Any]) -> dict[str, Any]:
    names = {"in_session": "session", "framework_": "agent_framework"}
    return {names.get(key, key): value for key, value in about.items() if value is not None}
