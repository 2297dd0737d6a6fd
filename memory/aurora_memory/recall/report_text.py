"""Text of a bug report or issue, its boilerplate removed: a template's comments, headings and ticked boxes, addresses,
and tables of installed versions.

Such lines name packages and tools, and a recall of their words finds the module that prints them, or the form. Pure.
"""

from __future__ import annotations

import re

LISTED = 4
"""Lines in a row that make a table of versions, where a third of them tell one."""

PROMPT = 90
"""Characters of a line that may be a heading of a form."""

_PROMPTS = frozenset(
    line.strip()
    for line in """
    a clear and concise description of what the bug is
    a clear and concise description of what you expected to happen
    actual behavior
    actual output
    actual result
    add any other context about the problem here
    additional context
    additional info
    additional information
    anything else we need to know
    bug description
    bug report
    bug summary
    code for reproduction
    code sample
    command used
    context
    current behavior
    describe alternatives you've considered
    describe the bug
    describe the issue
    describe the problem
    describe the solution you'd like
    description
    environment
    environment info
    environment information
    example
    expected behavior
    expected outcome
    expected output
    expected result
    how to reproduce
    if applicable add screenshots to help explain your problem
    is there an existing issue for this
    is your feature request related to a problem please describe
    issue description
    log output
    mcve code sample
    minimal complete verifiable example
    minimal example
    minimal reproducible example
    observed behavior
    operating system
    possible fix
    possible solution
    problem
    problem description
    relevant log output
    reproduction
    reproduction steps
    screenshot
    steps to reproduce
    steps to reproduce the behavior
    suggested fix
    summary
    system details
    system info
    system information
    to reproduce
    version
    what did you do
    what did you expect
    what did you expect to happen
    what did you see instead
    what happened
    what you expected to happen
    your environment
    your project
    """.strip().split("\n")
)
"""Headings and requests of forms that forges and projects have reports written in, in small letters, as one spelling of
each.
"""

COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"')]{1,2000}")
_FOLDED = re.compile(r"</?(?:details|summary)\b[^>\n]{0,80}>")
_ENTRY = re.compile(r"\W{0,12}[\w.() /+-]{1,40}[\"'`]?\s{0,20}(?:==?|:|-)\s{0,20}(?P<value>\S{0,60})(?P<rest>.{0,120})")
_HEADING = re.compile(
    r"(?i)(?=.{0,120}$)\W{0,12}(?:\S{1,30}\s{1,4}){0,5}\S{0,30}"
    r"(?:version|environment|system|platform|setup|details|installed)\S{0,30}(?:\s{1,4}\S{1,30}){0,3}"
)
_MARKED = re.compile(r"\s*[#*_]|.*[:?*_]\s*\Z")
_WORD = re.compile(r"[a-z']+")
_MARKS = re.compile(r"\W*")
_COMPILER = re.compile(r"\[(?:GCC|Clang|MSC)\b[^\]]{0,80}\].{0,40}")
_INSTALLED = re.compile(
    r">>> import \w.*__version__.*|(?:Linux|Windows|macOS|Darwin)-\S+"
    r"|(?:>>> )?[A-Za-z][\w-]{0,39} v?\d+(?:\.\w+)+(?: [(|].*)?"
)
"""A platform, or a package and its version as Python prints both: `numpy 1.21.5`."""

_RELEASE = re.compile(r"\d+\.\d+\.\w")
_TICKED = re.compile(r"\s*[-*] \[[xX]\] ")
_VERSION = re.compile(r"[\"'`v]{0,2}\d+(?:\.\w+)+|None\b|null\b")


def report_text(text: str) -> str:
    """The lines of a report that somebody wrote for it."""
    kept: list[str] = []
    table: list[str] = []
    for number, line in enumerate(_FOLDED.sub("", _ADDRESS.sub(" ", COMMENT.sub(" ", text))).split("\n")):
        if number and (_is_prompt(line) or _TICKED.match(line)):
            continue
        if _is_entry(line.strip()):
            table.append(line)
        else:
            _settle(table, kept)
            kept.append(line)
    _settle(table, kept)
    return "\n".join(kept)


def _settle(table: list[str], kept: list[str]) -> None:
    """Keep the lines of `table`, or drop them and their heading."""
    if _tells_versions(table):
        while kept and (not kept[-1].strip() or _HEADING.fullmatch(kept[-1].strip())):
            kept.pop()
        kept.append("")
    else:
        kept += table
    table.clear()


def _is_prompt(line: str) -> bool:
    """Whether a line is a heading or a request of a form: marked as such, or as long as nobody's own word."""
    if len(line) > PROMPT:
        return False
    words = _WORD.findall(line.lower().replace("iour", "ior"))
    if not words or (len(words) == 1 and not _MARKED.match(line)):
        return False
    said = " ".join(words)
    return said in _PROMPTS or said.removesuffix("s") in _PROMPTS


def _is_entry(line: str) -> bool:
    """Whether a line says what something is (`numpy: 1.16.4`, `"version": "2.22"`, `OS = Linux`) or nothing."""
    if _INSTALLED.fullmatch(line):
        return True
    entry = _ENTRY.fullmatch(line)
    if entry is None:
        return _MARKS.fullmatch(line) is not None or _COMPILER.fullmatch(line) is not None
    return not entry["rest"].strip(" ,}]\"'`") or _VERSION.match(entry["value"]) is not None


def _tells_versions(lines: list[str]) -> bool:
    listed = [line for line in map(str.strip, lines) if _MARKS.fullmatch(line) is None]
    told = [line for line in listed if not line.endswith("{")]
    if any(map(_INSTALLED.fullmatch, told)) and not any(map(_RELEASE.search, told)):
        return False  # words with numbers behind them may be what a program printed
    versions = sum(_VERSION.search(line) is not None for line in told)
    return len(listed) >= LISTED and 3 * versions >= len(told)
