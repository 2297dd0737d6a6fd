"""`aurora manifest validate` as people and pipelines meet it: real processes, files, patterns, pipes and terminals."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import start
from tests.server.validate_command import BAD, COMMAND, GOOD, make_site, reported, validate


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return make_site(tmp_path)


def test_a_good_manifest_at_the_usual_place(site: Path) -> None:
    done = validate(site)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "✓ .well-known/aura.json: valid, 3 resources, 3 capabilities\n"
    assert reported(site, code=0) == {
        "valid": True,
        "files": [
            {
                "file": ".well-known/aura.json",
                "kind": "manifest",
                "valid": True,
                "diagnostics": [],
                "summary": {"resources": 3, "capabilities": 3},
                "fixed": [],
            }
        ],
        "errors": [],
    }


def test_files_of_aurora_are_checked_as_what_they_are(site: Path) -> None:
    own = site / ".aurora"
    (own / "deliverables").mkdir(parents=True)
    (own / "config.json").write_text('{"daemon": {"idle_minutes": "5"}}')
    (own / "agents.json").write_text('{"agents": []}')
    (own / "deliverables" / "x.json").write_text('{"change_id": "x", "status": "planning", "started_at": "yesterday"}')
    files = [".aurora/config.json", ".aurora/agents.json", ".aurora/deliverables/x.json"]
    report = reported(site, *files, ".well-known/aura.json", code=1)
    assert [each["kind"] for each in report["files"]] == ["configuration", "agents", "deliverable", "manifest"]
    found = [[each["path"] for each in file["diagnostics"]] for file in report["files"]]
    assert found[0] == ["/daemon/idle_minutes"] and found[2] == ["/started_at"] and not found[3]
    (own / "config.json").write_text("{}")
    done = validate(site, files[0])
    assert (done.returncode, done.stdout) == (0, "✓ .aurora/config.json (the configuration): valid\n")
    piped = validate(site, "-", "--stdin-filename", files[0], given="{}")
    assert (piped.returncode, piped.stdout) == (done.returncode, done.stdout)
    assert "2 files: valid" in validate(site, files[0], ".well-known/aura.json").stdout


def test_a_configuration_is_mended_as_one(site: Path) -> None:
    (site / ".aurora").mkdir()
    path = site / ".aurora" / "config.json"
    path.write_text('{"daemon": {"idle_minutes": 5,},}')
    assert validate(site, "--fix", str(path)).returncode == 0
    assert json.loads(path.read_text()) == {"daemon": {"idle_minutes": 5}}


def test_the_workspace_is_found_from_below_and_can_be_named(site: Path, tmp_path: Path) -> None:
    below = site / "src" / "deep"
    below.mkdir(parents=True)
    assert [each["file"] for each in reported(below, code=0)["files"]] == [f"{site}/.well-known/aura.json"]
    assert validate(tmp_path, "--workspace", str(site)).returncode == 0


def test_without_a_manifest_at_the_usual_place_it_says_what_to_do(tmp_path: Path) -> None:
    done = validate(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"aurora: there is no .*/\.well-known/aura\.json; name the file, or '.*' .*\n", done.stderr)


def test_errors_in_json_have_exact_ranges_in_utf_16(site: Path) -> None:
    text = '{\n  "protocol": "😀", nonsense\n}'
    report = reported(site, "-", code=1, given=text)
    assert report["valid"] is False
    (file,) = report["files"]
    assert (file["file"], file["valid"], file["summary"]) == ("<stdin>", False, {"resources": 0, "capabilities": 0})
    (wrong,) = [each for each in file["diagnostics"] if each["rule"] == "schema-const"]
    assert set(wrong) == {"rule", "severity", "message", "path", "range", "fix", "fixable"}
    assert (wrong["severity"], wrong["path"]) == ("error", "/protocol")
    assert wrong["range"] == {"start": {"line": 1, "character": 14}, "end": {"line": 1, "character": 18}}
    (junk,) = [each for each in file["diagnostics"] if "nonsense" in each["message"]]
    assert junk["range"]["start"] == {"line": 1, "character": 20}


def test_people_see_the_place_and_a_summary(site: Path) -> None:
    (site / "bad.json").write_text(BAD, encoding="utf-8")
    done = validate(site, "bad.json")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("error[schema-enum]"))
    number = BAD[: BAD.index('"FETCH"')].count("\n") + 1
    assert lines[at : at + 5] == [
        'error[schema-enum]: "FETCH" is not a method: use GET, POST, PUT or DELETE',
        f"  --> bad.json:{number}:19  /capabilities/note_0/action/method",
        f"{'':{len(str(number))}} |",
        f'{number} |         "method": "FETCH",',
        f"{'':{len(str(number))}} |                   ^^^^^^^",
    ]
    assert re.match(r"✗ bad\.json: not valid, [0-9]+ errors", lines[-1])
    assert "\x1b" not in done.stdout
    assert "✗" not in validate(site, "bad.json", "--quiet").stdout


def test_line_ends_tabs_and_byte_order_marks_move_nothing(site: Path) -> None:
    text = BAD.replace('  "method": "FETCH"', '\t"method": "FETCH"')
    frames = {}
    for name, content in (("lf", text), ("crlf", text.replace("\n", "\r\n")), ("bom", "\ufeff" + text)):
        (site / f"{name}.json").write_bytes(content.encode())
        done = validate(site, f"{name}.json", "--severity", "json-byte-order-mark=off")
        frames[name] = done.stdout.replace(f"{name}.json", "x.json")
    assert frames["lf"] == frames["crlf"] == frames["bom"]
    lines = frames["lf"].splitlines()
    at = next(number for number, line in enumerate(lines) if '"method": "FETCH"' in line and "|" in line)
    assert lines[at].index('"FETCH"') == lines[at + 1].index("^^^^^^^")


def test_files_folders_patterns_and_repeats(site: Path) -> None:
    for folder in ("a/.well-known", "b", "node_modules/x", ".git/x", "b/node_modules/y"):
        (site / folder).mkdir(parents=True)
        (site / folder / "aura.json").write_text(GOOD, encoding="utf-8")
    (site / "b" / "other.json").write_text(GOOD, encoding="utf-8")
    (site / "[b].json").write_text(GOOD, encoding="utf-8")
    (site / "loop").symlink_to(site)

    def files(*arguments: str) -> list[str]:
        return [each["file"] for each in reported(site, *arguments, code=0)["files"]]

    everything = [".well-known/aura.json", "a/.well-known/aura.json", "b/aura.json"]
    assert files("**/aura.json") == everything
    assert files(".") == everything
    assert files(str(site)) == everything
    assert files("a", "b/aura.json", "./b/aura.json", "b/*.json") == [
        "a/.well-known/aura.json",
        "b/aura.json",
        "b/other.json",
    ]
    assert files("?/aura.json") == ["b/aura.json"]
    assert files("[b].json") == ["[b].json"], "a file of that very name"
    assert files("node_modules/x/aura.json") == ["node_modules/x/aura.json"], "what is named is looked at"
    assert files("*/*.json") == [
        ".well-known/aura.json",
        "b/aura.json",
        "b/other.json",
        "loop/[b].json",
    ]
    assert files(f"{site}/b/**/o*.json") == ["b/other.json"]


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("missing.json", "missing.json: there is no such file; check the path"),
        ("**/none.json", 'no file matches "**/none.json"; "**/aura.json" finds them at any depth'),
        ("empty", "there is no aura.json in empty; name the file"),
        ("latin.json", "latin.json: line 2 is not UTF-8 (byte 3); save it as UTF-8"),
        ("utf16.json", "utf16.json: this is UTF-16; save it as UTF-8"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_the_rest_is_still_reported(site: Path, argument: str, says: str) -> None:
    (site / "empty").mkdir()
    (site / "latin.json").write_bytes(b'{\n"\xe9": 1}')
    (site / "utf16.json").write_bytes(GOOD.encode("utf-16"))
    (site / "bad.json").write_text(BAD, encoding="utf-8")
    done = validate(site, argument, "bad.json", ".well-known/aura.json")
    assert (done.returncode, done.stderr) == (2, f"aurora: {says}\n")
    assert "error[schema-enum]" in done.stdout
    report = reported(site, argument, ".well-known/aura.json", code=2)
    assert (report["valid"], report["errors"]) == (False, [says])
    assert [each["valid"] for each in report["files"]] == [True]


def test_a_terminal_cannot_be_commanded_by_names(site: Path) -> None:
    done = validate(site, "a\x1b31m\n.json")
    assert done.stderr == "aurora: a\ufffd31m .json: there is no such file; check the path\n"


def test_warnings_fail_only_when_strict(site: Path) -> None:
    text = GOOD.replace('"description": "Keeps notes."', '"descripton": "Keeps notes."')
    assert validate(site, "-", given=text).returncode == 0
    assert validate(site, "-", "--strict", given=text).returncode == 1
    assert reported(site, "-", "--strict", code=1, given=text)["valid"] is True, "valid means: no error"


def test_severities_come_from_configuration_variables_and_options(site: Path) -> None:
    text = GOOD.replace('"v": 1,', '"v": "1",', 1)

    def severity(*arguments: str, code: int, **variables: str) -> list[str]:
        (file,) = reported(site, "-", *arguments, code=code, given=text, **variables)["files"]
        return [each["severity"] for each in file["diagnostics"] if each["rule"] == "schema-type"]

    assert severity(code=1) == ["error"]
    assert severity("--severity", "schema-type=hint", code=0) == ["hint"]
    assert severity("--severity", "schema-type=off", code=0) == []
    assert severity(code=0, AURORA_MANIFEST_SEVERITIES="x=off, schema-type=info") == ["info"]
    home = site.parent / "home"
    home.mkdir()
    (home / "config.json").write_text('{"manifest": {"severities": {"schema-type": "warning"}}, "daemon": 5}')
    assert severity(code=0) == ["warning"]
    assert severity("--severity", "schema-type=error", code=1) == ["error"]
    (home / "config.json").write_text('{"manifest": {"severities": {"schema-typ": "off"}}}')
    done = validate(site)
    assert done.returncode == 0
    assert done.stderr.endswith('there is no rule "schema-typ"; did you mean "schema-type"?\n')
    (home / "config.json").write_text('{"manifest": {"severities": {"schema-type": "loud"}}}')
    done = validate(site, "-", given=text)
    assert done.returncode == 2
    assert re.fullmatch(
        r"aurora: .*config\.json.*: manifest\.severities: invalid enum value 'loud'; it may be one of error, .*\n",
        done.stderr,
    )


def test_a_workspaces_own_configuration_silences_nothing(site: Path) -> None:
    (site / ".aurora").mkdir()
    (site / ".aurora" / "config.json").write_text('{"manifest": {"severities": {"schema-enum": "off"}}}')
    (site / ".well-known" / "aura.json").write_text(BAD, encoding="utf-8")
    assert "schema-enum" in validate(site).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--json", "--sarif"), "--json and --sarif exclude each other: choose one"),
        (("--severity", "schema-typ=off"), 'there is no rule "schema-typ"; did you mean "schema-type"?'),
        (("--severity", "x"), '"x" is not RULE=LEVEL with one of error, warning, info, hint, off'),
        (("--severity", "x=loud"), '"x=loud" is not RULE=LEVEL'),
        (("--fix", "-"), "--fix needs a file to write to"),
        (("--colour",), "No such option"),
    ],
)
def test_wrong_usage_is_one_line(site: Path, arguments: tuple[str, ...], says: str) -> None:
    done = validate(site, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_standard_input_can_have_a_name(site: Path) -> None:
    done = validate(site, "-", "--stdin-filename", "src/aura.json", "--concise", given=BAD)
    assert all(line.startswith("src/aura.json:") for line in done.stdout.splitlines())
    assert (
        validate(site, "-", given=b"\xff").stderr == "aurora: <stdin>: line 1 is not UTF-8 (byte 0); save it as UTF-8\n"
    )


def test_the_problem_matcher_reads_every_concise_line(site: Path) -> None:
    (site / "bad.json").write_text(BAD, encoding="utf-8")
    repository = Path(__file__).parents[2]
    file = repository / ".github" / "aurora-manifest-problem-matcher.json"
    matchers = json.loads(file.read_text(encoding="utf-8"))["problemMatcher"]
    done = validate(site, "bad.json", "--concise", "--severity", "schema-enum=info")
    expected = reported(site, "bad.json", "--severity", "schema-enum=info", code=1)["files"][0]["diagnostics"]
    found = []
    for line in done.stdout.splitlines():
        (place,) = [
            {key: match[group] for key, group in pattern.items() if isinstance(group, int)}
            | ({"severity": matcher["severity"]} if "severity" in matcher else {})
            for matcher in matchers
            for pattern in matcher["pattern"]
            if (match := re.match(pattern["regexp"], line))
        ]
        found.append(place)
    notices = {"info": "notice", "hint": "notice"}
    assert found == [
        {
            "file": "bad.json",
            "line": str(each["range"]["start"]["line"] + 1),
            "column": str(each["range"]["start"]["character"] + 1),
            "severity": notices.get(each["severity"], each["severity"]),
            "message": each["message"],
            "code": each["rule"],
        }
        for each in expected
    ]
    assert {each["severity"] for each in found} == {"error", "notice"}


def test_a_terminal_gets_colours_and_lines_that_fit(site: Path) -> None:
    (site / "bad.json").write_text(BAD.replace("\n", " "), encoding="utf-8")

    def on_terminal(*arguments: str, **variables: str) -> str:
        leader, follower = pty.openpty()
        environment = {**os.environ, "AURORA_HOME": str(site.parent / "home"), "TERM": "xterm", "COLUMNS": "60"}
        command = [*COMMAND, "bad.json", *arguments]
        with start(command, cwd=site, env={**environment, **variables}, stdout=follower) as process:
            os.close(follower)
            output = b""
            while True:
                try:
                    piece = os.read(leader, 65536)
                except OSError:  # Linux says so when the other side is closed
                    break
                if not piece:
                    break
                output += piece
        os.close(leader)
        assert process.returncode == 1
        return output.decode()

    colored = on_terminal()
    assert "\x1b[31m" in colored
    plain = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert max(len(line) for line in plain.splitlines() if "|" in line) <= 60
    assert "\x1b" not in on_terminal("--no-color")
    assert "\x1b" not in on_terminal(NO_COLOR="1")


def test_bombs_are_answered(site: Path) -> None:
    (site / "deep.json").write_text("[" * 200_000)
    (site / "large.json").write_bytes(b'{"a": "' + b"x" * (9 << 20) + b'"}')
    (site / "empty.json").write_bytes(b"")
    report = reported(site, "deep.json", "large.json", "empty.json", code=1)
    rules = [{each["rule"] for each in file["diagnostics"]} for file in report["files"]]
    assert "json-too-deep" in rules[0]
    assert rules[1] == {"json-too-large"}
    assert rules[2] == {"json-syntax"}


def test_it_imports_neither_the_daemon_nor_the_memory(site: Path) -> None:
    code = "import sys; from aurora_cli import main, fast_exit; sys.argv[1:] = ['manifest', 'validate', '--json']; "
    code += "fast_exit.leave = lambda code: print(*sys.modules) or code; main()"
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=site, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "aurora_manifest.check" in loaded
    heavy = {"asyncio", "rich", "pygls", "lsprotocol", "numpy", "jsonschema", "aurora_memory", "aurora_indexer"}
    assert heavy & loaded == set()
