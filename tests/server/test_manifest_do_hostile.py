"""`aurora manifest do` with sites and models that mean no good, or fail in the middle."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.server.site_plans import answer, do, given, plan, planning, step, value
from tests.server.sites import Site, manifest_command, reply, running, simple_manifest

ODD = "a\x1b[31mb"


def serving(manifest: dict[str, Any], body: Any = None, status: int = 200) -> Any:
    """A site with this manifest, which answers everything else with `body`."""

    def answered(site: Site, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        if handler.path == "/.well-known/aura.json":
            reply(handler, body=manifest)
        elif handler.path == "/fails":
            reply(handler, 503, {"sorry": True})
        else:
            reply(handler, status, body if body is not None else {"found": []})

    return running(answered)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_a_template_of_another_origin_is_blocked_before_the_first_call(home: Path) -> None:
    manifest = simple_manifest(
        fine={"method": "GET", "urlTemplate": "/fine"},
        away={"method": "GET", "urlTemplate": "https://elsewhere.example/{x}", "parameterMapping": {"x": "/x"}},
    )
    with serving(manifest) as site, planning(home) as provider:
        provider.script(plan(step("fine"), step("away", value("x", "1"))))
        done = do(home, provider, site.url, "go away")
    assert done.returncode == 4 and "elsewhere.example" in done.stderr and len(done.stderr.splitlines()) <= 2
    assert site.paths == ["GET /.well-known/aura.json"]


def test_a_pointer_into_nowhere_ends_the_run_and_what_was_done_is_told(home: Path) -> None:
    manifest = simple_manifest(
        search={"method": "GET", "urlTemplate": "/search"},
        read={"method": "GET", "urlTemplate": "/read/{id}", "parameterMapping": {"id": "/id"}},
        fails={"method": "POST", "urlTemplate": "/fails"},
    )
    with serving(manifest) as site, planning(home) as provider:
        provider.script(plan(step("search"), step("read", answer("id", 1, "/found/0/id")), step("fails")))
        done = do(home, provider, site.url, "read the first one", "--json")
        told = json.loads(done.stdout)
        assert done.returncode == 1 and told["ok"] is False
        assert [each["capability"] for each in told["answers"]] == ["search"]
        assert told["failed"]["step"] == 2 and "/found/0/id of answer 1" in told["failed"]["why"]
        assert "step 2 of 3, read: id was to come from" in done.stderr
        assert "step 1 was done; the rest was not tried" in done.stderr

        provider.script(plan(step("fails"), step("search")))
        failed = do(home, provider, site.url, "fail")
        assert failed.returncode == 1 and "step 1 of 2, fails: the site answered 503" in failed.stderr
        assert site.paths[-1] == "POST /fails"


def test_a_site_that_is_gone_in_the_middle_is_a_step_that_failed(home: Path) -> None:
    manifest = simple_manifest(
        first={"method": "GET", "urlTemplate": "/first"}, second={"method": "GET", "urlTemplate": "/second"}
    )

    def answered(site: Site, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        if handler.path != "/second":
            reply(handler, body=manifest if "aura.json" in handler.path else {})

    with running(answered) as site, planning(home) as provider:
        provider.script(plan(step("first"), step("second")))
        done = do(home, provider, site.url, "both")
    assert done.returncode == 1 and "step 2 of 2, second: " in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_strangers_wrote_commands_no_terminal(home: Path) -> None:
    action = {"method": "GET", "urlTemplate": "/odd", "parameterMapping": {"p": "/p", f"{ODD}p": f"/{ODD}p"}}
    with serving(simple_manifest(**{ODD: action, "odd": action}), {"said": ODD}) as site, planning(home) as provider:
        provider.script(plan(step("odd", value("p", ODD), why=ODD)))
        done = do(home, provider, site.url, "be odd", "--dry-run")
        assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr
        provider.script(plan(step(ODD, why=ODD)), plan(step(ODD)))  # a capability of that name is nobody's
        named = do(home, provider, site.url, "be odd", "--dry-run")
        assert named.returncode == 1 and "\x1b" not in named.stdout + named.stderr
        assert len(named.stderr.splitlines()) == 1
        provider.script(plan(step(ODD + ODD)), plan(step(ODD + ODD)))
        refused = do(home, provider, site.url, "be odd")
        assert refused.returncode == 1 and "\x1b" not in refused.stdout + refused.stderr
        unknown = manifest_command(home, "call", site.url, "nothing")
        assert unknown.returncode == 2 and "\x1b" not in unknown.stderr


@pytest.mark.long
def test_a_pattern_that_never_ends_ends(home: Path) -> None:
    manifest = simple_manifest(odd={"method": "GET", "urlTemplate": "/odd", "parameterMapping": {"x": "/x"}})
    manifest["capabilities"]["odd"]["parameters"]["properties"]["x"] = {"type": "string", "pattern": "^(a|a)*$"}
    with serving(manifest) as site, planning(home) as provider:
        provider.script(plan(step("odd", value("x", "a" * 60 + "!"))))
        done = do(home, provider, site.url, "be odd")
    assert done.returncode == 2 and "takes too long" in done.stderr
    assert site.paths == ["GET /.well-known/aura.json"]


def test_a_secret_in_the_url_is_sent_and_not_shown(home: Path) -> None:
    action = {"method": "GET", "urlTemplate": "/in{?api_key}", "parameterMapping": {"api_key": "/api_key"}}
    with serving(simple_manifest(enter=action)) as site, planning(home) as provider:
        provider.otherwise = plan(step("enter", given("api_key")))
        for more in ((), ("--json",)):
            done = do(home, provider, site.url, "enter", "--arg", "api_key=s3same 0pen", *more)
            assert done.returncode == 0, done.stderr
            assert "s3same" not in done.stdout + done.stderr + provider.transcript()
            assert site.paths[-1] == "GET /in?api_key=s3same%200pen"


@pytest.mark.parametrize("text", ['{"x": 1e999}', '{"x": "\\ud800"}'])
def test_what_json_cannot_say_is_one_line(home: Path, text: str) -> None:
    manifest = simple_manifest(put={"method": "POST", "urlTemplate": "/put", "parameterMapping": {"x": "/x"}})
    with serving(manifest) as site:
        done = manifest_command(home, "call", site.url, "put", "--args", text)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "internal" not in done.stderr
    assert site.paths == ["GET /.well-known/aura.json"]


def test_a_site_without_capabilities_is_not_asked_about(home: Path) -> None:
    with serving(simple_manifest()) as site, planning(home) as provider:
        done = do(home, provider, site.url, "do something")
    assert done.returncode == 2 and "no capabilities" in done.stderr and provider.requests == []
