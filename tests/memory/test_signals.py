"""Ranking signals: each is declared once, and that is enough."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from aurora_memory.recall import Hit, parse_question, recall, signals
from aurora_memory.recall.candidates import Candidates, Column
from aurora_memory.recall.file_features import file_order
from aurora_memory.recall.places import is_aside, is_copied, is_test, is_test_code
from aurora_memory.recall.question_kind import QuestionKind
from aurora_memory.recall.ranking import Rank, ranked_anew, score
from aurora_memory.recall.signals import SIGNALS, Signals, SignalTable, fitted, signal, weights_of
from aurora_memory.store import Store
from aurora_server.workspace import evidence
from tests.benchmarks.recall_fit import FITTED
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store

NOW = 1_765_540_800.0


def test_every_signal_says_what_it_means_and_counts_by_its_weight() -> None:
    assert len({each.name for each in SIGNALS}) == len(SIGNALS)
    for place, each in enumerate(SIGNALS):
        assert each.place == place
        assert each.weight or any(weights_of(kind)[place] for kind in fitted().kinds), each.name
        assert each.meaning.endswith((".", ")")), each.name
        assert Signals.of({each: 2.0}).strength() == 2.0 * each.weight
        assert Signals.of({each: 2.0}).strength(weights_of(without=[each.name])) == 0.0


def test_many_are_as_strong_together_as_each_is_alone() -> None:
    table = SignalTable([[math.sin(n + 3 * place) for n in range(20)] for place in range(len(SIGNALS))])
    weights = weights_of("topic")
    assert table.strengths(weights) == [each.strength(weights) for each in table.rows]
    assert SignalTable([[] for _ in SIGNALS]).strengths(weights) == []


def test_five_kinds_of_chunk_rank_behind_and_everything_else_speaks_for_a_chunk() -> None:
    assert {each.name for each in SIGNALS if each.weight < 0} == {
        "type like",
        "remainder",
        "document",
        "test",
        "copied",
    }


def test_fitted_weights_are_of_signals_that_there_are_and_say_what_they_were_fitted_on() -> None:
    names = {each.name for each in SIGNALS}
    assert fitted().kinds.keys() == {"topic", "how", "change", "report", "task", "error", "issue"}
    for kind, own in fitted().kinds.items():
        assert own.keys() <= names, kind
        assert weights_of(kind) == tuple(own.get(each.name, each.weight) for each in SIGNALS)
    assert weights_of("name") == weights_of()
    assert len(fitted().provenance["commits"]) >= 30


@pytest.mark.parametrize("kind", ["topic", "how", "change", "report", "task", "error", "issue", "name"])
def test_of_topics_a_name_counts_for_what_it_says_of_the_question(kind: QuestionKind) -> None:
    weights, by_topic = weights_of(kind), kind in ("topic", "how")
    assert (weights[signals.name_fit.place] > 0, weights[signals.name_share.place] > 0) == (by_topic, not by_topic)


def test_a_name_of_one_common_word_fits_less_than_one_that_says_the_question() -> None:
    said = [(1.0, 0.2), (0.5, 0.8), (0.0, 0.0)]  # shares of the name that is said, and of the question that it says
    shares, covers = zip(*said, strict=True)
    candidates = cast("Candidates", SimpleNamespace(matched={"name_share": shares, "name_cover": covers}))
    assert signals.name_fit.column(candidates) == [0.25, 0.5, 0.0]


LEFT_FOR_MEASURING = """
    astropy django flask matplotlib pylint pytest requests scikit-learn seaborn sphinx sympy xarray
    abseil-cpp aeson aiohttp alamofire axios axum bash-it bats-core cats chi circe click cobra commons-lang curl dapper
    ecto exposed express fastapi fmt framework gson guzzle http http4s httpx jackson-databind json kotlinx.coroutines
    ktor lazy.nvim libuv messagepack-csharp model2vec monolog newtonsoft.json nvim-lspconfig phoenix plug pydantic rack
    rails redis redux rxswift serde sinatra starlette telescope.nvim tokio trpc vapor vitest zig zod
    excalidraw gin guava hugo kubernetes prometheus rich ripgrep spring-boot spring-framework terraform vite vscode vue
"""
"""Repositories of SWE-bench, of semble's benchmark, and others that are named for measuring."""


