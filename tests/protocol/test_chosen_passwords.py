"""Passwords as people choose them, known by where they stand; and names that look like them and are none."""

from __future__ import annotations

import base64

import pytest

from aurora_protocol.secret_mask import blanked, masked
from aurora_protocol.secrets import secrets_in
from tests.protocol.stand_ins import CHOSEN, HEX, PHRASE


@pytest.mark.parametrize("around", ["{}", "x = 1\n{}\nreturn x\n", "Deploy with {}", "Use `{}`."])
@pytest.mark.parametrize(("text", "secret"), CHOSEN.values(), ids=CHOSEN)
def test_a_password_is_known_by_where_it_stands(text: str, secret: str, around: str) -> None:
    text = around.format(text)
    assert secret not in masked(text)
    assert secret.encode() not in blanked(text.encode())
    assert len(blanked(text.encode())) == len(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "expect(loginLabel).toBe('Login2')",
        "AuthToken$1.class is written beside Login$2.class",
        "see LoginV2#handleToken16 and Login16#of",
        "secret: my-app-db-credentials",
        "password: 'forgot-your-password-label'",
        "PASSWORD_ROUTE = 'correct-orange-mountain-silver'",
        "- name: SECRET_PATH\n  value: /run/secrets/db",
        '{"key": "password", "value": "{{password}}"}',
        "name: TOKEN_LIMIT\n  value: 4096",
        "login Ann12@example.com",
        "user.setPassword('password')",
        '<input name="authenticity_token" value="#{token_of(env["rack.session"])}">',
        "checkPassword('hunter2')",
        "user%20Login%2FPassword22",
        "Sign in by passkeys, OAuth2! Or by OpenID2!",
        "auth = HTTPBasicAuth2Handler",
        f"auth: {base64.b64encode(b'a text that people read').decode()}",
        "https://ann@example.com/x",
        "master_key: Mapped[int] = mapped_column(primary_key=True)",
        "echo $TOKEN | docker login --password-stdin",
        f"commit {HEX}",
    ],
)
def test_names_and_texts_stay(text: str) -> None:
    assert masked(text) == text


def test_a_word_that_tells_of_a_login_reaches_to_the_next_line_and_no_further() -> None:
    assert masked("# password\nuse('Winter2024!')") == "# password\nuse('[REDACTED]')"
    assert masked("# password\n\n\nuse('Winter2024!')") == "# password\n\n\nuse('Winter2024!')"


def test_a_passphrase_is_taken_for_the_password_itself() -> None:
    assert masked(f"DB_PASSWORD='{PHRASE}'") == "DB_PASSWORD='[REDACTED]'"
    assert masked(f"slug = '{PHRASE}'") == f"slug = '{PHRASE}'"


def test_a_default_is_found_behind_the_name_that_it_is_for() -> None:
    text = f"const secret = process.env.JWT_SECRET || '{PHRASE}';"
    assert [text[each.start : each.end] for each in secrets_in(text, every=True)][-1] == PHRASE
