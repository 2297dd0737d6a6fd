"""Workspace of a command (project root detection): the nearest folder upward that has a `.git` or an `.aurora`."""

# used before anything else may be imported, see import_path:
# ruff: noqa: PTH100, PTH110, PTH111, PTH112, PTH116, PTH118, PTH120

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def find_workspace(start: str, homes: tuple[str, ...]) -> str:
    """Root directory: the nearest folder from `start` upward with `.git` or `.aurora`; else `start` itself.

    AURORA's own `homes`, as `~/.aurora`, mark none: else every folder of the user would belong to one workspace. Nor
    does what another user put into a folder that is not his, as anybody can into `/tmp`.
    """
    own = {os.path.realpath(home) for home in homes}
    folder = os.path.abspath(start)
    while True:
        mark = os.path.join(folder, ".git")
        if os.path.exists(mark) and not _strange(mark, folder):
            return folder
        mark = os.path.join(folder, ".aurora")
        if os.path.isdir(mark) and os.path.realpath(mark) not in own and not _strange(mark, folder):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return os.path.abspath(start)
        folder = above


def _strange(mark: str, folder: str) -> bool:
    """Whether a mark is neither its folder's owner's, nor ours, nor root's."""
    return hasattr(os, "geteuid") and os.lstat(mark).st_uid not in (os.geteuid(), 0, os.stat(folder).st_uid)


def aurora_homes(environ: "Mapping[str, str]") -> tuple[str, ...]:
    """Every folder that is AURORA's own for this user: the usual one, and the one that the environment names."""
    return tuple(home for home in (os.path.expanduser("~/.aurora"), environ.get("AURORA_HOME", "")) if home)
