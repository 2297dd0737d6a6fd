"""SOAR tools of MCP (query, assess, decompose, verify), which ask the nine phases, all of them or one at a time (AURORA
§9.6).
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from aurora_protocol import query_methods
from aurora_server.mcp.daemon_link import DaemonLink, Heard
from aurora_server.mcp.replies import DEFAULT_TOKENS, MoreLink, ToolReply, chunk_uri, document_reply, within
from aurora_server.mcp.tool import Arguments, DocumentTokens, Query, StructuredContent, Tokens, Tool

FAILED = frozenset({"failed", "blocked", "cancelled", "interrupted"})
DECOMPOSITION_TOKENS = 8_000
SOURCES = 20


class AskArguments(Arguments, frozen=True, kw_only=True):
    query: Query
    verification: Annotated[
        query_methods.Verification | None,
        Meta(description="Self-review, critic or debate"),
    ] = None  # fmt: skip
    dry_run: Annotated[bool, Meta(description="Pay nothing")] = False
    session: Annotated[str, Meta(max_length=200, description="Conversation id")] = ""
    max_tokens: Tokens = DEFAULT_TOKENS


class Assess(Arguments, frozen=True, kw_only=True):
    query: Query


class AssessContent(StructuredContent, frozen=True, kw_only=True):
    complexity: str
    confidence: float
    score: float
    route: str
    verification: str
    sure: bool
    indicators: list[str]


class Decompose(Arguments, frozen=True, kw_only=True):
    query: Query
    context: Annotated[str, Meta(max_length=100_000, description="What you know")] = ""
    max_tokens: DocumentTokens = DECOMPOSITION_TOKENS


class DecomposeContent(StructuredContent, frozen=True, kw_only=True):
    decomposition: dict[str, Any]
    verdict: str
    score: float
    issues: list[str]
    notices: list[str]
    cost_usd: float


class Verify(Arguments, frozen=True, kw_only=True):
    query: Query
    decomposition: Annotated[dict[str, Any] | None, Meta(description="As aurora_decompose gives")] = None
    output: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200_000)] | None,
        Meta(description="Or an answer"),
    ] = None
    max_tokens: DocumentTokens = DEFAULT_TOKENS


class VerifyContent(StructuredContent, frozen=True, kw_only=True):
    verdict: str
    score: float
    issues: list[str]
    suggestions: list[str]
    checks: dict[str, Any]
    by: str
    notices: list[str]
    cost_usd: float


async def _ask(link: DaemonLink, given: AskArguments, heard: Heard) -> ToolReply:
    """Handler of the query tool, with stages as progress."""
    params = {"query": given.query, "dry_run": given.dry_run, "session": given.session}
    if given.verification is not None:
        params["verification"] = given.verification
    found = await link.request(query_methods.QUERY, params, heard=heard)
    unknown = f" and {found['unpriced_calls']} calls of unknown price" if found["unpriced_calls"] else ""
    how = [f"state {found['state']}", f"cost ${found['cost_usd']:.4f}{unknown}"]
    if found["score"] is not None:
        how.insert(1, f"score {found['score']:.2f}")
    last = [f"({', '.join(how)}; id {found['id']})"]
    if found["error"]:
        last.insert(0, found["error"])
    last += [f"note: {each}" for each in found["notices"]]
    lines = [found["answer"]]
    lines += [f"- {claim['text']} [{', '.join(claim['sources'])}]" for claim in found["claims"]]
    links: list[MoreLink] = []
    end = within("\n".join(last), given.max_tokens // 4)
    for each in found["sources"][:SOURCES]:
        more = MoreLink(chunk_uri(each["id"]), each["name"], each["file"])
        if sum(link.cost for link in links) + more.cost <= given.max_tokens // 4:
            links.append(more)
    text = within("\n".join(filter(None, lines)), given.max_tokens // 2 - 1)
    return ToolReply("\n".join(filter(None, [text, end])), tuple(links), failed=found["state"] in FAILED)


async def _assess(link: DaemonLink, given: Assess, _: Heard) -> ToolReply:
    found = await link.request(query_methods.ASSESS, {"query": given.query}, again=True)
    return document_reply({name: found[name] for name in AssessContent.__struct_fields__}, DEFAULT_TOKENS)


async def _decompose(link: DaemonLink, given: Decompose, heard: Heard) -> ToolReply:
    params = {"query": given.query, "context": given.context}
    found = await link.request(query_methods.DECOMPOSE, params, heard=heard)
    told = {"decomposition": found["decomposition"], **_verdict(found), **_costs(found)}
    return document_reply({name: told[name] for name in DecomposeContent.__struct_fields__}, given.max_tokens)


async def _verify(link: DaemonLink, given: Verify, heard: Heard) -> ToolReply:
    params = {"query": given.query, "decomposition": given.decomposition, "output": given.output}
    found = await link.request(query_methods.VERIFY, params, heard=heard)
    told = {**_verdict(found), **_costs(found)}
    return document_reply({name: told[name] for name in VerifyContent.__struct_fields__}, given.max_tokens)


def _verdict(found: dict[str, Any]) -> dict[str, Any]:
    """Verdict as the tool gives it: score, issues, suggestions."""
    judged = found["verification"]
    checks = judged["checks"]
    said = [f"{name}: {issue}" for name, check in checks.items() for issue in check["issues"]]
    return {
        "verdict": judged["verdict"],
        "score": judged["overall_score"],
        "issues": list(dict.fromkeys([*judged["critical_issues"], *said])),
        "suggestions": judged["suggestions"],
        "checks": checks,
        "by": judged["by"],
    }


def _costs(found: dict[str, Any]) -> dict[str, Any]:
    return {"notices": found["notices"], "cost_usd": found["cost_usd"]}


SOAR_TOOLS = (
    Tool(
        name="aurora_query",
        title="Ask",
        description="Answer a hard question by agents, with sources and a score. Costs money and minutes.",
        more="Nine phases: it assesses, retrieves, decomposes, verifies, has agents work, and synthesizes an answer "
        "whose claims name their sources. Uses the configured language model, or the client's by sampling. "
        "verification: option_a reviews itself, option_b has a critic, option_c a debate; without, as hard as the "
        "question is. dry_run stops before the first paid call. session ties questions of one conversation together.",
        takes=AskArguments,
        handler=_ask,
        reads=False,
        repeatable=False,
        outside=True,
        asks=True,
    ),
    Tool(
        name="aurora_assess",
        title="Assess",
        description="How hard a question is, and whether to decompose it: free, local.",
        more="complexity is simple, medium, complex or critical, with how sure that is.",
        takes=Assess,
        handler=_assess,
        gives=AssessContent,
    ),
    Tool(
        name="aurora_decompose",
        title="Decompose",
        description="Break a question into verified subgoals for you to work on. Costs model calls.",
        more="Two to five subgoals with dependencies and agents. Uses the configured language model; memory is asked, "
        "and `context` says what you know besides.",
        takes=Decompose,
        handler=_decompose,
        gives=DecomposeContent,
        reads=False,
        repeatable=False,
        outside=True,
        asks=True,
    ),
    Tool(
        name="aurora_verify",
        title="Verify",
        description="Score a question's plan, or an answer. It may cost model calls.",
        more="By named criteria: verdict (pass, retry, fail), score from 0 to 1, and what is wrong. By rules, and by "
        "the configured language model where there is one. Give `decomposition` or `output`.",
        takes=Verify,
        handler=_verify,
        gives=VerifyContent,
        reads=False,
        outside=True,
        asks=True,
    ),
)
