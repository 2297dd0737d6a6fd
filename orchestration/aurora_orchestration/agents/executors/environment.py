"""Environment variables of an agent's child process (an allow-list): few of the daemon's, those that it declares, and
no key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "TERM", "TMPDIR", "TZ", "USER")
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,100})(?::-([^{}]{0,1000}))?\}")


def environment_for(declared: Mapping[str, str], environ: Mapping[str, str], barred: Path | None) -> dict[str, str]:
    """PATH, home, language and what the agent's own (trusted) entry declares; nothing else is inherited.

    From PATH relative folders are dropped, and those in `barred`: a workspace that is not trusted.
    """
    kept = {name: environ[name] for name in INHERITED if name in environ}
    folders = [each for each in environ.get("PATH", DEFAULT_PATH).split(os.pathsep) if Path(each).is_absolute()]
    if barred is not None:
        folders = [each for each in folders if not Path(os.path.realpath(each)).is_relative_to(barred)]
    own = {name: filled(value, environ) for name, value in declared.items()}
    return {**kept, "PATH": os.pathsep.join(folders), **own}


def filled(text: str, environ: Mapping[str, str]) -> str:
    """`text` with `${NAME}` and `${NAME:-default}` expanded (variable interpolation), as the tools do whose files
    these are."""
    return _VARIABLE.sub(lambda found: environ.get(found[1], found[2] or ""), text)
