"""Catalogue of all definitions, made when much is linked at once: let go of by the thread that has time, at once."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path

import pytest

from aurora_memory.relations import Catalogue
from aurora_memory.store import Store, pending_references
from tests.memory.chunks import chunk, file


async def test_it_goes_piece_by_piece_off_the_event_loop_and_nothing_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_references, "MANY", 1)
    let_go = Catalogue.let_go
    left: list[tuple[int, int, weakref.ref[Catalogue]]] = []

    def gone(self: Catalogue) -> None:
        known = len(self.anywhere("load"))
        let_go(self)
        assert self.anywhere("load") == [] and not self.of_file("a.py") and not self.in_file("a.py", "load")
        left.append((threading.get_ident(), known, weakref.ref(self)))

    monkeypatch.setattr(Catalogue, "let_go", gone)
    store = await Store.open(tmp_path / "memory.db")
    collects = gc.isenabled()
    gc.disable()
    try:
        await store.write([file("a.py", chunk("a.py", "load"), chunk("a.py", "show", calls=("load",)))])
        await store.resolve()
        ((thread, known, catalogue),) = left
        assert thread != threading.get_ident() and known == 1
        assert catalogue() is None, "what nobody uses any more waits for no collection"
    finally:
        if collects:
            gc.enable()
        await store.close()
