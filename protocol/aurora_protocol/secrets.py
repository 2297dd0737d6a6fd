"""Secret detection (secret scanning) in a text: keys and tokens by their shapes (`secret_shapes`), passwords and keys
by the names they stand beside.

Manifests are warned of them, evidence and prompts go without them. Every search is linear in the text's length: runs
are bounded or possessive, and no two of them compete for the same characters.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from aurora_protocol.chosen_passwords import chosen_passwords_in, coded_logins_in, is_passphrase
from aurora_protocol.login_calls import login_arguments_in
from aurora_protocol.login_commands import login_options_in
from aurora_protocol.plain_passwords import is_declared, is_plain_password
from aurora_protocol.random_strings import is_key, random_strings_in
from aurora_protocol.secret_shapes import SERVICES, SHAPES, Shape


class Secret(NamedTuple):
    """Span of a text that looks like a secret. `kind` is for machines, `noun` has its article."""

    start: int
    end: int
    kind: str
    noun: str
    lead: str = ""


_SCHEME = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}+\Z")
_IN_URL = re.compile(r"://(?P<who>[^\s/?#\"{}<>\\]{1,200}#?)@")
_IN_QUERY = re.compile(
    r"[?&](?P<name>api[_-]?key|apikey|access[_-]?token|token|secret|client[_-]?secret|password|passwd|pwd|auth|sig"
    r"|(?:x-(?:amz|goog)-)?signature|appid)="
    r"(?P<value>[A-Za-z0-9._~+/%-]{6,500})",
    re.IGNORECASE,
)
_NAMES = ("pass", "pwd", "psk", "secret", "token", "credential", "contrase", "wachtwoord", "senha")
_NAMES_BEYOND_ASCII = ("hasło", "lösenord", "пароль", "密码", "密碼", "パスワード", "비밀번호")
_SHORT_NAMES = ("pass", "passe", "pwd", "psk", "senha")
"""Those that are parts of other words, and count only where a word begins and ends with them."""
_KEYS = re.compile(r"(?:api|access|account|auth|deploy|master|private|signing|encryption)[ _-]?\Z")
_LONGEST = len("encryption_")
_PUBLIC = "publickey"
"""Before `token`, it is the name of an assembly's signer (.NET)."""
_LEADS = tuple({shape.lead for shape in SHAPES if not shape.loose})
_LOOSE = tuple({shape.lead for shape in SHAPES if shape.loose})
_HEADER = re.compile(
    r"(?i:authorization)(?:\\?[\"']?\s{0,5}[:=]\s{0,5}\\?[\"']?|(?P<call>\\?[\"']\]?\s{0,5}[=,]\s{0,5}\\?[\"']))"
    r"(?:(?i:bearer|basic|token|digest|apikey)\s{1,5}+|(?P<scheme>[A-Za-z][\w-]{2,20}+\s{1,5}+))?+(?P<value>[\w.~+/=-]{6,2000})"
)
_PLAIN = re.compile(r"[a-z][a-z_-]{0,18}|[A-Za-z]{1,31}(?:\.[A-Za-z]{1,40}){0,3}")
"""Words, names and dotted names without a digit: of a token, or what else is made up, they are none."""
_NAMED = re.compile(
    r"""(?x)
    (?P<name> (?i: passw(?:or)?[dt] | passord | passphrase | (?:passe?|pwd|psk)(?![\w-]) | secret | token | credential
                 | contrase[ñn]a | wachtwoord | senha | hasło | lösenord | пароль
                 | 密码 | 密碼 | パスワード | 비밀번호
                 | (?:api|access|account|auth|deploy|master|private|signing|encryption)[ _-]?key ) )
    [\w-]{0,30}+
    (?: \\?["'`]? (?: \s{0,5}:\s?[\w.\[\]]{1,30}+(?: \s{1,3}(?==) | (?==["'`]) ) | \s[Aa]s\s\w{1,20} )? \s{0,5}
        (?P<sign> (?: [:：]{1,2}[=-]? | ={1,3} | \?= ) >? ) \s{0,5}
      | \\?["']? (?: , | \s | \\n ){1,40}+ \\?["']? (?P<pair> [Vv]alue ) \\?["']? \s{0,3}[:=]\s{0,3}
      | (?P<default> ["'`]?[\])]{0,2}\s{0,3} (?: \|\|=? | \?\?=? | \?: | or ) \s{1,3}
            | [\])"'`]{1,4} \. (?i: unwrap_or | or_?else | get_?or_?else | or_?default
                | send_?keys | type | fill ) \( \s{0,3}
            | ["'`]\s{0,2},\s{0,3} (?: default\s?=\s? | with:\s )? ) (?=["'`])
      | (?P<call> \( ) \s{0,3} (?=\\?["'`])
      | \\?["']? (?P<tag> > )
      | \s{1,5} (?P<verb> (?i: is | was | ist | lautet | est | es | è | [05789] ) ) \s{1,5}
      | (?P<gap> \s{1,3} ) )
    (?: [bBfFrRuU@]{0,2} (?: (?:\\?"){2} | '' )? \\?(?P<quote> ["'`] ) (?P<quoted> (?: (?!(?P=quote)) [^\n\\] ){4,200} )
      | (?P<bare> (?: (?!</|\\[nrt]) [^\s"'`&;|,] ){4,200} ) )"""
)
_MOST = 200
"""Letters of a value that are read with its name."""
_REST = {"bare": re.compile(r"[\w.~+/=%-]{0,4000}+"), "quoted": re.compile(r"[^\s\"'`\\]{0,4000}+")}
"""What belongs to a value that is longer than `_NAMED` reads."""
_SETTER = re.compile(r"(?:set|with|[.])_?\Z", re.IGNORECASE)
"""Before a name that is called with a value (`setPassword("…")`)."""
_TAG = re.compile(r"<[\w:.-]{0,30}(?:\s(?:name|key)=\\?[\"'][\w:.-]{0,60})?\Z")
_BESIDE_SERVICE = re.compile(
    rf"(?<![a-z])(?:{'|'.join(sorted(SERVICES, key=len, reverse=True))})[\w.-]{{0,30}}+"
    r"(?:\(\s{0,5}(?:[\"'][^\"'\n]{0,40}[\"'],\s{0,5})?|[\s\"')\]]{0,3}(?:[?=:]{1,4}>?|\|\||\?\?|>|,))[\s\"'`]{0,3}\Z"
)
_BEFORE = 64
"""Letters before a value that the name of its service is looked for in."""
_KIND = re.compile(r"(?m)^kind:\s{1,3}[\"']?Secret[\"']?\s*$")
_DATA = re.compile(r"(?m)^(?:data|stringData):[ \t]{0,9}\r?\n")
_DATUM = re.compile(r"(?m)^[ \t]{1,20}[\w./-]{1,200}+:[ \t]{1,9}[\"']?(?P<value>[^\s\"'|>#][^\s\"']{3,8000})")
_OUTDENTED = re.compile(r"(?m)^(?=[^\s#])")
_RUN = 14
"""Letters that a key of a form, or of a service, has at least without anything between them."""
_IN_RUNS = bytes(sign if re.match(rb"[0-9A-Za-z_+/=~-]", bytes([sign])) else ord(" ") for sign in range(256))
_MIXED = re.compile(rb"[A-Za-z][0-9]+[A-Za-z]|[0-9][A-Za-z]+[0-9]|[a-z][A-Z]{1,2}[a-z][A-Z]|[0-9a-z]{20}|[0-9A-Z]{16}")
"""Sign of letters at random, which hardly a name has and one key in a thousand lacks."""
_AROUND = 32
"""Letters before a run that a lead is looked for in: of some keys the first part is none by itself."""
_OPTION = re.compile(r"(?:(?:\A|[\s\"'`(])--?[\w-]{0,30}|(?:\A|[\s`'\"n])ENV \w{0,30})\Z")

