"""The command line as a user meets it: real processes against a daemon that speaks on a real socket."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_protocol.address import Address
from tests import programs
from tests.fake_daemon import FakeDaemon, Refusal, Session
from tests.programs import COMMAND
from tests.wait_limits import HANG

FRESHNESS: dict[str, Any] = {
    "indexed_at": "2026-11-21T20:00:00Z",
    "pending_files": 0,
    "skipped_files": 2,
    "files": 83,
    "chunks": 1200,
    "state": "ready",
}
INDEXED: dict[str, Any] = {
    "workspace": "/w",
    "files": 214,
    "chunks": 3911,
    "definitions": 3700,
    "kinds": {"function": 3000, "class": 1, "type": 2},
    "languages": {"python": 214},
    "parsed_files": 214,
    "unchanged_files": 0,
    "removed_files": 0,
    "skipped_files": 2,
    "failed_files": 0,
    "took_ms": 1800.0,
}
STATUS: dict[str, Any] = {
    "version": "0.1.0",
    "pid": 4242,
    "uptime_s": 12.5,
    "rss_bytes": 50_000_000,
    "socket": "/s",
    "connections": 1,
    "workspaces": [],
}

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def found(workspace: Path, **changes: Any) -> dict[str, Any]:
    return {
        "id": "code:src/auth.py:AuthService.login:45-78",
        "type": "code",
        "kind": "method",
        "name": "AuthService.login",
        "file": "src/auth.py",
        "line_start": 45,
        "line": 47,
        "line_end": 78,
        "language": "python",
        "signature": "def login(self, user) -> AuthToken",
        "score": 0.8349,
        "activation": {"total": 0.71, "base_level": 0.4, "spreading": 0.2, "context_boost": 0.31, "decay": 0.2},
        "last_used": None,
        "last_modified": "2026-11-19T10:00:00Z",
        "tokens": 212,
        "summary": "Log a user in.",
        "callers": 4,
        "workspace": str(workspace),
        **changes,
    }


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "requests"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    return root


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NO_COLOR", "COLUMNS")}
    return {**kept, "AURORA_HOME": str(tmp_path / "h"), "TERM": "xterm"}


@pytest.fixture
def run(workspace: Path, environ: dict[str, str]) -> Run:
    def call(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        options: dict[str, Any] = {"cwd": workspace, "env": environ, "timeout": 60, **more}
        return programs.run([*COMMAND, *arguments], capture_output=True, text=True, **options)

    return call


@pytest.fixture
def daemon(tmp_path: Path, workspace: Path) -> Iterator[FakeDaemon]:
    def recall(session: Session, params: dict[str, Any]) -> dict[str, Any]:
        item = found(
            workspace, **({"content": "def login():\n\treturn 1\x1b[31m"} if params["include_content"] else {})
        )
        if params["explain"]:
            item["evidence"] = {
                "matches": [{"term": "login", "fields": ["name", "doc"]}],
                "accesses": ["2026-11-19T10:00:00Z"],
                "access_count": 3,
                "accesses_from": "git",
                "days_since_access": 2.4,
                "reached": [{"name": "Api.handle", "relation": "calls", "forward": True, "amount": 0.213}],
                "learned": [],
                "signals": [
                    {"name": "words", "contribution": 2.41},
                    {"name": "test", "contribution": -1.5},
                    {"name": "recency", "contribution": 0.001},
                ],
            }
        return {"query": params["query"], "took_ms": 3.7, "freshness": FRESHNESS, "results": [item], "hint": None}

    handlers = {
        "aurora/recall": recall,
        "aurora/status": lambda session, params: STATUS,
        "aurora/index": lambda session, params: {**INDEXED, "workspace": str(workspace)},
    }
    with FakeDaemon(Address.of(tmp_path / "h"), handlers) as running:
        yield running


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    [line] = done.stderr.splitlines()
    assert "Traceback" not in done.stderr
    return line


def test_mem_prints_locations_that_can_be_opened(daemon: FakeDaemon, run: Run, workspace: Path) -> None:
    done = run("mem", "where", "do", "we", "log in", "--limit", "3", "--type", "code", "--budget", "900")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    first, second, last = done.stdout.splitlines()
    assert re.fullmatch(r" 1  AuthService\.login  src/auth\.py:47  4 callers( · changed .*)?", first)
    assert second == "    (user) → AuthToken  Log a user in."
    assert last == "index up to date · 2 files skipped (aurora doctor) · 4 ms"
    asked = daemon.params("aurora/recall")
    assert asked["query"] == "where do we log in"
    assert (asked["limit"], asked["types"], asked["budget_tokens"]) == (3, ["code"], 900)
    assert daemon.params("initialize")["rootUri"] == workspace.as_uri()


def test_mem_in_a_subfolder_asks_the_workspace_and_answers_from_there(
    daemon: FakeDaemon, run: Run, workspace: Path
) -> None:
    assert run("m", "x", cwd=workspace / "src").stdout.startswith(" 1  AuthService.login  auth.py:47 ")
    assert daemon.params("initialize")["rootUri"] == workspace.as_uri()


def test_mem_from_elsewhere_prints_absolute_paths(
    daemon: FakeDaemon, run: Run, workspace: Path, tmp_path: Path
) -> None:
    done = run("mem", "x", "--workspace", str(workspace), cwd=tmp_path)
    assert f" 1  AuthService.login  {workspace}/src/auth.py:47 " in done.stdout


@pytest.mark.parametrize("arguments", [("--json", "mem", "x"), ("mem", "x", "--json"), ("mem", "--json", "x")])
def test_json_is_the_contract(daemon: FakeDaemon, run: Run, arguments: tuple[str, ...]) -> None:
    reply = json.loads(run(*arguments).stdout)
    assert reply["freshness"] | {"state": "ready"} == {
        "indexed_at": "2026-11-21T20:00:00Z",
        "pending_files": 0,
        "skipped_files": 2,
        "files": 83,
        "chunks": 1200,
        "state": "ready",
    }
    [item] = reply["results"]
    assert reply["took_ms"] == 3.7
    assert (item["line_start"], item["line_end"], item["last_used"]) == (45, 78, None)
    assert item["last_modified"] == "2026-11-19T10:00:00Z"
    assert item["activation"] == {
        "total": 0.71,
        "base_level": 0.4,
        "spreading": 0.2,
        "context_boost": 0.31,
        "decay": 0.2,
    }
    assert "content" not in item


def test_index_json_is_the_result(daemon: FakeDaemon, run: Run, workspace: Path) -> None:
    reply = json.loads(run("index", "--json").stdout)
    assert reply["kinds"] == {"function": 3000, "class": 1, "type": 2}
    assert (reply["parsed_files"], reply["took_ms"], reply["workspace"]) == (214, 1800.0, str(workspace))


def test_content_and_explain(daemon: FakeDaemon, run: Run) -> None:
    lines = run("mem", "x", "--content", "--explain").stdout.splitlines()
    (activation,) = [line for line in lines if line.startswith("    activation")]
    assert activation.startswith("    activation 0.71 = base level 0.40 (3 commits, last ")
    assert activation.endswith(" + spreading 0.20 + context 0.31 − decay 0.20 (2 d)")
    assert "    words: login (name, doc)" in lines
    assert "    reached: AuthService.login ← calls ← Api.handle (0.21)" in lines
    assert "    ranked by: words +2.4 · test −1.5" in lines
    assert "    45  def login():" in lines
    assert "    46      return 1\ufffd[31m" in lines, "a file's escape sequences must not reach the terminal"


def test_nothing_found_is_the_hint_and_fine(daemon: FakeDaemon, run: Run) -> None:
    daemon.handlers["aurora/recall"] = lambda session, params: {
        "query": "expnd",
        "took_ms": 0.42,
        "freshness": {**FRESHNESS, "pending_files": 31, "skipped_files": 0, "state": "indexing"},
        "results": [],
        "hint": "no function mentions 'expnd'; did you mean 'expand'?",
    }
    done = run("mem", "expnd")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "no function mentions 'expnd'; did you mean 'expand'?",
        "31 files still being indexed · 0.4 ms",
    ]


def test_an_unindexed_workspace_is_indexed_first_and_only_once(daemon: FakeDaemon, run: Run) -> None:
    answered = daemon.handlers["aurora/recall"]
    indexed: list[dict[str, Any]] = []

    def recall(session: Session, params: dict[str, Any]) -> Any:
        reply = answered(session, params)
        return reply if indexed else {**reply, "freshness": {**FRESHNESS, "indexed_at": None}, "results": []}

    def index(session: Session, params: dict[str, Any]) -> Any:
        indexed.append(params)
        session.progress(params, kind="begin", title="Indexing", percentage=0)
        session.progress(params, kind="report", message="107 files", percentage=50)
        session.progress(params, kind="end")
        return INDEXED

    daemon.handlers |= {"aurora/recall": recall, "aurora/index": index}
    done = run("mem", "x")
    assert (done.returncode, done.stderr) == (0, "")
    assert "src/auth.py:47" in done.stdout
    run("mem", "x")
    assert len(indexed) == 1


def on_terminal(command: list[str], cwd: Path, environ: dict[str, str]) -> str:
    """Run with a terminal on all three streams, and return what it showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, cwd=cwd, env=environ, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(ours)
    assert process.wait(HANG) == 0
    return shown.decode()


