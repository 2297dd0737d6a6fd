"""Manifest finding view: how findings in manifests look: with the source around them, or one line each for other
programs to match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from aurora_cli.code_frame import code_frame
from aurora_cli.manifest_report import Checked, severities, summary
from aurora_cli.output import Style
from aurora_manifest.findings import Finding
from aurora_manifest.fix_all import is_fixable
from aurora_protocol.human_text import count, plain

PIPED_WIDTH = 120
"""Columns where there is no terminal: a long line is still cut around what is meant."""

_COLORS = {"error": "red", "warning": "yellow", "info": "cyan", "hint": "cyan"}
_SEVERITIES = tuple(_COLORS)


def framed_lines(checked: Checked, style: Style) -> Iterator[str]:
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


def summary_line(checked: Sequence[Checked], style: Style) -> str:
    """What it comes to, over all files."""
    numbers = severities(checked)
    sums = [summary(each.manifest) for each in checked]
    name = plain(checked[0].source.name) if len(checked) == 1 else count(len(checked), "manifest")
    if not any(numbers.values()):
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
