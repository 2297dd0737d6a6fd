"""`aurora deliverable ingest --junit` over a real daemon: folders, encodings, whose tests they are, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.daemons import Daemon
from tests.server.deliverables import aurora, told
from tests.server.tracked import events_in


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("aurora") / "home"
    with Daemon(folder):
        yield folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def suite(passed: int, failed: int, stamp: str = "") -> str:
    cases = [f'<testcase classname="c" name="t{n}"/>' for n in range(passed)]
    cases += [f'<testcase classname="c" name="f{n}"><failure/></testcase>' for n in range(failed)]
    return f'<testsuite name="é" failures="{failed}" {stamp}>{"".join(cases)}</testsuite>'


def test_a_folder_of_reports_is_one_run_of_the_only_open_deliverable(home: Path, root: Path, tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    (reports / "TEST-a.xml").write_text(suite(3, 0), "utf-16")
    latin = '<?xml version="1.0" encoding="ISO-8859-1"?>' + suite(4, 1, 'timestamp="2026-02-26T10:00:00Z" time="5"')
    (reports / "TEST-b.xml").write_bytes(latin.encode("latin-1"))
    told(home, root, "deliverable", "start", "add-cart", "--at", "2026-02-26T09:00:00Z")
    taken = told(home, root, "deliverable", "ingest", "--junit", str(reports))
    assert (taken["accepted"], taken["change_ids"]) == (1, ["add-cart"])
    (run,) = [each for each in events_in(home, "add-cart") if each.source == "junit"]
    assert run.what.passed == 7 and run.what.failed == 1  # type: ignore[union-attr]
    assert run.at == 1_772_100_005
    assert run.evidence == "JUnit: 7 passed, 1 failed, 0 skipped"
    assert told(home, root, "deliverable", "criteria")["conformance"]["correctness"] == 0.875
    assert told(home, root, "deliverable", "ingest", "--junit", str(reports))["duplicates"] == 1
    later = told(home, root, "deliverable", "ingest", "--junit", "-", "--at", "2026-02-26T11:00:00Z", given=suite(8, 0))
    assert later["accepted"] == 1
    assert told(home, root, "deliverable", "criteria")["conformance"]["correctness"] == 1


def test_tests_are_of_one_deliverable_or_refused(home: Path, root: Path, tmp_path: Path) -> None:
    report = tmp_path / "r.xml"
    report.write_text(suite(1, 0))
    none = aurora(home, root, "deliverable", "ingest", "--junit", str(report))
    assert none.returncode == 2 and "no deliverable is open" in none.stderr
    for name in ("add-cart", "add-list"):
        told(home, root, "deliverable", "start", name)
    several = aurora(home, root, "deliverable", "ingest", "--junit", str(report))
    assert several.returncode == 2 and "2 deliverables are open" in several.stderr
    assert told(home, root, "deliverable", "ingest", "--junit", str(report), "--change", "add-list")["accepted"] == 1
    unknown = aurora(home, root, "deliverable", "ingest", "--junit", str(report), "--change", "nobody")
    assert unknown.returncode == 2 and "no deliverable nobody" in unknown.stderr


def test_tests_that_ended_before_the_deliverable_began_are_its_own_only_where_that_is_said(
    home: Path, root: Path
) -> None:
    told(home, root, "deliverable", "start", "add-cart", "--at", "2026-02-26T09:00:00Z")
    old = suite(1, 0, 'timestamp="2026-02-25T10:00:00Z"')
    done = aurora(home, root, "deliverable", "ingest", "--junit", "-", given=old)
    assert done.returncode == 2 and "ended at 2026-02-25T10:00:00Z, and add-cart began at" in done.stderr
    assert told(home, root, "deliverable", "show")["started_at"] == "2026-02-26T09:00:00Z"
    taken = told(home, root, "deliverable", "ingest", "--junit", "-", "--at", "2026-02-26T10:00:00Z", given=old)
    assert taken["accepted"] == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('<!DOCTYPE x [<!ENTITY a "aa">]><testsuite>&a;</testsuite>', "declares a document type"),
        ("<html></html>", "no JUnit report"),
        ("<testsuite><testcase>", "cannot be read at line 1"),
    ],
)
def test_what_is_no_report_is_a_line_on_standard_error(
    home: Path, root: Path, tmp_path: Path, content: str, said: str
) -> None:
    told(home, root, "deliverable", "start", "add-nothing")
    (tmp_path / "r.xml").write_text(content)
    done = aurora(home, root, "deliverable", "ingest", "--junit", str(tmp_path / "r.xml"))
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1
    assert not [each for each in events_in(home, "add-nothing") if each.source == "junit"]


def test_options_that_do_not_go_together_are_refused(home: Path, root: Path, tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(suite(1, 0))
    assert aurora(home, root, "deliverable", "ingest", "x.json", "--junit", str(tmp_path / "r.xml")).returncode == 2
    assert aurora(home, root, "deliverable", "ingest", "--change", "a", given="{}").returncode == 2
    (tmp_path / "empty").mkdir()
    assert "there is no *.xml" in aurora(home, root, "deliverable", "ingest", "--junit", str(tmp_path / "empty")).stderr


def test_a_report_without_a_test_that_ran_is_a_note(home: Path, root: Path) -> None:
    told(home, root, "deliverable", "start", "add-cart")
    taken = told(home, root, "deliverable", "ingest", "--junit", "-", given="<testsuites/>")
    assert taken["accepted"] == 0 and taken["notes"] == ["the report has no test that ran"]
