"""What a command exits with, by what ended it; and that every error written for users has one base."""

from __future__ import annotations

import importlib
import pkgutil
from io import StringIO

import click
import pytest

import aurora_cli
import aurora_deliverables
import aurora_indexer
import aurora_manifest
import aurora_memory
import aurora_orchestration
import aurora_protocol
import aurora_server
import aurora_team
from aurora_cli.errors import exit_code, one_line, report
from aurora_cli.manifest_files import FileChanged, UnreadableManifest
from aurora_deliverables import InvalidRequest
from aurora_indexer import IndexerError
from aurora_memory import StoreError, UnknownChunk
from aurora_orchestration import OrchestrationError
from aurora_orchestration.guardrails.blocked import OverBudget, QuestionBlocked, Unrecorded
from aurora_orchestration.headless.goals import BadPrompt
from aurora_orchestration.llm.completion import CapReached, LlmError, NotConfigured, Unavailable
from aurora_protocol import (
    ENDED_UNASKED,
    AuroraError,
    CallBlocked,
    DaemonUnreachable,
    FrameError,
    RequestFailed,
    SiteError,
)
from aurora_server.configuration.config_file import SettingsError
from aurora_server.session.errors import REQUEST_FAILED, as_request_error
from aurora_server.workspace.registry import WorkspaceError
from aurora_team import AddressRefused

PACKAGES = (
    aurora_cli,
    aurora_server,
    aurora_orchestration,
    aurora_deliverables,
    aurora_indexer,
    aurora_memory,
    aurora_manifest,
    aurora_protocol,
    aurora_team,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        # 1: the answer is "no"
        (RequestFailed("no event may follow complete", -32803, "Refused"), 1),
        (LlmError("no answer"), 1),
        (NotConfigured("no model is configured"), 1),
        (Unavailable("overloaded"), 1),
        # 2: wrong usage or bad input
        (click.UsageError("no such option"), 2),
        (click.ClickException("not this way"), 2),
        (FileNotFoundError(2, "No such file", "a.py"), 2),
        (RequestFailed("invalid params", -32602), 2),
        (RequestFailed("invalid request", -32600), 2),
        (RequestFailed("the store is locked", -32803, "StoreBusy"), 2),
        (SiteError("the site sent no JSON"), 2),
        (SettingsError("recall.limit must be a number"), 2),
        (WorkspaceError("/ is no workspace"), 2),
        (InvalidRequest("`start` must be before `end`"), 2),
        (BadPrompt("there is no goal"), 2),
        (OrchestrationError("cannot begin"), 2),
        (AddressRefused("a hub's address begins with postgresql://"), 2),
        (UnreadableManifest("aura.json: there is no such file"), 2),
        (FileChanged("aura.json: it was changed"), 2),
        # 3: no daemon, or it failed, or we did
        (DaemonUnreachable("no daemon answers"), 3),
        (FrameError("not a frame"), 3),
        (RequestFailed("internal error", -32603), 3),
        (RequestFailed("no such method", -32601), 3),
        (StoreError("the disk is full"), 3),
        (IndexerError("it hung"), 3),
        (ValueError("a bug"), 3),
        # 4: blocked
        (CallBlocked("give --yes to do it"), 4),
        (QuestionBlocked("the question has a secret in it", "secret"), 4),
        (OverBudget("the budget is used up"), 4),
        (Unrecorded("the budget cannot be written"), 4),
        (CapReached("the run's cap is reached"), 4),
        # 130: Ctrl-C
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (RequestFailed("cancelled", -32800), 130),
        (RequestFailed("cancelled: the daemon is stopping", -32800, ENDED_UNASKED), 3),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
def test_an_error_ends_a_command_with_its_code(error: BaseException, code: int) -> None:
    assert exit_code(error) == code


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (SettingsError("recall.limit must be a number"), "recall.limit must be a number"),
        (StoreError("the disk\nis \x1b[31mfull"), "the disk is"),
        (FileNotFoundError(2, "No such file", "a.py"), "a.py: No such file; check the path"),
        (PermissionError(13, "Permission denied", "a.py"), "a.py: Permission denied"),
        (click.UsageError("'x' is not a valid integer range."), "'x' is no whole number; see: aurora --help"),
        (click.UsageError("'x' is not a valid integer."), "'x' is no whole number; see: aurora --help"),
        (click.UsageError("'x' is not a valid float range."), "'x' is no number; see: aurora --help"),
        (click.UsageError("no such option: -x."), "no such option: -x; see: aurora --help"),
        (ValueError("what?"), "internal error, ValueError: what?; -vv shows where it happened"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_an_error_is_one_line_that_commands_no_terminal(error: BaseException, line: str) -> None:
    said = one_line(error)
    assert said.startswith(line)
    assert "\n" not in said and "\x1b" not in said


@pytest.mark.parametrize(("verbosity", "traced"), [(0, False), (1, False), (2, True)])
def test_a_traceback_is_shown_from_two_v_on(verbosity: int, traced: bool) -> None:
    stream = StringIO()
    assert report(SettingsError("no"), verbosity=verbosity, stream=stream) == 2
    assert stream.getvalue().endswith("aurora: no\n")
    assert ("SettingsError" in stream.getvalue()) is traced


def test_every_errors_kind_is_its_name_unless_the_daemon_told_one() -> None:
    assert (UnknownChunk.kind, Unrecorded.kind, CallBlocked("").kind) == ("UnknownChunk", "Unrecorded", "CallBlocked")
    assert RequestFailed("no", -32803, "StoreBusy").kind == "StoreBusy"
    assert RequestFailed("no", -32803).kind is None


def test_an_error_for_users_reaches_a_client_with_its_kind() -> None:
    told = as_request_error(UnknownChunk("code:a.py:f is not in memory"))
    assert told is not None
    assert (told.code, told.message) == (REQUEST_FAILED, "code:a.py:f is not in memory")
    assert told.data == {"kind": "UnknownChunk"}
    passed_on = as_request_error(RequestFailed("no", -32803, "Refused"))
    assert passed_on is not None and passed_on.data == {"kind": "RequestFailed"}, "what failed here is a request"
    assert as_request_error(KeyError("x")) is None, "a bug of ours is told in general terms only"


def test_each_package_has_one_base_of_its_errors() -> None:
    for package in PACKAGES:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    bases = {error.__name__ for error in AuroraError.__subclasses__() if error.__module__.startswith("aurora_")}
    assert bases == {
        "ProtocolError", "StoreError", "IndexerError", "OrchestrationError", "SettingsError", "WorkspaceError",
        "CommandError", "InvalidRequest", "TeamError",
    }  # fmt: skip
