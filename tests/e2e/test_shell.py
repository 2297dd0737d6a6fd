"""In a shell: the fzf recipe of the README, and no colours for anything but a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.product import COMMAND, Product, product_in
from tests.e2e.repositories import shop
from tests.programs import start
from tests.wait_limits import HANG

README = Path(__file__).resolve().parents[2] / "editor-clients" / "shell" / "README.md"
COMMANDS = (
    ("mem", "total price"),
    ("mem", "total price", "--explain", "--content"),
    ("index",),
    ("daemon", "status"),
    ("doctor",),
    ("deliverable", "start", "add-search"),
    ("deliverable", "list"),
    ("deliverable", "show"),
    ("deliverable", "events"),
    ("metrics",),
    ("config", "get"),
    ("agents", "list"),
    ("budget", "status"),
    ("budget", "history"),
    ("logs", "today"),
    ("logs", "list"),
    ("report", "daily"),
    ("manifest", "validate", "aura.json"),
    ("trust", "--status"),
    ("query", "where is the total price", "--dry-run"),
    ("memory", "adopt", "--list"),
    ("completion", "bash"),
    ("--help",),
    ("mem", "--no-such-option"),
)
SHOWS_COLORS = (("mem", "total price"), ("deliverable", "list"), ("manifest", "validate", "aura.json"))


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product_in(tmp_path_factory.mktemp("aurora") / "home") as product:
        del product.environment["NO_COLOR"]
        product.environment["TERM"] = "xterm-256color"
        yield product


@pytest.fixture(scope="module")
def root(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = shop(tmp_path_factory.mktemp("work") / "shop")
    (root / "aura.json").write_text('{"protocol": "AURA", "version": "2.0"}\n')
    product.json("index", cwd=root)
    return root


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_piped_has_no_colours(product: Product, root: Path, command: tuple[str, ...]) -> None:
    done = product.aurora(*command, cwd=root)
    assert done.returncode in (0, 1, 2), done.stderr
    assert done.stdout or done.stderr
    assert "\x1b" not in done.stdout + done.stderr, (done.stdout, done.stderr)


@pytest.mark.parametrize("command", SHOWS_COLORS, ids=" ".join)
@pytest.mark.parametrize("off", ["", "--no-color", "NO_COLOR", "TERM"])
def test_a_terminal_has_them_unless_they_are_off(
    product: Product, root: Path, command: tuple[str, ...], off: str
) -> None:
    environment = dict(product.environment)
    environment.update({"NO_COLOR": {"NO_COLOR": "1"}, "TERM": {"TERM": "dumb"}}.get(off, {}))
    ours, theirs = pty.openpty()
    options = [off] if off.startswith("--") else []
    running = start([*COMMAND, *options, *command], cwd=root, env=environment, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while select.select([ours], [], [], HANG)[0]:
        try:
            piece = os.read(ours, 10_000)
        except OSError:  # the terminal's other end is closed
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    running.wait(HANG)
    assert said
    assert (b"\x1b[" in said) == (off == ""), said


def test_the_fzf_recipe_finds_a_place(product: Product, root: Path, tmp_path: Path) -> None:
    missing = [name for name in ("bash", "fzf", "jq") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    (recipe,) = re.findall(r"```bash\n# aurora: fzf\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    aur = tmp_path / "aur"
    aur.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m aurora_cli "$@"\n')
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "opened $*"\n')
    for program in (aur, editor):
        program.chmod(0o755)
    # `--filter` is fzf without its screen: the best match of what it was given comes first.
    script = f"""{recipe}
fzf() {{ command fzf "$@" --filter basket | head -n 1; }}
aurora_places 'total price of a basket' | command fzf --filter total_price
aurora_open 'total price of a basket'
"""
    environment = {**product.environment, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "EDITOR": str(editor)}
    done = subprocess.run(
        ["bash", "-c", script], cwd=root, env=environment, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stderr
    place, opened = done.stdout.splitlines()
    file, line, name = place.split(":")
    assert (file, name) == ("src/basket.py", "total_price")
    assert re.search("price|staticmethod", (root / file).read_text().splitlines()[int(line) - 1])
    found = re.fullmatch(r"opened \+(\d+) (\S+)", opened)
    assert found and (root / found[2]).is_file() and int(found[1]) > 0
