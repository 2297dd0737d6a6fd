"""Generator of random histories (test data): what happened to some changes and questions, as plain dicts, and the ways
to tell each of them.

A change wanders through its phases; now and then something happens that cannot, is told twice, or with two times.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

Told = dict[str, Any]
BEGIN = 1_788_000_000
SPAN_DAYS = 30
DAY = 86_400
AGENTS = ("claude", "codex")
MODELS = ("large", "small", "tiny")
PEOPLE = ("Ann", "Bea")
KINDS = ("feature", "bugfix", "chore")
COMPLEXITIES = ("trivial", "simple", "moderate", "complex", "unknown")
FAILURES = ("incomplete", "regression", "hallucination", "tool_failure")
PHASES = ("propose", "specs", "design", "tasks", "apply", "verify")
PUBLISHED = {
    "start": "deliverable_start", "phase": "phase_start", "phase_end": "phase_end", "tool-call": "tool_call",
    "recovery": "recovery", "end": "deliverable_end",
}  # fmt: skip
OWN = PUBLISHED | {
    "iterate": "iteration", "tests": "tests", "conform": "conformance", "check": "spec_check", "tokens": "tokens",
    "intervention": "intervention", "revive": "revival", "rename": "rename",
}  # fmt: skip
MEMBERS = {
    "met": "completed_requirements", "total": "total_requirements", "violations": "constraint_violations",
    "ok": "succeeded", "input": "input_tokens", "output": "output_tokens", "cost": "cost_usd",
    "waited": "waited_seconds", "counts_as_failed": "deliverable_failed",
}  # fmt: skip
"""What the product calls a member of ours, where its name differs."""


class Script:
    """The events of one change, each at an instant of its own."""

    def __init__(self, chance: random.Random, name: str) -> None:
        self.chance, self.name = chance, name
        self.at = float(BEGIN + chance.randint(0, SPAN_DAYS * DAY))
        self.events: list[Told] = []
        self.run = chance.random() < 0.1
        self.model = chance.choice(MODELS)

    def add(self, what: str, *, now: bool = False, **members: Any) -> None:
        """Something happens, after a while or `now`."""
        if not now:
            self.at += self.chance.choice((1, 60, 0.5, 300, 3600, 20_000)) * self.chance.randint(1, 9)
        number = len(self.events)
        given = {key: value for key, value in members.items() if value is not None}
        self.events.append({"id": f"{self.name}-{number}", "change": self.name, "at": self.at, "what": what, **given})

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    def maybe(self, share: float, value: Any) -> Any:
        return value if self.often(share) else None

    def begin(self) -> None:
        pick = self.chance.choice
        self.add(
            "start", agent=self.maybe(0.8, pick(AGENTS)), model=self.maybe(0.8, self.model),
            type=self.maybe(0.7, pick(KINDS)), complexity=self.maybe(0.5, pick(COMPLEXITIES)),
            author=self.maybe(0.7, pick(PEOPLE)), requirements=self.maybe(0.3, self.chance.randint(1, 9)),
            kind="run" if self.run else self.maybe(0.2, "change"),
        )  # fmt: skip

    def between(self) -> None:
        """What may happen at any time."""
        draw = self.chance
        for _ in range(draw.choice((0, 0, 1, 1, 2, 3))):
            kind = draw.choice(("tool-call", "tool-call", "tests", "tests", "tokens", "conform", "conform", "other"))
            if kind == "tool-call":
                self.add("tool-call", tool=draw.choice(("Edit", "Bash", "Read")), count=draw.randint(1, 9))
            elif kind == "tests":
                self.tests()
            elif kind == "tokens":
                self.tokens()
            elif kind == "conform":
                self.conform()
            else:
                self.other()

    def tests(self) -> None:
        draw = self.chance
        if self.often(0.2):
            self.add("tests", ok=self.often(0.5))
        else:
            self.add("tests", passed=draw.randint(0, 9), failed=draw.choice((0, 0, 1, 4)))

    def tokens(self) -> None:
        draw = self.chance
        self.add(
            "tokens", input=draw.randint(1, 9000), output=self.maybe(0.8, draw.randint(1, 900)),
            cost=self.maybe(0.7, draw.randint(1, 400) / 64), model=self.maybe(0.5, draw.choice(MODELS)),
        )  # fmt: skip

    def conform(self) -> None:
        draw = self.chance
        kind = draw.choice(("counts", "shares", "violations", "correctness", "check", "overall"))
        if kind == "counts":
            total = draw.randint(1, 9)
            self.add("conform", met=draw.choice((total, total, draw.randint(0, total))), total=total)
        elif kind == "shares":
            self.add("conform", functional=draw.choice((0.5, 1.0)), constraints=draw.choice((0.8, 1.0)))
        elif kind == "violations":
            self.add("conform", violations=draw.choice((0, 0, 1, 3, 12)))
        elif kind == "correctness":
            self.add("conform", correctness=draw.choice((0.25, 0.75, 1.0)))
        elif kind == "overall":
            self.add("conform", overall=draw.choice((0.6, 0.7, 0.85, 0.95)))
        else:
            verdicts = (True, True, True, False, None) if self.often(0.3) else (True, True, False)
            found = [
                (draw.choice(("requirement", "constraint")), draw.choice(verdicts)) for _ in range(draw.randint(0, 5))
            ]
            self.add("check", criteria=found)

    def other(self) -> None:
        draw = self.chance
        kind = draw.choice(
            ("recovery", "recovery", "untimed", "seconds", "intervention", "start", "impossible", "rename")
        )
        if kind == "recovery":
            self.add("recovery")
        elif kind == "untimed":
            self.add("recovery", untimed=True)
        elif kind == "seconds":
            self.add("recovery", seconds=float(draw.randint(0, 2000)), calls=draw.randint(0, 2))
        elif kind == "intervention":
            self.add("intervention", count=draw.randint(0, 3), waited=self.maybe(0.5, float(draw.randint(0, 900))))
        elif kind == "rename":
            self.add("rename", name=f"{self.name}-anew")
        elif kind == "start":
            self.add("start", type=draw.choice(KINDS))
        else:
            what = draw.choice(("revive", "phase_end"))
            self.add(what, phase=draw.choice(PHASES) if what == "phase_end" else None)

    def work(self) -> None:
        """Plan, then apply and verify until it is enough."""
        draw = self.chance
        for phase in PHASES[:4]:
            if self.often(0.4):
                self.add("phase", phase=phase)
                self.between()
                if self.often(0.2):
                    self.add("phase_end", phase=phase)
        verifies = self.often(0.8)
        for _ in range(draw.choice((0, 1, 1, 1, 2, 3, 9))):
            self.add("phase", phase="apply")
            self.between()
            if not verifies and self.often(0.3):
                self.add("iterate")
            if verifies:
                if self.often(0.2):
                    self.add("phase_end", phase="apply")
                    self.add("phase", now=self.often(0.5), phase="verify")
                else:
                    self.add("phase", phase="verify")
                self.between()
                if self.often(0.5):
                    self.tests()
                if self.often(0.2):
                    self.add("phase_end", phase="verify")
                    self.between()
            elif self.often(0.3):
                self.add("phase", phase="tasks")

    def finish(self) -> None:
        draw = self.chance
        if self.often(0.3):
            self.add("phase", phase="archive")
            if self.often(0.3):
                self.add("phase_end", phase="archive")
                if self.often(0.6):
                    return
        if self.often(0.7):
            judged = self.maybe(0.05, self.often(0.5))
            kind = self.maybe(0.05, draw.choice(FAILURES))
            self.add("end", status="completed", counts_as_failed=judged, failure_type=kind)
        else:
            withdrawn = self.maybe(0.25, True)
            kind = None if withdrawn else self.maybe(0.6, draw.choice(FAILURES))
            self.add("end", status="failed", withdrawn=withdrawn, failure_type=kind)

    def made(self) -> list[Told]:
        self.begin()
        self.between()
        self.work()
        if self.often(0.85):
            self.finish()
            for _ in range(self.chance.choice((0, 0, 0, 1, 2))):
                self.between()
                self.add("revive")
                if self.often(0.6):
                    self.work()
                if self.often(0.8):
                    self.finish()
            self.between()
        return self.events


def history(seed: int) -> tuple[list[Told], random.Random]:
    """The events of some changes in the order of their arrival, and what is random after that."""
    chance = random.Random(seed)
    scripts = [Script(chance, f"change-{number}").made() for number in range(chance.choice((0, 1, 3, 8, 12, 30)))]
    events = [event for each in scripts for event in each]
    how = chance.choice(("by time", "shuffled", "late"))
    if how == "by time":
        events.sort(key=lambda each: each["at"])
    elif how == "shuffled":
        chance.shuffle(events)
    else:
        events.sort(key=lambda each: each["at"] + chance.choice((0, 0, 0, 50_000)))
    for event in [*events]:
        if chance.random() < 0.05:
            later = chance.choice((0.0, 0.25, 7000.25, -0.25))
            again = {**event, "at": event["at"] + later}
            events.insert(chance.randint(0, len(events)), again)
    return events, chance


def moment(at: float, chance: random.Random) -> str:
    """A time as RFC 3339 has it, in some zone."""
    zone = chance.choice((UTC, UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8))))
    text = datetime.fromtimestamp(at, zone).isoformat()
    return text.replace("+00:00", chance.choice(("Z", "z", "+00:00")))


def body(event: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an event as the product calls them."""
    skipped = {"id", "change", "at", "what", "agent", "model", "requirements", "criteria", "seconds", "calls"}
    found = {MEMBERS.get(key, key): value for key, value in event.items() if key not in skipped}
    if event["what"] == "recovery" and "seconds" in event:
        found |= {"duration_seconds": event["seconds"], "tool_calls": event["calls"]}
    if event["what"] == "tokens" and "model" in event:
        found["model"] = event["model"]
    if "requirements" in event:
        found["spec_source"] = {"requirements_count": event["requirements"]}
    if "criteria" in event:
        found["criteria"] = [
            {"kind": kind, "name": f"c {number}", "met": met} for number, (kind, met) in enumerate(event["criteria"])
        ]
    if event["what"] == "start" and ("agent" in event or "model" in event):
        names = {"name": event.get("agent"), "model": event.get("model")}
        found["agent"] = {key: value for key, value in names.items() if value is not None}
    return found


