"""Plug-ins: what distributions installed beside AURORA offer under an entry point group (`aurora.languages`, …).

Each group is looked for when it is first asked for, once per process, and costs next to nothing where nobody offers
anything: entry point files are only read as metadata where one of them names a group of ours. To install a plug-in is
to trust it: its code runs in the daemon and in its workers. A broken one is logged in one line and left out.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from msgspec import Struct

logger = logging.getLogger(__name__)

T = TypeVar("T")

_GROUP = re.compile(rb"^\[[ \t]*(aurora\.[\w.-]+)[ \t]*\]", re.MULTILINE)
_DESCRIBED = (".dist-info", ".egg-info")

_lock = threading.RLock()
_offers: dict[tuple[str, type[Any]], tuple[Plugin[Any], ...]] = {}


class Plugin(Struct, Generic[T], frozen=True):
    """Entry point that was loaded: its name, its value, and the distribution it is from (`aurora-kotlin 1.2`)."""

    name: str
    value: T
    distribution: str


@overload
def load(group: str) -> list[Plugin[Any]]: ...
@overload
def load(group: str, kind: type[T]) -> list[Plugin[T]]: ...
def load(group: str, kind: type[Any] = object) -> list[Plugin[Any]]:
    """The plug-ins of a group, by name; those whose value is no `kind` are left out. Imports their modules."""
    with _lock:
        if (group, kind) not in _offers:
            _offers[group, kind] = tuple(_loaded(group, kind)) if group in _groups_offered() else ()
        return list(_offers[group, kind])


def _loaded(group: str, kind: type[Any]) -> list[Plugin[Any]]:
    from importlib.metadata import entry_points  # 20 ms that nobody pays who has no plug-in

    found: dict[str, Plugin[Any]] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        owner = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown distribution"
        try:
            value = point.load()
            if not isinstance(value, kind):
                raise TypeError(f"{point.value} is of type {type(value).__name__}, not {kind.__name__}")
            if point.name in found:
                raise ValueError(f"{found[point.name].distribution} offers that name too")
        except Exception as error:  # noqa: BLE001 - whatever a stranger's module raises, AURORA goes on without it
            said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            logger.warning("plug-in %s of %s (%s) is left out: %s", point.name, owner, group, said)
        else:
            found[point.name] = Plugin(point.name, value, owner)
    return list(found.values())


@cache
def _groups_offered() -> frozenset[str]:
    """Our groups that some installed distribution names, as far as a look at its file of entry points tells."""
    found: set[str] = set()
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                described = [entry.path for entry in entries if entry.name.endswith(_DESCRIBED)]
        except OSError:  # no folder: sys.path names archives and what is not there
            continue
        for path in described:
            try:
                text = Path(path, "entry_points.txt").read_bytes()
            except OSError:  # most distributions offer nothing
                continue
            found.update(name.decode() for name in _GROUP.findall(text))
    return frozenset(found)
