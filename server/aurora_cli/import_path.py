"""Import path of a command (`sys.path`), without the workspace's own modules, which would shadow ours.

With `PYTHONPATH=.` a workspace that has a `json.py` or a `server/` would have it imported in place of the real one.
Imports nothing that the interpreter has not loaded before: until this has run, nothing else can be trusted to be ours.
"""

# pathlib is one of the imports that cannot be trusted yet:
# ruff: noqa: PTH109, PTH118, PTH119, PTH120

import os
import sys

from aurora_cli.workspace import aurora_homes, find_workspace

_ROOMS = ("server", "orchestration", "indexer", "memory", "protocol", "schemas")


def close_import_path() -> None:
    """Drop from `sys.path` what PYTHONPATH or the working folder put there out of the workspace."""
    try:
        cwd = os.getcwd()
    except FileNotFoundError:  # a folder that is gone holds no modules
        return
    roots = [cwd, find_workspace(cwd, aurora_homes(os.environ)), *_named_workspaces(sys.argv[1:], cwd)]
    pythonpath = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    first = [] if sys.flags.safe_path or not sys.path else [sys.path.pop(0)]  # the script's folder, or with -m the cwd
    sys.path[:] = closed_path(first, first, roots, __file__) + closed_path(sys.path, pythonpath, roots, __file__)


def closed_path(path: list[str], suspects: list[str], roots: list[str], own_file: str) -> list[str]:
    """Return `path` without those of the `suspects` that lie inside a root.

    Entries that our own packages are found in stay: running from a checkout, that is each room's folder.
    """
    own = _real(own_file, "..", "..")
    ours = {own}
    if os.path.basename(own) == "server":
        ours.update(os.path.join(os.path.dirname(own), room) for room in _ROOMS)
    inside = {_real(root) for root in roots}
    dropped = {real for real in map(_real, suspects) if real not in ours and _within(real, inside)}
    return [entry for entry in path if _real(entry) not in dropped]


def _within(folder: str, roots: set[str]) -> bool:
    return any(folder == root or folder.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def _named_workspaces(arguments: list[str], cwd: str) -> list[str]:
    """Folders that `--workspace` names, before the arguments are parsed."""
    named = [arguments[at + 1] for at, option in enumerate(arguments[:-1]) if option == "--workspace"]
    named += [argument.partition("=")[2] for argument in arguments if argument.startswith("--workspace=")]
    return [os.path.join(cwd, name) for name in named if name]


def _real(*parts: str) -> str:
    return os.path.realpath(os.path.join(*parts) or os.curdir)
