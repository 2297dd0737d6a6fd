"""Strict modes: what another user made, or may write, is neither obeyed nor written through (OpenSSH's StrictModes)."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aurora_cli.daemon import stop_daemon
from aurora_indexer.files.safe_read import NotOurs, read_prefix
from aurora_protocol import DaemonUnreachable
from aurora_protocol.address import Address, Info, home, read_info, write_info
from aurora_protocol.launch import ensure_daemon
from aurora_protocol.strict_modes import complaint, make_private_folder, open_own, read_own, way_complaint
from aurora_server.configuration.config_file import SettingsError, change, read_document, workspaces_document
from aurora_server.configuration.trust import Trust
from aurora_server.workspace.memory_settings import others_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are Unix's")
STRANGER = 65534
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


def made(path: Path, mode: int = 0o600, content: str = "{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("mode", "believed"), [(0o600, True), (0o644, True), (0o755, True), (0o602, False), (0o666, False)]
)
def test_a_file_is_believed_where_others_cannot_write_it(tmp_path: Path, mode: int, believed: bool) -> None:
    file = made(tmp_path / "config.json", mode)
    assert (complaint(file, file.stat()) is None) is believed


@as_root
def test_a_group_may_write_where_nobody_else_is_in_it(tmp_path: Path) -> None:
    file = made(tmp_path / "config.json", 0o660)
    os.chown(file, 0, os.getgid())
    assert complaint(file, file.stat()) is None, "root's own group"
    os.chown(file, 0, STRANGER)
    assert "chmod go-w" in str(complaint(file, file.stat()))


@as_root
def test_another_users_file_is_not_believed_roots_is(tmp_path: Path) -> None:
    file = made(tmp_path / "agents.json")
    assert complaint(file, file.stat()) is None
    os.chown(file, STRANGER, STRANGER)
    assert f"belongs to user {STRANGER}" in str(complaint(file, file.stat()))
    assert complaint(file, file.stat(), STRANGER) is None, "the owner of the workspace it lies in"
    with pytest.raises(NotOurs, match="belongs to user"):
        read_prefix(str(file), 10, owner=0)
    assert read_prefix(str(file), 10) == b"{}", "what is only text is read whoever wrote it"


@pytest.mark.parametrize("what", ["", "logs", "agents", "config.json", "trusted.json"])
def test_no_daemon_is_prepared_in_a_home_that_others_may_write(tmp_path: Path, what: str) -> None:
    address = Address.of(tmp_path / "home")
    address.prepare()
    place = address.home / what
    if "." in what:
        made(place)
    else:
        place.mkdir(exist_ok=True)
    address.prepare()
    place.chmod(0o777)
    with pytest.raises(DaemonUnreachable, match=r"chmod go-w .*set another AURORA_HOME"):
        address.prepare()


@as_root
@pytest.mark.parametrize("what", ["", "logs", "run"])
def test_no_client_connects_in_a_home_that_another_user_made(tmp_path: Path, what: str) -> None:
    address = Address.of(tmp_path / "home")
    address.prepare()
    os.chown(address.home / what, STRANGER, STRANGER)
    with pytest.raises(DaemonUnreachable, match="belongs to user"):
        address.check()


def test_a_link_of_ones_own_to_a_folder_of_ones_own_is_fine(tmp_path: Path) -> None:
    address = Address.of(tmp_path / "home")
    address.home.mkdir(mode=0o700)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (address.home / "memory").symlink_to(tmp_path / "elsewhere")
    address.prepare()


def test_a_link_in_place_of_a_file_is_not_written_through(tmp_path: Path) -> None:
    address = Address.of(tmp_path / "home")
    address.prepare()
    victim = made(tmp_path / "victim", content="mine")
    address.info.with_name(f"{address.info.name}.{os.getpid()}").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        write_info(address, Info(1, "1", "s", 0.0))
    assert victim.read_text() == "mine"


def test_a_home_is_not_found_by_way_of_what_others_may_exchange(tmp_path: Path) -> None:
    assert home({"AURORA_HOME": f"{tmp_path}/theirs/../mine"}) == tmp_path / "mine"


def test_configuration_and_trust_that_others_may_write_do_not_count(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "home")
    trust.trust(tmp_path)
    assert trust.is_trusted(tmp_path)
    trust.path.chmod(0o622)
    assert not trust.is_trusted(tmp_path)
    with pytest.raises(SettingsError, match="chmod go-w"):
        read_document(trust.path, required=False)


@as_root
def test_a_workspaces_file_may_belong_to_its_owner_and_to_no_third_user(tmp_path: Path) -> None:
    file = made(tmp_path / "ws" / ".aurora" / "config.json", content='{"llm": {}}')
    os.chown(file, STRANGER, STRANGER)
    with pytest.raises(SettingsError, match="belongs to user"):
        workspaces_document(tmp_path / "ws")
    os.chown(tmp_path / "ws", STRANGER, STRANGER)
    assert workspaces_document(tmp_path / "ws").content == {"llm": {}}


@as_root
@pytest.mark.parametrize(
    ("owner", "mode", "believed"),
    [(0, 0o755, True), (0, 0o1777, True), (0, 0o777, False), (STRANGER, 0o755, False), (STRANGER, 0o1777, False)],
)
def test_a_home_is_believed_only_where_nobody_can_exchange_it(
    tmp_path: Path, owner: int, mode: int, believed: bool
) -> None:
    address = Address.of(tmp_path / "way" / "between" / "home")
    address.prepare()
    os.chown(tmp_path / "way", owner, -1)
    (tmp_path / "way").chmod(mode)
    assert (way_complaint(address.home) is None) is believed
    if not believed:
        with pytest.raises(DaemonUnreachable, match="set another AURORA_HOME"):
            address.check()
        (tmp_path / "link").symlink_to(address.home)
        with pytest.raises(DaemonUnreachable, match="set another AURORA_HOME"):
            Address.of(tmp_path / "link").check()


@as_root
@pytest.mark.parametrize(("owner", "believed"), [(0, True), (STRANGER, False)])
@pytest.mark.parametrize("where", ["home", "way", "behind"])
def test_a_link_of_another_user_on_the_way_to_a_home_is_not_followed(
    tmp_path: Path, owner: int, believed: bool, where: str
) -> None:
    """In a sticky folder nobody can exchange what is another's, but its owner can let his link lead elsewhere."""
    Address.of(tmp_path / "real" / "home").prepare()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real" / "home" if where == "home" else tmp_path / "real")
    os.chown(link, owner, owner, follow_symlinks=False)
    home = link if where == "home" else link / "home"
    if where == "behind":
        (tmp_path / "mine").symlink_to(link)
        home = tmp_path / "mine" / "home"
    problem = way_complaint(home)
    assert (problem is None) is believed, problem
    if problem:
        assert str(link) in problem and "lead elsewhere" in problem
        with pytest.raises(DaemonUnreachable, match="set another AURORA_HOME"):
            Address.of(home).check()


