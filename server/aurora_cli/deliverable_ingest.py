"""`aurora deliverable ingest` and `hook`: events, documents and issues from elsewhere (JSON lines, JUnit XML), and what
Claude Code's hooks tell on standard input.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from aurora_cli.deliverable_record import DELIVERABLE, with_zone
from aurora_cli.errors import FINE, NO, one_line
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json
from aurora_cli.session import open_session
from aurora_cli.workspace import aurora_homes, find_workspace
from aurora_protocol.human_text import count, plain

BATCH = 2000
BATCH_CHARACTERS = 4 << 20
MAX_LINE = 256 * 1024
MAX_DOCUMENT = 16 << 20
MAX_REPORTS = 32 << 20
MAX_HOOK = 32 << 20
KEPT = 8 * 1024
"""Characters of a hook's longer texts that are passed on from either end: a file that was written is not our affair."""
HOOK_SECONDS = 5.0
HOOK_LIMIT = 15.0
"""Seconds after which a hook has ended, whatever holds it up: a daemon that starts, or was stopped in its work."""
REFUSALS_SHOWN = 10
_DECLARED = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z][A-Za-z0-9._-]{0,40})[\"']")


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--junit",
    multiple=True,
    metavar="FILE",
    help="Take in a test run by its JUnit XML, or a folder of reports; may be repeated.",
)
@click.option("--change", metavar="CHANGE", help="The deliverable that the tests are of. [default: the only open one]")
@click.option(
    "--at", callback=with_zone, metavar="TIME", help="When the tests ended. [default: as the report says, or now]"
)
@click.option("--claude-code-hook", is_flag=True, help="Read one hook payload; always exits 0.")
@click.pass_obj
def ingest(
    settings: GlobalOptions,
    files: tuple[str, ...],
    junit: tuple[str, ...],
    change: str | None,
    at: str | None,
    claude_code_hook: bool,
) -> int:
    """Take in events as JSON lines, deliverable documents, exports of issues, and JUnit reports.

    Each FILE, or - (standard input, the default), is JSON lines with an event each (AURA-M §5.3), or one JSON document:
    a deliverable's state or final record, a GitHub issue, a Jira issue or export. Taking in the same twice changes
    nothing. Exits 1 when some of it was refused; the rest is taken all the same.
    """
    if claude_code_hook:
        return hook(settings)
    if files and junit:
        raise click.UsageError("give FILEs or --junit, not both: tests are of one deliverable")
    if not junit and (change is not None or at is not None):
        raise click.UsageError("--change and --at are for --junit: other files say of themselves what they are of")
    total: dict[str, Any] = {"accepted": 0, "duplicates": 0, "refused": [], "change_ids": [], "notes": []}
    with open_session(settings, settings.workspace) as client:
        if junit:
            told = {"change_id": change, "at": at, "document": reports_of(junit)}
            params = {"action": "ingest", "format": "junit", **{key: each for key, each in told.items() if each}}
            _add(total, client.request(DELIVERABLE, params), junit[0], 1)
        for name in () if junit else files or ("-",):
            first = 1
            for params in requests_of(name):
                _add(total, client.request(DELIVERABLE, params), name, first)
                first += len(params.get("lines", ()))
    if settings.json:
        print_json(total)
    else:
        print("\n".join(outcome_lines(total)))
    for note in total["notes"] if not settings.json else ():
        print(f"aurora: {plain(note)}", file=sys.stderr)
    for each in total["refused"][:REFUSALS_SHOWN] if not settings.json else ():
        where = f"{each['file']}:{each['line']}" if "line" in each else each.get("issue") or each["event_id"]
        print(f"aurora: refused {plain(where)}: {plain(each['reason'])}", file=sys.stderr)
    return NO if total["refused"] else FINE


def hook(settings: GlobalOptions) -> int:
    """Pass on what a Claude Code hook says. Whatever goes wrong is one line on standard error and exit code 0.

    A hook that fails would show up in the agent's work, and exit code 2 would even block its tool call.
    """
    limit = threading.Timer(HOOK_LIMIT, _give_up)
    limit.daemon = True
    limit.start()
    try:
        payload = hook_payload(sys.stdin.buffer.read(MAX_HOOK + 1))
        root = settings.workspace
        cwd = payload.get("cwd")
        if settings.named_workspace is None and isinstance(cwd, str) and os.path.isdir(cwd):  # noqa: PTH112
            root = Path(find_workspace(cwd, aurora_homes(os.environ)))
        params = {"action": "ingest", "format": "claude-code-hook", "document": payload}
        with open_session(settings, root) as client:
            reply = client.request(DELIVERABLE, params, timeout=HOOK_SECONDS)
        if settings.json:
            print(json.dumps({"accepted": reply["accepted"], "change_ids": reply["change_ids"]}), file=sys.stderr)
    except Exception as error:  # noqa: BLE001 - an agent's tool call must not fail because of us
        print(f"aurora: this hook was not recorded: {one_line(error)}", file=sys.stderr)
    finally:
        limit.cancel()
    return FINE


def _give_up() -> None:
    """End of a hook that is held up in a call nobody can take it out of."""
    os.write(2, f"aurora: this hook was not recorded: nothing answered within {HOOK_LIMIT:.0f} s\n".encode())
    os._exit(FINE)


def hook_payload(content: bytes) -> dict[str, Any]:
    """A hook's payload, its long texts cut in the middle. Raises ClickException when it is none."""
    if len(content) > MAX_HOOK:
        raise click.ClickException(f"the payload is larger than {MAX_HOOK >> 20} MiB")
    try:
        payload = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"the payload is not JSON: {error}") from error
    if not isinstance(payload, dict):
        raise click.ClickException("the payload is not a JSON object")
    return {key: shortened(value) for key, value in payload.items()}


