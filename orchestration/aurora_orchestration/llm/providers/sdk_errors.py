"""SDK errors mapped (exception translation): what the SDKs raise, as errors of ours. Both SDKs are made by one
generator and share their errors' names.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from aurora_orchestration.llm.completion import LlmError, Rejected, Unavailable
from aurora_orchestration.llm.providers.http_client import WEB_PAGE
from aurora_orchestration.llm.providers.provider import BadRequest, Passing

_PASSING_STATUS = (408, 409, 425, 429)
_OVERLOADED = (503, 529)
_PASSING_KINDS = ("overloaded_error", "rate_limit_error", "api_error", "timeout_error")
_SPENT = ("insufficient_quota", "billing_hard_limit_reached")


def failures(sdk: ModuleType) -> tuple[type[Exception], ...]:
    """Exceptions that a call through an SDK may raise, answers that are no such answers included."""
    import httpx2

    of_rubbish = (ValueError, TypeError, AttributeError, RuntimeError, LookupError, AssertionError)
    return (sdk.APIError, httpx2.HTTPError, *of_rubbish)


def as_llm_error(error: Exception, sdk: ModuleType, *, who: str, model: str, key: str | None) -> LlmError:
    """An SDK's error as ours, in one line: who, what, and the next step. The key is never in it."""
    import httpx2

    detail = _one_line(error)
    if key:
        detail = detail.replace(key, "…")
    if isinstance(error, sdk.APIStatusError):
        return _by_status(error, detail, who, model)
    if isinstance(error, sdk.APITimeoutError | httpx2.TimeoutException):
        return Passing(f"{who} was silent for too long; try again, or raise timeout_seconds")
    cause = error.__cause__
    broken = next((each for each in (error, cause) if isinstance(each, httpx2.DecodingError)), None)
    if broken is not None:
        said = _one_line(broken)
        return Rejected(f"{who}: {said}") if said == WEB_PAGE else Unavailable(f"{who}: {said}")
    if isinstance(error, sdk.APIConnectionError | httpx2.TransportError):
        reason = _one_line(cause) if cause else detail
        return Passing(f"{who} cannot be reached ({reason or type(error).__name__}); check the network and base_url")
    kind = _kind(error)
    if kind in _PASSING_KINDS:
        return Passing(f"{who} failed ({kind}): {detail}")
    return Unavailable(f"{who} answered what is no answer ({type(error).__name__}); check base_url and provider")


def _by_status(error: Any, detail: str, who: str, model: str) -> LlmError:
    """An error of ours for an HTTP status: transient ones (429, 5xx) are `Passing`, to be retried, others final."""
    status, kind = int(error.status_code), _kind(error)
    if status < 300:  # an error event after the answer had begun: what was said until then may be charged for
        broke = f"{who} broke off in the middle of an answer ({': '.join(filter(None, (kind, detail)))})"
        return Passing(f"{broke}; try again") if kind in (*_PASSING_KINDS, "") else Unavailable(broke)
    if 300 <= status < 400:
        return Rejected(f"{who} sends on to another address ({status}), which is not followed; check base_url")
    if status != 404 and status < 500 and _is_page(error):
        return Rejected(f"{who} ({status}): {WEB_PAGE}")
    if status in (401, 403):
        return Rejected(f"{who} does not accept the key ({status}); check the variable that api_key_env names")
    if status == 404 and _is_page(error):
        return Rejected(f"{who} has nothing at that address (404): {WEB_PAGE}")
    if status == 404:
        return Rejected(f"{who} knows no model {model} (404); check model and base_url in llm.*")
    if kind in _SPENT:
        return Rejected(f"{who}: {detail}")
    if status >= 500 and status not in _OVERLOADED and kind not in _PASSING_KINDS[:2]:
        told = detail if detail and not _is_page(error) else "it gave no reason"
        return Passing(f"{who} failed ({status}): {told}; try again later", _wait(error), taken=False)
    if status in _PASSING_STATUS or status >= 500 or kind in _PASSING_KINDS:
        return Passing(f"{who} is overloaded or limits the rate ({status}); try again later", _wait(error), taken=False)
    return BadRequest(f"{who} did not take the request ({status}): {detail}", status, detail)


def _is_page(error: Any) -> bool:
    """Whether a refusal came as HTML: not from the API, but from something before it or beside it."""
    try:
        return bool(error.response.text.lstrip().startswith("<"))
    except (AttributeError, RuntimeError):
        return False


def _wait(error: Any) -> float | None:
    """What `retry-after` says in seconds; None without one, or with a date."""
    try:
        return float(error.response.headers["retry-after"])
    except (KeyError, ValueError):
        return None


def _kind(error: Any) -> str:
    """Error code of the provider, out of the response's body."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    if not isinstance(inner, dict):
        return ""
    return next((word for word in (inner.get("code"), inner.get("type")) if isinstance(word, str)), "")


def _one_line(error: BaseException) -> str:
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    told = inner.get("message") if isinstance(inner, dict) else None
    return " ".join(str(told or error).split())[:300]
