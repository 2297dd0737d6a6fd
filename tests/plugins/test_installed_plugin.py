"""A plug-in that is really installed beside AURORA, in an environment of its own: daemon and workers use it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.e2e.product import Product
from tests.plugins.environment import aurora, install, uninstall
from tests.wait_limits import HANG


def names(product: Product, python: Path, root: Path, query: str) -> list[tuple[str, str, str]]:
    results = aurora(product, python, root, "mem", query)["results"]
    assert isinstance(results, list)
    return [(each["language"], each["name"], each["file"]) for each in results]


def test_a_daemon_knows_what_is_installed_beside_it_and_forgets_what_is_not(
    product: Product, python: Path, shop: Path
) -> None:
    install(python)
    aurora(product, python, shop, "index")
    assert ("luau", "cache.evict", "cache.luau") in names(product, python, shop, "evict the oldest cache entry")
    assert ("minutes", "Release date", "may.minutes") in names(product, python, shop, "when do we ship the parser")
    assert ("python", "run", "app.py") in names(product, python, shop, "run")
    aurora(product, python, shop, "daemon", "stop")
    uninstall(python)
    aurora(product, python, shop, "index")
    assert {language for language, _, _ in names(product, python, shop, "evict cache run ship parser")} <= {"python"}
    aurora(product, python, shop, "daemon", "stop")
    install(python, broken=True)
    aurora(product, python, shop, "index")
    assert ("python", "run", "app.py") in names(product, python, shop, "run")


WORKER = """
import asyncio, os, sys
from pathlib import Path
from aurora_indexer.workers.messages import Parsed, WorkItem
from aurora_indexer.workers.pool import WorkerPool

async def main():
    pool = WorkerPool(1, folder=Path(sys.argv[1]), environment=os.environ)
    items = [WorkItem("cache.luau", 9, b""), WorkItem("may.minutes", 9, b"")]
    async for reply in pool.parse(Path(sys.argv[2]), items):
        assert isinstance(reply, Parsed), reply
        chunks = [f"{c.name.replace(' ', '_')}:{c.line_start}-{c.line_end}" for c in reply.file.chunks]
        print(reply.file.language, *chunks)
    await pool.aclose()

asyncio.run(main())
"""


def test_a_worker_process_parses_with_it(python: Path, shop: Path, tmp_path: Path) -> None:
    install(python)
    done = subprocess.run(
        [python, "-P", "-c", WORKER, tmp_path, shop], capture_output=True, text=True, timeout=HANG, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["luau cache.evict:1-4", "minutes Release_date:1-2 Budget:4-5"]


def test_without_plugins_a_start_does_not_pay_for_them(shop: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from aurora_indexer.files.ignore import IgnoreRules\n"
        "from aurora_indexer.files.scan import Limits, scan\n"
        "found = scan(Path(sys.argv[1]), Limits(), IgnoreRules(Path(sys.argv[1])))\n"
        "print([f.path for f in found.files], 'importlib.metadata' in sys.modules, 'aurora_example' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code, shop], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['app.py'] False False"
