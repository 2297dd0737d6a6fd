"""Stand-ins for secrets without a form of their own: what stands around each, and the secret alone."""

from __future__ import annotations

import base64

HEX = "4f9a0c7be1d258463f9a0c7be1d25846"
PHRASE = "correct-orange-mountain-silver"
LOGIN = base64.b64encode(b"ann:hunter2x").decode()
OWN = "Winter2024!"
SAML = base64.b64encode(b"<samlp:Response " + bytes(range(200))).decode()
SEED = "zebra ivory lemon tiger ocean piano river salad tulip umbra venom wagon"

CHOSEN: dict[str, tuple[str, str]] = {
    "typed into a form": (f"cy.get('#password').type('{OWN}')", OWN),
    "filled in": (f"fill_in 'Password', with: '{OWN}'", OWN),
    "an argument of a login": (f"// conn.login('ann', '{OWN}');", OWN),
    "a signing key": ("jwt.sign({ id: 1 }, 'Dragon77*', { expiresIn: '1h' })", "Dragon77*"),
    "in a template": (f"password: <%= ENV['X'] || '{OWN}' %>", OWN),
    "a setter": ('dataSource.setPassword("hunter2x");', "hunter2x"),
    "a builder": ('Config.builder().password("hunter2x")', "hunter2x"),
    "a variable of Kubernetes": ("- name: DB_PASSWORD\n  value: hunter2x", "hunter2x"),
    "a pair of Postman": (f'{{"key": "api_key", "value": "{HEX}", "enabled": true}}', HEX),
    "said": (f"the staging password is {OWN} for now", OWN),
    "said in German": ("das Passwort lautet Silver6324#", "Silver6324#"),
    "said of a login": ("login: ann / Silver4888* on staging", "Silver4888*"),
    "a pipe into sudo": ("echo 'hunter2x' | sudo -S apt update", "hunter2x"),
    "a pipe into docker": ("echo hunter2x | docker login -u ann --password-stdin", "hunter2x"),
    "HTTPie": ("http -a ann:hunter2x POST https://x.example.com", "hunter2x"),
    "an option of Redis": ("command: redis-server --requirepass hunter2x", "hunter2x"),
    "a passphrase": (f"export DB_PASSWORD='{PHRASE}'", PHRASE),
    "a default": (f"const secret = process.env.JWT_SECRET || '{PHRASE}';", PHRASE),
    "another key": (f'auth_key = "{HEX[:8]}-{HEX[8:12]}:fx"', HEX[:8]),
    "a key for a name": (f"SENTRY_DSN=https://{HEX}@o1.ingest.sentry.io/42", HEX),
    "a service that is called": (f"algoliasearch('LATENCY', '{HEX}')", HEX),
    "an account and its token": (f"Client('AC{HEX}', '{HEX[::-1]}')", HEX[::-1]),
    "a login of .npmrc": (f"_auth={LOGIN}", LOGIN),
    "Docker's login in a text of JSON": (f'{{"text": "{{\\"auth\\": \\"{LOGIN}\\"}}"}}', LOGIN),
    "an answer of Digest": (f'Authorization: Digest username="ann", nonce="1", response="{HEX}"', HEX),
    "a signature of AWS": (f"Authorization: AWS4-HMAC-SHA256 Credential=A/1/s3, SignedHeaders=h, Signature={HEX}", HEX),
    "base64 before another line": (f"  password: {LOGIN[:15]}=\nfunction deploy() {{", f"{LOGIN[:15]}="),
    "a vault": (f"x: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  {'3643' * 20}\n  {'3534' * 20}\n", "3534" * 20),
    "a password with # in an address": ("mongodb+srv://shop:Winter3882#@c0.mongodb.net/", "Winter3882#"),
    "an assertion of SAML": (f'{{"name": "SAMLResponse", "value": "{SAML}"}}', SAML),
    "an assertion in a form": (f"SAMLResponse={SAML}&RelayState=x", SAML),
    "words of a wallet": (f"Seed phrase: {SEED}", SEED),
    "words of a wallet in code": (f'RECOVERY_PHRASE = x; recoveryPhrase: "{SEED}"', SEED),
    "codes of recovery": ("GitHub recovery codes\n\n4jchx-yuac9\nk2d8f-p0xzq\n1. m3n7a-qq8rt\n", "k2d8f-p0xzq"),
    "codes of recovery in JSON": ('{"backup_codes": ["4jchxyuac9", "k2d8fp0xzq"]}', "k2d8fp0xzq"),
    "a connection of Go": ('"root:dragonfly@tcp(127.0.0.1:3306)/shop"', "dragonfly"),
    "a password that is typed": ('expect "assword:"\nsend "dragonfly\\r"', "dragonfly"),
    "a key of a licence": ("Windows licence key: JM8MP-1ZZ0Z-DJ2ST-ZAUB4-N0W53", "JM8MP-1ZZ0Z-DJ2ST-ZAUB4-N0W53"),
    "a licence in code": ('LICENSE_KEY = "WY0P-W2FF-W8NX-ZL6A"', "WY0P-W2FF-W8NX-ZL6A"),
    "a wallet of Hardhat": (f'accounts: ["0x{HEX}{HEX}"]', f"{HEX}{HEX}"),
    "a wallet of ethers": (f'new ethers.Wallet("0x{HEX}{HEX}")', f"{HEX}{HEX}"),
    "a seed that is called": ('pyotp.TOTP("QMTDZF7H5E6CEEZE")', "QMTDZF7H5E6CEEZE"),
    "a key that is decoded": (f'const key = Buffer.from("{HEX}{HEX}", "hex");', f"{HEX}{HEX}"),
    "a key of HMAC": (f'hmac.new(b"{HEX}", message, sha256)', HEX),
    "a key of Node's HMAC": (f'crypto.createHmac("sha256", "{HEX}")', HEX),
    "a token of Asana": (f'useAccessToken("2/1199999999999999/1188888888888888:{HEX}")', HEX),
    "a vault with its breaks": (
        f"$ANSIBLE_VAULT;1.1;AES256\n{'3643' * 20}\n{'3534' * 10}0a{'3139' * 9}30\n{'3735' * 20}\n",
        "3735" * 20,
    ),
}
