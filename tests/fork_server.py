"""Fork server: an interpreter that has imported AURORA, and becomes, forked, each program that a test starts.

`python -P tests/fork_server.py ROOM DESCRIPTOR [LISTENER]`: the inherited socket brings, for each program, one byte
with four open files: a socket of that program's own, its standard input, output and error. The program's own socket
brings a `Request`, whose arguments begin with `-c` where they are code, as Python's do; its answers are lines: the
process id, then, once it has ended, its exit status as `os.waitpid` tells it. So does each that is connected to the
inherited `LISTENER`. The server ends when the inherited socket does.

Where there is a listener, a forked program that starts a daemon, or workers that parse, has them forked, too. In
`/proc` (Linux) it says what it would say if it had started for itself: its arguments and its environment.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-P", "-m", "aurora_cli")
CODE = (sys.executable, "-c")
WORKER = (sys.executable, "-P", "-m", "aurora_indexer.workers.worker")
HEAVY = (
    "aurora_server.daemon.daemon",
    "aurora_server.daemon.connection",
    "aurora_server.workspace.composition",
    "aurora_server.workspace.record_exchange",
    "aurora_server.workspace.soar_steps",
    "aurora_server.workspace.workspace",
    "aurora_server.workspace.team_exchange",
    "aurora_server.configuration.layers",
    "aurora_server.configuration.other_members",
    "aurora_indexer.parse.chunk_parser",
    "aurora_indexer.workers.worker",
    "pygls.progress",
    "aurora_deliverables.detection.detector",
    "aurora_memory.recall",
    "aurora_indexer.watch.inotify",
    "aurora_protocol.secrets",
    "aurora_cli.import_path",
    "aurora_schemas.retired_settings",
    "aurora_server.configuration.schema_lookup",
    "aurora_server.workspace.deliverable_documents",
    "aurora_deliverables.documents",
    "aurora_deliverables.event_lines",
    "aurora_deliverables.metrics",
    "aurora_deliverables.selection",
    "numpy.ma",
    "psutil",
    "jsonschema",
    "tree_sitter_language_pack.bindings.python",
    "aurora_manifest.rules",
    "rich.console",
    "rich.table",
    "aurora_indexer.documents.markdown",
    "aurora_manifest.json.parser",
)
"""What most daemons and commands import sooner or later."""
OF_SOME: dict[str, tuple[str, ...]] = {
    "daemon": (),
    "mcp": ("aurora_server.mcp.server", "mcp.server.stdio", "anyio._backends._asyncio"),
    "--http": ("aurora_server.mcp.http_server", "uvicorn"),
    "manifest": (
        "aurora_cli.manifest_do",
        "aurora_cli.manifest_sites",
        "aurora_cli.manifest_validate",
        "aurora_cli.sarif",
        "aurora_manifest.client",
        "aurora_manifest.client.argument_validator",
        "aurora_manifest.client.expressions",
        "aurora_manifest.client.formats",
        "anyio._backends._asyncio",
        "httpx2",
        "httpcore2",
        "truststore",
        "jsonschema",
        "uritemplate",
    ),
    "team": ("aurora_team.outbox", "aurora_team.schema", "psycopg"),
    "serve": ("aurora_server.demo_site.site", "aurora_server.demo_site.people"),
    "dashboard": (
        "aurora_server.dashboard.server",
        "aurora_server.dashboard.picture_builder",
        "uvicorn.lifespan.off",
        "uvicorn.protocols.http.h11_impl",
    ),
    "LOOPBACK_API_KEY": (
        "aurora_server.workspace.query_documents",
        "aurora_orchestration.soar.orchestrator",
        "aurora_orchestration.soar.interrupted_runs",
        "aurora_orchestration.agents.executors.dispatch",
        "aurora_orchestration.llm.providers.anthropic",
        "aurora_orchestration.llm.providers.openai",
        "anthropic.resources.messages",
        "openai.resources.chat.chat",
        "openai.resources.chat.completions.completions",
        "openai.pagination",
        "tenacity",
        "yaml",
        "anyio._backends._asyncio",
        "httpcore2",
        "truststore",
    ),
}
"""What programs with this word, or this variable, import, before the first of them is forked.

