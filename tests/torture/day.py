"""A developer's day, in an hour (soak test for leaks): does the daemon keep memory, descriptors, threads that it is
done with?

    python -m tests.torture.day [--minutes N] [--actions N] [--seed N] [--files N]

Edits, saves, renames, switches of branches, recalls, explanations, questions to a model on loopback, changes from their
proposal to their archive, editors and agents over MCP that come and go; each kind as often for another as in a day's
work. Every few seconds the daemon, where its memory lies, and its home are measured; at the end the lines are told with
what they gained over their second half, which is 0 where nothing is kept; of memory by the least of each four minutes.
Exit 1 where one grows that should not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import psutil
from msgspec import Struct
from msgspec.structs import astuple

from aurora_protocol import RequestFailed
from aurora_protocol.client import Client
from tests.e2e.product import Product, product_in
from tests.e2e.repositories import commit, git, large
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.soar.minds import Mind
from tests.server.agents import Raw, raw
from tests.server.client_requests import configure

EVERY = 10.0
"""Seconds between two measurements."""
GROWTH = {"rss_mb": 3.0, "fds": 6.0, "threads": 4.0, "children": 3.0}
"""What the second half of a run may gain at most: of memory 2 % of what is kept (`kept`); of children two workers,
which come and go, and a git."""
KEPT_SECONDS = 240.0
"""Within so long a daemon that does not rest has given back twice what nothing lies on: the least that it took is what
it keeps. In between it takes as much more as it works on, 5 to 15 MB: the quicker the machine, the more."""
PARTS = ("python_mb", "heap_mb", "files_mb")
ARENA = 64 << 20
"""Bytes at a multiple of which the heaps of glibc for threads begin, where it has 64-bit addresses."""
SECONDS = 120.0
ACTIONS = 9000
"""Of a day: 375 an hour around the clock, of a developer with agents beside her. As fast as it goes would be three days
on a quick machine and one on a slow one: caches, and the largest of what comes together by chance, grow with how many
there were.
"""


class Measurement(Struct):
    """The daemon (with its workers, for `children`) at one moment."""

    at: float
    rss_mb: float
    python_mb: float
    """Of it, anonymous mappings: arenas of Python's objects, stacks, and large pieces (numpy's arrays)."""
    heap_mb: float
    """Of it, glibc's heaps: SQLite's pages, what Python's objects of more than 512 bytes hold."""
    files_mb: float
    """Of it, libraries and other mapped files."""
    fds: int
    threads: int
    children: int
    memory_mb: float
    records_mb: float
    logs_mb: float
    rest_mb: float
    actions: int


