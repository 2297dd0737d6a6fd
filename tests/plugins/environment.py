"""An environment that has AURORA and room for plug-ins beside it, and what is run in it."""

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from tests.e2e.product import Product
from tests.wait_limits import HANG

SITE = Path(__file__).parent / "site"
BROKEN = "raise RuntimeError('no luck')\n"


def site_packages(python: Path) -> Path:
    """Where plug-ins are installed for this interpreter."""
    return Path(sysconfig.get_path("purelib", vars={"base": str(python.parents[1])}))


def install(python: Path, *, broken: bool = False) -> None:
    own = site_packages(python)
    for folder in SITE.iterdir():
        shutil.copytree(folder, own / folder.name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    if broken:
        (own / "aurora_example" / "__init__.py").write_text(BROKEN)


def uninstall(python: Path) -> None:
    for folder in site_packages(python).glob("aurora_example*"):
        shutil.rmtree(folder)


def run(product: Product, python: Path, root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `aurora` as that environment has it."""
    return subprocess.run(
        [python, "-P", "-m", "aurora_cli", *arguments],
        cwd=root,
        env={**os.environ, **product.environment},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )


def aurora(product: Product, python: Path, root: Path, *arguments: str) -> dict[str, Any]:
    """What `aurora … --json` prints; it must have gone well."""
    done = run(product, python, root, *arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