def test_on_a_terminal_there_are_links_and_a_progress_bar(
    daemon: FakeDaemon, workspace: Path, environ: dict[str, str]
) -> None:
    answered = daemon.handlers["aurora/recall"]

    def recall(session: Session, params: dict[str, Any]) -> Any:
        asked_before = any(message["method"] == "aurora/index" for message in daemon.received if "method" in message)
        return {
            **answered(session, params),
            "freshness": FRESHNESS if asked_before else {**FRESHNESS, "indexed_at": None},
        }

    daemon.handlers["aurora/recall"] = recall
    command = [sys.executable, "-P", "-m", "aurora_cli", "mem", "x"]
    shown = on_terminal(command, workspace, {**environ, "COLUMNS": "120"})
    assert "Indexing requests …" in shown
    assert "100 %" in shown
    assert "214 files · 3,911 chunks · 1.8 s" in shown
    assert f"\x1b]8;;{(workspace / 'src/auth.py').as_uri()}#47\x1b\\" in shown
    for quiet in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_terminal(command, workspace, {**environ, **quiet})
    assert "\x1b" not in on_terminal([*command, "--no-color"], workspace, environ)


def test_index_names_files_absolutely_and_refuses_those_outside(
    daemon: FakeDaemon, run: Run, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "src" / "a.py").write_text("")
    done = run("index", "a.py", cwd=workspace / "src")
    assert done.returncode == 0
    assert daemon.params("aurora/index")["paths"] == [str(workspace / "src" / "a.py")]
    assert done.stdout.splitlines()[0] == f"{workspace}: 214 files · 3,911 chunks · 1.8 s"
    assert "3,000 functions · 2 types · 1 class" in done.stdout
    outside = run("index", str(tmp_path))
    assert outside.returncode == 2
    assert "is not inside the workspace" in one_line(outside)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("mem",), "Missing argument"),
        (("mem", "  "), "the query is empty"),
        (("explain", " "), "nothing is named"),
        (("who", ""), "nothing is named"),
        (("deliverable", "show", ""), "the name of a change is empty"),
        (("deliverable", "start", " "), "the name of a change is empty"),
        (("mem", "x", "--limit", "0"), "--limit"),
        (("mem", "x", "--limit", "1001"), "1001 is not in the range 1<=x<=1000"),
        (("mem", "x", "--type", "nonsense"), "--type"),
        (("mem", "x", "--workspace", "/no/such/folder"), "/no/such/folder"),
        (("--config", "/no/such/file", "mem", "x"), "/no/such/file"),
        (("querry", "x"), "No such command 'querry'; did you mean 'query'?"),
        (("daemon",), "Missing command"),
        (("budget",), "aurora: Missing command; see: aurora budget --help"),
        (("config",), "aurora: Missing command; see: aurora config --help"),
        (("deliverable",), "aurora: Missing command; see: aurora deliverable --help"),
        (("report",), "aurora: Missing command; see: aurora report --help"),
        (("index", "no-such-file"), "no-such-file"),
        (("manifest", "fetch", "localhost:1", "--timeout", "nan"), "nan is no number"),
        (("deliverable", "conform", "add-x", "--correctness", "nan"), "nan is no number"),
        (("deliverable", "tokens", "add-x", "--cost", "inf"), "inf is no number"),
        (("metrics", "--window-days", "nan"), "nan is no number"),
        (("--headless", "--budget-limit", "nan"), "nan is no number"),
        (("report", "daily", "--date", "9999-12-31"), "'9999-12-31' is no date"),
        (("report", "daily", "--date", "0001-01-01"), "'0001-01-01' is no date"),
        (("report", "monthly", "--month", "9999-12"), "'9999-12' is no month"),
    ],
)
def test_wrong_usage_is_one_line_and_2(run: Run, arguments: tuple[str, ...], complaint: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    line = one_line(done)
    assert complaint in line
    assert "aurora" in line


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_error(daemon: FakeDaemon, workspace: Path, environ: dict[str, str], closed: str) -> None:
    script = f'"$0" -P -m aurora_cli mem login --json {closed}'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable], cwd=workspace, env=environ, capture_output=True, text=True, timeout=HANG
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ">&-" in closed.replace("2>&-", "") or json.loads(done.stdout)["results"]


