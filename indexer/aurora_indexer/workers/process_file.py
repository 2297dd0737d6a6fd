"""File processing (read, hash, parse) in a worker: what becomes of one file to be indexed: read, told unchanged by its
content hash, left out, or parsed.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from typing import Protocol

import msgspec

from aurora_indexer import documents, languages
from aurora_indexer.files import skips
from aurora_indexer.files.safe_read import Changing, NotARegularFile, TooLarge, read_steady, settled_mark
from aurora_indexer.files.skips import Skip
from aurora_indexer.workers.messages import (
    FileSkipped,
    Parsed,
    ParseFailed,
    ReadStat,
    Reply,
    Unchanged,
    WorkItem,
    content_hash,
)
from aurora_memory.chunks import ParsedFile
from aurora_protocol.secret_mask import blanked


class Parse(Protocol):
    """Path, source, and what is shown of it (without secrets), to chunks; None for a file of no known language."""

    def __call__(self, path: str, source: bytes, *, shown: bytes) -> ParsedFile | None: ...


PARSE_SECONDS = 20.0


def parse_source(
    path: str, source: bytes, seconds: float = PARSE_SECONDS, *, shown: bytes | None = None
) -> ParsedFile | None:
    """Parse one file as source in the language its name or first line tells, or as a document. Raises IndexerError.

    What chunks say is of `shown` where that is given, and never of `source`.
    """
    if languages.for_path(path, languages.first_line(source)) is None:
        if documents.for_path(path) is None:
            return None
        from aurora_indexer.documents.document_parser import parse_document

        return parse_document(path, source if shown is None else shown)
    from aurora_indexer.parse.chunk_parser import parse_file  # grammars: a start with nothing changed needs none

    return parse_file(path, source, seconds, shown=shown)


def get_ready(used: Mapping[str, int]) -> None:
    """Warm-up: load what parsing takes, which a first save would wait for. `used` counts files by language: the
    commonest.
    """
    import aurora_indexer.parse.chunk_parser  # noqa: F401 - for its effect

    names = [language.name for language in languages.LANGUAGES if used.get(language.name)]
    if names:
        languages.compiled(max(names, key=lambda name: used[name]))


def process_file(root: str, item: WorkItem, max_file_bytes: int, parse_one: Parse) -> Reply:
    """Read one file, decide whether it is to be parsed, and parse it without its secrets: none gets into memory."""
    path = item.path
    began = time.time_ns()
    try:
        source, status = read_steady(f"{root}/{path}", max_file_bytes)
    except FileNotFoundError:
        return FileSkipped(Skip(path, "gone", "There is no such file."))
    except NotADirectoryError:
        return FileSkipped(Skip(path, "gone", "A folder of its path is now a file."))
    except OSError as error:
        return FileSkipped(skips.unreadable(path, error))
    except NotARegularFile:
        return FileSkipped(Skip(path, "not-a-file", "A folder, pipe, socket or device, not a file."))
    except TooLarge as error:
        return FileSkipped(skips.by_size(path, error.size, max_file_bytes) or skips.Skip(path, "too-large", str(error)))
    except Changing as error:
        return FileSkipped(Skip(path, "changing", f"{error}."))
    stat = ReadStat(status.st_size, status.st_mtime_ns, settled_mark(status, began))
    digest = content_hash(source)
    if digest == item.known_hash:
        return Unchanged(path, stat)
    if documents.is_data(path) and not documents.may_hold_a_schema(source):
        return FileSkipped(skips.unknown(path), stat)
    skip = skips.by_content(path, source)
    if skip:
        return FileSkipped(skip, stat)
    try:
        parsed = parse_one(path, source, shown=blanked(source))
    except Exception as error:  # noqa: BLE001 - one file's trouble must not stop the others; the traceback goes to stderr
        traceback.print_exc()
        return ParseFailed(path, f"{type(error).__name__}: {error}".splitlines()[0], stat)
    if parsed is None:
        return FileSkipped(skips.unknown(path), stat)
    if parsed.content_hash != digest:
        parsed = msgspec.structs.replace(parsed, content_hash=digest)
    return Parsed(parsed, stat)
