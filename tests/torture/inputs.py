"""Readers of what others wrote (fuzz targets), each with seeds to begin from and what must hold whatever bytes it gets.

What once failed is kept in `corpora/<reader>/`, and read again by the tests (of parsers, by `make test-long`).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from aurora_deliverables.detection import claude_code
from aurora_deliverables.detection.transcripts import calls_in
from aurora_indexer.files.ignore_patterns import Patterns
from aurora_indexer.git.log_parser import GitLogParser, LoggedCommit
from aurora_memory import StoreError
from aurora_memory.store import Store
from aurora_protocol import FrameError
from aurora_protocol.frames import Decoder, encode
from tests.indexer.documents import test_hostile_documents as documents
from tests.indexer.parse import test_hostile_source as sources
from tests.manifests import manifest as manifest_of_notes
from tests.protocol import test_manifest_robustness as manifests

CORPORA = Path(__file__).parent / "corpora"
MARKS = (
    b"\0",
    b"\xff",
    b"\n",
    b"\r\n",
    b'"',
    b"{",
    b"]",
    b"\\",
    b"*",
    b"/",
    b"!",
    b"[",
    b"@@ -1 +1 @@\n",
    b"-1",
    b"1e999",
    b"null",
)


class Input(Struct, frozen=True):
    """A reader: what it is given in good times, and a function that fails where it does not keep its word."""

    samples: tuple[bytes, ...]
    read: Callable[[bytes], None]


def frames(raw: bytes) -> None:
    """However the stream is cut, the same bodies come, or the same refusal."""

    def told(pieces: list[bytes]) -> tuple[list[bytes], bool]:
        decoder, found = Decoder(), []
        try:
            for piece in pieces:
                found += decoder.feed(piece)
        except FrameError:
            return found, True
        return found, False

    whole, cut = told([raw]), told([raw[at : at + 1] for at in range(len(raw))])
    assert whole[1] == cut[1] and (whole[1] or whole[0] == cut[0])


def ignore_rules(raw: bytes) -> None:
    """A verdict for every path, and the same one again."""
    rules = Patterns(raw.decode("utf-8", "replace"))
    for name, path in (("a", "a"), ("b.py", "src/b.py"), ("x" * 200, "d/" * 40 + "x" * 200), ("*", "*"), ("[", "a/[")):
        for folder in (False, True):
            assert rules.verdict(name, path, folder) in (True, False, None)
            assert rules.verdict(name, path, folder) == rules.verdict(name, path, folder)


def git_log(raw: bytes) -> None:
    """Commits with numbers that are numbers; how the log was cut on its way does not matter."""

    def told(size: int) -> list[LoggedCommit]:
        found: list[LoggedCommit] = []
        reader = GitLogParser({b"a.py"}, found.append)
        for at in range(0, len(raw), size):
            reader.feed(raw[at : at + size])
        reader.finish()
        return found

    found = told(len(raw) or 1)
    assert found == told(7)
    for commit in found:
        assert commit.at >= 0 and commit.files >= 0 and commit.lines >= 0
        assert all(len(change.hunks) <= 20_000 for change in commit.changes)


def transcripts(raw: bytes) -> None:
    """Calls with sane numbers, and a place to go on from that lies in the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        path.write_bytes(raw)
        calls, end = calls_in(path)
        assert 0 <= end <= len(raw) and calls_in(path, end) == ([], end)
        for call in calls:
            assert call.id and call.input_tokens >= call.cached_tokens >= 0 and call.output_tokens >= 0


def hooks(raw: bytes) -> None:
    """An event, or a refusal with a name."""
    try:
        payload = json.loads(raw)
    except (ValueError, RecursionError):
        return
    try:
        hook = claude_code.decode(payload)
    except claude_code.NotAHook:
        return
    for event in claude_code.events_of(hook, "change", 1e9):
        assert event.id and event.change_id == "change"


def imports(raw: bytes) -> None:
    """All of a file or nothing of it, and the memory stays sound."""

    async def taken() -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "in.jsonl"
            source.write_bytes(raw)
            store = await Store.open(Path(folder) / "memory.db")
            try:
                await store.import_learned(source, 1e9)
            except StoreError:
                assert not await store.read(lambda reader: reader.rows("SELECT 1 FROM deliverable_events"))
            assert (await store.check()).faults == ()
            await store.close()

    asyncio.run(taken())


