"""The dashboard: who may see it, what it shows, and that it is live."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from aurora_deliverables.deliverable import Deliverable, PhaseSpan
from aurora_server.dashboard.charts import bars, timeline
from aurora_server.dashboard.server import leading_page
from aurora_server.unauthenticated_connections import MAX_UNAUTHENTICATED
from tests.programs import COMMAND, run
from tests.server.daemons import Daemon
from tests.server.dashboards import Dashboard
from tests.wait_limits import HANG

EVIL = '"><img src=x onerror=alert(1)>'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "h"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    return root


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    with Daemon(home) as running:
        yield running


def tell(daemon: Daemon, root: Path, *events: dict[str, Any]) -> None:
    with daemon.client(root) as client:
        for event in events:
            client.request("aurora/deliverable", event, timeout=HANG)


START: dict[str, Any] = {"action": "start", "change_id": "add-cart", "description": EVIL, "at": "2026-02-26T10:00:00Z"}
APPLY: dict[str, Any] = {
    "action": "phase",
    "change_id": "add-cart",
    "phase": "apply",
    "at": "2026-02-26T10:05:00Z",
}
TOKENS: dict[str, Any] = {
    "action": "tokens",
    "change_id": "add-cart",
    "input_tokens": 12345,
    "output_tokens": 678,
    "cost_usd": 0.25,
    "at": "2026-02-26T10:06:00Z",
}


def test_only_the_printed_address_lets_anybody_in(daemon: Daemon, home: Path, root: Path) -> None:
    with Dashboard(home, root) as dashboard:
        for path in ("/", "/?token=guess", "/events"):
            for get in (dashboard.get, dashboard.get_outside):
                answer, text = get(path)
                assert answer.status in (403, 404) and "shop" not in text, path
        answer, _ = dashboard.get("/", Cookie=f"aurora_dashboard_{dashboard.port}=guess")
        assert answer.status == 403
        dashboard.log_in()
        answer, text = dashboard.get("/")
        assert answer.status == 200 and str(root) in text
        assert dashboard.url.split("token=")[1] not in text
        for host in ("evil.example", f"evil.example:{dashboard.port}", "0.0.0.0"):
            answer, text = dashboard.get("/", Host=host)
            assert answer.status == 400 and "shop" not in text, "a name that resolves to this machine is not enough"


def test_many_who_never_show_the_token_do_not_keep_its_user_out(daemon: Daemon, home: Path, root: Path) -> None:
    with Dashboard(home, root) as dashboard, ExitStack() as stack:
        held = [
            stack.enter_context(socket.create_connection(("127.0.0.1", dashboard.port), HANG))
            for _ in range(MAX_UNAUTHENTICATED + 50)
        ]
        dashboard.log_in()
        assert dashboard.get("/")[0].status == 200
        for each in held[:50]:
            with suppress(ConnectionResetError):
                assert each.recv(1) == b"", "the oldest are turned away"


def test_the_cookie_is_for_this_page_only(daemon: Daemon, home: Path, root: Path) -> None:
    with Dashboard(home, root) as dashboard:
        answer, _ = dashboard.get_outside(dashboard.url.split(str(dashboard.port))[1])
        cookie = str(answer.getheader("Set-Cookie")).lower()
        assert "httponly" in cookie and "samesite=strict" in cookie
        assert f"aurora_dashboard_{dashboard.port}=" in cookie
        assert f"path={dashboard.place}/".lower() in cookie, "a browser sends it to no other port of this machine"
        dashboard.log_in()
        for path in ("/", "/static/dashboard.js", "/static/missing", "/nowhere"):
            answer, _ = dashboard.get(path)
            policy = answer.getheader("Content-Security-Policy") or ""
            assert "default-src 'none'" in policy and "unsafe" not in policy, path
            assert answer.getheader("X-Content-Type-Options") == "nosniff"
            assert answer.getheader("Cache-Control") == "no-store"
        assert dashboard.get("/static/../app.py")[0].status == 404
        assert dashboard.get("/static/%2e%2e/app.py")[0].status == 404


def test_it_shows_the_workspace_and_its_deliverables_and_escapes_them(daemon: Daemon, home: Path, root: Path) -> None:
    tell(daemon, root, START, APPLY, TOKENS)
    with Dashboard(home, root) as dashboard:
        dashboard.log_in()
        _, text = dashboard.get("/")
    assert EVIL not in text and "&lt;img src=x" in text
    assert ">add-cart</a>" in text
    assert "apply: begins +5 min" in text
    assert "12,345" in text and "$0.25" in text
    assert "feature throughput" in text and "no data" in text, "unknown is not zero"
    assert "<script>" not in text and " style=" not in text and "http://" not in text and "https://" not in text


def test_a_change_that_was_renamed_is_listed_by_the_name_it_has_now(daemon: Daemon, home: Path, root: Path) -> None:
    rename = {"action": "rename", "change_id": "add-cart", "name": "add-basket", "at": "2026-02-26T10:07:00Z"}
    tell(daemon, root, START, APPLY, TOKENS, rename)
    with Dashboard(home, root) as dashboard:
        dashboard.log_in()
        _, text = dashboard.get("/")
    assert ">add-basket</a>" in text and ">first add-cart</span>" in text
    assert ">add-cart</a>" not in text and "<strong>add-basket</strong>" in text


def test_it_opens_on_what_is_under_way_though_something_else_ended_later(
    daemon: Daemon, home: Path, root: Path
) -> None:
    later = {"change_id": "fix-stock"}
    tell(
        daemon,
        root,
        START,
        APPLY,
        {"action": "start", "at": "2026-02-26T11:00:00Z", **later},
        {"action": "phase", "phase": "verify", "at": "2026-02-26T11:01:00Z", **later},
        {"action": "complete", "at": "2026-02-26T11:02:00Z", **later},
    )
    with Dashboard(home, root) as dashboard:
        dashboard.log_in()
        _, text = dashboard.get("/")
    assert "apply: begins +5 min" in text and "verify: begins" not in text
    assert ">fix-stock</a>" in text


def test_what_happens_is_seen_without_reloading(daemon: Daemon, home: Path, root: Path) -> None:
    with Dashboard(home, root) as dashboard:
        dashboard.log_in()
        stream = dashboard.stream()
        assert set(stream.next()) >= {"metrics", "changes", "phases", "health"}
        tell(daemon, root, START, APPLY)
        told: dict[str, Any] = {}
        while "add-cart" not in told.get("changes", ""):
            told = stream.next()
        assert "failures" not in told, "only what changed is sent"


def test_a_daemon_that_goes_is_told_of_and_not_started_again(home: Path, root: Path) -> None:
    with Daemon(home) as daemon:
        dashboard = Dashboard(home, root)
        with dashboard:
            dashboard.log_in()
            stream = dashboard.stream()
            stream.next()
            daemon.__exit__()
            told: dict[str, Any] = {}
            while not told.get("problem"):
                told = stream.next()
            answer, text = dashboard.get("/")
            assert answer.status == 200 and 'role="alert">' in text and "How deliverables went" in text
            with Daemon(home):
                while told.get("problem", "") is not None:
                    told = stream.next()
        assert dashboard.code == 130


def test_an_open_page_does_not_keep_it_from_ending(daemon: Daemon, home: Path, root: Path) -> None:
    with Dashboard(home, root) as dashboard:
        dashboard.log_in()
        stream = dashboard.stream()
        stream.next()
        dashboard.process.send_signal(signal.SIGINT)
        assert dashboard.process.wait(HANG) == 130
        assert dashboard.errors() == "aurora: interrupted\n"


STARTER = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
while not child.stdout.readline().endswith(b"}\\n"):
    pass
time.sleep(2)
assert child.poll() is None
"""


