"""What recall hands over, from a real daemon: budgets and excerpts, evidence, the editor's context, places."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_memory.chunk_text import cost
from tests.server.daemons import Daemon, Wire
from tests.wait_limits import HANG

FORMATS = ("json", "xml", "csv", "yaml")


def writer(name: str) -> str:
    """A module with a function that every other such module has as well, and one that calls it."""
    return f'''"""Reports as {name}."""


def render_{name}(report):
    """Render the report."""
    return serialize(report, "{name}")


def publish_{name}(day):
    """Send it out on {day(name)}."""
    draft = day.collect()
    return render_{name}(draft)


def serialize(report, kind):
    """Serialize the report."""
    return kind + repr(report.{name}_fields)
'''


def day(name: str) -> str:
    return f"{name}day"


LONG = (
    "def migrate(rows):\n"
    '    """Move all ledgers over. It takes hours."""\n'
    + "".join(f"    step_{n} = rows[{n}] + {n}\n" for n in range(300))
    + "    quarantine = [row for row in rows if row.broken]\n"
    + "".join(f"    later_{n} = rows[{n}] - {n}\n" for n in range(300))
    + "    return quarantine\n"
)

TWIN = """def area(shape):
    total = shape.width * shape.height + shape.margin - shape.border
    scaled = total * shape.factor / shape.unit.conversion
    rounded = round(scaled, shape.digits) or shape.fallback
    notify(shape.listeners, kind="measured", surface=rounded, precision=shape.tolerance)
    archive(shape.journal, moment=now(), owner=shape.creator, revision=shape.version)
    return rounded
"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, daemon: Daemon) -> Path:
    root = tmp_path_factory.mktemp("reports")
    for name in FORMATS:
        (root / f"{name}_report.py").write_text(writer(name), encoding="utf-8")
    (root / "ledger.py").write_text(LONG, encoding="utf-8")
    for name in ("one", "two", "three"):
        (root / f"{name}.py").write_text(TWIN, encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Reports")
    with daemon.client(root) as client:
        client.request("aurora/index")
    return root


def git(root: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *settings, *arguments], cwd=root, env=environment, check=True, capture_output=True)


@pytest.fixture
def wire(daemon: Daemon, root: Path) -> Iterator[Wire]:
    with daemon.wire() as wire:
        wire.initialize(root)
        yield wire


