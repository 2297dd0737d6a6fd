"""What a model of good will answers to every prompt of a run, and what can be made to go wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.orchestration.llm.loopback import Request, Scripted

DECOMPOSITION = ("completeness", "consistency", "groundedness", "routability")
OUTPUT = ("relevance", "completeness", "groundedness")
SYNTHESIS = ("addresses_query", "traceable", "consistent", "calibrated")


def verdict(names: tuple[str, ...], score: float, *, issue: str = "") -> dict[str, Any]:
    """A judge's answer with one score for everything."""
    issues = [issue] if issue else []
    return {"checks": {name: {"score": score, "pass": score >= 0.7, "issues": issues, "detail": ""} for name in names}}


class Mind:
    """Answers by what it is asked. `subgoals` are descriptions; `waits` seconds before every answer.

    `scores` are those of decomposition, output and synthesis, one each per question of its kind, the last one for
    good. `instead` may answer a purpose (see `purpose_of`) otherwise. `asked` are the purposes, in order.
    """

    def __init__(self, subgoals: tuple[str, ...], *, depends: dict[int, tuple[int, ...]] | None = None) -> None:
        self.subgoals = subgoals
        self.depends = depends or {}
        self.scores: dict[str, list[float]] = {"decomposition": [0.9], "output": [0.9], "synthesis": [0.9]}
        self.instead: dict[str, Callable[[Request], Any]] = {}
        self.claims: list[dict[str, Any]] | None = None
        self.waits = 0.0
        self.asked: list[str] = []

    def __call__(self, request: Request) -> Any:
        purpose = purpose_of(request)
        self.asked.append(purpose)
        answer = self.instead[purpose](request) if purpose in self.instead else None
        if answer is None:
            answer = getattr(self, f"_{purpose}")(request)
        return answer if isinstance(answer, Scripted) else Scripted(json=answer, delay=self.waits)

    def _assess(self, _: Request) -> Any:
        return {"complexity": "medium", "confidence": 0.9, "reasoning": "several steps"}

    def _direct(self, request: Request) -> Any:
        context = request.json["context"]
        sources = [context[0]["source"]] if context else []
        return {
            "answer": "It expands templates.",
            "confidence": 0.9,
            "claims": [{"text": "So it is.", "sources": sources}],
        }

    def _decompose(self, request: Request) -> Any:
        query = request.json["data"]["query"]
        return {"decomposition": self.body(query)}

    def body(self, query: str) -> dict[str, Any]:
        ids = [f"SG{n + 1}" for n in range(len(self.subgoals))]
        return {
            "given": [{"id": "G1", "fact": query, "source": "query"}],
            "goal": {"description": query, "success_criteria": ["every part is answered"]},
            "subgoals": [
                {
                    "id": ids[n],
                    "description": text,
                    "agent": "llm-executor",
                    "expected_output": "findings with places",
                    "requires": ["G1"],
                    "depends_on": [ids[each] for each in self.depends.get(n, ())],
                }
                for n, text in enumerate(self.subgoals)
            ],
            "execution_order": [],
            "parallelizable": [],
        }

    def _verify(self, _: Request) -> Any:
        return {"verification": verdict(DECOMPOSITION, self._score("decomposition"))}

    def _criticise(self, _: Request) -> Any:
        return {"weaknesses": [], "verification": verdict(DECOMPOSITION, self._score("decomposition"))}

    def _plead(self, _: Request) -> Any:
        return {"strengths": ["it is short"], "weaknesses_of_others": [], "concessions": []}

    def _rule(self, _: Request) -> Any:
        score = self._score("decomposition")
        return {"chosen": 1, "reason": "the shortest", "confidence": 0.9, "verification": verdict(DECOMPOSITION, score)}

    def _feedback(self, _: Request) -> Any:
        body = {"issues": [{"check": "completeness", "issue": "mend it", "suggestion": "so"}], "instruction": "mend it"}
        return {"retry_feedback": body}

    def _work(self, request: Request) -> Any:
        told = request.json
        subgoal = told["subgoal"]
        text = subgoal["description"] if isinstance(subgoal, dict) else subgoal
        return {
            "status": "success",
            "summary": f"Found for {text}: expand fills the parsed template with its values (src/template.py:1-2).",
            "data": {},
            "confidence": 0.9,
            "needs_user": None,
        }

    def _output(self, _: Request) -> Any:
        return {"verification": verdict(OUTPUT, self._score("output"))}

    def _synthesize(self, request: Request) -> Any:
        ids = [finding["subgoal_id"] for finding in request.json["findings"]]
        claims = self.claims or [{"text": f"{each} holds.", "sources": [each]} for each in ids]
        answer = "Expand fills the parsed template with its values. " + " ".join(each["text"] for each in claims)
        return {"answer": answer, "claims": claims, "confidence": 0.9}

    def _judge(self, _: Request) -> Any:
        return {"verification": verdict(SYNTHESIS, self._score("synthesis"))}

    def _score(self, kind: str) -> float:
        scores = self.scores[kind]
        return scores.pop(0) if len(scores) > 1 else scores[0]


def purpose_of(request: Request) -> str:
    """What a request is for, told from its prompt."""
    told = request.json
    if not isinstance(told, dict):
        return "assess"
    data = told.get("data") or {}
    task = str(told.get("task", ""))
    if "findings" in told:
        return "synthesize"
    if "subgoal" in told:
        return "work"
    if "question" in told and "context" in told:
        return "direct"
    if "synthesis" in data:
        return "judge"
    if "agent_response" in data:
        return "output"
    schema = told.get("schema") or {}
    for member, purpose in (
        ("weaknesses", "criticise"),
        ("chosen", "rule"),
        ("strengths", "plead"),
        ("retry_feedback", "feedback"),
        ("decomposition", "decompose"),
        ("verification", "verify"),
    ):
        if member in schema:
            return purpose
    return "decompose" if "subgoals" in task else "assess"
