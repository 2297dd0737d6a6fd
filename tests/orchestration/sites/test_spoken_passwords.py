"""Passwords in requests, however people phrase them."""

from __future__ import annotations

import pytest

from aurora_orchestration.sites.spoken_passwords import HIDDEN, without_passwords
from tests.growth import grows_with_length


@pytest.mark.parametrize(
    ("request_", "secret"),
    [
        ("use hunter2 to sign in as bob", "hunter2"),
        ("the code on my phone says 481 516, log in with it", "481 516"),
        ("la mia parola d'ordine è estate", "estate"),
        ("zaloguj bob hasłem lato", "lato"),
        ("logga in med lösenordet sommar", "sommar"),
        ("log in, password the usual one: kitty", "kitty"),
        ("if asked for a password say swordfish", "swordfish"),
        ("swordfish gets you in as bob", "swordfish"),
        ("bob / swordfish — log in", "swordfish"),
        ("the password I chose is swordfish", "swordfish"),
        ("swordfish (that's my password) - user bob", "swordfish"),
        ("my password hasn't changed, still swordfish", "swordfish"),
        ("password, as always, swordfish", "swordfish"),
        ("verification code I got by mail: 445566", "445566"),
        ("type 445566 when it wants the code", "445566"),
        ("my password? swordfish!", "swordfish"),
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
        ("login ada@x.org hunter2 and list", "hunter2"),
        ("log in as ada, hunter2, then list", "hunter2"),
        ("log me in (ada / hunter2)", "hunter2"),
        ("use hunter2 as the password for ada", "hunter2"),
        ("hunter2 is my password; log in as ada", "hunter2"),
        ("my password's swordfish", "swordfish"),
        ("the password should be swordfish", "swordfish"),
        ("set my password to swordfish", "swordfish"),
        ("password -> swordfish", "swordfish"),
        ("password - swordfish", "swordfish"),
        ('{"email":"ada@x.org","password":"swordfish"}', "swordfish"),
        ("use 1234 as pin", "1234"),
        ("1234 is the pin", "1234"),
        ("2fa 884422", "884422"),
        ("sign in as ada with swordfish", "swordfish"),
        ("log in with email ada@x.org and hunter2", "hunter2"),
        ("the password, hunter2, is what you need", "hunter2"),
        ("my secret word is swordfish", "swordfish"),
        ("api key abcdef12", "abcdef12"),
        ("password you need is swordfish", "swordfish"),
        ("password to use: swordfish", "swordfish"),
        ("type swordfish in the password field", "swordfish"),
        ("fill password with swordfish", "swordfish"),
        ("u: ada p: swordfish", "swordfish"),
        ("pin is one two three four", "one two three four"),
        ("unlock with 4711", "4711"),
        ("confirm the order with 0000", "0000"),
        ("recovery code ABCD-1234", "ABCD-1234"),
        ("curl -u ada:swordfish then list", "swordfish"),
        ("list https://ada:swordfish@example.com", "swordfish"),
        ("login ada swordfish", "swordfish"),
        ("log in as ada swordfish and list", "swordfish"),
        ("пароль swordfish", "swordfish"),
        ("密码是swordfish", "swordfish"),
        ("パスワードはswordfish", "swordfish"),
        ("wachtwoord swordfish", "swordfish"),
        ("it is tr0ub4dor, that password of mine", "tr0ub4dor"),
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
        "log in as ada list my posts",
        "log in as user99 and delete comment c42",
        "update the login page text to welcome back",
        "list posts about password managers",
        "show me order code 12345",
        "sign in and set the title to 'Q3-report v2'",
        "log in using my google account, then list order A-1234",
        "",
    ],
)
def test_what_only_speaks_of_passwords_stays(request_: str) -> None:
    assert without_passwords(request_) == request_


def test_each_of_two_passwords_is_hidden() -> None:
    assert without_passwords("change the password from hunter2 to swordfish") == (
        f"change the password from {HIDDEN} to {HIDDEN}"
    )
    assert without_passwords("credentials: ada hunter2") == f"credentials: {HIDDEN} {HIDDEN}"


@pytest.mark.parametrize(
    "piece",
    ["password ", "pass ", "login ", "pin 1", " 1", "password for a", "'", "login a ", "to ", "one two ", "code a "],
)
@pytest.mark.long
def test_the_search_takes_linear_time(piece: str) -> None:
    assert grows_with_length(lambda size: without_passwords(f"password {piece * size}"), 400, 4_000)


@pytest.mark.parametrize(
    "request_",
    [
        "reset password for user42",
        "reset the password for the user bob7, please",
        "reset password of bob7",
        "reset user42's password",
        "forgot the password for alice99",
        "Passwort für nutzer42 zurücksetzen",
        "list users with a password older than 90 days",
    ],
)
def test_whose_password_it_is_stays(request_: str) -> None:
    assert without_passwords(request_) == request_


@pytest.mark.parametrize(
    ("request_", "kept"),
    [
        ("password for user42 is hunter2", "user42"),
        ("change the password for user42 to hunter2", "user42"),
        ("reset user42's password, hunter2 from now on", "user42"),
        ("set password for user42: hunter2", "user42"),
        ("the account needs a password of hunter2", "account"),
        ("reset password of user42 to hunter2", "user42"),
        ("password for user42/hunter2", "password"),
        ("password for user42 hunter2", "user42"),
    ],
)
def test_whose_it_is_stays_and_what_it_is_goes(request_: str, kept: str) -> None:
    said = without_passwords(request_)
    assert kept in said and "hunter2" not in said, said


@pytest.mark.parametrize(
    ("request_", "secret"),
    [
        ("войди как bob с паролем solnce", "solnce"),
        ("my credentials are bob and hunter2, log in", "hunter2"),
        ("credentials\nbob\nhunter2", "hunter2"),
        ("password hunter2? or swordfish", "swordfish"),
        ("log in with password hunter2 or, if that fails, swordfish", "swordfish"),
        ("both passwords: hunter2 and swordfish", "swordfish"),
        ("please log me in, I'm bob and it's swordfish", "swordfish"),
    ],
)
def test_who_logs_in_may_go_with_the_password_and_every_other_one_does(request_: str, secret: str) -> None:
    hidden = without_passwords(request_)
    assert secret not in hidden and "hunter2" not in hidden
