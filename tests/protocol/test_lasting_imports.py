"""Modules that stay: the collector passes over them, and what was garbage before them is not kept."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_protocol.lasting_imports import import_for_good


class Ring:
    """A thing that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def frozen() -> Iterator[None]:
    yield
    gc.unfreeze()


def module(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    name = f"lasting_{folder.name}"
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def walked(name: str) -> bool:
    return any(each is sys.modules[name].ONE for each in gc.get_objects())


def test_what_was_imported_for_good_is_not_walked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = module(tmp_path, monkeypatch, "ONE = [[]]\n")
    import_for_good(name)
    assert gc.isenabled() and not walked(name)


def test_what_is_there_already_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = module(tmp_path, monkeypatch, "ONE = [[]]\n")
    __import__(name)
    import_for_good(name)
    assert walked(name), "each question would freeze what is under way"


def test_garbage_of_before_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = weakref.ref(Ring())
    import_for_good(module(tmp_path, monkeypatch, ""))
    assert ring() is None


def test_an_import_that_fails_leaves_the_collector_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        import_for_good(module(tmp_path, monkeypatch, "1 / 0\n"))
    assert gc.isenabled()
