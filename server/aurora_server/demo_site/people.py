"""Users of the demo site (login, sessions, passwords): who may log in, and who is logged in. In memory, gone with the
process.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass

SESSION_SECONDS = 8 * 3600
_MAX_SESSIONS = 1_000

DEMO_EMAIL, DEMO_PASSWORD = "demo@aura.dev", "password123"
"""The credentials of AURA-P "Quickstart: Local Demo"."""


@dataclass
class Account:
    """An account. `password` is None where nobody can log in."""

    id: str
    email: str
    name: str
    bio: str = ""
    salt: bytes = b""
    password: bytes | None = None

    def profile(self) -> dict[str, str]:
        """Profile as the person sees it."""
        return {"id": self.id, "email": self.email, "name": self.name, "bio": self.bio}


class People:
    """The accounts and the sessions. `now` is always given, in seconds of a clock that never goes back."""

    def __init__(self) -> None:
        salt = secrets.token_bytes(16)
        demo = Account("1", DEMO_EMAIL, "Demo", salt=salt, password=_hashed(DEMO_PASSWORD, salt))
        other = Account("2", "ada@aura.dev", "Ada")
        self._by_email = {person.email: person for person in (demo, other)}
        self._sessions: OrderedDict[str, tuple[Account, float]] = OrderedDict()
        self._nobody = Account("0", "", "", salt=salt, password=_hashed(secrets.token_hex(), salt))

    def check(self, email: str, password: str) -> Account | None:
        """Password check: whose it is; as slow for nobody (timing attack). Some 50 ms: call it in a thread."""
        person = self._by_email.get(email.casefold(), self._nobody)
        stored = person.password or self._nobody.password or b""
        fits = hmac.compare_digest(_hashed(password, person.salt or self._nobody.salt), stored)
        return person if fits and person.password is not None and person is not self._nobody else None

    def begin(self, person: Account, now: float) -> str:
        """Session start (login); returns its secret token."""
        token = secrets.token_urlsafe(32)
        self._sessions[token] = (person, now + SESSION_SECONDS)
        while len(self._sessions) > _MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return token

    def of(self, token: str | None, now: float) -> Account | None:
        """Whose session that is, if it is one."""
        person, until = self._sessions.get(token or "", (None, 0.0))
        return person if now < until else None

    def end(self, token: str | None) -> None:
        """End a session."""
        self._sessions.pop(token or "", None)


def _hashed(password: str, salt: bytes) -> bytes:
    """Salted password hash (scrypt)."""
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)
