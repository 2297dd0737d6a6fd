"""What is taken out of a text, and what is left as it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora_orchestration.guardrails.redaction import REDACTED, redact
from tests.growth import grows_with_length
from tests.shares import examples


def kinds(text: str, *, pii: bool = True) -> dict[str, int]:
    return {each.kind: each.count for each in redact(text, pii=pii).found}


A = "abcdefghijklmnopqrstuvwxyz0123456789ABCD"
KEY_BLOCK = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEpAIBAAKCAQEAx\nabc=\n-----END RSA PRIVATE KEY-----"
)


@pytest.mark.parametrize(
    ("secret", "kind"),
    [
        ("AKIAIOSFODNN7EXAMPLE", "aws_key"),
        (f"ghp_{A[:36]}", "github_token"),
        (f"github_pat_{A}", "github_token"),
        (f"glpat-{A[:20]}", "gitlab_token"),
        (f"xoxb-123456789012-{A[:24]}", "slack_token"),
        (f"sk_live_{A[:24]}", "stripe_key"),
        (f"rk_test_{A[:24]}", "stripe_key"),
        (f"AIza{A[:35]}", "google_key"),
        (f"ya29.{A[:30]}", "google_token"),
        (f"sk-ant-api03-{A}", "anthropic_key"),
        (f"sk-proj-{A}", "api_key"),
        (f"npm_{A[:36]}", "npm_token"),
        (f"pypi-AgEIcHlwaS5vcmcC{A}", "pypi_token"),
        (f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{A}", "jwt"),
        (KEY_BLOCK, "private_key"),
        (KEY_BLOCK[: KEY_BLOCK.index("\nabc")], "private_key"),
    ],
)
def test_keys_and_tokens_are_taken_out_whole(secret: str, kind: str) -> None:
    for text in (f"before {secret} after", f'{{"x": "{secret}"}}'):
        redacted = redact(text, pii=False)
        assert redacted.text == text.replace(secret, REDACTED)
        assert [(each.kind, each.count, each.secret) for each in redacted.found] == [(kind, 1, True)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("password=hunter2", "password=[REDACTED]"),
        ("my password is hunter2.", "my password is [REDACTED]."),
        ('PASSWORD="abc 12Ab3"', 'PASSWORD="[REDACTED]"'),
        ('password: str = "hunter22x"', 'password: str = "[REDACTED]"'),
        ('if token == "a1b2c3d4":', 'if token == "[REDACTED]":'),
        ('{"api_key": "zz_1234abcd99"}', '{"api_key": "[REDACTED]"}'),
        (r"{\"api_key\": \"zz_1234abcd99\"}", r"{\"api_key\": \"[REDACTED]\"}"),
        ("AccountKey=abcDEF123+/==;x", "AccountKey=[REDACTED];x"),
        ("login --password hunter2x now", "login --password [REDACTED] now"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer [REDACTED]"),
        ("-H 'authorization: Basic dXNlcjpwYXNz'", "-H 'authorization: Basic [REDACTED]'"),
        ("postgres://ann:p@ss@db/shop", "postgres://[REDACTED]@db/shop"),
        ("redis://:s3cret@db:6379/0", "redis://[REDACTED]@db:6379/0"),
        ("https://x.org/?a=1&api_key=abc123def&b=2", "https://x.org/?a=1&api_key=[REDACTED]&b=2"),
        ("secret password=hunter2", "secret password=[REDACTED]"),
    ],
)
def test_values_that_are_named_like_secrets_are_taken_out(text: str, left: str) -> None:
    assert redact(text, pii=False).text == left


@pytest.mark.parametrize(
    "text",
    [
        "def login(password: str, token: Token | None = None) -> AuthToken:",
        "password = get_password(user2)",
        "token = self.tokens2",
        "token = tokens[0]",
        "max_tokens: 4096",
        '"token": "next_page_token"',
        "password=${DB_PASSWORD}",
        'password="<your password1>"',
        "api_key: YOUR_API_KEY_HERE1",
        "Authorization: Bearer <token>",
        "bearer tokens are good, basic authentication is not",
        "https://user:$PASS@host/",
        "https://{user}:{password}@host/",
        "the token is expired",
        "Add password reset: tokens expire",
        "token: sha256",
        "secret_path: /etc/app/secret1",
        "skip-list sk-learn ghp_short AKIA",
    ],
)
def test_code_that_handles_secrets_stays_as_it_is(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    ("text", "left", "kind"),
    [
        ("mail john@example.com.", "mail [REDACTED].", "email"),
        ("<jörg.o'neil+x@mail.example.co.uk>", "<[REDACTED]>", "email"),
        ("ssn 123-45-6789,", "ssn [REDACTED],", "ssn"),
        ("my SSN is 123456789", "my SSN is [REDACTED]", "ssn"),
        ("4111 1111 1111 1111", "[REDACTED]", "card"),
        ("pay 5555-5555-5555-4444 now", "pay [REDACTED] now", "card"),
        ("3782 822463 10005", "[REDACTED]", "card"),
        ("(6011000990139424)", "([REDACTED])", "card"),
        ("order 1234 4111111111111111 5", "order 1234 [REDACTED] 5", "card"),
        ("+44 20 7946 0958", "[REDACTED]", "phone"),
        ("+15551234567", "[REDACTED]", "phone"),
        ("+49 (0)30 123456", "[REDACTED]", "phone"),
        ("(555) 123-4567", "[REDACTED]", "phone"),
        ("1-800-555-0199", "[REDACTED]", "phone"),
        ("555.867.5309", "[REDACTED]", "phone"),
        ("call me at 5551234567", "call me at [REDACTED]", "phone"),
        ("phone: 030/123456-78", "phone: [REDACTED]", "phone"),
        ("GB29 NWBK 6016 1331 9268 19 IS MINE", "[REDACTED] IS MINE", "iban"),
        ("de89370400440532013000", "[REDACTED]", "iban"),
    ],
)
def test_personal_data_is_taken_out(text: str, left: str, kind: str) -> None:
    assert (redact(text).text, kinds(text)) == (left, {kind: 1})
    assert redact(text, pii=False).text == text


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:a/b.git icon@2x.png @decorator react@19.1.0 a@b.shape()",
        "hg@hg.example.org/a svn@svn.example.org/b",
        "a@2x.jpg b@3x.jpeg c@x.gif d@2x.svg e@2x.webp f@x.ico g@x.bmp h@1.py i@2.js j@3.ts k@x.css l@x.html",
        "a@b.json b@c.yaml c@d.yml d@e.toml e@f.md f@g.txt g@h.sh h@i.rs i@j.go",
        "000-12-3456 666-12-3456 912-12-3456 123-00-4567 123-45-0000 123456789",
        "4111 1111 1111 1112 4111111111111112 0.4111111111111111 0000000000000000",
        "192.168.100.200 10.0.0.1:8080 2001:db8::8a2e:370:7334 255.255.255.0",
        "call me at 192.168.100.200, phone 10.20.30.40, fax: 255.255.255.0, tel +192.168.100.200",
        "v1.2.3 1.20.3000 3.11.0rc1 1.0.0+20130313144700 2025.12.1034",
        "1700000000 1700000000000 1700000000000000 1700000000000000000",
        "2024-11-12T10:00:00.123456+00:00 +2024-11-12 10:00 20241112-101530 12/11/2024 10:11:12",
        "550e8400-e29b-41d4-a716-446655440000 12345678-1234-4234-8234-123456789012",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709 4111111111111111abcdef 0x4111111111111111",
        "@@ -100,200 +300,4000 @@ lines 100-2000 and 200 300 4000",
        "src/http/template.py:41:12 x.py#L120-L340 port 5432",
        "mobile build 20241112 and call stack 1234567890",
        "call me on 2024-11-12, phone: 20241112, fax 2024.11.12",
        "DE89370400440532013001 GB00NWBK60161331926819 XX11ABCDEFGHIJKLMNOP",
        "3.14159265358979 1e-10 1234567.8901234 (555) 12",
    ],
)
def test_other_numbers_and_names_stay_as_they_are(text: str) -> None:
    assert redact(text).text == text


def test_numbers_beside_each_other_are_all_taken_out() -> None:
    for first in (
        "+1 555 867-5309",
        "(555) 867-5309",
        "4111 1111 1111 1111",
        "123-45-6789",
        "GB29 NWBK 6016 1331 9268 19",
    ):
        for second in ("4111 1111 1111 1111", "555-867-5309", "123-45-6789", "+44 20 7946 0958"):
            left = redact(f"{first} {second}").text.replace(REDACTED, "")
            assert left.strip() == "", (first, second)


def test_what_was_found_is_named_by_kind_and_count_never_by_value() -> None:
    redacted = redact(f"a@b.org, c@d.org, password=hunter2, ghp_{A[:36]}")
    assert [each.words for each in redacted.found] == ["1 github token", "1 password", "2 email addresses"]
    assert not any(value in repr(redacted) for value in ("a@b", "c@d", "hunter2", "ghp_"))
    both = redact("+1 415 555 2671, +1 415 555 2672, a@b.org").found
    assert [each.words for each in both] == ["1 email address", "2 phone numbers"], "of a sort by kind, not by count"


PIECES = [
    *(
        "password=hunter2",
        "password:",
        "token",
        "x",
        '"',
        "'",
        "@",
        "a@b.org",
        "4111 1111 1111 1111",
        "+1 555 867-5309",
        "é",
    ),
    *(f"ghp_{A[:36]}", "AKIAIOSFODNN7EXAMPLE", "postgres://u:p@h", "Authorization: Bearer", "İ", "\\", "--", KEY_BLOCK),
]


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


HOSTILE = [
    *(
        "a",
        "1",
        "1 ",
        "1-",
        "+1 ",
        "(555) ",
        "555-",
        "a@",
        "a@a.",
        "@",
        ".",
        "GB29 ",
        "GB29A ",
        "4111 ",
        "4111-",
        "phone 1 ",
    ),
    *(
        "sk-",
        "sk-a",
        "eyJ",
        "eyJaaaaaaaa.",
        "eyJaaaaaaaa.eyJaaaa.",
        "-",
        "password",
        "password:",
        "password: a = ",
        "ghp_",
    ),
    *("password=here1", "token ", "tokentoken:", "--token ", "authorization:", "Bearer ", "a://", "a://a:a", "?token="),
    *("AKIA", "ghp_", "1", '"', "\\", "api key is ", "ssn ", "123-45-", "é@é.", "-----BEGIN PRIVATE KEY-----"),
    "-----BEGIN PRIVATE KEY-----\n" + "A" * 16 + "\n",
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.long
def test_time_grows_with_length_alone(piece: str) -> None:
    assert grows_with_length(lambda letters: redact((piece * letters)[:letters]), 10_000, 80_000)
