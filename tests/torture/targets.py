"""What faults are tried on: every command of `aurora`, and every `aurora/*` method, with arguments that do something.

`test_table.py` compares both with what there is: a new command or method has to be given its row here.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import click

import aurora_protocol

COMMANDS: dict[str, tuple[str, ...]] = {
    "agents list": (),
    "agents refresh": (),
    "budget history": (),
    "budget reset": (),
    "budget status": (),
    "completion": ("bash",),
    "config get": (),
    "config init": (),
    "config path": (),
    "config set": ("deliverables.stuck_hours", "25"),
    "config show-defaults": (),
    "daemon run": (),
    "daemon start": (),
    "daemon status": (),
    "daemon stop": (),
    "dashboard": ("--no-open",),
    "deliverable complete": ("x",),
    "deliverable conform": ("x",),
    "deliverable criteria": ("x",),
    "deliverable events": ("x",),
    "deliverable export": ("x",),
    "deliverable fail": ("x", "--reason", "it broke"),
    "deliverable ingest": ("{folder}/events.jsonl",),
    "deliverable intervene": ("x", "--note", "took over"),
    "deliverable iterate": ("x",),
    "deliverable list": (),
    "deliverable phase": ("x", "apply"),
    "deliverable recovery": ("x",),
    "deliverable rename": ("x", "y"),
    "deliverable revive": ("x",),
    "deliverable session": ("x",),
    "deliverable show": ("x",),
    "deliverable start": ("begun", "--description", "a change"),
    "deliverable task": ("x", "--total", "3", "--done", "1"),
    "deliverable tests": ("x",),
    "deliverable tokens": ("x",),
    "deliverable tool-call": ("x",),
    "demo": (),
    "doctor": ("--repair",),
    "explain": ("second_one",),
    "index": (),
    "logs": (),
    "logs export": ("none",),
    "logs list": (),
    "logs search": ("second",),
    "logs today": (),
    "logs view": ("none",),
    "lsp": (),
    "manifest call": ("http://127.0.0.1:9/", "find"),
    "manifest crawl": ("http://127.0.0.1:9/",),
    "manifest do": ("http://127.0.0.1:9/", "find it"),
    "manifest fetch": ("http://127.0.0.1:9/",),
    "manifest serve": (),
    "manifest state": ("e30",),
    "manifest validate": ("{root}/aura.json",),
    "mcp": (),
    "mem": ("second_one",),
    "memory adopt": ("--list",),
    "memory export": ("{folder}/out.jsonl",),
    "memory import": ("{folder}/in.jsonl",),
    "memory restore": ("reas:none",),
    "metrics": (),
    "query": ("where is second_one",),
    "report cumulative": (),
    "report daily": (),
    "report monthly": (),
    "status": (),
    "team create": ("postgresql://127.0.0.1:9/hub", "red"),
    "team forget": ("--yes",),
    "team join": ("postgresql://127.0.0.1:9/hub",),
    "team key": ("red",),
    "team leave": ("red",),
    "team members": ("postgresql://127.0.0.1:9/hub", "red"),
    "team preview": (),
    "team status": (),
    "team sync": (),
    "trust": (),
    "uninstall": ("--yes",),
    "who": ("second_one",),
}
"""Arguments of each command; `{root}` is the workspace, `{folder}` a folder beside it."""

SERVE = ("daemon run", "dashboard", "lsp", "manifest serve", "mcp")
"""Commands that go on until they are ended."""

LOSE = ("team forget", "uninstall")
"""Commands after which memory is gone, as was asked for."""

METHODS: dict[str, dict[str, Any]] = {
    "aurora/assess": {"query": "compare second_one and first_one"},
    "aurora/budget": {},
    "aurora/decompose": {"query": "compare second_one and first_one"},
    "aurora/deliverable": {"action": "list"},
    "aurora/doctor": {},
    "aurora/explain": {"id": "second_one"},
    "aurora/index": {},
    "aurora/learn": {"query": "how are pigeons fed", "result": "twice a day", "score": 0.95},
    "aurora/memory/adopt": {"list": True},
    "aurora/memory/export": {"path": "{folder}/out.jsonl"},
    "aurora/memory/import": {"path": "{folder}/in.jsonl"},
    "aurora/memory/restore": {"id": "reas:none"},
    "aurora/metrics": {},
    "aurora/query": {"query": "where is second_one"},
    "aurora/recall": {"query": "second_one", "include_content": True},
    "aurora/repair": {},
    "aurora/report": {"period": "cumulative"},
    "aurora/status": {},
    "aurora/stop": {},
    "aurora/verify": {"query": "x"},
    "aurora/who": {"place": "second_one"},
}
"""Params of each method that a client may ask for."""

TOLD = {"aurora/askUser", "aurora/languageModel", "aurora/deliverableChanged"}
"""What the daemon asks of clients, or tells them."""

TARGETS: tuple[str, ...] = (*COMMANDS, *METHODS)


def commands() -> Iterator[str]:
    """Every command that can be given, as its words."""
    from aurora_cli.app import aurora

    def below(command: click.Command, words: tuple[str, ...], above: click.Context | None) -> Iterator[str]:
        if not isinstance(command, click.Group):
            yield " ".join(words)
            return
        context = click.Context(command, info_name=words[-1] if words else "aurora", parent=above)
        if words and command.invoke_without_command:
            yield " ".join(words)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from below(found, (*words, name), context)

    yield from below(aurora, (), None)


def known_methods() -> set[str]:
    """Every `aurora/*` method that the protocol names."""
    modules = [each.name for each in pkgutil.iter_modules(aurora_protocol.__path__) if each.name.endswith("methods")]
    return {
        value
        for name in modules
        for value in vars(importlib.import_module(f"aurora_protocol.{name}")).values()
        if isinstance(value, str) and re.fullmatch(r"aurora/[A-Za-z/]+", value)
    }
