"""Models in folders: what is in them, that they are run as their makers run them, and that bad ones are one line."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aurora_indexer.embedding import ModelError, embedding_text
from aurora_indexer.embedding.model_folder import find, fingerprint, look
from aurora_indexer.embedding.no_network import OFFLINE
from aurora_indexer.embedding.worker import load, rows
from tests.models import HIDDEN, bert, static_model, table, words, write
from tests.wait_limits import HANG

os.environ.update(OFFLINE)  # for what the tests themselves import of the same libraries
np = pytest.importorskip("numpy")
pytest.importorskip("tokenizers", reason="the semantic extra is not installed")
pytest.importorskip("safetensors", reason="the semantic extra is not installed")

TEXTS = ["sign in with a password", "retry the transient attempt", "unknowable gibberish", "", "Login, LOGIN!"]


@pytest.fixture(autouse=True)
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever loads or runs a model here, it opens no connection and looks up no name."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a model reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def vectors(folder: Path, texts: list[str], question: bool = False) -> Any:
    model, loaded = load(str(folder))
    return np.frombuffer(rows(model, texts, question), dtype="<f2").astype(np.float32).reshape(-1, loaded.dimensions)


def alike(folder: Path, one: str, other: str) -> float:
    first, second = vectors(folder, [one, other])
    return float(first @ second)


@pytest.mark.parametrize("made_by", ["model2vec", "sentence-transformers"])
def test_a_static_model_knows_what_is_alike(tmp_path: Path, made_by: Any) -> None:
    folder = static_model(tmp_path / "m", made_by)
    assert look(folder).way == "static"
    assert alike(folder, "sign in", "authenticate the user") > 0.8 > 0.5 > alike(folder, "sign in", "paint pixel")
    found = vectors(folder, TEXTS)
    assert np.allclose(np.linalg.norm(found[[0, 1, 4]], axis=1), 1, atol=1e-3)
    assert not vectors(folder, [""]).any()


@pytest.mark.parametrize("quantized", [False, True])
def test_static_vectors_are_those_of_model2vec(tmp_path: Path, quantized: bool) -> None:
    model2vec = pytest.importorskip("model2vec", reason="model2vec, the reference, is not installed")
    more: dict[str, Any] = {}
    if quantized:
        chance = np.random.default_rng(3)
        more = {
            "weights": chance.random(len(words())).astype(np.float32),
            "mapping": chance.integers(0, len(words()) // 2, len(words())),
            "embeddings": table()[: len(words()) // 2],
        }
    folder = static_model(tmp_path / "m", "model2vec", **more)
    reference = model2vec.StaticModel.from_pretrained(str(folder)).encode(TEXTS, normalize=True)
    assert np.allclose(vectors(folder, TEXTS), np.nan_to_num(reference), atol=2e-3)


def test_a_transformer_is_pooled_over_its_own_tokens_only(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the semantic extra is not installed")
    for pooling in ("mean", "cls", "max"):
        folder = bert(tmp_path / pooling, pooling)
        assert look(folder).pooling == pooling
        together = vectors(folder, TEXTS)
        alone = np.concatenate([vectors(folder, [text]) for text in TEXTS])
        assert together.shape == (len(TEXTS), HIDDEN)
        assert np.allclose(together, alone, atol=2e-3), "a longer neighbour must change nothing"
    folder = tmp_path / "mean"
    assert alike(folder, "sign in", "authenticate the user") > alike(folder, "sign in", "paint pixel") + 0.2


def test_onnxruntime_keeps_and_sends_nothing_of_its_own(tmp_path: Path) -> None:
    """Its library has a network stack and a database, which no hook of Python sees."""
    pytest.importorskip("onnxruntime", reason="the semantic extra is not installed")
    home = tmp_path / "home"
    home.mkdir()
    code = "import sys; from aurora_indexer.embedding.worker import load; load(sys.argv[1])"
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}  # without CI=…, where it is silent
    done = subprocess.run([sys.executable, "-c", code, str(bert(tmp_path / "m"))], env=environment, timeout=HANG)
    assert done.returncode == 0
    assert [path.relative_to(home) for path in home.rglob("*")] == []


def test_mean_pooling_is_the_mean_of_what_the_network_says(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="the semantic extra is not installed")
    folder = bert(tmp_path / "m")
    known = words()
    ids = np.array([[2, known.index("retry"), known.index("again"), 3]])
    session = onnxruntime.InferenceSession(str(folder / "onnx" / "model.onnx"), providers=["CPUExecutionProvider"])
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    mean = session.run(None, feeds)[0].mean(axis=1)[0]
    assert np.allclose(vectors(folder, ["Retry again"])[0], mean / np.linalg.norm(mean), atol=2e-3)


def test_questions_get_their_prompt(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the semantic extra is not installed")
    folder = bert(tmp_path / "m", prompts={"query": "retry: ", "document": ""})
    plain, prompted = vectors(folder, ["login", "retry: login"])
    (asked,) = vectors(folder, ["login"], question=True)
    assert np.allclose(asked, prompted, atol=2e-3)
    assert not np.allclose(asked, plain, atol=2e-3)


def test_a_model_in_a_package_is_found_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "tiny_words"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    with pytest.raises(ModelError, match="has no model"):
        find("package:tiny_words")
    static_model(package / "data" / "small")
    assert find("package:tiny_words") == package / "data" / "small"
    static_model(package / "data" / "large")
    with pytest.raises(ModelError, match=r"several models \(data/large, data/small\)"):
        find("package:tiny_words")
    assert load("package:tiny_words/data/large")[1].name == "large"
    assert "tiny_words" not in sys.modules
    for bad, message in (("package:", "names no package"), ("package:no_such_one", "no package 'no_such_one'")):
        with pytest.raises(ModelError, match=message):
            find(bad)
    with pytest.raises(ModelError, match="outside"):
        find("package:tiny_words/../..")


def test_another_model_or_other_weights_have_another_key(tmp_path: Path) -> None:
    folder = static_model(tmp_path / "m")
    key = fingerprint(look(folder), 1)
    shutil.copytree(folder, tmp_path / "copy" / "m")
    assert fingerprint(look(tmp_path / "copy" / "m"), 1) == key
    assert fingerprint(look(folder), 2) != key
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\1\2\3\4")
    assert fingerprint(look(folder), 1) != key


def broken(folder: Path, how: str) -> Path:
    static_model(folder)
    match how:
        case "weights":
            (folder / "model.safetensors").write_bytes(b"\xff" * 64)
        case "tokenizer":
            (folder / "tokenizer.json").unlink()
        case "config":
            (folder / "config.json").write_text("[" * 100_000)
        case "large config":
            (folder / "config.json").write_text(" " * ((1 << 20) + 1))
        case "outside":
            write(folder / "modules.json", [{"type": "x.StaticEmbedding", "path": "../../etc"}])
        case "steps":
            write(folder / "modules.json", [])
        case "no table":
            from safetensors.numpy import save_file

            save_file({"other": np.zeros(3)}, folder / "model.safetensors")
        case "few rows":
            from safetensors.numpy import save_file

            save_file({"embeddings": table()[:5]}, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("weights", "cannot read .*model.safetensors"),
        ("tokenizer", "tokenizer.json is missing"),
        ("config", "config.json is not valid JSON"),
        ("large config", "does not hold what"),
        ("outside", "is outside of"),
        ("steps", "lists no steps"),
        ("no table", "no table of token vectors"),
        ("few rows", "fewer rows than .* has tokens"),
    ],
)
def test_a_bad_folder_is_one_line(tmp_path: Path, how: str, message: str) -> None:
    folder = broken(tmp_path / "m", how)
    with pytest.raises(ModelError, match=message) as caught:
        load(str(folder))
    assert "\n" not in str(caught.value)


def test_a_bad_onnx_file_and_what_only_torch_can_run_are_one_line(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the semantic extra is not installed")
    folder = bert(tmp_path / "m")
    (folder / "onnx" / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match="onnxruntime cannot load") as caught:
        load(str(folder))
    assert "\n" not in str(caught.value)
    unusual = bert(tmp_path / "u", "mean_sqrt_len")
    with pytest.raises(ModelError, match="neither an ONNX file nor weights"):
        look(unusual)
    (unusual / "model.safetensors").write_bytes(b"")
    assert look(unusual).way == "torch"
    if "sentence_transformers" not in sys.modules and find_spec("sentence_transformers") is None:
        with pytest.raises(ModelError, match="sentence-transformers, which is not installed"):
            load(str(unusual))


def find_spec(name: str) -> Any:
    import importlib.util

    return importlib.util.find_spec(name)


def test_the_text_of_a_chunk_is_its_words_and_bounded() -> None:
    body = ["def fetchUser(id):", '    """Look a user up."""', "    return db.get(id)", ""]
    text = embedding_text.chunk_text("a/users.py", "Repo.fetchUser", "def fetchUser(id)", "Look a user up.", body)
    assert text.splitlines()[0] == "repo fetch user"
    assert text.count("Look a user up.") == 1
    assert text.endswith("return db.get(id)")
    assert embedding_text.chunk_text("a/users.py", "<module>", "", "", ["import x"]) == "users\nimport x"
    huge = embedding_text.chunk_text("p.py", "n" * 9999, "s" * 9999, "d" * 99_999, ["x" * 10_000] * 10_000)
    assert len(huge) == embedding_text.MAX_CHARS
    assert json.dumps(huge)


def test_what_was_said_already_and_what_is_blank_takes_no_place_of_the_lines_that_are_read() -> None:
    body = ["def f()", "", '"""Said."""', *[line for n in range(25) for line in (f"    line {n}", "  ")]]
    text = embedding_text.chunk_text("a.py", "f", "def f()", "Said.", body).split("\n")
    assert text == ["f", "def f()", "Said.", *(f"line {n}" for n in range(20))]
