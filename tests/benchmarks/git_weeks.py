"""Weeks of git work by three people, a simulation drawn by seed: `python -m tests.benchmarks.git_weeks SEED [SEEDS]`.

Each week has a dozen changes of Ann, Bea and Cas in three clones of one repository: branches, merges of every kind,
rebases, amended commits, renames, stashes, pulls, changes given up, taken back or archived twice. Ann's daemon is there
for some of it. What is true is noted while the week is made; then deliverables and metrics must say the same. Of each
seed its divergences are told, and at last how many figures were compared.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path

from tests.benchmarks.git_week_figures import DAYS, Truth, differences, named
from tests.server.daemons import Daemon
from tests.server.test_change_history import archive, commit, git, repository
from tests.server.test_detection import write
from tests.wait_limits import HANG

HOUR = 3600.0
PEOPLE = ("Ann", "Bea", "Cas")
WORDS = (Path(__file__).parent / "answer_phrases.py").read_text(encoding="utf-8").split()
SOON = {"AURORA_DELIVERABLES_DETECT_ABANDONED_MINUTES": "0.02"}


class Week:
    """Three clones of one bare repository, the daemon of Ann's, and what is true."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.home = folder / "home"
        self.begin = float(int(time.time() - (DAYS - 0.2) * 24 * HOUR))
        self.now = self.begin
        self.truths: list[Truth] = []
        self.daemon: Daemon | None = None
        self.story: list[str] = []
        repository(folder / "seed", at=self.begin - HOUR)
        git(folder, "clone", "-q", "--bare", "seed", "shared.git")
        self.clones = {name: folder / name.lower() for name in PEOPLE}
        for clone in self.clones.values():
            git(folder, "clone", "-q", "shared.git", str(clone))

    def tell(self, what: str) -> None:
        self.story.append(f"{self.hours(self.now):>7} h  daemon {'on ' if self.daemon else 'off'}  {what}")

    def hours(self, at: float) -> str:
        """Hours since the week began."""
        return f"{(at - self.begin) / HOUR:.3f}"

    def passes(self) -> float:
        """Some time passes; now and then none."""
        limit = self.begin + (DAYS - 0.5) * 24 * HOUR
        step = 0 if self.random.random() < 0.1 else self.random.randint(1, int(3 * HOUR))
        self.now = min(self.now + step, limit)
        return self.now

    def git(self, name: str, *arguments: str, at: float | None = None) -> None:
        git(self.clones[name], *arguments, at=at, author=name)

    def commit(self, name: str, message: str, at: float | None) -> None:
        commit(self.clones[name], message, at=at, author=name)

    def main(self, name: str) -> None:
        self.git(name, "checkout", "-q", "main")
        self.git(name, "pull", "-q", "--rebase", at=None)

    def start(self) -> None:
        self.daemon = Daemon(self.home, **SOON)
        self.settle()

    def stop(self) -> None:
        assert self.daemon is not None
        self.daemon.__exit__()
        self.daemon = None

    def settle(self) -> None:
        """Have the daemon take in what lies in Ann's clone."""
        assert self.daemon is not None
        with self.daemon.client(self.clones["Ann"]) as client:
            client.request("aurora/index", timeout=HANG)


Steps = Generator[None, None, None]


def text(week: Week, lines: int = 7) -> str:
    return "## Why\n" + "".join(" ".join(week.random.choices(WORDS, k=9)) + "\n" for _ in range(lines))


def folder_of(week: Week, who: str, name: str) -> Path:
    return week.clones[who] / "openspec" / "changes" / name


