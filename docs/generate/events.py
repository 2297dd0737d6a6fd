"""Schema and clients' types of deliverable events, from the structs: what a line of a log is, what a request is.

The JSON Schema is for whoever writes events (`aurora deliverable ingest`) or requests; the types are what the editors'
clients are written against.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, get_args

import msgspec

from aurora_deliverables import choices
from aurora_deliverables.documents import PUBLISHED
from aurora_deliverables.event_request import ACTIONS, DeliverableRequest, EventRequest, members, request_types
from aurora_deliverables.events import Event, Started
from docs.generate.citations import ROOT

SCHEMA = "schemas/aurora_schemas/deliverable-event.schema.json"
TYPESCRIPT = "editor-clients/vscode/src/deliverableEvents.ts"
LUA = "editor-clients/neovim/lua/aurora/deliverable_choices.lua"

Schema = dict[str, Any]

ENVELOPES: tuple[type[DeliverableRequest], ...] = (DeliverableRequest, EventRequest)
CHOICES: Mapping[str, Any] = {
    "Phase": choices.Phase,
    "Status": choices.Status,
    "Outcome": choices.Outcome,
    "Complexity": choices.Complexity,
    "FailureType": choices.FailureType,
}
_PLURAL = {
    "Phase": "PHASES",
    "Status": "STATUSES",
    "Outcome": "OUTCOMES",
    "Complexity": "COMPLEXITIES",
    "FailureType": "FAILURE_TYPES",
}
_TIME: Schema = {"type": "string", "format": "date-time"}
_KINDS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def pages(_: Path = ROOT) -> dict[str, str]:
    """Texts by path: the schema, and the choices and requests as the clients' languages have them."""
    return {
        SCHEMA: json.dumps(schema(), indent=2, ensure_ascii=False) + "\n",
        TYPESCRIPT: "\n".join(_typescript()),
        LUA: "\n".join(_lua()),
    }


