"""Files that the criteria of a goal name: a goal is not met without them, whatever agents and judges say."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_orchestration.headless.loop import pursue
from aurora_orchestration.headless.named_files import missing_file
from tests.orchestration.headless.test_loop import Runs, headless, judge_of, provider, repository, root, text_of, worked
from tests.orchestration.llm.loopback import LoopbackProvider

__all__ = ["provider", "repository", "root"]

SAID = "## Success criteria\n- "


@pytest.mark.parametrize(
    ("goal", "missing"),
    [
        (f"{SAID}done.txt says finished and is committed", "done.txt"),
        ("# Success Criteria\n\n1. `src/api/routes.py` has a handler\n2. all tests pass", "src/api/routes.py"),
        (f"{SAID}kept.py has a docstring", ""),
        (f"{SAID}deep.py, wherever it is, has a docstring", ""),
        (f"{SAID}old.py is removed", ""),
        (f"{SAID}old.py is no longer imported", ""),
        (f"{SAID}main.py became app.ts: it is ported, or renamed", ""),
        (f"{SAID}it works like requests.py of another project", ""),
        ("# Goal\nWrite done.txt", ""),
        (f"{SAID}done.txt is there\n## Background\nelse.py", "done.txt"),
        (f"{SAID}the tests of Node.js and next.js pass, as version 1.0 says (https://x.example/a.html)", ""),
        ("", ""),
    ],
)
def test_only_what_criteria_say_is_there_is_looked_for(tmp_path: Path, goal: str, missing: str) -> None:
    (tmp_path / "kept.py").write_text("")
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "deep.py").write_text("")
    assert missing_file(goal, tmp_path) == missing


async def test_no_judge_is_paid_or_believed_where_a_criterions_file_is_not_there(
    root: Path, provider: LoopbackProvider
) -> None:
    (root / "headless" / "prompt.md").write_text(f"# Goal\n\nWrite it.\n\n{SAID}done.txt says finished\n")
    provider.otherwise = {"achieved": True, "reason": "the agent says so", "next_step": ""}
    run = Runs(worked("All done.\nGOAL_ACHIEVED: done.txt says finished"))
    outcome = await pursue(headless(root, max_iterations=2), run, judge_of(provider))
    assert outcome.ending == "iterations" and not provider.requests
    assert "Not met: there is no done.txt, which a criterion names" in text_of(root)
    assert "GOAL_ACHIEVED" not in text_of(root) and "**Next Step:** Make done.txt" in text_of(root)

    (root / "done.txt").write_text("finished")
    outcome = await pursue(headless(root, max_iterations=2), run, judge_of(provider))
    assert outcome.ending == "goal" and len(provider.requests) == 1
