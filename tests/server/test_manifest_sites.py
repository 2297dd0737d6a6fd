"""`aurora manifest fetch|crawl|call` with a site that is not ours, in processes and over sockets."""

from __future__ import annotations

import base64
import json
import os
import pty
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.manifests import REFERENCE
from tests.programs import COMMAND, start
from tests.server.sites import EMAIL, PASSWORD, Lighthouse, Site, manifest_command, reply, running, simple_manifest
from tests.wait_limits import HANG

PUBLISHED = REFERENCE / "lighthouse.aura.json"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def lighthouse() -> Iterator[Site]:
    if not PUBLISHED.exists():
        pytest.skip("the published example is not here")
    with running(Lighthouse(PUBLISHED.read_bytes())) as site:
        yield site


def call(home: Path, site: Site, *arguments: str, said: str | None = None) -> dict[str, Any]:
    done = manifest_command(home, "call", site.url, *arguments, "--json", said=said)
    assert done.returncode == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_log_in_create_list_update_and_delete_on_a_site_that_is_not_ours(home: Path, lighthouse: Site) -> None:
    refused = manifest_command(home, "call", lighthouse.url, "create_post", "--arg", "title=A", "--arg", "content=B")
    assert refused.returncode == 1
    assert "401 Unauthorized" in refused.stdout
    assert "login capability" in refused.stderr

    login = call(home, lighthouse, "login", "--args", "-", said=json.dumps({"email": EMAIL, "password": PASSWORD}))
    assert login["state"]["isAuthenticated"] is True
    assert "set-cookie" not in login["headers"]

    new = call(
        home,
        lighthouse,
        "create_post",
        "--arg",
        "title=A",
        "--arg",
        "content=B",
        "--arg",
        "tags=x y",
        "--arg",
        "tags=z",
    )
    assert new["status"] == 201
    assert new["body"]["tags"] == ["x y", "z"]
    identity = new["body"]["id"]

    listed = call(home, lighthouse, "list_posts", "--args", '{"tags": ["x y", "none"], "limit": 5}')
    assert [each["id"] for each in listed["body"]["posts"]] == [identity]
    assert lighthouse.paths[-1] == "GET /api/posts?limit=5&tags=x%20y&tags=none"

    changed = call(home, lighthouse, "update_post", "--arg", f"id={identity}", "--arg", "published=true")
    assert changed["body"]["published"] is True
    assert lighthouse.asked[-1][3] == b'{"published": true}', "what the path takes is not sent twice"

    assert call(home, lighthouse, "delete_post", "--arg", f"id={identity}", "--yes")["status"] == 204
    assert call(home, lighthouse, "list_posts")["body"]["total"] == 1
    assert lighthouse.paths.count("GET /.well-known/aura.json") == 1, "the manifest was fresh all the time"
    assert all(not path.startswith("GET https://aura-lighthouse") for path in lighthouse.paths)


def test_what_is_kept_is_for_the_user_alone(home: Path, lighthouse: Site) -> None:
    call(home, lighthouse, "login", "--args", "-", said=json.dumps({"email": EMAIL, "password": PASSWORD}))
    kept = list(home.rglob("*"))
    assert len([each for each in kept if each.is_file()]) == 2
    for each in (home, *kept):
        assert stat.S_IMODE(each.stat().st_mode) == (0o700 if each.is_dir() else 0o600), each