async def test_of_topics_a_files_documentation_makes_up_for_its_being_a_remainder(tmp_path: Path) -> None:
    assert weights_of("topic")[signals.file_documentation.place] == -weights_of("topic")[signals.remainder.place]
    assert weights_of("how")[signals.file_documentation.place] == -weights_of("how")[signals.remainder.place]
    store = await new_store(tmp_path / "memory.db")
    told = chunk("told.py", "<module>", "import os", kind="module", doc="Retry of large uploads.")
    code = chunk("code.py", "<module>", "retry of large uploads", kind="module")
    half = chunk("half.py", "<module>", "large uploads", kind="module", doc="Retry.")
    await store.write([file("told.py", told), file("code.py", code), file("half.py", half)])
    found = await store.read(recall, parse_question("retry of large uploads"), 5, NOW)
    await store.close()
    shares = {hit.chunk.path: hit.signals[signals.file_documentation] for hit in found}
    assert shares["told.py"] == 1.0 > shares["half.py"] > shares["code.py"] == 0.0
    assert found[0].chunk.path == "told.py"


def test_a_weight_that_was_not_fitted_is_of_what_the_fit_can_tell_nothing_of() -> None:
    for kind, (_, untold) in FITTED.items():
        by_hand = {each.name for each in SIGNALS if each.weight and each.name not in fitted().kinds[kind]}
        assert by_hand <= untold, f"{kind}: fit it anew, or let the weight be 0"


def test_no_repository_that_is_left_for_measuring_was_fitted_on() -> None:
    files = file_order().provenance
    for commits, known in (
        (fitted().provenance["commits"], "jinja"),
        (files["commits"], "celery"),
        (files["reports"], "libevent"),
        (files["members"]["commits"], "badger"),
        (fitted().provenance["fragments"], "trio"),
    ):
        used = {name.lower().rpartition("/")[2] for name in commits}
        assert not used & set(LEFT_FOR_MEASURING.split())
        assert known in used, "names are those of repositories, without their owners"


def test_scores_rise_with_strength_and_stay_within_bounds() -> None:
    scores = [score(value) for value in (-1e6, -10.0, 0.0, 5.0, 10.0, 1e6)]
    assert scores == sorted(scores)
    assert all(0.0 <= value <= 1.0 for value in scores)


@pytest.mark.parametrize(
    ("path", "name", "is_there_to_test"),
    [
        pytest.param("src/cart.rs", "tests.adds_up", True, id="a module of tests beside what it tests"),
        pytest.param("src/cart.rs", "test.adds_up", True, id="called in the singular"),
        pytest.param("src/cart.rs", "cart.test_sums.adds_up", True, id="of some, in another module"),
        pytest.param("src/cart.rs", "sum_tests.adds_up", True, id="called so at its end"),
        pytest.param("src/cart.rs", "tests", False, id="the module itself"),
        pytest.param("src/cart.rs", "test_connection", False, id="a function called so"),
        pytest.param("src/cart.rs", "SpeedTest.run", False, id="of a type called so"),
        pytest.param("src/cart.rs", "latest.adds_up", False, id="another word"),
        pytest.param("src/cart.py", "tests.adds_up", False, id="in another language"),
        pytest.param("tests/cart.rs", "adds_up", True, id="in a file of tests"),
    ],
)
def test_rust_has_tests_beside_what_they_test(path: str, name: str, is_there_to_test: bool) -> None:
    assert is_test_code(path, name) is is_there_to_test
    head = SimpleNamespace(path=path, name=name)
    for about_tests, kind, value in (
        (False, "topic", is_there_to_test),
        (True, "change", not is_there_to_test),
        (True, "topic", False),
    ):
        question = SimpleNamespace(about_tests=about_tests, kind=kind)
        candidates = cast("Candidates", SimpleNamespace(heads=[head], question=question))
        assert signals.test.column(candidates) == [float(value)]


