"""An environment for plug-ins, a home of its own for the product in it, a workspace that needs them."""

import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.product import Product
from tests.plugins.environment import site_packages

LUAU = "-- Puts the oldest entry out of the cache.\nfunction cache.evict(limit)\n  if limit then drop(limit) end\nend\n"
MINUTES = "== Release date\nWe ship the parser in May.\n\n== Budget\nTwelve crowns for cake.\n"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has AURORA, and room for plug-ins."""
    folder = tmp_path_factory.mktemp("environment")
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    python = folder / "bin" / "python"
    ours = sysconfig.get_path("purelib")
    (site_packages(python) / "aurora.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    return python


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    product = Product(tmp_path / "home")
    yield product
    product.close()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "cache.luau").write_text(LUAU)
    (root / "may.minutes").write_text(MINUTES)
    (root / "app.py").write_text("def run():\n    return 1\n")
    return root