_PLACEHOLDER = re.compile(
    r"<.*>|\{.*\}|#\{.*|\$.*|%.*%"
    r"|\[.*\]|[*•.x…_-]+|(?:your|my|the|an?|some|other|example|sample|dummy|fake|test)[ _-].*"
    r"|none|null|todo|string|password|secret|token|api.?key",
    re.DOTALL,
)
_STANDING_IN = re.compile(r"example|placeholder|here|redacted|change[ _-]?me")

_TECHNICAL = re.compile(
    r"(?:sha|md|utf|base|oauth|http|u?int|float|hs|rs|es|aes|ed|x|py|python|v)[-_]?\d{1,5}(?:[._-]\w{1,12}){0,4}"
    r"|argon2(?:id|i|d)?|\[?[\^A-Za-z_]{0,8}(?:A-Z|a-z|0-9)[^\s]{0,60}"
    r"|(?:(?:npm|workspace|file|link|portal|patch):)?[~^=<>*]{0,2}v?\d+(?:\.\d+)+[\w.+-]{0,24}",
    re.IGNORECASE,
)
_CODE_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\??\.|->|::)\w+)+|[A-Za-z]*_\w*|!{0,2}(?:this|self)(?:\??\.\$?\w+)+")
_ASSIGNED = re.compile(r"[Aa]uthorization\s*=\s*")
"""No variable of the environment, which has text behind it."""
_IN_WORDS = re.compile(r"[A-Z]?[a-z]{2,20}(?:[A-Z][a-z]{2,20}){1,8}")
"""What is assigned without quotes and is a name (`Authorization = DefaultRules`)."""
_GOES_ON = re.compile(r"\s{0,3}[.+,;)<&]")
"""How code goes on behind a text, and hardly a password begins."""
_STRAIGHT = {quote: re.compile(rf"(?<!\\)(?<![A-Za-z](?={quote}[A-Za-z])){quote}") for quote in "\"'`"}
"""Quotes that begin or end a text: none behind a backslash, and no apostrophe."""
_LINE = 400
"""Letters of a line that are looked at for quotes before a value."""
_LONG_WORD = re.compile(r"[A-Z][a-z]{4,}")
"""A word of a name: one string of 30 letters at random in twenty has two."""
_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")
_MARK, _BRACKET = re.compile(r"[!@#$%^&*+=?~]"), re.compile(r"[()\[\]{}<>]")
_NO_NAME = 32
"""Letters from which on a name with letters at random in it is none."""
_SHORTEST = 3
"""Letters of a password in an address; of what is shorter nobody is kept out."""
_LEAST_RANDOM = 2.4
"""Bits a letter: `hunter2` has 2.8, `aaaaaa1` 0.6."""
_LEAST_OF_SERVICES = 3.2
"""Bits a letter: random hexadecimal of 16 letters has 3.2 and more, `version-1.2.3-beta` less."""


