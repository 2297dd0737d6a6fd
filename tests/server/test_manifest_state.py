"""`aurora manifest state`, as a process."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from tests.server.sites import manifest_command

STATE = {"isAuthenticated": True, "context": {"path": "/?>"}, "capabilities": ["a", "b"]}


def test_a_header_is_decoded_for_people_and_as_json(tmp_path: Path) -> None:
    home = tmp_path / "h"
    header = base64.urlsafe_b64encode(json.dumps(STATE).encode()).decode().rstrip("=")
    text = manifest_command(home, "state", header)
    assert text.returncode == 0
    assert "signed in" in text.stdout
    assert "2 capabilities now: a, b" in text.stdout
    piped = manifest_command(home, "state", "-", "--json", said=f"AURA-State: {header}\n")
    assert json.loads(piped.stdout) == {"state": STATE, "valid": True, "problems": []}
    assert not home.exists(), "nothing is started and nothing kept"


def test_what_is_wrong_with_a_header_is_told(tmp_path: Path) -> None:
    home = tmp_path / "h"
    bad = manifest_command(home, "state", "e30*")
    assert (bad.returncode, len(bad.stderr.splitlines())) == (2, 1)
    odd = manifest_command(home, "state", base64.b64encode(b'{"capabilities": 1}').decode())
    assert odd.returncode == 1
    assert "capabilities must be a list" in odd.stdout
    evil = manifest_command(home, "state", base64.b64encode(b'{"capabilities": ["\\u001b[2J"]}').decode())
    assert "\x1b" not in evil.stdout
