"""Where the daemon's log goes, and when a file of it is put aside (`logging.*`)."""

from __future__ import annotations

import errno
import json
import logging
import time
from pathlib import Path

import pytest

from aurora_server.configuration import settings
from aurora_server.configuration.settings import LoggingSettings, RotationSettings, SettingsError
from aurora_server.daemon import daemon_log

RARELY = RotationSettings()


def test_a_configured_folder_has_the_log(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"logging": {"log_path": "~/.aurora/elsewhere", "rotation": {"max_files": 2}}}))
    found = settings.load({"AURORA_HOME": str(tmp_path), "AURORA_LOGGING_ROTATION_MAX_SIZE_MB": "0.5"}, file)
    log = daemon_log.log_file(Path("/usual/daemon.log"), found.logging, found.home)
    assert log == tmp_path / "elsewhere" / "daemon.log"
    assert (found.logging.rotation.max_size_mb, found.logging.rotation.max_files) == (0.5, 2)
    with daemon_log.to_file(log, found.logging, found.logging.rotation, echo=False):
        logging.getLogger("aurora").warning("hello")
    assert json.loads(log.read_text())["message"] == "hello"


def test_a_file_that_is_full_is_put_aside_and_so_many_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    with daemon_log.to_file(log, LoggingSettings(), RotationSettings(max_size_mb=0.001, max_files=2), echo=False):
        for number in range(100):
            logging.getLogger("aurora").warning("line %d", number)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["daemon.log", "daemon.log.1", "daemon.log.2"]
    assert "line 99" in log.read_text() and log.stat().st_size <= 1049


def test_what_is_said_again_and_again_is_said_two_hundred_times_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "daemon.log"
    times = 200
    with daemon_log.to_file(log, LoggingSettings(), RARELY, echo=False):
        logger = logging.getLogger("aurora")
        for _ in range(times + 70):
            logger.warning("no file can be opened")
        logger.warning("something else")
        later = time.time() + 61
        monkeypatch.setattr(time, "time", lambda: later)
        monkeypatch.setattr(time, "time_ns", lambda: int(later * 1e9))
        logger.warning("no file can be opened")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["message"] for line in lines].count("no file can be opened") == times + 1
    assert lines[-1]["repeated"] == 70 and lines[-2]["message"] == "something else"


def test_the_console_alone_leaves_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "logs" / "daemon.log"
    with daemon_log.to_file(log, LoggingSettings(outputs=("console",)), RARELY, echo=False):
        logging.getLogger("aurora").warning("hello")
    assert "hello" in capsys.readouterr().err and not log.parent.exists()


@pytest.mark.parametrize("echo", [False, True], ids=["in the background", "in a terminal"])
def test_what_a_closed_file_does_not_take_is_on_stderr_once_until_it_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], echo: bool
) -> None:
    log, refused = tmp_path / "daemon.log", [True]
    usual = daemon_log.open_own

    def opened(path: str, flags: int) -> int:
        if refused:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return usual(path, flags)

    monkeypatch.setattr(daemon_log, "open_own", opened)
    with daemon_log.to_file(log, LoggingSettings(), RARELY, echo=echo):
        logging.getLogger("aurora").warning("while it is closed")
    assert capsys.readouterr().err.count("while it is closed") == 1 and not log.exists()
    with daemon_log.to_file(log, LoggingSettings(), RARELY, echo=echo):
        refused.clear()
        logging.getLogger("aurora").warning("now it is open")
    assert json.loads(log.read_text())["message"] == "now it is open"


def test_a_file_of_another_is_not_gone_around(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    log.symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(SettingsError, match=r"logging\.log_path"),
        daemon_log.to_file(log, LoggingSettings(), RARELY, echo=False),
    ):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_cannot_be_is_named_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(SettingsError, match=r"logging\.log_path"),
        daemon_log.to_file(tmp_path / "file" / "daemon.log", LoggingSettings(), RARELY, echo=False),
    ):
        pass


@pytest.mark.parametrize(
    ("number", "echoed", "usual", "said"),
    [
        pytest.param(errno.ENOSPC, False, 1, False, id="another error is told as Python tells it"),
        pytest.param(errno.EACCES, False, 0, True, id="what a closed file does not take is on stderr"),
        pytest.param(errno.EACCES, True, 0, False, id="unless that has all anyway"),
    ],
)
def test_what_becomes_of_a_record_that_cannot_be_written(
    number: int,
    echoed: bool,
    usual: int,
    said: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told: list[logging.LogRecord] = []
    monkeypatch.setattr(daemon_log.RotatingFileHandler, "handleError", lambda _, record: told.append(record))
    handler = daemon_log._OwnFile(tmp_path / "daemon.log", delay=True)
    handler.echoed = echoed
    try:
        raise OSError(number, "no")
    except OSError:
        handler.handleError(logging.makeLogRecord({"msg": "hello"}))
    handler.close()
    assert (len(told), "hello" in capsys.readouterr().err) == (usual, said)
