"""Ignore rules (gitignore): which files and folders of a workspace are left alone, as git decides it, and a little
more.

By precedence, from the strongest: `.auroraignore` files (git's syntax, nested, the deepest first), the folders in
`BUILT_IN`, `.gitignore` files (nested, up to the repository's own root), `.git/info/exclude`, and the user's global
excludes. The first of these that speaks of an entry decides; nothing below an ignored folder can be brought back. Two
differences from git: a tracked file that matches an ignore line is left out as well (`!name` in `.auroraignore` brings
it back), and case always counts.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

from aurora_indexer.files.gitdir import find_git_directory
from aurora_indexer.files.ignore_patterns import Patterns, compiled
from aurora_indexer.files.safe_read import NotARegularFile, read_prefix
from aurora_indexer.files.skips import Skip

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", "CVS", "_darcs", ".pijul"})
"""Never entered, whatever any ignore file says."""

BUILT_IN = """\
node_modules/
bower_components/
jspm_packages/
.yarn/
.pnpm-store/
__pycache__/
.venv/
.tox/
.nox/
.mypy_cache/
.pytest_cache/
.ruff_cache/
.hypothesis/
.ipynb_checkpoints/
.eggs/
*.egg-info/
*.dist-info/
site-packages/
.gradle/
.terraform/
.next/
.nuxt/
.svelte-kit/
.parcel-cache/
.turbo/
.angular/
.dart_tool/
.bundle/
.stack-work/
dist-newstyle/
.direnv/
.aurora/
.idea/
.vs/
"""
"""Folders that hold dependencies, caches and tools' own state, left out even where no ignore file names them.