@pytest.mark.parametrize(
    ("path", "aside"),
    [
        pytest.param("shop/migrations/0001_initial.py", True, id="as Django numbers them"),
        pytest.param("Data/Migrations/20240101120000_AddCart.cs", True, id="by their time"),
        pytest.param("db/migrate/20240101_add_cart.rb", True, id="in Rails' folder"),
        pytest.param("db/migration/V2__carts.java", True, id="as Flyway has them"),
        pytest.param("db/migration/v2_carts.go", True, id="by a version"),
        pytest.param("Data/Migrations/2024/20240101_Cart.cs", True, id="in a folder of theirs"),
        pytest.param("django/db/migrations/writer.py", False, id="what runs them"),
        pytest.param("shop/migration_plan/0001_plan.py", False, id="another folder"),
        pytest.param("shop/0001_cart.py", False, id="a number elsewhere"),
    ],
)
def test_migrations_lie_aside(path: str, aside: bool) -> None:
    assert is_aside(path) is aside


def test_tests_are_known_by_their_path() -> None:
    for folder in ("tests", "spec", "specs", "__tests__"):
        assert is_test(f"{folder}/a.py") and is_test(f"src/{folder}/a.py"), folder
    for folder in (
        "integration_tests",
        "unit-test",
        "Tests",
        "CartTests",
        "Shop.Tests",
        "src/androidTest",
        "testsuite",
    ):
        assert is_test(f"{folder}/cart.kt") and is_test(f"app/{folder}/cart.kt"), folder
    assert is_test("t/unit/cart.py") and not is_test("src/t/cart.py"), "Perl's way, at the root"
    assert is_test("raft/testing.go") and not is_test("raft/testing.py"), "what others test with, as Go has it"
    for folder in ("latest", "contest", "src/TestKit", "attested"):
        assert not is_test(f"{folder}/cart.kt"), folder
    for path in ("src/test_a.py", "test_a.py", "pkg/a_test.go", "src/a.spec.ts", "src/a.test.ts", "a/conftest.py"):
        assert is_test(path), path
    for path in ("test/a.py", "src/test/java/A.java", "lib/test/a.js", "src/main/CartTest.java", "a/cart_unittest.cc"):
        assert is_test(path), path
    assert is_test("bin/test"), "a program called so"
    assert is_test("vendor/six/tests/a.py") and not is_aside("vendor/six/tests/a.py"), "a test, wherever it lies"
    assert is_test("testing/python/collect.py"), "as tox and pluggy have it"
    for path in ("django/test/client.py", "numpy/testing/utils.py", "click/testing.py", "core/testing/fakes.go"):
        assert not is_test(path), f"{path} is what others test with"
    assert is_test("test/test_cart.rb") and not is_test("lib/cart/test_api.rb"), "Ruby's tests have a folder"
    for path in ("src/testament.py", "contest/a.py", "src/latest.go", "src/specs.py", "src/respec.ts", "a/tests.md"):
        assert not is_test(path), path


def test_what_lies_aside_is_known_by_its_path() -> None:
    for path in ("examples/cart.py", "docs/example/a.rs", "benchmarks/b.py", "asv_bench/benchmarks/b.py", "bench/a.go"):
        assert is_aside(path), path
    for path in ("src/_vendor/six.py", "vendor/a/b.go", "third_party/zlib/zlib.c", "web/static/jquery-3.5.1.js"):
        assert is_aside(path), f"{path} is somebody else's"
        assert is_copied(path) is ("static" not in path), path
    assert not is_copied("vendor/six/tests/a.py") and not is_copied("examples/cart.py")
    for path in ("assets/vendors/ace/ace.js", "demo/cart.go", "demos/cart.go", "demo_site/a.py", "app/demo-shop/a.ts"):
        assert is_aside(path), path
    for path in ("static/app.min.css", ".github/ISSUE_TEMPLATE/bug_report.md"):
        assert is_aside(path), path
    for path in (
        "dist/cart.js",
        "packages/cart/dist/node/cart.cjs",
        "dist/esm/cart.mjs",
        "dist/cart.css",
        "client-dist/cart.js",
        "docs/assets/cart.js",
    ):
        assert is_aside(path), f"{path} is built of what is made here"
    for path in (
        "src/vendors.py",
        "lib/exampled/a.py",
        "src/demographics/a.py",
        "src/demo_mode.py",
        "src/external.py",
        "web/app.js",
        "src/benchmark.py",
        "a-1/b.js",
        "dist/cart.py",
        "src/dist.js",
        "redist/cart.js",
        "app/assets/cart.js",
    ):
        assert not is_aside(path), path


