"""`make bench`: performance benchmark, what AURORA costs (latency, memory, CPU), as ratios against something measured
in the same run."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from aurora_protocol.address import Address, read_info
from aurora_protocol.client import Client
from aurora_protocol.launch import ensure_daemon
from tests.benchmarks import measures
from tests.benchmarks.corpus import SDIST, corpus, python_files


def main() -> None:
    root = corpus()
    files = python_files(root)
    size = sum(file.stat().st_size for file in files)
    print(f"corpus {SDIST}: {len(files)} Python files, {size / 1e6:.1f} MB; {os.cpu_count()} cores")
    parses = [measures.plain_parse(files) for _ in range(3)]
    parse = min(parses)
    print(f"plain tree-sitter parse, one process: {parse:.2f} s (machine noise {measures.noise(parses)})")
    with tempfile.TemporaryDirectory(prefix="aurora-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder, "home")
        with measures.daemon(home) as address:
            _cold_and_recall(address, root, files, parse, Path(folder))
            parse_again = measures.plain_parse(files)
            print(f"plain parse once more: {parse_again:.2f} s")
        _second_start(home, root)


def _cold_and_recall(address: Address, root: Path, files: list[Path], parse: float, folder: Path) -> None:
    with measures.session(address, root) as client:
        seconds, summary = measures.index(client)
        print(f"cold index: {seconds:.2f} s = {seconds / parse:.2f} x plain parse (target <= 3)")
        left_out = {skip["path"] for skip in client.request("aurora/doctor")["examples"]}
        expected = measures.definitions([file for file in files if file.relative_to(root).as_posix() not in left_out])
        off = 100 * (summary["definitions"] - expected) / expected
        print(
            f"definitions: {summary['definitions']} against {expected} by Python's ast ({off:+.2f} %, target ±2 %); "
            f"chunks {summary['chunks']}; files left out {summary['skipped_files']}, failed {summary['failed_files']}"
        )
        asked = measures.questions(files, 200)
        measures.recall(client, asked[:20])
        inside, outside = measures.recall(client, asked)
        print(f"recall in the daemon: {inside} (target p50 <= 8 ms, p95 <= 25 ms); seen by the client: {outside}")
        print(f"save -> recallable: {measures.save_to_recall(client, root, 40)} (target p95 <= 300 ms)")
        ours, floor = measures.command_line(root, 15)
        print(f"aur mem: {ours} = {ours.at(0.5) / floor.at(0.5):.2f} x python3 -c 'import …' ({floor}; target <= 4)")
        other = measures.copy_of(root, folder / "second")
        with measures.session(address, other) as busy:
            under_load, _ = measures.recall(client, asked)
            status = client.request("aurora/status")
            states = {workspace["root"]: workspace["state"] for workspace in status["workspaces"]}
            print(f"recall during a cold index: {under_load} (target p95 <= 100 ms; afterwards {states[str(other)]})")
            measures.index(busy)
    info = read_info(address)
    assert info is not None
    time.sleep(35)  # idle workers end after 30 s
    rss, share = measures.resting(info.pid, 10)
    print(f"idle daemon: RSS {rss / 1e6:.0f} MB (target <= 200), CPU {share:.2f} % (target < 1)")


def _second_start(home: Path, root: Path) -> None:
    address = Address.of(home)
    begun = time.perf_counter()
    with ensure_daemon(address, timeout=30) as client:
        client.initialize(root, "bench", None)
        summary = client.request("aurora/index", {}, timeout=60)
        seconds = time.perf_counter() - begun
        parsed = summary["parsed_files"]
        print(f"second start, nothing changed: {seconds:.2f} s to ready, {parsed} files parsed (target <= 1 s and 0)")
    with Client.connect(address) as client:
        client.initialize(None, "bench", None)
        client.request("aurora/stop")


if __name__ == "__main__":
    main()
