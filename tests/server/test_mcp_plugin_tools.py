"""Tools of plug-ins: which are offered beside ours, and why others are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from aurora_protocol import plugins
from aurora_protocol.plugins import Plugin
from aurora_server.mcp import tools as registry
from aurora_server.mcp.tools import BUILT_IN

OURS = next(tool for tool in BUILT_IN if tool.name == "aurora_assess")


@pytest.fixture
def left_out(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    told: list[str] = []
    monkeypatch.setattr(plugins, "leave_out", lambda group, plugin, why: told.append(why))
    registry.tools.cache_clear()
    yield told
    registry.tools.cache_clear()


@pytest.mark.parametrize(
    ("names", "offered", "why"),
    [
        pytest.param(["mine"], ["mine"], [], id="one of another name"),
        pytest.param(["aurora_assess"], [], ["has a tool aurora_assess already"], id="none in the place of ours"),
        pytest.param(["mine", "mine"], ["mine"], ["has a tool mine already"], id="of two the first"),
        pytest.param(["my tool"], [], ["1 to 64 letters"], id="no name that clients do not take"),
        pytest.param(["m" * 65], [], ["1 to 64 letters"], id="nor a longer one"),
    ],
)
def test_which_tools_of_plug_ins_are_offered(
    names: list[str], offered: list[str], why: list[str], left_out: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(group: str, kind: Any) -> list[Plugin[Any]]:
        return [Plugin(name, replace(OURS, name=name), f"dist-{n}") for n, name in enumerate(names)]

    monkeypatch.setattr(plugins, "load", load)
    found = registry.tools()
    assert [name for name in found if found[name].owner.startswith("dist-")] == offered
    assert found["aurora_assess"].owner == OURS.owner and list(registry.offered("all")) == list(found)
    assert all(each in told for each, told in zip(why, left_out, strict=True))