@pytest.mark.parametrize("kind", ["error", "issue"])
def test_what_is_reported_at_length_is_not_mended_in_tests_or_aside(kind: QuestionKind) -> None:
    weights = weights_of(kind)
    assert weights[signals.test.place] == weights[signals.aside.place] < weights[signals.document.place]
    for other in ("change", "report"):  # which subjects of commits are, too
        assert not weights_of(other)[signals.aside.place], "a change may be one of an example"


@pytest.mark.parametrize("kind", ["topic", "how", "change", "report", "task", "error", "issue", "name"])
def test_only_a_long_report_has_a_heading_that_counts_by_itself(kind: QuestionKind) -> None:
    counts = weights_of(kind)[signals.heading_words_beside_best.place] > 0
    assert counts == (kind in ("error", "issue"))


async def test_a_report_is_about_what_its_first_line_says_before_what_it_shows(tmp_path: Path) -> None:
    """Two functions that have as many of its words; the log below is of one of them, and longer."""
    store = await new_store(tmp_path / "memory.db")
    log = "worker started queue drained worker stopped queue flushed retry scheduled " * 5
    named = chunk("named.py", "alpha", "coupon rounding discount")
    shown = chunk("shown.py", "beta", "worker queue drained stopped")
    others = [chunk(f"u{n}.py", f"gamma_{n}", "nothing of that") for n in range(30)]
    try:
        await store.write([file(each.path, each) for each in (named, shown, *others)])
        report = f"Rounding of a coupon drops the discount\n\n{log}"
        assert parse_question(report).kind == "issue"
        told = await store.read(recall, parse_question(report), 5, NOW)
        flat = await store.read(recall, parse_question(report.replace("\n\n", " ")), 5, NOW)
    finally:
        await store.close()
    heading = signals.heading_words_beside_best
    assert {hit.chunk.name: hit.signals[heading] for hit in told if hit.chunk.path in ("named.py", "shown.py")} == {
        "alpha": 1.0,
        "beta": 0.0,
    }
    assert [hit.chunk.name for hit in told][:2] == ["alpha", "beta"]
    assert all(hit.signals[heading] == 0.0 for hit in flat), "without a line of its own there is no heading"


@pytest.fixture
def short_paths() -> Iterator[None]:
    """A signal as one adds it: a function, and nothing else."""

    @signal(weight=30.0)
    def short_path(candidates: Candidates) -> Column:
        """How short its path is."""
        return [1.0 / len(head.path) for head in candidates.heads]

    yield
    assert SIGNALS.pop() is short_path


async def found(store: Store) -> list[Hit]:
    return await store.read(recall, parse_question("expand a template"), 5, NOW)


async def test_a_signal_that_is_declared_ranks_and_is_explained(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    store = await new_store(tmp_path / "memory.db")
    try:
        for path, text in (("a.py", "expand"), ("long/way/down/template.py", "expand a template of a template")):
            await store.write([file(path, chunk(path, "work", text))])
        assert [hit.chunk.path for hit in await found(store)] == ["long/way/down/template.py", "a.py"]
        request.getfixturevalue("short_paths")
        hits = await found(store)
        assert [hit.chunk.path for hit in hits] == ["a.py", "long/way/down/template.py"]
        (told,) = (each for each in evidence.signals(hits[0]) if each.name == "short path")
        assert (told.value, told.weight, told.contribution) == (0.25, 30.0, 7.5)
    finally:
        await store.close()


async def test_what_is_explained_adds_up_to_the_strength(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "memory.db")
    try:
        await store.write([file("a.py", chunk("a.py", "expand_template", "work on values"))])
        for hit in await found(store):
            told = evidence.signals(hit, "task")
            assert sum(each.contribution for each in told) == pytest.approx(hit.strength, abs=1e-5)
            assert {each.name for each in told} <= {each.name for each in SIGNALS}
    finally:
        await store.close()


def test_what_is_as_strong_by_other_weights_is_in_the_candidates_order_again() -> None:
    table = SignalTable([[1.0, 1.0] for _ in SIGNALS])
    ranks = [Rank(1, 11, 2.0, table.rows[1]), Rank(0, 10, 1.0, table.rows[0])]
    assert [rank.id for rank in ranked_anew(ranks, table, weights_of())] == [10, 11]
