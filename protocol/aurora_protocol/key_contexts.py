"""Contexts of keys (rules of secret scanning): words, settings and commands behind which a secret stands, whatever it
looks like itself.

A row is the letters searched for first, the kind for machines, the noun for people, the pattern (its group `value`
alone is the secret; where it has none, all of it is), and how many letters before its lead the pattern begins, None
where that is not known. Every pattern is linear in the text's length: runs are bounded.
"""

from __future__ import annotations

_DIGIT = "(?=[A-Za-z_.%+/-]{0,80}+[0-9])"
_MADE_UP = "(?=[A-Za-z]{0,40}+[0-9]|[a-z]{1,20}[A-Z]|[A-Z]{1,20}[a-z])"
_NO_STAND_IN = (
    r"(?!(?i:(?:my|your|the|new|old|some|test|db|user|admin)?[ _-]?"
    r"(?:pass|secret|pwd|string|text|null|change|token)\w*)[\"'\s\\])"
)
"""Before a value of which the place says all: it is no word for a password."""

_WORDS = (
    r"[\"'*]{0,3}(?:\s{0,3}[=:]{1,2}|\s{1,3}is)[*\s]{0,4}[\"'`]?"
    r"(?P<value>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?= ?[^a-z ]|\Z)"
)

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
        r"\$ANSIBLE_VAULT;[\w.;-]{1,80}(?P<value>(?:(?:\s|\\[nr]){1,40}[0-9a]{16,80}){1,4000})",
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
        r"(?<![\w-])machine\s{1,5}\S{1,200}\s{1,5}login\s{1,5}\S{1,200}\s{1,5}password\s{1,5}"
        r"(?P<value>(?:(?!\\[nrt]|[\"'`](?:[\s,;)\]}]|\Z))\S){3,200})",
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
        "pass:",
        "password",
        "a password",
        r"(?<![\w-])-pass(?:in|out)?\s{1,3}[\"']?pass:(?P<value>[^\s\"'$<{;|`]{4,200})",
        None,
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
    # Settings whose name stands above them
    (
        "variable ",
        "password",
        "a password",
        r"variable \\?\"[\w-]{0,60}(?:passw|pwd|secret|token|key)[\w-]{0,60}\\?\" {[^{}]{0,300}?default\s{1,20}=\s{1,3}"
        rf"\\?\"(?P<value>{_MADE_UP}[^\s\"$\\]{{6,200}})\\?\"",
        0,
    ),
    (
        "variable ",
        "password",
        "a password",
        r"variable \\?\"[\w-]{0,60}(?:passw(?:or)?d|pwd)\\?\" {[^{}]{0,300}?default\s{1,20}=\s{1,3}"
        rf"\\?\"(?P<value>{_NO_STAND_IN}[^\s\"$<\\]{{5,200}})\\?\"",
        0,
    ),
    (
        "SAMLResponse",
        "session",
        "a SAML assertion",
        r"SAMLResponse(?:=|\\?[\"'](?:>|\s?[:,]?\s{0,3}(?:\\?[\"']?value\\?[\"']?\s{0,2}[:=]\s{0,2})?))\\?[\"']?"
        r"(?P<value>[A-Za-z0-9+/%=]{60,40000})",
        0,
    ),
    (
        "@tcp(",
        "password",
        "a password of a database",
        r"[\w.-]{1,60}:(?P<value>[^\s:@\"'$<{%]{4,200})@tcp\(",
        None,
    ),
    (
        "assword:",
        "password",
        "a password that is typed",
        r"assword: {0,2}\\?[\"'](?:[^\n]{0,20}\n){1,2}[^\n]{0,40}?(?:send|write)[\w.-]{0,10}[\s(]{1,3}b?"
        r"(?P<q>[\"'])(?P<value>[^\s\"'$<{\\]{4,100})",
        0,
    ),
    # Databases
    *(
        (
            lead,
            "password",
            "a password",
            rf"{lead}\s{{1,5}}\\?(?P<q>[\"'])(?P<value>{_NO_STAND_IN}(?:(?!(?P=q))[^\s\\$<{{%]){{4,200}})\\?(?P=q)",
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
        r"nemonic(?:[ _-]?phrase)?" + _WORDS,
        0,
    ),
    (
        "hrase",
        "seed_phrase",
        "the words of a wallet",
        r"(?:(?<=eed p)|(?<=eed_p)|(?<=eedP)|(?<=EED_P)|(?<=very p)|(?<=very_p)|(?<=veryP))hrase" + _WORDS,
        0,
    ),
    (
        "odes",
        "recovery_code",
        "codes of recovery",
        r"(?:(?<=ecovery[ _-][cC])|(?<=ackup[ _-][cC])|(?<=cratch[ _-][cC])|(?<=escue[ _-][cC])|"
        r"(?<=ecoveryC)|(?<=ackupC))odes(?:[^\n]{0,60}\n){0,3}?[^\n\w]{0,20}(?P<value>(?:(?=[a-z-]{0,20}[0-9]|[0-9-]{0,20}[a-z])[0-9a-z]{4,10}"
        r"(?:-[0-9a-z]{4,6}){0,3}(?:[\s\"',*|.)-]{1,12}|\Z)(?:[0-9]{1,2}[.)] )?){2,20})",
        0,
    ),
)
