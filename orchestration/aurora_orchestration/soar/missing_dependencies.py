"""Dependencies that are missing: subgoals that use what another one makes without waiting for it (AURORA §5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from aurora_memory.stopwords import without_stop_words
from aurora_memory.tokens import terms
from aurora_orchestration.soar.concepts import PROCESS, Words, telling
from aurora_orchestration.soar.structure import depends, ordered, reachable, waves
from aurora_orchestration.types import Decomposition, Subgoal

Role = Literal["study", "make", "check", "tell", "decide"]

_ROLES: dict[Role, str] = {
    "study": (
        "find identify locate trace inventory map collect scan research assess evaluate determine profile"
        " gather survey catalogue list analyse analyze investigate review inspect examine go take pinpoint reproduce"
        " record follow classify establish calculate audit diagnose chart look explore compile break count resolve work"
    ),
    "check": (
        "test verify check measure prove confirm assert run exercise simulate drive benchmark load-test cover try"
        " repeat validate"
    ),
    "tell": "document describe explain publish announce inform show update name",
    "decide": (
        "recommend decide weigh combine conclude choose select pick sequence rank compare draw summarise summarize"
        " propose suggest estimate judge merge"
    ),
}
_ROLE_OF = {word: role for role, listed in _ROLES.items() for word in listed.split()}
_BEFOREHAND = re.compile(
    r"\b(?:current|currently|today|existing|present|reproduc\w+|until a|characteri[sz]ation|baseline)\b", re.IGNORECASE
)
_REFERS = re.compile(
    r"\b(?:both (?:sets?|lists?|findings|results|paths|kinds|new)|(?:the|those|these|its|their) (?:[\w-]+ ){0,2}?"
    r"(?:findings?|results?|list|lists|inventory|comparison|draft|design|sketch|report|map|analysis|recommendation|"
    r"decision|snapshots|catalogues?)|based on the|once (?:done|finished|complete)|found there|among (?:those|them)|"
    r"(?:those|these) \w+|them|the findings together)\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(r"\b(?:the|that|those|these|its|each|every)\s+((?:[\w-]+\s*){1,3})", re.IGNORECASE)
LATE_ROOT = 1.0
"""What it adds that a subgoal comes later, waits for nothing, and is not said to run beside anything."""

UNSAID = 0.4
"""What it adds that two could run at once by their dependencies, and `parallelizable` does not say so."""

ALONE = 0.4
"""What it adds, for each of the two, that nothing waits for it and it waits for nothing."""

UNUSED = 0.4
"""What it adds that the first one finds something out, and nobody waits for it."""

WAITLESS = 0.2
"""What it adds that the second one waits for nothing."""

DECLARED = 0.35
"""What ALONE and UNUSED count where the two are said to run at once: then the plan means them to be independent."""

WORDS = 0.5
"""What the words count against the shape of the plan."""

_EXPECTED: dict[tuple[Role, Role], float] = {
    ("make", "check"): 0.45,
    ("make", "tell"): 0.35,
    ("study", "make"): 0.35,
    ("study", "decide"): 0.45,
    ("study", "tell"): 0.35,
    ("decide", "make"): 0.35,
    ("decide", "decide"): 0.3,
    ("make", "make"): 0.15,
}
"""How much it adds that steps of the first kind are usually waited for by those of the second."""

LIKELY, SURE = 0.8, 1.0
"""From how strong a sign on a use is likely, and from how strong a one it is taken for sure."""


def unmet(query: str, decomposition: Decomposition) -> Iterator[tuple[str, str, bool]]:
    """Uses without a dependency, each with how to mend it and whether it is sure.

    Call with a decomposition whose dependencies are a DAG.
    """
    subgoals = decomposition.subgoals
    by_id = {subgoal.id: subgoal for subgoal in subgoals}
    shape = _Shape(decomposition)
    order = [one for one in (decomposition.execution_order or ordered(subgoals)) if one in by_id]
    asked = telling(" ".join([query, *(given.fact for given in decomposition.given)]))
    for place, late in enumerate(order):
        for early in order[:place]:
            if early in shape.before[late]:
                continue
            words = use(by_id[late], by_id[early], asked, alone=not shape.needs[late])
            sign = WORDS * words + shape.sign(by_id[late], by_id[early])
            if sign >= LIKELY:
                yield (
                    f"{late} seems to use what {early} makes but does not depend on it",
                    f"add {early} to the depends_on of {late}, or name both in one group of parallelizable",
                    sign >= SURE,
                )
            if sign >= SURE:
                break
    for subgoal in subgoals:
        for named in re.findall(r"\bSG\d+\b", subgoal.description):
            if named != subgoal.id and named in by_id and named not in shape.before[subgoal.id]:
                yield (
                    f"{subgoal.id} speaks of {named} but does not depend on it",
                    f"let {subgoal.id} depend on {named}",
                    True,
                )


class _Shape:
    """What the fields of a plan say of how its subgoals hang together; no words are read."""

    def __init__(self, decomposition: Decomposition) -> None:
        self.needs = depends(decomposition.subgoals)
        self.before = {one: reachable(self.needs, one) for one in self.needs}
        self._needed = {one for needed in self.needs.values() for one in needed}
        self._groups = [frozenset(group) for group in decomposition.parallelizable]
        self._wave = {one: wave for wave, ones in enumerate(waves(decomposition.subgoals)) for one in ones}

    def sign(self, late: Subgoal, early: Subgoal) -> float:
        """How much speaks for a forgotten dependency of `late` on `early`."""
        if not self._needed:
            return 0.0  # nothing waits for anything: the whole plan is of independent parts, not one of them forgotten
        declared = any({late.id, early.id} <= group for group in self._groups)
        meant = DECLARED if declared else 1.0
        found = meant * ALONE * (self._alone(late.id) + self._alone(early.id))
        if early.id not in self._needed and role(early) in ("study", "decide"):
            found += meant * UNUSED
        if self._wave.get(late.id) == self._wave.get(early.id) and not declared:
            found += UNSAID
        if not self.needs[late.id]:
            found += WAITLESS + (0.0 if any(late.id in group for group in self._groups) else LATE_ROOT)
        return found

    def _alone(self, one: str) -> bool:
        return not self.needs[one] and one not in self._needed


def use(late: Subgoal, early: Subgoal, asked: Words, *, alone: bool) -> float:
    """How strongly `late` seems to use what `early` makes; `alone` is a subgoal that depends on nothing."""
    makes = telling(f"{early.description} {early.expected_output}")
    result = telling(early.expected_output).stems - PROCESS
    text = late.description
    own = telling(text).stems - PROCESS
    roles = role(early), role(late)
    sign = 0.0
    definite = {
        stem
        for match in _DEFINITE.finditer(text)
        for word in without_stop_words(match[1].split())
        for stem in terms(word)
    } - PROCESS
    introduced = {stem for stem in definite if makes.says(stem) and not asked.says(stem)}
    sign += 0.6 * min(2, sum(0.5 if asked.has(stem) else 1.0 for stem in introduced))
    sign += 0.35 * len({stem for stem in own if stem in result and not asked.says(stem)} - introduced)
    common = sum(1.0 if makes.says(stem) else 0.5 if makes.has(stem) else 0.0 for stem in own)
    if _BEFOREHAND.search(text) and roles[1] == "check":
        return sign - 1
    if alone:
        sign += 0.2 * min(4, common)
        sign += _EXPECTED.get(roles, 0.0)
    if _REFERS.search(text) and roles[0] in ("study", "decide") and roles[1] != "study":
        sign += 0.5 if alone else 0.25
    return sign


def role(subgoal: Subgoal) -> Role:
    """What kind of step a subgoal is, by its first words."""
    for word in re.findall(r"[a-z-]+", subgoal.description.lower())[:1]:
        if word in _ROLE_OF:
            return _ROLE_OF[word]
    return "make"
