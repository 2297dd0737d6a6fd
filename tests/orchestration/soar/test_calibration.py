"""Examples scale with complexity, and a user's own replace or join them (App. C.1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from aurora_memory.token_cost import estimated_tokens
from aurora_orchestration.scoring_settings import CalibrationSettings
from aurora_orchestration.soar.calibration import CHECKS, CalibrationError, Prompt, _written, examples, load
from aurora_orchestration.types import LEVELS

SETTINGS = CalibrationSettings()
OWN = {
    "complexity": "complex",
    "query": "Book a trade",
    "decomposition": {"subgoals": ["SG1: Check limits", "SG2: Book"]},
    "expected_scores": {"completeness": 0.8, "consistency": 0.9, "groundedness": 0.9, "routability": 0.9},
    "overall_score": 0.86,
}


def own(tmp_path: Path, content: object, **chosen: object) -> CalibrationSettings:
    file = tmp_path / "examples.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return replace(SETTINGS, external_path=str(file), **chosen)


@pytest.mark.parametrize("prompt", get_args(Prompt))
def test_counts_scale_by_complexity(prompt: Prompt) -> None:
    assert [len(examples(SETTINGS, prompt, level).shown) for level in LEVELS] == [0, 2, 4, 6]
    assert len(examples(replace(SETTINGS, scale_by_complexity=False), prompt, "simple").shown) >= 6
    assert examples(SETTINGS, prompt, "complex") == examples(SETTINGS, prompt, "complex")


@pytest.mark.parametrize("prompt", CHECKS)
def test_built_in_scores_are_the_weighted_means_of_their_checks(prompt: Prompt) -> None:
    weights = {
        "decomposition_verification": (0.4, 0.2, 0.2, 0.2),
        "agent_output_verification": (0.4, 0.3, 0.3),
        "synthesis_verification": (0.3, 0.3, 0.2, 0.2),
    }[prompt]
    for one in examples(replace(SETTINGS, scale_by_complexity=False), prompt, "critical").shown:
        mean = sum(weight * score for weight, score in zip(weights, one["expected_scores"].values(), strict=True))
        assert one["overall_score"] == pytest.approx(mean, abs=0.011), one


def test_edge_cases_come_first_where_they_are_in_focus() -> None:
    focused = examples(SETTINGS, "agent_output_verification", "complex").shown
    plain = examples(replace(SETTINGS, focus_on_edge_cases=False), "agent_output_verification", "complex").shown
    assert "opinion" in focused[0]["why"] and focused != plain


def test_own_examples_replace_or_join(tmp_path: Path) -> None:
    content = {"decomposition_verification": [OWN]}
    assert examples(own(tmp_path, content), "decomposition_verification", "critical").shown == (OWN,)
    joined = examples(
        own(tmp_path, content, merge_strategy="merge", focus_on_edge_cases=False),
        "decomposition_verification",
        "complex",
    ).shown
    assert joined[0] == OWN and len(joined) == 4
    assert len(examples(own(tmp_path, content), "synthesis_verification", "critical").shown) == 6


def test_long_examples_stay_out(tmp_path: Path) -> None:
    long = OWN | {"why": "word " * 500}
    found = examples(
        own(tmp_path, {"decomposition_verification": [OWN, long]}), "decomposition_verification", "critical"
    )
    assert found.shown == (OWN,) and "longer than 200 tokens" in found.notices[0]


def test_those_of_its_complexity_come_first_and_of_these_the_edge_cases(tmp_path: Path) -> None:
    def example(name: str, level: str | None, edge: bool) -> dict[str, object]:
        own = {key: value for key, value in OWN.items() if key != "complexity"}
        return own | {"query": name, "edge_case": edge} | ({"complexity": level} if level else {})

    listed = [
        example("plain", "complex", False), example("far", "simple", True), example("near", "critical", True),
        example("edge", "complex", True), example("of any", None, False),
    ]  # fmt: skip
    settings = own(tmp_path, {"decomposition_verification": listed})
    shown = examples(settings, "decomposition_verification", "complex").shown
    assert [each["query"] for each in shown] == ["edge", "plain", "of any", "near"]


def test_an_example_of_just_as_many_tokens_as_may_be_is_shown_and_ours_that_are_longer_are_no_news(
    tmp_path: Path,
) -> None:
    tokens = estimated_tokens(_written(OWN))
    settings = own(tmp_path, {"decomposition_verification": [OWN]}, example_max_tokens=tokens)
    assert examples(settings, "decomposition_verification", "complex").shown == (OWN,)
    assert examples(replace(SETTINGS, example_max_tokens=1), "decomposition", "complex").notices == ()


def test_a_missing_file_falls_back_with_a_notice(tmp_path: Path) -> None:
    found = examples(replace(SETTINGS, external_path=str(tmp_path / "none.json")), "decomposition", "medium")
    assert len(found.shown) == 2 and "none.json cannot be read" in found.notices[0]


@pytest.mark.parametrize("content", ["{", "[]", "[" * 100_000, '{"decomposition": [1'])
def test_a_file_that_is_no_json_is_an_error_that_names_it(tmp_path: Path, content: str) -> None:
    with pytest.raises(CalibrationError, match=r"examples\.json"):
        examples(own(tmp_path, content), "decomposition", "medium")


@pytest.mark.parametrize(
    ("example", "told"),
    [
        (OWN | {"expected_scores": {"completeness": 2}}, "expected_scores"),
        (OWN | {"expected_scores": {"completeness": 0.5}}, "has to have completeness, consistency"),
        ({"query": "x"}, "lacks decomposition, expected_scores, overall_score"),
        (OWN | {"complexity": "huge"}, "complexity has to be one of"),
        (7, "is no object"),
    ],
)
def test_an_example_that_lacks_something_is_named_and_left_out(tmp_path: Path, example: object, told: str) -> None:
    settings = own(tmp_path, {"decomposition_verification": [example]})
    found = examples(settings, "decomposition_verification", "medium")
    assert told in found.notices[0] and "decomposition_verification[0]" in found.notices[0]
    assert len(found.shown) == 2
    assert settings.external_path and told in load(settings.external_path)[0]


def test_a_path_that_depends_on_where_one_stands_is_refused() -> None:
    with pytest.raises(CalibrationError, match="not an absolute path"):
        examples(replace(SETTINGS, external_path="examples.json"), "decomposition", "medium")
