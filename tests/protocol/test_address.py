"""The address: one per home, short enough for a socket, and never somebody else's folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from aurora_protocol import DaemonUnreachable
from aurora_protocol.address import MAX_SOCKET_PATH, Address, Info, home, read_info, read_token, write_info, write_token


def test_home_is_the_environments_choice_or_in_the_users_folder() -> None:
    assert home({"HOME": "/h"}) == Path("/h/.aurora")
    assert home({"HOME": "/h", "AURORA_HOME": "/elsewhere"}) == Path("/elsewhere")
    assert home({"HOME": "/h", "AURORA_HOME": "~/memory"}) == Path("/h/memory")
    assert home({"HOME": "/h", "AURORA_HOME": "near"}) == Path.cwd() / "near"


def test_homes_and_versions_have_sockets_of_their_own_but_versions_share_the_lock() -> None:
    one, other = Address.of(Path("/a")), Address.of(Path("/b"))
    assert one.socket != other.socket
    newer = Address.of(Path("/a"), version="99.0")
    assert newer.socket != one.socket
    assert (newer.lock, newer.info, newer.log) == (one.lock, one.info, one.log)


def test_prepare_makes_private_folders(tmp_path: Path) -> None:
    address = Address.of(tmp_path / "home")
    address.prepare()
    address.prepare()
    for folder in (address.socket.parent, address.log.parent, address.home):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_long_home_gets_a_short_socket_of_its_own(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 90)
    address = Address.of(deep, temp=tmp_path / "t")
    assert address.socket.is_relative_to(tmp_path / "t")
    assert address.socket != Address.of(tmp_path / ("e" * 90), temp=tmp_path / "t").socket
    assert len(os.fsencode(Address.of(deep).socket)) <= MAX_SOCKET_PATH
    address.prepare()
    assert stat.S_IMODE(address.socket.parent.stat().st_mode) == 0o700
    assert address.lock.parent == deep / "run"


def test_a_folder_others_can_enter_is_refused_with_the_remedy(tmp_path: Path) -> None:
    address = Address.of(tmp_path / "home")
    address.prepare()
    address.socket.parent.chmod(0o755)
    with pytest.raises(DaemonUnreachable, match="chmod 700"):
        address.check()


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "trap").mkdir(mode=0o700)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "run").symlink_to(tmp_path / "trap")
    with pytest.raises(DaemonUnreachable, match="not a folder"):
        Address.of(tmp_path / "home").prepare()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_is_refused(tmp_path: Path) -> None:
    address = Address.of(tmp_path / "home")
    address.prepare()
    os.chown(address.socket.parent, 12345, 12345)
    with pytest.raises(DaemonUnreachable, match="belongs to user 12345"):
        address.check()


def test_a_home_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DaemonUnreachable, match="AURORA_HOME"):
        Address.of(tmp_path / "file" / "home").prepare()


def test_info_and_token_come_back_and_are_private(tmp_path: Path) -> None:
    address = Address.of(tmp_path / "home")
    assert read_info(address) is None
    assert read_token(address) is None
    address.prepare()
    info = Info(pid=42, version="1.2", socket="/s", started=3.5)
    write_info(address, info)
    write_token(address, 4711, "secret")
    assert read_info(address) == info
    assert read_token(address) == (4711, "secret")
    assert stat.S_IMODE(address.token.stat().st_mode) == 0o600
    assert stat.S_IMODE(address.info.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pid": null}', '{"pid": "x"}', '{"pid": 1, "version": "1"}'])
def test_a_damaged_info_file_is_no_info(tmp_path: Path, text: str) -> None:
    address = Address.of(tmp_path / "home")
    address.prepare()
    address.info.write_text(text)
    assert read_info(address) is None
