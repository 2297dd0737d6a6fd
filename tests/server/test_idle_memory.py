"""Memory that a resting daemon gives back: when, and what stays right afterwards."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from aurora_memory import StoreError
from aurora_memory.store import Store, file_reader
from aurora_server.daemon import idle_memory
from aurora_server.daemon.idle_memory import QUIET_SECONDS, TRIM_SECONDS, WORKED_SECONDS, IdleMemory
from aurora_server.daemon.listener import Listener
from aurora_server.workspace.registry import Workspaces
from tests.wait_limits import HANG


class Rested:
    """An open workspace that counts how often it was asked for its memory."""

    def __init__(self) -> None:
        self.asked = 0
        self.gone = False

    def opened(self) -> list[Rested]:
        return [self]

    async def give_memory_back(self) -> None:
        self.asked += 1
        if self.gone:
            raise StoreError("closed")


class Hours:
    """The time, and the processor's, as a test wants them."""

    def __init__(self, workspace: Rested) -> None:
        self.now = self.spent = 0.0
        self.memory = IdleMemory(cast(Workspaces, workspace), lambda: self.now, lambda: self.spent)

    async def passes(self, seconds: int, share: float) -> int:
        """Look once a second; returns how often memory was given back."""
        given = 0
        for _ in range(seconds):
            self.now += 1
            self.spent += share
            given += await self.memory.look()
        return given


@pytest.fixture
def trims(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    done: list[None] = []
    monkeypatch.setattr(idle_memory, "trim", lambda: done.append(None))
    return done


async def test_memory_is_given_back_once_when_work_is_over(trims: list[None]) -> None:
    workspace = Rested()
    hours = Hours(workspace)
    assert await hours.passes(100, 0.5) == 0
    assert await hours.passes(int(QUIET_SECONDS) - 2, 0.001) == 0
    assert await hours.passes(300, 0.001) == 1
    assert await hours.passes(100, 0.5) == 0
    workspace.gone = True
    assert await hours.passes(300, 0.001) == 1
    assert workspace.asked == 2
    assert len(trims) == 3, "once as work began again, long after the last time"


async def test_a_daemon_that_never_rests_gives_back_what_nothing_lies_on_and_keeps_pages_of_memory_files(
    trims: list[None],
) -> None:
    workspace = Rested()
    hours = Hours(workspace)
    assert await hours.passes(int(TRIM_SECONDS) - 2, 0.5) == 0 and trims == []
    assert await hours.passes(int(TRIM_SECONDS) * 3, 0.5) == 0
    assert len(trims) == 3
    assert workspace.asked == 0, "pages that come and go leave holes in the heap"


async def test_a_daemon_that_did_nothing_gives_nothing_back(trims: list[None]) -> None:
    hours = Hours(Rested())
    quiet = int(WORKED_SECONDS / 0.001) - 50
    assert await hours.passes(quiet, 0.001) == 0
    assert not trims


async def test_a_memory_that_does_not_answer_keeps_nobody(trims: list[None], monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck(Rested):
        async def give_memory_back(self) -> None:
            await asyncio.Event().wait()

    monkeypatch.setattr(idle_memory, "GIVEN_WITHIN", 0.01)
    hours = Hours(Stuck())
    await hours.passes(10, 0.5)
    async with asyncio.timeout(HANG):
        assert await hours.passes(100, 0.001) == 1
    assert len(trims) == 1


async def test_a_store_gives_its_pages_back_on_both_connections_and_answers_as_before(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "m.db")
    try:
        await store.remember("root", "/somewhere")
        said: list[str] = []
        await store._writer.set_trace_callback(said.append)
        await store.read(lambda reader: cast(Any, reader._db).set_trace_callback(said.append))
        await store.give_memory_back()
        assert said.count("PRAGMA shrink_memory") == 2, said
        assert await store.read(file_reader.fact, "root") == "/somewhere"
        await store.remember("root", "/elsewhere")
        assert await store.read(file_reader.fact, "root") == "/elsewhere"
    finally:
        await store.close()
    with pytest.raises(StoreError):
        await store.give_memory_back()


@pytest.mark.parametrize(
    ("error", "ends"),
    [
        (OSError(errno.EMFILE, "Too many open files"), True),
        (AttributeError("module 'numpy' has no attribute 'ma'"), True),
        (ModuleNotFoundError("No module named 'numpy'"), False),
        (RuntimeError("can't start new thread"), False),
    ],
)
async def test_a_daemon_whose_numpy_is_half_loaded_ends_and_no_other(
    error: Exception, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> None:
        raise error

    reasons: list[str] = []

    class Heart:
        connections = 0
        stop = staticmethod(reasons.append)

    listener = Listener(cast(Any, None), cast(Any, Heart()))
    monkeypatch.setattr(importlib, "import_module", broken)
    await listener._load_ranking()
    assert bool(reasons) == ends


HEAPS = """
import ctypes, os, sys, threading
from aurora_server.daemon.idle_memory import use_few_arenas
if sys.argv[1] == "few":
    use_few_arenas()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
everybody = threading.Barrier(9)
def work():
    libc.malloc(5000)
    everybody.wait()
    everybody.wait()
for _ in range(8):
    threading.Thread(target=work).start()
everybody.wait()
told = libc.fopen(sys.argv[2].encode(), b"w")
libc.malloc_info(0, ctypes.c_void_p(told))
libc.fclose(ctypes.c_void_p(told))
everybody.wait()
"""


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_info"), reason="glibc's heaps")
def test_threads_of_the_daemon_share_two_heaps(tmp_path: Path) -> None:
    heaps = {}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    for how in ("few", "many"):
        command = [sys.executable, "-P", "-c", HEAPS, how, str(tmp_path / how)]
        subprocess.run(command, env=environment, check=True, timeout=HANG)
        heaps[how] = (tmp_path / how).read_text().count("<heap nr=")
    assert heaps["few"] <= idle_memory.ARENAS < heaps["many"]


LARGE_PIECES = """
import ctypes, sys
from aurora_server.daemon.idle_memory import LARGE, use_few_arenas
class MallocInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd a b c d e".split()]
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.mallinfo2.restype = MallocInfo
if sys.argv[1] == "few":
    use_few_arenas()
libc.free(ctypes.c_void_p(libc.malloc(16 * LARGE)))  # from now on glibc would keep pieces of up to this size
before = libc.mallinfo2().hblks
libc.malloc(2 * LARGE)
print(libc.mallinfo2().hblks - before)
"""


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="glibc's heaps")
def test_large_pieces_stay_out_of_the_heaps_whatever_was_freed_before() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    said = {
        how: subprocess.run(
            [sys.executable, "-P", "-c", LARGE_PIECES, how],
            env=environment,
            check=True,
            timeout=HANG,
            capture_output=True,
            text=True,
        ).stdout
        for how in ("few", "many")
    }
    assert said == {"few": "1\n", "many": "0\n"}