def is_placeholder(value: str) -> bool:
    """Whether `value` stands where a secret would, and is none: `<token>`, `${TOKEN}`, `YOUR_KEY_HERE`."""
    value = value.strip()[:200].lower()
    return _PLACEHOLDER.fullmatch(value) is not None or _STANDING_IN.search(value) is not None


def is_mixed(word: str) -> bool:
    """Whether a word has the length of a key and letters at random."""
    return len(word) >= _RUN and _MIXED.search(word.encode("ascii", "replace")) is not None


def tokens_in(text: str) -> Iterator[Secret]:
    """Keys and tokens by the forms of their providers, and private keys. None overlaps another; not in text order."""
    return _tokens(text, _random_runs(text))


def _tokens(text: str, runs: Sequence[tuple[int, int]]) -> Iterator[Secret]:
    """Keys and tokens by the shapes of providers, which are looked for by their prefixes."""
    taken: list[tuple[int, int]] = []
    # Leads are looked for in this, which is short, and not in `text`: there are two hundred of them.
    random = "\n".join([text[max(0, start - _AROUND) : end] for start, end in runs])
    leads = {lead for lead in _LOOSE if lead in text}
    if random:
        leads.update([lead for lead in _LEADS if lead in random])
    for shape in SHAPES if leads else ():
        if shape.lead not in leads:
            continue
        found = [_value(match) for match in _matches(shape, text)]
        if shape.kind == "password":
            found = [each for each in found if not is_placeholder(text[each[0] : each[1]])]
        fresh = _apart(found, taken) if taken else found
        taken = sorted([*taken, *fresh]) if fresh else taken
        for start, end in fresh:
            yield Secret(start, end, shape.kind, shape.noun, shape.lead)


