"""`aurora manifest serve`, as a process: AURA-P's security model, and our own client on it."""

from __future__ import annotations

import base64
import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from aurora_manifest.client.state import read_state
from tests.manifests import check
from tests.server.sites import EMAIL, PASSWORD, demo_site, manifest_command
from tests.wait_limits import HANG

CREDENTIALS = {"email": EMAIL, "password": PASSWORD}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with demo_site(tmp_path_factory.mktemp("demo"), "--rate-limit", "100000") as (url, _):
        yield url


@pytest.fixture
def stranger(url: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=url, trust_env=False) as client:
        yield client


@pytest.fixture(scope="module")
def session(url: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=url, trust_env=False) as client:
        assert client.post("/api/auth/login", json=CREDENTIALS).status_code == 200
        yield client


def state(response: httpx2.Response) -> dict[str, Any]:
    return dict(read_state(response.headers["aura-state"]).document)


def test_our_own_client_does_everything_there(url: str, tmp_path: Path) -> None:
    home = tmp_path / "h"

    def call(*arguments: str, said: str | None = None) -> dict[str, Any]:
        done = manifest_command(home, "call", url, *arguments, "--json", said=said)
        assert done.returncode == 0, done.stdout + done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    assert manifest_command(home, "fetch", url).returncode == 0
    call("login", "--args", "-", said=json.dumps(CREDENTIALS))
    post = call("create_post", "--args", '{"title": "T", "content": "ü", "tags": ["own client"]}')["body"]
    assert call("list_posts", "--arg", "tags=own client")["body"]["total"] == 1
    assert call("update_post", "--arg", f"id={post['id']}", "--arg", "title=New")["body"]["title"] == "New"
    assert call("read_post", "--arg", f"id={post['id']}")["body"]["content"] == "ü"
    assert call("delete_post", "--arg", f"id={post['id']}", "--yes")["status"] == 204
    assert call("update_profile", "--arg", "bio=hello")["body"]["bio"] == "hello"
    assert call("get_profile")["body"]["bio"] == "hello"
    assert call("logout")["state"]["isAuthenticated"] is False
    assert manifest_command(home, "call", url, "get_profile").returncode == 1


def test_a_crawl_tells_what_one_may_do_before_and_after_logging_in(url: str, tmp_path: Path) -> None:
    home = tmp_path / "h"

    def crawled() -> dict[str, Any]:
        [document] = json.loads(manifest_command(home, "crawl", url, "--json").stdout)
        return dict(document["state"])

    before = crawled()
    assert (before["isAuthenticated"], "create_post" in before["capabilities"]) == (False, False)
    manifest_command(home, "call", url, "login", "--args", "-", said=json.dumps(CREDENTIALS))
    after = crawled()
    assert (after["isAuthenticated"], "create_post" in after["capabilities"]) == (True, True)


def test_what_a_session_may_do_is_kept_by_no_cache(stranger: httpx2.Client, session: httpx2.Client) -> None:
    place = "/.well-known/aura.json"
    assert session.get(place).headers["cache-control"] == "private, no-cache"
    assert stranger.get(place).headers["vary"] == "Cookie"


def test_the_manifest_is_valid_and_cacheable(stranger: httpx2.Client, url: str) -> None:
    response = stranger.get("/.well-known/aura.json")
    assert check(response.text) == []
    assert response.json()["site"]["url"] == url
    assert response.headers["content-type"] == "application/json"
    assert "max-age" in response.headers["cache-control"]
    for known in (response.headers["etag"], f'"x", W/{response.headers["etag"]}', "*"):
        again = stranger.get("/.well-known/aura.json", headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
    assert stranger.get("/.well-known/aura.json", headers={"If-None-Match": '"x"'}).status_code == 200


def test_every_capability_of_the_manifest_is_served(session: httpx2.Client, stranger: httpx2.Client) -> None:
    capabilities = stranger.get("/.well-known/aura.json").json()["capabilities"]
    open_now = state(stranger.get("/api/posts"))["capabilities"]
    assert set(state(session.get("/api/posts"))["capabilities"]) == set(capabilities)
    for name, capability in capabilities.items():
        path = capability["action"]["urlTemplate"].partition("{?")[0].replace("{id}", "999")
        response = stranger.request(capability["action"]["method"], path)
        assert response.status_code not in (404, 405, 500) or name == "read_post", name
        assert (response.status_code == 401) == (name not in open_now), name


def test_the_state_says_what_is_allowed_and_holds_no_secret(session: httpx2.Client, stranger: httpx2.Client) -> None:
    inside, outside = session.get("/api/posts"), stranger.get("/api/posts")
    assert (state(inside)["isAuthenticated"], state(outside)["isAuthenticated"]) == (True, False)
    assert set(state(outside)["capabilities"]) == {"login", "list_posts", "read_post"}
    text = base64.b64decode(inside.headers["aura-state"]).decode()
    for secret in (EMAIL, PASSWORD, session.cookies["session"]):
        assert secret not in text
    assert len(inside.headers["aura-state"]) < 1000


def test_wrong_arguments_are_told_one_by_one(session: httpx2.Client) -> None:
    response = session.post("/api/posts", json={"title": "", "tags": [1], "extra": True})
    assert response.status_code == 400
    errors = {each["path"]: each["message"] for each in response.json()["errors"]}
    assert set(errors) == {"", "/content", "/tags/0", "/title"}
    assert "extra" in errors[""]
    assert session.get("/api/posts?limit=0").status_code == 400
    assert session.get("/api/posts?limit=abc").status_code == 400
    assert session.get("/api/posts?limit=2&offset=1").json()["limit"] == 2


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[" * 60_000, "application/json", 400),
        (b"title=x", "application/x-www-form-urlencoded", 415),
        (b'{"title": "' + b"x" * 70_000 + b'"}', "application/json", 413),
    ],
)
def test_bad_bodies(session: httpx2.Client, body: bytes, kind: str, status: int) -> None:
    response = session.post("/api/posts", content=body, headers={"Content-Type": kind})
    assert response.status_code == status
    assert response.json()["requestId"] == response.headers["x-request-id"]


