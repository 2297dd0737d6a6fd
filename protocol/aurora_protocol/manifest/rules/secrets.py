"""Rules about what must not be in a public file (AURA-P "Integration in 60 seconds": no secrets)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_protocol.manifest.document import Array, Document, Member, Node, Object, Scalar
from aurora_protocol.manifest.findings import Edit, Fix
from aurora_protocol.manifest.rules.registry import Found, Path, part_rule
from aurora_protocol.manifest.rules.subject import Part
from aurora_protocol.manifest.wording import excerpt, quoted

_TOKENS: tuple[tuple[str, str, str], ...] = (
    ("AKIA", "an AWS access key", r"AKIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("ASIA", "an AWS access key", r"ASIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("ghp_", "a GitHub token", r"ghp_[A-Za-z0-9]{30,255}"),
    ("gho_", "a GitHub token", r"gho_[A-Za-z0-9]{30,255}"),
    ("ghu_", "a GitHub token", r"ghu_[A-Za-z0-9]{30,255}"),
    ("ghs_", "a GitHub token", r"ghs_[A-Za-z0-9]{30,255}"),
    ("ghr_", "a GitHub token", r"ghr_[A-Za-z0-9]{30,255}"),
    ("github_pat_", "a GitHub token", r"github_pat_[A-Za-z0-9_]{30,255}"),
    ("glpat-", "a GitLab token", r"glpat-[A-Za-z0-9_-]{20,255}"),
    ("xox", "a Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}"),
    ("sk_live_", "a Stripe key", r"sk_live_[A-Za-z0-9]{16,255}"),
    ("rk_live_", "a Stripe key", r"rk_live_[A-Za-z0-9]{16,255}"),
    ("sk_test_", "a Stripe key", r"sk_test_[A-Za-z0-9]{16,255}"),
    ("sk-", "an API key", r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,255}"),
    ("AIza", "a Google API key", r"AIza[0-9A-Za-z_-]{35}"),
    ("ya29.", "a Google token", r"ya29\.[0-9A-Za-z_-]{20,500}"),
    ("npm_", "an npm token", r"npm_[A-Za-z0-9]{36}"),
    ("pypi-", "a PyPI token", r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{20,255}"),
    ("SG.", "a SendGrid key", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    ("hf_", "a Hugging Face token", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,60}"),
    (
        "eyJ",
        "a JSON Web Token",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{4,4000}\.[A-Za-z0-9_-]{10,1000}",
    ),
    ("-----BEGIN", "a private key", r"-----BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY-----"),
    ("earer ", "a bearer token", r"[Bb]earer (?=[A-Za-z._~+/-]{0,60}[0-9])[A-Za-z0-9._~+/-]{20,2000}"),
)
_FORMATS = [(lead, noun, re.compile(pattern)) for lead, noun, pattern in _TOKENS]
_IN_URL = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<who>[^\s/?#@\"{}<>\\]{1,200})@")
_IN_QUERY = re.compile(
    r"[?&](?:api[_-]?key|apikey|access[_-]?token|token|secret|client[_-]?secret|password|passwd|pwd|auth)="
    r"(?P<value>[A-Za-z0-9._~+/%-]{6,500})",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(
    r"(?:.{0,40}[_.-])?(?:password|passwd|passphrase|pwd|secret|api_?key|access_?key|private_?key|token|credentials?)"
    r"(?:[_.-]?(?:value|text|string))?",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PLACEHOLDER = re.compile(
    r"<.*>|\{.*\}|\$.*|%.*%|\[.*\]|[*•.x…_-]+|(?:your|my|the|an?|some|example|sample|dummy|fake|test)[ _-].*"
    r"|.*(?:example|placeholder|here|redacted|changeme|change[ _-]me).*"
    r"|none|null|todo|string|password|secret|token|api.?key",
    re.IGNORECASE | re.DOTALL,
)
_MOST = 100
_VALUES = ("default", "const", "example", "examples", "enum")
_STRUCTURE = frozenset({"parameterMapping", "parameterLocation", "required", "properties"})


@part_rule("secret-token", "warning")
def token(part: Part, document: Document) -> Iterator[Found]:
    """A text has the form of a key, a token or a private key.

    A manifest is public and cached. A secret that was in it is known: take it out, and replace it where it is valid.

    Bad: {"site": {"description": "Uses AKIAIOSFODNN7EXAMPLE for now."}}
    Good: {"site": {"description": "Keeps your notes."}}
    """
    for base, text in _texts(part, document):
        taken: list[tuple[int, int]] = []
        for lead, noun, pattern in _FORMATS:
            if lead not in text:
                continue
            for match in pattern.finditer(text):
                start, end = match.span()
                if any(first < end and start < last for first, last in taken):
                    continue
                taken.append((start, end))
                shown = excerpt(match[0][: len(lead) + 3])
                message = f"this looks like {noun} ({shown}…): manifests are public"
                yield Found(message, document.pointer_at(base + start), base + start, base + end)
                if len(taken) >= _MOST:
                    return


@part_rule("secret-in-url", "warning")
def credentials_in_url(part: Part, document: Document) -> Iterator[Found]:
    """An address has a user's name and password, or a key, in it.

    Bad: {"site": {"url": "https://admin:hunter22@notes.example.com"}}
    Good: {"site": {"url": "https://notes.example.com"}}
    """
    for base, text in _texts(part, document):
        if "@" in text and "://" in text:
            for match in _IN_URL.finditer(text):
                start, end = base + match.start("who"), base + match.end("who")
                if ":" in match["who"]:
                    fix = Fix("Remove the credentials", (Edit(start, end + 1, ""),))
                    message = "this address has credentials in it: manifests are public"
                    yield Found(message, document.pointer_at(start), start, end, fix)
        if "=" in text:
            for match in _IN_QUERY.finditer(text):
                if _PLACEHOLDER.fullmatch(match["value"]) is None:
                    start, end = base + match.start("value"), base + match.end("value")
                    message = "this address has a key in its query: manifests are public"
                    yield Found(message, document.pointer_at(start), start, end)


@part_rule("secret-value", "warning")
def secret_value(part: Part, document: Document) -> Iterator[Found]:
    """A member that is named like a secret has a value, or a secret parameter has a default or an example.

    An example of a password is tried by someone, and a default one is used by everyone. Placeholders such as
    `<token>` or `YOUR_KEY_HERE` are fine.

    Bad: {"capabilities": {"update_note": {"parameters": {"properties":
            {"password": {"type": "string", "default": "hunter22"}}}}}}
    Good: {"capabilities": {"update_note": {"parameters": {"properties":
            {"password": {"type": "string", "minLength": 8}}}}}}
    """
    for base, text in _texts(part, document):
        lowered = text.lower()
        if not any(word in lowered for word in _WORDS):
            continue
        member = next(each for each in part.members if each.name_start == base)
        pending: list[tuple[Path, Member]] = [(part.path, member)]
        while pending:
            path, member = pending.pop()
            node, here = member.value, (*path, member.name)
            if isinstance(node, Scalar):
                if path and path[-1] not in _STRUCTURE and _is_secret(member.name):
                    yield from _telling(node, here, member.name)
                continue
            if path[-1:] == ("properties",) and isinstance(node, Object) and _is_secret(member.name):
                yield from _given(node, here)
            pending.extend(_members_of(here, node))


_WORDS = ("passw", "passphrase", "pwd", "secret", "key", "token", "credential")


def _texts(part: Part, document: Document) -> Iterator[tuple[int, str]]:
    """Each member's text, and where it begins."""
    return ((each.name_start, document.text[each.name_start : each.value.end]) for each in part.members)


