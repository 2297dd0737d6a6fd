"""Passwords and PINs in a request as people say them: `log in with password hunter2`, `pin 1234`, `Kennwort: …`.

A request is an instruction, not code: what stands behind such a word is the secret more often than not, however plain
it looks. Too much is hidden rather than too little; a value is given by its name.
"""

from __future__ import annotations

import re

HIDDEN = "[REDACTED]"

_WORD = (
    r"(?:pass[ -]?(?:word|phrase|code|wort)s?+|passwd|pwd?|kenn?wort|losung|geheimnis|mot[ -]de[ -]passe|mdp"
    r"|contrase[ñn]a|senha|secret|credentials?|zugangsdaten|pass)"
)
_NUMBER_WORD = (
    r"(?:pin(?:[ -]?(?:code|number|nummer))?|geheimzahl|otp|tan|code(?:[ -]secret)?|one-time code|zahlencode)"
)
_LINK = (
    r"(?:\s{1,3}(?:for|für|fuer|pour|of|von|de)\s{1,3}[\w.@+-]{1,60}+)?"
    r"(?:\s{1,3}(?:is|ist|est|lautet|was|war)(?!\w))?\s{0,3}(?:[:=]{1,2}>?\s{0,3})?"
)
_QUOTED = "|".join(
    rf"{first}[^{last}\n]{{1,200}}[{last}]"
    for first, last in (('"', '"'), ("'", "'"), ("“", "”"), ("„", "“”"), ("«", "»"), ("‘", "’"), ("`", "`"))
)
_BARE = r"[^\s,;\"'“„«‘`:=][^\s,;\"”»’]{0,200}"
_SAID = re.compile(rf"(?<![\w-]){_WORD}(?![\w-]){_LINK}(?P<value>{_QUOTED}|{_BARE})", re.IGNORECASE)
_PHRASE = re.compile(r"(?<![\w-])pass ?phrase\s{0,3}(?:[:=]|is\s)?\s{0,3}(?P<value>[^\n,;.\"'“]{4,200})", re.IGNORECASE)
_COUNTED = re.compile(
    rf"(?<![\w-]){_NUMBER_WORD}(?![\w-]){_LINK}(?P<value>[\"'“]?\d[\d -]{{1,14}}\d[\"'”]?)", re.IGNORECASE
)
_PAIR = re.compile(
    r"(?<![\w-])(?:log ?in|sign in|anmelden|einloggen|connecter)\s(?:\w{1,12}\s){0,3}[\w.@+-]{1,60}+"
    r"[/:](?P<value>[^\s/,;]{3,200})",
    re.IGNORECASE,
)
_NO_VALUE = frozenset(
    "field fields label labels page reset resets form forms manager policy policies change changes changed hint hints "
    "to for of in on the a an my your his her their our it its this that from by at as and or with without is are was "
    "be strength length rule rules column setting settings prompt box input required optional please then now here "
    "there i we you they he she given below above which who what when where how same new old current next last first "
    "feld seite ändern zurücksetzen für von und oder mit ohne ist das der die den dem ein eine einen mein dein bitte "
    "champ page changer pour et ou avec sans est le la les un une mon ton".split()
)


def without_passwords(request: str) -> str:
    """The request with every password, passphrase and PIN that is said in it replaced by `[REDACTED]`.

    Pure, and linear in the request's length.
    """
    spans: list[tuple[int, int]] = []
    for pattern in (_PHRASE, _SAID, _COUNTED, _PAIR):
        for match in pattern.finditer(request):
            start, end = match.span("value")
            value = request[start:end].rstrip(".!?)")
            if value.casefold().strip("\"'“”„«»‘’`") in _NO_VALUE and value[:1].isalpha():
                continue
            spans.append((start, start + len(value)))
    kept, at = list[str](), 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        if start >= at:
            kept += (request[at:start], HIDDEN)
        at = end
    return "".join((*kept, request[at:]))
