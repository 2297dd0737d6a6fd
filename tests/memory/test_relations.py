"""Which definition a name means, from scope, imports and rarity."""

import pytest

from aurora_memory.chunks import Import, Reference
from aurora_memory.relations import Catalogue, Relation, Scope
from aurora_memory.views import ReferenceTarget


def definition(number: int, path: str, name: str, kind: str = "function", language: str = "python") -> ReferenceTarget:
    parent, _, leaf = name.rpartition(".")
    return ReferenceTarget(number, path, name, leaf, parent or None, kind, language)


def targets(
    source: ReferenceTarget, reference: Reference, imports: list[Import], *others: ReferenceTarget
) -> list[int]:
    scope = Scope(source.path, source.language, imports, Catalogue([source, *others]))
    return sorted(edge.to_id for edge in scope.resolve(source, [reference]))


def test_self_means_the_same_class() -> None:
    login = definition(1, "a.py", "Auth.login", "method")
    mine, other = definition(2, "a.py", "Auth.check", "method"), definition(3, "a.py", "Guest.check", "method")
    assert targets(login, Reference("calls", "check", "self"), [], mine, other) == [2]


def test_a_bare_name_means_the_same_file_first() -> None:
    source = definition(1, "a.py", "login")
    assert targets(
        source, Reference("calls", "check"), [], definition(2, "b.py", "check"), definition(3, "a.py", "check")
    ) == [3]


def test_a_bare_name_is_not_another_classes_method() -> None:
    source = definition(1, "a.py", "login")
    method, function = definition(2, "a.py", "Auth.check", "method"), definition(3, "b.py", "check")
    assert targets(source, Reference("calls", "check"), [Import("b", "check")], method, function) == [3]


def test_an_import_decides_among_many() -> None:
    source = definition(1, "pkg/web.py", "login")
    many = [definition(n, f"pkg/m{n}.py", "check") for n in range(2, 20)]
    assert targets(source, Reference("calls", "check"), [Import("pkg.m7", "check")], *many) == [7]
    assert targets(source, Reference("calls", "check"), [Import(".m8", "check")], *many) == [8]
    assert targets(source, Reference("calls", "verify"), [Import(".m9", "check", "verify")], *many) == [9]
    assert targets(source, Reference("calls", "check", "m5"), [Import("pkg", "m5")], *many) == [5]
    assert targets(source, Reference("calls", "check"), [], *many) == []


def test_a_name_from_outside_the_workspace_is_not_ours() -> None:
    source = definition(1, "a.py", "login")
    assert targets(source, Reference("calls", "dumps", "json"), [Import("json")], definition(2, "b.py", "dumps")) == []


def test_languages_do_not_call_each_other() -> None:
    source = definition(1, "a.py", "login")
    assert targets(source, Reference("calls", "check"), [], definition(2, "b.go", "check", language="go")) == []


def test_typescript_and_tsx_do() -> None:
    source = definition(1, "src/a.tsx", "Page", language="tsx")
    target = definition(2, "src/lib/auth.ts", "login", language="typescript")
    assert targets(source, Reference("calls", "login"), [Import("./lib/auth", "login")], target) == [2]


@pytest.mark.parametrize(
    ("module", "importer", "path"),
    [
        ("a.b", "main.py", "a/b.py"),
        ("a.b", "main.py", "a/b/__init__.py"),
        ("b", "main.py", "src/a/b.py"),
        (".auth", "pkg/web.py", "pkg/auth.py"),
        ("..auth", "pkg/sub/web.py", "pkg/auth.py"),
        ("./auth", "src/web.ts", "src/auth.ts"),
        ("./auth.js", "src/web.ts", "src/auth.ts"),
        ("./auth.service", "src/web.ts", "src/auth.service.ts"),
        (".", "pkg/web.py", "pkg/__init__.py"),
        ("../auth", "src/web/page.ts", "src/auth/index.ts"),
        ("github.com/org/repo/pkg/store", "main.go", "pkg/store/file.go"),
        ("crate::store::file", "src/main.rs", "src/store/file.rs"),
        ("com.example.auth.Login", "src/Main.java", "src/com/example/auth/Login.java"),
        ("store/file.h", "src/main.c", "include/store/file.h"),
    ],
)
def test_modules_name_files(module: str, importer: str, path: str) -> None:
    assert named_by(module, importer, path)


