"""A command on a terminal of its own, as a person sees it who types one answer when something is asked."""

from __future__ import annotations

import os
import pty
import re
import select
import time
from collections.abc import Sequence
from pathlib import Path

from tests.programs import COMMAND, start
from tests.wait_limits import HANG


def at_terminal(
    arguments: Sequence[str], folder: Path, *, asked: str, typed: str, **environment: str
) -> tuple[int, str]:
    """`aurora …` on a terminal; `typed` is typed once `asked` is shown. The exit code, and all that was shown."""
    main, other = pty.openpty()
    process = start(
        [*COMMAND, *arguments],
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200", **environment},
        stdin=other, stdout=other, stderr=other, cwd=folder, start_new_session=True,
    )  # fmt: skip
    os.close(other)
    shown, answered, end = b"", False, time.monotonic() + HANG
    while time.monotonic() < end:
        if not select.select([main], [], [], 1)[0]:
            continue
        try:
            part = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
        if not answered and asked.encode() in shown:
            os.write(main, f"{typed}\n".encode())
            answered = True
    os.close(main)
    return process.wait(HANG), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode("utf-8", "replace"))
