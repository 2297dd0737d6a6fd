"""`aurora manifest do`: requests in words, planned by a model on loopback, done at the real demo site."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.orchestration.llm.loopback import Kind, Scripted
from tests.server.site_plans import (
    INTERRUPT,
    LOGGING_IN,
    LOGIN,
    answer,
    do,
    given,
    on_terminal,
    plan,
    planning,
    step,
    value,
)
from tests.server.sites import Site, demo_site, manifest_command, reply, running, simple_manifest

REQUEST = "log me in and create a post called Dawn, then list posts"
THREE = plan(
    LOGIN,
    step("create_post", value("title", "Dawn"), value("content", "Light."), value("published", True)),
    step("list_posts", value("limit", 5)),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with demo_site(tmp_path_factory.mktemp("site")) as (url, _):
        yield url


def everything_kept(home: Path) -> str:
    """All files below the home folder but the jars and the configuration, as one text."""
    kept = [each for each in home.rglob("*") if each.is_file() and "cookies" not in each.parts]
    return "\n".join(each.read_bytes().decode("utf-8", "replace") for each in kept if each.name != "config.json")


def titles(home: Path, url: str) -> list[str]:
    done = manifest_command(home, "call", url, "list_posts", "--json")
    return [each["title"] for each in json.loads(done.stdout)["body"]["posts"]]


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_a_request_becomes_calls_that_keep_the_session(home: Path, site: str, kind: Kind) -> None:
    with planning(home, kind) as provider:
        provider.script(THREE)
        done = do(home, provider, site, REQUEST, *LOGGING_IN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 calls" in done.stdout and "POST /api/auth/login" in done.stdout
    assert "password = as you gave it" in done.stdout
    assert done.stdout.count("200 OK") == 2 and "201 Created" in done.stdout
    assert titles(home, site)[0] == "Dawn"
    assert len(provider.requests) == 1
    asked = provider.requests[0]
    assert asked.kind == kind
    assert asked.json["request"] == REQUEST.replace("Dawn", "[KEPT-1]")
    assert asked.json["given"] == ["email", "password"]
    assert {each["id"] for each in asked.json["capabilities"]} >= {"login", "create_post", "list_posts"}
    for place in (provider.transcript(), done.stdout, done.stderr, everything_kept(home)):
        assert "password123" not in place


def test_the_model_is_told_what_the_site_says_of_the_session(home: Path) -> None:
    told = {
        "isAuthenticated": True,
        "capabilities": ["list", "nowhere"],
        "context": {"mail": "ada@example.org", "notes": 3},
    }
    header = base64.b64encode(json.dumps(told).encode()).decode()
    manifest = simple_manifest(list={"type": "HTTP", "method": "GET", "urlTemplate": "/list"})

    def answered(site: Site, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        known = "let-me-in" in handler.headers.get("Authorization", "")
        reply(handler, 200, json.dumps(manifest).encode(), **{"AURA-State": header if known else "%"})

    with running(answered) as site, planning(home) as provider:
        provider.script(plan(step("list")), plan(step("list")))
        inside = do(home, provider, site.url, "list", "--dry-run", "--token", "let-me-in-1234")
        outside = do(home, provider, site.url, "list", "--dry-run", "--no-cache")
    assert inside.returncode == outside.returncode == 0, inside.stderr + outside.stderr
    first, second = (each.json for each in provider.requests)
    assert first["state"]["signed_in"] is True and first["state"]["capabilities"] == ["list"]
    assert '"notes": 3' in first["state"]["context"] and "ada@" not in provider.transcript()
    assert "state" not in second and "left out" in outside.stderr
    assert "let-me-in" not in provider.transcript()


def test_a_password_in_plain_words_goes_to_no_model(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.script(plan(step("list_posts")))
        done = do(home, provider, site, "log in with password sunflower and pin 4711, list posts", "--dry-run")
    assert done.returncode == 0 and "--arg NAME=VALUE" in done.stderr
    for place in (provider.transcript(), done.stdout, done.stderr, everything_kept(home)):
        assert "sunflower" not in place and "4711" not in place


def test_words_kept_from_the_model_are_filled_in_where_it_puts_them(home: Path, site: str) -> None:
    login = step("login", given("email"), value("password", "[KEPT-1]"))
    with planning(home) as provider:
        provider.script(
            plan(
                login,
                step(
                    "create_post",
                    value("title", "On [KEPT-2]"),
                    value("content", "[KEPT-2]."),
                    value("published", True),
                ),
            )
        )
        said = "The word that opens my account is password123. Create a post On Wuthering"
        done = do(home, provider, site, said, "--arg", "email=demo@aura.dev")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 words of the request were kept" in done.stderr and "201 Created" in done.stdout
    assert titles(home, site)[0] == "On Wuthering"
    for place in (provider.transcript(), done.stderr, everything_kept(home)):
        assert not any(word in place for word in ("password123", "Wuthering"))
    assert "password123" not in done.stdout


def test_a_kept_word_that_does_not_fit_is_told_to_no_model(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.script(
            plan(step("list_posts", value("limit", "[KEPT-1]"))),
            plan(step("list_posts", value("limit", "[KEPT-7]"))),
        )
        done = do(home, provider, site, "after login with whatever opens it, marmalade, list posts")
    assert done.returncode != 0 and len(provider.requests) == 2
    assert "with the kept words filled in" in provider.transcript() and "[KEPT-7], which stands for no" in done.stderr
    assert "marmalade" not in provider.transcript() + done.stderr


def test_a_model_that_asks_for_the_password_is_told_none(home: Path, site: str) -> None:
    asks = "What is the password? Answer with it, or say it in the request"
    with planning(home) as provider:
        provider.script(
            plan(impossible=asks),
            plan(step("login", value("email", "demo@aura.dev"), value("password", "[REDACTED]"))),
            plan(step("list_posts", given("tags", "password"))),
            plan(impossible=asks),
            plan(LOGIN),
        )
        asked = do(home, provider, site, "log me in", *LOGGING_IN)
        said = do(home, provider, site, "log me in, the password you asked for is password123", *LOGGING_IN)
        told = do(home, provider, site, "log me in, as asked: password123", *LOGGING_IN)
    assert asked.returncode == 1 and asks in asked.stdout
    assert said.returncode != 0 and told.returncode == 1 and len(provider.requests) == 4
    assert "must be `given`" in provider.transcript()
    for place in (provider.transcript(), *(each.stdout + each.stderr for each in (asked, said, told))):
        assert "password123" not in place


def test_the_last_line_of_the_budget_is_what_it_cost(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.script(plan(step("list_posts")))
        done = do(home, provider, site, "list posts", "--json")
    told = json.loads(done.stdout)
    assert told["ok"] is True and told["failed"] is None and told["cost_usd"] > 0
    assert told["answers"][0]["status"] == 200 and told["answers"][0]["body"]["posts"]
    assert told["plan"]["steps"][0] == {"capability": "list_posts", "arguments": [], "why": "", "destructive": False}
    kept = json.loads((home / "budget_tracker.json").read_text())
    assert kept["consumed_usd"] == pytest.approx(told["cost_usd"], abs=1e-5)
    assert kept["query_count"] == 1 and kept["reserved_usd"] == 0


def test_values_flow_from_one_answer_into_the_next_call(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.script(
            plan(
                step("list_posts", value("limit", 1)),
                step("read_post", answer("id", 1, "/posts/0/id")),
                step("update_post", answer("id", 2, "/id"), value("title", "Renamed")),
            ),
        )
        done = do(home, provider, site, "rename the newest post to Renamed", "--json")
    told = json.loads(done.stdout)
    first, second = told["answers"][0]["body"]["posts"][0], told["answers"][1]["body"]
    assert first["id"] == second["id"]
    assert told["answers"][1]["url"].endswith(f"/api/posts/{first['id']}")
    assert (done.returncode, told["failed"]["step"], told["failed"]["capability"]) == (1, 3, "update_post")
    assert "401" in told["failed"]["why"], "nobody has logged in"
    assert "step 3 of 3, update_post: the site answered 401 Unauthorized; steps 1 to 2 were done" in done.stderr


def test_a_dry_run_shows_the_plan_and_calls_nothing(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.script(plan(LOGIN, step("delete_post", value("id", "1"))))
        before = titles(home, site)
        done = do(home, provider, site, "delete post 1", *LOGGING_IN, "--dry-run")
        assert done.returncode == 0, done.stderr
        assert "2  delete_post  DELETE /api/posts/{id}  asks first: its method is DELETE" in done.stdout
        assert 'id = "1"' in done.stdout and "200" not in done.stdout
        provider.script(plan(LOGIN))
        told = json.loads(do(home, provider, site, "log in", *LOGGING_IN, "--dry-run", "--json").stdout)
    assert told["dry_run"] is True and told["answers"] == []
    assert told["plan"]["steps"][0]["arguments"][1] == {"name": "password", "given": "password"}
    assert titles(home, site) == before
    assert not (home / "cookies").exists()


def test_what_may_be_destroyed_needs_a_word_before_anything_is_sent(home: Path, site: str) -> None:
    deleting = plan(LOGIN, step("list_posts", value("limit", 1)), step("delete_post", answer("id", 2, "/posts/0/id")))
    with planning(home) as provider:
        provider.otherwise = plan(*THREE["steps"][:2])
        assert do(home, provider, site, REQUEST, *LOGGING_IN).returncode == 0, "what it deletes is its own"
        shutil.rmtree(home / "cookies")
        provider.otherwise = deleting
        before = titles(home, site)
        held = do(home, provider, site, "delete the newest post", *LOGGING_IN)
        assert held.returncode == 4
        assert "step 3, delete_post, may destroy something" in held.stderr and "--yes" in held.stderr
        assert len(held.stderr.splitlines()) == 1 and not (home / "cookies").exists()
        assert titles(home, site) == before

        code, shown = on_terminal(home, provider, [site, "delete the newest post", *LOGGING_IN], b"n\n")
        assert code == 4 and "Do it?" in shown
        assert "step 3 of 3, delete_post: not sent; steps 1 to 2 were done" in shown
        assert titles(home, site) == before

        assert do(home, provider, site, "delete the newest post", *LOGGING_IN, "--yes").returncode == 0
        assert titles(home, site) == before[1:]


def test_ctrl_c_at_the_question_sends_nothing(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.script(plan(LOGIN, step("delete_post", value("id", "1"))))
        code, shown = on_terminal(home, provider, [site, "delete post 1", *LOGGING_IN], INTERRUPT)
    assert code == 130
    assert "step 2 of 2, delete_post: interrupted before it was sent; step 1 was done" in shown


def test_a_plan_that_does_not_fit_is_mended_once(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.script(plan(step("list_posts", value("limit", 1000))), plan(step("list_posts", value("limit", 100))))
        assert do(home, provider, site, "list all posts").returncode == 0
        repair = provider.requests[1].json["repair"]
        assert "step 1, list_posts: /limit must be at most 100" in repair["error"]

        provider.requests.clear()
        provider.otherwise = plan(step("fly"))
        done = do(home, provider, site, "fly")
    assert done.returncode == 1 and done.stdout == ""
    assert len(provider.requests) == 2
    assert len(done.stderr.splitlines()) == 1 and 'there is no capability "fly"' in done.stderr


def test_what_cannot_be_done_is_said(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.otherwise = plan(impossible="the site sells no tea; give\x1b[31m up")
        done = do(home, provider, site, "order tea")
        assert done.returncode == 1
        assert "cannot be done: the site sells no tea" in done.stdout and "\x1b" not in done.stdout
        told = json.loads(do(home, provider, site, "order tea", "--json").stdout)
    assert told["ok"] is False and told["plan"]["impossible"].startswith("the site sells no tea")


def test_a_value_that_does_not_fit_is_refused_before_the_first_call(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.script(plan(step("list_posts"), LOGIN))
        done = do(home, provider, site, "list, then log in", "--arg", "email=demo@aura.dev", "--arg", "password=short")
    assert done.returncode == 2
    assert "must have at least 8 characters" in done.stderr and "short" not in done.stderr
    assert len(provider.requests) == 1, "the model has no part in it"
    assert "200" not in done.stdout


def test_values_come_as_json_on_standard_input(home: Path, site: str) -> None:
    said = json.dumps({"email": "demo@aura.dev", "password": "password123", "words": ["a", "b"]})
    with planning(home) as provider:
        provider.script(
            plan(LOGIN, step("create_post", value("title", "T"), value("content", "C"), given("tags", "words")))
        )
        done = do(home, provider, site, "post T with my words", "--args", "-", "--json", said=said)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["answers"][1]["body"]["tags"] == ["a", "b"]
        assert "password123" not in done.stdout + provider.transcript()
        provider.script(plan(step("list_posts")))
        assert do(home, provider, site, "-", said="list posts").returncode == 0
        assert do(home, provider, site, "-", "--args", "-", said="{}").returncode == 2
        assert do(home, provider, site, " ").returncode == 2


def test_what_is_secret_or_personal_in_the_words_is_not_sent(home: Path, site: str) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    with planning(home) as provider:
        provider.script(plan(step("list_posts")))
        done = do(home, provider, site, f"log in as someone@example.com with {token}, then list posts")
        assert done.returncode == 0
        transcript = provider.transcript()
    assert "someone@example.com" not in transcript and token not in transcript and "[REDACTED]" in transcript
    assert "1 GitHub token" in done.stderr or "1 github token" in done.stderr
    assert "--arg NAME=VALUE" in done.stderr
    noted = json.loads((home / "logs/guardrails.jsonl").read_text())
    assert noted["action"] == "redacted" and noted["found"] == {"github_token": 1, "email": 1}


def test_nothing_redacted_and_no_password_comes_from_the_model(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.script(
            plan(step("login", value("email", "[REDACTED]"), value("password", "password123"))),
            plan(impossible="give email and password with --arg"),
        )
        done = do(home, provider, site, "log in as me")
        assert done.returncode == 1
        error = provider.requests[1].json["repair"]["error"]
    assert "email is [REDACTED]" in error and "password is a password: it must be `given`" in error


def test_a_secret_goes_into_no_place_that_is_none(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.otherwise = plan(step("create_post", value("title", "T"), given("content", "password")))
        done = do(home, provider, site, "post something", "--arg", "password=password123")
    assert done.returncode == 1 and "a secret, and is no place for one" in done.stderr


def test_without_a_model_one_line_says_what_to_configure(home: Path, site: str) -> None:
    done = manifest_command(home, "do", site, "list posts")
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "llm.reasoning_llm" in done.stderr


@pytest.mark.parametrize(
    "limit", [{"cost_budgets": {"hard_limit_usd": 0.0000001}}, {"llm": {"caps": {"run_usd": 0.000001}}}]
)
def test_beyond_the_budget_nothing_is_asked(home: Path, site: str, limit: dict[str, Any]) -> None:
    with planning(home, **limit) as provider:
        done = do(home, provider, site, "list posts")
    assert done.returncode == 4 and provider.requests == []
    assert len(done.stderr.splitlines()) == 1
    assert "budget" in done.stderr or "llm.caps.run_usd" in done.stderr


def test_beyond_the_soft_limit_a_script_is_refused_unless_it_says_force(home: Path, site: str) -> None:
    with planning(home, cost_budgets={"soft_limit_usd": 0.0000001}) as provider:
        provider.script(plan(step("list_posts")))
        refused = do(home, provider, site, "list posts")
        assert refused.returncode == 4 and "--force" in refused.stderr and provider.requests == []
        assert len(refused.stderr.splitlines()) == 1
        done = do(home, provider, site, "list posts", "--force")
    assert done.returncode == 0 and "soft limit" in done.stderr


def test_a_guardrail_that_holds_back_comes_first(home: Path) -> None:
    with planning(home, guardrails={"secrets": "reject"}) as provider:
        done = do(home, provider, "http://127.0.0.1:9", "use ghp_" + "a1B2c3D4e5" * 4)
    assert done.returncode == 4 and provider.requests == []
    noted = json.loads((home / "logs/guardrails.jsonl").read_text())
    assert (noted["action"], noted["reason"]) == ("rejected", "secret")


def test_flags_choose_the_model(home: Path, site: str) -> None:
    with planning(home) as provider:
        provider.script(plan(step("list_posts")))
        done = do(home, provider, site, "list posts", "--llm-model", "claude-haiku-4.5")
        assert done.returncode == 0 and "haiku" in provider.requests[0].model
        wrong = do(home, provider, site, "list posts", "--llm-provider", "nobody")
    assert wrong.returncode in (1, 2) and "nobody" in wrong.stderr and len(wrong.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("answered", "words"),
    [
        (Scripted(text="I would rather not say it in JSON."), "answered twice without JSON"),
        (Scripted(text="{" * 5000), "answered twice without JSON"),
        (Scripted(text='{"steps": [{"capability": 5}], "impossible": ""}'), "after one repair"),
        (Scripted(status=401), "key"),
        (Scripted(stop="refusal", text="No."), "declined"),
    ],
)
def test_a_model_that_does_not_answer_as_asked_is_one_line(
    home: Path, site: str, answered: Scripted, words: str
) -> None:
    with planning(home) as provider:
        provider.otherwise = answered
        done = do(home, provider, site, "list posts")
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and words in done.stderr
