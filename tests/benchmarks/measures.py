"""Measurements (latency percentiles, RSS, CPU share), one function per figure. Each drives a real daemon and returns
seconds, bytes or counts; nothing is asserted here."""

from __future__ import annotations

import ast
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import psutil
from tree_sitter_language_pack import get_parser

from aurora_protocol.address import Address
from aurora_protocol.client import Client
from aurora_protocol.launch import ensure_daemon


@dataclass
class Sample:
    """Several timings of one thing, in seconds."""

    times: list[float]

    def at(self, share: float) -> float:
        """Percentile: the timing below which that share of them lies."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def __str__(self) -> str:
        return f"p50 {self.at(0.5) * 1e3:.1f} ms, p95 {self.at(0.95) * 1e3:.1f} ms, n={len(self.times)}"


def timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def plain_parse(files: list[Path]) -> float:
    """The floor: read and tree-sitter-parse every file, one process, nothing else."""
    parser = get_parser("python")
    return timed(lambda: [parser.parse(file.read_bytes()) for file in files])


@contextmanager
def daemon(home: Path) -> Iterator[Address]:
    """A daemon of its own, stopped at the end."""
    address = Address.of(home)
    os.environ["AURORA_HOME"] = str(home)
    # Installed packages have their byte code. With this set, a checkout would be compiled anew at each start instead.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    client = ensure_daemon(address, timeout=30)
    client.close()
    try:
        yield address
    finally:
        with Client.connect(address) as client:
            client.initialize(None, "bench", None)
            client.request("aurora/stop")
        while address.socket.exists():
            time.sleep(0.02)


@contextmanager
def session(address: Address, root: Path) -> Iterator[Client]:
    """An initialized session on a workspace."""
    with Client.connect(address, 30) as client:
        client.initialize(root, "bench", None)
        yield client


def index(client: Client) -> tuple[float, dict[str, Any]]:
    """Wall time and summary of one `aurora/index`."""
    begun = time.perf_counter()
    summary = client.request("aurora/index", {}, timeout=600)
    return time.perf_counter() - begun, summary


def settled(client: Client) -> None:
    """Wait until the daemon has nothing left to do in the background."""

    def busy() -> bool:
        workspaces = client.request("aurora/status")["workspaces"]
        return any(each["state"] != "ready" or each["learning_history"] for each in workspaces)

    while busy():
        time.sleep(0.1)


def definitions(files: list[Path]) -> int:
    """Functions and classes of the corpus, by Python's own parser."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return sum(isinstance(node, kinds) for file in files for node in ast.walk(ast.parse(file.read_bytes())))


def questions(files: list[Path], count: int) -> list[str]:
    """First lines of docstrings, drawn with a fixed seed."""
    chosen = random.Random(7).sample(files, min(len(files), 300))
    functions = [node for file in chosen for node in ast.walk(ast.parse(file.read_bytes())) if _is_function(node)]
    found = [text.splitlines()[0] for node in functions if len((text := ast.get_docstring(node) or "").split()) > 3]
    return random.Random(7).sample(found, min(count, len(found)))


def _is_function(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef)


def recall(client: Client, asked: list[str]) -> tuple[Sample, Sample]:
    """(inside the daemon, as the client sees it) per question."""
    inside, outside = [], []
    for question in asked:
        begun = time.perf_counter()
        answer = client.request("aurora/recall", {"query": question}, timeout=60)
        outside.append(time.perf_counter() - begun)
        inside.append(answer["took_ms"] / 1e3)
    return Sample(inside), Sample(outside)


def save_to_recall(client: Client, root: Path, rounds: int) -> Sample:
    """From the save of a new function until recall returns it; the watcher alone notices."""
    target = root / "sympy" / "core" / "bench_target.py"
    times = []
    try:
        for number in range(rounds):
            name = f"benchmark_marker_{number}_{random.Random(number).randrange(10**9)}"
            target.write_text(f'def {name}():\n    """A marker."""\n    return {number}\n')
            begun = time.perf_counter()
            while not any(
                hit["name"] == name for hit in client.request("aurora/recall", {"query": name, "limit": 3})["results"]
            ):
                if time.perf_counter() - begun > 10:
                    raise TimeoutError(f"{name} did not become recallable within 10 s")
                time.sleep(0.005)
            times.append(time.perf_counter() - begun)
            time.sleep(0.3)
    finally:
        target.unlink(missing_ok=True)
    return Sample(times)


def command_line(root: Path, rounds: int) -> tuple[Sample, Sample]:
    """(`aur mem`, `python3 -c "import json, socket, argparse"`), taken in turns so that noise hits both."""
    aur = Path(sys.executable).with_name("aur")
    ours, floor = [], []
    for _ in range(rounds):
        ours.append(timed(lambda: _run([str(aur), "--workspace", str(root), "mem", "solve an equation"])))
        floor.append(timed(lambda: _run([sys.executable, "-c", "import json, socket, argparse"])))
    return Sample(ours), Sample(floor)


def resting(pid: int, seconds: float) -> tuple[int, float]:
    """(RSS in bytes, CPU share in percent) of the idle daemon over some seconds."""
    process = psutil.Process(pid)
    before = process.cpu_times()
    time.sleep(seconds)
    after = process.cpu_times()
    spent = (after.user + after.system) - (before.user + before.system)
    return process.memory_info().rss, 100 * spent / seconds


def copy_of(root: Path, target: Path) -> Path:
    """A second workspace with the same files."""
    if not target.exists():
        shutil.copytree(root, target)
    return target


def noise(times: list[float]) -> str:
    """How far apart repeated timings of the same work were."""
    return f"±{100 * (max(times) - min(times)) / 2 / statistics.median(times):.0f} %"


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
