"""Phase 0 (input validation of a prompt): what a question must be before anything else looks at it: not empty, not too
long, no control characters, no personal data (AURORA §3.1).
"""

from __future__ import annotations

import re

from msgspec import Struct

from aurora_orchestration.guardrails.blocked import QuestionBlocked, Reason
from aurora_orchestration.guardrails.redaction import Redaction, redact
from aurora_orchestration.settings import GuardrailSettings

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LAST_TWO = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_NO_CHARACTER = re.compile(f"[\ud800-\udfff\ufdd0-\ufdef{_LAST_TWO}]")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
_HIDDEN = re.compile("[\u200b\u2060\ufeff\U000e0000-\U000e007f]")


class Guarded(Struct, frozen=True, kw_only=True):
    """A question that may go on: without what was redacted, which is named by kind and count."""

    query: str
    redactions: tuple[Redaction, ...] = ()
    notices: tuple[str, ...] = ()


class Held(QuestionBlocked):
    """A question that is held back for what is in it: `found` says what, by kind and count."""

    def __init__(self, message: str, reason: Reason, found: tuple[Redaction, ...]) -> None:
        super().__init__(message, reason)
        self.found = found


def guard(query: str, settings: GuardrailSettings) -> Guarded:
    """Question as it may be sent and logged. Raises QuestionBlocked: empty, length, encoding, control; Held: pii,
    secret.

    With `enabled` off only the form is looked at, and what cannot be text is still refused; secrets are redacted all
    the same, for they are never sent (ruling 16). The budget is another's (`budget`).
    """
    _check_form(query, settings)
    personal = settings.enabled and settings.pii != "off"
    redacted = redact(query, pii=personal)
    secrets = tuple(each for each in redacted.found if each.secret)
    others = tuple(each for each in redacted.found if not each.secret)
    if secrets and settings.enabled and settings.secrets == "reject":
        raise Held(f"the question holds {words(secrets)}; take that out and ask again", "secret", redacted.found)
    if others and settings.pii == "reject":
        raise Held(f"the question holds {words(others)}; take that out and ask again", "pii", redacted.found)
    notices = [f"redacted from the question: {words(redacted.found)}"] if redacted.found else []
    if _DIRECTION.search(query):
        notices.append(
            "the question has characters in it that turn the direction of text: it may read otherwise than it is"
        )
    if _HIDDEN.search(query):
        notices.append("the question has characters in it that cannot be seen")
    return Guarded(query=redacted.text, redactions=redacted.found, notices=tuple(notices))


def words(found: tuple[Redaction, ...]) -> str:
    """`1 email address and 2 GitHub tokens`."""
    *first, last = [each.words for each in found]
    return f"{', '.join(first)} and {last}" if first else last


def _check_form(query: str, settings: GuardrailSettings) -> None:
    """Input validation of length, Unicode and control characters."""
    if settings.enabled and len(query) > settings.max_query_length:
        raise QuestionBlocked(
            f"the question has {len(query):,} characters, {settings.max_query_length:,} are allowed: shorten it, or"
            f" aurora config set guardrails.max_query_length {len(query)}",
            "length",
        )
    if (wrong := _NO_CHARACTER.search(query)) is not None:
        raise QuestionBlocked(
            f"the question is not valid Unicode: U+{ord(wrong[0]):04X} at character {wrong.start() + 1}; send UTF-8",
            "encoding",
        )
    if (wrong := _CONTROL.search(query)) is not None:
        name = "a NUL" if wrong[0] == "\0" else f"the control character U+{ord(wrong[0]):04X}"
        raise QuestionBlocked(
            f"the question has {name} in it, at character {wrong.start() + 1}; take it out", "control"
        )
    if not _HIDDEN.sub("", query).strip():
        raise QuestionBlocked("the question is empty; ask something", "empty")
