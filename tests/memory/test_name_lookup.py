"""What a name means along imports: a row for each rule, without a store."""

from __future__ import annotations

import pytest

from aurora_memory.chunks import Import
from aurora_memory.module_paths import ModuleAlias, candidates
from aurora_memory.name_lookup import (
    MAX_STEPS,
    WHOLE,
    LinkedFiles,
    Meaning,
    NameLookup,
    bound_name,
    in_reach,
    is_star,
    module_segments,
    unit,
)
from aurora_memory.views import ReferenceTarget

Imports = dict[str, tuple[Import, ...]]


def target(path: str, name: str, kind: str = "function") -> ReferenceTarget:
    """A definition, by its qualified name; it is known again by its place."""
    parent, _, leaf = name.rpartition(".")
    return ReferenceTarget(abs(hash((path, name))) % 10**9, path, name, leaf, parent or None, kind, "any")


def lookup(definitions: str, imports: Imports, **links: object) -> NameLookup:
    """A lookup among definitions, `path:name:kind` one after another (kind: function unless said), and imports."""
    placed: dict[tuple[str, str], list[ReferenceTarget]] = {}
    for each in definitions.split():
        path, name, *kind = each.split(":")
        one = target(path, name, *kind)
        placed.setdefault((path, one.leaf), []).append(one)
    return NameLookup(placed, LinkedFiles(imports, **links))  # type: ignore[arg-type]


def told(meaning: Meaning) -> list[str]:
    """The definitions as `path:name`, modules as `path`, then a holder as `path>name`."""
    held = [f"{meaning.holder[0]}>{meaning.holder[1]}"] if meaning.holder else []
    return [f"{each.path}:{each.name}" for each in meaning.definitions] + list(meaning.modules) + held


PY, ES = "python", "ecmascript"


@pytest.mark.parametrize(
    ("family", "definitions", "imports", "path", "name", "meant"),
    [
        pytest.param(PY, "a.py:f", {"a.py": ()}, "a.py", "f", ["a.py:f"], id="what a file defines it gives away"),
        pytest.param(PY, "a.py:C.f:method", {"a.py": ()}, "a.py", "f", [], id="a member of a class it does not"),
        pytest.param(ES, "a.js:exports.f", {"a.js": ()}, "a.js", "f", ["a.js:exports.f"], id="what is on exports too"),
        pytest.param(
            ES, "a.js:module.exports.f", {"a.js": ()}, "a.js", "f", ["a.js:module.exports.f"],
            id="and what is on them as a whole",
        ),
        pytest.param(
            PY, "a.py:f b.py:f", {"a.py": (Import("b", "f"),), "b.py": ()}, "a.py", "f", ["a.py:f"],
            id="its own definition comes before what it imports",
        ),
        pytest.param(
            PY, "b.py:g", {"a.py": (Import("b", "g", "f"),), "b.py": ()}, "a.py", "f", ["b.py:g"],
            id="an alias is followed to the name it stands for",
        ),
        pytest.param(
            PY, "b.py:g", {"a.py": (Import("b", "g", "f"),), "b.py": ()}, "a.py", "g", [],
            id="and what it stands for is not given away",
        ),
        pytest.param(
            PY, "b.py:f", {"a.py": (Import("b", "*"),), "b.py": ()}, "a.py", "f", ["b.py:f"], id="a star is followed",
        ),
        pytest.param(
            PY, "b.py:f c.py:f", {"a.py": (Import("b", "*"), Import("c", "f")), "b.py": (), "c.py": ()}, "a.py", "f",
            ["c.py:f"], id="what is imported by name comes before a star",
        ),
        pytest.param(
            PY, "b.py:f c.py:f", {"a.py": (Import("b", "*"), Import("c", "*")), "b.py": (), "c.py": ()}, "a.py", "f",
            ["b.py:f"], id="of two stars the first that has it",
        ),
        pytest.param(
            PY, "", {"a.py": (Import("b", "f"),), "b.py": (Import("a", "f"),)}, "a.py", "f", [],
            id="a circle of re-exports ends with nothing",
        ),
        pytest.param(
            PY, "", {"p/__init__.py": (), "p/m.py": ()}, "p/__init__.py", "m", ["p/m.py"],
            id="a package gives away its modules",
        ),
        pytest.param(PY, "", {"p/a.py": (), "p/m.py": ()}, "p/a.py", "m", [], id="another file does not"),
        pytest.param(
            PY, "", {"a.py": (Import("p", "m"),), "p/__init__.py": (), "p/m.py": ()}, "a.py", "m", ["p/m.py"],
            id="from a package comes a module of it",
        ),
        pytest.param(
            ES, "a.d.ts:f", {"a.js": (), "a.d.ts": ()}, "a.js", "f", ["a.d.ts:f"],
            id="types are looked for beside JavaScript",
        ),
        pytest.param(ES, "a.d.ts:f", {"a.ts": (), "a.d.ts": ()}, "a.ts", "f", [], id="and not beside TypeScript"),
        pytest.param(
            ES, "b.js:g", {"a.js": (Import("./b", "", "z"),), "b.js": ()}, "a.js", "z", ["b.js:g", "b.js"],
            id="a whole module may be called as what it is, too",
        ),
        pytest.param(
            ES, "a.js:api.find", {"a.js": ()}, "a.js", "api", ["a.js>api"], id="an object holds its members",
        ),
    ],
)  # fmt: skip
def test_a_file_gives_away(
    family: str, definitions: str, imports: Imports, path: str, name: str, meant: list[str]
) -> None:
    assert told(lookup(definitions, imports).exported(path, name, family)) == meant


