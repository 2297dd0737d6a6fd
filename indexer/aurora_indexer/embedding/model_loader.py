"""From what is configured to a model that embeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from aurora_indexer.embedding import ModelError, embedding_text
from aurora_indexer.embedding.messages import Loaded
from aurora_indexer.embedding.model_folder import ModelFolder, Way, find, fingerprint, look

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RUNS_ON: dict[Way, str] = {"static": "token vectors", "onnx": "onnxruntime", "torch": "sentence-transformers"}
EXTRA = "pip install 'aurora-context[semantic]'"


class Model(Protocol):
    """What all three kinds of models do."""

    batch: int
    dimensions: int

    def encode(self, texts: Sequence[str], question: bool) -> npt.NDArray[np.float32]:
        """A row for each text. Raises ModelError."""
        ...


def load(model: str) -> tuple[Model, Loaded]:
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


def rows(model: Model, texts: Sequence[str], question: bool = False) -> bytes:
    """The texts' vectors as they are kept: of length 1, little-endian float16, in a row. Raises ModelError."""
    import numpy as np

    found = np.nan_to_num(model.encode(texts, question), posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    unit = np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)
    return bytes(unit.astype("<f2").tobytes())


def _maker(folder: ModelFolder) -> Callable[[ModelFolder], Model]:
    if folder.way == "static":
        from aurora_indexer.embedding.static_model import StaticModel

        return StaticModel
    if folder.way == "onnx":
        from aurora_indexer.embedding.onnx_model import OnnxModel

        return OnnxModel
    from aurora_indexer.embedding.torch_model import TorchModel

    return TorchModel
