"""How strictly a question is verified, where something other than its assessment has a say. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from aurora_orchestration.types import LEVELS, Assessment, Complexity, VerificationOption

LEVEL_OF: dict[VerificationOption, Complexity] = {"option_a": "medium", "option_b": "complex", "option_c": "critical"}
OPTION_OF: dict[Complexity, VerificationOption] = {level: option for option, level in LEVEL_OF.items()}


def as_asked(assessment: Assessment, option: VerificationOption) -> Assessment:
    """With the verification that the user asked for, stricter or not."""
    level = LEVEL_OF[option]
    return replace(assessment, complexity=level, verification=option, method="asked")


def at_least(assessment: Assessment, wanted: Sequence[VerificationOption]) -> Assessment:
    """With the strictest verification that is wanted, unless its own is as strict."""
    level = max((LEVEL_OF[each] for each in wanted), key=LEVELS.index, default=assessment.complexity)
    if LEVELS.index(level) <= LEVELS.index(assessment.complexity):
        return assessment
    return replace(assessment, complexity=level, verification=OPTION_OF[level])
