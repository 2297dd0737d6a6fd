"""`aurora memory` (export, import, adopt, restore): what was learned, carried between machines and workspaces."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from aurora_cli.errors import FINE, NO
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json
from aurora_cli.session import open_session
from aurora_protocol.human_text import count, plain
from aurora_protocol.passing_files import passing_file

EXPORT, IMPORT = "aurora/memory/export", "aurora/memory/import"
ADOPT, RESTORE = "aurora/memory/adopt", "aurora/memory/restore"

MOST_PASSED = 1 << 30
"""Bytes of standard input, or of a pipe, that an import takes: memories of years have some megabytes."""

_NOUNS = {
    "reasoning": "reasoning chunk",
    "access": "access",
    "boost": "boost",
    "use": "use",
    "run": "run",
    "difficult": "difficult question",
    "archived": "archived chunk",
    "escalated": "flagged chunk",
    "log": "log entry",
    "deliverable": "event of a deliverable",
}
_PLURALS = {"access": "accesses", "log": "log entries", "deliverable": "events of deliverables"}


@click.group(no_args_is_help=False)
def memory() -> None:
    """Carry what was learned between machines and workspaces."""


@memory.command("export")
@click.argument("file", default="-")
@click.pass_obj
def export(settings: GlobalOptions, file: str) -> None:
    """Write what was learned here to FILE, or - (standard output), as JSON lines. The index is not part of it."""
    with open_session(settings, settings.workspace) as client:
        if file == "-":
            with passing_file(settings.address.home) as path:
                client.request(EXPORT, {"path": os.fspath(path)})
                with path.open("rb") as written:
                    shutil.copyfileobj(written, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        result = client.request(EXPORT, {"path": os.fspath(Path(file).absolute())})
    if settings.json:
        print_json(result)
    else:
        print(f"{plain(result['path'])}: {told(result['lines'])}")


@memory.command("import")
@click.argument("file")
@click.pass_obj
def import_(settings: GlobalOptions, file: str) -> None:
    """Add what FILE, or - (standard input), has to what was learned here. Importing it twice changes nothing."""
    with _readable(settings, file) as path, open_session(settings, settings.workspace) as client:
        result = client.request(IMPORT, {"path": os.fspath(path)})
    if settings.json:
        print_json(result)
    else:
        print("\n".join(import_lines(result)))


@memory.command()
@click.option("--from", "source", type=click.Path(), help="The memory of this folder, or this memory file.")
@click.option("--list", "listed", is_flag=True, help="Only list the other memories there are.")
@click.pass_obj
def adopt(settings: GlobalOptions, source: str | None, listed: bool) -> None:
    """Take over what was learned where this workspace was before it was moved, renamed or cloned anew."""
    params: dict[str, Any] = {"list": listed}
    if source is not None:
        params["source"] = os.path.abspath(source)  # noqa: PTH100 - a folder that is gone cannot be resolved
    with open_session(settings, settings.workspace) as client:
        result = client.request(ADOPT, params)
    if settings.json:
        print_json(result)
    elif listed:
        print("\n".join(other_lines(result["others"])))
    else:
        print("\n".join(import_lines(result["adopted"])))
        if result["kept_as"]:
            print(f"  the old memory is kept as {plain(result['kept_as'])}")


def other_lines(others: Sequence[Mapping[str, Any]]) -> list[str]:
    """The other memories there are, for people."""
    lines = []
    for each in others:
        notes = [f"{each['learned']:,} learned"]
        if each["same_repository"]:
            notes.append("same repository")
        if each["left"]:
            notes.append("folder gone")
        lines += [f"{plain(each['root'])}  ({', '.join(notes)})", f"    {plain(each['path'])}"]
    return lines or ["there are no other memories"]


@memory.command()
@click.argument("chunk_id", metavar="ID")
@click.pass_obj
def restore(settings: GlobalOptions, chunk_id: str) -> int:
    """Bring the archived reasoning chunk ID (reas:…) back into recall. `aurora doctor` lists the archive."""
    with open_session(settings, settings.workspace) as client:
        result = client.request(RESTORE, {"id": chunk_id})
    if settings.json:
        print_json(result)
    else:
        print(f"{plain(result['id'])}: " + ("is recalled again" if result["restored"] else "was not in the archive"))
    return FINE if result["restored"] else NO


def import_lines(result: Mapping[str, Any]) -> list[str]:
    """What came of an import, for people."""
    new = told(result["added"]) if result["added"] else "nothing new"
    lines = [f"{plain(result['workspace'])}: {new}, from {plain(result['source'])}"]
    if result["moved"]:
        lines.append(f"  {count(result['moved'], 'chunk')} found in another place by their shape")
    if result["waiting"]:
        lines.append(f"  {count(result['waiting'], 'chunk')} not here now; their history comes back with their files")
    if result["same_repository"] is False:
        left = told({"deliverable": result["left_out"]}) if result.get("left_out") else ""
        lines.append("  this was exported from another repository" + (f"; left out: {left}" if left else ""))
    return lines


def told(lines: Mapping[str, int]) -> str:
    """`1 reasoning chunk, 12 accesses`."""
    parts = []
    for kind, number in lines.items():
        noun = _NOUNS.get(kind, kind)
        parts.append(f"{number:,} {_PLURALS.get(kind, noun + 's') if number != 1 else noun}")
    return ", ".join(parts) or "nothing was learned yet"


@contextmanager
def _readable(settings: GlobalOptions, file: str) -> Iterator[Path]:
    """A regular file with the content of `file`: the daemon has neither our standard input nor our pipes."""
    path = Path(file)
    if file != "-" and (path.is_file() or not path.exists()):
        yield path.absolute()
        return
    with passing_file(settings.address.home) as copy:
        with copy.open("wb") as target:
            if file == "-":
                _copy(sys.stdin.buffer, target, "standard input")
            else:
                with path.open("rb") as source:
                    _copy(source, target, file)
        yield copy


def _copy(source: IO[bytes], target: IO[bytes], name: str) -> None:
    """Copy what looks like an export: a pipe may go on for ever, and the disk is the user's."""
    size = 0
    while block := source.read(1 << 20):
        if b"\0" in block or (size == 0 and not block.lstrip().startswith(b"{")):
            where = "line 1: " if size == 0 else ""
            raise click.ClickException(f"{plain(name)}: {where}this is no export of memory; nothing was imported")
        size += len(block)
        if size > MOST_PASSED:
            raise click.ClickException(
                f"{plain(name)} is larger than {MOST_PASSED >> 30} GiB; give the file by its name"
            )
        target.write(block)
