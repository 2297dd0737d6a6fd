"""Fast exit: a command makes no garbage collection, and tidies nothing: it is over before either is worth it.

Together that is a fifth of what `aur mem` takes. A command that stays (the daemon, the bridge) says so with `stay`.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress


def hurry() -> None:
    """Collect no garbage from here on."""
    gc.disable()


def open_streams() -> None:
    """Give a process that was started with a standard stream closed (`>&-`) one that leads nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - for as long as we live


def stay() -> None:
    """This process is here for longer: collect garbage, and end in the ordinary way."""
    gc.enable()


def leave(code: int) -> int:
    """End the process at once if it was in a hurry, with what it has written flushed; else return `code`."""
    if gc.isenabled():
        return code
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a full disk, a closed pipe: reported when it was written to
            stream.flush()
    os._exit(code)
