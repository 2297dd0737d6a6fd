"""`aurora index`: bring the index up to date, and wait until it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from aurora_cli.output import print_json
from aurora_cli.progress import done, index_with_progress
from aurora_cli.session import open_session
from aurora_cli.settings import Settings
from aurora_protocol.human_text import count, plain


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@click.pass_obj
def index(settings: Settings, paths: tuple[str, ...]) -> None:
    """Bring PATHs, or the whole workspace, up to date and wait."""
    root = settings.workspace
    within = [inside(root, Path(path)) for path in paths]
    with open_session(settings, root) as client:
        result = index_with_progress(client, root, settings, within or None)
    if settings.json:
        print_json(result)
    else:
        print("\n".join(summary_lines(result)))


def inside(root: Path, path: Path) -> str:
    """The absolute spelling of `path`; raises BadParameter when it is not in the workspace at `root`."""
    whole = path.resolve()
    if not whole.is_relative_to(root):
        raise click.BadParameter(f"{path} is not inside the workspace {root}; name another with --workspace")
    return os.fspath(whole)


def summary_lines(result: dict[str, Any]) -> list[str]:
    """An `aurora/index` result for people."""
    changes = [
        f"{result['parsed_files']:,} parsed",
        f"{result['unchanged_files']:,} unchanged",
        f"{result['removed_files']:,} removed",
    ]
    if result["skipped_files"]:
        changes.append(f"{result['skipped_files']:,} skipped (aurora doctor)")
    if result["failed_files"]:
        changes.append(f"{result['failed_files']:,} failed (aurora doctor)")
    kinds = sorted(result["kinds"].items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{plain(str(result['workspace']))}: {done(result)}", "  " + " · ".join(changes)]
    if kinds:
        lines.append(
            "  " + " · ".join(count(number, kind) if kind != "class" else _classes(number) for kind, number in kinds)
        )
    return lines


def _classes(number: int) -> str:
    return f"{number:,} class{'' if number == 1 else 'es'}"
