"""Kept words: what goes to no model of a request that has to do with signing in, and is filled in here."""

from __future__ import annotations

import pytest

from aurora_orchestration.sites.kept_words import kept_words
from tests.growth import grows_with_length

SHOWN = [
    {"id": "create_post", "description": "Create a post", "parameters": {"properties": {"limit": {"enum": ["A1"]}}}}
]


@pytest.mark.parametrize(
    ("request_", "secret"),
    [
        ("Kindly get me inside as bob, my magic word there happens to be sunflower, then list posts", "sunflower"),
        ("Before anything else identify yourself as bob / the thing to prove it: Tr0ub4dor", "Tr0ub4dor"),
        ("for signing in, bob usually goes with marmalade; then read post 3", "marmalade"),
        ("The word that opens my account is xylophone. Log in and log out.", "xylophone"),
        ("Melde dich als bob an, Losungswort Regenbogen, und liste die Beiträge", "Regenbogen"),
        ("connecte-toi en tant que bob, le sésame c'est papillon", "papillon"),
        ("authenticate bob, six digits on my phone say 98761", "98761"),
        ("log on; name bob; second field tulipfield", "tulipfield"),
        ("auth with bob:moonraker and get my profile", "moonraker"),
        ("password? zanzibar. user? bob. delete post 4", "zanzibar"),
        ("My wife set it to thunderbolt last week, so log in as bob with that", "thunderbolt"),
        ("войди bob wolfgang5 и покажи посты", "wolfgang5"),
    ],
)
def test_no_phrasing_tells_a_model_a_word_that_few_write(request_: str, secret: str) -> None:
    kept = kept_words(request_, SHOWN)
    assert secret not in kept.text and secret in kept.words
    assert kept.filled(kept.text) == request_


@pytest.mark.parametrize(
    "request_",
    [
        "rename the newest post to Wuthering Heights",
        "log me in and create a post, limit A1, then list 25 posts of 2026-11-27 and log out",
        "sign in with [REDACTED] and please show everything from yesterday",
        "what is the balance of my account",
        "",
    ],
)
def test_what_anybody_writes_and_what_the_manifest_says_stays(request_: str) -> None:
    assert kept_words(request_, SHOWN).text == request_


def test_the_same_word_has_one_number_and_a_placeholder_of_the_users_stands_for_itself() -> None:
    kept = kept_words("log in as wotan, post [KEPT-1] by wotan", [])
    assert kept.text == "log in as [KEPT-1], post [[KEPT-2]] by [KEPT-1]"
    assert kept.filled("by [KEPT-1], [[KEPT-2]]") == "by wotan, [KEPT-1]"


def test_a_word_is_a_number_where_a_number_is_asked_for() -> None:
    kept = kept_words("log in with 4711", [])
    schema = {"properties": {"pin": {"type": "integer"}, "pins": {"items": {"type": "number"}}}}
    value = {"pin": "[KEPT-1]", "pins": ["[KEPT-1]"], "text": "[KEPT-1]"}
    assert kept.filled(value, schema) == {"pin": 4711, "pins": [4711], "text": "4711"}


@pytest.mark.parametrize("piece", ["login ", "x1 ", "a-", "'", "log a ", "https://", "@", "[A", "get a "])
@pytest.mark.long
def test_keeping_words_takes_linear_time(piece: str) -> None:
    assert grows_with_length(lambda size: kept_words(f"password {piece * size}", []), 4_000, 40_000)
