"""Places and names of an answer, looked up as a reader would; answers that deny themselves, or leave a part out."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.missing_parts import missing_parts
from aurora_orchestration.soar.references import look_up
from aurora_orchestration.soar.self_contradictions import self_contradictions
from aurora_orchestration.soar.verify_synthesis import precheck
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import Claim
from tests.benchmarks.answer_phrases import DEVELOPMENT, HELD_OUT, Phrases
from tests.benchmarks.planted_faults import Repository, faulty_cases, found_out, true_cases
from tests.growth import grows_with_length
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind
from tests.orchestration.soar.test_run import MEDIUM, TWO
from tests.shares import long

PROJECT = Path(__file__).parents[3]
APP = """import json

LIMIT = 3


@cached
def load(path):
    text = read_text(path)
    return json.loads(text)


class Store:
    def keep(self, item):
        self.items.append(item)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceText:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/app.py").write_text(APP)
    (tmp_path / "src/other.py").write_text("class OtherPage:\n    pass\n\n\ndef render_page(page):\n    return page\n")
    return WorkspaceText(tmp_path)


@pytest.mark.parametrize(
    "answer",
    [
        "`load` (src/app.py:6-9) calls `read_text`.",
        "`load` is defined in app.py:7 and returns what `json.loads` makes of it.",
        "See `Store.keep` at src/app.py#L13, or lines 12 to 14 of app.py.",
        "The limit is in src/app.py, line 3: `LIMIT`.",
        "You should add a `reload_all` beside `load` (src/app.py:7).",
        "There is no `reload_all`.",
        "`load` (src/app.py:7) is called by `render_page`.",
        "It answers on http://localhost:8080 since 12:30.",
        "Run `pip install something_else` and `pytest -k load`.",
        "```\nreload_all(src/app.py:99999)\n```",
        "`Store.keep` lives in src/app.py, `render_page` in other.py.",
        "`render_page` is not in src/app.py; compare src/other.py with `load` in app.py.",
        "`load` spans lines 6 to 9 of src/app.py.",
        "Use `from src.app import load, Store as Kept` or `import json`.",
        "**load** (src/app.py:7) relies on `read_text`; **Note** (src/app.py:13): nothing of it is kept.",
        "`load` (src/app.py:7), `render_page` and `Store.keep` are all there is.",
        "`read_text` is called by `load` (src/app.py:7). Next, `render_page` gives pages.",
        "`app.load` (src/app.py:7) is known.",
        "`load` calls `read_text` and then `json.loads`; `read_text` is called by `load`.",
        "`load` does not call `render_page`, and `OtherPage.keep` calls `load`.",
        "`load` should call `render_page`. `load` uses `render_page`.",
        "`Store.keep` calls `append`; in `load`, a call of `read_text` follows.",
        "`load` (src/app.py:7) is backed by `read_text`, and works with `json.loads`.",
    ],
)
def test_what_is_so_is_not_complained_of(answer: str, workspace: WorkspaceText) -> None:
    assert look_up(answer, workspace, "what does load do?").faults == ()


