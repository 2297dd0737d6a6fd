"""What an editor does, through pytest-lsp: once over `aurora lsp` on standard input, once on the daemon's socket."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.io_ import run_async
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

from aurora_protocol.address import Address
from tests.e2e.product import COMMAND, Product, product_in
from tests.e2e.repositories import SHOP, large, shop, write
from tests.wait_limits import HANG

ENVIRONMENT: dict[str, str] = dict(os.environ)
"""The daemon's and the bridge's; each module run puts its own AURORA_HOME in."""

CLIENT = "visual_studio_code"


def editor() -> LanguageClient:
    """pytest-lsp's client, which announces that it takes registrations but has no handler for them."""
    client = make_test_lsp_client()

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def registered(_: types.RegistrationParams) -> None:
        return None

    return client


class SocketConfig(ClientServerConfig):
    """Connects to the daemon's Unix socket instead of starting a server."""

    async def start(self, devtools: str | None = None) -> LanguageClient:
        client = editor()
        reader, writer = await asyncio.open_unix_connection(Address.of(Path(ENVIRONMENT["AURORA_HOME"])).socket)
        client.protocol.set_writer(writer)
        logger = logging.getLogger(__name__)
        stop, failed = client._stop_event, client.report_server_error
        reading = run_async(stop, reader, client.protocol, logger, failed)
        client._async_tasks.append(asyncio.create_task(_until_end(reading, writer)))
        return client


async def _until_end(reading: Any, writer: asyncio.StreamWriter) -> None:
    try:
        await reading
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product_in(tmp_path_factory.mktemp("aurora") / "home") as product:
        product.session(None).close()
        ENVIRONMENT["AURORA_HOME"] = str(product.home)
        yield product


@pytest.fixture(scope="module")
def root(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = shop(tmp_path_factory.mktemp("work") / "shop")
    product.json("index", cwd=root)
    return root


def opening(root: Path) -> types.InitializeParams:
    """What an editor says first: its abilities are those of a real one."""
    folders = [types.WorkspaceFolder(root.as_uri(), root.name)]
    return types.InitializeParams(client_capabilities(CLIENT), root_uri=root.as_uri(), workspace_folders=folders)


@pytest_lsp.fixture(config=ClientServerConfig([*COMMAND, "lsp"], editor, server_env=ENVIRONMENT))
async def over_stdio(lsp_client: LanguageClient, root: Path) -> AsyncIterator[None]:
    await lsp_client.initialize_session(opening(root))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=SocketConfig([]))
async def over_socket(lsp_client: LanguageClient, root: Path) -> AsyncIterator[None]:
    await lsp_client.initialize_session(opening(root))
    yield
    await lsp_client.shutdown_session()


@pytest.fixture(params=[pytest.param("over_stdio", marks=pytest.mark.long), "over_socket"])
def client(request: pytest.FixtureRequest, root: Path) -> LanguageClient:
    """The same tests, whichever way an editor comes: `aurora lsp` passes bytes on, whatever they say, which
    `test_initialize_says_what_there_is` and `server/test_cli_lsp.py` hold.
    """
    client: LanguageClient = request.getfixturevalue(request.param)
    return client


async def eventually(probe: Callable[[], Any], what: str, seconds: float = HANG) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := probe()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        await asyncio.sleep(0.02)
    return value


async def ask(client: LanguageClient, method: str, params: Any = None) -> Any:
    """A request of our own; what pygls makes of the answer is turned back into plain data."""
    return _plain(await client.protocol.send_request_async(method, params))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def document(path: Path) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(path.as_uri())


def open_document(client: LanguageClient, path: Path, text: str, language: str = "python") -> None:
    item = types.TextDocumentItem(path.as_uri(), language, 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))


async def test_initialize_says_what_there_is(product: Product, root: Path) -> None:
    for config in (ClientServerConfig([*COMMAND, "lsp"], editor, ENVIRONMENT), SocketConfig([])):
        client = await config.start()
        assert isinstance(client, LanguageClient)
        told = await client.initialize_session(opening(root))
        offers = told.capabilities
        assert told.server_info is not None and told.server_info.name and told.server_info.version
        assert offers.hover_provider and offers.document_symbol_provider and offers.workspace_symbol_provider
        assert offers.code_lens_provider is not None and offers.code_lens_provider.resolve_provider
        assert offers.diagnostic_provider is not None
        assert offers.completion_provider is not None and offers.rename_provider and offers.code_action_provider
        commands = {"aurora.recall", "aurora.index", "aurora.status", "aurora.explain", "aurora.manifest.example"}
        assert offers.execute_command_provider is not None
        assert commands <= set(offers.execute_command_provider.commands)
        folders = offers.workspace.workspace_folders if offers.workspace is not None else None
        assert folders is not None and folders.supported and folders.change_notifications
        with pytest.raises(JsonRpcException):
            await client.initialize_async(opening(root))
        await client.shutdown_session()
        await client.stop()


