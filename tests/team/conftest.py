"""One PostgreSQL server for the tests of a module, or a word why they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.team.postgres import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A running server with nothing in it."""
    pytest.importorskip("psycopg", reason="the extra 'team' is not installed")
    from tests.team import postgres

    reason = postgres.why_not()
    if reason:
        pytest.skip(reason)
    with postgres.server() as running:
        yield running
