"""How a query is parsed into a question."""

from __future__ import annotations

import pytest

from aurora_memory.recall import parse_question
from aurora_memory.recall.question import AS_ONE, ERRAND, SUGGESTED


def test_a_question_says_suggests_and_asks_for_errands() -> None:
    question = parse_question("fix the config loading of `Syntax`")
    assert question.weights["config"] == 1.0
    assert question.weights["cfg"] == SUGGESTED
    assert question.weights["fix"] == ERRAND
    assert question.identifiers == ("Syntax",)
    assert not question.by_name
    assert parse_question("fix").weights["fix"] == 1.0, "a question of nothing else is about it"
    assert parse_question("Fix the parser").weights["fix"] == ERRAND


def test_names_alone_ask_by_name() -> None:
    for query in (
        "AuthService.login",
        "parse_latex",
        "where is parse_latex defined",
        "Symbol",
        "a::b",
        "get",
        " find ",
    ):
        assert parse_question(query).by_name, query
    for query in ("parse latex", "how does parse_latex treat matrices", "cache decorator", "get the"):
        assert not parse_question(query).by_name, query


@pytest.mark.parametrize("query", ["content-type", '"content-type"', "handler-class", "content-type header"])
def test_what_is_joined_by_a_hyphen_is_no_kind_and_a_name(query: str) -> None:
    assert not parse_question(query).by_name
    assert parse_question(query).identifiers == ()


def test_a_kind_before_a_name_is_one() -> None:
    assert parse_question("type content").identifiers == ("content",)
    assert parse_question("get-adapter").identifiers == ("adapter",)


@pytest.mark.parametrize(
    "name", ["max_rows", "maxRows", "rowsOf3D", "Cart.total", "Cart::total", "Cart#total", "sha256"]
)
def test_what_is_spelled_as_code_is_a_name_in_any_sentence(name: str) -> None:
    assert parse_question(f"keep {name} of carts").identifiers == (name.replace("::", ".").replace("#", "."),)
    assert parse_question("keep Rows of carts").identifiers == ()


def test_what_the_other_side_of_the_ocean_spells_otherwise_counts_as_much() -> None:
    weights = parse_question("colour of carts").weights
    assert weights["color"] == weights["colour"] == 1.0


def test_the_name_at_a_place_is_one_that_is_asked_for() -> None:
    assert parse_question("src/auth.py:login").identifiers == ("login",)
    assert parse_question("fix src/auth.py:login of Session").identifiers == ("login",)
    assert parse_question("src/auth.py:45").identifiers == ()


def test_the_id_of_a_reasoning_chunk_is_known_by_its_prefix() -> None:
    assert parse_question(" reas:token-expiry:v2 ").reasoning_id == "reas:token-expiry:v2"
    assert parse_question("how does reas: work").reasoning_id is None


def test_a_task_and_what_it_is_done_to_may_be_one_name() -> None:
    assert parse_question("fix all on save").weights["fixal"] == 1.0
    assert parse_question("add a line, find all").weights.keys() >= {"adda", "findal"}
    assert not {"asav", "onsav"} & parse_question("save a thing on save").weights.keys()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("class Option(Parameter):", "Option"),
        ("    async def parse_args(self, ctx: Context) -> list[str]:", "parse_args"),
        ("func (c *Command) Execute() error {", "Execute"),
        ("pub(crate) async fn apply<T>(self, dst: &mut T) -> Result<()> {", "apply"),
        ("export default class Application extends Emitter {", "Application"),
        ("public interface Cart<T> extends Iterable<T> {", "Cart"),
        ("class Web::Base < Rack::Base", "Web.Base"),
        ("def route!(base = settings)", "route"),
        ("struct Db {", "Db"),
        ("(*Command).Execute", "Command.Execute"),
        ("pkg.(*Command).Execute", "pkg.Command.Execute"),
    ],
)
def test_a_pasted_line_that_defines_something_asks_for_that(line: str, name: str) -> None:
    question = parse_question(line)
    assert (question.identifiers, question.by_name, question.kind) == ((name,), True, "name")


