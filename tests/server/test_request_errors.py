"""Errors as clients see them: what the system refuses is no fault within."""

from __future__ import annotations

import errno
import os

import pytest

from aurora_server.session.errors import REQUEST_FAILED, as_request_error


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC])
def test_what_the_system_refuses_is_said_with_its_words(number: int) -> None:
    told = as_request_error(OSError(number, os.strerror(number)))
    assert told is not None and told.code == REQUEST_FAILED and os.strerror(number) in told.message


def test_memory_that_is_refused_is_said() -> None:
    told = as_request_error(MemoryError())
    assert told is not None and told.code == REQUEST_FAILED and "memory" in told.message


def test_another_error_of_the_system_is_unexpected() -> None:
    assert as_request_error(OSError(errno.EISDIR, "Is a directory")) is None
