"""Installed as users do, by uv and by pipx: a first run, an upgrade under a running daemon, what is left after it."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from aurora_protocol.client import Client
from aurora_protocol.frames import Decoder, encode
from tests.e2e.product import Product, eventually
from tests.e2e.repositories import large
from tests.wait_limits import HANG, INSTALL_HANG

CHECKOUT = Path(__file__).resolve().parents[2]
NEWER = "9.9.9"
ROOMS = ("server", "orchestration", "indexer", "memory", "protocol", "schemas", "docs")
LEARNED = {
    "query": "how are carrier pigeons fed",
    "result": "handler_7_5 feeds them twice a day",
    "score": 0.95,
    "used": ["code:pack_0/module_7.py:handler_7_5"],
}

pytestmark = pytest.mark.timeout(2 * INSTALL_HANG)


def program(name: str) -> str:
    """A tool beside our interpreter, or on the PATH."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture(scope="module")
def uv() -> str:
    """As wide as the wheels, and named before them: without it they are not built."""
    return program("uv")


@pytest.fixture(scope="module")
def pipx() -> str:
    return program("pipx")


def run(*command: str | Path, cwd: Path, environment: dict[str, str], code: int = 0) -> str:
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=INSTALL_HANG,
        check=False,
    )
    assert done.returncode == code, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def environment_in(folder: Path) -> dict[str, str]:
    """An environment of a user without anything, whose packages come from where ours do."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AURORA", "VIRTUAL"))}
    home = folder / "user"
    home.mkdir(parents=True)
    index = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, timeout=HANG
    ).stdout.strip()
    plain |= {"UV_DEFAULT_INDEX": index} if index else {}
    return plain | {
        "HOME": str(home),
        "AURORA_HOME": str(folder / "aurora"),
        "UV_TOOL_DIR": str(folder / "tools"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"),
        "UV_CACHE_DIR": str(folder.parent / "uv-cache"),
        "UV_PYTHON": sys.executable,
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_MAN_DIR": str(folder / "man"),
        "PIPX_DEFAULT_PYTHON": sys.executable,
    }


def built(source: Path, into: Path) -> Path:
    """The wheel of a checkout."""
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        into,
        source,
        cwd=into,
        environment={**os.environ},
    )
    (wheel,) = into.glob("aurora_context-*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(CHECKOUT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, of a later version."""
    copy = tmp_path_factory.mktemp("newer")
    for room in ROOMS:
        shutil.copytree(CHECKOUT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(CHECKOUT / file, copy)
    version = copy / "protocol" / "aurora_protocol" / "version.py"
    text, changed = re.subn(r'__version__ = "[^"]+"', f'__version__ = "{NEWER}"', version.read_text())
    assert changed == 1
    version.write_text(text)
    return built(copy, tmp_path_factory.mktemp("newer-wheel"))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder for one user's everything; fails when a process of theirs is left."""
    yield tmp_path / "place"
    home = str(tmp_path / "place" / "aurora")
    left = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("AURORA_HOME") == home or process.cwd() == home:
                left.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, FileNotFoundError):
            continue
    for process in left:
        process.kill()
    assert not left


def on_terminal(command: list[str | Path], cwd: Path, environment: dict[str, str]) -> str:
    """What a command shows on a terminal of its own."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        list(map(str, command)),
        cwd=cwd,
        env={**environment, "TERM": "xterm-256color", "COLUMNS": "120"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    while select.select([ours], [], [], HANG)[0]:
        try:
            piece = os.read(ours, 10_000)
        except OSError:  # the other end is closed
            break
        said += piece
    os.close(ours)
    assert running.wait(HANG) == 0, said
    return said.decode()


def test_uv_first_run_upgrade_under_a_running_daemon_and_uninstall(
    uv: str, wheel: Path, newer: Path, place: Path
) -> None:
    environment = environment_in(place)
    root = large(place / "work", 60)
    run(uv, "tool", "install", wheel, cwd=place, environment=environment)
    aurora, aur = place / "bin" / "aurora", place / "bin" / "aur"

    first = on_terminal([aur, "mem", "handler_7_5"], root, environment)
    assert first.index("Indexing work") < first.index("100 %") < first.index("pack_0/module_7.py")
    assert "60 files" in first and "index up to date" in first
    second = on_terminal([aur, "mem", "handler_7_5"], root, environment)
    assert "Indexing" not in second and "pack_0/module_7.py" in second

    product = Product(place / "aurora")
    with Client.connect(product.address) as client:
        client.initialize(root, "test", None)
        reasoning = client.request("aurora/learn", LEARNED)["reasoning_id"]
        assert reasoning
        client.request("aurora/deliverable", {"action": "start", "change_id": "add-search"})
    before = json.loads(run(aurora, "daemon", "status", "--json", cwd=root, environment=environment))
    learned = exported(aurora, root, place / "before.jsonl", environment)

    run(uv, "tool", "install", "--force", newer, cwd=place, environment=environment)
    found = json.loads(run(aur, "mem", LEARNED["query"], "--json", cwd=root, environment=environment))
    assert reasoning in [each["id"] for each in found["results"]]
    after = json.loads(run(aurora, "daemon", "status", "--json", cwd=root, environment=environment))
    assert (before["version"], after["version"]) == (product.address.version, NEWER)
    assert after["pid"] != before["pid"] and not psutil.pid_exists(before["pid"])
    assert len(product.daemons()) == 1
    assert exported(aurora, root, place / "after.jsonl", environment) == learned
    listed = json.loads(run(aurora, "deliverable", "list", "--json", cwd=root, environment=environment))
    assert [each["change_id"] for each in listed["deliverables"]] == ["add-search"]
    again = run(aur, "mem", "handler_7_5", cwd=root, environment=environment)
    assert "pack_0/module_7.py" in again and "still being indexed" not in again

    run(aurora, "uninstall", "--yes", cwd=root, environment=environment)
    eventually(lambda: not product.processes(), "everything ends")
    assert not (place / "aurora").exists()
    run(uv, "tool", "uninstall", "aurora-context", cwd=place, environment=environment)
    assert left(place, root) == set()


class Editor:
    """An editor's `aurora lsp`."""

    def __init__(self, aurora: Path, root: Path, environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [aurora, "lsp"], cwd=root, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
        )
        self._decoder = Decoder()
        self._arrived: list[dict[str, Any]] = []
        self._asked = 0

    def say(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: object) -> Any:
        """Send a request and return its result, whatever else arrives before."""
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            for message in self._arrived:
                if message.get("id") == self._asked and "method" not in message:
                    return message["result"]
            assert select.select([self.process.stdout], [], [], HANG)[0], f"no answer to {method}"
            data = os.read(self.process.stdout.fileno(), 65536)
            assert data, "the bridge closed its output"
            self._arrived = [json.loads(body) for body in self._decoder.feed(data)]

    def begin(self, root: Path) -> str:
        """Open the workspace; returns the server's version."""
        folder = {"uri": root.as_uri(), "name": root.name}
        told = self.ask(
            "initialize",
            {"processId": os.getpid(), "rootUri": root.as_uri(), "capabilities": {}, "workspaceFolders": [folder]},
        )
        self.say("initialized", {})
        return str(told["serverInfo"]["version"])

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(encode(json.dumps({"jsonrpc": "2.0", **message}).encode()))
        self.process.stdin.flush()


