"""Corpus of real code to measure on (test data): an sdist from the package registry, unpacked once into `.bench/`."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SDIST = "sympy==1.14.0"
FOLDER = Path(__file__).parents[2] / ".bench"


def corpus() -> Path:
    """The sdist that speed is measured on."""
    return package(SDIST)


def package(name: str) -> Path:
    """An unpacked sdist (`rich==13.9.4`); downloaded when it is not there yet."""
    root = FOLDER / name.replace("==", "-")
    if root.is_dir():
        return root
    FOLDER.mkdir(exist_ok=True)
    command = "-m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all:"
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        subprocess.run([sys.executable, *command.split(), "--dest", folder, name], check=True)
        (archive,) = Path(folder).glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        (unpacked,) = (entry for entry in Path(folder).iterdir() if entry.is_dir())
        unpacked.rename(root)
    return root


def python_files(root: Path) -> list[Path]:
    """Every Python file of the corpus."""
    return sorted(root.rglob("*.py"))
