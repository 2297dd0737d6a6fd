"""Example requests: what a capability's request looks like: example arguments made from its parameter schema, and the
call they make.

The request is the very one `aurora manifest call` would send for these arguments (AURA-P "How It Works").
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from msgspec import Struct

from aurora_manifest.client.origins import Origin, origin_of, parse_url
from aurora_manifest.client.request import build_call
from aurora_manifest.model import Capability, Manifest, string
from aurora_protocol import CallBlocked, SiteError

_BY_FORMAT = {
    "email": "user@example.com",
    "uri": "https://example.com/",
    "uri-reference": "/path",
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "P1D",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}
_SOMEWHERE = Origin("https", "example.com", 443)
_MAX_DEPTH = 5
_MAX_MEMBERS = 50
_MAX_LENGTH = 100


class Example(Struct, frozen=True):
    """A request that would call a capability. `problem` says why there is none; then the rest is empty."""

    capability: str
    method: str = ""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    problem: str = ""

    @property
    def text(self) -> str:
        """The request as HTTP writes it, address in full."""
        if self.problem:
            return self.problem
        lines = [f"{self.method} {self.url}", *(f"{name}: {content}" for name, content in self.headers)]
        return "\n".join([*lines, "", self.body] if self.body else lines)

    @property
    def command(self) -> str:
        """The request as a curl command; empty where there is none."""
        if self.problem:
            return ""
        parts = ["curl"] if self.method == "GET" else ["curl", "-X", self.method]
        for name, content in self.headers:
            parts += ("-H", shlex.quote(f"{name}: {content}"))
        if self.body:
            parts += ("--data", shlex.quote(self.body))
        return " ".join([*parts, shlex.quote(self.url)])


def example_of(manifest: Manifest, capability: Capability) -> Example:
    """A request with example arguments; where none can be made, the reason. Imports a good deal when first called."""
    try:
        call = build_call(capability, _origin(manifest), example_arguments(capability))
    except (SiteError, CallBlocked) as error:
        return Example(capability.name, problem=str(error))
    except ValueError:  # 1e400 is in no JSON that is sent, nor is half a surrogate pair
        return Example(capability.name, problem=f"{capability.name}: its example values cannot be sent")
    request = call.request
    # Read again to be laid out: what is sent has no line ends.
    body = json.dumps(call.body, indent=2, ensure_ascii=False) if call.body is not None else ""
    return Example(capability.name, request.method, request.url, tuple(request.headers), body)


def example_arguments(capability: Capability) -> dict[str, Any]:
    """Arguments that fit the parameter schema as far as it says; what it leaves open is the parameter's own name."""
    schema = capability.parameters.value if capability.parameters else {}
    made = example_value({**schema, "type": "object"}, "", 0)
    arguments: dict[str, Any] = made if isinstance(made, dict) else {}
    for each in capability.mapped.values():
        steps = each.steps or ()
        if len(steps) == 1:
            arguments.setdefault(steps[0], steps[0] or "value")
    for variable in capability.template.variables if capability.template else ():
        if variable.name not in capability.mapped:
            arguments.setdefault(variable.name, variable.name)
    return arguments


def example_value(schema: Any, name: str, depth: int) -> Any:
    """Sample value (mock data) that fits a JSON Schema, as far as the usual keywords go: its own examples first."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return name or "value"
    for keyword in ("examples", "enum"):
        listed = schema.get(keyword)
        if isinstance(listed, list) and listed:
            return listed[0]
    for keyword in ("const", "default"):
        if keyword in schema and schema[keyword] not in (None, "", [], {}):
            return schema[keyword]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or (kind is None and "properties" in schema):
        properties = schema.get("properties")
        listed = list(properties.items())[:_MAX_MEMBERS] if isinstance(properties, dict) else []
        return {inner: example_value(each, inner, depth + 1) for inner, each in listed}
    if kind == "array":
        return [example_value(schema.get("items"), _singular(name), depth + 1)]
    if kind in ("number", "integer"):
        return _number(schema)
    if kind == "boolean":
        return True
    return None if kind == "null" else _string(schema, name)


def _number(schema: dict[str, Any]) -> int | float:
    """Sample number within its bounds."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(low, int | float) and low > 1:
        return low
    return high if isinstance(high, int | float) and high < 1 else 1


def _string(schema: dict[str, Any], name: str) -> str:
    """Sample string of a format and a length."""
    text = _BY_FORMAT.get(str(schema.get("format")), name or "value")
    shortest, longest = schema.get("minLength"), schema.get("maxLength")
    if isinstance(shortest, int) and len(text) < shortest <= _MAX_LENGTH:
        text = (text * (shortest // len(text) + 1))[:shortest]
    return text[:longest] if isinstance(longest, int) and 0 < longest < len(text) else text


def _singular(name: str) -> str:
    return name[:-1] if name.endswith("s") and len(name) > 2 else name


def _origin(manifest: Manifest) -> Origin:
    """Origin of the site, else a made-up one."""
    url = string(manifest.site, "url")
    try:
        return origin_of(parse_url(str(url.value))) if url else _SOMEWHERE
    except SiteError:
        return _SOMEWHERE
