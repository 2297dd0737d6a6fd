"""Preferences of an editor's user: what of pushed settings is ours, what they change, and whom that concerns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aurora_server.lsp.configuration import Preferences, section_of, take


@pytest.mark.parametrize(
    ("settings", "section"),
    [
        pytest.param({"aurora": {"hover": False}, "python": {}}, {"hover": False}, id="of all settings our section"),
        pytest.param({"hover": False}, {"hover": False}, id="or the section alone"),
        pytest.param({"aurora": {}}, None, id="not an empty one"),
        pytest.param({"aurora": [1]}, None, id="nor what is none"),
        pytest.param(None, None, id="nor nothing"),
    ],
)
def test_which_settings_are_ours(settings: Any, section: dict[str, Any] | None) -> None:
    assert section_of(settings) == section


@pytest.mark.parametrize(
    ("section", "preferences", "called", "told"),
    [
        pytest.param({"hover": False}, Preferences(hover=False), 1, 0, id="a change concerns who asked"),
        pytest.param({"hover": True, "codeLens": False}, Preferences(code_lens=False), 0, 0, id="what is as it was"),
        pytest.param({}, Preferences(), 1, 0, id="what is not named keeps its default"),
        pytest.param({"trace": {"server": "off"}, "codeLens": False}, Preferences(code_lens=False), 0, 0,
                     id="names of the extension's own are left alone"),
        pytest.param({"hover": "no"}, Preferences(code_lens=False), 0, 1, id="a wrong type is told"),
    ],
)  # fmt: skip
def test_what_settings_change(section: dict[str, Any], preferences: Preferences, called: int, told: int) -> None:
    calls: list[int] = []
    messages: list[Any] = []
    protocol = SimpleNamespace(push=lambda method, params: messages.append(params))
    ls: Any = SimpleNamespace(
        preferences=Preferences(code_lens=False), on_preferences=[lambda: calls.append(1)], protocol=protocol
    )
    take(ls, section)
    assert (ls.preferences, len(calls), len(messages)) == (preferences, called, told)