def shortened(value: Any, depth: int = 0) -> Any:
    """The same value with long texts cut in the middle, and nothing below a depth that no hook has."""
    if isinstance(value, str):
        return value if len(value) <= 2 * KEPT else f"{value[:KEPT]}\n…\n{value[-KEPT:]}"
    if depth >= 12:
        return None
    if isinstance(value, dict):
        return {key: shortened(item, depth + 1) for key, item in list(value.items())[:1000]}
    if isinstance(value, list):
        return [shortened(item, depth + 1) for item in value[:1000]]
    return value


def reports_of(names: Sequence[str]) -> list[str]:
    """The texts of JUnit reports: of files, of standard input (`-`), of a folder's `*.xml`.

    Raises OSError, BadParameter.
    """
    found: list[str] = []
    left = MAX_REPORTS
    for name in names:
        paths: list[Path | None] = [None] if name == "-" else [Path(name)]
        if name != "-" and Path(name).is_dir():
            paths = [*sorted(each for each in Path(name).glob("*.xml") if each.is_file())]
            if not paths:
                raise click.BadParameter(f"there is no *.xml in {name}")
        for path in paths:
            if path is None:
                content = sys.stdin.buffer.read(left + 1)
            else:
                with path.open("rb") as file:
                    content = file.read(left + 1)
            left -= len(content)
            if left < 0:
                raise click.BadParameter(f"these reports are larger than {MAX_REPORTS >> 20} MiB")
            found.append(xml_text(content))
    return found


def xml_text(content: bytes) -> str:
    """An XML document as text; its encoding is detected by its byte order mark or its declaration, else it is UTF-8."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    declared = _DECLARED.match(content)
    try:
        return content.decode(declared[1].decode("ascii") if declared else "utf-8-sig", "replace")
    except LookupError:
        return content.decode("utf-8-sig", "replace")


def requests_of(name: str) -> Iterator[dict[str, Any]]:
    """What to ask of the daemon for one file: a document, or its lines in batches. Raises OSError, BadParameter."""
    if name == "-":
        yield from _requests(sys.stdin.buffer, "standard input")
        return
    with Path(name).open("rb") as file:
        yield from _requests(file, name)


def _requests(stream: Any, name: str) -> Iterator[dict[str, Any]]:
    first = stream.readline(MAX_DOCUMENT + 1)
    while first and not first.strip():
        first = stream.readline(MAX_DOCUMENT + 1)
    if not first:
        return
    if not _is_event(first):
        content = first + stream.read(MAX_DOCUMENT + 1 - len(first))
        if len(content) > MAX_DOCUMENT:
            raise click.BadParameter(f"{name} is larger than {MAX_DOCUMENT >> 20} MiB; give JSON lines")
        for document in _documents(content, name):
            yield {"action": "ingest", "document": document}
        return
    yield from _batches(_lines(first, stream))


def _documents(content: bytes, name: str) -> list[Any]:
    """A JSON document, several, one a line, or the text of what begins like none.

    The daemon knows what else issues are exported as.
    """
    text = content.decode("utf-8-sig", "replace")
    if text.lstrip()[:1] not in ("{", "["):
        return [text]
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError) as error:
        try:
            each_line = [json.loads(line) for line in text.split("\n") if line.strip()]
        except (ValueError, RecursionError):
            each_line = []
        if each_line and all(isinstance(each, dict) for each in each_line):
            return each_line
        raise click.BadParameter(f"{name} is neither JSON lines of events nor one JSON document: {error}") from error


def _is_event(line: bytes) -> bool:
    """Whether a first line stands for itself: JSON that says what happened."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and ("event_type" in document or "what" in document)


def _lines(first: bytes, stream: Any) -> Iterator[str]:
    """Lines of a stream, one at a time; of one that is too long the rest is skipped."""
    line = first
    while line:
        text = line.decode("utf-8", "replace")
        if len(line) > MAX_LINE:  # its end is skipped; the daemon says of its beginning that it is too long
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE + 2)
        yield text
        line = stream.readline(MAX_LINE + 2)


def _batches(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Requests of a file's lines in batches, bounded in lines and in characters."""
    batch: list[str] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line)
        if len(batch) >= BATCH or size >= BATCH_CHARACTERS:
            yield {"action": "ingest", "lines": batch}
            batch, size = [], 0
    if batch:
        yield {"action": "ingest", "lines": batch}


def _add(total: dict[str, Any], reply: dict[str, Any], name: str, first: int) -> None:
    """Add a reply to what came before; its lines count from the file's line `first`."""
    total["accepted"] += reply["accepted"]
    total["duplicates"] += reply["duplicates"]
    for each in reply["refused"]:
        if "line" in each:
            each = {**each, "line": each["line"] + first - 1, "file": name}
        total["refused"].append(each)
    total["notes"] += reply.get("notes", [])
    total["change_ids"] = list(dict.fromkeys([*total["change_ids"], *reply["change_ids"]]))


def outcome_lines(total: dict[str, Any]) -> list[str]:
    """What became of it, for people."""
    words = [f"{count(total['accepted'], 'event')} taken"]
    if total["duplicates"]:
        words.append(f"{total['duplicates']:,} known already")
    if total["refused"]:
        words.append(f"{len(total['refused']):,} refused")
    changes = total["change_ids"]
    named = f": {', '.join(plain(each) for each in changes[:5])}{' …' if len(changes) > 5 else ''}" if changes else ""
    return [" · ".join(words) + named]
