"""What is defined where: files that a module names, and headings that a link does."""

from __future__ import annotations

import pytest

from aurora_memory.catalogue import Catalogue
from aurora_memory.views import ReferenceTarget
from tests.memory.chunks import definition


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
        ("crate::store", "src/main.rs", "src/store/mod.rs"),
        ("lib/auth", "main.ts", "lib/auth/index.ts"),
        ("pkg.store", "main.go", "src/pkg/store/file.go"),
        (".", "pkg/web.py", "pkg/other.py"),
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


def test_of_two_headings_that_read_alike_the_first_is_linked_to_and_a_file_stands_for_itself() -> None:
    twins = [ReferenceTarget(n, "a.md", f"A.Log {n}", "Log", "A", "section", "markdown") for n in (1, 2)]
    rest = [definition(3, "b.py", "f"), definition(4, "b.py", "<module>", "module")]
    known = Catalogue([*twins, *rest])
    found = [known.headed(path, fragment) for path, fragment in (("a.md", "log"), ("b.py", "log"), ("b.py", "f"))]
    assert [each.id if each else None for each in found] == [1, 4, 3]
