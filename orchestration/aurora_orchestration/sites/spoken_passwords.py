"""Passwords and PINs in a request, detected in plain language: `log in with password hunter2`, `pin 1234`.

A request is an instruction, not code: what stands beside such a word is the secret more often than not, however plain
it looks. Too much is hidden rather than too little; a value is given by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_orchestration.guardrails.redaction import redact

HIDDEN = "[REDACTED]"

_Span = tuple[int, int]

_PASSWORD = (
    r"pass[ -]?(?:word|phrase|code|wort|key)s?+|passwd?|passwrd|p/w"
    r"|p[a@4][s$5]{2}w[o0]r[dt]s?|pwd?|kenn?wort|losung|geheimnis"
    r"|mots?[ -]de[ -]passe|mdp|contrase[ñn]as?|claves?|senhas?|parola(?: d['’]ordine| chiave)?|wachtwoord(?:en)?"
    r"|l[öo]senord(?:et|en)?|adgangskoden?|kodeord(?:et)?|passord(?:et)?|has[łl](?:o|em|a|u)|hesl(?:o|em|a|u)"
    r"|jelsz(?:[óo]|ava[lm]|avam)|salasana(?:[nm]|lla)?|şifre(?:m|si|yle)?|парол(?:ь|я|ем|ю|и)"
    r"|secret(?:[ -](?:word|key|answer|question|phrase))?"
    r"|(?:security|recovery|backup)[ -](?:answer|phrase|key)|pass"
)
_ACCOUNT = r"credentials?|zugangsdaten|logins? details|log-?in data|anmeldedaten"
_PIN = (
    r"pin(?:[ -]?(?:code|number|nummer|no\.?))?|geheimzahl|zahlencode|otp|totp|tan|2fa|mfa|cv[vc]2?"
    r"|(?:(?:one[ -]?time|security|recovery|backup|verification|access|confirmation|login|auth(?:entication)?|sms|2fa)"
    r"[ -])?code(?:[ -]secret)?"
)
_TOKEN = r"(?:api|access|private|auth)[ -]?(?:key|token)|token|bearer"
_JOINED = r"密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|סיסמה|كلمة المرور|كلمة السر|รหัสผ่าน|पासवर्ड"
"""Of scripts that put no space between words."""

_SECRET = re.compile(
    rf"(?<![\w-])(?:(?P<account>{_ACCOUNT})|(?P<token>{_TOKEN})|(?P<password>{_PASSWORD})|(?P<pin>{_PIN}))(?![\w-])"
    rf"|(?P<joined>{_JOINED})",
    re.IGNORECASE,
)
_OTHER_CODE = re.compile(
    r"(?:zip|postal|post|order|country|product|promo|discount|coupon|voucher|gift|error|status|exit|bar|qr|source|area|"
    r"dial(?:ing)?|tracking|item|colou?r|airport|currency|language|booking|reference|tax)[ -]$",
    re.IGNORECASE,
)

# What may stand between the word and the value. A strong link says that a value follows; a weak one does not.
_STRONG = re.compile(
    r"\s{0,3}(?:['’]s(?!\w)|(?:is|are|was|be|being|equals?|means|reads|ist|lautet|sei|est|es|è|é|jest|är|er|это)(?!\w)"
    r"|[:=\-–—]{0,2}[>→]|:=|[:=：＝]{1,2}|は|是|[-–—…](?:\s|(?=\w)))",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"(?:[\"'”’`]{1,2}|\s{1,3}(?:to use|you need|i use|we use"
    r"|(?:for|für|fuer|pour|of|von|de|para)\s{1,3}(?:the\s{1,3}(?:user|account|customer|member)\s{1,3})?[\w.@+-]{1,60}+"
    r"|the (?:word|phrase|number)|das wort|le mot|should|will|would|must|shall|can|may|that|which|it|now|currently"
    r"|say|says|answer|reply|respond|type|enter|use|give|put|write"
    r"|following|set|from|to|with|auf|von|as|also|still|happens|hint)(?![\w@.-]))",
    re.IGNORECASE,
)
_WHOSE = re.compile(
    r"\s{1,3}(?:for|für|fuer|pour|para)\s{1,3}(?:the\s{1,3}(?:user|account|customer|member)\s{1,3})?"
    r"(?P<name>[\w.@+-]{1,60})(?![\w@+/:-])",
    re.IGNORECASE,
)
_OF_WHOM = re.compile(
    r"\s{1,3}(?:of|von|de)\s{1,3}(?:(?:user|account)\s)?(?P<name>[\w.@+-]{1,60})(?![\w@+/:-])", re.IGNORECASE
)
_WHOSE_BEFORE = re.compile(r"(?<![\w.@+-])(?P<name>[\w.@+-]{1,60})['’]s\s(?:[a-z]{1,12}\s)?$", re.IGNORECASE)
_RESET = re.compile(r"(?<!\w)(?:reset|forgot(?:ten)?|lost|recover|remind|expire|clear)\s[^\n.;]{0,40}$", re.IGNORECASE)
_CHANGED = re.compile(
    r"(?<!\w)(?:set|change|reset|update|make|rename|turn|fill|enter|ändere?|setze?|changer?|cambiar?)\s[^\n.;]{0,60}$",
    re.IGNORECASE,
)
_CHANGE_TO = re.compile(r"\s{1,3}(?:to|auf|in|into|by|with)\s{1,3}", re.IGNORECASE)

_QUOTED = "|".join(
    rf"{first}[^{last}\n]{{1,200}}[{last}]"
    for first, last in (('"', '"'), ("'", "'"), ("“", "”"), ("„", "“”"), ("«", "»"), ("‘", "’"), ("`", "`"))
)
_BARE = r"[^\s,;\"'“„«‘`:=(\[{<][^\s,;\"”»’]{0,200}"
_GAP = re.compile(r"[\s(\[{<]{0,6}")
_VALUE = re.compile(rf"{_QUOTED}|{_BARE}")
_DIGIT_NAMES = "zero|one|two|three|four|five|six|seven|eight|nine|null|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun"
_PIN_VALUE = re.compile(
    rf"[\"'“]?\d[\d -]{{1,14}}\d[\"'”]?|(?:(?:{_DIGIT_NAMES})[\s,-]{{1,2}}){{2,15}}(?:{_DIGIT_NAMES})"
    r"|[A-Z\d]{2,12}(?:-[A-Z\d]{2,12})+|(?=[A-Za-z]*\d)[A-Za-z\d]{4,16}(?!\w)",
    re.IGNORECASE,
)
_PHRASE = re.compile(r"(?<![\w-])pass ?phrase\s{0,3}(?:[:=]|is\s)?\s{0,3}(?P<value>[^\n,;.\"'“]{4,200})", re.IGNORECASE)
_BEFORE = re.compile(
    rf"(?P<value>{_QUOTED}|(?<![^\s(]){_BARE})\s{{1,3}}(?:is|as|ist|als|est|comme|es|como|war|was)\s{{1,3}}"
    r"(?:(?:the|my|your|his|her|our|their|a|das|mein|dein|le|mon|la|mi|new|old|neues|account|login)\s{1,3}){0,3}"
    rf"(?:{_PASSWORD}|{_PIN}|{_JOINED})(?![\w-])",
    re.IGNORECASE,
)

_LOGIN = re.compile(
    r"(?<![\w-])(?:(?:log|sign)(?:ging|ning|ged|ned)?[ -]?(?:(?:me|us|him|her)\s)?(?:in|on)|login|signin|logon"
    r"|authenticate|unlock|anmelden|einloggen|melde|logge|connecte[rz]?|connexion|inici(?:ar?|e|o) sesi[óo]n"
    r"|accedi|fa[çc]a login|zaloguj|p[řr]ihlas|logga in|inloggen|вой(?:ти|ди)|залогинь)(?!\w)",
    re.IGNORECASE,
)
_TYPED = re.compile(
    rf"(?<!\w)(?:type|enter|put|write|paste|fill|use|give)\s{{1,3}}(?:in\s)?(?P<value>{_QUOTED}|{_BARE})\s{{1,3}}(?:in|into|for|at|on)"
    rf"\s{{1,3}}(?:(?:the|my|his|her|a)\s){{0,2}}(?:{_PASSWORD}|{_PIN})(?![\w-])",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(
    r"(?<!\w)(?:confirm|verify|approve|authori[sz]e|unlock)\s(?:[\w-]{1,20}\s){0,4}"
    r"(?:with|using|by)\s(?P<value>\d[\d -]{1,10}\d)",
    re.IGNORECASE,
)
_SENT = re.compile(
    rf"(?<!\w)(?:{_PIN})\s(?:[a-z]{{1,12}}\s){{1,6}}(?:is|was|says|reads|shows|ist)\s(?P<value>\d[\d -]{{1,14}}\d)",
    re.IGNORECASE,
)
_USERINFO = re.compile(
    r"(?://[\w.+-]{1,60}+|(?<!\w)-u\s[\w.@+-]{1,60}+|(?<![\w.@])[\w.+-]{1,60}+@[\w.-]{1,60}\.\w{2,12}+):(?P<value>[^\s/,;@]{3,200})"
)
_AFTER_COLON = re.compile(
    rf"(?<![\w-])(?:{_PASSWORD})\s(?:[^\W\d_]{{1,12}}\s?){{1,5}}:\s{{0,2}}(?P<value>{_QUOTED}|{_BARE})", re.IGNORECASE
)
_GETS_IN = r"(?:(?:log|sign|get)(?:ging|ning|ting)?[ -]?(?:(?:me|us|him|her)\s)?(?:in|on)|authenticate|unlock)"
_OF_CLAUSE = re.compile(
    rf"(?<![\w-])(?:{_PASSWORD}|{_PIN})\s(?:that\s|which\s)?(?:i|we|you|he|she|they|ich|wir|je|yo|io)\s"
    rf"(?:[^\W\d_]{{1,12}}\s?){{1,5}}?(?::|is|was|ist|est|es)\s{{1,2}}(?P<value>{_QUOTED}|{_BARE})",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    rf"(?P<value>{_QUOTED}|(?<![^\s(]){_BARE}),?\s{{1,2}}[(–—-]{{0,2}}\s?"
    rf"(?:that['’]s|that is|this is|which is|it['’]s|it is)\s(?:(?:the|my|your|his|her|our|their)\s)?"
    rf"(?:{_PASSWORD}|{_PIN})(?![\w-])",
    re.IGNORECASE,
)
_UNCHANGED = re.compile(
    rf"(?<![\w-])(?:{_PASSWORD})(?:,?\sas\s(?:always|usual|ever|before),?"
    rf"|\s(?:has|did)(?:n['’]?t|\snot)\schanged?,?(?:\sit['’]s)?(?:\sstill)?,?|\?(?=\s\S{{1,60}}\Z))\s(?P<value>{_QUOTED}|{_BARE})",
    re.IGNORECASE,
)
_WHEN_ASKED = re.compile(
    rf"(?<!\w)(?:type|enter|use|give|say|put)\s(?P<value>{_QUOTED}|{_BARE})\s(?:when|if|where|as soon as)\s"
    rf"(?:[\w’']{{1,12}}\s){{1,6}}(?:{_PASSWORD}|{_PIN})(?![\w-])",
    re.IGNORECASE,
)
_PAIR_BEFORE = re.compile(
    rf"(?<!\S)[\w.@+-]{{2,60}}\s?[/:]\s?(?P<value>{_BARE})\s?[—–,;-]\s?"
    rf"(?:please\s|then\s)?{_GETS_IN}(?!\w)",
    re.IGNORECASE,
)
_IT_IS = re.compile(rf"(?:,|\sand)\s(?:it['’]s|it is)\s(?P<value>{_QUOTED}|{_BARE})", re.IGNORECASE)
_TO_LOG_IN = re.compile(
    rf"(?<!\w)(?:use|using|with|take|enter|type)\s(?P<value>{_QUOTED}|{_BARE})\s(?:to|and|for)\s{_GETS_IN}(?!\w)"
    rf"|(?<!\S)(?P<opens>{_BARE})\s(?:gets|lets|logs|signs)\s(?:you|me|us|him|her)\s(?:in|on)(?!\w)",
    re.IGNORECASE,
)
_OR_ELSE = re.compile(
    rf",?\s{{1,2}}(?:or|and|oder|und|ou|et|y|o|и|или|lub|eller|of)(?:\s(?:maybe|else|else|perhaps|possibly))?,?\s{{1,2}}"
    rf"(?:(?:if|when|wenn|si)\s[^,\n]{{1,40}},?\s)?(?P<value>{_QUOTED}|{_BARE})(?P<rest>[.!?,;\s]{{0,3}}(?:\Z|[\n.!?,;]))?",
    re.IGNORECASE,
)
_JOINED_BY = re.compile(r",?\s{1,3}(?:and|und|et|y|e)(?=\s)", re.IGNORECASE)
_NOUN = re.compile(r"(?<!\w)(?:the|a|this|each|every|new|last|das|der|die|le|la)\s$", re.IGNORECASE)
_PIECE = re.compile(rf"{_QUOTED}|[^\s,;\"”»’()\[\]]{{1,200}}")
_CLAUSE = 120
_SHAPED = 16
_BY = frozenset("with using by via mit per avec con usando".split())
_USER = frozenset(
    "as user username user-name name account id als comme como come как jako benutzer nutzer utilisateur".split()
)
_ASKED = frozenset("to with auf from von as".split())
_JOINS = frozenset("and then to und dann et y or".split())
_DOES = frozenset(
    "list show get create post delete update send fetch find search open read write add remove make publish edit set "
    "change view check see tell give log sign print count buy order upload download like follow reply book cancel "
    "button screen dialog link url attempts data failed works fails again first page form me us".split()
)
_PLAIN_WAYS = frozenset(
    "email e-mail mail google github gitlab apple microsoft facebook sso saml oauth it them".split()
)
_PAIR = re.compile(r"(?:[\w.+-]{1,60}@[\w.-]{1,60}|[\w.+-]{1,60}+)[/:](?P<value>[^\s/,;]{3,200})")
_INITIALS = re.compile(r"(?<!\w)u(?:ser)?\s?[:=]\s?\S{1,60}\s{1,3}p\s?[:=]\s?(?P<value>[^\s,;]{1,200})", re.IGNORECASE)

_ADDRESS = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,5}|https?:.*|(?:\w{1,60}\.){1,5}(?:com|org|net|dev|io)"
)
_ORDINARY = re.compile(
    r"\d{1,6}(?:st|nd|rd|th|am|pm|h|s|m|km|kg|mb|gb|px|%|€|\$|x)?|\d{4}-\d{2}(?:-\d{2})?\S{0,20}|\d{1,2}:\d{2}(?::\d{2})?"
    r"|[$€£]\d[\d.,]*|v?\d{1,4}(?:\.\d{1,4}){1,3}|#\d{1,9}|/\S*",
    re.IGNORECASE,
)
_SIGNS = frozenset("!$%^*#~|\\?+&=")
_NO_VALUE = frozenset(
    "field fields label labels page pages reset resets form forms manager managers policy policies change changes "
    "changed hint hints tip tips rules rule security protection generator history expiry recovery protected "
    "to for of in on the a an my your his her their our it its this that from by at as and or with without is are was "
    "be strength length column setting settings prompt box input required optional please then now here "
    "there i we you they he she given below above which who what when where how same new old current next last first "
    "has have had hasn't isn't doesn't didn't won't wasn't can't hasn’t isn’t doesn’t didn’t "
    "should will would must shall can may need needs use used usage so but if not no "
    "older newer longer shorter stronger weaker than expired expires expiring "
    "feld seite ändern zurücksetzen für von und oder mit ohne ist das der die den dem ein eine einen mein dein bitte "
    "champ page changer pour et ou avec sans est le la les un une mon ton y o con sin por para el los las mi tu".split()
)


_SAID = (
    *(_PHRASE, _BEFORE, _INITIALS, _TYPED, _CONFIRMED, _SENT, _AFTER_COLON, _OF_CLAUSE, _ASIDE, _UNCHANGED),
    *(_WHEN_ASKED, _PAIR_BEFORE, _USERINFO),
)
"""Ways to say one, with its `value`."""


def without_passwords(request: str) -> str:
    """The request with every password, passphrase and PIN that is said in it replaced by `[REDACTED]`.

    Where it speaks of a password and none is found beside that, all in it that looks like one is hidden. Pure, and
    linear in the request's length.
    """
    spans = [
        match.span("value") for pattern in _SAID for match in pattern.finditer(request) if not _is_word(match["value"])
    ]
    spans += _opening(request)
    unsaid, people = False, set[int]()
    for word in _SECRET.finditer(request):
        found = list(_values_after(request, word))
        spans += found
        people.update(_whose(request, word))
        unsaid = unsaid or not (found or word["pin"] or word["token"] or _within(word.start(), spans))
    for login in _LOGIN.finditer(request):
        if _NOUN.search(request, max(0, login.start() - 8), login.start()):
            continue
        spans += _values_of_login(request, login.end())
        for said in _IT_IS.finditer(request, login.end(), min(len(request), login.end() + _CLAUSE)):
            if not _is_word(said["value"]):
                spans.append(said.span("value"))
    if unsaid:
        spans += [
            match.span()
            for match in _PIECE.finditer(request)
            if _looks_secret(match[0]) and match.start() not in people
        ]
    kept, at = list[str](), 0
    for start, end in sorted(_trimmed(request, span) for span in spans):
        if end <= at or _is_told_by_shape(request[start:end]):
            continue
        if start >= at:
            kept += (request[at:start], HIDDEN)
        at = end
    return "".join((*kept, request[at:]))


def _is_told_by_shape(value: str) -> bool:
    """Whether a secret is known by its own shape: then it is hidden, and told as what it is, with all that is sent."""
    return len(value) >= _SHAPED and redact(value, pii=False).text == HIDDEN


def _within(place: int, spans: list[_Span]) -> bool:
    """Whether a word ends a finding: `hunter2 is my password`."""
    return any(start <= place <= end + 60 for start, end in spans[-3:])


def _whose(request: str, word: re.Match[str]) -> Iterator[int]:
    """Where the name begins of whoever a password is for; a site needs that to reset it.

    `password of hunter2` may tell one: there a name follows only where nothing is told, as of resetting.
    """
    if named := _WHOSE.match(request, word.end()):
        yield named.start("name")
    resets = _RESET.search(request, max(0, word.start() - 50), word.start())
    if resets and (named := _OF_WHOM.match(request, word.end())):
        yield named.start("name")
    if named := _WHOSE_BEFORE.search(request, max(0, word.start() - 80), word.start()):
        yield named.start("name")


def _values_after(request: str, word: re.Match[str]) -> Iterator[_Span]:
    """The values that follow a word for a secret; none where it only speaks of one."""
    at, strong, linked = word.end(), bool(word["joined"]), bool(word["joined"])
    if word["pin"] and _OTHER_CODE.search(request, max(0, word.start() - 12), word.start()):
        return
    asked = False
    for _ in range(8):
        if match := _STRONG.match(request, at):
            strong = True
        elif match := _WEAK.match(request, at):
            asked = asked or match[0].strip().lower() in _ASKED
        else:
            break
        at, linked = match.end(), True
    comma = request[at : at + 1] == ","
    gap = _GAP.match(request, at + comma)
    at = gap.end() if gap else at
    if word["pin"]:
        if number := _PIN_VALUE.match(request, at):
            yield number.span()
        return
    value = _VALUE.match(request, at)
    if value is None or _is_word(value[0]):
        return
    quoted = value[0][0] in "\"'“„«‘`"
    likely = quoted or _looks_secret(value[0]) or value[0].rstrip(".!?)").isdigit()
    sure = strong or not linked or (not asked) or _CHANGED.search(request, max(0, word.start() - 80), word.start())
    if not (likely or (sure and not comma and not word["token"])):
        return
    yield value.span()
    yield from _or_else(request, value.end())
    if word["account"]:
        joined = _JOINED_BY.match(request, value.end())
        begin = joined.end() if joined else value.end()
        yield from (more.span() for more in _PIECE.finditer(request, begin, begin + 60) if _follows(more))
    after = _CHANGE_TO.match(request, value.end())
    other = _VALUE.match(request, after.end()) if after and asked else None
    if other is not None and not _is_word(other[0]):
        yield other.span()


def _follows(piece: re.Match[str]) -> bool:
    """Whether a piece directly after a user's name is the password that goes with it."""
    between = piece.string[piece.pos : piece.start()].strip(" /:,\n\r\t")
    return not between and not _is_word(piece[0])


