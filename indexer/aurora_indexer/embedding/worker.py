"""Worker that embeds, `python -P -m aurora_indexer.embedding.worker`: texts on stdin, vectors on stdout.

It has no network, a low priority and one core, and ends when stdin does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, BinaryIO, Protocol

from aurora_indexer.embedding import ModelError, embedding_text
from aurora_indexer.embedding.messages import (
    LENGTH_BYTES,
    MAX_FRAME,
    Embed,
    Loaded,
    ModelUnusable,
    Reply,
    TextsRefused,
    VectorRows,
    decode_request,
    frame,
)
from aurora_indexer.embedding.model_folder import ModelFolder, Way, find, fingerprint, look
from aurora_indexer.embedding.no_network import forbid_network
from aurora_indexer.workers.child_process import claim_pipes, detach

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RUNS_ON: dict[Way, str] = {"static": "token vectors", "onnx": "onnxruntime", "torch": "sentence-transformers"}
EXTRA = "pip install 'aurora-context[semantic]'"


class EmbeddingModel(Protocol):
    """Embedding model: what all three kinds do."""

    batch: int
    dimensions: int

    def encode(self, texts: Sequence[str], question: bool) -> npt.NDArray[np.float32]:
        """A row for each text. Raises ModelError."""
        ...


def load(model: str) -> tuple[EmbeddingModel, Loaded]:
    """Load what `model` names: a folder, or `package:NAME`. Raises ModelError, also where the extra is missing."""
    folder = look(find(model))
    try:
        loaded = _maker(folder)(folder)
    except ImportError as error:
        raise ModelError(
            f"{error.name or error} is not installed, which memory.semantic.model needs; {EXTRA}"
        ) from error
    key = fingerprint(folder, embedding_text.VERSION)
    return loaded, Loaded(key, folder.name, RUNS_ON[folder.way], loaded.dimensions, loaded.batch)


def rows(model: EmbeddingModel, texts: Sequence[str], question: bool = False) -> bytes:
    """The texts' vectors as they are kept: of length 1, little-endian float16, in a row. Raises ModelError."""
    import numpy as np

    found = np.nan_to_num(model.encode(texts, question), posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    unit = np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)
    return bytes(unit.astype("<f2").tobytes())


def _maker(folder: ModelFolder) -> Callable[[ModelFolder], EmbeddingModel]:
    """Factory of a model by the way it is run."""
    if folder.way == "static":
        from aurora_indexer.embedding.static_model import StaticModel

        return StaticModel
    if folder.way == "onnx":
        from aurora_indexer.embedding.onnx_model import OnnxModel

        return OnnxModel
    from aurora_indexer.embedding.torch_model import TorchModel

    return TorchModel


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
        _send(replies, ModelUnusable(str(error)))
        return
    except Exception as error:  # noqa: BLE001 - what a strange model makes its library raise is the model's fault
        _send(replies, ModelUnusable(f"the model {options.model} cannot be loaded: {type(error).__name__}: {error}"))
        return
    _send(replies, loaded)
    while (request := _receive(requests)) is not None:
        _send(replies, _answer(model, request))


def _answer(model: EmbeddingModel, request: Embed) -> Reply:
    """Reply to one request; a failure is a reply as well."""
    try:
        return VectorRows(rows(model, request.texts, request.question))
    except ModelError as error:
        return TextsRefused(str(error))


def _receive(requests: BinaryIO) -> Embed | None:
    """Next length-prefixed request; None at the end of stdin."""
    head = requests.read(LENGTH_BYTES)
    length = int.from_bytes(head, "big")
    body = requests.read(length) if len(head) == LENGTH_BYTES and length <= MAX_FRAME else b""
    return decode_request(body) if body and len(body) == length else None


def _send(replies: BinaryIO, reply: Reply) -> None:
    """Reply on stdout; the process ends where nobody reads any more (broken pipe)."""
    try:
        replies.write(frame(reply))
        replies.flush()
    except BrokenPipeError:
        sys.exit(0)


if __name__ == "__main__":
    serve(sys.argv[1:])
