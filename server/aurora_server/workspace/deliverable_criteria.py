"""Criteria of a deliverable, as `aurora/deliverable` answers: what its spec asks for, and what shows whether it is met.

What of the metrics nothing tells is said beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from aurora_deliverables.measurement_gaps import gaps_of

if TYPE_CHECKING:
    from aurora_deliverables.deliverable import Deliverable


def criteria_reply(found: Deliverable) -> dict[str, Any]:
    """A plain document in snake_case; `criteria` is null where no spec was looked at."""
    return {
        "change_id": found.change_id,
        "name": found.name,
        "status": found.status,
        "conformance": msgspec.to_builtins(found.conformance),
        "criteria": None
        if found.criteria is None
        else [
            {"kind": each.kind, "name": each.name, "met": each.met, "by": each.by, "evidence": each.evidence}
            for each in found.criteria
        ],
        "gaps": [{"metric": each.metric, "what": each.what, "fix": each.fix} for each in gaps_of(found)],
    }