def may_have_tokens(text: str, lines: str) -> bool:
    """Whether there is something in `text` that `tokens_in` finds. `lines` has each of its lines at least once."""
    return any(shape.lead in lines and any(_matches(shape, text)) for shape in SHAPES)


def _random_runs(text: str) -> list[tuple[int, int]]:
    """Where in `text` something is long enough, and mixed enough, to be a key of some form, in text order."""
    found: list[tuple[int, int]] = []
    at = 0
    signs = text.encode("latin-1", "replace")  # one byte a letter: places stay
    long = [run for run in signs.translate(_IN_RUNS).split() if len(run) >= _RUN]  # faster than a pattern
    mixed = {run for run in set(long) if _MIXED.search(run)}
    for run in long if mixed else ():
        if run in mixed:
            at = signs.find(run, at)
            found.append((at, at + len(run)))
            at += len(run)
    return found


def _matches(shape: Shape, text: str) -> Iterator[re.Match[str]]:
    """Where `shape` is, in text order and apart from each other. Looks only around its lead where that can be said."""
    pattern = _compiled(shape.pattern)
    if shape.before is None:
        yield from pattern.finditer(text)
        return
    at = text.find(shape.lead)
    while at >= 0:
        match = pattern.match(text, at - shape.before) if at >= shape.before else None
        if match is not None:
            yield match
        at = text.find(shape.lead, at + 1 if match is None else max(match.end(), at + 1))


def _value(match: re.Match[str]) -> tuple[int, int]:
    return match.span("value") if "value" in match.re.groupindex else match.span()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def logins_in(text: str) -> Iterator[Secret]:
    """User names with passwords in addresses (`postgres://ann:pw@host`): from the name to before the @."""
    if "@" not in text:
        return
    done, at = 0, text.find("://")
    while at >= 0:
        match = _IN_URL.match(text, at)
        if match is not None and at >= done and _lets_in(match["who"]) and _SCHEME.search(text, max(done, at - 22), at):
            yield Secret(match.start("who"), match.end("who"), "login", "a password in an address")
            done = match.end()
        at = text.find("://", at + 3)


def _lets_in(who: str) -> bool:
    """Whether it is a name with a password, or a key in the place of a name."""
    return ":" in who or is_key(who)


def query_keys_in(text: str) -> Iterator[Secret]:
    """Values of keys in the query of an address (`?api_key=…`), placeholders left out."""
    if "=" in text and ("?" in text or "&" in text):
        for match in _IN_QUERY.finditer(text):
            if not is_placeholder(match["value"]) and not _is_word(match["name"].lower(), match["value"]):
                yield Secret(match.start("value"), match.end("value"), "password", "a key in an address")


def _is_word(name: str, value: str) -> bool:
    """Whether what an address calls a token is the name of something: nobody chooses one, as a password."""
    return name in ("token", "auth", "sig") and _PLAIN.fullmatch(value) is not None and not is_mixed(value)


