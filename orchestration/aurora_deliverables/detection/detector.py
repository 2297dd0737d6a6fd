"""Detectors of plug-ins: further kinds of specs that deliverables are noticed by, from the entry point group
`aurora.detectors`.

What one sees of a spec is compared with what was told, as it is for the built-in kinds (`observation.news`); so a
detector only reads. Built-in sources win, and a file that is one of theirs is not offered to it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import ParamSpec, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.detection.observation import Observation
from aurora_protocol import plugins
from aurora_protocol.plugins import Plugin

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

GROUP = "aurora.detectors"


class Detector(Struct, frozen=True, kw_only=True):
    """Detector of a kind of spec. `source` names it in events; a *key* is the change's id.

    `key_of` tells the key of the spec that a file belongs to, by its path alone (relative, with `/`): it is asked of
    every save, and must not look at the disk. `keys` finds all specs of a workspace, `see` reads one; None where it is
    not there. Both run in threads.
    """

    source: str
    key_of: Callable[[str], str | None]
    keys: Callable[[Path], Iterable[str]]
    see: Callable[[Path, str], Observation | None]


class GuardedDetector:
    """A plug-in's detector, its faults isolated: one that raises, or gives what it should not, is told of once and not
    asked again in this process."""

    def __init__(self, plugin: Plugin[Detector]) -> None:
        self._plugin = plugin
        self._detector = plugin.value
        self._broken = False

    def key_of(self, path: str) -> str | None:
        """The key of the spec that the file at `path` belongs to."""
        return self._asked(str, self._detector.key_of, path)

    def keys(self, root: Path, most: int) -> list[str]:
        """The keys of at most `most` specs of a workspace."""
        return self._asked(list, lambda: [str(key) for key in islice(self._detector.keys(root), most)]) or []

    def see(self, root: Path, key: str) -> Observation | None:
        """What is seen of a spec now; None where it is not there."""
        seen = self._asked(Observation, self._detector.see, root, key)
        # Events carry the source, and what is asked for by a key is the change of that name.
        return seen and replace(seen, source=self._detector.source, change_id=key)

    def _asked(self, kind: type[T], ask: Callable[P, T | None], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Call of the plug-in, its exceptions caught and its type checked; disabled after the first fault."""
        if self._broken:
            return None
        try:
            found = ask(*args, **kwargs)
            if found is not None and not isinstance(found, kind):
                raise TypeError(f"gave a {type(found).__name__}, not {kind.__name__}")
        except Exception as error:  # a stranger's code: detection goes on without it
            self._broken = True
            logger.debug("a plug-in's detector failed", exc_info=True)
            plugins.leave_out(GROUP, self._plugin, f"{type(error).__name__}: {error}")
            return None
        return found


@cache
def plugged(taken: frozenset[str]) -> Mapping[str, GuardedDetector]:
    """The plug-ins' detectors by source, those aside whose source is one of `taken`; looked for once per process."""
    found: dict[str, GuardedDetector] = {}
    for plugin in plugins.load(GROUP, Detector):
        source = plugin.value.source
        if not source or source in taken or source in found:
            why = f"there is a source {source} already" if source else "it has no source"
            plugins.leave_out(GROUP, plugin, why)
        else:
            found[source] = GuardedDetector(plugin)
    return found