Beyond names: a folder with a `pyvenv.cfg` (a virtual environment) and one with a signed `CACHEDIR.TAG` (Cargo's
`target/`, many caches). `.auroraignore` can bring back what is listed by name.
"""

GIT_IGNORE = ".gitignore"
OWN_IGNORE = ".auroraignore"
CACHE_TAG = "CACHEDIR.TAG"
ENVIRONMENT_MARK = "pyvenv.cfg"
MARKERS = frozenset({GIT_IGNORE, OWN_IGNORE, CACHE_TAG, ENVIRONMENT_MARK, ".git"})
"""Names whose coming, going or changing changes what is ignored around them."""

MAX_IGNORE_FILE = 1 << 20
MAX_FOLDERS = 50_000
"""Folders whose rules are kept at a time, whether they are there or only asked about; then all are read anew."""
_CACHE_TAG_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55"


class _Layer(NamedTuple):
    """Patterns, and how a path relative to the workspace becomes one relative to the folder that holds them.

    Both in bytes, one character each.
    """

    patterns: Patterns
    above: str = ""
    cut: int = 0


class Folder:
    """Folder as the ignore rules see it. `closed` tells why nothing in it counts; `path` is "" for the root."""

    __slots__ = ("_git", "_layers", "_own", "closed", "path", "prefix")

    def __init__(self, path: str, own: tuple[_Layer, ...], git: tuple[_Layer, ...], closed: Skip | None = None) -> None:
        self.path = path
        self.prefix = f"{path}/" if path else ""
        self.closed = closed
        self._own = own
        self._git = git
        self._layers = (*own, _BUILT_IN_LAYER, *git)

    def ignores(self, name: str, is_folder: bool) -> bool:
        """Whether the rules leave out this entry of the folder."""
        if self.closed:
            return True
        if name in VERSION_CONTROL:
            return True
        path = self.prefix + name
        if not path.isascii():
            path = os.fsencode(path).decode("latin-1")
            name = path[len(path) - len(os.fsencode(name)) :]
        for patterns, above, cut in self._layers:
            verdict = patterns.verdict(name, above + path[cut:], is_folder)
            if verdict is not None:
                return verdict
        return False


_BUILT_IN_LAYER = _Layer(compiled(BUILT_IN))


class IgnoreRules:
    """The rules of one workspace, cached by folder until `refresh`. Safe to ask from several threads.

    `global_excludes` is git's `core.excludesFile` (`git.excludes_file` finds it).
    """

    def __init__(self, root: Path, *, global_excludes: Path | None = None) -> None:
        self.root = root
        self._global_excludes = global_excludes
        self._folders: dict[str, Folder] = {}
        self._outer: tuple[_Layer, ...] | None = None

    def refresh(self) -> None:
        """Forget what was read: an ignore file or another of `MARKERS` changed."""
        self._folders = {}
        self._outer = None

    def folder(self, path: str) -> Folder:
        """The folder at `path` (relative, `/`), with its parents looked at as far as needed."""
        below: list[str] = []
        while (folder := self._folders.get(path)) is None and path:
            path, _, name = path.rpartition("/")
            below.append(name)
        if folder is None:
            folder = self.enter(None, "", self._markers(""))
        for name in reversed(below):
            present = self._markers(folder.prefix + name) if not folder.closed else frozenset()
            folder = self.enter(folder, name, present)
        return folder

    def is_ignored(self, path: str, is_folder: bool) -> bool:
        """Whether the rules, at this level or above, leave out the entry at `path` (relative, `/`)."""
        above, _, name = path.rpartition("/")
        return self.folder(above).ignores(name, is_folder)

    def enter(self, parent: Folder | None, name: str, present: Container[str]) -> Folder:
        """The folder `name` in `parent` (None: the root), given which of `MARKERS` are present in it."""
        if parent is None:
            folder = self._furnish("", (), self._outer_layers(), present)
        else:
            path = parent.prefix + name
            closed = self._exclusion(parent, path, name, present)
            folder = Folder(path, (), (), closed) if closed else self._furnish(path, parent._own, parent._git, present)
        if len(self._folders) >= MAX_FOLDERS:
            self._folders = {}
        self._folders[folder.path] = folder
        return folder

    def _exclusion(self, parent: Folder, path: str, name: str, present: Container[str]) -> Skip | None:
        """Exclusion of a whole folder: ignored, a nested repository, a virtual environment (virtualenv) or a cache."""
        if parent.closed:
            return parent.closed
        if parent.ignores(name, is_folder=True):
            return Skip(path, "ignored", "An ignore rule names this folder.")
        if ".git" in present:
            return Skip(path, "nested-repository", "A repository of its own: open it as its own workspace.")
        if ENVIRONMENT_MARK in present:
            return Skip(path, "ignored", f"A Python virtual environment ({ENVIRONMENT_MARK}).")
        if CACHE_TAG in present and self._read(path, CACHE_TAG).startswith(_CACHE_TAG_SIGNATURE.decode()):
            return Skip(path, "ignored", f"A cache folder ({CACHE_TAG}).")
        return None

    def _furnish(self, path: str, own: tuple[_Layer, ...], git: tuple[_Layer, ...], present: Container[str]) -> Folder:
        """Folder with its own ignore files' patterns laid over those from above (precedence)."""
        cut = len(os.fsencode(path)) + 1 if path else 0
        if OWN_IGNORE in present and (patterns := compiled(self._read(path, OWN_IGNORE))):
            own = (_Layer(patterns, "", cut), *own)
        if GIT_IGNORE in present and (patterns := compiled(self._read(path, GIT_IGNORE))):
            git = (_Layer(patterns, "", cut), *git)
        return Folder(path, own, git)

    def _outer_layers(self) -> tuple[_Layer, ...]:
        """Rules from above the root and beside it, strongest first."""
        if self._outer is None:
            layers: list[_Layer] = []
            found = find_git_directory(self.root)
            if found:
                above = ""
                folder = self.root
                while folder != found.work_tree:
                    above = f"{os.fsencode(folder.name).decode('latin-1')}/{above}"
                    folder = folder.parent
                    layers.append(_Layer(_read_patterns(folder / GIT_IGNORE), above))
                layers.append(_Layer(_read_patterns(found.common / "info" / "exclude"), above))
            else:
                above = ""
            if self._global_excludes:
                layers.append(_Layer(_read_patterns(self._global_excludes), above))
            self._outer = tuple(layer for layer in layers if layer.patterns)
        return self._outer

    def _markers(self, path: str) -> frozenset[str]:
        """Marker files in a folder: ignore files, `.git`, cache tags."""
        folder = self.root / path if path else self.root
        return frozenset(name for name in MARKERS if os.path.lexists(folder / name))

    def _read(self, path: str, name: str) -> str:
        return _read_text(self.root / path / name)


def _read_patterns(file: Path) -> Patterns:
    return compiled(_read_text(file, follow=True))


def _read_text(file: Path, *, follow: bool = False) -> str:
    """The file's bytes as characters (git matches bytes), or "" where there is none: git, too, goes on without it."""
    try:
        content = read_prefix(str(file), MAX_IGNORE_FILE, follow=follow)
    except (OSError, NotARegularFile):
        return ""
    return content.removeprefix(codecs.BOM_UTF8).decode("latin-1")