def test_a_working_folder_that_is_gone_is_said_so(workspace: Path, environ: dict[str, str]) -> None:
    code = "import os, sys; os.rmdir(os.getcwd()); from aurora_cli import main; sys.exit(main())"
    command = [sys.executable, "-P", "-c", code, "mem", "x"]
    done = subprocess.run(command, cwd=workspace / "src", env=environ, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 2
    assert "the working folder is gone" in one_line(done)


@pytest.mark.parametrize("path", ["", "/nowhere"])
def test_so_it_is_by_the_script_that_is_installed(workspace: Path, environ: dict[str, str], path: str) -> None:
    script = Path(__file__).parents[2] / "server/bin/aurora"
    gone = f'cd "$(mktemp -d)" && rmdir "$PWD" && exec {sys.executable} {script} mem x'
    done = subprocess.run(
        ["sh", "-c", gone], env=environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=HANG
    )
    assert done.returncode == 2
    assert "the working folder is gone" in one_line(done)


def test_a_config_file_that_is_no_json_object_is_refused(run: Run, workspace: Path) -> None:
    (workspace / "c.json").write_text("[1]")
    done = run("mem", "x", "--config", "c.json")
    assert done.returncode == 2
    assert "JSON object" in one_line(done)


def test_a_config_file_comes_too_late_for_a_running_daemon_and_is_said_to(
    daemon: FakeDaemon, run: Run, workspace: Path
) -> None:
    (workspace / "c.json").write_text("{}")
    done = run("mem", "x", "--config", "c.json")
    assert done.returncode == 0
    assert "stop it for --config" in one_line(done)


@pytest.mark.parametrize(("code", "expected"), [(-32602, 2), (-32803, 2), (-32603, 3)])
def test_the_daemons_refusals_have_exit_codes(daemon: FakeDaemon, run: Run, code: int, expected: int) -> None:
    def refuse(session: Session, params: dict[str, Any]) -> None:
        raise Refusal(code, "the store is\nlocked")

    daemon.handlers["aurora/recall"] = refuse
    done = run("mem", "x")
    assert done.returncode == expected
    assert one_line(done) == "aurora: the store is locked"
    assert "Traceback" in run("mem", "x", "-vv").stderr


def test_a_daemon_that_cannot_start_is_3(run: Run, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("mem", "x", env={**environ, "AURORA_HOME": str(tmp_path / "file" / "h")})
    assert done.returncode == 3
    assert "AURORA_HOME" in one_line(done)


def test_status_of_no_daemon_starts_none(run: Run, tmp_path: Path) -> None:
    done = run("daemon", "status", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (1, {"running": False})
    assert "no daemon is running" in run("daemon", "status").stdout
    assert not (tmp_path / "h").exists()
    stopped = run("daemon", "stop")
    assert (stopped.returncode, stopped.stdout) == (0, "no daemon is running\n")


def test_status_of_a_daemon(daemon: FakeDaemon, run: Run) -> None:
    reply = json.loads(run("daemon", "status", "--json").stdout)
    assert reply == {
        "running": True,
        "version": "0.1.0",
        "pid": 4242,
        "uptime_s": 12.5,
        "rss_bytes": 50_000_000,
        "socket": "/s",
        "connections": 1,
        "workspaces": [],
    }
    assert "aurora 0.1.0, process 4242, up 12.5 s" in run("daemon", "status").stdout
    assert daemon.params("initialize")["workspaceFolders"] is None


def test_doctor_lists_findings_fixes_and_skips(daemon: FakeDaemon, run: Run) -> None:
    daemon.handlers["aurora/doctor"] = lambda session, params: {
        "findings": [
            {"level": "ok", "what": "watching by inotify", "fix": None},
            {"level": "warning", "what": "no git here", "fix": "git init"},
        ],
        "skipped": {"tooLarge": 1, "binary": 9},
        "examples": [{"path": f"b{n}.bin", "reason": "binary", "detail": "NUL byte"} for n in range(8)]
        + [{"path": "big.py", "reason": "tooLarge", "detail": "2 MiB"}],
    }
    done = run("doctor")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "✓ watching by inotify",
        "! no git here",
        "    → git init",
        "",
        "not indexed: 10 paths",
        "        9  binary",
        *(f"           b{n}.bin  NUL byte" for n in range(5)),
        "           … and 4 more (-v lists more)",
        "        1  tooLarge",
        "           big.py  2 MiB",
    ]
    assert json.loads(run("doctor", "--json").stdout)["skipped"] == {"tooLarge": 1, "binary": 9}
    daemon.handlers["aurora/doctor"] = lambda session, params: {
        "findings": [{"level": "error", "what": "broken", "fix": None}],
        "skipped": {},
        "examples": [],
    }
    assert run("doctor").returncode == 1


def test_doctor_without_a_daemon_says_why(run: Run, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("doctor", env={**environ, "AURORA_HOME": str(tmp_path / "file" / "h")})
    assert done.returncode == 3
    assert done.stdout.splitlines()[0].startswith("✗ cannot look at ")
    assert "    → set another AURORA_HOME" in done.stdout.splitlines()


def test_ctrl_c_ends_quietly_and_cancels(daemon: FakeDaemon, workspace: Path, environ: dict[str, str]) -> None:
    over = threading.Event()

    def slow(session: Session, params: dict[str, Any]) -> Any:
        over.wait(HANG)
        return INDEXED

    daemon.handlers["aurora/index"] = slow
    command = [sys.executable, "-P", "-m", "aurora_cli", "index"]
    process = subprocess.Popen(command, cwd=workspace, env=environ, stderr=subprocess.PIPE, text=True)
    daemon.wait_for("aurora/index")
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=HANG)
    assert (process.returncode, complaint) == (130, "aurora: interrupted\n")
    over.set()
    daemon.wait_for("$/cancelRequest")


def test_a_reader_that_has_seen_enough_is_no_error(
    daemon: FakeDaemon, workspace: Path, environ: dict[str, str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-P", "-m", "aurora_cli", "mem", "x"]
    done = subprocess.run(command, cwd=workspace, env=environ, stdout=writer, stderr=subprocess.PIPE, timeout=HANG)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
