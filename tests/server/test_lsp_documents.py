"""Open documents: edits land where the editor made them, in every encoding."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from lsprotocol import types

from aurora_protocol.positions import Encoding, LineIndex
from aurora_server.daemon.connection import BadJson, decode
from aurora_server.lsp.documents import Documents, OpenDocument, code_points, encoding_of, path_of
from aurora_server.session.errors import RequestError

ENCODINGS: list[Encoding] = ["utf-8", "utf-16", "utf-32"]
ALPHABET = ["a", "é", "€", "😀", "\n", "\r\n", "\r", "\f", "\u2028", "\x85", "x y", "\t", ""]


def opened(text: str, encoding: Encoding) -> Documents:
    documents = Documents(None, position_encoding=types.PositionEncodingKind(encoding))
    documents.put_text_document(types.TextDocumentItem("file:///a.py", "python", 1, text))
    return documents


def edit(documents: Documents, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
    place = types.Range(types.Position(*start), types.Position(*end))
    change = types.TextDocumentContentChangePartial(range=place, text=text)
    documents.update_text_document(types.VersionedTextDocumentIdentifier(2, "file:///a.py"), change)


def text_of(documents: Documents) -> str:
    document = documents.open("file:///a.py")
    assert document is not None
    return document.text


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("seed", range(20))
def test_edits_equal_the_same_edits_on_the_plain_text(encoding: Encoding, seed: int) -> None:
    chance = random.Random(seed)
    text = "".join(chance.choices(ALPHABET, k=80))
    documents = opened(text, encoding)
    for _ in range(30):
        start, end = sorted(chance.randint(0, len(text)) for _ in range(2))
        index = LineIndex(text)
        place = index.range(start, end, encoding)
        # Between \r and \n there is no position; the index moves such offsets in front of both.
        start, end = index.offset(place.start, encoding), index.offset(place.end, encoding)
        new = "".join(chance.choices(ALPHABET, k=3))
        edit(documents, (place.start.line, place.start.character), (place.end.line, place.end.character), new)
        text = text[:start] + new + text[end:]
        assert text_of(documents) == text
        document = documents.open("file:///a.py")
        assert document is not None
        assert "".join(document.lines) == text
        assert document.index.text == text


def test_form_feeds_and_line_separators_are_no_line_ends() -> None:
    documents = opened("one\ftwo\u2028three\nfour", "utf-16")
    edit(documents, (1, 0), (1, 4), "FOUR")
    assert text_of(documents) == "one\ftwo\u2028three\nFOUR"


def test_positions_past_the_end_mean_the_end() -> None:
    documents = opened("abc\ndef", "utf-16")
    edit(documents, (1, 99), (7, 0), "!")
    edit(documents, (0, 99), (0, 99), "?")
    assert text_of(documents) == "abc?\ndef!"


def test_a_whole_new_text_replaces_the_old() -> None:
    documents = opened("abc", "utf-16")
    change = types.TextDocumentContentChangeWholeDocument(text="")
    documents.update_text_document(types.VersionedTextDocumentIdentifier(2, "file:///a.py"), change)
    assert text_of(documents) == ""


def test_changing_what_is_not_open_is_an_error_that_names_it() -> None:
    with pytest.raises(RequestError, match=r"file:///b\.py"):
        opened("", "utf-16").update_text_document(
            types.VersionedTextDocumentIdentifier(2, "file:///b.py"),
            types.TextDocumentContentChangeWholeDocument(text="x"),
        )


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 12), ("utf-16", 7), ("utf-32", 6)])
def test_columns_become_code_points(encoding: Encoding, character: int) -> None:
    index = LineIndex("x\né😀€ ab c")
    assert code_points(index, types.Position(1, character), encoding).character == 6


def test_unopened_files_are_read_but_only_small_ones(tmp_path: Path) -> None:
    documents = opened("", "utf-16")
    small, large = tmp_path / "small.py", tmp_path / "large.py"
    small.write_bytes(b"caf\xc3\xa9 \xff\n")
    large.write_bytes(b"x" * (1 << 20) + b"x")
    assert documents.line_index(small.as_uri(), small).text == "café \ufffd\n"
    with pytest.raises(RequestError, match="larger"):
        documents.line_index(large.as_uri(), large)
    with pytest.raises(RequestError, match="cannot read"):
        documents.line_index("file:///no/such", tmp_path / "none.py")


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c/d.py", Path("/a/b c/d.py")),
        ("file://localhost/a", Path("/a")),
        ("file:///a/%C3%A9", Path("/a/é")),
        ("file://elsewhere/a", None),
        ("untitled:Untitled-1", None),
        ("file:relative", None),
        ("", None),
        ("file:///a%00b", None),
    ],
)
def test_uris_name_files_or_nothing(uri: str, path: Path | None) -> None:
    assert path_of(uri) == path


def test_silence_about_encodings_means_utf_16() -> None:
    assert encoding_of(None) == "utf-16"
    assert encoding_of("utf-7") == "utf-16"
    assert encoding_of("utf-8") == "utf-8"
    assert encoding_of(types.PositionEncodingKind.Utf32) == "utf-32"


def test_lone_surrogates_become_one_replacement_each() -> None:
    assert decode(rb'{"a": ["\ud83d", "\ud83d\ude00", "\ude00x\\ud83d"]}') == {"a": ["\ufffd", "😀", "\ufffdx\\ud83d"]}


@pytest.mark.parametrize("body", [b"", b"{", b'{"a": "\\ud83d"', b"[" * 50_000, b'["\\ud83d", NaN]', b"\xff"])
def test_bad_json_is_told_as_such(body: bytes) -> None:
    with pytest.raises(BadJson):
        decode(body)


def test_documents_are_ours() -> None:
    assert isinstance(opened("", "utf-8").get_text_document("file:///a.py"), OpenDocument)


@pytest.mark.parametrize("what", ["pipe", "device", "folder"])
def test_only_files_are_read(tmp_path: Path, what: str) -> None:
    path = tmp_path / "a.py"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to(os.devnull)
    else:
        path.mkdir()
    with pytest.raises(RequestError, match="not a regular file"):
        Documents(None).line_index(path.as_uri(), path)
