"""Random strings in a text: keys of nobody that is known, told from names, digests and data by their letters alone."""

from __future__ import annotations

import base64
import random
import re
import string

import pytest

from aurora_protocol.secret_mask import blanked, masked, masked_value
from aurora_protocol.secrets import secrets_in
from tests.shares import examples

BASE_62 = string.ascii_letters + string.digits
BASE_36 = string.ascii_lowercase + string.digits
BASE_64_OF_ADDRESSES = BASE_62 + "-_"
BLOCK = base64.b64encode(random.Random(1).randbytes(110)).decode()
KEY = "qW7xRtY9KmLpZ3nBvC5dFgH1jKs8Tu2V"
LONG = "".join(random.Random(1).choices(BASE_62, k=401))
HEXADECIMAL = "3f9a0c7be1d258463f9a"
LINES = (BLOCK[:64], BLOCK[64:128], BLOCK[128:])
AROUND = ("x = Client('{}')", "# see {} there", "Deploy with {}", "run `{}`", "--id {}")


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    ("letters", "length", "share"),
    [
        (BASE_62, 24, 0.97),
        (BASE_62, 32, 0.99),
        (BASE_62, 40, 0.99),
        (BASE_62, 64, 0.999),
        (BASE_64_OF_ADDRESSES, 32, 0.97),
        (BASE_64_OF_ADDRESSES, 43, 0.99),
        (BASE_36, 32, 0.93),
        (BASE_36.upper(), 40, 0.95),
    ],
)
def test_letters_drawn_at_random_are_found(letters: str, length: int, share: float) -> None:
    numbers = random.Random(length)
    drawn = ["".join(numbers.choices(letters, k=length)) for _ in range(examples(1200))]
    kept = [each for number, each in enumerate(drawn) if each in masked(AROUND[number % len(AROUND)].format(each))]
    assert len(kept) <= (1 - share) * len(drawn), kept[:5]


@pytest.mark.hypothesis
@pytest.mark.parametrize("length", [18, 24, 32, 48])
def test_bytes_in_base64_are_found_whole(length: int) -> None:
    numbers = random.Random(length)
    left = 0
    many = examples(500)
    for _ in range(many):
        key = base64.b64encode(numbers.randbytes(length)).decode()
        found = [(each.start, each.end) for each in secrets_in(f"x = '{key}'")]
        left += found != [(5, 5 + len(key))]
    assert left <= many // 25


@pytest.mark.parametrize(
    "text",
    [
        "In1In2In3CenterOut3Out2Out1",
        "Int8Int16Int32Int64Uint8Uint16",
        "MD5AndSHA1WithRSA2AndX509V3",
        "L1CacheL2CacheL3CacheSizes",
        "S3ToEc2ToRds2ToSqs1Handler",
        "Conv2dBatchNorm2dReluMaxPool2d",
        "Base64UrlToBase32HexToInt8Slice",
        "func TestContextGetInt16SliceWithUtf8Base64Url(t *testing.T) {",
        "uint8ArrayToBase64UrlStringWithoutPadding(x)",
        "x86_64-unknown-linux-gnu2-and-aarch64-apple-darwin20",
        "kSecAttrKeyTypeECSECPrimeRandom256v1AndSha512",
        "commit 3f9a0c7be1d258463f9a0c7be1d258463f9a0c7b",
        "id: 3f9a0c7b-e1d2-5846-9a0c-7be1d2584613",
        "sha256 = '3f9a0c7be1d258463f9a0c7be1d258463f9a0c7be1d258463f9a0c7be1d25846'",
        "integrity sha512-Zt3tFbwPQ7bK9mV1xW5yL0nR2cS4dE6fG8hJ0kL2mN4pQ6rS8tU0vW2xY4zA6bC8dE0fG2hJ==",
        "golang.org/x/net v0.1.0 h1:hZ/3BUoy5aId7sCpA/Tc5lt8DkFgdVS2onTpJsZ/fl0=",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDp7uF0zVbXrq8mQ1kN3Lw9sT5yH2jR6eG4cB8aM0dZx ann@x",
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA7p4c1IU6aA65FWn6YZ+Bya5dRbfd4P6d4a6H0u9+gCg=\n-----END PUBLIC",
        'src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk"',
        "assert decoded('VGhpcyBpcyBhbiBlbmNvZGVkIHN0cmluZywgbG9uZyBlbm91Z2g=')",
        "_ZN4llvm12DenseMapBaseINS_8DenseMapIPKNS_5ValueEjEEE8FindImplEv",
        "public_key = 'qW7xRtY9KmLpZ3nBvC5dFgH1jKs8Tu2V'",
        "cache_key: 3f9a0c7be1d258463f9a0c7be1d25846",
        f"DATA = (\n    '{LINES[0]}'\n    '{LINES[1]}'\n    '{LINES[2]}'\n)",
        f'"{LINES[0]}\\n{LINES[1]}\\n{LINES[2]}"',
        f"{LINES[0]}&#xA;{LINES[1]}&#xA;{LINES[2]}",
    ],
)
def test_names_digests_and_data_stay(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    ("around", "key", "none"),
    [
        pytest.param("x = '{}'", KEY[:24], KEY[:23], id="24 letters are a key"),
        pytest.param("x = '{}'", LONG[:400], LONG[:401], id="and up to 400; what is longer is data"),
        pytest.param("salt = '{}'", HEXADECIMAL[:20], HEXADECIMAL[:19], id="20 digits of base 16 beside a name"),
        pytest.param("salt = '{}'", "481516234248151623a2", "48151623424815162342", id="of which one is a letter"),
        pytest.param("https://{}@a.example/1", HEXADECIMAL[:20], HEXADECIMAL[:19], id="or where a user's name stands"),
        pytest.param("salt = '{}'", "qw7xrty9kmlpz3nb", "notificationcenter2background", id="words of 8 letters"),
        pytest.param(
            "seed = '{}'", "release2024a1b2c3d4linux64", "release-2024a1-b2c3d4-linux64", id="divided, beside a name"
        ),
        pytest.param("x = '{}'", "ab12cd34ef56gh78ij90kl12", "ab12cd34-ef56gh78-ij90kl12", id="divided, of one case"),
        pytest.param(
            "at {} there", "aB3dE7gH/1jK5mN9pQ2sT6v/X", "aB3d/E7gH/1jK5/mN9pQ2sT6v", id="more than two slashes"
        ),
        pytest.param("is {}", "A9CD-1234-E5FG-H6JK", "ABCD-1234-E5FG-H6JK", id="most groups of a licence are mixed"),
        pytest.param("x = '{}'", f"4sIAAAAAAAA{BLOCK[:40]}", f"H4sIAAAAAAAA{BLOCK[:40]}", id="an archive's beginning"),
        pytest.param("{}", f"{KEY}=1", "a_name_of_words=1", id="a name before a value is no key itself"),
        pytest.param(
            "{}", f"{BLOCK[:55]}\n{BLOCK[55:110]}", f"{BLOCK[:56]}\n{BLOCK[56:112]}", id="lines of 56 are a block"
        ),
        pytest.param("x = '{}'", "gijftjyg5ahz1WdlSbqdIgDbD", "gijftjyg5a-hz1WdlSbqdIgDbD", id="words of 2.6, divided"),
        pytest.param("https://a.example/{}/b", KEY[:24], KEY[:23], id="a part of an address"),
        pytest.param(
            "{}", "aB3d-E7gH1-jK5mN9-pQ2s-T6vX0", "aB3d-E7g-H1jK-5mN9-pQ2s-T6vX", id="one sign in six divides"
        ),
        pytest.param(
            "{}",
            "7xRtY9Key3nBvC5Key8Tu2V4dFg1jKs9Lp",
            "7xRtY9Key3nBvC5Key8Tu2V4dFg1Key9Lp",
            id="a fifth of it comes again",
        ),
    ],
)
def test_what_is_just_a_key_and_what_is_just_none(around: str, key: str, none: str) -> None:
    assert masked(around.format(key)) == around.format(re.sub(r"\S+", "[REDACTED]", key))
    assert masked(around.format(none)) == around.format(none)