@as_root
@pytest.mark.parametrize("end", ["", "-wal", "-journal", "-shm"])
def test_a_memory_file_is_not_opened_where_another_user_put_it_or_a_log_beside_it(tmp_path: Path, end: str) -> None:
    path = tmp_path / "memory.db"
    for each in ("", "-wal"):
        made(tmp_path / f"memory.db{each}", 0o600)
    assert others_file(path) is None and others_file(tmp_path / "none.db") is None
    theirs = made(tmp_path / f"memory.db{end}", 0o600)
    os.chown(theirs, STRANGER, STRANGER)
    assert f"{theirs} belongs to user {STRANGER}" in (others_file(path) or "")


def test_a_memory_file_in_a_folder_that_everybody_may_write_is_not_opened(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert "set memory.database_path to a folder of your own" in (others_file(tmp_path / "memory.db") or "")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.with_name("victim").write_text("mine")
    path.symlink_to(path.with_name("victim"))


def _open_to_all(path: Path) -> None:
    made(path, 0o666)


@pytest.mark.parametrize("there", [_pipe, _link, _open_to_all, Path.mkdir])
def test_only_a_file_of_ones_own_is_written_or_believed(tmp_path: Path, there: Callable[[Path], None]) -> None:
    there(tmp_path / "daemon.log")
    for flags in (os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREAT):
        with pytest.raises(OSError):
            open_own(tmp_path / "daemon.log", flags)
    with pytest.raises(OSError):
        read_own(tmp_path / "daemon.log", 10)


@as_root
def test_another_users_log_is_not_written(tmp_path: Path) -> None:
    log = made(tmp_path / "daemon.log", content="")
    os.chown(log, STRANGER, STRANGER)
    with pytest.raises(OSError, match="belongs to user"):
        open_own(log, os.O_WRONLY | os.O_APPEND)


@pytest.mark.parametrize("name", ["daemon.json", "daemon.log"])
def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(tmp_path: Path, name: str) -> None:
    address = Address.of(tmp_path / "home")
    address.prepare()
    os.mkfifo(address.info if name == "daemon.json" else address.log)
    assert read_info(address) is None
    if name == "daemon.log":
        with pytest.raises(DaemonUnreachable, match=r"cannot write .*daemon\.log"):
            ensure_daemon(address)


@pytest.mark.skipif(sys.platform != "linux", reason="access lists as Linux has them")
def test_an_access_list_is_not_taken_for_ones_own_group(tmp_path: Path) -> None:
    file = made(tmp_path / "config.json", 0o660)
    if complaint(file, file.stat()) is not None:
        pytest.skip("this user's group is not private")
    everyone = 0xFFFFFFFF
    entries = [(1, 6, everyone), (2, 6, STRANGER), (4, 0, everyone), (0x10, 6, everyone), (0x20, 0, everyone)]
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(file, "system.posix_acl_access", value)
    except OSError as error:
        pytest.skip(f"no access lists here: {error.strerror}")
    assert "may be written by other users" in str(complaint(file, file.stat()))


@as_root
def test_of_a_home_that_is_not_ours_nobody_says_that_no_daemon_runs(tmp_path: Path) -> None:
    address = Address.of(tmp_path / "home")
    address.home.mkdir()
    assert stop_daemon(address) is None
    os.chown(address.home, STRANGER, STRANGER)
    with pytest.raises(DaemonUnreachable, match=f"belongs to user {STRANGER}, not to you"):
        stop_daemon(address)


def test_of_a_home_that_others_may_enter_nobody_says_that_no_daemon_runs(tmp_path: Path) -> None:
    address = Address.of(tmp_path / "home")
    address.prepare()
    assert stop_daemon(address) is None
    address.lock.parent.chmod(0o755)
    with pytest.raises(DaemonUnreachable, match="is open to other users"):
        stop_daemon(address)


@pytest.mark.parametrize("mask", [0, 0o002, 0o022])
def test_a_folder_of_ones_own_is_closed_with_those_above_it_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        make_private_folder(tmp_path / "home" / "reports" / "monthly")
        make_private_folder(tmp_path / "home" / "reports" / "monthly")
    finally:
        os.umask(before)
    for each in ("home", "home/reports", "home/reports/monthly"):
        assert (tmp_path / each).stat().st_mode & 0o777 == 0o700, each
    made(tmp_path / "file")
    with pytest.raises(FileExistsError):
        make_private_folder(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        make_private_folder(tmp_path / "file" / "below")


@as_root
@pytest.mark.parametrize("what", [".aurora", "config.json"])
def test_configuration_is_not_written_through_another_users_link(tmp_path: Path, what: str) -> None:
    """It would be put into, or beside, what the link leads to."""
    victims = made(tmp_path / "victim" / "config.json", content='{"auths": {}}')
    root = tmp_path / "work"
    root.mkdir()
    link = root / ".aurora" if what == ".aurora" else root / ".aurora" / "config.json"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(victims.parent if what == ".aurora" else victims)
    change(root / ".aurora" / "config.json", tmp_path / "home", lambda document: {**document, "mine": 1})
    os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
    with pytest.raises(SettingsError, match=f"is not written: .* is a link of user {STRANGER}"):
        change(root / ".aurora" / "config.json", tmp_path / "home", lambda document: {**document, "theirs": 1})
    assert victims.read_text().replace(" ", "").replace("\n", "") == '{"auths":{},"mine":1}'


@as_root
def test_nothing_is_written_for_a_home_of_another_user(tmp_path: Path) -> None:
    """Root after `sudo -E` left files there that their user could not read."""
    trust = Trust(tmp_path / "home")
    (tmp_path / "home").mkdir(mode=0o700)
    os.chown(tmp_path / "home", STRANGER, STRANGER)
    with pytest.raises(SettingsError, match=rf"is not written: .*home belongs to user {STRANGER}, not to you"):
        trust.trust(tmp_path)
    assert list((tmp_path / "home").iterdir()) == []