class Day:
    """A developer at work in one repository: each method is one thing that is done."""

    def __init__(self, product: Product, root: Path, chance: random.Random, variables: dict[str, str]) -> None:
        self.product = product
        self.variables = variables
        self.agents: list[tuple[ExitStack, Raw]] = []
        self.changes = 0
        self.root = root
        self.chance = chance
        self.sessions: list[Client] = [product.session(root)]
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def act(self) -> None:
        """One thing, as often as people do it."""
        ways: tuple[tuple[int, Callable[[Client], object]], ...] = (
            (30, self.edit),
            (25, self.recall),
            (8, self.type),
            (8, self.explain),
            (6, self.tell),
            (4, self.assess),
            (3, self.learn),
            (3, self.status),
            (2, self.metrics),
            (3, self.come),
            (3, self.go),
            (1, self.query),
            (1, self.question),
            (1, self.agent_comes),
            (6, self.agent),
            (1, self.agent_goes),
            (2, self.change),
            (1, self.export),
            (1, self.command),
            (1, self.rename),
            (1, self.switch),
            (1, self.index),
        )
        weights, actions = zip(*ways, strict=True)
        (action,) = self.chance.choices(actions, weights)
        try:
            action(self.chance.choice(self.sessions))
        except RequestFailed as error:
            self.refused[f"{action.__name__}: {str(error)[:100]}"] += 1
        self.done[action.__name__] += 1

    def end(self) -> None:
        """Everybody goes."""
        for client in self.sessions:
            client.close()
        for stack, _ in self.agents:
            stack.close()

    def module(self) -> Path:
        """Some file of the repository."""
        return self.chance.choice(sorted(self.root.glob("pack_*/*.py")))

    def edit(self, client: Client) -> None:
        path = self.module()
        path.write_text(noted(path.read_text(), self.chance))

    def recall(self, client: Client) -> None:
        words = f"handler_{self.chance.randrange(200)}_{self.chance.randrange(8)} session load"
        client.request("aurora/recall", {"query": words, "include_content": True, "explain": True}, timeout=SECONDS)

    def type(self, client: Client) -> None:
        path = self.module()
        document = {"uri": path.as_uri()}
        opened = {**document, "languageId": "python", "version": 1, "text": path.read_text()}
        client.notify("textDocument/didOpen", {"textDocument": opened})
        for version in range(2, 6):
            change = {"range": None, "text": path.read_text() + f"\n# {version}"}
            change.pop("range")
            params = {"textDocument": {**document, "version": version}, "contentChanges": [change]}
            client.notify("textDocument/didChange", params)
            place = {"line": self.chance.randrange(40), "character": 6}
            client.request("textDocument/hover", {"textDocument": document, "position": place}, timeout=SECONDS)
        client.notify("textDocument/didSave", {"textDocument": document})
        client.notify("textDocument/didClose", {"textDocument": document})

    def explain(self, client: Client) -> None:
        number = self.chance.randrange(200)
        client.request("aurora/explain", {"id": f"handler_{number}_{self.chance.randrange(8)}"}, timeout=SECONDS)

    def tell(self, client: Client) -> None:
        event = {"event_type": "phase_start", "phase": "apply", "timestamp": "2026-01-01T00:00:00Z"}
        event |= {"id": f"e-{self.chance.getrandbits(60)}", "change_id": f"change-{self.chance.randrange(20)}"}
        client.request("aurora/deliverable", {"action": "ingest", "lines": [json.dumps(event)]}, timeout=SECONDS)

    def assess(self, client: Client) -> None:
        client.request("aurora/assess", {"query": f"compare handler_{self.chance.randrange(200)}"}, timeout=SECONDS)

    def learn(self, client: Client) -> None:
        query = f"how does handler {self.chance.randrange(500)} load its session"
        client.request("aurora/learn", {"query": query, "result": "by steps", "score": 0.9}, timeout=SECONDS)

    def status(self, client: Client) -> None:
        client.request("aurora/status", timeout=SECONDS)

    def metrics(self, client: Client) -> None:
        client.request("aurora/metrics", {}, timeout=SECONDS)

    def come(self, client: Client) -> None:
        if len(self.sessions) < 8:
            self.sessions.append(self.product.session(self.root))

    def go(self, client: Client) -> None:
        if len(self.sessions) > 1:
            self.sessions.remove(client)
            client.close()

    def query(self, client: Client) -> None:
        client.request("aurora/query", {"query": f"where is handler_{self.chance.randrange(200)}"}, timeout=SECONDS)

    def question(self, client: Client) -> None:
        """One that the model has to take apart: a name in it makes it another one each time."""
        number = self.chance.randrange(10**6)
        text = f"Explain how handler_{number % 200}_1 loads its session and compare it with what {number} handlers do"
        client.request("aurora/query", {"query": text}, timeout=SECONDS)

    def agent_comes(self, client: Client) -> None:
        if len(self.agents) < 4:
            stack = ExitStack()
            agent = stack.enter_context(raw(self.product.home, self.root, **self.variables))
            agent.initialize()
            self.agents.append((stack, agent))

    def agent(self, client: Client) -> None:
        """An agent asks over MCP."""
        if not self.agents:
            return
        _, agent = self.chance.choice(self.agents)
        tool = self.chance.choice(("aurora_recall", "aurora_retrieve_context", "aurora_assess"))
        query = f"how does handler_{self.chance.randrange(200)} load its session"
        agent.lines.clear()
        agent.ask(self.done.total(), "tools/call", name=tool, arguments={"query": query})

    def agent_goes(self, client: Client) -> None:
        if len(self.agents) > 1:
            stack, _ = self.agents.pop(self.chance.randrange(len(self.agents)))
            stack.close()

    def change(self, client: Client) -> None:
        """A change on its way: proposed, worked on task by task, archived."""
        folder = self.root / "openspec" / "changes"
        running = sorted(each for each in folder.glob("*") if each.name != "archive")
        if len(running) < 3:
            self.changes += 1
            new = folder / f"add-thing-{self.changes}"
            new.mkdir(parents=True)
            (new / "proposal.md").write_text(f"# Add thing {self.changes}\n\n## Why\n\nIt is wanted.\n")
            (new / "tasks.md").write_text("# Tasks\n\n- [ ] 1.1 Begin\n- [ ] 1.2 Work\n- [ ] 1.3 End\n")
            return
        one = self.chance.choice(running)
        tasks = one / "tasks.md"
        text = tasks.read_text() if tasks.exists() else ""
        if "[ ]" in text:
            tasks.write_text(text.replace("[ ]", "[x]", 1))
        else:
            (folder / "archive").mkdir(exist_ok=True)
            self.changes += 1  # a switch of branches brings back what was archived: its next archive has another name
            one.rename(folder / "archive" / f"2026-01-01-{one.name}-{self.changes}")

    def export(self, client: Client) -> None:
        client.request("aurora/memory/export", {"path": str(self.root.parent / "out.jsonl")}, timeout=SECONDS)

    def command(self, client: Client) -> None:
        words = self.chance.choice((("mem", "handler_7_3"), ("doctor",), ("status",), ("deliverable", "list")))
        self.product.aurora(*words, cwd=self.root)

    def rename(self, client: Client) -> None:
        path = self.module()
        path.rename(path.with_name(f"module_{self.chance.randrange(10**4, 10**5)}.py"))

    def switch(self, client: Client) -> None:
        if self.chance.random() < 0.5:
            git(self.root, "add", "-A")
            git(self.root, "commit", "-q", "--allow-empty", "-m", f"work {self.done.total()}")
        git(self.root, "checkout", "-q", "-f", self.chance.choice(("main", "side")))
        git(self.root, "clean", "-q", "-f", "-d", "--", "pack_*")  # a module renamed and not committed is there twice

    def index(self, client: Client) -> None:
        client.request("aurora/index", {}, timeout=SECONDS)


