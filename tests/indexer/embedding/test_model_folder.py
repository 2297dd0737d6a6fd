"""Model folders: which file is run, how much a model reads, and what only its makers' library can do.

Nothing is loaded: a folder is judged by the files in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aurora_indexer.embedding import ModelError
from aurora_indexer.embedding.model_folder import ModelFolder, look


def folder(root: Path, *files: str, **configs: Any) -> ModelFolder:
    """A look at a folder of empty files and of configurations, `a__b` being `a/b.json`."""
    for name in ("tokenizer.json", *files):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    for name, content in configs.items():
        path = root / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return look(root)


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        pytest.param({}, 256, id="that does not say"),
        pytest.param({"max_seq_length": 128}, 128, id="as much as it says"),
        pytest.param({"max_seq_length": 512}, 512, id="up to what is useful"),
        pytest.param({"max_seq_length": 8192}, 512, id="and no more"),
        pytest.param({"max_seq_length": 2}, 256, id="two are the marks of begin and end"),
        pytest.param({"max_seq_length": "128"}, 256, id="a text is no number"),
    ],
)
def test_how_much_a_transformer_reads(tmp_path: Path, said: dict[str, Any], tokens: int) -> None:
    assert folder(tmp_path, "model.onnx", sentence_bert_config=said).max_tokens == tokens


def test_a_static_model_reads_as_much_as_is_useful(tmp_path: Path) -> None:
    found = folder(tmp_path, "model.safetensors", config={"model_type": "model2vec"})
    assert (found.way, found.max_tokens) == ("static", 512)


@pytest.mark.parametrize(
    ("files", "run"),
    [
        pytest.param(("model.onnx", "onnx/model.onnx"), "onnx/model.onnx", id="the export's usual place"),
        pytest.param(("onnx/model_quantized.onnx", "model.onnx"), "model.onnx", id="the whole before the quantized"),
        pytest.param(
            ("onnx/model_q4.onnx", "onnx/model_quantized.onnx"), "onnx/model_quantized.onnx", id="a usual name"
        ),
        pytest.param(("onnx/model_q4.onnx", "onnx/model_fp16.onnx"), "onnx/model_fp16.onnx", id="else by the alphabet"),
    ],
)
def test_which_network_is_run(tmp_path: Path, files: tuple[str, ...], run: str) -> None:
    found = folder(tmp_path, *files)
    assert (found.way, found.weights.relative_to(tmp_path).as_posix()) == ("onnx", run)


STEPS = [{"type": "s.models.Transformer", "path": ""}, {"type": "s.models.Pooling", "path": "1_Pooling"}]


@pytest.mark.parametrize(
    ("pooling", "way", "kind"),
    [
        pytest.param({"pooling_mode": "cls"}, "onnx", "cls", id="by its name"),
        pytest.param({"pooling_mode": "lasttoken"}, "torch", "mean", id="that is known"),
        pytest.param(
            {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "onnx", "cls", id="by a flag"
        ),
        pytest.param(
            {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, "torch", "mean", id="one flag"
        ),
        pytest.param({}, "torch", "mean", id="and not by none"),
    ],
)
def test_how_tokens_become_one_vector(tmp_path: Path, pooling: dict[str, Any], way: str, kind: str) -> None:
    found = folder(tmp_path, "model.onnx", "model.safetensors", modules=STEPS, **{"1_Pooling__config": pooling})
    assert (found.way, found.pooling) == (way, kind)


@pytest.mark.parametrize(
    ("steps", "way"),
    [
        pytest.param([*STEPS, {"type": "s.models.Normalize", "path": "2"}], "onnx", id="made of equal length"),
        pytest.param([*STEPS, {"type": "s.models.Dense", "path": "2"}], "torch", id="another layer"),
        pytest.param([STEPS[0], STEPS[1], STEPS[1]], "torch", id="two poolings"),
        pytest.param([STEPS[0]], "onnx", id="none is the mean"),
    ],
)
def test_which_steps_are_done_here(tmp_path: Path, steps: list[dict[str, str]], way: str) -> None:
    configs = {"modules": steps, "1_Pooling__config": {"pooling_mode": "mean"}}
    assert folder(tmp_path, "model.onnx", "model.safetensors", **configs).way == way


@pytest.mark.parametrize(
    ("prompts", "question", "document"),
    [
        ({"query": "q: ", "document": "d: ", "passage": "p: "}, "q: ", "d: "),
        ({"passage": "p: "}, "", "p: "),
        ({"query": 5, "document": None, "passage": "p"}, "", "p"),
        ({"query": "q" * 501}, "q" * 500, ""),
        (["query"], "", ""),
    ],
)
def test_what_stands_before_a_text(tmp_path: Path, prompts: Any, question: str, document: str) -> None:
    found = folder(tmp_path, "model.onnx", config_sentence_transformers={"prompts": prompts})
    assert (found.question_prompt, found.document_prompt) == (question, document)


def test_a_folder_with_nothing_to_run_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="neither an ONNX file nor weights"):
        folder(tmp_path)
