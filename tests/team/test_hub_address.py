"""Addresses of hubs: TLS verified wherever the host may be another machine, and no passwords."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

from psycopg.conninfo import conninfo_to_dict

from aurora_team import AddressRefused, TeamError
from aurora_team.address import connection_text


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann@hub.example/aurora",
        "postgresql:///?service=team",
        "postgresql:///aurora",
        "postgresql://ann@hub.example/x?sslmode=verify-full",
        "postgresql://ann@localhost,hub.example/x",
        "postgresql://ann@localhost/x?hostaddr=192.0.2.1",
        "postgresql://ann@localhost.example/x",
    ],
)
def test_elsewhere_tls_is_verified(url: str) -> None:
    assert conninfo_to_dict(connection_text(url, {}))["sslmode"] == "verify-full"


def test_elsewhere_nothing_comes_instead_of_tls_and_ones_own_patience_stays() -> None:
    given = conninfo_to_dict(connection_text("postgresql://ann@hub.example/x?gssencmode=prefer&connect_timeout=9", {}))
    assert (given["gssencmode"], given["connect_timeout"], given["application_name"]) == ("disable", "9", "aurora")


def test_the_systems_own_certificates_are_no_file_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("system").touch()
    tmp_path.joinpath("system").chmod(0o666)
    connection_text("postgresql://ann@hub.example/x?sslrootcert=system", {})


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer", "require", "verify-ca"])
def test_elsewhere_nothing_less_is_taken(mode: str) -> None:
    with pytest.raises(TeamError, match="verify-full"):
        connection_text(f"postgresql://ann@hub.example/x?sslmode={mode}", {})


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann@localhost/x",
        "postgresql://ann@127.0.0.1/x",
        "postgresql://[::1]/x",
        "postgresql://%2Frun/x",
        "postgresql:///x?hostaddr=127.0.0.1",
    ],
)
def test_here_tls_is_not_asked_for(url: str) -> None:
    assert "sslmode" not in conninfo_to_dict(connection_text(url, {}))
    if "%2F" not in url and "hostaddr" not in url:
        assert conninfo_to_dict(connection_text(url, {"PGHOSTADDR": "192.0.2.1"}))["sslmode"] == "verify-full"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hunter22@hub.example/x",
        "postgresql://hub.example/x?password=hunter22",
        "postgresql://hub.example/x?sslpassword=hunter22",
        "postgresql://hub.example/x?passfile=hunter22",
        "mysql://hunter22",
    ],
)
def test_a_password_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(TeamError) as told:
        connection_text(url, {})
    assert "hunter22" not in str(told.value)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of Unix")
@pytest.mark.parametrize(
    ("url", "variable"),
    [
        ("postgresql:///?service=hub", "PGSERVICEFILE"),
        ("postgresql://ann@hub.example/x", "PGSSLROOTCERT"),
        ("postgresql://ann@hub.example/x?sslrootcert={}", ""),
    ],
)
def test_a_file_that_others_may_write_says_nothing_of_a_hub(tmp_path: Path, url: str, variable: str) -> None:
    """It could lead to a hub of theirs, and vouch for that."""
    file = tmp_path / "said"
    file.write_text("[hub]\nhost=127.0.0.1\n")
    environ = {"HOME": str(tmp_path)} | ({variable: str(file)} if variable else {})
    file.chmod(0o600)
    connection_text(url.format(file), environ)
    file.chmod(0o666)
    with pytest.raises(TeamError, match="may be written by other users"):
        connection_text(url.format(file), environ)


def test_a_hub_on_this_machine_is_told_no_password_that_another_user_could_ask_for() -> None:
    """While it does not run anybody can listen at its port, and ask for the password in clear."""
    assert conninfo_to_dict(connection_text("postgresql://ann@127.0.0.1/x", {}))["require_auth"] == "!password,!md5"
    said = connection_text("postgresql://ann@127.0.0.1/x?require_auth=password", {})
    assert conninfo_to_dict(said)["require_auth"] == "password"
    assert "require_auth" not in conninfo_to_dict(
        connection_text("postgresql://ann@127.0.0.1/x", {"PGREQUIREAUTH": "md5"})
    )


@pytest.mark.skipif(sys.platform == "win32", reason="sockets and modes of Unix")
@pytest.mark.parametrize(("mode", "refused"), [(0o755, False), (0o1777, True), (0o777, True)])
def test_a_socket_where_another_user_could_put_his_needs_the_name_of_who_runs_the_hub(
    tmp_path: Path, mode: int, refused: bool
) -> None:
    folder = tmp_path / "sockets"
    folder.mkdir()
    folder.chmod(mode)
    place = str(folder).replace("/", "%2F")
    if not refused:
        connection_text(f"postgresql://ann@{place}/x", {})
    else:
        with pytest.raises(AddressRefused, match=r"another user's socket .*requirepeer=postgres"):
            connection_text(f"postgresql://ann@{place}/x", {})
    for said, environ in (("?requirepeer=ann", {}), ("", {"PGREQUIREPEER": "ann"})):
        connection_text(f"postgresql://ann@{place}/x{said}", environ)
    if sys.platform == "linux":
        with pytest.raises(AddressRefused, match="everybody may listen at @hub"):
            connection_text("postgresql://ann@%40hub/x", {})
