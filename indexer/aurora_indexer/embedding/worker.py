"""The model's process, `python -P -m aurora_indexer.embedding.worker`: texts on stdin, vectors on stdout.

It has no network, a low priority and one core, and ends when stdin does.
"""

from __future__ import annotations

import argparse
import sys
from typing import BinaryIO

from aurora_indexer.embedding import ModelError
from aurora_indexer.embedding.messages import (
    LENGTH_BYTES,
    MAX_FRAME,
    Embed,
    Refused,
    Reply,
    Unusable,
    Vectors,
    decode_request,
    frame,
)
from aurora_indexer.embedding.model_loader import Model, load, rows
from aurora_indexer.embedding.no_network import forbid_network
from aurora_indexer.workers.child_process import claim_pipes, detach


def serve(arguments: list[str]) -> None:
    """Load the model, say so, and answer requests until stdin ends. `arguments`: `--model M --nice N --parent PID`."""
    parser = argparse.ArgumentParser(prog="aurora_indexer.embedding.worker", description="Embed texts for the daemon.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--parent", type=int, default=0, help="end this process when its parent is not this one")
    options = parser.parse_args(arguments)
    detach(options.nice, options.parent)
    requests, replies = claim_pipes()
    forbid_network()
    try:
        model, loaded = load(options.model)
    except ModelError as error:
        _send(replies, Unusable(str(error)))
        return
    except Exception as error:  # noqa: BLE001 - what a strange model makes its library raise is the model's fault
        _send(replies, Unusable(f"the model {options.model} cannot be loaded: {type(error).__name__}: {error}"))
        return
    _send(replies, loaded)
    while (request := _receive(requests)) is not None:
        _send(replies, _answer(model, request))


def _answer(model: Model, request: Embed) -> Reply:
    try:
        return Vectors(rows(model, request.texts, request.question))
    except ModelError as error:
        return Refused(str(error))


def _receive(requests: BinaryIO) -> Embed | None:
    head = requests.read(LENGTH_BYTES)
    length = int.from_bytes(head, "big")
    body = requests.read(length) if len(head) == LENGTH_BYTES and length <= MAX_FRAME else b""
    return decode_request(body) if body and len(body) == length else None


def _send(replies: BinaryIO, reply: Reply) -> None:
    try:
        replies.write(frame(reply))
        replies.flush()
    except BrokenPipeError:
        sys.exit(0)


if __name__ == "__main__":
    serve(sys.argv[1:])