The kits of the models' makers (a second of the processor's time) are for those that have the key of a model.
"""

AT_START = ("PYTHON", "LD_", "DYLD_", "MALLOC_", "LANG", "LC_", "OPENBLAS_", "OMP_")
"""Beginnings of variables that count when an interpreter starts."""
TAKEN = ("PYTHONWARNINGS", "PYTHONIOENCODING")
"""Those that a forked program takes up as an interpreter does that starts."""
ROOM = "ROOM_OF_FORKED_PROGRAMS"
"""A variable of the server, and with its first argument room for what forked programs say of themselves in `/proc`."""
ROOM_FOR_ARGUMENTS, ROOM_FOR_VARIABLES = 1_000, 16_000
"""Bytes of it. What a program has more of is cut there, and the program has it all the same."""


def load() -> None:
    """Import what the programs need, in the daemon's order."""
    importlib.import_module(HEAVY[0])
    importlib.import_module("aurora_server.session.lean_lsprotocol").load()
    for name in HEAVY:
        importlib.import_module(name)
    for module, _ in importlib.import_module("aurora_cli.app").COMMANDS.values():
        importlib.import_module(module)
    # What each process does once: LSP's classes, the code that reads and writes them, queries of a grammar.
    converter = importlib.import_module("aurora_server.session.converter")
    converter.warm_up()
    converter.warm_up_for_editing()
    importlib.import_module("aurora_indexer.parse.chunk_parser").parse_file("a.py", b"def a():\n    return 0\n")


def serve(owner: socket.socket, listener: socket.socket | None) -> bool:
    """Fork for each request until the owner is gone. True in a forked process, which is to run the program."""
    running: dict[int, socket.socket] = {}
    woken, wake = socket.socketpair()
    woken.setblocking(False)
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # only so that it is not ignored: the descriptor tells
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which end us
    given: dict[str, Any] = {}
    files: list[int] = []
    asking = {owner}
    with selectors.DefaultSelector() as selector:
        for each in (owner, woken, *([listener] if listener else [])):
            selector.register(each, selectors.EVENT_READ)
        while not given and owner in asking:
            ready = [key.fileobj for key, _ in selector.select()]
            if woken in ready:
                woken.recv(4096)
                _reap(running)
            if listener in ready:
                assert listener is not None
                joined, _ = listener.accept()
                asking.add(joined)
                selector.register(joined, selectors.EVENT_READ)
            for requests in asking.intersection(ready):
                said, files, _, _ = socket.recv_fds(requests, 1, 4)
                if not said:
                    selector.unregister(requests)
                    requests.close()
                    asking.discard(requests)
                elif given := _fork(running, files):
                    break
    signal.set_wakeup_fd(-1)
    for other in (*running.values(), *asking, woken, wake, *([listener] if listener else [])):
        other.close()
    if given:
        _become(given, files[1:])
    return bool(given)


def _fork(running: dict[int, socket.socket], files: list[int]) -> dict[str, Any]:
    """Fork for a request. In the forked process, the request; in the server, nothing, and `running` has it."""
    own = socket.socket(fileno=files[0])
    given: dict[str, Any] = json.loads(_line(own))
    if words := {*given["argv"], *given["environment"]} & OF_SOME.keys():
        for name in (name for word in words for name in OF_SOME.pop(word)):
            importlib.import_module(name)
        if "manifest" in words:
            importlib.import_module("aurora_manifest.client.transport").certificates(False)
        if "daemon" in words:
            with tempfile.TemporaryDirectory(prefix="aurora-warm-") as folder:
                asyncio.run(_serve_a_session(Path(folder)))
        if "LOOPBACK_API_KEY" in words:
            importlib.import_module("aurora_orchestration.llm.providers.http_client").certificates()
            asyncio.run(_ask_openai())
        gc.collect()
        gc.freeze()
    pid = os.fork()
    if pid == 0:
        own.close()
        return given
    running[pid] = own
    for file in files[1:]:
        os.close(file)
    _tell(own, pid)
    return {}


