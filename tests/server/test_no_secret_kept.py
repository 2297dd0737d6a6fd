"""No secret gets into what is kept: a sample of every kind in every kind of place, and every byte of the home read."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.programs import COMMAND, run
from tests.protocol.test_secrets import ALL
from tests.server.daemons import Daemon, until

PIECE = 10
"""Letters of a piece between punctuation that is looked for by itself."""

_KNOWN = {"production", "incomingwebhook", "webhookb2", "eyjhbgcioijiuzi1nij9", "bedrock-api-key"}


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path, list[dict[str, Any]]]]:
    """A home in which a workspace full of secrets was indexed, asked and told of; the workspace; all replies."""
    folder = tmp_path_factory.mktemp("secrets")
    root, home = folder / "shop", folder / "home"
    _fill(root, ALL)
    replies: list[dict[str, Any]] = []
    with Daemon(home) as daemon:
        with daemon.client(root) as client:
            replies.append(client.request("aurora/index", {}))
            until(lambda: _subjects(home) > 0, "git's history was read")
            samples = [sample for _, sample in ALL]
            for word in ("connect", "handbook", "setting", "deploy"):
                replies.append(client.request("aurora/recall", {"query": word, "include_content": True, "limit": 50}))
                replies.append(
                    client.request("aurora/recall", {"query": f"{word} token {samples[9]}", "explain": True})
                )
            chunks = [each["id"] for reply in replies[1:] for each in reply["results"]]
            replies += [client.request("aurora/explain", {"id": chunk}) for chunk in chunks[:40]]
            client.request("aurora/query", {"query": f"where is {samples[9]} used", "dry_run": True})
            for number, sample in enumerate(samples):
                told = {"change_id": f"change-{number}", "title": f"use {sample}", "evidence": f"saw {sample}"}
                client.request("aurora/deliverable", {"action": "start", **told})
            client.request("aurora/query", {"query": "how does connect work", "dry_run": True})
        export = folder / "home" / "learned.jsonl"
        run(
            [*COMMAND, "--workspace", str(root), "memory", "export", str(export)],
            env={**os.environ, "AURORA_HOME": str(home)},
            check=True,
            capture_output=True,
        )
        assert b"deliverable" in export.read_bytes()
        yield home, root, replies


def _fill(root: Path, known: list[tuple[str, str]]) -> None:
    for kind, sample in known:
        name = f"{kind}_{abs(hash(sample)) % 10**8}"
        place = root / kind
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.py").write_text(
            f'"""Settings, see {sample} there."""\nKEY = "{sample}"\n\n\n'
            f'def connect(host, key="{sample}"):\n    """Connect with {sample}."""\n    return Client("{sample}")\n'
        )
        (place / f"{name}.md").write_text(f"# Handbook {sample}\n\nUse `{sample}`.\n\n## Setting\n\nX={sample}\n")
        (place / f"{name}.sh").write_text(f"#!/bin/sh\ndeploy() {{\n  export X={sample}\n  curl '{sample}'\n}}\n")
        (place / f"{name}.js").write_text(f"export const connect = () => fetch(`https://x/${{'{sample}'}}`);\n")
        (place / f"{name}.schema.json").write_text(
            '{"$schema": "http://json-schema.org/draft-07/schema#", "title": "Setting", "description": "'
            + f'{sample}", "properties": {{"x": {{"default": "{sample}"}}}}}}'
        )
        (place / ".env").write_text(f"X={sample}\n")
        (place / "more.yaml").write_text(f"openapi: 3.0.0\ninfo:\n  title: Setting {sample}\npaths: {{}}\n")
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    stream = []  # for one process, where two for each kind take seconds
    for kind in dict(known):
        samples = [sample for which, sample in known if which == kind]
        said = "\n\n".join([f"Deploy with {samples[0]}", *samples]).encode()
        stream.append(
            b"commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata %d\n%b\n" % (time.time(), len(said), said)
        )
        for path in sorted((root / kind).iterdir()):
            place, text = f"{kind}/{path.name}".encode(), path.read_bytes()
            stream.append(b"M 100644 inline %b\ndata %d\n%b\n" % (place, len(text), text))
    subprocess.run([*git, "fast-import", "--quiet"], input=b"".join(stream), check=True)
    subprocess.run([*git, "reset", "-q"], check=True)


def _subjects(home: Path) -> int:
    with sqlite3.connect(next((home / "memory").glob("*.db"))) as db:
        return int(db.execute("SELECT count(*) FROM git_messages").fetchone()[0])


def _pieces(sample: str) -> set[str]:
    """What must not be found of a sample, in small letters: all of it, and what a search for words would keep of it."""
    return {sample.lower()} | {
        each for each in re.split("[^0-9a-z]+", sample.lower()) if len(each) >= PIECE and each not in _KNOWN
    }


def _everything(home: Path) -> bytes:
    """Every byte of a home, and every value of its memory files decoded, in small letters."""
    told = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    for path in (home / "memory").glob("*.db"):
        with sqlite3.connect(path) as db:
            for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in db.execute(f'SELECT * FROM "{table}"'):
                    told += [each if isinstance(each, bytes) else str(each).encode() for each in row]
    return b"\n".join(told).lower()


@pytest.mark.long
def test_no_byte_of_a_secret_is_in_the_home(searched: tuple[Path, Path, list[dict[str, Any]]]) -> None:
    home, _, _ = searched
    told = _everything(home)
    assert b"connect" in told and b"handbook" in told
    left = {kind: piece for kind, sample in ALL for piece in _pieces(sample) if piece.encode() in told}
    assert left == {}


@pytest.mark.long
def test_no_reply_has_a_secret(searched: tuple[Path, Path, list[dict[str, Any]]]) -> None:
    _, _, replies = searched
    told = [msgspec.json.encode({**reply, "query": ""}).decode() for reply in replies]
    assert any("[REDACTED]" in reply for reply in told)
    assert [sample for _, sample in ALL for reply in told if sample in reply] == []


def _as_of_before(path: Path, secret: str) -> None:
    """Make a memory file one of an AURORA that did not know this kind: it stands wherever a text stands."""
    stem = secret.lower()
    with sqlite3.connect(path) as db:
        db.execute("DROP TRIGGER deliverable_events_hold")
        db.execute(
            "UPDATE chunks SET docstring = ?, signature = ?, keywords = ?, body_hash = x''", (secret, secret, stem)
        )
        db.execute("INSERT INTO postings SELECT block, ?, entries FROM postings LIMIT 1", (stem,))
        db.execute("UPDATE blocks SET dead = 1")
        db.execute("UPDATE git_commits SET subject = ?", (f"Use {secret}",))
        db.execute("UPDATE git_messages SET terms = ?", (stem,))
        db.execute("INSERT INTO runs VALUES ('r', 1.0, 'success', 0.9, ?, NULL)", (f"what is {secret}",))
        db.execute("INSERT INTO difficult VALUES (?, ?, 1, 0.1, 1.0)", (stem, f"why {secret}"))
        db.execute("INSERT INTO log_index VALUES (?, 'f', 1, 2, ?, 1, ?, 'x', 'q')", (stem, f"On {secret}", stem))
        db.execute("UPDATE deliverable_events SET body = replace(body, 'a title', ?)", (f"with {secret}",))
        db.execute("DELETE FROM facts WHERE key = 'secret_rules'")
        db.execute("UPDATE facts SET value = '2' WHERE key = 'chunking'")
        db.execute(
            """CREATE TRIGGER deliverable_events_hold BEFORE UPDATE ON deliverable_events BEGIN
               SELECT RAISE(ABORT, 'events of deliverables are never changed'); END"""
        )
    path.with_name(f"{path.name}.v5.bak").write_bytes(path.read_bytes())


def test_what_an_older_memory_file_has_of_a_secret_is_removed_once(tmp_path: Path) -> None:
    root, home = tmp_path / "shop", tmp_path / "home"
    root.mkdir()
    (root / "shop.py").write_text('def connect(host):\n    """Connect."""\n    return host\n')
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
    for step in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Connect the shop"]):
        subprocess.run([*git, *step], check=True)
    secret = next(sample for kind, sample in ALL if kind == "github_token")
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", {})
        client.request("aurora/deliverable", {"action": "start", "change_id": "change-1", "evidence": "a title"})
        until(lambda: _subjects(home) > 0, "git's history was read")
    path = next((home / "memory").glob("*.db"))
    _as_of_before(path, secret)
    assert secret.lower().encode() in _everything(home)
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", {})
        until(lambda: _subjects(home) > 0, "git's history was read again")
        assert client.request("aurora/recall", {"query": "connect the shop"})["results"][0]["name"] == "connect"
    assert [piece for piece in _pieces(secret) if piece.encode() in _everything(home)] == []
    with sqlite3.connect(path) as db:
        assert "with [REDACTED]" in db.execute("SELECT body FROM deliverable_events").fetchone()[0]
        assert db.execute("SELECT count(*), max(query) FROM runs").fetchone() == (1, "what is [REDACTED]")
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            db.execute("UPDATE deliverable_events SET at = 0")
