"""Whether a prompt is for AURORA (Appendix C, `aurora.*`)."""

import pytest

from aurora_orchestration.settings import AuroraSettings
from aurora_orchestration.soar.invocation import called


@pytest.mark.parametrize(
    ("prompt", "query"),
    [
        ("aur where is the cache?", "where is the cache?"),
        ("AUR where is the cache?", "where is the cache?"),
        ("aurora: where is the cache?", "where is the cache?"),
        ("  aurora:where is the cache?", "where is the cache?"),
        ("/aurora where is the cache?", "where is the cache?"),
        ("aur: where is the cache?", "where is the cache?"),
    ],
)
def test_a_prefix_calls_and_is_taken_off(prompt: str, query: str) -> None:
    found = called(prompt, AuroraSettings())
    assert found is not None
    assert (found.query, found.mode) == (query, "user_invoked")


@pytest.mark.parametrize(
    "prompt", ["where is the cache?", "aural history", "aur-lint fails", "aurora lights", "aur", ""]
)
def test_what_only_resembles_a_prefix_does_not_call(prompt: str) -> None:
    assert called(prompt, AuroraSettings()) is None


def test_always_on_answers_everything_but_what_is_excluded() -> None:
    settings = AuroraSettings(always_on=True)
    found = called("where is the cache?", settings)
    assert found is not None
    assert (found.query, found.mode, found.prefix) == ("where is the cache?", "always_on", "")
    for prompt in ("Thanks!", "ok", "OK.", "got it", "", "  "):
        assert called(prompt, settings) is None
    assert called("no cache?", settings) is not None


def test_a_prefix_is_a_word_like_any_other_where_users_do_not_call() -> None:
    settings = AuroraSettings(user_invoked=False, always_on=True)
    found = called("aur where is the cache?", settings)
    assert found is not None
    assert (found.query, found.mode) == ("aur where is the cache?", "always_on")
    assert called("aur where?", AuroraSettings(user_invoked=False)) is None
