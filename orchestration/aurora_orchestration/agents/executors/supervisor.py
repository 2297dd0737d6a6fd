"""Supervisor that runs one agent, kills its process tree and ends with it: a program of its own, standard library only
(`python -I`).

    supervisor.py LIFELINE GRACE CPU_SECONDS COMMAND [ARGUMENT…]

LIFELINE is the number of an inherited pipe whose other end the daemon holds. When that closes, because the daemon wants
the agent to end or is dead itself, the agent and all it started are ended: SIGTERM, and after GRACE seconds SIGKILL.
When the agent ends by itself, what it left running is killed. The exit code is the agent's; 127: it cannot be run.

On Linux the supervisor adopts every orphan below it, so that a process which started a session of its own is found as
well. Elsewhere it is the process group that is ended; there the daemon looks for others (psutil).
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import time

_PR_SET_CHILD_SUBREAPER = 36
_MAX_FILE_BYTES = 4 << 30
_MAX_OPEN_FILES = 4096
CANNOT_RUN = 127


def main() -> int:
    """Run the agent in a session of its own until it or the lifeline ends; as a subreaper, so its whole tree ends."""
    lifeline, grace, cpu = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(lifeline, False)
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, lambda *_: None)  # not SIG_IGN, which the agent would inherit
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _limit(cpu)
    woken, wake = os.pipe()
    signal.set_wakeup_fd(_non_blocking(wake))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        agent = subprocess.Popen(sys.argv[4:], start_new_session=True, restore_signals=True)
    except OSError as error:
        sys.stderr.write(f"cannot run {sys.argv[4]}: {error.strerror}\n")
        return CANNOT_RUN
    for stream in (0, 1, 2):  # the daemon is to see the end of the agent's output, not of ours
        os.close(stream)
    code = _until_over(agent, lifeline, woken)
    _end(agent.pid, grace if code is None else 0.0)
    if code is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = agent.wait(timeout=1)
    return 128 - code if code is not None and code < 0 else code or 0


def _until_over(agent: "subprocess.Popen[bytes]", lifeline: int, woken: int) -> "int | None":
    """Wait for the agent's end, its exit code, or the lifeline's: None."""
    while True:
        if agent.poll() is not None:
            return agent.returncode
        ready, _, _ = select.select([lifeline, woken], [], [], 5.0)
        if woken in ready:
            os.read(woken, 512)
            _reap(agent.pid)
        if lifeline in ready and not os.read(lifeline, 512):
            return agent.poll()


def _end(group: int, grace: float) -> None:
    """End the agent's group and every process below us: ask first, when there is time for that."""
    if grace > 0:
        _signal_all(group, signal.SIGTERM)
        until = time.monotonic() + grace
        while time.monotonic() < until and _left(group):
            time.sleep(0.02)
            _reap(0)
    for _ in range(50):  # what is killed may have just started another
        _signal_all(group, signal.SIGKILL)
        _reap(0)
        if not _left(group):
            return
        time.sleep(0.01)


def _signal_all(group: int, number: int) -> None:
    """Signal to the process group and to every descendant."""
    with contextlib.suppress(OSError):
        os.killpg(group, number)
    for pid in _below():
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def _left(group: int) -> bool:
    """Whether any process of the agent is still alive."""
    if _below():
        return True
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def _below() -> "list[int]":
    """Every living process below this one; empty where there is no /proc."""
    parents = {}
    try:
        listed = os.listdir("/proc")  # noqa: PTH208 - names are all that is needed
    except OSError:
        return []
    for name in listed:
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state != b"Z":
                    parents[int(name)] = int(parent)
    below = {os.getpid()}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in below} - below
        below |= more
        grown = bool(more)
    return sorted(below - {os.getpid()})


def _reap(agent: int) -> None:
    """Reap the zombies (ended processes) below us; not `agent`, whose exit code is waited for elsewhere."""
    with contextlib.suppress(OSError):
        while True:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None or ended.si_pid == agent:
                return
            os.waitpid(ended.si_pid, 0)


def _limit(cpu: int) -> None:
    """Set the agent's resource limits (rlimit): CPU seconds, file size, open files; no core dumps."""
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, _MAX_FILE_BYTES),
        (resource.RLIMIT_NOFILE, _MAX_OPEN_FILES),
    ):
        with contextlib.suppress(OSError, ValueError):
            hard = resource.getrlimit(kind)[1]
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (least, least))


def _non_blocking(descriptor: int) -> int:
    os.set_blocking(descriptor, False)
    return descriptor


if __name__ == "__main__":
    sys.exit(main())
