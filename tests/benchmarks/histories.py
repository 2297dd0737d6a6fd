"""Random histories told to a daemon (differential test): `python -m tests.benchmarks.histories SEED [HISTORIES]`.

Each history is told to a workspace of its own as JSON lines and requests, in some order of arrival, some of it by the
command line; then every figure of `aurora metrics` (JSON, as of some dates, by group, CSV) must be that of
`history_report.py`. Told are the divergences of each seed, and at last how many histories and figures were compared.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aurora_protocol.client import Client, RequestFailed
from tests.benchmarks.history_model import lives
from tests.benchmarks.history_report import Figures, Report
from tests.benchmarks.history_scripts import BEGIN, DAY, SPAN_DAYS, Told, batches, history, line, request
from tests.programs import COMMAND, run
from tests.server.daemons import Daemon
from tests.wait_limits import HANG

GROUPS = ("agent", "model", "author", "type", "complexity")
SETTINGS = {"AURORA_DELIVERABLES_DETECT_WORK": "false"}
"""What test runs show of phases is found out after a quiet moment: another subject, and another order each time."""


def daemon_in(folder: Path) -> Daemon:
    """A daemon for histories, with its home in the folder."""
    return Daemon(folder / "home", **SETTINGS)


def tell(client: Client, root: Path, home: Path, events: Sequence[Told], chance: random.Random) -> None:
    """Tell the events in this order, by lines, by requests, or by the command line."""
    for some in batches(list(events), chance):
        asked = request(some[0], chance) if len(some) == 1 else None
        if asked is not None:
            try:
                client.request("aurora/deliverable", asked, timeout=HANG)
            except RequestFailed as refused:
                if not str(refused).startswith("no deliverable "):  # that is asked of requests alone
                    continue
            else:
                continue
        lines = [json.dumps(line(each, chance)) for each in some]
        if chance.random() < 0.04:
            aurora(root, home, "deliverable", "ingest", "-", "--json", given="\n".join(lines), refused=True)
        else:
            told = {"action": "ingest", "lines": lines}
            said = client.request("aurora/deliverable", told, timeout=HANG)
            unread = [each for each in said["refused"] if each.get("event_id") is None]
            assert not unread, unread


def aurora(root: Path, home: Path, *arguments: str, given: str = "", refused: bool = False) -> str:
    """What a command prints."""
    done = run(
        [*COMMAND, *arguments, "--workspace", str(root)], input=given, capture_output=True, text=True, encoding="utf-8",
        timeout=HANG, env={**os.environ, "AURORA_HOME": str(home)},
    )  # fmt: skip
    assert done.returncode in ((0, 1) if refused else (0,)), done.stderr
    return str(done.stdout)


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def printed(reply: Mapping[str, Any], by: str | None) -> Figures:
    """The figures of a reply, each under its path."""
    window = reply["window"]
    found: Figures = {f"window.{name}": window[name] for name in ("deliverables", "limited_by")}
    found |= {f"window.{name}": seconds(window[name]) for name in ("from", "to")}
    found["previous.deliverables"] = reply["previous"]["deliverables"]
    for name, metric in reply["metrics"].items():
        for key, value in metric.items():
            if key == "history":
                found |= {f"metrics.{name}.history.{place}": each for place, each in enumerate(value)}
            elif key == "hint":
                found[f"metrics.{name}.hint"] = value is not None
            elif key not in ("unit", "missing", "of"):
                found[f"metrics.{name}.{key}"] = value
    beside = reply["supporting"]
    for name, value in beside.items():
        if name == "phase_seconds":
            found |= {f"supporting.phase_seconds.{phase}": each for phase, each in value.items()}
        else:
            found[f"supporting.{name}"] = value
    found |= {f"cost.{name}": value for name, value in reply["cost"].items()}
    for row in reply["costs"]:
        about = f"costs.{row['agent']}/{row['model']}"
        found |= {f"{about}.{name}": value for name, value in row.items() if name not in ("agent", "model")}
    for place, week in enumerate(reply["weekly"]):
        found[f"weekly.{place}.deliverables"] = week["deliverables"]
        found |= {f"weekly.{place}.{name}": value for name, value in week["latency"].items()}
        for name, metric in week["metrics"].items():
            found |= {f"weekly.{place}.{name}.{key}": metric[key] for key in ("value", "tier")}
    found |= {f"runs.{name}": value for name, value in reply["runs"].items()}
    found["in_progress"] = reply["in_progress"]
    for group in reply["groups"][by] if by else ():
        found[f"groups.{group['name']}.deliverables"] = group["deliverables"]
        found |= {f"groups.{group['name']}.cost.{key}": value for key, value in (group["cost"] or {}).items()}
        for name, metric in group["metrics"].items():
            found |= {f"groups.{group['name']}.{name}.{key}": metric[key] for key in ("value", "tier")}
    return found


def of_csv(text: str, by: str | None) -> Figures:
    """The figures of the CSV, under the same paths."""
    found: Figures = {}
    weeks: list[str] = []
    for row in csv.DictReader(io.StringIO(text)):
        scope, name, metric = row["scope"], row["name"], row["metric"]
        if scope == "week" and row["from"] not in weeks:
            weeks.append(row["from"])
        place = {"all": "metrics", "week": f"weekly.{len(weeks) - 1}", by: f"groups.{name}"}.get(scope)
        value = float(row["value"]) if row["value"] else None
        if scope == "agent and model":
            found[f"costs.{name.replace(' / ', '/')}.{metric}"] = value
        elif place is None or row["unit"] in ("USD", "deliverables"):
            continue
        elif metric.startswith("resolution_latency_"):
            found[f"{place}.{metric.removeprefix('resolution_latency_')}"] = value
        else:
            found |= {f"{place}.{metric}.value": value, f"{place}.{metric}.tier": row["tier"] or None}
            if scope == "all":
                found[f"{place}.{metric}.previous"] = float(row["previous"]) if row["previous"] else None
                found[f"{place}.{metric}.change"] = float(row["change"]) if row["change"] else None
    return found


def same(got: Any, true: Any) -> bool:
    if isinstance(got, bool | str | dict) or isinstance(true, bool | str | dict) or None in (got, true):
        return bool(got == true)
    return abs(got - true) <= 2e-6 + 1e-9 * abs(true)


def divergences(got: Figures, true: Figures, where: str) -> Iterator[str]:
    for name in sorted(got.keys() | true.keys()):
        if not same(got.get(name), true.get(name)):
            yield f"{where}: {name}: {got.get(name)}, true {true.get(name)}"


class Comparison:
    """Histories that were told to one daemon; `figures` is how many of its figures were compared."""

    def __init__(self, folder: Path, daemon: Daemon) -> None:
        self.folder, self.daemon = folder, daemon
        self.figures = 0

    def of(self, seed: int) -> list[str]:
        """Tell the history of a seed to a new workspace; what differs."""
        root = self.folder / f"history-{seed}"
        root.mkdir()
        events, chance = history(seed)
        wrong: list[str] = []
        with self.daemon.client(root) as client:
            tell(client, root, self.folder / "home", events, chance)
            for days, count, as_of in asked(chance):
                by = chance.choice((None, *GROUPS))
                params = {"window_days": days, "window_count": count, "as_of": as_of, "by": by}
                given = {name: value for name, value in params.items() if value is not None}
                reply = client.request("aurora/metrics", given, timeout=HANG)
                at = seconds(reply["window"]["to"])
                report = Report(lives(events, at), at, days, count)
                true = report.figures() | (report.groups(by) if by else {})
                where = f"last {days} days, {count}, as of {as_of or 'now'}{f' by {by}' if by else ''}"
                wrong += self.compared(printed(reply, by), true, where)
                if chance.random() < 0.15 and as_of is not None:
                    options = ["--window-days", str(days), "--window-count", str(count), "--as-of", as_of]
                    options += ["--by", by] if by else []
                    rows = of_csv(aurora(root, self.folder / "home", "metrics", "--csv", *options), by)
                    wrong += self.compared(rows, {name: true.get(name) for name in rows}, f"{where}, CSV")
        return wrong

    def compared(self, got: Figures, true: Figures, where: str) -> list[str]:
        self.figures += len(got.keys() | true.keys())
        return list(divergences(got, true, where))


def asked(chance: random.Random) -> Iterator[tuple[float, int, str | None]]:
    """Windows that are asked for."""
    for _ in range(3):
        at = datetime.fromtimestamp(BEGIN + chance.randint(-DAY, (SPAN_DAYS + 12) * DAY), UTC)
        yield chance.choice((0.5, 1.0, 7.0, 7.0, 30.0)), chance.choice((1, 3, 20, 20)), at.isoformat()
    yield 3000.0, chance.choice((5, 20, 200)), None


def main() -> None:
    """Print what differs, seed by seed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("histories", type=int, nargs="?", default=1)
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="aurora-histories-") as name, daemon_in(Path(name)) as daemon:
        comparison = Comparison(Path(name), daemon)
        for seed in range(options.seed, options.seed + options.histories):
            wrong = comparison.of(seed)
            bad += len(wrong)
            if wrong:
                print(f"seed {seed}: {len(wrong)} divergences", *wrong[:12], sep="\n  ", flush=True)
    print(f"{options.histories} histories, {comparison.figures} figures, {bad} divergences")


if __name__ == "__main__":
    main()
