"""Worker process that parses files, `python -P -m aurora_indexer.workers.worker`: requests on stdin, replies on stdout.

It ends when stdin does, so a daemon that was killed leaves no orphan process behind: a thread watches stdin even while
a file is being parsed, and where a parser holds the interpreter, the kernel's parent-death signal (Linux) and an alarm
end it.
"""

from __future__ import annotations

import gc
import os
import queue
import signal
import sys
import threading
from typing import BinaryIO

from aurora_indexer.parse import chunk_parser  # noqa: F401 - loaded before the worker says it is ready
from aurora_indexer.workers.child_process import claim_pipes, detach
from aurora_indexer.workers.messages import LENGTH_BYTES, MAX_FRAME, ParseRequest, Ready, Reply, decode_request, frame
from aurora_indexer.workers.process_file import Parse, parse_source, process_file


def serve(parse_one: Parse, arguments: list[str]) -> None:
    """Answer requests until stdin ends.

    `arguments`: `--nice N`, `--parse-timeout S` (end this process when one file takes longer), `--parent PID` (end it
    when its parent is not this one).
    """
    options = _options(arguments)
    detach(options.get("--nice", 0), options.get("--parent", 0))
    parse_timeout = options.get("--parse-timeout", 0)
    requests, replies = claim_pipes()
    pending: queue.SimpleQueue[ParseRequest] = queue.SimpleQueue()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # parsing makes much that lives for a moment and little that refers to itself
    threading.Thread(target=_read_requests, args=(requests, pending), daemon=True, name="stdin").start()
    _send(replies, Ready(os.getpid()))
    while True:
        request = pending.get()
        for item in request.items:
            _alarm(parse_timeout)
            reply = process_file(request.root, item, request.max_file_bytes, parse_one)
            _alarm(0)
            _send(replies, reply)


def _options(arguments: list[str]) -> dict[str, int]:
    # Read by hand: every worker would take longer to load argparse than to read them all.
    return dict(zip(arguments[::2], map(int, arguments[1::2]), strict=True))


def _read_requests(requests: BinaryIO, pending: queue.SimpleQueue[ParseRequest]) -> None:
    """Reader thread: length-prefixed requests into a queue; the process ends with stdin."""
    while True:
        head = requests.read(LENGTH_BYTES)
        length = int.from_bytes(head, "big")
        body = requests.read(length) if len(head) == LENGTH_BYTES and length <= MAX_FRAME else b""
        if len(body) != length or not body:
            os._exit(0)
        pending.put(decode_request(body))


def _send(replies: BinaryIO, reply: Reply | Ready) -> None:
    """Reply on stdout; the process ends where nobody reads any more (broken pipe)."""
    try:
        replies.write(frame(reply))
        replies.flush()
    except BrokenPipeError:
        os._exit(0)


def _alarm(seconds: int) -> None:
    """Watchdog timer: have the kernel end this process in `seconds` (0: no longer), even where no Python code gets to
    run."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


if __name__ == "__main__":
    serve(parse_source, sys.argv[1:])
