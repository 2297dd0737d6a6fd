"""What becomes of one file; and what is loaded for a first save, in a process that has not loaded it all by now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from aurora_indexer.workers.messages import FileSkipped, Parsed, ParseFailed, Reply, Unchanged, WorkItem, content_hash
from aurora_indexer.workers.process_file import Parse, parse_source, process_file
from aurora_memory.chunks import ParsedFile
from tests.wait_limits import HANG

READY = """
import sys
from aurora_indexer import languages
from aurora_indexer.workers import process_file
process_file.get_ready({used!r})
assert "aurora_indexer.parse.chunk_parser" in sys.modules
print(languages.compiled.cache_info().currsize)
if {used!r}.get("go"):
    languages.compiled("go")
    print(languages.compiled.cache_info().hits)
"""


@pytest.mark.parametrize(
    ("used", "said"),
    [
        ({"python": 2, "go": 3, "markdown": 9}, ["1", "1"]),
        ({"go": 1}, ["1", "1"]),
        ({"markdown": 9}, ["0"]),
        ({}, ["0"]),
    ],
)
def test_the_commonest_language_is_ready_before_the_first_save(used: dict[str, int], said: list[str]) -> None:
    command = [sys.executable, "-c", READY.format(used=used)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG)
    assert done.stdout.split() == said


PARSED = ParsedFile("a.py", "python", b"", (), ())


def parsed(path: str, source: bytes, *, shown: bytes) -> ParsedFile | None:
    return PARSED


def unknown(path: str, source: bytes, *, shown: bytes) -> ParsedFile | None:
    return None


def fails(path: str, source: bytes, *, shown: bytes) -> ParsedFile | None:
    raise ValueError("first line\nsecond line")


@pytest.mark.parametrize(
    ("source", "path", "parse", "known", "wanted"),
    [
        pytest.param(b"x = 1\n", "a.py", parsed, b"", Parsed, id="parsed"),
        pytest.param(b"x = 1\n", "a.py", fails, b"x = 1\n", Unchanged, id="unchanged, and not parsed again"),
        pytest.param(b"a\0b", "a.py", fails, b"a\0b", Unchanged, id="unchanged, before its content is judged"),
        pytest.param(b"x" * 101, "a.py", parsed, b"x" * 101, "too-large", id="too large, unread, before unchanged"),
        pytest.param(b"a\0b", "a.py", parsed, b"", "binary", id="left out for its content, before it is parsed"),
        pytest.param(b"{\0}", "a.json", parsed, b"", "no-language", id="data that is no schema, before its content"),
        pytest.param(b'{"openapi": "3"}', "a.json", parsed, b"", Parsed, id="data that may be one"),
        pytest.param(b"x = 1\n", "a.py", unknown, b"", "no-language", id="of no language after all"),
        pytest.param(b"x = 1\n", "a.py", fails, b"", ParseFailed, id="that cannot be parsed"),
        pytest.param(None, "a.py", parsed, b"", "gone", id="gone since it was found"),
        pytest.param(None, "a.py/b.py", parsed, b"", "gone", id="gone with its folder"),
        pytest.param(None, "a.py/", parsed, b"", "not-a-file", id="a folder now"),
    ],
)
def test_what_becomes_of_a_file(
    tmp_path: Path, source: bytes | None, path: str, parse: Parse, known: bytes, wanted: type[Reply] | str
) -> None:
    if source is not None:
        (tmp_path / path).write_bytes(source)
    elif path.endswith("/"):
        (tmp_path / path).mkdir()
    elif "/" in path:
        (tmp_path / "a.py").touch()
    reply = process_file(
        str(tmp_path), WorkItem(path.rstrip("/"), 0, content_hash(known) if known else b""), 100, parse
    )
    assert (reply.skip.reason if isinstance(reply, FileSkipped) else type(reply)) == wanted
    if isinstance(reply, ParseFailed):
        assert reply.message == "ValueError: first line"


def test_what_was_parsed_has_the_hash_of_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    reply = process_file(str(tmp_path), WorkItem("a.py"), 100, parsed)
    assert isinstance(reply, Parsed)
    assert reply.file.content_hash == content_hash(b"x = 1\n") and reply.stat.size == 6


@pytest.mark.parametrize(("size", "wanted"), [(100, Parsed), (101, "too-large")])
def test_a_file_of_just_the_limit_is_read(tmp_path: Path, size: int, wanted: type[Reply] | str) -> None:
    (tmp_path / "a.py").write_bytes(b"#" * size)
    reply = process_file(str(tmp_path), WorkItem("a.py"), 100, parsed)
    assert (reply.skip.reason if isinstance(reply, FileSkipped) else type(reply)) == wanted


SECRET = "hunter2x" + "Ab9"
KEY = "AKIA" + "Q7WXRTY9KMLPZ3NB"


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", f"def first():\n    login(password={SECRET}\n    )\n\n\ndef second():\n    return 1\n"),
        ("a.c", f"int first(void) {{\n  password = {SECRET};\n}}\nint second(void) {{ return 1; }}\n"),
        ("a.js", f"function first() {{ const secret = {SECRET} }}\nfunction second() {{ return 1 }}\n"),
        ("a.go", f"package a\n\nfunc first() {{ return T{{Password: {SECRET}}} }}\nfunc second() {{}}\n"),
    ],
)
def test_a_secret_is_told_nowhere_and_breaks_nothing(tmp_path: Path, path: str, source: str) -> None:
    (tmp_path / path).write_text(source)
    reply = process_file(str(tmp_path), WorkItem(path), 1000, parse_source)
    assert isinstance(reply, Parsed)
    assert {"first", "second"} <= {chunk.name for chunk in reply.file.chunks}
    assert reply.file.syntax_errors == 0
    assert SECRET.encode() not in msgspec.json.encode(reply)


@pytest.mark.parametrize(
    "source",
    [
        f"{KEY} = 1\n",
        f"class {KEY}:\n    pass\n",
        f"import {KEY}\n",
        f"x.{KEY}.run(y)\n",
        f"# {KEY}\ndef f():\n    '{KEY}'\n",
        f"@a.{KEY}\ndef f(a: {KEY}) -> {KEY}: pass\n",
        f"def f(*, b='{KEY}'): return {KEY}\n",
        f"def f(): return '\xff{KEY}'\n",
    ],
)
def test_a_secret_in_any_place_of_a_source_is_told_nowhere(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.py").write_bytes(source.encode("latin-1"))
    reply = process_file(str(tmp_path), WorkItem("a.py"), 1000, parse_source)
    assert isinstance(reply, Parsed)
    assert KEY.encode() not in msgspec.json.encode(reply)


def test_a_secret_with_bytes_that_are_no_text_moves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"def first():\n    password = 'hunt\xffer2Ab'\n\n\ndef second():\n    return 1\n")
    reply = process_file(str(tmp_path), WorkItem("a.py"), 1000, parse_source)
    assert isinstance(reply, Parsed)
    assert [chunk.name for chunk in reply.file.chunks] == ["first", "second"]