async def test_hover_has_links_to_callers(client: LanguageClient, root: Path) -> None:
    at = types.HoverParams(document(root / "src" / "basket.py"), types.Position(19, 6))
    hover = await client.text_document_hover_async(at)
    assert hover is not None and isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.kind == types.MarkupKind.Markdown
    text = hover.contents.value
    assert text.startswith("`total_price` — *")
    assert f"[pay\\_by\\_card]({(root / 'src' / 'checkout.py').as_uri()}#L4)" in text
    assert f"[add\\_tax]({(root / 'src' / 'basket.py').as_uri()}#L25)" in text
    nothing = types.HoverParams(document(root / "src" / "basket.py"), types.Position(1, 0))
    assert await client.text_document_hover_async(nothing) is None


async def test_document_symbols_are_nested_and_exact(client: LanguageClient, root: Path) -> None:
    asked = types.DocumentSymbolParams(document(root / "src" / "basket.py"))
    symbols = await client.text_document_document_symbol_async(asked)
    assert symbols is not None
    outline = {symbol.name: symbol for symbol in symbols if isinstance(symbol, types.DocumentSymbol)}
    assert list(outline) == ["Basket", "total_price", "add_tax"]
    assert [child.name for child in outline["Basket"].children or []] == ["__init__", "add_line"]
    assert [child.name for child in outline["add_tax"].children or []] == ["rounded"]
    price = outline["total_price"]
    assert price.kind == types.SymbolKind.Function
    assert price.selection_range == types.Range(types.Position(19, 4), types.Position(19, 15))
    assert (price.range.start.line, price.range.end.line) in {(17, 21), (18, 21)}


async def test_workspace_symbols_come_from_memory(client: LanguageClient, root: Path) -> None:
    found = await client.workspace_symbol_async(types.WorkspaceSymbolParams("countst"))
    assert found
    assert found[0].name == "CountStock"
    location = found[0].location
    assert isinstance(location, types.Location)
    assert location.uri == (root / "cmd" / "stock.go").as_uri() and location.range.start.line in (2, 3)


async def test_code_lenses_count_callers_when_resolved(client: LanguageClient, root: Path) -> None:
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(document(root / "src" / "basket.py")))
    assert lenses
    (lens,) = [lens for lens in lenses if lens.range.start.line in (17, 18, 19)]
    assert lens.command is None
    resolved = await client.code_lens_resolve_async(lens)
    assert resolved.command is not None
    assert resolved.command.title.startswith("1 caller") and resolved.command.command == "aurora.explain"
    done = types.ExecuteCommandParams(resolved.command.command, resolved.command.arguments)
    explained = _plain(await client.workspace_execute_command_async(done))
    assert explained["chunk"]["name"] == "total_price"


async def test_our_requests_and_the_commands_of_the_same_name(client: LanguageClient, root: Path) -> None:
    params = {"query": "total price of a basket", "limit": 3, "include_content": True}
    asked = await ask(client, "aurora/recall", params)
    best = asked["results"][0]
    assert (best["name"], best["file"], best["line_start"], best["line_end"]) == (
        "total_price",
        "src/basket.py",
        18,
        22,
    )
    assert best["content"].splitlines() == SHOP["src/basket.py"].splitlines()[17:22]
    assert set(asked["freshness"]) >= {"indexed_at", "pending_files", "skipped_files", "files", "chunks"}
    commanded = await client.workspace_execute_command_async(types.ExecuteCommandParams("aurora.recall", [params]))
    assert [one["id"] for one in _plain(commanded)["results"]] == [one["id"] for one in asked["results"]]
    status = await ask(client, "aurora/status")
    assert str(root) in [workspace["root"] for workspace in status["workspaces"]] and status["pid"] > 0
    by_id = await ask(client, "aurora/explain", {"id": best["id"]})
    place = {"uri": (root / "src" / "basket.py").as_uri(), "position": {"line": 19, "character": 6}}
    by_place = await ask(client, "aurora/explain", place)
    assert by_id["chunk"]["id"] == by_place["chunk"]["id"] == "code:src/basket.py:total_price:18-22"
    assert {"called by", "calls"} <= {link["relation"] for link in by_id["relations"]}
    assert by_id["content"]["function"] == "total_price" and by_id["metadata"]["language"] == "python"
    index = await ask(client, "aurora/index", {})
    assert (index["files"], index["parsed_files"]) == (len(SHOP), 0)