async def _serve_a_session(folder: Path) -> None:
    """Serve one session as a daemon does, of a workspace with a file of each kind: what a daemon reads, compiles and
    generates once and keeps (0.3 s), those forked from now on have.
    """
    from aurora_protocol.address import Address
    from aurora_protocol.frames import Decoder, encode
    from aurora_server.configuration.live_settings import SettingsSource
    from aurora_server.daemon.connection import ClientConnection
    from aurora_server.daemon.lifetime import close_core, core_of
    from aurora_server.workspace.composition import WorkspaceOpener

    root = folder / "work"
    for path, text in (
        ("cart.py", "def total(lines):\n    return sum(lines)\n"),
        ("README.md", "# Cart\n\nIt adds up.\n"),
        ("openspec/changes/add/proposal.md", "## Why\nCustomers ask.\n"),
        ("openspec/changes/add/tasks.md", "## 1. Add\n- [ ] 1.1 Sum\n"),
        ("openspec/changes/add/specs/cart/spec.md", "## ADDED Requirements\n\n### Requirement: Sum\nIt SHALL add.\n"),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    environment = {"PATH": os.defpath, "AURORA_HOME": str(folder / "home"), "AURORA_INDEXING_WORKERS": "1"}
    source, address = SettingsSource(environment), Address.of(folder / "home")
    address.prepare()
    core = core_of(source, WorkspaceOpener(source, environment), "here", address.log, lambda reason: None)
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    session = asyncio.create_task(ClientConnection(*await asyncio.open_connection(sock=theirs), core, 1).run())
    decoder = Decoder()

    def send(message: dict[str, Any]) -> None:
        writer.write(encode(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    async def ask(method: str, params: dict[str, Any]) -> None:
        send({"id": method, "method": method, "params": params})
        while not any(json.loads(each).get("id") == method for each in decoder.feed(await reader.read(65536))):
            pass

    folders = [{"uri": root.as_uri(), "name": root.name}]
    hook = {"session_id": "s", "transcript_path": "", "cwd": str(root), "hook_event_name": "UserPromptSubmit"}
    await ask("initialize", {"processId": None, "rootUri": None, "workspaceFolders": folders, "capabilities": {}})
    send({"method": "initialized", "params": {}})
    for method, params in (
        ("aurora/index", {}),
        ("aurora/recall", {"query": "total of lines", "includeContent": True}),
        ("aurora/status", {}),
        ("aurora/doctor", {}),
        ("aurora/deliverable", {"action": "ingest", "format": "claude-code-hook", "document": {**hook, "prompt": "x"}}),
    ):
        await ask(method, params)
    writer.close()
    await session
    await close_core(core)


async def _ask_openai() -> None:
    """Take one answer by OpenAI's library, over no network: what it finds out of its types then (0.2 s), it keeps."""
    import httpx2
    import openai

    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "delta": {"role": "assistant", "content": "{}"}, "finish_reason": "stop"}
    chunk = {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }
    said = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    answer = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=said)
    shape = {"name": "answer", "schema": {"type": "object"}, "strict": False}
    network = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda _: answer))
    async with openai.AsyncOpenAI(api_key="-", http_client=network, max_retries=0) as client:
        stream = await client.chat.completions.create(
            model="m",
            max_tokens=1,
            messages=[{"role": "system", "content": "-"}, {"role": "user", "content": "-"}],
            response_format={"type": "json_schema", "json_schema": shape},
            temperature=0.0,
            stream=True,
            stream_options={"include_usage": True},
        )
        async for _ in stream:
            pass


def _reap(running: dict[int, socket.socket]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        with running.pop(pid) as own:
            _tell(own, status)


def _tell(own: socket.socket, number: int) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # nobody waits for it any more
        own.sendall(f"{number}\n".encode())


def _line(own: socket.socket) -> bytes:
    with own.makefile("rb") as stream:
        return stream.readline()


def _become(given: dict[str, Any], files: list[int]) -> None:
    """Be a process just started: its folder, environment, arguments, standard streams, signals."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for target, file in enumerate(files):
        os.dup2(file, target)
    for file in files:
        if file > 2:
            os.close(file)
    if given["session"]:
        os.setsid()
    os.chdir(given["cwd"])
    os.environ.clear()
    os.environ.update(given["environment"])
    first, *arguments = given["argv"]
    _say_in_proc([*(CODE if first == CODE[1] else COMMAND), *arguments], given["environment"])
    time.tzset()
    sys.argv = given["argv"]
    take_up_warnings(given["environment"].get("PYTHONWARNINGS", ""))
    encoding, _, errors = given["environment"].get("PYTHONIOENCODING", "").partition(":")
    for stream in (sys.stdin, sys.stdout, sys.stderr):  # the same objects: what was imported may hold them
        assert isinstance(stream, io.TextIOWrapper)
        if encoding or errors:
            doubted = "backslashreplace" if stream is sys.stderr else errors or "strict"
            stream.reconfigure(encoding=encoding or None, errors=doubted)
        if stream is not sys.stdin:
            stream.reconfigure(line_buffering=stream is sys.stderr or stream.isatty())
    gc.enable()


def _say_in_proc(command: list[str], environment: Mapping[str, str]) -> None:
    """Have `/proc` tell the command line and the environment of the program: they are written over the server's, into
    memory that nothing reads any more, and are cut where that has no room for them.
    """
    try:
        told = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    except OSError:
        return
    arguments, arguments_end, variables, variables_end = map(int, told[45:49])
    spelt = [f"{name}={value}" for name, value in environment.items()]
    for begin, end, words in ((arguments, arguments_end, command), (variables, variables_end, spelt)):
        said = b"".join(os.fsencode(word) + b"\0" for word in words)
        ctypes.memmove(begin, said[: end - begin - 1].ljust(end - begin, b"\0"), end - begin)


class ForkedDaemon:
    """A daemon that a forked program starts, as `subprocess.Popen` has it."""

    def __init__(self, server: str | bytes, argv: list[str], **options: Any) -> None:
        self.args = argv
        self.returncode: int | None = None
        self._lock = threading.Lock()
        self._own, theirs = socket.socketpair()
        with socket.socket(socket.AF_UNIX) as requests, theirs, Path(os.devnull).open() as nothing:
            requests.connect(server)
            streams = [nothing.fileno(), options["stdout"], options["stderr"]]
            socket.send_fds(requests, [b"f"], [theirs.fileno(), *streams])
            given = {
                "argv": ["aurora", *argv[len(COMMAND) :]],
                "cwd": os.fspath(options["cwd"]),
                "environment": options["env"],
                "session": options["start_new_session"],
            }
            self._own.sendall(json.dumps(given).encode() + b"\n")
            self.pid = int(_line(self._own))

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        with self._lock:
            if self.returncode is None and select.select([self._own], [], [], 0)[0]:
                self.returncode = os.waitstatus_to_exitcode(int(_line(self._own)))
        return self.returncode

    def wait(self) -> int:
        """Wait for its end."""
        select.select([self._own], [], [])
        while (code := self.poll()) is None:
            select.select([self._own], [], [])
        return code

    def terminate(self) -> None:
        """SIGTERM, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)


