"""Formats of texts in a call's arguments (email, URI, date-time; JSON Schema 2020-12 "format"): each that completion
offers is checked."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

from aurora_manifest.json.pointers import PointerError, from_pointer
from aurora_manifest.rules.patterns import bad_pattern
from aurora_manifest.templates import parse_template

if TYPE_CHECKING:
    from jsonschema import FormatChecker

_TIME = re.compile(
    r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_ESCAPED = "%[0-9A-Fa-f]{2}"
_NAMED = rf"(?:[A-Za-z0-9._~!$&'()*+,;=-]|{_ESCAPED})*"
_USER = re.compile(rf"(?:[A-Za-z0-9._~!$&'()*+,;=:-]|{_ESCAPED})*")
_HOST = re.compile(
    rf"(?:\[([0-9A-Fa-f:.]+)\]|\[[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+\]|({_NAMED}))(?::[0-9]*)?"
)
_PATH = re.compile(rf"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|{_ESCAPED})*")
_QUERY = re.compile(rf"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|{_ESCAPED})*")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_NOT_IN_IRI = re.compile(r"[\x80-\x9f\ud800-\udfff\ufdd0-\ufdef\ufff0-\uffff]")
_DURATION = re.compile(
    r"P(?:\d+W|(?=\d|T\d)(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?=\d)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)",
    re.ASCII,
)
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_ATOM = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_QUOTED = re.compile(r'"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"')
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_RELATIVE = re.compile(r"(?:0|[1-9][0-9]*)(#|/.*)?", re.DOTALL)
_MAX_HOST, _MAX_LOCAL = 253, 64


def format_checker() -> FormatChecker:
    """Checker of `format` in arguments. A format it does not know is not checked."""
    from jsonschema import FormatChecker

    checker = FormatChecker()
    for name, test in (
        ("regex", is_regex),
        ("uri", is_uri),
        ("uri-reference", is_uri_reference),
        ("date-time", is_date_time),
        ("time", is_time),
        ("duration", is_duration),
        ("email", is_email),
        ("idn-email", lambda text: is_email(text, international=True)),
        ("hostname", is_hostname),
        ("idn-hostname", lambda text: is_hostname(text, international=True)),
        ("iri", lambda text: is_uri(_as_uri(text))),
        ("iri-reference", lambda text: is_uri_reference(_as_uri(text))),
        ("uuid", lambda text: _UUID.fullmatch(text) is not None),
        ("uri-template", lambda text: not parse_template(text).mistakes),
        ("json-pointer", is_json_pointer),
        ("relative-json-pointer", is_relative_json_pointer),
        ("byte", is_base64),
    ):
        checker.checks(name)(_of_texts(test))
    return checker


def is_regex(text: str) -> bool:
    """Whether a text is a regular expression as JSON Schema has them."""
    return bad_pattern(text) is None


def is_date_time(text: str) -> bool:
    """Whether a text is a `date-time` of RFC 3339 §5.6."""
    day, between, time = text[:10], text[10:11], text[11:]
    return between in ("T", "t") and _is_date(day) and is_time(time)


def is_time(text: str) -> bool:
    """Whether a text is a `full-time` of RFC 3339 §5.6; a leap second ends a day of UTC (§5.7)."""
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    hour, minute, second, sign, hours, minutes = match.groups()
    shift = (int(hours) * 60 + int(minutes)) * (-1 if sign == "-" else 1) if sign else 0
    return second != "60" or (int(hour) * 60 + int(minute) - shift) % 1440 == 1439


def _is_date(text: str) -> bool:
    """Whether a text is a `full-date` of RFC 3339."""
    match = _DATE.fullmatch(text)
    try:
        return match is not None and bool(date(*map(int, match.groups())))
    except ValueError:
        return False


def is_uri(text: str) -> bool:
    """Whether a text is a URI (RFC 3986 §3), with a host where its scheme is http or https (RFC 9110 §4.2)."""
    match = _PARTS.fullmatch(text)
    if match is None or match[1] is None or not is_uri_reference(text):
        return False
    return match[1].lower() not in ("http", "https") or bool(match[2])


def is_uri_reference(text: str) -> bool:
    """Whether a text is a URI or a relative reference (RFC 3986 §4.1)."""
    match = _PARTS.fullmatch(text)
    if match is None:
        return False
    scheme, authority, path, query, fragment = match.groups()
    if scheme is None and authority is None and ":" in path.partition("/")[0]:
        return False
    return (
        (scheme is None or _SCHEME.fullmatch(scheme) is not None)
        and (authority is None or _is_authority(authority))
        and _PATH.fullmatch(path) is not None
        and all(each is None or _QUERY.fullmatch(each) is not None for each in (query, fragment))
    )


def _is_authority(text: str) -> bool:
    """Whether a text is a URI's authority: user, host or IP address, port."""
    user, at, rest = text.rpartition("@")
    host = _HOST.fullmatch(rest)
    if host is None or (at and _USER.fullmatch(user) is None):
        return False
    try:
        return host[1] is None or bool(ipaddress.IPv6Address(host[1]))
    except ValueError:
        return False


