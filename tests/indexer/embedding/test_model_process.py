"""The model's process: answers, ends, is replaced, and can't call out."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from aurora_indexer import WorkerLost
from aurora_indexer.embedding import ModelError
from aurora_indexer.embedding.model_process import LOSSES, ModelProcess
from tests.models import DIMENSIONS, static_model
from tests.wait_limits import HANG

pytest.importorskip("tokenizers", reason="the semantic extra is not installed")

Starting = Callable[..., ModelProcess]


@pytest.fixture
async def starting(tmp_path: Path) -> AsyncIterator[Starting]:
    made: list[ModelProcess] = []

    def start(model: str, **options: object) -> ModelProcess:
        made.append(ModelProcess(model, folder=tmp_path, environment=os.environ, **options))  # type: ignore[arg-type]
        return made[-1]

    yield start
    for process in made:
        await process.aclose()


async def test_texts_become_vectors_and_a_lost_process_is_replaced(tmp_path: Path, starting: Starting) -> None:
    model = starting(str(static_model(tmp_path / "m")))
    assert model.pid is None
    one = await model.embed(["sign in"])
    assert len(one) == 2 * DIMENSIONS
    assert await model.embed(["sign in"] * 2, question=True) == one * 2
    assert (await model.loaded()).dimensions == DIMENSIONS
    pid = model.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorkerLost):
        while True:  # until the kernel has done it
            assert await model.embed(["sign in"]) == one
    assert await model.embed(["sign in"]) == one
    assert model.pid not in (None, pid)


async def test_an_idle_process_ends_and_comes_back(tmp_path: Path, starting: Starting) -> None:
    model = starting(str(static_model(tmp_path / "m")), idle_seconds=0.2)
    one = await model.embed(["sign in"])
    async with asyncio.timeout(HANG):
        while model.pid is not None:
            await asyncio.sleep(0.02)
    assert await model.embed(["sign in"]) == one


async def test_a_cancelled_question_does_not_answer_the_next(tmp_path: Path, starting: Starting) -> None:
    model = starting(str(static_model(tmp_path / "m")))
    one = await model.embed(["sign in"])
    asking = asyncio.create_task(model.embed(["retry"] * 200))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert await model.embed(["sign in"], question=True) == one


async def test_a_bad_model_is_a_problem_that_stays(tmp_path: Path, starting: Starting) -> None:
    model = starting(str(tmp_path / "nothing"))
    for _ in range(2):
        with pytest.raises(ModelError, match=r"no model folder .*nothing; correct memory.semantic.model"):
            await model.embed(["x"])
    assert model.problem is not None
    assert model.pid is None


async def test_a_process_that_always_dies_is_given_up(tmp_path: Path, starting: Starting) -> None:
    model = starting("m", command=(sys.executable, "-c", "pass"))
    for _ in range(LOSSES):
        assert model.problem is None
        with pytest.raises(WorkerLost):
            await model.embed(["x"])
    assert "3 times" in str(model.problem)


def test_a_missing_extra_is_one_line(tmp_path: Path) -> None:
    folder = static_model(tmp_path / "m")
    code = f"""
import sys
sys.modules["tokenizers"] = None  # as if it were not installed
from aurora_indexer.embedding import ModelError
from aurora_indexer.embedding.worker import load
try:
    load({str(folder)!r})
except ModelError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'aurora-context[semantic]'" in done.stdout
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('127.0.0.1', 9))",
        "socket.create_connection(('::1', 9))",
        "socket.getaddrinfo('huggingface.co', 443)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        "urllib.request.urlopen('http://127.0.0.1:9/')",
    ],
)
def test_the_models_process_cannot_call_out(attempt: str) -> None:
    code = "import socket, urllib.request\nfrom aurora_indexer.embedding.no_network import forbid_network\n"
    code += f"forbid_network()\n{attempt}"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "a model runs without network" in done.stderr.splitlines()[-1]