def a_change(week: Week, number: int, who: str, *, live: bool = False) -> Steps:
    """The life of one change; where it yields, others go on."""
    draw = week.random
    name = f"{draw.choice(('add', 'fix', 'drop'))}-{draw.choice(('search', 'cart', 'login', 'export'))}-{number}"
    trunk = draw.random() < 0.2
    branch = "main" if trunk else f"feature/{name if draw.random() < 0.5 else f'work-{number}'}"
    clone = week.clones[who]

    def at() -> float | None:
        return None if live else week.passes()

    def go() -> None:
        if trunk:
            week.main(who)
        else:
            week.git(who, "checkout", "-q", branch)

    def push(*, force: bool = False) -> None:
        week.git(who, "push", "-q", *(["--force"] if force else []), "origin", branch)

    week.main(who)
    if not trunk:
        week.git(who, "checkout", "-q", "-b", branch)
    folder = folder_of(week, who, name)
    begin = at()
    week.tell(f"{who} proposes {name} on {branch}{' now' if live else ''}")
    began = time.time()
    write(folder / "proposal.md", text(week))
    tasks_first = draw.random() < 0.6
    if tasks_first:
        write(folder / "tasks.md", f"## 1. {name}\n- [ ] 1.1 One {number}\n- [ ] 1.2 Two {number}\n")
    truth = Truth(name, who, begin if begin is not None else began, live=live)
    week.truths.append(truth)
    if live:
        seen_by_daemon(week, name)
        if draw.random() < 0.5:
            week.tell(f"{who} stashes {name} and looks at main")
            week.git(who, "stash", "-u", "-q")
            week.git(who, "checkout", "-q", "main")
            week.git(who, "checkout", "-q", branch)
            week.git(who, "stash", "pop", "-q")
    week.commit(who, f"docs: propose {name}", begin)
    push()
    yield
    go()
    if not tasks_first:
        write(folder / "tasks.md", f"## 1. {name}\n- [ ] 1.1 One {number}\n- [ ] 1.2 Two {number}\n")
        write(folder / "design.md", text(week, 3))
        week.commit(who, f"docs: plan {name}", at())
        push()
        yield
        go()
    if draw.random() < 0.3:
        new = f"{name}-anew"
        rewritten = draw.random() < 0.3
        week.tell(f"{who} renames {name} to {new}{', its proposal written anew' if rewritten else ''}")
        folder = folder.rename(folder_of(week, who, new))
        truth.names.append(new)
        if rewritten:
            write(folder / "proposal.md", text(week))
        week.commit(who, f"docs: a better name for {name}", at())
        push()
        yield
        go()
    if draw.random() < 0.2 and not trunk:
        week.tell(f"{who} amends the last commit of {name}")
        write(clone / "src" / f"amended{number}.py", "x = 1\n")
        week.git(who, "add", "-A")
        week.git(who, "commit", "-q", "--amend", "--no-edit", at=at())
        push(force=True)
    given_up = draw.random() < 0.25
    if given_up and not trunk and draw.random() < 0.35:
        if who == "Ann" and not truth.looked_at:
            truth.when_missed = not live
        yield
        if live:
            author_known(week, name)  # a branch that is gone at once has told nobody who wrote it
        week.tell(f"{who} deletes {branch} with {name}")
        week.git(who, "checkout", "-q", "main")
        week.git(who, "branch", "-q", "-D", branch)
        week.git(who, "push", "-q", "origin", "--delete", branch)
        truth.vanished, truth.failed = True, True
        truth.end = time.time()
        return
    if draw.random() < 0.7:
        text_of_tasks = (folder / "tasks.md").read_text(encoding="utf-8")
        write(folder / "tasks.md", text_of_tasks.replace("[ ]", "[x]", draw.randint(1, 2)))
        write(clone / "src" / f"work{number}.py", f"def work{number}():\n    return {number}\n")
        week.commit(who, f"feat: {name}", at())
        push()
        yield
        go()
    if draw.random() < 0.4 and not trunk:
        week.tell(f"{who} rebases {branch}")
        week.git(who, "fetch", "-q")
        week.git(who, "rebase", "-q", "origin/main", at=at())
        push(force=True)
        yield
        go()
    if given_up:
        if not trunk and draw.random() < 0.6:
            merge(week, who, branch, at())
            yield
        elif not trunk:
            week.tell(f"{who} removes {truth.name} on {branch}")
            week.git(who, "rm", "-rq", str(folder))
            when = at()
            week.commit(who, f"docs: no {name}", when)
            push()
            truth.end, truth.failed = when or time.time(), True
            merge(week, who, branch, at())
            return
        remover = who if live else draw.choice([each for each in PEOPLE if each != "Ann" or not week.daemon])
        week.main(remover)
        week.tell(f"{remover} removes {truth.name} on main")
        week.git(remover, "rm", "-rq", str(folder_of(week, remover, folder.name)))
        when = at()
        week.commit(remover, f"docs: no {name}", when)
        week.git(remover, "push", "-q", "origin", "main")
        truth.end, truth.failed = when or time.time(), True
        if draw.random() > 0.4 or live:
            return
        yield
        back = who
        week.main(back)
        week.tell(f"{back} takes {truth.name} back")
        log = commits_of(week, back, f"docs: no {name}")
        week.git(back, "revert", "--no-edit", log, at=at())
        week.git(back, "push", "-q", "origin", "main")
        truth.end, truth.failed = None, False
        trunk, branch = True, "main"
        yield
        go()
    if draw.random() < 0.1:
        week.tell(f"{truth.name} stays open")
        return
    place = archive(clone, folder.name)
    when = at()
    week.tell(f"{who} archives {truth.name} on {branch}")
    week.commit(who, f"docs: archive {name}", when)
    push()
    truth.end = when or time.time()
    if not live and draw.random() < 0.15:
        yield
        go()
        week.tell(f"{who} takes {truth.name} out of the archive")
        week.git(who, "revert", "--no-edit", commits_of(week, who, f"docs: archive {name}"), at=at())
        push()
        truth.end = None
        yield
        go()
        if place.exists():
            place.rename(folder)
        archive(clone, folder.name)
        when = at()
        week.tell(f"{who} archives {truth.name} again")
        week.commit(who, f"docs: archive {name} again", when)
        push()
        truth.end = when
    if not trunk and draw.random() < 0.85:
        yield
        merge(week, who, branch, at())


