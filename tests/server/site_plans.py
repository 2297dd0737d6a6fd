"""Requests in words to sites: the command, a configured provider, and plans as a model would answer them."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.orchestration.llm.loopback import Kind, LoopbackProvider
from tests.programs import CODE, start
from tests.server.client_requests import configure
from tests.server.sites import manifest_command
from tests.wait_limits import HANG


@contextmanager
def planning(home: Path, kind: Kind = "openai", **more: Any) -> Iterator[LoopbackProvider]:
    """A provider that plans by script, in the user's configuration; `more` are further sections of that."""
    with LoopbackProvider() as provider:
        configure(home, provider, kind, **more)
        yield provider


def do(
    home: Path, provider: LoopbackProvider, *arguments: str, said: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `aurora manifest do …` with the provider's key."""
    return manifest_command(home, "do", *arguments, said=said, **provider.environ)


def on_terminal(home: Path, provider: LoopbackProvider, arguments: list[str], typed: bytes) -> tuple[int, str]:
    """`aurora manifest do` on a terminal, where `typed` is typed once it asks.

    Ctrl-C is typed until it ends, as one would: CPython does not notice a signal between the prompt and its read.
    """
    main, other = pty.openpty()
    environment = {**os.environ, **provider.environ, "AURORA_HOME": str(home), "TERM": "xterm", "COLUMNS": "200"}
    process = start(
        [*CODE, AT_ITS_TERMINAL, "manifest", "do", *arguments],
        env=environment, stdin=other, stdout=other, stderr=other, cwd=home.parent, start_new_session=True,
    )  # fmt: skip
    os.close(other)
    shown, asked, end = b"", False, time.monotonic() + HANG
    while time.monotonic() < end:
        if not select.select([main], [], [], 1)[0]:
            if typed == INTERRUPT and b"Do it?" in shown:
                os.write(main, typed)
            continue
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
        if typed and not asked and b"Do it?" in shown:
            os.write(main, typed)
            asked = True
    os.close(main)
    return process.wait(HANG), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode("utf-8", "replace"))


def plan(*steps: dict[str, Any], impossible: str = "") -> dict[str, Any]:
    """A plan, as a model answers."""
    return {"steps": list(steps), "impossible": impossible}


def step(capability: str, *arguments: dict[str, Any], why: str = "") -> dict[str, Any]:
    """One step of it."""
    return {"capability": capability, "arguments": list(arguments), "why": why}


def value(name: str, of: Any) -> dict[str, Any]:
    """An argument that the model says itself."""
    return {"name": name, "value": json.dumps(of), "given": None, "step": None, "pointer": None}


def given(name: str, by: str | None = None) -> dict[str, Any]:
    """An argument that the user gave."""
    return {"name": name, "value": None, "given": by or name, "step": None, "pointer": None}


def answer(name: str, number: int, pointer: str) -> dict[str, Any]:
    """An argument out of an earlier step's answer."""
    return {"name": name, "value": None, "given": None, "step": number, "pointer": pointer}


INTERRUPT = b"\x03"  # what Ctrl-C types
AT_ITS_TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # Ctrl-C is to reach it
from aurora_cli import main
sys.exit(main())
"""
"""The command line, whose standard input is the terminal of its session."""
LOGIN = step("login", given("email"), given("password"), why="a session is needed to write")
LOGGING_IN = ("--arg", "email=demo@aura.dev", "--arg", "password=password123")
