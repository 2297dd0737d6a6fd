"""Reference model (test oracle): a second calculation of what a history amounts to, as AURA-M, the rulings and
docs/decisions word it.

Nothing here is shared with the product: a history is a list of plain dicts (`id`, `change`, `at`, `what`, …), one
change is lived through in the order of its times, and windows are summed up with lists. Times are Unix seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Told = Mapping[str, Any]
KNOWN_LATER = {"start", "conform", "tests", "check", "tokens", "intervention", "revive", "rename"}
"""What may still become known of a change that is over."""

WEIGHTS = {"functional": 0.4, "correctness": 0.3, "constraints": 0.2, "iteration_penalty": 0.1}
THRESHOLD = 0.7


@dataclass
class Stay:
    """Stay in a phase, from when to when, and whether all of it was rework."""

    phase: str
    begin: float
    rework: bool
    end: float | None = None

    @property
    def seconds(self) -> float:
        return 0.0 if self.end is None else self.end - self.begin


@dataclass
class Life:
    """What happened to one change, told in the order of its times."""

    name: str
    begin: float
    kind: str = "change"
    facts: dict[str, Any] = field(default_factory=dict)
    stays: list[Stay] = field(default_factory=list)
    ended: float | None = None
    end: Told = field(default_factory=dict)
    settled: bool = False
    """Whether somebody said how it ended; who is archived is completed unless something else is said."""
    applies: int = 0
    verified_since: bool = False
    tests_failed: bool = False
    reworking: bool = False
    unclaimed: bool = False
    unsaid_calls: int | None = None
    """Calls since apply went on after a verification that nobody called failed; None in any other phase."""
    broken_off: Stay | None = None
    """What the end broke off: being archived belongs to the end."""
    reworking_at_end: bool = False
    rework_known: bool = True
    rework_told: float = 0.0
    rework_calls: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    recoveries: int = 0
    scores: dict[str, Any] = field(default_factory=dict)
    last_tests: float | None = None
    checked: list[tuple[str, bool | None]] | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    by_model: dict[str, float] = field(default_factory=dict)
    interventions: int | None = None
    waited: float | None = None

    @property
    def stay(self) -> Stay | None:
        return self.stays[-1] if self.stays and self.stays[-1].end is None else None

    def live(self, event: Told) -> None:
        """One thing more happens, or cannot."""
        what = event["what"]
        if self.ended is not None and what not in KNOWN_LATER and (what != "end" or self.settled):
            return
        if self.ended is None and what == "revive":
            return
        getattr(self, f"on_{what.replace('-', '_')}")(event)

    def on_start(self, event: Told) -> None:
        self.facts |= {
            key: event[key] for key in ("agent", "model", "type", "complexity", "requirements") if key in event
        }
        if "author" in event:
            self.facts.setdefault("author", event["author"])
        self.kind = event.get("kind", self.kind)

    def on_phase(self, event: Told) -> None:
        phase = event["phase"]
        if self.stay is not None and self.stay.phase == phase:
            return
        self.leave(event["at"])
        if phase == "apply":
            again, failed = self.verified_since, self.tests_failed
            self.applies += again or not self.applies
            if again and failed and not self.reworking:
                self.recoveries += 1
                self.reworking = self.unclaimed = True
            elif again and not self.reworking:
                self.unsaid_calls = 0
            self.verified_since = self.tests_failed = False
        elif phase == "verify" and self.applies:
            self.verified_since = True
        self.stays.append(Stay(phase, event["at"], self.reworking))

    def on_phase_end(self, event: Told) -> None:
        if self.stay is None or self.stay.phase != event["phase"]:
            return
        if event["phase"] == "archive":
            self.on_end({"what": "phase_end", "at": event["at"], "status": "completed"})
        else:
            self.leave(event["at"])

    def leave(self, at: float) -> None:
        self.unsaid_calls = None
        if self.stay is not None:
            if self.stay.phase == "apply":
                self.reworking = self.unclaimed = False
            self.stay.end = at

    def on_recovery(self, event: Told) -> None:
        if self.unclaimed:
            self.unclaimed = False
            return
        self.recoveries += 1
        if event.get("untimed"):
            self.rework_known = False
        elif "seconds" in event:
            self.rework_told += event["seconds"]
            self.rework_calls += event.get("calls", 0)
        elif not self.reworking:
            self.reworking = True
            if self.unsaid_calls is not None and self.stay is not None:
                self.stay.rework = True
                self.rework_calls += self.unsaid_calls
                self.unsaid_calls = None
            elif self.stay is not None:
                phase, self.stay.end = self.stay.phase, event["at"]
                self.stays.append(Stay(phase, event["at"], True))

    def on_iterate(self, _: Told) -> None:
        self.applies += 1

    def on_tool_call(self, event: Told) -> None:
        self.calls[event["tool"]] = self.calls.get(event["tool"], 0) + event["count"]
        if self.reworking:
            self.rework_calls += event["count"]
        elif self.unsaid_calls is not None:
            self.unsaid_calls += event["count"]

    def on_tests(self, event: Told) -> None:
        passed, failed, well = event.get("passed"), event.get("failed"), event.get("ok")
        if passed or failed:
            self.last_tests = (passed or 0) / ((passed or 0) + (failed or 0))
        elif well is not None:
            self.last_tests = float(well)
        if failed or well is False:
            self.tests_failed = True
        elif passed or well:
            self.tests_failed = False

    def on_conform(self, event: Told) -> None:
        scores = self.scores
        if "met" in event:
            scores.pop("functional", None)
        if "functional" in event:
            scores.pop("met", None)
        if "violations" in event:
            scores.pop("constraints", None)
        if "constraints" in event:
            scores.pop("violations", None)
        dimensions = {"met", "total", "functional", "correctness", "violations", "constraints", "iteration_penalty"}
        if "overall" not in event and dimensions & event.keys():
            scores.pop("overall", None)
        scores |= {key: event[key] for key in (*dimensions, "overall") if key in event}

    def on_check(self, event: Told) -> None:
        self.checked = list(event["criteria"])

    def on_tokens(self, event: Told) -> None:
        if "model" in event:
            self.facts.setdefault("model_seen", event["model"])
        if "input" in event:
            self.input_tokens = (self.input_tokens or 0) + event["input"]
        if "output" in event:
            self.output_tokens = (self.output_tokens or 0) + event["output"]
        if "cost" in event:
            self.cost = (self.cost or 0.0) + event["cost"]
            model = event.get("model", "")
            self.by_model[model] = self.by_model.get(model, 0.0) + event["cost"]

    def on_intervention(self, event: Told) -> None:
        self.interventions = (self.interventions or 0) + event["count"]
        if "waited" in event:
            self.waited = (self.waited or 0.0) + event["waited"]

    def on_rename(self, _: Told) -> None:
        """A name is no figure."""

    def on_end(self, event: Told) -> None:
        """Over: said, or because being archived is."""
        self.settled = event["what"] == "end"
        if self.ended is not None:
            self.ended, self.end = event["at"], event
            return
        reworking = self.reworking
        self.leave(event["at"])
        self.broken_off = None
        working = [each for each in self.stays if each.phase != "archive"]
        over = self.stays[-1].begin if self.stays and self.stays[-1].phase == "archive" else event["at"]
        if working and working[-1].end == over:
            self.broken_off = working[-1]
        self.reworking_at_end = reworking
        self.reworking = False
        self.ended, self.end = event["at"], event

    def on_revive(self, event: Told) -> None:
        self.ended, self.end = None, {}
        self.reworking = self.reworking_at_end
        if self.broken_off is not None:
            stay = self.broken_off
            self.reworking = self.reworking or (stay.phase == "apply" and stay.rework)
            self.stays.append(Stay(stay.phase, event["at"], self.reworking))

    @property
    def dimensions(self) -> dict[str, float | None]:
        """The four, each None where nothing tells it (AURA-M §2.5.1)."""
        told = self.scores
        wanted = [met for kind, met in self.checked or () if kind == "requirement"]
        forbidden = [met for kind, met in self.checked or () if kind == "constraint"]
        functional = told.get("functional")
        total = told.get("total") or self.facts.get("requirements")
        if "met" in told and total:
            functional = min(1.0, told["met"] / total)
        if functional is None and wanted and None not in wanted:
            functional = wanted.count(True) / len(wanted)
        constraints = told.get("constraints")
        if "violations" in told:
            constraints = max(0.0, 1 - told["violations"] / 10)
        if constraints is None and self.checked is not None and None not in forbidden:
            constraints = max(0.0, 1 - forbidden.count(False) / 10)
        penalty = max(0.0, 1 - 0.15 * (self.applies - 1)) if self.applies else None
        return {
            "functional": functional,
            "correctness": told.get("correctness", self.last_tests),
            "constraints": constraints,
            "iteration_penalty": told.get("iteration_penalty", penalty),
        }

    @property
    def overall(self) -> float | None:
        if "overall" in self.scores:
            return float(self.scores["overall"])
        known = {name: value for name, value in self.dimensions.items() if value is not None}
        return sum(WEIGHTS[name] * value for name, value in known.items()) if len(known) == len(WEIGHTS) else None

    @property
    def withdrawn(self) -> bool:
        return bool(self.end.get("withdrawn"))

    @property
    def failed(self) -> bool:
        """Abandoned, or accepted below the threshold (AURA-M §2.3), where nobody judged it elsewhere."""
        if "counts_as_failed" in self.end:
            return bool(self.end["counts_as_failed"])
        low = self.overall is not None and self.overall < THRESHOLD - 1e-9
        return self.end.get("status") == "failed" or "failure_type" in self.end or low

    @property
    def accepted(self) -> bool:
        return self.end.get("status") == "completed" and not self.failed and not self.withdrawn

    @property
    def model(self) -> str:
        """The agent's, as somebody said or as tokens showed first."""
        return str(self.facts.get("model", self.facts.get("model_seen", "unknown")))

    @property
    def latency(self) -> float:
        return (self.ended or self.begin) - self.begin

    @property
    def net_latency(self) -> float | None:
        """Less the time it stood still for people, where that is known."""
        waited = 0.0 if self.waited is None and self.interventions == 0 else self.waited
        return None if waited is None else max(0.0, self.latency - waited)

    @property
    def effort(self) -> float:
        return sum(each.seconds for each in self.stays)

    @property
    def knows_rework(self) -> bool:
        applied = any(each.phase == "apply" for each in self.stays)
        return self.rework_known and (applied or self.recoveries > 0)

    @property
    def rework(self) -> float:
        return min(self.effort, self.rework_told + sum(each.seconds for each in self.stays if each.rework))


def lives(history: Iterable[Told], until: float | None = None) -> list[Life]:
    """Each change of a history, of what had happened by `until`."""
    once: dict[str, Told] = {}
    for event in history:
        known = once.get(event["id"])
        if known is None or event["at"] < known["at"]:
            once[event["id"]] = event
    at_one_instant = {"phase_end": 0, "end": 2}
    found: dict[str, Life] = {}
    for event in sorted(once.values(), key=lambda each: (each["at"], at_one_instant.get(each["what"], 1), each["id"])):
        if until is not None and event["at"] > until:
            continue
        life = found.get(event["change"])
        if life is None:
            if event["what"] in ("end", "phase_end", "revive"):
                continue
            life = found[event["change"]] = Life(event["change"], event["at"])
        life.live(event)
    return list(found.values())
