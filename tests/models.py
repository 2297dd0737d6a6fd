"""Small embedding models for tests, in the real formats: token vectors, and a one-layer BERT as an ONNX file.

They know a few words by meaning: words of one group point the same way, so that `sign in` is near `authenticate`.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

GROUPS = (
    "login authenticate credentials password sign user enter",
    "retry backoff again attempt repeat transient",
    "parse read decode deserialize json text",
    "money price invoice amount currency pay bill",
    "draw paint render screen pixel shape",
)
PLAIN = "def return self class the a in of to for and with value count def"
DIMENSIONS = 16
HIDDEN = 32


def words() -> list[str]:
    """The vocabulary, in the order of its ids."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    return special + list(dict.fromkeys([*" ".join(GROUPS).split(), *PLAIN.split()]))


def table(size: int = DIMENSIONS) -> Floats:
    """A vector for each word: its group's direction, and a little of its own."""
    np = pytest.importorskip("numpy")
    found = np.zeros((len(words()), size), dtype=np.float32)
    for number, word in enumerate(words()):
        chance = np.random.default_rng(zlib.crc32(word.encode()))
        found[number] = 0.2 * chance.standard_normal(size)
        for place, group in enumerate(GROUPS):
            if word in group.split():
                found[number] += 3 * np.random.default_rng(place).standard_normal(size)
    return found


def tokenizer(path: Path, *, sentence: bool = False) -> None:
    """Write a `tokenizer.json` of whole words; `sentence` puts [CLS] and [SEP] around them, and pads, as BERT's do."""
    tokenizers = pytest.importorskip("tokenizers", reason="the semantic extra is not installed")
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: number for number, word in enumerate(words())}, "[UNK]")
    )
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    if sentence:
        made.post_processor = tokenizers.processors.TemplateProcessing(
            "[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)]
        )
        made.enable_padding(length=128)
        made.enable_truncation(128)
    made.save(str(path))


def static_model(
    folder: Path, made_by: Literal["model2vec", "sentence-transformers"] = "model2vec", **more: Any
) -> Path:
    """A folder as those write it; `more` are further tensors."""
    numpy = pytest.importorskip("safetensors.numpy", reason="the semantic extra is not installed")
    own = folder if made_by == "model2vec" else folder / "0_StaticEmbedding"
    own.mkdir(parents=True)
    if made_by == "model2vec":
        write(folder / "config.json", {"model_type": "model2vec", "normalize": True})
        tensors = {"embeddings": table(), **more}
    else:
        steps = [{"idx": 0, "name": "0", "path": own.name, "type": "sentence_transformers.models.StaticEmbedding"}]
        write(folder / "modules.json", steps)
        write(folder / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"})
        tensors = {"embedding.weight": table(), **more}
    numpy.save_file(tensors, own / "model.safetensors")
    tokenizer(own / "tokenizer.json")
    return folder


def bert(folder: Path, pooling: str = "mean", **configuration: Any) -> Path:
    """A transformer in the layout of all-MiniLM-L6-v2 with its `onnx/model.onnx`: one layer, random weights."""
    (folder / "onnx").mkdir(parents=True)
    (folder / "1_Pooling").mkdir()
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    steps = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (path, kind) in enumerate(kinds.items())
    ]
    write(folder / "modules.json", steps)
    write(folder / "config.json", {"model_type": "bert", "hidden_size": HIDDEN})
    write(folder / "sentence_bert_config.json", {"max_seq_length": 64, "do_lower_case": False})
    modes = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens", "mean_sqrt_len": "mean_sqrt_len_tokens"}
    flags = {f"pooling_mode_{name}": mode == pooling for mode, name in modes.items()}
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": HIDDEN, **flags})
    if configuration:
        write(folder / "config_sentence_transformers.json", configuration)
    tokenizer(folder / "tokenizer.json", sentence=True)
    _export(folder / "onnx" / "model.onnx")
    return folder


def write(path: Path, document: object) -> Path:
    """A JSON file."""
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _export(path: Path) -> None:
    """Embeddings of words, places and kinds; one head of attention under the mask; a feed-forward; two norms."""
    onnx = pytest.importorskip("onnx", reason="onnx, which makes the model, is not installed")
    np = pytest.importorskip("numpy")
    chance = np.random.default_rng(11)
    weights: dict[str, Any] = {
        "words": table(HIDDEN),
        "places": 0.05 * chance.standard_normal((128, HIDDEN)),
        "kinds": 0.05 * chance.standard_normal((2, HIDDEN)),
        **{name: 0.1 * chance.standard_normal((HIDDEN, HIDDEN)) for name in ("q", "k", "v", "up", "down")},
        "scale": np.ones(HIDDEN),
        "shift": np.zeros(HIDDEN),
        "small": np.array(HIDDEN**-0.5),
        "one": np.array(1.0),
        "far": np.array(-10000.0),
    }
    initializers = [onnx.numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()]
    initializers += [
        onnx.numpy_helper.from_array(np.array(value, np.int64), name)
        for name, value in {"axis1": [1], "zero": [0], "step": 1, "start": 0, "second": [1]}.items()
    ]
    node = onnx.helper.make_node
    nodes = [
        node("Gather", ["words", "input_ids"], ["w"]),
        node("Gather", ["kinds", "token_type_ids"], ["t"]),
        node("Shape", ["input_ids"], ["shape"]),
        node("Gather", ["shape", "step"], ["length"]),
        node("Range", ["start", "length", "step"], ["numbers"]),
        node("Gather", ["places", "numbers"], ["p"]),
        node("Add", ["w", "t"], ["wt"]),
        node("Add", ["wt", "p"], ["sum"]),
        node("LayerNormalization", ["sum", "scale", "shift"], ["x"]),
        *(node("MatMul", ["x", name], [f"x{name}"]) for name in "qkv"),
        node("Transpose", ["xk"], ["xkt"], perm=[0, 2, 1]),
        node("MatMul", ["xq", "xkt"], ["raw"]),
        node("Mul", ["raw", "small"], ["scaled"]),
        node("Cast", ["attention_mask"], ["mask"], to=onnx.TensorProto.FLOAT),
        node("Sub", ["one", "mask"], ["hidden"]),
        node("Mul", ["hidden", "far"], ["away"]),
        node("Unsqueeze", ["away", "axis1"], ["away3"]),
        node("Add", ["scaled", "away3"], ["masked"]),
        node("Softmax", ["masked"], ["shares"], axis=-1),
        node("MatMul", ["shares", "xv"], ["seen"]),
        node("Add", ["x", "seen"], ["y"]),
        node("MatMul", ["y", "up"], ["wide"]),
        node("Relu", ["wide"], ["act"]),
        node("MatMul", ["act", "down"], ["narrow"]),
        node("Add", ["y", "narrow"], ["z"]),
        node("LayerNormalization", ["z", "scale", "shift"], ["last_hidden_state"]),
    ]
    value = onnx.helper.make_tensor_value_info
    inputs = [
        value(name, onnx.TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [value("last_hidden_state", onnx.TensorProto.FLOAT, ["batch", "length", HIDDEN])]
    graph = onnx.helper.make_graph(nodes, "bert", inputs, outputs, initializers)
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(made)
    onnx.save(made, path)
