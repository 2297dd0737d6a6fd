"""Sites that mean ill, or are broken: each ends in one line and an exit code, in bounded time and space."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from aurora_cli import site_call
from aurora_manifest.json.scan_state import MAX_BYTES
from aurora_protocol import SiteError
from tests.server.sites import Site, drip, manifest_command, raw_site, reply, running, simple_manifest
from tests.shares import one_of_each

JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def refused(home: Path, url: str, told: str, *options: str, code: int = 2) -> None:
    done = manifest_command(home, "fetch", url, *options, seconds=60)
    assert done.returncode == code, done.stdout[-500:] + done.stderr[-2000:]
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert not list(home.rglob("*.entry")), "nothing of it is kept"


def test_an_endless_body_ends(tmp_path: Path) -> None:
    def answer(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(JSON_HEAD + b"\r\n")
        drip(connection, stopping, b" " * 65536, 0)

    with raw_site(answer) as url:
        refused(tmp_path / "h", url, f"larger than {MAX_BYTES:,} bytes")


def test_a_gzip_bomb_is_not_inflated(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(8 * MAX_BYTES), 6)
    with running(lambda site, handler, body: reply(handler, 200, bomb, Content_Encoding="gzip")) as site:
        refused(tmp_path / "h", site.url, f"larger than {MAX_BYTES:,} bytes")


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nX: ", JSON_HEAD + b"\r\n"])
def test_a_slow_site_is_left(tmp_path: Path, head: bytes) -> None:
    def answer(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(head)
        drip(connection, stopping, b" " if head else b"", 0.05)

    with raw_site(answer) as url:
        refused(tmp_path / "h", url, "within 1 s", "--timeout", "1")


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\xff garbage",
        b"",
        JSON_HEAD + b"Content-Length: 500\r\n\r\n{",
        JSON_HEAD + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nnope!",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (each, b"y" * 900) for each in range(400)) + b"\r\n{}",
        b"HTTP/1.1 99999 What\r\n\r\n",
    ],
)
def test_what_is_no_proper_http_is_told_in_one_line(tmp_path: Path, sent: bytes) -> None:
    with raw_site(lambda connection, stopping: connection.sendall(sent)) as url:
        refused(tmp_path / "h", url, url.partition("//")[2])


@pytest.mark.parametrize(
    ("kind", "told"),
    [("text/html", "is text/html"), ("", "no content type"), ("application/jsonp", "is application/jsonp")],
)
def test_another_content_type_is_refused(tmp_path: Path, kind: str, told: str) -> None:
    with running(lambda site, handler, body: reply(handler, 200, simple_manifest(), kind=kind)) as site:
        refused(tmp_path / "h", site.url, told)


def test_a_type_of_json_is_taken(tmp_path: Path) -> None:
    kind = "application/aura+json; charset=utf-8"
    with running(lambda site, handler, body: reply(handler, 200, simple_manifest(), kind=kind)) as site:
        assert manifest_command(tmp_path / "h", "fetch", site.url).returncode == 0


@pytest.mark.parametrize(
    ("place", "told", "code"),
    [
        ("/.well-known/aura.json", "redirects more than 5 times", 2),
        ("https://127.0.0.1:1/x.json", "another site", 4),
        ("file:///etc/passwd", "redirects to what cannot be asked: file:/etc/passwd: not an http or https URL", 2),
        ("http://a:b:c/", "no URL", 2),
    ],
)
def test_redirects_that_lead_nowhere_good(tmp_path: Path, place: str, told: str, code: int) -> None:
    with running(lambda site, handler, body: reply(handler, 302, Location=place)) as site:
        refused(tmp_path / "h", site.url, told, code=code)
        assert len(site.asked) <= 6


@pytest.mark.parametrize(
    ("status", "told"),
    [(404, "404 Not Found"), (500, "500 Internal Server Error"), (204, "204"), (304, "304"), (299, "299")],
)
def test_a_status_that_brings_no_manifest(tmp_path: Path, status: int, told: str) -> None:
    with running(lambda site, handler, body: reply(handler, status, b"{}")) as site:
        refused(tmp_path / "h", site.url, told)


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    with running(lambda site, handler, body: reply(handler, 200, b'{"a": "\xff"}')) as site:
        refused(tmp_path / "h", site.url, "not UTF-8")


@pytest.mark.parametrize(
    ("text", "command"),
    one_of_each(
        itertools.product(
            ["{", "[" * 100_000, "null", "", '{"a": 1e999, "b": "\\ud800"}', '{"capabilities": {"\\u001b[2J": 1}}'],
            ["fetch", "crawl"],
        )
    ),
)
def test_bad_and_deep_json_is_an_invalid_manifest(tmp_path: Path, text: str, command: str) -> None:
    with running(lambda site, handler, body: reply(handler, 200, text)) as site:
        done = manifest_command(tmp_path / "h", command, site.url)
        assert done.returncode == 1, done.stderr
        assert "\x1b" not in done.stdout, "a site does not command the terminal"
        as_json = manifest_command(tmp_path / "h", command, site.url, "--json")
        assert as_json.returncode == 1
        json.loads(as_json.stdout)
        used = manifest_command(tmp_path / "h", "call", site.url, "x")
        assert used.returncode == 2
        assert "Traceback" not in used.stderr


def test_a_call_tells_of_an_answer_even_when_its_body_never_ends(tmp_path: Path) -> None:
    def answer(site: Site, handler: Any, body: bytes) -> None:
        if handler.path.endswith("aura.json"):
            endless = {"method": "POST", "urlTemplate": "/endless"}
            reply(handler, 200, simple_manifest(endless=endless, slow={"method": "POST", "urlTemplate": "/slow"}))
            return
        handler.send_response(201)
        handler.send_header("Content-Type", "text/plain")
        handler.end_headers()
        drip(handler.connection, site.stopping, b"x" * (65536 if handler.path == "/endless" else 1), 0.02)

    with running(answer) as site:
        large = manifest_command(tmp_path / "h", "call", site.url, "endless", "--json", "--timeout", "20")
        assert large.returncode == 1, large.stderr
        document = json.loads(large.stdout)
        assert (document["status"], document["ok"]) == (201, False)
        assert "larger than" in document["cut"]
        assert len(document["body"]) == MAX_BYTES
        slow = manifest_command(tmp_path / "h", "call", site.url, "slow", "--timeout", "6")
        assert slow.returncode == 1, slow.stderr
        assert "201 Created" in slow.stdout
        [told] = [line for line in slow.stderr.splitlines() if "the answer is cut after" in line]
        assert "the rest did not come in time; give a longer --timeout" in told


def test_a_call_tells_of_an_answer_that_breaks_off(tmp_path: Path) -> None:
    manifest = simple_manifest(go={"method": "POST", "urlTemplate": "/go"})

    def answer(site: Site, handler: Any, body: bytes) -> None:
        if handler.path.endswith("aura.json"):
            reply(handler, 200, manifest)
            return
        handler.send_response(201)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b"half")
        handler.close_connection = True

    with running(answer) as site:
        done = manifest_command(tmp_path / "h", "call", site.url, "go")
    assert done.returncode == 1
    assert "201 Created" in done.stdout and "half" in done.stdout, "the site did it: that has to be seen"
    assert "the answer is cut after 4 bytes: the site broke off" in done.stderr


@pytest.mark.parametrize("body", [b"0" * 1_000_000, b"[" + b"-0" * 500_000, b"'" * 1_000_000])
def test_an_answer_that_is_slow_to_read_is_read_in_time(tmp_path: Path, body: bytes) -> None:
    manifest = simple_manifest(go={"method": "GET", "urlTemplate": "/go", "parameterMapping": {}})

    def answer(site: Site, handler: Any, sent: bytes) -> None:
        reply(handler, 200, body if handler.path == "/go" else manifest)

    with running(answer) as site:
        assert manifest_command(tmp_path / "h", "call", site.url, "go", seconds=60).returncode == 0
    with running(lambda site, handler, sent: reply(handler, 200, body)) as site:
        done = manifest_command(tmp_path / "h", "call", site.url, "go", seconds=60)
        assert done.returncode == 2 and "no capability" in done.stderr


def test_the_timeout_is_for_the_whole_call(tmp_path: Path) -> None:
    manifest = simple_manifest(go={"method": "GET", "urlTemplate": "/go", "parameterMapping": {}})
    there = threading.Event()

    def answer(site: Site, handler: Any, sent: bytes) -> None:
        if handler.path != "/go":
            there.wait(4)
        reply(handler, 200, manifest) if handler.path != "/go" else there.wait(60)

    with running(answer) as site:
        done = manifest_command(tmp_path / "h", "call", site.url, "go", "--timeout", "8", "--no-cache", seconds=60)
        there.set()
    assert done.returncode == 2
    told = re.search(r"within ([\d.]+) s", done.stderr)
    assert told and float(told[1]) <= 4.01, "what the manifest took is gone: " + done.stderr


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")
@pytest.mark.long
def test_a_check_has_its_own_work_counted_and_not_what_others_do_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_call, "CHECK_WITHIN", 0.25)
    with site_call.patience():
        subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.5: pass"], check=True)
    with pytest.raises(SiteError, match="takes too long"), site_call.patience():
        while True:
            pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")
def test_time_that_is_up_in_a_callback_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """Where asyncio reads from a site: it logs what else a callback raises, and goes on."""

    async def asked() -> None:
        asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGALRM)
        await asyncio.sleep(1.0)

    with pytest.raises(SiteError, match="it takes too long"), site_call.within(240.0, "it takes too long"):
        asyncio.run(asked())
    assert not caplog.records


@pytest.mark.long
def test_a_pattern_that_never_ends_is_given_up(tmp_path: Path) -> None:
    manifest = simple_manifest(go={"method": "POST", "urlTemplate": "/go", "parameterMapping": {"x": "/x"}})
    manifest["capabilities"]["go"]["parameters"] = {
        "type": "object",
        "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}},
    }
    with running(lambda site, handler, body: reply(handler, 200, manifest)) as site:
        given = ("--arg", f"x={'a' * 60}!", "--timeout", "240")
        done = manifest_command(tmp_path / "h", "call", site.url, "go", *given, seconds=300)
        assert done.returncode == 2
        assert "takes too long" in done.stderr
        assert len(site.asked) == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}},
        {"type": 5},
        {"type": "object", "properties": {"x": {"pattern": "("}}},
        {"type": "object", "properties": {"x": {"allOf": [{"$ref": "#"}, {"$ref": "#/properties/x"}]}}},
    ],
)
def test_parameters_that_are_no_usable_schema_stop_the_call(tmp_path: Path, parameters: dict[str, Any]) -> None:
    manifest = simple_manifest(go={"method": "POST", "urlTemplate": "/go", "parameterMapping": {"x": "/x"}})
    manifest["capabilities"]["go"]["parameters"] = parameters
    with running(lambda site, handler, body: reply(handler, 200, manifest)) as site:
        done = manifest_command(tmp_path / "h", "call", site.url, "go", "--arg", "x=1")
        assert done.returncode == 2, done.stderr
        assert "internal error" not in done.stderr
        assert len(site.asked) == 1


@pytest.mark.parametrize("command", ["fetch", "crawl"])
def test_the_check_of_what_a_site_sent_ends_in_time(tmp_path: Path, command: str) -> None:
    """A megabyte of members takes seconds to check; `--timeout` counts for that as well."""
    body = b'{"capabilities":{' + b",".join(b'"a%d":{}' % each for each in range(120_000)) + b"}}"
    with running(lambda site, handler, _: reply(handler, 200, body)) as site:
        done = manifest_command(tmp_path / "h", command, site.url, "--timeout", "0.5", seconds=60)
    assert done.returncode == 2
    assert "within 0.5 s" in done.stderr
