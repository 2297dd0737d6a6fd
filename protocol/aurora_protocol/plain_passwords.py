"""Passwords of small letters (dictionary words): words as any others, known by the place where they stand alone.

`password = "sunshine"` is one, `password = "required"` and `password: string` say something about one. So the name
has to end with the word for a password, and the value has to be no word of forms, types or samples. Without quotes it
may be the name of something, and counts only in a setting: a variable of the environment, an option, behind a user's
name, or on a line among lines of settings, and only where the text says the word nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_SHORTEST, _LONGEST = 5, 40
_ABOUT_PASSWORDS = frozenset(
    "abcde abcdef access account admin allow always anonymous asdfgh async attribute await basic bearer blob bool "
    "boolean bytea bytes captcha change changed changeit changeme character check clear clob column confirm "
    "confirmation const create created current dataclass datetime default delete denied digest disable disabled "
    "dummy email empty enable enabled encrypted entry error example expired external failed false field fields "
    "filled float foobar forgot forgotten format function guest hashed header hidden hints image incorrect "
    "inherit input integer internal invalid keyring label ldap letters light local login manual mariadb masked "
    "match matches member message method minimum mismatch missing mixed module mongodb mysql names never new "
    "newpass nobody none normal nullable number nvarchar object oldpass omitted optional other param params parse "
    "pass passkey passphrase passwd password passwords phone placeholder plain plaintext please postgres private "
    "process prompt property protected provided public query quoted rabbitmq random range readonly redis "
    "reference remove renew request require required reset restricted return root route sample scram secret "
    "secrets secure select self setting settings shared short should simple some something static stdin store "
    "strength string strong struct submit super system tester testing text textbox textfield title token tokens "
    "translate true tuple type undefined unknown unset unsigned update updated user username users using valid "
    "validate value values varchar vault verify visible void weak where which wrong xpath".split()
)
"""Words that name, type or judge a password, or stand in for one in samples."""
_STANDING_IN = re.compile(
    r"(?:my|your|the|test|example|sample|dummy|fake|mock|some|any|new|old|bad|wrong|good|valid|invalid|user|admin)?"
    r"(?:pass|passwd|password|passphrase|pwd|secret|token|key|value|string|text|test|example|here)"
    r"|(?:your|test|example|sample|dummy|fake|mock|change|insert|enter|replace).*"
)
_REPEATED = re.compile(r"(.{1,3})\1+.?")
_SETTING = re.compile(
    r"(?:[ \t#;-]{0,20}(?:export |set )?[\"']?[\w.$-]{1,80}[\"']?[ \t]{0,20}[:=][ \t]{0,20})?"
    r"[^\n(){};,]{0,200}|[^\n]{0,80}[\]{}:]"
)
_SETTING_NAMED = re.compile(r"[ \t]{0,20}(?:[-*] )?[\"']?[\w.$-]{0,80}\Z")
_IN_ENVIRONMENT = re.compile(r"(?<![\w.])[A-Z][A-Z0-9_]{0,60}\Z")
_IN_OPTION = re.compile(r"(?:\A|[\s\"'`(])(?:--?|/)(?:[\w-]{1,40}=)?[\w-]{0,40}\Z")
_WITH_USER = re.compile(
    r"(?:user|uid|login|benutzer|usuario|utilisateur|identifiant|utente|gebruiker|usu[aá]rio"
    r"|логин|用户名|账号)(?:[ _-]?(?:name|id))?[\"']?\s?[:=：]?"
    r"\s?[\"']?[^\s,;=:\"'{}()]{1,60}[\"']?(?:[;&,]|\s?[,/|]?\s)\s{0,2}(?:(?:and|und|y|et|e|en) )?"
    r"(?:[\w ]{1,30}=[^\s,;&]{1,80}[\s;&]){0,3}(?:[\w.-]{0,30}|mot de )\Z",
    re.IGNORECASE,
)
_IN_IMAGE = re.compile(r"(?:\A|[\s`'\"n])ENV \w{0,30}\Z")
_AS_USER = re.compile(
    r"\b(?:user|login|as)\s{1,2}[`'\"]?[\w.@-]{2,40}[`'\"]?\s(?:with|and|und|mit|/)\s(?:the\s)?\Z",
    re.IGNORECASE,
)
_GIVEN_BY = re.compile(
    r"(?:define|env|environ|getenv|ENV\.fetch|environ\.get|get_env|fetch_env|getOrDefault|fill|fill_in)"
    r"[ (]\s{0,3}[\"'][#\w.-]{0,60}\Z"
)
_SET_BEFORE = re.compile(r"(?i:pass\w*|pwd|psk)[\"']?\s{0,3}[:=]\s{0,3}[\"']?\Z")
_END_OF_SENTENCE = re.compile(r"[,.;:!)]?(?:\s|\Z)")
_SAID = re.compile(
    r".*(?:ed|ing|able|ible|al|ly|ive|[aei]nt|[eoi]ct|ic|ous|en|id|ong|ort|ull|ete|ary|igh|ith|rom|here|hat|[ae]pt|own|ade|ays|ill|oth"
    r"|ank|ost|ble|hort|eak|ess|ime|ame|sic|one|que|ser)"
)
"""Ends of what is said of a password in a sentence: participles, adjectives, adverbs."""
_NAME = re.compile(r"[A-Za-z_]\w{3,60}(?=[)\].}]{0,3}\Z)")
_DECLARING = re.compile(r"\b(?:var|let|const|val|auto|static|string)[ \t]{1,8}[\w*&<>: \t]{0,60}\Z")
"""What stands before a name where it is declared, on the same line."""
_BEFORE = 160
_AROUND, _MOST_PLACES = 8_000, 16
"""Letters before and behind a word in which it is looked for once more, and how often: each word costs the same."""


def is_plain(value: str) -> bool:
    """Whether it is a word of small letters that says nothing about passwords."""
    if not _SHORTEST <= len(value) <= _LONGEST or not value.isalpha() or not value.islower():
        return False
    stands_in = value in _ABOUT_PASSWORDS or _STANDING_IN.fullmatch(value) or _REPEATED.fullmatch(value)
    return not stands_in


def is_plain_password(text: str, match: re.Match[str]) -> bool:
    """Whether what `_NAMED` (`secrets`) has found stands where a password itself does, and may be a word."""
    name, quoted = match["name"], match["quote"] is not None
    value = match["quoted"] if quoted else match["bare"].rstrip("\\.:!)}")
    numbered = match["verb"] is not None and match["verb"].isdigit()  # a router's: `enable secret 0 …`
    others = name.lower() in ("secret", "token", "credential") or name.lower().endswith("key")
    if (others and not numbered) or not is_plain(value):
        return False
    after = text[match.end("name") : match.end("name") + 1]
    if after in ("_", "-") or after.isalnum():
        return False
    before = text[max(0, match.start() - _BEFORE) : match.start()]
    if match["default"] is not None:
        return (
            match["default"].strip("\"'` ")[:1] != ","
            or "=" in match["default"]
            or _GIVEN_BY.search(before) is not None
        )
    if numbered:
        return text[match.end() : match.end() + 1] in ("", "\r", "\n", "\\")
    if match["verb"] is not None:
        return quoted or (_END_OF_SENTENCE.match(text, match.end()) is not None and _SAID.fullmatch(value) is None)
    if match["gap"] is not None and quoted:
        return before[-1:].isalpha() or before[-1:] == "_"
    if match["gap"] is not None:
        return _is_apart(text, match, before, value)
    if quoted or match["tag"] is not None or match["pair"] is not None:
        return True
    return _is_set(text, match, before, value) and not _is_said_elsewhere(text, value, match.start("bare"))


def _is_set(text: str, match: re.Match[str], before: str, value: str) -> bool:
    """Whether a value without quotes is one of a setting, not a name of code."""
    end = match.start("bare") + len(value)
    if text[end : end + 1] not in ("", *" \t\n\r\"'`;&\\|,}"):
        return False
    sign = text[match.end("name") : match.start("bare")].strip()
    close = sign in ("=", ":-", "?=")
    in_capitals = match["name"].isupper() and _IN_ENVIRONMENT.search(before + match["name"]) is not None
    if close and (in_capitals or _IN_OPTION.search(before) is not None):
        return True
    if (text[end : end + 1] != "," or not close) and _WITH_USER.search(before) is not None:
        return True
    return _is_line(text, match.start(), end)


def _is_apart(text: str, match: re.Match[str], before: str, value: str) -> bool:
    """Whether a word behind the name, nothing between them, is what it is: of an option, a setting, a user."""
    if _IN_OPTION.search(before) is not None or before.endswith("--") or _IN_IMAGE.search(before) is not None:
        return True
    if _AS_USER.search(before) is not None:
        return _SAID.fullmatch(value) is None
    return before[-1:] == "_" and _is_line(text, match.start(), match.start("bare") + len(value))


def _is_line(text: str, start: int, end: int) -> bool:
    """Whether name and value are a line of their own, and the lines around it are settings, too."""
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    if text[end:stop].strip() or _SETTING_NAMED.fullmatch(text[begin:start]) is None:
        return False
    above = text[text.rfind("\n", 0, max(0, begin - 1)) + 1 : max(0, begin - 1)]
    following = text.find("\n", stop + 1)
    below = text[stop + 1 : following if following >= 0 else len(text)]
    return all(_SETTING.fullmatch(line.rstrip()) is not None for line in (above, below))


def _is_said_elsewhere(text: str, value: str, start: int) -> bool:
    """Whether the text around `start` has its word where no password is set, too, as it has names of code."""
    return any(_SET_BEFORE.search(text[max(0, at - 40) : at]) is None for at in _other_places(text, value, start))


def is_declared(text: str, match: re.Match[str]) -> bool:
    """Whether the text around a value without quotes declares a name of code that is called so."""
    name = _NAME.match(match["bare"])
    return name is not None and any(
        _DECLARING.search(text[max(0, at - _BEFORE) : at]) is not None
        for at in _other_places(text, name[0], match.start("bare"))
    )


def _other_places(text: str, word: str, start: int) -> Iterator[int]:
    """Where else than at `start` the text around it has a word, which neither letters nor `-` join to others."""
    first, last = max(0, start - _AROUND), start + _AROUND
    at = text.find(word, first, last)
    for _ in range(_MOST_PLACES):
        if at < 0:
            return
        end = at + len(word)
        if at != start and not _joins(text[at - 1 : at]) and not _joins(text[end : end + 1]):
            yield at
        at = text.find(word, end, last)


def _joins(letter: str) -> bool:
    return letter.isalnum() or letter in ("_", "-")
