"""Running `aurora manifest validate` as a process, in a workspace that has a manifest."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests import programs
from tests.manifests import manifest
from tests.wait_limits import HANG

GOOD = json.dumps(manifest(), indent=2, ensure_ascii=False)
BAD = GOOD.replace('"method": "GET"', '"method": "FETCH"').replace('"v": 1,', '"v": "1",', 1)
COMMAND = (*programs.COMMAND, "manifest", "validate")


def make_site(tmp_path: Path) -> Path:
    """A workspace with a good manifest at the usual place."""
    root = tmp_path / "site"
    (root / ".git").mkdir(parents=True)
    (root / ".well-known").mkdir()
    (root / ".well-known" / "aura.json").write_text(GOOD, encoding="utf-8")
    return root


def validate(
    root: Path, *arguments: str, given: str | bytes | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run it in `root`, with a home beside it; fails where a daemon is started for it."""
    home = root.parent / "home"
    done = programs.run(
        [*COMMAND, *arguments],
        cwd=root,
        env={**os.environ, "AURORA_HOME": str(home), "PYTHONIOENCODING": "utf-8", **variables},
        input=given.encode() if isinstance(given, str) else given,
        capture_output=True,
        timeout=HANG,
        check=False,
    )
    assert not (home / "run").exists(), "no daemon is needed"
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def reported(root: Path, *arguments: str, code: int, **more: Any) -> dict[str, Any]:
    """What `--json` prints; fails where the exit code is another than `code`."""
    done = validate(root, "--json", *arguments, **more)
    assert done.returncode == code, done
    report: dict[str, Any] = json.loads(done.stdout)
    return report
