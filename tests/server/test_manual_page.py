"""The man page is that of the commands there are, and one that man can show."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import click
import pytest

from aurora_cli.app import COMMANDS, aurora
from aurora_cli.manual_page import manual_page
from tests.wait_limits import HANG

PAGE = Path(__file__).resolve().parents[2] / "docs" / "aurora.1"


def test_the_committed_page_is_up_to_date() -> None:
    assert manual_page(aurora) == PAGE.read_text("utf-8"), "run: python -m aurora_cli.manual_page > docs/aurora.1"


def test_every_command_is_in_it_with_its_options() -> None:
    page = manual_page(aurora)
    for name in COMMANDS:
        assert f'.SS "aurora {name}' in page
    assert r"\-\-budget" in page and r"\-\-json" in page
    assert "\x1b" not in page and "\b" not in page


def test_words_that_troff_would_read_as_its_own_are_shown_as_they_are() -> None:
    group = click.Group(commands=[click.Command("odd", help=".SH at the start, and a back\\slash - and more")])
    assert r"\&.SH at the start, and a back\eslash \- and more" in manual_page(group)


def test_man_shows_it_without_a_complaint() -> None:
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", str(PAGE)], capture_output=True, text=True, timeout=HANG
    )
    assert done.returncode == 0 and done.stderr == ""
    assert "aur mem" in done.stdout