def test_cookies_can_be_kept_elsewhere_or_not_at_all(home: Path, lighthouse: Site, tmp_path: Path) -> None:
    credentials = json.dumps({"email": EMAIL, "password": PASSWORD})
    jar = tmp_path / "jar.txt"
    call(home, lighthouse, "login", "--args", "-", "--no-cookies", said=credentials)
    assert not (home / "cookies").exists()
    call(home, lighthouse, "login", "--args", "-", "--cookie-jar", str(jar), said=credentials)
    assert not (home / "cookies").exists()
    assert "#HttpOnly_127.0.0.1\t" in jar.read_text(), "as curl writes it"
    call(home, lighthouse, "create_post", "--arg", "title=A", "--arg", "content=B", "--cookie-jar", str(jar))
    jar.write_text("no jar\n")
    broken = manifest_command(home, "call", lighthouse.url, "list_posts", "--cookie-jar", str(jar))
    assert broken.returncode == 2
    assert str(jar) in broken.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_secure_cookie_of_this_machine_is_sent_back_to_it(home: Path, host: str, tmp_path: Path) -> None:
    manifest = simple_manifest(go={"method": "GET", "urlTemplate": "/go"})

    def answer(site: Site, handler: Any, body: bytes) -> None:
        reply(handler, 200, manifest if "aura.json" in handler.path else {}, Set_Cookie="s=1; Path=/; Secure")

    jar = tmp_path / "jar.txt"
    with running(answer) as site:
        url = site.url.replace("127.0.0.1", host)
        for _ in range(3):
            done = manifest_command(home, "call", url, "go", "--cookie-jar", str(jar))
            assert done.returncode == 0, done.stderr
        sent = [headers.get("cookie") for _, path, headers, _ in site.asked if path == "/go"]
    assert sent == [None, "s=1", "s=1"]
    assert f"\n{host}\tFALSE\t/\tTRUE\t" in jar.read_text(), "as curl writes it, and once"
    assert jar.read_text().count("\t1\n") == 1


@pytest.mark.parametrize("words", [("--args", "{"), ("--args", "[]"), ("--arg", "title")])
def test_arguments_that_cannot_be_read_are_told_before_the_site_is_asked(
    home: Path, lighthouse: Site, words: tuple[str, str]
) -> None:
    done = manifest_command(home, "call", lighthouse.url, "create_post", *words)
    assert done.returncode == 2, done.stderr
    assert lighthouse.paths == []


def test_every_wrong_argument_is_told_and_nothing_is_sent(home: Path, lighthouse: Site) -> None:
    done = manifest_command(
        home, "call", lighthouse.url, "login", "--args", '{"email": "nobody", "password": "hunter2"}'
    )
    assert done.returncode == 2
    assert "/email must be a valid email" in done.stderr
    assert "/password must have at least 8 characters" in done.stderr
    assert "hunter2" not in done.stderr
    assert lighthouse.paths == ["GET /.well-known/aura.json"]
    missing = manifest_command(home, "call", lighthouse.url, "create_post")
    assert missing.stderr.count("is required") == 2
    assert len(missing.stderr.splitlines()) == 1
    unknown = manifest_command(home, "call", lighthouse.url, "list_post")
    assert unknown.returncode == 2
    assert "list_posts" in unknown.stderr
    for text, told in (("{", "no JSON"), ("[]", "JSON object"), ("[" * 200, "no JSON")):
        assert told in manifest_command(home, "call", lighthouse.url, "list_posts", "--args", text).stderr


def test_destroying_needs_a_word(home: Path, lighthouse: Site) -> None:
    blocked = manifest_command(home, "call", lighthouse.url, "delete_post", "--arg", "id=1")
    assert blocked.returncode == 4
    assert "--yes" in blocked.stderr
    assert lighthouse.paths == ["GET /.well-known/aura.json"]


