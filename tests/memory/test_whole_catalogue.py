"""Catalogue of all definitions, made when much is linked at once: it goes piece by piece, by a thread."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from aurora_memory.catalogue import Catalogue
from aurora_memory.store import pending_references
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store


async def test_it_is_taken_apart_off_the_event_loop_when_all_is_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_references, "MANY", 1)
    let_go = Catalogue.let_go
    left: list[tuple[int, int]] = []

    def gone(self: Catalogue) -> None:
        known = len(self.anywhere("load"))
        let_go(self)
        assert not any(each for each in self.lookup.holds() if isinstance(each, dict | set)), "what was found, too"
        assert not any(each for each in vars(self).values() if isinstance(each, dict | set))
        assert self.anywhere("load") == [] and not self.of_file("a.py") and not self.in_file("a.py", "load")
        left.append((threading.get_ident(), known))

    monkeypatch.setattr(Catalogue, "let_go", gone)
    store = await new_store(tmp_path / "memory.db")
    try:
        await store.write([file("a.py", chunk("a.py", "load"), chunk("a.py", "show", calls=("load",)))])
        await store.resolve()
    finally:
        await store.close()
    ((thread, known),) = left
    assert thread != threading.get_ident() and known == 1
