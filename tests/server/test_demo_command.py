"""`aurora demo`: every step does what it says, nothing of this user's is touched, and nothing is left."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import psutil
import pytest

from aurora_cli import demo as demo_module
from aurora_cli.app import run
from aurora_cli.demo import STEPS
from tests.e2e.product import Product
from tests.server.terminals import at_terminal


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that temporary folders are made in."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # sockets need a short one
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def programs(folder: Path, **scripts: str) -> str:
    """A PATH with these shell scripts on it."""
    folder.mkdir()
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def nothing_is_left(temporary: Path) -> None:
    assert list(temporary.iterdir()) == []
    lines = [" ".join(each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"])]
    assert not [line for line in lines if str(temporary) in line]
    temporary.rmdir()


@pytest.mark.long
def test_every_step_shows_what_it_says(tmp_path: Path, temporary: Path) -> None:
    product = Product(tmp_path / "home")
    steps = product.json("demo", cwd=tmp_path)["steps"]
    shown = {each["command"]: each["output"] for each in steps}
    assert [each["exit"] for each in steps] == [1 if "validate" in each["command"] else 0 for each in steps], shown
    assert len(steps) == len(STEPS)
    assert "vouchers.md" in shown['aur mem "how is a voucher redeemed" --limit 3']
    assert "Basket.total" in shown['aur mem "who calls apply_discount" --limit 3'].splitlines()[0]
    assert "wrap_as_gift" in shown['aur mem "gift wrapping" --limit 1'].splitlines()[0]
    assert "not valid, 1 error" in shown["aurora manifest validate"]
    metrics = shown["aurora metrics"]
    assert "1 deliverable ended" in metrics and "–" not in metrics.partition("phases")[0], "all five are known"
    assert not (tmp_path / "home").exists()
    nothing_is_left(temporary)


@pytest.mark.long
def test_a_reader_may_leave_after_any_step(tmp_path: Path, temporary: Path) -> None:
    home = {"AURORA_HOME": str(tmp_path / "home"), "TMPDIR": str(temporary)}
    code, shown = at_terminal(["demo"], tmp_path, asked="q ends: ", typed="q", **home)
    assert code == 0 and f"1/{len(STEPS)} " in shown and f"2/{len(STEPS)} " not in shown
    nothing_is_left(temporary)


@pytest.mark.long
def test_without_git_the_walk_goes_on(tmp_path: Path, temporary: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    product = Product(tmp_path / "home", PATH=str(tools))
    done = product.aurora("demo", "--json", cwd=tmp_path)
    steps = json.loads(done.stdout)["steps"]
    assert all(each["exit"] == 0 or "validate" in each["command"] for each in steps), steps
    nothing_is_left(temporary)


@pytest.mark.long
def test_a_git_that_fails_is_told_in_a_line_and_the_walk_goes_on(tmp_path: Path, temporary: Path) -> None:
    path = programs(tmp_path / "bin", git="echo 'fatal: no such luck' >&2; exit 128")
    done = Product(tmp_path / "home", PATH=path).aurora("demo", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "aurora: git made no history of the shop (fatal: no such luck); the walk goes on without"
    ]
    assert len(json.loads(done.stdout)["steps"]) == len(STEPS)
    nothing_is_left(temporary)


def test_a_step_that_does_not_end_is_told_in_a_line(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_module, "_STEP_ENDS_WITHIN", 0.01)
    assert run(["demo"]) == 3
    assert capsys.readouterr().err == ("aurora: aurora index did not end within 0 seconds; run it again: aurora demo\n")
    nothing_is_left(temporary)
