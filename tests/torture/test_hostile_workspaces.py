"""Workspaces made to harm: nothing of them runs, nothing outside of them is read or written, everybody else goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.product import Product, product_in, recall
from tests.torture.hostile_ways import WORKSPACES
from tests.torture.hostile_workspaces import MARK, Trap, trap_in
from tests.torture.workspace import SECONDS, workspace

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform == "win32", reason="made of links, pipes and modes"),
]

COMMANDS = (("index",), ("doctor",))
REQUESTS = ("aurora/status", "aurora/metrics", "aurora/index", "aurora/doctor")
SPOILED = ("links_out", "git_work_tree_elsewhere", "huge_files", "ignore_bomb")
"""Those in which `second_one` need not be found: the rules of the workspace leave it out."""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """One daemon for all of them, and a workspace of somebody else in it."""
    folder = tmp_path_factory.mktemp("hostile")
    with product_in(folder / "home") as running:
        running.json("index", cwd=workspace(folder))
        yield running


def state_of(folder: Path) -> dict[str, tuple[int, int, int]]:
    """What would differ if anything had been written: size, time and mode of all below a folder."""
    found = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        found[str(path)] = (status.st_size, status.st_mtime_ns, status.st_mode)
    return found


@pytest.mark.parametrize("name", WORKSPACES)
def test_a_workspace_made_to_harm_does_none(product: Product, tmp_path: Path, name: str) -> None:
    trap = trap_in(tmp_path)
    root = workspace(tmp_path)
    WORKSPACES[name](root, trap)
    trap.ran.unlink(missing_ok=True)  # git, as the workspace was made
    before = state_of(trap.outside)
    pid = product.pid()
    try:
        said = commands_in(product, root, name)
        with product.session(root) as session:
            found = recall(session, "second_one", limit=50) + recall(session, MARK, limit=50)
            for method in REQUESTS:
                session.request(method, timeout=SECONDS)
            session.request("aurora/deliverable", {"action": "list"}, timeout=SECONDS)
            session.request("aurora/query", {"query": "where is second_one", "dry_run": True}, timeout=SECONDS)
    finally:
        subprocess.run(["rm", "-rf", root], check=True)  # shutil's way down has an end
    names = [each["name"] for each in found]
    assert MARK not in names, "what is outside was indexed"
    assert "second_one" in names or name in SPOILED, f"{names}: the rest of it is found"
    assert "Traceback" not in said and "failed inside AURORA" not in said, said
    assert not any((ord(sign) < 32 and sign != "\n") or 0x7F <= ord(sign) < 0xA0 for sign in said), repr(said)
    assert not set(said) & set("\u202e\u2066\u200b\ufeff"), repr(said)
    held(product, tmp_path, trap, before)
    assert product.pid() == pid, "the daemon lives"


def commands_in(product: Product, root: Path, name: str) -> str:
    """What commands say there, each within its time, with `.` on every path of programs and modules."""
    said = []
    environment = {**product.environment, "PYTHONPATH": ".", "PATH": f".:{os.environ['PATH']}"}
    script = Path(sys.executable).with_name("aurora")
    for command in COMMANDS:
        began = time.monotonic()
        done = subprocess.run(
            [script, *command], cwd=root, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert time.monotonic() - began < SECONDS / 2, f"{command} took long"
        assert done.returncode in (0, 1, 2, 3), f"{name} {command}: {done}"
        said.append(done.stdout + done.stderr)
    return "".join(said)


def held(product: Product, folder: Path, trap: Trap, before: dict[str, tuple[int, int, int]]) -> None:
    """Nothing ran, nothing outside changed or was kept, and others are answered."""
    assert not trap.ran.exists(), f"something of it was run: {trap.ran.read_text()}"
    assert state_of(trap.outside) == before
    for path in product.databases():
        assert MARK.encode() not in path.read_bytes(), "what is outside stands in memory"
    other = product.home.parent / "work"
    with product.session(other) as session:
        assert recall(session, "second_one")[0]["name"] == "second_one"


def test_a_sitecustomize_runs_in_the_client_and_never_in_the_daemon(tmp_path: Path) -> None:
    """The interpreter runs it before our first line (SECURITY.md says so); what it starts has none of it."""
    root = workspace(tmp_path)
    (root / "sitecustomize.py").write_text(
        f"import sys; open({str(tmp_path / 'ran')!r}, 'a').write(repr(sys.orig_argv) + '\\n')\n"
    )
    with product_in(tmp_path / "home", PYTHONPATH=str(root)) as product:
        done = product.aurora("index", cwd=root)
        assert done.returncode == 0, done.stderr
        ran = (tmp_path / "ran").read_text()
        assert "index" in ran, "the client; if this fails, SECURITY.md can say better"
        assert "--detached" not in ran and "worker" not in ran
