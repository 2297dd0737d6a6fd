"""`docs/reference/signals.md`: ranking signals, what each means and what it weighs by kind of question."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from aurora_memory.recall.question_kind import MEANING, QuestionKind
from aurora_memory.recall.signals import SIGNALS, Weights, weights_of
from docs.generate.citations import ROOT
from docs.generate.markdown import cell, table

PAGE = "docs/reference/signals.md"

HEAD = """# Ranking signals

What speaks for an answer of `aur mem`, or against it: `--explain` names these. A signal has a value for each candidate,
most of them in [0, 1]; the weight is what a value of 1 adds in log odds, by the kind of question. Where a weight was
fitted, and on what, stands in `memory/aurora_memory/recall/fitted_weights.json`.
"""


def pages(_: Path = ROOT) -> dict[str, str]:
    """The page by its path."""
    columns: dict[Weights, list[QuestionKind]] = {}
    for kind in get_args(QuestionKind):
        columns.setdefault(weights_of(kind), []).append(kind)
    kinds = table(("kind", "what is asked for"), ((kind, cell(said)) for kind, said in MEANING.items()))
    rows = ((each.name, cell(each.meaning), *(f"{weights[each.place]:g}" for weights in columns)) for each in SIGNALS)
    weights = table(("signal", "what it says", *(", ".join(of) for of in columns.values())), rows)
    return {PAGE: f"{HEAD}\n{weights}\n## Kinds of questions\n\n{kinds}"}
