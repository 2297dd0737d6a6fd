"""A small workspace of a tortured product (fixture), what it is told, and the invariants that must hold afterwards."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from aurora_protocol import DaemonUnreachable, RequestFailed
from tests.e2e.product import Product
from tests.memory import test_damage as damage

CODE = "def {}(x):\n    return x + {}\n"
SECONDS = 60
"""Within which every command of a tortured product ends."""


def workspace(folder: Path) -> Path:
    """Three files, of which `second_one` is asked for."""
    root = folder / "work"
    root.mkdir()
    for number, name in enumerate(("first_one", "second_one", "third_one")):
        (root / f"{name}.py").write_text(CODE.format(name, number))
    return root


def tell(product: Product, root: Path, told: list[str], count: int = 1) -> bool:
    """Have events taken in; those acknowledged are added to `told`. False where the daemon went away or refused."""
    names = [f"event-{len(told)}-{number}" for number in range(count)]
    lines = [
        json.dumps(
            {
                "event_type": "phase_start",
                "phase": "apply",
                "id": each,
                "change_id": "x",
                "timestamp": "2026-01-01T00:00:00Z",
            }
        )
        for each in names
    ]
    try:
        with product.session(root) as session:
            answer = session.request("aurora/deliverable", {"action": "ingest", "lines": lines}, timeout=SECONDS)
    except (DaemonUnreachable, RequestFailed):
        return False
    assert answer["refused"] == [], answer
    told += names
    return True


def events(product: Product) -> set[str]:
    """Events in the one memory file."""
    (database,) = product.databases()
    return {str(row[1]) for row in damage.learned(database)["deliverable_events"]}


def answers(product: Product, root: Path) -> None:
    """The product works as if nothing had been; only where it says that it is behind the files, it is asked again."""
    until = time.monotonic() + SECONDS
    while True:
        found = product.json("mem", "second_one", cwd=root)
        right = [each["name"] for each in found["results"]][:1] == ["second_one"]
        state = found["freshness"]
        if right or (state["pending_files"] == 0 and state["state"] == "ready" and state["heard"]):
            break
        if time.monotonic() > until:
            break
    assert right, json.dumps(found)[:1500]


def ended(product: Product) -> None:
    """No process of the product is left, after seconds."""
    until = time.monotonic() + 15
    while product.processes() and time.monotonic() < until:
        time.sleep(0.1)
    assert not product.processes(), f"left behind: {product.processes()}"


def kept(product: Product) -> Path:
    """A copy of a product's home that stays when the trial is over, to be looked into."""
    copy = Path(tempfile.mkdtemp(prefix="torture-kept-")) / "home"
    shutil.copytree(product.home, copy, ignore=lambda _, names: [name for name in names if name.endswith(".sock")])
    return copy


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """What a command said, for a message."""
    return f"{done.args[4:]} exit {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}"
