"""`aurora index`: bring the index up to date (reindex), with a progress bar, and wait until it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json, style_of
from aurora_cli.session import open_session
from aurora_protocol.client import Client, Progress
from aurora_protocol.human_text import count, plain, took

INDEX = "aurora/index"


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@click.pass_obj
def index(settings: GlobalOptions, paths: tuple[str, ...]) -> None:
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


def index_with_progress(
    client: Client, root: Path, settings: GlobalOptions, paths: Sequence[str] | None = None
) -> dict[str, Any]:
    """Bring `paths` (None: the whole workspace) up to date; returns the `aurora/index` result."""
    params: dict[str, Any] = {} if paths is None else {"paths": list(paths)}
    with progress_bar(f"Indexing {plain(root.name or str(root))}", settings) as bar:
        result: dict[str, Any] = client.request(INDEX, params, on_progress=bar)
        bar({"kind": "done", "message": done(result)})
    if older := result.get("adoptable"):
        print(f"aurora: memory of {plain(older)} can be adopted: aurora memory adopt", file=sys.stderr)
    return result


def done(result: dict[str, Any]) -> str:
    """`214 files · 3,911 chunks · 1.8 s`."""
    return " · ".join((count(result["files"], "file"), count(result["chunks"], "chunk"), took(result["took_ms"])))


@contextmanager
def progress_bar(title: str, settings: GlobalOptions) -> Iterator[Progress]:
    """Progress bar: yields what takes `$/progress` values; on a terminal it draws them, elsewhere it keeps still.

    A last value of kind `done` fills the bar and leaves its message standing behind it.
    """
    style = style_of(sys.stderr, os.environ, no_color=settings.no_color)
    if style.width is None:
        yield lambda _: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    console = Console(stderr=True, no_color=not style.rich, highlight=False)
    columns = (
        TextColumn("{task.description} …", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[message]}", markup=False),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(title, total=100, message="")

        def show(value: dict[str, Any]) -> None:
            message = value.get("message")
            bar.update(
                task,
                completed=100 if value.get("kind") == "done" else value.get("percentage"),
                message=None if message is None else f"· {plain(str(message))}",
            )

        yield show
