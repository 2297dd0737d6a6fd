"""`aurora manifest validate` (linter): are these manifests right, and if not, where exactly? Needs no daemon."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO, get_args

import click
import msgspec

from aurora_cli.code_frame import code_frame
from aurora_cli.errors import BAD_INPUT, FINE, NO
from aurora_cli.global_options import GlobalOptions
from aurora_cli.manifest_check import Checked, checks, report, severities, summary
from aurora_cli.manifest_files import STANDARD_INPUT, WELL_KNOWN, UnreadableManifest
from aurora_cli.output import TerminalStyle, print_json, style_of
from aurora_manifest.check import unknown_rules
from aurora_manifest.findings import Finding
from aurora_manifest.fix_all import is_fixable
from aurora_manifest.kinds import MANIFEST
from aurora_protocol.human_text import count, plain
from aurora_server.configuration.settings import Level, load_manifest

PIPED_WIDTH = 120
"""Columns where there is no terminal: a long line is still cut around what is meant."""
_COLORS = {"error": "red", "warning": "yellow", "info": "cyan", "hint": "cyan"}
_SEVERITIES = tuple(_COLORS)


def _severities(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """`RULE=LEVEL` options as a mapping."""
    levels = get_args(Level)
    chosen: dict[str, str] = {}
    for each in given:
        rule, _, level = each.partition("=")
        if not rule or level not in levels:
            raise click.BadParameter(f'"{each}" is not RULE=LEVEL with one of {", ".join(levels)}', ctx, parameter)
        chosen[rule] = level
    return chosen


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE…]")
@click.option("--strict", is_flag=True, help="Warnings fail as well.")
@click.option(
    "--severity",
    "chosen",
    metavar="RULE=LEVEL",
    multiple=True,
    callback=_severities,
    help="Report RULE as error, warning, info or hint, or not at all (off). Repeatable.",
)
@click.option("--fix", is_flag=True, help="Mend what can be mended without a change of meaning, in the files.")
@click.option("--concise", is_flag=True, help="Print one line per finding: file:line:column: severity: message [rule].")
@click.option("--sarif", is_flag=True, help="Print SARIF 2.1.0, for code scanning services.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings only, no summary.")
@click.option(
    "--stdin-filename", metavar="NAME", default="<stdin>", help="What to call standard input, where FILE is -."
)
@click.pass_obj
def validate(
    settings: GlobalOptions,
    files: tuple[str, ...],
    strict: bool,
    chosen: dict[str, str],
    fix: bool,
    concise: bool,
    sarif: bool,
    quiet: bool,
    stdin_filename: str,
) -> int:
    """Check manifests: syntax, schema, and what AURA manifests mean.

    FILE may be a folder (every aura.json in it), a quoted pattern ('**/aura.json') or - (standard input). Without any,
    it is .well-known/aura.json of the workspace. AURORA's own files (.aurora/config.json, agents.json, documents of
    deliverables) are checked as what they are. Exits 0 when all are valid, 1 when one is not, 2 when one cannot be
    read.
    """
    formats = [name for name, on in (("--json", settings.json), ("--sarif", sarif), ("--concise", concise)) if on]
    if len(formats) > 1:
        raise click.UsageError(f"{' and '.join(formats)} exclude each other: choose one")
    if fix and STANDARD_INPUT in files:
        raise click.UsageError("--fix needs a file to write to, and standard input is none: name the file")
    style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
    if wrong := unknown_rules(chosen):
        raise click.UsageError(f"--severity: {wrong[0]}")
    levels = {**_configured(settings), **chosen}
    checked: list[Checked] = []
    unreadable: list[str] = []
    named, home = files or [_well_known(settings)], settings.address.home
    for each in checks(named, settings.here, stdin_filename, levels, home, fix=fix):
        if isinstance(each, UnreadableManifest):
            unreadable.append(str(each))
            print(f"aurora: {plain(str(each))}", file=sys.stderr)
            continue
        checked.append(each)
        if concise:
            _print_lines(mended_lines(each), sys.stderr)
            _print_lines(concise_lines(each))
        elif not formats:
            _print_lines(mended_lines(each))
            _print_lines(framed_lines(each, style))
    if settings.json:
        print_json(msgspec.to_builtins(report(checked, unreadable)))
    elif sarif:
        _print_sarif(checked, unreadable, settings.workspace)
    elif checked and not concise and not quiet:
        print(summary_line(checked, style))
    if unreadable:
        return BAD_INPUT
    found = severities(checked)
    return NO if found["error"] or (strict and found["warning"]) else FINE


def _print_lines(lines: Iterable[str], stream: TextIO | None = None) -> None:
    for line in lines:
        print(line, file=stream)


def _configured(settings: GlobalOptions) -> dict[str, Level]:
    """What the user's configuration says of severities. A rule it names that is none (any more) is told, no more."""
    levels = load_manifest(os.environ, settings.config).severities
    for each in unknown_rules(levels):
        print(f"aurora: manifest.severities in your configuration: {plain(each)}", file=sys.stderr)
    return levels