def have_forked(server: str | bytes, began: Mapping[str, str]) -> None:
    """Have what this process starts of ours forked: daemons from the server that listens there, and began with that
    environment; workers that parse, whose parent has to be who starts them, from this process.
    """
    begun = at_start(began)

    class Popen(subprocess.Popen):  # type: ignore[type-arg]
        def __new__(cls, args: Any, **options: Any) -> Any:
            daemon = tuple(args) == (*COMMAND, "daemon", "run", "--detached")
            if daemon and at_start(options["env"]) == begun:
                return ForkedDaemon(server, list(args), **options)
            return super().__new__(cls)

        def __init__(self, args: Any, *more: Any, **options: Any) -> None:
            if tuple(args[: len(WORKER)]) == WORKER:
                options["preexec_fn"] = partial(_be_worker, list(args), options["env"])
            super().__init__(args, *more, **options)

    subprocess.Popen = Popen  # type: ignore[misc, assignment]


def _be_worker(command: list[str], environment: Mapping[str, str]) -> None:
    """Be a worker that parses, in the place of the process that this one would become: its streams are there."""
    try:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals():
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # as an interpreter does that starts
            signal.signal(number, signal.SIG_IGN)
        os.environ.clear()
        os.environ.update(environment)
        _say_in_proc(command, environment)
        worker = importlib.import_module(WORKER[-1])
        worker.serve(worker.parse_source, command[len(WORKER) :])
    finally:
        os._exit(1)


def at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """Of an environment what counts when an interpreter starts, and is not taken up later."""
    return {name: value for name, value in environment.items() if name.startswith(AT_START) and name not in TAKEN}


def take_up_warnings(said: str) -> None:
    """Do with warnings what PYTHONWARNINGS says: actions, of which the last one counts."""
    for action in filter(None, said.split(",")):
        warnings.simplefilter(action)


class LeanEnd:
    """The end of a process without the taking apart of its interpreter, which for a forked one costs as much as its
    start (50 ms: each object of the server's that it lets go is a page copied). Threads, and what is to be done at the
    end, were waited for before.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        atexit.register(self._leave)  # what is registered first is called last

    def after(self, program: Callable[[], int]) -> int:
        """Run a program, whose exit status is then the process's."""
        try:
            self.status = program()
        except SystemExit as end:
            self.status = {None: 0}.get(end.code, end.code if isinstance(end.code, int) else 1)
            raise
        return self.status

    def _leave(self) -> None:
        if self.status is None:
            return  # an exception, or a signal: the interpreter says so, and ends as it does
        with contextlib.suppress(OSError, ValueError):  # cannot be written: the interpreter finds out and tells
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(self.status & 0xFF)


def main() -> int:
    """Serve; in a forked process, be the command line."""
    owner, *listeners = (socket.socket(fileno=int(each)) for each in sys.argv[2:])
    listener = listeners[0] if listeners else None
    place, began = listener.getsockname() if listener else "", dict(os.environ)
    load()
    gc.collect()
    gc.freeze()
    if not serve(owner, listener):
        return 0
    if place:
        have_forked(place, began)
    if sys.argv[0] == "-c":
        return run_code(sys.argv.pop(1))
    from aurora_cli import main as command

    return command()


def run_code(code: str) -> int:
    """Be `python -c`: names of modules are looked up in the working folder first."""
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as an interpreter does
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    return 0


if __name__ == "__main__":
    sys.exit(LeanEnd().after(main))
