"""`aurora manifest validate --fix`: what has one obvious fix is mended in the file, and nothing else is touched."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.server.validate_command import GOOD, make_site, reported, validate

BROKEN = GOOD.replace('"bearer"', '"Bearer"').replace('"protocol": "AURA"', '"protocol": "aura"')
BROKEN = BROKEN.replace('"version": "1.0",', '"version": "1.0", // the only one\n  "x-note": "é 😀",')
BROKEN = BROKEN.rstrip().removesuffix("}").rstrip() + ",\n}\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return make_site(tmp_path)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_everything_that_can_be_mended_is(site: Path, end: str, mark: str) -> None:
    file = site / "aura.json"
    file.write_bytes((mark + BROKEN).replace("\n", end).encode())
    file.chmod(0o600)
    done = validate(site, "aura.json", "--fix")
    assert done.returncode == 0, done
    assert done.stdout.startswith("fixed aura.json: ")
    assert "1 json-comment" in done.stdout
    assert "1 json-trailing-comma" in done.stdout
    text = file.read_bytes().decode()
    expected = json.loads(GOOD)
    assert json.loads(text) == {**expected, "x-note": "é 😀"}
    assert text.count(end) == text.count("\n") > 50
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert validate(site, "aura.json", "--fix").stdout == "✓ aura.json: valid, 3 resources, 3 capabilities\n"


def test_what_was_mended_and_what_is_left_are_reported(site: Path) -> None:
    (site / "aura.json").write_text(BROKEN.replace('"method": "GET"', '"method": "FETCH"'), encoding="utf-8")
    report = reported(site, "aura.json", "--fix", code=1)
    (file,) = report["files"]
    assert {"rule": "schema-const", "title": 'Write "AURA"'} in file["fixed"]
    assert "schema-enum" in {each["rule"] for each in file["diagnostics"]}
    assert all(each["range"]["start"]["line"] > 0 for each in file["diagnostics"])
    text = (site / "aura.json").read_text(encoding="utf-8")
    assert reported(site, "aura.json", code=1)["files"][0]["diagnostics"] == file["diagnostics"]
    assert '"FETCH"' in text


def test_what_has_to_be_filled_in_is_not_made_up(site: Path) -> None:
    text = '{"$schema": "", "protocol": "AURA", "version": "1.0", "resources": {}, "capabilities": {}}'
    (site / "aura.json").write_text(text)
    report = reported(site, "aura.json", "--fix", code=1)
    (missing,) = [each for each in report["files"][0]["diagnostics"] if each["rule"] == "schema-required"]
    assert (missing["fix"], missing["fixable"]) == ('Add "site"', False)
    assert "site" not in json.loads((site / "aura.json").read_text())


def test_rules_that_are_off_mend_nothing(site: Path) -> None:
    (site / "aura.json").write_text(BROKEN, encoding="utf-8")
    done = validate(site, "aura.json", "--fix", "--severity", "json-comment=off")
    assert "// the only one" in (site / "aura.json").read_text(encoding="utf-8")
    assert "json-comment" not in done.stdout


def test_a_good_file_is_not_written(site: Path) -> None:
    file = site / ".well-known" / "aura.json"
    before = file.stat()
    assert validate(site, "--fix").returncode == 0
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_finding_says_that_it_can_be_mended(site: Path) -> None:
    (site / "aura.json").write_text(BROKEN, encoding="utf-8")
    done = validate(site, "aura.json")
    assert '  = --fix can mend this: Write "AURA"\n' in done.stdout
    assert done.stdout.rstrip().endswith("; --fix can mend 4")
