"""Scan of a workspace for files to index: one directory walk that looks at names and stats, and opens next to
nothing.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from aurora_indexer import documents, languages
from aurora_indexer.files import skips
from aurora_indexer.files.ignore import MARKERS, Folder, IgnoreRules
from aurora_indexer.files.safe_read import NotARegularFile, file_mark, read_prefix
from aurora_indexer.files.skips import Skip

NAMED_IGNORED = 300
"""Ignored entries that are kept by name, to be shown to who asks; all are counted."""

_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
"""Where the system says these there is no file, and none can be."""


class Limits(Struct, frozen=True):
    """Bounds on what is taken in: bytes of one file, and files of one workspace."""

    max_file_bytes: int = 1 << 20
    max_files: int = 200_000


class FoundFile(Struct, frozen=True, array_like=True):
    """A file to index, as its folder lists it. `path` is relative to the root, with `/`; `mark` as of `file_mark`."""

    path: str
    size: int
    mtime_ns: int
    mark: int


class ScanResult(Struct, frozen=True):
    """Files that one walk saw. `other_files` counts files of no known language by suffix (".png"; "" for none).

    `ignored` counts entries the rules left out (the first of them are in `ignored_paths`), `folders` those that were
    walked. `truncated` means that `max_files` was reached and the rest not looked at.
    """

    files: list[FoundFile]
    skips: list[Skip]
    other_files: dict[str, int]
    ignored: int
    folders: int
    truncated: bool = False
    ignored_paths: list[str] = []


class Walked(NamedTuple):
    """Folder of a directory walk: its entries that are not folders, and what kept other folders out."""

    folder: Folder
    files: list[os.DirEntry[str]]
    skips: list[Skip]
    ignored: list[str]


def walk(
    rules: IgnoreRules, start: str = "", *, before_listing: Callable[[str], None] | None = None
) -> Iterator[Walked]:
    """Directory traversal: every folder at and below `start` (relative, `/`), parents first, that the rules don't leave
    out by name.

    Those that turn out closed when listed come without files. Symbolic links are not followed. `before_listing` is told
    each folder's path before it is listed. Raises OSError where the root itself cannot be listed.
    """
    root = str(rules.root)
    top = start.rpartition("/")
    pending: list[tuple[Folder | None, str]] = [(rules.folder(top[0]) if start else None, top[2])]
    while pending:
        parent, name = pending.pop()
        path = parent.prefix + name if parent else ""
        if before_listing:
            before_listing(path)
        try:
            with os.scandir(f"{root}/{path}" if path else root) as listing:
                entries = list(listing)
        except OSError as error:
            if parent is None:
                raise
            yield Walked(parent, [], [skips.unreadable(skips.printable(path), error)], [])
            continue
        folder = rules.enter(parent, name, MARKERS.intersection([entry.name for entry in entries]))
        if folder.closed:
            kept = folder.closed.reason == "ignored"
            yield Walked(folder, [], [] if kept else [folder.closed], [folder.path] if kept else [])
            continue
        files: list[os.DirEntry[str]] = []
        found: list[Skip] = []
        ignored: list[str] = []
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                files.append(entry)
            elif folder.ignores(entry.name, is_folder=True):
                if entry.name != ".git":  # git's own, which nobody misses
                    ignored.append(folder.prefix + entry.name)
            elif not _encodable(entry.name):
                found.append(_badly_named(folder.prefix + entry.name))
            else:
                pending.append((folder, entry.name))
        yield Walked(folder, files, found, ignored)


def scan(
    root: Path, limits: Limits, rules: IgnoreRules | None = None, tell: Callable[[int], None] | None = None
) -> ScanResult:
    """Walk `root` once. Given `rules` are refreshed first, so that they hold for what was seen. `tell` hears after each
    folder how many files were found so far.

    Raises OSError where `root` itself cannot be listed.
    """
    if rules is None:
        rules = IgnoreRules(root)
    else:
        rules.refresh()
    files: list[FoundFile] = []
    data: list[FoundFile] = []
    skipped: list[Skip] = []
    other: Counter[str] = Counter()
    ignored: list[str] = []
    folders = 0
    for walked in walk(rules):
        folder = walked.folder
        folders += not folder.closed
        ignored += walked.ignored
        skipped += walked.skips
        for entry in walked.files:
            name = entry.name
            path = folder.prefix + name
            if not known_by_name(name):
                if folder.ignores(name, is_folder=False):
                    ignored.append(path)
                    continue
                if documents.is_data(name):
                    found = _look_at_data(rules, path, name, entry.path, limits, entry)
                    if isinstance(found, FoundFile) and len(data) < limits.max_files:
                        data.append(found)
                    elif isinstance(found, Skip) and found.reason != "no-language":
                        skipped.append(found)
                    else:
                        other[_suffix(name)] += 1
                    continue
                if not _is_script(entry.path, name):
                    other[_suffix(name) if name.isascii() else ""] += 1
                    continue
            elif folder.ignores(name, is_folder=False):
                ignored.append(path)
                continue
            found = _look(rules, path, name, entry.path, limits, entry)
            if isinstance(found, Skip):
                skipped.append(found)
            else:
                files.append(found)
        if tell is not None:
            tell(len(files) + len(data))
        if len(files) > limits.max_files:
            detail = f"More than {limits.max_files:,} files; raise the limit, or name folders in .auroraignore."
            skipped.append(Skip("", "too-many", detail))
            del files[limits.max_files :]
            return _result(files, skipped, other, ignored, folders, truncated=True)
    files += data[: limits.max_files - len(files)]  # last: few of them are documents, and code must not wait for them
    return _result(files, skipped, other, ignored, folders, truncated=False)


def _result(
    files: list[FoundFile], found: list[Skip], other: Counter[str], ignored: list[str], folders: int, *, truncated: bool
) -> ScanResult:
    named = [skips.printable(path) for path in ignored[:NAMED_IGNORED]]
    return ScanResult(files, found, dict(other), len(ignored), folders, truncated, named)


def find_file(rules: IgnoreRules, path: str, limits: Limits) -> FoundFile | Skip:
    """Verdict of `scan` on the one file at `path` (relative, `/`); `gone` where there is none."""
    if "\0" in path:
        return Skip(skips.printable(path), "gone", "No file can be called that.")
    above, _, name = path.rpartition("/")
    folder = rules.folder(above)
    if folder.closed:
        return Skip(skips.printable(path), folder.closed.reason, folder.closed.detail)
    if folder.ignores(name, is_folder=False):
        return Skip(skips.printable(path), "ignored", "An ignore rule names this file.")
    absolute = f"{rules.root}/{path}"
    if _below_a_link(rules.root, above):
        return Skip(skips.printable(path), "symlink", "Lies below a symbolic link.")
    if documents.is_data(name):
        return _look_at_data(rules, path, name, absolute, limits, None)
    if not known_by_name(name) and not _is_script(absolute, name):
        if not os.path.lexists(absolute):
            return Skip(skips.printable(path), "gone", "There is no such file.")
        return skips.unknown(skips.printable(path))
    return _look(rules, path, name, absolute, limits, None)


def _look(
    rules: IgnoreRules, path: str, name: str, absolute: str, limits: Limits, entry: os.DirEntry[str] | None
) -> FoundFile | Skip:
    """Verdict on one file by its stat: a symbolic link, a device, too large, or to be indexed."""
    if not _encodable(path):
        return _badly_named(path)
    try:
        status = entry.stat(follow_symlinks=False) if entry else os.lstat(absolute)
    except OSError as error:
        if error.errno in _NO_FILE:
            return Skip(path, "gone", "There is no such file.")
        return skips.unreadable(path, error)
    if stat.S_ISLNK(status.st_mode):
        return _link(rules.root, path, absolute)
    if not stat.S_ISREG(status.st_mode):
        return Skip(path, "not-a-file", "A folder, pipe, socket or device, not a file.")
    return (
        skips.by_name(path, name)
        or skips.by_size(path, status.st_size, limits.max_file_bytes)
        or FoundFile(path, status.st_size, status.st_mtime_ns, file_mark(status))
    )


def _look_at_data(
    rules: IgnoreRules, path: str, name: str, absolute: str, limits: Limits, entry: os.DirEntry[str] | None
) -> FoundFile | Skip:
    """As `_look`, for files that are hardly ever documents: only a name that promises one is worth a reason."""
    found = _look(rules, path, name, absolute, limits, entry)
    if isinstance(found, FoundFile) or found.reason == "gone" or documents.named_like_a_schema(name):
        return found
    return skips.unknown(skips.printable(path))


def _link(root: Path, path: str, absolute: str) -> Skip:
    """Skip of a symbolic link: broken (dangling), a loop, or where it leads."""
    try:
        target = Path(absolute).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        if isinstance(error, FileNotFoundError):
            return Skip(path, "symlink", "A symbolic link to nothing.")
        return Skip(path, "symlink-loop", "A symbolic link that leads back to itself.")
    if target.is_relative_to(root.resolve()):
        return Skip(path, "symlink", "A symbolic link; its target is indexed under its own name.")
    return Skip(path, "symlink-outside", "A symbolic link that leaves the workspace.")


def _below_a_link(root: Path, folder: str) -> bool:
    """Whether a folder on the way is a symbolic link."""
    above = str(root)
    for name in folder.split("/") if folder else ():
        above = f"{above}/{name}"
        try:
            if stat.S_ISLNK(os.lstat(above).st_mode):
                return True
        except OSError:
            return False  # below what is gone is nothing: of a deep tree that was removed, each folder asks this
    return False


def _is_script(absolute: str, name: str) -> bool:
    """Shebang: whether a file without suffix is executable and its first line names an interpreter we know."""
    if "." in name:
        return False
    try:
        status = os.lstat(absolute)
        if not stat.S_ISREG(status.st_mode) or not status.st_mode & 0o111:
            return False
        first_line = languages.first_line(read_prefix(absolute, languages.FIRST_LINE_BYTES))
    except (OSError, NotARegularFile):
        return False
    return first_line.startswith(b"#!") and languages.for_path(name, first_line) is not None


@cache
def _file_names() -> frozenset[str]:
    return frozenset(name for language in languages.all_languages() for name in language.file_names)


def known_by_name(name: str) -> bool:
    """Whether a file's name alone tells that we know to read it. Asked of every file, so answered by suffix, once."""
    return name in _file_names() or _by_suffix(_suffix(name))


def may_be_source(name: str) -> bool:
    """Whether a file of this name may count: it is known, its content decides, or it may be a script."""
    return "." not in name or known_by_name(name) or documents.is_data(name)


def _suffix(name: str) -> str:
    """File extension, "" without one."""
    dot = name.rfind(".")
    return name[dot:] if dot > 0 else ""


@lru_cache(maxsize=512)
def _by_suffix(suffix: str) -> bool:
    if not suffix:
        return False
    document = documents.for_path(f"file{suffix}")
    return languages.for_path(f"file{suffix}") is not None or (document is not None and not document.data)


def _encodable(text: str) -> bool:
    """Whether a file's name is valid UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _badly_named(path: str) -> Skip:
    return Skip(skips.printable(path), "name-encoding", "Its name is not UTF-8.")
