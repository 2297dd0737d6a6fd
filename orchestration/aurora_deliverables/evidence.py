"""Evidence and event ids (deduplication of events, idempotency keys): what an event is known by, and what is shown of
what was seen: never a secret, never much.
"""

from __future__ import annotations

import hashlib

MAX_EVIDENCE = 200
REDACTED = "[redacted]"


def event_id(change_id: str, kind: str, *facts: object) -> str:
    """Idempotency key: the same for the same facts about the same deliverable, wherever and whenever seen."""
    said = "\x1f".join([change_id, kind, *map(str, facts)])
    return f"{kind}-{hashlib.blake2b(said.encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"


def redact(text: str) -> str:
    """`text` without what looks like a password, key or token."""
    from aurora_protocol.secrets import secrets_in  # thirty patterns to compile, which a start need not wait for

    kept: list[str] = []
    at = 0
    for secret in secrets_in(text, every=True):
        kept += (text[at : secret.start], REDACTED)
        at = secret.end
    return "".join((*kept, text[at:]))


def shown(text: str, at_most: int = MAX_EVIDENCE) -> str:
    """`text` on one line, without secrets and control characters, cut with … where it is long."""
    clean = redact(text[: at_most * 5])
    clean = " ".join("".join(c if c.isprintable() else " " for c in clean).split())
    return clean if len(clean) <= at_most else clean[: at_most - 1].rstrip() + "…"
