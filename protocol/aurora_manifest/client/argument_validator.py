"""Validator of arguments: a manifest's `parameters` as a JSON Schema, in the dialect it names, else 2020-12."""

from __future__ import annotations

import ipaddress
import re
from datetime import date
from typing import TYPE_CHECKING, Any

from aurora_manifest.client.expressions import as_python
from aurora_manifest.rules.patterns import bad_pattern
from aurora_manifest.rules.places import IGNORE
from aurora_manifest.subschemas import LISTED, NAMED, ONE

if TYPE_CHECKING:
    from jsonschema import FormatChecker
    from jsonschema.protocols import Validator

_BOTH_WAYS = frozenset({"not", "if", "oneOf", "contains"})
"""Keywords that may refuse what fits a schema in them: such a schema is whole, or it says nothing."""

_OTHERS = frozenset({"additionalProperties", "unevaluatedProperties"})

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


def validator_of(parameters: Any) -> Validator:
    """Validator of arguments. References are never fetched. Raises jsonschema's SchemaError for what is no schema.

    Patterns mean what ECMA-262 says (`expressions.as_python`); those Python cannot match are not checked.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing import Registry

    plain = _without_ignore(parameters)
    named = isinstance(plain, dict) and isinstance(plain.get("$schema"), str)
    kind: Any = validator_for(plain, default=Draft202012Validator) if named else Draft202012Validator
    checker = format_checker()
    kind.check_schema(plain, format_checker=checker)
    registry: Registry[Any] = Registry()
    made: Validator = kind(_Translated().schema(plain), format_checker=checker, registry=registry)
    return made


def _without_ignore(schema: Any) -> Any:
    """The schema without what silences rules in it: within `properties` that would be a parameter, and no schema."""
    if isinstance(schema, dict):
        return {name: _without_ignore(each) for name, each in schema.items() if name != IGNORE}
    return [_without_ignore(each) for each in schema] if isinstance(schema, list) else schema


class _Translated:
    """Schemas with Python's patterns; `lost` counts those that have none."""

    def __init__(self) -> None:
        self.lost = 0

    def schema(self, schema: Any) -> Any:
        """One schema, and all in it. Raises nothing that a checked schema could bring about."""
        if not isinstance(schema, dict):
            return schema
        found: dict[str, Any] = {}
        lost_names = False
        for name, value in schema.items():
            before = self.lost
            if name == "pattern" and isinstance(value, str):
                found[name] = self._pattern(value)
            elif name == "patternProperties" and isinstance(value, dict):
                found[name] = {self._pattern(key): self.schema(each) for key, each in value.items()}
                lost_names = None in found[name]
                found[name].pop(None, None)
            elif name in NAMED and isinstance(value, dict):
                found[name] = {key: self.schema(each) for key, each in value.items()}
            elif name in ONE:
                found[name] = self.schema(value)
            elif name in LISTED and isinstance(value, list):
                found[name] = [self.schema(each) for each in value]
            else:
                found[name] = value
            if found[name] is None or (name in _BOTH_WAYS and self.lost > before):
                del found[name]
        if lost_names:  # which members are the others, nobody can tell
            found = {name: value for name, value in found.items() if name not in _OTHERS}
        return found

    def _pattern(self, pattern: str) -> str | None:
        python = as_python(pattern)
        self.lost += python is None
        return python


# The formats that are checked, beside those that `jsonschema` checks by itself


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