def line(event: Mapping[str, Any], chance: random.Random) -> dict[str, Any]:
    """A line of a log: in the published form where there is one, or in the product's own."""
    what, told = event["what"], body(event)
    if what in PUBLISHED and chance.random() < 0.5:
        phase = {"phase": told.pop("phase")} if "phase" in told else {}
        data = {**told, "id": event["id"]}
        kind = {"event_type": PUBLISHED[what], "timestamp": moment(event["at"], chance)}
        return {**kind, "change_id": event["change"], **phase, "data": data}
    own = {"event": OWN[what], **told}
    return {"id": event["id"], "change_id": event["change"], "at": moment(event["at"], chance), "what": own}


def request(event: Mapping[str, Any], chance: random.Random) -> dict[str, Any] | None:
    """Params of `aurora/deliverable`; None of what no request tells."""
    what, told = event["what"], body(event)
    if what == "check" or (what == "tokens" and "model" in event):
        return None
    action = {"phase_end": "phase", "end": "complete" if event.get("status") == "completed" else "fail"}.get(what, what)
    told |= told.pop("spec_source", {})
    if "agent" in told:
        names = told.pop("agent")
        told |= {"agent": names.get("name"), "model": names.get("model")}
    told.pop("status", None)
    for long, short in (("completed_requirements", "completed"), ("total_requirements", "total")):
        if long in told:
            told[short] = told.pop(long)
    if what == "phase_end":
        told["end"] = True
    envelope = {"action": action, "change_id": event["change"], "event_id": event["id"]}
    return {**envelope, "at": moment(event["at"], chance), **{k: v for k, v in told.items() if v is not None}}


def batches(events: list[Told], chance: random.Random) -> Iterator[list[Told]]:
    """The events in pieces, as they are told."""
    start = 0
    while start < len(events):
        size = chance.choice((1, 5, 60, 400))
        yield events[start : start + size]
        start += size
