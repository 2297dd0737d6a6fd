"""Indexing, with a bar on standard error where that is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aurora_cli.output import style_of
from aurora_cli.settings import Settings
from aurora_protocol.client import Client, Progress
from aurora_protocol.human_text import count, plain, took

INDEX = "aurora/index"


def index_with_progress(
    client: Client, root: Path, settings: Settings, paths: Sequence[str] | None = None
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
def progress_bar(title: str, settings: Settings) -> Iterator[Progress]:
    """Yield what takes `$/progress` values; on a terminal it draws them, elsewhere it keeps still.

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
