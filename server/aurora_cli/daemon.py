"""`aurora daemon` (start, stop, status): the per-user daemon, by hand. Every other command starts it when it
needs it.
"""

from __future__ import annotations

import os
import time
from typing import Any

import click

from aurora_cli.errors import FINE, NO
from aurora_cli.fast_exit import stay
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json
from aurora_cli.session import CLIENT_NAME, open_session
from aurora_protocol import DaemonUnreachable, RequestFailed
from aurora_protocol.address import Address, read_info
from aurora_protocol.client import Client
from aurora_protocol.connection import NobodyThere
from aurora_protocol.human_text import count, plain, size, took

STATUS, STOP = "aurora/status", "aurora/stop"
_ANSWER_WITHIN = 10.0
_STOP_WITHIN = 10.0


@click.group(no_args_is_help=False)
def daemon() -> None:
    """Run, start, stop or look at the daemon."""


@daemon.command()
@click.option("--detached", is_flag=True, hidden=True, help="Set by whoever starts it in the background.")
@click.pass_obj
def run(settings: GlobalOptions, detached: bool) -> int:
    """Run the daemon in the foreground, until it is stopped or idle."""
    from aurora_server.daemon.daemon import run as run_daemon  # pygls and all the rooms: half a second

    stay()
    os.environ.update(settings.variables)
    return run_daemon(settings.address, detached=detached)


@daemon.command()
@click.pass_obj
def start(settings: GlobalOptions) -> None:
    """Start the daemon in the background, unless it runs."""
    with open_session(settings, None) as client:
        _show(client.request(STATUS, timeout=_ANSWER_WITHIN), settings)


@daemon.command()
@click.pass_obj
def status(settings: GlobalOptions) -> int:
    """Say what the daemon is doing. Exits 1 when none runs, and starts none."""
    try:
        client = Client.connect(settings.address)
    except NobodyThere:
        if settings.json:
            print_json({"running": False})
        else:
            print("no daemon is running; the next command that needs one starts it")
        return NO
    with client:
        client.initialize(None, CLIENT_NAME, os.getpid(), timeout=_ANSWER_WITHIN)
        _show(client.request(STATUS, timeout=_ANSWER_WITHIN), settings)
    return FINE


@daemon.command()
@click.pass_obj
def stop(settings: GlobalOptions) -> None:
    """Stop the daemon and wait until it is gone. Fine when none runs."""
    pid = stop_daemon(settings.address)
    if settings.json:
        print_json({"stopped": pid is not None, "pid": pid})
    elif pid is None:
        print("no daemon is running")
    else:
        print(f"stopped the daemon (process {pid})")


def stop_daemon(address: Address) -> int | None:
    """Shutdown of the daemon of this home, of whatever version; returns its process id, or None when none ran.

    Asks first, signals if that does not help, and then kills. Raises DaemonUnreachable if its process is still there,
    or if it cannot be known whether one runs: the home is another user's, say.
    """
    from aurora_protocol.launch import kill_listener, stop_listener, wait_until_gone

    pid, refused = _ask_to_stop(address)
    if pid is not None and wait_until_gone(pid, time.monotonic() + _STOP_WITHIN):
        return pid
    info = read_info(address)
    if info is None and refused is not None:
        raise refused
    if info is None or (pid is not None and info.pid != pid):
        if pid is not None and not wait_until_gone(pid, time.monotonic() + _STOP_WITHIN):  # it has no socket any more
            raise DaemonUnreachable(f"the daemon (process {pid}) does not end; end it with: kill -9 {pid}")
        return pid
    if not stop_listener(info.socket, info.pid) and pid is None:
        return None
    gone = wait_until_gone(info.pid, time.monotonic() + _STOP_WITHIN)
    if not gone and kill_listener(info.socket, info.pid):
        gone = wait_until_gone(info.pid, time.monotonic() + _STOP_WITHIN)
    if not gone:
        raise DaemonUnreachable(f"the daemon (process {info.pid}) does not stop; end it with: kill -9 {info.pid}")
    return info.pid


def status_lines(reply: dict[str, Any]) -> list[str]:
    """An `aurora/status` result for people."""
    lines = [
        f"aurora {reply['version']}, process {reply['pid']}, up {took(1000 * reply['uptime_s'])}, "
        f"{size(reply['rss_bytes'])}, {count(reply['connections'], 'connection')}",
        f"socket {reply['socket']}",
    ]
    for workspace in reply["workspaces"]:
        facts = [
            workspace["state"],
            count(workspace["files"], "file"),
            count(workspace["chunks"], "chunk"),
            size(workspace["database_bytes"]),
        ]
        if workspace["pending_files"]:
            facts.append(f"{workspace['pending_files']:,} pending")
        if workspace["skipped_files"]:
            facts.append(f"{workspace['skipped_files']:,} skipped")
        if workspace.get("last_error"):
            facts.append(f"last error: {workspace['last_error']}")
        lines.append(plain(f"{workspace['root']}: {' · '.join(facts)}"))
    if not reply["workspaces"]:
        lines.append("no workspace is open")
    return lines


def _ask_to_stop(address: Address) -> tuple[int | None, DaemonUnreachable | None]:
    """Ask the daemon at the address to stop: its process id where it answered to that, and why one that may be there
    was not reached.
    """
    try:
        asked = Client.connect(address)
    except NobodyThere:
        return None, None
    except DaemonUnreachable as error:
        return None, error
    try:
        with asked as client:
            client.initialize(None, CLIENT_NAME, os.getpid(), timeout=_ANSWER_WITHIN)
            pid = int(client.request(STATUS, timeout=_ANSWER_WITHIN)["pid"])
            client.request(STOP, timeout=_ANSWER_WITHIN)
    except (DaemonUnreachable, RequestFailed):
        return None, None  # it hangs, or went away while asked: what is left of it is found by its socket
    return pid, None


def _show(reply: dict[str, Any], settings: GlobalOptions) -> None:
    if settings.json:
        print_json({"running": True, **reply})
    else:
        print("\n".join(status_lines(reply)))
