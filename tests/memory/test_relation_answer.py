"""Questions about relations: which they are, and what answers them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.chunks import CodeChunk, Import
from aurora_memory.recall.question import parse_question
from aurora_memory.recall.relation_answer import answer
from aurora_memory.recall.relation_question import Asked, RelationQuestion, answered_as_words, relation_question
from aurora_memory.store import Store, chunk_reader
from aurora_memory.store.commit_writer import ChangingCommit
from aurora_memory.store.relation_reader import arcs, edges, usages
from aurora_memory.views import UsageCounts
from tests.memory.chunks import chunk, file
from tests.memory.stores import filled_store, new_store


@pytest.mark.parametrize(
    ("text", "asked", "name"),
    [
        ("who calls parse", "callers", "parse"),
        ("What calls `Auth.login()`?", "callers", "Auth.login"),
        ("which functions call parse", "callers", "parse"),
        ("callers of parse", "callers", "parse"),
        *(
            (f"where is the {kind} parse used?", "callers", "parse")
            for kind in "function method class interface trait type file module struct macro".split()
        ),
        ("what does login call", "callees", "login"),
        ("what implements Store", "heirs", "Store"),
        ("which classes inherit from Base", "heirs", "Base"),
        ("subclasses of ns::Base", "heirs", "ns::Base"),
        ("implementations of the interface Store", "heirs", "Store"),
        ("what usually changes with src/auth.py", "together", "src/auth.py"),
        ("what changes together with login?", "together", "login"),
        ("co-changes with login", "together", "login"),
        ("show me all callers of parse()", "callers", "parse"),
        ("who is calling parse", "callers", "parse"),
        ("what is parse used by", "callers", "parse"),
        ("references to parse", "callers", "parse"),
        ("list subclasses of Base", "heirs", "Base"),
        ("implementers of Store", "heirs", "Store"),
    ],
)
def test_what_is_asked(text: str, asked: Asked, name: str) -> None:
    assert relation_question(text) == RelationQuestion(asked, name)


@pytest.mark.parametrize(
    "text", ["session management", "how does login call the database", "callers", "what changed", "who wrote this code"]
)
def test_what_is_not(text: str) -> None:
    assert relation_question(text) is None


async def fill(store: Store) -> None:
    base = (Import("base", "Base"), Import("base", "parse"))
    await store.write(
        [
            file("base.py", chunk("base.py", "Base", kind="class"), chunk("base.py", "parse", line=9)),
            file("a.py", chunk("a.py", "A", kind="class", inherits=("Base",)), imports=base),
            file("b.py", chunk("b.py", "load", "one", calls=("parse",)), imports=base),
            file("c.py", chunk("c.py", "save", "two", calls=("db.parse",)), imports=base),
            file("d.py", chunk("d.py", "Load", kind="class")),
        ]
    )
    await store.resolve()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill)
    yield store
    await store.close()


async def told(store: Store, text: str) -> tuple[list[str], str] | None:
    found = await store.read(answer, parse_question(text), 10, 1000.0)
    return ([hit.chunk.name for hit in found.hits], found.said) if found else None


async def test_callers_are_told_surest_first(store: Store) -> None:
    found = await store.read(answer, parse_question("who calls parse?"), 10, 1000.0)
    assert found is not None
    assert [hit.chunk.name for hit in found.hits] == ["load", "save"]
    assert found.hits[0].score > 0.9 > 0.6 > found.hits[1].score
    assert [hit.is_likely for hit in found.hits] == [False, True]
    assert found.said == "1 calls 'parse', and maybe 1 more."


async def test_what_is_made_is_told_before_what_tests_it_and_what_is_sure_before_both(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "memory.db")
    imports = (Import("base", "parse"),)
    files = [
        ("a_test.py", "test_parse", ("parse",)),
        ("b.py", "load", ("parse",)),
        ("c.py", "save", ("db.parse",)),
        ("d_test.py", "test_load", ("db.parse",)),
    ]
    made = [file(path, chunk(path, name, name, calls=calls), imports=imports) for path, name, calls in files]
    await store.write([file("base.py", chunk("base.py", "parse")), *made])
    await store.resolve()
    found = await store.read(answer, parse_question("who calls parse"), 9, 0.0)
    await store.close()
    assert found is not None
    assert [hit.chunk.name for hit in found.hits] == ["load", "test_parse", "save", "test_load"]


async def test_who_hands_it_on_comes_after_who_surely_calls_it(store: Store) -> None:
    imports = (Import("base", "parse"),)
    await store.write(
        [
            file("e.py", chunk("e.py", "start", hands_on=("parse",)), imports=imports),
            file("f.py", chunk("f.py", "both", calls=("parse",), hands_on=("parse",)), imports=imports),
            file("g.py", chunk("g.py", "unsure", hands_on=("parse",))),
            file("h.py", chunk("h.py", "lonely"), chunk("h.py", "giver", line=9, hands_on=("lonely",))),
        ]
    )
    await store.resolve()
    found = await store.read(answer, parse_question("who uses parse?"), 10, 1000.0)
    assert found is not None
    assert [(hit.chunk.name, hit.relation) for hit in found.hits] == [
        ("load", ""),
        ("both", ""),
        ("start", "passes it on"),
        ("save", ""),
    ]
    assert found.said == "2 call 'parse', and maybe 1 more. 1 passes it on without calling it."
    assert await told(store, "who calls lonely") == (["giver"], "1 passes 'lonely' on without calling it.")
    (parse,) = await store.read(chunk_reader.named, ["parse"], 9)
    assert (await store.read(usages, [parse.id]))[parse.id] == UsageCounts(callers=2, likely_callers=1, handed_on=1)


async def test_nothing_spreads_over_what_is_handed_on(store: Store) -> None:
    await store.write([file("e.py", chunk("e.py", "start", hands_on=("parse",)), imports=(Import("base", "parse"),))])
    await store.resolve()
    (start,) = await store.read(chunk_reader.named, ["start"], 9)
    (parse,) = await store.read(chunk_reader.named, ["parse"], 9)
    assert [each.kind for each in await store.read(edges, start.id) if each.other.id == parse.id][:1] == ["hands on"]
    assert {kind for _, _, kind, *_ in await store.read(arcs, [start.id], 32)} <= {"imports"}


async def test_subclasses_and_callees(store: Store) -> None:
    assert await told(store, "what implements Base") == (["A"], "1 inherits from 'Base'.")
    assert await told(store, "what does load call") == (["parse"], "1 is called by 'load'.")


async def test_what_implements_a_method_is_what_heirs_call_so_their_heirs_as_well(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "memory.db")
    kinds = {"Base": (), "Base.run": (), "Son": ("Base",), "Son.run": (), "Daughter": ("Base",), "Daughter.go": ()}
    kinds |= {"Grandson": ("Daughter",), "Grandson.run": (), "Stranger": (), "Stranger.run": ()}
    made = [
        chunk("a.py", name, kind="method" if "." in name else "class", line=10 * n + 1, inherits=bases)
        for n, (name, bases) in enumerate(kinds.items())
    ]
    await store.write([file("a.py", *made)])
    await store.resolve()
    assert await told(store, "what implements Base.run") == (["Son.run", "Grandson.run"], "2 override 'Base.run'.")
    assert await told(store, "what overrides Daughter.go") == (
        [],
        "Nothing here overrides 'Daughter.go', as far as is known.",
    )
    by_leaf = (["Son.run", "Grandson.run"], "2 override 'run'.")
    assert await told(store, "what overrides run") == by_leaf, "of all that are called so, those that override one"
    assert await told(store, "subclasses of Daughter") == (["Grandson"], "1 inherits from 'Daughter'.")
    await store.close()


async def test_an_override_is_as_sure_as_the_least_sure_base_on_the_way(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "memory.db")
    base = [chunk("a.py", "Base", kind="class"), chunk("a.py", "Base.run", kind="method", line=9)]
    heirs: list[CodeChunk] = []
    for n, (name, of) in enumerate({"Sure": "Base", "Unsure": "Other", "Below": "Unsure", "Deep": "Sure"}.items()):
        heirs += [
            chunk("b.py", name, kind="class", line=20 * n + 1, inherits=(of,)),
            chunk("b.py", f"{name}.run", kind="method", line=20 * n + 9),
        ]
    other = [chunk("c.py", "Other", kind="class", inherits=("Base",))]
    twin = [
        chunk("d.py", "Sure", kind="class"),
        chunk("d.py", "Sure.run", kind="method", line=9),
    ]
    await store.write(
        [
            file("a.py", *base),
            file("b.py", *heirs, imports=(Import("a", "Base"), Import("c", "Other"))),
            file("c.py", *other),
            file("d.py", *twin),
        ]
    )
    await store.resolve()
    found = await store.read(answer, parse_question("what overrides Base.run"), 10, 1000.0)
    await store.close()
    assert found is not None
    assert [(hit.chunk.path, hit.chunk.name, hit.is_likely) for hit in found.hits] == [
        ("b.py", "Sure.run", False),
        ("b.py", "Deep.run", False),
        ("b.py", "Unsure.run", True),
        ("b.py", "Below.run", True),
    ], "a class of the same name in another file of the folder is another class"


async def test_nothing_is_said_to_be_nothing_and_unknown_names_are_other_questions(store: Store) -> None:
    assert await told(store, "subclasses of A") == ([], "Nothing here inherits from 'A', as far as is known.")
    assert await told(store, "who calls the shots") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("who calls prase", "Nothing here is called 'prase'; did you mean 'parse'?"),
        ("who calls sav", "Nothing here is called 'sav'; did you mean 'save'?"),
        ("subclasses of Bsae", "Nothing here is called 'Bsae'; did you mean 'Base'?"),
        ("subclasses of Losd", "Nothing here is called 'Losd'; did you mean 'Load'?"),
        ("who calls losd", "Nothing here is called 'losd'; did you mean 'load'?"),
        ("callers of read_all_rows", "Nothing here is called 'read_all_rows'."),
        ("who calls `par`", "Nothing here is called 'par'; did you mean 'parse'?"),
        ("who calls `qarse`", "Nothing here is called 'qarse'; did you mean 'parse'?"),
        ("who calls `parse_it`", "Nothing here is called 'parse_it'."),
        ("what usually changes with `zzz`", "Nothing here is called 'zzz'."),
        ("who calls nobodyhere", "Nothing here is called 'nobodyhere'."),
        ("what implements kubernetes", "Nothing here is called 'kubernetes'."),
    ],
)
async def test_a_name_that_nothing_has_is_said_with_the_one_most_like_it(store: Store, text: str, said: str) -> None:
    found = await store.read(answer, parse_question(text), 10, 1000.0)
    assert found is not None
    assert (found.hits, found.said, found.is_unknown) == ([], said, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("who calls db.parse", "1 calls 'parse', and maybe 1 more."),
        ("who calls self.db.parse()", "1 calls 'parse', and maybe 1 more."),
        ("who calls pkg::base::parse", "1 calls 'base.parse', and maybe 1 more."),
        ("what implements pkg.Base", "1 inherits from 'Base'."),
        ("who calls Base.parse", "Nothing here is called 'Base.parse'; did you mean 'parse'?"),
        ("who calls Cart.parse", "Nothing here is called 'Cart.parse'; did you mean 'parse'?"),
        ("who calls db.prase", "Nothing here is called 'db.prase'; did you mean 'parse'?"),
        ("who calls other.py:parse", "Nothing here is called 'other.py:parse'; did you mean 'parse'?"),
        (
            "what usually changes with db.parse",
            "No two commits known here changed 'parse' together with something else.",
        ),
    ],
)
async def test_what_only_the_askers_file_calls_so_is_no_part_of_the_name(store: Store, text: str, said: str) -> None:
    found = await store.read(answer, parse_question(text), 10, 1000.0)
    assert found is not None
    assert found.said == said


async def fill_marked(store: Store) -> None:
    names = {"Base.route": (), "Base.route!": (), "Base.empty?": (), "Base.drop!": (), "Base.drop?": ()}
    calling = {"get": ("route",), "call": ("route!",), "check": ("empty?",), "ask": ("drop?",), "do": ("drop!",)}
    made = [
        chunk("base.rb", name, kind="method" if "." in name else "function", line=10 * n + 1, calls=calls)
        for n, (name, calls) in enumerate((names | calling).items())
    ]
    await store.write([file("base.rb", *made)])
    await store.resolve()


@pytest.mark.parametrize(
    ("text", "callers", "said"),
    [
        ("who calls route!", ["call"], "1 calls 'route!'."),
        ("who calls Base#route!", ["call"], "1 calls 'Base#route!'."),
        ("who calls route", ["get"], "1 calls 'route'."),
        ("who calls route?", ["get"], "1 calls 'route'."),
        ("who calls route!?", ["call"], "1 calls 'route!'."),
        ("who calls empty?", ["check"], "1 calls 'empty?'."),
        ("who calls empty", ["check"], "1 calls 'empty?'."),
        ("who calls get!", [], "Nothing here calls 'get', as far as is known."),
        ("who calls drop", ["ask"], "1 calls 'drop?'."),
    ],
)
async def test_a_mark_at_the_end_is_of_the_name_where_something_is_called_so(
    tmp_path: Path, text: str, callers: list[str], said: str
) -> None:
    store = await filled_store(tmp_path / "memory.db", fill_marked)
    found = await store.read(answer, parse_question(text), 10, 1000.0)
    await store.close()
    assert found is not None
    assert ([hit.chunk.name for hit in found.hits], found.said.removeprefix("Maybe ")) == (callers, said)


@pytest.mark.parametrize(
    "text",
    [
        *("what uses parsers", "who calls the parsed", "where are loads used", "users of parsers", "usages of loads"),
        *("who is using parsers", "what depends on parsers"),
    ],
)
async def test_words_of_the_language_are_other_questions(store: Store, text: str) -> None:
    assert await told(store, text) is None


async def test_what_changes_together(store: Store) -> None:
    ids = {}
    for path, name in (("base.py", "parse"), ("b.py", "load"), ("c.py", "save")):
        (one,) = await store.read(chunk_reader.by_name, path, name)
        ids[name] = one.id
    commits = [
        ChangingCommit(
            f"{n:040x}", n, "fix", "", 2, False, (ids["parse"], ids["load"], *([ids["save"]] if n < 2 else []))
        )
        for n in (1, 2, 3)
    ]
    await store.history.save(commits, {row: name for name, row in ids.items()})
    assert await told(store, "what usually changes with parse") == (["load"], "1 changed with 'parse'.")
    found = await store.read(answer, parse_question("what usually changes with load"), 10, 1000.0)
    assert found is not None
    assert [(hit.chunk.name, hit.relation) for hit in found.hits] == [("parse", "3 of 3 commits")]
    more = ChangingCommit(f"{9:040x}", 9, "alone", "", 1, False, (ids["parse"],))
    await store.history.save([more], {row: name for name, row in ids.items()})
    found = await store.read(answer, parse_question("what usually changes with parse"), 10, 1000.0)
    assert found is not None
    assert [(hit.chunk.name, hit.relation) for hit in found.hits] == [("load", "3 of 4 commits")]
    assert await told(store, "what changes with base.py") == (["load"], "1 changed with 'base.py'.")
    (base,) = await store.read(chunk_reader.by_name, "base.py", "Base")
    within = [ChangingCommit(f"{n:040x}", n, "own", "", 1, False, (ids["parse"], base.id)) for n in (20, 21)]
    await store.history.save(within, {ids["parse"]: "parse", base.id: "Base"})
    assert await told(store, "what changes with base.py") == (["load"], "1 changed with 'base.py'."), "not itself"


async def test_of_files_of_one_name_the_one_that_is_no_test_is_asked_about(store: Store) -> None:
    paths = {"tests/repl.rs": "test_repl", "crates/cli/src/repl.rs": "evaluate", "crates/cli/src/prompt.rs": "prompt"}
    await store.write([file(path, chunk(path, name, language="rust")) for path, name in paths.items()])
    rows = {path: (await store.read(chunk_reader.by_name, path, name))[0].id for path, name in paths.items()}
    together = (rows["crates/cli/src/repl.rs"], rows["crates/cli/src/prompt.rs"])
    commits = [ChangingCommit(f"{n:040x}", n, "fix", "", 2, False, together) for n in (1, 2, 3)]
    await store.history.save(commits, {row: paths[path] for path, row in rows.items()})
    assert await told(store, "what changes with repl.rs") == (["prompt"], "1 changed with 'repl.rs'.")


async def test_what_changed_equally_often_with_a_file_comes_in_the_order_of_how_often_it_changes_then_of_its_share(
    tmp_path: Path,
) -> None:
    store = await new_store(tmp_path / "memory.db")
    names = {"often": "a.py", "seldom": "a.py", "first": "b.py", "second": "c.py", "both": "d.py", "most": "e.py"}
    written = [chunk(path, name, line=10 * n + 1) for n, (name, path) in enumerate(names.items())]
    await store.write(
        [file(path, *(one for one in written if one.path == path)) for path in dict.fromkeys(names.values())]
    )
    ids = {name: (await store.read(chunk_reader.by_name, path, name))[0].id for name, path in names.items()}
    together = [
        *[("often", "first", "both"), ("often", "first", "both"), ("often",), ("often",), ("often",)],
        *[("seldom", "second", "both", "most"), ("seldom", "second", "both", "most"), ("seldom", "most")],
    ]
    commits = [
        ChangingCommit(f"{n:040x}", n, "fix", "", 2, False, tuple(ids[each] for each in each_of))
        for n, each_of in enumerate(together, 1)
    ]
    await store.history.save(commits, {row: name for name, row in ids.items()})
    found = await store.read(answer, parse_question("what usually changes with a.py"), 10, 1000.0)
    await store.close()
    assert found is not None
    assert [(hit.chunk.name, hit.relation) for hit in found.hits] == [
        ("most", "3 of 3 commits"),
        ("both", "2 of 3 commits"),
        ("second", "2 of 3 commits"),
        ("first", "2 of 5 commits"),
    ]


async def changed(store: Store, *commits: tuple[int, tuple[str, ...]]) -> None:
    """Commits, each with how many files it changed and the names of what."""
    ids = {}
    for name in {name for _, names in commits for name in names}:
        (one,) = await store.read(chunk_reader.named, [name], 9)
        ids[name] = one.id
    made = [
        ChangingCommit(f"{n:040x}", n, "fix", "", files, False, tuple(ids[name] for name in names))
        for n, (files, names) in enumerate(commits, 1)
    ]
    await store.history.save(made, {row: name for name, row in ids.items()})


@pytest.fixture
async def released(tmp_path: Path) -> AsyncIterator[Store]:
    """A library whose every commit is told in its changelog, and whose releases change its version."""
    store = await Store.open(tmp_path / "memory.db")
    code = [file(f"{name}.py", chunk(f"{name}.py", name, name)) for name in ("cart", "till", "rates", "mail", "lonely")]
    versions = [chunk("CHANGES.md", each, each, kind="section", language="markdown") for each in ("v1", "v2", "v3")]
    await store.write([*code, file("CHANGES.md", *versions), file("setup.py", chunk("setup.py", "version"))])
    yield store
    await store.close()


async def test_what_changes_with_everything_changes_with_nothing_in_particular(released: Store) -> None:
    await changed(
        released,
        *[(3, ("cart", "till", "v1"))] * 3,
        *[(3, ("cart", "version", "v2"))] * 2,
        *[(2, ("mail", "v2"))] * 4,
        *[(2, ("version", "v3"))] * 6,
        *[(2, ("rates", "v3", "version"))] * 2,
        *[(90, ("cart", "till", "rates", "mail", "version", "lonely"))] * 2,
    )
    found = await released.read(answer, parse_question("what usually changes with cart"), 10, 1000.0)
    assert found is not None
    assert [(hit.chunk.name, hit.relation) for hit in found.hits] == [("till", "5 of 7 commits")]
    alone = await released.read(answer, parse_question("what usually changes with mail"), 10, 1000.0)
    assert alone is not None
    assert "v2" not in [hit.chunk.name for hit in alone.hits]


async def test_where_all_of_it_is_chance_that_is_said(released: Store) -> None:
    await changed(released, *[(2, ("version", "v1"))] * 9, *[(2, ("lonely", "v1"))] * 2)
    assert await told(released, "what usually changes with lonely") == (
        [],
        "'lonely' changed only together with what changes with everything.",
    )
    assert await told(released, "what usually changes with cart") == (
        [],
        "No two commits known here changed 'cart' together with something else.",
    )


async def test_of_few_commits_none_speaks_against_what_changed_together(released: Store) -> None:
    await changed(released, *[(2, ("cart", "till"))] * 2, *[(1, ("till",))] * 2)
    assert await told(released, "what usually changes with cart") == (["till"], "1 changed with 'cart'.")


@pytest.mark.parametrize(
    ("name", "is_code"),
    [
        *((name, True) for name in ("qq.zz", "qq_zz", "qq:zz", "qq/zz", "qq#zz", "qq$zz", "qqZz", "q1Zz", "Qqzz")),
        *((name, True) for name in ("`qqzz`", "'qqzz'", "qqzz()")),
        *((name, True) for name in ("qqzz", "qq-zz")),  # which stand nowhere
        ("nothing", False),  # a word that stands in texts here may be a topic
    ],
)
async def test_who_asks_for_what_is_spelled_as_code_or_stands_nowhere_hears_that_it_is_not_here(
    store: Store, name: str, is_code: bool
) -> None:
    found = await store.read(answer, parse_question(f"who calls {name}"), 10, 1000.0)
    assert (found is not None and found.is_unknown) is is_code


SPOKEN = (
    "save connect serializer version block exist fail cache settings retries caching pagination hooks redis database"
    " memory root access shots timeouts policy requests python production sessions login retry run get windows token"
)


@pytest.fixture
async def spoken(tmp_path: Path) -> AsyncIterator[Store]:
    """A memory that has all these words in its texts, and nothing that is called so."""
    store = await Store.open(tmp_path / "memory.db")
    await store.write([file("a.py", chunk("a.py", "Holder", SPOKEN, kind="class"))])
    yield store
    await store.close()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(
            (f"{how} save", "save")
            for how in ("who calls", "what calls", "who is calling", "callers of", "what invokes")
        ),
        *(
            (f"{how} save", "save")
            for how in ("call sites of", "which functions call", "who instantiates", "callees of")
        ),
        *((f"what overrides {name}", name) for name in ("connect", "run", "access")),
        *((f"what implements {name}", name) for name in ("serializer", "cache", "version", "access")),
        *((f"{how} token", "token") for how in ("subclasses of", "implementers of", "heirs of", "what inherits from")),
        ("where is save called", "save"),
        ("where is login called from?", "login"),
        ("what does save call", "save"),
        ("what usually changes with login", "login"),
        ("what does login import", "login"),
    ],
)
async def test_a_word_in_the_place_of_a_name_is_one_and_that_it_is_not_here_is_said(
    spoken: Store, text: str, name: str
) -> None:
    found = await spoken.read(answer, parse_question(text), 10, 1000.0)
    assert found is not None
    assert found.said == f"Nothing here is called '{name}'; '{name}' alone finds what says it."
    assert (found.hits, found.is_unknown) == ([], True)


@pytest.mark.parametrize(
    "text",
    [
        "what implements the retry policy",
        "who calls the shots on timeouts",
        "who calls the shots",
        "what calls the database",
        "who calls save in production",
        "what implements token access",
        "what calls save on login",
        "what overrides the settings",
        "what uses redis",
        "where is redis used",
        "what depends on python",
        "who is using redis",
        "users of redis",
        "usages of redis",
        "what is redis used by",
        *("calls to database", "references to memory", "references for login", "children of root"),
        *("implementation of cache", "implementations of retry", "overrides for windows"),
        *("which calls block", "which overrides block", "all calls block", "where calls block"),
    ],
)
async def test_words_in_a_question_that_may_ask_for_something_else_are_words(spoken: Store, text: str) -> None:
    assert await told(spoken, text) is None
    assert answered_as_words(text) is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        *((f"what implements {word}", word) for word in ("caching", "retries", "pagination", "hooks")),
        *((f"what overrides {word}", word) for word in ("settings", "exist")),
        *((f"what calls {word}", word) for word in ("hooks", "fail", "requests")),
        ("who calls get", "get"),
    ],
)
async def test_a_word_that_stands_without_an_article_as_a_name_does_is_answered_and_said_to_be_none(
    spoken: Store, text: str, word: str
) -> None:
    assert await told(spoken, text) is None
    assert answered_as_words(text) == f"Nothing here is called '{word}'; these are answers to the words."


async def test_words_that_are_asked_for_are_told_of_relations_only(spoken: Store) -> None:
    for text in ("session management", "who imports redis", "what does redis import", "who imports hooks"):
        assert answered_as_words(text) is None


async def test_what_a_definition_imports_is_told_of_its_file(store: Store) -> None:
    assert await told(store, "what does parse import") == (
        [],
        "No file here is called 'parse'; it is defined in base.py.",
    )


@pytest.mark.parametrize(
    ("text", "names", "said"),
    [
        ("who calls base.py:11", ["load", "save"], "1 calls 'base.py:11', and maybe 1 more."),
        ("who calls base.py:11-12", ["load", "save"], "1 calls 'base.py:11-12', and maybe 1 more."),
        ("what inherits from base.py:2", ["A"], "1 inherits from 'base.py:2'."),
        ("who calls base.py:99", [], "Nothing here is called 'base.py:99'."),
        ("who calls gone.py:1", [], "Nothing here is called 'gone.py:1'."),
    ],
)
async def test_a_line_means_what_stands_there(store: Store, text: str, names: list[str], said: str) -> None:
    assert await told(store, text) == (names, said)
