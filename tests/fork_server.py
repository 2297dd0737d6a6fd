"""Fork server: an interpreter that has imported AURORA, and becomes, forked, each program that a test starts.

`python -P tests/fork_server.py DESCRIPTOR [LISTENER]`: the inherited socket brings, for each program, one byte with
four open files: a socket of that program's own, its standard input, output and error. The program's own socket brings a
`Request`, whose arguments begin with `-c` where they are code, as Python's do; its answers are lines: the process id,
then, once it has ended, its exit status as `os.waitpid` tells it. So does each that is connected to the inherited
`LISTENER`. The server ends when the inherited socket does.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import selectors
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

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
OF_SOME = {
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
        if "LOOPBACK_API_KEY" in words:
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
    time.tzset()
    sys.argv = given["argv"]
    take_up_warnings(given["environment"].get("PYTHONWARNINGS", ""))
    for stream in (sys.stdout, sys.stderr):  # the same objects: what was imported may hold them
        assert isinstance(stream, io.TextIOWrapper)
        stream.reconfigure(line_buffering=stream is sys.stderr or stream.isatty())
    gc.enable()


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
    owner, *listener = (socket.socket(fileno=int(each)) for each in sys.argv[1:])
    load()
    gc.collect()
    gc.freeze()
    if not serve(owner, listener[0] if listener else None):
        return 0
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