async def test_wrong_params_are_an_error_that_says_so(client: LanguageClient) -> None:
    for method, params in (
        ("aurora/recall", {}),
        ("aurora/recall", {"query": "x", "limit": "many"}),
        ("aurora/recall", {"query": "  "}),
        ("aurora/explain", {"id": "code:none.py:nothing"}),
        ("aurora/unheard-of", {}),
    ):
        with pytest.raises(JsonRpcException, match=r"\w+ \w+"):
            await client.protocol.send_request_async(method, params)
    assert (await ask(client, "aurora/recall", {"query": "basket"}))["results"]


async def test_indexing_with_a_token_is_reported(client: LanguageClient, root: Path) -> None:
    before = (await ask(client, "aurora/index", {}))["files"]
    write(root, {"extra/new_file.py": "def progressing():\n    return 1\n"})
    token = "indexing-for-a-test"
    reports = client.progress_reports.setdefault(token, [])  # or pytest-lsp takes it for a token it never gave
    index = await ask(client, "aurora/index", {"workDoneToken": token})
    assert index["files"] == before + 1
    kinds = [_kind(report) for report in reports]
    assert kinds[0] == "begin" and kinds[-1] == "end" and kinds.count("end") == 1, kinds
    (root / "extra" / "new_file.py").unlink()
    assert (await ask(client, "aurora/index", {}))["files"] == before


def _kind(report: Any) -> str:
    value = _plain(getattr(report, "value", report))
    return str(value["kind"] if isinstance(value, dict) else value.kind)


async def test_a_request_can_be_cancelled(client: LanguageClient, tmp_path: Path) -> None:
    big = large(tmp_path / "big", 300)
    folder = types.WorkspaceFolder(big.as_uri(), "big")
    event = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
    client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    identity = "to-be-cancelled"
    request = client.protocol.send_request_async("aurora/index", {"paths": [str(big)]}, msg_id=identity)
    running = asyncio.ensure_future(request)
    await asyncio.sleep(0.05)
    client.cancel_request(types.CancelParams(identity))
    with pytest.raises((JsonRpcException, asyncio.CancelledError)):
        await asyncio.wait_for(running, HANG)
    assert (await ask(client, "aurora/recall", {"query": "basket"}))["results"]


BROKEN = '{\n  "protocol": "AURA",\n  "note": "😀😀", "version": "2.0"\n}\n'


async def test_diagnostics_are_pushed_to_clients_that_do_not_pull(product: Product, root: Path) -> None:
    client = await SocketConfig([]).start()
    params = opening(root)
    assert params.capabilities.text_document is not None
    params.capabilities.text_document.diagnostic = None
    await client.initialize_session(params)
    manifest = root / ".well-known" / "aura.json"
    open_document(client, manifest, BROKEN, "json")
    found = await eventually(lambda: client.diagnostics.get(manifest.as_uri()), "diagnostics arrive")
    check_ranges(found)
    version = types.VersionedTextDocumentIdentifier(2, manifest.as_uri())
    text = types.TextDocumentContentChangeWholeDocument('{"protocol": "AURA",}')
    client.text_document_did_change(types.DidChangeTextDocumentParams(version, [text]))
    comma = types.Position(0, 19)

    def at_the_comma() -> bool:
        return any(one.range.start == comma for one in client.diagnostics[manifest.as_uri()])

    await eventually(at_the_comma, "the comma too many is underlined")
    client.text_document_did_close(types.DidCloseTextDocumentParams(document(manifest)))
    await eventually(lambda: not client.diagnostics[manifest.as_uri()], "a closed manifest has no diagnostics")
    await client.shutdown_session()
    await client.stop()


