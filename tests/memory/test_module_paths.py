"""Paths of modules: which files an import can mean, and which of them is looked for first."""

import pytest

from aurora_memory.module_paths import ModuleAlias, candidates, is_renamed


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


@pytest.mark.parametrize("folder", ["dist", "lib", "build", "out", "esm", "cjs", "types"])
def test_what_lies_in_a_folder_of_built_files_may_be_written_in_src(folder: str) -> None:
    assert f"src/{folder}x/a.ts" not in (found := list(candidates(f"../{folder}/a", "web/b.ts", "ecmascript")))
    assert "src/a.ts" in found and found.index(f"{folder}/a.ts") < found.index("src/a.ts")
    assert "web/a.ts" not in found


GO = (
    ModuleAlias("shop", "example.org/shop/*", ("shop/*",), language="go"),
    ModuleAlias("", "example.org/shop", (".",), language="go"),
    ModuleAlias("", "example.org/*", ("./*",), language="go"),
)


@pytest.mark.parametrize(
    ("module", "folders"),
    [
        pytest.param("example.org/shop/cart", ["shop/cart/"], id="the first module that has it, and no other"),
        pytest.param("example.org/shop", ["/"], id="a module at the top of the workspace"),
        pytest.param("example.org/bank", ["bank/"], id="one of several modules"),
        pytest.param("fmt", [], id="what is of no module here"),
    ],
)
def test_a_go_package_is_one_folder(module: str, folders: list[str]) -> None:
    assert list(candidates(module, "a/b.go", "go", GO)) == folders


@pytest.mark.parametrize(
    ("module", "importer", "found"),
    [
        pytest.param("@/cart", "web/a.ts", "web/src/cart.ts", id="where the alias holds"),
        pytest.param("@/cart", "api/a.ts", None, id="not elsewhere"),
        pytest.param("@/cart", "webs/a.ts", None, id="a folder whose name only begins so is elsewhere"),
        pytest.param("@x/cart", "web/a.ts", None, id="a name that only begins so is another"),
        pytest.param("~a.css", "web/a.ts", None, id="what stands for the star may not overlap"),
        pytest.param("~axa.css", "web/a.ts", "web/x.css", id="and stands between both ends"),
    ],
)
def test_an_alias_stands_for_folders(module: str, importer: str, found: str | None) -> None:
    aliases = (ModuleAlias("web", "@/*", ("web/src/*",)), ModuleAlias("web", "~a*a.css", ("web/*.css",)))
    tried = list(candidates(module, importer, "ecmascript", aliases))
    assert (found in tried) if found else not tried


def test_a_path_out_of_the_workspace_is_no_file() -> None:
    assert not list(candidates("../../x.js", "a/b.ts", "ecmascript"))


def test_a_python_package_is_no_other_languages() -> None:
    aliases = (ModuleAlias("", "shop.*", ("api/shop/*",), is_python=True), ModuleAlias("web", "*", ("front/*",)))
    assert "api/shop/cart/lines.py" in candidates("shop.cart.lines", "server/a.py", "python", aliases)
    assert "front/shop/cart.py" not in candidates("shop.cart", "web/a.py", "python", aliases)
    assert not any(path.startswith("api/") for path in candidates("shop.cart", "web/a.ts", "ecmascript", aliases))


@pytest.mark.parametrize(
    ("pattern", "target", "file", "family", "renamed"),
    [
        ("@shop/kit", "packages/kit/dist/index.mjs", "packages/kit/src/index.ts", "ecmascript", True),
        ("@shop/kit", "packages/kit/dist/index.mjs", "packages/kit/src/cart.ts", "ecmascript", False),
        ("@shop/kit", "packages/kit/dist/index.mjs", "packages/kits/src/index.ts", "ecmascript", False),
        ("@shop/kit/*", "packages/kit/src/*", "packages/kit/src/cart.ts", "ecmascript", False),
        ("@shop/kit/*", "packages/kit/src/*", "packages/kit/src/index.ts", "ecmascript", True),
        ("@shop/*", "packages/*/src", "packages/kit/src/index.ts", "ecmascript", True),
        ("@shop/*", "packages/*/src", "apps/kit/src/index.ts", "ecmascript", False),
        ("*", "*", "cart.ts", "ecmascript", False),
        ("example.org/tool", ".", "/", "go", True),
        ("example.org/tool", "tool", "tool/", "go", True),
        ("example.org/tool/*", "./*", "doc/", "go", False),
        ("example.org/tool", ".", "cart.py", "python", False),
    ],
)
def test_an_alias_may_have_another_last_name_than_the_file(
    pattern: str, target: str, file: str, family: str, renamed: bool
) -> None:
    language = "go" if family == "go" else ""
    assert is_renamed(ModuleAlias("", pattern, (target,), language=language), file, family) is renamed


def test_an_alias_of_python_may_have_another_name_too() -> None:
    alias = ModuleAlias("", "tools", ("kits/tools",), is_python=True)
    assert is_renamed(alias, "kits/tools/__init__.py", "python")
    assert not is_renamed(alias, "kits/tools/__init__.py", "ecmascript")
