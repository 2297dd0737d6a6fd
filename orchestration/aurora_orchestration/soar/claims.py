"""Claims and their sources (citations): which statements of an answer rest on something that was really given: the
sources a model names are checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aurora_orchestration.types import Claim, ContextBundle, SubgoalResult

MAX_CLAIMS = 200
MAX_SOURCES = 20
MAX_SUMMARY = 20_000
MAX_VIA_STEP = 5
"""Places that one step lends to a claim which names the step alone."""

_LINES = re.compile(r"(?P<file>[^\s:#()\[\]]+?)(?::L?|#L)(?P<start>[0-9]{1,9})(?:\s*[-–]\s*L?(?P<end>[0-9]{1,9}))?\Z")
_NAMED = re.compile(r"[^\s:#()\[\]`'\"]{1,300}(?::L?|#L)[0-9]{1,9}(?:[-–]L?[0-9]{1,9})?")


class Sources:
    """Everything an answer may rest on: the steps that gave something, and the chunks that were shown."""

    def __init__(self, results: Sequence[SubgoalResult], context: ContextBundle) -> None:
        self._steps = {result.subgoal.id: result for result in results if usable(result)}
        self._chunks = {chunk.id for chunk in context.chunks}
        self._spans: dict[str, list[tuple[int, int]]] = {}
        for chunk in context.chunks:
            if chunk.file:
                self._spans.setdefault(chunk.file, []).append((chunk.line_start, chunk.line_end))
        for section in context.logs:
            self._spans.setdefault(section.file, []).append((section.line_start, section.line_end))

    def is_step(self, name: str) -> bool:
        """Whether this is a step that gave something."""
        return name in self._steps

    def places_of(self, step: str) -> tuple[str, ...]:
        """The places that a step's summary names and that were shown, in its order; of none, nothing is said."""
        result = self._steps.get(step)
        output = result.response.output if result is not None else None
        named = _NAMED.findall(output.summary[:MAX_SUMMARY]) if output is not None else []
        found = (self.known(each.rstrip(".,;")) for each in named)
        return tuple(dict.fromkeys(place for place in found if place is not None))[:MAX_VIA_STEP]

    def known(self, source: str) -> str | None:
        """The source as it is shown to people, or None where nothing of that name was given.

        A step's id, a chunk's id, or `file:line` and `file:line-line` within lines that were shown.
        """
        name = source.strip().strip("`'\"[]() ")
        if name in self._steps or name in self._chunks:
            return name
        place = _LINES.match(name.removeprefix("./"))
        if place is None:
            return None
        start = int(place["start"])
        end = int(place["end"]) if place["end"] else start
        if not any(first <= start <= end <= last for first, last in self._spans.get(place["file"], ())):
            return None
        return f"{place['file']}:{start}" if start == end else f"{place['file']}:{start}-{end}"


def usable(result: SubgoalResult) -> bool:
    """Whether a step gave something an answer may be made of: no error, and not rejected by its verification."""
    response = result.response
    if result.skipped or response.status == "error" or response.output is None:
        return False
    return result.verification is None or result.verification.verdict != "fail"


def doubtful(result: SubgoalResult) -> bool:
    """Whether a step's output is used although its verification never passed (App. D, partial accept)."""
    return usable(result) and result.verification is not None and result.verification.verdict != "pass"


def bare_error(agent_id: str, error: str | None) -> str:
    """What went wrong with an agent, without its name in front."""
    return (error or "it gave no answer").removeprefix(f"agent {agent_id}: ")


def takeovers(results: Iterable[SubgoalResult]) -> tuple[str, ...]:
    """A line for each agent that failed: what it died of, and who worked in its place.

    `agent finder failed: signal 11 (oops); llm-executor took over`.
    """
    lines: dict[str, None] = {}
    for result in results:
        chosen = result.response.agent_id if usable(result) else ""
        for one in result.tries:
            if one.status == "error" and one.worked and one.error:
                then = f"{chosen} took over" if chosen and chosen != one.agent_id else ""
                then = then or ("it was asked again" if chosen else "nobody could take over")
                lines[f"agent {one.agent_id} failed: {bare_error(one.agent_id, one.error)[:300]}; {then}"] = None
    return tuple(lines)


def traced(claims: Iterable[Claim], sources: Sources) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """The claims with the sources they really have, and the texts of those that are left with none.

    A claim that names steps alone also gets the places those steps name, so that it can be looked up.
    """
    kept: list[Claim] = []
    untraced: list[str] = []
    for claim in list(claims)[:MAX_CLAIMS]:
        named = (sources.known(source) for source in claim.sources[:MAX_SOURCES])
        found = tuple(dict.fromkeys(name for name in named if name is not None))
        if found:
            if all(sources.is_step(name) for name in found):
                places = (place for name in found for place in sources.places_of(name))
                found = tuple(dict.fromkeys((*found, *places)))[:MAX_SOURCES]
            kept.append(Claim(text=claim.text, sources=found))
        else:
            untraced.append(claim.text)
    return tuple(kept), tuple(untraced)


def cited(claims: Iterable[Claim], context: ContextBundle) -> frozenset[int]:
    """The rows of the chunks that claims rest on, by id or by lines."""
    return _named({source for claim in claims for source in claim.sources}, context)


def mentioned(texts: Iterable[str], context: ContextBundle) -> frozenset[int]:
    """The rows of the chunks that texts name, by id or by lines: `src/a.py:17` is none of lines 1 to 9."""
    texts = [text[:MAX_SUMMARY] for text in texts]
    names = {each.removeprefix("./").rstrip(".,;") for text in texts for each in _NAMED.findall(text)}
    whole = {chunk.id for chunk in context.chunks if any(_stands_in(chunk.id, text) for text in texts)}
    return _named(names | whole, context)


def _stands_in(name: str, text: str) -> bool:
    """Whether an id stands in a text by itself, not as the beginning of a longer one."""
    return re.search(rf"(?<![\w:/.-]){re.escape(name)}(?![\w:/-])", text) is not None


def _named(names: set[str], context: ContextBundle) -> frozenset[int]:
    """The rows of the chunks that have one of the ids, or lines that one of the places begins in."""
    places = [match for match in map(_LINES.match, names) if match is not None]
    return frozenset(
        chunk.row
        for chunk in context.chunks
        if chunk.id in names
        or any(
            place["file"] == chunk.file and chunk.line_start <= int(place["start"]) <= chunk.line_end
            for place in places
        )
    )


def shown(sources: Iterable[str], context: ContextBundle | None) -> tuple[str, ...]:
    """Sources as people look them up: places first, a chunk of a file as its `file:line-line`, steps last."""
    places = {
        chunk.id: f"{chunk.file}:{chunk.line_start}-{chunk.line_end}"
        for chunk in (context.chunks if context is not None else ())
        if chunk.file
    }
    named = [places.get(source, source) for source in sources]
    return tuple(dict.fromkeys(sorted(named, key=lambda each: _LINES.match(each) is None)))
