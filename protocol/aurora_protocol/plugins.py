"""Plug-ins: what distributions installed beside AURORA offer under an entry point group (`aurora.languages`, …).

Each group is looked for when it is first asked for, once per process, and costs next to nothing where nobody offers
anything: entry point files are only read as metadata where one of them names a group of ours. To install a plug-in is
to trust it: its code runs in the daemon, its workers and commands. A broken one is logged in one line and left out;
`aurora doctor` tells of it.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from msgspec import Struct

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

logger = logging.getLogger(__name__)

T = TypeVar("T")

_GROUP = re.compile(rb"^\[[ \t]*(aurora\.[\w.-]+)[ \t]*\]", re.MULTILINE)
_DESCRIBED = (".dist-info", ".egg-info")

_lock = threading.RLock()
_offers: dict[tuple[str, type[Any]], tuple[Plugin[Any], ...]] = {}
_left_out: dict[tuple[str, str, str], LeftOut] = {}


class Plugin(Struct, Generic[T], frozen=True):
    """Entry point that was loaded: its name, its value, and the distribution it is from (`aurora-kotlin 1.2`)."""

    name: str
    value: T
    distribution: str


class LeftOut(Struct, frozen=True):
    """Plug-in that is not used: its group, its name there, the distribution it is from, and why, in one line."""

    group: str
    name: str
    distribution: str
    why: str

    @property
    def line(self) -> str:
        """`plug-in lua of aurora-lua 1.0 (aurora.languages) is left out: …`"""
        return f"plug-in {self.name} of {self.distribution} ({self.group}) is left out: {self.why}"

    @property
    def fix(self) -> str:
        """Next step, for the end of a line."""
        return f"update or uninstall {self.distribution.rpartition(' ')[0] or self.distribution}"


@overload
def load(group: str) -> list[Plugin[Any]]: ...
@overload
def load(group: str, kind: type[T]) -> list[Plugin[T]]: ...
def load(group: str, kind: type[Any] = object) -> list[Plugin[Any]]:
    """The plug-ins of a group, by name; those whose value is no `kind` are left out. Imports their modules."""
    with _lock:
        if (group, kind) not in _offers:
            offering = _groups_offered().get(group)
            _offers[group, kind] = tuple(_loaded(group, kind, offering)) if offering else ()
        return list(_offers[group, kind])


def groups() -> list[str]:
    """Groups of ours that installed distributions offer anything under."""
    return sorted(_groups_offered())


def leave_out(group: str, plugin: Plugin[Any], why: str) -> None:
    """Note, and log in one line, that the owner of a group does not use a plug-in of it."""
    _leave_out(group, plugin.name, plugin.distribution, why)


def left_out(*groups: str) -> list[LeftOut]:
    """Everything of these groups (of any, without) that this process has loaded so far and does not use."""
    with _lock:
        return [each for _, each in sorted(_left_out.items()) if not groups or each.group in groups]


def _loaded(group: str, kind: type[Any], offering: tuple[str, ...]) -> list[Plugin[Any]]:
    """Loaded entry points of a group; one that fails is left out and told."""
    found: dict[str, Plugin[Any]] = {}
    for point, owner in sorted(_points(group, offering), key=lambda each: (each[0].name, each[0].value)):
        try:
            value = point.load()
            if not isinstance(value, kind):
                raise TypeError(f"{point.value} is of type {type(value).__name__}, not {kind.__name__}")
            if point.name in found:
                raise ValueError(f"{found[point.name].distribution} offers that name too")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stranger's module does, AURORA goes on
            _leave_out(group, point.name, owner, f"{type(error).__name__}: {error}")
        else:
            found[point.name] = Plugin(point.name, value, owner)
    return list(found.values())


def _points(group: str, offering: tuple[str, ...]) -> Iterator[tuple[EntryPoint, str]]:
    """The entry points of a group, each with its owner. Of two installed under one name, the first on the path counts.

    Read distribution by distribution: where one has a file that cannot be read, the others are there all the same.
    """
    from importlib.metadata import PathDistribution  # 20 ms that nobody pays who has no plug-in

    known: set[str] = set()
    for path in offering:
        owner = Path(path).stem
        try:
            distribution = PathDistribution(Path(path))
            name = distribution.metadata["Name"] or owner
            owner = f"{name} {distribution.version}"
            points = list(distribution.entry_points.select(group=group))
        except (OSError, TypeError, ValueError, LookupError) as error:  # TypeError: a line without "="
            _leave_out(group, "entry_points.txt", owner, f"it cannot be read, {type(error).__name__}: {error}")
            continue
        normal = re.sub(r"[-_.]+", "-", name).lower()
        if normal not in known:
            known.add(normal)
            yield from ((point, owner) for point in points)


def _leave_out(group: str, name: str, distribution: str, why: str) -> None:
    """Note on a plug-in that is left out, logged once."""
    noted = LeftOut(group, name, distribution, " ".join(why.split())[:300])
    with _lock:
        known = _left_out.get((group, distribution, name))
        _left_out[group, distribution, name] = noted
    if noted != known:
        logger.warning("%s", noted.line)


@cache
def _groups_offered() -> dict[str, tuple[str, ...]]:
    """Our groups that installed distributions name, as far as a look at their files of entry points tells, with the
    folders of their metadata."""
    found: dict[str, list[str]] = {}
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                described = sorted(entry.path for entry in entries if entry.name.endswith(_DESCRIBED))
        except OSError:  # no folder: sys.path names archives and what is not there
            continue
        for path in described:
            try:
                text = Path(path, "entry_points.txt").read_bytes()
            except OSError:  # most distributions offer nothing
                continue
            for name in dict.fromkeys(_GROUP.findall(text)):
                found.setdefault(name.decode(), []).append(path)
    return {group: tuple(paths) for group, paths in found.items()}
