"""`aurora doctor --repair` and `aurora memory …` through a real daemon."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aurora_memory.store import Store, chunk_reader
from aurora_protocol import RequestFailed
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.memory_settings import database_path
from tests import programs
from tests.memory.runs import retrieved, run
from tests.programs import COMMAND
from tests.server.daemons import Daemon, until
from tests.shares import long
from tests.wait_limits import HANG

CODE = '''def authenticate(token):
    """Check an OAuth2 token."""
    if token.expired and not token.refreshed:
        raise ValueError("the token has expired and was not refreshed")
    return token.valid


def unrelated(number):
    return number + 1
'''


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "auth.py").write_text(CODE)
    return folder


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    with Daemon(home) as running:
        yield running


def aurora(home: Path, root: Path, *arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    command = [*COMMAND, "--workspace", str(root), *arguments]
    environment = {**os.environ, "AURORA_HOME": str(home), "PYTHONWARNINGS": "error"}
    return programs.run(
        command, env=environment, input=given, capture_output=True, text=True, timeout=HANG, check=False
    )


def told(home: Path, root: Path, *arguments: str) -> Any:
    """What a command says with --json; it must succeed."""
    done = aurora(home, root, *arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def learn(home: Path, root: Path, *numbers: int) -> Path:
    """Teach the memory of `root` some runs that `authenticate` was of use in; returns the memory file."""
    path = database_path(root, Settings(home=home))

    async def teach() -> None:
        store = await Store.open(path)
        (code,) = await store.read(chunk_reader.by_name, "auth.py", "authenticate")
        for number in numbers:
            await store.learn(run(number, retrieved=retrieved(code.id, helpful=True)))
        await store.close()

    asyncio.run(teach())
    return path


def histories(home: Path, root: Path) -> tuple[int, list[str]]:
    """How often `authenticate` was of use, and the reasoning chunks recalled for it."""
    with_id = told(home, root, "mem", "authenticate", "--type", "code")["results"][0]["id"]
    assert with_id.startswith("code:")
    path = database_path(root, Settings(home=home))
    with closing(sqlite3.connect(path)) as db:
        (count,) = db.execute(
            "SELECT count(*) FROM accesses JOIN chunks ON chunks.id = chunk_id WHERE leaf = 'authenticate' "
            "AND gone_at IS NULL"
        ).fetchone()
    return count, [each["id"] for each in told(home, root, "mem", "oauth2 authentication", "--type", "reas")["results"]]


PATTERN = "reas:oauth2-authentication-api-implementation"


def test_repair_makes_the_index_anew_and_keeps_what_was_learned(daemon: Daemon, home: Path, root: Path) -> None:
    told(home, root, "index")
    path = learn(home, root, 1, 2)
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM postings")
        db.execute("INSERT INTO accesses (chunk_id, at, kind) VALUES (999, 1.0, 'success')")
        db.commit()
    done = aurora(home, root, "doctor")
    assert done.returncode == 1, done.stdout
    assert "accesses speak of chunks that are not there" in done.stdout
    assert "→ aurora doctor --repair" in done.stdout
    done = aurora(home, root, "doctor", "--repair")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 learned rows spoke of nothing" in done.stdout and f"{path} is sound" in done.stdout
    assert histories(home, root) == (2, [PATTERN])
    assert aurora(home, root, "doctor").returncode == 0


def test_repair_while_it_is_open_saves_a_damaged_file(daemon: Daemon, home: Path, root: Path) -> None:
    for number in range(40):
        (root / f"filler_{number}.py").write_text(
            "\n".join(f"def filler_{number}_{n}(value):\n    return value * {n}\n" for n in range(20))
        )
    told(home, root, "index")
    path = learn(home, root, 1)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'refs'").fetchone()
    with path.open("r+b") as raw:
        raw.seek((page - 1) * 4096)
        raw.write(b"\xaa" * 4096)
    done = aurora(home, root, "doctor")
    assert done.returncode == 1 and f"{path} is damaged" in done.stdout and "--repair" in done.stdout
    done = aurora(home, root, "doctor", "--repair")
    assert done.returncode == 0, done.stdout + done.stderr
    (aside,) = path.parent.glob("*.damaged-*Z")
    assert f"kept as {aside.name}" in done.stdout
    assert histories(home, root) == (1, [PATTERN])


@pytest.mark.parametrize("name", ["chunks_kind", long("files_language"), "facts"])
def test_repair_of_a_file_that_opens_and_is_damaged_in_what_is_read_next(home: Path, root: Path, name: str) -> None:
    with Daemon(home):
        told(home, root, "index")
        path = learn(home, root, 1)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    with path.open("r+b") as raw:
        raw.seek((page - 1) * 4096)
        raw.write(b"\xaa" * 4096)
    with Daemon(home):
        assert aurora(home, root, "doctor").returncode == 1
        done = aurora(home, root, "doctor", "--repair")
        assert done.returncode == 0, done.stdout + done.stderr
        assert aurora(home, root, "doctor").returncode == 0
        assert histories(home, root) == (1, [PATTERN])


def test_repair_of_a_file_that_cannot_be_opened(daemon: Daemon, home: Path, root: Path) -> None:
    path = database_path(root, Settings(home=home))
    path.parent.mkdir()
    path.write_bytes(b"this is not a database at all" * 400)
    done = aurora(home, root, "doctor")
    assert done.returncode == 1 and path.name in done.stdout and "→ aurora doctor --repair" in done.stdout
    done = aurora(home, root, "doctor", "--repair")
    assert done.returncode == 0, done.stdout + done.stderr
    assert told(home, root, "mem", "authenticate")["results"]
    (aside,) = path.parent.glob("*.damaged-*Z")
    assert aside.read_bytes().startswith(b"this is not")


def test_repair_never_touches_another_programs_database(daemon: Daemon, home: Path, root: Path) -> None:
    path = database_path(root, Settings(home=home))
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA application_id = 42")
        db.execute("CREATE TABLE mine (x)")
    whole = path.read_bytes()
    done = aurora(home, root, "doctor", "--repair")
    assert done.returncode == 2 and "another program" in done.stderr
    assert aurora(home, root, "doctor").returncode == 1
    assert path.read_bytes() == whole and not list(path.parent.glob("*.damaged*"))


@pytest.fixture
def second(tmp_path: Path) -> Path:
    """The same project elsewhere, with the code in another file."""
    folder = tmp_path / "elsewhere" / "shop2"
    folder.mkdir(parents=True)
    (folder / "login.py").write_text(CODE)
    return folder


def test_learned_memory_goes_through_a_file_to_another_workspace(
    daemon: Daemon, home: Path, root: Path, second: Path, tmp_path: Path
) -> None:
    told(home, root, "index")
    learn(home, root, 1, 2)
    target = tmp_path / "out.jsonl"
    done = aurora(home, root, "memory", "export", str(target))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{target}: 1 reasoning chunk, 4 accesses, 2 boosts, 1 use, 2 runs\n"
    header = json.loads(target.read_text().splitlines()[0])
    assert (header["format"], header["version"], header["workspace"], header["lines"]) == (
        "aurora-memory",
        2,
        "shop",
        10,
    )
    done = aurora(home, second, "memory", "import", str(target))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{second}: 1 reasoning chunk, 4 accesses, 2 boosts, 1 use, 2 runs, from shop",
        "  1 chunk found in another place by their shape",
    ]
    assert histories(home, second) == (2, [PATTERN])
    again = told(home, second, "memory", "import", str(target))
    assert (again["added"], again["moved"], again["same_repository"]) == ({}, 1, None)
    assert histories(home, second) == (2, [PATTERN])


def test_export_and_import_through_pipes(daemon: Daemon, home: Path, root: Path, second: Path) -> None:
    told(home, root, "index")
    learn(home, root, 1)
    done = aurora(home, root, "memory", "export")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 7, done.stderr
    taken = aurora(home, second, "memory", "import", "-", given=done.stdout)
    assert taken.returncode == 0, taken.stderr
    assert histories(home, second) == (1, [PATTERN])
    assert not list(home.glob("memory-*"))


def test_bad_imports_are_one_line_and_change_nothing(daemon: Daemon, home: Path, root: Path) -> None:
    told(home, root, "index")
    learn(home, root, 1)
    lines = aurora(home, root, "memory", "export", "-").stdout.splitlines()
    for given, problem in (
        ("\n".join([lines[0], '{"type": "access"}', *lines[2:]]), "line 2: Object missing required field"),
        ("hello\n", "line 1: this is no export of memory"),
        ("", "line 1: this is no export of memory"),
    ):
        done = aurora(home, root, "memory", "import", "-", given=given)
        assert done.returncode == 2 and done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert problem in line
    done = aurora(home, root, "memory", "import", "/dev/zero")
    assert done.returncode == 2 and "no export" in done.stderr
    assert not list(home.glob("memory-*")), "nothing of it stays"
    done = aurora(home, root, "memory", "import", "missing.jsonl")
    assert done.returncode == 2 and "missing.jsonl" in done.stderr
    assert histories(home, root) == (1, [PATTERN])


def test_a_place_that_does_not_exist_is_exit_1_in_words_and_in_json(daemon: Daemon, root: Path, home: Path) -> None:
    told = aurora(home, root, "mem", "src/none.py:login")
    read = aurora(home, root, "--json", "mem", "src/none.py:login")
    assert (told.returncode, read.returncode) == (1, 1)
    assert json.loads(read.stdout)["missing"] is True and "memory knows no file src/none.py" in told.stderr


def test_paths_of_requests_must_be_absolute(daemon: Daemon, root: Path) -> None:
    with daemon.client(root) as client:
        for method in ("export", "import"):
            with pytest.raises(RequestFailed, match="absolute path"):
                client.request(f"aurora/memory/{method}", {"path": "x.jsonl"})


def test_lifespans_are_reviewed_after_indexing_and_the_archive_is_shown(home: Path, root: Path) -> None:
    with Daemon(home):
        told(home, root, "index")
    path = learn(home, root)

    async def teach() -> None:
        store = await Store.open(path)
        await store.learn(run(1, score=0.6))  # in 2025: its year of retention has to be over
        await store.remember("reviewed_at", "0")
        await store.close()

    asyncio.run(teach())
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE accesses SET at = at - 400 * 86400")
        db.execute("UPDATE chunks SET changed_at = changed_at - 400 * 86400 WHERE kind = 'reasoning'")
        db.commit()
    with Daemon(home):
        told(home, root, "index")
        until(lambda: f"1 in the archive: {PATTERN}" in aurora(home, root, "doctor").stdout, what="a review")
        assert told(home, root, "mem", "oauth2 authentication", "--type", "reas")["results"] == []
        done = aurora(home, root, "memory", "restore", PATTERN)
        assert (done.returncode, done.stdout) == (0, f"{PATTERN}: is recalled again\n")
        assert aurora(home, root, "memory", "restore", PATTERN).returncode == 1
        assert aurora(home, root, "memory", "restore", "reas:nothing").returncode == 2
        assert len(told(home, root, "mem", "oauth2 authentication", "--type", "reas")["results"]) == 1


def git(folder: Path, *arguments: str) -> None:
    """Run git without the user's own settings."""
    identity = {f"GIT_{who}_{what}": f"{what}@example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


@pytest.fixture
def repository(root: Path) -> Path:
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


OFFER = "can be adopted: aurora memory adopt"


def test_a_renamed_workspace_is_offered_its_memory_and_adopts_it(
    daemon: Daemon, home: Path, repository: Path, tmp_path: Path
) -> None:
    told(home, repository, "index")
    path = learn(home, repository, 1, 2)
    moved = tmp_path / "renamed"
    repository.rename(moved)
    (moved / "auth.py").rename(moved / "login.py")
    done = aurora(home, moved, "mem", "authenticate")
    assert done.returncode == 0 and f"memory of {repository} {OFFER}" in done.stderr
    assert OFFER not in aurora(home, moved, "index").stderr, "it is said once"
    doctor = aurora(home, moved, "doctor")
    assert (
        doctor.returncode == 0
        and f"memory of {repository}" in doctor.stdout
        and "→ aurora memory adopt" in doctor.stdout
    )
    (other,) = told(home, moved, "memory", "adopt", "--list")["others"]
    assert other == {
        "path": str(path),
        "root": str(repository),
        "left": True,
        "same_repository": True,
        "learned": 5,
    }
    assert path.exists()
    done = aurora(home, moved, "memory", "adopt")
    assert done.returncode == 0, done.stderr
    assert "1 reasoning chunk, 4 accesses" in done.stdout and f"kept as {path}.adopted" in done.stdout
    assert not path.exists() and path.with_name(path.name + ".adopted").exists()
    assert histories(home, moved) == (2, [PATTERN])
    assert "can be adopted" not in aurora(home, moved, "doctor").stdout
    again = aurora(home, moved, "memory", "adopt")
    assert again.returncode == 2 and "--from" in again.stderr


def test_a_clone_beside_a_living_one_adopts_only_what_is_named(
    daemon: Daemon, home: Path, repository: Path, tmp_path: Path
) -> None:
    told(home, repository, "index")
    path = learn(home, repository, 1)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    done = aurora(home, clone, "index")
    assert done.returncode == 0 and OFFER not in done.stderr
    assert aurora(home, clone, "memory", "adopt").returncode == 2
    with daemon.client(repository):
        busy = aurora(home, clone, "memory", "adopt", "--from", str(repository))
        assert busy.returncode == 2 and "close it there" in busy.stderr
    assert aurora(home, clone, "memory", "adopt", "--from", str(tmp_path / "nowhere")).returncode == 2
    result = told(home, clone, "memory", "adopt", "--from", str(repository))
    assert result["kept_as"] is None and result["adopted"]["same_repository"] is True
    assert path.exists()
    assert histories(home, clone) == histories(home, repository) == (1, [PATTERN])
    mine = aurora(home, repository, "memory", "adopt", "--from", str(path))
    assert mine.returncode == 2 and "already" in mine.stderr


def test_a_repository_that_was_made_anew_is_the_one_that_is_told_of(
    daemon: Daemon, home: Path, repository: Path, tmp_path: Path
) -> None:
    told(home, repository, "index")
    learn(home, repository, 1)
    exported = tmp_path / "memory.jsonl"
    shutil.rmtree(repository / ".git")
    told(home, repository, "memory", "export", str(exported))
    assert root_of(exported), "what was known stays where git knows nothing"
    before = root_of(exported)
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "first, again")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    told(home, repository, "memory", "export", str(exported))
    assert root_of(exported) not in ("", before)
    assert told(home, clone, "memory", "import", str(exported))["same_repository"] is True
    assert OFFER not in aurora(home, clone, "index").stderr
    repository.rename(tmp_path / "moved")
    assert aurora(home, tmp_path / "moved", "memory", "adopt").returncode == 0


def root_of(exported: Path) -> str:
    """The first commit that an export's header names."""
    with exported.open(encoding="utf-8") as lines:
        return str(json.loads(next(lines))["git_root"])
