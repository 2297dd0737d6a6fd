"""Files of configuration as JSON objects, bounded in size and never waited for."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from aurora_protocol.address import home as aurora_home
from aurora_protocol.strict_modes import complaint

MAX_CONFIG_BYTES = 1 << 20
CONFIG_VARIABLE = "AURORA_CONFIG"


class SettingsError(Exception):
    """A configuration value cannot be used; the message names the file or variable, the key and what is expected."""


class Document(Struct, frozen=True):
    """A file of configuration and what it holds; nothing where there is no file."""

    path: Path
    content: dict[str, Any] = {}


def users_path(environ: Mapping[str, str], config_file: Path | None = None) -> tuple[Path, bool]:
    """The user's file: `config_file`, else $AURORA_CONFIG, else `config.json` in the home folder; and whether one was
    named."""
    named = config_file or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    return named or aurora_home(environ) / "config.json", named is not None


def workspaces_path(root: Path) -> Path:
    """The file of the workspace at `root`."""
    return root / ".aurora" / "config.json"


def users_document(environ: Mapping[str, str], config_file: Path | None = None) -> Document:
    """Read the user's file. Raises SettingsError, also where a file that was named is missing."""
    path, named = users_path(environ, config_file)
    return Document(path, read_document(path, required=named))


def workspaces_document(root: Path) -> Document:
    """Read the file of the workspace at `root`: it may belong to whom `root` belongs to. Raises SettingsError."""
    path = workspaces_path(root)
    try:
        owner = root.stat().st_uid
    except OSError:  # a folder that is gone has no file either
        return Document(path)
    return Document(path, read_document(path, required=False, owner=owner))


def read_document(
    path: Path, *, required: bool, named_by: str = "--config", owner: int | None = None
) -> dict[str, Any]:
    """The JSON object in a file; an empty one where there is no file and none is `required`.

    `named_by` is what a missing one is to be looked up in, `owner` a user besides ours that it may belong to. Raises
    SettingsError, also where another user may write the file (`strict_modes`). Never waits: what a workspace has there
    may be a pipe.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
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


def finite(text: str) -> float:
    """Python's number for one of JSON. Raises ValueError for one like 1e999, which would be infinity."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")  # NaN compares with nothing: no limit would hold