def named_in(text: str, *, every: bool = False, lowered: str | None = None) -> Iterator[Secret]:
    """Values that are named like a secret: `API_KEY=…`, `--password …`, `"token": "…"`, `Authorization: Basic …`.

    Only those that look random, so that code which handles passwords stays as it is; with `every`, all but
    placeholders. A password that is only spoken of is none. `lowered` has each letter in its place.
    """
    lowered = _lowered(text) if lowered is None else lowered
    at = lowered.find("authorization")
    while at >= 0:
        match = _HEADER.match(text, at)
        if match is not None and _is_credential(match):
            yield Secret(match.start("value"), match.end("value"), "password", "a password")
        at = lowered.find("authorization", at + 1 if match is None else match.end())
    done = 0
    for start in _names(lowered):
        match = _NAMED.match(text, start) if start >= done else None
        if match is None or not _is_name(text, match):
            continue
        part = "quoted" if match["quote"] is not None else "bare"
        done = match.start(part)  # what is no secret itself may be the name of one
        if _goes_on(text, match) or _is_path(match):
            continue
        spoken = match["gap"] is not None or match["verb"] is not None
        if match["gap"] is not None:
            before = max(0, match.start() - 40)
            option = part == "quoted" or _OPTION.search(text, before, match.start()) is not None
            if not option and not is_plain_password(text, match):
                continue
            spoken = part == "quoted"
        value = match[part]
        sure = every and not spoken and match["default"] is None  # a default need not be for the name before it
        taken = sure or _random(value.strip(), match["name"].lower(), quoted=part == "quoted")
        taken = taken or (not spoken and _may_be_passphrase(match) and is_passphrase(value))
        taken = taken or is_plain_password(text, match)
        if taken and not is_placeholder(value) and not (part == "bare" and is_declared(text, match)):
            done = match.end()
            if len(value) == _MOST and (rest := _REST[part].match(text, done)):
                done = rest.end()
            end = done if part == "quoted" else done - _closing(text[match.start(part) : done])
            yield Secret(match.start(part), end, "password", "a password")
            if part == "bare" and _is_code(value):
                done = match.start(part)  # `process.env.SECRET || "…"`: the name of a default, too


def _may_be_passphrase(match: re.Match[str]) -> bool:
    """Whether what the name stands for is a password itself, not something about one (`PASSWORD_ROUTE`)."""
    direct = match.string[match.end("name") : match.end("name") + 1]
    kinds = ("secret", "pass") if match["default"] is not None else ("pass",)
    return match["name"].lower().startswith(kinds) and direct not in ("_", "-") and not direct.isalnum()


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether the quote before a value ends a text that the name is in: `"token: " + token`."""
    quote = match["quote"]
    if quote is None or text[match.start("quote") - 1] == "\\" or not _GOES_ON.match(match["quoted"]):
        return False
    begin = max(text.rfind("\n", 0, match.start()) + 1, match.start() - _LINE)
    return len(_STRAIGHT[quote].findall(text[begin : match.start("quote")])) % 2 == 1


def _is_path(match: re.Match[str]) -> bool:
    """Whether a name and its value are one name of code: `RenderPass::Second1`."""
    bare = match["bare"]
    return bare is not None and bare[0].isidentifier() and match.string[match.end("name") : match.start("bare")] == "::"


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Whether a word of a name is one there: not the end of another; behind `>` only that of an element."""
    start = match.start()
    if match["call"] is not None and _SETTER.search(text, max(0, start - 4), start) is None:
        return False
    if match["tag"] is not None:
        return text.startswith("</", match.end()) and _TAG.search(text, max(0, start - 90), start) is not None
    if match["name"].lower() not in _SHORT_NAMES:
        return True
    if match["bare"] is not None and "/" in match["bare"]:
        return False
    return start == 0 or not text[start - 1].isalpha() or (text[start - 1].islower() and text[start].isupper())


