"""Editor clients and the daemon use the same keys: read from the clients' sources, held against the messages.

The clients import nothing of ours, so that nothing but a test tells when a key is respelled on one side alone.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import aurora_schemas
from aurora_deliverables.event_request import request_types
from aurora_orchestration.guardrails.budget import BudgetStatus
from aurora_protocol.methods import (
    ActivationTerms,
    ExplainParams,
    ExplainResult,
    Freshness,
    IndexParams,
    Recalled,
    RecallParams,
    RecallResult,
    StatusResult,
    WorkspaceStatus,
)
from aurora_protocol.query_methods import QueryParams, QueryResult, QuerySource, StageNotice
from aurora_server.configuration import trust
from aurora_server.configuration.model_selection import ModelChoice
from aurora_server.lsp import lifecycle
from aurora_server.lsp.configuration import Preferences
from docs.generate.methods import names, structs

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "editor-clients"
VSCODE = CLIENTS / "vscode/src"
NEOVIM = CLIENTS / "neovim/lua/aurora"

PLAIN: dict[str, set[str]] = {
    "DeliverableChange": {"workspace", "summary", "deliverable"},
    "LanguageModelParams": {"system", "prompt", "schema", "max_tokens"},
}
"""Messages that are plain objects in `lsp/deliverable_changes.py` and `lsp/client_requests.py`."""


def keys(kind: Any) -> set[str]:
    """Names on the wire of a message's members; of several messages, which an `action` tells apart, of all."""
    if isinstance(kind, tuple):
        return {"action"}.union(*map(keys, kind))
    return {field.encode_name for field in msgspec.structs.fields(kind)}


def state_keys() -> set[str]:
    """Members of the deliverable-state document."""
    return set(aurora_schemas.load("deliverable-state")["properties"])