def schema() -> Schema:
    """The JSON Schema of an event, as `ingest` reads it; `#/$defs/Request` is that of `aurora/deliverable`'s params."""
    requests = reduce(or_, request_types().values())
    kinds = (Event, requests, *ENVELOPES)
    (event, request, *_), found = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    named = {name: _tidied(each) for name, each in found.items()}
    for kind in request_types().values():
        named[kind.__name__]["properties"] |= {
            name: {"$ref": f"#/$defs/{envelope.__name__}/properties/{name}"}
            for envelope in ENVELOPES
            if issubclass(kind, envelope)
            for name in envelope.__struct_fields__
        }
    for action, spec in ACTIONS.items():
        needed = [each.name for each in members(action) if each.required]
        wanted = {name: named[spec.body.__name__]["properties"][name] for name in needed}
        shape = named[request_types()[action].__name__]
        shape["properties"] |= wanted
        shape["required"] = ["action", *needed]
    named["Event"]["properties"]["at"] = {
        "description": "When it happened: RFC 3339, or Unix seconds.",
        "anyOf": [_TIME, {"type": "number", "minimum": 0}],
    }
    published = {f"Published{kind.__name__}": _published(kind, named) for kind in PUBLISHED}
    whole = {
        **named,
        **published,
        "Request": {"description": "The params of `aurora/deliverable`, by `action`.", "anyOf": request["anyOf"]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:aurora:schema:deliverable-event",
        "title": "Deliverable event",
        "description": "One thing that happened to a deliverable, as a line of JSON: in the published form where "
        "AURA-M §5.3 has one, else in ours.",
        "anyOf": [*({"$ref": f"#/$defs/{name}"} for name in published), event],
        "$defs": dict(sorted(whole.items())),
    }


def _published(kind: type[msgspec.Struct], named: Mapping[str, Schema]) -> Schema:
    """The published form of an event: what it has no place for is in its `data`."""
    body, event = named[kind.__name__], named["Event"]["properties"]
    inside = {name: member for name, member in body["properties"].items() if name not in ("event", "phase")}
    phase = {"phase": body["properties"]["phase"]} if "phase" in body["properties"] else {}
    # Of a start `agent` is who will do the work; who said so then has another name.
    said_by = {"told_by" if kind is Started else "agent": event["agent"]}
    about = {name: event[name] for name in ("id", "session", "source", "evidence")}
    return {
        "description": body["description"],
        "type": "object",
        "properties": {
            "event_type": {"description": "What happened.", "enum": body["properties"]["event"]["enum"]},
            "timestamp": {"description": "When it happened (RFC 3339).", **_TIME},
            "change_id": event["change_id"],
            **phase,
            "data": {
                "description": "What the published form has no place for.",
                "type": "object",
                "properties": {**inside, **about, **said_by},
            },
        },
        "required": ["event_type", "timestamp", "change_id", *phase],
    }


def _tidied(node: Any) -> Any:
    """A schema as others read it: choices in their own order, sentences on one line, no word of Python's regex."""
    if isinstance(node, list):
        return [_tidied(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {name: _tidied(each) for name, each in node.items() if name not in ("title", "discriminator")}
    if found.get("default", 0) is None:
        del found["default"]
    match found.get("anyOf"):
        case [{"type": str(kind), **more}, {"type": "null"}]:
            del found["anyOf"]
            found |= {"type": [kind, "null"], **more}
    if isinstance(found.get("description"), str):
        found["description"] = " ".join(found["description"].split())
    if isinstance(found.get("pattern"), str):
        found["pattern"] = found["pattern"].replace(r"\Z", "$")
    if isinstance(found.get("enum"), list):
        own = next((get_args(kind) for kind in CHOICES.values() if set(get_args(kind)) == set(found["enum"])), None)
        found["enum"] = list(own or found["enum"])
    return found


def _typescript() -> Iterator[str]:
    yield "// Generated by `make docs` from aurora_deliverables; do not edit."
    yield "// The choices of a deliverable, and the params of `aurora/deliverable` by their action."
    for name, kind in CHOICES.items():
        yield f"\nexport const {_PLURAL[name]} = {json.dumps(get_args(kind))} as const;"
        yield f"export type {name} = (typeof {_PLURAL[name]})[number];"
    known = schema()["$defs"]
    shown: list[type[DeliverableRequest]] = [*ENVELOPES, *request_types().values()]
    for kind in shown:
        above = next((each for each in kind.__mro__[1:] if each in ENVELOPES), None)
        yield f"\n/** {known[kind.__name__]['description']} */"
        yield f"export interface {kind.__name__}{f' extends {above.__name__}' if above else ''} {{"
        for name, member in known[kind.__name__]["properties"].items():
            needed = name in known[kind.__name__]["required"]
            if (name == "action" and kind in ENVELOPES) or (above and name in above.__struct_fields__ and not needed):
                continue
            if "description" in member:
                yield f"  /** {member['description']} */"
            yield f"  {name}{'' if needed else '?'}: {_type_of(member)};"
        yield "}"
    names = "".join(f"\n  | {kind.__name__}" for kind in request_types().values())
    yield f"\nexport type DeliverableParams ={names};\n"


def _type_of(member: Schema) -> str:
    if "enum" in member:
        found = next((name for name, kind in CHOICES.items() if list(get_args(kind)) == member["enum"]), None)
        return found or " | ".join(json.dumps(each) for each in member["enum"])
    if "anyOf" in member:
        return " | ".join(_type_of(each) for each in member["anyOf"])
    several = member.get("type", ())
    if isinstance(several, list):
        return " | ".join(_type_of({**member, "type": each}) for each in several)
    if several == "array":
        return f"{_type_of(member['items'])}[]"
    return _KINDS.get(several, "unknown") if several else "unknown"


def _lua() -> Iterator[str]:
    yield "-- Generated by `make docs` from aurora_deliverables; do not edit."
    yield "return {"
    for name, kind in CHOICES.items():
        yield f"  {_PLURAL[name]} = {{"
        yield from (f"    '{each}'," for each in get_args(kind))
        yield "  },"
    yield "}\n"


__all__ = ["pages", "schema"]
