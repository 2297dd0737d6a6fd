"""What growth.py calls linear, and what not: on a quiet machine and beside a neighbour that disturbs."""

from __future__ import annotations

import itertools
import logging

import pytest

from tests.growth import ATTEMPTS, bytes_kept, grows_with_length

SMALL, LARGE = 1_000, 4_000


def linear(size: int) -> int:
    return sum(range(50 * size))


def quadratic(size: int) -> int:
    return sum(sum(range(size)) for _ in range(size // 8))


def test_what_takes_as_long_as_its_input_grows_with_it() -> None:
    assert grows_with_length(linear, SMALL, LARGE)
    assert grows_with_length(lambda size: sorted(range(size, 0, -1)), SMALL, LARGE), "a logarithm more is no matter"
    assert grows_with_length(lambda size: None, SMALL, LARGE), "nor is what takes no time"


@pytest.mark.long
def test_a_quadratic_action_does_not() -> None:
    assert not grows_with_length(quadratic, SMALL, LARGE)


@pytest.mark.long
def test_one_quiet_pair_is_enough() -> None:
    pairs = itertools.count()

    def disturbed(size: int) -> None:
        if size == LARGE and next(pairs) < ATTEMPTS - 1:
            quadratic(size)
        linear(size)

    assert grows_with_length(disturbed, SMALL, LARGE)
    assert next(pairs) == ATTEMPTS


@pytest.mark.long
async def test_what_an_action_leaves_is_counted_and_what_is_logged_beside_it_is_not() -> None:
    kept: list[bytes] = []

    async def keeps(number: int) -> None:
        kept.append(bytes(1_000))

    async def logs(number: int) -> None:
        logging.getLogger("tests.other").warning("%s", "x" * 1_000)

    assert await bytes_kept(keeps, 10, 60) > 1_000
    assert await bytes_kept(logs, 10, 60) < 100


@pytest.mark.long
async def test_what_somebody_else_leaves_once_is_not_the_actions() -> None:
    kept: list[bytes] = []

    async def disturbed(number: int) -> None:
        if number == 20:
            kept.append(bytes(1_000_000))

    assert await bytes_kept(disturbed, 10, 60) < 100


@pytest.mark.long
async def test_what_is_logged_afterwards_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    async def nothing(number: int) -> None:
        logging.getLogger("tests.other").warning("meanwhile")

    await bytes_kept(nothing, 1, 3)
    logging.getLogger("tests.other").warning("said")
    assert caplog.messages == ["said"]
