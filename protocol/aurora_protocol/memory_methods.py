"""`aurora/memory/*`: export, import and adoption of what was learned, and its return from the archive."""

from __future__ import annotations

from aurora_protocol.methods import Wire

MEMORY_EXPORT = "aurora/memory/export"
MEMORY_IMPORT = "aurora/memory/import"
MEMORY_ADOPT = "aurora/memory/adopt"
MEMORY_RESTORE = "aurora/memory/restore"


class MemoryFileParams(Wire, frozen=True, kw_only=True):
    """`aurora/memory/export` and `aurora/memory/import`: an absolute path that the daemon writes, or reads."""

    path: str


class MemoryExportResult(Wire, frozen=True, kw_only=True):
    """`aurora/memory/export`: lines that were written, by type."""

    workspace: str
    path: str
    lines: dict[str, int]


class MemoryImportResult(Wire, frozen=True, kw_only=True):
    """`aurora/memory/import`: lines that were read and what was new among them, by type.

    `moved` chunks stand elsewhere than where they were exported; `waiting` ones are not in the workspace now.
    `same_repository` is None where one of the two is no repository, or has not been looked at yet; `left_out` are
    events of another repository's deliverables, which are not taken in.
    """

    workspace: str
    source: str
    lines: dict[str, int]
    added: dict[str, int]
    moved: int
    waiting: int
    same_repository: bool | None
    left_out: int = 0


class MemoryRestoreParams(Wire, frozen=True, kw_only=True):
    """`aurora/memory/restore`: an archived reasoning chunk, `reas:…`."""

    id: str


class MemoryRestoreResult(Wire, frozen=True, kw_only=True):
    """`aurora/memory/restore`: whether it was in the archive; it is recalled again from now on."""

    id: str
    restored: bool


class MemoryAdoptParams(Wire, frozen=True, kw_only=True):
    """`aurora/memory/adopt`: the memory of the folder, or in the file, at the absolute path `source`.

    Without it the one that is offered. With `list` nothing is adopted, and `others` says what there is.
    """

    source: str | None = None
    list: bool = False


class OtherMemory(Wire, frozen=True, kw_only=True):
    """Another workspace's memory file. `left`: its folder is gone. `learned` counts accesses and reasoning chunks."""

    path: str
    root: str
    left: bool
    same_repository: bool
    learned: int


class MemoryAdoptResult(Wire, frozen=True, kw_only=True):
    """`aurora/memory/adopt`. The adopted file is kept; `kept_as` is its new name where its folder is gone."""

    others: list[OtherMemory]
    adopted: MemoryImportResult | None = None
    kept_as: str | None = None
