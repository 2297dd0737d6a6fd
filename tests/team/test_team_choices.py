"""Choices of the exchange with a hub that need no server: pages, what a server's words become, what of it is taken."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

from aurora_team import TeamError, hub
from aurora_team.schema import refuse_name
from aurora_team.synchronization import _page


@pytest.mark.parametrize(("streams", "each"), [(0, 5000), (1, 5000), (2, 2500), (100, 50), (1000, 50)])
def test_a_page_is_shared_by_the_streams_but_never_too_small_to_get_on(streams: int, each: int) -> None:
    assert _page(range(streams)) == each


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param("FATAL:  no\nDETAIL: more", "FATAL:  no", id="its first line"),
        pytest.param("\n  no\n", "no", id="that says something"),
        pytest.param("", "it hung up", id="silence is an answer too"),
        pytest.param("x" * 301, "x" * 300, id="and no more than a line"),
    ],
)
def test_what_a_server_said(words: str, told: str) -> None:
    assert hub._said(Exception(words)) == told


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        pytest.param("fe_sendauth: no password supplied", "~/.pgpass or PGPASSWORD", id="where a password goes"),
        pytest.param(
            'authentication method requirement "!password,!md5" failed: no password supplied', "?require_auth=password",
            id="or that the hub here may have one in clear",
        ),
        pytest.param("connection refused", "", id="else nothing"),
    ],
)  # fmt: skip
def test_what_to_do_about_a_refused_line(words: str, hint: str) -> None:
    told = hub._hint(Exception(words))
    assert hint in told and bool(told) is bool(hint)


def row(number: int, **changes: Any) -> tuple[Any, ...]:
    given = {"id": "0" * 32, "sequence": 1, "at": 1.0, "kind": "access", "body": "{}", **changes}
    return ("ann", "m", number, *given.values())


@pytest.mark.parametrize(
    ("sent", "is_entry", "is_erased"),
    [
        pytest.param(row(6), True, False, id="an entry"),
        pytest.param(row(6, body=None), False, True, id="one that was erased"),
        pytest.param(row(6, sequence="x"), False, False, id="what is none is not taken for erased"),
    ],
)
def test_what_arrives(sent: tuple[Any, ...], is_entry: bool, is_erased: bool) -> None:
    (arrival,) = hub._arrivals("r", [sent], {("ann", "m"): 5})
    assert (arrival.entry is not None, arrival.is_erased, arrival.number) == (is_entry, is_erased, 6)


def test_a_hub_that_sends_again_what_was_read_is_none() -> None:
    with pytest.raises(ValueError):
        hub._arrivals("r", [row(6), row(5)], {("ann", "m"): 5})


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("red-crew", True),
        ("7", True),
        ("a" * 40, True),
        ("a" * 41, False),
        ("-red", False),
        ("Red", False),
        ("red crew", False),
        ("", False),
    ],
)
def test_what_a_team_may_be_called(name: str, is_one: bool) -> None:
    if is_one:
        refuse_name(name)
    else:
        with pytest.raises(TeamError, match="small letters"):
            refuse_name(name)
