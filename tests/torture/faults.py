"""Faults injected into a product while one command, or one method, is tried. Each is undone before it is checked.

A fault is a context manager of the product, its workspace and the chance. What it yields is the environment of the
command, where that is another.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import psutil

from tests.e2e.product import Product
from tests.memory.test_power_cut import Disk, recorded
from tests.wait_limits import HANG

Fault = Callable[[Product, Path, random.Random], AbstractContextManager[None]]

FAULTS: dict[str, Fault] = {}
DAMAGES = ("cut", "flip")
"""After these a memory file may have to be repaired, and what stood where the damage is may be lost."""


class NotHere(Exception):
    """A fault that this machine or user cannot have."""


def fault(make: Callable[[Product, Path, random.Random], Iterator[None]]) -> Fault:
    """Register a fault under its name."""
    made = contextlib.contextmanager(make)
    FAULTS[make.__name__.rstrip("_")] = made
    return made


def _daemon(product: Product, root: Path) -> psutil.Process:
    product.session(root).close()
    (daemon,) = product.daemons()
    return daemon


@contextlib.contextmanager
def _limited(daemon: psutil.Process, kind: int, soft: int) -> Iterator[None]:
    before = daemon.rlimit(kind)
    daemon.rlimit(kind, (soft, before[1]))
    try:
        yield
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            daemon.rlimit(kind, before)


@fault
def kill(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """The daemon is killed (SIGKILL) a moment after the command began."""
    daemon = _daemon(product, root)
    timer = threading.Timer(chance.choice((0.0, chance.uniform(0.0, 1.0))), _kill, (daemon,))
    timer.start()
    yield
    timer.cancel()
    timer.join()


def _kill(daemon: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        daemon.kill()


@fault
def stop(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """The daemon is stopped (SIGSTOP), and goes on after the command."""
    daemon = _daemon(product, root)
    daemon.suspend()
    try:
        yield
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            daemon.resume()


def _memory_file(product: Product, root: Path) -> Path:
    product.aurora("daemon", "stop", cwd=root)
    (path,) = product.databases()
    return path


@fault
def cut(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """The memory file is truncated: it ends early."""
    path = _memory_file(product, root)
    os.truncate(path, chance.randrange(1, path.stat().st_size))
    yield


@fault
def flip(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """Bit flips in the memory file (corruption)."""
    path = _memory_file(product, root)
    raw = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 20))):
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    path.write_bytes(raw)
    yield


@fault
def fill(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """No file of the daemon may grow: to it the disk is full."""
    daemon = _daemon(product, root)
    size = max((path.stat().st_size for path in product.databases()), default=0)
    with _limited(daemon, resource.RLIMIT_FSIZE, size // 4096 * 4096 + chance.choice((0, 4096, 65536))):
        yield


@fault
def descriptors(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """The daemon gets no more file descriptors (EMFILE)."""
    daemon = _daemon(product, root)
    with _limited(daemon, resource.RLIMIT_NOFILE, daemon.num_fds() + chance.randrange(4)):
        yield


@fault
def memory(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """The daemon gets no more memory."""
    daemon = _daemon(product, root)
    with _limited(daemon, resource.RLIMIT_AS, daemon.memory_info().vms + (chance.choice((0, 1, 8)) << 20)):
        yield


@fault
def processes(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """The daemon may start neither processes nor threads; of root nobody refuses them, so another user has to be it."""
    if os.getuid() == 0:
        raise NotHere("root is never refused: tests/e2e/test_refused_threads.py")
    with _limited(_daemon(product, root), resource.RLIMIT_NPROC, 0):
        yield


def compiled(source: Path, folder: Path) -> Path:
    """A library to be loaded in front of libc (LD_PRELOAD)."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux" or compiler is None:
        raise NotHere("needs Linux and a C compiler")
    library = folder / f"{source.stem}.so"
    if not library.exists():
        command = [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"]
        subprocess.run(command, check=True, timeout=HANG)
    return library


@contextlib.contextmanager
def _loaded(product: Product, root: Path, variables: dict[str, str]) -> Iterator[None]:
    """Daemon and commands with these variables, as nobody has them before and after."""
    product.aurora("daemon", "stop", cwd=root)
    before = product.environment
    product.environment = {**before, **variables}
    try:
        yield
    finally:
        product.environment = before


@fault
def clock(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """Clock skew: the clock jumps, hours to years, back or ahead, before the command and in the middle of it."""
    folder = root.parent
    library = compiled(Path(__file__).with_name("clock_offset.c"), folder)
    offset = folder / "offset"
    offset.write_bytes(struct.pack("d", 0.0))

    def jump() -> None:
        with offset.open("r+b") as file:
            file.write(struct.pack("d", chance.choice((-1, 1)) * 10 ** chance.uniform(2, 8.5)))

    with _loaded(product, root, {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(offset)}):
        product.session(root).close()
        jump()
        timer = threading.Timer(chance.uniform(0.0, 0.6), jump)
        timer.start()
        yield
        timer.join()
        product.aurora("daemon", "stop", cwd=root)


@fault
def unsynced(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """Power loss a moment after the command: of what was written only what was synced (fsync) stays, or some more."""
    library = compiled(Path(__file__).parents[1] / "memory" / "file_calls.c", root.parent)
    place, log = product.home / "memory", root.parent / f"calls-{chance.getrandbits(40)}"
    product.aurora("daemon", "stop", cwd=root)
    disk = Disk()
    disk.synced = {path.name: bytearray(path.read_bytes()) for path in place.iterdir() if path.is_file()}
    variables = {"LD_PRELOAD": str(library), "RECORD_BELOW": str(place), "RECORD_TO": str(log)}
    with _loaded(product, root, variables):
        product.session(root).close()
        daemons = product.daemons()
        yield
        for daemon in {*daemons, *product.daemons()}:
            _kill(daemon)
        until = time.monotonic() + 20
        while product.processes() and time.monotonic() < until:
            time.sleep(0.05)
    if not place.is_dir():
        return
    for call in recorded(log.read_bytes() if log.exists() else b""):
        disk.take(call)
    for path in place.iterdir():
        if path.is_file():
            path.unlink()
    for name, content in disk.after_a_cut(chance.choice((None, chance))).items():
        (place / Path(name).name).write_bytes(content)
        (place / Path(name).name).chmod(0o600)


@fault
def stranger(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """Another user, who owns what lies in the way of the home: nothing there is believed."""
    if os.getuid() != 0:
        raise NotHere("needs root, to be somebody else")
    product.aurora("daemon", "stop", cwd=root)
    victim = chance.choice([product.home, product.home / "config.json", product.home / "agents.json"])
    if not victim.exists():
        victim.write_text("{}")
    os.chown(victim, 65534, 65534)
    try:
        yield
    finally:
        if victim.exists():
            os.chown(victim, 0, 0)
        if victim.is_file() and victim.read_text() == "{}":
            victim.unlink()


@fault
def hostile(product: Product, root: Path, chance: random.Random) -> Iterator[None]:
    """The workspace has become one that was made to harm."""
    from tests.torture.hostile_ways import WORKSPACES
    from tests.torture.hostile_workspaces import trap_in

    folder = root.parent / f"trap-{chance.getrandbits(40)}"
    folder.mkdir()
    trap = trap_in(folder)
    kept = root.with_name("kept")
    shutil.move(root, kept)
    shutil.copytree(kept, root)
    name = chance.choice([each for each in WORKSPACES if each not in ("deep_folders", "huge_files")])
    print(f"  hostile: {name}", flush=True)
    try:
        WORKSPACES[name](root, trap)
        trap.ran.unlink(missing_ok=True)
        yield
        assert not trap.ran.exists(), "something of it was run"
    except AssertionError as error:
        raise AssertionError(f"{name}: {error}") from error
    finally:
        shutil.rmtree(root)
        shutil.move(kept, root)
