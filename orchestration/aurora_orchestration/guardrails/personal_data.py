"""Personal data (PII detection): what personal data looks like in a text: email addresses, social security numbers,
credit cards, telephone numbers and bank accounts (AURORA §3.1).

Checksums and known ranges keep versions, hashes, line numbers, times, IP addresses and UUIDs out. Every search is
linear in the text's length: runs are bounded, possessive and begin at a border.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple


class Personal(NamedTuple):
    """Span of a text that is personal data, and of which kind."""

    start: int
    end: int
    kind: str


_EMAIL = re.compile(
    r"(?<![\w.%+'-])(?P<who>[\w.%+'-]{1,64}+)@(?P<where>(?:[^\W_](?:[^\W_]|-){0,62}+\.){1,8}(?P<last>[^\W\d_]{2,24}+))"
    r"(?![\w(-])"
)
_NO_DOMAINS = frozenset(
    "png jpg jpeg gif svg webp ico bmp py js ts css html json yaml yml toml md txt sh rs go".split()
)
_SERVICE_USERS = frozenset({"git", "hg", "svn"})

_SSN = re.compile(
    r"(?<![\w.])(?<![\w]-)(?P<area>\d{3})(?P<gap>[- ]?)(?P<group>\d{2})(?P=gap)(?P<serial>\d{4})(?![\w]|[-.]\w)"
)
_SSN_WORD = re.compile(
    r"(?i)\b(?:ssn|social[ -]security(?:[ -](?:number|no\.?))?)\b\W{0,6}(?:is\W{1,3}|no\.?\W{1,3}|number\W{1,3}){0,2}\Z"
)

_DIGITS = re.compile(r"(?<![\w.])(?<!\w-)\d(?:[ -]?\d){12,}+(?!\w|[.]\d)")
_GROUP = re.compile(r"\d+")
_CARD_KIND = re.compile(
    r"(?P<visa>4)|(?P<mastercard>5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)|(?P<amex>3[47])|(?P<diners>30[0-5]|309|3[689])"
    r"|(?P<long>6011|65|64[4-9]|62|81|352[89]|35[3-8]|220[0-4])|(?P<maestro>5018|5020|5038|5893|6304|6759|676[1-3])"
)
_DOUBLED = str.maketrans("0123456789", "0246813579")
_CARD_LENGTHS = {
    "visa": (13, 16, 19),
    "mastercard": (16,),
    "amex": (15,),
    "diners": (14, 15, 16, 17, 18, 19),
    "long": (16, 17, 18, 19),  # Discover, UnionPay, JCB, Mir
    "maestro": (13, 14, 15, 16, 17, 18, 19),
}

_IBAN = re.compile(r"(?<!\w)(?<!\w-)(?:[A-Z]{2}|[a-z]{2})\d{2}(?:[ -]?[A-Za-z0-9]){11,30}+")
_LENGTHS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 "
    "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 "
    "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 "
    "PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
)
_IBAN_LENGTHS = {each[:2]: int(each[2:]) for each in _LENGTHS.split()}
"""How long an account number is, by country (the IBAN registry of SWIFT)."""

_DATE = re.compile(r"(?:19|20)\d\d(?P<gap>[-/.]?)(?:0[1-9]|1[0-2])(?P=gap)(?:0[1-9]|[12]\d|3[01])")
_INTERNATIONAL = re.compile(
    r"(?<![\w+.])\+[1-9]\d{0,14}+(?:[ ./-]{1,2}\d{1,14}+|[ ./-]?\(\d{1,6}\)[ -]?\d{1,12}+){0,6}+(?!\w)"
)
_AMERICAN = re.compile(
    r"(?<![\w.+/:])(?<!\w-)(?:1[ .-])?"
    r"(?:\([2-9]\d{2}\)[ -]?[0-9]\d{2}[ .-]|[2-9]\d{2}-\d{3}-|[2-9]\d{2}\.[2-9]\d{2}\."
    r"|[2-9](?!00|11)\d{2} [2-9](?!00|11)\d{2} (?!\d{4} \d))\d{4}(?![\w]|[.:/-]\d)"
)
_PHONE_WORD = re.compile(
    r"(?i)\b(?:(?:tele)?phone|tel|mobile|cell(?:phone)?|fax|whatsapp|(?:call|text|reach|ring) (?:me|us|him|her|them))\b"
    r"[ .:#=(]{0,4}(?:(?:number|no|nr|is|at|on|my|under)\b[ .:#=(]{1,4}){0,3}"
    r"(?P<number>\(?[0-9](?:[ ./()-]{0,2}[0-9]){6,14}+)(?![\w]|[.:/-]\d)"
)


def personal_in(text: str) -> list[Personal]:
    """All personal data of `text`, in text order and apart from each other."""
    found = [*_emails(text), *_ibans(text), *_cards(text), *_social_security(text), *_phones(text)]
    found.sort(key=lambda each: (each.start, -each.end))
    apart: list[Personal] = []
    for each in found:
        if not apart or each.start >= apart[-1].end:
            apart.append(each)
        elif each.end > apart[-1].end:
            apart[-1] = apart[-1]._replace(end=each.end)
    return apart


def _emails(text: str) -> Iterator[Personal]:
    """Email addresses; those of services and made-up domains are none."""
    if "@" not in text:
        return
    for match in _EMAIL.finditer(text):
        if match["who"] in _SERVICE_USERS or match["last"].lower() in _NO_DOMAINS:
            continue
        start = match.start() + len(match["who"]) - len(match["who"].lstrip("'."))
        if text[start] != "@":
            yield Personal(start, match.end(), "email")


def _social_security(text: str) -> Iterator[Personal]:
    """Social security numbers (US SSN), by their form and legal ranges."""
    for match in _SSN.finditer(text):
        if match["gap"] != "-" and _SSN_WORD.search(text, max(0, match.start() - 60), match.start()) is None:
            continue
        area, group, serial = match["area"], match["group"], match["serial"]
        if "000" < area < "900" and area != "666" and group != "00" and serial != "0000":
            yield Personal(match.start(), match.end(), "ssn")


def _cards(text: str) -> Iterator[Personal]:
    """Payment card numbers, by issuer's prefix, length and checksum."""
    for run in _DIGITS.finditer(text):
        # A card's digits stand together or in groups of at least three; other numbers may stand beside them.
        groups = [each.span() for each in _GROUP.finditer(text, run.start(), run.end())]
        done = 0
        for first, (start, _) in enumerate(groups):
            if start < done or (kind := _CARD_KIND.match(text, start)) is None:
                continue
            lengths = _CARD_LENGTHS[kind.lastgroup or ""]
            digits = ""
            for begin, end in groups[first : first + 6]:
                digits += text[begin:end]
                if end - begin < 3 or len(digits) > 19:
                    break
                if len(digits) in lengths and len(set(digits)) > 1 and _luhn(digits):
                    yield Personal(start, end, "card")
                    done = end
                    break


