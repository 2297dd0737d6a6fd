"""Rules about `policy`: rate limits, authentication, and what can be destroyed (AURA-P "Security model")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_manifest.edits import writing
from aurora_manifest.json.document import Scalar
from aurora_manifest.json.literals import number_text
from aurora_manifest.json.value_text import quoted
from aurora_manifest.model import obj, string, value
from aurora_manifest.rules.registry import RuleMatch, at, at_name, manifest_rule
from aurora_manifest.rules.subject import Subject

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DESTRUCTIVE = frozenset("delete remove destroy purge erase wipe drop truncate revoke terminate".split())
_PASSWORDS = frozenset({"password", "passwd", "passphrase", "pwd"})
_PER_SECOND = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
_IMPLAUSIBLE = 100_000


@manifest_rule("rate-limit", "warning")
def rate_limit(subject: Subject) -> Iterator[RuleMatch]:
    """The rate limit is not a whole number of requests from 1 on, or so high that it limits nothing.

    Bad: {"policy": {"rateLimit": {"limit": 0, "window": "minute"}}}
    Good: {"policy": {"rateLimit": {"limit": 60, "window": "minute"}}}
    """
    limits = obj(subject.manifest.policy, "rateLimit")
    node = value(limits, "limit")
    if not isinstance(node, Scalar) or isinstance(node.value, bool) or not isinstance(node.value, int | float):
        return
    path, limit = ("policy", "rateLimit", "limit"), node.value
    shown = number_text(subject.document.text[node.start : node.end])[:40]
    window = string(limits, "window")
    seconds = _PER_SECOND.get(str(window.value)) if window else None
    if limit <= 0:
        yield at(node, f"a limit of {shown} lets no request through", path)
    elif isinstance(limit, float) and not limit.is_integer():
        fix = writing(node, max(1, int(limit))) if limit < _IMPLAUSIBLE else None
        yield at(node, f"{shown} is not a whole number of requests", path, fix)
    elif seconds and limit / seconds > _IMPLAUSIBLE:
        yield at(node, f"{shown} requests in a {window and window.value} is no limit", path, severity="info")


@manifest_rule("destructive-without-auth", "warning")
def destructive_without_auth(subject: Subject) -> Iterator[RuleMatch]:
    """A capability destroys something, and `authHint` says that nobody has to log in.

    Told for DELETE requests and for names such as `remove_…` or `purgeAll`. Let the hint say `cookie` or `bearer`, and
    let the server insist on it.

    Bad: {"policy": {"authHint": "none"}, "capabilities": {"update_note": {"action": {"method": "DELETE"}}}}
    Good: {"policy": {"authHint": "cookie"}, "capabilities": {"update_note": {"action": {"method": "DELETE"}}}}
    """
    hint = string(subject.manifest.policy, "authHint")
    if hint is None or hint.value != "none":
        return
    for capability in subject.manifest.capabilities.values():
        called = capability.request[0]
        destroys = called == "DELETE" or (called not in (None, "GET") and _destroys(capability.name))
        method = capability.method if destroys else None
        if method is None:
            continue
        if called == "DELETE":
            message = f'{quoted(capability.name)} deletes, and "authHint" is "none": anyone may call it'
            yield at(method, message, (*capability.path, "action", "method"))
        else:
            message = f'{quoted(capability.name)} destroys something, and "authHint" is "none": anyone may call it'
            yield at_name(capability.member, message, capability.path)


@manifest_rule("auth-hint", "info")
def login_without_auth(subject: Subject) -> Iterator[RuleMatch]:
    """`authHint` is `none`, but a capability takes a password.

    Where one can log in, something needs it: the hint tells agents how to prove that they did.

    Bad: {"policy": {"authHint": "none"},
          "capabilities": {"update_note": {"parameters": {"properties": {"password": {"type": "string"}}}}}}
    Good: {"policy": {"authHint": "cookie"}}
    """
    hint = string(subject.manifest.policy, "authHint")
    if hint is None or hint.value != "none":
        return
    for capability in subject.manifest.capabilities.values():
        if any(name.lower() in _PASSWORDS for name in capability.parameter_names()):
            message = f'"authHint" is "none", but {quoted(capability.name)} takes a password'
            yield at(hint, message, ("policy", "authHint"))
            return


def _destroys(name: str) -> bool:
    return not _DESTRUCTIVE.isdisjoint(word.lower() for word in _WORDS.findall(name[:200]))