@pytest.mark.parametrize(
    "line",
    [
        "interface of the cart",
        "module system: how are files found",
        "trait objects (dyn)",
        "function calls in templates",
        "class Option(Parameter):\n    def convert(self):\n        return 1",
    ],
)
def test_words_that_only_begin_as_a_definition_are_words(line: str) -> None:
    assert parse_question(line).kind != "name"


@pytest.mark.parametrize(
    ("subject", "scope"),
    [
        ("parser: keep blank lines", ("parser",)),
        ("fix(parser): keep blank lines", ("parser",)),
        ("feat(core/http_client)!: keep blank lines", ("http", "client")),
        ("[parser] keep blank lines", ("parser",)),
        ("src/parser.c: keep blank lines", ("parser",)),
        ("src/parser/: keep blank lines", ("parser",)),
        ("test/parser: keep blank lines", ("parser",)),
        ("fix: keep blank lines", ()),
        ("[CI] keep blank lines", ()),
        ("std::parser keeps blank lines", ()),
        ("keep blank lines: they tell", ()),
        ("fix the parser: keep blank lines", ()),
    ],
)
def test_the_scope_of_a_change_is_what_it_begins_with(subject: str, scope: tuple[str, ...]) -> None:
    assert parse_question(subject).scope == scope


def test_only_a_change_has_a_scope_and_tests_may_be_one() -> None:
    assert parse_question(f"parser: {'keep blank lines ' * 20}").scope == ()
    assert parse_question("test/parser: keep blank lines").about_tests
    assert parse_question("test(parser): keep blank lines").about_tests
    assert not parse_question("testing/parser keeps blank lines").about_tests


@pytest.mark.parametrize(
    ("report", "heading"),
    [
        (f"Carts lose `tax_rates`\n\n{'it is said again ' * 12}", {"cart", "lose", "tax", "rate", "taxrat"}),
        (f"\n  Carts lose rates \n{'it is said again ' * 12}", {"cart", "lose", "rate"}),
        ("Carts lose rates " * 15, set()),  # nothing follows that would say less
        ("Carts lose rates " * 15 + "\n", set()),
        ("Carts lose rates\n\nit is said once", set()),
        ("KeyError: rates\n\nit is said once", set()),
    ],
)
def test_the_heading_of_a_report_is_its_first_line(report: str, heading: set[str]) -> None:
    assert parse_question(report).heading == heading


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("keep `rates` of the cart", ("rates",)),
        ("keep ``rates`` of the cart and ``taxes`` as well", ("rates", "taxes")),
        ("keep ``rates of`` the cart", ("rates", "of")),
        ("keep ``rates`` of ``", ("rates",)),
        ("keep carts ``` of ``` as well", ()),
    ],
)
def test_what_stands_between_two_quoted_names_is_not_quoted(said: str, names: tuple[str, ...]) -> None:
    assert parse_question(said).identifiers == names


def test_a_stop_word_is_a_name_where_it_is_quoted_alone() -> None:
    assert "where" in parse_question("keep the rates of ``where`` in carts").weights
    assert "where" in parse_question("keep the rates of `where()` in carts").weights
    assert "where" not in parse_question("keep ``tax rates`` where ``carts`` are").weights
    assert "where" not in parse_question("keep `tax.rates` where `carts` are").weights
    assert "where" not in parse_question("keep the rates `where they are` in carts").weights


def test_two_words_may_be_one() -> None:
    weights = parse_question("the time zone of carts").weights
    assert weights["timezon"] == AS_ONE
    assert "zonecart" not in weights, "a word stands between them"


@pytest.mark.parametrize("query", ["nick in use", "where is a port in use said"])
def test_in_use_is_said_of_a_thing_and_asks_for_no_users(query: str) -> None:
    question = parse_question(query)
    assert not question.by_name
    assert "use" in question.terms
    assert parse_question("use of nick").by_name, "of nothing else"
