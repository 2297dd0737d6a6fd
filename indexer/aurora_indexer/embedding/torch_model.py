"""Torch model (PyTorch), which only the package sentence-transformers can run: without an ONNX file, or of unusual
steps.

Not part of the extra, as it brings torch; used where somebody has installed it beside AURORA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aurora_indexer.embedding import ModelError
from aurora_indexer.embedding.model_folder import ModelFolder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]


class TorchModel:
    """Model run by sentence-transformers, on the CPU, from local files, without code from the model's folder."""

    batch = 16

    def __init__(self, folder: ModelFolder) -> None:
        """Raises ModelError."""
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ModelError(
                f"{folder.path} can only be run by sentence-transformers, which is not installed; "
                "install it, or export the model to onnx/model.onnx"
            ) from error
        try:
            self._model = SentenceTransformer(
                str(folder.path), device="cpu", local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, ImportError, RuntimeError, KeyError) as error:
            raise ModelError(f"sentence-transformers cannot load {folder.path}: {error}") from error
        self.dimensions = int(self.encode(["dimensions"], False).shape[1])

    def encode(self, texts: Sequence[str], question: bool) -> Floats:
        """A row for each text; the package picks the prompt."""
        import numpy as np

        encode = self._model.encode_query if question else self._model.encode_document
        return np.asarray(encode(list(texts), show_progress_bar=False, convert_to_numpy=True), dtype=np.float32)
