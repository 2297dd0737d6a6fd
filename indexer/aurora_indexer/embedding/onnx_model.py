"""Transformer as an ONNX file (onnxruntime): tokens in, a vector for each token out, pooled (mean, CLS) into one for
the text.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aurora_indexer.embedding import ModelError
from aurora_indexer.embedding.model_folder import ModelFolder
from aurora_indexer.embedding.no_network import OFFLINE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})
_POOLED = "sentence_embedding"


class OnnxModel:
    """Transformer that runs on onnxruntime and tokenizers, on one core of the CPU."""

    batch = 16

    def __init__(self, folder: ModelFolder) -> None:
        """Raises ModelError; ImportError where the extra is not installed."""
        # Before the import: `disable_telemetry_events` lets what is told of the process itself pass.
        os.environ.update(OFFLINE)
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        onnxruntime.disable_telemetry_events()
        try:
            self._session = onnxruntime.InferenceSession(
                str(folder.weights), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ModelError(f"onnxruntime cannot load {folder.weights}: {_first_line(error)}") from error
        self._inputs = {each.name for each in self._session.get_inputs()}
        if "input_ids" not in self._inputs or self._inputs - _KNOWN_INPUTS:
            raise ModelError(
                f"{folder.weights} wants {', '.join(sorted(self._inputs))}; a text encoder wants input_ids"
            )
        outputs = [each.name for each in self._session.get_outputs()]
        self._output = _POOLED if _POOLED in outputs else outputs[0]
        self._tokenizer = Tokenizer.from_file(str(folder.tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(folder.max_tokens)
        self._folder = folder
        self.dimensions = int(self.encode(["dimensions"], False).shape[1])

    def encode(self, texts: Sequence[str], question: bool) -> Floats:
        """A row for each text, not normalized."""
        import numpy as np

        prompt = self._folder.question_prompt if question else self._folder.document_prompt
        given = [prompt + (text.lower() if self._folder.lower else text) for text in texts]
        encodings = self._tokenizer.encode_batch(given)
        longest = max(1, *(len(one.ids) for one in encodings))
        tokens, mask = (np.zeros((len(given), longest), dtype=np.int64) for _ in range(2))
        for row, one in enumerate(encodings):
            tokens[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = one.attention_mask
        places = np.broadcast_to(np.arange(longest, dtype=np.int64), tokens.shape)
        feeds = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(tokens),
            "position_ids": places,
        }
        try:
            (found,) = self._session.run(
                [self._output], {name: value for name, value in feeds.items() if name in self._inputs}
            )
        except Exception as error:
            raise ModelError(f"{self._folder.weights} failed: {_first_line(error)}") from error
        return _pooled(found, mask, self._folder.pooling)


def _pooled(found: Any, mask: npt.NDArray[np.int64], pooling: str) -> Floats:
    """Pooling: one vector of the tokens', as their mean, their maximum or the first (CLS)."""
    import numpy as np

    values: Floats = np.asarray(found, dtype=np.float32)
    if values.ndim == 2:
        return values
    if values.ndim != 3 or values.shape[:2] != mask.shape:
        raise ModelError(f"the model answers with an array of shape {values.shape}, not with a vector for each token")
    if pooling == "cls":
        first: Floats = values[:, 0]
        return first
    weights = mask[:, :, None].astype(np.float32)
    if pooling == "max":
        most: Floats = np.where(weights > 0, values, -np.inf).max(axis=1)
        return most
    mean: Floats = (values * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
    return mean


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300]
