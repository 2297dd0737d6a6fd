"""What people and programs can call, set and meet is told of where they look for it."""

from __future__ import annotations

import inspect

import click

from aurora_manifest.rules import catalogue
from aurora_server.mcp.tools import BUILT_IN
from docs.generate import commands, methods, rules, settings
from docs.generate.citations import ROOT


def page(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_every_command_and_option_has_its_help_in_the_reference() -> None:
    text = page(commands.PAGE)
    seen = 0
    for command, ctx in commands.commands():
        seen += 1
        assert f"\n## {ctx.command_path}\n" in text
        assert (command.help or "").strip(), f"{ctx.command_path} has no help"
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.help, f"{ctx.command_path} {option.opts[0]} has no help"
    assert seen > 50


def test_every_setting_has_its_meaning_in_the_reference() -> None:
    text = page(settings.PAGE)
    for name, said in settings.settings():
        assert said.strip(), name
        if not name.startswith("signals.patterns."):  # five words of App. E, whose members say nothing more
            assert f"`{name}`" in text, name


def test_every_request_is_described_in_the_reference() -> None:
    text = page(methods.PAGE)
    described, answered = methods.names(), methods.handlers()
    assert set(answered) <= set(described), "answered, but named nowhere in the protocol"
    assert set(methods.commands()) <= set(answered), "a command without a request"
    for method, said in described.items():
        assert f"\n## {method}\n" in text
        told = said or inspect.getdoc(answered[method]) if method in answered else said
        assert told, (
            f"{method}: a sentence below its name in the protocol, or in its handler (whose file is in FEATURES?)"
        )


def test_every_rule_is_in_the_reference() -> None:
    text = page(rules.PAGE)
    assert [info.id for info in catalogue() if f"\n## {info.id}\n" not in text] == []


def test_every_mcp_tool_is_in_its_page_as_it_describes_itself() -> None:
    lines = page("docs/mcp.md").splitlines()
    rows = [
        f"| `{tool.name}` | {tool.description} | {'model calls' if tool.outside else 'nothing'} |" for tool in BUILT_IN
    ]
    assert [row for row in rows if row not in lines] == [], "rows of the table of tools"
    assert sum(line.startswith("| `aurora_") for line in lines) == len(rows), "a row of a tool that is gone"