@pytest.mark.parametrize(("typed", "code"), [("y\n", 1), ("n\n", 4), ("\n", 4)])
def test_on_a_terminal_the_person_is_asked(home: Path, lighthouse: Site, typed: str, code: int) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "AURORA_HOME": str(home), "NO_COLOR": "1"}
    command = [*COMMAND, "manifest", "call", lighthouse.url, "delete_post", "--arg", "id=1"]
    process = start(command, env=environment, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    os.write(ours, typed.encode())
    assert process.wait(HANG) == code, "1: the site was asked, and said 401"
    assert process.stdout is not None
    process.stdout.close()
    os.close(ours)
    assert ("DELETE /api/posts/1" in lighthouse.paths) == (code == 1)


def test_a_dry_run_shows_the_request_without_secrets_and_sends_nothing(home: Path, lighthouse: Site) -> None:
    credentials = json.dumps({"email": EMAIL, "password": PASSWORD})
    call(home, lighthouse, "login", "--args", "-", said=credentials)
    before = len(lighthouse.asked)
    arguments = ("call", lighthouse.url, "login", "--args", "-", "--dry-run", "--token", "tok123")
    text = manifest_command(home, *arguments, said=credentials)
    document = json.loads(manifest_command(home, *arguments, "--json", said=credentials).stdout)
    assert text.returncode == 0
    for secret in (PASSWORD, "tok123", "MTox"):
        assert secret not in text.stdout + json.dumps(document)
    assert "Authorization: Bearer ***" in text.stdout
    assert document["headers"]["Cookie"] == "auth-token=***"
    assert document["body"] == {"email": EMAIL, "password": "***"}
    assert document["sent"] is False
    assert len(lighthouse.asked) == before
    deleting = manifest_command(home, "call", lighthouse.url, "delete_post", "--arg", "id=1", "--dry-run")
    assert deleting.stdout.startswith(f"DELETE {lighthouse.url}/api/posts/1\n")
    assert len(lighthouse.asked) == before


def test_an_answer_and_its_redirects_show_no_secret(home: Path) -> None:
    action = {
        "method": "GET",
        "urlTemplate": "/x{?otp,pin*}",
        "parameterMapping": {"otp": "/otp", "pin": "/pin", "X-Own": "/token"},
        "parameterLocation": {"X-Own": "header"},
    }

    def answer(site: Site, handler: Any, body: bytes) -> None:
        if handler.path.startswith("/x"):
            reply(handler, 302, Location=f"/y{handler.path[2:]}")
        else:
            reply(handler, 200, simple_manifest(go=action) if "aura.json" in handler.path else {})

    given = ("go", "--args", "-")
    said = json.dumps({"otp": 834712, "pin": ["a b", "c/d"], "token": "to ken"})
    with running(answer) as site:
        document = call(home, site, *given, said=said)
        assert site.paths[-1] == "GET /y?otp=834712&pin=a%20b&pin=c%2Fd"
        assert document["url"] == f"{site.url}/y?otp=***&pin=***&pin=***"
        assert document["redirects"] == [document["url"]]
        dry = manifest_command(home, "call", site.url, *given, "--dry-run", said=said).stdout
    assert dry.splitlines()[0] == f"GET {site.url}/x?otp=***&pin=***"
    assert "X-Own: ***" in dry


def test_the_token_of_the_environment_is_sent(home: Path, lighthouse: Site) -> None:
    manifest_command(home, "call", lighthouse.url, "list_posts", AURORA_MANIFEST_TOKEN="abc")
    assert lighthouse.asked[-1][2]["authorization"] == "Bearer abc"
    assert "authorization" not in lighthouse.asked[0][2], "not with the manifest, which is public"


def test_crawl_shows_all_there_is_and_goes_on_after_a_site_that_is_down(home: Path, lighthouse: Site) -> None:
    done = manifest_command(home, "crawl", lighthouse.url, "http://127.0.0.1:9", "--json")
    assert done.returncode == 2
    found, down = json.loads(done.stdout)
    assert "cannot be reached" in down["error"]
    assert found["site"]["name"] == "AURA Lighthouse Demo"
    assert found["state"]["capabilities"] == ["login", "list_posts", "read_post"]
    assert {each["id"]: each["destructive"] for each in found["capabilities"]}["delete_post"] is True
    odd = manifest_command(home, "crawl", lighthouse.url, "http://127.0.0.1:99999", "--json")
    assert odd.returncode == 2
    found, none = json.loads(odd.stdout)
    assert "there is no port 99999" in none["error"]
    assert found["site"]["name"] == "AURA Lighthouse Demo"
    text = manifest_command(home, "crawl", lighthouse.url)
    assert text.returncode == 0
    assert "list_posts  GET /api/posts{?limit,offset,tags*}" in text.stdout
    assert "not signed in" in text.stdout


def test_a_manifest_is_asked_for_again_only_when_it_must_be(home: Path) -> None:
    manifest = simple_manifest(ping={"method": "GET", "urlTemplate": "/ping"})
    control = "max-age=600"

    def answer(site: Site, handler: Any, body: bytes) -> None:
        if handler.headers.get("If-None-Match") == '"one"':
            reply(handler, 304, ETag='"one"', Cache_Control=control)
        else:
            reply(handler, 200, manifest, ETag='"one"', Cache_Control=control)

    def source(*options: str) -> str:
        return str(json.loads(manifest_command(home, "fetch", site.url, "--json", *options).stdout)["source"])

    with running(answer) as site:
        assert [source(), source(), source("--refresh")] == ["site", "cache", "revalidated"]
        assert source("--no-cache") == "site"
        assert len(site.asked) == 3
        control = "no-cache"
        assert [source("--refresh"), source(), source()] == ["revalidated"] * 3
        for file in (home / "cache" / "manifests").iterdir():
            file.write_bytes(b"broken")
        assert source() == "site"
        control = "no-store"
        source("--refresh")
        assert source() == "site"


def test_an_invalid_manifest_is_told_and_exits_with_one(home: Path) -> None:
    manifest = simple_manifest(ping={"method": "GET", "urlTemplate": "/ping"})
    del manifest["site"]["name"]
    with running(lambda site, handler, body: reply(handler, 200, manifest)) as site:
        done = manifest_command(home, "fetch", site.url)
        assert done.returncode == 1
        assert '"name"' in done.stdout
        document = json.loads(manifest_command(home, "fetch", site.url, "--json").stdout)
        assert document["valid"] is False
        assert document["diagnostics"][0]["path"] == "/site"
        raw = manifest_command(home, "fetch", site.url, "--raw")
        assert json.loads(raw.stdout) == manifest
        assert '"name"' in raw.stderr
        used = manifest_command(home, "call", site.url, "ping")
        assert used.returncode == 0, "one fault elsewhere does not make a sound capability useless"
        assert "has an error" in used.stderr


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("https://elsewhere.example/steal{?q}", "belongs to https://elsewhere.example"),
        ("//elsewhere.example/steal{?q}", "belongs to"),
        ("{+q}", "belongs to"),
        ("/a/{q}/b", "lead elsewhere"),
    ],
)
def test_a_call_stays_on_the_site(home: Path, template: str, told: str) -> None:
    action = {"method": "POST", "urlTemplate": template, "parameterMapping": {"q": "/q"}}
    given = "https://evil.example/" if template == "{+q}" else ".."
    manifest = simple_manifest(go=action)
    with running(lambda site, handler, body: reply(handler, 200, manifest)) as site:
        done = manifest_command(home, "call", site.url, "go", "--arg", f"q={given}")
        assert done.returncode == 4, done.stderr
        assert told in done.stderr
        assert len(site.asked) == 1


