"""Passwords as people choose them (password detection): no letters at random, so they are known by where they stand and
how they are made.

`Winter2024!` is a word, a number and a mark, which hardly a name in code is: near a word that tells of a login it is a
password, however it gets there (`find("#password").type("…")`, `the staging password is …`, `name: …` above `value:`).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from aurora_protocol.plain_passwords import is_plain

_HINTS = (
    "pass",
    "pwd",
    "secret",
    "credential",
    "login",
    "sudo",
    "jwt.",
    "contrase",
    "mot de passe",
    "senha",
    "wachtwoord",
)
_LINES = re.compile(r"[^\n]{0,240}+(?:\n[^\n]{0,160}+)?")
"""What belongs to a hint: the rest of its line, and the next."""
_PAIR = re.compile(
    r"(?i:login|credential)s?\s?[:=]\s{1,2}[\w.@-]{2,60}\s?/\s?(?P<value>[^\s/]{5,60})(?=[.,]?(?:\s|\Z))"
)
"""A user's name and a password behind it (`login: ann / sunshine`)."""
_WORD = re.compile(r"(?<![^\s\"'`=:>(/])[0-9A-Za-z][^\s\"'`<>{}()\[\];,\\|=/.]{7,63}")
_QUOTES = "\"'`"
_MARKS = re.compile(r"[!#%@$&*^?+~]")
_SURE_MARKS = re.compile(r"[!%@]|#(?![A-Za-z])|(?<=[0-9]{4})\*\Z")
"""Marks that stand in words beside numbers less often than signs of code do."""
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}|[!$&*^?+~]{2}|\$\d+\Z|::")
_FEWEST_DIGITS = 2
"""Of what is not quoted: `OAuth2!` ends a sentence."""
_WORDS = re.compile(r"[A-Za-z][a-z]{2,11}(?:([-._ ])[A-Za-z][a-z]{2,11})(?:\1[A-Za-z][a-z]{2,11}){2,7}")
_OF_FORMS = frozenset(
    "account auth button change confirm confirmation credentials current database enter error field "
    "forgot forgotten form from generate hash help hint icon input invalid label link login mail manager "
    "message must new not old page param pass passphrase password passwords please policy prompt recovery "
    "required reset route secret set show sign strength text the this toggle token update user username "
    "valid value with your".split()
)
"""Words of names and messages about passwords, which those of a passphrase are not."""
_AUTH = re.compile(r"_?auth\\?[\"']?\s{0,5}[:=]\s{0,5}\\?[\"']?(?P<value>[A-Za-z0-9+/]{8,400}={0,2})(?![\w.(])")
_LOGIN = re.compile(rb"[\x21-\x39\x3b-\x7e]{1,80}:[\x20-\x7e]{3,200}")


def chosen_passwords_in(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Spans of passwords near a word that tells of one, in text order; `lowered` has each letter in its place."""
    done = 0
    for at in _hints(lowered):
        lines = _LINES.match(text, at)
        if lines is None or lines.end() <= done:
            continue
        pair = _PAIR.match(text, at)
        if pair is not None and is_plain(pair["value"]):
            yield pair.span("value")
            done = pair.end()
        for word in _WORD.finditer(text, max(at, done), lines.end()):
            if _is_chosen(text, word):
                yield word.start(), _end(text, word)
        done = lines.end()


def _hints(lowered: str) -> list[int]:
    """Places of words that tell of a password."""
    found: list[int] = []
    for hint in _HINTS:
        at = lowered.find(hint)
        while at >= 0:
            found.append(at)
            at = lowered.find(hint, at + len(hint))
    return sorted(found)


def _is_chosen(text: str, word: re.Match[str]) -> bool:
    """Whether it has capitals, small letters, a number and a mark, and is no piece of code."""
    value = word[0].rstrip("?:") if not _quoted(text, word) else word[0]
    if value in (value.lower(), value.upper()) or _ENCODED.search(value) is not None:
        return False
    digits = sum(map(str.isdigit, value))
    if _quoted(text, word):
        return digits > 0 and _MARKS.search(value) is not None
    return digits >= _FEWEST_DIGITS and _SURE_MARKS.search(value) is not None


def _quoted(text: str, word: re.Match[str]) -> bool:
    before, after = text[word.start() - 1 : word.start()], text[word.end() : word.end() + 1]
    return before != "" and before in _QUOTES and (after == before or after == "\\")


def _end(text: str, word: re.Match[str]) -> int:
    return word.end() if _quoted(text, word) else word.start() + len(word[0].rstrip("?:"))


def is_passphrase(value: str) -> bool:
    """Whether it is four words and more that have nothing to do with each other, or with forms: `correct-horse-…`."""
    found = _WORDS.fullmatch(value)
    if found is None or found[1] == " ":
        return False
    words = value.lower().split(found[1])
    return not _OF_FORMS.intersection(words)


def coded_logins_in(text: str) -> Iterator[tuple[int, int]]:
    """Spans of names with passwords in base64, called `auth` (.npmrc, Docker's settings)."""
    at = text.find("auth")
    while at >= 0:
        match = _AUTH.match(text, at)
        if match is not None and _is_login(match["value"]):
            yield match.span("value")
        at = text.find("auth", at + 4)


def _is_login(value: str) -> bool:
    """Whether base64 holds a user name and a password (Basic authentication)."""
    try:
        told = base64.b64decode(value, validate=True)
    except ValueError:
        return False
    return _LOGIN.fullmatch(told) is not None
