"""JSON-RPC errors: how what goes wrong is told to a client: error codes, one line each, nothing of the inside."""

from __future__ import annotations

import errno
import re

import msgspec
from cattrs import transform_error
from cattrs.errors import BaseValidationError
from lsprotocol.types import ErrorCodes, LSPErrorCodes
from pygls.exceptions import JsonRpcException

from aurora_deliverables import InvalidRequest
from aurora_protocol import AuroraError
from aurora_server.session.refusals import NO_THREAD

PARSE_ERROR = ErrorCodes.ParseError.value
INVALID_REQUEST = ErrorCodes.InvalidRequest.value
METHOD_NOT_FOUND = ErrorCodes.MethodNotFound.value
INVALID_PARAMS = ErrorCodes.InvalidParams.value
INTERNAL_ERROR = ErrorCodes.InternalError.value
NOT_INITIALIZED = ErrorCodes.ServerNotInitialized.value
REQUEST_FAILED = LSPErrorCodes.RequestFailed.value
REQUEST_CANCELLED = LSPErrorCodes.RequestCancelled.value


class RequestError(Exception):
    """An error that is already a JSON-RPC error: what a handler raises to choose the code itself."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


_REFUSED = "the system refuses the daemon what this takes"


def as_request_error(error: BaseException) -> RequestError | None:
    """JSON-RPC error of an exception; None when it is unexpected: to be logged, and told in general terms."""
    match error:
        case RequestError():
            return error
        case msgspec.ValidationError() | InvalidRequest():
            return RequestError(INVALID_PARAMS, f"invalid params: {error}")
        case JsonRpcException():
            return RequestError(error.code, error.message)
        case AuroraError():
            return RequestError(REQUEST_FAILED, str(error), {"kind": type(error).kind})
        case OSError(errno=errno.EAGAIN | errno.EMFILE | errno.ENFILE | errno.ENOMEM | errno.ENOSPC):
            return RequestError(REQUEST_FAILED, f"{_REFUSED} ({error.strerror}); try again when there is more of it")
        case RuntimeError() if str(error) == NO_THREAD:
            return RequestError(REQUEST_FAILED, f"{_REFUSED} (threads); try again when there is more of it")
        case MemoryError():
            return RequestError(REQUEST_FAILED, f"{_REFUSED} (memory); try again when there is more of it")
        case _:
            return None


def misfit(method: str, error: Exception) -> RequestError:
    """Error for params that do not have the shape LSP gives them: the field, and what it should be."""
    if isinstance(error, BaseValidationError):
        found = "; ".join(_in_lsp_names(line) for line in transform_error(error, path="$")[:3])
    else:
        found = f"they do not have the shape of {method}'s params"
    return RequestError(INVALID_PARAMS, f"invalid params: {found}")


def _in_lsp_names(complaint: str) -> str:
    """`… @ $.params.text_document.uri` is what lsprotocol's classes call it; LSP says `textDocument`."""
    words, at, path = complaint.rpartition(" @ ")
    return words + at + re.sub(r"_([a-z])", lambda match: match[1].upper(), path)
