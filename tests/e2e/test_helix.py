"""A real Helix on a terminal, with the `languages.toml` that its README tells people to add."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.e2e.product import product_in
from tests.e2e.repositories import shop, write
from tests.wait_limits import HANG

LANGUAGES = Path(__file__).resolve().parents[2] / "editor-clients" / "helix" / "languages.toml"
HELIX = os.environ.get("AURORA_TEST_HELIX") or shutil.which("hx") or shutil.which("helix")
BROKEN = '{\n  "protocol": "AURA",\n  "version": "2.0"\n}\n'
CONTROLS = re.compile(rb"\x1b\[[0-9;:?<>=]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)")

pytestmark = pytest.mark.skipif(HELIX is None, reason="helix is not installed")


class Screen:
    """A program on a terminal: keys go in, and everything it ever drew comes out, without positions and colours."""

    def __init__(self, command: list[str], cwd: Path, environment: dict[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        self.process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self._raw = b""

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def drawn(self) -> str:
        while select.select([self._ours], [], [], 0.2)[0]:
            self._raw += os.read(self._ours, 100_000)
        return CONTROLS.sub(b"", self._raw).decode("utf-8", "replace")

    def close(self) -> None:
        self.process.kill()
        self.process.wait(HANG)
        os.close(self._ours)


def test_it_hovers_and_tells_what_is_wrong(tmp_path: Path) -> None:
    root = write(shop(tmp_path / "shop"), {".well-known/aura.json": BROKEN})
    subprocess.run(["git", "init", "-q"], cwd=root, check=True, timeout=HANG)
    (tmp_path / "config" / "helix").mkdir(parents=True)
    shutil.copy(LANGUAGES, tmp_path / "config" / "helix" / "languages.toml")
    (tmp_path / "bin").mkdir()
    aurora = tmp_path / "bin" / "aurora"
    aurora.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m aurora_cli "$@"\n')
    aurora.chmod(0o755)
    with product_in(tmp_path / "home") as product:
        product.json("index", cwd=root)
        environment = {
            **product.environment,
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "TERM": "xterm-256color",
            "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }
        health = subprocess.run(
            [str(HELIX), "--health", "python"], env=environment, capture_output=True, text=True, timeout=HANG
        )
        assert str(aurora) in health.stdout
        screen = Screen([str(HELIX), "src/basket.py:20:6"], root, environment)
        try:
            _until(screen, "called by", " k")
        finally:
            screen.close()
        screen = Screen([str(HELIX), ".well-known/aura.json"], root, environment)
        try:
            _until(screen, "the manifest lacks", " d")
        finally:
            screen.close()


def _until(screen: Screen, wanted: str, keys: str) -> None:
    """Press keys, again and again while the session is not up yet, until something is drawn."""
    deadline = time.monotonic() + HANG
    while not re.search(wanted, screen.drawn()):
        assert time.monotonic() < deadline, screen.drawn()[-3000:]
        screen.press("\x1b")
        time.sleep(0.3)
        screen.press(keys)
        time.sleep(1)
