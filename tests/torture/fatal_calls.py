"""Crash injection: deaths of a daemon at a system call of its choice: it is killed in the middle of its n-th write to a
memory file, a record or an export.

A kill by the clock hits a short step, as an upgrade is one, by chance; one by the count of calls always does.
"""

from __future__ import annotations

import contextlib
import mmap
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from aurora_protocol import DaemonUnreachable, RequestFailed
from aurora_protocol.client import Client
from tests.e2e.product import Product, daemon_process
from tests.torture.faults import compiled
from tests.torture.workspace import SECONDS


class FatalCalls:
    """Calls of the daemons that `daemon` starts. Neither commands nor daemons started by them are counted."""

    def __init__(self, product: Product, folder: Path) -> None:
        self.product = product
        file = folder / "calls"
        file.write_bytes(bytes(16))
        self._file = file.open("r+b")
        self._numbers = mmap.mmap(self._file.fileno(), 16)
        self.variables = {
            "LD_PRELOAD": str(compiled(Path(__file__).with_suffix(".c"), folder)),
            "FATAL_BELOW": str(folder),
            "FATAL_CALLS": str(file),
        }

    def close(self) -> None:
        """Forget the file."""
        self._numbers.close()
        self._file.close()

    def count(self) -> int:
        """How many calls there were."""
        return int(struct.unpack_from("q", self._numbers)[0])

    def arm(self, number: int) -> None:
        """Let the `number`th call from now on be the last; 0 for none."""
        self._numbers[8:16] = struct.pack("q", number and self.count() + number)

    @contextlib.contextmanager
    def daemon(self) -> Iterator[subprocess.Popen[bytes]]:
        """A daemon whose calls are counted. It is killed afterwards, as one that a command may have started since; what
        they had started ends by itself.
        """
        process = daemon_process(self.product, **self.variables)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            for each in self.product.daemons():
                each.kill()
            until = time.monotonic() + SECONDS
            while self.product.processes() and time.monotonic() < until:
                time.sleep(0.02)
            left = self.product.processes()
            assert not left, f"outlived their daemon: {left}"


def asked(
    product: Product, daemon: subprocess.Popen[bytes], root: Path, what: Callable[[Client], object]
) -> object | None:
    """What a session with a daemon says; None where the daemon died before or meanwhile."""
    until = time.monotonic() + SECONDS
    while daemon.poll() is None and time.monotonic() < until:
        try:
            with Client.connect(product.address, SECONDS) as client:
                client.initialize(root, "aurora-cli", None, timeout=SECONDS)
                return what(client)
        except DaemonUnreachable:
            time.sleep(0.01)
        except RequestFailed as error:
            if daemon.poll() is None and "is not running" not in str(error):
                time.sleep(0.2)  # it may be dying of it
                assert daemon.poll() is not None, error
    return None
