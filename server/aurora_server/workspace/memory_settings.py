"""Memory settings of one workspace: its database path, its ACT-R parameters, its learning and lifespan policies."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from aurora_memory.activation import Weighing
from aurora_memory.learning import LearningPolicy
from aurora_memory.lifespans.policies import Layer, Merged, merged, section_of
from aurora_memory.store.memory_files import memory_file
from aurora_protocol.address import in_home
from aurora_protocol.strict_modes import complaint
from aurora_server.configuration.config_file import workspaces_document, workspaces_path
from aurora_server.configuration.settings import Settings, SettingsError, read_document

POLICIES_VARIABLE = "AURORA_LIFESPAN_POLICIES"


def policies_of(root: Path, settings: Settings) -> Merged:
    """Built-in < the user's configuration < `.aurora/config.json` of `root` < the file AURORA_LIFESPAN_POLICIES names.

    Reads files. Never raises: what cannot be used is one line in `problems`, and what it would have replaced holds. A
    workspace need not be trusted for this: policies run nothing, and what they archive can be restored.
    """
    layers: list[Layer] = []
    problems: list[str] = []
    if settings.lifespans.given is not None:
        layers.append(Layer(settings.lifespans.place, settings.lifespans.given))
    named = settings.lifespans.file
    for path, required in ((workspaces_path(root), False), (named, True)):
        if path is None:
            continue
        try:
            if required:
                document = read_document(path, required=True, named_by=POLICIES_VARIABLE)
            else:
                document = workspaces_document(root).content
        except SettingsError as error:
            problems.append(str(error))
            continue
        section = section_of(document)
        if section is not None:
            layers.append(Layer(str(path), section))
        elif required:
            problems.append(f'{path} has no lifespan policies; put them under "policies" or unset {POLICIES_VARIABLE}')
    result = merged(layers)
    return Merged(result.policies, (*problems, *result.problems))


def weighing_of(settings: Settings) -> Weighing:
    """`memory.activation.*` and `team.weight`."""
    given = settings.memory.activation
    return Weighing(
        given.decay_rate,
        given.spread_factor,
        given.max_spread_hops,
        given.context_boost_max,
        given.retrieval_threshold,
        settings.team.weight,
    )


def policy_of(settings: Settings) -> LearningPolicy:
    """`memory.learning.*` and `memory.caching_policy.*`: what did not help in a partial success loses what it gains."""
    learning, caching = settings.memory.learning, settings.memory.caching_policy
    return LearningPolicy(
        pattern_score=caching.mark_as_pattern_if_gte,
        kept_score=caching.cache_if_score_gte,
        success=learning.success_boost,
        helpful=learning.partial_boost,
        unhelpful=-learning.partial_boost,
        neutral=learning.neutral,
        misleading=learning.failure_penalty,
        flagged=caching.include_confidence_flag,
    )


def database_path(root: Path, settings: Settings) -> Path:
    """Database path of `root`: `$AURORA_HOME/memory/<name>-<hash>.db`, or `memory.database_path`.

    A path without `{workspace}`, as App. C has it, means one file each all the same: `memory.db` is
    `memory-<name>-<hash>.db` then, unless there is a `memory.db` that is this workspace's already.
    """
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    name = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in root.name)[:60]
    workspace = f"{name or 'root'}-{digest}"
    if settings.memory.database_path is None:
        return settings.home / "memory" / f"{workspace}.db"
    said = in_home(settings.memory.database_path, settings.home)
    path = Path(said.replace("{workspace}", workspace)).expanduser().absolute()
    if "{workspace}" in said:
        return path
    known = memory_file(path) if path.is_file() else None
    if known is not None and known.root == root:
        return path
    return path.with_name(f"{path.stem}-{workspace}{path.suffix}")


def memory_paths(settings: Settings) -> list[Path]:
    """Every memory file that this machine knows, wherever `memory.database_path` puts them; those used last first.

    Blocks. A file that vanishes meanwhile, or that cannot be looked at, comes last.
    """
    found = set((settings.home / "memory").glob("*.db"))
    if settings.memory.database_path is not None:
        said = Path(in_home(settings.memory.database_path, settings.home)).expanduser().absolute()
        if "{workspace}" in str(said):
            pattern = "/".join(glob.escape(part) for part in said.relative_to(said.anchor).parts)
            found |= set(Path(said.anchor).glob(pattern.replace(glob.escape("{workspace}"), "*")))
        else:
            found |= {said, *said.parent.glob(f"{glob.escape(said.stem)}-*{glob.escape(said.suffix)}")}
    return sorted((path for path in found if path.is_file()), key=lambda path: (-_used_at(path), path))


def _used_at(path: Path) -> float:
    """When a memory file, or its log, was written last."""
    try:
        times = [path.stat().st_mtime]
        log = path.with_name(f"{path.name}-wal")
        return max([*times, log.stat().st_mtime] if log.exists() else times)
    except OSError:
        return 0.0


def others_file(path: Path) -> str | None:
    """Why a memory file is not opened that another user made, or may write, or put a log beside: SQLite takes what a
    log says for its own. None where it is ours or none is there.
    """
    for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-journal", "-shm"))):
        with suppress(OSError):
            if problem := complaint(each, each.stat()):
                return problem
    with suppress(OSError):
        if sys.platform != "win32" and path.parent.stat().st_mode & stat.S_IWOTH:
            return (
                f"{path.parent} may be written by every user, who could put a log beside {path.name}; set "
                "memory.database_path to a folder of your own"
            )
    return None
