"""Address of a hub (connection string, DSN): a PostgreSQL address without a password, encrypted by TLS (`sslmode`) and
verified unless it is on this machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path

from psycopg import ProgrammingError, pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from aurora_protocol.strict_modes import complaint, way_complaint
from aurora_team import AddressRefused

CONNECT_SECONDS = 5
_KNOWS_REQUIRE_AUTH = 160000
"""Version of libpq."""
_PASSWORDS = ("password", "sslpassword", "passfile")


def connection_text(url: str, environ: Mapping[str, str]) -> str:
    """What libpq is given for `url`: with `sslmode=verify-full` wherever the host may be another machine.

    A password comes from PGPASSWORD, a service file or .pgpass. Raises AddressRefused; it does not repeat the
    address, which may hold one. Files that say where the hub is, or whose word for it counts, are believed only if
    they are ours.
    """
    if not url.startswith(("postgresql://", "postgres://")):
        raise AddressRefused("a hub's address begins with postgresql://, as postgresql://ann@hub.example/aurora")
    try:
        given = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    except ProgrammingError as error:
        raise AddressRefused("this is no address that PostgreSQL understands") from error
    if any(name in given for name in _PASSWORDS):
        raise AddressRefused("a password does not belong into a hub's address; put it into ~/.pgpass or PGPASSWORD")
    given.setdefault("connect_timeout", str(CONNECT_SECONDS))
    given.setdefault("application_name", "aurora")
    if not _is_here(given, environ):
        if given.get("sslmode", "verify-full") != "verify-full":
            raise AddressRefused(f"a hub on another machine needs sslmode=verify-full, not {given['sslmode'][:20]}")
        given["sslmode"] = "verify-full"
        given["gssencmode"] = "disable"  # it would come instead of TLS
    else:
        _hold_against_other_users(given, environ)
    for path in _obeyed(given, environ):
        try:
            problem = complaint(path, path.stat())
        except OSError:
            continue  # libpq says what it misses
        if problem is not None:
            raise AddressRefused(problem)
    return make_conninfo("", **given)


def _hold_against_other_users(given: dict[str, str], environ: Mapping[str, str]) -> None:
    """Let no other user of this machine stand in for a hub on it while that is not running: he is told no password, and
    his socket is not spoken to. Raises AddressRefused.
    """
    if pq.version() >= _KNOWS_REQUIRE_AUTH and "PGREQUIREAUTH" not in environ:
        given.setdefault("require_auth", "!password,!md5")
    if "requirepeer" in given or "PGREQUIREPEER" in environ or sys.platform == "win32":
        return
    for host in filter(None, given.get("host", "").split(",")):
        if host.startswith("@"):
            problem: str | None = f"everybody may listen at {host}"
        elif host.startswith("/"):
            try:
                status = Path(host).stat()
            except OSError:
                continue  # libpq says what it misses
            problem = complaint(host, status, status.st_uid) or way_complaint(host, status.st_uid)
        else:
            continue
        if problem is not None:
            raise AddressRefused(
                f"another user's socket could be there: {problem.partition(';')[0]}; add who runs the hub to its "
                "address, as ?requirepeer=postgres"
            )


def _obeyed(given: Mapping[str, str], environ: Mapping[str, str]) -> Iterator[Path]:
    """Files that libpq reads to be obeyed: the service file, and the certificates that a hub's is held against."""
    home = Path(environ.get("HOME") or Path.home())
    if "service" in given or "PGSERVICE" in environ:
        yield Path(environ.get("PGSERVICEFILE") or home / ".pg_service.conf")
    if given.get("sslmode") == "verify-full":
        trusted = given.get("sslrootcert") or environ.get("PGSSLROOTCERT") or str(home / ".postgresql" / "root.crt")
        if trusted != "system":
            yield Path(trusted)


def _is_here(given: Mapping[str, str], environ: Mapping[str, str]) -> bool:
    """Whether every host that `given` may mean is this machine: said in the address, not left to a file or variable."""
    addresses = given.get("hostaddr", environ.get("PGHOSTADDR", ""))
    hosts = given.get("host", "")
    if not hosts and not given.get("hostaddr"):
        return False
    return all(_loops_back(each) for each in [*filter(None, hosts.split(",")), *filter(None, addresses.split(","))])


def _loops_back(host: str) -> bool:
    """Whether a host is this machine (loopback address, Unix socket)."""
    if host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
