"""Secrets in memory files set aside: those that SQLite has split over pages, in the file and in its log."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aurora_memory.store import copies_aside
from aurora_memory.store.copies_aside import clean_aside
from aurora_memory.store.page_reader import Pages
from tests.protocol.test_secrets import ALL
from tests.shares import long

SECRET = next(sample for _, sample in ALL if sample.startswith("ghp_"))

PAGE = 1024

STEPS = [9, long(1)]
"""Letters by which a secret begins later from text to text: it is split in several places, or after each letter."""


def text(number: int) -> str:
    """A text of three pages with a secret that begins ever one letter later, over the ends of its pages."""
    words = "word and " * 400
    at = 380 + number
    return f"{words[:at]} {SECRET} {words[at : at + 900 - len(SECRET)]} {SECRET} {words[at + 900 : 2600]}"


def built(path: Path, step: int, *, log: bool) -> list[str]:
    """A file whose rows are every so many of the `text`s, written to its log alone where it has one."""
    texts = [text(number) for number in range(0, 700, step)]
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA page_size = {PAGE}")
        db.execute(f"PRAGMA journal_mode = {'wal' if log else 'delete'}")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, query TEXT)")
        db.execute("BEGIN")
        db.executemany("INSERT INTO runs (query) VALUES (?)", [(each,) for each in texts])
        db.execute("COMMIT")
        for name in (path.name, f"{path.name}-wal"):
            if (path.parent / name).exists():
                shutil.copyfile(path.parent / name, path.parent / name.replace("w.db", "w.db.damaged-20260101T000000Z"))
    return texts


def test_a_file_that_is_cleaned_stays_as_old_as_it_was(tmp_path: Path) -> None:
    """People keep what was set aside by its age."""
    tmp_path.chmod(0o700)
    aside = tmp_path / "w.db.damaged-20260101T000000Z"
    aside.write_bytes(f"one {SECRET} two".encode())
    os.utime(aside, (1000, 1000))
    assert clean_aside(tmp_path) == [aside]
    assert SECRET.encode() not in aside.read_bytes() and aside.stat().st_mtime == 1000


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("log", [False, True])
def test_a_secret_on_two_pages_becomes_spaces_and_all_else_stays(tmp_path: Path, log: bool, step: int) -> None:
    tmp_path.chmod(0o700)
    texts = built(tmp_path / "w.db", step, log=log)
    aside = tmp_path / "w.db.damaged-20260101T000000Z"
    wal = aside.with_name(f"{aside.name}-wal")
    files = [aside, wal] if log else [aside]
    assert sum(path.read_bytes().count(SECRET.encode()) for path in files) < 2 * len(texts), "some are split"
    assert aside in clean_aside(tmp_path)
    with Pages(aside) as pages:
        kept = [cell.payload for number in range(1, pages.count + 1) for cell in pages.cells(number)]
    found = sorted(each[-2600:] for each in kept if b"word and" in each)
    assert SECRET[:12].encode() not in b"".join(path.read_bytes() for path in files)
    assert found == sorted(each.replace(SECRET, " " * len(SECRET)).encode()[-2600:] for each in texts)


def test_a_file_is_gone_through_once_by_the_same_rules_and_again_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    aside = tmp_path / "w.db.damaged-20260101T000000Z"
    aside.write_bytes(f"one {SECRET} two".encode())
    assert clean_aside(tmp_path) == [aside]
    aside.write_bytes(f"one {SECRET} two".encode())
    assert clean_aside(tmp_path) == []
    with monkeypatch.context() as later:
        later.setattr(copies_aside, "_RULES", "those of a newer AURORA")
        assert clean_aside(tmp_path) == [aside]
    assert aside.read_bytes() == f"one {' ' * len(SECRET)} two".encode()


def test_what_is_set_aside_under_the_name_of_one_that_is_gone_is_gone_through(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    names = ("w.db.adopted", "x.db.adopted")
    for name in names:
        (tmp_path / name).write_bytes(SECRET.encode())
    clean_aside(tmp_path)
    (tmp_path / names[0]).unlink()
    (tmp_path / "y.db.adopted").write_bytes(b"nothing")
    clean_aside(tmp_path)
    (tmp_path / names[0]).write_bytes(SECRET.encode())
    assert clean_aside(tmp_path) == [tmp_path / names[0]]


def test_what_sqlite_shares_of_a_file_set_aside_is_no_copy(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    shared = tmp_path / "w.db.adopted-shm"
    shared.write_bytes(SECRET.encode())
    assert clean_aside(tmp_path) == [] and shared.read_bytes() == SECRET.encode()


def test_a_link_set_aside_is_not_followed(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    theirs = tmp_path / "notes.txt"
    theirs.write_bytes(SECRET.encode())
    (tmp_path / "w.db.adopted").symlink_to(theirs)
    assert clean_aside(tmp_path) == []
    assert theirs.read_bytes() == SECRET.encode()


@pytest.mark.parametrize("step", STEPS)
def test_a_secret_on_two_free_pages_becomes_spaces(tmp_path: Path, step: int) -> None:
    tmp_path.chmod(0o700)
    path = tmp_path / "w.db"
    built(path, step, log=False)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("DELETE FROM runs WHERE id > 3")
    aside = tmp_path / "w.db.adopted"
    shutil.copyfile(path, aside)
    before = aside.read_bytes()
    assert SECRET[:12].encode() in before
    clean_aside(tmp_path)
    left = aside.read_bytes()
    assert left.count(SECRET.encode()) == 0
    with Pages(aside) as pages:
        pieces = [b"".join(left[each.at : each.at + each.length] for each in places) for places in pages.spilled()]
    assert SECRET.encode() not in b"\n".join(pieces)