def _is_credential(match: re.Match[str]) -> bool:
    """Whether a header's value lets somebody in: no name, no word, no path; where it may be another's, random."""
    value = match["value"]
    if is_placeholder(value) or _is_code(value):
        return False
    if match["scheme"] is not None or match["call"] is not None:
        return is_mixed(value)
    assigned = _ASSIGNED.fullmatch(match.string, match.start(), match.start("value"))
    if assigned is not None and _IN_WORDS.fullmatch(value) is not None:
        return False
    return len(value) >= _RUN + 6 or re.fullmatch(r"[a-z_-]+", value) is None


def _names(lowered: str) -> list[int]:
    """Where names of secrets begin, in order. Looked for one by one, each in a tenth of what a pattern of all takes."""
    found: list[int] = []
    for name in _NAMES if lowered.isascii() else (*_NAMES, *_NAMES_BEYOND_ASCII):
        at = lowered.find(name)
        while at >= 0:
            if not lowered.endswith(_PUBLIC, 0, at):
                found.append(at)
            at = lowered.find(name, at + len(name))
    at = lowered.find("key")
    while at >= 0:
        if kind := _KEYS.search(lowered, max(0, at - _LONGEST), at):
            found.append(kind.start())
        at = lowered.find("key", at + 3)
    return sorted(found)


def service_keys_in(text: str) -> Iterator[Secret]:
    """Values that look random and stand beside the name of a service whose keys have no form of their own
    (`DATADOG_APP = "3f…"`).
    """
    return _service_keys(text, _random_runs(text))


def _service_keys(text: str, runs: Sequence[tuple[int, int]]) -> Iterator[Secret]:
    """Random values beside the name of a service."""
    for begin, end in runs:
        run = text[begin:end]
        value = run[run.rstrip("=").rfind("=") + 1 :]  # `NAME=value` is one run
        if len(value) >= _RUN and text[end : end + 1] not in ("(", "[", "."):
            start = end - len(value)
            before = text[max(0, start - _BEFORE) : start].lower()
            if _BESIDE_SERVICE.search(before) and _is_key(value):
                yield Secret(start, end, "service_key", "a key")


def _random_strings(text: str, runs: Sequence[tuple[int, int]]) -> Iterator[Secret]:
    for start, end in random_strings_in(text, runs):
        if not is_placeholder(text[start:end]) and not _is_called(text, start, end):
            yield Secret(start, end, "random_string", "letters at random")


def _is_called(text: str, start: int, end: int) -> bool:
    """Whether it is the name of a function, as a bracket behind it tells, and two words in it that are long."""
    return text[end : end + 1] == "(" and len(_LONG_WORD.findall(text, start, end)) > 1


def _chosen(text: str, lowered: str) -> Iterator[Secret]:
    """Passwords that people chose, placeholders left out."""
    for start, end in (
        *chosen_passwords_in(text, lowered),
        *login_arguments_in(text, lowered),
        *login_options_in(text),
    ):
        if not is_placeholder(text[start:end]):
            yield Secret(start, end, "password", "a password")


def _coded(text: str) -> Iterator[Secret]:
    for start, end in coded_logins_in(text):
        yield Secret(start, end, "login", "a login in base64")


def kubernetes_in(text: str) -> Iterator[Secret]:
    """Values of a Kubernetes manifest of kind Secret, whatever they are called."""
    if "Secret" not in text or _KIND.search(text) is None:
        return
    for data in _DATA.finditer(text):
        for line in _DATUM.finditer(text, data.end(), _end_of_block(text, data.end())):
            if not is_placeholder(line["value"]):
                yield Secret(line.start("value"), line.end("value"), "kubernetes_secret", "a Kubernetes secret")


def _end_of_block(text: str, start: int) -> int:
    """Where lines that are indented end."""
    end = _OUTDENTED.search(text, start)
    return end.start() if end is not None else len(text)


