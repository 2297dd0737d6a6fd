"""Stage events of a run: what a run tells while it goes on: one stage event per thing that happened (§9.5 JSON, §9.6
progress).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

StageName = Literal[
    "guard", "assess", "retrieve", "decompose", "verify", "route", "collect", "synthesize", "record", "respond", "done"
]
Status = Literal["in_progress", "complete", "retry", "failed", "skipped"]


class Stage(Struct, frozen=True, kw_only=True):
    """Stage event of a run (progress). `detail` is a sentence for people, `data` what `--json` prints beside stage and
    status (snake_case).

    `progress` in [0, 1] over the whole run, never going back. `cost_usd` and `elapsed_ms` are those of the run so far,
    `run` is its id: by that it can be gone on with, should it be interrupted.
    """

    stage: StageName
    status: Status
    detail: str = ""
    data: dict[str, Any] = {}
    progress: float = 0.0
    cost_usd: float = 0.0
    elapsed_ms: float = 0.0
    run: str = ""


Tell = Callable[..., None]
"""`tell(stage, status, detail="", **data)`: what a phase is given to speak through."""


def silence(*_: object, **__: object) -> None:
    """Tell nobody."""
