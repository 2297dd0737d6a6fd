"""`aurora manifest validate`: are these manifests right, and if not, where exactly? Needs no daemon."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO, get_args

import click
import msgspec

from aurora_cli.errors import BAD_INPUT, FINE, NO
from aurora_cli.manifest_check import checks
from aurora_cli.manifest_files import STANDARD_INPUT, WELL_KNOWN, Unreadable
from aurora_cli.manifest_report import Checked, report, severities
from aurora_cli.manifest_view import concise_lines, framed_lines, mended_lines, summary_line
from aurora_cli.output import print_json, style_of
from aurora_cli.settings import Settings
from aurora_manifest.check import unknown_rules
from aurora_protocol.human_text import plain
from aurora_server.configuration.settings import Level, SettingsError, load_manifest


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
    settings: Settings,
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
    it is .well-known/aura.json of the workspace. Exits 0 when all are valid, 1 when one is not, 2 when one
    cannot be read.
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
    for each in checks(files or [_well_known(settings)], settings.here, stdin_filename, levels, fix=fix):
        if isinstance(each, Unreadable):
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


def _configured(settings: Settings) -> dict[str, Level]:
    """What the user's configuration says of severities. A rule it names that is none (any more) is told, no more."""
    try:
        levels = load_manifest(os.environ, settings.config).severities
    except SettingsError as error:
        raise click.ClickException(str(error)) from error
    for each in unknown_rules(levels):
        print(f"aurora: manifest.severities in your configuration: {plain(each)}", file=sys.stderr)
    return levels


def _well_known(settings: Settings) -> str:
    """The workspace's manifest. Raises ClickException where there is none."""
    path = settings.workspace / WELL_KNOWN
    if not path.exists():
        raise click.ClickException(f"there is no {path}; name the file, or '**/aura.json' to check all there are")
    return os.fspath(path)


def _print_sarif(checked: Sequence[Checked], unreadable: Sequence[str], root: Path) -> None:
    from aurora_cli.sarif import log
    from aurora_manifest.rules import catalogue

    print_json(log(checked, unreadable, catalogue(), root))