def noted(text: str, chance: random.Random) -> str:
    """A module with a note somewhere in it, in place of the last one: edited all day it grows no longer."""
    lines = [line for line in text.split("\n") if not line.startswith("# note ")]
    lines.insert(chance.randrange(len(lines)), f"# note {chance.randrange(10**6)}")
    return "\n".join(lines)


def diverged(root: Path, chance: random.Random) -> None:
    """Two branches between which every module differs: a switch is as large at first as it is at the end."""
    commit(root, "begin")
    git(root, "checkout", "-q", "-b", "side")
    for path in sorted(root.glob("pack_*/*.py")):
        path.write_text(noted(path.read_text(), chance))
    commit(root, "side")
    git(root, "checkout", "-q", "main")


def measured(daemon: psutil.Process, home: Path, began: float, actions: int) -> Measurement:
    """The daemon and its home as they are now."""
    parts = mapped(daemon)
    with daemon.oneshot():
        rss, threads = daemon.memory_info().rss / (1 << 20), daemon.num_threads()
    children = len(daemon.children(recursive=True))
    sizes: Counter[str] = Counter()
    for folder, _, names in os.walk(home):
        place = Path(folder).relative_to(home).parts[:1]
        for name in names:
            try:
                sizes[place[0] if place else ""] += (Path(folder) / name).lstat().st_size
            except FileNotFoundError:
                continue
    stored = [round(sizes.pop(name, 0) / (1 << 20), 2) for name in ("memory", "records", "logs")]
    at, rest = round(time.monotonic() - began, 1), round(sizes.total() / (1 << 20), 2)
    return Measurement(at, round(rss, 1), *parts, daemon.num_fds(), threads, children, *stored, rest, actions)


