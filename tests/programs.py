"""Programs that tests start: `aurora …` in processes of their own, forked from an interpreter that has it imported.

Starting a program is what tests cost, and most of that is imports. A `Program` is a process like any other (its own
folder, environment, standard streams, signals and exit code), only without the imports. What tests the start itself
(`tests/e2e`, the imports of a command, starters at the same time) uses `subprocess`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

from tests.fork_server import CODE, COMMAND, ROOM, ROOM_FOR_ARGUMENTS, ROOM_FOR_VARIABLES, TAKEN, at_start
from tests.wait_limits import HANG

_PROGRAM = Path(__file__).with_name("fork_server.py")
_SERVED = "PYTHONUTF8"
"""The variable for whose values there are fork servers of their own; where others that count when an interpreter starts
are not ours, a program starts for itself."""


Started: TypeAlias = "subprocess.Popen[Any] | Program"


class Program:
    """A running program, as `subprocess.Popen` has it; its streams are files, or pipes (`subprocess.PIPE`)."""

    def __init__(
        self,
        server: ForkServer,
        arguments: Sequence[str],
        *,
        cwd: str | Path | None = None,
        env: Mapping[str, str],
        stdin: int | IO[Any] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        text: bool = False,
        encoding: str | None = None,
        start_new_session: bool = False,
        first: str = "aurora",
    ) -> None:
        self.args = list(arguments)
        self.returncode: int | None = None
        self.stdin: IO[Any] | None = None
        self.stdout: IO[Any] | None = None
        self.stderr: IO[Any] | None = None
        self._server = server
        self._lock = threading.Lock()
        with contextlib.ExitStack() as stack:
            theirs = []
            for name, chosen in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
                their, our = _ends(name, chosen, theirs, stack)
                theirs.append(their)
                if our is not None:
                    binary = os.fdopen(our, "wb" if name == "stdin" else "rb", -1 if text or name != "stdin" else 0)
                    setattr(self, name, _text(binary, encoding) if text or encoding else binary)
            request = {
                "argv": [first, *arguments],
                "cwd": os.path.abspath(cwd or os.curdir),  # noqa: PTH100 - a link stays one
                "environment": dict(env),
                "session": start_new_session,
            }
            self._told = server.fork(request, theirs)
        self.pid = int(self._line())
        server.programs.add(self)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.stdout, self.stderr, self.stdin):
            if stream is not None:
                stream.close()
        self.wait()

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises `subprocess.TimeoutExpired`."""
        with self._lock:
            if self.returncode is None:
                with selectors.DefaultSelector() as selector:
                    selector.register(self._told, selectors.EVENT_READ)
                    if not selector.select(timeout):
                        raise subprocess.TimeoutExpired(self.args, timeout or 0)
                self.returncode = os.waitstatus_to_exitcode(int(self._line()))
                self._told.close()
                self._server.programs.discard(self)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
        """Send `input`, read both outputs to their ends and wait. Raises `subprocess.TimeoutExpired`."""
        read: dict[str, Any] = {}

        def drain(name: str, stream: IO[Any]) -> None:
            read[name] = stream.read()

        named = [(name, stream) for name in ("stdout", "stderr") if not _closed(stream := getattr(self, name))]
        readers = [threading.Thread(target=drain, args=each, daemon=True) for each in named]
        for reader in readers:
            reader.start()
        until = None if timeout is None else time.monotonic() + timeout
        if self.stdin is not None and not self.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                if input:
                    self.stdin.write(input)
            with contextlib.suppress(BrokenPipeError):
                self.stdin.close()
        for reader in readers:
            reader.join(None if until is None else max(0.0, until - time.monotonic()))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(None if until is None else max(0.0, until - time.monotonic()))
        for _, stream in named:
            stream.close()
        return read.get("stdout"), read.get("stderr")

    def _line(self) -> str:
        said = b""
        while not said.endswith(b"\n"):
            byte = self._told.recv(1)
            assert byte, "the fork server has ended"
            said += byte
        return said.decode()


