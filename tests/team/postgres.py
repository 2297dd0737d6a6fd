"""PostgreSQL servers of tests' own: a cluster in a temporary folder, run by a user that is not root."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import psutil
import psycopg
from psycopg import Connection

from tests.programs import FORK_SERVERS
from tests.wait_limits import HANG


def _programs() -> Path | None:
    """Folder of the newest server's programs; Debian keeps it off the PATH."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent  # it may be a link, beside which the other programs are not
    versions = sorted(Path("/usr/lib/postgresql").glob("[0-9]*/bin/initdb"), key=lambda each: int(each.parts[4]))
    return versions[-1].parent if versions else None


PROGRAMS = _programs()


def why_not() -> str:
    """Why no server can be started here; "" where one can."""
    if PROGRAMS is None:
        return "no PostgreSQL server is installed (initdb)"
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        return "PostgreSQL refuses to be run by root, and there is no runuser"
    return ""


class Server:
    """Server on a free port of this machine and a socket; its superuser is `owner`, and no role has a password."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = _free_port()
        self._prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []

    def url(self, role: str = "owner") -> str:
        """Address of the hub's database, by the socket."""
        return f"postgresql://{role}@/postgres?host={self.folder}&port={self.port}"

    def initialize(self) -> None:
        if self._prefix:
            shutil.chown(self.folder, "postgres")
        copy = [*self._prefix, "cp", "-Rp", str(_cluster()), str(self.data)]
        subprocess.run(copy, cwd="/", check=True, timeout=900)
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(
                f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{self.folder}'\n"
                "max_connections = 120\nshared_buffers = 128MB\n"
                # Who is killed loses nothing that the system has; only a machine that fails would.
                "fsync = off\nfull_page_writes = off\nwal_level = minimal\nmax_wal_senders = 0\njit = off\n"
            )

    def start(self) -> None:
        self._call("pg_ctl", "-D", str(self.data), "-l", str(self.folder / "log"), "-w", "-t", "600", "start")

    def stop(self) -> None:
        self._call("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop")

    def kill(self) -> None:
        """End the server as a power failure would; `revive` recovers it."""
        self.signal(signal.SIGKILL)

    def revive(self) -> None:
        """Start a killed server, which first recovers what it acknowledged."""
        while any(self._processes()):
            time.sleep(0.02)
        # where nobody reaps orphans the killed one is still found by its number
        for lock in (self.data / "postmaster.pid", self.folder / f".s.PGSQL.{self.port}.lock"):
            lock.unlink(missing_ok=True)
        self.start()

    def signal(self, number: int) -> None:
        """Send a signal to the server and to all that it has started."""
        postmaster = psutil.Process(int((self.data / "postmaster.pid").read_text().splitlines()[0]))
        for process in [postmaster, *postmaster.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def _processes(self) -> Iterator[psutil.Process]:
        """Processes that hold the server's memory: all of them have to be gone before it starts again."""
        for process in psutil.process_iter(["cmdline", "cwd", "status"]):
            if process.info["cwd"] == str(self.data) and process.info["status"] != psutil.STATUS_ZOMBIE:
                yield process

    def connect(self, role: str = "owner") -> Connection[tuple[object, ...]]:
        return psycopg.connect(self.url(role), autocommit=True)

    def psql(self, role: str, statement: str) -> subprocess.CompletedProcess[str]:
        """One statement by psql, as a role."""
        assert PROGRAMS is not None
        command = [str(PROGRAMS / "psql"), "-X", "-At", "-v", "ON_ERROR_STOP=1", "-d", self.url(role), "-c", statement]
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)

    def ask(self, role: str, statement: str) -> subprocess.CompletedProcess[str]:
        """What `psql` would do and say; a connection takes a fifth of its time to begin."""
        said = []
        with self.connect(role) as db, db.cursor() as cursor:
            try:
                cursor.execute(statement.encode())
            except psycopg.Error as error:
                told = f"{error.diag.severity}:  {error.diag.message_primary}\n"
                return subprocess.CompletedProcess(statement, 1, "", told)
            for result in cursor.results():
                answer = result.pgresult
                assert answer is not None
                rows = [
                    [answer.get_value(row, each) for each in range(answer.nfields)] for row in range(answer.ntuples)
                ]
                said += [b"|".join(each or b"" for each in row).decode() for row in rows]
                said += [] if answer.nfields else [str(result.statusmessage)]
        return subprocess.CompletedProcess(statement, 0, "".join(f"{line}\n" for line in said), "")

    def make_cluster(self) -> Path:
        """Make what a server keeps before it is started for the first time: seconds."""
        if self._prefix:
            shutil.chown(self.folder, "postgres")
        options = ("-U", "owner", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
        self._call("initdb", "-D", str(self.data), *options)
        return self.data

    def _call(self, program: str, *arguments: str) -> None:
        assert PROGRAMS is not None
        command = [*self._prefix, str(PROGRAMS / program), *arguments]
        # a server that lives on must not keep a pipe open
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(command, cwd="/", stdout=said, stderr=said, timeout=900, check=False)
            said.seek(0)
            log = self.folder / "log"
            told = log.read_text()[-2000:] if log.exists() else ""
            assert done.returncode == 0, said.read().decode() + told


@cache
def _cluster() -> Path:
    """A cluster no server was started on, which each server begins with a copy of: one for all workers of a run."""
    if not FORK_SERVERS.shared:
        folder = Path(tempfile.mkdtemp(prefix="aurora-pg-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return Server(folder).make_cluster()
    shared = Path(FORK_SERVERS.shared).parent  # is removed with the run
    shared.chmod(0o711)  # to come by, for the server's user
    folder = shared / "postgres"
    with (shared / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder / "data"
        folder.mkdir()
        return Server(folder).make_cluster()


@contextmanager
def server() -> Iterator[Server]:
    """A running server, which is gone with its folder at the end."""
    with tempfile.TemporaryDirectory(prefix="aurora-pg-", ignore_cleanup_errors=True) as name:
        made = Server(Path(name))
        made.initialize()
        made.start()
        try:
            yield made
        finally:
            made.stop()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