@pytest.mark.parametrize(
    ("answer", "issue"),
    [
        ("It is in app.py:99999.", "there is no line 99999 in app.py, which has 14"),
        ("It is in src/app.py:9-12000, they say.", "there is no line 9-12000 in src/app.py"),
        ("`Store.render_page` in src/app.py does that.", "`Store.render_page` does not stand in src/app.py"),
        ("`load` (other.py) reads it.", "`load` does not stand in other.py"),
        ("`load` covers lines 12 to 14 of src/app.py.", "`load` does not stand at src/app.py:12-14"),
        ("Import it: `from src.app_helpers import load`.", "`app_helpers` stands nowhere"),
        ("Import it: `from src.app import (load, load_twice)`.", "`load_twice` stands nowhere"),
        ("It is in src/gone.py:3.", "there is no file src/gone.py"),
        ("The rest lives in src/helpers/gone.py.", "there is no file src/helpers/gone.py"),
        ("Lines 40 to 50 of app.py do that.", "there is no line 40-50 in app.py"),
        ("`render_page` (src/app.py:7) does it.", "`render_page` does not stand at src/app.py:7"),
        ("`load` is defined in src/app.py:13.", "`load` does not stand at src/app.py:13"),
        ("src/app.py:13-14 defines `load`.", "`load` does not stand at src/app.py:13-14"),
        ("`load` (src/app.py:7) calls `render_page`.", "`render_page` does not stand in `load` at src/app.py:7"),
        ("`load` lives at src/app.py:7. It hands all to `render_page`.", "`render_page` does not stand in `load`"),
        (
            "`load` can be seen in src/app.py:7; internally it hands over to `render_page`.",
            "`render_page` does not stand",
        ),
        ("`load` (src/app.py:7) has a single dependency, `render_page`.", "`render_page` does not stand"),
        ("`load`, whatever others say of src/app.py:7, wraps `render_page`.", "`render_page` does not stand"),
        ("**load** (src/app.py:7) relies on `render_page`.", "`render_page` does not stand in `load`"),
        ("`render_page` is called from `load` (src/app.py:7).", "`render_page` does not stand in `load`"),
        ("`load` (src/app.py:7) is powered by `render_page`.", "`render_page` does not stand in src/app.py"),
        ("`load` gets its text from `render_page`: see src/app.py:7.", "`render_page` does not stand"),
        ("`load` begins at src/app.py:7; `render_page` is among its calls.", "`render_page` does not stand in `load`"),
        ("`load` is in src/app.py:7. Under the hood, it calls `render_page`.", "`render_page` does not stand"),
        ("src/app.py, ln 40, has `load`.", "there is no line 40 in src/app.py"),
        (f"`load` (src/app.py:{'9' * 5000}) does it.", "there is no line 999999999999 in src/app.py"),
        ("`load` invokes `render_page` on every line.", "`load` does not call `render_page`"),
        ("`load` begins by calling `render_page`, and ends.", "`load` does not call `render_page`"),
        ("`render_page` is called by `load`.", "`load` does not call `render_page`"),
        ("In `load`, a call of `render_page` follows.", "`load` does not call `render_page`"),
        ("`Store.keep` calls `render_page`.", "`Store.keep` does not call `render_page`"),
        ("See L40-L50 of src/app.py.", "there is no line 40-50 in src/app.py"),
        ("`OtherPage.load` is defined in src/app.py:7.", "`OtherPage` does not stand in src/app.py"),
        ("The work is done by reload_all().", "`reload_all` stands nowhere in the workspace"),
        ("`Store.evict` forgets items.", "`evict` stands nowhere in the workspace"),
        ("Pass `load(path, strict_mode=True)`.", "`strict_mode` stands nowhere in the workspace"),
    ],
)
def test_what_is_not_so_is_named(answer: str, issue: str, workspace: WorkspaceText) -> None:
    assert any(issue in fault.issue for fault in look_up(answer, workspace).faults), look_up(answer, workspace)