def test_one_that_a_program_started_ends_with_it(daemon: Daemon, home: Path, root: Path) -> None:
    command = [sys.executable, "-P", "-m", "aurora_cli", "--workspace", str(root), "dashboard", "--no-open"]
    # Its standard error is the starter's: this waits for the end of both.
    done = subprocess.run(
        [sys.executable, "-c", STARTER, *command, "--json"],
        env={**os.environ, "AURORA_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert done.returncode == 0 and done.stderr == "aurora: interrupted\n"


def test_a_port_that_is_taken_is_refused_in_one_line(daemon: Daemon, home: Path, root: Path) -> None:
    with Dashboard(home, root) as dashboard:
        command = [*COMMAND, "--workspace", str(root), "dashboard", "--no-open"]
        done = run(
            [*command, "--port", str(dashboard.port)],
            env={**os.environ, "AURORA_HOME": str(home)},
            capture_output=True,
            text=True,
            timeout=HANG,
        )
    assert done.returncode == 2
    assert str(dashboard.port) in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_the_page_that_leads_a_browser_in_is_the_users_own(tmp_path: Path) -> None:
    page = leading_page(tmp_path / "run", "http://127.0.0.1:1/?token=t")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "token=t" in page.read_text()


def test_phases_stand_where_they_were_and_one_under_way_lasts_until_now() -> None:
    spans = (
        PhaseSpan("apply", 100.0, 200.0, 1),
        PhaseSpan("verify", 200.0, 200.0, 1),
        PhaseSpan("apply", 250.0, None, 2, recovery=True),
    )
    stretches, ticks = timeline(Deliverable("x", "executing", 100.0, 250.0, spans=spans), 300.0)
    assert [(each.label, each.x, each.width) for each in stretches] == [
        ("apply", 0.0, 500.0),
        ("verify", 500.0, 3.0),
        ("apply 2", 750.0, 250.0),
    ]
    assert stretches[2].under_way and stretches[2].recovery
    assert [tick.x for tick in ticks] == [0.0, 250.0, 500.0, 750.0, 1000.0]
    assert timeline(Deliverable("x", "planning", 1.0, 1.0), 2.0) == ([], [])


@pytest.mark.parametrize("seconds", [1.0, 2.0, 3.0, 90.0, 150.0, 5_000.0, 90_000.0])
def test_no_two_ticks_of_an_axis_are_called_the_same(seconds: float) -> None:
    span = PhaseSpan("apply", 100.0, 100.0 + seconds, 1)
    _, ticks = timeline(Deliverable("x", "executing", 100.0, 100.0 + seconds, spans=(span,)), 100.0 + seconds)
    labels = [tick.label for tick in ticks]
    assert len(set(labels)) == len(labels) >= 2


def test_small_counts_are_put_together() -> None:
    shown = bars([(str(n), 20 - n) for n in range(12)])
    assert [each.name for each in shown][-2:] == ["7", "others"]
    assert shown[-1].count == 12 + 11 + 10 + 9
    assert max(each.width for each in shown) == 1000.0