@pytest.mark.parametrize(
    ("module", "importer", "path"),
    [("a.b", "main.py", "a/c.py"), (".auth", "pkg/web.py", "other/auth.py"), ("./auth", "src/web.ts", "lib/auth.ts")],
)
def test_and_not_others(module: str, importer: str, path: str) -> None:
    assert not named_by(module, importer, path)


def named_by(module: str, importer: str, path: str) -> list[ReferenceTarget]:
    """What `module` names of a workspace with one function in the file `path`."""
    return Catalogue([definition(1, path, "found")]).imported(module, importer, "found", "python")


def test_one_module_is_found_for_each_name_and_importer_again() -> None:
    known = Catalogue([definition(1, "lib/a.py", "f"), definition(2, "lib/a.py", "g"), definition(3, "web/a.py", "f")])
    for _ in range(2):
        assert [found.id for found in known.imported("lib.a", "main.py", "f", "python")] == [1]
        assert [found.id for found in known.imported("lib.a", "web/main.py", "g", "python")] == [2]
        assert [found.id for found in known.imported(".a", "lib/b.py", "f", "python")] == [1]
        assert [found.id for found in known.imported(".a", "web/b.py", "f", "python")] == [3]
        assert not known.imported("lib.a", "main.py", "f", "go")


def test_a_name_bound_to_another_is_looked_up_as_that() -> None:
    source = definition(1, "main.py", "start")
    login = definition(2, "auth.py", "login")
    assert targets(source, Reference("calls", "enter"), [Import("auth", "login", "enter")], login) == [2]


MENTIONS = [
    ReferenceTarget(1, "src/auth.py", "AuthService", "AuthService", None, "class", "python"),
    ReferenceTarget(2, "src/auth.py", "AuthService.login", "login", "AuthService", "method", "python"),
    ReferenceTarget(3, "web/form.ts", "login", "login", None, "function", "typescript"),
    ReferenceTarget(4, "api.yaml", "AuthService", "AuthService", None, "schema", "openapi"),
    ReferenceTarget(5, "docs/a.md", "Guide", "Guide", None, "section", "markdown"),
    ReferenceTarget(6, "docs/a.md", "Guide.Log in!", "Log in!", "Guide", "section", "markdown"),
    ReferenceTarget(7, "other.yaml", "AuthService", "AuthService", None, "schema", "openapi"),
    ReferenceTarget(8, "other.yaml", "list", "list", None, "operation", "openapi"),
]


@pytest.mark.parametrize(
    ("source", "reference", "target"),
    [
        (5, Reference("mentions", "AuthService"), 1),
        (5, Reference("mentions", "login"), None),
        (5, Reference("mentions", "login", "AuthService"), 2),
        (5, Reference("mentions", "login", "form"), 3),
        (5, Reference("mentions", "login", "db"), None),
        (5, Reference("mentions", "Guide"), None),
        (8, Reference("mentions", "AuthService"), 7),
        (1, Reference("links", "log-in", "docs/a.md"), 6),
        (1, Reference("links", "gone", "docs/a.md"), 5),
        (1, Reference("links", "", "docs/b.md"), None),
    ],
)
def test_documents_mention_what_is_not_ambiguous(source: int, reference: Reference, target: int | None) -> None:
    by_id = {each.id: each for each in MENTIONS}
    scope = Scope(by_id[source].path, by_id[source].language, (), Catalogue(MENTIONS))
    edges = scope.resolve(by_id[source], [reference])
    assert edges == ([] if target is None else [Relation(source, "mentions", target, 0.3)])
