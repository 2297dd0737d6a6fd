"""The whole product as a user has it: a home of its own, commands as processes, and nothing left running behind it."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil

from aurora_protocol import DaemonUnreachable, RequestFailed
from aurora_protocol.address import Address, read_info
from aurora_protocol.client import Client
from aurora_protocol.launch import daemon_environment, ensure_daemon, listening
from tests import programs
from tests.programs import COMMAND
from tests.wait_limits import HANG

Value = TypeVar("Value")


def eventually(probe: Callable[[], Value], what: str, seconds: float = HANG) -> Value:
    """Call `probe` until it returns something true, and return that; fail when it does not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not (value := probe()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}; last seen: {value!r}"
        time.sleep(0.03)
    return value


class Product:
    """Everything under one AURORA_HOME. `close` it: it fails when a process of this home outlives the daemon."""

    def __init__(self, home: Path, **variables: str) -> None:
        self.home = home
        self.address = Address.of(home)
        self.environment = {**os.environ, "AURORA_HOME": str(home), "NO_COLOR": "1", **variables}

    def aurora(self, *arguments: str | Path, cwd: Path, seconds: float = HANG) -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        command = [*COMMAND, *map(str, arguments)]
        return programs.run(
            command, cwd=cwd, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )

    def start(self, *arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
        """Begin one command."""
        return subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            cwd=cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def json(self, *arguments: str | Path, cwd: Path, exit_code: int = 0) -> Any:
        """Run one command with `--json` and return the document it prints."""
        done = self.aurora(*arguments, "--json", cwd=cwd)
        assert done.returncode == exit_code, f"exit {done.returncode}: {done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr, done.stderr
        return json.loads(done.stdout)

    def session(self, root: Path | None) -> Client:
        """A client session, as the commands have it, with the daemon started if need be."""
        if not listening(self.address):
            self.aurora("daemon", "start", cwd=Path("/"))  # forked, as what commands start is
        deadline = time.monotonic() + HANG
        while True:
            client = ensure_daemon(self.address, environ=self.environment, timeout=HANG)
            try:
                client.initialize(root, "aurora-cli", None)
            except DaemonUnreachable:  # it was just going
                client.close()
                if time.monotonic() > deadline:
                    raise
            else:
                return client

    def pid(self) -> int | None:
        """The process id of the daemon that runs, if one does."""
        info = read_info(self.address)
        if info is None:
            return None
        return info.pid if any(process.pid == info.pid for process in self.processes()) else None

    def processes(self) -> list[psutil.Process]:
        """Every living process of this home: workers have no AURORA_HOME in their environment, but work in it."""
        found = []
        for process in psutil.process_iter():
            try:
                ours = process.environ().get("AURORA_HOME") == str(self.home) or process.cwd() == str(self.home)
                if ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied, FileNotFoundError):
                continue
        return [process for process in found if process.pid != os.getpid()]

    def kill(self) -> None:
        """Kill every process of this home (SIGKILL), and wait until all are gone."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):  # a worker may just have ended by itself
                process.kill()
        eventually(lambda: not self.processes(), "all are gone")

    def daemons(self) -> list[psutil.Process]:
        """Those of them that are daemons."""
        found = {each.pid: each for each in self.processes() if _says(each, "daemon", "run")}
        # A program that a daemon starts says what the daemon does, until it has become another.
        return [each for each in found.values() if _parent(each) not in found]

    def workers(self) -> list[psutil.Process]:
        """Those of them that parse for a daemon."""
        return [process for process in self.processes() if _says(process, "aurora_indexer.workers.worker")]

    def databases(self) -> list[Path]:
        """The memory files."""
        return sorted((self.home / "memory").glob("*.db"))

    def check_databases(self) -> None:
        """Fail when SQLite finds fault with a memory file."""
        for path in self.databases():
            with closing(sqlite3.connect(path, timeout=HANG)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], path
                assert connection.execute("PRAGMA foreign_key_check").fetchall() == [], path

    def close(self) -> None:
        """Stop the daemon; fail when anything of this home goes on."""
        self.aurora("daemon", "stop", cwd=Path("/"))
        try:
            eventually(lambda: not self.processes(), f"all processes of {self.home} end")
        finally:
            for process in self.processes():
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()


@contextlib.contextmanager
def product_in(home: Path, **variables: str) -> Iterator[Product]:
    """A product with its home at `home`, closed afterwards."""
    product = Product(home, **variables)
    try:
        yield product
    finally:
        product.close()


def recall(client: Client, query: str, **params: Any) -> list[dict[str, Any]]:
    """The results of `aurora/recall`, as the wire has them."""
    results = client.request("aurora/recall", {"query": query, **params}, timeout=HANG)["results"]
    assert isinstance(results, list)
    return results


def names(client: Client, query: str) -> set[tuple[str, str]]:
    """`(file, qualified name)` of what a recall finds."""
    return {(one["file"], one["name"]) for one in recall(client, query, limit=50)}


def knows(client: Client, file: str, name: str) -> bool:
    """Whether memory holds the definition `name` of `file`."""
    try:
        client.request("aurora/explain", {"id": f"code:{file}:{name}"}, timeout=HANG)
    except RequestFailed:
        return False
    return True


def daemon_process(product: Product, **variables: str) -> subprocess.Popen[bytes]:
    """A daemon as our own child, for tests that do things to it. Returns at once."""
    product.address.prepare()
    environment = {**daemon_environment(product.environment, product.home), **variables}
    log = product.address.log.open("ab")
    with log:
        return subprocess.Popen(
            [*COMMAND, "daemon", "run", "--detached"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _parent(process: psutil.Process) -> int:
    try:
        return process.ppid()
    except psutil.NoSuchProcess:
        return 0


def _says(process: psutil.Process, *words: str) -> bool:
    try:
        line = " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return False
    return all(word in line for word in words)
