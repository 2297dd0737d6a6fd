"""`make bench-scale`: scalability, how recall latency and memory use grow with the number of chunks, on copies of real
code.

Each copy of the corpus stands in a folder of its own and has its own words in place of every tenth term, so that rare
words stay rare and common ones stay common.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil

from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.activation import ages_in_days, base_levels
from aurora_memory.chunks import ChunkPart, CodeChunk, ParsedFile
from aurora_memory.recall import parse_question, recall
from aurora_memory.store import FileStat, IndexedFile, Store
from aurora_server.daemon.idle_memory import use_few_arenas
from tests.benchmarks import measures
from tests.benchmarks.corpus import corpus, python_files

SIZES = (38_000, 100_000, 500_000)
BATCH = 1500
QUESTIONS = 200


def copies(parsed: list[ParsedFile], chunks: int) -> Iterator[ParsedFile]:
    """Copies of files until there are that many chunks."""
    made = number = 0
    while True:
        for file in parsed:
            if made >= chunks:
                return
            yield copy_of(file, number) if number else file
            made += len(file.chunks)
        number += 1


def copy_of(file: ParsedFile, number: int) -> ParsedFile:
    """One file as the `number`-th copy has it."""
    path = f"copy{number}/{file.path}"
    changed = tuple(msgspec.structs.replace(chunk, path=path, parts=_parts(chunk, number)) for chunk in file.chunks)
    return msgspec.structs.replace(file, path=path, chunks=changed)


def _parts(chunk: CodeChunk, number: int) -> tuple[ChunkPart, ...]:
    return tuple(
        msgspec.structs.replace(
            part,
            occurrences={
                f"{term}{number}" if hash((term, number)) % 10 == 0 else term: value
                for term, value in part.occurrences.items()
            },
        )
        for part in chunk.parts
    )


async def grown(folder: Path, parsed: list[ParsedFile], size: int) -> Store:
    """A memory of that many chunks, resolved."""
    store = await Store.open(folder / f"{size}.db")
    batch: list[IndexedFile] = []
    waiting = 0
    for file in copies(parsed, size):
        batch.append(IndexedFile(FileStat(1, 1, file.content_hash), file))
        waiting += len(file.chunks)
        if waiting >= BATCH:
            await store.write(batch, first_time=True, edited=False)
            batch, waiting = [], 0
    await store.write(batch, first_time=True, edited=False)
    await store.resolve()
    await store.tidy()
    return store


async def asked(store: Store, questions: list[str]) -> measures.Sample:
    """Seconds per question, after a first one that loads what questions need."""
    now = time.time()
    await store.read(recall, parse_question(questions[0]), 10, now)
    times = []
    for question in questions:
        begun = time.perf_counter()
        await store.read(recall, parse_question(question), 10, now)
        times.append(time.perf_counter() - begun)
    return measures.Sample(times)


async def saved(store: Store, parsed: list[ParsedFile], rounds: int) -> measures.Sample:
    """Seconds to write one changed file and resolve its relations."""
    chance = random.Random(3)
    times = []
    for number in range(rounds):
        file = chance.choice(parsed)
        changed = msgspec.structs.replace(file, content_hash=number.to_bytes(16, "big"))
        fresh = [msgspec.structs.replace(each, body_hash=number.to_bytes(16, "big")) for each in file.chunks[:3]]
        changed = msgspec.structs.replace(changed, chunks=(*fresh, *file.chunks[3:]))
        begun = time.perf_counter()
        await store.write([IndexedFile(FileStat(1, number), changed)])
        await store.resolve()
        times.append(time.perf_counter() - begun)
    return measures.Sample(times)


def activation_of(candidates: int) -> measures.Sample:
    """Seconds to compute the base levels of that many chunks with eight accesses each."""
    import numpy as np

    chance = np.random.default_rng(1)
    now = time.time()
    times = now - chance.exponential(30 * 86_400, size=8 * candidates)
    owners = np.repeat(np.arange(candidates), 8)
    return measures.Sample(
        [measures.timed(lambda: base_levels(ages_in_days(times, now), owners, candidates)) for _ in range(20)]
    )


async def run(sizes: list[int]) -> None:
    files = python_files(corpus())
    root = corpus()
    parsed = [parse_file(file.relative_to(root).as_posix(), file.read_bytes()) for file in files]
    questions = measures.questions(files, QUESTIONS)
    print(f"activation of 10,000 candidates: {activation_of(10_000)} (target <= 5 ms)")
    process = psutil.Process()
    with tempfile.TemporaryDirectory(prefix="aurora-scale-") as folder:
        for size in sizes:
            begun = time.perf_counter()
            store = await grown(Path(folder), parsed, size)
            built = time.perf_counter() - begun
            await store.close()
            gc.collect()
            before = process.memory_info().rss
            store = await Store.open(Path(folder) / f"{size}.db")
            speed = await asked(store, questions)
            growth = process.memory_info().rss - before
            counts = await store.counts()
            writing = await saved(store, parsed, 20)
            print(
                f"{counts.chunks:,} chunks: recall {speed}; RSS +{growth / 1e6:.0f} MB while asking; "
                f"write of a save {writing}; {store.path.stat().st_size / 1e6:.0f} MB on disk; built in {built:.0f} s",
                flush=True,
            )
            await store.close()
            store.path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    sizes = parser.parse_args().sizes
    use_few_arenas()  # as the daemon does: with glibc's own ways, what is made anew for each question costs nothing
    asyncio.run(run(sizes))


if __name__ == "__main__":
    main()
