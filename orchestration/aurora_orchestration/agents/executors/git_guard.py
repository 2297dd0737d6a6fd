"""Git guard (branch protection by git hooks): what keeps the agents of an unattended run on its branch (AURORA §9.8,
"Safety Constraints").

Git's configuration comes to an agent by its environment, for this repository only, so that no file of the user's is
written: hooks that refuse every branch but the run's own, merges into it and pushes, and that take a checkout back; and
addresses nothing can be pushed to (`--no-verify` skips a hook). A `git` that goes first on PATH refuses a checkout
before it touches a file. The repository's own hooks run after ours. Its remotes are closed to pushes from every
repository: an agent may have cloned it.

Enforced against whoever uses git as it is found, by PATH or by its full path. An agent that takes the variables out of
its environment, names other hooks (`git -c core.hooksPath=`), writes below `.git` itself or is no process of ours
(HTTP) is not held. What it did is seen afterwards by `headless.work_tree`, and ends the run.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from aurora_indexer.git import commands
from aurora_indexer.git.local_remotes import local_path, remote_addresses
from aurora_orchestration.agents.executors.processes import AgentError
from aurora_orchestration.settings import HeadlessSettings
from aurora_protocol.strict_modes import make_private_folder

_HEADS = "refs/heads/"
_COUNT = "GIT_CONFIG_COUNT"
_MAX_COUNT = 1_000
_NOWHERE = "aurora-refused://"
MAX_REMOTES = 20

_HEADER = """#!/bin/sh
# Written by AURORA for an unattended run, and gone with it.
branch={branch} root={root} common={common}
push={push} merge={merge} checkout={checkout}
refuse() {{
  echo "aurora: refused: this run works on branch '$branch' and may not $1" >&2
  exit 1
}}
"""

_WRAPPER = """real={real}
# What stands before the command: `git -C folder -c name=value push`.
command= folder=. value= before=0
for word in "$@"; do
  if [ -n "$value" ]; then
    if [ "$value" = -C ]; then case "$word" in /*) folder=$word ;; *) folder=$folder/$word ;; esac; fi
    value=
  else
    case "$word" in
      -c | -C | --git-dir | --work-tree | --namespace | --config-env | --super-prefix | --attr-source) value=$word ;;
      -*) ;;
      *) command=$word && break ;;
    esac
  fi
  before=$((before + 1))
done
case "$command" in push | send-pack | merge | pull | checkout | switch | rebase) ;; *) exec "$real" "$@" ;; esac
here=$("$real" -C "$folder" rev-parse --git-common-dir 2>/dev/null) && here=$(cd "$folder" && cd "$here" && pwd -P)
top=$("$real" -C "$folder" rev-parse --show-toplevel 2>/dev/null) && top=$(cd "$top" && pwd -P)
[ "$here" = "$common" ] || exec "$real" "$@"
case "$command" in
  push | send-pack) [ $push = 1 ] || refuse push ;;
  merge | pull) [ $merge = 1 ] || refuse merge ;;
  rebase) [ $checkout = 1 ] || refuse rebase ;;
  checkout | switch)
    if [ $checkout = 0 ] && [ "$top" = "$root" ]; then
      target= paths=0
      for word in "$@"; do
        if [ $before -ge 0 ]; then
          before=$((before - 1))
          continue
        fi
        case "$word" in
          --) paths=1 && break ;;
          - | -b | -B | -c | -C | -d | -t | --create | --force-create | --orphan | --detach | --track)
            refuse "leave it" ;;
          -*) ;;
          *) if [ -z "$target" ]; then target=$word; else paths=1; fi ;;
        esac
      done
      if [ $paths = 0 ] && [ -n "$target" ] && [ "$target" != "$branch" ]; then
        if [ "$command" = switch ] || {{ [ ! -e "$target" ] && [ ! -e "$folder/$target" ]; }} ||
          "$real" -C "$folder" rev-parse --verify --quiet "refs/heads/$target" >/dev/null; then
          refuse "leave it"
        fi
      fi
    fi
    ;;
esac
exec "$real" "$@"
"""

_REFERENCES = """if [ "$1" = prepared ]; then
  while read -r old new ref; do
    # It stays as it is where git only packs it: written to the packed ones first, then taken from the loose ones.
    [ "$(git rev-parse --quiet --verify "$ref" 2>/dev/null)" != "$new" ] || continue
    case "$new" in
      *[!0]*) ;;
      *) if grep -q -s -x -F -e "$old $ref" "$common/packed-refs"; then continue; fi ;;
    esac
    case "$ref" in
      "refs/heads/$branch")
        case "$new" in
          *[!0]*) ;;
          *) if [ $checkout = 0 ]; then refuse "delete it"; fi ;;
        esac
        if [ $merge = 0 ] && [ "$old" != "$new" ]; then
          [ -z "$(git rev-list --merges --max-count=1 "$old..$new" 2>/dev/null)" ] || refuse merge
          if ! git merge-base --is-ancestor "$new" "$old" 2>/dev/null; then
            others=$(git for-each-ref --contains "$new" --format='%(refname:short)' refs/heads refs/remotes 2>/dev/null)
            [ -z "$others" ] || refuse "take over $(echo $others)"
          fi
        fi
        ;;
      refs/heads/*) [ $checkout = 1 ] || refuse "write ${ref#refs/heads/}" ;;
    esac
  done
fi
exit 0
"""

_CHECKOUT = """if [ "$3" = 1 ] && [ $checkout = 0 ] && [ "$(git rev-parse --show-toplevel)" = "$root" ] \\
  && [ "$(git symbolic-ref --quiet HEAD)" != "refs/heads/$branch" ]; then
  git -c core.hooksPath=/dev/null checkout --quiet "$branch" -- || git symbolic-ref HEAD "refs/heads/$branch"
  refuse "leave it; it was switched back"
fi
exit 0
"""

_OURS = {
    "reference-transaction": _REFERENCES,
    "post-checkout": _CHECKOUT,
    "pre-push": "[ $push = 1 ] || refuse push\nexit 0\n",
    "pre-merge-commit": "[ $merge = 1 ] || refuse merge\nexit 0\n",
    "pre-rebase": "[ $checkout = 1 ] || refuse rebase\nexit 0\n",
}
_READ_INPUT = frozenset({"reference-transaction", "pre-push"})


class GitGuard(Struct, frozen=True, kw_only=True):
    """Git guard of one run: its own folder, the work tree, its repository and branch, and what agents may do there.

    `hooks` is the folder of the repository's own hooks, which go on running; None where they shall not. `remotes` are
    the beginnings of addresses that no repository may push to.
    """

    folder: Path
    root: Path
    repository: Path
    branch: str
    hooks: Path | None = None
    push: bool = False
    merge: bool = False
    checkout: bool = False
    remotes: tuple[str, ...] = ()

    def prepare(self) -> None:
        """Installation of git hooks, the wrapper and configuration. Blocks for some small writes. Raises OSError."""
        own = _own_hooks(self.hooks)
        hooks, programs = self.folder / "hooks", self.folder / "bin"
        for folder in (hooks, programs):
            make_private_folder(folder)
        for name in sorted({*_OURS, *own}):
            text = _OURS.get(name, "exit 0\n")
            _write(hooks / name, self._header() + (_then(text, name, own[name]) if name in own else text))
        real = shutil.which("git")
        if real is not None:
            _write(programs / "git", self._header() + _WRAPPER.format(real=shlex.quote(real)))
        # An empty prefix is every address's.
        refused = "" if self.push else f'[url "{_NOWHERE}"]\n\tpushInsteadOf = ""\n'
        self._config.write_text(f"[core]\n\thooksPath = {_quoted(hooks)}\n{refused}", encoding="utf-8")

    def remove(self) -> None:
        """Take its folder away. Blocks."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def applied(self, environment: Mapping[str, str]) -> dict[str, str]:
        """An agent's environment with the guard in it. Raises AgentError where its own configuration of git is none."""
        count = environment.get(_COUNT, "0")
        if not count.isdecimal() or int(count) > _MAX_COUNT:
            raise AgentError(f"{_COUNT}={count[:20]!r} in its environment is no count; take it out")
        # The repository and what lies below it: the git folders of its linked work trees.
        told = [(f"includeIf.gitdir:{self.repository}{end}.path", str(self._config)) for end in ("", "/")]
        told += [] if self.push else [(f"url.{_NOWHERE}.pushInsteadOf", address) for address in self.remotes]
        added = {_COUNT: str(int(count) + len(told))}
        for number, (key, value) in enumerate(told, int(count)):
            added |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        path = os.pathsep.join(part for part in (str(self.folder / "bin"), environment.get("PATH", "")) if part)
        return {**environment, **added, "PATH": path}

    @property
    def _config(self) -> Path:
        return self.folder / "config"

    def _header(self) -> str:
        return _HEADER.format(
            branch=shlex.quote(self.branch),
            root=shlex.quote(str(self.root)),
            common=shlex.quote(str(self.repository)),
            push=int(self.push),
            merge=int(self.merge),
            checkout=int(self.checkout),
        )


async def guard_of(root: Path, folder: Path, settings: HeadlessSettings, *, trusted: bool) -> GitGuard | None:
    """The guard for a run in the work tree at `root`, prepared in `folder`; None without a repository or a branch."""
    said = [
        await commands.text(root, arguments)
        for arguments in (
            ["symbolic-ref", "--quiet", "HEAD"],
            ["rev-parse", "--path-format=absolute", "--git-common-dir"],
            ["rev-parse", "--path-format=absolute", "--show-toplevel"],
        )
    ]
    reference, repository, top = said
    if not reference.startswith(_HEADS) or not repository or not top:
        return None
    guard = GitGuard(
        folder=folder,
        root=Path(top),
        repository=Path(repository),
        branch=reference.removeprefix(_HEADS),
        hooks=await _hooks_of(Path(top), Path(repository)) if trusted else None,
        push=settings.allow_push,
        merge=settings.allow_merge,
        checkout=settings.allow_checkout,
        remotes=await asyncio.to_thread(_closed, Path(top), await remote_addresses(Path(top))),
    )
    await asyncio.to_thread(guard.prepare)
    return guard


def _closed(root: Path, addresses: Sequence[str]) -> tuple[str, ...]:
    """Push URLs to block: how addresses of remotes may be written; not one that `root` itself begins with."""
    found: list[str] = []
    for address in addresses[:MAX_REMOTES]:
        path = local_path(root, address)
        found += [address] if path is None else [str(path), f"file://{path}"]
        if path is not None and Path(address).is_absolute():
            found.append(address)
    return tuple(dict.fromkeys(each for each in found if not str(root).startswith(each)))


async def _hooks_of(root: Path, repository: Path) -> Path:
    """The folder of hooks that is configured, or git's usual one; our own questions to git switch it off."""
    arguments = ["config", "--show-scope", "--type=path", "--get-all", "core.hooksPath"]
    said = await commands.text(root, arguments)
    configured = [path for scope, _, path in (line.partition("\t") for line in said.splitlines()) if scope != "command"]
    return root / configured[-1] if configured else repository / "hooks"


def _own_hooks(folder: Path | None) -> dict[str, Path]:
    """The hooks in a folder that git would run, by name."""
    try:
        found = list(folder.iterdir()) if folder is not None else []
    except OSError:  # a repository need not have any
        return {}
    return {each.name: each for each in found if "." not in each.name and each.is_file() and os.access(each, os.X_OK)}


def _then(ours: str, name: str, own: Path) -> str:
    """Our hook's text, and then the repository's own hook, with what git says to both of them."""
    # Ours in a shell of its own: it ends by `exit`.
    called = f'{shlex.quote(str(own))} "$@"'
    if name not in _READ_INPUT:
        return f"(\n{ours}) || exit 1\nexec {called}\n"
    return f"said=$(cat)\nprintf '%s\\n' \"$said\" | (\n{ours}) || exit 1\nprintf '%s\\n' \"$said\" | {called}\n"


def _quoted(path: Path) -> str:
    """A path as a value in a file of git's configuration."""
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    path.chmod(0o700)
