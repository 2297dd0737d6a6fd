"""A plug-in's provider, executor and detector, really installed; and a workspace that would like to be one."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.product import Product
from tests.plugins.environment import SITE, aurora, install, run, uninstall


@pytest.fixture
def asked(product: Product, python: Path, shop: Path) -> Iterator[Path]:
    """The shop, indexed by a daemon that has the plug-in, with its provider as the model and an agent of its kind."""
    install(python)
    home = Path(product.environment["AURORA_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    model = {"provider": "parrot", "model": "grey"}
    (home / "config.json").write_text(json.dumps({"llm": {"reasoning_llm": model}}))
    agent = {"id": "echoing", "type": "example:echo", "capabilities": ["echoes"]}
    (home / "agents.json").write_text(json.dumps([agent, {**agent, "id": "other", "type": "example:gone"}]))
    (shop / "changes").mkdir()
    (shop / "changes" / "add-search.todo").write_text("x write it\ntest it\n")
    aurora(product, python, shop, "index")
    yield shop
    aurora(product, python, shop, "daemon", "stop")
    uninstall(python)


def test_its_provider_answers_its_executor_is_an_agent_and_its_specs_are_deliverables(
    product: Product, python: Path, asked: Path
) -> None:
    *_, answered = run(product, python, asked, "query", "what is the cache", "--json").stdout.splitlines()
    assert json.loads(answered)["answer"] == "You asked: what is the cache"
    listed = aurora(product, python, asked, "agents", "list")
    assert isinstance(listed["agents"], list) and isinstance(listed["notices"], list)
    assert ("echoing", "example:echo") in [(each["id"], each["type"]) for each in listed["agents"]]
    assert any(
        "'example:gone' is none of mcp, executable, http, builtin, example:echo" in each for each in listed["notices"]
    )
    until = time.monotonic() + 120
    while "add-search" not in changes(product, python, asked):
        assert time.monotonic() < until
        time.sleep(0.1)


def changes(product: Product, python: Path, root: Path) -> list[str]:
    found = aurora(product, python, root, "deliverable", "list")["deliverables"]
    assert isinstance(found, list)
    return [each["change_id"] for each in found]


def test_a_workspace_brings_no_plugin(product: Product, python: Path, shop: Path) -> None:
    for folder in SITE.iterdir():
        shutil.copytree(folder, shop / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    (shop / "aurora_example" / "__init__.py").write_text(f"open({str(shop / 'ran')!r}, 'w').close()\n")
    (shop / ".aurora").mkdir()
    model = {"provider": "parrot", "model": "grey"}
    (shop / ".aurora" / "config.json").write_text(json.dumps({"llm": {"reasoning_llm": model}}))
    aurora(product, python, shop, "index")
    aurora(product, python, shop, "agents", "list")
    found = aurora(product, python, shop, "mem", "evict the oldest cache entry, run")["results"]
    assert {each["language"] for each in found} <= {"python"}
    for trust in ([], ["trust"]):
        if trust:
            aurora(product, python, shop, *trust)
        done = run(product, python, shop, "query", "what is the cache")
        assert done.returncode != 0 and "You asked" not in done.stdout
    assert not (shop / "ran").exists()