@pytest.mark.parametrize(
    ("definitions", "path", "wanted", "meant"),
    [
        ("a.js:f a.js:exports a.js:g", "a.js", "f", ["a.js:exports"]),  # what has no name is the default
        ("a.js:f a.js:a a.js:g", "a.js", "f", ["a.js:f"]),  # then what is called as its importer calls it
        ("a.js:f a.js:a a.js:g", "a.js", "x", ["a.js:a"]),  # then what is called as its file
        (
            "content-type.js:ContentType:class content-type.js:g",
            "content-type.js",
            "x",
            ["content-type.js:ContentType"],
        ),
        ("content-type.js:ContentType content-type.js:contentType", "content-type.js", "x", []),  # two spellings: none
        ("a.js:g", "a.js", "x", ["a.js:g"]),  # then the only thing that is there
        ("a.js:g a.js:h", "a.js", "x", []),  # of two, none
        ("a.js:g a.js:m:module a.js:s:section", "a.js", "x", ["a.js:g"]),  # modules and sections are no things
        ("a.js:g a.js:g.h", "a.js", "x", ["a.js:g"]),  # nor is what is inside of one
    ],
)
def test_the_default_of_a_module(definitions: str, path: str, wanted: str, meant: list[str]) -> None:
    assert told(lookup(definitions, {path: ()}).exported(path, "default", ES, wanted)) == meant


def test_what_node_loads_comes_before_what_is_guessed_of_a_default() -> None:
    imports: Imports = {"a.js": (Import("./b", "f", WHOLE),), "b.js": ()}
    assert told(lookup("a.js:g b.js:f", imports).exported("a.js", "default", ES)) == ["b.js:f"]


@pytest.mark.parametrize(("steps", "found"), [(MAX_STEPS, True), (MAX_STEPS + 1, False)])
def test_so_many_re_exports_are_followed(steps: int, found: bool) -> None:
    imports: Imports = {f"m{n}.py": (Import(f"m{n + 1}", "f"),) for n in range(steps)}
    names = lookup(f"m{steps}.py:f", {**imports, f"m{steps}.py": ()})
    assert bool(names.exported("m0.py", "f", PY)) == found
    assert names.exported("m1.py", "f", PY), "from nearer it is found, whatever was asked before"


@pytest.mark.parametrize(
    ("name", "kind", "around", "family", "reached"),
    [
        ("f", "function", "", PY, True),
        ("f", "function", "C.g", PY, True),
        ("g.f", "function", "g", PY, True),
        ("g.f", "function", "g.h", PY, True),
        ("g.f", "function", "gh", PY, False),  # another function whose name begins so
        ("g.f", "function", "", PY, False),
        ("C.f", "method", "C.g", PY, False),  # a method has to be asked of something
        ("C.f", "method", "C.g", ES, False),
        ("C.f", "method", "C", "java", True),  # and elsewhere it has not
        ("C.f", "method", "D", "java", False),
    ],
)
def test_a_bare_name_reaches(name: str, kind: str, around: str, family: str, reached: bool) -> None:
    assert in_reach(target("a", name, kind), around, family) == reached


def test_the_deepest_definition_in_reach_is_meant() -> None:
    names = lookup("a.py:f a.py:g.f a.py:g.h.f", {"a.py": ()})
    assert told(names.seen("a.py", "f", PY, "g.h")) == ["a.py:g.h.f"]
    assert told(names.seen("a.py", "f", PY, "g")) == ["a.py:g.f"]
    assert told(names.seen("a.py", "f", PY)) == ["a.py:f"]


