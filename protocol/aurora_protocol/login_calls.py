"""Calls that let somebody in (hardcoded credentials): functions of many languages, and which of their arguments is the
password.

By its place an argument is a password whatever it looks like (`SetBasicAuth("admin", "sunshine")`): no letters at
random are asked for, only that it is written down, and is no word about passwords.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_protocol.plain_passwords import is_plain

_PLACES = {
    0: "red:auth redis.auth redis->auth",
    1: "addbasicauth authenticate basicauth basicauthentication basiccredentials createuserwithemailandpassword "
    "digestauth httpbasicauth httpdigestauth httpntlmauth httpproxyauth login loginuser networkcredential ntlmauth "
    "ociconnect passwordauthentication pgconnect requestbasicauth setbasicauth setcredentials simplebind simplebinds "
    "signinwithemailandpassword "
    "usernameandpassword usernamepasswordauthenticationtoken usernamepasswordcredential usernamepasswordcredentials "
    "withbasicauth withcredentials",
    2: "dbi->connect ftplogin getconnection ldapbind mysqlconnect mysqli mysqliconnect odbcconnect pdo "
    "plainauth ssh2authpassword",
    3: "dialer mysqlirealconnect mysqlrealconnect newdialer ssh.connect",
}
"""Names of functions in small letters without `_`, by the place of their password, counted from 0."""
_PASSWORD_OF = {name: place for place, names in _PLACES.items() for name in names.split()}
_ENDS = ("basicauth", "getconnection", "networkcredential", "usernamepasswordcredentials")
"""Ends of names that others' own functions have as well (`newBasicAuth`)."""
_COMMON = ("login", "authenticate")
"""Names that functions of other kinds have, too: they count as methods only."""
_USERS = frozenset("root admin administrator sa postgres oracle sysadmin sysdba ubuntu ec2-user mysql deploy".split())
_MOST_BEFORE = 5
_LEADS = ("auth", "connect", "credential", "login", "dialer", "_bind", "andpassword", "pdo(", "mysqli(")
_NAME = re.compile(r"\w{0,40}\Z")
_RECEIVER = re.compile(r"(\w{1,20})(?:\.|->|:)\Z")
_REST = re.compile(r"\w{0,40}+")
_OPENING = re.compile(r"\s{0,2}\(\s{0,80}|[ \t]{1,2}(?=[\"'])")
_TUPLE = re.compile(r"\s?=\s?\(\s{0,80}")
_STRING = r"\\?\"(?:[^\"\\\n]|\\[^\n\"]){0,200}+\\?\"|\\?'(?:[^'\\\n]|\\[^\n']){0,200}+\\?'|`[^`\n]{0,200}+`"
_ARGUMENT = re.compile(
    rf"\s{{0,80}}(?P<told>(?:{_STRING}|\((?:{_STRING}|[^\"'`()\n]){{0,80}}+\)|[^\"'`(),;\n]){{0,120}}+)"
    r"(?:\s{0,80}(?P<end>[,)]|\Z)|(?=[ \t]{0,9}[\r\n;]))"
)
_LITERAL = re.compile(
    r"(?:(?:[\w.:]{1,30}\(|\[\]byte\(|\w{1,20}:\s))?[bBuU@]?\\?(?P<quote>[\"'`])(?P<value>[^\"'`\\\s]{4,120})\\?(?P=quote)"
)
_NO_PASSWORD = re.compile(
    r".*(?:[${}<>/]|%[sdv]|pass|secret|token|\.\.\.).*|[a-z]+[_.]\w*|[A-Z_]+|[\d.]+", re.IGNORECASE | re.DOTALL
)


def login_arguments_in(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Spans of passwords that calls are given, in no order; `lowered` has each letter in its place."""
    for lead in _LEADS:
        at = lowered.find(lead)
        while at >= 0:
            span = _argument_of(text, lowered, at, at + len(lead.rstrip("(")))
            if span is not None:
                yield span
            at = lowered.find(lead, at + len(lead))


def _argument_of(text: str, lowered: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of what lets somebody in among the arguments of the call whose name has letters `start` to `end`."""
    rest = _REST.match(lowered, end)
    end = rest.end() if rest is not None else end
    opening = _OPENING.match(text, end) or _TUPLE.match(text, end)
    if opening is None:
        return None
    before = lowered[max(0, start - 60) : start]
    begun = _NAME.search(before)
    name = (begun[0] if begun is not None else "") + lowered[start:end]
    place = _place(name.replace("_", ""), before[: begun.start()] if begun else "", "=" in opening[0])
    if place is None and name.endswith("connect"):
        literal = _behind_user(text, opening.end())
    else:
        literal = _literal(text, opening.end(), place) if place is not None else None
    if literal is None or not _is_told(literal["value"]):
        return None
    return literal.span("value")


def _place(name: str, before: str, named: bool) -> int | None:
    """Which argument it is; None where a function of this name takes none."""
    if named:
        return 1 if name.endswith("auth") else None
    receiver = _RECEIVER.search(before)
    if receiver is not None and (place := _PASSWORD_OF.get(receiver[0] + name)) is not None:
        return place
    if name.endswith(_ENDS):
        return _PASSWORD_OF[next(end for end in _ENDS if name.endswith(end))]
    return None if name in _COMMON and not before.endswith((".", "->", "::")) else _PASSWORD_OF.get(name)


def _behind_user(text: str, at: int) -> re.Match[str] | None:
    """The argument behind the name of a user that every system has (`connect("db", "root", "…")`)."""
    for _ in range(_MOST_BEFORE):
        argument = _ARGUMENT.match(text, at)
        if argument is None or argument["end"] != ",":
            return None
        at = argument.end()
        if argument["told"].strip("\\\"'").lower() in _USERS:
            return _literal(text, at, 0)
    return None


def _literal(text: str, at: int, place: int) -> re.Match[str] | None:
    """The argument at `place`, where it is a text that is written down."""
    for number in range(place + 1):
        argument = _ARGUMENT.match(text, at)
        if argument is None or (number < place and argument["end"] != ","):
            return None
        if number == place:
            return _LITERAL.match(text, argument.start("told"), argument.end("told"))
        at = argument.end()
    return None


def _is_told(value: str) -> bool:
    """Whether a value is a password that is written down, and no word that stands for one."""
    return is_plain(value.lower()) if value.isalpha() else len(value) >= 6 and _NO_PASSWORD.fullmatch(value) is None
