"""To which deliverable a hook, a test run or a spec belongs, a rule each: what is named, edited or asked last."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_deliverables import InvalidRequest
from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.detection import prompts
from aurora_deliverables.detection.claude_code import Hook
from aurora_deliverables.event_request import read_request
from aurora_server.workspace import claude_hooks
from aurora_server.workspace.change_history import WorkspaceGit
from aurora_server.workspace.claude_hooks import ClaudeHooks
from aurora_server.workspace.deliverable_detection import _PendingChanges
from aurora_server.workspace.deliverable_ingest import _meant, ingest
from aurora_server.workspace.open_deliverables import KEPT_TOLD, OpenDeliverables

ROOT = Path("/w")


def hooks(
    open_: tuple[str, ...] = ("x", "y"),
    *,
    branch: str = "main",
    at_work: str | None = None,
    prompted: tuple[str, ...] = (),
) -> Any:
    """The hooks of a workspace in which these are open, on a branch; `prompted` were begun by another's prompt."""

    async def on() -> str:
        return branch

    async def known(change_id: str) -> Any:
        framework = prompts.SOURCE if change_id in prompted else "openspec"
        return SimpleNamespace(spec=SimpleNamespace(framework=framework), ended=False)

    async def work(_: str | None) -> Any:
        return None if at_work is None else SimpleNamespace(change_id=at_work)

    detecting: Any = SimpleNamespace(
        open_ids=list(open_), branch=on, known=known, at_work=work, settings=SimpleNamespace(hooks=True),
        change_at=lambda path: {"specs/x.md": "x", "specs/y.md": "y"}.get(path),
    )  # fmt: skip
    nothing: Any = None
    return ClaudeHooks(ROOT, nothing, detecting)


@pytest.mark.parametrize(
    ("session", "path", "more", "event", "found"),
    [
        pytest.param({"folder": ("y", "main"), "change_id": "y"}, "specs/x.md", {"at_work": "y"}, "Stop", "x",
                     id="the spec that it edits"),
        pytest.param({"folder": ("y", "main")}, "src/a.py", {"at_work": "x"}, "Stop", "y",
                     id="else that its session edited last"),
        pytest.param({"folder": ("y", "other")}, None, {"at_work": "x"}, "Stop", "x", id="on this branch"),
        pytest.param({"folder": ("z", "main")}, None, {"at_work": "x"}, "Stop", "x", id="while that is open"),
        pytest.param({}, None, {"at_work": "x"}, "Stop", "x", id="else what is worked on"),
        pytest.param({"change_id": "z"}, None, {"at_work": "x"}, "Stop", "z", id="what ended is its own to the end"),
        pytest.param({"change_id": "z"}, None, {"at_work": "x"}, "UserPromptSubmit", "x", id="until it is asked anew"),
        pytest.param({}, None, {"at_work": "x", "prompted": ("x",)}, "Stop", None, id="not another's prompt"),
        pytest.param({}, None, {}, "Stop", None, id="or nothing"),
    ],
)  # fmt: skip
async def test_to_which_deliverable_a_hook_belongs(
    session: dict[str, Any], path: str | None, more: dict[str, Any], event: str, found: str | None
) -> None:
    made = claude_hooks._Session(**session)
    assert await hooks(**more)._change_of(Hook("s", event), made, path) == found
    if path == "specs/x.md":
        assert made.folder == ("x", "main"), "which counts from then on"


@pytest.mark.parametrize(
    ("file", "path"),
    [("/w/src/a.py", "src/a.py"), ("src/a.py", "src/a.py"), ("/elsewhere/a.py", None), ("/w2/a.py", None)],
)
def test_which_file_of_the_workspace_was_edited(file: str, path: str | None) -> None:
    hook = Hook("s", "PostToolUse", tool_name="Write", tool_input={"file_path": file})
    assert hooks()._edited_path(hook) == path


async def test_of_many_sessions_the_one_that_was_silent_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_hooks, "KEPT_SESSIONS", 2)
    made = hooks()

    async def nothing(_: str) -> None:
        return None

    made._worked_on = nothing
    first = await made._session("a")
    await made._session("b")
    assert await made._session("a") is first
    await made._session("c")
    assert list(made._sessions) == ["a", "c"]


async def test_a_session_of_before_this_daemon_began_works_on_what_it_told_of_last() -> None:
    """Names are compared as the log keeps them; of what other sessions told the times do not count."""
    long = "s" * 300
    times = {"x": [(5.0, long[:200])], "y": [(3.0, long[:200]), (99.0, "other")], "z": [(100.0, "other")]}

    async def every() -> Any:
        return [SimpleNamespace(change_id=each, sessions={name for _, name in told}) for each, told in times.items()]

    async def events(change_id: str) -> Any:
        return [SimpleNamespace(at=at, session=name) for at, name in times[change_id]]

    made = hooks()
    made._deliverables = SimpleNamespace(all=every, events=events)
    assert await made._worked_on(long) == "x" and await made._worked_on("nobody") is None


# Test runs