def _opening(request: str) -> Iterator[_Span]:
    """What is used to log in: `use hunter2 to sign in`, `hunter2 gets you in`."""
    for match in _TO_LOG_IN.finditer(request):
        group = "value" if match["value"] else "opens"
        low = match[group].lower()
        if not _is_word(match[group]) and low not in _USER | _BY | _PLAIN_WAYS | _DOES:
            yield match.span(group)


def _or_else(request: str, at: int) -> Iterator[_Span]:
    """More values behind one: `hunter2 or, if that fails, swordfish`, `hunter2 and swordfish.`"""
    other = _OR_ELSE.match(request, at)
    if other is None or _is_word(other["value"]) or other["value"].lower() in _DOES | _USER | _BY:
        return
    alternative = other[0].lstrip(", ")[:3].lower() in ("or ", "or,", "ode", "ou ", "или", "lub", "ell", "of ")
    if alternative or other["rest"] is not None or _looks_secret(other["value"]):
        yield other.span("value")


def _values_of_login(request: str, at: int) -> Iterator[_Span]:
    """What looks like a password in what is said of logging in: `as bob with hunter2`, `bob hunter2`, `bob/hunter2`."""
    before, joined, user = "", False, False
    end = min(len(request), at + _CLAUSE)
    for piece in _PIECE.finditer(request, at, end):
        text = piece[0].rstrip(".!?:")
        low = text.lower()
        between = request[at : piece.start()].strip()
        at = piece.end()
        if text in ("", "/"):
            user = user and not between
            continue
        if low in _JOINS:
            joined = True
            continue
        likely = _looks_secret(text) or text[0] in "\"'“„«‘`"
        if joined and not likely:
            return
        pair = _PAIR.fullmatch(text)
        if pair and not _ADDRESS.fullmatch(text) and not _ORDINARY.fullmatch(text):
            yield piece.start() + pair.start("value"), piece.start() + pair.end("value")
        elif before in _BY and low not in _PLAIN_WAYS and not _ADDRESS.fullmatch(text) and not _is_word(text):
            if not _SECRET.fullmatch(text):
                yield piece.span()
        elif before and ((likely and before not in _USER) or (user and not between and _may_be_secret(text))):
            yield piece.span()
        user = (not before and not _is_word(text) and low not in _USER | _BY and low not in _DOES) or before in _USER
        before = low


def _may_be_secret(text: str) -> bool:
    low = text.lower()
    return not _is_word(text) and low not in _USER | _BY | _JOINS | _DOES and not _SECRET.fullmatch(text)


def _looks_secret(text: str) -> bool:
    """Whether a word is none that people write: letters and digits mixed, or with signs in it."""
    bare = text.strip("\"'“”„«»‘’`").rstrip(".!?):,")
    if len(bare) < 4 or _ADDRESS.fullmatch(bare) or _ORDINARY.fullmatch(bare) or HIDDEN in text:
        return False
    letters = any(char.isalpha() for char in bare)
    return (letters and any(char.isdigit() for char in bare)) or any(char in _SIGNS for char in bare)


def _is_word(value: str) -> bool:
    bare = value.rstrip(".!?)").casefold().strip("\"'“”„«»‘’`")
    return not bare or value.startswith("--") or (value[0].isalpha() and bare in _NO_VALUE)


def _trimmed(request: str, span: _Span) -> _Span:
    start, end = span
    return start, start + max(1, len(request[start:end].rstrip(".!?)]}>")))
