"""Several roots in one daemon: nested, overlapping, worktrees, submodules, namesakes. Their chunks don't mix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_protocol.connection import open_connection
from tests.e2e.product import Product, eventually, knows, names, product_in
from tests.e2e.repositories import commit, git, write
from tests.server.daemons import Wire

CODE = "def {}(value):\n    return value\n"
ANY = "function_of value"


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product_in(tmp_path_factory.mktemp("aurora") / "home") as product:
        yield product


def repository(root: Path, name: str) -> Path:
    write(root, {f"{name}.py": CODE.format(f"function_of_{name}")})
    git(root, "init", "-q", "-b", "main")
    commit(root, name)
    return root.resolve()


def known(product: Product, root: Path) -> set[tuple[str, str]]:
    """All of memory's definitions in `root`, after indexing."""
    product.json("index", "--workspace", root, cwd=root)
    with product.session(root) as client:
        return names(client, ANY)


def test_a_repository_within_a_repository_is_its_own(product: Product, tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer", "outer")
    inner = repository(outer / "vendor" / "inner", "inner")
    assert known(product, outer) == {("outer.py", "function_of_outer")}
    assert known(product, inner) == {("inner.py", "function_of_inner")}
    skipped = product.json("doctor", cwd=outer)
    assert ("vendor/inner", "nested-repository") in {(one["path"], one["reason"]) for one in skipped["examples"]}
    below = product.json("mem", ANY, cwd=inner)
    assert {one["file"] for one in below["results"]} == {"inner.py"}, "the nearest folder upward is the workspace"


def test_overlapping_roots_both_hold_the_shared_files_under_their_own_paths(product: Product, tmp_path: Path) -> None:
    whole = write(
        tmp_path / "whole", {"top.py": CODE.format("function_of_top"), "part/low.py": CODE.format("function_of_low")}
    )
    part = whole / "part"
    assert known(product, whole) == {("top.py", "function_of_top"), ("part/low.py", "function_of_low")}
    assert known(product, part) == {("low.py", "function_of_low")}
    with product.session(whole) as above, product.session(part) as below:
        (part / "low.py").write_text(CODE.format("function_of_change"))
        eventually(lambda: knows(above, "part/low.py", "function_of_change"), "the outer root sees the change")
        eventually(lambda: knows(below, "low.py", "function_of_change"), "the inner root sees the change")
        (whole / "top.py").unlink()
        eventually(lambda: names(above, ANY) == {("part/low.py", "function_of_change")}, "only the outer root loses it")
        assert names(below, ANY) == {("low.py", "function_of_change")}


def test_a_worktree_is_a_workspace_of_its_own(product: Product, tmp_path: Path) -> None:
    main = repository(tmp_path / "main", "main")
    git(main, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "topic"))
    topic = (tmp_path / "topic").resolve()
    git(main, "worktree", "add", "-q", "-b", "inside", str(main / "trees" / "inside"))
    write(topic, {"topic.py": CODE.format("function_of_topic")})
    (main / "trees" / "inside" / "inside.py").write_text(CODE.format("function_of_inside"))
    assert known(product, topic) == {("main.py", "function_of_main"), ("topic.py", "function_of_topic")}
    assert known(product, main) == {("main.py", "function_of_main")}
    assert ("inside.py", "function_of_inside") in known(product, main / "trees" / "inside")
    commit(topic, "topic")
    with product.session(topic) as client:
        git(topic, "switch", "-q", "-d", "HEAD~1")
        eventually(lambda: names(client, ANY) == {("main.py", "function_of_main")}, "a worktree's own HEAD is followed")
    answer = product.json("mem", ANY, cwd=topic)
    assert answer["results"][0]["last_modified"] is not None


def test_a_submodule_is_a_workspace_of_its_own(product: Product, tmp_path: Path) -> None:
    library = repository(tmp_path / "library", "library")
    project = repository(tmp_path / "project", "project")
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "ext/library")
    commit(project, "add the library")
    assert known(product, project) == {("project.py", "function_of_project")}
    assert known(product, project / "ext" / "library") == {("library.py", "function_of_library")}
    assert known(product, library) == {("library.py", "function_of_library")}


