"""Folder of a model, in the format of sentence-transformers: what is in it and how it is to be run. Reads only.

`modules.json` lists a model's steps: a `StaticEmbedding` (a vector for each token, as model2vec makes them), or a
`Transformer` and a `Pooling`; `Normalize` after either. A folder without it is one transformer, or one of model2vec.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from msgspec import Struct

from aurora_indexer.embedding import ModelError

MAX_CONFIG = 1 << 20
MAX_TOKENS = 512
"""However many a model says it reads: more takes longer and tells little of a chunk."""

PACKAGE = "package:"
POOLINGS = ("cls", "mean", "max")
_STEPS_RUN = {"Transformer", "Pooling", "Normalize"}
_ONNX = ("onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx")

Way = Literal["static", "onnx", "torch"]


class ModelFolder(Struct, frozen=True):
    """Model files: how a model is run, and the files its vectors come from.

    `way` torch means the package sentence-transformers.
    """

    path: Path
    way: Way
    weights: Path
    tokenizer: Path
    files: tuple[Path, ...]
    pooling: str = "mean"
    max_tokens: int = 256
    lower: bool = False
    question_prompt: str = ""
    document_prompt: str = ""

    @property
    def name(self) -> str:
        """Name for people."""
        return self.path.name


def find(model: str) -> Path:
    """The folder of `model`: a path, or `package:NAME[/folder]` for one in an installed package, not imported for it.

    Raises ModelError.
    """
    if not model.startswith(PACKAGE):
        path = Path(model)
        if not path.is_dir():
            raise ModelError(f"there is no model folder {path}; correct memory.semantic.model")
        return path
    name, _, inside = model.removeprefix(PACKAGE).partition("/")
    if not name.isidentifier():
        raise ModelError(f"{model!r} names no package; write package:NAME or package:NAME/folder")
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(f"no package {name!r} is installed beside AURORA; install it or correct memory.semantic.model")
    for place in map(Path, spec.submodule_search_locations):
        root = _within(place, inside)
        found = [folder for folder in [root, *_folders(root)] if _looks_like_one(folder)]
        if _looks_like_one(root) or len(found) == 1:
            return found[0]
        if found:
            several = ", ".join(folder.relative_to(place).as_posix() for folder in found[:5])
            raise ModelError(f"the package {name!r} has several models ({several}); write package:{name}/FOLDER")
    raise ModelError(f"the package {name!r} has no model in {inside or 'it'}; correct memory.semantic.model")


def look(folder: Path) -> ModelFolder:
    """Model folder, looked into for its kind. Raises ModelError, which says what is missing."""
    if (folder / "modules.json").is_file():
        steps = _steps(folder)
        if steps[0][0] == "StaticEmbedding":
            return _static(folder, steps[0][1], [kind for kind, _ in steps[1:]])
        return _transformer(folder, steps)
    config = _json(folder / "config.json")
    if config.get("model_type") == "model2vec":
        return _static(folder, folder, [])
    return _transformer(folder, [("Transformer", folder)])


def fingerprint(model: ModelFolder, text_version: int) -> str:
    """Names the vectors: another model, or the same one with other files, has another. Reads all of its files."""
    digest = hashlib.blake2b(digest_size=12)
    for file in model.files:
        digest.update(f"{file.relative_to(model.path).as_posix()}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as content:
            while piece := content.read(1 << 20):
                digest.update(piece)
    return f"{model.name[:60]}:{digest.hexdigest()}:{model.way}{text_version}"


def _static(folder: Path, place: Path, after: Sequence[str]) -> ModelFolder:
    """Model folder of a static model. Raises ModelError."""
    if set(after) - {"Normalize"}:
        return _whole(folder)
    weights, tokenizer = place / "model.safetensors", place / "tokenizer.json"
    _need(weights, tokenizer)
    return ModelFolder(folder, "static", weights, tokenizer, _present(weights, tokenizer), max_tokens=MAX_TOKENS)


def _transformer(folder: Path, steps: Sequence[tuple[str, Path]]) -> ModelFolder:
    """Model folder of a transformer with an ONNX file: pooling, prompts and length by its configuration."""
    place = steps[0][1]
    onnx = next((place / name for name in _ONNX if (place / name).is_file()), None)
    if onnx is None:
        onnx = next(iter(sorted((place / "onnx").glob("*.onnx"))), None)
    poolings = [path for kind, path in steps if kind == "Pooling"]
    pooling_config = poolings[0] / "config.json" if poolings else None
    pooling = _pooling(pooling_config) if pooling_config else "mean"
    if onnx is None or pooling is None or {kind for kind, _ in steps} - _STEPS_RUN or len(poolings) > 1:
        return _whole(folder)
    tokenizer = place / "tokenizer.json"
    _need(onnx, tokenizer)
    reading = _json(place / "sentence_bert_config.json")
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    most = reading.get("max_seq_length")
    configs = [folder / "modules.json", place / "sentence_bert_config.json", pooling_config]
    configs.append(folder / "config_sentence_transformers.json")
    data = onnx.with_name(onnx.name + "_data")
    return ModelFolder(
        folder,
        "onnx",
        onnx,
        tokenizer,
        _present(onnx, data, tokenizer, *configs),
        pooling=pooling,
        max_tokens=min(most, MAX_TOKENS) if isinstance(most, int) and most > 2 else 256,
        lower=reading.get("do_lower_case") is True,
        question_prompt=_prompt(prompts, "query"),
        document_prompt=_prompt(prompts, "document", "passage"),
    )


def _whole(folder: Path) -> ModelFolder:
    """A model that only sentence-transformers itself can run."""
    weights = [path for name in ("*.safetensors", "*.bin") for path in (*folder.glob(name), *folder.glob(f"*/{name}"))]
    if not weights:
        raise ModelError(f"{folder} has neither an ONNX file nor weights; it is no model that can be run here")
    configs = (*folder.glob("*.json"), *folder.glob("[0-9]_*/*.json"))
    files = _present(*sorted({*weights, *configs}))
    return ModelFolder(folder, "torch", sorted(weights)[0], folder / "tokenizer.json", files)


def _steps(folder: Path) -> list[tuple[str, Path]]:
    """Pipeline of a model (`modules.json`): the kind and folder of each step. Raises ModelError."""
    document = _json(folder / "modules.json", list)
    steps: list[tuple[str, Path]] = []
    for entry in document[:20]:
        kind, path = (entry.get("type"), entry.get("path", "")) if isinstance(entry, dict) else (None, None)
        if not isinstance(kind, str) or not isinstance(path, str):
            raise ModelError(f"{folder / 'modules.json'}: every step needs a type and a path")
        steps.append((kind.rpartition(".")[2], _within(folder, path)))
    if not steps:
        raise ModelError(f"{folder / 'modules.json'} lists no steps")
    return steps


def _pooling(config: Path) -> str | None:
    """The one way token vectors become one; None where it is another than can be done here."""
    document = _json(config)
    named = document.get("pooling_mode")
    if isinstance(named, str):
        return named if named in POOLINGS else None
    chosen = [key for key, value in document.items() if key.startswith("pooling_mode_") and value is True]
    short = [key.removeprefix("pooling_mode_").removesuffix("_token").removesuffix("_tokens") for key in chosen]
    return short[0] if len(short) == 1 and short[0] in POOLINGS else None


def _prompt(prompts: dict[str, Any], *names: str) -> str:
    return next((prompts[name][:500] for name in names if isinstance(prompts.get(name), str)), "")


def _within(folder: Path, path: str) -> Path:
    """File of a model's folder; a path that leads out of it (path traversal) is refused."""
    parts = PurePosixPath(path.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts:
        raise ModelError(f"{path!r} is outside of {folder}")
    return folder / parts


def _folders(root: Path) -> list[Path]:
    """The folders one and two levels below."""
    return sorted(path for depth in ("*", "*/*") for path in root.glob(depth) if path.is_dir())


def _looks_like_one(folder: Path) -> bool:
    described = (folder / "modules.json").is_file() or (folder / "config.json").is_file()
    return (described and (folder / "tokenizer.json").is_file()) or (folder / "modules.json").is_file()


def _present(*paths: Path | None) -> tuple[Path, ...]:
    return tuple(path for path in paths if path is not None and path.is_file())


def _need(*paths: Path) -> None:
    for path in paths:
        if not path.is_file():
            raise ModelError(f"{path} is missing; copy the whole model folder")


def _json(path: Path, kind: type[Any] = dict) -> Any:
    """A JSON file's document; an empty one where there is no such file. Raises ModelError."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_CONFIG + 1)
    except FileNotFoundError:
        return kind()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error
    try:
        document = json.loads(content) if len(content) <= MAX_CONFIG else None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(document, kind):
        raise ModelError(f"{path} does not hold what a model's configuration does")
    return document
