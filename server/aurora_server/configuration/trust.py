"""Workspace trust: which workspaces their user trusts (ruling 16): until then nothing of a workspace runs or redirects.

Kept in `trusted.json` in the home folder. Trust is in a folder itself and not in the folders below it: what is cloned
into a trusted one later was looked at by nobody. It is kept by the folder's path, so it counts only while nobody else
can put another folder there, or write into this one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aurora_protocol.strict_modes import complaint, way_complaint
from aurora_server.configuration.config_file import SettingsError, read_document

FILE = "trusted.json"
MOST = 10_000


class Trust:
    """The trusted roots of one home folder, by their canonical paths. May be asked from any thread."""

    def __init__(self, home: Path, now: Callable[[], float] = time.time) -> None:
        self._home = home
        self._now = now

    @property
    def path(self) -> Path:
        """The file they are kept in."""
        return self._home / FILE

    def is_trusted(self, root: Path) -> bool:
        """Whether the folder is trusted. Reads the file; False where that cannot be read or is not the user's own, and
        where `folder_complaint` has one.
        """
        try:
            return os.fspath(root.resolve()) in self._read() and folder_complaint(root) is None
        except (SettingsError, OSError):
            return False

    def roots(self) -> dict[str, str]:
        """The trusted folders, each with the moment it was trusted (ISO 8601). Raises SettingsError."""
        return self._read()

    def trust(self, root: Path) -> bool:
        """Trust the folder from now on; False if it was trusted before. Raises SettingsError, also for one that others
        can write or exchange.
        """
        if problem := folder_complaint(root):
            raise SettingsError(f"{root} cannot be trusted: {problem}")
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._now()))
        return self._change(root, lambda roots, name: {**roots, name: roots.get(name, at)})

    def revoke(self, root: Path) -> bool:
        """Trust the folder no more; False if it was not trusted. Raises SettingsError."""
        return self._change(root, lambda roots, name: {each: at for each, at in roots.items() if each != name})

    def _change(self, root: Path, how: Callable[[dict[str, str], str], dict[str, str]]) -> bool:
        """Change of the list of trusted roots under a lock; whether it changed."""
        from aurora_server.configuration.config_file import change

        changed = False

        def changing(document: dict[str, Any]) -> dict[str, Any]:
            nonlocal changed
            before = _roots(document, self.path)
            after = how(before, os.fspath(root.resolve()))
            changed = after != before
            return {"version": "1.0", "trusted": after}

        change(self.path, self._home, changing)
        return changed

    def _read(self) -> dict[str, str]:
        return _roots(read_document(self.path, required=False), self.path)


def folder_complaint(root: Path) -> str | None:
    """Why a workspace's folder may not be what its user trusted: others may write it, or put another in its place; None
    where only its owner can. A folder that is not there has none.
    """
    try:
        folder = root.resolve()
        status = folder.stat()
        return complaint(folder, status, status.st_uid) or way_complaint(folder, status.st_uid)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot look at {root}: {error.strerror}"


def trusted_by_editor(options: Any) -> bool:
    """Whether `initializationOptions` say that the editor's user trusts the workspace: `{"workspaceTrusted": true}`.

    Settings that are pushed or asked for later are not believed: editors mix a workspace's own settings into them.
    """
    return isinstance(options, dict) and options.get("workspaceTrusted") is True


def _roots(document: dict[str, Any], path: Path) -> dict[str, str]:
    """Trusted roots of the document, validated. Raises SettingsError."""
    roots = document.get("trusted", {})
    if not isinstance(roots, dict) or not all(isinstance(at, str) for at in roots.values()) or len(roots) > MOST:
        raise SettingsError(f"{path} is not what aurora trust wrote; remove it, then trust your workspaces anew")
    return roots
