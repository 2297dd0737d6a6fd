"""What modules are called besides their paths: by `tsconfig.json` and by the packages of a workspace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aurora_indexer.module_aliases import keep_module_aliases, module_aliases
from aurora_indexer.workers.process_file import parse_source
from aurora_memory.store import FileStat, IndexedFile, chunk_reader, relation_reader
from aurora_memory.views import UsageCounts
from tests.memory.stores import new_store


async def usage(
    root: Path, files: dict[str, str], path: str, name: str, *, twice: bool = False, then: dict[str, str] | None = None
) -> UsageCounts:
    """How often a definition is used in a workspace of these files.

    `twice`: after every file was deleted and written again, one by one; `then` are files as they are written next.
    """
    for place, text in files.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text)
    store = await new_store(root / "memory.db")
    try:
        parsed = [(place, parse_source(place, text.encode(), 5.0)) for place, text in files.items()]
        indexed = [
            IndexedFile(FileStat(1, 1), each)
            for place, each in parsed
            if each and not place.endswith((".json", ".mod", ".toml"))
        ]
        await store.write(indexed, first_time=True, edited=False)
        await keep_module_aliases(root, store, files)
        await store.resolve()
        if twice:
            for each in indexed:
                await store.write(removed=[each.parsed.path])
                await store.write([IndexedFile(FileStat(2, 2), each.parsed)])
                await store.resolve()
        for place, text in (then or {}).items():
            if (parsed_again := parse_source(place, text.encode(), 5.0)) is not None:
                await store.write([IndexedFile(FileStat(3, 3), parsed_again)])
                await store.resolve()
        (chunk,) = [each for each in await store.read(chunk_reader.by_name, path, name) if each.name == name]
        return (await store.read(relation_reader.usages, [chunk.id])).get(chunk.id, UsageCounts())
    finally:
        await store.close()


CALLS = "import {{ parse }} from '{module}';\nexport function use{n}() {{ return parse('x'); }}\n"


@pytest.mark.parametrize("twice", [False, True], ids=["at once", "file by file"])
async def test_callers_come_through_a_barrel(tmp_path: Path, twice: bool) -> None:
    files = {
        "src/lib/parse.ts": "export function parse(text: string) { return text; }\n",
        "src/other/parse.ts": "export function parse(text: string) { return text + text; }\n",
        "src/lib/inner.ts": "export * from './parse.js';\n",
        "src/lib/index.ts": "export * from './inner';\n",
        **{f"src/use{n}.ts": CALLS.format(module="./lib", n=n) for n in range(5)},
    }
    assert await usage(tmp_path, files, "src/lib/parse.ts", "parse", twice=twice) == UsageCounts(callers=5)
    assert (await usage(tmp_path, files, "src/other/parse.ts", "parse", twice=twice)).callers == 0


async def test_callers_come_through_aliases_of_a_configuration(tmp_path: Path) -> None:
    config = """{ // paths as people write them
      "compilerOptions": { "baseUrl": ".", "paths": { "@app/*": ["./src/*"], /* one */ "~": ["src/front"], }, },
    }"""
    files = {
        "tsconfig.json": config,
        "src/tools/parse.ts": "export function parse(text: string) { return text; }\n",
        "src/front.ts": "export { parse } from './tools/parse';\n",
        "pages/a.ts": CALLS.format(module="@app/tools/parse", n=1),
        "pages/b.ts": CALLS.format(module="~", n=2),
        "pages/c.ts": CALLS.format(module="src/tools/parse", n=3),
        "pages/d.ts": CALLS.format(module="elsewhere", n=4),
    }
    assert (await usage(tmp_path, files, "src/tools/parse.ts", "parse")).callers == 3


async def test_callers_come_from_other_packages_of_the_workspace(tmp_path: Path) -> None:
    package = {"name": "@shop/core", "exports": {".": {"import": "./dist/main.js"}, "./deep/*": "./dist/deep/*.js"}}
    files = {
        "packages/core/package.json": json.dumps(package),
        "packages/core/src/main.ts": "import * as tools from './parse';\nexport { tools };\nexport * from './parse';\n",
        "packages/core/src/parse.ts": "export function parse(text: string) { return text; }\n",
        "packages/core/src/deep/again.ts": "export { parse } from '../parse';\n",
        "packages/web/a.ts": CALLS.format(module="@shop/core", n=1),
        "packages/web/b.ts": CALLS.format(module="@shop/core/deep/again", n=2),
        "packages/web/c.ts": "import { tools } from '@shop/core';\nexport const c = () => tools.parse('');\n",
        "packages/web/d.ts": "import * as core from '@shop/core';\nexport const d = () => core.tools.parse('');\n",
    }
    assert await usage(tmp_path, files, "packages/core/src/parse.ts", "parse") == UsageCounts(callers=4)


async def test_a_default_export_is_called_by_any_name(tmp_path: Path) -> None:
    files = {
        "src/parse.ts": "export default function parse(text: string) { return text; }\nfunction inner() {}\n",
        "src/index.ts": "export { default as read } from './parse';\n",
        "src/a.ts": "import p from './parse';\nexport function a() { return p(''); }\n",
        "src/b.ts": "import { read } from '.';\nexport function b() { return read(''); }\n",
    }
    assert (await usage(tmp_path, files, "src/parse.ts", "parse")).callers == 2


@pytest.mark.parametrize("edited", [False, True], ids=["at once", "edited one by one"])
async def test_what_a_node_module_is_itself_is_called_by_any_name(tmp_path: Path, edited: bool) -> None:
    files = {
        "package.json": '{"main": "shop.js", "types": "shop.d.ts"}',
        "shop.js": "function create(options) { return options }\nfunction inner() {}\nmodule.exports = create\n",
        "shop.d.ts": "declare function shop(options: object): object\nexport interface Options { a: string }\n",
        "lib/again.js": "const whole = require('../shop')\nexports = module.exports = whole\n",
        "lib/main.js": "const inner = require('./again')\nmodule.exports = { inner }\n",
        "test/a.js": "const Shop = require('..')\nfunction a() { return Shop({}) }\n",
        "test/b.js": "const build = require('../lib/again')\nfunction b() { return build({}) }\n",
        "test/c.mjs": "import make from '../shop.js'\nexport function c() { return make({}) }\n",
        "test/e.js": "const Shop = require('shop')\nfunction e() { return Shop({}) }\n",
        "test/f.ts": "import { Options } from '../'\nexport interface F extends Options { b: string }\n",
    }
    then = {path: text.replace("({})", "({ a: 1 })") for path, text in files.items() if edited and "({})" in text}
    assert len(then) == (4 if edited else 0)
    assert await usage(tmp_path, files, "shop.js", "create", then=then) == UsageCounts(callers=3)
    assert (await usage(tmp_path, files, "shop.d.ts", "Options", then=then)).subclasses == 1


async def test_what_a_node_module_gives_away_comes_before_members_of_what_it_is(tmp_path: Path) -> None:
    files = {
        "cart.js": "class Cart { static make() { return new Cart() }\n  total() { return 1 } }\n"
        "function sum() { return 2 }\nmodule.exports = Cart\nmodule.exports.total = sum\n",
        "a.js": "const Cart = require('./cart')\nfunction a() { return Cart.make() }\n",
        "b.js": "const cart = require('./cart')\nfunction b() { return cart.total() }\n",
        "c.js": "const C = require('./cart')\nclass D extends C {}\nfunction c() { return new C().total() }\n",
    }
    assert (await usage(tmp_path, files, "cart.js", "Cart.make")).callers == 1
    assert (await usage(tmp_path, files, "cart.js", "sum")).callers == 1
    assert (await usage(tmp_path, files, "cart.js", "Cart.total")).callers == 1
    assert (await usage(tmp_path, files, "cart.js", "Cart")).subclasses == 1


@pytest.mark.parametrize("twice", [False, True], ids=["at once", "file by file"])
async def test_a_module_whose_file_is_called_as_what_it_defines_is_that(tmp_path: Path, twice: bool) -> None:
    files = {
        "lib/web-server.js": "module.exports = class WebServer { run() {} }\nfunction respond() {}\n",
        "a.js": "const Web = require('./lib/web-server')\nfunction a() { return new Web().run() }\n",
    }
    assert (await usage(tmp_path, files, "lib/web-server.js", "WebServer", twice=twice)).callers == 1
    assert (await usage(tmp_path, files, "lib/web-server.js", "WebServer.run", twice=twice)).callers == 1
    assert (await usage(tmp_path, files, "lib/web-server.js", "respond", twice=twice)).callers == 0


@pytest.mark.parametrize("twice", [False, True], ids=["at once", "file by file"])
async def test_what_is_assigned_to_a_module_without_a_name_is_the_module(tmp_path: Path, twice: bool) -> None:
    files = {
        "help/shop.js": "module.exports = (cart) => cart\nmodule.exports.open = () => 1\nfunction inner() {}\n",
        "help/bill.js": "module.exports = class { total() { return 1 } }\nmodule.exports.open = () => 1\n",
        "a.js": "const make = require('./help/shop')\nfunction a() { return make(1) }\n",
        "b.js": "const { open } = require('./help/shop')\nfunction b() { return open() }\n",
        "c.js": "const Paid = require('./help/bill')\nfunction c() { return new Paid().total() }\n",
    }
    assert (await usage(tmp_path, files, "help/shop.js", "exports", twice=twice)) == UsageCounts(callers=1)
    assert (await usage(tmp_path, files, "help/shop.js", "open", twice=twice)).callers == 1
    assert (await usage(tmp_path, files, "help/shop.js", "inner", twice=twice)).callers == 0
    assert (await usage(tmp_path, files, "help/bill.js", "exports.total", twice=twice)).callers == 1


@pytest.mark.parametrize("twice", [False, True], ids=["at once", "file by file"])
async def test_one_of_several_that_a_file_defines_is_not_what_it_is(tmp_path: Path, twice: bool) -> None:
    files = {
        "lib.js": "function one() {}\nfunction two() {}\nmodule.exports = make()\n",
        "a.js": "const what = require('./lib')\nfunction a() { one(); return what() }\n",
    }
    assert (await usage(tmp_path, files, "lib.js", "one", twice=twice)).callers == 0
    assert (await usage(tmp_path, files, "lib.js", "two", twice=twice)).callers == 0


async def test_a_module_that_is_itself_through_a_circle_is_nothing(tmp_path: Path) -> None:
    files = {
        "a.js": "const b = require('./b')\nmodule.exports = b\nfunction one() { return b() }\nfunction two() {}\n",
        "b.js": "const a = require('./a')\nmodule.exports = a\nfunction three() { return a() }\nfunction four() {}\n",
    }
    for path, name in (("a.js", "one"), ("a.js", "two"), ("b.js", "three"), ("b.js", "four")):
        assert (await usage(tmp_path, files, path, name)).callers == 0


@pytest.mark.parametrize("twice", [False, True], ids=["at once", "file by file"])
async def test_python_packages_give_away_what_they_import(tmp_path: Path, twice: bool) -> None:
    files = {
        "src/shop/__init__.py": "from shop.inner import *\nfrom .inner.basis import Base as Root\n",
        "src/shop/inner/__init__.py": "from .basis import Base\n",
        "src/shop/inner/basis.py": "class Base:\n    def run(self):\n        return 1\n",
        "other/basis.py": "class Base:\n    def run(self):\n        return 2\n",
        "tests/test_a.py": "import shop\n\nclass A(shop.Root):\n    def go(self):\n        return self.run()\n",
        "tests/test_b.py": "from shop import Base\n\nclass B(Base):\n    def go(self):\n        return super().run()\n",
    }
    basis = "src/shop/inner/basis.py"
    assert await usage(tmp_path, files, basis, "Base", twice=twice) == UsageCounts(subclasses=2)
    assert await usage(tmp_path, files, basis, "Base.run", twice=twice) == UsageCounts(callers=2)


def test_what_is_no_json_or_lies_outside_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_text("{ not json")
    (tmp_path / "jsconfig.json").write_text('{"compilerOptions": {"paths": {"@out/*": ["../../out/*"], "@in": "x"}}}')
    (tmp_path / "package.json").write_text('["not an object"]')
    assert module_aliases(tmp_path, ["src/a"]) == ()


def configured(
    root: Path, configs: dict[str, dict[str, object]], *folders: str
) -> list[tuple[str, str, tuple[str, ...]]]:
    """The aliases of a workspace with these configurations: scope, pattern and targets."""
    for path, config in configs.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(json.dumps(config))
    return [(each.scope, each.pattern, each.targets) for each in module_aliases(root, folders)]


def test_the_nearest_configuration_comes_first_then_the_longest_name_then_the_exact_one(tmp_path: Path) -> None:
    paths = {"*": ["a/*"], "lib*": ["b/*"], "lib": ["c"], "library/*": ["d/*"]}
    configs: dict[str, dict[str, object]] = {
        "tsconfig.json": {"compilerOptions": {"paths": paths}},
        "web/tsconfig.json": {"compilerOptions": {"paths": {"*": ["e/*"]}}},
    }
    found = configured(tmp_path, configs, "web")
    assert [(scope, pattern) for scope, pattern, _ in found] == [
        ("web", "*"),
        ("", "library/*"),
        ("", "lib"),
        ("", "lib*"),
        ("", "*"),
    ]


def test_a_configuration_has_its_own_paths_or_those_it_extends_from_where_they_are_written(tmp_path: Path) -> None:
    configs: dict[str, dict[str, object]] = {
        "shared/base.json": {"compilerOptions": {"paths": {"@base/*": ["./src/*"]}}},
        "web/tsconfig.json": {"extends": "../shared/base"},
        "app/tsconfig.json": {"extends": "../shared/base", "compilerOptions": {"paths": {"@app/*": ["./src/*"]}}},
    }
    assert configured(tmp_path, configs, "web", "app") == [
        ("web", "@base/*", ("shared/src/*",)),
        ("app", "@app/*", ("app/src/*",)),
    ]


def test_a_folder_is_its_packages_main_file_and_what_declares_its_types_last(tmp_path: Path) -> None:
    package: dict[str, object] = {"types": "./all.d.ts", "main": "main.js", "source": "./src/main.ts"}
    found = configured(tmp_path, {"package.json": package, "core/package.json": {"main": "../main.js"}}, "core")
    assert found == [("", "/core", ("main.js",)), ("", "/", ("src/main.ts", "main.js", "all.d.ts"))]


def test_a_package_is_what_it_exports_before_its_main_file_and_that_before_its_sources(tmp_path: Path) -> None:
    package: dict[str, object] = {"name": "core", "main": "./dist/main.js", "exports": {".": "./dist/all.js"}}
    found = configured(tmp_path, {"core/package.json": package}, "core")
    (front,) = [targets for _, pattern, targets in found if pattern == "core"]
    assert front == ("core/dist/all.js", "core/dist/main.js", "core/src/index", "core/lib/index", "core/index")


@pytest.mark.parametrize("name", ["tsconfig.json", "tsconfig.base.json", "jsconfig.json"])
def test_a_configuration_goes_by_any_of_its_names_and_its_base_is_where_all_is_looked_for(
    tmp_path: Path, name: str
) -> None:
    options: dict[str, object] = {"baseUrl": "./src", "paths": {"@a/*": ["a/*", 5, "../b/*"], "@none": "a", "@out": []}}
    assert configured(tmp_path, {f"web/{name}": {"compilerOptions": options}}, "web/deep") == [
        ("web", "@a/*", ("web/src/a/*", "web/b/*")),
        ("web", "*", ("web/src/*",)),
    ]


def test_a_configuration_may_have_comments_and_commas_too_many(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_text(
        '\ufeff{ // why\n "compilerOptions": {"paths": {"@a/*": ["src//a/*",],}, /* } */ },\n}', "utf-8"
    )
    (found,) = module_aliases(tmp_path, [""])
    assert (found.pattern, found.targets) == ("@a/*", ("src/a/*",))


def test_what_is_extended_is_followed_four_times_with_or_without_its_suffix(tmp_path: Path) -> None:
    paths: dict[str, object] = {"compilerOptions": {"paths": {"@a": ["./a"]}}}
    configs: dict[str, dict[str, object]] = {f"{n}.json": {"extends": f"./{n + 1}.json"} for n in range(1, 5)}
    configs["tsconfig.json"] = {"extends": "./2"}
    assert [each[1] for each in configured(tmp_path, {**configs, "4.json": paths}, "")] == ["@a"]
    configs["tsconfig.json"] = {"extends": "./1"}
    assert configured(tmp_path, {**configs, "4.json": {"extends": "./5.json"}, "5.json": paths}, "") == []
    (tmp_path / "x").mkdir()
    assert configured(tmp_path / "x", {"tsconfig.json": {"extends": "base"}, "base.json": paths}, "") == []


def test_names_of_a_packages_own_are_its_alone(tmp_path: Path) -> None:
    package: dict[str, object] = {"imports": {"#a": "./a.js", "#b/*": {"node": "./n/*.js", "default": "./d/*.js"}}}
    assert configured(tmp_path, {"core/package.json": package}, "core") == [
        ("core", "#b/*", ("core/n/*.js", "core/d/*.js")),
        ("core", "#a", ("core/a.js",)),
    ]


@pytest.mark.parametrize(
    ("exports", "front", "inner"),
    [
        pytest.param("./all.js", ("core/all.js",), (), id="one file"),
        pytest.param({"import": "./m.js", "require": "./c.js"}, ("core/m.js", "core/c.js"), (), id="by condition"),
        pytest.param({".": ["./a.js", "./b.js"]}, ("core/a.js", "core/b.js"), (), id="several"),
        pytest.param({"./in": {"types": "./t.ts", "default": "./i.js"}}, (), ("core/t.ts", "core/i.js"), id="inner"),
        pytest.param({"./in": None, "in": "./x.js"}, (), (), id="nothing"),
        pytest.param({".": "../../out.js", "./in": "../../out.js"}, (), (), id="outside"),
    ],
)  # fmt: skip
def test_what_a_package_exports(
    tmp_path: Path, exports: object, front: tuple[str, ...], inner: tuple[str, ...]
) -> None:
    aliases = configured(tmp_path, {"core/package.json": {"name": "@x/core", "exports": exports}}, "core")
    found = {pattern: targets for _, pattern, targets in aliases}
    assert found.pop("@x/core") == (*front, "core/src/index", "core/lib/index", "core/index")
    assert found.pop("@x/core/*") == ("core/src/*", "core/*")
    assert found == ({"@x/core/in": inner} if inner else {})


@pytest.mark.parametrize("twice", [False, True], ids=["at once", "file by file"])
async def test_go_packages_are_not_looked_for_where_a_configuration_of_javascript_says(
    tmp_path: Path, twice: bool
) -> None:
    files = {
        "go.mod": "module example.org/shop/v3\n",
        "web/tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"*": ["types/*"]}}}',
        "web/a.ts": "import { parse } from 'cart';\nexport const a = () => parse();\n",
        "pkg/cart/cart.go": "package cart\n\nfunc Parse() {}\n",
        "pkg/other/other.go": "package other\n\nfunc Parse() {}\n",
        "cmd/main.go": 'package main\n\nimport "example.org/shop/v3/pkg/cart"\n\nfunc main() {\n\tcart.Parse()\n}\n',
    }
    assert await usage(tmp_path, files, "pkg/cart/cart.go", "Parse", twice=twice) == UsageCounts(callers=1)
    assert await usage(tmp_path, files, "pkg/other/other.go", "Parse", twice=twice) == UsageCounts()


async def test_who_uses_a_go_package_is_looked_up_again_when_its_module_gets_another_name(tmp_path: Path) -> None:
    files = {
        "cart/cart.go": "package cart\n\nfunc Parse() {}\n",
        "main.go": 'package main\n\nimport "example.org/shop/cart"\n\nfunc main() {\n\tcart.Parse()\n}\n',
    }
    store = await new_store(tmp_path / "memory.db")
    try:
        for place, text in files.items():
            parsed = parse_source(place, text.encode(), 5.0)
            assert parsed is not None
            await store.write([IndexedFile(FileStat(1, 1), parsed)])
        (tmp_path / "cart").mkdir()
        (chunk,) = await store.read(chunk_reader.by_name, "cart/cart.go", "Parse")
        found = []
        for module in ("example.org/bank", "example.org/shop"):
            (tmp_path / "go.mod").write_text(f"module {module}\n")
            await keep_module_aliases(tmp_path, store, files)
            await store.resolve()
            found.append((await store.read(relation_reader.usages, [chunk.id]))[chunk.id])
        assert found == [UsageCounts(likely_callers=1), UsageCounts(callers=1)]
    finally:
        await store.close()
