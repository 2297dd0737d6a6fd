"""A daemon with a provider on loopback and a small workspace, for questions that go through all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.orchestration.llm.loopback import Kind, LoopbackProvider
from tests.orchestration.soar.minds import Mind
from tests.server.daemons import Daemon

FILES = {
    "src/template.py": "def expand(template, values):\n    # Fill a template.\n    return fill(template, values)\n",
    "src/action.py": 'def request(args):\n    """Ask the site."""\n    return get(expand(TEMPLATE, args))\n',
    "src/auth.py": 'def login(user, password):\n    """A token for a user."""\n    return token(user)\n',
}
MEDIUM = "Explain how expand fills a template and compare it with request"
TWO = ("Explain how expand fills a template", "Compare expand with request")


def workspace(folder: Path) -> Path:
    """The files, on disk."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def configure(home: Path, provider: LoopbackProvider, kind: Kind = "openai", **more: Any) -> None:
    """Point the user's configuration at the provider; `more` are further sections, and further members of `llm`.

    OpenAI's format unless the format is what is tested: its library takes half the time to import.
    """
    home.mkdir(parents=True, exist_ok=True)
    llm = {"reasoning_llm": msgspec.to_builtins(provider.settings(kind)), "retry_seconds": 2.0, **more.pop("llm", {})}
    (home / "config.json").write_text(json.dumps({"llm": llm, **more}))


@contextmanager
def asked(tmp_path: Path, mind: Mind, **more: Any) -> Iterator[tuple[Daemon, LoopbackProvider, Path]]:
    """A daemon whose models think as `mind` does, and an indexed workspace."""
    root = workspace(tmp_path / "ws")
    with LoopbackProvider() as provider:
        provider.otherwise = mind
        configure(tmp_path / "home", provider, **more)
        with Daemon(tmp_path / "home", **provider.environ) as daemon:
            with daemon.client(root) as client:
                client.request("aurora/index", {})
            yield daemon, provider, root