def test_redirects_of_a_call_never_leave_the_site(home: Path) -> None:
    with running(lambda site, handler, body: reply(handler, 200, {"seen": True})) as other:

        def answer(site: Site, handler: Any, body: bytes) -> None:
            if handler.path.endswith("aura.json"):
                actions = {
                    name: {"method": "POST", "urlTemplate": f"/{name}", "parameterMapping": {"x": "/x"}}
                    for name in ("away", "near", "see")
                }
                reply(handler, 200, simple_manifest(**actions))
            elif handler.path == "/away":
                reply(handler, 307, Location=f"{other.url}/caught")
            elif handler.path == "/near":
                reply(handler, 307, Location="/there")
            elif handler.path == "/see":
                reply(handler, 303, Location="/there")
            else:
                reply(handler, 200, {"method": handler.command, "body": body.decode()})

        with running(answer) as site:
            away = manifest_command(home, "call", site.url, "away", "--arg", "x=1", "--token", "t")
            assert away.returncode == 4
            assert "another site" in away.stderr
            assert other.asked == []
            assert call(home, site, "near", "--arg", "x=1")["body"] == {"method": "POST", "body": '{"x": 1}'}
            assert call(home, site, "see", "--arg", "x=1")["body"] == {"method": "GET", "body": ""}