def test_what_the_first_base_inherits_comes_before_what_the_second_has() -> None:
    definitions = "a.py:C:class a.py:B:class a.py:A:class a.py:X:class a.py:A.f:method a.py:X.f:method"
    c, b, a, x = [target("a.py", name, "class") for name in "CBAX"]
    bases = {c.id: [("B", ""), ("A", "")], b.id: [("X", "")]}
    holds = {a.id: {"v": "A()"}, x.id: {"v": "X()"}}
    names = lookup(definitions, {"a.py": ()}, bases=bases, holds=holds)
    assert [each.name for each in names.member(c, "f", PY)] == ["X.f"]
    assert told(names.dotted("a.py", ["C()", "v"], PY)) == ["a.py:X"], "so does what a field of it holds"


def test_the_longest_path_that_is_imported_is_meant() -> None:
    imports: Imports = {"m.py": (Import("a.b"), Import("a.b.c")), "a/b/__init__.py": (), "a/b/c.py": ()}
    names = lookup("a/b/__init__.py:c:class a/b/c.py:f", imports)
    assert told(names.dotted("m.py", ["a", "b", "c", "f"], PY)) == ["a/b/c.py:f"]


def test_a_class_has_its_own_member_before_an_inherited_one_and_the_first_bases_before_the_seconds() -> None:
    definitions = (
        "a.py:C:class a.py:B:class a.py:A:class a.py:C.f:method a.py:B.f:method a.py:A.f:method a.py:A.g:method"
    )
    c, b = target("a.py", "C", "class"), target("a.py", "B", "class")
    names = lookup(definitions, {"a.py": ()}, bases={c.id: [("B", ""), ("A", "")], b.id: [("A", "")]})
    assert [each.name for each in names.member(c, "f", PY)] == ["C.f"]
    assert [each.name for each in names.member(c, "f", PY, above=True)] == ["B.f"]
    assert [each.name for each in names.member(c, "g", PY)] == ["A.g"]
    assert names.member(c, "h", PY) == []
    assert told(names.dotted("a.py", ["C()", "f"], PY)) == ["a.py:C.f"]
    assert told(names.dotted("a.py", ["self", "g"], PY, "C.f", c)) == ["a.py:A.g"]
    assert not names.dotted("a.py", ["C()()"], PY), "an instance is not called"


@pytest.mark.parametrize(
    ("entry", "name", "star"),
    [
        (Import("a.b", "c", "d"), "d", False),
        (Import("a.b", "c"), "c", False),
        (Import("a.b", "", "x"), "x", False),
        (Import("a.b"), "b", False),
        (Import("./auth"), "auth", False),
        (Import("example.org/yaml/v3"), "yaml", False),  # a major version is no name
        (Import("v3"), "v3", False),  # unless there is no other
        (Import("yaml.v3"), "v3", False),  # nor is it one of Python's
        (Import("example.org/x/v3x"), "v3x", False),
        (Import(".."), "..", False),
        (Import("m", "*"), "*", True),
        (Import("m", "", "."), ".", True),
    ],
)
def test_an_import_binds(entry: Import, name: str, star: bool) -> None:
    assert (bound_name(entry), is_star(entry)) == (name, star)


@pytest.mark.parametrize(
    ("module", "segments"),
    [
        ("a.b", ["a", "b"]),
        ("a/b.c", ["a", "b.c"]),
        ("crate::a::b", ["a", "b"]),
        ("super::a", ["a"]),
        ("self::a", ["a"]),
        ("..\\a\\b", ["a", "b"]),
        ("../a", ["a"]),
    ],
)
def test_a_module_names_folders_and_a_file(module: str, segments: list[str]) -> None:
    assert module_segments(module) == segments


@pytest.mark.parametrize(
    ("path", "family", "known_in"),
    [("p/a.go", "go", "p/"), ("p/", "go", "p/"), ("a.go", "go", "/"), ("p/a.py", PY, "p/a.py")],
)
def test_names_of_a_top_level_are_known_in(path: str, family: str, known_in: str) -> None:
    assert unit(path, family) == known_in


