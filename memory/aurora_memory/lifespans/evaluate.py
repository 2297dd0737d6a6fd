"""Evaluation of lifespan (retention) policies: verdict on a chunk (active, archived, expired; decay, until when it
stays) and review of all (AURORA §6.7.1, App. C.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from aurora_memory.activation import decay_penalty
from aurora_memory.lifespans.facts import ChunkFacts
from aurora_memory.lifespans.lifespan import ACTIVE_DAYS, Lifespan, LifespanRule, Mechanism
from aurora_memory.lifespans.policies import Policies
from aurora_memory.lifespans.predicates import DAY, matcher

State = Literal["kept", "decaying", "expired"]

HALF_LIFE = 90.0
"""Days in which exponential decay halves a memory's strength, beside the logarithmic decay."""

MOST_HALVINGS = 10.0
"""After so many half-lives (900 days, a thousandth of the strength) only the logarithmic part goes on."""

FACTORS: dict[State, float] = {"kept": 1.0, "decaying": 0.85, "expired": 0.6}
"""Factors of a chunk's score in recall: fading memories give way to living ones of like relevance."""


class Verdict(Struct, frozen=True):
    """Verdict on one chunk now.

    `policy` is the policy's name, or the action of the chunk's own rule. `expires_at` (Unix seconds) is when its
    lifespan ends or ended if it is not used again; None where nothing ends it. `escalations` are the actions it is a
    candidate for; `reason` is a sentence for people.
    """

    policy: str
    state: State
    decay_mechanism: Mechanism
    expires_at: float | None
    escalations: tuple[str, ...]
    reason: str

    @property
    def escalate(self) -> bool:
        return bool(self.escalations)


def judge(facts: ChunkFacts, policies: Policies, now: float) -> Verdict:
    """Decide over one chunk; `now` is Unix seconds.

    The first policy that fits decides, then the default one; before a built-in one, and before the default one, the
    chunk's own rules are asked. Every one that fits may flag it. A rule `retain_while_active` holds only while the
    chunk is used: after that the rules behind it are asked, and with none of them fitting the chunk decays. To decay is
    no lifespan: what decays ends with the next policy that fits and names days (App. C.2: 180 of what succeeded).
    """
    if not policies.enabled:
        return _OFF
    first = _first_that_fits(facts, policies, now)
    if first.state != "decaying" or first.expires_at is not None:
        return first
    for matches, policy in policies.checks:
        if policy.lifespan.kind == "days" and matches(facts, now):
            end = _verdict(facts, "Policy", policy.name, policy.lifespan, first.decay_mechanism, first.escalations, now)
            return end if end.state == "expired" else replace(first, expires_at=end.expires_at)
    return first


def _first_that_fits(facts: ChunkFacts, policies: Policies, now: float) -> Verdict:
    """The verdict of the first rule or policy that fits."""
    rule, escalations = _own_rules(facts, now) if facts.rules else (None, ())
    for matches, action in policies.flags:
        if matches(facts, now) and action not in escalations:
            escalations = (*escalations, action)
    fitting = next((policy for matches, policy in policies.checks if matches(facts, now)), None)
    # Its own rules were written when it was learned, from what is built in: what somebody configured is a later word.
    if rule is not None and rule.lifespan is not None and (fitting is None or not fitting.is_configured):
        return _verdict(facts, "Its own rule", rule.then, rule.lifespan, rule.decay_mechanism, escalations, now)
    kind, policy = ("Policy", fitting) if fitting is not None else ("The default policy", policies.default)
    return _verdict(facts, kind, policy.name, policy.lifespan, policy.decay_mechanism, escalations, now)


def decay_term(days_since_last_access: float, mechanism: Mechanism) -> float:
    """`D` of activation by mechanism; never negative, 0 up to one day, and finite for finite days.

    `none` is 0. `logarithmic` is `0.5 · log10(d)`, strength falling as a power of time. `exponential` adds
    `ln 2 · min(d − 1, 900) / 90` to that: strength also halves every 90 days (half-life), ten times.
    """
    if mechanism == "none":
        return 0.0
    logarithmic = decay_penalty(days_since_last_access)
    if mechanism == "logarithmic":
        return logarithmic
    halvings = min(max(0.0, days_since_last_access - 1.0) / HALF_LIFE, MOST_HALVINGS)
    return logarithmic + math.log(2.0) * halvings