def chunks(raw: bytes) -> None:
    """Each language reads every text."""
    for name in sources.SOURCES:
        sources.check(name, raw)


def document_chunks(raw: bytes) -> None:
    """Each format of documents reads every text."""
    for name in documents.SOURCES:
        documents.check(name, raw)


def manifest(raw: bytes) -> None:
    """Findings that lie within the text."""
    manifests.looked_at(raw.decode("utf-8", "replace"))


_COMMIT = b"\0%s\0" + b"1700000000\0%s\0subject\0body\0\n"
_LOG = (
    _COMMIT % (b"a" * 40, b"b" * 40) + b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1 @@\n-x\n-y\n+z\n"
    b"diff --git a/old b/new\nrename from old\nrename to new\n"
    + _COMMIT
    % (b"b" * 40, b"")
    + b"diff --git a/a.py b/a.py\n"
    b'--- /dev/null\n+++ "b/\\303\\251.py"\n@@ -0,0 +1 @@\n+q\n\\ No newline at end of file\n'
)
_CALL = (
    b'{"type":"assistant","timestamp":"2026-01-01T00:00:00Z",'
    b'"message":{"id":"m","model":"x","usage":{"input_tokens":1}}}\n'
)
_HOOK = (
    b'{"session_id":"s","hook_event_name":"PostToolUse","cwd":"/w","tool_name":"Bash",'
    b'"tool_input":{"command":"pytest -q"},"tool_response":{"stdout":"3 passed in 0.1s","exit_code":0}}'
)


def _export() -> bytes:
    from tests.memory import test_export

    async def written() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(Path(folder) / "memory.db")
            await store.write(test_export.FILES, first_time=True)
            await test_export.taught(store)
            await store.export_learned(Path(folder) / "out.jsonl", "shop", 1e9)
            await store.close()
            return (Path(folder) / "out.jsonl").read_bytes()

    return asyncio.run(written())


def inputs(exported: Callable[[], bytes] = _export) -> dict[str, Input]:
    """Every reader by name; `exported` makes the sample of an export, which takes a store."""
    return {
        "frames": Input(
            (encode(b"{}") + encode(b'{"id":1}'), b"content-length: 2\r\nContent-Type: x\r\n\r\n{}"), frames
        ),
        "manifests": Input((json.dumps(manifest_of_notes()).encode(),), manifest),
        "chunkers": Input(tuple(sources.SOURCES.values()), chunks),
        "documents": Input(tuple(documents.SOURCES.values()), document_chunks),
        "ignore_rules": Input(
            (b"*.py\n!a/**/b\n/x[!a-z]?/\n\\#c\n**/d/**\n", b"[[:alpha:]]*\n{a,b}\nfoo\\ \n"), ignore_rules
        ),
        "git_log": Input((_LOG,), git_log),
        "transcripts": Input((_CALL * 3,), transcripts),
        "hooks": Input((_HOOK,), hooks),
        "imports": Input((exported(),), imports),
    }


def mutated(chance: random.Random, raw: bytes) -> bytes:
    """Mutation of bytes (fuzzing): a few things changed, as a bad disk, a bad program and a bad person would."""
    made = bytearray(raw)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(made) + 1)
        match chance.randrange(6):
            case 0:
                del made[at : at + chance.randrange(1, 40)]
            case 1:
                made[at:at] = chance.choice(MARKS) * chance.choice((1, 1, 3, 500))
            case 2 if at < len(made):
                made[at] ^= 1 << chance.randrange(8)
            case 3:
                other = chance.randrange(len(made) + 1)
                made[at:at] = made[other : other + chance.randrange(1, 200)]
            case 4:
                made[at:at] = chance.randbytes(chance.randrange(1, 20))
            case _:
                del made[at:]
    return bytes(made[: 256 << 10])


def keep(name: str, raw: bytes) -> Path:
    """Put what failed into the corpus; it is a regression test from then on."""
    folder = CORPORA / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(raw).hexdigest()[:16]
    path.write_bytes(raw)
    return path
