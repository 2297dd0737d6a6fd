"""The editor features of manifests, over the socket of a real daemon."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.manifests import manifest
from tests.server.daemons import Daemon, Wire

TEXT = """{
  "$schema": "https://unpkg.com/aura-protocol@1.0.5/dist/aura-v1.0.schema.json",
  "protocol": "AURA",
  "version": "1.0",
  "site": {"name": "📝 Notes", "url": "https://notes.example"},
  "resources": {
    "note": {"uriPattern": "/n/{id}", "description": "📝 A note.", "operations": {"GET": {"capabilityId": "read"}}}
  },
  "capabilities": {
    "read": {
      "id": "read", "v": 1, "description": "Reads one note.",
      "parameters": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
      "action": {
        "type": "HTTP", "method": "GET", "urlTemplate": "/n/{id}", "parameterMapping": {"id": "/id"}
      }
    }
  }
}
"""

UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


class Editor:
    """One open manifest, as an editor sees it: places are pieces of text, and edits are applied to it."""

    def __init__(self, wire: Wire, uri: str, encoding: str = "utf-16") -> None:
        self.wire, self.uri, self.encoding, self.text, self.version = wire, uri, encoding, "", 0

    def open(self, text: str) -> None:
        self.text, self.version = text, 1
        document = {"uri": self.uri, "languageId": "json", "version": 1, "text": text}
        self.wire.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, text: str) -> None:
        self.text, self.version = text, self.version + 1
        document = {"uri": self.uri, "version": self.version}
        self.wire.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def ask(self, method: str, **params: Any) -> Any:
        return self.wire.result(f"textDocument/{method}", {"textDocument": {"uri": self.uri}, **params})

    def at(self, before: str, after: str = "") -> dict[str, int]:
        """The position between two pieces of the text."""
        assert self.text.count(before + after) == 1, before + after
        return self.position(self.text.index(before + after) + len(before))

    def position(self, offset: int) -> dict[str, int]:
        codec, unit = UNITS[self.encoding]
        line_start = self.text.rfind("\n", 0, offset) + 1
        column = len(self.text[line_start:offset].encode(codec)) // unit
        return {"line": self.text.count("\n", 0, offset), "character": column}

    def offset(self, position: dict[str, int]) -> int:
        codec, unit = UNITS[self.encoding]
        lines = [*self.text.splitlines(keepends=True), ""]
        line = lines[position["line"]].encode(codec)[: position["character"] * unit].decode(codec)
        return sum(map(len, lines[: position["line"]])) + len(line)

    def under(self, found: dict[str, Any]) -> str:
        """The text in a range."""
        return self.text[self.offset(found["start"]) : self.offset(found["end"])]

    def applied(self, edits: list[dict[str, Any]]) -> str:
        """The text after edits."""
        text = self.text
        for edit in sorted(edits, key=lambda each: -self.offset(each["range"]["start"])):
            start, end = self.offset(edit["range"]["start"]), self.offset(edit["range"]["end"])
            text = text[:start] + edit["newText"] + text[end:]
        return text


@pytest.fixture
def editing(daemon: Daemon, tmp_path: Path) -> Iterator[Callable[..., Editor]]:
    """Opens a manifest in a session of its own."""
    wires: list[Wire] = []

    def start(text: str = TEXT, encoding: str = "utf-16", **capabilities: Any) -> Editor:
        wire = daemon.wire()
        wires.append(wire)
        general = {"general": {"positionEncodings": [encoding]}}
        wire.initialize(capabilities={**general, **capabilities})
        editor = Editor(wire, (tmp_path / "aura.json").as_uri(), encoding)
        editor.open(text)
        return editor

    yield start
    for wire in wires:
        wire.stream.close()


@pytest.fixture
def editor(editing: Callable[..., Editor]) -> Editor:
    return editing()


def test_what_can_be_done_is_announced(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        offered = wire.initialize(capabilities={"textDocument": {"rename": {"prepareSupport": True}}})["capabilities"]
    assert '"' in offered["completionProvider"]["triggerCharacters"]
    assert "source.fixAll.aurora" in offered["codeActionProvider"]["codeActionKinds"]
    assert offered["renameProvider"]["prepareProvider"]
    for name in ("definition", "references", "documentHighlight", "foldingRange", "selectionRange", "inlayHint"):
        assert offered[f"{name}Provider"] not in (None, False), name
    assert offered["documentFormattingProvider"] and offered["documentRangeFormattingProvider"]
    assert {"aurora.manifest.example", "aurora.manifest.uses"} <= set(offered["executeCommandProvider"]["commands"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_completion_replaces_exactly_the_string(editing: Callable[..., Editor], encoding: str) -> None:
    editor = editing(TEXT.replace('{"capabilityId": "read"}', '{"capabilityId": ""}'), encoding)
    found = editor.ask("completion", position=editor.at('{"capabilityId": "', '"}'))
    (item,) = found["items"]
    assert item["label"] == "read" and item["filterText"] == '"read"' and item["insertTextFormat"] == 1
    assert editor.under(item["textEdit"]["range"]) == '""'
    assert editor.applied([item["textEdit"]]) == TEXT


def test_completion_in_text_that_is_not_saved_and_not_whole(editor: Editor) -> None:
    editor.change('{"resources": {}, "capabilities": {"a": {"action": {"method": "GET" "')
    found = editor.ask("completion", position=editor.position(len(editor.text)))
    assert {"type", "urlTemplate", "parameterMapping"} <= {each["label"] for each in found["items"]}
    item = next(each for each in found["items"] if each["label"] == "urlTemplate")
    assert editor.applied([item["textEdit"]]).endswith('"method": "GET" "urlTemplate": ""')


def test_completion_brings_the_missing_comma(editor: Editor) -> None:
    editor.change('{\n  "protocol": "AURA"\n  \n}')
    found = editor.ask("completion", position={"line": 2, "character": 2})
    item = next(each for each in found["items"] if each["label"] == "version")
    edits = [item["textEdit"], *item["additionalTextEdits"]]
    assert json.loads(editor.applied(edits)) == {"protocol": "AURA", "version": "1.0"}


def test_snippets_go_to_clients_that_know_them(editing: Callable[..., Editor]) -> None:
    item = {"snippetSupport": True, "insertTextModeSupport": {"valueSet": [1, 2]}}
    editor = editing('{"capabilities": {}}', textDocument={"completion": {"completionItem": item}})
    (snippet,) = editor.ask("completion", position=editor.at('"capabilities": {'))["items"]
    assert snippet["insertTextFormat"] == 2 and snippet["insertTextMode"] == 2
    assert snippet["textEdit"]["newText"].startswith('"${1:new_capability}": {\n')


def test_completion_of_other_documents_of_ours(editor: Editor, tmp_path: Path) -> None:
    other = Editor(editor.wire, (tmp_path / ".aurora" / "config.json").as_uri())
    other.open('{"logging": {"level": ""}}')
    labels = {each["label"] for each in other.ask("completion", position=other.at('"level": "'))["items"]}
    assert "DEBUG" in labels


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_hover_shows_the_request(editing: Callable[..., Editor], encoding: str) -> None:
    editor = editing(encoding=encoding)
    found = editor.ask("hover", position=editor.at('{"GET": {"capabilityId": "r', "ead"))
    assert "```http\nGET https://notes.example/n/id\n```" in found["contents"]["value"]
    assert editor.under(found["range"]) == '"read"'


def test_hover_on_a_diagnostic_explains_its_rule(editor: Editor) -> None:
    editor.wire.notification("textDocument/publishDiagnostics")
    editor.change(TEXT.replace('"AURA"', '"AURORA"'))
    (diagnostic,) = editor.wire.notification("textDocument/publishDiagnostics")["diagnostics"]
    found = editor.ask("hover", position=diagnostic["range"]["start"])
    assert found["contents"]["value"].startswith(f"**{diagnostic['code']}** — error")
    assert diagnostic["codeDescription"]["href"].endswith(f"#{diagnostic['code']}")
    assert "Always `AURA`" in found["contents"]["value"]


def test_plain_hovers_have_no_escapes(editing: Callable[..., Editor]) -> None:
    editor = editing(TEXT.replace("Reads one", "Reads_one"), textDocument={"hover": {"contentFormat": ["plaintext"]}})
    found = editor.ask("hover", position=editor.at('    "re', 'ad"'))
    assert found["contents"]["kind"] == "plaintext" and "Reads_one" in found["contents"]["value"]


def test_switched_off_hovers_and_lenses_stay_off(editor: Editor) -> None:
    off = {"settings": {"aurora": {"hover": False, "codeLens": False}}}
    editor.wire.notify("workspace/didChangeConfiguration", off)
    assert editor.ask("hover", position=editor.at('"proto', "col")) is None
    assert editor.ask("codeLens") == []


def test_a_quick_fix_mends_what_its_diagnostic_says(editing: Callable[..., Editor]) -> None:
    editor = editing(TEXT.replace('"version": "1.0"', '"version": "1.1"'), textDocument={"diagnostic": {}})
    (diagnostic,) = editor.ask("diagnostic")["items"]
    context = {"diagnostics": [diagnostic], "only": ["quickfix"]}
    (fix,) = editor.ask("codeAction", range=diagnostic["range"], context=context)
    assert fix["kind"] == "quickfix" and fix["isPreferred"] and fix["diagnostics"] == [diagnostic]
    assert editor.applied(fix["edit"]["changes"][editor.uri]) == TEXT


def test_all_fixes_at_once_for_a_certain_version(editing: Callable[..., Editor]) -> None:
    text = TEXT.replace('"version": "1.0"', '"version": 1.0').replace('"AURA"', '"aura"')
    editor = editing(text, workspace={"workspaceEdit": {"documentChanges": True}})
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    for only in (["source.fixAll"], ["source.fixAll.aurora"], ["source"]):
        (fix,) = editor.ask("codeAction", range=everything, context={"diagnostics": [], "only": only})
        (change,) = fix["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": editor.uri, "version": 1}
        assert editor.applied(change["edits"]) == TEXT
    assert editor.ask("codeAction", range=everything, context={"diagnostics": [], "only": ["refactor"]}) == []


def test_a_rule_is_ignored_where_the_user_says(editor: Editor) -> None:
    editor.change(TEXT.replace('"v": 1,', '"v": 1, "owner": "me",'))
    (warned,) = [each for each in editor.ask("diagnostic")["items"] if each["code"] == "extension-name"]
    actions = editor.ask("codeAction", range=warned["range"], context={"diagnostics": [warned]})
    (ignore,) = [each for each in actions if each["title"] == "Ignore extension-name here"]
    editor.change(editor.applied(ignore["edit"]["changes"][editor.uri]))
    assert '"x-aurora-ignore": ["extension-name"]' in editor.text
    assert editor.ask("diagnostic")["items"] == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_definition_references_and_highlights(editing: Callable[..., Editor], encoding: str) -> None:
    editor = editing(encoding=encoding)
    use = editor.at('{"GET": {"capabilityId": "re', "ad")
    (definition,) = editor.ask("definition", position=use)
    assert definition["uri"] == editor.uri and editor.under(definition["range"]) == "read"
    assert definition["range"]["start"] == editor.at('    "', 'read": {')
    whole = editor.ask("references", position=use, context={"includeDeclaration": True})
    assert [editor.under(each["range"]) for each in whole] == ["read"] * 3
    assert len(editor.ask("references", position=use, context={"includeDeclaration": False})) == 2
    assert [each["kind"] for each in editor.ask("documentHighlight", position=use)] == [2, 3, 2]
    assert editor.ask("definition", position=editor.at('"proto', "col")) is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_rename_is_prepared_and_done(editing: Callable[..., Editor], encoding: str) -> None:
    editor = editing(encoding=encoding)
    place = editor.at('"parameterMapping": {"i', 'd"')
    prepared = editor.ask("prepareRename", position=place)
    assert prepared["placeholder"] == "id" and editor.under(prepared["range"]) == "id"
    edits = editor.ask("rename", position=place, newName="note_id")["changes"][editor.uri]
    after = editor.applied(edits)
    assert len(edits) == 6 and after.count("note_id") == 6 and '"id": "read"' in after
    assert editor.ask("prepareRename", position=editor.at('"proto', "col")) is None
    params = {"textDocument": {"uri": editor.uri}, "position": place, "newName": "a b"}
    refused = editor.wire.ask("textDocument/rename", params)["error"]
    assert refused["code"] == -32602 and "cannot stand in a URI template" in refused["message"]


def test_document_symbols_are_the_parts_of_the_manifest(editing: Callable[..., Editor]) -> None:
    editor = editing(textDocument={"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}})
    symbols = {each["name"]: each for each in editor.ask("documentSymbol")}
    assert list(symbols)[4:] == ["resources", "capabilities"] or "capabilities" in symbols
    (read,) = symbols["capabilities"]["children"]
    assert (read["name"], read["detail"]) == ("read", "GET /n/{id}")
    assert editor.under(read["selectionRange"]) == '"read"'
    flat = editing().ask("documentSymbol")
    assert ("read", "capabilities") in [(each["name"], each.get("containerName")) for each in flat]


def test_folding_and_selecting(editor: Editor) -> None:
    lines = editor.text.splitlines()
    folded = {(lines[each["startLine"]].strip(), lines[each["endLine"]].strip()) for each in editor.ask("foldingRange")}
    assert ('"action": {', editor.text.splitlines()[13].strip()) in folded
    place = editor.at('"name": "📝 No', "tes")
    (chain,) = editor.ask("selectionRange", positions=[place])
    seen = []
    while chain:
        seen.append(editor.under(chain["range"]))
        chain = chain.get("parent")
    assert seen[:3] == ["📝 Notes", '"📝 Notes"', '"name": "📝 Notes"'] and seen[-1] == TEXT


def test_a_step_of_formatting_is_a_tab_wide_within_reason(editor: Editor) -> None:
    for tab, width in ((0, 1), (1, 1), (3, 3), (16, 16), (17, 16)):
        after = editor.applied(editor.ask("formatting", options={"tabSize": tab, "insertSpaces": True}))
        assert f'\n{" " * width}"site"' in after, tab


def test_formatting_whole_and_in_part(editor: Editor) -> None:
    options = {"tabSize": 4, "insertSpaces": True}
    after = editor.applied(editor.ask("formatting", options=options))
    assert json.loads(after) == json.loads(TEXT) and '\n    "site": {"name"' in after
    editor.change(after)
    assert editor.ask("formatting", options=options) == []
    editor.change(TEXT)
    tabs = editor.applied(editor.ask("formatting", options={"tabSize": 4, "insertSpaces": False}))
    assert '\n\t"site"' in tabs
    line = editor.at('"si', "te")
    part = editor.ask("rangeFormatting", options=options, range={"start": line, "end": line})
    assert [each["newText"] for each in part] == ["\n    "]
    editor.change('{"a": 1,\r\n"b": [}')
    assert editor.ask("formatting", options=options) == []


def test_links_lead_to_schema_and_site(editor: Editor) -> None:
    found = editor.ask("documentLink")
    assert [each["target"] for each in found] == [
        "https://unpkg.com/aura-protocol@1.0.5/dist/aura-v1.0.schema.json",
        "https://notes.example",
    ]
    assert editor.under(found[1]["range"]) == "https://notes.example"


def test_lenses_run_commands_that_show_something(editing: Callable[..., Editor]) -> None:
    editor = editing(window={"showDocument": {"support": True}})
    used, tried = [each["command"] for each in editor.ask("codeLens")]
    assert (used["title"], tried["title"]) == ("used by 1 resource", "try")

    def run(command: dict[str, Any]) -> Any:
        params = {"command": command["command"], "arguments": command["arguments"]}
        return editor.wire.result("workspace/executeCommand", params)

    (place,) = run(used)
    assert editor.under(place["range"]) == "read"
    example = run(tried)
    assert example == {"text": "GET https://notes.example/n/id", "command": "curl https://notes.example/n/id"}
    shown = editor.wire.notification("window/showMessage")
    assert shown["type"] == 3 and example["text"] in shown["message"] and example["command"] in shown["message"]
    asked = [each for each in editor.wire.asked if each["method"] == "window/showDocument"]
    assert asked and asked[0]["params"]["selection"] == place["range"]
    assert asked[0]["params"]["takeFocus"], "who asked where it is used goes there"


@pytest.mark.parametrize(
    "arguments", [[], [{}], [{"uri": "file:///x/y.py", "capability": "read"}], [{"uri": 5, "capability": "read"}]]
)
def test_commands_refuse_what_they_cannot_do(editor: Editor, arguments: list[Any]) -> None:
    params = {"command": "aurora.manifest.example", "arguments": arguments}
    assert editor.wire.ask("workspace/executeCommand", params)["error"]["code"] == -32602


def test_hints_show_the_expanded_address(editor: Editor) -> None:
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    (hint,) = editor.ask("inlayHint", range=everything)
    assert hint["label"] == "→ https://notes.example/n/id"
    assert hint["position"] == editor.at('"urlTemplate": "/n/{id}"')
    assert editor.ask("inlayHint", range={"start": everything["start"], "end": everything["start"]}) == []


def test_other_documents_get_none_of_it(editor: Editor, tmp_path: Path) -> None:
    other = Editor(editor.wire, (tmp_path / "package.json").as_uri())
    other.open('{"name": "x"}')
    place = {"line": 0, "character": 4}
    options = {"tabSize": 2, "insertSpaces": True}
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    for method, params in {
        "completion": {"position": place},
        "definition": {"position": place},
        "references": {"position": place, "context": {"includeDeclaration": True}},
        "documentHighlight": {"position": place},
        "prepareRename": {"position": place},
        "rename": {"position": place, "newName": "y"},
        "codeAction": {"range": everything, "context": {"diagnostics": []}},
        "foldingRange": {},
        "selectionRange": {"positions": [place]},
        "formatting": {"options": options},
        "rangeFormatting": {"options": options, "range": everything},
        "documentLink": {},
        "inlayHint": {"range": everything},
    }.items():
        assert other.ask(method, **params) is None, method


def test_files_that_are_not_open_are_read_from_disk(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "on_disk").mkdir()
    path = tmp_path / "on_disk" / "aura.json"
    path.write_text(TEXT, encoding="utf-8")
    closed = Editor(editor.wire, path.as_uri())
    closed.text = TEXT
    assert len(closed.ask("definition", position=closed.at('{"GET": {"capabilityId": "re', "ad"))) == 1


@pytest.mark.long
def test_a_manifest_of_a_thousand_capabilities_is_served_while_it_is_typed_in(editing: Callable[..., Editor]) -> None:
    text = json.dumps(manifest(1000), indent=2, ensure_ascii=False)
    editor = editing(text)
    assert len(text) > 1 << 20
    for version in range(3):
        editor.change(text.replace('"capabilityId": "note_500"', f'"capabilityId": "{version}"'))
        found = editor.ask("completion", position=editor.at(f'"capabilityId": "{version}', '"'))
        assert len(found["items"]) == 1000
    wanted = editor.at('"capabilityId": "note_7', '77"')
    assert "note\\_777" in editor.ask("hover", position=wanted)["contents"]["value"]
    assert len(editor.ask("codeLens")) == 2000
