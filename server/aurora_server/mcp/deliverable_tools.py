"""MCP tool `aurora_deliverable`: how a change goes, told by whoever makes it (AURA-M §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from aurora_deliverables.choices import EventAction, LookAction
from aurora_deliverables.event_request import DeliverableRequest, description_of, request_types
from aurora_protocol.deliverable_methods import DELIVERABLE
from aurora_server.mcp.daemon_link import DaemonLink, Heard
from aurora_server.mcp.replies import DEFAULT_TOKENS, ToolReply, document_reply
from aurora_server.mcp.tool import Arguments, Tokens, Tool

Action = Literal[EventAction, LookAction]
"""Of `aurora/deliverable`; `ingest` is for hooks, which have events and no words."""

NOT_DETAILS = frozenset({*DeliverableRequest.__struct_fields__, "event_id", "lines", "document", "format"})


def _details() -> type[Arguments]:
    """A struct of what the actions take together; a name that several have says what it is in each."""
    fields: dict[str, tuple[Any, Any]] = {}
    said: dict[str, dict[str, None]] = {}
    for request in request_types().values():
        for field in msgspec.structs.fields(request):
            if field.name not in NOT_DETAILS:
                fields[field.name] = (field.type, field.default)
                said.setdefault(field.name, {})[description_of(field.type)] = None
    found = msgspec.defstruct(
        "Details",
        [
            (name, Annotated[kind, Meta(description=" / ".join(said[name]))], default)
            for name, (kind, default) in fields.items()
        ],
        bases=(Arguments,),
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
        omit_defaults=True,
    )
    assert issubclass(found, Arguments), "it is made as one"
    return found


if TYPE_CHECKING:

    class Details(Arguments, frozen=True, kw_only=True):
        """Details of the actions, by the names of `aurora/deliverable`."""

else:
    Details = _details()


class DeliverableArguments(Arguments, frozen=True, kw_only=True):
    action: Annotated[
        Action,
        Meta(description="What happened or is asked"),
    ]
    change_id: Annotated[str | None, Meta(description="As add-dark-mode; default: the open one")] = None
    details: Annotated[
        Details,
        Meta(
            description="start {description}, phase {phase}, task {completed,total}, tests {passed,failed}, "
            "fail {reason}; all: aurora://tool/aurora_deliverable"
        ),
    ] = Details()
    max_tokens: Tokens = DEFAULT_TOKENS


async def _deliverable(link: DaemonLink, given: DeliverableArguments, _: Heard) -> ToolReply:
    params: dict[str, Any] = {**msgspec.to_builtins(given.details), "action": given.action}
    if given.change_id is not None:
        params["change_id"] = given.change_id
    return document_reply(await link.request(DELIVERABLE, params), given.max_tokens, structured=False)


DELIVERABLE_TOOL = Tool(
    name="aurora_deliverable",
    title="Track change",
    description="Say how a change goes, or ask its state. Writes AURORA's records only.",
    more="The user sees where the change stands, and how reliable such work is. `start` needs a change_id.",
    takes=DeliverableArguments,
    handler=_deliverable,
    reads=False,
    repeatable=False,
)