def merge(week: Week, who: str, branch: str, at: float | None) -> None:
    """Bring a branch to main in one of five ways."""
    how = week.random.choice(("no-ff", "no-ff", "squash", "pick", "rebase"))
    week.tell(f"{who} merges {branch} ({how})")
    if how == "rebase":
        week.git(who, "checkout", "-q", branch)
        week.git(who, "fetch", "-q")
        week.git(who, "rebase", "-q", "origin/main", at=at)
        week.git(who, "push", "-q", "--force", "origin", branch)
        week.main(who)
        week.git(who, "merge", "-q", "--ff-only", branch)
    else:
        week.main(who)
        if how == "pick":
            week.git(who, "-c", "merge.renames=true", "cherry-pick", "--allow-empty", f"main..{branch}", at=at)
        elif how == "squash":
            week.git(who, "merge", "-q", "--squash", branch)
            week.commit(who, f"Squash {branch}", at)
        else:
            week.git(who, "merge", "-q", "--no-ff", "-m", f"Merge {branch}", branch, at=at)
    week.git(who, "push", "-q", "origin", "main")


def commits_of(week: Week, who: str, message: str) -> str:
    said = subprocess.run(
        ["git", "log", "-1", "--format=%H", f"--grep=^{message}$"],
        cwd=week.clones[who], check=True, capture_output=True, text=True,
    )  # fmt: skip
    return said.stdout.strip()


def seen_by_daemon(week: Week, name: str) -> None:
    deadline = time.monotonic() + HANG
    while named(week.home, name) is None:
        assert time.monotonic() < deadline, f"{name} is not seen"
        time.sleep(0.05)


