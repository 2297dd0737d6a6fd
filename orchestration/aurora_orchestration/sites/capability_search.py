"""Capability search: what a model is shown of a manifest: the capabilities nearest to a request, each bounded, all of
them bounded.

A site may declare thousands, with schemas of any size, and whatever it likes in its descriptions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from aurora_manifest.client.consent import destructive
from aurora_manifest.model import Capability, Manifest
from aurora_memory.tokens import terms
from aurora_orchestration.guardrails.redaction import redact

ROOM = 80_000
"""Characters of JSON that all capabilities together may take: some 20,000 tokens."""
MAX_SCHEMA = 4_000
MAX_DESCRIPTION = 500
MAX_NAME = 200
MAX_UNRELATED = 40
"""So many are shown though the request does not speak of them: it need not say what must come first."""
_MAX_PARAMETERS = 40
_IN_NAME, _ELSEWHERE, _ALWAYS = 3.0, 1.0, 0.1
_SIGNING_IN = frozenset(terms("login log in sign in authenticate session"))


def nearest(manifest: Manifest, request: str) -> list[dict[str, Any]]:
    """The capabilities that a request is most likely to need, as documents, in the manifest's order.

    What is nearer has its place first; what shares no word with the request is shown only as long as that is little.
    """
    capabilities = [each for each in manifest.capabilities.values() if each.name and len(each.name) <= MAX_NAME]
    scores = _scores(capabilities, set(terms(request)))
    ranked = sorted(range(len(capabilities)), key=lambda at: (-scores[at], at))
    room = ROOM
    shown: dict[int, dict[str, Any]] = {}
    for at in ranked:
        if scores[at] < _ELSEWHERE and len(shown) >= MAX_UNRELATED:
            break
        offer = _offer(capabilities[at])
        size = len(json.dumps(offer, ensure_ascii=False))
        if size <= room:
            room -= size
            shown[at] = offer
    return [shown[at] for at in sorted(shown)]


def _scores(capabilities: Sequence[Capability], wanted: set[str]) -> list[float]:
    """Scores of capabilities for a request: rare words count more (inverse document frequency), those of names most."""
    told = [(set(terms(each.name)), set(terms(_text(each)))) for each in capabilities]
    common = Counter(term for name, rest in told for term in name | rest)
    scores = []
    for name, rest in told:
        score = 0.0
        for term in wanted & (name | rest):
            rare = 1 + log(len(capabilities) / common[term])
            score += rare * (_IN_NAME if term in name else _ELSEWHERE)
        scores.append(score + _ALWAYS * len(_SIGNING_IN & name))
    return scores


def _text(capability: Capability) -> str:
    description = str(capability.description.value)[:MAX_DESCRIPTION] if capability.description else ""
    return " ".join([description, *[*capability.properties][:_MAX_PARAMETERS]])


def _offer(capability: Capability) -> dict[str, Any]:
    """Capability as a model is shown it: id, description, method, parameters."""
    description = str(capability.description.value) if capability.description else ""
    return {
        "id": capability.name,
        "description": redact(description[:MAX_DESCRIPTION], pii=False).text,
        "method": str(capability.method.value)[:20] if capability.method else "",
        "destructive": destructive(capability) is not None,
        "parameters": _parameters(capability),
    }


def _parameters(capability: Capability) -> Any:
    """The schema of the parameters, secrets taken out; of a large one, each parameter's type only."""
    schema = capability.parameters.value if capability.parameters else None
    if len(json.dumps(schema, ensure_ascii=False, default=str)) <= MAX_SCHEMA:
        return _without_secrets(schema)
    required = [str(each.value) for each in capability.required if len(str(each.value)) <= MAX_NAME]
    first = [name for name in required if name in capability.properties]
    names = [name for name in dict.fromkeys([*first, *capability.properties]) if len(name) <= MAX_NAME]
    types = {name: _type_of(capability.properties[name].value.value) for name in names[:_MAX_PARAMETERS]}
    return {"type": "object", "required": required[:_MAX_PARAMETERS], "properties": types}


def _type_of(schema: Any) -> dict[str, Any]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return {"type": kind} if isinstance(kind, str) and len(kind) <= 20 else {}


def _without_secrets(value: Any) -> Any:
    """Value with every secret in its strings redacted."""
    if isinstance(value, str):
        return redact(value, pii=False).text
    if isinstance(value, Mapping):
        return {name: _without_secrets(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_secrets(each) for each in value]
    return value