@pytest.mark.parametrize(
    ("method", "status", "then"),
    [
        ("DELETE", 301, "DELETE"),
        ("DELETE", 302, "DELETE"),
        ("DELETE", 303, "GET"),
        ("PUT", 301, "PUT"),
        ("PUT", 302, "PUT"),
        ("PUT", 303, "GET"),
        ("POST", 301, "GET"),
        ("POST", 302, "GET"),
    ],
)
def test_a_redirect_changes_the_method_only_where_http_says_so(home: Path, method: str, status: int, then: str) -> None:
    action = {"method": method, "urlTemplate": "/old", "encoding": "json", "parameterMapping": {"x": "/x"}}

    def answer(site: Site, handler: Any, body: bytes) -> None:
        if handler.path == "/old":
            reply(handler, status, Location="/new")
        else:
            reply(handler, 200, simple_manifest(go=action) if handler.path != "/new" else {"body": body.decode()})

    with running(answer) as site:
        done = call(home, site, "go", "--arg", "x=1", "--yes")
        assert site.paths[1:] == [f"{method} /old", f"{then} /new"]
    assert done["method"] == then, "what was done, not what was planned"
    assert done["body"] == {"body": '{"x": 1}' if then == method else ""}


@pytest.mark.parametrize("pointer", ["q", "/a~b"])
def test_a_pointer_that_is_none_is_one_line_and_no_internal_error(home: Path, pointer: str) -> None:
    manifest = simple_manifest(find={"method": "GET", "urlTemplate": "/f{?q}", "parameterMapping": {"q": pointer}})
    with running(lambda site, handler, body: reply(handler, 200, manifest)) as site:
        done = manifest_command(home, "call", site.url, "find", "--arg", "q=1")
    assert done.returncode == 2
    assert done.stderr.startswith("aurora: the manifest maps q to no argument")
    assert len(done.stderr.splitlines()) == 1


def test_a_manifest_elsewhere_is_taken_only_when_allowed_and_belongs_to_where_it_was_found(home: Path) -> None:
    manifest = simple_manifest(ping={"method": "GET", "urlTemplate": "/ping"})
    with (
        running(lambda site, handler, body: reply(handler, 200, manifest)) as other,
        running(lambda site, handler, body: reply(handler, 302, Location=f"{other.url}/m.json")) as site,
    ):
        assert manifest_command(home, "fetch", site.url).returncode == 4
        assert other.asked == []
        found = json.loads(manifest_command(home, "fetch", site.url, "--allow-cross-origin", "--json").stdout)
        assert found["origin"] == other.url
        assert manifest_command(home, "call", site.url, "ping", "--allow-cross-origin").returncode == 0
        assert other.paths[-1] == "GET /ping"


