"""Dispatch of a session's messages (JSON-RPC requests and their cancellation): which are allowed when, who handles
them, how they are answered.

pygls brings the features' registry, the capabilities and the built-in handlers; it dispatches here because its own
dispatch ends the process on `exit`, keeps every future of every notification, and logs message bodies.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import uuid
from collections.abc import Callable, Generator
from concurrent.futures import Future, InvalidStateError
from typing import TYPE_CHECKING, Any, Literal

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

from aurora_protocol import ENDED_UNASKED, FrameError
from aurora_server.session.converter import encode, let_go
from aurora_server.session.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    REQUEST_CANCELLED,
    REQUEST_FAILED,
    RequestError,
    as_request_error,
    misfit,
)

if TYPE_CHECKING:
    from cattrs import Converter
    from pygls.workspace import Workspace

    from aurora_server.lsp.server import AuroraServer

logger = logging.getLogger(__name__)

MAX_IN_FLIGHT = 256
"""Requests of one session that may be worked on at once; more are refused, not queued (load shedding)."""

MessageId = str | int
Phase = Literal["new", "initialized", "shut down"]
WITHDRAWN = "withdrawn"
"""Message with which a part of a request is cancelled because the client wants that; the whole ends with it."""


class SessionProtocol(LanguageServerProtocol):
    """Protocol of one session, our half of it. `receive` takes decoded messages; replies leave through `outlet`.

    Synchronous handlers run within `receive`, so that notifications take effect in the order they come; asynchronous
    ones become tasks, which `$/cancelRequest` cancels.
    """

    def __init__(self, server: AuroraServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.phase: Phase = "new"
        self.outlet: Callable[[bytes, bool], None] = lambda body, droppable: None
        """Sends one body; a droppable one may be left out when the client does not keep up."""
        self.on_exit: Callable[[], None] = lambda: None
        self.log_name = "the daemon's log"
        self._tasks: dict[MessageId, asyncio.Task[Any]] = {}
        self._background: set[asyncio.Task[Any]] = set()
        self._ending = ""

    def receive(self, message: Any) -> None:
        """Handle one message from the client. Whatever is wrong with it is answered or logged; nothing is raised."""
        if isinstance(message, list):
            return self.refuse(None, RequestError(INVALID_REQUEST, "LSP has no batches; send one message per frame"))
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return self.refuse(None, RequestError(INVALID_REQUEST, 'a message is an object with "jsonrpc": "2.0"'))
        method, identity = message.get("method"), message.get("id")
        if "method" in message and not isinstance(method, str):
            return self.refuse(None, RequestError(INVALID_REQUEST, '"method" is a text'))
        if "id" in message and (isinstance(identity, bool) or not isinstance(identity, (int, str))):
            if method is None and identity is None:
                return logger.info("client could not read a message of ours")
            return self.refuse(None, RequestError(INVALID_REQUEST, '"id" is a whole number or a text'))
        if method is None:
            return self._take_response(message)
        if identity is None:
            return self._take_notification(method, message)
        return self._take_request(identity, method, message)

    def use_documents(self, documents: Workspace) -> None:
        """Keep open documents in `documents` from here on."""
        self._workspace = documents

    def push(self, method: str, params: Any, *, droppable: bool = False) -> None:
        """Notification to the client. A droppable one is left out while the client is far behind with reading."""
        self._write({"jsonrpc": "2.0", "method": method, "params": params}, droppable)

    async def ask(self, method: str, params: Any) -> Any:
        """Request to the client (server to client), and its result. Raises JsonRpcException when it answers an error.

        When whoever waits is cancelled, so is the request.
        """
        identity = str(uuid.uuid4())
        try:
            return await self.send_request_async(method, params, msg_id=identity)
        except asyncio.CancelledError:
            if self._request_futures.pop(identity, None) is not None:
                self._result_types.pop(identity, None)
                self.push(types.CANCEL_REQUEST, {"id": identity})
            raise

    def refuse(self, identity: MessageId | None, error: RequestError) -> None:
        """Answer with an error; `identity` None where the request's own could not be made out."""
        told: dict[str, Any] = {"code": error.code, "message": error.message}
        if error.data is not None:
            told["data"] = error.data
        self._write({"jsonrpc": "2.0", "id": identity, "error": told})

    def close(self, reason: str = "") -> None:
        """Cancel what is under way in either direction; `reason` is told where it is not the client who wants that."""
        self._ending = reason
        for task in (*self._tasks.values(), *self._background):
            task.cancel()
        for future in self._request_futures.values():
            future.cancel()

    def is_busy(self) -> bool:
        """Whether anything that a message began is still under way."""
        return bool(self._tasks or self._background)

    async def settled(self, seconds: float) -> None:
        """Drain: waits until every request is answered, cancelled ones too, but no longer than that."""
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=seconds)

    # Incoming

    def _take_request(self, identity: MessageId, method: str, message: dict[str, Any]) -> None:
        """Route a request to its handler: answered at once, or by a task that can be cancelled."""
        try:
            if identity in self._tasks:
                raise RequestError(INVALID_REQUEST, f"a request with id {identity!r} is still under way")
            if len(self._tasks) >= MAX_IN_FLIGHT:
                raise RequestError(REQUEST_FAILED, f"{MAX_IN_FLIGHT} requests are under way; wait for their answers")
            self._check_phase(method)
            handler = self._handler(method)
            if handler is None:
                raise RequestError(METHOD_NOT_FOUND, f"there is no method {method}")
            outcome = self._start(handler, (self._params(method, message),), None)
        except Exception as error:  # noqa: BLE001 - the boundary of all requests: told, and logged if unexpected
            return self._fail(identity, method, error)
        if not inspect.isawaitable(outcome):
            return self._reply(identity, method, outcome)
        task = asyncio.ensure_future(outcome)
        self._tasks[identity] = task
        task.add_done_callback(lambda done: self._finish(identity, method, done))
        return None

    def _take_notification(self, method: str, message: dict[str, Any]) -> None:
        """Route a notification to its handler; `$/cancelRequest` cancels a request."""
        if method == types.CANCEL_REQUEST:
            return self._cancel(message.get("params"))
        if self.phase != "initialized" and method != types.EXIT:
            return None  # LSP: notifications before initialize and after shutdown are dropped
        handler = self._handler(method)
        if handler is None:
            return None
        try:
            outcome = self._start(handler, (self._params(method, message),), None)
        except Exception as error:  # noqa: BLE001 - the boundary of all notifications: logged
            return self._log_failure(method, error)
        if inspect.isawaitable(outcome):
            task = asyncio.ensure_future(outcome)
            self._background.add(task)
            task.add_done_callback(lambda done: self._finish_notification(method, done))
        return None

    def _take_response(self, message: dict[str, Any]) -> None:
        """Correlation: match a response to the request of ours that waits for it, by its id."""
        future: Future[Any] | None = self._request_futures.pop(message["id"], None) if "id" in message else None
        if future is None:
            if "result" not in message and "error" not in message:
                self.refuse(None, RequestError(INVALID_REQUEST, 'a message has a "method", a "result" or an "error"'))
            return
        result_type = self._result_types.pop(message["id"], None)
        try:
            if "error" in message:
                error = message["error"] if isinstance(message["error"], dict) else {}
                code, text = error.get("code"), str(error.get("message", "the client refused"))
                future.set_exception(JsonRpcException(text, code if isinstance(code, int) else INTERNAL_ERROR))
            elif result_type is None:
                future.set_result(message.get("result"))
            else:
                future.set_result(self._converter.structure(message, result_type).result)
        except InvalidStateError:
            pass  # whoever asked has stopped waiting
        except Exception as error:  # noqa: BLE001 - cattrs and its hooks raise what they please on a wrong shape
            future.set_exception(misfit("response", error))

    def _cancel(self, params: Any) -> None:
        """Cancellation of a request under way (`$/cancelRequest`), by its id."""
        identity = params.get("id") if isinstance(params, dict) else None
        if isinstance(identity, (int, str)) and (task := self._tasks.get(identity)) is not None:
            task.cancel()

    def _check_phase(self, method: str) -> None:
        """Lifecycle check: nothing before `initialize`, nothing after `shutdown`."""
        if self.phase == "new" and method != types.INITIALIZE:
            raise RequestError(NOT_INITIALIZED, f"{method} came before initialize")
        if self.phase == "shut down":
            raise RequestError(INVALID_REQUEST, f"{method} came after shutdown")
        if self.phase == "initialized" and method == types.INITIALIZE:
            raise RequestError(INVALID_REQUEST, "initialize came twice")

    def _handler(self, method: str) -> Callable[..., Any] | None:
        found = self.fm.builtin_features.get(method) or self.fm.features.get(method)
        return found if callable(found) else None

    def _params(self, method: str, message: dict[str, Any]) -> Any:
        """LSP's own methods get lsprotocol's classes; `aurora/*` gets the plain value, for msgspec to check."""
        message_type = self.get_message_type(method)
        if message_type is None:
            return message.get("params")
        try:
            return getattr(self._converter.structure(message, message_type), "params", None)
        except Exception as error:  # noqa: BLE001 - cattrs and its hooks raise what they please on a wrong shape
            try:
                raise misfit(method, error) from error
            finally:
                let_go(error)

    # Running handlers

    def _start(self, handler: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Run a handler as far as it goes by itself: its result, or an awaitable for the rest of it."""
        outcome = handler(*args, **(kwargs or {}))
        return self._drive(outcome, None) if inspect.isgenerator(outcome) else outcome

    def _drive(self, steps: Generator[Any, Any, Any], value: Any) -> Any:
        """pygls' built-in handlers are generators that yield the feature's own handler for us to run."""
        try:
            while True:
                handler, args, kwargs = steps.send(value)
                value = self._start(handler, args, kwargs)
                if inspect.isawaitable(value):
                    return self._drive_later(steps, self._in_background(value))
        except StopIteration as end:
            return end.value

    def _in_background(self, awaitable: Any) -> asyncio.Future[Any]:
        """Begin it now, so that a session that ends before its next step leaves no coroutine that never ran."""
        task: asyncio.Task[Any] = asyncio.ensure_future(awaitable)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def _drive_later(self, steps: Generator[Any, Any, Any], pending: Any) -> Any:
        rest = self._drive(steps, await pending)
        return await rest if inspect.isawaitable(rest) else rest

    # Answering

    def _finish(self, identity: MessageId, method: str, task: asyncio.Task[Any]) -> None:
        """End of a request's task: its result, error or cancellation is answered."""
        self._tasks.pop(identity, None)
        if task.cancelled():
            self.refuse(identity, self._given_up(method, task))
        elif (error := task.exception()) is not None:
            self._fail(identity, method, error)
        else:
            self._reply(identity, method, task.result())

    def _given_up(self, method: str, task: asyncio.Task[Any]) -> RequestError:
        """Why a request has no answer: cancelled is what the client withdrew, or what ends with its session."""
        if not task.cancelling() and not _withdrawn(task):
            # Nobody cancelled it: what it waited for was, where a thread was refused, say.
            logger.warning("request given up", extra={"method": method})
            told = f"{method} was given up, as what it waited for ended early; try again; details: {self.log_name}"
            return RequestError(REQUEST_FAILED, told)
        if self._ending:
            told = f"{method} was cancelled: {self._ending}; try again"
            return RequestError(REQUEST_CANCELLED, told, {"kind": ENDED_UNASKED})
        return RequestError(REQUEST_CANCELLED, f"{method} was cancelled")

    def _finish_notification(self, method: str, task: asyncio.Task[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log_failure(method, error)

    def _reply(self, identity: MessageId, method: str, result: Any) -> None:
        """Response with a result."""
        try:
            self._write({"jsonrpc": "2.0", "id": identity, "result": result})
        except Exception as error:  # noqa: BLE001 - a result without a JSON form, or larger than a frame
            self._fail(identity, method, error)

    def _fail(self, identity: MessageId, method: str, error: BaseException) -> None:
        """Error response; what is unexpected is logged and told without its inside (internal error)."""
        told = as_request_error(error)
        if told is None:
            logger.error("request failed", extra={"method": method}, exc_info=error)
            told = RequestError(
                INTERNAL_ERROR, f"{method} failed inside AURORA ({type(error).__name__}); details: {self.log_name}"
            )
        self.refuse(identity, told)

    def _log_failure(self, method: str, error: BaseException) -> None:
        told = as_request_error(error)
        if told is not None and told.code == INVALID_PARAMS:
            logger.warning("notification refused", extra={"method": method, "reason": told.message})
        else:
            logger.error("notification failed", extra={"method": method}, exc_info=error)

    def _write(self, message: Any, droppable: bool = False) -> None:
        self.outlet(encode(message), droppable)

    # What pygls would do differently

    def _send_data(self, data: Any) -> None:
        """pygls' way out, for the requests and notifications it builds itself."""
        try:
            self._write(data)
        except (FrameError, UnicodeEncodeError) as error:
            logger.error("message could not be sent", exc_info=error)

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """lsprotocol's class for a message. pygls' own cache of this keeps ended sessions alive."""
        return types.METHOD_TO_TYPES.get(method, (None,))[0]

    def get_result_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """lsprotocol's class for the response to a request of ours."""
        return types.METHOD_TO_TYPES.get(method, (None, None))[1]

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Take `initialize` as pygls does; from here on other requests are allowed."""
        result = yield from super().lsp_initialize(params)
        self.phase = "initialized"
        return result

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> None:  # type: ignore[override]
        """Cancel what is under way; only `exit` is allowed from here on."""
        self.phase = "shut down"
        self.close()

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> None:  # type: ignore[override]
        """End this session, and nothing else."""
        self.on_exit()


def _withdrawn(task: asyncio.Task[Any]) -> bool:
    """Whether a cancelled task ended with a part of it that the client has withdrawn."""
    try:
        task.exception()
    except asyncio.CancelledError as error:
        return error.args == (WITHDRAWN,)
    return False