def test_a_file_is_read_as_often_for_many_calls_as_for_one(
    tmp_path: Path, workspace: WorkspaceText, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and definitions are each looked up in one reading, however many calls an answer tells of."""
    read: list[str] = []
    content = WorkspaceText._content
    monkeypatch.setattr(WorkspaceText, "_content", lambda self, file: read.append(file) or content(self, file))
    names = ("first_one", "second_one", "third_one", "fourth_one")
    (tmp_path / "src/many.py").write_text("".join(f"def {name}(x):\n    return x\n\n\n" for name in names))
    many = " ".join(f"`{name}` calls `render_page`." for name in names)
    faults = look_up(many, workspace).faults
    assert {fault.kind for fault in faults} == {"called name"}
    # Once for the names, once for the definitions, and once more where a definition is looked into, which is kept.
    assert max(read.count(file) for file in read) <= 3
    assert len(faults) == len(names)


def test_nothing_outside_of_the_workspace_is_read(tmp_path: Path, workspace: WorkspaceText) -> None:
    (tmp_path.parent / "secret.py").write_text("x = 1\n")
    (tmp_path / "src/link.py").symlink_to(tmp_path.parent / "secret.py")
    assert workspace.lines("../secret.py") is None
    assert workspace.lines("src/link.py") is None
    assert workspace.lines("src/\0app.py") is None


@pytest.mark.parametrize(
    "piece", ["a", "a/", "`a`", "a.b(", "(  ", "x is not ", "a.py:1 ", "```", "line 1 of ", "a_b "]
)
@pytest.mark.long
def test_any_text_is_looked_up_in_time_that_grows_with_it(piece: str, workspace: WorkspaceText) -> None:
    def read(length: int) -> None:
        text = piece * (length // len(piece))
        look_up(text, workspace)
        list(self_contradictions([text]))
        missing_parts(text, text)

    assert grows_with_length(read, 4_000, 40_000)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The reply is cached.", "The reply is not cached."),
        ("`load` caches the reply.", "The reply is not cached by `load`."),
        ("It retries 3 times.", "It retries 5 times."),
        ("The default is `a`.", "The default is `b`."),
        ("Requests are sent synchronously.", "Requests are sent asynchronously."),
        ("Every item is written to disk.", "No item is written to disk."),
        ("`load` blocks the loop until there is room.", "`load` never blocks the loop."),
        ("`load` writes blanks as `+` by default.", "By default `load` writes blanks as `%20`."),
        ("`load` wakes exactly one waiter.", "`load` wakes all waiters at once."),
        ("`load` needs a timeout.", "The timeout of `load` is optional."),
        ("The default of `limit` is 30 seconds.", "If nothing is configured, `limit` is 60 seconds."),
        ("The watcher is enabled by default.", "By default, the watcher is off."),
        ("The default of `many` is False.", "If nothing is given, `many` is True."),
        ("`load` raises an error for unknown keys.", "`load` never raises for unknown keys."),
        ("`load` kills readers that have not answered.", "`load` never kills a reader."),
        ("`load` takes the entry out of `STORE`, if it is old.", "`load` never touches `STORE`."),
        ("`stop` closes the sockets before it kills the readers.", "The readers are killed before the sockets close."),
        ("Only the loader writes the index file.", "Each reader writes the index file as well."),
        ("`load` is deprecated.", "`load` is the recommended way and not deprecated."),
        ("`load` is a no-op under systemd.", "Under systemd, `load` forks twice."),
        ("`stop` exits with status 0 always.", "`stop` may exit with another status than 0, such as 3."),
        ("`load` refuses to replace the key of a running job.", "When a job is running, `load` replaces its key."),
    ],
)
def test_an_answer_that_denies_itself_is_found(one: str, other: str) -> None:
    assert list(self_contradictions([f"{one} Something else stands between. {other}"]))


@pytest.mark.parametrize(
    "text",
    [
        "If a path is given, the reply is cached. Otherwise the reply is not cached.",
        "`load` is cached. `keep` is not cached.",
        "The request is retried. The login is not retried.",
        "`a` calls `b`. `b` does not call `a`.",
        "It previously was cached. It is not cached.",
        "The first limit is 3. The second limit is 5.",
        "`load` blocks the loop until there is room. `load` never blocks the loop in tests.",
        "`load` blocks the loop until there is room. `keep` never blocks the loop.",
        "`load` never blocks. `load` blocks not.",
        "`load` reads blanks as `+`. `load` reads blanks as `%20`.",
        "`load` writes blanks as `+` by default. By default `keep` writes tabs as `%09`.",
        "`load` wakes exactly one waiter. `load` wakes all readers at once.",
        "`load` wakes exactly one waiter. `keep` wakes all waiters at once.",
        "The default of `limit` is 30 seconds. The default of `keep` is 2 seconds.",
        "The default of `limit` is 30 seconds. Without a cache, `limit` is 60 seconds.",
        "The default of `many` is False. The default of `partial` is None.",
        "The default of `many` is False. Within `Nested`, `many` is True.",
        "`load` raises an error for unknown keys. `load` never raises for unknown users.",
        "`load` raises an error for unknown keys. When it is told to skip, `load` never raises for unknown keys.",
        "The watcher is off by default. With `--watch` it is on.",
        "`load` kills readers that have not answered. `load` never kills a writer.",
        "`load` takes the entry out of `STORE`. `load` never touches `CACHE`.",
        "`stop` closes the sockets before it kills the readers. The sockets are closed before the readers are killed.",
        "`stop` closes the sockets before it kills the readers. The writers are killed before the log is closed.",
        "Only the loader writes the index file. The loader writes the index file to disk as well.",
        "Only the loader writes the index file. Each reader reads the index file as well.",
        "`load` is deprecated. `keep` is the recommended way and not deprecated.",
        "`load` is a no-op under systemd. Under launchd, `load` forks twice.",
        "`load` does nothing when it is closed. `load` reads the file and parses it.",
        "`stop` exits with status 0 always. `halt` may exit with another status than 0.",
        "`load` refuses to replace the key of a running job. When no job is queued, `load` replaces its key.",
        "```\nx is cached\n```\nx is not cached.",
    ],
)
def test_sentences_of_different_cases_do_not_deny_each_other(text: str) -> None:
    assert list(self_contradictions([text])) == []


def test_a_named_part_that_is_left_out_is_named() -> None:
    missing, parts = missing_parts("Compare `load` with `Store.keep` in app.py", "`load` reads a file (src/app.py:7).")
    assert (missing, parts) == (("keep",), 3)
    assert missing_parts("what does load do?", "It loads.") == ((), 0)


def test_claims_that_were_taken_out_for_want_of_a_source_cost_score_and_pattern() -> None:
    settings = ScoringSettings()
    claims = [Claim(text="one", sources=("SG1",))]

    def judged(*untraced: str) -> float:
        return precheck("what is it?", (), "It is one.", (), settings, untraced=untraced).overall_score

    whole = judged()
    assert judged("two") < settings.pass_threshold, "half of what is said, or more, rests on nothing"
    assert whole >= settings.cache_threshold
    some = precheck("what is it?", (), "It is one.", claims * 9, settings, untraced=("two",))
    assert some.overall_score < settings.cache_threshold and "have no source" in str(some.checks["traceable"].issues)


async def test_a_place_that_is_not_there_costs_the_answer_its_pattern_and_is_told(tmp_path: Path) -> None:
    with LoopbackProvider() as provider:
        mind = Mind(TWO)
        provider.otherwise = mind
        claims = [{"text": "`expand` fills the template (src/template.py:99999).", "sources": ["SG1"]}]
        mind.claims = claims
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            run = await it.ask(MEDIUM)
            assert mind.asked.count("synthesize") == 3, "it was to be mended first"
            assert run.score is not None and run.score < 0.7 and run.learned is not None and not run.learned.is_pattern
            assert any("there is no line 99999 in src/template.py, which has 5" in each for each in run.caveats)
            assert (await it.ask(MEDIUM)).from_memory is None


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Expand and request live in src/ghost.py:99999, called by `frobnicate_all`.", "failed"),
        ("Expand fills the parsed template (src/template.py:1), unlike request in src/ghost.py:99999.", "partial"),
    ],
)
async def test_an_answer_of_which_nothing_holds_has_failed_and_is_not_kept(
    tmp_path: Path, answer: str, state: str
) -> None:
    mind = Mind(TWO)
    false = [{"text": "They are in src/ghost.py:99999.", "sources": ["src/ghost.py:99999"]}]
    mind.instead["synthesize"] = lambda _: {"answer": answer, "claims": false, "confidence": 0.9}
    with LoopbackProvider() as provider:
        provider.otherwise = mind
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            run = await it.ask(MEDIUM)
            assert run.state == state, (run.score, run.caveats)
            kept = run.learned is not None and run.learned.reasoning_id is not None
            assert kept == (state == "partial")
            if state == "failed":
                assert run.score is not None and run.score < 0.5 and "ghost.py" in " ".join((run.answer, *run.caveats))


async def test_a_direct_answer_is_looked_up_too(tmp_path: Path) -> None:
    with LoopbackProvider() as provider:
        mind = Mind(())
        mind.instead["direct"] = lambda _: {"answer": "It is `expand_all` in src/template.py:77.", "confidence": 1.0}
        provider.otherwise = mind
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            run = await it.ask("what is expand?")
            assert run.caveats == (
                "Not so: there is no line 77 in src/template.py, which has 5",
                "Not so: `expand_all` stands nowhere in the workspace",
            )


async def test_partial_success_says_so(tmp_path: Path) -> None:
    with LoopbackProvider() as provider:
        mind = Mind(TWO)
        mind.scores["synthesis"] = [0.75]
        provider.otherwise = mind
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            run = await it.ask(MEDIUM)
            assert run.state == "complete" and run.score == pytest.approx(0.75)
            assert run.caveats[0] == "Partial success (score 0.75): not kept as a pattern, check what matters."


SMALL = [("memory/aurora_memory/recall", DEVELOPMENT), ("orchestration/aurora_orchestration/llm", HELD_OUT)]
"""Folders of few files: what a whole room costs is the parsing of it."""


@pytest.mark.parametrize(
    ("room", "phrases"), [*SMALL, *map(long, itertools.product(["memory", "protocol"], [DEVELOPMENT, HELD_OUT]))]
)
def test_planted_faults_are_caught_and_true_answers_are_not_complained_of(room: str, phrases: Phrases) -> None:
    """A small slice of `make bench-reasoning`, whose targets are 85 % and 5 % over many more; so few need room."""
    repository = Repository(PROJECT / room)
    faulty = list(faulty_cases(repository, 40, 20, phrases))
    true = list(true_cases(repository, 40, 27, phrases))
    assert len(faulty) >= 38 and len(true) == 40
    missed = [case.planted for case in faulty if not found_out(case, repository.text)]
    alarms = [case.answer for case in true if found_out(case, repository.text)]
    assert len(missed) <= 0.25 * len(faulty), missed
    assert len(alarms) <= 0.05 * len(true), alarms
