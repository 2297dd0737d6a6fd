"""Configuration file: a JSON object, read bounded in size and never waited for, changed under a lock and replaced
atomically.

People and AURORA both write it: a reader sees the old file or the new one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from aurora_protocol import BAD_INPUT, AuroraError
from aurora_protocol.address import home as aurora_home
from aurora_protocol.strict_modes import complaint, link_complaint, make_private_folder, without_waiting

MAX_CONFIG_BYTES = 1 << 20
CONFIG_VARIABLE = "AURORA_CONFIG"
FLAG_VARIABLE = "AURORA_CONFIG_FLAG"
"""Where a command was given `--config`, the same file again: so does the daemon that it starts know of the flag."""

NamedBy = Literal["", "variable", "flag"]
PRIVATE = 0o600
WAIT_SECONDS = 10.0
"""How long another process that changes the same file is waited for."""


class SettingsError(AuroraError):
    """A configuration value cannot be used; the message names the file or variable, the key and what is expected."""

    exit_code = BAD_INPUT


class ConfigFile(Struct, frozen=True):
    """A file of configuration and what it holds; nothing where there is no file. `named`: how its user named it."""

    path: Path
    content: dict[str, Any] = {}
    named: NamedBy = ""


def users_path(environ: Mapping[str, str], config_file: Path | None = None) -> tuple[Path, NamedBy]:
    """The user's file: `config_file`, else $AURORA_CONFIG, else `config.json` in the home folder; and how it was
    named."""
    if config_file is not None:
        return config_file, "flag"
    if said := environ.get(CONFIG_VARIABLE):
        return Path(said), "flag" if environ.get(FLAG_VARIABLE) == said else "variable"
    return aurora_home(environ) / "config.json", ""


def workspaces_path(root: Path) -> Path:
    """The file of the workspace at `root`."""
    return root / ".aurora" / "config.json"


def users_document(environ: Mapping[str, str], config_file: Path | None = None) -> ConfigFile:
    """Read the user's file. Raises SettingsError, also where a file that was named is missing."""
    path, named = users_path(environ, config_file)
    return ConfigFile(path, read_document(path, required=bool(named), named_by=spelt(named)), named)


def spelt(named: NamedBy) -> str:
    """How a file was named, as its user knows it."""
    return CONFIG_VARIABLE if named == "variable" else "--config"


def workspaces_document(root: Path) -> ConfigFile:
    """Read the file of the workspace at `root`: it may belong to whom `root` belongs to. Raises SettingsError."""
    path = workspaces_path(root)
    try:
        owner = root.stat().st_uid
    except OSError:  # a folder that is gone has no file either
        return ConfigFile(path)
    return ConfigFile(path, read_document(path, required=False, owner=owner))


def read_document(
    path: Path, *, required: bool, named_by: str = "--config", owner: int | None = None
) -> dict[str, Any]:
    """The JSON object in a file; an empty one where there is no file and none is `required`.

    `named_by` is what a missing one is to be looked up in, `owner` a user besides ours that it may belong to. Raises
    SettingsError, also where another user may write the file (`strict_modes`). Never waits: what a workspace has there
    may be a pipe.
    """
    try:
        with open(path, "rb", opener=without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise SettingsError(f"cannot read {path}: it is not a regular file")
            if problem := complaint(path, status, owner):
                raise SettingsError(problem)
            content = file.read(MAX_CONFIG_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if required:
            raise SettingsError(f"there is no config file {path}; check {named_by}") from error
        return {}
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from error
    if len(content) > MAX_CONFIG_BYTES:
        raise SettingsError(f"{path} is larger than 1 MiB, which no configuration needs")
    try:
        document = json.loads(content or b"{}", parse_constant=_no_number, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(document, dict):
        raise SettingsError(f"{path} must hold a JSON object")
    return document


def change(path: Path, home: Path, how: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Read-modify-write of the JSON object in `path` by `how`; returns it. Other processes wait meanwhile.

    A new file is 0600, an existing one keeps its mode, a link stays one. The lock is kept in `home`. Raises
    SettingsError, also where the present content is no JSON object, another user's link leads there, or `home` is not
    ours: nothing is replaced then.
    """
    if problem := link_complaint(path) or _home_complaint(home):
        raise SettingsError(f"{path} is not written: {problem}")
    from filelock import FileLock, Timeout  # 30 ms that reading need not pay

    path = path.resolve()
    locks = home / "run"
    try:
        make_private_folder(locks)
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        with FileLock(locks / f"change-{name}.lock", timeout=WAIT_SECONDS, mode=PRIVATE):
            document = how(read_document(path, required=False))
            _replace(path, document)
    except Timeout as error:
        raise SettingsError(
            f"{path} is being changed by another process for {WAIT_SECONDS:.0f} s; try again"
        ) from error
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}") from error
    return document


def _home_complaint(home: Path) -> str | None:
    """Why nothing is written for a home: another user's, as root has it after `sudo -E`, or open to others."""
    try:
        return complaint(home, home.stat())
    except FileNotFoundError:
        return None


def _replace(path: Path, document: dict[str, Any]) -> None:
    """Write a temporary file, fsync it, and rename it over the old one: atomic."""
    try:
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as error:
        raise SettingsError(f"{path}: nothing was changed: it would hold a number that JSON does not have") from error
    make_private_folder(path.parent)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(name, stat.S_IMODE(path.stat().st_mode))  # noqa: PTH101 - a name, as mkstemp gives it
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108
        raise


def finite(text: str) -> float:
    """Python's number for one of JSON. Raises ValueError for one like 1e999, which would be infinity."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")  # NaN compares with nothing: no limit would hold
