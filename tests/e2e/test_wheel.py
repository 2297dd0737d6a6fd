"""The wheel, in an environment of its own, inside a workspace whose own modules lie in wait to be imported."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.product import Product, eventually
from tests.e2e.repositories import large
from tests.wait_limits import INSTALL_HANG

CHECKOUT = Path(__file__).resolve().parents[2]
TRAPS = (
    "server",
    "memory",
    "indexer",
    "protocol",
    "schemas",
    "click",
    "msgspec",
    "pygls",
    "numpy",
    "tree_sitter",
    "aurora_protocol",
    "aurora_memory",
    "aurora_indexer",
)
"""Not `sitecustomize`: with `PYTHONPATH=.` the interpreter takes that before our code runs."""
FIRST = ("re.py", "aurora_cli.py", "aurora_server.py")
"""What a script, or `python -m`, imports before our code runs: our own script looks for it elsewhere."""
FILES = 60

pytestmark = [pytest.mark.long, pytest.mark.timeout(2 * INSTALL_HANG)]


def run(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command that has to succeed."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AURORA", "VIRTUAL"))}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=plain | variables,
        capture_output=True,
        text=True,
        timeout=INSTALL_HANG,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, CHECKOUT, cwd=folder)
    (built,) = folder.glob("aurora_context-*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `aurora` and `aur` in a fresh environment."""
    environment = tmp_path_factory.mktemp("fresh") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment.parent)
    python = environment / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    # Not compiled: most of what is installed is never imported here, and what is gets compiled then.
    run(*pip, "install", "--quiet", "--disable-pip-version-check", "--no-compile", wheel, cwd=environment.parent)
    return environment / "bin"


@pytest.fixture
def trapped(tmp_path: Path) -> Path:
    """A workspace with code to be found, and modules that leave a mark when they are imported."""
    root = large(tmp_path / "work", FILES)
    spring = f"open({str(tmp_path / 'sprung')!r}, 'a').write(__name__ + '\\n')\n"
    for name in TRAPS:
        (root / name).mkdir()
        (root / name / "__init__.py").write_text(spring)
    for name in ("json.py", "typing.py", "socket.py", "asyncio.py", "sqlite3.py"):
        (root / name).write_text(spring)
    return root


@pytest.fixture
def home(tmp_path: Path, programs: Path) -> Iterator[Path]:
    home = tmp_path / "home"
    yield home
    run(programs / "aurora", "daemon", "stop", cwd=Path("/"), AURORA_HOME=str(home))
    eventually(lambda: not Product(home).processes(), "everything ends")


def test_the_wheel_carries_queries_schemas_and_nothing_of_the_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    rooms = {
        f"aurora_{room}"
        for room in (
            "cli",
            "server",
            "orchestration",
            "deliverables",
            "indexer",
            "memory",
            "team",
            "manifest",
            "protocol",
            "schemas",
        )
    }
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == rooms
    others = {name.split(".data/")[1] for name in names if ".data/" in name}
    manual = {"data/share/man/man1/aurora.1", "data/share/man/man1/aur.1"}
    assert others == {*manual, "scripts/aurora", "scripts/aur"}
    source = CHECKOUT / "indexer" / "aurora_indexer" / "languages"
    assert {"aurora_memory/word_vectors.npz", "aurora_memory/word_vectors.json"} <= set(names)
    queries = {f"aurora_indexer/languages/{path.name}" for path in source.glob("*.scm")}
    assert queries and queries <= set(names)
    assert {f"aurora_schemas/{path.name}" for path in CHECKOUT.glob("schemas/aurora_schemas/*.json")} <= set(names)
    assert {f"{room}/py.typed" for room in rooms} <= set(names)
    assert any(name.endswith("LICENSE") for name in names)


def test_it_runs_from_anywhere(programs: Path, tmp_path: Path) -> None:
    for program in ("aurora", "aur"):
        assert re.fullmatch(r"aurora \d+\.\d+\.\d+\n", run(programs / program, "--version", cwd=tmp_path).stdout)


@pytest.mark.parametrize("how", ["script", "module"])
def test_nothing_of_the_workspace_is_imported(
    programs: Path, trapped: Path, home: Path, tmp_path: Path, how: str
) -> None:
    """By the command, the daemon it starts, or the workers that one starts."""
    command = (programs / "aur",) if how == "script" else (programs / "python", "-P", "-m", "aurora_cli")
    for name in FIRST if how == "script" else ():
        (trapped / name).write_text((trapped / "json.py").read_text())
    variables = {"AURORA_HOME": str(home), "PYTHONPATH": "."}
    answer = run(*command, "mem", "handler_7_5", "--json", cwd=trapped, **variables)
    best = json.loads(answer.stdout)["results"][0]
    assert (best["file"], best["name"]) == ("pack_0/module_7.py", "handler_7_5")
    run(*command, "doctor", cwd=trapped, **variables)
    run(*command, "--workspace", trapped, "index", cwd=tmp_path, **variables)
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()
    # The traps do spring: an interpreter that is not careful steps into them.
    run(programs / "python", "-c", "import json, click", cwd=trapped, PYTHONPATH=".")
    assert (tmp_path / "sprung").read_text().split() == ["json", "click"]
