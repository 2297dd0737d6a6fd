"""`make bench-manifest`: what checking a manifest costs, alone and in the daemon, against `json.loads` and
against VS Code's own JSON server where that is installed.
"""

from __future__ import annotations

import json
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

from aurora_manifest.check import Checker, check
from tests.benchmarks import json_server, measures
from tests.manifests import manifest

ROUNDS = 15


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


def _edited(client: _Server, uri: str, text: str, capabilities: int) -> dict[str, measures.Sample]:
    """What an editor waits for after a character was typed: diagnostics, completion, hover."""
    document = {"textDocument": {"uri": uri}}
    times: dict[str, list[float]] = {"edit": [], "completion": [], "hover": []}
    _open(client, uri, text)
    for number in range(ROUNDS):
        capability = number * capabilities // ROUNDS
        at = text.index('"Does something', text.index(f'"note_{capability}": {{')) + 1
        place = _place(text, at)
        text = f"{text[:at]}x{text[at:]}"
        change = {"range": {"start": place, "end": place}, "text": "x"}
        versioned = {"uri": uri, "version": number + 2}
        begun = time.perf_counter()
        client.notify("textDocument/didChange", {"textDocument": versioned, "contentChanges": [change]})
        client.request("textDocument/diagnostic", document, timeout=60)
        times["edit"].append(time.perf_counter() - begun)
        at = text.index('"encoding": "', at)
        for name, inside in (("hover", at + 3), ("completion", at + len('"encoding": "'))):
            asked = {**document, "position": _place(text, inside)}
            method = f"textDocument/{name}"
            times[name].append(
                measures.timed(lambda method=method, asked=asked: client.request(method, asked, timeout=60))
            )
    client.notify("textDocument/didClose", document)
    return {name: measures.Sample(each) for name, each in times.items()}


def _place(text: str, at: int) -> dict[str, int]:
    return {"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1}


def _beside(program: str | None, client: _Server, uri: str, text: str, capabilities: int) -> None:
    """The same questions put to VS Code's own JSON server, in turns, as ratios."""
    if program is None:
        print(f"  {json_server.PROGRAM} is not installed: nothing to compare with")
        return
    schema = Path(str(resources.files("aurora_schemas"))) / "manifest-1.0.schema.json"
    with json_server.JsonServer(program, schema) as other:
        theirs = _edited(other, uri, text, capabilities)
        ours = _edited(client, uri, text, capabilities)
    for name, target in (("edit", 1 / 3), ("hover", 2.0)):
        ratio = ours[name].at(0.5) / theirs[name].at(0.5)
        print(f"  {name}, beside {json_server.PROGRAM} ({theirs[name]}): {ratio:.2f} x (target <= {target:.2g})")


if __name__ == "__main__":
    main()
