"""Identity of a repository as git tells it: its first commit, its remote, its common directory, and who works in it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from aurora_indexer.files.gitdir import GitDirectory, find_git_directory, is_shallow, is_work_tree
from aurora_indexer.git import commands

_DEFAULT_PORTS = {"ssh": 22, "git+ssh": 22, "ssh+git": 22, "https": 443, "http": 80, "git": 9418}
_SCP = re.compile(r"(?:[^@/:\s]+@)?(?P<host>\[[^\]/]+\]|[^:/\s]{2,}):(?P<path>[^\s].*)")
"""The short form of ssh, `user@host:path`; one letter is a drive of Windows."""

_MAX_URL = 4096

_CASELESS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
"""Hosts where `Team/Project` and `team/project` are one."""

_OTHER_HOSTS = {
    "www.github.com": "github.com",
    "ssh.github.com:443": "github.com",
    "altssh.gitlab.com:443": "gitlab.com",
    "altssh.bitbucket.org:443": "bitbucket.org",
}
"""Hosts by which others are reached where a firewall lets nothing but https through."""

PATIENCE = 20.0
"""Seconds that git has for each word on who somebody is: a machine under load is no reason for another name."""


class RepositoryIdentity(Struct, frozen=True):
    """Identity of a repository: what tells it from others.

    `common` is the git directory that its work trees share, of a folder without git the folder; `work_tree` is where
    this one stands and `below` the workspace's place in it, with `/` ("" for the top). `first_commit` is "" where there
    is none, or where history was cut off. `remote` is where it comes from (`normalized_remote`), "" without; `remotes`
    are all. `email` and `name` are whose commits are made here, "" where git does not know.
    """

    common: Path
    work_tree: Path
    below: str = ""
    first_commit: str = ""
    remote: str = ""
    remotes: frozenset[str] = frozenset()
    email: str = ""
    name: str = ""
    known_commit: bool = False
    """Whether the commit that was asked about is in the repository."""


async def repository_identity(
    root: Path, known_commit: str = "", *, environment: Mapping[str, str] = os.environ
) -> RepositoryIdentity:
    """Identity of the repository that `root` is in. `known_commit` is the first commit it was known by.

    A folder that only claims to be a work tree of a repository is one without git. Raises GitSilent where git does not
    say: what is learned under another name would be nobody's.
    """
    root = await asyncio.to_thread(root.resolve)
    email = (await _configured(root, "user.email", environment)).lower()
    name = await _configured(root, "user.name", environment)
    repository = await asyncio.to_thread(_repository, root)
    if repository is None:
        return RepositoryIdentity(root, root, email=email, name=name)
    common = await asyncio.to_thread(repository.common.resolve)
    urls = await _urls(root, environment)
    remotes = {name: await asyncio.to_thread(normalized_remote, url, common) for name, url in urls.items()}
    main = "origin" if "origin" in remotes else min(remotes, default="")
    is_known = False
    if known_commit:
        asked = ["cat-file", "-t", known_commit]
        is_known = await commands.told(root, asked, seconds=PATIENCE, environment=environment) is not None
    return RepositoryIdentity(
        common=common,
        work_tree=repository.work_tree,
        below="" if root == repository.work_tree else root.relative_to(repository.work_tree).as_posix(),
        first_commit=await _first_commit(root, repository, main, environment),
        remote=remotes.get(main, ""),
        remotes=frozenset(remotes.values()),
        email=email,
        name=name,
        known_commit=is_known,
    )


def normalized_remote(url: str, common: Path) -> str:
    """URL normalization of a remote: `host/path`, the same however it is reached (ssh, https, with `.git`, another case
    of the host, or of the path where the host does not mind); a folder as `file:` and its path. Nothing of user or
    password is in it. `common`: what a relative path is below of.
    """
    url = url[:_MAX_URL].strip()
    if not url:
        return ""
    short = None if "://" in url else _SCP.fullmatch(url)
    if short is not None:
        return _joined(short["host"], None, "ssh", short["path"])
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # a port that is no number, an open bracket
        host, port, parts = None, None, urlsplit("")
    if "://" in url and host and parts.scheme != "file":
        return _joined(host, port, parts.scheme, unquote(parts.path))
    folder = Path(unquote(parts.path) if parts.scheme == "file" else url)
    if "\0" in str(folder):
        return ""
    top = common.parent if common.name == ".git" else common
    folder = Path(os.path.realpath(top / folder))
    return f"file:{folder.parent if folder.name == '.git' else folder}"


def _joined(host: str, port: int | None, scheme: str, path: str) -> str:
    """Normalized host and path, without default port and `.git`."""
    at = host.lower().strip("[]").rstrip(".")
    if port is not None and port != _DEFAULT_PORTS.get(scheme):
        at = f"{at}:{port}"
    at = _OTHER_HOSTS.get(at, at)
    path = path.strip("/").removesuffix(".git").rstrip("/")
    return f"{at}/{path.lower() if at in _CASELESS else path}"


def _repository(root: Path) -> GitDirectory | None:
    found = find_git_directory(root)
    return found if found is not None and is_work_tree(found) else None


async def _first_commit(root: Path, repository: GitDirectory, remote: str, environment: Mapping[str, str]) -> str:
    """The remote's main branch tells it where there is one: HEAD may be at a branch that began anew."""
    if await asyncio.to_thread(is_shallow, repository):
        return ""
    for start in (f"refs/remotes/{remote}/HEAD", "HEAD") if remote else ("HEAD",):
        asked = ["rev-list", "--first-parent", "--max-parents=0", start, "--"]
        said = await commands.told(root, asked, seconds=PATIENCE, environment=environment)
        if said:
            return said.decode("ascii", "replace").split("\n", 1)[0]
    return ""


async def _urls(root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The addresses of a repository's own remotes, as git would call them."""
    urls: dict[str, str] = {}
    for key, url in await _matching(root, ("--local",), r"^remote\..*\.url$", environment):
        urls.setdefault(key.removeprefix("remote.").removesuffix(".url"), url)
    if not urls:
        return urls
    short = await _matching(root, (), r"^url\..*\.insteadof$", environment)
    whole = {prefix: key.removeprefix("url.").removesuffix(".insteadof") for key, prefix in short if prefix}
    return {name: _expanded(url, whole) for name, url in urls.items()}


def _expanded(url: str, whole: Mapping[str, str]) -> str:
    """An address with the longest beginning that the user has a short form for written out (`url.….insteadOf`)."""
    begins = max((each for each in whole if url.startswith(each)), key=len, default="")
    return whole[begins] + url.removeprefix(begins) if begins else url


async def _matching(
    root: Path, scope: tuple[str, ...], pattern: str, environment: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Settings of git whose keys match, in git's order; keys have small letters but for their middle."""
    asked = ["config", *scope, "-z", "--get-regexp", pattern]
    said = await commands.told(root, asked, seconds=PATIENCE, environment=environment)
    told = (each.partition("\n") for each in (said or b"").decode("utf-8", "replace").split("\0"))
    return [(key, value) for key, _, value in told if value]


async def _configured(root: Path, key: str, environment: Mapping[str, str]) -> str:
    """Setting of git's configuration (`git config --get`), "" without one."""
    said = await commands.told(root, ["config", "--get", key], seconds=PATIENCE, environment=environment)
    return (said or b"").decode("utf-8", "replace").strip()[:200]
