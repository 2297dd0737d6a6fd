"""A git that dies or does not answer, as on a machine under load: nothing is wrong with what AURORA keeps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.product import eventually, product_in
from tests.torture.workspace import events, tell, workspace


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's program stands for git")
def test_that_git_was_killed_is_no_fault_of_a_memory(tmp_path: Path) -> None:
    root = workspace(tmp_path)
    subprocess.run(["git", "init", "-q", root], check=True)
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text("#!/bin/sh\nkill -9 $$\n")
    git.chmod(0o755)
    with product_in(tmp_path / "home", PATH=f"{git.parent}{os.pathsep}{os.environ['PATH']}") as product:
        product.json("index", cwd=root)
        told: list[str] = []
        assert tell(product, root, told)

        def doubt() -> list[dict[str, str]]:
            found = product.json("doctor", cwd=root)["findings"]
            return [each for each in found if "not known whose" in each["what"]]

        (finding,) = eventually(doubt, "it is noticed that git does not answer")
        assert finding["level"] == "warning" and "again" in finding["fix"]
        assert product.aurora("doctor", "--repair", cwd=root).returncode == 0
        git.unlink()
        assert product.aurora("doctor", "--repair", cwd=root).returncode == 0
        assert doubt() == []
        assert set(told) <= events(product)
