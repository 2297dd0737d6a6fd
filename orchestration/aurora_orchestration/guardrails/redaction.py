"""Redaction of a text: what is left without secrets and personal data, and which kinds were taken out (AURORA §3.1)."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from aurora_orchestration.guardrails.personal_data import personal_in
from aurora_protocol.secrets import secrets_in

REDACTED = "[REDACTED]"

_SHORT = 1_000
MOST_KNOWN = 1_024
_known_clean: set[tuple[str, bool]] = set()
"""Short texts that nothing was found in: the same ones go into prompt after prompt, stages and the log."""

_PERSONAL = {
    "email": ("email address", "email addresses"),
    "ssn": ("social security number", "social security numbers"),
    "card": ("card number", "card numbers"),
    "phone": ("phone number", "phone numbers"),
    "iban": ("bank account", "bank accounts"),
}


class Redaction(Struct, frozen=True):
    """So many of a kind were in a text. `secret` tells keys and passwords from personal data."""

    kind: str
    count: int
    secret: bool = False

    @property
    def words(self) -> str:
        """`2 email addresses`, `1 github token`."""
        one, many = _PERSONAL.get(self.kind) or (self.kind.replace("_", " "), self.kind.replace("_", " ") + "s")
        return f"{self.count} {one if self.count == 1 else many}"


class Redacted(Struct, frozen=True):
    """Text without what may not be sent or logged, and what was taken out of it."""

    text: str
    found: tuple[Redaction, ...] = ()


def redact(text: str, *, pii: bool = True) -> Redacted:
    """`text` with every secret, and with `pii` all personal data, replaced by `[REDACTED]`; the rest is as it was.

    Pure, and linear in the text's length.
    """
    if (text, pii) in _known_clean:
        return Redacted(text)
    spans = [(each.start, each.end, each.kind, True) for each in secrets_in(text)]
    if pii:
        spans += [(each.start, each.end, each.kind, False) for each in personal_in(text)]
        spans.sort(key=lambda each: each[0])
    counts: Counter[tuple[str, bool]] = Counter()
    kept: list[str] = []
    at = 0
    for start, end, kind, secret in spans:
        if start >= at:
            kept += (text[at:start], REDACTED)
            counts[kind, secret] += 1
        elif end <= at:
            continue
        at = end
    if not counts:
        if len(text) <= _SHORT:
            if len(_known_clean) >= MOST_KNOWN:
                _known_clean.clear()
            _known_clean.add((text, pii))
        return Redacted(text)
    kept.append(text[at:])
    found = (Redaction(kind, count, secret) for (kind, secret), count in counts.items())
    return Redacted("".join(kept), tuple(sorted(found, key=lambda each: (not each.secret, each.kind))))
