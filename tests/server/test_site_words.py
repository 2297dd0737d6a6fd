"""What the command line says of sites: what to do after a refusal, which words are values, what is shown of a call."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from aurora_cli.manifest_plan import FailedStep, GivenValues, PlanRun, plan_lines
from aurora_cli.output import TerminalStyle
from aurora_cli.site_call import (
    CommandDeadline,
    confirm_call,
    hint_after,
    pairs_given,
    preview_lines,
    shown_url,
    typed,
    with_token,
)
from aurora_cli.site_options import SiteOptions
from aurora_cli.site_view import decoded_lines, reply_lines, state_lines
from aurora_manifest.client.origins import origin_of, parse_url
from aurora_manifest.client.request import CapabilityCall
from aurora_manifest.client.transport import Request, SiteReply
from aurora_protocol import CallBlocked, SiteError
from aurora_server.demo_site import request_arguments
from aurora_server.demo_site.request_arguments import RequestRefused

PLAIN = TerminalStyle()
URL = "https://a.example/posts?key=s3cret"


def call(*headers: tuple[str, str], secrets: tuple[str, ...] = (), url: str = URL) -> CapabilityCall:
    request = Request("POST", url, headers, b"")
    return CapabilityCall(
        capability="add", request=request, body=None, shown_url="https://a.example/posts?key=•••", shown_body=None,
        secrets=frozenset(secrets), secret_headers=frozenset({"x-key"}),
    )  # fmt: skip


def reply(status: int, *headers: tuple[str, str], **more: Any) -> SiteReply:
    told = {"method": "POST", "url": URL, "body": b"", "took_ms": 1.0} | more
    return SiteReply(status=status, headers=headers, **told)


TOKEN = ("authorization", "Bearer x")
WAIT = ("retry-after", "120")


@pytest.mark.parametrize(
    ("planned", "answer", "hint"),
    [
        pytest.param(call(), reply(200), "", id="nothing where all is well"),
        pytest.param(
            call(), reply(401), "call its login capability first, or give --token", id="who asks is not known"
        ),
        pytest.param(call(TOKEN), reply(401), "does not accept this token", id="a token that is not taken"),
        pytest.param(
            call(TOKEN, secrets=("pw",)),
            reply(401),
            "does not accept these credentials",
            id="a password before a token",
        ),
        pytest.param(call(), reply(403), "the site forbids this: another account", id="forbidden"),
        pytest.param(call(secrets=("pw",)), reply(403), "the site forbids these credentials:", id="to whom"),
        pytest.param(call(), reply(429), "is asked too often: try again later", id="too often"),
        pytest.param(
            call(), reply(429, WAIT), "asks to wait: try again after 120 s", id="how long to wait, if it is told"
        ),
        pytest.param(call(), reply(503, WAIT), "asks to wait: try again after 120 s", id="also of one that is down"),
        pytest.param(call(), reply(503), "", id="who is down and does not say for how long may be so for ever"),
        pytest.param(call(), reply(404), "", id="what is not there is said by its status"),
        pytest.param(
            call(), reply(200, cut="too large"), "the answer is cut after 0 bytes: too large", id="a part only"
        ),
    ],
)
def test_what_to_do_after_an_answer(
    planned: CapabilityCall, answer: SiteReply, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hint_after(planned, answer)
    said = capsys.readouterr().err
    assert (hint in said) if hint else said == ""
    assert said.count("\n") == (1 if hint else 0)


def capability(**types: Any) -> Any:
    return SimpleNamespace(
        name="add",
        properties={name: SimpleNamespace(value=SimpleNamespace(value=schema)) for name, schema in types.items()},
    )


@pytest.mark.parametrize(
    ("schema", "words", "value"),
    [
        pytest.param({"type": "string"}, ["5"], "5", id="a text stays one"),
        pytest.param({"type": "integer"}, ["5"], 5, id="a number is one"),
        pytest.param({}, ["true"], True, id="of no type, as JSON has it"),
        pytest.param({}, ["five"], "five", id="or as it stands where it is none"),
        pytest.param(None, ["5"], 5, id="of a parameter that nobody declared, too"),
        pytest.param({"type": "array"}, ["[1, 2]"], [1, 2], id="a list as JSON"),
        pytest.param({"type": "array"}, ["1"], [1], id="a list of one"),
        pytest.param({"type": "array", "items": {"type": "string"}}, ["1", "2"], ["1", "2"], id="of several texts"),
    ],
)
def test_words_have_the_type_that_is_declared(schema: Any, words: list[str], value: Any) -> None:
    assert typed(capability(n=schema) if schema is not None else capability(), "n", words) == value


def test_what_is_no_list_is_given_once() -> None:
    with pytest.raises(click.BadParameter, match="n is given more than once, and is no list"):
        typed(capability(n={"type": "string"}), "n", ["1", "2"])


def test_a_value_may_hold_an_equals_sign_and_a_name_come_again() -> None:
    assert pairs_given(("a=1=2", "b=", "a=3")) == {"a": ["1=2", "3"], "b": [""]}
    for wrong in ("a", "=1", ""):
        with pytest.raises(click.BadParameter, match="is not NAME=VALUE"):
            pairs_given((wrong,))


def test_a_token_takes_the_place_of_the_one_there_was() -> None:
    planned = with_token(call(("Accept", "x"), ("authorization", "Basic old")), "new")
    assert planned.request.headers == (("Accept", "x"), ("Authorization", "Bearer new"))


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        (("Accept", "text/html"), "Accept: text/html"),
        (("X-Key", "s3cret"), "X-Key: •••"),
        (("Authorization", "Bearer abc"), "Authorization: Bearer •••"),
        (("Authorization", "abc def"), "Authorization: •••"),
        (("Proxy-Authorization", "Basic abc"), "Proxy-Authorization: Basic •••"),
        (("Cookie", "a=1; b=2"), "Cookie: a=•••; b=•••"),
    ],
)
def test_what_of_a_header_is_shown(header: tuple[str, str], shown: str) -> None:
    planned = call(header)
    assert preview_lines(planned, planned.request)[1:] == [shown.replace("•••", _mask())]


def _mask() -> str:
    from aurora_manifest.client.consent import MASK

    return MASK


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        pytest.param(URL, "https://a.example/posts?key=•••", id="the request's own as it is shown"),
        pytest.param(
            "https://b.example/s3cret?x=s3%20cret", "https://b.example/MASK?x=s3%20cret", id="where it led to"
        ),
        pytest.param("https://s3cret.example/a+b", "https://s3cret.example/MASK", id="not in the name of a host"),
    ],
)
def test_secrets_are_hidden_wherever_a_redirect_led(url: str, shown: str) -> None:
    planned = call(secrets=("s3cret", "a b"))
    assert shown_url(planned, url) == shown.replace("MASK", _mask())


@pytest.mark.parametrize(
    ("agrees", "said"),
    [
        pytest.param(None, "give --yes to do it", id="nobody is there"),
        pytest.param(False, "not sent", id="who says no"),
    ],
)
def test_what_may_destroy_something_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, agrees: bool | None, said: str
) -> None:
    monkeypatch.setattr("aurora_cli.site_call.destructive", lambda _: "it deletes")
    monkeypatch.setattr("aurora_cli.site_call.can_ask", lambda: agrees is not None)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: agrees)
    with pytest.raises(CallBlocked, match=said):
        confirm_call(capability(), call())
    monkeypatch.setattr("aurora_cli.site_call.destructive", lambda _: None)
    confirm_call(capability(), call())


def test_a_deadline_that_is_over_is_told_with_what_gives_more() -> None:
    deadline = CommandDeadline(0.0)
    with pytest.raises(SiteError, match="not done within 0 s; try again, or give --timeout"), deadline.running():
        raise AssertionError("nothing is begun")


def state(known: bool | None, capabilities: list[str] | None = None, problems: tuple[str, ...] = ()) -> Any:
    return SimpleNamespace(is_authenticated=known, capabilities=capabilities, problems=problems)


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        (state(True, ["a", "b"]), ["AURA-State  signed in", "  2 capabilities now: a, b"]),
        (state(False, []), ["AURA-State  not signed in", "  0 capabilities now: none"]),
        (state(None, ["a"]), ["AURA-State  does not say whether one is signed in", "  1 capability now: a"]),
        (state(True, None, ("it is odd",)), ["AURA-State  signed in", "  ! it is odd"]),
    ],
)
def test_what_a_state_says(told: Any, lines: list[str]) -> None:
    assert decoded_lines(told, PLAIN) == lines


def test_that_no_state_came_is_said_and_that_it_cannot_be_read() -> None:
    assert state_lines(None, PLAIN) == ["no AURA-State was sent"]
    (line,) = state_lines("%%%", PLAIN)
    assert line.startswith("! ")


def test_an_answer_begins_with_what_was_asked_and_its_status_in_colour() -> None:
    rich = TerminalStyle(rich=True)
    assert "\x1b[32m200" in reply_lines(reply(200), rich)[0]
    assert "\x1b[31m404" in reply_lines(reply(404), rich)[0]
    assert reply_lines(reply(200), PLAIN) == [f"POST {URL}  200 OK", "no AURA-State was sent"]


def step(name: str = "add", *arguments: Any) -> Any:
    return SimpleNamespace(capability=name, arguments=arguments, why="")


def running(steps: int, **more: Any) -> PlanRun:
    plan: Any = SimpleNamespace(steps=[step(f"c{n}") for n in range(steps)])
    told: Any = {"yes": False, "style": None} | more
    return PlanRun(plan, *[None] * 5, **told)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        (1, "step 1 of 3, c0: the site answered 404 Not Found; the rest was not tried"),
        (2, "step 2 of 3, c1: the site answered 404 Not Found; step 1 was done; the rest was not tried"),
        (3, "step 3 of 3, c2: the site answered 404 Not Found; steps 1 to 2 were done"),
    ],
)
def test_a_plan_ends_at_the_first_step_that_fails_and_says_what_was_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failing: int, said: str
) -> None:
    tried: list[int] = []

    def attempt(_: PlanRun, number: int, __: Any) -> tuple[int, str]:
        tried.append(number)
        return (1, "the site answered 404 Not Found") if number == failing else (0, "")

    monkeypatch.setattr(PlanRun, "_attempt", attempt)
    run = running(3)
    assert run.all() == 1 and tried == list(range(1, failing + 1))
    assert run.failed == FailedStep(failing, f"c{failing - 1}", "the site answered 404 Not Found")
    assert capsys.readouterr().err == f"aurora: {said}\n"


def test_of_values_given_both_ways_words_win_and_each_name_is_told_once() -> None:
    given = GivenValues({"n": 1, "m": 2}, {"n": ["5"], "k": ["x"]})
    assert given.names == ["n", "m", "k"]
    argument = SimpleNamespace(given="n", name="n")
    other = SimpleNamespace(given=None, name="z")
    assert given.for_step(step("add", argument, other), capability(n={"type": "integer"})) == {"n": 5}
    assert given.for_step(step("add", SimpleNamespace(given="m", name="n")), capability(n={"type": "string"})) == {
        "m": 2
    }


def test_what_cannot_be_done_is_told_with_who_says_so_and_for_how_much() -> None:
    plan: Any = SimpleNamespace(impossible="no such thing", steps=[])
    manifest: Any = SimpleNamespace(capabilities={})
    assert plan_lines(plan, manifest, "m", 0.5, PLAIN) == ["cannot be done: no such thing", "planned by m for $0.5000"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param({}, "home/cookies", id="in our own folder, by site"),
        pytest.param({"cookie_jar": Path("/jars/mine.txt")}, "/jars", id="in the file that is named"),
        pytest.param({"cookie_jar": Path("/jars/mine.txt"), "no_cookies": True}, None, id="nowhere, before both"),
    ],
)
def test_where_cookies_are_kept(given: dict[str, Any], kept: str | None) -> None:
    usual: dict[str, Any] = {
        "token": None, "cookie_jar": None, "no_cookies": False, "timeout": 1.0, "insecure_http": False,
        "no_cache": False, "allow_cross_origin": False,
    }  # fmt: skip
    settings: Any = SimpleNamespace(address=SimpleNamespace(home=Path("home")))
    jar = SiteOptions(**usual | given).jar(settings, origin_of(parse_url("https://example.org/")))
    assert (str(jar.file.parent) if jar is not None else None) == kept
    assert (SiteOptions(**usual | {"no_cache": True}).cache(settings) is None) is True


async def test_a_body_of_just_the_size_that_may_be_is_read() -> None:
    def request(size: int) -> Any:
        async def stream() -> Any:
            yield b'"' + b"x" * (size - 2) + b'"'

        return SimpleNamespace(stream=stream, headers={"content-type": "application/json"})

    with pytest.raises(RequestRefused, match="the body has more than"):
        await request_arguments._body(request(request_arguments.MAX_BODY + 1))
    with pytest.raises(RequestRefused) as raised:
        await request_arguments._body(request(request_arguments.MAX_BODY))
    assert raised.value.status != 413, "it is read, and then found to be no object"
