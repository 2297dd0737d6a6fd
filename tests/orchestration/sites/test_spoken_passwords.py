"""Passwords in requests, however people phrase them."""

from __future__ import annotations

import pytest

from aurora_orchestration.sites.spoken_passwords import HIDDEN, without_passwords
from tests.growth import grows_with_length


@pytest.mark.parametrize(
    ("request_", "secret"),
    [
        ("login as ada@x.org with password hunter2 please", "hunter2"),
        ("log in with pin 1234", "1234"),
        ("PIN: 0000", "0000"),
        ("the code is 991122", "991122"),
        ("pw: geheim1", "geheim1"),
        ("pwd=abc123 then list", "abc123"),
        ("my password is 'tr0ub4dor & 3'", "tr0ub4dor & 3"),
        ("use the password “hunter two”", "hunter two"),
        ("password for ada is swordfish, then list posts", "swordfish"),
        ("password is: x9", "x9"),
        ("my pass is swordfish", "swordfish"),
        ("passphrase correct horse battery staple, then list", "correct horse battery staple"),
        ("anmelden mit Kennwort Sommer2024", "Sommer2024"),
        ("Passwort ist Hund", "Hund"),
        ("das Passwort lautet „Roter Hund“", "Roter Hund"),
        ("se connecter avec le mot de passe soleil", "soleil"),
        ("mot de passe : «soleil»", "soleil"),
        ("login ada/hunter2", "hunter2"),
    ],
)
def test_what_is_said_as_a_password_is_hidden(request_: str, secret: str) -> None:
    hidden = without_passwords(request_)
    assert secret not in hidden and hidden.count(HIDDEN) == 1
    assert all(word in hidden for word in ("then", "list", "ada", "please") if f" {word} " in f" {request_} ")


@pytest.mark.parametrize(
    "request_",
    [
        "change the password field label to Name",
        "reset my password",
        "show the pin board",
        "pin the note 12",
        "create a post called Password rules",
        "delete post 1234",
        "log in and create a post",
        "",
    ],
)
def test_what_only_speaks_of_passwords_stays(request_: str) -> None:
    assert without_passwords(request_) == request_


@pytest.mark.parametrize("piece", ["password ", "pass ", "login ", "pin 1", " 1", "password for a", "'"])
def test_the_search_takes_linear_time(piece: str) -> None:
    assert grows_with_length(lambda size: without_passwords(f"password {piece * size}"), 4_000, 40_000)