def test_an_editor_that_is_open_during_an_upgrade_is_told_and_starts_the_new_one(
    uv: str, wheel: Path, newer: Path, place: Path
) -> None:
    environment = environment_in(place)
    root = large(place / "work", 20)
    run(uv, "tool", "install", wheel, cwd=place, environment=environment)
    aurora, aur = place / "bin" / "aurora", place / "bin" / "aur"
    product = Product(place / "aurora")

    editor = Editor(aurora, root, environment)
    try:
        assert editor.begin(root) == product.address.version
        editor.ask("aurora/index", {})
        uri = (root / "pack_0" / "module_7.py").as_uri()
        opened = {"uri": uri, "languageId": "python", "version": 1, "text": "def unsaved_idea():\n    return 1\n"}
        editor.say("textDocument/didOpen", {"textDocument": opened})
        reasoning = editor.ask("aurora/learn", LEARNED)["reasoning_id"]
        assert reasoning

        run(uv, "tool", "install", "--force", newer, cwd=place, environment=environment)
        assert editor.ask("aurora/status", {})["version"] == product.address.version  # served as before
        found = json.loads(run(aur, "mem", LEARNED["query"], "--json", cwd=root, environment=environment))
        assert reasoning in [each["id"] for each in found["results"]]

        assert editor.process.wait(HANG) == 3  # its input still open
        assert editor.process.stderr is not None
        told = editor.process.stderr.read().decode()
        assert told.count("\n") == 1 and "the daemon ended this session" in told, told

        again = Editor(aurora, root, environment)  # what editors do then
        try:
            assert again.begin(root) == NEWER
            again.say("textDocument/didOpen", {"textDocument": opened})
            symbols = again.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
            assert [each["name"] for each in symbols] == ["unsaved_idea"]
            results = again.ask("aurora/recall", {"query": LEARNED["query"]})["results"]
            assert reasoning in [each["id"] for each in results]
            again.ask("shutdown", None)
            again.say("exit", None)
            assert again.process.wait(HANG) == 0
        finally:
            again.process.kill()
            again.process.communicate()
    finally:
        editor.process.kill()
        editor.process.communicate()
    assert len(product.daemons()) == 1
    run(aurora, "uninstall", "--yes", cwd=root, environment=environment)
    eventually(lambda: not product.processes(), "everything ends")


def exported(aurora: Path, root: Path, file: Path, environment: dict[str, str]) -> list[str]:
    """What was learned, line by line, without the head that says when and by which version it was written."""
    run(aurora, "memory", "export", file, cwd=root, environment=environment)
    lines = sorted(file.read_text().splitlines()[1:])
    file.unlink()
    assert lines
    return lines


def left(place: Path, root: Path) -> set[str]:
    """Names of files of ours in a user's folders, outside of the workspace."""
    files = [path for path in place.rglob("*") if not path.is_dir() and not path.is_relative_to(root)]
    return {
        str(path.relative_to(place)) for path in files if re.search("aur(ora)?", path.relative_to(place).as_posix())
    }


def test_pipx_brings_programs_and_manual_and_takes_them_away(pipx: str, wheel: Path, place: Path) -> None:
    environment = environment_in(place)
    run(pipx, "install", wheel, cwd=place, environment=environment)
    for name in ("aurora", "aur"):
        assert run(place / "bin" / name, "--version", cwd=place, environment=environment).startswith("aurora ")
        assert (place / "man" / "man1" / f"{name}.1").exists()
    assert "daemon" in run(place / "bin" / "aurora", "--help", cwd=place, environment=environment)
    root = large(place / "work", 3)
    assert run(place / "bin" / "aur", "mem", "handler", cwd=root, environment=environment)
    run(place / "bin" / "aurora", "uninstall", "--yes", cwd=root, environment=environment)
    run(pipx, "uninstall", "aurora-context", cwd=place, environment=environment)
    own = {"pipx/venvs/.aurora-context.lock"}  # pipx's, of every package it ever had
    assert {each for each in left(place, root) - own if not each.startswith("pipx/logs/")} == set()
    assert not any((place / "bin").iterdir())