def test_a_redirect_to_a_port_that_is_none_is_told(home: Path) -> None:
    away = "http://127.0.0.1:99999/m.json"
    with running(lambda site, handler, body: reply(handler, 302, Location=away)) as site:
        done = manifest_command(home, "fetch", site.url, "--allow-cross-origin")
    assert done.returncode == 2
    assert "there is no port 99999" in done.stderr


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_json_is_json_in_every_encoding(home: Path, encoding: str) -> None:
    manifest = simple_manifest(go={"method": "GET", "urlTemplate": "/go"})
    manifest["site"]["name"] = "é 文 😀"

    def answer(site: Site, handler: Any, body: bytes) -> None:
        reply(handler, 200, manifest if "aura.json" in handler.path else {"said": "é 文 😀"})

    state = base64.b64encode(
        '{"isAuthenticated": true, "capabilities": [], "context": {"place": "é 文 😀"}}'.encode()
    ).decode()
    with running(answer) as site:
        for arguments in (("fetch", site.url), ("crawl", site.url), ("call", site.url, "go"), ("state", state)):
            done = manifest_command(home, *arguments, "--json", PYTHONIOENCODING=encoding)
            assert done.returncode == 0, done.stderr
            document = json.loads(done.stdout)
            assert "é 文 😀" in json.dumps(document, ensure_ascii=False), arguments


def test_plain_http_to_other_machines_is_refused(home: Path) -> None:
    done = manifest_command(home, "fetch", "http://example.invalid")
    assert done.returncode == 4
    assert "--insecure-http" in done.stderr
    for url in ("ftp://example.invalid", "http://", "https://a b", "https://u:p@example.invalid"):
        bad = manifest_command(home, "fetch", url)
        assert bad.returncode == 2, url
        assert "p@" not in bad.stderr
        assert len(bad.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("status", "headers", "options", "told"),
    [
        (401, {}, (), "log"),
        (401, {}, ("--token", "abc"), "does not accept this token"),
        (401, {}, ("--arg", "password=x"), "does not accept these credentials"),
        (429, {"Retry_After": "7"}, (), "try again after 7 s"),
        (503, {"Retry_After": "Fri, 01 Jan 2027 00:00:00 GMT"}, (), "try again after Fri, 01 Jan 2027"),
        (429, {}, (), "try again later"),
    ],
)
def test_what_to_do_after_a_refusal_is_said(
    home: Path, status: int, headers: dict[str, str], options: tuple[str, ...], told: str
) -> None:
    manifest = simple_manifest(
        go={"method": "POST", "urlTemplate": "/go", "parameterMapping": {"password": "/password"}}
    )

    def answer(site: Site, handler: Any, body: bytes) -> None:
        if handler.path == "/go":
            reply(handler, status, {}, **headers)
        else:
            reply(handler, 200, manifest)

    with running(answer) as site:
        done = manifest_command(home, "call", site.url, "go", *options)
    assert done.returncode == 1
    assert told in done.stderr


@pytest.mark.parametrize("command", ["fetch", "crawl"])
def test_a_manifest_for_those_who_are_logged_in_is_fetched_with_their_session(home: Path, command: str) -> None:
    manifest = simple_manifest(login={"method": "POST", "urlTemplate": "/login", "parameterMapping": {}})

    def answer(site: Site, handler: Any, body: bytes) -> None:
        if handler.path == "/login":
            reply(handler, 200, {}, Set_Cookie="session=1; Path=/")
        elif "session=1" in (handler.headers["Cookie"] or "") or handler.headers["Authorization"] == "Bearer t0":
            reply(handler, 200, manifest, Cache_Control="max-age=600", ETag='"own"')
        else:
            reply(handler, 403, {})

    with running(answer) as site:
        assert manifest_command(home, command, site.url).returncode == 2
        assert manifest_command(home, command, site.url, "--token", "t0").returncode == 0
        assert manifest_command(home, "call", site.url, "login").returncode == 2, "not kept either"
        jar = home / "jar.txt"
        jar.parent.mkdir(parents=True, exist_ok=True)
        jar.write_text("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t\tsession\t1\n")
        assert manifest_command(home, command, site.url, "--cookie-jar", str(jar)).returncode == 0
        assert manifest_command(home, command, site.url, "--cookie-jar", str(jar), "--no-cookies").returncode == 2
        assert not list(home.rglob("*.entry"))


