"""Cookies of a site between two calls: one jar per origin, in the format curl reads and writes."""

from __future__ import annotations

import hashlib
import re
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy, LoadError, MozillaCookieJar
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_manifest.client.origins import Origin, origin_of, parse_url
from aurora_manifest.client.private_files import write_private
from aurora_protocol import SiteError
from aurora_protocol.strict_modes import make_private_folder

if TYPE_CHECKING:
    from urllib.request import Request

MAX_JAR = 1024 * 1024
_LOCALHOST, _AS_PYTHON_HAS_IT = "localhost", "localhost.local"
"""What everybody calls it in a jar, and `http.cookiejar`, which ends every name without a dot in `.local`."""


class _Policy(DefaultCookiePolicy):
    """Cookie policy: `Secure` ones go to this machine over http as well, as in browsers and curl."""

    def return_ok_secure(self, cookie: Cookie, request: Request) -> bool:
        return super().return_ok_secure(cookie, request) or origin_of(parse_url(request.get_full_url())).loopback


class Jar:
    """A jar file and its cookies. Session cookies are kept as well: a command's session is longer than its process."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._jar = MozillaCookieJar(str(file), policy=_Policy())

    @classmethod
    def of(cls, home: Path, origin: Origin) -> Jar:
        """The jar of an origin. Ports have jars of their own, although cookies themselves know no ports."""
        text = str(origin)
        name = re.sub(r"[^a-z0-9.-]+", "-", text)[:60] + "-" + hashlib.sha256(text.encode()).hexdigest()[:8]
        return cls(home / "cookies" / f"{name}.txt")

    def load(self) -> CookieJar:
        """The cookies, for a client to send and to add to. Raises SiteError when the file is no jar."""
        try:
            if self.file.stat().st_size > MAX_JAR:
                raise SiteError(f"{self.file}: larger than {MAX_JAR:,} bytes; delete it and log in again")
            if self.file.stat().st_size:
                self._jar.load(ignore_discard=True)
                self._rename(_LOCALHOST, _AS_PYTHON_HAS_IT)
        except FileNotFoundError:
            return self._jar
        except (LoadError, UnicodeDecodeError, ValueError) as error:
            raise SiteError(f"{self.file}: no cookie file as curl writes them; delete it and log in again") from error
        return self._jar

    def save(self) -> None:
        """Write the cookies back, readable by the user only; expired ones are gone."""
        self._jar.clear_expired_cookies()
        if not len(self._jar) and not self.file.exists():
            return
        make_private_folder(self.file.parent)
        write_private(self.file, self._text().encode("utf-8"))

    def _rename(self, domain: str, other: str) -> None:
        """Move of a domain's cookies to another domain."""
        for each in [each for each in self._jar if each.domain == domain]:
            self._jar.clear(domain, each.path, each.name)
            each.domain = other
            self._jar.set_cookie(each)

    def _text(self) -> str:
        """The Netscape format: `MozillaCookieJar.save` would write a file others can read first."""
        lines = ["# Netscape HTTP Cookie File"]
        for each in self._jar:
            flags = ("TRUE" if each.domain.startswith(".") else "FALSE", "TRUE" if each.secure else "FALSE")
            prefix = "#HttpOnly_" if each.has_nonstandard_attr("HttpOnly") else ""
            name, value = (each.name, each.value) if each.value is not None else ("", each.name)
            expires = str(each.expires) if each.expires is not None else ""
            domain = _LOCALHOST if each.domain == _AS_PYTHON_HAS_IT else each.domain
            fields = (prefix + domain, flags[0], each.path, flags[1], expires, name, value)
            if not any("\t" in field for field in fields):  # the format has no way to write one
                lines.append("\t".join(fields))
        return "\n".join(lines) + "\n"
