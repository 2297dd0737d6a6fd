"""Faults of a running daemon (resource exhaustion): stopped, its files pulled away, its disk full, descriptors and
memory refused, requests that make no sense, a workspace made to harm, another user. Nothing acknowledged is lost or
left behind.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from aurora_protocol import (
    RequestFailed,
    deliverable_methods,
    memory_methods,
    methods,
    query_methods,
)
from tests.e2e.product import product_in
from tests.torture.workspace import CODE, SECONDS, answers, ended, events, one_line, tell, workspace
from tests.wait_limits import HANG

METHODS = sorted(
    {
        value
        for module in (methods, deliverable_methods, memory_methods, query_methods)
        for value in vars(module).values()
        if isinstance(value, str) and re.fullmatch(r"aurora/[A-Za-z/]+", value)
    }
    - {methods.STOP}
)
AT = {"change_id": "x", "timestamp": "2026-01-01T00:00:00Z"}
FIELDS = ("query", "limit", "id", "action", "lines", "path", "text_document", "token_budget", "change_id", "root")
PULLS = ("remove", "remove one", "remove log", "empty", "halve", "cut log", "folder", "pipe", "link")
COMMANDS = (
    ("mem", "second_one"),
    ("index",),
    ("doctor",),
    ("doctor", "--repair"),
    ("daemon", "status"),
    ("deliverable", "list"),
    ("memory", "export", "-"),
    ("report", "cumulative"),
)


def stop(chance: random.Random, folder: Path) -> None:
    """A daemon that was stopped in its work (SIGSTOP): commands say so in seconds, `daemon stop` ends it."""
    with product_in(folder / "home") as product:
        root = workspace(folder)
        product.json("index", cwd=root)
        time.sleep(chance.uniform(0.0, 0.3))
        (daemon,) = product.daemons()
        daemon.suspend()
        done = product.aurora(*chance.choice(COMMANDS), cwd=root, seconds=25)
        assert done.returncode == 3 and "was stopped (SIGSTOP)" in done.stdout + done.stderr, one_line(done)
        assert product.aurora("daemon", "stop", cwd=root, seconds=SECONDS).returncode == 0
        ended(product)
        answers(product, root)


def pull(chance: random.Random, folder: Path) -> None:
    """A memory file or its log taken away or cut under its daemon: `doctor` says so, `--repair` mends it once."""
    with product_in(folder / "home") as product:
        root = workspace(folder)
        product.json("index", cwd=root)
        told: list[str] = []
        tell(product, root, told)
        (database,) = product.databases()
        log = database.with_name(f"{database.name}-wal")
        how = chance.choice(PULLS)
        match how:
            case "remove":
                for each in database.parent.iterdir():
                    each.unlink()
            case "remove one" | "folder" | "pipe" | "link":
                database.unlink()
                if how == "folder":
                    database.mkdir()
                elif how == "pipe":
                    os.mkfifo(database)
                elif how == "link":
                    database.symlink_to(folder / "nowhere")
            case "remove log":
                log.unlink()
            case "cut log":
                os.truncate(log, log.stat().st_size // 2)
            case _:
                os.truncate(database, database.stat().st_size // 2 if how == "halve" else 0)
        before = product.aurora("doctor", cwd=root)
        assert before.returncode == 1, f"{how}: {one_line(before)}"
        mended = product.aurora("doctor", "--repair", cwd=root)
        after = product.aurora("doctor", cwd=root)
        assert after.returncode == 0, f"{how}: {one_line(mended)}\n{one_line(after)}"
        answers(product, root)
        product.aurora("daemon", "stop", cwd=root)
        product.check_databases()
        if how not in ("cut log", "halve"):
            assert set(told) <= events(product), how


def fill(chance: random.Random, folder: Path) -> None:
    """A disk that is full (ENOSPC): one line says so, what was acknowledged stays, and with room again all is well."""
    with product_in(folder / "home") as product:
        root = workspace(folder)
        product.json("index", cwd=root)
        (daemon,) = product.daemons()
        told: list[str] = []
        tell(product, root, told)
        (database,) = product.databases()
        _, hard = daemon.rlimit(psutil.RLIMIT_FSIZE)
        daemon.rlimit(
            psutil.RLIMIT_FSIZE, (database.stat().st_size // 4096 * 4096 + chance.choice((0, 4096, 65536)), hard)
        )
        for _ in range(6):
            tell(product, root, told, count=chance.choice((1, 50, 300)))
            done = product.aurora(*chance.choice(COMMANDS), cwd=root, seconds=SECONDS)
            assert "Traceback" not in done.stdout + done.stderr, one_line(done)
        if daemon.is_running():
            daemon.rlimit(psutil.RLIMIT_FSIZE, (hard, hard))
        answers(product, root)
        product.aurora("daemon", "stop", cwd=root)
        assert set(told) <= events(product)
        product.check_databases()


def refuse(chance: random.Random, folder: Path) -> None:
    """Descriptors, memory or processes refused: commands end with a line, `stop` says what is true, nothing is left."""
    with product_in(folder / "home") as product:
        root = workspace(folder)
        product.json("index", cwd=root)
        (daemon,) = product.daemons()
        told: list[str] = []
        tell(product, root, told)
        what = chance.choice(("descriptors", "memory", "processes"))
        if what == "descriptors":
            daemon.rlimit(psutil.RLIMIT_NOFILE, (daemon.num_fds() + chance.randrange(4), 1024))
        elif what == "memory":
            # With one megabyte more CPython itself may hang, one time in eight: `Thread.start` waits for good for a
            # thread on a stack that was there already, which has no memory for its first step (Python 3.11).
            room = daemon.memory_info().vms + (chance.choice((8, 64)) << 20)
            daemon.rlimit(psutil.RLIMIT_AS, (room, room))
        else:
            daemon.rlimit(psutil.RLIMIT_NPROC, (0, 0))
        for number in range(400):
            (root / f"more_{number}.py").write_text(CODE.format(f"more_{number}", number) * 30)
        for _ in range(4):
            done = product.aurora(*chance.choice(COMMANDS), cwd=root, seconds=SECONDS)
            assert "Traceback" not in done.stdout + done.stderr, f"{what}: {one_line(done)}"
            tell(product, root, told)
        stopped = product.aurora("daemon", "stop", cwd=root, seconds=SECONDS)
        assert stopped.returncode == 0, f"{what}: {one_line(stopped)}"
        ended(product)
        answers(product, root)
        product.aurora("daemon", "stop", cwd=root)
        assert set(told) <= events(product), what


def ask(chance: random.Random, folder: Path) -> None:
    """Fuzzed params for every method, which make no sense: an answer or an error with a name, never a fault inside."""
    with product_in(folder / "home") as product:
        root = workspace(folder)
        product.json("index", cwd=root)
        (daemon,) = product.daemons()
        with product.session(root) as session:
            for method in [*METHODS, *chance.choices(METHODS, k=40)]:
                params = anything(chance, 0)
                try:
                    session.request(method, params if isinstance(params, dict) else {"query": params}, timeout=SECONDS)
                except RequestFailed as error:
                    assert "failed inside AURORA" not in str(error), f"{method} {params!r}: {error}"
        assert daemon.is_running() and [daemon] == product.daemons()
        answers(product, root)


def hostile(chance: random.Random, folder: Path) -> None:
    """A workspace made to harm: it is indexed, nothing of it runs, and no command takes long."""
    with product_in(folder / "home") as product:
        root = workspace(folder)
        ran = folder / "it-ran"
        program = f"#!/bin/sh\ntouch {ran}\n"
        python = f"open({str(ran)!r}, 'w')\n"
        for name in ("json.py", "sitecustomize.py", "aurora_server.py", "click.py"):
            (root / name).write_text(python)
        (root / ".aurora").mkdir()
        (root / ".aurora" / "config.json").write_text(
            chance.choice(("[" * 9999, "{", '{"agents": {"x": {"command": ["sh"]}}}', "\0"))
        )
        subprocess.run(["git", "init", "-q", root], check=True, timeout=SECONDS)
        (root / "run.sh").write_text(program)
        (root / "run.sh").chmod(0o755)
        with (root / ".git" / "config").open("a") as config:
            config.write(
                f"[core]\n\tfsmonitor = {root}/run.sh\n\tpager = {root}/run.sh\n[diff]\n\texternal = {root}/run.sh\n"
            )
        os.mkfifo(root / "pipe.py")
        (root / "loop").symlink_to(root)
        (root / "away.py").symlink_to("/etc/passwd")
        (root / "zero.py").symlink_to("/dev/zero")
        (root / ".gitignore").write_text("\n".join(f"**/x{n}*[a-z]?" for n in range(chance.choice((10, 2000)))))
        (root / "aura.json").write_text("[" * chance.choice((10, 100_000)))
        (root / os.fsdecode(b"\xff\xfe.py")).write_text("def odd(): pass\n")
        (root / "\x1b[31m;\n.py").write_text("def red(): pass\n")
        (root / "deep.json").write_text('{"a":' * 30_000)
        (root / "long.py").write_text("x = " + "(" * 20_000)
        (root / "random.py").write_bytes(chance.randbytes(200_000))
        for command in COMMANDS:
            done = product.aurora(*command, cwd=root, seconds=SECONDS)
            assert "Traceback" not in done.stdout + done.stderr, one_line(done)
            assert "\x1b" not in done.stdout + done.stderr, f"{command}: control characters reach the terminal"
        answers(product, root)
        assert not ran.exists(), "something of the workspace was run"


def stranger(chance: random.Random, folder: Path) -> None:
    """Another user of the machine: may not connect, read or write. Only root can try."""
    if sys.platform == "win32" or os.getuid() != 0:
        return
    with product_in(folder / "home") as product:
        folder.chmod(0o755)
        root = workspace(folder)
        product.json("index", cwd=root)
        names = [str(path) for path in product.home.rglob("*")]
        chance.shuffle(names)
        tries = (
            "import os, socket, sys, json\nos.setgid(65534); os.setuid(65534)\ndone = []\n"
            "for name in json.loads(sys.stdin.read()):\n"
            "    for how in (os.O_RDONLY, os.O_WRONLY):\n"
            "        try: os.close(os.open(name, how | os.O_NONBLOCK)); done.append(name)\n"
            "        except OSError: pass\n"
            "    try: socket.socket(socket.AF_UNIX).connect(name); done.append(name)\n"
            "    except OSError: pass\n"
            "print(json.dumps(done))"
        )
        said = subprocess.run(
            [sys.executable, "-I", "-c", tries],
            input=json.dumps(names),
            capture_output=True,
            text=True,
            timeout=HANG,
            check=True,
        )
        assert json.loads(said.stdout) == [], "another user came in"
        answers(product, root)


def anything(chance: random.Random, depth: int) -> Any:
    """A JSON value that nobody asked for; the names of fields are those that methods know."""
    match chance.randrange(9 if depth < 3 else 6):
        case 0:
            return chance.choice((None, True, False))
        case 1:
            return chance.choice((0, -1, 1 << 63, -(1 << 70), 3, 1e308, 0.5))
        case 2:
            return chance.choice(
                ("", "x", "code:a.py:f", "../../etc/passwd", "/dev/zero", "\0", "\ud7ff", "é" * 3000, "-1")
            )
        case 3:
            return "".join(map(chr, chance.choices(range(1, 0xD7FF), k=20)))
        case 4 | 5:
            return chance.choice(("ingest", "list", "second_one", "2026-01-01T00:00:00Z", "second_one.py:1"))
        case 6:
            return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
        case _:
            return {name: anything(chance, depth + 1) for name in chance.sample(FIELDS, chance.randrange(1, 6))}
