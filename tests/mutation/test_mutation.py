"""The mutation run: which mutants a text has, which tests are a file's, and that survivors are told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.mutants import mutants
from tests.mutation.selection import nearest_tests

ROOT = Path(__file__).parents[2]


def changed(source: str) -> set[str]:
    return {each.of(source).strip() for each in mutants(source)}


@pytest.mark.parametrize(
    ("source", "mutated"),
    [
        ("x = a < b", {"x = a <= b"}),
        ("x = a not in b", {"x = a in b"}),
        ("x = a is not b", {"x = a is b"}),
        ("x = a and b", {"x = a or b", "x = (a)", "x = (b)"}),
        ("x = 3", {"x = 4", "x = 2"}),
        ("x = 0.5", {"x = 1.0", "x = 0.25"}),
        ("x = True", {"x = False"}),
        ("x = 'test' in found", {"x = 'test' not in found"}),
        ("a.sort(key=lambda b: -b)", {"a.sort(key=lambda _: 0)", "a.sort(key=lambda b: (b))", "pass"}),
        ("x = min(a)", {"x = max(a)"}),
        ("x = {'a', 'b'}", {"x = {'b'}", "x = {'a'}"}),
        ("x = 'a b c'.split()", {"x = ' b c'.split()", "x = 'a  c'.split()", "x = 'a b '.split()"}),
        ("x = re.compile(r'a|b(c|d)')", {"x = re.compile(r'a')", "x = re.compile(r'a|b(c)')"}),
        ("x = [a for a in b if a]", {"x = [a for a in b if True]"}),
        ("x = a[:n]", {"x = a[:]"}),
        ("a.clear()", {"pass"}),
        ("def f(x, y=0): return x", {"def f(x, y=1): return x"}),
    ],
)
def test_each_choice_is_turned_the_other_way(source: str, mutated: set[str]) -> None:
    assert changed(source) == mutated


def test_an_early_return_is_not_taken() -> None:
    source = "def f(x):\n    if x:\n        return 'ä'\n    return x\n"
    (mutant,) = mutants(source)
    assert mutant.of(source) == source.replace("if x", "if False")
    assert (mutant.line, mutant.function) == (2, 1)


@pytest.mark.parametrize(
    "source",
    [
        '"""Words of one or two 3."""',
        "x: Literal[1] = y",
        "logger.info('a', 3)",
        "raise ValueError(3)",
        "import a",
        "x = f'{a < b}'",
        "@lru_cache(maxsize=3)\ndef f(): ...",
        "class A(B, frozen=True): ...",
        "x = zip(a, b, strict=True)",
    ],
)
def test_wording_types_and_logs_are_no_choices(source: str) -> None:
    assert changed(source) == set()


@pytest.mark.long
def test_tests_named_after_a_file_come_first_then_those_near_it() -> None:
    packages = ["server", "orchestration", "indexer", "memory", "protocol", "schemas"]
    path = next(file for file in ROOT.glob("memory/**/fusion.py")).relative_to(ROOT).as_posix()
    found = nearest_tests(ROOT, path, packages, 5)
    assert found[0] == "tests/memory/test_fusion.py" and len(found) == 5
    assert all(name.startswith("tests/memory/") for name in found)


@pytest.mark.long
def test_a_run_tells_what_no_test_noticed(tmp_path: Path) -> None:
    """A small repository: one border is tested, the other is not."""
    files = {
        "pyproject.toml": '[tool.aurora.mutation]\npackages = ["room"]\n[tool.pytest.ini_options]\n',
        "room/product/__init__.py": "",
        "room/product/ages.py": "def of_age(age):\n    return age >= 18\n\n\ndef old(age):\n    return age > 65\n",
        "tests/room/test_ages.py": "from product.ages import of_age, old\n\n\n"
        "def test_ages():\n    assert of_age(18) and not of_age(17) and old(70) and not old(60)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    run = "import sys; sys.path.insert(0, sys.argv.pop(1)); from tests.mutation.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", run, str(ROOT), "room/product/ages.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "room/product/ages.py: 5 of 6 died" in done.stdout
    assert "room/product/ages.py:6: > → >=" in done.stdout