def _as_uri(text: str) -> str:
    """An IRI with what URIs do not know percent-encoded (RFC 3987 §3.1); what IRIs do not know either stays wrong."""
    if _NOT_IN_IRI.search(text):
        return "<"
    return _NOT_ASCII.sub("%80", text)


def is_duration(text: str) -> bool:
    """Whether a text is a `duration` of RFC 3339 appendix A."""
    return _DURATION.fullmatch(text) is not None


def is_hostname(text: str, *, international: bool = False) -> bool:
    """Whether a text is a host name (RFC 1123 §2.1), or one whose labels may be in any script (RFC 5890 §2.3)."""
    if international:
        text = re.sub("[\u3002\uff0e\uff61]", ".", text)
    labels = text.split(".")
    return len(text) <= _MAX_HOST and all(_is_label(each, international) for each in labels)


def _is_label(label: str, international: bool) -> bool:
    """Whether a text is a label of a host name (IDNA, punycode)."""
    import idna

    if label.isascii() and _LABEL.fullmatch(label) is None:
        return False
    if label.isascii() and label[2:4] != "--":
        return True
    if not label.isascii() and not international:
        return False
    try:  # `--` in third place marks what is encoded, and there is one encoding only (RFC 5891 §4.2.3.1)
        plain = idna.ulabel(label) if label.isascii() else label
        return label[:4].lower() in ("xn--", plain[:4].lower()) and len(idna.alabel(plain)) <= len(label) + _MAX_HOST
    except (idna.IDNAError, UnicodeError):
        return False


def is_email(text: str, *, international: bool = False) -> bool:
    """Whether a text is a mailbox (RFC 5321 §4.1.2); an international one may have any letters (RFC 6531 §3.3)."""
    local, at, domain = text.rpartition("@")
    plain = _NOT_ASCII.sub("x", local) if international else local
    if not at or len(local.encode("utf-8", "replace")) > _MAX_LOCAL:
        return False
    if not (_ATOM.fullmatch(plain) or _QUOTED.fullmatch(plain)):
        return False
    if domain.startswith("[") and domain.endswith("]"):
        return _is_address(domain[1:-1])
    return is_hostname(domain, international=international)


def _is_address(text: str) -> bool:
    """Whether a text is an IP address as a mailbox has it (address literal)."""
    try:
        if text[:5].lower() == "ipv6:":
            return bool(ipaddress.IPv6Address(text[5:]))
        return bool(ipaddress.IPv4Address(text))
    except ValueError:
        return False


def is_json_pointer(text: str) -> bool:
    """Whether a text is a JSON Pointer (RFC 6901 §3)."""
    try:
        from_pointer(text)
    except PointerError:
        return False
    return True


def is_relative_json_pointer(text: str) -> bool:
    """Whether a text is a relative JSON Pointer: levels up, then `#` or a pointer."""
    match = _RELATIVE.fullmatch(text)
    return match is not None and (match[1] in (None, "#") or is_json_pointer(match[1]))


def is_base64(text: str) -> bool:
    """Whether a text is Base64 (RFC 4648 §4), as OpenAPI means `byte`."""
    try:
        return base64.b64decode(text, validate=True) is not None
    except (binascii.Error, ValueError):
        return False


def _of_texts(test: Callable[[str], bool]) -> Callable[[Any], bool]:
    """Formats speak of texts only; every other value fits."""
    return lambda value: not isinstance(value, str) or test(value)
