"""What the command line imports: little, and never a workspace's own modules."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_cli.import_path import closed_path
from aurora_protocol.address import Address
from tests.fake_daemon import FakeDaemon

REPLY: dict[str, Any] = {
    "query": "x",
    "took_ms": 1.0,
    "freshness": {"indexed_at": "2026-11-21T20:00:00Z", "pending_files": 0, "skipped_files": 0, "state": "ready"},
    "results": [],
    "hint": None,
}
MODULES = "import sys; before = set(sys.modules); from aurora_cli import main; sys.argv[1:] = ['mem', 'x']; "
MODULES += "from aurora_cli import fast_exit; "
MODULES += "fast_exit.leave = lambda code: print(*sys.modules.keys() - before) or code; main()"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(Address.of(tmp_path / "h"), {"aurora/recall": lambda session, params: REPLY}) as running:
        yield running


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A workspace whose modules, wherever one is imported, leave a mark."""
    root = tmp_path / "trap"
    (root / ".git").mkdir(parents=True)
    (root / "sub").mkdir()
    for name in ("json.py", "socket.py", "click.py", "struct.py", "__future__.py", "typing.py", "sub/json.py"):
        (root / name).write_text(f"open({str(tmp_path / 'sprung')!r}, 'a').write(__name__ + '\\n')\n")
    for name in ("server", "memory", "aurora_protocol", "pathlib", "collections", "re"):
        (root / name).mkdir()
        (root / name / "__init__.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'a').write(__name__ + '\\n')\n")
    return root


def environ(tmp_path: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "AURORA_HOME": str(tmp_path / "h"), **more}


def test_mem_imports_only_what_it_needs(daemon: FakeDaemon, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", MODULES], cwd=tmp_path, env=environ(tmp_path), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "aurora_protocol.client" in loaded
    slow = {"asyncio", "subprocess", "logging", "tempfile", "hashlib", "importlib.metadata"}
    late = {
        "aurora_cli.headless",
        "aurora_cli.index",
        "aurora_cli.table",
        "aurora_protocol.launch",
        "aurora_protocol.methods",
    }
    assert (slow | late) & loaded == set()
    foreign = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert foreign == {"aurora_cli", "aurora_protocol", "click"}


def test_a_hook_of_an_agent_does_not_wait_for_the_structs_of_events(tmp_path: Path) -> None:
    replies = {"aurora/deliverable": lambda session, params: {"accepted": 1, "change_ids": ["one"]}}
    words = MODULES.replace("['mem', 'x']", "['deliverable', 'ingest', '--claude-code-hook', '--json']")
    with FakeDaemon(Address.of(tmp_path / "h"), replies):
        done = subprocess.run(
            [sys.executable, "-P", "-c", words],
            cwd=tmp_path, env=environ(tmp_path), input="{}", capture_output=True, text=True,
        )  # fmt: skip
    assert done.returncode == 0 and '"accepted": 1' in done.stderr, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "aurora_cli.deliverable_ingest" in loaded
    assert {"msgspec", "asyncio", "rich", "numpy", "aurora_deliverables.events"} & loaded == set()


@pytest.mark.parametrize("folder", [".", "sub"])
@pytest.mark.parametrize("pythonpath", [".", "{root}", "{root}:{root}/sub"])
def test_a_workspaces_modules_are_never_imported(
    daemon: FakeDaemon, tmp_path: Path, trap: Path, folder: str, pythonpath: str
) -> None:
    polluted = environ(tmp_path, PYTHONPATH=pythonpath.format(root=trap))
    code = "import sys; from aurora_cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "mem", "x"], cwd=trap / folder, env=polluted, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()


def test_what_is_dropped_from_the_import_path() -> None:
    own = "/w/venv/lib/site-packages/aurora_cli/import_path.py"
    site = "/w/venv/lib/site-packages"
    path = ["/w", "/w/lib", "/elsewhere", site, "/usr/lib/python3"]
    assert closed_path(path, ["/w", "/w/lib", "/elsewhere"], ["/w"], own) == ["/elsewhere", site, "/usr/lib/python3"]
    assert closed_path([site], [site], ["/w"], own) == [site], "where we are ourselves is where we have to look"
    assert closed_path(["/work2"], ["/work2"], ["/work"], own) == ["/work2"]
    checkout = "/w/server/aurora_cli/import_path.py"
    assert closed_path(["/w", "/w/server", "/w/memory"], ["/w", "/w/server", "/w/memory"], ["/w"], checkout) == [
        "/w/server",
        "/w/memory",
    ]