def test_who_may_do_what(session: httpx2.Client, stranger: httpx2.Client) -> None:
    assert session.put("/api/posts/2", json={"title": "mine"}).status_code == 403
    assert session.delete("/api/posts/2").status_code == 403
    assert stranger.delete("/api/posts/2").status_code == 401
    draft = session.post("/api/posts", json={"title": "D", "content": "C", "tags": ["draft"]}).json()
    assert stranger.get(f"/api/posts/{draft['id']}").status_code == 404
    assert stranger.get("/api/posts?tags=draft").json()["total"] == 0
    assert session.get("/api/posts?tags=draft&tags=none").json()["total"] == 1
    assert stranger.post("/api/auth/login", json=CREDENTIALS | {"password": "wrong-one"}).status_code == 401
    assert stranger.post("/api/auth/login", json={**CREDENTIALS, "email": "ada@aura.dev"}).status_code == 401
    assert stranger.get("/api/user/profile", headers={"Cookie": "session="}).status_code == 401


def test_pages_of_other_sites_may_not_act(session: httpx2.Client, url: str) -> None:
    post = {"title": "T", "content": "C"}
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert session.post("/api/posts", json=post, headers=headers).status_code == 403
    assert session.post("/api/posts", json=post, headers={"Origin": url}).status_code == 201
    assert session.get("/api/posts", headers={"Host": "rebound.example"}).status_code == 421
    with httpx2.Client(base_url=url, trust_env=False) as client:
        cookie = client.post("/api/auth/login", json=CREDENTIALS).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_request_ids_are_echoed_made_and_logged(tmp_path: Path) -> None:
    with demo_site(tmp_path) as (url, process), httpx2.Client(base_url=url, trust_env=False) as client:
        assert client.get("/api/posts", headers={"X-Request-Id": "mine-1"}).headers["x-request-id"] == "mine-1"
        made = client.get("/api/posts", headers={"X-Request-Id": "a b\x7f"}).headers["x-request-id"]
        assert len(made) == 32
        client.post("/api/auth/login", json=CREDENTIALS)
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=HANG)
    assert process.returncode == 0
    assert "mine-1" in log
    assert made in log
    assert "Traceback" not in log
    assert PASSWORD not in log


def test_a_client_that_asks_too_often_has_to_wait(tmp_path: Path) -> None:
    with demo_site(tmp_path, "--rate-limit", "5") as (url, _), httpx2.Client(base_url=url, trust_env=False) as client:
        answers = [client.get("/api/posts") for _ in range(8)]
        assert [each.status_code for each in answers].count(200) in (5, 6)
        refused = answers[-1]
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 12
        assert client.get("/.well-known/aura.json").json()["policy"]["rateLimit"] == {"limit": 5, "window": "minute"}


def test_guessing_passwords_is_slowed_down(tmp_path: Path) -> None:
    with demo_site(tmp_path) as (url, _), httpx2.Client(base_url=url, trust_env=False) as client:
        guess = CREDENTIALS | {"password": "guessed-1"}
        statuses = [client.post("/api/auth/login", json=guess).status_code for _ in range(12)]
        assert statuses[:10] == [401] * 10
        assert 429 in statuses[10:]


def test_a_port_in_use_is_told(tmp_path: Path, url: str) -> None:
    done = manifest_command(tmp_path / "h", "serve", "--port", str(urlsplit(url).port))
    assert done.returncode == 2
    assert "another --port" in done.stderr


def test_it_listens_on_this_machine_only(url: str) -> None:
    assert urlsplit(url).hostname == "127.0.0.1"
    port = urlsplit(url).port
    for each in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)}:
        if not str(each).startswith("127."):
            with pytest.raises(OSError), socket.create_connection((str(each), port or 0), 2):
                pass
