"""Page of all settings for the documentation (reference), generated as Markdown from the structs of configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import NODEFAULT, Struct

from aurora_orchestration.settings import SoarSettings
from aurora_server.configuration import schema_lookup
from aurora_server.configuration.effective import plain
from aurora_server.configuration.marks import ConfigMember, Marks, is_optional, members
from aurora_server.configuration.other_members import OTHER_MEMBERS
from aurora_server.configuration.schema_generator import DESCRIPTION, describe, described, schema
from aurora_server.configuration.settings import DaemonSections
from aurora_server.configuration.values import variable_of

PAGE_FILE = "docs/reference/settings.md"
MOST_OF_A_DEFAULT = 60

HEAD = f"""# Settings

<!-- Generated from the structs of configuration: `make docs`. Changes belong into their docstrings. -->

{DESCRIPTION}

Each layer weighs more than the one before: defaults, the user's file, the workspace's file, `AURORA_*` variables, flags
of the command line. A file that the user names counts more than the workspace's; named by `--config`, it is a flag
itself and counts more than variables, too. `aurora config get` shows what holds and where it comes from, `aurora config
set` changes it, and `aurora doctor` says what is wrong. A running daemon takes up what is written at once, except where
it says that a setting holds from the daemon's start.

In variables a list is spelt `a,b` and a mapping `a=1,b=2`; both also as JSON. `AURORA_HOME`, `AURORA_CONFIG` (the
user's file) and `AURORA_LIFESPAN_POLICIES` (a file of policies) say where files are.
"""

_SAY = {
    "any": "A workspace's own file may say it as well.",
    "trusted": "A trusted workspace's file may say it as well.",
}
_STRICTER = {"higher": "A workspace can only raise it.", "lower": "A workspace can only lower it."}
_AT_START = "Holds from the daemon's start."


def page_text() -> str:
    """The whole page."""
    document = schema()
    parts = [
        part
        for member in sorted((*members(DaemonSections), *members(SoarSettings)), key=_order)
        if member.section is not None
        for part in _section(member, member.section, document)
    ]
    return "\n".join((HEAD, *parts, *_other_members(document)))


def _other_members(document: dict[str, Any]) -> Iterator[str]:
    """Members that no section reads, as the schema has them: a row each, and one for each member inside."""
    yield "## Other members"
    yield ""
    yield "Read where they are used, in the files only: no variable stands for them."
    yield ""
    yield "| member | may be | meaning |"
    yield "|---|---|---|"
    for place in OTHER_MEMBERS:
        inside = schema_lookup.member(place, document) or {}
        for each in (place, *(f"{place}.{name}" for name in inside.get("properties", {}))):
            said = (schema_lookup.member(each, document) or {}).get("description", "")
            cells = (f"`{each}`", schema_lookup.allowed(each, document), said)
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _order(member: ConfigMember) -> list[str]:
    return member.place.split(".")


def _section(whole: ConfigMember, kind: type[Struct], document: dict[str, Any]) -> Iterator[str]:
    """A heading, what the section is, and a table of the settings that are in it and in no section of it."""
    usual = None if is_optional(whole) else whole.default
    inside = [
        each
        for each in members(kind, whole.place, usual)
        if each.section is None and each.place.rpartition(".")[0] == whole.place
    ]
    at_top = whole.owner in (DaemonSections, SoarSettings)
    said = describe(kind) if at_top else described(whole)
    yield f"{'##' if at_top else '###'} `{whole.place}`"
    yield ""
    yield " ".join((said, *_remarks(whole.marks)))
    yield ""
    if not inside:
        return
    yield "| setting and variable | may be | default | meaning |"
    yield "|---|---|---|---|"
    for each in inside:
        cells = (
            f"`{each.place}`<br>`{variable_of(each.place)}`",
            schema_lookup.allowed(each.place, document),
            _default(each.default),
            " ".join((described(each), *_remarks(each.marks))),
        )
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _remarks(marks: Marks) -> Iterator[str]:
    if "workspace" in marks:
        yield _SAY[marks["workspace"]]
    if "stricter" in marks:
        yield _STRICTER[marks["stricter"]]
    if marks.get("in_force") == "start":
        yield _AT_START


def _default(value: Any) -> str:
    """Default of a setting as the table shows it."""
    if value is NODEFAULT:
        return "to be given"
    if value is None or value == {}:
        return "—"
    text = json.dumps(plain(value), ensure_ascii=False)
    return f"`{text if len(text) <= MOST_OF_A_DEFAULT else text[: MOST_OF_A_DEFAULT - 1] + '…'}`"
