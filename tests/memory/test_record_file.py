"""Record files: union in any order, numbers, heads, forgetting, permissions, two writers, a killed one."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora_memory import StoreCorrupt, StoreError, StoreForeign
from aurora_memory.record import entry as record_entry
from aurora_memory.record import record_file, record_migrations
from aurora_memory.record.entry import FORGET, Entry, EntryDraft, InvalidEntry, checked, entry_id
from aurora_memory.record.record_file import Record
from aurora_memory.record.renewal import renew
from aurora_memory.store.export_format import InvalidExport
from tests import programs
from tests.shares import examples, long
from tests.wait_limits import HANG

REPOSITORY = "a" * 32


def _open(folder: Path, author: str = "ann", machine: str = "m1", name: str = "r") -> Record:
    return Record.open(folder / "records" / f"{name}.db", REPOSITORY, author, machine)


def _access(at: float, name: str = "f") -> EntryDraft:
    chunk = {"path": "a.py", "name": name, "kind": "function", "shape": "00", "ordinal": 0}
    return EntryDraft("access", json.dumps({"type": "access", "chunk": chunk, "at": at, "kind": "success"}), at)


def _boost_of(pattern: str, run: str, at: float) -> EntryDraft:
    chunk = {"path": "", "name": pattern, "kind": "reasoning", "shape": "00", "ordinal": 0}
    line = {"type": "boost", "chunk": chunk, "run": run, "at": at, "amount": 0.1}
    return EntryDraft("boost", json.dumps(line), at)


def _forget(at: float, pattern: str = "") -> EntryDraft:
    return EntryDraft(FORGET, json.dumps({"pattern": pattern} if pattern else {}), at)


def _held(record: Record) -> set[Entry]:
    return {each for _, each in record.after(0, 100_000)}


def test_appended_entries_have_sequences_of_their_own_and_outlive_the_process(tmp_path: Path) -> None:
    with closing(_open(tmp_path)) as record:
        made = record.append([_access(1.0), _access(2.0)])
        made += record.append([_access(3.0)])
        assert [each.sequence for each in made] == [1, 2, 3]
        assert len({each.id for each in made}) == 3
    with closing(_open(tmp_path, machine="m2")) as again:
        assert [entry for _, entry in again.after(0)] == made
        assert [entry for _, entry in again.after(again.after(0)[1][0])] == made[2:]
        other = again.append([_access(1.0)])
        assert other[0].sequence == 1
        assert again.heads() == {("ann", "m1"): 3, ("ann", "m2"): 1}
        assert again.of("ann", "m1", 1) == made[1:]
    mode = (tmp_path / "records" / "r.db").stat().st_mode
    assert mode & 0o777 == 0o600


def test_a_writer_elsewhere_changes_the_version(tmp_path: Path) -> None:
    with closing(_open(tmp_path)) as one, closing(_open(tmp_path)) as two:
        before = one.version()
        one.append([_access(1.0)])
        assert one.version() == before  # its own writes it knows
        assert [each.sequence for each in two.append([_access(2.0)])] == [2]
        assert one.version() != before


_authors = st.sampled_from(["ann", "bob"])
_drafts = st.one_of(
    st.builds(_access, st.integers(1, 9).map(float), st.sampled_from("fg")),
    st.builds(_boost_of, st.sampled_from(["p", "q"]), st.sampled_from("rs"), st.integers(1, 9).map(float)),
    st.builds(_forget, st.integers(1, 9).map(float), st.sampled_from(["", "p"])),
)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(_authors, _drafts), max_size=14), st.randoms(use_true_random=False), st.data())
def test_union_in_any_order_split_and_repetition_gives_the_same_record(
    tmp_path_factory: pytest.TempPathFactory,
    said: list[tuple[str, EntryDraft]],
    chance: random.Random,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("union")
    entries: list[Entry] = []
    for author in ("ann", "bob"):
        with closing(_open(folder, author, name=f"of-{author}")) as own:
            for whose, draft in said:
                entries += own.append([draft]) if whose == author else []
    with closing(_open(folder, name="whole")) as whole:
        whole.union(entries)
        expected, heads = _held(whole), whole.heads()
        keys = whole.forgotten_keys(-1)
        assert whole.union(entries) == 0
    again = entries * 2
    chance.shuffle(again)
    with closing(_open(folder, name="parts")) as parts:
        while again:
            size = data.draw(st.integers(1, 5))
            parts.union(again[:size])
            again = again[size:]
        assert _held(parts) == expected
        assert parts.heads() == heads
        assert parts.forgotten_keys(-1) == keys


def test_forgetting_takes_what_is_mine_or_a_pattern_and_leaves_no_text(tmp_path: Path) -> None:
    with closing(_open(tmp_path, "bob", name="bob")) as his:
        of_bob = his.append([_access(1.0, "telling_name_of_bob"), _boost_of("p", "r", 1.0)])
    with closing(_open(tmp_path)) as record:
        record.union(of_bob)
        record.append([_access(2.0, "telling_name"), _boost_of("p", "s", 2.0), _boost_of("q", "s", 2.0)])
        record.append([_forget(3.0, "p")])
        assert [each.kind for each in _in_order(record)] == ["access", "access", "boost", "forget"]
        record.append([_forget(4.0)])
        assert [(each.author, each.kind) for each in _in_order(record)] == [
            ("bob", "access"),
            ("ann", "forget"),
            ("ann", "forget"),
        ]
        record.append([_access(5.0, "later")])  # what comes after is not forgotten
        assert len(_held(record)) == 4
        assert record.union(of_bob) == 0  # it does not come back
        assert len(record.forgotten_keys(0)) == 4
    content = b"".join(each.read_bytes() for each in (tmp_path / "records").glob("r.db*"))
    assert b"telling_name_of_bob" in content
    assert b'"telling_name"' not in content


def _in_order(record: Record) -> list[Entry]:
    return [each for _, each in record.after(0)]


def test_what_is_not_what_it_says_is_refused_whole(tmp_path: Path) -> None:
    with closing(_open(tmp_path, "bob", name="bob")) as his:
        good, other = his.append([_access(1.0), _access(2.0)])
    with closing(_open(tmp_path)) as record:
        forged = Entry(other.id, REPOSITORY, "eve", "m1", 2, 2.0, "access", other.body)
        with pytest.raises(InvalidEntry, match="id"):
            record.union([good, forged])
        elsewhere = Entry(good.id, "b" * 32, "bob", "m1", 1, 1.0, "access", good.body)
        with pytest.raises(InvalidEntry, match="repository"):
            record.union([elsewhere])
        with pytest.raises(InvalidExport):
            record.append([_access(3.0), EntryDraft("access", "{}", 1.0)])
        with pytest.raises(InvalidEntry, match="kind"):
            record.append([EntryDraft("boost", _access(1.0).body, 1.0)])
        assert _held(record) == set()
        assert record.heads() == {}


@pytest.mark.parametrize(("longer", "said"), [(0, ""), (1, "longer than")])
def test_an_entry_may_be_as_long_as_a_line_of_an_export(
    monkeypatch: pytest.MonkeyPatch, longer: int, said: str
) -> None:
    body = _access(1.0).body
    monkeypatch.setattr(record_entry, "MAX_LINE", len(body) - longer)
    given = Entry(entry_id("ann", "m1", 1, "access", body), REPOSITORY, "ann", "m1", 1, 1.0, "access", body)
    if said:
        with pytest.raises(InvalidEntry, match=said):
            checked(given, REPOSITORY)
    else:
        assert checked(given, REPOSITORY) == given


def test_what_a_repository_had_under_another_id_is_taken_over_once(tmp_path: Path) -> None:
    path = tmp_path / "records" / "former.db"
    with closing(Record.open(path, "b" * 32, "ann", "m1")) as former, closing(_open(tmp_path)) as record:
        made = former.append([_access(1.0), _access(2.0)])
        assert record.take_over(former) == 2
        assert record.take_over(former) == 0
        assert [(each.id, each.repository) for each in _in_order(record)] == [(each.id, REPOSITORY) for each in made]
        assert [each.sequence for each in record.append([_access(3.0)])] == [3]


def test_a_kind_of_a_newer_version_is_kept_and_handed_on(tmp_path: Path) -> None:
    with closing(_open(tmp_path)) as record:
        made = record.append([EntryDraft("omen", '{"type":"omen"}', 1.0)])
        assert _held(record) == set(made)


def test_foreign_files_other_repositories_and_open_permissions_are_refused(tmp_path: Path) -> None:
    with closing(_open(tmp_path)):
        pass
    path = tmp_path / "records" / "r.db"
    with pytest.raises(StoreCorrupt, match="repository"):
        Record.open(path, "b" * 32, "ann", "m1")
    path.chmod(0o666)
    with pytest.raises(StoreError, match="written by other users"):
        _open(tmp_path)
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA application_id = 42")
    with pytest.raises(StoreForeign):
        _open(tmp_path)


_WRITER = """
import sys
from pathlib import Path
from aurora_memory.record.record_file import Record
from aurora_memory.record.renewal import renew
from tests.memory.test_record_file import REPOSITORY, _access
record = Record.open(Path(sys.argv[1]), REPOSITORY, "ann", "m1")
number = 0
while True:
    number += 1
    entries = record.append([_access(float(number)), _access(number + 0.5)])
    print(entries[-1].sequence, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.long
def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "records" / "r.db"
    acknowledged = 0
    for round_ in range(3):
        with subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(5 * (round_ + 1)):
                acknowledged = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split("\n")
        acknowledged = max([acknowledged, *(int(each) for each in rest[:-1])])
        with closing(_open(tmp_path)) as record:
            sequences = [each.sequence for _, each in record.after(0, 1_000_000)]
            assert sequences == list(range(1, len(sequences) + 1))
            assert acknowledged <= len(sequences) <= acknowledged + 2
            assert record.heads() == {("ann", "m1"): len(sequences)}


def test_who_opens_a_record_waits_for_nobody_who_appends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(_open(tmp_path)) as record:
        (first,) = record.append([_access(1.0)])
        for each in (record_file, record_migrations):
            monkeypatch.setattr(each, "BUSY_SECONDS", 0)
        with closing(sqlite3.connect(record.path, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            with closing(_open(tmp_path)) as again:
                assert [entry for _, entry in again.after(0)] == [first]


def test_a_second_connection_of_a_process_costs_the_first_no_lock(tmp_path: Path) -> None:
    """Another process that comes and goes must not take itself for the last one, and the log with it."""
    path = tmp_path / "records" / f"{REPOSITORY}.sqlite"
    first = Record.open(path, REPOSITORY, "ann", "m1")
    first.append([_access(1.0)])
    Record.open(path, REPOSITORY, "ann", "m1").close()
    code = (
        "import sys; from pathlib import Path; from aurora_memory.record.record_file import Record;"
        f"Record.open(Path(sys.argv[1]), {REPOSITORY!r}, 'bob', 'm2').close()"
    )
    programs.run([sys.executable, "-c", code, str(path)], check=True, timeout=HANG)
    assert path.with_name(f"{path.name}-wal").exists(), "it is written to still"
    first.append([_access(2.0)])
    assert len(first.after(0)) == 2
    first.close()


_FILLED: list[tuple[bytes, set[Entry], set[str]]] = []


def _filled(folder: Path) -> tuple[Path, set[Entry], set[str]]:
    """A record of hundreds of entries of two persons, some of them forgotten: its file, closed, and what it holds."""
    if not _FILLED:
        _FILLED.append(_fill(folder / "first"))
    raw, held, forgotten = _FILLED[0]
    return _put(folder, raw), set(held), set(forgotten)


def _fill(folder: Path) -> tuple[bytes, set[Entry], set[str]]:
    with closing(_open(folder, "bob", name="of-bob")) as his:
        of_bob = his.append([_access(float(n), f"name_{n}") for n in range(1, 200)])
    with closing(_open(folder)) as record:
        record.union(of_bob)
        record.append([_access(1000.0 + n, f"own_{n}") for n in range(300)])
        record.append([_boost_of("p", f"r{n}", 2000.0 + n) for n in range(40)])
        record.append([_forget(3000.0, "p")])
        assert record.fault() is None
        held, forgotten = _held(record), record.forgotten_keys(-1)
    return record.path.read_bytes(), held, forgotten


def _put(folder: Path, raw: bytes) -> Path:
    path = folder / "records" / "r.db"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(raw)
    path.chmod(0o600)
    return path


def test_an_entry_that_is_not_what_was_written_is_told_and_left_out(tmp_path: Path) -> None:
    path, held, _ = _filled(tmp_path)
    raw = path.read_bytes()
    places = [raw.index(b'"name_77"') + 2, raw.index(b'"own_5"') + 1, raw.index(b'"name_9"') - 30]
    for number, at in enumerate(places):
        changed = bytearray(raw)
        changed[at] ^= 1
        torn = _put(tmp_path / str(number), bytes(changed))
        with closing(_open(tmp_path / str(number))) as record:
            assert record.fault() == "1 entries are not what was written"
        done = renew(torn, REPOSITORY, "ann", "m1")
        with closing(_open(tmp_path / str(number))) as record:
            assert record.fault() is None
            assert _held(record) < held and len(_held(record)) == done.saved == len(held) - 1


@pytest.mark.parametrize("step", [9, long(3)])
def test_a_changed_bit_of_when_an_entry_was_appended_is_told_and_mended(tmp_path: Path, step: int) -> None:
    """Its id says nothing of it, and what is forgotten goes by it."""
    with closing(_open(tmp_path)) as record:
        record.append([_access(1_700_000_000.25, "name_1"), _boost_of("p", "r1", 1_700_000_007.0)])
        held, path = _held(record), record.path
    raw = path.read_bytes()
    for number, at in enumerate((1_700_000_000.25, 1_700_000_007.0)):
        stored = struct.pack(">d", at) if at % 1 else int(at).to_bytes(4, "big")
        assert raw.count(stored) == 1
        for bit in {*range(0, len(stored) * 8, step), len(stored) * 8 - 1}:
            changed = bytearray(raw)
            changed[raw.index(stored) + bit // 8] ^= 1 << bit % 8
            folder = tmp_path / f"{number}-{bit}"
            torn = _put(folder, bytes(changed))
            with closing(_open(folder)) as record:
                assert record.fault() == "1 entries are not what was written"
            renew(torn, REPOSITORY, "ann", "m1")
            with closing(_open(folder)) as record:
                assert record.fault() is None and _held(record) == held, (at, bit)


def test_a_record_of_before_gets_the_sums_of_its_moments(tmp_path: Path) -> None:
    path, held, forgotten = _filled(tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE entries DROP COLUMN moment")
        db.execute("PRAGMA user_version = 2")
    damaged = _put(tmp_path / "damaged", path.read_bytes())
    with closing(_open(tmp_path)) as record:
        assert record.fault() is None and _held(record) == held
    renew(damaged, REPOSITORY, "ann", "m1")
    with closing(_open(tmp_path / "damaged")) as record:
        assert record.fault() is None and _held(record) == held and record.forgotten_keys(-1) == forgotten


@pytest.mark.parametrize(("first", "end"), [(0, 2), long((2, 12))])
def test_pages_that_are_lost_cost_only_what_was_on_them(tmp_path: Path, first: int, end: int) -> None:
    path, held, forgotten = _filled(tmp_path)
    raw = path.read_bytes()
    chance = random.Random(19 + first)
    leaves = [at for at in range(4096, len(raw), 4096) if raw[at] == 0x0D and b"access" in raw[at : at + 4096]]
    for number in range(first, end):
        torn = bytearray(raw)
        for at in (0, *chance.sample(leaves, 3)) if number % 2 else chance.sample(leaves, 3):
            torn[at : at + 4096] = bytes(4096)
        whole = {each for each in held if each.body.encode() in torn}
        broken = _put(tmp_path / str(number), bytes(torn))
        renew(broken, REPOSITORY, "ann", "m1")
        with closing(_open(tmp_path / str(number))) as record:
            assert record.fault() is None
            assert whole - _held(record) == set() and _held(record) <= held
            assert record.forgotten_keys(-1) == forgotten, "what was forgotten does not come back"


def test_numbers_are_not_given_again_where_the_last_entries_are_lost(tmp_path: Path) -> None:
    path, held, _ = _filled(tmp_path)
    last = max(each.sequence for each in held if each.author == "ann")
    raw = bytearray(path.read_bytes())
    at = raw.index(b'"own_299"') // 4096 * 4096
    raw[at : at + 4096] = bytes(4096)
    path.write_bytes(raw)
    renew(path, REPOSITORY, "ann", "m1")
    with closing(_open(tmp_path)) as record:
        (made,) = record.append([_access(9000.0)])
        assert made.sequence == last + 1


def test_entries_of_one_number_are_paged_through_together(tmp_path: Path) -> None:
    made: list[Entry] = []
    for name in ("one", "other", "third"):  # a home that was put back from a backup, twice
        with closing(_open(tmp_path, name=name)) as record:
            made += record.append([_access(float(n), f"{name}_{n}") for n in range(1, 6)])
    with closing(_open(tmp_path, name="all")) as record:
        record.union(made)
        for limit in (1, 2, 4, 100):
            found: list[Entry] = []
            while page := record.of("ann", "m1", found[-1].sequence if found else 0, limit):
                found += page
            assert len(found) == 15 and set(found) == set(made)


@pytest.mark.parametrize(("seed", "many"), [(7, 4), long((8, 12))])
def test_a_changed_bit_of_a_records_log_is_told_and_costs_nothing(tmp_path: Path, seed: int, many: int) -> None:
    with closing(_open(tmp_path)) as record:
        for n in range(5 * many):
            record.append([_access(float(n + 1), f"name_{n}")])
        held = _held(record)
        file, log = (record.path.with_name(record.path.name + suffix).read_bytes() for suffix in ("", "-wal"))
    chance = random.Random(seed)
    for number in range(many):
        changed = bytearray(log)
        changed[chance.randrange(len(log))] ^= 1 << chance.randrange(8)
        torn = _put(tmp_path / str(number), file)
        torn.with_name("r.db-wal").write_bytes(changed)
        with pytest.raises(StoreCorrupt, match="a bit changed on the disk"):
            _open(tmp_path / str(number))
        renew(torn, REPOSITORY, "ann", "m1")
        with closing(_open(tmp_path / str(number))) as record:
            assert len(held - _held(record)) <= 1 and _held(record) <= held


def test_a_renewal_that_fails_leaves_the_damaged_record_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, held, _ = _filled(tmp_path)
    raw = bytearray(path.read_bytes())
    raw[raw.index(b'"name_77"') + 2] ^= 1
    path.write_bytes(raw)

    def full(record: Record, entries: object) -> int:
        raise StoreError(f"no space left to write {record.path}")

    with monkeypatch.context() as patched:
        patched.setattr(Record, "union", full)
        with pytest.raises(StoreError, match="no space left"):
            renew(path, REPOSITORY, "ann", "m1")
    assert path.read_bytes() == raw and [each.name for each in path.parent.glob("r.db*")] == ["r.db"]
    renew(path, REPOSITORY, "ann", "m1")
    path.rename(path.with_name("r.db.saved"))  # what a kill between its two renames leaves
    with closing(_open(tmp_path)) as record:
        assert len(_held(record)) == len(held) - 1
