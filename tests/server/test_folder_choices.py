"""What is asked of the first of several, a rule each: of folders, of changes and runs, of an editor's answers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aurora_server.lsp import configuration, deliverable_metrics, soar_steps
from tests.server.test_request_choices import Folder, change, session


async def test_single_steps_are_taken_in_the_first_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    class Soar:
        def __init__(self, name: str) -> None:
            self._name = name

        async def steps(self, model: Any, **_: Any) -> Any:
            asked.append((self._name, model is not None))

    folders = [Folder("/a/b"), Folder("/w")]
    for each in folders:
        each.soar = Soar(str(each.root))  # type: ignore[attr-defined]
    for offers in (False, True):
        await soar_steps._steps(session(*folders, offers_model=offers, trusted=False, model_choice=None))
    assert asked == [("/a/b", False), ("/a/b", True)]


async def test_reports_are_of_changes_and_their_events_of_the_folder_that_knows_them() -> None:
    """A run of a question is no deliverable that is reported."""

    async def events(name: str) -> Any:
        return [f"events of {name}"]

    folder = Folder("/w", change("x"), change("r", kind="run"))
    folder.events = events  # type: ignore[attr-defined]
    found, events_of = await deliverable_metrics._changes(session(folder))
    assert [each.change_id for each in found] == ["x"] and await events_of(found[0]) == ["events of x"]  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(
    ("answers", "taken"), [([{"hover": False}, {"hover": True}], [{"hover": False}]), ([None], []), ([], [])]
)
async def test_of_an_editors_answers_ours_is_the_first(
    answers: Any, taken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []

    async def ask(*_: Any) -> Any:
        return answers

    monkeypatch.setattr(configuration, "take", lambda ls, section: told.append(section))
    workspace = SimpleNamespace(configuration=True)
    ls: Any = SimpleNamespace(client=SimpleNamespace(workspace=workspace), protocol=SimpleNamespace(ask=ask))
    await configuration.fetch(ls)
    assert told == taken
    workspace.configuration = False
    await configuration.fetch(ls)
    assert told == taken, "who does not answer is not asked"
