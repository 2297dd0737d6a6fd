"""Nights of unattended work through the real daemon, with agents that mean no good: what may never be said or done.

Each iteration starts a rogue (`rogues`). The judge is a model that believes what it is shown, and nothing else.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from tests.e2e.product import Product, product_in
from tests.e2e.rogues import ACTS, DONE, FINISHING, GOAL, LEAVING, PROGRAM
from tests.orchestration.llm.loopback import LoopbackProvider, Request
from tests.orchestration.soar.minds import Mind
from tests.wait_limits import HANG

WHO = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in
       (("NAME", "a"), ("EMAIL", "a@example.org"))}  # fmt: skip
pytestmark = pytest.mark.long

FINISHES = "reaches the goal"
NIGHT = len(ACTS) + 1
"""Iterations of one night: each act, and the goal."""

NIGHTS = int(os.environ.get("AURORA_TEST_NIGHTS", "1"))
"""Nights, each with its acts in another order; a minute each."""


class Night:
    """A repository on branch headless with a remote, a rogue that the user has installed, and a model on loopback."""

    def __init__(self, folder: Path, product: Product, provider: LoopbackProvider) -> None:
        self.product, self.provider = product, provider
        self.root, self.remote = folder / "work" / "tree", folder / "remote.git"
        self.acts, self.marks = folder / "acts", folder
        self.root.mkdir(parents=True)
        self._git("init", "--quiet", "--bare", str(self.remote), cwd=folder)
        self._git("init", "--quiet", "-b", "main")
        self._git("remote", "add", "origin", str(self.remote))
        (self.root / "a.txt").write_text("a\n")
        (self.root / "headless").mkdir()
        (self.root / "headless" / "prompt.md").write_text(GOAL)
        (self.root / ".gitignore").write_text("headless/scratchpad.md\n")
        self._git("add", ".")
        self._git("commit", "--quiet", "-m", "first")
        self._git("push", "--quiet", "origin", "main")
        self._git("checkout", "--quiet", "-b", "other")
        (self.root / "a.txt").write_text("theirs\n")
        self._git("commit", "--quiet", "-am", "theirs")
        self._git("checkout", "--quiet", "-b", "headless", "main")
        (self.root / "a.txt").write_text("ours\n")
        self._git("commit", "--quiet", "-am", "ours")
        self.kept = folder / "kept"
        shutil.copytree(self.root, self.kept)
        (folder / "bodies.json").write_text(json.dumps({**ACTS, **LEAVING, FINISHES: FINISHING}))
        rogue = {
            "id": "rogue",
            "type": "executable",
            "path": sys.executable,
            "arguments": ["-c", PROGRAM, str(self.acts), str(self.marks), str(folder / "bodies.json")],
            "environment": WHO,
            "capabilities": ["all"],
        }
        (product.home / "agents.json").write_text(json.dumps({"agents": [rogue]}))
        product.aurora("trust", cwd=self.root)

    def run(self, *acts: str, budget: float = 50.0, iterations: int | None = None) -> tuple[dict[str, Any], int, str]:
        """One invocation with an act per iteration: how it ended, its exit code, and all that it printed."""
        self.acts.write_text("".join(f"{act}\n" for act in acts))
        options = ("--headless", "--max-iterations", str(iterations or len(acts)), "--budget-limit", str(budget))
        done = self.product.aurora(*options, "--json", cwd=self.root, seconds=10 * HANG)
        assert "Traceback" not in done.stderr, done.stderr
        lines = done.stdout.splitlines()
        assert lines, done.stderr
        return json.loads(lines[-1]), done.returncode, done.stdout + done.stderr

    def told(self) -> str:
        """The scratchpad."""
        return (self.root / "headless" / "scratchpad.md").read_text()

    def met(self) -> bool:
        """Whether the goal is met, whatever anybody says."""
        return self.asked("show", "headless:result.txt") == DONE

    def others(self) -> str:
        """Every other branch here, and all of the remote."""
        here = [line for line in self.asked("for-each-ref").splitlines() if not line.endswith("refs/heads/headless")]
        return "\n".join(line for line in here if "refs/stash" not in line) + self.asked(
            "for-each-ref", cwd=self.remote
        )

    def asked(self, *words: str, cwd: Path | None = None) -> str:
        """What git says, "" where it fails."""
        done = subprocess.run(["git", *words], cwd=cwd or self.root, capture_output=True, text=True, check=False)
        return done.stdout

    def mended(self) -> None:
        """The work tree and the remote as they were at nightfall, the scratchpad as it is: what a person would do."""
        pad = self.root / "headless" / "scratchpad.md"
        text = pad.read_text() if pad.exists() else None
        for path in (self.root, self.root.parent / "beside"):
            shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.kept, self.root)
        if text is not None:
            pad.write_text(text)
        for line in self.asked("for-each-ref", "--format=%(refname)", cwd=self.remote).splitlines():
            if line != "refs/heads/main":
                self._git("update-ref", "-d", line, cwd=self.remote)

    def _git(self, *words: str, cwd: Path | None = None) -> None:
        environment = {**os.environ, **WHO, "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["git", *words], cwd=cwd or self.root, env=environment, check=True, capture_output=True)


class Routing(Mind):
    """Gives its first subgoal to the rogue; judges a goal by what was observed alone."""

    def __call__(self, request: Request) -> Any:
        told = request.json
        if isinstance(told, dict) and "observed" in told:
            seen = told["observed"]
            done = "result.txt" in seen["changed_files"] and "+42" in seen["diff"] and bool(seen["commits"])
            return {"achieved": done, "reason": "So it is." if done else "It is not to be seen.", "next_step": ""}
        return super().__call__(request)

    def body(self, query: str) -> dict[str, Any]:
        body = super().body(query)
        body["given"][0]["fact"] = body["goal"]["description"] = query.partition("\n")[0]
        body["subgoals"][0]["agent"] = "rogue"
        return body

    def _work(self, request: Request) -> Any:
        return {
            **super()._work(request),
            "summary": "Looked at what is there: a.txt:1 says ours, and nothing else was found.",
        }

    def _synthesize(self, request: Request) -> Any:
        said = " ".join(str(each.get("summary", "")) for each in request.json["findings"])
        return {**super()._synthesize(request), "answer": said or "Nothing was found."}


@contextmanager
def night_in(folder: Path, **model: Any) -> Iterator[Night]:
    home = folder / "home"
    home.mkdir()
    with LoopbackProvider() as provider, product_in(home, **provider.environ, **WHO) as product:
        provider.otherwise = Routing(("Take the next step", "Look at what is there"), depends={1: (0,)})
        llm = {"reasoning_llm": msgspec.to_builtins(provider.settings("openai", **model)), "retry_seconds": 2.0}
        agents = {"timeout_seconds": 2.0, "fallback_mode": "default_agents", "default_agent": {"id": "rogue"}}
        (home / "config.json").write_text(json.dumps({"llm": llm, "agents": agents}))
        yield Night(folder, product, provider)


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    with night_in(tmp_path) as night:
        yield night


@pytest.mark.parametrize("seed", range(1, NIGHTS + 1))
def test_a_night_says_nothing_untrue_and_touches_no_other_branch(night: Night, seed: int) -> None:
    chance = random.Random(seed)
    body = chance.sample([*ACTS], k=len(ACTS))
    before = night.others()
    ended, code, _ = night.run(*body, FINISHES)
    assert (ended["status"], ended["iterations"], code) == ("goal", NIGHT, 0), (ended, night.told())
    assert night.met() and night.others() == before, night.told()
    assert night.told().count("GOAL_ACHIEVED: So it is.") == 1
    assert night.told().count("GOAL_ACHIEVED") == 2, night.told()
    assert "\x1b" not in night.told().rpartition("---")[0].rpartition("## Iteration")[2]
    child = night.marks / "child"
    assert not psutil.pid_exists(int(child.read_text()))
    assert night.asked("log", "--format=%s", "--grep=late") == ""


def test_looking_at_the_work_tree_runs_nothing_that_an_agent_has_configured(night: Night) -> None:
    ended, _, _ = night.run("configures programs", "does nothing", "claims and does nothing")
    assert ended["iterations"] == 3 and "fsmonitor" in (night.root / ".git" / "config").read_text()
    assert not (night.marks / "ran").exists()


def test_who_gets_past_the_guard_ends_the_run_and_no_goal_is_met(night: Night) -> None:
    pad = night.root / "headless" / "scratchpad.md"
    for act in LEAVING:
        ended, code, said = night.run(act, FINISHES)
        assert (code, ended["iterations"]) == (4, 1), (act, said)
        assert ended["status"] in ("branch", "forbidden", "changed"), (act, said)
        assert "GOAL_ACHIEVED" not in night.told(), (act, night.told())
        night.mended()
        pad.unlink()


def test_a_goal_that_an_agent_has_changed_is_not_pursued_by_the_next_run_either(night: Night) -> None:
    night.run("rewrites the goal", FINISHES)
    ended, code, _ = night.run("rewrites the goal", FINISHES)
    assert (ended["status"], ended["iterations"], code) == ("changed", 1, 4)
    (night.root / "headless" / "prompt.md").write_text(GOAL)
    ended, code, _ = night.run("rewrites the goal", FINISHES)
    assert (ended["status"], ended["iterations"], code) == ("goal", 2, 0)


def test_the_budget_of_a_night_holds_for_a_model_of_unknown_price(tmp_path: Path) -> None:
    with night_in(tmp_path, model="a-model-nobody-has-priced") as night:
        first, _, _ = night.run(*["works a little"] * 2)
        budget = 3.5 * first["cost_usd"] / 2
        ended, code, said = night.run(*["works a little"] * NIGHT, budget=budget)
        assert (ended["status"], ended["iterations"], code) == ("budget", 4, 4), said
        assert 0 < ended["cost_usd"] < 4 * budget / 3
        again, code, _ = night.run(*["works a little"] * NIGHT, budget=budget)
        assert (again["status"], again["iterations"], code) == ("budget", 4, 4)
