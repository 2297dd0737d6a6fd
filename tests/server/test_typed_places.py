"""Places as they are typed in a folder, and what is asked for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_cli.mem import asked_for, from_root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    for path in ("src/app.py", "src/web/app.py", "my notes/some day.py", "tests/test_app.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    (tmp_path / "outside.py").write_text("")
    (tmp_path / "link").symlink_to(root)
    return root


def test_a_file_is_spelled_from_the_root(root: Path) -> None:
    web = root / "src/web"
    assert from_root("../app.py:255", web, root) == "src/app.py:255"
    assert from_root("app.py:255", web, root) == "src/web/app.py:255", "the one of this folder"
    assert from_root("why `../../tests/test_app.py:3`?", web, root) == "why `tests/test_app.py:3`?"
    assert from_root("../app.py(7,3): error", web, root) == "src/app.py(7,3): error"
    assert from_root("../app.py#L7-L12", web, root) == "src/app.py#L7-L12"
    assert from_root("../app.py:login", web, root) == "src/app.py:login"
    assert from_root(f"{root}/src/app.py:255", Path("/"), root) == "src/app.py:255"
    assert from_root(f"{root.parent}/link/src/app.py:255", Path("/"), root) == "src/app.py:255"
    assert from_root("../app.py:255", root.parent / "link/src/web", root) == "src/app.py:255"


def test_a_path_with_spaces_is_one_place(root: Path) -> None:
    spelled = 'File "my notes/some day.py", line 3'
    assert from_root("my notes/some day.py:3", root, root) == spelled
    assert from_root("some day.py:3:7", root / "my notes", root) == spelled
    assert from_root("../my notes/some day.py:3", root / "src", root) == spelled
    assert from_root("my notes/some day.py:3", root / "src", root) == spelled, "as it is called from the root, too"
    (root / "src/my notes").mkdir()
    (root / "src/my notes/some day.py").write_text("")
    here = 'File "src/my notes/some day.py", line 3'
    assert from_root("my notes/some day.py:3", root / "src", root) == here, "the one of this folder before that"


@pytest.mark.parametrize(
    "query",
    [
        "../outside.py:3",
        "../../outside.py:3",
        "../gone.py:3",
        "how does app.py read/write",
        "std::vector a.b(7,3)",
        "two  spaces\nand a line",
        "code:src/app.py:login",
        "an odd\0/path:3",
        "explain src/app.py:3",
        "a" * 300 + "/b.py:3",
    ],
)
def test_all_else_is_left_as_it_is(root: Path, query: str) -> None:
    assert from_root(query, root, root) == query


@pytest.mark.parametrize(
    ("words", "query"),
    [
        (("search", "session timeout"), "session timeout"),
        (("Find", "who calls login"), "who calls login"),
        (("search", "box"), "search box"),
        (("search", "box", "of results"), "search box of results"),
        (("cart", "of results"), "cart of results"),
        (("search",), "search"),
        (("  ", " "), ""),
    ],
)
def test_a_verb_before_words_in_quotation_marks_is_none_of_them(words: tuple[str, ...], query: str) -> None:
    assert asked_for(words) == query
