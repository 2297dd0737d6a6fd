"""The formats of JSON Schema that are checked in arguments, beside those that `jsonschema` checks by itself."""

from __future__ import annotations

import ipaddress
import re
from datetime import date
from typing import TYPE_CHECKING, Any

from aurora_manifest.rules.patterns import bad_pattern

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
_HOST = re.compile(rf"(?:\[([0-9A-Fa-f:.]+)\]|\[v[0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+\]|({_NAMED}))(?::[0-9]*)?")
_PATH = re.compile(rf"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|{_ESCAPED})*")
_QUERY = re.compile(rf"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|{_ESCAPED})*")


def format_checker() -> FormatChecker:
    """What checks `format` in arguments. A format it does not know is not checked."""
    from jsonschema import FormatChecker

    checker = FormatChecker()
    for name, test in (
        ("regex", is_regex),
        ("uri", is_uri),
        ("uri-reference", is_uri_reference),
        ("date-time", is_date_time),
        ("time", is_time),
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
    user, at, rest = text.rpartition("@")
    host = _HOST.fullmatch(rest)
    if host is None or (at and _USER.fullmatch(user) is None):
        return False
    try:
        return host[1] is None or bool(ipaddress.IPv6Address(host[1]))
    except ValueError:
        return False


def _of_texts(test: Any) -> Any:
    """Formats speak of texts only; every other value fits."""
    return lambda value: not isinstance(value, str) or test(value)