def check_ranges(found: Any) -> None:
    """The wrong version is underlined, and only that; columns are counted in UTF-16 units, two for each face."""
    line = BROKEN.splitlines()[2]
    start = len(line[: line.index('"2.0"')].encode("utf-16-le")) // 2
    (wrong,) = [one for one in found if one.range.start.line == 2 and one.range.start.character == start]
    assert wrong.range == types.Range(types.Position(2, start), types.Position(2, start + 5))
    assert wrong.severity == types.DiagnosticSeverity.Error and wrong.source == "aurora"
    assert wrong.message and wrong.code


async def test_diagnostics_are_pulled_by_clients_that_can(client: LanguageClient, root: Path) -> None:
    manifest = root / "pulled" / "aura.json"
    open_document(client, manifest, BROKEN, "json")
    report = await client.text_document_diagnostic_async(types.DocumentDiagnosticParams(document(manifest)))
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    check_ranges(report.items)
    again = types.DocumentDiagnosticParams(document(manifest), previous_result_id=report.result_id)
    assert isinstance(
        await client.text_document_diagnostic_async(again), types.RelatedUnchangedDocumentDiagnosticReport
    )
    code = types.DocumentDiagnosticParams(document(root / "src" / "basket.py"))
    other = await client.text_document_diagnostic_async(code)
    assert isinstance(other, types.RelatedFullDocumentDiagnosticReport) and not list(other.items)


async def test_a_manifest_is_completed_renamed_and_mended(client: LanguageClient, root: Path) -> None:
    path = root / "edited" / "aura.json"
    text = '{"capabilities": {"a": {"id": "a"}},\n"resources": {"r": {"operations": {"GET": {"capabilityId": "a"}}}}}'
    open_document(client, path, text, "json")
    place = types.Position(1, text.splitlines()[1].index('"a"') + 1)
    completed = await client.text_document_completion_async(types.CompletionParams(document(path), place))
    assert isinstance(completed, types.CompletionList)
    (item,) = completed.items
    assert isinstance(item.text_edit, types.TextEdit) and item.text_edit.new_text == '"a"'
    renamed = await client.text_document_rename_async(types.RenameParams(document(path), place, "b"))
    assert renamed is not None and renamed.document_changes is not None
    (change,) = renamed.document_changes
    assert isinstance(change, types.TextDocumentEdit) and len(change.edits) == 3
    everything = types.Range(types.Position(0, 0), types.Position(9, 0))
    context = types.CodeActionContext([], only=[types.CodeActionKind.QuickFix])
    fixes = await client.text_document_code_action_async(types.CodeActionParams(document(path), everything, context))
    assert fixes and all(isinstance(each, types.CodeAction) and each.edit for each in fixes)
    hover = await client.text_document_hover_async(types.HoverParams(document(path), place))
    assert hover is not None and "used by `r` (GET)" in str(hover.contents)


async def test_files_the_editor_saw_change_are_indexed(client: LanguageClient, root: Path) -> None:
    write(root, {"seen.py": "def seen_by_the_editor():\n    return 1\n"})
    created = types.FileEvent((root / "seen.py").as_uri(), types.FileChangeType.Created)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([created]))
    for known in (True, False):
        deadline = time.monotonic() + HANG
        while time.monotonic() < deadline:
            found = await client.workspace_symbol_async(types.WorkspaceSymbolParams("seen_by_the_editor"))
            if any(symbol.name == "seen_by_the_editor" for symbol in found or []) is known:
                break
            await asyncio.sleep(0.02)
        else:
            pytest.fail(f"seen_by_the_editor is {'not ' if known else 'still '}known")
        if known:
            (root / "seen.py").unlink()
            deleted = types.FileEvent((root / "seen.py").as_uri(), types.FileChangeType.Deleted)
            client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([deleted]))


async def test_a_saved_buffer_is_indexed(client: LanguageClient, root: Path) -> None:
    path = root / "saved.py"
    path.write_text("def before_saving():\n    return 1\n")
    open_document(client, path, path.read_text())
    path.write_text("def after_saving():\n    return 1\n")
    client.text_document_did_save(types.DidSaveTextDocumentParams(document(path)))
    deadline = time.monotonic() + HANG
    while True:
        found = await ask(client, "aurora/recall", {"query": "after saving", "limit": 1})
        if found["results"] and found["results"][0]["name"] == "after_saving":
            break
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    path.unlink()
    assert (await ask(client, "aurora/index", {}))["files"] == len(SHOP)
