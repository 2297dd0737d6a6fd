"""`aurora uninstall` (removal of all data): the daemon ends, and all that AURORA keeps for this user is removed; the
package itself stays.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from aurora_cli.daemon import stop_daemon
from aurora_cli.errors import FINE
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json
from aurora_protocol.address import Address
from aurora_protocol.human_text import count, plain, size

_NAMED = 12


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def uninstall(settings: GlobalOptions, yes: bool) -> int:
    """Stop the daemon and remove all that AURORA keeps for you: memories, settings, logs.

    Close your editors first, or they start it again; `aurora memory export` saves what was learned. Your workspaces
    stay as they are, and so does the program: pipx uninstall aurora-context.
    """
    address = settings.address
    home, sockets = address.home, _sockets(address)
    wrong = refusal(home, Path.home())
    if wrong:
        raise click.UsageError(wrong)
    there = os.path.lexists(home)
    if there and not yes:
        if settings.json or not sys.stdin.isatty():
            raise click.UsageError("this removes what was learned; say --yes")
        click.confirm(question(home), abort=True, err=True)
    stopped = stop_daemon(address)
    if there:
        _remove(home)
    for socket in sockets:
        socket.unlink(missing_ok=True)
    _remove_empty(address.socket.parent)
    if settings.json:
        print_json({"removed": str(home) if there else None, "stopped": stopped})
    elif there:
        print(f"removed {home}; the program itself goes with: pipx uninstall aurora-context")
    else:
        print(f"there is no {home}; the program itself goes with: pipx uninstall aurora-context")
    return FINE


def refusal(home: Path, user: Path) -> str | None:
    """Why a folder is not to be removed although $AURORA_HOME names it; None where nothing speaks against it."""
    real, users = home.resolve(), user.resolve()
    if users.is_relative_to(real):
        return f"AURORA_HOME is {home}, which your own home is in; remove what AURORA keeps there by hand"
    if (home / ".git").exists():
        return f"AURORA_HOME is {home}, which is a repository; remove what AURORA keeps there by hand"
    if home.is_dir() and any(home.iterdir()) and not (home / "run").is_dir():
        return f"{home} does not look like AURORA's; remove it by hand if it is"
    return None


def question(home: Path) -> str:
    """What is about to be removed, with what is in it."""
    entries = sorted(entry.name for entry in home.iterdir())
    memories = sum(1 for _ in home.glob("memory/*.db"))
    used = sum(path.lstat().st_size for path in home.rglob("*") if not path.is_dir())
    more = f" and {len(entries) - _NAMED} more" if len(entries) > _NAMED else ""
    names = plain(", ".join(entries[:_NAMED]))
    return (
        f"Remove {home} ({size(used)}: {names}{more}), and with it what was learned in {count(memories, 'workspace')}?"
    )


def _sockets(address: Address) -> list[Path]:
    """The sockets and tokens of all versions, where they are not in the home itself."""
    folder = address.socket.parent
    if folder.is_relative_to(address.home):
        return []
    mark = address.socket.name.removesuffix(f"-{address.version}.sock")
    return [path for path in folder.glob("*.sock") if path.name.startswith(f"{mark}-")]


def _remove(home: Path) -> None:
    """Deletion of the home folder, and of the link that leads to it."""
    if home.is_symlink():
        shutil.rmtree(home.resolve())
        home.unlink()
    else:
        shutil.rmtree(home)


def _remove_empty(folder: Path) -> None:
    """Remove the folder of sockets unless another home has one there."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return
    except OSError:
        if not any(folder.iterdir()):
            raise
