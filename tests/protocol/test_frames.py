"""Frames: what goes in comes out, however it is sliced; what is not a frame is refused, and says why."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_protocol import FrameError
from aurora_protocol.frames import LARGE_BODY, MAX_FRAME, MAX_HEADERS, Decoder, encode


@given(st.lists(st.binary(max_size=200), max_size=8), st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_any_slicing_gives_the_same_bodies(bodies: list[bytes], slices: list[int]) -> None:
    stream = b"".join(encode(body) for body in bodies)
    decoder = Decoder()
    found: list[bytes] = []
    turn = 0
    while stream:
        size = slices[turn % len(slices)]
        found += decoder.feed(stream[:size])
        stream = stream[size:]
        turn += 1
    assert found == bodies
    assert decoder.pending == 0


def test_header_names_in_any_case_and_content_type_are_fine() -> None:
    frame = b"content-TYPE: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-length:  2 \r\n\r\n{}"
    assert Decoder().feed(frame) == [b"{}"]


@pytest.mark.parametrize(
    ("stream", "complaint"),
    [
        (b"Content-Length: 67108865\r\n\r\n", "announces 67108865 bytes"),
        (b"Content-Length: 99999999999999999999\r\n\r\n", "whole number"),
        (b"Content-Length: -1\r\n\r\n", "whole number"),
        (b"Content-Length: ten\r\n\r\n", "whole number"),
        (b"Content-Length: \r\n\r\n", "whole number"),
        (b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "two Content-Length"),
        (b"Content-Type: x\r\n\r\n{}", "no Content-Length"),
        (b"\r\n\r\n{}", "no Content-Length|Name: value"),
        (b"GET / HTTP/1.1\r\n", "Name: value"),
        (b'{"jsonrpc": "2.0"}', "Name: value"),
        (b"Content-Length: 2\n\n{}", "CR LF"),
        (b"\x00" * MAX_HEADERS, "exceeds 8192 bytes"),
        (b"X: " + b"y" * MAX_HEADERS + b"\r\n\r\n", "exceeds 8192 bytes"),
    ],
)
def test_what_is_not_a_frame_is_refused(stream: bytes, complaint: str) -> None:
    decoder = Decoder()
    with pytest.raises(FrameError, match=complaint):
        decoder.feed(stream)
    with pytest.raises(FrameError, match=complaint):
        decoder.feed(encode(b"{}"))


def test_a_body_of_exactly_the_limit_passes_and_one_more_byte_does_not() -> None:
    decoder = Decoder(max_frame=1000)
    assert decoder.feed(encode(b"x" * 1000)) == [b"x" * 1000]
    with pytest.raises(FrameError):
        decoder.feed(encode(b"x" * 1001))
    with pytest.raises(FrameError, match="exceeds the limit"):
        encode(bytes(MAX_FRAME + 1))


def test_a_60_mib_frame_in_64_kib_pieces_is_not_copied_for_each_piece() -> None:
    frame = memoryview(encode(bytes(60 << 20)))
    pieces = [bytes(frame[at : at + 65536]) for at in range(0, len(frame), 65536)]
    half, copies = frame[: len(frame) // 2], 20
    begun = time.thread_time()
    for _ in range(copies):
        bytes(half)  # what is there of the frame, on the average
    copying = (time.thread_time() - begun) / copies * len(pieces)
    decoder = Decoder()
    begun = time.thread_time()
    bodies = [body for piece in pieces for body in decoder.feed(piece)]
    taken = time.thread_time() - begun
    assert [len(body) for body in bodies] == [60 << 20]
    assert taken < copying / 4, "a fortieth, as a rule"


def test_many_small_frames_in_one_piece() -> None:
    assert len(Decoder().feed(encode(b"{}") * 50_000)) == 50_000


def test_a_large_body_is_given_as_it_was_gathered_and_what_follows_is_read_on() -> None:
    large = b"a" * LARGE_BODY
    decoder = Decoder()
    stream = encode(b"one") + encode(large) + encode(b"two") + encode(large) + b"Content-"
    first = decoder.feed(stream[: LARGE_BODY // 2])
    assert first == [b"one"]
    rest = decoder.feed(stream[LARGE_BODY // 2 :])
    assert rest == [large, b"two", large]
    assert [type(body) for body in rest] == [bytearray, bytes, bytearray]
    assert decoder.pending == len(b"Content-")
    assert decoder.feed(b"Length: 1\r\n\r\nx") == [b"x"]
