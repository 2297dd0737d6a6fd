"""Person and machine that learned (anonymous user and host ids): ids that say nothing more than whether two are the
same.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from aurora_memory import StoreError
from aurora_protocol.strict_modes import OWN_FILE, complaint, make_private_folder

_ID = re.compile(r"[0-9a-f]{32}")


def person_id(email: str, user: str, machine: str) -> str:
    """Anonymous id of a person, a hash: by his mail address the same on every machine, without one by his user name on
    this one."""
    told = f"mail:{email.strip().lower()}" if email.strip() else f"user:{user}@{machine}"
    return hashlib.blake2b(told.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def machine_id(home: Path) -> str:
    """Random id of this machine, made once and kept in the file `machine` of AURORA_HOME. Blocks; raises StoreError."""
    path = home / "machine"
    try:
        found = _read(path)
        if found is None:
            _make(path)
            found = _read(path)
    except OSError as error:
        raise StoreError(f"cannot keep this machine's id in {path}: {error.strerror}; set AURORA_HOME") from error
    if found is None:
        raise StoreError(f"{path} holds no machine id; remove it, and a new one is made")
    return found


def _read(path: Path) -> str | None:
    """Machine id that the file holds; None where there is no file."""
    try:
        with path.open("rb") as file:
            told = complaint(path, os.fstat(file.fileno()))
            content = file.read(100)
    except FileNotFoundError:
        return None
    if told is not None:
        raise StoreError(told)
    text = content.decode("ascii", "replace").strip()
    if not _ID.fullmatch(text):
        raise StoreError(f"{path} holds no machine id; remove it, and a new one is made")
    return text


def _make(path: Path) -> None:
    """Atomic creation: make the file whole, so that nobody reads half an id; another process may be faster."""
    make_private_folder(path.parent)
    beside = path.with_name(f".machine.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OWN_FILE, 0o600), "wb") as file:
            file.write(f"{secrets.token_hex(16)}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            path.hardlink_to(beside)
    finally:
        beside.unlink(missing_ok=True)
