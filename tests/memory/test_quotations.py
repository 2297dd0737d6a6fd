"""Pasted messages and constants that are asked for: who says them, and who uses them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_indexer.workers.process_file import parse_source
from aurora_memory.recall import Hit, parse_question, recall
from aurora_memory.recall.quotations import LONG, Message, constant_at, message_text, pieces_of, standing_in
from aurora_memory.store import FileStat, IndexedFile, Store
from tests.memory.stores import filled_store

FILES = {
    "shop/errors.py": '"""Errors of the shop."""\n\n'
    'UNKNOWN = """\\\nReceived unregistered order of type %s.\nThe order has been ignored and discarded.\n"""\n\n'
    'SOLD_OUT = "Nothing of this article is left."\n',
    "shop/desk.py": "from shop.errors import SOLD_OUT, UNKNOWN\n\n\n"
    'def on_unknown(order):\n    """Tell it."""\n    log(UNKNOWN, order)\n\n\n'
    "def sell(article):\n    raise ValueError(SOLD_OUT)\n\n\n"
    "def orders_of(type):\n    # the type of an order that was received\n    return received(order, type)\n",
    "shop/till.go": "package shop\n\nconst (\n\tStatusClosedByBuyer = 499\n)\n\n"
    "func openTill(key string) error {\n"
    '\treturn fmt.Errorf("cannot open the till with key %q: it is locked", key)\n}\n',
    "shop/buyer.go": "package shop\n\nfunc statusOf(err error) int {\n\treturn StatusClosedByBuyer\n}\n",
    "shop/count.py": 'def count(cart):\n    """Count what lies in the cart."""\n'
    "    # Weigh what lies in the cart.\n    return len(cart)\n",
    "shop/options.py": 'def options():\n    """The command line."""\n'
    '    add("--watch", help="restart workers when files change (slow)")\n',
    "shop/watch.py": "def on_files_changed(workers):\n    restart(workers, files)\n",
    "shop/addresses.py": "def addresses():\n    return [80, 'https://shop.example/carts/12']\n",
    "shop/mean.py": "def mean(mean, you, did):\n    return mean(you, did, mean)\n",
    "shop/hint.py": 'def unknown_article(name):\n    return f"{name}? Did you mean {near(name)}?"\n\n\n'
    "def didYouMean(name):\n    return near(name)\n",
    "shop/counter.py": 'def close(counter):\n    fail("Counter is shut.")\n\n\n'
    'def refuse(name):\n    warn("Name is already in use.")\n',
    "shop/counters.py": "def is_shut(counter):\n    return counter.shut\n\n\n"
    "def in_use(name):\n    return name.already\n",
    "shop/texts.go": "package shop\n\ntype Texts struct {\n\tShelfIsEmptyErr string\n\tTitle string\n}\n\n"
    "func english() Texts {\n\treturn Texts{\n"
    + "\t\t// More.\n"
    * LONG
    + '\t\tShelfIsEmptyErr: "The shelf of that name holds nothing any more",\n'
    '\t\tTitle: "Wares of many kinds are sold here",\n\t}\n}\n',
    "shop/shelf.go": "package shop\n\nfunc take(texts Texts) error {\n\treturn errors.New(texts.ShelfIsEmptyErr)\n}\n\n"
    "func head(texts Texts) string {\n\treturn texts.Title\n}\n",
    "shop/radio.py": 'def broadcast(told):\n    """Broadcast. It sends a notice to all connected tills."""\n'
    "    return told\n",
    "shop/sending.py": "def send_notice(notice):\n    connected(tills)\n    send(notice, tills)\n",
    "tests/test_desk.py": 'def test_sold_out():\n    assert "Nothing of this article is left." in told()\n',
    "CHANGES.md": "# Changes\n\nReceived unregistered order of type %s. The order has been ignored and discarded.\n",
}


async def fill(store: Store) -> None:
    parsed = [parse_source(path, text.encode(), 5.0) for path, text in FILES.items()]
    await store.write([IndexedFile(FileStat(1, 1), each) for each in parsed if each])
    await store.resolve()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill)
    yield store
    await store.close()


async def found(store: Store, query: str) -> list[Hit]:
    return await store.read(recall, parse_question(query), 10, 1000.0, read=FILES.__getitem__)


@pytest.mark.parametrize(
    ("query", "first", "relation"),
    [
        pytest.param(
            "Received unregistered order of type 'books.rare'. The order has been ignored and discarded.",
            "on_unknown",
            "uses UNKNOWN",
            id="a constant of several lines, its value filled in",
        ),
        pytest.param(
            "ValueError: Nothing of this article is left.", "sell", "uses SOLD_OUT", id="behind an error's name"
        ),
        pytest.param(
            'cannot open the till with key "7": it is locked', "openTill", "says it", id="written where it is made"
        ),
        pytest.param(
            "cannot open the till with key https://shop.example/carts/12 on [:80]: it is locked",
            "openTill",
            "says it",
            id="what is filled in stands elsewhere, and is rarer than its words",
        ),
        pytest.param(
            "rpc failed: code = 7 desc = cannot open the till with key 3: it is locked",
            "openTill",
            "says it",
            id="behind what a program prints before it",
        ),
        pytest.param(
            "thread 'main' panicked at 'Nothing of this article is left.'",
            "sell",
            "uses SOLD_OUT",
            id="quoted in another",
        ),
        pytest.param(
            "restart workers when files change (slow): worker 7, worker 9",
            "options",
            "says it",
            id="before values that are as long",
        ),
        pytest.param(
            "The shelf of that name holds nothing any more",
            "take",
            "uses ShelfIsEmptyErr",
            id="in a long table, by who uses its key",
        ),
        pytest.param("Wares of many kinds are sold here", "english", "says it", id="a key of one word is used by many"),
        pytest.param("Counter is shut.", "close", "says it", id="of three words all are said"),
        pytest.param("Name is already in use.", "refuse", "says it", id="two of its words tell something"),
    ],
)
async def test_who_says_a_pasted_message_answers_first(store: Store, query: str, first: str, relation: str) -> None:
    hits = await found(store, query)
    assert (hits[0].chunk.name, hits[0].relation) == (first, relation)


async def test_beside_its_users_stands_the_text_of_a_message(store: Store) -> None:
    _, second, *_ = await found(store, "Nothing of this article is left!")
    assert (second.chunk.path, second.focus, second.relation) == ("shop/errors.py", (8, 8), "says it")


async def test_one_is_led_to_the_line_of_a_long_definition(store: Store) -> None:
    _, second, *_ = await found(store, "The shelf of that name holds nothing any more")
    line = (
        FILES["shop/texts.go"]
        .split("\n")
        .index('\t\tShelfIsEmptyErr: "The shelf of that name holds nothing any more",')
    )
    assert (second.chunk.name, second.focus, second.relation) == ("english", (line + 1, line + 1), "says it")


async def test_who_asks_in_a_sentence_of_documentation_has_what_it_documents_first(store: Store) -> None:
    for query in ("send a notice to all connected tills", "sends notices to all connected tills"):
        assert (await found(store, query))[0].chunk.name == "broadcast"
    assert (await found(store, "tills connected to all notices are sent"))[0].chunk.name != "broadcast", "in its order"
    assert (await found(store, "connected tills"))[0].chunk.name != "broadcast", "a few words are no sentence"


async def test_what_is_typed_as_a_question_is_said_nearly_whole(store: Store) -> None:
    assert any(hit.relation for hit in await found(store, "Nothing of this article is left for Ann."))
    assert not any(hit.relation for hit in await found(store, "nothing of this article is left for ann"))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("No value is given for: start, end", ["no value is given for"]),
        ("panicked at 'no cart was found'", ["no cart was found"]),
        ("a: b: c", []),
        ("no cart was found", []),
        ("one two three four: " * 20, []),
        ("a b c d: a b c d e: a b c d e f: a b c d e f g", ["a b c d e f g", "a b c d e f", "a b c d e"]),
    ],
)
def test_pieces_of_what_a_program_prints_are_several_words_each(text: str, pieces: list[str]) -> None:
    assert pieces_of(text) == pieces


async def test_documentation_and_comments_are_no_message(store: Store) -> None:
    for query in ("Count what lies in the cart.", "Weigh what lies in the cart."):
        assert not any(hit.relation for hit in await found(store, query))


async def test_of_three_words_two_are_no_message(store: Store) -> None:
    assert not any(hit.relation for hit in await found(store, "Counter is open."))
    assert not any(hit.relation for hit in await found(store, "shut the counter"))


async def test_typed_words_that_stand_in_a_longer_text_come_behind_the_first(store: Store) -> None:
    first, second, *_ = await found(store, "restart workers when files change")
    assert (first.chunk.name, second.chunk.name) == ("on_files_changed", "options")


@pytest.mark.parametrize(
    ("name", "place", "user"),
    [
        ("UNKNOWN", ("shop/errors.py", (3, 3)), "on_unknown"),
        ("StatusClosedByBuyer", ("shop/till.go", (4, 4)), "statusOf"),
    ],
)
async def test_who_uses_a_constant_comes_behind_its_declaration(
    store: Store, name: str, place: tuple[str, tuple[int, int]], user: str
) -> None:
    first, second, *_ = await found(store, name)
    assert (first.chunk.path, first.focus) == place
    assert (second.chunk.name, second.relation) == (user, f"uses {name}")


async def test_a_phrase_is_meant_as_it_stands_or_as_a_name(store: Store) -> None:
    hits = await found(store, '"did you mean"')
    assert {hit.chunk.name for hit in hits[:2]} == {"unknown_article", "didYouMean"}
    hits = await found(store, 'where is the "did you mean" of an unknown article made')
    assert [hit.chunk.path for hit in hits].index("shop/hint.py") < [hit.chunk.path for hit in hits].index(
        "shop/mean.py"
    )


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ('"did you mean"', ("did you mean",)),
        ("where is \u201cno cart\u201d said", ("no cart",)),
        ('the "cart" of two', ()),
        ("it's the cart's", ()),
        ('say("no cart")', ("no cart",)),
        ('x = f"no cart"', ()),
    ],
)
def test_phrases_are_several_words_in_quotation_marks(query: str, phrases: tuple[str, ...]) -> None:
    assert parse_question(query).phrases == phrases


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("No cart of 'ann' was found here", "no cart of \0 was found here"),
        ("[2026-01-02 10:00:00: ERROR/Main] No cart was found here", "no cart was found here"),
        ("2026-01-02T10:00:00Z WARNING shop.CartError: no cart was found", "no cart was found"),
        ('"No cart was found"', "no cart was found"),
        ("unknown 'cart of ann' here", "unknown 'cart of ann' here"),
        ("till on [:80] cannot open for https://shop.example/a?b=1 today", "till on \0 cannot open for \0 today"),
        ("dial 127.0.0.1:54: cart was refused by the till", "dial \0: cart was refused by the till"),
        ("sold 12 of 40 carts to ann (#7)", "sold \0 of \0 carts to ann \0)"),
        ("shop::cart in src/cart.py:12 over http/2 is gone", "shop::cart in src/cart.py:12 over http/2 is gone"),
        ("exit status of 1", "exit status of 1"),
        ("Error processing RSS feed https://x.org/feed", "error processing rss feed \0"),
        ("Error: no cart here", "error: no cart here"),
        ("ERROR no cart 7", "no cart 7"),
    ],
)
def test_a_message_is_told_without_its_values_and_what_logs_print(text: str, said: str) -> None:
    assert message_text(text) == said


@pytest.mark.parametrize(
    ("text", "line", "is_whole"),
    [
        ('x = 1\nfail("no cart was found here")', 2, True),
        ('fail("no cart "\n     "was found here: " + name)', 1, False),
        ('fail("\\nNo cart was found\\nhere")', 1, False),
        ("# no cart was found here", None, False),
        (" * no cart was found here", None, False),
        ("/*no cart was found here", None, False),
        (' *error = "no cart was found here";', 1, True),
        (' *(error) = "no cart was found here";', 1, True),
        ("here = found(cart)  # was no", None, False),
    ],
)
def test_a_message_stands_where_most_of_it_is_in_order(text: str, line: int | None, is_whole: bool) -> None:
    message = Message("no cart was found here".split(), ["no cart", "was found"])
    place = standing_in(text, message)
    assert (place and (place.line, place.is_whole)) == (line and (line, is_whole))


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ('A = 1\nB = (\n    "text"\n)\n', "python", ["B"]),
        ('#define A \\\n  "x" \\\n  "text"\n', "c", ["A"]),
        ('const (\n\tA = 1\n\tB = "text"\n)\n', "go", ["B"]),
        ('A = """\\\nfirst\ntext\n"""\n', "python", ["A"]),
        ('A = 1\n\nprint("text")\n', "python", []),
    ],
)
def test_the_constant_of_a_line_is_the_nearest_above(text: str, language: str, names: list[str]) -> None:
    assert list(constant_at(text, 3, language)) == names
