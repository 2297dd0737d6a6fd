"""`aurora team` from outside: two people with homes of their own, one server, one repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

from tests.team.postgres import Server
from tests.team.records import access, held

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Command of a person, in his clone of one repository."""

    def call(who: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        clone = tmp_path / who
        if not clone.exists():
            clone.mkdir()
            _git(clone, "init", "-q")
            _git(clone, "config", "user.email", f"{who}@example.org")
            _git(clone, "config", "user.name", who)
            _git(clone, "remote", "add", "origin", "https://example.org/one.git")
        environ = {**os.environ, "AURORA_HOME": str(tmp_path / f"home-{who}"), **variables}
        environ.pop("PGPASSWORD", None)
        command = [sys.executable, "-P", "-m", "aurora_cli", *arguments]
        return subprocess.run(command, cwd=clone, env=environ, capture_output=True, text=True, timeout=120, check=False)

    return call


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def test_a_team_from_its_making_to_its_leaving(server: Server, tmp_path: Path, run: Run) -> None:
    with server.connect() as db:
        for role in ("ann", "bob"):
            db.execute(f"CREATE ROLE {role} LOGIN")
    url = server.url()
    assert run("ann", "team", "sync").stdout == "no team was joined; nothing was sent\n"
    for arguments in (
        ("create", url, "crew"),
        ("members", url, "crew", "--add", "ann"),
        ("members", url, "crew", "--add", "bob"),
    ):
        done = run("ann", "team", *arguments)
        assert done.returncode == 0, done.stderr
    assert "bob: has not joined yet" in done.stdout
    for who in ("ann", "bob"):
        done = run(who, "team", "join", server.url(who))
        assert done.returncode == 0, done.stderr
    _learn(tmp_path, "ann")
    said = run("ann", "team", "preview")
    entries = [json.loads(line) for line in said.stdout.splitlines()]
    assert [entry["kind"] for entry in entries] == ["access", "access"]
    assert "preview" not in said.stdout
    assert run("ann", "team", "sync").stdout.startswith("crew: 2 sent, 0 fetched")
    assert run("ann", "team", "preview").stdout == ""
    done = run("bob", "team", "sync", "--json")
    assert json.loads(done.stdout)["teams"][0]["fetched"] == 2, done.stderr
    assert run("bob", "team", "sync", AURORA_TEAM_SHARE="access").returncode == 0
    assert run("ann", "team", "forget", "--yes").stdout.startswith("crew: 1 sent, 0 fetched, 2 erased")
    assert json.loads(run("bob", "team", "sync", "--json").stdout)["teams"][0]["fetched"] == 1
    assert _kinds_held(tmp_path, "bob") == ["forget"]
    assert run("bob", "team", "leave", "crew").returncode == 0
    assert "nothing leaves" in run("bob", "team", "status").stdout
    home = tmp_path / "home-ann"
    assert (home / "team.json").stat().st_mode & 0o777 == 0o600


def test_a_hub_that_went_away_is_one_line_in_the_status(server: Server, tmp_path: Path, run: Run) -> None:
    with server.connect() as db:
        db.execute("CREATE ROLE carl LOGIN")
    for arguments in (("create", server.url(), "other"), ("members", server.url(), "other", "--add", "carl")):
        assert run("carl", "team", *arguments).returncode == 0
    assert run("carl", "team", "join", server.url("carl")).returncode == 0
    server.kill()
    done = run("carl", "team", "sync")
    assert done.returncode == 1
    assert "cannot be reached" in done.stdout
    done = run("carl", "team", "status")
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 1
    server.revive()
    assert run("carl", "team", "sync").returncode == 0
    assert ": fine;" in run("carl", "team", "status").stdout


def test_without_the_extra_it_says_in_one_line_how_to_install_it(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\nfrom aurora_cli.app import run; sys.exit(run(['team', 'status']))"
    )
    environ = {**os.environ, "AURORA_HOME": str(tmp_path / "h")}
    done = subprocess.run([sys.executable, "-P", "-c", code], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "aurora: aurora team needs psycopg: pip install 'aurora-context[team]'\n"


def _learn(tmp_path: Path, who: str) -> None:
    """Append two uses to a person's record, as a daemon would."""
    from aurora_cli.global_options import GlobalOptions
    from aurora_cli.team import _record

    before = os.environ.get("AURORA_HOME")
    os.environ["AURORA_HOME"] = str(tmp_path / f"home-{who}")
    try:
        with _record(GlobalOptions(named_workspace=str(tmp_path / who))) as record:
            record.append([access(1.0), access(2.0)])
    finally:
        if before is None:
            del os.environ["AURORA_HOME"]
        else:
            os.environ["AURORA_HOME"] = before


def _kinds_held(tmp_path: Path, who: str) -> list[str]:
    from aurora_memory.record.record_file import Record

    (path,) = [each for each in (tmp_path / f"home-{who}" / "records").glob("*.sqlite") if len(each.stem) == 32]
    with closing(Record.open(path, path.stem, "x", "y")) as record:
        return [entry.kind for entry in held(record)]
