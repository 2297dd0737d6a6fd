"""Rules about secrets (API keys, tokens, passwords) that must not be in a public file
(AURA-P "Integration in 60 seconds": no secrets).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from aurora_manifest.edits import removing_member
from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import Array, JsonDocument, Member, Node, Object, Scalar
from aurora_manifest.json.value_text import excerpt, quoted
from aurora_manifest.rules.registry import Path, RuleMatch, part_rule
from aurora_manifest.rules.subject import ManifestPart
from aurora_protocol.secrets import is_placeholder, logins_in, may_have_tokens, query_keys_in, tokens_in

_SECRET_NAME = re.compile(
    r"(?:.{0,40}[_.-])?(?:password|passwd|passphrase|pwd|secret|api_?key|access_?key|private_?key|token|credentials?)"
    r"(?:[_.-]?(?:value|text|string))?",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MOST = 100
_PAIR = re.compile(r"[?&][^?&=#\"{}]*=\Z")
_LONGEST_NAME = 80
_WORDS = ("passw", "passphrase", "pwd", "secret", "key", "token", "credential")
_VALUES = ("default", "const", "example", "examples", "enum")
_STRUCTURE = frozenset({"parameterMapping", "parameterLocation", "required", "properties"})


@part_rule("secret-token", "warning", absent=lambda text, lines: not may_have_tokens(text, lines))
def token(part: ManifestPart, document: JsonDocument) -> Iterator[RuleMatch]:
    """A text has the form of a key, a token or a private key.

    A manifest is public and cached. A secret that was in it is known: take it out, and replace it where it is valid.

    Bad: {"site": {"description": "Uses AKIAIOSFODNN7EXAMPLE for now."}}
    Good: {"site": {"description": "Keeps your notes."}}
    """
    for base, text in _texts(part, document):
        for secret in islice(tokens_in(text), _MOST):
            shown = excerpt(text[secret.start : secret.start + len(secret.lead) + 3])
            message = f"this looks like {secret.noun} ({shown}…): manifests are public"
            start, end = base + secret.start, base + secret.end
            yield RuleMatch(message, document.pointer_at(start), start, end)


@part_rule(
    "secret-in-url", "warning", absent=lambda _, lines: "=" not in lines and not ("@" in lines and "://" in lines)
)
def credentials_in_url(part: ManifestPart, document: JsonDocument) -> Iterator[RuleMatch]:
    """An address has a user's name and password, or a key, in it.

    Bad: {"site": {"url": "https://admin:hunter22@notes.example.com"}}
    Good: {"site": {"url": "https://notes.example.com"}}
    """
    for base, text in _texts(part, document):
        for login in logins_in(text):
            start, end = base + login.start, base + login.end
            fix = Fix("Remove the credentials", (Edit(start, end + 1, ""),))
            message = "this address has credentials in it: manifests are public"
            yield RuleMatch(message, document.pointer_at(start), start, end, fix)
        for key in query_keys_in(text):
            start, end = base + key.start, base + key.end
            message = "this address has a key in its query: manifests are public"
            pair = _PAIR.search(text, max(0, key.start - _LONGEST_NAME), key.start)
            cut = (_without_pair(base, text, pair.start(), key.end),) if pair else ()
            yield RuleMatch(
                message, document.pointer_at(start), start, end, Fix("Remove the key", cut) if cut else None
            )


@part_rule("secret-value", "warning", absent=lambda _, lines: not _may_name_secrets(lines))
def secret_value(part: ManifestPart, document: JsonDocument) -> Iterator[RuleMatch]:
    """A member that is named like a secret has a value, or a secret parameter has a default or an example.

    An example of a password is tried by someone, and a default one is used by everyone. Placeholders such as
    `<token>` or `YOUR_KEY_HERE` are fine.

    Bad: {"capabilities": {"update_note": {"parameters": {"properties":
            {"password": {"type": "string", "default": "hunter22"}}}}}}
    Good: {"capabilities": {"update_note": {"parameters": {"properties":
            {"password": {"type": "string", "minLength": 8}}}}}}
    """
    for base, text in _texts(part, document):
        if not _may_name_secrets(text):
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


def _without_pair(base: int, text: str, start: int, end: int) -> Edit:
    """Take a name and its value out of a query, with one of the signs beside them."""
    if text[end : end + 1] == "&":
        return Edit(base + start + 1, base + end + 1, "")
    if text[start] == "?" and text.startswith("{&", end):
        return Edit(base + start, base + end + 2, "{?")
    return Edit(base + start, base + end, "")


def _may_name_secrets(text: str) -> bool:
    lowered = text.lower()
    return any(word in lowered for word in _WORDS)


def _texts(part: ManifestPart, document: JsonDocument) -> Iterator[tuple[int, str]]:
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


def _given(schema: Object, path: Path) -> Iterator[RuleMatch]:
    """Matches for secrets among the defaults and examples of a schema."""
    for keyword in _VALUES:
        member = schema.member(keyword)
        if member is None:
            continue
        nodes = member.value.items if isinstance(member.value, Array) else [member.value]
        for node in nodes:
            if isinstance(node, Scalar):
                gone = removing_member(schema, schema.members.index(member), f"Remove {quoted(keyword)}")
                yield from _telling(node, (*path, keyword), str(path[-1]), gone)


def _telling(node: Scalar, path: Path, name: str, fix: Fix | None = None) -> Iterator[RuleMatch]:
    """Match for a text that may be a secret, no placeholder."""
    text = node.value
    if isinstance(text, str) and len(text.strip()) >= 4 and not is_placeholder(text):
        message = f"{quoted(name)} has a value here ({excerpt(text[:2])}…): manifests are public"
        yield RuleMatch(message, path, node.start, node.end, fix)


def _is_secret(name: str) -> bool:
    return len(name) <= 80 and _SECRET_NAME.fullmatch(_CAMEL.sub("_", name)) is not None