def _well_known(settings: GlobalOptions) -> str:
    """The workspace's manifest. Raises ClickException where there is none."""
    path = settings.workspace / WELL_KNOWN
    if not path.exists():
        raise click.ClickException(f"there is no {path}; name the file, or '**/aura.json' to check all there are")
    if not path.is_file():  # a pipe that nobody named is not waited for
        raise click.ClickException(f"{path} is no regular file; name it to have it read all the same")
    return os.fspath(path)


def _print_sarif(checked: Sequence[Checked], unreadable: Sequence[str], root: Path) -> None:
    """SARIF report on standard output."""
    from aurora_cli.sarif import log
    from aurora_manifest.rules import catalogue

    print_json(log(checked, unreadable, catalogue(), root))


def framed_lines(checked: Checked, style: TerminalStyle) -> Iterator[str]:
    """Every finding of a file, with the source and carets under what is meant."""
    for finding in checked.findings:
        color = partial(style.colored, color=_COLORS[finding.severity])
        yield f"{color(style.bold(f'{finding.severity}[{finding.rule}]'))}{style.bold(f': {plain(finding.message)}')}"
        place = style.dim(f"  {plain(finding.path)}") if finding.path else ""
        yield f"  {style.dim('-->')} {_place(checked, finding)}{place}"
        yield from code_frame(
            checked.lines, finding.start, finding.end, style.width or PIPED_WIDTH, mark=color, dim=style.dim
        )
        if finding.fix and is_fixable(finding):
            yield f"  {style.dim('=')} --fix can mend this: {plain(finding.fix.title)}"
        elif finding.fix:
            yield f"  {style.dim('=')} perhaps, for you to decide: {plain(finding.fix.title)}"
        yield ""


def concise_lines(checked: Checked) -> Iterator[str]:
    """Every finding of a file as `file:line:column: severity: message [rule]`, counted from 1 in characters."""
    for finding in checked.findings:
        yield f"{_place(checked, finding)}: {finding.severity}: {plain(finding.message)} [{finding.rule}]"


def mended_lines(checked: Checked) -> Iterator[str]:
    """What `--fix` has done to a file, in one line; nothing where it did nothing."""
    if checked.fixed:
        rules = Counter(each.rule for each in checked.fixed)
        told = ", ".join(f"{number:,} {rule}" for rule, number in rules.items())
        yield f"fixed {plain(checked.source.name)}: {told}"


def summary_line(checked: Sequence[Checked], style: TerminalStyle) -> str:
    """What it comes to, over all files."""
    numbers = severities(checked)
    manifests = [each for each in checked if each.kind is MANIFEST]
    noun = "manifest" if len(manifests) == len(checked) else "file"
    name = plain(checked[0].source.name) if len(checked) == 1 else count(len(checked), noun)
    if not manifests:
        name += f" ({', '.join(dict.fromkeys(each.kind.noun for each in checked))})"
    if not any(numbers.values()):
        if not manifests:
            return f"{style.colored('✓', 'green')} {name}: valid"
        sums = [summary(each.manifest) for each in manifests]
        declared = f"{count(sum(each.resources for each in sums), 'resource')}, "
        declared += _capabilities(sum(each.capabilities for each in sums))
        return f"{style.colored('✓', 'green')} {name}: valid, {declared}"
    bad = sum(not each.valid for each in checked)
    verdict = "valid" if not bad else "not valid" if len(checked) == 1 else f"{bad:,} not valid"
    found = ", ".join(_findings(numbers[each], each) for each in _SEVERITIES if numbers[each])
    fixable = sum(is_fixable(finding) for each in checked for finding in each.findings)
    advice = f"; --fix can mend {fixable:,}" if fixable else ""
    sign = style.colored("✗", "red") if bad else style.colored("!", "yellow")
    return f"{sign} {name}: {verdict}, {found}{advice}"


def _place(checked: Checked, finding: Finding) -> str:
    at = checked.lines.position(finding.start, "utf-32")
    return f"{plain(checked.source.name)}:{at.line + 1}:{at.character + 1}"


def _findings(number: int, severity: str) -> str:
    return f"{number:,} info" if severity == "info" else count(number, severity)


def _capabilities(number: int) -> str:
    return f"{number:,} {'capability' if number == 1 else 'capabilities'}"
