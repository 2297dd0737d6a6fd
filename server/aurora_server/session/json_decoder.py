"""Message bodies to plain values: bounded, strict about JSON, lenient about one thing editors do.

An editor whose buffer holds half a surrogate pair sends it as a lone `\\ud83d`. That is read as U+FFFD, which is one
UTF-16 unit as well, so that positions stay true.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import msgspec

from aurora_protocol import typed


class BadJson(Exception):
    """A body that is not JSON, not UTF-8, or nested too deep; the message says which."""


def decode(body: bytes) -> Any:
    """The value of one message body. Raises BadJson."""
    try:
        return typed.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if b"\\ud" in body or b"\\uD" in body:
            return _decode_lone_surrogates(body)
        raise BadJson(f"the message is not JSON in UTF-8: {error}") from error
    except RecursionError as error:
        raise BadJson("the message is nested too deep") from error


def _decode_lone_surrogates(body: bytes) -> Any:
    try:
        return _mended(json.loads(body.decode("utf-8"), parse_constant=_refuse))
    except ValueError as error:
        raise BadJson(f"the message is not JSON in UTF-8: {error}") from error
    except RecursionError as error:
        raise BadJson("the message is nested too deep") from error


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
