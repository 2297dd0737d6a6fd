"""Which folder a Python package is imported from, in a workspace of several projects."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_indexer.module_aliases import keep_module_aliases
from aurora_indexer.python_packages import python_packages
from aurora_indexer.workers.process_file import parse_source
from aurora_memory.store import FileStat, IndexedFile
from aurora_memory.store.reader import Reader
from aurora_memory.views import UsageCounts
from tests.indexer.test_module_aliases import usage
from tests.memory.stores import new_store

CALL = "from {module} import parse\n\n\ndef use():\n    return parse('x')\n"
PARSE = "def parse(text):\n    return text\n"
ROOMS = {"protocol/shop_wire/__init__.py": "", "protocol/shop_wire/parse.py": PARSE, "server/shop/__init__.py": ""}
SPREAD = {
    "api/pyproject.toml": "",
    "api/src/shop/api/parse.py": PARSE,
    "sdk/pyproject.toml": "",
    "sdk/src/shop/sdk/__init__.py": "",
}


@pytest.mark.parametrize("twice", [False, True], ids=["at once", "file by file"])
@pytest.mark.parametrize(
    ("files", "path", "caller", "module"),
    [
        pytest.param(
            ROOMS, "protocol/shop_wire/parse.py", "server/shop/a.py", "shop_wire.parse", id="folders of sources"
        ),
        pytest.param(
            SPREAD, "api/src/shop/api/parse.py", "sdk/src/shop/sdk/a.py", "shop.api.parse", id="one name of two"
        ),
    ],
)
async def test_callers_come_from_another_projects_folder(
    tmp_path: Path, twice: bool, files: dict[str, str], path: str, caller: str, module: str
) -> None:
    called = {**files, caller: CALL.format(module=module)}
    assert await usage(tmp_path, called, path, "parse", twice=twice) == UsageCounts(callers=1)


async def test_a_module_is_known_by_its_whole_path(tmp_path: Path) -> None:
    call = "import shop_wire.parse\n\n\ndef use():\n    return shop_wire.parse.parse('x')\n"
    called = {**ROOMS, "server/shop/a.py": call, "server/shop/b.py": call.replace("wire.parse\n", "wire.other\n", 1)}
    found = await usage(tmp_path, called, "protocol/shop_wire/parse.py", "parse")
    assert found.callers == 1


async def test_a_package_that_lies_twice_is_only_likely(tmp_path: Path) -> None:
    copy = {"old/shop_wire/__init__.py": "", "old/shop_wire/parse.py": PARSE}
    called = {**ROOMS, **copy, "server/shop/a.py": CALL.format(module="shop_wire.parse")}
    found = await usage(tmp_path, called, "protocol/shop_wire/parse.py", "parse")
    assert found == UsageCounts(likely_callers=1)


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        pytest.param(
            ["a/shop/__init__.py", "a/shop/cart.py"], {"shop": "a/shop", "shop.*": "a/shop/*"}, id="a package"
        ),
        pytest.param(["shop/__init__.py", "src/web/__init__.py"], {}, id="what is found from everywhere"),
        pytest.param(["a/cart.py"], {}, id="a lone file"),
        pytest.param(["a/logging/__init__.py"], {}, id="a name of the standard library"),
        pytest.param(["tests/site/shop/__init__.py"], {}, id="what tests keep"),
        pytest.param(["a/tests/__init__.py", "a/tests/cart.py"], {}, id="tests"),
        pytest.param(["a/shop/__init__.py", "b/shop/__init__.py"], {}, id="two of one name"),
        pytest.param(
            ["one/setup.py", "one/src/shop/__init__.py", "two/setup.py", "two/src/shop/web/__init__.py"],
            {"shop": "one/src/shop", "shop.web": "two/src/shop/web", "shop.web.*": "two/src/shop/web/*"},
            id="the front of two",
        ),
        pytest.param(
            ["__init__.py", "cart.py", "web/__init__.py", "one/setup.py", "one/src/till/__init__.py"],
            {"till": "one/src/till", "till.*": "one/src/till/*"},
            id="a workspace that is a package",
        ),
        pytest.param(
            ["one/setup.py", "one/src/shop/web/flask/__init__.py"],
            {"shop": "one/src/shop", "shop.*": "one/src/shop/*"},
            id="a part of a name is no package",
        ),
    ],
)
def test_packages_are_known_by_names_of_one_folder(tmp_path: Path, files: list[str], wanted: dict[str, str]) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert {each.pattern: each.targets[0] for each in python_packages(tmp_path, files)} == wanted


ASIDE = (
    "test tests testing doc docs example examples sample samples script scripts tool tools benchmark benchmarks"
    " fixtures vendor _vendor third_party node_modules"
).split()


@pytest.mark.parametrize("name", ASIDE)
def test_what_lies_aside_is_imported_from_nowhere_else(tmp_path: Path, name: str) -> None:
    assert python_packages(tmp_path, [f"a/{name}/__init__.py"]) == []
    assert python_packages(tmp_path, [f"a/{name}/shop/__init__.py"]) == []
    assert python_packages(tmp_path, [f"a/my{name}/shop/__init__.py"]) != []


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.py", "setup.cfg"])
def test_a_project_is_declared_by_any_of_these(tmp_path: Path, name: str) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / name).touch()
    found = python_packages(tmp_path, ["one/lib/shop/__init__.py", "one/cart/a.py"])
    assert ("", "cart") in {(each.scope, each.pattern) for each in found}


def test_folders_may_lie_as_deep_as_paths_are_long(tmp_path: Path) -> None:
    deep = "a/" * 1200
    assert python_packages(tmp_path, [f"{deep}shop/__init__.py"])[0].targets == (f"{deep}shop",)


def test_a_folder_of_sources_is_known_below_its_project_only(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one/setup.py").touch()
    found = python_packages(tmp_path, ["one/google/cloud/store/__init__.py"])
    assert {(each.scope, each.pattern) for each in found if "*" not in each.pattern} == {
        ("", "google"),
        ("one", "store"),
    }


async def test_what_python_imports_waits_where_packages_came(tmp_path: Path) -> None:
    def waiting(reader: Reader) -> int:
        return int(reader.rows("SELECT count(*) FROM unresolved")[0][0])

    files = {**ROOMS, "server/shop/a.py": CALL.format(module="shop_wire.parse")}
    store = await new_store(tmp_path / "memory.db")
    try:
        parsed = [parse_source(place, text.encode(), 5.0) for place, text in files.items()]
        await store.write([IndexedFile(FileStat(1, 1), each) for each in parsed if each])
        await store.resolve()
        await keep_module_aliases(tmp_path, store, files)
        assert await store.read(waiting) > 0
        await store.resolve()
        await keep_module_aliases(tmp_path, store, files)
        assert await store.read(waiting) == 0
    finally:
        await store.close()
