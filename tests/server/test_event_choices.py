"""How events come in from elsewhere and by hand, a rule each: what is cut, what is summed, which words are meant."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import click
import pytest

from aurora_cli import deliverable_ingest as ingest
from aurora_cli.deliverable_record import command, named_change, split, with_zone

# Events from elsewhere


def test_a_long_text_of_a_hook_is_cut_in_its_middle_and_what_no_hook_has_is_left_out() -> None:
    kept = "a" * (2 * ingest.KEPT)
    assert ingest.shortened(kept) == kept
    cut = ingest.shortened(f"{kept}b")
    assert cut.startswith("a" * ingest.KEPT) and cut.endswith("a\n…\n" + "a" * (ingest.KEPT - 1) + "b")
    deep: Any = "end"
    for _ in range(12):
        deep = [deep]
    assert "end" in str(ingest.shortened(deep)) and "end" not in str(ingest.shortened([[deep]]))
    assert len(ingest.shortened([1] * 1001)) == 1000
    assert list(ingest.shortened({n: n for n in range(1001)}))[-1] == 999


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "the payload is not JSON"),
        (b"[1]", "the payload is not a JSON object"),
        (b'{"a": "' + b"x" * 40 + b'"}', "the payload is larger than"),
    ],
)
def test_what_is_no_payload_of_a_hook(content: bytes, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "MAX_HOOK", 30)
    with pytest.raises(click.ClickException, match=said):
        ingest.hook_payload(content)
    assert ingest.hook_payload(b'{"a": "' + b"x" * 21 + b'"}')["a"] == "x" * 21


@pytest.mark.parametrize(
    ("lines", "batches"),
    [
        pytest.param(["a"] * 4, [2, 2], id="so many lines each"),
        pytest.param(["a"] * 5, [2, 2, 1], id="the rest last"),
        pytest.param(["a" * 10, "b", "c"], [1, 2], id="one that is long goes alone"),
        pytest.param([], [], id="none of nothing"),
    ],
)
def test_lines_are_sent_in_batches(lines: list[str], batches: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "BATCH", 2)
    monkeypatch.setattr(ingest, "BATCH_CHARACTERS", 10)
    assert [len(each["lines"]) for each in ingest._batches(lines)] == batches


def test_of_a_line_that_is_too_long_the_end_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "MAX_LINE", 4)
    stream = BytesIO(b"12345678901\n1234\nab")
    found = list(ingest._lines(stream.readline(6), stream))
    assert found == ["123456", "1234\n", "ab"]


def test_what_became_of_several_files_is_summed_and_a_refused_line_told_by_its_file() -> None:
    total: dict[str, Any] = {"accepted": 1, "duplicates": 0, "refused": [], "change_ids": ["x"], "notes": []}
    reply = {"accepted": 2, "duplicates": 3, "refused": [{"line": 2, "reason": "no"}, {"issue": "7"}],
             "change_ids": ["y", "x"], "notes": ["n"]}  # fmt: skip
    ingest._add(total, reply, "b.jsonl", 2001)
    assert (total["accepted"], total["duplicates"], total["change_ids"]) == (3, 3, ["x", "y"])
    assert total["refused"] == [{"line": 2002, "reason": "no", "file": "b.jsonl"}, {"issue": "7"}]


# Events told by hand


@pytest.mark.parametrize(
    ("given", "words", "found"),
    [
        ((), (), (None, {})),
        (("x",), (), ("x", {})),
        (("plan",), ("phase",), (None, {"phase": "plan"})),
        (("x", "plan"), ("phase",), ("x", {"phase": "plan"})),
    ],
)
def test_the_change_stands_before_the_words(given: Any, words: Any, found: Any) -> None:
    assert split(given, words, {"phase": ("plan", "apply")}) == found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "expected [CHANGE] PHASE, got 0 arguments"),
        (("x", "plan", "y"), "got 3 arguments"),
        (("x", "plane"), "'plane' is no phase; choose from plan, apply"),
        (("", "plan"), "the name of a change is empty"),
    ],
)
def test_words_that_are_none_are_told_with_those_there_are(given: Any, said: str) -> None:
    with click.Context(click.Command("phase")), pytest.raises(click.UsageError) as refused:
        split(given, ("phase",), {"phase": ("plan", "apply")})
    assert said in refused.value.message
    assert named_change(None) is None


@pytest.mark.parametrize(
    ("action", "option", "spelled"),
    [
        ("tests", "succeeded", "--ok/--not-ok"),
        ("tool-call", "succeeded", "--ok/--failed"),
        ("task", "completed", "--completed/--done"),
    ],
)
def test_options_are_called_as_people_say_it(action: Any, option: str, spelled: str) -> None:
    made = {each.name: [*each.opts, *each.secondary_opts] for each in command(action).params}
    assert made[option] == spelled.split("/")


def test_a_time_without_a_zone_is_that_of_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = None
    assert with_zone(nothing, nothing, None) is None
    told = with_zone(nothing, nothing, "2026-02-26T10:00:00+05:00")
    assert told is not None and datetime.fromisoformat(told) == datetime(2026, 2, 26, 5, tzinfo=UTC)
    with pytest.raises(click.BadParameter, match="is no time"):
        with_zone(nothing, nothing, "ten")
