"""Test runs (pytest, jest, go test, cargo test, …): whether a shell command is a test run, and what its output says:
passed, failed.
"""

from __future__ import annotations

import re
import shlex

from aurora_deliverables.events import TestsRan
from aurora_deliverables.evidence import shown

MAX_COMMAND = 10_000
MAX_OUTPUT = 64 << 10
"""Characters at the end of the output that are looked at: runners sum up last."""

_SEPARATORS = frozenset({"&&", "||", ";", "|", "&", "\n", "(", ")"})
_PREFIXES = frozenset({"time", "env", "exec", "nice", "command", "sudo", "xvfb-run", "npx", "bunx", "pnpx", "poetry"})
_PREFIXES |= {"uv", "uvx", "pipenv", "hatch", "pdm", "rye", "bundle", "timeout", "run", "dlx"}
_RUNNERS = frozenset(
    "pytest py.test tox nox unittest jest vitest mocha ava jasmine karma playwright cypress rspec minitest phpunit "
    "pest ctest gtest busted bats tap prove trial nosetests stestr cargo-nextest".split()
)
_SUBCOMMANDS = {
    "go": {"test"},
    "cargo": {"test", "nextest"},
    "npm": {"test", "t", "tst"},
    "yarn": {"test"},
    "pnpm": {"test", "t"},
    "bun": {"test"},
    "deno": {"test"},
    "node": {"--test"},
    "make": {"test", "tests", "check"},
    "just": {"test"},
    "task": {"test"},
    "rake": {"test", "spec"},
    "rails": {"test"},
    "mix": {"test"},
    "dotnet": {"test"},
    "swift": {"test"},
    "flutter": {"test"},
    "dart": {"test"},
    "sbt": {"test"},
    "lein": {"test"},
    "zig": {"test"},
    "bazel": {"test"},
    "mvn": {"test", "verify"},
    "mvnw": {"test", "verify"},
    "gradle": {"test", "check"},
    "gradlew": {"test", "check"},
    "composer": {"test"},
    "ng": {"test"},
    "nx": {"test"},
    "turbo": {"test"},
}
_SCRIPT = re.compile(r"tests?(?::[\w:.-]+)?")
_ASSIGNMENT = re.compile(r"\w+=.*", re.DOTALL)

_COUNTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(passed, re.MULTILINE), re.compile(failed, re.MULTILINE))
    for passed, failed in (
        (r"^Tests:.*?(\d+) passed", r"^Tests:.*?(\d+) failed"),  # jest
        (r"^\s*Tests\s.*?(\d+) passed", r"^\s*Tests\s.*?(\d+) failed"),  # vitest
        (r"^test result: \w+\. (\d+) passed", r"^test result: \w+\. \d+ passed; (\d+) failed"),  # cargo
        (r"(\d+) passed(?=.* in [\d.]+ ?s)", r"(\d+) (?:failed|errors?)(?=.* in [\d.]+ ?s)"),  # pytest
        (r"^\s*(\d+) passing", r"^\s*(\d+) failing"),  # mocha
        (r"^--- PASS:()", r"^--- FAIL:()"),  # go test -v
    )
)
_GO = re.compile(r"^(?:(ok)|(FAIL))\s+\S+", re.MULTILINE)
_UNITTEST = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
_UNITTEST_FAILED = re.compile(r"^FAILED \((?:failures=(\d+))?(?:, )?(?:errors=(\d+))?", re.MULTILINE)


def is_test_run(command: str) -> bool:
    """Whether some part of a shell command line runs tests."""
    return any(_is_runner(words) for words in _parts(command))


def run_of(command: str, output: str, *, exited_well: bool | None) -> TestsRan:
    """A test run from its command line and output. `exited_well` is what the whole command line's exit said.

    Of a pipeline (`pytest | tail`) that is the last program's, so there the output alone decides.
    """
    passed, failed = _counted(output[-MAX_OUTPUT:])
    succeeded = exited_well
    if failed:
        succeeded = False
    elif exited_well and _is_masked(command):
        succeeded = True if passed else None
    elif exited_well is None and passed:
        succeeded = True
    return TestsRan(passed=passed, failed=failed, succeeded=succeeded, command=shown(command))


def _counted(output: str) -> tuple[int | None, int | None]:
    """Counts of passed and failed tests in a runner's output (summary line, by regular expressions)."""
    for passes, failures in _COUNTS:
        good, bad = passes.findall(output), failures.findall(output)
        if good or bad:
            return _sum(good), _sum(bad)
    ran = _UNITTEST.search(output)
    if ran:
        broken = _UNITTEST_FAILED.search(output)
        bad_count = sum(int(each or 0) for each in broken.groups()) if broken else 0
        return max(0, int(ran[1][:9]) - bad_count), bad_count
    packages = _GO.findall(output)
    if packages and not all(ok for ok, _ in packages):
        return None, sum(bool(bad) for _, bad in packages)
    return None, None


def _sum(found: list[str]) -> int:
    return sum(int(each[:9]) if each else 1 for each in found)


def _is_masked(command: str) -> bool:
    """Whether the exit of the test run is not that of the command line."""
    return bool(re.search(r"(?<!\|)\|(?!\|)|\|\||;|\n|(?<![&>])&(?![&>\d])", command.strip().rstrip(";")))


def _parts(command: str) -> list[list[str]]:
    """Shell command line split (tokenized) into simple commands, each as words; none where the quotes do not end."""
    lexer = shlex.shlex(command[:MAX_COMMAND].replace("\n", " ; "), posix=True, punctuation_chars="();|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    parts: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word in _SEPARATORS or set(word) <= set("();|&"):
                parts.append([])
            else:
                parts[-1].append(word)
    except ValueError:
        return []
    return parts


def _is_runner(words: list[str]) -> bool:
    """Whether a command is a test runner (pytest, npm test, cargo test, …), behind assignments and wrappers."""
    rest = list(words)
    while rest:
        word = rest[0].rpartition("/")[2]
        if _ASSIGNMENT.fullmatch(word) or word in _PREFIXES or re.fullmatch(r"-{1,2}[\w-]+|\d+[smh]?", word):
            rest.pop(0)
            continue
        if word.startswith("python") or word == "py":
            return "-m" in rest and any(each in _RUNNERS for each in rest[rest.index("-m") + 1 :][:1])
        if word in _RUNNERS:
            return "--version" not in rest and "--help" not in rest
        wanted = _SUBCOMMANDS.get(word)
        if wanted is None:
            return False
        following = rest[1:]
        if word in ("npm", "yarn", "pnpm", "bun") and following[:1] in (["run"], ["run-script"]):
            return bool(following[1:2]) and _SCRIPT.fullmatch(following[1]) is not None
        if word in ("npm", "yarn", "pnpm") and following[:1] and _SCRIPT.fullmatch(following[0]):
            return True
        return any(each in wanted for each in following[:6])
    return False
