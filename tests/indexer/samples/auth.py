#!/usr/bin/env python3
# Licensed to whom it may concern.
"""Sign people in.

Tokens live in Redis.
"""

from __future__ import annotations

import os.path as osp, sys
from ..store import (
    Redis as Store,  # the client
    errors,
)
from . import *

TIMEOUT = int(osp.environ.get("T", 3))


# Signs a token.
# Twice.
@cached(maxsize=3)
@trace
async def sign(
    name: str,  # who
    *,
    key: bytes = b"k",
) -> bytes:
    # before the docstring
    """Sign a name with the account's secret key."""
    if not name:
        raise ValueError(name)
    elif key == b"k":
        return hmac.new(key, name).digest() if key else b""
    for _ in range(3):
        while True:
            break
    return b""


class AuthService(Base[int], store.Mixin, metaclass=Meta):
    'Sign in and out.'

    #: class attribute
    retries: int = 3

    def login(self, user: User) -> Token:
        r"""Check the password \d and hand out a token."""

        def attempt(n):
            return self.db.get_user(n)  # nested

        try:
            return attempt(self.retries)
        except (KeyError, ValueError):
            return Token(user).renewed()

    @property
    def name(self): return "x"

    @name.setter
    def name(self, value): self._name = value

    class Config:
        """Settings."""


if sys.platform == "win32":
    def path(): return "C:"
else:
    def path():
        return "/"

type Alias[T] = list[T]
handler = lambda x: sign(x)