def recall(wire: Wire, query: str, **params: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = wire.result("aurora/recall", {"query": query, **params})["results"]
    return results


def place(root: Path, file: str, line: int) -> dict[str, Any]:
    return {"uri": (root / file).as_uri(), "position": {"line": line, "character": 4}}


@pytest.mark.parametrize("budget", [1, 15, 40, 100, 400, 20_000])
def test_a_budget_is_never_exceeded_and_tokens_are_what_is_delivered(wire: Wire, budget: int) -> None:
    found = recall(wire, "render the report", budget_tokens=budget)
    assert sum(one["tokens"] for one in found) <= budget
    assert bool(found) == (budget > 1)
    for one in found:
        assert one["tokens"] == cost(one["content"])
    scores = [one["score"] for one in found]
    assert scores == sorted(scores, reverse=True)


def test_what_is_too_long_comes_as_an_excerpt_with_the_lines_that_match(wire: Wire, root: Path) -> None:
    (one,) = recall(wire, "quarantine of broken ledgers", budget_tokens=150, limit=1)
    assert (one["name"], one["excerpt"]) == ("migrate", True)
    lines = one["content"].split("\n")
    assert lines[:3] == ["def migrate(rows)", '    """Move all ledgers over. It takes hours."""', "    …"]
    assert "    quarantine = [row for row in rows if row.broken]" in lines
    file = LONG.split("\n")
    for number, line in zip(one["content_lines"], lines, strict=True):
        assert number == 0 or file[number - 1].removesuffix(":") == line
    (whole,) = recall(wire, "quarantine of broken ledgers", budget_tokens=50_000, limit=1)
    assert (whole["excerpt"], whole["content"]) == (False, LONG.removesuffix("\n"))
    assert "content_lines" not in whole
    (plain,) = recall(wire, "quarantine of broken ledgers", limit=1)
    assert plain["tokens"] == pytest.approx(whole["tokens"], rel=0.15)
    assert "content" not in plain


@pytest.mark.parametrize("budget", [60, 100, 400])
def test_an_excerpt_as_long_as_the_whole_is_told_as_the_whole(wire: Wire, root: Path, budget: int) -> None:
    """Of a function of three lines all is handed over: no lines are numbered as if others were left out."""
    (one,) = recall(wire, "render_xml", budget_tokens=budget, limit=1)
    assert (one["name"], one["excerpt"]) == ("render_xml", False)
    assert one["content"] in (root / "xml_report.py").read_text("utf-8")
    assert "content_lines" not in one


def test_a_budget_too_small_for_anything_says_so(wire: Wire) -> None:
    answer = wire.result("aurora/recall", {"query": "quarantine of broken ledgers", "budget_tokens": 2})
    assert answer["results"] == []
    assert answer["hint"].startswith("Nothing fits 2 tokens; the best answer is code:ledger.py:migrate:1-604")


def test_evidence_shows_every_term(wire: Wire) -> None:
    found = recall(wire, "render xml report", explain=True)
    top = found[0]
    evidence = top["evidence"]
    assert top["name"] == "render_xml"
    fields = {match["term"]: match["fields"] for match in evidence["matches"]}
    assert {"name", "signature"} <= set(fields["render"]) and "doc" in fields["render"]
    assert set(evidence["matched_terms"]) <= set(fields)
    assert (evidence["accesses_from"], evidence["access_count"], len(evidence["accesses"])) == ("git", 1, 1)
    assert 0 <= evidence["days_since_access"] < 1
    shares = [abs(signal["contribution"]) for signal in evidence["signals"]]
    assert shares == sorted(shares, reverse=True) and len(shares) > 3
    for signal in evidence["signals"]:
        assert signal["contribution"] == pytest.approx(signal["weight"] * signal["value"], abs=1e-5)
    serialize = next(one for one in recall(wire, "render_xml", explain=True) if one["name"] == "serialize")
    (step, *_) = serialize["evidence"]["reached"]
    assert (step["name"], step["relation"], step["forward"]) == ("render_xml", "calls", True)
    assert 0 < step["amount"] <= serialize["activation"]["spreading"]


def test_explain_has_the_evidence_of_activation(wire: Wire) -> None:
    evidence = wire.result("aurora/explain", {"id": "code:xml_report.py:render_xml"})["chunk"]["evidence"]
    assert (evidence["accesses_from"], evidence["access_count"], evidence["learned"]) == ("git", 1, [])
    assert (evidence["matches"], evidence["signals"]) == ([], [])


def test_near_duplicates_are_folded_and_named(wire: Wire) -> None:
    (one, *_) = recall(wire, "scaled area with margin and border", limit=3)
    assert sorted([one["id"], *one["similar"]]) == [f"code:{name}.py:area:1-7" for name in ("one", "three", "two")]


@pytest.mark.parametrize("name", FORMATS)
def test_what_the_cursors_function_calls_comes_first(wire: Wire, root: Path, name: str) -> None:
    """The same ambiguous question, asked from each of four twins: the one that is called from there is meant."""
    context = place(root, f"{name}_report.py", 11)
    assert recall(wire, "render the report", context=context)[0]["name"] == f"render_{name}"
    command = {"command": "aurora.recall", "arguments": [{"query": "render the report", "context": context}]}
    assert wire.result("workspace/executeCommand", command)["results"][0]["name"] == f"render_{name}"


def test_without_context_nothing_tells_the_twins_apart(wire: Wire, root: Path) -> None:
    first = {recall(wire, "render the report")[0]["name"] for _ in FORMATS}
    assert len(first) == 1
    elsewhere = {"uri": "file:///elsewhere/x.py", "position": {"line": 1, "character": 0}}
    assert recall(wire, "render the report", context=elsewhere)[0]["name"] in first
    assert recall(wire, "render the report", context={"uri": "untitled:1"})[0]["name"] in first


def test_an_unsaved_buffer_says_where_the_cursor_is(wire: Wire, root: Path) -> None:
    path = root / "yaml_report.py"
    text = "# one\n" * 40 + path.read_text("utf-8")
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
    wire.notify("textDocument/didOpen", {"textDocument": document})
    found = recall(wire, "render the report", context=place(root, "yaml_report.py", 51))
    assert found[0]["name"] == "render_yaml"


def test_places_and_ids(wire: Wire) -> None:
    assert {one["file"] for one in recall(wire, "csv_report.py", limit=3)} == {"csv_report.py"}
    assert recall(wire, "csv_report.py:serialize")[0]["id"].startswith("code:csv_report.py:serialize:")
    assert [one["name"] for one in recall(wire, "code:csv_report.py:serialize")] == ["serialize"]


def test_a_line_is_understood_as_tools_spell_it(wire: Wire, root: Path) -> None:
    for query in (
        "csv_report.py:15",
        f"{root}/csv_report.py:15",
        "csv_report.py(15,3)",
        "csv_report.py#L15-L17",
    ):
        first = recall(wire, query)[0]
        assert (first["file"], first["name"], round(first["score"], 2)) == ("csv_report.py", "serialize", 1.0), query


def test_the_command_line_understands_what_it_prints_in_a_folder(daemon: Daemon, root: Path) -> None:
    environment = {**os.environ, "AURORA_HOME": str(daemon.address.log.parents[1])}
    below = root / "notes"
    below.mkdir()
    for query in ("serialize", "../yaml_report.py:15"):
        program = [str(Path(sys.executable).with_name("aur")), "mem", query]
        done = subprocess.run(program, cwd=below, env=environment, capture_output=True, text=True, timeout=HANG)
        assert "../yaml_report.py:15" in done.stdout, done
    first = done.stdout.splitlines()[0]
    assert first.startswith(" 1  ") and "  ../yaml_report.py:15" in first


def test_the_command_line_shows_code_with_line_numbers(daemon: Daemon, root: Path) -> None:
    environment = {**os.environ, "AURORA_HOME": str(daemon.address.log.parents[1])}
    program = [str(Path(sys.executable).with_name("aur")), "mem"]
    arguments = ["quarantine of broken ledgers", "--budget", "150", "--limit", "1"]
    done = subprocess.run(
        [*program, *arguments], cwd=root, env=environment, capture_output=True, text=True, timeout=HANG
    )
    assert done.returncode == 0, done.stderr
    assert "      1  def migrate(rows)" in done.stdout
    assert "    303      quarantine = [row for row in rows if row.broken]" in done.stdout
    assert "excerpt" in done.stdout
    done = subprocess.run(
        [*program, *arguments, "--json"], cwd=root, env=environment, capture_output=True, text=True, timeout=HANG
    )
    (one,) = json.loads(done.stdout)["results"]
    assert one["excerpt"] is True and one["content_lines"][0] == 1


def test_of_functions_of_one_name_the_most_called_is_explained_and_of_equals_the_one_outside_tests(
    daemon: Daemon, tmp_path: Path
) -> None:
    make = "def {0}():\n    return 1\n"
    calls = "def test_{1}():\n    assert {0}() == 1\n"
    (tmp_path / "tests").mkdir()
    (tmp_path / "shop.py").write_text(make.format("make_basket") + make.format("clock"))
    (tmp_path / "tests" / "test_shop.py").write_text(
        make.format("make_basket") + make.format("clock") + "".join(calls.format("make_basket", n) for n in range(3))
    )
    with daemon.client(tmp_path) as client:
        client.request("aurora/index")
        asked = ("make_basket", "clock")
        files = [client.request("aurora/explain", {"id": name})["chunk"]["file"] for name in asked]
    assert files == ["tests/test_shop.py", "shop.py"]
