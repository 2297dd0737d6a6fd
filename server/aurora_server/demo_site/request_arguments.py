"""Request arguments (parsing of query, path and body): what a request asks: its arguments, read where the manifest puts
them and checked by the manifest's own schemas.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import ClientDisconnect, Request

from aurora_manifest.client.arguments import misfits
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Capability
from aurora_server.demo_site.manifest import schema_of

MAX_BODY = 64 * 1024
BODY_WITHIN = 10.0


class RequestRefused(Exception):
    """The answer is an error: a status, a code for programs, a sentence for people, and what is wrong where."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: list[dict[str, str]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.errors = errors
        self.headers = headers or {}

    def document(self, request_id: str) -> dict[str, Any]:
        """The body of the answer."""
        body: dict[str, Any] = {"code": self.code, "detail": str(self), "requestId": request_id}
        return body | ({"errors": self.errors} if self.errors else {})


async def read_arguments(request: Request, capability: Capability) -> dict[str, Any]:
    """The arguments of a call. Raises Refused when they are not what the capability's `parameters` ask for."""
    arguments: dict[str, Any] = {}
    if request.method in ("POST", "PUT"):
        arguments |= await _body(request)
    schema = schema_of(capability)
    properties = schema.get("properties", {})
    for name in dict.fromkeys(request.query_params.keys()):
        values = request.query_params.getlist(name)
        arguments[name] = converted(values, properties.get(name, {}))
    arguments |= request.path_params
    found = misfits(schema, arguments)
    if found:
        errors = [{"path": each.path, "message": each.message} for each in found]
        raise RequestRefused(400, "invalid_arguments", f"these arguments do not fit {capability.name}", errors)
    defaults = {name: each["default"] for name, each in properties.items() if "default" in each}
    return defaults | arguments


async def _body(request: Request) -> dict[str, Any]:
    """Body of the request, bounded in size (413) and time (408)."""
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_WITHIN):
            async for part in request.stream():
                data += part
                if len(data) > MAX_BODY:
                    raise RequestRefused(413, "too_large", f"the body has more than {MAX_BODY:,} bytes")
    except TimeoutError as error:
        raise RequestRefused(408, "too_slow", f"the body took more than {BODY_WITHIN:g} s") from error
    except ClientDisconnect as error:
        raise RequestRefused(400, "cut_off", "the body is not whole") from error
    if not data:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestRefused(415, "not_json", "send the body as application/json")
    try:
        document = parse(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RequestRefused(400, "not_json", "the body is not UTF-8") from error
    value = document.root.value if document.root is not None else None
    if document.problems or not isinstance(value, dict):
        told = document.problems[0].message if document.problems else "it is no object"
        raise RequestRefused(400, "not_json", f"the body is no JSON object: {told}")
    return value


def converted(values: list[str], schema: dict[str, Any]) -> Any:
    """Text of the query as the type the schema wants, where it can be read so."""
    kind = schema.get("type")
    if kind == "array":
        return values
    text = values[-1]
    if kind == "integer" and text.lstrip("-").isdecimal() and text.isascii() and len(text) < 16:
        return int(text)
    return text
