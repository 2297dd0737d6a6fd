"""A folder of logs that is closed to its own user (mode 0): nothing stops for it, and doctor tells how to open it.

Root may enter every folder, so where the tests are root the product goes without that right.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import COMMAND, Product
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.soar.minds import Mind
from tests.server.client_requests import MEDIUM, TWO, configure, workspace
from tests.wait_limits import HANG

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")


class Ordinary(Product):
    """A product whose commands, and the daemon that they start, have no right that an ordinary user has not."""

    def aurora(self, *arguments: str | Path, cwd: Path, seconds: float = HANG) -> subprocess.CompletedProcess[str]:
        prefix: tuple[str, ...] = ()
        if os.geteuid() == 0:
            prefix = ("setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search")
        command = [*prefix, *COMMAND, *map(str, arguments)]
        return subprocess.run(
            command, cwd=cwd, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace(tmp_path / "ws")


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Ordinary]:
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv, to be without root's rights")
    with LoopbackProvider() as provider:
        provider.otherwise = Mind(TWO)
        configure(tmp_path / "home", provider)
        running = Ordinary(tmp_path / "home", **provider.environ)
        try:
            yield running
        finally:
            if running.address.log.parent.exists():
                running.address.log.parent.chmod(0o700)
            running.close()


def fine(product: Ordinary, *arguments: str, cwd: Path) -> str:
    done = product.aurora(*arguments, cwd=cwd)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done
    return done.stdout


@pytest.mark.long
def test_a_closed_folder_of_logs_stops_no_command(product: Ordinary, root: Path) -> None:
    logs = product.address.log.parent
    logs.mkdir(mode=0)
    logs.chmod(0)
    fine(product, "index", cwd=root)
    assert "expand" in fine(product, "mem", "expand", cwd=root)
    told = fine(product, "doctor", cwd=root)
    assert told.count(str(logs)) == 2, told
    assert f"! {logs} is closed: the daemon's log and conversation logs cannot be written there" in told
    assert f"→ run: chmod u+rwx '{logs}'" in told
    answered = json.loads(fine(product, "query", MEDIUM, "--json", cwd=root).splitlines()[-1])
    answered = answered.get("result", answered)
    assert answered["state"] == "complete"
    assert [each for each in answered["notices"] if str(logs) in each] == [
        f"the conversation log cannot be written in {logs}/conversations: Permission denied; run: chmod u+rwx '{logs}'"
    ]
    for command in (("daemon", "status"), ("metrics",), ("status",), ("report", "cumulative"), ("daemon", "stop")):
        fine(product, *command, cwd=root)
    assert not product.processes()
    refused = product.aurora("logs", "list", cwd=root)
    assert refused.returncode == 2
    assert refused.stderr.strip().endswith(
        f"{logs} is closed, and conversation logs are in it; run: chmod u+rwx '{logs}'"
    )


@pytest.mark.long
def test_a_running_daemon_whose_logs_are_closed_writes_on_once_they_are_open(product: Ordinary, root: Path) -> None:
    logs = product.address.log.parent
    fine(product, "query", MEDIUM, cwd=root)
    fine(product, "daemon", "stop", cwd=root)
    before = _last(product)
    logs.chmod(0)
    fine(product, "mem", "expand", cwd=root)
    fine(product, "index", cwd=root)
    logs.chmod(0o700)
    assert _last(product) == before
    fine(product, "index", cwd=root)
    fine(product, "daemon", "stop", cwd=root)
    assert _last(product)["message"] == "daemon stopped"
    assert _last(product)["time"] > before["time"]


def _last(product: Ordinary) -> dict[str, Any]:
    lines = product.address.log.read_text().splitlines()
    return dict(json.loads(lines[-1]))
