"""Every fault on every command and every method (test matrix): a table whose cells are tried in a seeded order.

    python -m tests.torture.table [--seed N] [--seconds S] [--only FAULT] [--target TARGET]

Prints how often each cell was tried, so that one that never was is seen. A slice of it is a trial of `make torture`.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from aurora_protocol import DaemonUnreachable, RequestFailed
from aurora_protocol.launch import ensure_daemon
from tests.e2e.product import COMMAND, Product, product_in
from tests.torture.faults import DAMAGES, FAULTS, NotHere
from tests.torture.targets import COMMANDS, LOSE, METHODS, SERVE, TARGETS
from tests.torture.workspace import SECONDS, answers, ended, events, kept, tell, workspace

CELLS: tuple[tuple[str, str], ...] = tuple((fault, target) for fault in FAULTS for target in TARGETS)
LONGEST = 40.0
"""Seconds that a command or a request may take, whatever happens to the daemon."""
SERVING = 1.5
"""Seconds after which a command that goes on is ended."""
SLICE = 4
"""Cells of one trial of `make torture`; they share a fault."""

REFUSED = ("descriptors", "memory", "processes")

Done = Callable[[str, str], None]


def cells(chance: random.Random, folder: Path) -> None:
    """A few cells of one fault."""
    name = chance.choice(list(FAULTS))
    row(chance, folder, name, chance.sample(TARGETS, SLICE), lambda fault, target: None)


def row(chance: random.Random, folder: Path, name: str, targets: list[str], done: Done) -> None:
    """A fault on some targets, one after another, in one home. `done` is told of each cell that held."""
    homeless = {"HOME": str(folder / "user"), "XDG_CONFIG_HOME": str(folder / "user" / "config")}
    (folder / "user").mkdir()
    with product_in(folder / "home", **homeless) as product:
        root = workspace(folder)
        _furnish(product, root, folder)
        told: list[str] = []
        for target in targets:
            where = f"{name} on {target}"
            assert tell(product, root, told), f"before {where}: events are taken in"
            try:
                with FAULTS[name](product, root, chance):
                    _tried(product, root, folder, target, refused=name in REFUSED)
                _check(product, root, name, target, told)
            except NotHere:
                return
            except (AssertionError, subprocess.SubprocessError) as error:
                raise AssertionError(f"{where}: {error}") from error
            done(name, target)


def furnish(root: Path) -> None:
    """What of it stands in the workspace."""
    (root / "aura.json").write_text('{"name": "x"}')


def _furnish(product: Product, root: Path, folder: Path) -> None:
    """What arguments of targets name."""
    furnish(root)
    event = {"event_type": "phase_start", "phase": "apply", "change_id": "x", "timestamp": "2026-01-01T00:00:00Z"}
    (folder / "events.jsonl").write_text(json.dumps({**event, "id": "told-by-file"}) + "\n")
    product.json("index", cwd=root)
    product.json("memory", "export", folder / "in.jsonl", cwd=root)


def _tried(product: Product, root: Path, folder: Path, target: str, *, refused: bool) -> None:
    """One command or request, which ends in time and says nothing that is meant for us only.

    Where the system refuses the daemon something, any line of it may fail: that it says so in one line is enough.
    """
    began = time.monotonic()
    if target in METHODS:
        text = json.dumps(METHODS[target]).replace("{folder}", str(folder)).replace("{root}", str(root))
        said = _asked(product, root, target, json.loads(text))
    else:
        arguments = [each.format(folder=folder, root=root) for each in COMMANDS[target]]
        said = _run(product, root, [*target.split(), *arguments], serves=target in SERVE)
    took = time.monotonic() - began
    assert took < LONGEST, f"it took {took:.0f} s: {said[-300:]}"
    assert "Traceback" not in said and (refused or "failed inside AURORA" not in said), said[-1500:]
    assert "\x1b" not in said and "Exception ignored" not in said, repr(said[-1500:])


def _asked(product: Product, root: Path, method: str, params: dict[str, object]) -> str:
    try:
        with ensure_daemon(product.address, environ=product.environment, timeout=LONGEST / 4) as session:
            session.initialize(root, "aurora-cli", None, timeout=LONGEST / 4)
            return json.dumps(session.request(method, params, timeout=LONGEST / 2))
    except (DaemonUnreachable, RequestFailed) as error:
        return str(error)


def _run(product: Product, root: Path, arguments: list[str], *, serves: bool) -> str:
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=root,
        env=product.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
    )
    try:
        if serves:
            try:
                process.wait(SERVING)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=SECONDS)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    assert process.returncode in (0, 1, 2, 3, -15, 130, 143), f"exit {process.returncode}: {said[-1500:]}"
    return said


def _check(product: Product, root: Path, fault: str, target: str, told: list[str]) -> None:
    """With the fault gone all is as before, and what was acknowledged is there."""
    if fault in DAMAGES:
        product.aurora("doctor", "--repair", cwd=root, seconds=SECONDS)
    if fault == "fill" or fault in REFUSED:
        stopped = product.aurora("daemon", "stop", cwd=root, seconds=SECONDS)
        assert stopped.returncode == 0, f"it cannot be stopped: {stopped.stdout}{stopped.stderr}"
        ended(product)
    answers(product, root)
    assert len(product.daemons()) == 1, product.processes()
    if target in LOSE or fault in DAMAGES:
        told.clear()
        return
    lost = set(told) - events(product)
    files = {path.name: path.stat().st_size for path in (product.home / "memory").iterdir()}
    if lost:
        later = set(told) - events(product)  # whether they were only not there yet
        raise AssertionError(
            f"{len(lost)} of {len(told)} acknowledged events are lost: {sorted(lost)[:9]}, a moment later "
            f"{sorted(later)[:9]}; {files}; the home is kept as {kept(product)}"
        )


def table_text(tried: Counter[tuple[str, str]]) -> str:
    """Targets by faults: how often each was tried, a point where never."""
    wide = max(map(len, TARGETS))
    lines = [" " * wide + " " + " ".join(FAULTS)]
    for target in TARGETS:
        counts = (str(tried[name, target] or ".").rjust(len(name)) for name in FAULTS)
        lines.append(f"{target.ljust(wide)} {' '.join(counts)}")
    return "\n".join(lines)


def main() -> int:
    """Try cells until the time is over, those first that were not tried yet; returns 1 where one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.table")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--only", choices=list(FAULTS))
    parser.add_argument("--target", choices=TARGETS)
    wanted = parser.parse_args()
    chance = random.Random(wanted.seed)
    until = time.monotonic() + wanted.seconds
    left = [cell for cell in CELLS if wanted.only in (None, cell[0]) and wanted.target in (None, cell[1])]
    chance.shuffle(left)
    tried: Counter[tuple[str, str]] = Counter()
    failed: list[str] = []
    while left and time.monotonic() < until:
        name = left[0][0]
        targets = [target for fault, target in left if fault == name][:12]
        left = [cell for cell in left if cell[0] != name or cell[1] not in targets]
        while targets and time.monotonic() < until:
            before = tried.total()
            try:
                with tempfile.TemporaryDirectory(prefix="torture-") as folder:
                    row(chance, Path(folder), name, targets, lambda *cell: tried.update([cell]))
            except Exception as error:  # noqa: BLE001 - whatever it is, the other cells go on and this one is told
                failed.append(f"{error}"[:600])
                print(f"failed: {failed[-1]}\n{traceback.format_exc(limit=-3)}", flush=True)
                tried[name, targets[tried.total() - before]] += 1
            targets = targets[tried.total() - before :] if tried.total() > before else []
        print(f"{name}: {tried.total()} of {len(CELLS)} cells, {len(failed)} failed", flush=True)
    print(table_text(tried), f"seed {wanted.seed}; {len(failed)} failed", *failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
