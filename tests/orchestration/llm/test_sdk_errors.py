"""What the SDKs raise, as errors of ours: a row for each answer of a provider."""

from __future__ import annotations

from typing import Any

import httpx2
import openai
import pytest

from aurora_orchestration.llm.completion import LlmError, Rejected, Unavailable
from aurora_orchestration.llm.providers.http_client import WEB_PAGE
from aurora_orchestration.llm.providers.provider import BadRequest, Passing
from aurora_orchestration.llm.providers.sdk_errors import as_llm_error

ASKED = httpx2.Request("POST", "https://models.example/v1")
PAGE = "  <html>no such thing</html>"


def of(error: Exception) -> LlmError:
    return as_llm_error(error, openai, who="models", model="large", key="sk-hush")


def answered(status: int, kind: str = "", *, page: bool = False, headers: dict[str, str] | None = None) -> LlmError:
    """The error for an answer with that status, and of that kind (as `error.type`) or as a page of the web."""
    body: Any = {"error": {"type": kind, "message": "it says sk-hush"}}
    response = httpx2.Response(status, request=ASKED, headers=headers, text=PAGE if page else "{}")
    return of(openai.APIStatusError("refused", response=response, body=None if page else body))


@pytest.mark.parametrize(
    ("status", "kind", "page", "told", "says"),
    [
        (200, "overloaded_error", False, Passing, "broke off in the middle of an answer (overloaded_error: it says …)"),
        (200, "", False, Passing, "broke off"),
        (200, "invalid_request_error", False, Unavailable, "broke off"),
        (300, "", False, Rejected, "sends on to another address (300)"),
        (399, "", False, Rejected, "sends on to another address"),
        (400, "", False, BadRequest, "did not take the request (400): it says …"),
        (400, "", True, Rejected, WEB_PAGE),
        (401, "", False, Rejected, "does not accept the key (401)"),
        (401, "", True, Rejected, WEB_PAGE),  # a page is not from who has the key
        (403, "", False, Rejected, "does not accept the key (403)"),
        (404, "", False, Rejected, "knows no model large"),
        (404, "", True, Rejected, f"has nothing at that address (404): {WEB_PAGE}"),
        (408, "", False, Passing, "limits the rate (408)"),
        (409, "", False, Passing, "limits the rate (409)"),
        (425, "", False, Passing, "limits the rate (425)"),
        (429, "", False, Passing, "limits the rate (429)"),
        (429, "insufficient_quota", False, Rejected, "it says …"),  # waiting does not pay
        (429, "billing_hard_limit_reached", False, Rejected, "it says …"),
        (422, "", False, BadRequest, "did not take the request (422)"),
        (400, "rate_limit_error", False, Passing, "limits the rate (400)"),
        (500, "", False, Passing, "failed (500): it says …; try again later"),
        (500, "", True, Passing, "failed (500): it gave no reason"),
        (500, "api_error", False, Passing, "failed (500)"),
        (500, "overloaded_error", False, Passing, "limits the rate (500)"),
        (503, "", False, Passing, "is overloaded"),
        (529, "", False, Passing, "is overloaded"),
        (504, "", False, Passing, "failed (504)"),
    ],
)
def test_an_answer_that_is_none(status: int, kind: str, page: bool, told: type[LlmError], says: str) -> None:
    error = answered(status, kind, page=page)
    assert type(error) is told and says in str(error)
    assert str(error).startswith("models") and "hush" not in str(error) and "\n" not in str(error)


@pytest.mark.parametrize(
    ("headers", "wait"), [({"retry-after": "7"}, 7.0), ({}, None), ({"retry-after": "Tue, 01 Dec 2026"}, None)]
)
def test_how_long_to_wait_is_what_it_says_in_seconds(headers: dict[str, str], wait: float | None) -> None:
    for status in (429, 500):
        error = answered(status, headers=headers)
        assert isinstance(error, Passing)
        assert error.wait == wait


def test_what_a_code_says_counts_before_the_type_it_is_of() -> None:
    body = {"error": {"code": "insufficient_quota", "type": "rate_limit_error", "message": "pay"}}
    response = httpx2.Response(429, request=ASKED, text="{}")
    assert isinstance(of(openai.APIStatusError("refused", response=response, body=body)), Rejected)


def test_only_what_broke_off_or_was_not_heard_may_be_charged_for() -> None:
    unheard = of(httpx2.ReadTimeout("slow"))
    for error, taken in ((answered(429), False), (answered(500), False), (answered(200), True), (unheard, True)):
        assert isinstance(error, Passing)
        assert error.taken == taken


@pytest.mark.parametrize(
    ("error", "told", "says"),
    [
        (openai.APITimeoutError(ASKED), Passing, "was silent for too long"),
        (httpx2.ReadTimeout("slow"), Passing, "was silent for too long"),
        (httpx2.DecodingError(WEB_PAGE), Rejected, WEB_PAGE),
        (httpx2.DecodingError("bad gzip"), Unavailable, "bad gzip"),
        (httpx2.ConnectError("refused"), Passing, "cannot be reached (refused)"),
        (httpx2.ConnectError(""), Passing, "cannot be reached (ConnectError)"),
        (openai.APIError("event", ASKED, body={"type": "overloaded_error"}), Passing, "failed (overloaded_error)"),
        (openai.APIError("event", ASKED, body={"type": "other"}), Unavailable, "what is no answer (APIError)"),
        (ValueError("no JSON"), Unavailable, "what is no answer (ValueError)"),
    ],
)
def test_what_is_no_answer_at_all(error: Exception, told: type[LlmError], says: str) -> None:
    found = of(error)
    assert type(found) is told and says in str(found)


def test_why_it_cannot_be_reached_is_what_lies_below() -> None:
    error = openai.APIConnectionError(request=ASKED)
    error.__cause__ = httpx2.ConnectError("no route")
    assert "(no route)" in str(of(error))


def test_a_long_reason_is_cut_and_one_line() -> None:
    body = {"error": {"message": "a\nb " + "x" * 400}}
    error = openai.APIStatusError("m", response=httpx2.Response(400, request=ASKED, text="{}"), body=body)
    found = of(error)
    assert isinstance(found, BadRequest) and "a b x" in str(found) and len(str(found)) < 360
