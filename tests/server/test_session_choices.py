"""What a session makes of a message, a rule each: what is wrong with it first, when it may come, who is turned away."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from aurora_deliverables import InvalidRequest
from aurora_memory import UnknownChunk
from aurora_server.daemon import connection, listener
from aurora_server.daemon.large_messages import envelope_of
from aurora_server.lsp.manifests import code_action, folding_range
from aurora_server.session import dispatch
from aurora_server.session.dispatch import SessionProtocol
from aurora_server.session.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    REQUEST_FAILED,
    RequestError,
    as_request_error,
)
from aurora_server.unauthenticated_connections import UnauthenticatedConnections


class Heard(SessionProtocol):
    """A protocol of which what it answers is kept."""

    def __init__(self, phase: Any = "initialized") -> None:
        self.phase = phase
        self.answers: list[Any] = []
        self.outlet = lambda body, droppable: self.answers.append(json.loads(body))
        self.log_name = "the log"
        self._tasks = {}
        self._background = set()
        self._request_futures = {}
        self._result_types = {}
        self._ending = ""
        self.fm: Any = SimpleNamespace(builtin_features={}, features={})

    def told(self) -> list[tuple[Any, int, str]]:
        return [(each["id"], each["error"]["code"], each["error"]["message"]) for each in self.answers]

    def get_message_type(self, method: str) -> Any:
        return None


@pytest.mark.parametrize(
    ("message", "said"),
    [
        pytest.param([{"jsonrpc": "2.0"}], "LSP has no batches", id="a batch"),
        pytest.param("x", "a message is an object", id="no object"),
        pytest.param({"method": 1, "id": 1}, "a message is an object", id="no version, before all else of it"),
        pytest.param({"jsonrpc": "2.0", "method": 1, "id": True}, '"method" is a text', id="a method before an id"),
        pytest.param({"jsonrpc": "2.0", "method": "m", "id": True}, '"id" is a whole number', id="true is no id"),
        pytest.param({"jsonrpc": "2.0", "method": "m", "id": None}, '"id" is a whole number', id="nor is null"),
        pytest.param({"jsonrpc": "2.0", "id": 1}, 'a message has a "method"', id="nothing in it"),
    ],
)
def test_what_is_wrong_with_a_message_is_told_without_an_id(message: Any, said: str) -> None:
    heard = Heard()
    heard.receive(message)
    ((identity, code, told),) = heard.told()
    assert (identity, code) == (None, INVALID_REQUEST) and told.startswith(said)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"jsonrpc": "2.0", "id": None, "error": {}}, id="that a client could not read us"),
        pytest.param({"jsonrpc": "2.0", "id": 9, "result": 1}, id="an answer that nobody waits for"),
        pytest.param({"jsonrpc": "2.0", "method": "$/none"}, id="a notification that nobody takes"),
    ],
)
def test_what_is_not_answered(message: Any) -> None:
    heard = Heard()
    heard.receive(message)
    assert heard.answers == []


@pytest.mark.parametrize(
    ("phase", "method", "code"),
    [
        ("new", "m", NOT_INITIALIZED),
        ("new", types.INITIALIZE, METHOD_NOT_FOUND),
        ("initialized", "m", METHOD_NOT_FOUND),
        ("initialized", types.INITIALIZE, INVALID_REQUEST),
        ("shut down", "m", INVALID_REQUEST),
        ("shut down", types.INITIALIZE, INVALID_REQUEST),
    ],
)
def test_when_a_request_may_come(phase: Any, method: str, code: int) -> None:
    heard = Heard(phase)
    heard.receive({"jsonrpc": "2.0", "id": 7, "method": method})
    assert [(each[0], each[1]) for each in heard.told()] == [(7, code)]


def test_before_all_else_an_id_is_told_that_is_still_under_way_and_then_that_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatch, "MAX_IN_FLIGHT", 1)
    heard = Heard("new")
    task: Any = object()
    heard._tasks = {7: task}
    heard.receive({"jsonrpc": "2.0", "id": 7, "method": "m"})
    heard.receive({"jsonrpc": "2.0", "id": 8, "method": "m"})
    first, second = heard.told()
    assert first[1] == INVALID_REQUEST and "still under way" in first[2]
    assert second[1] == REQUEST_FAILED and "wait for their answers" in second[2]


@pytest.mark.parametrize(
    ("phase", "method", "taken"),
    [("initialized", "m", True), ("new", "m", False), ("shut down", "m", False), ("shut down", types.EXIT, True),
     ("new", types.EXIT, True)],
)  # fmt: skip
def test_which_notifications_are_taken(phase: Any, method: str, taken: bool) -> None:
    heard, got = Heard(phase), []
    heard.fm = SimpleNamespace(builtin_features={}, features={method: got.append})
    heard.receive({"jsonrpc": "2.0", "method": method, "params": 1})
    assert bool(got) is taken


async def test_what_a_client_refuses_is_told_as_it_says_or_in_general() -> None:
    heard, loop = Heard(), asyncio.get_running_loop()
    told = []
    for identity, error in ((1, {"code": -5, "message": "no"}), (2, "odd"), (3, {"code": "x"})):
        future: Any = loop.create_future()
        heard._request_futures[identity] = future
        heard.receive({"jsonrpc": "2.0", "id": identity, "error": error})
        refused = future.exception()
        told.append((refused.code, refused.message))
    assert told == [(-5, "no"), (-32603, "the client refused"), (-32603, "the client refused")]


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RequestError(-1, "as it says"), -1, "as it says"),
        (InvalidRequest("no"), INVALID_PARAMS, "invalid params: no"),
        (msgspec.ValidationError("no"), INVALID_PARAMS, "invalid params: no"),
        (JsonRpcException("no", -7), -7, "no"),
        (UnknownChunk("none"), REQUEST_FAILED, "none"),
    ],
)
def test_as_what_an_error_is_told(error: Exception, code: int, said: str) -> None:
    """What is invalid is that, though it is an error of ours too."""
    told = as_request_error(error)
    assert told is not None and (told.code, told.message) == (code, said)


# Bytes


@pytest.mark.parametrize(
    ("value", "mended"),
    [
        ("a", "a"),
        ("\ud83d", "\ufffd"),
        ("\ud83d\ude00", "😀"),
        ({"\ud83d": ["\ud83d", 1, {"x": "\ud83d"}]}, {"\ufffd": ["\ufffd", 1, {"x": "\ufffd"}]}),
        (None, None),
    ],
)
def test_halves_of_characters_are_mended_at_every_depth(value: Any, mended: Any) -> None:
    assert connection._mended(value) == mended


@pytest.mark.parametrize(
    ("message", "identity", "ends"),
    [
        pytest.param({"id": 1, "method": "textDocument/hover", "params": []}, 1, False, id="a request goes without"),
        pytest.param({"method": "textDocument/didChange", "params": []}, None, True, id="a document would be wrong"),
        pytest.param({"method": "$/x", "params": []}, None, False, id="another notification is missed"),
        pytest.param({"params": []}, None, True, id="what it was nobody knows"),
        pytest.param({"id": [1], "method": "m", "params": []}, None, True, id="nor of what has a list for an id"),
    ],
)
def test_what_becomes_of_a_message_that_holds_too_much(message: Any, identity: Any, ends: bool) -> None:
    refused: list[Any] = []
    made: Any = connection.ClientConnection.__new__(connection.ClientConnection)
    made._server = SimpleNamespace(protocol=SimpleNamespace(refuse=lambda each, error: refused.append(each)))
    made._ending, made._ended = None, asyncio.Event()
    made._refuse_whole(json.dumps({"jsonrpc": "2.0", **message}).encode())
    assert refused == [identity] and (made._ending is not None) is ends


@pytest.mark.parametrize(
    ("body", "method", "identity"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"id":9}}', "m", 1),
        (b'{"params":{"id":9,"method":"n"},"method":"m","id":"a"}', "m", "a"),
        (b'{"id":1,"params":{},"method":"m"}', "m", 1),
        (b'{"params":{"id":9}}', None, None),
        (b"[1]", None, None),
    ],
)
def test_whose_a_large_message_is_stands_before_or_behind_its_params(body: bytes, method: Any, identity: Any) -> None:
    found = envelope_of(body)
    assert (found.method, found.id) == (method, identity)


# Who is turned away


async def test_of_too_many_strangers_the_oldest_is_turned_away_and_who_shows_the_token_stays() -> None:
    gone: list[int] = []
    unauthenticated = UnauthenticatedConnections(within=100.0, most=2)
    for n in range(3):
        transport: Any = SimpleNamespace(abort=lambda n=n: gone.append(n))
        unauthenticated.come(n, transport)
        if n == 0:
            unauthenticated.know(0)
    assert gone == []
    late: Any = SimpleNamespace(abort=lambda: gone.append(3))
    unauthenticated.come(3, late)
    assert gone == [1]
    for n in (2, 3):
        unauthenticated.know(n)


def test_that_nobody_can_connect_is_told_once_a_minute_and_all_else_as_ever(caplog: pytest.LogCaptureFixture) -> None:
    now, usual = [0.0], []
    loop: Any = SimpleNamespace(time=lambda: now[0], default_exception_handler=usual.append)
    complaints = listener._Complaints()
    full = {"message": "socket.accept() out of system resource", "exception": "EMFILE"}
    for at in (0.0, 1.0, listener.TELL_EVERY - 1, listener.TELL_EVERY):
        now[0] = at
        complaints(loop, full)
    complaints(loop, {"message": "other"})
    assert [each.getMessage() for each in caplog.records] == ["nobody can connect"] * 2
    assert usual == [{"message": "other"}]


# Manifests in editors


@pytest.mark.parametrize(
    ("kind", "only", "wanted"),
    [
        (types.CodeActionKind.QuickFix, None, True),
        (types.CodeActionKind.QuickFix, [types.CodeActionKind.QuickFix], True),
        (types.CodeActionKind.QuickFix, [types.CodeActionKind.Refactor], False),
        (types.CodeActionKind.QuickFix, [], False),
        pytest.param(code_action.FIX_ALL, [types.CodeActionKind.SourceFixAll], True, id="a kind of what is asked for"),
        pytest.param(code_action.FIX_ALL, ["source"], True, id="and of that"),
        pytest.param(code_action.FIX_ALL, ["source.fix"], False, id="not of what merely begins so"),
        pytest.param(types.CodeActionKind.QuickFix, [code_action.FIX_ALL], False, id="nor the other way round"),
    ],
)
def test_which_code_actions_are_wanted(kind: str, only: Any, wanted: bool) -> None:
    assert code_action._wanted(kind, only) is wanted


def test_a_fix_belongs_to_the_diagnostic_of_its_rule_at_just_its_place() -> None:
    def at(line: int, start: int, end: int) -> types.Range:
        return types.Range(types.Position(line, start), types.Position(line, end))

    assert code_action._same(at(1, 2, 5), at(1, 2, 5))
    assert not any(code_action._same(at(1, 2, 5), other) for other in (at(1, 2, 6), at(1, 3, 5), at(2, 2, 5)))


@pytest.mark.parametrize(("limit", "kept"), [(4, [0, 1, 4, 9]), (2, [0, 9]), (1, [0])])
def test_of_too_many_folds_the_largest_are_offered_in_the_order_of_the_text(
    limit: int, kept: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fold(tuple[int, int]):
        comment = False
        start_line = property(lambda self: self[0])
        end_line = property(lambda self: self[1])

    folds = [Fold(each) for each in ((0, 20), (1, 2), (4, 5), (9, 19))]
    monkeypatch.setattr("aurora_manifest.editing.spans.folds", lambda *_: folds)
    snapshot: Any = SimpleNamespace(json=None, index=None)
    assert [each.start_line for each in folding_range._ranges(snapshot, limit)] == kept


# The end of a connection


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        pytest.param([], "the client hung up", id="between two messages"),
        pytest.param([b"Content-Length: 50\r\n\r\n{"], "the client hung up within a message", id="or within one"),
        pytest.param([OSError(104, "Connection reset")], "connection lost: Connection reset", id="or cut off"),
        pytest.param([OSError("odd")], "connection lost: odd", id="whatever the system says"),
        pytest.param([RuntimeError("ours")], "internal error", id="a mistake of ours ends this session alone"),
    ],
)
async def test_why_a_session_ended_is_told_apart(sent: list[Any], reason: str) -> None:
    rest = iter([*sent, b""])

    async def read(_: int) -> bytes:
        found = next(rest)
        if isinstance(found, Exception):
            raise found
        return bytes(found)

    async def nothing() -> None:
        return None

    made: Any = connection.ClientConnection.__new__(connection.ClientConnection)
    made._source, made._writer = SimpleNamespace(read=read), SimpleNamespace(drain=nothing)
    made._ending, made._ended, made._number = None, asyncio.Event(), 1
    await made._read()
    assert made._ending == reason