def mapped(daemon: psutil.Process) -> list[float]:
    """MB of the daemon's memory by where they lie, as `PARTS` names them; none where the system does not tell."""
    sizes = dict.fromkeys(PARTS, 0)
    for each in daemon.memory_maps(grouped=False) if hasattr(daemon, "memory_maps") else ():
        begin = int(each.addr.partition("-")[0], 16)
        if each.path == "[heap]" or (each.path == "[anon]" and begin % ARENA == 0):
            sizes["heap_mb"] += each.rss
        else:
            sizes["python_mb" if each.path.startswith("[") else "files_mb"] += each.rss
    return [round(size / (1 << 20), 1) for size in sizes.values()]


def kept(lines: list[Measurement]) -> list[Measurement]:
    """The measurement with the least memory of each whole `KEPT_SECONDS`; all of a run that is too short for that."""
    least: dict[int, Measurement] = {}
    for each in lines:
        period = int(each.at // KEPT_SECONDS)
        if period < lines[-1].at // KEPT_SECONDS and each.rss_mb <= least.get(period, each).rss_mb:
            least[period] = each
    return list(least.values()) if len(least) >= 6 else lines


def slope(lines: list[Measurement], name: str) -> float:
    """What a value gains in an hour, by the line of least squares through the second half of the measurements."""
    half = lines[len(lines) // 2 :]
    values = [float(getattr(each, name)) for each in half]
    at, mean = sum(each.at for each in half) / len(half), sum(values) / len(values)
    spread = sum((each.at - at) ** 2 for each in half) or 1.0
    return 3600 * sum((each.at - at) * (value - mean) for each, value in zip(half, values, strict=True)) / spread


def main() -> int:
    """Run the days; returns 1 where something grew."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.day")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--actions", type=int, default=ACTIONS, help="at most, spread over the minutes")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--files", type=int, default=200)
    wanted = parser.parse_args()
    lines: list[Measurement] = []
    with (
        tempfile.TemporaryDirectory(prefix="day-") as folder,
        LoopbackProvider() as provider,
        product_in(Path(folder) / "home", **provider.environ) as product,
    ):
        provider.otherwise = Mind(("Explain how a handler loads its session", "Compare two handlers"))
        unlimited = {"enabled": False}
        configure(product.home, provider, cost_budgets=unlimited)
        root = large(Path(folder) / "work", wanted.files)
        for command in (("init", "-q", "-b", "main"), ("config", "gc.auto", "0")):
            subprocess.run(["git", "-C", root, *command], check=True)
        chance = random.Random(wanted.seed)
        diverged(root, chance)
        product.json("index", cwd=root)
        (daemon,) = product.daemons()
        day = Day(product, root, chance, provider.environ)
        began = time.monotonic()
        until = began + wanted.minutes * 60
        apart = wanted.minutes * 60 / wanted.actions
        print(f"seed {wanted.seed}", *Measurement.__struct_fields__, sep="\t", flush=True)
        try:
            while time.monotonic() < until:
                day.act()
                provider.requests.clear()
                time.sleep(max(began + day.done.total() * apart - time.monotonic(), 0.0))
                if time.monotonic() - began >= EVERY * (len(lines) + 1):
                    lines.append(measured(daemon, product.home, began, day.done.total()))
                    print(*astuple(lines[-1]), sep="\t", flush=True)
        finally:
            day.end()
        print(dict(day.done), dict(day.refused), sep="\n")
    grown = False
    for name, limit in GROWTH.items():
        told = kept(lines) if name == "rss_mb" else lines
        hourly = slope(told, name)
        gained = hourly * (told[-1].at - told[len(told) // 2].at) / 3600
        print(f"{name}: {getattr(told[0], name)} to {getattr(told[-1], name)}; {hourly:+.1f} an hour, {gained:+.1f}")
        grown |= gained > limit
    for name in PARTS:
        print(f"  {name}: {getattr(lines[0], name)} to {getattr(lines[-1], name)}; {slope(lines, name):+.1f} an hour")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