def _luhn(digits: str) -> bool:
    """Luhn checksum (ISO/IEC 7812): every second digit from the right counts double, its digits added up."""
    doubled = digits[-2::-2].translate(_DOUBLED)
    return (sum(map(int, digits[-1::-2])) + sum(map(int, doubled))) % 10 == 0


def _ibans(text: str) -> Iterator[Personal]:
    """Bank account numbers (IBAN), by country's length and check digits."""
    for match in _IBAN.finditer(text):
        wanted = _IBAN_LENGTHS.get(match[0][:2].upper(), 0)
        # Words may follow that look like more of it.
        end = match.start() + next((n for n, so_far in enumerate(_counted(match[0]), 1) if so_far == wanted), 0)
        if end > match.start() and not text[end : end + 1].isalnum() and _checks(text[match.start() : end]):
            yield Personal(match.start(), end, "iban")


def _checks(account: str) -> bool:
    """Check digits of an IBAN (ISO 7064, mod 97-10)."""
    plain = account.replace(" ", "").replace("-", "").upper()
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _counted(text: str) -> Iterator[int]:
    """After each sign, how many letters and digits there were."""
    return accumulate(map(int, map(str.isalnum, text)))


def _phones(text: str) -> Iterator[Personal]:
    """Telephone numbers, international, American, or behind a word that says so."""
    for match in _INTERNATIONAL.finditer(text):
        number = _first_digits(match[0])
        if _digits(number) >= 8 and _DATE.match(number, 1) is None and not _like_a_version(number):
            yield Personal(match.start(), match.start() + len(number), "phone")
    for match in _AMERICAN.finditer(text):
        yield Personal(match.start(), match.end(), "phone")
    for match in _PHONE_WORD.finditer(text):
        number = match["number"]
        if _DATE.match(number) is None and not _like_a_version(number):
            yield Personal(match.start("number"), match.end("number"), "phone")


def _first_digits(number: str) -> str:
    """As many whole groups as make 15 digits, which no telephone number has more than (E.164)."""
    total = 0
    for group in _GROUP.finditer(number):
        total += len(group[0])
        if total > 15:
            return number[: group.start()].rstrip(" ./-(")
    return number


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def _like_a_version(text: str) -> bool:
    """Whether it could as well be `1.20.300` or an IP address: parts between dots, one of them shorter than two."""
    parts = text.lstrip("+").split(".")
    return len(parts) == 4 and all(part.isdigit() and len(part) <= 3 for part in parts)
