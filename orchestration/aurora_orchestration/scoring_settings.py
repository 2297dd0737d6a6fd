"""Settings of scores: thresholds, weights of the checks, calibration examples (AURORA §5.3, App. C `scoring`)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from aurora_orchestration.setting_types import TRUSTED, AtLeastOne, Count, HomePath, Share


class DecompositionWeights(Struct, frozen=True, kw_only=True):
    """Weights of the checks in the score of a decomposition (§8.4); together 1."""

    completeness: Share = 0.4
    """Whether everything asked for is covered."""
    consistency: Share = 0.2
    """Whether the parts fit together."""
    groundedness: Share = 0.2
    """Whether the parts rest on what is known."""
    routability: Share = 0.2
    """Whether there is an agent for each part."""


class OutputWeights(Struct, frozen=True, kw_only=True):
    """Weights of the checks in the score of an agent's output (§8.5); together 1."""

    relevance: Share = 0.4
    """Whether it is about the goal."""
    completeness: Share = 0.3
    """Whether the goal is met."""
    groundedness: Share = 0.3
    """Whether it rests on what is known."""


class SynthesisWeights(Struct, frozen=True, kw_only=True):
    """Weights of the checks in the score of a synthesis (§8.6); together 1."""

    addresses_query: Share = 0.3
    """Whether it answers the question."""
    traceable: Share = 0.3
    """Whether each claim has a source."""
    consistent: Share = 0.2
    """Whether it contradicts itself nowhere."""
    calibrated: Share = 0.2
    """Whether it is as sure as it should be."""


class WeightedScoring(Struct, frozen=True, kw_only=True):
    """Weights of the checks, by what is checked."""

    decomposition: DecompositionWeights = DecompositionWeights()
    """Weights of the checks in the score of a decomposition; together 1."""
    agent_output: OutputWeights = OutputWeights()
    """Weights of the checks in the score of an agent's output; together 1."""
    synthesis: SynthesisWeights = SynthesisWeights()
    """Weights of the checks in the score of a synthesis; together 1."""


class ExampleCounts(Struct, frozen=True, kw_only=True):
    """Number of calibration examples in a prompt, by complexity."""

    simple: Count = 0
    """For a simple question."""
    medium: Count = 2
    """For a medium question."""
    complex: Count = 4
    """For a complex question."""
    critical: Count = 6
    """For a critical question."""


class CalibrationSettings(Struct, frozen=True, kw_only=True):
    """The examples that verification prompts show (AURORA App. C.1)."""

    external_path: Annotated[HomePath | None, TRUSTED] = None
    """A JSON file with examples of your own, looked for from the workspace."""
    merge_strategy: Literal["replace", "merge"] = "replace"
    """Whether your examples `replace` the built-in ones or `merge` with them."""
    scale_by_complexity: bool = True
    """Whether harder questions get more examples."""
    counts: ExampleCounts = ExampleCounts()
    """Number of examples, by complexity."""
    example_max_tokens: AtLeastOne = 200
    """Longer examples are left out."""
    focus_on_edge_cases: bool = True
    """Whether examples of edge cases come first."""


class ScoringSettings(Struct, frozen=True, kw_only=True):
    """Scores of results, and when a step is tried again (§5.3)."""

    cache_threshold: Share = 0.8
    """Results from this score on are kept."""
    pass_threshold: Share = 0.7
    """Results from this score on pass."""
    retry_threshold: Share = 0.5
    """Results from this score on are tried again; lower ones fail."""
    max_retries: Count = 2
    """So often a step is tried again."""
    weighted_scoring: WeightedScoring = WeightedScoring()
    """Weights of the checks, by what is checked."""
    calibration_examples: CalibrationSettings = CalibrationSettings()
    """The examples that verification prompts show (AURORA App. C.1)."""
