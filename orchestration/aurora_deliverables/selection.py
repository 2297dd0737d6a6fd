"""Selection (filter) of deliverables: those of a list that are asked for, by what they are called, by status, who did
them, and when.
"""

from __future__ import annotations

from collections.abc import Iterable

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.event_request import ListRequest, moment

ENDED = frozenset({"completed", "failed"})


def select(deliverables: Iterable[Deliverable], request: ListRequest) -> list[Deliverable]:
    """Filter: all that `request` asks for, latest touched first, before `offset` and `limit`. Raises InvalidRequest.

    Every word of `search` is in the id, a former name, the description, the author, the agent or the model. `since` and
    `until` take what was under way at any time between them.
    """
    words = request.search.casefold().split() if request.search is not None else []
    since = moment(request.since, "since") if request.since is not None else None
    until = moment(request.until, "until") if request.until is not None else None

    def asked(each: Deliverable) -> bool:
        over = each.status in ENDED
        agent, model = (each.agent.name, each.agent.model) if each.agent is not None else (None, None)
        return (
            each.kind == (request.kind or "change")
            and (request.status is None or each.status == request.status or (request.status == "open" and not over))
            and (request.agent is None or (agent or UNKNOWN) == request.agent)
            and (request.model is None or (model or UNKNOWN) == request.model)
            and (since is None or not over or _end(each) >= since)
            and (until is None or each.started_at <= until)
            and _says(each, words)
        )

    return sorted((each for each in deliverables if asked(each)), key=lambda each: (-each.updated_at, each.change_id))


UNKNOWN = "unknown"
"""What a group of deliverables is called of which nobody told the agent or model."""


def doers(deliverables: Iterable[Deliverable]) -> tuple[list[str], list[str]]:
    """Names of the agents and of the models that did some deliverables, each once, in their order."""
    known = [each.agent for each in deliverables if each.agent is not None]
    return sorted({each.name for each in known if each.name}), sorted({each.model for each in known if each.model})


def _end(deliverable: Deliverable) -> float:
    return deliverable.updated_at if deliverable.completed_at is None else deliverable.completed_at


def _says(deliverable: Deliverable, words: list[str]) -> bool:
    """Whether a deliverable's names, description and people have all words of a search, in whatever case."""
    if not words:
        return True
    agent = deliverable.agent
    told = (
        deliverable.change_id,
        *deliverable.names,
        deliverable.description,
        deliverable.author,
        *((agent.name, agent.model) if agent is not None else ()),
    )
    text = "\n".join(each for each in told if each).casefold()
    return all(word in text for word in words)