@pytest.mark.parametrize(
    ("module", "importer", "family", "aliases", "first"),
    [
        ("a.b", "x/m.py", PY, (), ["x/a/b/__init__.py", "x/a/b.py", "x/a/b.pyi", "x/a/b.pyx", "x/a/b.pxd"]),
        ("a", "m.py", PY, (), ["a/__init__.py", "a.py", "a.pyi", "a.pyx", "a.pxd", "src/a/__init__.py"]),
        (".a", "x/y/m.py", PY, (), ["x/y/a/__init__.py", "x/y/a.py", "x/y/a.pyi"]),
        ("..a", "x/y/m.py", PY, (), ["x/a/__init__.py", "x/a.py", "x/a.pyi"]),
        (".", "x/m.py", PY, (), ["x/__init__.py", "x.py", "x.pyi"]),
        ("./a", "x/m.ts", ES, (), ["x/a", "x/a.ts", "x/a.tsx", "x/a.js"]),
        ("./a.js", "x/m.ts", ES, (), ["x/a.js", "x/a.ts", "x/a.tsx"]),  # what `./a.ts` becomes
        ("../../a", "x/m.ts", ES, (), []),  # above the workspace
        ("a", "x/m.ts", ES, (), []),  # a package of others
        ("@/a", "x/m.ts", ES, (ModuleAlias("x", "@/*", ("x/src/*",)),), ["x/src/a", "x/src/a.ts"]),
        ("@/a", "y/m.ts", ES, (ModuleAlias("x", "@/*", ("x/src/*",)),), []),  # it holds below its folder
        ("e.org/m/p", "c/m.go", "go", (ModuleAlias("", "e.org/m/*", ("*",), language="go"),), ["p/"]),
        ("e.org/m", "c/m.go", "go", (ModuleAlias("", "e.org/m", (".",), language="go"),), ["/"]),
        ("e.org/n", "c/m.go", "go", (ModuleAlias("", "e.org/m", (".",), language="go"),), []),
    ],
)
def test_a_module_is_looked_for_at(
    module: str, importer: str, family: str, aliases: tuple[ModuleAlias, ...], first: list[str]
) -> None:
    found = list(candidates(module, importer, family, aliases))
    assert found[: len(first)] == first and bool(found) == bool(first)


def known(name: str, kind: str = "function") -> int:
    """The number of a definition of the one file of the rows below."""
    return target("a", name, kind).id


@pytest.mark.parametrize(
    ("family", "definitions", "links", "names", "meant"),
    [
        pytest.param(ES, "api.find other.find", {}, "api.find", ["a:api.find"], id="a member of that object"),
        pytest.param(ES, "api.find api.v1.get", {}, "api.v1.get", ["a:api.v1.get"], id="an object in an object"),
        pytest.param(ES, "api.find api.v1.get", {}, "api.v1", ["a>api.v1"], id="which is itself an object"),
        pytest.param(ES, "api.find api.v1.get", {}, "api.none", [], id="what an object has not is nothing"),
        pytest.param(ES, "f f.g", {}, "f.g", ["a:f.g"], id="a function of JavaScript may have members"),
        pytest.param(PY, "f f.g", {}, "f.g", [], id="what is inside of one of Python is no member"),
        pytest.param(
            PY, "make C:class C.f:method", {"returns": {known("make"): "C()"}}, "make().f", ["a:C.f"],
            id="what a function says that it returns",
        ),
        pytest.param(
            PY, "make C:class C.f:method", {"returns": {known("make"): "C"}}, "make().f", ["a:C.f"],
            id="a class that is returned has its members, too",
        ),
        pytest.param(PY, "make C:class C.f:method", {}, "make().f", [], id="nothing where it says nothing"),
        pytest.param(
            PY, "C:class C.f:method C.g:method", {"returns": {known("C.g", "method"): "self"}}, "C().g().f", ["a:C.f"],
            id="a method that returns itself",
        ),
        pytest.param(
            PY, "C:class C.f:method C.g:method", {"returns": {known("C.g", "method"): "te.Self"}}, "C().g().f",
            ["a:C.f"], id="by its type as well",
        ),
        pytest.param(
            PY, "C:class B:class B.f:method", {"holds": {known("C", "class"): {"x": "B()"}}}, "C().x.f", ["a:B.f"],
            id="what a field holds",
        ),
        pytest.param(
            PY, "C:class A:class B:class B.f:method",
            {"holds": {known("A", "class"): {"x": "B()"}}, "bases": {known("C", "class"): [("A", "")]}},
            "C().x.f", ["a:B.f"], id="what an inherited field holds",
        ),
        pytest.param(
            PY, "C:class A:class B:class B.f:method A.f:method",
            {
                "holds": {known("A", "class"): {"x": "B()"}, known("C", "class"): {"x": "A()"}},
                "bases": {known("C", "class"): [("A", "")]},
            },
            "C().x.f", ["a:A.f"], id="its own field comes first",
        ),
        pytest.param(
            PY, "C:class A:class", {"bases": {known("C", "class"): [("A", "")], known("A", "class"): [("C", "")]}},
            "C().x", [], id="classes that inherit from each other end",
        ),
        pytest.param(
            PY, "C:class C.f:method", {"variables": {"a": {"v": ("a", "C()")}}}, "v.f", ["a:C.f"],
            id="what a variable holds",
        ),
        pytest.param(
            PY, "C:class", {"variables": {"a": {"v": ("a", "v")}}}, "v", [], id="nothing, told of itself"
        ),
        pytest.param(PY, "E:enum E.f:method", {}, "E.f", ["a:E.f"], id="an enum has members as a class has"),
        *(
            pytest.param(ES, f"E:{kind} E.f:method", {}, "E.f", ["a:E.f"], id=f"so has one of kind {kind}")
            for kind in ("class", "interface", "struct", "trait")
        ),
        pytest.param(PY, "T:type", {}, "T()", ["a:T"], id="a type is made as a class is"),
        pytest.param(PY, "f", {}, "f()", [], id="and a function is not"),
    ],
)  # fmt: skip
def test_a_dotted_name_means(
    family: str, definitions: str, links: dict[str, object], names: str, meant: list[str]
) -> None:
    found = lookup(" ".join(f"a:{each}" for each in definitions.split()), {"a": ()}, **links)
    assert told(found.dotted("a", names.split("."), family)) == meant


