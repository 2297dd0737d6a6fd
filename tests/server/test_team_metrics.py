"""`aurora metrics --team` and `aurora report --team`: deliverables of all records, each event once, whoever sent it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aurora_deliverables.event_lines import events_of
from aurora_deliverables.event_validation import written
from aurora_memory.record.entry import EntryDraft
from aurora_memory.record.people import state
from aurora_memory.record.person import person_id
from aurora_memory.record.record_file import Record
from aurora_memory.record.repositories import Repositories
from aurora_memory.store.export_format import DeliverableLine
from aurora_server.workspace.record_place import RecordPlace, open_record, record_place
from aurora_server.workspace.team_deliverables import team_deliverables
from tests.e2e.repositories import commit, git
from tests.server.daemons import Daemon
from tests.server.dashboards import Dashboard
from tests.server.deliverables import aurora, lifetime, told

TODAY = datetime.now(UTC)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def clone(tmp_path: Path, name: str) -> Path:
    """A repository with a remote, as every member has it."""
    root = tmp_path / name
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "remote", "add", "origin", f"https://example.org/crew/{name}.git")
    (root / f"{name}.py").write_text(f"def {name}():\n    return 1\n")
    commit(root, name)
    return root


def place_of(root: Path, home: Path) -> RecordPlace:
    return asyncio.run(record_place(root, home))


def day(ago: int) -> str:
    return f"{TODAY - timedelta(days=ago):%Y-%m-%d}"


def drafts(lines: str) -> list[EntryDraft]:
    """Entries of events, as the daemon of whoever told them appends them."""
    found, bad = events_of(lines.splitlines())
    assert not bad
    return [
        EntryDraft(
            "deliverable",
            msgspec.json.encode(
                DeliverableLine(
                    id=event.id,
                    change_id=event.change_id,
                    at=event.at,
                    received_at=event.at,
                    source=event.source,
                    body=msgspec.Raw(written(event).encode()),
                )
            ).decode(),
            event.at,
        )
        for event in found
    ]


def tell(place: RecordPlace, who: str, entries: Sequence[EntryDraft], *, name: str = "") -> None:
    """Let somebody's entries be in a record, as after a synchronization."""
    author = person_id(f"{who}@example.org", "", "")
    with closing(Record.open(place.path, place.repository, author, f"machine of {who}")) as record:
        record.append(entries)
        if name:
            state(record, name, time.time(), shares=True)


def groups(reply: dict[str, Any], group: str) -> dict[str, int]:
    return {each["name"]: each["deliverables"] for each in reply["groups"][group]}


@pytest.fixture
def crew(home: Path, tmp_path: Path) -> Path:
    """Two repositories; Ann and Bob delivered in one, the CI in the other. What Ann told, Bob told as well."""
    shop, bank = clone(tmp_path, "shop"), clone(tmp_path, "bank")
    at_shop, at_bank = place_of(shop, home), place_of(bank, home)
    search = drafts(lifetime("add-search", day(1), name="claude", model="opus"))
    tell(at_shop, "ann", search, name="Ann Lee")
    tell(at_shop, "bob", search)
    tell(at_shop, "bob", drafts(lifetime("add-cart", day(2), name="codex", model="gpt")))
    tell(at_bank, "ci", drafts(lifetime("add-safe", day(3), status="failed", name="claude", model="opus")))
    return shop


def test_metrics_of_a_team_count_each_event_once_over_people_agents_models_and_repositories(
    home: Path, crew: Path
) -> None:
    with Daemon(home):
        reply = told(home, crew, "metrics", "--team", "--window-days", "7")
        by = aurora(home, crew, "metrics", "--team", "--by", "repository")
        wrong = aurora(home, crew, "metrics", "--team", "--by", "workspace")
        csv = aurora(home, crew, "metrics", "--team", "--csv")
    assert reply["window"]["deliverables"] == 3
    assert groups(reply, "repository") == {"bank": 1, "shop": 2}
    assert groups(reply, "author") == {"Ann Lee": 1, "unknown": 2}, "who does not share his name has none"
    assert groups(reply, "agent") == {"claude": 2, "codex": 1}
    assert groups(reply, "model") == {"gpt": 1, "opus": 2}
    assert reply["cost"] == {
        "deliverables": 3,
        "accepted": 2,
        "costed": 3,
        "cost_usd": 1.5,
        "cost_per_accepted_usd": 0.75,
    }, "half a dollar each, also where two machines told it"
    assert reply["metrics"]["deliverable_failure_rate"]["value"] == pytest.approx(100 / 3)
    assert sum(week["deliverables"] for week in reply["weekly"]) == 3
    assert reply["problems"] == []
    assert [line for line in by.stdout.splitlines() if line in ("bank", "shop")] == ["bank", "shop"]
    assert wrong.returncode == 2
    assert "use repository" in wrong.stderr
    assert "repository,shop,feature_throughput" in csv.stdout


