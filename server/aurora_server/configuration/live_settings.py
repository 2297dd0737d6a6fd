"""Live settings of a running daemon (hot reload): read again when the user's file changes, kept when it
cannot be read.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aurora_protocol.methods import DoctorFinding
from aurora_server.configuration.config_file import (
    ConfigFile,
    SettingsError,
    read_document,
    spelt,
    users_path,
    workspaces_document,
)
from aurora_server.configuration.settings import DaemonSections, Settings, settings_of

if TYPE_CHECKING:
    from aurora_orchestration.settings import SoarSettings
    from aurora_server.configuration.layers import Notice

logger = logging.getLogger(__name__)

_Stamp = tuple[int, int, int] | None


class SettingsSource:
    """Source of the settings in force, for any thread; asking costs one look at the file's time of change.

    Raises SettingsError when made, never later: settings that cannot be used leave the last good ones in force.
    """

    def __init__(self, environ: Mapping[str, str], config_file: Path | None = None) -> None:
        self._environ = dict(environ)
        self._path, self._named = users_path(environ, config_file)
        self._lock = threading.Lock()
        self._stamp = _stamp(self._path)
        self._document, self._settings = self._read()
        self._told: set[str] = set()
        self.problem: str | None = None
        """Why the file as it is now is not in force; None where it is."""
        self.started = self._settings
        """Settings of the daemon's start, which still hold where they are marked `in_force: start`."""

    def current(self) -> Settings:
        """The settings, read again if the file has changed."""
        stamp = _stamp(self._path)
        if stamp != self._stamp:
            with self._lock:
                if stamp != self._stamp:
                    self._reload(stamp)
        return self._settings

    def soar_for(
        self, root: Path, *, trusted: bool, flags: Mapping[str, str] | None = None
    ) -> tuple[SoarSettings, list[Notice]]:
        """The settings of a run that begins now in the workspace at `root`; reads its file.

        `flags` may have `llm_provider` and `llm_model`; only what is wrong with those raises SettingsError.
        """
        from aurora_server.configuration.layers import layered  # where a question is asked: the start does without

        self.current()
        return layered(self._document, root, trusted, self._environ, flags)

    def tell_log(self) -> None:
        """Log what nothing reads in the file, each once. Reads the schema: not for the event loop's thread."""
        for line in self._unknown(self._document):
            if line not in self._told:
                self._told.add(line)
                logger.warning("configuration", extra={"problem": line})

    def findings(self, roots: Mapping[Path, bool]) -> list[DoctorFinding]:
        """Findings of `aurora doctor`: the user's configuration, and that of workspaces (trusted or not). Reads files.

        What cannot be used is an error, what nothing reads or what does not hold yet is a warning.
        """
        settings = self.current()
        found: list[DoctorFinding] = []
        if self.problem is not None:
            fix = "mend it; until then the settings from before hold"
            found.append(DoctorFinding(level="error", what=self.problem, fix=fix))
        found += [DoctorFinding(level="warning", what=line) for line in self._unknown(self._document)]
        late = [place for place in _at_start() if _at(settings, place) != _at(self.started, place)]
        if late:
            what = f"changed in {self._path}, but not in force until the daemon starts anew: {', '.join(late)}"
            found.append(
                DoctorFinding(level="warning", what=what, fix="aurora daemon stop; the next command starts it")
            )
        for root, trusted in roots.items():
            try:
                _, notices = self.soar_for(root, trusted=trusted)
            except SettingsError:
                continue  # the user's own, told above
            found += [DoctorFinding(level="warning", what=notice.what, fix=notice.fix) for notice in notices]
            try:
                document = workspaces_document(root)
            except SettingsError:
                continue  # one of the notices
            found += [DoctorFinding(level="warning", what=line) for line in self._unknown(document)]
        if not any(finding.level == "error" for finding in found):
            told = f"settings of {self._path}" if self._stamp is not None else "default settings"
            found.append(DoctorFinding(level="ok", what=f"{told} are in force"))
        return found

    def _reload(self, stamp: _Stamp) -> None:
        """Reload of a changed file; what cannot be used is logged, the old settings stay."""
        try:
            document, settings = self._read()
        except SettingsError as error:
            self.problem = str(error)
            logger.warning("configuration is not used", extra={"problem": self.problem})
        else:
            self._document, self._settings, self.problem = document, settings, None
            logger.info("configuration read again", extra={"file": str(self._path)})
        self._stamp = stamp

    def _read(self) -> tuple[ConfigFile, Settings]:
        content = read_document(self._path, required=bool(self._named), named_by=spelt(self._named))
        document = ConfigFile(self._path, content, self._named)
        return document, settings_of(document, self._environ)

    @staticmethod
    def _unknown(document: ConfigFile) -> list[str]:
        """Unknown members of the file (typos), a warning each."""
        if not document.content:
            return []
        from aurora_server.configuration import schema_lookup  # where a file is: the start need not pay for it

        return [f"{document.path}: {each.line}" for each in schema_lookup.unknown(document.content)]


def _at_start() -> tuple[str, ...]:
    """Places that hold from the start of the daemon to its end."""
    from aurora_server.configuration.marks import members

    marked = (each.place for each in members(DaemonSections) if each.marks.get("in_force") == "start")
    return (*marked, "lifespans")


def _at(settings: Settings, place: str) -> Any:
    value: Any = settings
    for step in place.split("."):
        value = getattr(value, step)
    return value


def _stamp(path: Path) -> _Stamp:
    """Stamp of a file (mtime, size, inode), by which a change is noticed; None without one."""
    try:
        found = os.stat(path)  # noqa: PTH116 - asked often
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