def _members_of(path: Path, node: Node) -> Iterator[tuple[Path, Member]]:
    """The members in a value: an object's own, or those of the objects in an array."""
    pending: list[tuple[Path, Node]] = [(path, node)]
    while pending:
        here, each = pending.pop()
        if isinstance(each, Object):
            yield from ((here, member) for member in each.members)
        elif isinstance(each, Array):
            pending.extend(((*here, index), item) for index, item in enumerate(each.items))


def _given(schema: Object, path: Path) -> Iterator[Found]:
    for keyword in _VALUES:
        member = schema.member(keyword)
        if member is None:
            continue
        nodes = member.value.items if isinstance(member.value, Array) else [member.value]
        for node in nodes:
            if isinstance(node, Scalar):
                yield from _telling(node, (*path, keyword), str(path[-1]))


def _telling(node: Scalar, path: Path, name: str) -> Iterator[Found]:
    text = node.value
    if isinstance(text, str) and len(text.strip()) >= 4 and _PLACEHOLDER.fullmatch(text.strip()[:200]) is None:
        message = f"{quoted(name)} has a value here ({excerpt(text[:2])}…): manifests are public"
        yield Found(message, path, node.start, node.end)


def _is_secret(name: str) -> bool:
    return len(name) <= 80 and _SECRET_NAME.fullmatch(_CAMEL.sub("_", name)) is not None