@pytest.mark.parametrize("name", ["TestProxyProtocolV1WithH2C", "testH2ToH2CStreamServeH2C"])
def test_the_name_of_a_function_is_no_key(name: str) -> None:
    assert masked(f"func {name}(t *T) {{ x.{name}() }}") == f"func {name}(t *T) {{ x.{name}() }}"
    assert name not in masked(f"x = '{name}'")


@pytest.mark.parametrize("key", [KEY, "Proxyx7RtY9KmLpZ3nBvC5dFgH1jKs8Tu", "aB3dProtH1jK5mN9pQServ2sT6vX"])
def test_a_key_before_a_bracket_is_one(key: str) -> None:
    assert masked(f"the key {key}(of 2024)") == "the key [REDACTED](of 2024)"


def test_a_line_that_is_followed_by_a_longer_one_is_no_block() -> None:
    assert masked(f"{BLOCK[:60]}\n{BLOCK[60:130]}") == "[REDACTED]\n[REDACTED]"


def test_keys_below_each_other_are_no_block_of_data() -> None:
    text = "\n".join((KEY, "aB3dE7gH1jK5mN9pQ2sT6vX0zL4wR8yC", LINES[0][:40]))
    assert masked(text) == "[REDACTED]\n[REDACTED]\n[REDACTED]"
    assert masked(f"{LINES[0]}\n\n{LINES[1]}") == "[REDACTED]\n\n[REDACTED]"


def test_base64_of_a_random_string_is_one_itself() -> None:
    key = base64.b64encode(b"qW7xRtY9KmLpZ3nBvC5dFgH1jKs8Tu2V").decode()
    assert key not in masked(f"x = '{key}'")


def test_a_value_of_one_word_may_be_an_id_and_stays() -> None:
    """Events are told apart by their ids: two of them that became one would be one event."""
    ids = {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "call": "toolu_01A09q90qw90lq917835lq9Xy2Kf7"}
    assert masked_value(ids) == ids
    said = masked_value({"title": "use qW7xRtY9KmLpZ3nBvC5dFgH1jKs8Tu2V"})
    assert said == {"title": "use [REDACTED]"}


def test_a_token_of_a_known_form_goes_from_a_value_of_one_word_too() -> None:
    assert masked_value({"id": "ghp_" + "aB3dE7gH1jK5mN9pQ2sT6vX0zL4wR8yC"}) == {"id": "[REDACTED]"}


def test_what_is_blanked_keeps_every_line_and_its_end() -> None:
    name = "PRIVATE" + " KEY"
    key = f"-----BEGIN {name}-----\r\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\r\n-----END {name}-----\r\n"
    text = f"a = 1\r\n{key}b = 2\n".encode()
    found = blanked(text)
    assert b"MIIE" not in found and len(found) == len(text)
    assert [index for index, each in enumerate(found) if each in b"\r\n"] == [
        index for index, each in enumerate(text) if each in b"\r\n"
    ]
