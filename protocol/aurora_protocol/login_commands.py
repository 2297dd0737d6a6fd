"""Commands that are given a password (shell credentials), by the sign of what takes it: `mysql -pX`, `zip -P X`,
`cmdkey /pass:X`.

The sign is looked for first, then the command on the same line before it: what stands there is a password whatever it
looks like, so long as it is no word about one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_ROWS: tuple[tuple[str, str, str], ...] = (
    (" -u", ":", r"curl"),
    (" --user", ":", r"curl"),
    (" -u", ",", r"lftp"),
    (" -a", ":", r"https?"),
    (" -U", "%", r"smb(?:client|get|map)|rpcclient|net|winexe|wmic"),
    (" -p", "", r"(?:mysql|mariadb)[\w-]{0,10}|7z[azr]?|u?n?rar|sshpass"),
    (" -p", " ", r"sshpass|mongo\w{0,10}|cqlsh|plink|pscp|az|influx|htpasswd"),
    (" -p", "=", r"(?:docker|podman|nerdctl|buildah|skopeo|helm|helm registry|oc|cf|az|crane auth|oras) login"),
    (" -P", " ", r"zip|unzip|ipmitool|sqlcmd|bcp|osql|isql|tsql|mosquitto_(?:pub|sub)|ssh-keygen"),
    (" -a", "=", r"(?:redis|valkey|keydb)-cli"),
    (" --pass", "=", r"(?:redis|valkey|keydb)-cli"),
    (" -w", " ", r"ldap(?:search|modify|add|delete|passwd|whoami|compare|modrdn)"),
    (" -N", " ", r"ssh-keygen"),
    (" -b", "=", r"gh secret set"),
    (" --body", "=", r"gh secret set"),
    (" -storepass", "=", r"keytool|jarsigner"),
    (" -keypass", "=", r"keytool|jarsigner"),
    (" --passphrase", "=", r"gpg2?"),
)
"""The sign, what stands between it and the password (`=`: that or a space; `:`, `,`, `%`: a user's name), and the
commands that take it so.
"""
_BETWEEN = {
    "": "",
    " ": r"[ \t]{1,3}",
    "=": r"[ \t=]{1,3}",
    **{sign: rf"[ \t=]{{0,3}}[\"']?[^\s:,%\"'$<{{]{{1,80}}{sign}" for sign in ":,%"},
}
_SIGNS = tuple({sign for sign, _, _ in _ROWS})
_COMMAND = r"(?:\A|.*[\s\"'`$|;&(/>\]#:])(?:{})(?:\.exe)?(?:\s.*)?\Z"
_VALUE = r"(?P<quote>[\"']?)(?P<value>[^\s\"'$<{;|`&()*\[\]]{5,200})"
_BEHIND: tuple[tuple[str, str], ...] = (
    (
        "net use",
        r"net use(?:r[ \t]{1,3}[\w.-]{1,40}|(?:[ \t]{1,3}[\w*]:?)?[ \t]{1,3}\\\\\S{1,200})[ \t]{1,3}(?!/)" + _VALUE,
    ),
    ("cmdkey", r"cmdkey\s[^\n]{0,200}?/pass:" + _VALUE),
    ("freerdp", r"freerdp3?\s[^\n]{0,200}?/p:" + _VALUE),
    ("nmcli", r"nmcli\s[^\n]{0,200}?\spassword\s{1,3}" + _VALUE),
    ("rclone obscure", r"rclone obscure\s{1,3}" + _VALUE),
    ("wpa_passphrase", r"wpa_passphrase[ \t]{1,3}(?:\"[^\"\n]{1,60}\"|[\w.-]{1,60})[ \t]{1,3}" + _VALUE),
    ("sqlplus", r"sqlplus(?:\s{1,3}-\w{1,9}){0,3}\s{1,3}[\"']?[A-Za-z][\w$#]{1,30}/(?P<value>[^\s\"'$<{@/]{4,200})"),
    ("thin:", r"thin:[A-Za-z][\w$#]{1,30}/(?P<value>[^\s\"'$<{@/]{4,200})@"),
    (
        "htpasswd",
        r"htpasswd\s{1,3}-[A-Za-z]{0,5}b[A-Za-z]{0,5}(?:\s{1,3}[^\s\"'$<{]{1,200}){1,2}\s{1,3}" + _VALUE,
    ),
    (
        "CURLOPT_",
        r"CURLOPT_(?:PROXY)?USERPWD\s{0,3}(?:,|=>?)\s{0,3}[\"'][^\s:\"'$<{]{1,80}:(?P<value>[^\s\"'$<{%]{4,200})",
    ),
)
"""What has its password behind its other arguments."""
_NO_PASSWORD = re.compile(
    r"(?:pass|<|\.{1,2}/|/|-|%|@|\\).*|\d{1,5}(?::\d+)?|x+|.*(?:your|example|change|\.\.\.).*|[A-Z][A-Z_-]+"
    r"|(?:my|the|new|old|some|admin|root|user|test|db)?[_-]?(?:pass\w*|pwd|secret|token|string|phrase)\d{0,4}|assword\S*"
    r"|stdin|entrypass|description|required|[\w.-]+\.(?:conf|cfg|txt|json|ya?ml|ini|pem|key|xml|sql|zip|7z|rar|gz),?"
    r"|[\w-]{1,20}:(?://)?.*",
    re.DOTALL,
)
_LINE = 300


def login_options_in(text: str) -> Iterator[tuple[int, int]]:
    """Spans of passwords that commands are given, in no order."""
    at = text.find(" -")
    while at >= 0:
        if text.startswith(_SIGNS, at):
            yield from _behind_sign(text, at)
        at = text.find(" -", at + 2)
    for lead, pattern in _BEHIND:
        if lead in text:
            yield from (each.span("value") for each in _compiled(pattern).finditer(text) if _is_given(each["value"]))


def _behind_sign(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Span of the password behind a command's option, if one is there."""
    line = text[max(text.rfind("\n", 0, at) + 1, at - _LINE) : at]
    for sign, between, commands in _ROWS:
        if text.startswith(sign, at) and _compiled(_COMMAND.format(commands)).match(line) is not None:
            value = _compiled(_BETWEEN[between] + _VALUE).match(text, at + len(sign))
            if value is not None and _is_given(value["value"]):
                yield value.span("value")
                return


def _is_given(value: str) -> bool:
    return _NO_PASSWORD.fullmatch(value) is None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
