"""Threads and processes that the system refuses, for real: who asks is told in time, and the end is an end.

Of root the kernel refuses none (RLIMIT_NPROC), so where the tests are root the product is another user's.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.product import COMMAND, Product, eventually
from tests.e2e.repositories import large
from tests.wait_limits import HANG

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform != "linux", reason="prlimit is Linux's")]

SOME_USER = 61_000 + os.getpid() % 4_000
"""A user who has no process yet: the limit counts all of a user's."""
COMMANDS = (("mem", "handler_7_5"), ("index",), ("doctor",), ("deliverable", "list"), ("deliverable", "start", "x"))


class OtherUser(Product):
    """A product of a user whom the system can refuse things. Only its commands can be given: we are somebody else."""

    def __init__(self, home: Path, prefix: tuple[str, ...]) -> None:
        super().__init__(home, HOME=str(home.parent))
        self._prefix = prefix

    def aurora(self, *arguments: str | Path, cwd: Path, seconds: float = HANG) -> subprocess.CompletedProcess[str]:
        return self.limited(None, *arguments, cwd=cwd, seconds=seconds)

    def limited(
        self, processes: int | None, *arguments: str | Path, cwd: Path, seconds: float = HANG
    ) -> subprocess.CompletedProcess[str]:
        """Run one command that gets so many processes and threads with all that it starts."""
        limit = () if processes is None else ("prlimit", f"--nproc={processes}:{processes}")
        command = [*limit, *self._prefix, *COMMAND, *map(str, arguments)]
        return subprocess.run(
            command, cwd=cwd, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )

    def refuse(self, daemon: psutil.Process) -> None:
        """From now on no thread and no process for the daemon and its children. Said by their own user, who may."""
        for each in [daemon, *daemon.children(recursive=True)]:
            said = [*self._prefix, "prlimit", f"--pid={each.pid}", "--nproc=0:"]
            done = subprocess.run(said, check=False, capture_output=True, timeout=HANG)
            assert done.returncode == 0 or not each.is_running(), done.stderr  # a worker may have ended meanwhile


@pytest.fixture
def product(tmp_path: Path) -> Iterator[OtherUser]:
    place = tmp_path / "theirs"
    place.mkdir()
    prefix: tuple[str, ...] = ()
    if os.getuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("needs setpriv, to be another user")
        # Our interpreter may lie where only root reads.
        rights = [f"--{kind}=-all,+dac_override" for kind in ("inh-caps", "ambient-caps", "bounding-set")]
        prefix = ("setpriv", f"--reuid={SOME_USER}", f"--regid={SOME_USER}", "--clear-groups", *rights)
        for folder in (tmp_path, *tmp_path.parents[:2]):
            folder.chmod(0o755)
        os.chown(place, SOME_USER, SOME_USER)
    running = OtherUser(place / "home", prefix)
    done = subprocess.run([*prefix, sys.executable, "-c", ""], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"nobody else can be run here: {done.stderr.strip()}")
    try:
        yield running
    finally:
        running.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return large(tmp_path / "work", 40)


def one_line_at_most(done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert done.returncode in (0, 1, 2, 3), done  # and not 130: nobody cancelled anything
    if done.returncode > 1:
        assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("seed", range(2))
def test_a_daemon_that_gets_no_more_threads_answers_and_ends(product: OtherUser, root: Path, seed: int) -> None:
    chance = random.Random(seed)
    product.json("index", cwd=root)
    (daemon,) = product.daemons()
    product.refuse(daemon)
    large(root, 200)
    for command in chance.sample(COMMANDS, len(COMMANDS)):
        one_line_at_most(product.aurora(*command, cwd=root, seconds=60))
    if seed:
        for each in daemon.children(recursive=True):  # nobody can be started in their place
            each.kill()
        for command in chance.sample(COMMANDS, len(COMMANDS)):
            one_line_at_most(product.aurora(*command, cwd=root, seconds=60))
    stopped = product.aurora("daemon", "stop", cwd=root, seconds=60)
    assert stopped.returncode == 0, stopped
    assert not daemon.is_running() or daemon.status() == psutil.STATUS_ZOMBIE, "it said that it stopped"
    eventually(lambda: not product.processes(), "nothing goes on", seconds=20)
    best = product.json("mem", "handler_199_5", cwd=root)["results"][0]
    assert best["name"] == "handler_199_5"


@pytest.mark.parametrize("processes", [1, 2, 3, 5, 8])
def test_a_daemon_that_gets_few_threads_from_its_start_says_so_or_works(
    product: OtherUser, root: Path, processes: int
) -> None:
    one_line_at_most(product.limited(processes, "mem", "handler_7_5", cwd=root, seconds=90))

    def stopped() -> bool:  # it may only be coming up
        one_line_at_most(product.aurora("daemon", "stop", cwd=root, seconds=60))
        return not product.processes()

    eventually(stopped, "nothing goes on", seconds=60)
    assert product.json("mem", "handler_7_5", cwd=root)["results"][0]["name"] == "handler_7_5"