def test_of_several_definitions_the_first_that_says_what_it_returns_is_asked() -> None:
    makes = [ReferenceTarget(n, "a.py", "make", "make", None, "function", PY) for n in (1, 2, 3)]
    placed = {("a.py", "make"): makes, **{("a.py", name): [target("a.py", name, "class")] for name in "BC"}}
    names = NameLookup(placed, LinkedFiles({"a.py": ()}, returns={2: "B()", 3: "C()"}))
    assert told(names.dotted("a.py", ["make()"], PY)) == ["a.py:B"]


def test_a_member_of_a_module_is_what_it_gives_away() -> None:
    names = lookup("b.py:f a.py:g", {"a.py": (Import("b"),), "b.py": ()})
    assert told(names.dotted("a.py", ["b", "f"], PY)) == ["b.py:f"]
    assert names.dotted("a.py", ["b", "g"], PY) == Meaning()
    assert names.dotted("a.py", ["b"], PY) and not Meaning()


@pytest.mark.parametrize(
    ("member", "kind", "owner"),
    [
        ("C.m", "method", "C"),
        ("C.m.inner", "function", "C"),
        ("C", "class", "C"),
        ("C.D.m", "method", "C.D"),
        ("f", "function", None),
        ("g.inner", "function", None),  # inside of a function, not of a class
    ],
)
def test_what_a_member_belongs_to(member: str, kind: str, owner: str | None) -> None:
    names = lookup("a.py:C:class a.py:C.D:class a.py:g:function a.py:x.C:class", {"a.py": ()})
    found = names.owner(target("a.py", member, kind), PY)
    assert (found.name if found else None) == owner


class _Counted(dict[str, tuple[Import, ...]]):
    """Imports that note what file they were asked for."""

    def __init__(self, known: Imports) -> None:
        super().__init__(known)
        self.asked: list[object] = []

    def __contains__(self, path: object) -> bool:
        self.asked.append(path)
        return super().__contains__(path)


def test_what_no_file_is_called_like_is_looked_for_nowhere() -> None:
    known = _Counted({"src/pkg/__init__.py": (), "src/pkg/mod.py": (), "src/pkg/stub.pyi": (), "a/b/c/d.py": ()})
    found = lookup("", known)
    for module in ("typing", "typing.Any", "os.path", ".absent", "pkg.mod.Thing"):
        assert found.file_of(module, "a/b/c/d.py", "python") is None
    assert known.asked == []
    for module, file in {
        "pkg": "src/pkg/__init__.py",
        "pkg.__init__": "src/pkg/__init__.py",
        "pkg.mod": "src/pkg/mod.py",
        "pkg.stub": "src/pkg/stub.pyi",
        ".d": "a/b/c/d.py",
    }.items():
        assert found.file_of(module, "a/b/c/d.py", "python") == file
    assert found.file_of(".", "src/pkg/mod.py", "python") == "src/pkg/__init__.py"
