"""The tools of `aurora mcp`: what each takes, which request of the daemon it stands for, and how its answer reads."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from aurora_protocol import deliverable_methods, methods, queries
from aurora_protocol.keys import snake_keys
from aurora_server.mcp_server.daemon_link import DaemonLink, Heard
from aurora_server.mcp_server.manifests import ValidateManifest, validate_manifest
from aurora_server.mcp_server.replies import DEFAULT_TOKENS, MAX_TOKENS, Link, ToolReply, chunk_uri, hits_reply, within

Query = Annotated[str, Meta(min_length=1, max_length=10_000, description="The question, in words.")]
Tokens = Annotated[int, Meta(ge=100, le=MAX_TOKENS, description="At most so many tokens of answer.")]
Limit = Annotated[int, Meta(ge=1, le=100, description="At most so many results.")]


class Recall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Query
    limit: Limit = 10
    types: Annotated[list[Literal["code", "reas", "know"]], Meta(description="Only these types of chunks.")] = []
    max_tokens: Tokens = DEFAULT_TOKENS


class RetrieveContext(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Query
    budget: Tokens = DEFAULT_TOKENS


class Explain(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: Annotated[str, Meta(min_length=1, max_length=2_000, description="A chunk's id, as recall gives it.")]
    max_tokens: Tokens = DEFAULT_TOKENS


class Deliverable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    action: Annotated[deliverable_methods.Action, Meta(description="What happens, or what is asked.")]
    change_id: Annotated[str | None, Meta(description="The change; without, the only open one.")] = None
    details: Annotated[
        dict[str, Any],
        Meta(description="More of `aurora/deliverable`: phase, completed, total, tool, reason, agent, model, …"),
    ] = {}


class Ask(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Query
    verification: queries.Verification | None = None
    dry_run: Annotated[bool, Meta(description="Stop before the first paid call.")] = False
    session: Annotated[str, Meta(max_length=200, description="Ties questions of one conversation together.")] = ""
    max_tokens: Tokens = DEFAULT_TOKENS


class Assess(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Query


class Decompose(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Query
    context: Annotated[str, Meta(max_length=100_000, description="What else is known; memory is asked as well.")] = ""


class Verify(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Query
    decomposition: Annotated[
        dict[str, Any] | None, Meta(description="A decomposition as `aurora_decompose` gives it.")
    ] = None
    output: Annotated[str, Meta(max_length=200_000, description="An answer to the query, in words.")] | None = None


class Learn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Query
    result: Annotated[str, Meta(min_length=1, max_length=200_000, description="What came of it, in words.")]
    score: Annotated[float, Meta(ge=0, le=1, description="How well it went.")]
    used: Annotated[list[str], Meta(max_length=200, description="Ids of the chunks that helped.")] = []
    tools: Annotated[list[str], Meta(max_length=200, description="Tools that were used, in order.")] = []


Handler = Callable[[DaemonLink, Any, Heard], Awaitable[ToolReply]]


class Tool(Struct, frozen=True):
    """One tool. `reads` says that it changes nothing."""

    name: str
    title: str
    description: str
    takes: type[Struct]
    handler: Handler
    reads: bool = True


async def _recall(link: DaemonLink, given: Recall, _: Heard) -> ToolReply:
    params: dict[str, Any] = {"query": given.query, "limit": given.limit}
    if given.types:
        params["types"] = given.types
    return hits_reply(await link.request(methods.RECALL, params), given.max_tokens)


async def _retrieve(link: DaemonLink, given: RetrieveContext, _: Heard) -> ToolReply:
    params = {"query": given.query, "limit": 50, "budgetTokens": given.budget, "includeContent": True}
    return hits_reply(await link.request(methods.RECALL, params), given.budget + given.budget // 4)


async def _explain(link: DaemonLink, given: Explain, _: Heard) -> ToolReply:
    found = await link.request(methods.EXPLAIN, {"id": given.id})
    chunk = found["chunk"]
    lines = [f"{chunk['id']} ({chunk['kind']})", chunk["signature"], found["docstring"]]
    lines.append("activation: " + ", ".join(f"{name} {value:.3f}" for name, value in chunk["activation"].items()))
    if found["accesses"]:
        lines.append(f"used: {', '.join(found['accesses'][:10])}")
    if found["commits"]:
        lines.append(f"changed: {', '.join(found['commits'][:10])}")
    lines += [f"{each['relation']} {each['name']} ({each['id']})" for each in found["relations"][:60]]
    text = "\n".join(line for line in lines if line)
    return ToolReply(within(text, given.max_tokens), (Link(chunk_uri(chunk["id"]), chunk["name"]),))


async def _deliverable(link: DaemonLink, given: Deliverable, _: Heard) -> ToolReply:
    params = {**given.details, "action": given.action}
    if given.change_id is not None:
        params["changeId"] = given.change_id
    document = await link.request(deliverable_methods.DELIVERABLE, params)
    return ToolReply(within(json.dumps(document, ensure_ascii=False, indent=1), DEFAULT_TOKENS))


async def _ask(link: DaemonLink, given: Ask, heard: Heard) -> ToolReply:
    params = {"query": given.query, "dryRun": given.dry_run, "session": given.session}
    if given.verification is not None:
        params["verification"] = given.verification
    found = await link.request(queries.QUERY, params, heard=heard)
    lines = [found["answer"] or found["error"] or ""]
    lines += [f"- {claim['text']} [{', '.join(claim['sources'])}]" for claim in found["claims"]]
    how = [f"state {found['state']}", f"cost ${found['costUsd']:.4f}"]
    if found["score"] is not None:
        how.insert(1, f"score {found['score']:.2f}")
    lines += [f"({', '.join(how)}; id {found['id']})", *(f"note: {each}" for each in found["notices"])]
    links = tuple(Link(chunk_uri(each["id"]), each["name"], each["file"]) for each in found["sources"][:20])
    failed = found["state"] in ("failed", "blocked")
    return ToolReply(within("\n".join(filter(None, lines)), given.max_tokens), links, failed=failed)


async def _assess(link: DaemonLink, given: Assess, _: Heard) -> ToolReply:
    return _document(await link.request(queries.ASSESS, {"query": given.query}))


async def _decompose(link: DaemonLink, given: Decompose, heard: Heard) -> ToolReply:
    return _document(
        await link.request(queries.DECOMPOSE, {"query": given.query, "context": given.context}, heard=heard)
    )


async def _verify(link: DaemonLink, given: Verify, heard: Heard) -> ToolReply:
    params = {"query": given.query, "decomposition": given.decomposition, "output": given.output}
    return _document(await link.request(queries.VERIFY, params, heard=heard))


async def _learn(link: DaemonLink, given: Learn, _: Heard) -> ToolReply:
    return _document(await link.request(queries.LEARN, msgspec.to_builtins(given)))


def _document(found: dict[str, Any]) -> ToolReply:
    told = snake_keys(found)
    return ToolReply(within(json.dumps(told, ensure_ascii=False, indent=1), MAX_TOKENS), data=told)


TOOLS = (
    Tool(
        "aurora_recall",
        "Recall",
        "Find functions, documents and earlier solutions in this workspace's memory: what is most useful for the query "
        "now, best first, with file and lines. Fast and free; ask it before searching files.",
        Recall,
        _recall,
    ),
    Tool(
        "aurora_retrieve_context",
        "Retrieve context",
        "The code and knowledge that is most useful for a question, with its text, within a budget of tokens.",
        RetrieveContext,
        _retrieve,
    ),
    Tool(
        "aurora_explain",
        "Explain a chunk",
        "All that memory knows of one chunk: activation, who calls it, when it changed and was used.",
        Explain,
        _explain,
    ),
    Tool(
        "aurora_query",
        "Ask",
        "Have AURORA answer a question in nine phases: assess, retrieve, decompose, verify, work, synthesize. Uses the "
        "configured language model, or yours by sampling; may take minutes. For facts, aurora_recall is enough.",
        Ask,
        _ask,
        reads=False,
    ),
    Tool(
        "aurora_assess",
        "Assess",
        "How hard a question is (simple, medium, complex, critical), how sure that is, and the route it would take.",
        Assess,
        _assess,
    ),
    Tool(
        "aurora_decompose",
        "Decompose",
        "Break a question into two to five subgoals with dependencies and agents, verified.",
        Decompose,
        _decompose,
        reads=False,
    ),
    Tool(
        "aurora_verify",
        "Verify",
        "Score a decomposition, or an answer to a question, by named criteria: score, verdict, issues.",
        Verify,
        _verify,
        reads=False,
    ),
    Tool(
        "aurora_learn",
        "Learn",
        "Tell memory how something was solved and how well it went (score 0 to 1), so that it is recalled next time.",
        Learn,
        _learn,
        reads=False,
    ),
    Tool(
        "aurora_deliverable",
        "Track a change",
        "Say what happens to a change (start, phase, task, complete, …), or ask for its state (show, list).",
        Deliverable,
        _deliverable,
        reads=False,
    ),
    Tool(
        "aurora_validate_manifest",
        "Validate a manifest",
        "Check an AURA manifest (aura.json): syntax, schema and meaning, with the exact place of each finding.",
        ValidateManifest,
        validate_manifest,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
