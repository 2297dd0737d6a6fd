"""Lines of a record and of the workspaces that share it: what stands where, and what is none of a workspace's."""

from __future__ import annotations

import msgspec
import pytest

from aurora_memory.record.places import in_repository, in_workspace
from aurora_memory.store.export_format import AccessLine, ChunkKey, DeliverableLine, ExportLine


def access(path: str) -> ExportLine:
    return AccessLine(ChunkKey(path, "f", "function", "0" * 32), 1.0, "recall")


def deliverable(folder: str) -> ExportLine:
    return DeliverableLine("e1", "add-search", 1.0, 1.0, "cli", msgspec.Raw(b"{}"), folder)


@pytest.mark.parametrize(
    ("below", "recorded", "here"),
    [
        pytest.param("shop", access("shop/src/a.py"), access("src/a.py"), id="a file below the workspace's folder"),
        pytest.param("shop", access("shopping/a.py"), None, id="not of a folder whose name only begins so"),
        pytest.param("shop", access("bank/a.py"), None, id="nor of another"),
        pytest.param("", access("shop/src/a.py"), access("shop/src/a.py"), id="at the top every file"),
        pytest.param("shop", deliverable("shop"), deliverable(""), id="a change of the workspace's own folder"),
        pytest.param("shop", deliverable("shop/web"), None, id="not of a folder below: that is another's of its name"),
        pytest.param("", deliverable("shop"), None, id="nor at the top that of a folder"),
        pytest.param("shop", deliverable(""), None, id="nor in a folder that of the top"),
    ],
)
def test_what_of_a_record_is_a_workspaces(below: str, recorded: ExportLine, here: ExportLine | None) -> None:
    assert in_workspace(recorded, below) == here
    if here is not None:
        assert in_repository(here, below) == recorded, "and goes back to where it stood"