def test_clones_of_the_same_name_do_not_share_memory(product: Product, tmp_path: Path) -> None:
    first = repository(tmp_path / "one" / "clone", "origin")
    (tmp_path / "two").mkdir()
    git(tmp_path / "two", "clone", "-q", str(first), "clone")
    second = (tmp_path / "two" / "clone").resolve()
    write(second, {"extra.py": CODE.format("function_of_extra")})
    assert known(product, first) == {("origin.py", "function_of_origin")}
    assert known(product, second) == {("origin.py", "function_of_origin"), ("extra.py", "function_of_extra")}
    assert len([path for path in product.databases() if path.name.startswith("clone-")]) == 2


def test_a_link_to_a_workspace_is_that_workspace(product: Product, tmp_path: Path) -> None:
    real = repository(tmp_path / "real", "real")
    (tmp_path / "link").symlink_to(real)
    assert known(product, tmp_path / "link") == known(product, real) == {("real.py", "function_of_real")}
    status = product.json("daemon", "status", cwd=tmp_path)
    roots = [workspace["root"] for workspace in status["workspaces"]]
    assert roots.count(str(real)) == 1 and str(tmp_path / "link") not in roots


def folder(root: Path) -> dict[str, str]:
    return {"uri": root.as_uri(), "name": root.name}


def test_one_session_with_folders_that_come_and_go(product: Product, tmp_path: Path) -> None:
    red, green, blue = (repository(tmp_path / name, name) for name in ("red", "green", "blue"))
    for root in (red, green, blue):
        product.json("index", cwd=root)
    with Wire(open_connection(product.address, 5.0)) as wire:
        wire.initialize(workspaceFolders=[folder(red), folder(green)])

        def found() -> set[str]:
            result = wire.result("aurora/recall", {"query": ANY, "limit": 50})
            places = {(Path(one["workspace"]) / one["file"]).is_file() for one in result["results"]}
            assert places <= {True}, result
            return {one["name"].removeprefix("function_of_") for one in result["results"]}

        def symbols() -> set[str]:
            result: list[dict[str, Any]] = wire.result("workspace/symbol", {"query": "function_of"})
            return {symbol["name"].removeprefix("function_of_") for symbol in result}

        def change(*, added: tuple[Path, ...] = (), removed: tuple[Path, ...] = ()) -> None:
            event = {"added": [folder(root) for root in added], "removed": [folder(root) for root in removed]}
            wire.notify("workspace/didChangeWorkspaceFolders", {"event": event})

        assert found() == symbols() == {"red", "green"}
        change(added=(blue,), removed=(red,))
        assert found() == symbols() == {"green", "blue"}
        hover = {"textDocument": {"uri": (red / "red.py").as_uri()}, "position": {"line": 0, "character": 6}}
        assert wire.result("textDocument/hover", hover) is None
        change(added=(red,))
        assert wire.result("textDocument/hover", hover) is not None
        assert found() == {"red", "green", "blue"}
        change(removed=(red, green, blue))
        assert "error" in wire.ask("aurora/recall", {"query": ANY})
        change(added=(green,))
        assert found() == symbols() == {"green"}


def test_nested_folders_of_one_session_name_each_definition_once(product: Product, tmp_path: Path) -> None:
    whole = write(
        tmp_path / "nest", {"top.py": CODE.format("function_of_top"), "part/low.py": CODE.format("function_of_low")}
    )
    for root in (whole, whole / "part"):
        product.json("index", "--workspace", root, cwd=root)
    with Wire(open_connection(product.address, 5.0)) as wire:
        wire.initialize(workspaceFolders=[folder(whole), folder(whole / "part")])
        results = wire.result("aurora/recall", {"query": ANY, "limit": 50})["results"]
        assert sorted(one["name"] for one in results) == ["function_of_low", "function_of_top"]
        found = wire.result("workspace/symbol", {"query": "function_of"})
        assert sorted(symbol["name"] for symbol in found) == ["function_of_low", "function_of_top"]
