"""`aur mem` (code search in the shell): what does memory know about this?"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from aurora_cli.errors import FINE, NO, CommandError
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json, style_of
from aurora_cli.recall_view import as_files, recall_lines
from aurora_cli.session import open_session
from aurora_protocol import RequestFailed
from aurora_protocol.client import Client

RECALL = "aurora/recall"  # spelled here as well as in aurora_protocol.methods, which costs msgspec's import
ANSWER_WITHIN = 60.0

MOST = 1000
"""Results that a daemon gives, at most."""

_VERBS = frozenset({"find", "query", "recall", "search"})
_MAX_WORDS = 40
_MAX_PATH = 1000
_WORD = re.compile(r"([`'\"(]*)([^\s:#]+?)((?::|#L\d|\(\d)\S*|[`'\",;)?!]*)")
_SPACED = re.compile(r"(\S[^:\n]*\.\w+):(\d{1,9})(?:[-:]\d{1,9})*")


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, MOST), default=10, show_default=True, help="At most this many results.")
@click.option(
    "--type", "types", multiple=True, type=click.Choice(["code", "reas", "know"]), help="Only this type. Repeatable."
)
@click.option(
    "--level", type=click.Choice(["file", "class", "function"]), help="Only answers of this size. [default: any]"
)
@click.option(
    "--budget",
    metavar="TOKENS",
    type=click.IntRange(min=1),
    help="Show the code that fits so many tokens, whole or as excerpts; implies --content.",
)
@click.option("--content", is_flag=True, help="Show the code itself, with line numbers.")
@click.option("--explain", is_flag=True, help="Show why each result ranks where it does.")
@click.option(
    "--everywhere", is_flag=True, help="Ask every memory that this machine knows, also of workspaces that are not open."
)
@click.pass_obj
def mem(
    settings: GlobalOptions,
    query: tuple[str, ...],
    limit: int,
    types: tuple[str, ...],
    level: str | None,
    budget: int | None,
    content: bool,
    explain: bool,
    everywhere: bool,
) -> int:
    """Recall what memory knows about QUERY, best first. Also `m`.

    QUERY is a question in words, a name (AuthService.login), a file (auth.py), a place in one (src/auth.py:login,
    src/auth.py:45) or the id of a result.
    """
    text = asked_for(query)
    if not text:
        raise click.UsageError("the query is empty", click.get_current_context())
    root = settings.workspace
    text = from_root(text, settings.here, root)
    params: dict[str, Any] = {"query": text, "limit": limit, "include_content": content, "explain": explain}
    params |= {"everywhere": everywhere}
    if types:
        params["types"] = list(dict.fromkeys(types))
    if level is not None:
        params["level"] = level
    if budget is not None:
        params["budget_tokens"] = budget
    with open_session(settings, root) as client:
        reply = recall(client, params, root, settings)
    if settings.json:
        print_json(reply)
        return NO if reply.get("missing") else FINE
    if reply.get("missing"):
        raise NothingThere(str(reply["hint"]))
    if level == "file":
        reply = as_files(reply)
    style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
    lines = recall_lines(reply, style=style, here=settings.here, now=datetime.now(UTC), explain=explain)
    print("\n".join(lines))
    return FINE


class NothingThere(CommandError):
    """Error of a place without anything: what was asked for by its id or place does not exist."""

    exit_code = NO


def recall(client: Client, params: dict[str, Any], root: Path, settings: GlobalOptions) -> dict[str, Any]:
    """Ask; where the workspace has never been indexed, index it first, with a progress bar, and ask again."""
    reply: dict[str, Any] = client.request(RECALL, params, timeout=ANSWER_WITHIN)
    if _index_if_never(reply, client, root, settings):
        reply = client.request(RECALL, params, timeout=ANSWER_WITHIN)
    return reply


def answer_about(settings: GlobalOptions, method: str, member: str, place: str) -> dict[str, Any]:
    """Result of `method` about `place`, which its params carry as `member`; a workspace never indexed is indexed first.

    Raises `NothingThere` where there is no such place.
    """
    if not place.strip():
        raise click.UsageError("nothing is named: give a name, a place or an id", click.get_current_context())
    root = settings.workspace
    with open_session(settings, root) as client:
        index_once(client, root, settings)
        try:
            found: dict[str, Any] = client.request(
                method, {member: from_root(place, settings.here, root)}, timeout=ANSWER_WITHIN
            )
        except RequestFailed as error:
            if error.kind == "UnknownChunk":
                raise NothingThere(str(error)) from error
            raise
    return found


def index_once(client: Client, root: Path, settings: GlobalOptions) -> None:
    """Where the workspace has never been indexed, index it, with a progress bar."""
    # Of no type of chunk: how fresh memory is, and nothing is looked up that an edit could be taken for a use of.
    reply = client.request(RECALL, {"query": "a", "limit": 1, "types": []}, timeout=ANSWER_WITHIN)
    _index_if_never(reply, client, root, settings)


def _index_if_never(reply: dict[str, Any], client: Client, root: Path, settings: GlobalOptions) -> bool:
    """First index of a workspace that never was indexed, with a progress bar; whether it was made."""
    if reply["freshness"]["indexed_at"] is not None:
        return False
    from aurora_cli.index import index_with_progress

    index_with_progress(client, root, settings)
    return True


def asked_for(words: Sequence[str]) -> str:
    """The query that a command's words are. Other programs are told what to do with it first: `mem search "session
    timeout"` asks for the session's timeout, `mem search box` for what is called so.
    """
    is_told = len(words) == 2 and words[0].lower() in _VERBS and len(words[1].split()) > 1
    return " ".join(words[1:] if is_told else words).strip()


def from_root(query: str, here: Path, root: Path) -> str:
    """A query with the places in it that are files below `root` spelled from there; all else stays as it is typed.

    So the places that `aur mem` prints in a folder (`../src/a.py:3`) are places to ask for there, and `a.py:3` is the
    file in that folder where there is one. A path with spaces becomes `File "my notes/a.py", line 3`, which cannot be
    taken for several words.
    """
    spaced = _SPACED.fullmatch(query)
    if spaced is not None and " " in spaced[1]:
        path = _below(spaced[1], here, root) or _below(spaced[1], root, root)
        if path is not None:
            return f'File "{path}", line {spaced[2]}'
    words = query.split(" ")
    if len(words) > _MAX_WORDS:
        return query
    return " ".join(_respelled(word, here, root) for word in words)


def _respelled(word: str, here: Path, root: Path) -> str:
    """Word of a query with its path relative to the workspace's root."""
    parts = _WORD.fullmatch(word)
    if parts is None or not ("/" in parts[2] or parts[3].startswith((":", "#", "("))):
        return word
    path = _below(parts[2], here, root)
    return word if path is None else f"{parts[1]}{path}{parts[3]}"


def _below(typed: str, here: Path, root: Path) -> str | None:
    """The file from `root`, through links as they are typed or as they are; None where there is no such file below."""
    if len(typed) > _MAX_PATH or "\0" in typed:
        return None
    full = Path(os.path.normpath(here / typed))
    try:
        for file, folder in ((full, root), (full.resolve(), root.resolve())):
            if file.is_relative_to(folder) and file.is_file():
                return file.relative_to(folder).as_posix()
    except OSError:  # no name that a file can have, or a folder that may not be looked into
        return None
    return None
