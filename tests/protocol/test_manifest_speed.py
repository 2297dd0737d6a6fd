"""What a check may cost: 1,000 capabilities (about 1 MB) and 20, valid and with an error."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from aurora_protocol.manifest.check import Checker, check
from aurora_protocol.manifest.scanner import parse
from tests.manifests import manifest

TIMES_STANDARD_LIBRARY = 60
"""On a machine too busy or slow for the seconds: this many times what `json.loads` takes for the same text there."""


def cost(work: Callable[[], object]) -> float:
    """The least CPU time of several runs, in seconds: the machine may be busy with other things."""
    times = []
    for _ in range(7):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


@pytest.mark.parametrize(("capabilities", "seconds"), [(20, 0.010), (1000, 0.250)])
@pytest.mark.parametrize("wrong", [False, True])
def test_a_check_is_fast_enough_to_follow_typing(capabilities: int, seconds: float, wrong: bool) -> None:
    document = manifest(capabilities)
    if wrong:
        document["capabilities"][f"note_{capabilities // 2}"]["action"]["method"] = "FETCH"
    text = json.dumps(document, indent=2, ensure_ascii=False)
    assert len(check(text)) == wrong
    allowed = max(seconds, TIMES_STANDARD_LIBRARY * cost(lambda: json.loads(text)))
    assert cost(lambda: check(text)) < allowed


def test_after_an_edit_only_what_changed_is_read_and_checked_again() -> None:
    text = json.dumps(manifest(1000), indent=2, ensure_ascii=False)
    at = text.index('"Does something', text.index('"note_500": {')) + 1
    checker = Checker()
    checker.check(before := checker.read(text))

    def edited() -> object:
        checker._sound = before
        return checker.check(checker.read(f"{text[:at]}x{text[at:]}"))

    assert edited() == []
    assert cost(edited) < cost(lambda: Checker().check(parse(text))) / 2