def workspace(*open_: str, at_work: str | None = None) -> Any:
    async def get(name: str) -> Any:
        return SimpleNamespace(change_id=f"{name}-now") if name in open_ else None

    async def work() -> Any:
        return None if at_work is None else SimpleNamespace(change_id=at_work)

    async def nothing() -> None:
        return None

    return SimpleNamespace(
        deliverables=SimpleNamespace(get=get), catch_up=nothing,
        detecting=SimpleNamespace(at_work=work, open_ids=list(open_)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("named", "there", "found"),
    [
        ("x", workspace("x", at_work="y"), "x-now"),
        (None, workspace("x", "y", at_work="y"), "y"),
    ],
)
async def test_tests_are_of_what_is_named_else_of_what_is_worked_on(named: Any, there: Any, found: str) -> None:
    assert await _meant(there, named) == found


@pytest.mark.parametrize(
    ("named", "there", "said"),
    [
        ("z", workspace("x"), "no deliverable z here"),
        (None, workspace(), "no deliverable is open"),
        (None, workspace("x", "y"), "2 deliverables are open, and no branch names one"),
    ],
)
async def test_where_nobody_says_what_was_tested(named: Any, there: Any, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        await _meant(there, named)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"lines": ["{}"], "document": {}}, "give `lines` or a `document`, not both"),
        ({}, "give `lines`"),
        ({"document": [1], "format": "junit"}, "a JUnit `document` is the text"),
        ({"document": [], "format": "junit"}, "a JUnit `document` is the text"),
    ],
)
async def test_what_can_be_taken_in(params: dict[str, Any], said: str) -> None:
    request: Any = read_request({"action": "ingest", **params})
    with pytest.raises(InvalidRequest, match=said):
        await ingest(workspace("x"), request)


# What is open here


def change(name: str, status: Any = "executing", kind: Any = "change") -> Deliverable:
    return Deliverable(name, status, 1.0, 1.0, kind=kind)


class Log:
    """Deliverables, some of them heard of from others, and how often the events of each were asked for."""

    def __init__(self, *changes: Deliverable, heard: tuple[str, ...] = ()) -> None:
        self._changes = {each.change_id: each for each in changes}
        self._heard = set(heard)
        self.asked: list[str] = []

    async def all(self) -> Any:
        return self._changes.values()

    async def get(self, name: str) -> Any:
        return self._changes.get(name)

    async def events(self, name: str) -> Any:
        self.asked.append(name)
        return []

    async def read(self, _: Any) -> Any:
        return self._heard


async def test_what_others_told_of_is_open_here_once_its_spec_is_and_unless_it_is_over() -> None:
    log: Any = Log(
        change("own"), change("over", "completed"), change("lost", "failed"), change("run", kind="run"),
        change("heard"), change("heard-over", "completed"), heard=("heard", "heard-over"),
    )  # fmt: skip
    open_ = OpenDeliverables(log)
    await open_.begin(log)
    assert open_.ids == ["own"]
    for name in ("heard", "heard-over", "over", "gone"):
        await open_.is_here(name)
    assert open_.ids == ["own", "heard"] and "heard" in open_ and len(open_) == 2


async def test_what_was_told_of_is_read_once_and_of_many_those_read_first_are_read_again() -> None:
    log: Any = Log()
    open_ = OpenDeliverables(log)
    for n in range(KEPT_TOLD + 1):
        await open_.known(f"x{n}")
    await open_.known(f"x{KEPT_TOLD}")
    await open_.known("x1")
    assert len(log.asked) == KEPT_TOLD + 1
    await open_.known("x0")
    assert log.asked[-1] == "x0"
    open_.forget()
    await open_.known("x0")
    assert len(log.asked) == KEPT_TOLD + 3


def test_what_could_not_be_looked_at_keeps_its_place_before_what_came_since() -> None:
    first: Any = _PendingChanges({("openspec", "a")}, {"a": None}, {"u": None}, ["t1"], head=True)  # type: ignore[list-item]
    since: Any = _PendingChanges({("openspec", "b")}, {"b": None}, {}, ["t2"])  # type: ignore[list-item]
    since.take_back(first)
    assert since.tests == ["t1", "t2"] and since.head and len(since.specs) == 2 and "u" in since.unsure
    assert since and not _PendingChanges(set(), {}, {}, [])
    assert _PendingChanges(set(), {}, {}, [], head=True)


# Elsewhere in git


@pytest.mark.parametrize(
    ("held", "shared", "once", "touched", "found"),
    [
        pytest.param({}, ["m"], {}, True, False, id="on no branch"),
        pytest.param({"b": b"1"}, [], {}, True, True, id="on one that has it for itself"),
        pytest.param({"b": b"1"}, [], {}, False, False, id="not on one that was merely begun while it was there"),
        pytest.param({"m": b"1"}, ["m"], {"m": b"1"}, False, True, id="on that which all share"),
        pytest.param({"b": b"1"}, [], {"h": b"1"}, True, False, id="not as it once was here"),
        pytest.param({"b": b"1", "c": b"2"}, [], {"h": b"1"}, True, True, id="unless another has more"),
        pytest.param(None, [], {}, True, True, id="where git does not answer nothing is lost"),
    ],
)
async def test_whether_a_spec_lies_elsewhere(
    held: Any, shared: list[str], once: Any, touched: bool, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    git: Any = WorkspaceGit(ROOT)
    contents = iter([held, once])

    async def path(_: str) -> str:
        return "openspec/changes/x"

    async def told(*_: Any) -> bytes:
        return b"b\n"

    async def answer(_: Any, asked: Any, **__: Any) -> bytes:
        return " ".join(shared).encode() if "refs/remotes/origin/HEAD" in asked else b"h"

    async def there(*_: Any) -> Any:
        return next(contents)

    async def touches(*_: Any) -> bool:
        return touched

    monkeypatch.setattr("aurora_server.workspace.change_history.commands", SimpleNamespace(told=told, answer=answer))
    git._path_in_repository, git._contents, git._touched = path, there, touches
    assert await git.elsewhere("openspec/changes/x/") is found