def ranking_factor(verdict: Verdict) -> float:
    """Factor of a chunk's score in recall, in (0, 1]; see FACTORS (AURORA §6.7.1, "deprioritized")."""
    return FACTORS[verdict.state]


_OFF = Verdict("none", "kept", "logarithmic", None, (), "Lifespan policies are switched off.")


def _own_rules(facts: ChunkFacts, now: float) -> tuple[LifespanRule | None, tuple[str, ...]]:
    """The chunk's own rule that sets its lifespan, if one does, and what its rules flag it for."""
    chosen: LifespanRule | None = None
    lapsed: LifespanRule | None = None
    flags: dict[str, None] = {}
    for rule in facts.rules:
        if not matcher(rule.condition)(facts, now):
            continue
        if rule.escalation_action is not None:
            flags[rule.escalation_action] = None
        if rule.lifespan is None or chosen is not None:
            continue
        if rule.lifespan.kind == "while_active" and not _active(facts, now):
            lapsed = rule
        else:
            chosen = rule
    return chosen or lapsed, tuple(flags)


def _active(facts: ChunkFacts, now: float) -> bool:
    """Whether it was used in the last ACTIVE_DAYS; what has no times at all is not said to be idle."""
    at = facts.last_active
    return at is None or now - at < ACTIVE_DAYS * DAY


def _verdict(
    facts: ChunkFacts,
    kind: str,
    name: str,
    lifespan: Lifespan,
    mechanism: Mechanism,
    escalations: tuple[str, ...],
    now: float,
) -> Verdict:
    """Verdict by a lifespan: kept, fading or, once its time to live is over, expired."""
    if lifespan.kind == "indefinite":
        return Verdict(name, "kept", mechanism, None, escalations, f"{kind} '{name}' keeps it for good.")
    if lifespan.kind == "decay":
        return Verdict(name, "decaying", mechanism, None, escalations, f"{kind} '{name}' lets it fade.")
    if lifespan.kind == "while_active":
        if _active(facts, now):
            return Verdict(name, "kept", mechanism, None, escalations, f"{kind} '{name}' keeps it while it is used.")
        reason = f"{kind} '{name}' lets it fade: not used for {ACTIVE_DAYS} days."
        return Verdict(name, "decaying", mechanism, None, escalations, reason)
    used = facts.last_active
    if used is None:
        return Verdict(name, "kept", mechanism, None, escalations, f"{kind} '{name}' keeps it; its age is not known.")
    # Use renews a lifespan: what was of use yesterday is not forgotten because it was learned long ago.
    ends = max(used, facts.made_at or used) + lifespan.days * DAY
    if now < ends:
        reason = f"{kind} '{name}' keeps it {lifespan.days} days after its last use."
        return Verdict(name, "kept", mechanism, ends, escalations, reason)
    # "No decay" was promised for the lifespan only.
    after: Mechanism = "logarithmic" if mechanism == "none" else mechanism
    if facts.stays:
        reason = f"{kind} '{name}' lets it fade after {lifespan.days} days; it stays, since its file is still there."
        return Verdict(name, "decaying", after, ends, escalations, reason)
    reason = f"{kind} '{name}' kept it {lifespan.days} days after its last use, which are over."
    return Verdict(name, "expired", after, ends, escalations, reason)


class JudgedChunk(Struct, frozen=True):
    """Judged chunk: its row id and the verdict on it."""

    id: int
    verdict: Verdict


class Review(Struct, frozen=True):
    """Review of lifespans: what one pass found, in the order of the chunks; a chunk may be flagged and fade as well.

    `archive` holds what is past its lifespan: learned chunks only, never code or what else a file still says.
    """

    archive: tuple[JudgedChunk, ...]
    escalate: tuple[JudgedChunk, ...]
    decaying: tuple[JudgedChunk, ...]


def review(facts: Iterable[ChunkFacts], policies: Policies, now: float) -> Review:
    """Expiry check of every chunk. Changes nothing; `aurora_memory.store.lifespans` writes down what follows."""
    archive: list[JudgedChunk] = []
    escalate: list[JudgedChunk] = []
    decaying: list[JudgedChunk] = []
    for chunk in facts:
        verdict = judge(chunk, policies, now)
        if verdict.state == "expired":
            archive.append(JudgedChunk(chunk.id, verdict))
        elif verdict.state == "decaying":
            decaying.append(JudgedChunk(chunk.id, verdict))
        if verdict.escalations:
            escalate.append(JudgedChunk(chunk.id, verdict))
    return Review(tuple(archive), tuple(escalate), tuple(decaying))
