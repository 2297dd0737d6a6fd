"""Manifest files: those a command is about (names, folders, glob patterns as `**/aura.json`, standard input), how they
are read, and the atomic replacement of one that was mended.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from aurora_cli.errors import CommandError
from aurora_manifest.json.scan_state import MAX_BYTES
from aurora_protocol.strict_modes import link_complaint

NAME = "aura.json"
WELL_KNOWN = Path(".well-known", NAME)
STANDARD_INPUT = "-"
_LEFT_OUT = frozenset({".git", "node_modules"})
_MAGIC = re.compile(r"[*?[]")


class UnreadableManifest(CommandError):
    """Error of a manifest that cannot be read; the message says what, why and the next step, in one line."""


class ManifestText(Struct, frozen=True):
    """Text to check. `path` is None for standard input; `name` is what people call it."""

    name: str
    path: Path | None
    text: str


def matching(argument: str) -> list[Path]:
    """The files an argument names (globbing), sorted where it names several. Raises UnreadableManifest for none.

    A folder stands for every aura.json in it, a pattern for what it matches, `**` for any depth, and on the way to any
    depth `.git`, `node_modules` and linked folders are left out. A file whose name looks like a pattern is itself.
    """
    path = Path(argument)
    if path.is_dir():
        found = sorted(set(_below(path, ("**", NAME))))
        if not found:
            raise UnreadableManifest(f"there is no {NAME} in {argument}; name the file")
        return found
    if _MAGIC.search(argument) and not os.path.lexists(path):
        parts = path.parts
        fixed = next(number for number, part in enumerate(parts) if _MAGIC.search(part))
        found = sorted(set(_below(Path(*parts[:fixed]), parts[fixed:])))
        if not found:
            raise UnreadableManifest(f'no file matches "{argument}"; "**/{NAME}" finds them at any depth')
        return found
    return [path]


def read(path: Path, name: str) -> ManifestText:
    """The text of a file; a pipe is read to its end. Raises UnreadableManifest, also for what is not UTF-8."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise UnreadableManifest(f"{name}: there is no such file; check the path") from error
    except OSError as error:
        raise UnreadableManifest(f"{name}: {error.strerror or error}") from error
    return ManifestText(name, path, decoded(content, name))


def read_standard_input(name: str) -> ManifestText:
    """What is on standard input, to be called `name`. Raises UnreadableManifest."""
    return ManifestText(name, None, decoded(sys.stdin.buffer.read(MAX_BYTES + 1), name))


def decoded(content: bytes, name: str) -> str:
    """Bytes as text, line ends and byte order mark as they are. Raises UnreadableManifest for what is not UTF-8."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableManifest(f"{name}: this is UTF-16; save it as UTF-8")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(content) > MAX_BYTES:  # cut off within a character, perhaps; it is too large to be checked anyway
            return content.decode("utf-8", "replace")
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableManifest(f"{name}: line {line} is not UTF-8 (byte {error.start}); save it as UTF-8") from error


def shown(path: Path, here: Path) -> str:
    """A path as people know it: relative to the working folder where it is below, with `/`."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links are to keep the names they were called by
    return (absolute.relative_to(here) if absolute.is_relative_to(here) else absolute).as_posix()


def _below(folder: Path, parts: tuple[str, ...]) -> Iterator[Path]:
    """The files below `folder` that the parts of a pattern match, some perhaps more than once."""
    part, rest = parts[0], parts[1:]
    if part == "**":
        for at, folders, _ in os.walk(folder):
            folders[:] = [name for name in folders if name not in _LEFT_OUT]
            yield from _below(Path(at), rest or ("*",))
        return
    for name in _names(folder, part):
        found = folder / name
        if rest and found.is_dir():
            yield from _below(found, rest)
        elif not rest and found.is_file():
            yield found


def _names(folder: Path, part: str) -> Iterable[str]:
    """The names in a folder that one part of a pattern matches; those that begin with a dot are names like others."""
    if not _MAGIC.search(part):
        return [part] if os.path.lexists(folder / part) else []
    try:
        return fnmatch.filter(os.listdir(folder), part)  # noqa: PTH208 - names are what is compared
    except OSError:  # a folder that may not be listed has nothing for us
        return []


class FileChanged(CommandError):
    """The file is not any more what it was when it was read; the message says so in one line."""


def replace_text(path: Path, old: str, new: str) -> None:
    """Put `new` in place of `old`, which `path` held when it was read, atomically and with nothing else changed.

    Keeps permissions and, where that is allowed, the owner; a link stays one, what it leads to is replaced, unless the
    link is another user's. Raises FileChanged, and OSError where the folder cannot be written to.
    """
    if problem := link_complaint(path):
        raise FileChanged(f"{path} is not fixed: {problem}")
    target = path.resolve(strict=True)
    status = target.stat()
    if not stat.S_ISREG(status.st_mode):
        raise FileChanged(f"{path}: this is not a regular file, so it was not fixed; save it as one")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if sys.platform != "win32":
            with suppress(PermissionError):  # only root may give files away; the mode below holds anyway
                os.chown(name, status.st_uid, status.st_gid)
        Path(name).chmod(stat.S_IMODE(status.st_mode))
        if target.read_bytes() != old.encode("utf-8"):
            raise FileChanged(f"{path}: it was changed while it was being fixed, and left alone; try again")
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
