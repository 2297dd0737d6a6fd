"""Paths of modules: which files an import can mean, and which of them is looked for first."""

import pytest

from aurora_memory.module_paths import ModuleAlias, candidates


@pytest.mark.parametrize(
    ("module", "importer", "first", "second"),
    [
        pytest.param("shop.cart", "app.py", "shop/cart/__init__.py", "shop/cart.py", id="a package first"),
        pytest.param("shop.cart", "app.py", "shop/cart.py", "shop/cart.pyi", id="a module before its stub"),
        pytest.param("shop.cart", "app.py", "shop/cart.pyi", "src/shop/cart.py", id="beside before src"),
        pytest.param("shop.cart", "app.py", "src/shop/cart.py", "lib/shop/cart.py", id="src before lib"),
        pytest.param("shop.cart", "a/b.py", "a/shop/cart.py", "shop/cart.py", id="the nearest folder first"),
        pytest.param("./cart.js", "a/b.ts", "a/cart.js", "a/cart.ts", id="as written before its source"),
        pytest.param("./cart", "a/b.ts", "a/cart.ts", "a/cart.js", id="TypeScript before JavaScript"),
        pytest.param("./cart", "a/b.ts", "a/cart.ts", "a/cart/index.ts", id="a file before a folder"),
        pytest.param("../dist/x.js", "a/b.ts", "dist/x.js", "src/x.js", id="what is built before its source"),
        pytest.param("../dist/x.js", "a/b.ts", "src/x.js", "lib/x.js", id="its source in src before lib"),
        pytest.param("../lib/x.js", "a/b.ts", "lib/x.js", "src/x.js", id="lib may be built as well"),
    ],
)
def test_which_file_is_looked_for_first(module: str, importer: str, first: str, second: str) -> None:
    family = "python" if importer.endswith(".py") else "ecmascript"
    found = list(candidates(module, importer, family))
    assert found.index(first) < found.index(second)


def test_a_path_out_of_the_workspace_is_no_file() -> None:
    assert not list(candidates("../../x.js", "a/b.ts", "ecmascript"))


def test_a_python_package_is_no_other_languages() -> None:
    aliases = (ModuleAlias("", "shop.*", ("api/shop/*",), is_python=True), ModuleAlias("web", "*", ("front/*",)))
    assert "api/shop/cart/lines.py" in candidates("shop.cart.lines", "server/a.py", "python", aliases)
    assert "front/shop/cart.py" not in candidates("shop.cart", "web/a.py", "python", aliases)
    assert not any(path.startswith("api/") for path in candidates("shop.cart", "web/a.ts", "ecmascript", aliases))
