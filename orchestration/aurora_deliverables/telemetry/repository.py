"""Repository of a deliverable (git remote URL, parsed), in the words of OpenTelemetry's conventions for version control
(`vcs.*`).

What is sent on has no credentials in it: of a remote's address only host and path.
"""

from __future__ import annotations

import re

from msgspec import Struct

_SCP = re.compile(r"(?:[^@/\s]+@)?([\w.-]{2,}):(?!//)(?!\d+/)([^\s\\]+)")
_URL = re.compile(r"(?:https?|ssh|git)://(?:[^@/\s]*@)?([\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d+)?/([^\s?#]+)")
_PROVIDERS = {
    "github.com": "github",
    "gitlab.com": "gitlab",
    "bitbucket.org": "bitbucket",
    "codeberg.org": "forgejo",
    "gitea.com": "gitea",
}


class Repository(Struct, frozen=True):
    """Repository where the work was done: `name`, `url` and `provider` of the repository, `owner` within the provider,
    `branch`.

    None is what nobody knows.
    """

    name: str | None = None
    url: str | None = None
    provider: str | None = None
    owner: str | None = None
    branch: str | None = None


def repository_of(remote: str | None, folder: str, branch: str | None) -> Repository:
    """A repository from the address of its remote, else by the name of its folder."""
    found = _URL.fullmatch(remote.strip()) or _SCP.fullmatch(remote.strip()) if remote else None
    if found is None:
        return Repository(name=folder or None, branch=branch)
    host, path = found[1].lower(), found[2].strip("/").removesuffix(".git")
    owner, _, name = path.rpartition("/")
    provider = _PROVIDERS.get(host) or next(
        (each for each in ("github", "gitlab") if host.startswith(f"{each}.")), None
    )
    return Repository(name or None, f"https://{host}/{path}", provider, owner or None, branch)
