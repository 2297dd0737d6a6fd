"""`make bench-manifest`: what checking a manifest costs, alone and in the daemon, against `json.loads`."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from aurora_manifest.check import Checker, check
from aurora_protocol.client import Client
from tests.benchmarks import measures
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
                _in_the_daemon(client, Path(folder, ".well-known", "aura.json").as_uri(), text, capabilities)


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


def _in_the_daemon(client: Client, uri: str, text: str, capabilities: int) -> None:
    """What an editor waits for: diagnostics first and after an edit, completion, hover."""
    document = {"textDocument": {"uri": uri}}
    opened = {"uri": uri, "languageId": "json", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": opened})
    begun = time.perf_counter()
    client.request("textDocument/diagnostic", document, timeout=60)
    print(f"  daemon, first diagnostics: {(time.perf_counter() - begun) * 1e3:.1f} ms")
    edits, completions, hovers = [], [], []
    for number in range(ROUNDS):
        capability = number * capabilities // ROUNDS
        at = text.index('"Does something', text.index(f'"note_{capability}": {{')) + 1
        place = {"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1}
        text = f"{text[:at]}x{text[at:]}"
        change = {"range": {"start": place, "end": place}, "text": "x"}
        versioned = {"uri": uri, "version": number + 2}
        begun = time.perf_counter()
        client.notify("textDocument/didChange", {"textDocument": versioned, "contentChanges": [change]})
        client.request("textDocument/diagnostic", document, timeout=60)
        edits.append(time.perf_counter() - begun)
        at = text.index('"encoding": "', at) + len('"encoding": "')
        inside = {"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1}
        for method, times in (("textDocument/completion", completions), ("textDocument/hover", hovers)):
            times.append(
                measures.timed(
                    lambda method=method, inside=inside: client.request(method, {**document, "position": inside})
                )
            )
    print(f"  daemon, diagnostics after an edit: {measures.Sample(edits)} (target <= 100 ms)")
    print(f"  daemon, completion: {measures.Sample(completions)}; hover: {measures.Sample(hovers)} (target <= 50 ms)")
    client.notify("textDocument/didClose", document)


if __name__ == "__main__":
    main()