def secrets_in(text: str, *, every: bool = False, unknown: bool = True) -> list[Secret]:
    """Everything of the above, in text order and apart from each other; `every` as for `named_in`. Without `unknown`
    what is only known by being random is left out.
    """
    logins = (each for each in logins_in(text) if every or not _is_example(text[each.start : each.end]))
    runs, lowered = _random_runs(text), _lowered(text)
    found = [*_tokens(text, runs), *logins, *query_keys_in(text), *named_in(text, every=every, lowered=lowered)]
    found += [*_chosen(text, lowered), *_coded(text)]
    found += [*_service_keys(text, runs), *kubernetes_in(text)]
    if unknown:
        found += _random_strings(text, runs)
    # The longest of those that begin together; then what begins within another is part of it.
    found.sort(key=lambda each: (each.start, -each.end))
    apart: list[Secret] = []
    for each in found:
        if not apart or each.start >= apart[-1].end:
            apart.append(each)
        elif each.end > apart[-1].end:
            apart[-1] = apart[-1]._replace(end=each.end)
    return apart


def _is_example(login: str) -> bool:
    """Whether user and password are those of documentation: `user:pass`, `guest:guest`, `a:b`."""
    user, _, password = login.partition(":")
    example = (user.lower(), "pass", "passwd", "pwd", "bar")
    if ":" not in login:
        return False
    return len(password) < _SHORTEST or is_placeholder(password) or password.lower() in example


def _is_code(value: str) -> bool:
    """Whether a value is the name of something, as `request.headers.get`."""
    return _CODE_NAME.fullmatch(value) is not None and (len(value) < _NO_NAME or not is_mixed(value))


def _is_key(value: str) -> bool:
    """Whether `value` beside a service's name is letters at random, and no name or placeholder."""
    mixed = len(value) >= 14 and _DIGIT.search(value) is not None and _LETTER.search(value) is not None
    return mixed and _bits(value) >= _LEAST_OF_SERVICES and not _is_code(value) and not is_placeholder(value)


def _lowered(text: str) -> str:
    """`text` in lower case, every letter where it was (İ in lower case is two)."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in text)


def _apart(found: list[tuple[int, int]], taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those of `found` that touch none of `taken`; both in text order."""
    fresh, at = [], 0
    for start, end in found:
        while at < len(taken) and taken[at][1] <= start:
            at += 1
        if at == len(taken) or taken[at][0] >= end:
            fresh.append((start, end))
    return fresh


def _closing(value: str) -> int:
    """How many letters at a bare value's end belong to what is around it: `)` and `.` of a sentence, `"` of JSON."""
    return len(value) - len(value.rstrip(").]}>\\?!"))


def _random(value: str, name: str, *, quoted: bool) -> bool:
    """Whether `value` looks made up rather than said or computed."""
    value = value if quoted else value[: len(value) - _closing(value)]
    if len(value) < 6 or _TECHNICAL.fullmatch(value[:100]) is not None:
        return False
    letters, digits = _LETTER.search(value) is not None, _DIGIT.search(value) is not None
    mixed = digits and value != value.upper() and value != value.lower()
    if not quoted and (_BRACKET.search(value) or _CODE_NAME.fullmatch(value)):
        return mixed and len(value) >= 24 and "(" not in value
    if value.startswith(("/", "./", "../", "~/", "http://", "https://")) and not mixed:
        return False
    if quoted and " " in value and not mixed:
        return False
    if not letters:
        return digits and name.startswith("pass") and value.isdigit()
    marked = _MARK.search(value) is not None
    return (digits or marked) and _bits(value) >= _LEAST_RANDOM


def _bits(value: str) -> float:
    """Shannon entropy of `value`, in bits a letter."""
    counts = Counter(value[:64])
    total = sum(counts.values())
    return -sum(each / total * math.log2(each / total) for each in counts.values())
