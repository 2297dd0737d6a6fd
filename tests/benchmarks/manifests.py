"""`make bench-manifest`: latency of checking a manifest, alone and in the daemon, against `json.loads` and against VS
Code's own JSON server where that is installed.
"""

from __future__ import annotations

import json
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

from aurora_manifest.check import Checker
from tests.benchmarks import json_server, measures
from tests.manifests import check, manifest

ROUNDS = 15
PAIRS = 40
WARM_UP = 5
"""Pairs that are not counted: both servers compile what they run often."""


def main() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="aurora-bench-") as folder,
        measures.daemon(Path(folder, "home")) as address,
    ):
        for capabilities, target in ((20, 10), (1000, 250)):
            text = json.dumps(manifest(capabilities), indent=2, ensure_ascii=False)
            floor = _least(lambda text=text: json.loads(text))
            print(f"{capabilities} capabilities, {len(text) / 1e6:.2f} MB; json.loads: {floor * 1e3:.2f} ms")
            whole = _least(lambda text=text: check(text))
            print(f"  full check: {whole * 1e3:.1f} ms = {whole / floor:.0f} x json.loads (target <= {target} ms)")
            print(f"  after an edit: {_after_edits(text, capabilities)} (target p95 <= 100 ms)")
            with measures.session(address, Path(folder)) as client:
                uri = Path(folder, ".well-known", "aura.json").as_uri()
                _first(client, uri, text)
                ours = _edited(client, uri, text, capabilities)
                print(f"  daemon, diagnostics after an edit: {ours['edit']} (target <= 100 ms)")
                print(f"  daemon, completion: {ours['completion']}; hover: {ours['hover']} (target <= 50 ms)")
                if capabilities == 1000:
                    _beside(json_server.found(), client, uri, text, capabilities)


def _least(work: Any) -> float:
    return min(measures.timed(work) for _ in range(ROUNDS))


def _after_edits(text: str, capabilities: int) -> measures.Sample:
    """One character typed into a description, in capabilities all over the file."""
    checker = Checker()
    checker.check(checker.read(text))
    times = []
    for number in range(ROUNDS):
        text = _typed(text, number * capabilities // ROUNDS)
        times.append(measures.timed(lambda text=text: checker.check(checker.read(text))))
    return measures.Sample(times)


def _typed(text: str, capability: int) -> str:
    at = text.index('"Does something', text.index(f'"note_{capability}": {{')) + 1
    return f"{text[:at]}x{text[at:]}"


class _Server(Protocol):
    """What an editor talks to."""

    def notify(self, method: str, params: Any) -> None: ...
    def request(self, method: str, params: Any, timeout: float) -> Any: ...


def _first(client: _Server, uri: str, text: str) -> None:
    """The first diagnostics of a file that was just opened."""
    begun = time.perf_counter()
    _open(client, uri, text)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    print(f"  daemon, first diagnostics: {(time.perf_counter() - begun) * 1e3:.1f} ms")


def _open(client: _Server, uri: str, text: str) -> None:
    opened = {"uri": uri, "languageId": "json", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": opened})
    client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}}, timeout=60)


class _Typing:
    """A manifest that is typed into, one character at a time, in capabilities all over the file; closed at the end.

    After each character it asks what an editor asks then: diagnostics, completion, hover.
    """

    def __init__(self, server: _Server, uri: str, text: str, capabilities: int) -> None:
        self._server = server
        self._uri = uri
        self._text = text
        self._capabilities = capabilities
        self._typed = 0
        self.times: dict[str, list[float]] = {"edit": [], "completion": [], "hover": []}
        _open(server, uri, text)

    def type(self) -> None:
        """Type one character, and wait for all the answers."""
        capability = self._typed * self._capabilities // ROUNDS % self._capabilities
        at = self._text.index('"Does something', self._text.index(f'"note_{capability}": {{')) + 1
        place = _place(self._text, at)
        self._text = f"{self._text[:at]}x{self._text[at:]}"
        self._typed += 1
        document = {"textDocument": {"uri": self._uri}}
        change = {"range": {"start": place, "end": place}, "text": "x"}
        versioned = {"uri": self._uri, "version": self._typed + 1}
        begun = time.perf_counter()
        self._server.notify("textDocument/didChange", {"textDocument": versioned, "contentChanges": [change]})
        self._server.request("textDocument/diagnostic", document, timeout=60)
        self.times["edit"].append(time.perf_counter() - begun)
        at = self._text.index('"encoding": "', at)
        for name, inside in (("hover", at + 3), ("completion", at + len('"encoding": "'))):
            asked = {**document, "position": _place(self._text, inside)}
            begun = time.perf_counter()
            self._server.request(f"textDocument/{name}", asked, timeout=60)
            self.times[name].append(time.perf_counter() - begun)

    def close(self) -> None:
        """Close the document in the editor."""
        self._server.notify("textDocument/didClose", {"textDocument": {"uri": self._uri}})


def _edited(client: _Server, uri: str, text: str, capabilities: int) -> dict[str, measures.Sample]:
    """What an editor waits for after a character was typed: diagnostics, completion, hover."""
    typing = _Typing(client, uri, text, capabilities)
    for _ in range(ROUNDS):
        typing.type()
    typing.close()
    return {name: measures.Sample(each) for name, each in typing.times.items()}


def _place(text: str, at: int) -> dict[str, int]:
    return {"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1}


def _beside(program: str | None, client: _Server, uri: str, text: str, capabilities: int) -> None:
    """The same questions put to VS Code's own JSON server: pairs in turn, so that noise hits both, and their ratios."""
    if program is None:
        print(f"  {json_server.PROGRAM} is not installed: nothing to compare with")
        return
    schema = Path(str(resources.files("aurora_schemas"))) / "manifest-1.0.schema.json"
    with json_server.JsonServer(program, schema) as other:
        ours, theirs = (_Typing(each, uri, text, capabilities) for each in (client, other))
        for number in range(WARM_UP + PAIRS):
            for each in (ours, theirs) if number % 2 else (theirs, ours):
                each.type()
        ours.close()
    print(f"  beside {json_server.PROGRAM}, {PAIRS} pairs in turn:")
    for name, target in (("edit", 1 / 3), ("completion", None), ("hover", 2.0)):
        one, two = ours.times[name][WARM_UP:], theirs.times[name][WARM_UP:]
        ratios = sorted(mine / its for mine, its in zip(one, two, strict=True))
        low, middle, high = (ratios[int(share * len(ratios))] for share in (0.1, 0.5, 0.9))
        print(
            f"    {name}: {middle:.2f} x (p10 {low:.2f}, p90 {high:.2f})"
            + (f"; target <= {target:.2g}" if target else "")
        )
        print(f"      ours {measures.Sample(one)}; its {measures.Sample(two)}")


if __name__ == "__main__":
    main()