def test_a_change_is_the_work_of_whom_its_event_names_and_else_of_whoever_recorded_it(
    home: Path, tmp_path: Path
) -> None:
    place = place_of(clone(tmp_path, "shop"), home)
    first, *others = lifetime("add-cart", day(2)).splitlines()
    start = json.loads(first)
    start["data"]["author"] = "Cy Dev"
    tell(place, "ann", drafts("\n".join([json.dumps(start), *others])), name="Ann Lee")
    tell(place, "ann", drafts(lifetime("add-search", day(1))))
    (found,) = team_deliverables(home, 0.7).known.values()
    authors = {each.deliverable.change_id: each.deliverable.author for each in found}
    assert authors == {"add-cart": "Cy Dev", "add-search": "Ann Lee"}


def test_a_report_of_a_team(home: Path, crew: Path) -> None:
    with Daemon(home):
        reply = told(home, crew, "report", "cumulative", "--team")
        text = aurora(home, crew, "report", "cumulative", "--team").stdout
    assert reply["deliverables"] == {"began": 3, "completed": 2, "failed": 1, "open": 0}
    shares = {each["name"]: (each["accepted"], each["cost_per_accepted_usd"]) for each in reply["groups"]["repository"]}
    assert shares == {"shop": (2, 0.5), "bank": (0, None)}
    assert {each["name"] for each in reply["groups"]["author"]} == {"Ann Lee", "unknown"}
    assert not reply["runs"], "questions are the user's own"
    assert "# Deliverables of the team: all time" in text
    assert "| shop | 2 | 2 | $1.00 | $0.50 |" in " ".join(text.split()).replace(" | |", " |\n|")
    assert "## By person" in text


def test_the_dashboard_of_a_team(home: Path, crew: Path) -> None:
    damaged = home / "records" / f"{'d' * 32}.sqlite"
    damaged.write_bytes(b"no record")
    damaged.chmod(0o600)
    with Daemon(home), Dashboard(home, crew, "--team") as team, Dashboard(home, crew) as own:
        pages = []
        for each in (team, own):
            each.log_in()
            pages.append(" ".join(each.get("/")[1].split()))
    of_team, of_workspace = pages
    assert "3 deliverables ended, last 7 days" in of_team
    assert "By repository, person, agent and model" in of_team
    rows = {row.split("</th>")[0].rpartition(">")[2]: row for row in of_team.split('<th scope="row">')}
    assert "$1.00</td><td" in rows["shop"] and "$0.50</td>" in rows["shop"]
    assert "$0.50</td><td" in rows["bank"] and rows["bank"].split("</tr>")[0].endswith("–</td> "), "none was accepted"
    assert {"Ann Lee", "unknown", "claude", "codex", "opus", "gpt"} <= rows.keys()
    assert "<dt>Per accepted deliverable</dt><dd>$0.75</dd>" in of_team
    assert of_team.count('<svg class="chart"') >= 4, "by weeks"
    assert damaged.name in of_team
    assert "bank" not in of_workspace.split("<footer")[0].split("<main")[1]


def test_a_record_that_another_took_over_and_one_that_is_damaged(home: Path, crew: Path, tmp_path: Path) -> None:
    place = place_of(crew, home)
    git(crew, "remote", "set-url", "origin", "https://elsewhere.example/crew/shop.git")
    renamed = place_of(crew, home)
    assert renamed.repository == place.repository, "renamed, and the same"
    plain = tmp_path / "plain"
    plain.mkdir()
    before = place_of(plain, home)
    tell(before, "ann", drafts(lifetime("add-plain", day(1))))
    git(plain, "init", "-q", "-b", "main")
    (plain / "a.py").write_text("A = 1\n")
    commit(plain, "first")
    after = place_of(plain, home)
    assert after.repository != before.repository
    assert before.repository in Repositories(home / "records").names()[1]
    with closing(open_record(before)) as old, closing(open_record(after)) as new:
        assert len(new.of_kind("deliverable")) == len(old.of_kind("deliverable")) == 6, "taken over"
    damaged = home / "records" / f"{'d' * 32}.sqlite"
    damaged.write_bytes(b"no record")
    damaged.chmod(0o600)
    with Daemon(home):
        done = aurora(home, crew, "metrics", "--team", "--json")
    reply = json.loads(done.stdout)
    assert groups(reply, "repository") == {"bank": 1, "plain": 1, "shop": 2}
    assert len(reply["problems"]) == 1
    assert damaged.name in done.stderr
