"""Real code to measure on: an sdist from the package registry, unpacked once into `.bench/`."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

SDIST = "sympy==1.14.0"
FOLDER = Path(__file__).parents[2] / ".bench"


def corpus() -> Path:
    """The unpacked sdist; downloaded when it is not there yet."""
    root = FOLDER / SDIST.replace("==", "-")
    if root.is_dir():
        return root
    FOLDER.mkdir(exist_ok=True)
    command = "-m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all:"
    subprocess.run([sys.executable, *command.split(), "--dest", str(FOLDER), SDIST], check=True)
    (archive,) = FOLDER.glob("sympy-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(FOLDER, filter="data")
    return root


def python_files(root: Path) -> list[Path]:
    """Every Python file of the corpus."""
    return sorted(root.rglob("*.py"))
