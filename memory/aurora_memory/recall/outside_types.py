"""Outside types (external interfaces, traits, base classes): who implements or inherits from what is not defined in the
workspace, told by what the code itself says.

An interface of Go is implemented without a word: of some in Go's own library the methods are known here, of others not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from aurora_memory.name_lookup import bound_name, module_segments
from aurora_memory.store import implementation_reader, relation_reader
from aurora_memory.store.reader import Reader

_GO_TYPE = re.compile(r"[a-z]\w*\.[A-Z]\w*")


class OutsideHeirs(Struct, frozen=True):
    """Heirs of an outside type: row id, and if surely. `is_embedded`: types of Go that embed it, of which nobody knows
    whether it is an interface, and with which methods.
    """

    heirs: Sequence[tuple[int, bool]] = ()
    is_embedded: bool = False


def outside_heirs(reader: Reader, name: str) -> OutsideHeirs | None:
    """Who says that it implements or inherits from what is called so, with dots; None where nobody does."""
    *around, leaf = name.split(".")
    known = implementation_reader.standard(reader, name)
    if known is not None:
        return OutsideHeirs([(each.id, each.is_sure) for each in known])
    found: dict[int, bool] = {}
    embedding: dict[int, bool] = {}
    for chunk_id, path, language, qualifier in implementation_reader.stated(reader, leaf):
        surely = _is_meant(reader, path, leaf, qualifier, around)
        if surely is not None:
            (embedding if language == "go" else found).setdefault(chunk_id, surely)
    if found:
        return OutsideHeirs(_surest_first(found))
    if embedding or (_GO_TYPE.fullmatch(name) and implementation_reader.is_package(reader, around[0])):
        return OutsideHeirs(_surest_first(embedding), is_embedded=True)
    return None


def _surest_first(found: dict[int, bool]) -> list[tuple[int, bool]]:
    return sorted(found.items(), key=lambda item: not item[1])


def _is_meant(reader: Reader, path: str, leaf: str, qualifier: str, around: Sequence[str]) -> bool | None:
    """Whether a name in a file surely means the one with `around` before it; None where it means another.

    What is written before the name, or imported under its first part, has to end as what was asked for.
    """
    if not around:
        return True
    written = qualifier.split(".") if qualifier else []
    first = written[0] if written else leaf
    places = [
        [*module_segments(entry.module), *filter(None, [entry.name])]
        for entry in relation_reader.imports(reader, path)
        if bound_name(entry) == first
    ]
    ways = [[*place[: len(place) if written else -1], *written[1:]] for place in places] or [written]
    if not any(ways):
        return False
    return True if any(_end_alike(way, around) for way in ways) else None


def _end_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the shorter of two is how the longer one ends."""
    count = min(len(one), len(other))
    return count > 0 and list(one[-count:]) == list(other[-count:])