def interfaces() -> dict[str, str]:
    """Every interface of the extension's messages by name, with its body."""
    text = (VSCODE / "protocol.ts").read_text()
    return dict(re.findall(r"^export interface (\w+) \{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE))


def members(body: str) -> Iterator[tuple[str, str]]:
    """Name and type of each member of an interface."""
    yield from re.findall(r"^  (\w+)\??: (.+);$", body, re.MULTILINE)


def nested(kind: type[msgspec.Struct], member: str) -> type[msgspec.Struct]:
    """The message within a member of a message, in a list or not."""
    (annotation,) = (field.type for field in msgspec.structs.fields(kind) if field.encode_name == member)
    found = [each for each in (annotation, *get_args(annotation)) if isinstance(each, type)]
    return next(each for each in found if issubclass(each, msgspec.Struct))


@pytest.mark.parametrize("name", sorted(interfaces()))
def test_what_the_extension_reads_is_what_the_daemon_writes(name: str) -> None:
    told = list(members(interfaces()[name]))
    assert told
    if name in PLAIN:
        assert {member for member, _ in told} == PLAIN[name]
    elif name == "DeliverableState":
        assert {member for member, _ in told} <= state_keys()
    elif name == "BudgetResult":
        assert {member for member, _ in told} <= keys(BudgetStatus) | {"model"}
    else:
        message = structs()[name]
        assert {member for member, _ in told} <= keys(message)
        for member, type_ in told:
            inner = re.findall(r"(\w+)\??:", type_) if type_.startswith("{") else []
            assert not inner or set(inner) <= keys(nested(message, member)), member


def test_methods_that_clients_name_are_there() -> None:
    known = set(names())
    for file in (*VSCODE.rglob("*.ts"), *NEOVIM.glob("*.lua")):
        named = set(re.findall(r"[\"'](aurora/\w+)[\"']", file.read_text()))
        assert named <= known, file.name


DELIVERABLE_REQUESTS = (*request_types().values(),)
SENT: list[tuple[str, str, Any]] = [
    ("vscode/src/commands/recall.ts", r"params = \{(.*?)\}(?:;|,\n)", RecallParams),
    ("vscode/src/commands/ask.ts", r"const params = \{(.*?)\};", QueryParams),
    ("vscode/src/commands/indexNow.ts", r"\(Index, \{(.*?)\}", IndexParams),
    ("vscode/src/commands/explain.ts", r"\(Explain, \{(.*?)\}", ExplainParams),
    (
        "vscode/src/commands/deliverables.ts",
        r"(?:\(Deliverable, |tell\(|const params: \w+ = )\{(.*?)\}[,;)]",
        DELIVERABLE_REQUESTS,
    ),
    ("neovim/lua/aurora/recall.lua", r"return \{ (query = .*?) \}", RecallParams),
    ("neovim/lua/aurora/ask.lua", r"local params = \{(.*?)\}", QueryParams),
    ("neovim/lua/aurora/explain.lua", r"or \{ (uri = .*?), position", ExplainParams),
    ("neovim/lua/aurora/deliverable.lua", r"return \{ (.*?) \}", DELIVERABLE_REQUESTS),
]
"""File, where params are made in it, and what they are."""


@pytest.mark.parametrize(("file", "made", "kind"), SENT, ids=[file for file, _, _ in SENT])
def test_what_clients_send_is_what_the_daemon_takes(file: str, made: str, kind: Any) -> None:
    found = re.findall(made, (CLIENTS / file).read_text(), re.DOTALL)
    sent = {name for each in found for name in re.findall(r"(?:^|[,{])\s*(\w+)\s*(?=[:=,]|$)", each)}
    assert sent and sent <= keys(kind)


READ: list[tuple[str, str, Any]] = [
    ("answers.lua", "notice", StageNotice),
    ("answers.lua", "result", QueryResult),
    ("answers.lua", "source", QuerySource),
    ("recall.lua", "answer", RecallResult),
    ("recall.lua", "result", Recalled),
    ("recall.lua", "fresh", Freshness),
    ("explain.lua", "known", ExplainResult),
    ("explain.lua", "chunk", Recalled),
    ("explain.lua", "terms", ActivationTerms),
    ("status.lua", "status", StatusResult),
    ("status.lua", "workspace", WorkspaceStatus),
    ("deliverable.lua", "state", None),
]
"""File, the variable that holds a message in it, and which; None for the deliverable-state document."""


@pytest.mark.parametrize(("file", "variable", "kind"), READ, ids=[f"{file}:{name}" for file, name, _ in READ])
def test_what_the_neovim_client_reads_is_what_the_daemon_writes(file: str, variable: str, kind: Any) -> None:
    read = set(re.findall(rf"\b{variable}\.(\w+)", (NEOVIM / file).read_text()))
    assert read and read <= (keys(kind) if kind is not None else state_keys())


def options_read() -> set[str]:
    """The `initializationOptions` that a session looks at."""
    sources = Path(lifecycle.__file__).read_text() + Path(trust.__file__).read_text()
    return set(re.findall(r"options\.get\(\"(\w+)\"\)", sources)) | keys(Preferences)


def test_initialization_options_are_those_that_are_read_and_told() -> None:
    extension = re.search(
        r"initializationOptions: \{(.*?)\n      \}", (VSCODE / "server/connection.ts").read_text(), re.DOTALL
    )
    plugin = re.search(r"init_options = \{(.*?)\n    \}", (NEOVIM / "client.lua").read_text(), re.DOTALL)
    assert extension is not None and plugin is not None
    sent = set(re.findall(r"^ +(\w+)[:,]", extension[1], re.MULTILINE)) | set(re.findall(r"(\w+) =", plugin[1]))
    assert {"deliverableChanges", "askUser", "codeLens"} <= sent <= options_read()
    page = (ROOT / "docs/how-to/editors.md").read_text().partition("## What a client may say of itself")[2]
    told = {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert told == options_read()
    assert "`{provider, model, apiKey}`" in page and keys(ModelChoice) == {"provider", "model", "apiKey"}