def author_known(week: Week, name: str) -> None:
    deadline = time.monotonic() + HANG
    while (found := named(week.home, name)) is None or found.author is None:
        assert time.monotonic() < deadline, f"nobody wrote {name}"
        time.sleep(0.05)


def ann_looks(week: Week) -> None:
    """Ann pulls, fetches, looks at branches and stashes something, while her daemon looks on."""
    what = week.random.choice(("pull", "fetch", "look", "stash"))
    here = week.clones["Ann"]
    if what == "fetch":
        week.git("Ann", "fetch", "-q", "--prune")
    elif what == "stash":
        write(here / "src" / "scratch.py", f"x = {week.random.random()}\n")
        week.git("Ann", "stash", "-u", "-q")
        week.git("Ann", "stash", "drop", "-q")
    elif what == "pull":
        week.main("Ann")
    else:
        week.git("Ann", "fetch", "-q", "--prune")
        branches = [each for each in refs(here) if each.startswith("origin/feature")]
        if branches:
            branch = week.random.choice(branches)
            what = f"looks at {branch}"
            week.git("Ann", "checkout", "-q", "--detach", branch)
            for truth in week.truths:
                if any(folder_of(week, "Ann", each).exists() for each in (truth.name, *truth.names)):
                    truth.looked_at = True
            week.settle()
            week.git("Ann", "checkout", "-q", "main")
    week.tell(f"Ann: {what}")
    week.settle()


def refs(root: Path) -> list[str]:
    said = subprocess.run(
        ["git", "branch", "-r", "--format=%(refname:short)"], cwd=root, check=True, capture_output=True, text=True
    )
    return said.stdout.split()


def live_week(week: Week) -> Iterator[str]:
    """Make the week, then tell what differs."""
    lives = [(who, a_change(week, number, who)) for number, who in enumerate(week.random.choices(PEOPLE, k=10))]
    waiting = lives
    under_way: list[tuple[str, Steps]] = []
    while waiting or under_way:
        if week.random.random() < 0.15:
            if week.daemon is None:
                week.start()
                week.tell("the daemon starts")
            else:
                week.stop()
                week.tell("the daemon stops")
        if week.daemon is not None and week.random.random() < 0.4:
            ann_looks(week)
        if waiting and (len(under_way) < 3 or week.random.random() < 0.2):
            under_way.append(waiting.pop(0))
        possible = [each for each in under_way if each[0] != "Ann" or week.daemon is None]
        if not possible:
            if week.daemon is not None:
                week.stop()
            continue
        one = week.random.choice(possible)
        try:
            next(one[1])
        except StopIteration:
            under_way.remove(one)
    week.main("Ann")
    if week.daemon is None:
        week.start()
    for number in range(20, 20 + week.random.randint(0, 2)):
        for _ in a_change(week, number, "Ann", live=True):
            week.settle()
    week.main("Ann")
    week.git("Ann", "fetch", "-q", "--prune")
    week.settle()
    yield from differences(week)


def main() -> None:
    """Print what differs, seed by seed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("seeds", type=int, nargs="?", default=1)
    parser.add_argument("--story", action="store_true", help="tell what happened, too")
    options = parser.parse_args()
    bad = figures = 0
    for seed in range(options.seed, options.seed + options.seeds):
        with tempfile.TemporaryDirectory(prefix="aurora-week-") as name:
            week = Week(Path(name), seed)
            try:
                wrong = list(live_week(week))
            finally:
                if week.daemon is not None:
                    week.stop()
        figures += 4 * len(week.truths) + 3
        bad += bool(wrong)
        print(f"seed {seed}: {len(week.truths)} changes, {len(wrong)} divergences", flush=True)
        for each in [*wrong, *(week.story if wrong or options.story else [])]:
            print(f"  {each}", flush=True)
    print(f"{options.seeds} weeks, {figures} figures, {bad} weeks with divergences")


if __name__ == "__main__":
    main()
