"""Static model (model2vec): an embedding for each token, and a text is their mean (mean pooling). Made by model2vec or
sentence-transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aurora_indexer.embedding import ModelError
from aurora_indexer.embedding.model_folder import ModelFolder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

    Floats = npt.NDArray[np.float32]

_OF_SENTENCE_TRANSFORMERS = "embedding.weight"
_OF_MODEL2VEC = "embeddings"


class StaticModel:
    """Token vectors and their mean: runs on numpy, tokenizers and safetensors alone; thousands of texts a second."""

    batch = 256

    def __init__(self, folder: ModelFolder) -> None:
        """Raises ModelError; ImportError where the extra is not installed."""
        import numpy as np
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        try:
            tensors = load_file(folder.weights)
        except (SafetensorError, OSError, KeyError, TypeError) as error:
            raise ModelError(f"cannot read {folder.weights}: {error}") from error
        table = tensors.get(_OF_MODEL2VEC, tensors.get(_OF_SENTENCE_TRANSFORMERS))
        if table is None or table.ndim != 2 or not table.size:
            raise ModelError(f"{folder.weights} has no table of token vectors; it is not a static model")
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder.tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(folder.max_tokens)
        self._table = table
        self._weights = tensors.get("weights")
        self._rows = tensors.get("mapping")
        # model2vec leaves unknown tokens out, sentence-transformers takes them in.
        self._unknown = _unknown(self._tokenizer) if _OF_MODEL2VEC in tensors else None
        tokens = self._tokenizer.get_vocab_size()
        if (
            min(len(each) for each in (self._rows if self._rows is not None else table, self._weights_or(table)))
            < tokens
        ):
            raise ModelError(
                f"{folder.weights} has fewer rows than {folder.tokenizer} has tokens; they do not belong together"
            )
        if self._rows is not None and (self._rows.min() < 0 or self._rows.max() >= len(table)):
            raise ModelError(f"{folder.weights}: its mapping points outside of its table")
        self.dimensions = int(table.shape[1])
        self._zero = np.zeros(self.dimensions, dtype=np.float32)

    def encode(self, texts: Sequence[str], question: bool) -> Floats:
        """A row for each text, not normalized; zeros for a text without a known token."""
        import numpy as np

        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return np.stack([self._mean([token for token in one.ids if token != self._unknown]) for one in encodings])

    def _mean(self, tokens: list[int]) -> Floats:
        """Mean pooling of token vectors, weighted where the model has weights."""
        import numpy as np

        if not tokens:
            return self._zero
        rows = self._table[self._rows[tokens] if self._rows is not None else tokens].astype(np.float32)
        if self._weights is not None:
            rows *= self._weights[tokens].astype(np.float32)[:, None]
        mean: Floats = rows.mean(axis=0)
        return mean

    def _weights_or(self, table: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        if self._weights is not None:
            return self._weights
        return self._rows if self._rows is not None else table


def _unknown(tokenizer: Tokenizer) -> int | None:
    token = getattr(tokenizer.model, "unk_token", None)
    return tokenizer.token_to_id(token) if isinstance(token, str) else None
