"""What an event is known by, and what is shown of what was seen: never a secret, never much."""

from __future__ import annotations

import hashlib
import re

MAX_EVIDENCE = 200
REDACTED = "[redacted]"

_SECRET = r"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|credential)"
_NAMED = re.compile(
    rf"""(?ix)
    (?P<name> (?: \B--?[\w-]{{0,30}}{_SECRET}[\w-]{{0,30}} (?: \s+ | = )
                | [\w-]{{0,30}}{_SECRET}[\w-]{{0,30}}["']?\s{{0,5}}[=:] )
      \s{{0,5}} ["']? )
    (?P<value> [^\s"'&;|,]{{4,}} )"""
)
"""`API_KEY=…`, `--password …`, `"token": "…"`; a password that is only spoken of is none."""

_HEADERS = re.compile(r"(?i)\b(authorization\s*[:=]\s*|bearer\s+|basic\s+)(?:(?:bearer|basic)\s+)?[\w.~+/=-]{6,}")
_KNOWN = re.compile(
    r"""(?x)
    \b (?: sk-[\w-]{12,} | gh[pousr]_\w{16,} | github_pat_\w{16,} | glpat-[\w-]{16,} | xox[abeprs]-[\w-]{8,}
         | A(?:KIA|SIA)[A-Z0-9]{12,} | AIza[\w-]{20,} | npm_\w{20,} | pypi-[\w-]{20,}
         | eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]* )
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|$)"""
)
_USER_INFO = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^\s/@]+@", re.IGNORECASE)


def event_id(change_id: str, kind: str, *facts: object) -> str:
    """The same for the same facts about the same deliverable, wherever and whenever they are seen."""
    said = "\x1f".join([change_id, kind, *map(str, facts)])
    return f"{kind}-{hashlib.blake2b(said.encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"


def redact(text: str) -> str:
    """`text` without what looks like a password, key or token."""
    text = _KNOWN.sub(REDACTED, text)
    text = _USER_INFO.sub(rf"\g<scheme>{REDACTED}@", text)
    text = _HEADERS.sub(rf"\g<1>{REDACTED}", text)
    return _NAMED.sub(rf"\g<name>{REDACTED}", text)


def shown(text: str, at_most: int = MAX_EVIDENCE) -> str:
    """`text` on one line, without secrets and control characters, cut with … where it is long."""
    clean = redact(text[: at_most * 5])
    clean = " ".join("".join(c if c.isprintable() else " " for c in clean).split())
    return clean if len(clean) <= at_most else clean[: at_most - 1].rstrip() + "…"