def test_a_token_is_for_the_site_it_was_given_for(home: Path) -> None:
    manifest = simple_manifest(go={"method": "GET", "urlTemplate": "/go", "parameterMapping": {}})
    with running(lambda site, handler, body: reply(handler, 200, manifest)) as other:
        place = f"{other.url}/aura.json"
        with running(lambda site, handler, body: reply(handler, 302, Location=place)) as site:
            done = manifest_command(home, "fetch", site.url, "--token", "t0", "--allow-cross-origin")
            assert done.returncode == 0, done.stderr
            assert site.asked[0][2]["authorization"] == "Bearer t0"
        assert "authorization" not in other.asked[0][2]


@pytest.mark.parametrize("status", [200, 404])
def test_a_page_at_the_well_known_place_is_named_as_one(home: Path, status: int) -> None:
    with running(lambda site, handler, body: reply(handler, status, b"<html>", kind="text/html")) as site:
        done = manifest_command(home, "fetch", site.url)
    assert done.returncode == 2
    assert "application answers there" in done.stderr
    assert ("publishes no manifest there; if it should" in done.stderr) is (status == 404)


def test_a_manifest_that_is_sent_as_a_page_is_named_as_one(home: Path) -> None:
    with running(lambda site, handler, body: reply(handler, 200, simple_manifest(), kind="text/html")) as site:
        done = manifest_command(home, "fetch", site.url)
    assert done.returncode == 2
    assert "is text/html, not application/json; serve the manifest as application/json" in done.stderr


def test_a_capability_that_only_a_session_sees_can_be_called(home: Path, tmp_path: Path) -> None:
    """As `crawl` shows it: by the cookies of the session, or by a token."""
    public = simple_manifest(enter={"method": "GET", "urlTemplate": "/enter"})
    whole = simple_manifest(
        enter={"method": "GET", "urlTemplate": "/enter"}, mine={"method": "GET", "urlTemplate": "/mine"}
    )

    def answer(site: Site, handler: Any, body: bytes) -> None:
        known = handler.headers.get("cookie") == "s=1" or handler.headers.get("authorization") == "Bearer t0"
        if "aura.json" in handler.path:
            reply(handler, 200, whole if known else public)
        else:
            reply(handler, 200, {}, Set_Cookie="s=1; Path=/")

    with running(answer) as site:
        jar = ("--cookie-jar", str(tmp_path / "jar.txt"))
        assert "no capability" in manifest_command(home, "call", site.url, "mine", *jar).stderr
        assert manifest_command(home, "call", site.url, "enter", *jar).returncode == 0
        done = manifest_command(home, "call", site.url, "mine", *jar)
        assert done.returncode == 0, done.stderr
        done = manifest_command(home, "call", site.url, "mine", "--no-cookies", "--token", "t0")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (429, {"Retry_After": "9"}, "try again after 9 s"),
        (429, {}, "asked too often"),
        (503, {"Retry_After": "9"}, "try again after 9 s"),
        (401, {}, "give --token, or log in first"),
        (500, {}, "the site failed"),
        (204, {}, "no manifest came with it"),
    ],
)
def test_a_manifest_that_does_not_come_is_told_by_its_status(
    home: Path, status: int, headers: dict[str, str], told: str
) -> None:
    with running(lambda site, handler, body: reply(handler, status, b"", kind="text/html", **headers)) as site:
        done = manifest_command(home, "fetch", site.url)
    assert done.returncode == 2
    assert told in done.stderr
    assert "application answers" not in done.stderr, "a page of the server's own, and no router's"


def test_a_content_encoding_that_nobody_asked_for_is_named(home: Path) -> None:
    with running(lambda site, handler, body: reply(handler, 200, b"xxxx", Content_Encoding="compress")) as site:
        done = manifest_command(home, "fetch", site.url)
    assert done.returncode == 2
    assert "comes as 'compress'" in done.stderr
