"""Plug-ins are found by their entry points, once; a broken one costs a line in the log and nothing else."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from aurora_protocol import plugins
from aurora_protocol.plugins import leave_out, left_out, load

MODULE = "import dataclasses\nWORD = 'hello'\nNUMBER = 7\n"


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that is looked at for the first time."""
    monkeypatch.setattr(plugins, "_offers", {})
    monkeypatch.setattr(plugins, "_left_out", {})
    monkeypatch.syspath_prepend(tmp_path)
    plugins._groups_offered.cache_clear()
    return tmp_path


def install(site: Path, module: str, entry_points: str, version: str = "1.0", code: str = MODULE) -> None:
    (site / f"{module}.py").write_text(code)
    metadata = site / f"{module}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(entry_points)


def test_what_is_installed_is_found_by_name(site: Path) -> None:
    install(site, "plugged_one", "[aurora.test_words]\nzeta = plugged_one:WORD\nalpha = plugged_one:WORD\n")
    install(site, "plugged_two", "[console_scripts]\nx = y:z\n\n[aurora.test_words]\nbeta = plugged_two:WORD\n", "2.1")
    found = load("aurora.test_words", str)
    assert [(each.name, each.value, each.distribution) for each in found] == [
        ("alpha", "hello", "plugged_one 1.0"),
        ("beta", "hello", "plugged_two 2.1"),
        ("zeta", "hello", "plugged_one 1.0"),
    ]
    assert load("aurora.test_other") == []


def test_it_is_looked_for_once(site: Path) -> None:
    assert load("aurora.test_words") == []
    install(site, "plugged_late", "[aurora.test_words]\nlate = plugged_late:WORD\n")
    assert load("aurora.test_words") == []


@pytest.mark.parametrize(
    ("entry", "code", "problem"),
    [
        ("bad = plugged_bad:WORD", "raise RuntimeError('no\\nluck')", "RuntimeError: no luck"),
        (
            "bad = plugged_bad:WORD",
            "import sys\nimport nowhere_at_all",
            "ModuleNotFoundError: No module named 'nowhere",
        ),
        ("bad = plugged_bad:MISSING", MODULE, "AttributeError"),
        ("bad = plugged_bad:NUMBER", MODULE, "TypeError: plugged_bad:NUMBER is of type int, not str"),
        ("bad = plugged_bad:WORD", "def (", "SyntaxError"),
        ("bad = plugged_bad:WORD", "raise SystemExit(3)", "SystemExit: 3"),
        ("this line names nothing", MODULE, "it cannot be read, TypeError"),
    ],
)
def test_a_broken_one_is_told_in_a_line_and_left_out(
    site: Path, caplog: pytest.LogCaptureFixture, entry: str, code: str, problem: str
) -> None:
    install(site, "plugged_good", "[aurora.test_words]\ngood = plugged_good:WORD\n")
    install(site, "plugged_bad", f"[aurora.test_words]\n{entry}\n", code=code)
    sys.modules.pop("plugged_bad", None)  # the one of another case
    with caplog.at_level(logging.WARNING):
        (found,) = load("aurora.test_words", str)
    (record,) = caplog.records
    said = record.getMessage()
    assert (found.name, found.value) == ("good", "hello")
    assert problem in said and "plugged_bad 1.0 (aurora.test_words)" in said and "\n" not in said
    (noted,) = left_out("aurora.test_words")
    assert (noted.group, noted.distribution) == ("aurora.test_words", "plugged_bad 1.0") and problem in noted.why


def test_of_two_with_one_name_the_first_stays(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    for module in ("plugged_b", "plugged_a"):
        install(site, module, f"[aurora.test_words]\nsame = {module}:WORD\n")
    (found,) = load("aurora.test_words", str)
    assert found.distribution == "plugged_a 1.0"
    assert "plugged_b 1.0 (aurora.test_words) is left out: ValueError: plugged_a 1.0 offers that" in caplog.text


def test_what_the_owner_of_a_group_cannot_use_is_noted_too(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    install(site, "plugged_odd", "[aurora.test_words]\nodd = plugged_odd:WORD\n")
    (found,) = load("aurora.test_words", str)
    assert left_out() == []
    leave_out("aurora.test_words", found, "there is a word\nhello already")
    (noted,) = left_out()
    assert (noted.name, noted.distribution, noted.why) == ("odd", "plugged_odd 1.0", "there is a word hello already")
    assert left_out("aurora.test_other") == []
    assert "odd of plugged_odd 1.0 (aurora.test_words) is left out: there is a word hello already" in caplog.text


def test_of_two_installations_of_one_distribution_the_first_on_the_path_counts(
    site: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "plugged_twice", "[aurora.test_words]\nolder = plugged_twice:WORD\n")
    other = tmp_path_factory.mktemp("other")
    install(other, "plugged_twice", "[aurora.test_words]\nnewer = plugged_twice:WORD\n", "2.0")
    monkeypatch.syspath_prepend(other)
    assert [(each.name, each.distribution) for each in load("aurora.test_words")] == [("newer", "plugged_twice 2.0")]
    assert left_out() == []


def test_where_nothing_is_offered_metadata_is_not_even_imported(tmp_path: Path) -> None:
    code = "import sys; from aurora_protocol import plugins; print(plugins.load('aurora.test_none'))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}; print('importlib.metadata' in sys.modules)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["[]", "False"]


def test_a_distribution_that_offers_nothing_does_not_hide_those_behind_it(site: Path) -> None:
    (site / "a_plain-1.0.dist-info").mkdir()
    install(site, "plugged_one", "[aurora.test_words]\nalpha = plugged_one:WORD\n")
    assert [each.name for each in load("aurora.test_words", str)] == ["alpha"]
