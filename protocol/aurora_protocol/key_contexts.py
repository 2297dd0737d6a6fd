"""Contexts of keys: words, settings and commands behind which a secret stands, whatever it looks like itself.

A row is the letters searched for first, the kind for machines, the noun for people, the pattern (its group `value`
alone is the secret; where it has none, all of it is), and how many letters before its lead the pattern begins, None
where that is not known. Every pattern is linear in the text's length: runs are bounded.
"""

from __future__ import annotations

import re

_DIGIT = "(?=[A-Za-z_.%+/-]{0,80}+[0-9])"
_MADE_UP = "(?=[A-Za-z]{0,40}+[0-9]|[a-z]{1,20}[A-Z]|[A-Z]{1,20}[a-z])"

CONTEXTS: tuple[tuple[str, str, str, str, int | None], ...] = (
    # Files of settings
    (
        "<add key=",
        "password",
        "a password",
        r"(?i:<add key=\"(?:ClearText)?Password\")\s{1,9}value=\"(?P<value>[^\"\n]{6,200})\"",
        0,
    ),
    (
        "__CONTRIBSYS__COM",
        "password",
        "a password of Sidekiq",
        r"BUNDLE_(?:ENTERPRISE|GEMS)__CONTRIBSYS__COM[\"']?\s{0,3}[=:]\s{0,3}[\"']?(?P<value>[0-9a-f]{8}:[0-9a-f]{8})(?!\w)",
        None,
    ),
    (
        "Private-Lines:",
        "private_key",
        "a private key of PuTTY",
        r"Private-Lines: [0-9]{1,4}(?P<value>(?:\s{1,4}[A-Za-z0-9+/=]{16,100}+){1,400})",
        0,
    ),
    (
        "client-key-data:",
        "private_key",
        "a private key",
        r"client-key-data:\s{1,5}(?P<value>[A-Za-z0-9+/=]{100,8000})",
        0,
    ),
    (
        "PresharedKey",
        "private_key",
        "a WireGuard key",
        r"PresharedKey\s{0,5}=\s{0,5}(?P<value>[A-Za-z0-9+/]{43}=)",
        0,
    ),
    (
        "$ANSIBLE_VAULT;",
        "vault",
        "a vault of Ansible",
        r"\$ANSIBLE_VAULT;[\w.;-]{1,80}(?P<value>(?:(?:\s|\\[nr]){1,40}[0-9]{16,80}){1,4000})",
        0,
    ),
    (
        "OpenVPN Static key",
        "private_key",
        "a key of OpenVPN",
        r"OpenVPN Static key V[0-9]-----(?P<value>(?:(?:\s|\\[nr]){1,4}[0-9a-f]{16,64}){1,64})",
        0,
    ),
    (
        '"kty"',
        "private_key",
        "a private key of JOSE",
        r"\"kty\"(?:(?!\"kty\")[^{}]){0,4000}?\"(?:d|k)\"\s{0,5}:\s{0,5}\"(?P<value>[\w-]{20,2000})\"",
        0,
    ),
    (
        "requirepass ",
        "password",
        "a password of Redis",
        r"(?<![\w-])(?:--)?(?:requirepass|masterauth)\s{1,5}[\"']?(?P<value>[^\s\"'$<{\\]{4,200})",
        None,
    ),
    (
        "password 7 ",
        "password",
        "a password of a router",
        r"password 7 (?P<value>[0-9A-F]{6,100})(?!\w)",
        0,
    ),
    *(
        (
            f":{port}:".replace("\\", ""),
            "password",
            "a password of .pgpass",
            rf"(?<![\w.*-])[\w.*-]{{1,200}}:{port}:[\w*-]{{1,100}}:[\w.*-]{{1,100}}:(?P<value>[^\s:\\\"'`]{{4,200}})",
            None,
        )
        for port in ("5432", r"\*")
    ),
    ("PrivateKey", "private_key", "a WireGuard key", r"PrivateKey\s{0,5}=\s{0,5}(?P<value>[A-Za-z0-9+/]{43}=)", 0),
    (
        "machine ",
        "password",
        "a password of .netrc",
        r"(?<![\w-])machine\s{1,5}\S{1,200}\s{1,5}login\s{1,5}\S{1,200}\s{1,5}password\s{1,5}(?P<value>\S{3,200})",
        None,
    ),
    (
        "APP_KEY",
        "app_key",
        "the key of an application",
        r"APP_KEY[\"']?\s{0,3}[=:]\s{0,3}[\"']?(?P<value>base64:[A-Za-z0-9+/]{40,100}={0,2})",
        0,
    ),
    (
        "define(",
        "wordpress_salt",
        "a WordPress key",
        r"define\(\s{0,5}(?P<q>[\"'])(?:(?:SECURE_)?AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)(?P=q),\s{0,20}"
        r"(?P<p>[\"'])(?P<value>(?!put your )(?:(?!(?P=p))[^\n]){16,200})",
        0,
    ),
    # Commands
    (
        "curl",
        "password",
        "a password",
        r"(?<![\w-])curl\s[^\n]{0,300}?(?<=\s)(?:-u|--user)[\s=]{1,3}[\"']?[^\s:\"'$<{]{1,80}:(?P<value>[^\s\"'$<{]{4,200})",
        0,
    ),
    ("sshpass", "password", "a password", r"sshpass\s{1,3}-p\s{0,3}[\"']?(?P<value>[^\s\"'$<{]{3,200})", 0),
    (
        "mysql",
        "password",
        "a password",
        rf"mysql(?:dump|admin|import)?\s[^\n]{{0,200}}?(?<=\s)-p(?P<value>{_MADE_UP}[^\s\"'$<{{;|`]{{6,200}})",
        0,
    ),
    (
        "redis-cli ",
        "password",
        "a password",
        rf"redis-cli\s[^\n]{{0,200}}?(?<=\s)(?:-a|--pass)[\s=]{{1,3}}[\"']?(?P<value>{_MADE_UP}[^\s\"'$<{{;|`]{{6,200}})",
        0,
    ),
    *(
        (
            f"{program} ",
            "password",
            "a password",
            rf"{program} (?:login|registry login)\s[^\n]{{0,300}}?(?<=\s)-p[\s=]{{1,3}}[\"']?"
            rf"(?P<value>{_MADE_UP}[^\s\"'$<{{;|`]{{6,200}})",
            0,
        )
        for program in ("docker", "podman", "helm", "az", "oc")
    ),
    (
        "htpasswd ",
        "password",
        "a password",
        rf"htpasswd\s{{1,3}}-[A-Za-z]{{0,5}}b[A-Za-z]{{0,5}}(?:\s{{1,3}}[^\s\"'$<{{]{{1,200}}){{1,2}}\s{{1,3}}[\"']?"
        rf"(?P<value>{_MADE_UP}[^\s\"'$<{{;|`]{{6,200}})",
        0,
    ),
    (
        "pass:",
        "password",
        "a password",
        r"(?<![\w-])-pass(?:in|out)?\s{1,3}[\"']?pass:(?P<value>[^\s\"'$<{;|`]{4,200})",
        None,
    ),
    (
        "ldap",
        "password",
        "a password",
        rf"ldap(?:search|modify|add|delete|passwd|whoami)\s[^\n]{{0,300}}?(?<=\s)-w\s{{1,3}}[\"']?"
        rf"(?P<value>{_MADE_UP}[^\s\"'$<{{;|`]{{6,200}})",
        0,
    ),
    (
        "lftp ",
        "password",
        "a password",
        r"lftp\s[^\n]{0,200}?(?<=\s)-u\s{1,3}[\"']?[\w.@-]{1,80},(?P<value>[^\s\"'$<{;|`]{4,200})",
        0,
    ),
    (
        "7z ",
        "password",
        "a password",
        rf"7z [a-z]\s(?:[^\n]{{0,200}}?\s)?-p(?P<value>{_MADE_UP}[^\s\"'$<{{;|`]{{6,200}})",
        0,
    ),
    (
        "echo ",
        "password",
        "a password",
        r"(?<![\w-])echo\s{1,3}(?:-n\s{1,3})?[\"']?(?:[\w.-]{1,40}:)?(?P<value>[^\s\"'$<{;|`]{4,200})[\"']?\s{0,3}\|[^\n|]{0,200}?"
        r"(?:chpasswd|sudo -S|--(?:password-|pass)?stdin|--with-token|--passphrase-fd)",
        0,
    ),
    (
        " -a ",
        "password",
        "a password",
        r"(?<![\w/-])https?\s[^\n]{0,200}?(?<=\s)-a[\s=]{1,3}[\"']?[^\s:\"'$<{]{1,80}:(?P<value>[^\s\"'$<{]{4,200})",
        None,
    ),
    (
        "net user ",
        "password",
        "a password",
        rf"net user [\w.-]{{1,40}} (?P<value>{_MADE_UP}[^\s\"'$<{{;|`*/]{{6,200}})",
        0,
    ),
    (
        "SecureString",
        "password",
        "a password",
        r"SecureString\s{1,3}(?:-String\s{1,3})?\\?(?P<q>[\"'])(?P<value>[^\s\"'$<{\\]{4,200})\\?(?P=q)",
        0,
    ),
    (
        "snmp-server community ",
        "password",
        "a password",
        rf"snmp-server community (?P<value>{_MADE_UP}[^\s\"']{{6,100}})",
        0,
    ),
    # Calls that are given a password, and settings whose name stands above it
    *(
        (
            lead,
            "password",
            "a password",
            rf"{re.escape(lead)}[^()\n]{{0,200}}?,\s{{0,5}}\\?(?P<q>[\"'])"
            rf"(?P<value>(?=[^\"'\n]{{0,60}}[0-9])(?=[^\"'\n]{{0,60}}[A-Za-z])[^\s\"'/$<{{\\]{{8,200}})\\?(?P=q)",
            0,
        )
        for lead in ("BasicAuth(", "auth=(", "getConnection(", "mysqli(", "mysql_connect(", "pg_connect(")
    ),
    (
        "variable ",
        "password",
        "a password",
        r"variable \\?\"[\w-]{0,60}(?:passw|pwd|secret|token|key)[\w-]{0,60}\\?\" {[^{}]{0,300}?default\s{1,20}=\s{1,3}"
        rf"\\?\"(?P<value>{_MADE_UP}[^\s\"$\\]{{6,200}})\\?\"",
        0,
    ),
    # Databases
    *(
        (
            lead,
            "password",
            "a password",
            rf"{lead}\s{{1,5}}\\?(?P<q>[\"'])(?P<value>{_MADE_UP}(?:(?!(?P=q))[^\n\\]){{4,200}})",
            0,
        )
        for lead in ("IDENTIFIED BY", "identified by", "PASSWORD")
    ),
    # Requests
    (
        "AC",
        "twilio_token",
        "a Twilio token",
        r"AC[0-9a-f]{32}\\?[\"']?[\s,:]{1,5}\\?[\"']?(?P<value>[0-9a-f]{32})(?!\w)",
        0,
    ),
    (
        "uthorization: ",
        "signature",
        "the signature of a request",
        r"uthorization: (?:Digest|AWS4|OAuth|Hawk|HMAC|Signature)[^\n]{0,600}?\b(?:response|[Ss]ignature|mac)="
        r"\\?[\"']?(?P<value>[\w+/%=-]{20,700})",
        0,
    ),
    ("infura.io/", "api_key", "an API key", r"infura\.io/(?:ws/)?v3/(?P<value>[0-9a-f]{32})", 0),
    (
        "earer ",
        "bearer_token",
        "a bearer token",
        r"[Bb]earer (?P<value>(?=[A-Za-z._~+/-]{0,60}+[0-9])[A-Za-z0-9._~+/=-]{20,2000})",
        1,
    ),
    (
        "ookie: ",
        "session_cookie",
        "a cookie of a session",
        r"[Cc]ookie: (?:[\w.-]{1,60}=[^;\s\"']{0,19};\s?){0,8}[\w.-]{1,60}="
        rf"(?P<value>{_DIGIT}[\w.%+/-]{{20,2000}}={{0,2}})",
        1,
    ),
    # Code
    (
        "jwt.",
        "signing_key",
        "a signing key",
        r"jwt\.(?:sign|verify|encode|decode)\([^()\n\"']{1,100},\s{0,3}"
        rf"(?P<q>[\"'`])(?P<value>{_DIGIT}[^\s\"'`.]{{12,200}})(?P=q)",
        0,
    ),
    (
        "nemonic",
        "seed_phrase",
        "the words of a wallet",
        r"nemonic(?:[ _-]?phrase)?[\"']?\s{0,3}[=:]{1,2}\s{0,3}[\"']?"
        r"(?P<value>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?= ?[^a-z ]|\Z)",
        0,
    ),
)