class ForkServer:
    """An interpreter with AURORA imported, of this process or, at the end of a socket, of another one."""

    def __init__(self, requests: socket.socket, process: subprocess.Popen[bytes] | None = None) -> None:
        self.programs: set[Program] = set()
        self.process = process
        self._requests = requests
        self._lock = threading.Lock()

    @classmethod
    def begun(cls, environment: Mapping[str, str], shared: socket.socket | None = None) -> ForkServer:
        """Begin one, which ends when it is closed; other processes join it at the listening socket `shared`, or, where
        sockets have names that are no files, at one of its own.
        """
        ours, theirs = socket.socketpair()
        with contextlib.ExitStack() as until_begun:
            until_begun.enter_context(theirs)
            if shared is None and sys.platform == "linux":
                shared = until_begun.enter_context(socket.socket(socket.AF_UNIX))
                shared.bind("")
                shared.listen(64)
            inherited = [each.fileno() for each in (theirs, shared) if each is not None]
            pipe = subprocess.PIPE  # its own, so that the streams that were made for it are no places in a file
            process = subprocess.Popen(
                (sys.executable, "-P", str(_PROGRAM), "-" * ROOM_FOR_ARGUMENTS, *map(str, inherited)),
                env={**environment, ROOM: "-" * ROOM_FOR_VARIABLES},
                stdin=subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                pass_fds=inherited,
            )
        return cls(ours, process)

    @classmethod
    def joined(cls, place: str) -> ForkServer:
        """That of another process, which may still be importing."""
        with contextlib.ExitStack() as unless_joined:
            requests = unless_joined.enter_context(socket.socket(socket.AF_UNIX))
            requests.connect(place)
            unless_joined.pop_all()
        return cls(requests)

    @property
    def descriptors(self) -> set[int]:
        """Numbers of the open files that lead to it."""
        streams = (self.process.stdout, self.process.stderr) if self.process else ()
        return {each.fileno() for each in (self._requests, *streams) if each}

    def fork(self, request: dict[str, Any], files: Sequence[int]) -> socket.socket:
        """Start a program with these standard streams; its own socket."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            socket.send_fds(self._requests, [b"f"], [theirs.fileno(), *files])
        ours.sendall(json.dumps(request).encode() + b"\n")
        return ours

    def close(self) -> None:
        """End it, or leave it to those who are left."""
        self._requests.close()
        if self.process is None:
            return
        _, complaint = self.process.communicate(timeout=HANG)
        assert (self.process.returncode, complaint) == (0, b""), complaint.decode()


class ForkServers:
    """The fork servers of a run of the tests, each begun when the first program of its kind is started."""

    def __init__(self) -> None:
        self._plain: dict[str, str] | None = None
        self._servers: dict[str, ForkServer] = {}
        self.shared = ""
        """Place of the socket of one that is there for all workers of the run."""

    def of(self, environment: Mapping[str, str]) -> ForkServer | None:
        """The server for programs with such an environment; none where they have to start for themselves."""
        if self._plain is None or _apart(environment) != _apart(self._plain):
            return None
        said = environment.get(_SERVED, "")
        if said not in self._servers:
            if self.shared and said == self._plain.get(_SERVED, ""):
                self._servers[said] = ForkServer.joined(self.shared)
            else:
                self._servers[said] = ForkServer.begun({**self._plain, **({_SERVED: said} if said else {})})
        return self._servers[said]

    @property
    def pids(self) -> set[int]:
        """Process ids of the servers."""
        return {server.process.pid for server in self._servers.values() if server.process}

    @property
    def descriptors(self) -> set[str]:
        """Numbers of the open files that lead to the servers."""
        return {str(number) for server in self._servers.values() for number in server.descriptors}

    @property
    def programs(self) -> set[Program]:
        """Programs whose end nobody has seen yet."""
        return {program for server in self._servers.values() for program in server.programs}

    @contextlib.contextmanager
    def begun(self, environment: Mapping[str, str]) -> Iterator[None]:
        """Have servers for as long as this lasts, with this environment."""
        self._plain = without_ours(environment)
        try:
            yield
        finally:
            self._plain = None
            for server in self._servers.values():
                server.close()
            self._servers.clear()


FORK_SERVERS = ForkServers()


@contextlib.contextmanager
def shared_server(environment: Mapping[str, str]) -> Iterator[str]:
    """A fork server for all workers of a run of the tests, and the place where they join it (`FORK_SERVERS.shared`)."""
    with tempfile.TemporaryDirectory(prefix="aurora-forks-") as folder, socket.socket(socket.AF_UNIX) as listener:
        place = f"{folder}/s"
        listener.bind(place)
        listener.listen(64)
        server = ForkServer.begun(without_ours(environment), listener)
        try:
            yield place
        finally:
            server.close()


def without_ours(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without what AURORA, or a forked program, reads itself."""
    return {name: value for name, value in environment.items() if not name.startswith(("AURORA_", *TAKEN))}


def start(command: Sequence[str], *, env: Mapping[str, str] | None = None, **options: Any) -> Started:
    """Start `aurora …` (a command that begins with `COMMAND`) or `python -c …`, with the options of a `Program`.

    Where there is no fork server for its environment, it is a `subprocess.Popen`.
    """
    environment = dict(os.environ if env is None else env)
    arguments = list(map(str, command))
    code = tuple(arguments[: len(CODE)]) == CODE
    assert code or tuple(arguments[: len(COMMAND)]) == COMMAND, command
    server = FORK_SERVERS.of(environment)
    if server is None:
        return subprocess.Popen(arguments, env=environment, **options)
    if code:
        return Program(server, arguments[len(CODE) :], env=environment, first="-c", **options)
    return Program(server, arguments[len(COMMAND) :], env=environment, **options)


def run(
    command: Sequence[str],
    *,
    input: Any = None,
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run `aurora …` to its end, as `subprocess.run` would."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    program = start(command, **options)
    try:
        out, err = program.communicate(input, timeout)
    except BaseException:
        program.kill()
        program.communicate()
        raise
    done = subprocess.CompletedProcess(list(command), program.wait(), out, err)
    if check:
        done.check_returncode()
    return done


def _apart(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in at_start(environment).items() if name != _SERVED}


def _ends(
    name: str, chosen: int | IO[Any] | None, others: list[int], stack: contextlib.ExitStack
) -> tuple[int, int | None]:
    """The program's end of one of its standard streams, and ours where it is a pipe."""
    if chosen == subprocess.PIPE:
        reader, writer = os.pipe()
        theirs, ours = (reader, writer) if name == "stdin" else (writer, reader)
        stack.callback(os.close, theirs)
        return theirs, ours
    if chosen == subprocess.DEVNULL:
        theirs = os.open(os.devnull, os.O_RDWR)
        stack.callback(os.close, theirs)
        return theirs, None
    if chosen == subprocess.STDOUT:
        return others[1], None
    if chosen is None:
        return ("stdin", "stdout", "stderr").index(name), None
    return (chosen if isinstance(chosen, int) else chosen.fileno()), None


def _closed(stream: IO[Any] | None) -> bool:
    return stream is None or stream.closed


def _text(binary: Any, encoding: str | None) -> IO[str]:
    return io.TextIOWrapper(binary, encoding=encoding, write_through=True)
