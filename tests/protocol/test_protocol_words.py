"""What the protocol's rooms say and go by, word by word: names cut off, addresses, the daemon's last words, errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from aurora_protocol import AuroraError, CallBlocked, DaemonUnreachable, RequestFailed, SiteError, launch
from aurora_protocol.address import MAX_SOCKET_PATH, Address, home, in_home
from aurora_protocol.chosen_passwords import chosen_passwords_in, is_passphrase
from aurora_protocol.client import _result
from aurora_protocol.plugins import LeftOut
from aurora_protocol.process_state import is_stopped, may_live
from aurora_protocol.rfc3339 import parsed
from aurora_protocol.spelling import OF_FEW, begun_by, closest
from tests.wait_limits import HANG


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        pytest.param("min", ["minute", "hour"], "minute", id="three letters"),
        pytest.param("mi", ["minute"], None, id="two are too few"),
        pytest.param("MIN", ["minute"], "minute", id="in any case"),
        pytest.param("min", ["minute", "minus"], None, id="of two nobody knows which"),
        pytest.param("min", ["min", "minute"], "minute", id="not itself"),
        pytest.param("inu", ["minute"], None, id="at the beginning"),
    ],
)
def test_a_name_that_was_cut_off(typed: str, known: list[str], meant: str | None) -> None:
    assert begun_by(typed, known) == meant


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        pytest.param("x" * 64, ["x" * 63 + "y"], "x" * 63 + "y", id="sixty-four letters are looked at"),
        pytest.param("x" * 64, ["x" * 65], None, id="of what is known, too"),
        pytest.param("--", ["__", "a"], None, id="marks alone are alike to nothing"),
        pytest.param("abcd", ["abxy", "abcx"], "abcx", id="the most alike"),
        pytest.param("A-B", ["a_b", "A.B"], "a_b", id="of the same the first"),
    ],
)
def test_a_name_that_was_misspelt(typed: str, known: list[str], meant: str | None) -> None:
    assert closest(typed, known, OF_FEW) == meant


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOME": "/h", "AURORA_HOME": "~"}, "/h"),
        ({"HOME": "/h", "AURORA_HOME": "/a/../b"}, "/b"),
        ({"HOME": "/h", "AURORA_HOME": "/~/x"}, "/~/x"),
        ({"HOME": "/h", "AURORA_HOME": ""}, "/h/.aurora"),
    ],
)
def test_where_home_is(environ: dict[str, str], folder: str) -> None:
    assert home(environ) == Path(folder)


@pytest.mark.parametrize(
    ("written", "read"),
    [("~/.aurora", "/a"), ("~/.aurora/x/y", "/a/x/y"), ("~/.aurora2", "~/.aurora2"), ("~/x", "~/x"), ("/x", "/x")],
)
def test_the_usual_home_is_the_one_that_was_chosen(written: str, read: str) -> None:
    assert in_home(written, Path("/a")) == read


def test_a_socket_is_short_from_a_hundred_and_one_bytes_on(tmp_path: Path) -> None:
    name = "/run/aurora-1.sock"
    longest = Path("/" + "h" * (MAX_SOCKET_PATH - len(name) - 1))
    assert len(f"{longest}{name}") == 100
    assert Address.of(longest, version="1", temp=tmp_path).socket == Path(f"{longest}{name}")
    short = Address.of(Path(f"{longest}h"), version="1", temp=tmp_path).socket
    assert short.parent == tmp_path / f"aurora-{os.getuid()}" and short.name.endswith("-1.sock")
    assert len(short.name) == 16 + len("-1.sock")


@pytest.mark.parametrize(
    ("version", "release"),
    [("1.2.3", (1, 2, 3)), ("1.10.dev2", (1, 10)), ("2", (2,)), ("v1", ()), ("", ()), ("1.2rc1", (1, 2))],
)
def test_the_release_of_a_version(version: str, release: tuple[int, ...]) -> None:
    assert launch._release(version) == release


@pytest.mark.parametrize(
    ("log", "since", "said"),
    [
        pytest.param("one\ntwo\n\n  \n", 0, ": two; log: {}", id="the last line that says something"),
        pytest.param("one\n", 4, "; it wrote no log at {}", id="of what came since"),
        pytest.param("new\n", 90, ": new; log: {}", id="or of all where the log begins anew"),
        pytest.param('{"message": "m", "event": "e"}', 0, ": m; log: {}", id="a message"),
        pytest.param('{"message": "", "event": "e"}', 0, ": e; log: {}", id="else an event"),
        pytest.param('{"level": "info"}', 0, ': {{"level": "info"}}; log: {}', id="else all of it"),
        pytest.param("[1]", 0, ": [1]; log: {}", id="what is no entry stays as it is"),
        pytest.param("x" * 70_000 + "\n" + "y\n", 0, ": y; log: {}", id="of a large one the end"),
        pytest.param(None, 0, "; it wrote no log at {}", id="no log"),
    ],
)
def test_the_last_words_of_a_daemon(tmp_path: Path, log: str | None, since: int, said: str) -> None:
    path = tmp_path / "daemon.log"
    if log is not None:
        path.write_text(log)
    assert launch._complaint(path, since) == said.format(path)


def test_a_log_that_cannot_be_read_is_told_with_what_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object, **__: object) -> None:
        raise PermissionError

    path = tmp_path / "daemon.log"
    path.touch()
    monkeypatch.setattr(Path, "open", closed)
    monkeypatch.setattr(launch, "closed_on_way", lambda log: None)
    monkeypatch.setattr(launch, "opening", lambda closed: f"open {closed.name}")
    assert launch._complaint(path, 0) == f"; {path} is closed, so that it has no log: open daemon.log"
    monkeypatch.setattr(launch, "closed_on_way", lambda log: tmp_path / "logs")
    assert launch._complaint(path, 0) == f"; {tmp_path}/logs is closed, so that it has no log: open logs"


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells")
def test_a_process_runs_is_stopped_or_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        assert may_live(process.pid) and not is_stopped(process.pid)
        os.kill(process.pid, signal.SIGSTOP)
        deadline = time.monotonic() + HANG
        while not is_stopped(process.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert is_stopped(process.pid) and may_live(process.pid)
    finally:
        process.kill()
        process.wait()
    assert not may_live(process.pid) and not is_stopped(process.pid)
    assert not is_stopped(None) and not may_live(1 << 70)
    assert may_live(1), "of another user's process only its being there is known"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-02T03:04:05z", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+00:00"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00+00:00"),
        ("2016-12-31T23:59:60.5+00:00", "2017-01-01T00:00:00.500000+00:00"),
        ("2016-12-31T23:59:60", "2017-01-01T00:00:00"),
    ],
)
def test_times_are_read_as_programs_write_them(text: str, moment: str) -> None:
    assert parsed(text) == datetime.fromisoformat(moment)


@pytest.mark.parametrize("text", ["", "2026-01-02T03:04:61Z", "2026-01-02T03:60:00Z", "zzz"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parsed(text)


@pytest.mark.parametrize(
    ("code", "kind", "exit_code"),
    [
        (-32800, None, 130),
        (-32800, "EndedUnasked", 3),
        (-32800, "Refused", 130),
        (-32803, "Refused", 1),
        (-32803, "Other", 2),
        (-32602, None, 2),
        (-32600, None, 2),
        (-32603, None, 3),
        (0, "Refused", 1),
    ],
)
def test_what_a_command_exits_with(code: int, kind: str | None, exit_code: int) -> None:
    assert RequestFailed("x", code, kind).exit_code == exit_code


def test_errors_are_told_apart_by_their_names_and_exit_codes() -> None:
    errors = [AuroraError, DaemonUnreachable, SiteError, CallBlocked]
    assert [(each.kind, each.exit_code) for each in errors] == [
        ("AuroraError", 3),
        ("DaemonUnreachable", 3),
        ("SiteError", 2),
        ("CallBlocked", 4),
    ]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"code": 5, "message": "no", "data": {"kind": "K"}}, ("no", 5, "K")),
        ({"code": "5", "message": "", "data": "K"}, ("a/b failed", 0, None)),
        ({"data": {"kind": 5}}, ("a/b failed", 0, None)),
        ("odd", ("a/b failed: odd", 0, None)),
    ],
)
def test_how_an_answer_fails(error: object, told: tuple[str, int, str | None]) -> None:
    with pytest.raises(RequestFailed) as caught:
        _result({"id": 1, "error": error}, "a/b")
    assert (str(caught.value), caught.value.code, caught.value.kind) == told
    assert _result({"id": 1, "error": None, "result": 7}, "a/b") == 7


def test_a_plug_in_that_is_left_out_is_told_with_the_next_step() -> None:
    left = LeftOut("aurora.languages", "lua", "aurora-lua 1.0", "why")
    assert left.line == "plug-in lua of aurora-lua 1.0 (aurora.languages) is left out: why"
    assert left.fix == "update or uninstall aurora-lua"
    assert LeftOut("g", "n", "odd", "why").fix == "update or uninstall odd"


HINTS = [
    "pass", "pwd", "secret", "credential", "login", "sudo", "jwt.", "contrase", "mot de passe", "senha", "wachtwoord"
]  # fmt: skip


def chosen(text: str) -> list[str]:
    return [text[start:end] for start, end in chosen_passwords_in(text, text.lower())]


@pytest.mark.parametrize("hint", HINTS)
def test_a_password_stands_behind_any_of_these_words(hint: str) -> None:
    assert chosen(f"{hint} is Winter2024! now") == ["Winter2024!"]
    assert chosen(f"Winter2024! {hint}") == [], "behind them"
    assert chosen(f"word\n{hint}\n'Winter2024!' and 'Autumn7#'\n'Spring99!'") == ["Winter2024!", "Autumn7#"]


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        pytest.param("Winter2024!", True, id="word, number, mark"),
        pytest.param("winter2024!", False, id="without a capital"),
        pytest.param("WINTER2024!", False, id="without a small letter"),
        pytest.param("Winter2024", False, id="without a mark"),
        pytest.param("Winter!", False, id="without a number"),
        pytest.param("Winter2!", False, id="unquoted it has two of them"),
        pytest.param("'Winter2!'", True, id="quoted one does"),
        pytest.param("'Winter2^'", True, id="and any mark"),
        pytest.param("Winter22^", False, id="unquoted a sure one"),
        pytest.param("Winter22%", True, id="as this"),
        pytest.param("Winter22#", True, id="or this"),
        pytest.param("Winter22#of", False, id="but not within a word"),
        pytest.param("Winter22@work", True, id="or this, which an address has too"),
        pytest.param("Winter2024*", True, id="a star behind a year"),
        pytest.param("Winter22*", False, id="or it is code"),
        pytest.param("'Win22%2F!'", False, id="as is what is encoded"),
        pytest.param("'Winter2&&x'", False, id="or has signs side by side"),
        pytest.param("'Ab::Cd2!'", False, id="or a path"),
        pytest.param("'Login$12'", False, id="or an inner class"),
        pytest.param("Wint22!", False, id="seven letters are too few"),
        pytest.param("Winter22!?", True, id="what asks is no part of it"),
    ],
)
def test_what_a_chosen_password_is_made_of(word: str, is_one: bool) -> None:
    assert chosen(f"pass {word} ") == ([word.strip("'?")] if is_one else [])


FORMS = (
    "account auth button change confirm confirmation credentials current database enter error field forgot forgotten"
    " form from generate hash help hint icon input invalid label link login mail manager message must new not old page"
    " param pass passphrase password passwords please policy prompt recovery required reset route secret set show sign"
    " strength text the this toggle token update user username valid value with your"
).split()


@pytest.mark.parametrize("word", FORMS)
def test_a_word_of_forms_is_in_no_passphrase(word: str) -> None:
    assert not is_passphrase(f"correct-orange-{word}-silver")
    assert not is_passphrase(f"Correct-Orange-Silver-{word.title()}")


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("correct-orange-mountain-silver", True),
        ("correct.orange.mountain.silver", True),
        ("correct_orange_mountain_silver", True),
        ("correct orange mountain silver", False),
        ("correct-orange-mountain", False),
        ("correct-orange_mountain-silver", False),
        ("-".join(["orange"] * 9), True),
        ("-".join(["orange"] * 10), False),
        ("co-or-mo-si", False),
    ],
)
def test_what_a_passphrase_is(value: str, is_one: bool) -> None:
    assert is_passphrase(value) is is_one
