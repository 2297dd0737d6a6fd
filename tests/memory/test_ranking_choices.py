"""What comes before what, and why: each row is a rule of ranking that a person would defend.

The first table asks real questions of a real memory file. The second weighs what speaks for two chunks against each
other; where a rule says "twice" or "half", the other way round would be another product.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from aurora_memory.chunks import ChunkKind, CodeChunk
from aurora_memory.recall import Focus, parse_question, recall, signals
from aurora_memory.recall.ranking import score
from aurora_memory.recall.signals import MENTIONED, NAMED, SIGNALS, Signals
from aurora_memory.store import Store, chunk_reader, commit_reader
from aurora_memory.store.commit_writer import ChangingCommit
from aurora_memory.tokens import terms
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store

NOW = 1_800_000_000.0
DAY = 86_400.0
KINDS = (signals.type_like, signals.remainder, signals.document, signals.test)
UNBOUNDED = (signals.recency, signals.learned, signals.named, signals.size, signals.changes)

COMMON = [f"{one}{other}x" for one in "bcdfghjklm" for other in "aeiouyzw"]
"""More words than are weighed of one question."""


class Chunk(NamedTuple):
    """A chunk as a row needs it."""

    path: str
    name: str
    body: str = "return nothing"
    kind: ChunkKind = "function"
    doc: str = ""
    calls: tuple[str, ...] = ()
    line: int = 1
    parent: str | None = None
    ordinal: int = 0


class Row(NamedTuple):
    """A question about some chunks, and the order in which they answer it: `path:name`, the others left out.

    `focus` is at the cursor; `used` says how many days ago a chunk was used; `read` is the text of every file.
    """

    rule: str
    question: str
    chunks: Sequence[Chunk]
    order: tuple[str, ...]
    focus: str = ""
    used: Mapping[str, float] = {}
    read: str = ""


ROWS = [
    Row(
        "a change of tests is answered by a test before the code that says as much",
        "update invoice total tests for leap years",
        [
            Chunk("src/invoice.py", "invoice_total", "total of the invoice in leap years"),
            Chunk("tests/test_invoice.py", "test_invoice_total", "total of the invoice in leap years"),
        ],
        ("tests/test_invoice.py:test_invoice_total", "src/invoice.py:invoice_total"),
    ),
    Row(
        "of a traceback the function that raised comes before its caller, though that has more of its words",
        'Traceback (most recent call last):\n  File "src/cart.py", line 3, in add\n'
        '  File "src/tax.py", line 3, in rate\nKeyError: no such country',
        [Chunk("src/cart.py", "add", "such country tax rate"), Chunk("src/tax.py", "rate", "file")],
        ("src/tax.py:rate", "src/cart.py:add"),
    ),
    Row(
        "where a long report links to comes before what has more of its words",
        "invoice total wrong in leap years " + "the invoice total of leap years is wrong where " * 5 + "it is, see "
        "https://forge.io/shop/shop/blob/main/src/days.py#L42-L43",
        [
            Chunk("src/days.py", "count", "years", line=20),
            Chunk("src/days.py", "length", "leap years", line=40),
            Chunk("src/bill.py", "sum", "leap years wrong"),
        ],
        ("src/days.py:length", "src/bill.py:sum"),
    ),
    *(
        Row(
            f"{what} is in what is made here, before a library that was copied in and says more of it",
            question,
            [
                Chunk("vendor/trie/trie.go", "match_blocked_hostname", "blocked hostname with a star"),
                Chunk("lib/hosts.go", "match", "blocked hostname"),
            ],
            ("lib/hosts.go:match", "vendor/trie/trie.go:match_blocked_hostname"),
        )
        for what, question in (
            ("a topic", "blocked hostname star"),
            ("a change", "Allow a star in a blocked hostname"),
            ("a report", "a star in a blocked hostname is not matched"),
            ("what is asked for", "where do we match a star in a blocked hostname"),
        )
    ),
    Row(
        "a change is in the file that it begins with, before one that has more of its words",
        "parser: keep blank lines of notes",
        [Chunk("a/notes.py", "kept", "blank lines", doc="kept"), Chunk("b/parser.py", "kept", "notes")],
        ("b/parser.py:kept", "a/notes.py:kept"),
    ),
    Row(
        "a change is in the folder that it begins with, before a file that has more of its words",
        "parser: keep blank lines of notes",
        [Chunk("a/notes.py", "kept", "blank lines", doc="kept"), Chunk("parser/b/kept.py", "kept", "lines")],
        ("parser/b/kept.py:kept", "a/notes.py:kept"),
    ),
    Row(
        "a change that begins with the name of a file is not in its tests",
        "parser: keep blank lines of notes",
        [Chunk("tests/test_parser.py", "kept", "blank notes"), Chunk("b/notes.py", "kept", "blank lines")],
        ("b/notes.py:kept", "tests/test_parser.py:kept"),
    ),
    Row(
        "a change of tests is in the test that is called as it begins",
        "test/parser: keep blank lines of notes",
        [
            Chunk("tests/test_notes.py", "kept", "blank lines", doc="lines"),
            Chunk("tests/test_parser.py", "kept", "notes"),
        ],
        ("tests/test_parser.py:kept", "tests/test_notes.py:kept"),
    ),
    Row(
        "a long report is answered by what is made here before a test, an example or a copied library that say more",
        "invoice total wrong in leap years " + "the invoice total of leap years is wrong where " * 5 + "it is",
        [
            Chunk("tests/a.py", "first", "invoice total wrong leap years"),
            Chunk("examples/b.py", "second", "invoice total wrong leap years"),
            Chunk("vendor/c.py", "third", "invoice total wrong leap years"),
            Chunk("src/d.py", "fourth", "invoice total of years"),
        ],
        ("src/d.py:fourth",),
    ),
    Row(
        "a name as it is spelled comes before the same name in other letters, whatever else speaks for that",
        "parseDate",
        [Chunk("a.js", "ParseDate", "parse date parse date parse date", doc="parse date"), Chunk("b.js", "parseDate")],
        ("b.js:parseDate", "a.js:ParseDate"),
    ),
    Row(
        "a name as it is spelled comes before a file that is called so and says it often",
        "login",
        [*(Chunk("login.py", f"step_{n}", "login login", line=20 * n + 1) for n in range(6)), Chunk("z.py", "login")],
        ("z.py:login", "login.py:step_0"),
    ),
    Row(
        "a name in other letters comes before one that only has its words",
        "parseDate",
        [Chunk("a.js", "parseDates", "parseDate of a date", doc="parse date"), Chunk("b.js", "PARSEDATE")],
        ("b.js:PARSEDATE", "a.js:parseDates"),
    ),
    Row(
        "a name as a whole comes before the last part of a longer one",
        "login",
        [Chunk("a.py", "Session.login", "login login login", "method", "login"), Chunk("b.py", "login")],
        ("b.py:login", "a.py:Session.login"),
    ),
    Row(
        "the last part of a name comes before another case of the whole",
        "login",
        [Chunk("a.py", "Session.login", "check", "method"), Chunk("b.py", "Login", "check", "method", parent="x")],
        ("a.py:Session.login", "b.py:Login"),
    ),
    Row(
        "a name with what stands before it comes before the same name elsewhere",
        "Session.login",
        [Chunk("a.py", "Cart.login", "session login", "method"), Chunk("b.py", "Session.login", "check", "method")],
        ("b.py:Session.login", "a.py:Cart.login"),
    ),
    Row(
        "a name spelled as far as it goes comes before one that goes on",
        "Session.login",
        [
            Chunk("a.py", "web.Session.login", "session login session login", "method", "session login"),
            Chunk("b.py", "Session.login", "check", "method"),
        ],
        ("b.py:Session.login", "a.py:web.Session.login"),
    ),
    Row(
        "a name spelled as far as it goes comes before another case of the whole",
        "Session.login",
        [
            Chunk("a.py", "Session.Login", "session login session login", "method", "session login"),
            Chunk("b.py", "web.Session.login", "check", "method"),
        ],
        ("b.py:web.Session.login", "a.py:Session.Login"),
    ),
    Row(
        "a class of the top level comes before its constructor, which has its name",
        "Point",
        [Chunk("a.java", "Point.Point", "point", "method", "point"), Chunk("b.java", "Point", "x", "class")],
        ("b.java:Point", "a.java:Point.Point"),
    ),
    Row(
        "a definition comes before what uses it",
        "retry_request",
        [
            Chunk("a.py", "send", "retry_request retry_request retry_request", calls=("retry_request",)),
            Chunk("b.py", "retry_request", "wait and do it again"),
        ],
        ("b.py:retry_request", "a.py:send"),
    ),
    Row(
        "a function comes before its test that says all of the question",
        "parse the date of an invoice",
        [
            Chunk("tests/test_invoice.py", "test_parse_date_of_invoice", "parse date invoice"),
            Chunk("shop/invoice.py", "parse_date", "invoice"),
        ],
        ("shop/invoice.py:parse_date", "tests/test_invoice.py:test_parse_date_of_invoice"),
    ),
    Row(
        "a name of a task and a stop word comes before one that says the rest of the sentence",
        "fix all on save",
        [Chunk("a.py", "save", "save save"), Chunk("b.py", "fix_all", "mend what can be mended")],
        ("b.py:fix_all", "a.py:save"),
    ),
    Row(
        "a name that only begins with what follows a task does not",
        "fix the save",
        [Chunk("a.py", "save", "save"), Chunk("b.py", "fix_all", "mend what can be mended")],
        ("a.py:save", "b.py:fix_all"),
    ),
    Row(
        "who asks for a test gets it first",
        "test of the date of an invoice",
        [
            Chunk("tests/test_invoice.py", "test_parse_date_of_invoice", "parse date invoice"),
            Chunk("shop/invoice.py", "parse_date", "invoice"),
        ],
        ("tests/test_invoice.py:test_parse_date_of_invoice", "shop/invoice.py:parse_date"),
    ),
    Row(
        "who asks for a spec gets it first",
        "spec of the date of an invoice",
        [
            Chunk("specs/invoice.rb", "spec_date_of_invoice", "parse date invoice"),
            Chunk("shop/invoice.rb", "parse_date", "invoice"),
        ],
        ("specs/invoice.rb:spec_date_of_invoice", "shop/invoice.rb:parse_date"),
    ),
    Row(
        "what is left of a file comes behind its definitions",
        "Load the plugins of the shop.",
        [
            Chunk("a.py", "<module>", "load plugins shop load plugins shop", "module"),
            Chunk("b.py", "load_plugins", "for each entry"),
        ],
        ("b.py:load_plugins", "a.py:<module>"),
    ),
    Row(
        "a document comes before what is left of a file",
        "Load the plugins of the shop.",
        [
            Chunk("a.py", "<module>", "load plugins shop", "module"),
            Chunk("b.md", "Load", "load plugins shop", "section"),
        ],
        ("b.md:Load", "a.py:<module>"),
    ),
    Row(
        "a file whose documentation is about a topic comes before a function that is called by a word of it",
        "retry of large uploads",
        (
            Chunk("transfer.py", "<module>", "import os", "module", doc="Retry of large uploads."),
            Chunk("http.py", "retry", "again"),
        ),
        ("transfer.py:<module>", "http.py:retry"),
    ),
    Row(
        "a file whose documentation says all of a topic comes before one that is called by one of its words",
        "recovery of a corrupt database file",
        (
            Chunk("salvage.py", "<module>", "import os", "module", doc="Recovery of a corrupt database file."),
            Chunk("database.py", "corrupt", "a corrupt database"),
        ),
        ("salvage.py:<module>", "database.py:corrupt"),
    ),
    Row(
        "code that says most of a topic comes before a test that says all of it twice",
        "expiry of session cookies",
        (
            Chunk("tests/test_session.py", "test_expiry_of_session_cookies", "expiry of session cookies"),
            Chunk("tests/test_session.py", "test_session_cookies", "expiry", line=30),
            Chunk("shop/session.py", "drop_old", "expiry of cookies"),
        ),
        ("shop/session.py:drop_old", "tests/test_session.py:test_expiry_of_session_cookies"),
    ),
    Row(
        "code of a file between its definitions stays behind a function that says as much",
        "retry of large uploads",
        (
            Chunk("transfer.py", "<module>", "retry of large uploads", "module"),
            Chunk("http.py", "send", "retry of large uploads"),
        ),
        ("http.py:send", "transfer.py:<module>"),
    ),
    Row(
        "a function comes before a class that says the same",
        "open the connection pool",
        [Chunk("a.py", "ConnectionPool", "open", "class"), Chunk("b.py", "open_pool", "connection")],
        ("b.py:open_pool", "a.py:ConnectionPool"),
    ),
    *(
        Row(
            f"code comes before a {kind} that says the same",
            "the opening hours of the shop",
            [
                Chunk("README.md", "Shop.Opening hours", "the opening hours of the shop", kind),
                Chunk("shop/hours.py", "opening_hours", "shop"),
            ],
            ("shop/hours.py:opening_hours", "README.md:Shop.Opening hours"),
        )
        for kind in ("section", "schema", "operation", "table", "view")
    ),
    *(
        Row(
            f"a {kind} is called as a function is, and comes before a class",
            "escape the text of a label",
            [Chunk("a.c", "EscapeLabel", "text", "class"), Chunk("b.c", "escape_label", "text", kind)],
            ("b.c:escape_label", "a.c:EscapeLabel"),
        )
        for kind in ("function", "method", "macro")
    ),
    Row(
        "what a chunk is called says more than what it mentions",
        "merge two carts",
        [Chunk("a.py", "checkout", "merge carts, then pay"), Chunk("b.py", "merge_carts", "for each line")],
        ("b.py:merge_carts", "a.py:checkout"),
    ),
    Row(
        "what a chunk is documented to do says more than what its body mentions",
        "merge two carts",
        [Chunk("a.py", "one", "merge carts"), Chunk("b.py", "two", "return nothing", doc="merge carts")],
        ("b.py:two", "a.py:one"),
    ),
    Row(
        "where a chunk stands says more than what its body mentions",
        "invoice",
        [Chunk("a/one.py", "first", "invoice"), Chunk("b/invoice.py", "second", "nothing")],
        ("b/invoice.py:second", "a/one.py:first"),
    ),
    Row(
        "of two names with a word of the question, the shorter says it more clearly",
        "export",
        [Chunk("a.py", "export_all_open_orders_as_rows"), Chunk("b.py", "export_rows")],
        ("b.py:export_rows", "a.py:export_all_open_orders_as_rows"),
    ),
    Row(
        "a word that few chunks have counts more than one that many have",
        "user ledger",
        [
            *(Chunk(f"u{n}.py", f"user_{'abcdefgh'[n]}", "user") for n in range(8)),
            Chunk("z.py", "ledger", "post"),
        ],
        ("z.py:ledger", "u0.py:user_a"),
    ),
    Row(
        "what a question says comes before what it may mean",
        "config",
        [Chunk("a.py", "load_cfg", "a file"), Chunk("b.py", "load_config", "a file")],
        ("b.py:load_config", "a.py:load_cfg"),
    ),
    Row(
        "a short form is found by the long one",
        "authentication",
        [Chunk("a.py", "other", "a file"), Chunk("b.py", "auth", "a token")],
        ("b.py:auth",),
    ),
    Row(
        "what a question wants done counts less than what it is about",
        "fix parser",
        [Chunk("a.py", "fix", "all"), Chunk("b.py", "parser", "all")],
        ("b.py:parser", "a.py:fix"),
    ),
    Row(
        "words of every question find nothing, where others do",
        "how do I find the function that merges",
        [Chunk("a.py", "find_function", "how"), Chunk("b.py", "merge", "all")],
        ("b.py:merge",),
    ),
    Row(
        "a question of such words only is about them",
        "find function",
        [Chunk("a.py", "find_function", "how"), Chunk("b.py", "merge", "all")],
        ("a.py:find_function",),
    ),
    Row(
        "what the best answer calls comes before what has as many words of the question",
        "charge the card",
        [
            Chunk("a.py", "unrelated", "the card is red"),
            Chunk("m.py", "charge_card", "amount", calls=("post_amount",)),
            Chunk("z.py", "post_amount", "the card is red"),
        ],
        ("m.py:charge_card", "z.py:post_amount", "a.py:unrelated"),
    ),
    Row(
        "what calls the best answer comes before what has as many words of the question",
        "charge the card",
        [
            Chunk("a.py", "unrelated", "the card is red"),
            Chunk("m.py", "charge_card", "amount"),
            Chunk("z.py", "checkout", "the card is red", calls=("charge_card",)),
        ],
        ("m.py:charge_card", "z.py:checkout", "a.py:unrelated"),
    ),
    Row(
        "what the best answer calls is found though it has none of the words",
        "charge the card",
        [
            Chunk("a.py", "unrelated", "the sky is red"),
            Chunk("m.py", "charge_card", "amount", calls=("post_amount",)),
            Chunk("z.py", "post_amount", "euros"),
        ],
        ("m.py:charge_card", "z.py:post_amount"),
    ),
    Row(
        "what is near the cursor comes before its equal elsewhere",
        "save the draft",
        [
            Chunk("a.py", "save_draft", "one two"),
            Chunk("z.py", "save_draft", "three four"),
            Chunk("z.py", "editor", "blank", calls=("save_draft",), line=50),
        ],
        ("z.py:save_draft", "a.py:save_draft"),
        focus="z.py:editor",
    ),
    Row(
        "what was used lately comes before its equal that was used long ago",
        "save the draft",
        [Chunk("a.py", "save_draft", "one two"), Chunk("z.py", "save_draft", "three four")],
        ("z.py:save_draft", "a.py:save_draft"),
        used={"a.py:save_draft": 400.0, "z.py:save_draft": 1.0},
    ),
    Row(
        "what was used comes before its equal that was not",
        "save the draft",
        [Chunk("a.py", "save_draft", "one two"), Chunk("z.py", "save_draft", "three four")],
        ("z.py:save_draft", "a.py:save_draft"),
        used={"z.py:save_draft": 0.001},
    ),
    Row(
        "a better answer comes before one that was used",
        "save the draft of an order",
        [Chunk("a.py", "save_draft_order", "one two"), Chunk("z.py", "save", "draft")],
        ("a.py:save_draft_order", "z.py:save"),
        used={"z.py:save": 1.0},
    ),
    Row(
        "equals stand by path, then by line",
        "save the draft",
        [
            Chunk("b.py", "X.save_draft", "one two"),
            Chunk("a.py", "X.save_draft", "one two", line=90),
            Chunk("a.py", "Y.save_draft", "one two", line=10),
        ],
        ("a.py:Y.save_draft", "a.py:X.save_draft", "b.py:X.save_draft"),
    ),
    Row(
        "a line means the smallest definition around it",
        "shop/cart.py:12",
        [
            Chunk("shop/cart.py", "<module>", "cart shop", "module", line=10),
            Chunk("shop/cart.py", "Cart.add", "nothing", "method", line=10),
            Chunk("web/cart.py", "shop_cart", "shop cart py", line=10),
        ],
        ("shop/cart.py:Cart.add", "shop/cart.py:<module>"),
    ),
    Row(
        "a file that is named comes before those that talk of it",
        "shop/cart.py",
        [Chunk("a.py", "shop_cart", "shop cart py shop cart py"), Chunk("shop/cart.py", "total", "nothing")],
        ("shop/cart.py:total",),
    ),
    Row(
        "a name in a file that is named comes before it elsewhere, and before the file's others",
        "shop/cart.py:add",
        [
            Chunk("a.py", "add", "shop cart add"),
            Chunk("shop/cart.py", "Cart.add", "nothing", "method"),
            Chunk("shop/cart.py", "total", "add", line=50),
        ],
        ("shop/cart.py:Cart.add", "a.py:add"),
    ),
    Row(
        "a test or an example that is called so comes behind what is made here and called so as a member",
        "shell",
        [
            Chunk("tests/shell.py", "shell", "shell"),
            Chunk("examples/run.py", "shell", "shell"),
            Chunk("src/settings.py", "Settings.shell", "nothing", "method"),
        ],
        ("src/settings.py:Settings.shell",),
    ),
    Row(
        "who asks for tests has the one that is called so first",
        "tests shell",
        [Chunk("tests/shell.py", "shell", "shell"), Chunk("src/settings.py", "Settings.shell", "shell", "method")],
        ("tests/shell.py:shell", "src/settings.py:Settings.shell"),
    ),
    Row(
        "for a topic each file answers once before any answers twice",
        "session cookies",
        [
            Chunk("a.py", "load_session_cookies", "read session cookies"),
            Chunk("a.py", "save_session_cookies", "write", line=40),
            Chunk("b.py", "session_limit", "cookies"),
        ],
        ("a.py:load_session_cookies", "b.py:session_limit", "a.py:save_session_cookies"),
    ),
    Row(
        "for a name each file answers once before any answers twice",
        "login",
        [
            Chunk("a.py", "Cart.login", "one two", "method"),
            Chunk("a.py", "Till.login", "three four", "method", line=40),
            Chunk("b.py", "Shop.login", "five six", "method"),
        ],
        ("a.py:Cart.login", "b.py:Shop.login", "a.py:Till.login"),
    ),
    Row(
        "for a change every function answers for itself",
        "Fix the session cookies",
        [
            Chunk("a.py", "load_session_cookies", "read"),
            Chunk("a.py", "save_session_cookies", "write", line=40),
            Chunk("b.py", "session_limit", "cookies"),
        ],
        ("a.py:load_session_cookies", "a.py:save_session_cookies", "b.py:session_limit"),
    ),
    Row(
        "many poor answers of one file do not make a good one",
        "retry policy",
        [
            *(Chunk("a/flow.py", f"step_{n}", "retry", line=20 * n + 1) for n in range(30)),
            Chunk("b/flow.py", "retry_policy", "wait"),
        ],
        ("b/flow.py:retry_policy", "a/flow.py:step_0"),
    ),
    Row(
        "of a very long question the words that tell most are looked for",
        f"{' '.join(COMMON)} ledger",
        [
            *(Chunk(f"u{n}.py", f"user_{'abcdefgh'[n]}", " ".join(COMMON)) for n in range(8)),
            Chunk("z.py", "post", "ledger"),
        ],
        ("u0.py:user_a", "z.py:post"),
    ),
    Row(
        "a topic is in the file that is called so, before one that talks of it as much",
        "retry policy",
        [
            Chunk("a/transport.py", "wait_before", "retry policy"),
            Chunk("b/retry.py", "wait_again", "retry policy"),
        ],
        ("b/retry.py:wait_again", "a/transport.py:wait_before"),
    ),
    *(
        Row(
            f"a topic is in today's file, before its twin of {old} that is kept for those who have not moved on",
            "retry policy",
            [
                Chunk(f"shop/{old}/retry.py", "wait_before", "retry policy"),
                Chunk("shop/w2/retry.py", "wait_again", "retry policy"),
            ],
            ("shop/w2/retry.py:wait_again", f"shop/{old}/retry.py:wait_before"),
        )
        for old in ("deprecated", "legacy", "obsolete", "v1")
    ),
    Row(
        "where documents alone are about a topic, one of the guide comes before one of the examples",
        "opening hours",
        [
            Chunk("examples/a.md", "Shop.Opening hours", "the opening hours", "section"),
            Chunk("guide/b.md", "Shop.Opening hours", "the opening hours", "section"),
        ],
        ("guide/b.md:Shop.Opening hours", "examples/a.md:Shop.Opening hours"),
    ),
    Row(
        "for a topic of tests a test is no worse than code that says as much",
        "cookie tests",
        [
            Chunk("shop/cookie.py", "keep_cookie", "tests of a cookie"),
            Chunk("tests/cookie.py", "keep_cookie", "tests of a cookie"),
        ],
        ("tests/cookie.py:keep_cookie", "shop/cookie.py:keep_cookie"),
    ),
    Row(
        "code that says more of tests than a test does is no worse for being none, but for a change of tests",
        "where are the tests of a cookie collected",
        [
            Chunk("tests/cart.py", "keep_cart", "tests of a cookie"),
            Chunk("tools/collect.py", "collect_tests_of_cookie", "tests of a cookie collected"),
        ],
        ("tools/collect.py:collect_tests_of_cookie", "tests/cart.py:keep_cart"),
    ),
    Row(
        "a task is answered by its likeliest functions before a file that has only a little more to do with it",
        "writes an invoice as a page",
        [
            Chunk("a.py", "write_invoice_page", "as", doc="Writes an invoice as a page."),
            Chunk("b.py", "write_page_of_invoice", "as", doc="Writes an invoice as a page."),
            Chunk("c.py", "invoice_page", "write it", doc="Writes an invoice as a page."),
            *(Chunk("steps.py", f"step_{n}", "writes an invoice as a page", line=20 * n + 1) for n in range(3)),
        ],
        ("a.py:write_invoice_page", "b.py:write_page_of_invoice", "c.py:invoice_page", "steps.py:step_1"),
    ),
    Row(
        "a test mentioned in a sentence about a change is not asked for",
        "fix: invoices of the account test have no date",
        [
            Chunk("tests/test_invoice.py", "date_of_invoices", "account test"),
            Chunk("shop/invoice.py", "date_of_invoices", "account test"),
        ],
        ("shop/invoice.py:date_of_invoices", "tests/test_invoice.py:date_of_invoices"),
    ),
    Row(
        "a constant is found where it is declared, before what uses it",
        "MAX_ROWS",
        [
            Chunk("a.py", "rows", "MAX_ROWS MAX_ROWS MAX_ROWS", line=50),
            Chunk("limits.py", "<module>", "MAX_ROWS", "module"),
        ],
        ("limits.py:<module>", "a.py:rows"),
        read="MAX_ROWS = 3\n",
    ),
    Row(
        "a constant of the source comes before one of its tests",
        "MAX_ROWS",
        [
            Chunk("a/tests/limits.py", "<module>", "MAX_ROWS MAX_ROWS", "module"),
            Chunk("limits.py", "<module>", "MAX_ROWS", "module"),
        ],
        ("limits.py:<module>", "a/tests/limits.py:<module>"),
        read="MAX_ROWS = 3\n",
    ),
]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = await new_store(tmp_path / "memory.db")
    yield made
    await made.close()


def made_of(given: Chunk) -> CodeChunk:
    made = chunk(given.path, given.name, given.body, line=given.line, kind=given.kind, doc=given.doc, calls=given.calls)
    return replace(made, parent=given.parent or made.parent, ordinal=given.ordinal)


async def remember(store: Store, chunks: Sequence[Chunk]) -> dict[str, int]:
    """Write the chunks; their row ids by `path:name`."""
    paths = dict.fromkeys(each.path for each in chunks)
    await store.write([file(path, *(made_of(each) for each in chunks if each.path == path)) for path in paths])
    await store.resolve()
    found = {}
    for path in paths:
        found |= {f"{path}:{view.name}": view.id for view in await store.read(chunk_reader.of_file, path)}
    return found


async def answers(store: Store, row: Row, limit: int = 20) -> list[str]:
    ids = await remember(store, row.chunks)
    for name, days in row.used.items():
        await store.record_accesses([ids[name]], "soar", NOW - DAY * days)
    focus = Focus({ids[row.focus]: 1.0}) if row.focus else None
    read = (lambda _: row.read) if row.read else None
    found = await store.read(recall, parse_question(row.question), limit, NOW, focus=focus, read=read)
    for hit in found:
        assert all(0 <= hit.signals[each] <= 1 for each in SIGNALS if each not in UNBOUNDED), hit.signals
        assert {hit.signals[each] for each in KINDS} <= {0, 1}, "of a kind or not"
    return [f"{hit.chunk.path}:{hit.chunk.name}" for hit in found]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
async def test_the_order_of_answers(store: Store, row: Row) -> None:
    found = await answers(store, row)
    assert tuple(name for name in found if name in row.order) == row.order, found
    assert found[0] == row.order[0], found


async def test_beside_a_files_answer_stands_what_is_not_far_behind_it(store: Store) -> None:
    said = "session cookies of a customer"
    near = [Chunk("a.py", "session_cookies", said, doc=said), Chunk("a.py", "load_session", "cookies", line=20)]
    far = Chunk("a.py", "<module>", "one two three cookies", "module", line=900)
    await remember(store, [*near, far, *(Chunk(f"o{n}.py", "other", "nothing") for n in range(20))])
    (first,) = await store.read(recall, parse_question("session cookies"), 1, NOW)
    assert (first.chunk.name, [each.name for each in first.also]) == ("session_cookies", ["load_session"])


@pytest.mark.parametrize(
    ("question", "order"),
    [
        pytest.param("add_line", ["add_line", "empty_cart"], id="a name that is asked for stays in front"),
        pytest.param(
            "fix the cart that is empty after add_line is called twice",
            ["empty_cart", "add_line"],
            id="one that is mentioned does not",
        ),
    ],
)
async def test_what_is_near_in_meaning_and_what_is_named(store: Store, question: str, order: list[str]) -> None:
    said = "the cart is empty after it is called twice"
    ids = await remember(store, [Chunk("a.py", "add_line", "pass"), Chunk("b.py", "empty_cart", said, doc=said)])
    found = await store.read(recall, parse_question(question), 5, NOW, near=[(ids["b.py:empty_cart"], 0.9)])
    assert [hit.chunk.name for hit in found] == order


@pytest.mark.parametrize(
    ("question", "most", "found"),
    [
        pytest.param("invoice ledger", 4, ["ledger"], id="the rarest word first, and no more messages than so many"),
        pytest.param("invoice ledger", 5, ["ledger", *["invoice"] * 4], id="up to so many, those of the next as well"),
        pytest.param("invoice", 3, ["invoice"] * 4, id="the rarest however many have it: else nothing were found"),
        pytest.param("other ledger", 99, ["ledger"], id="what every eighth message says tells nothing"),
        pytest.param("other unheard", 99, [], id="nor does what none says"),
    ],
)
async def test_commits_are_looked_for_by_the_rarest_words(
    store: Store, monkeypatch: pytest.MonkeyPatch, question: str, most: int, found: list[str]
) -> None:
    monkeypatch.setattr(commit_reader, "_POSTINGS", most)
    said = ["ledger", *["invoice"] * 4, *["other"] * 60]
    commits = [ChangingCommit(f"{n:040x}", n, word, word, 1, False, ()) for n, word in enumerate(said)]
    await store.history.save(commits, {})
    similar = await store.read(commit_reader.similar_commits, terms(question), 9)
    assert [each.subject for each in similar] == found


async def test_what_else_of_its_file_answers_a_topic_is_told_beside_it(store: Store) -> None:
    await remember(
        store,
        [
            Chunk("a.py", "load_session_cookies", "read session cookies"),
            Chunk("a.py", "save_session_cookies", "write", line=40),
            Chunk("b.py", "session_limit", "cookies"),
        ],
    )
    for limit, beside in ((2, ["save_session_cookies"]), (10, [])):
        found = await store.read(recall, parse_question("session cookies"), limit, NOW)
        assert [each.name for each in found[0].also] == beside, "what is an answer of its own is not told twice"
    (first, *_) = await store.read(recall, parse_question("fix session cookies"), 2, NOW)
    assert first.also == ()


async def test_what_is_called_alike_in_a_file_is_told_once_beside_its_answer(store: Store) -> None:
    await remember(
        store,
        [
            Chunk("a.py", "Store.session_cookies", "session cookies session cookies", "method"),
            Chunk("a.py", "Store.session_cookies", "session cookies", "method", line=20, ordinal=1),
            Chunk("a.py", "save_cookies", "session", line=40),
            Chunk("a.py", "save_cookies", "session", line=60, ordinal=1),
            Chunk("b.py", "session_limit", "cookies"),
        ],
    )
    first = (await store.read(recall, parse_question("session cookies"), 2, NOW))[0]
    assert (first.chunk.name, [each.name for each in first.also]) == ("Store.session_cookies", ["save_cookies"])


def says(bonus: float = 0.0, **given: float) -> Signals:
    """What speaks for a chunk: signals, and what it gets for its name beside them."""
    return Signals.of({signals.named: bonus, **{getattr(signals, name): value for name, value in given.items()}})


YEAR_OR_TODAY = 4.2
"""How much more recent an access of today is than one of a year ago, as base level and decay count."""

TRADES = [
    ("all that words can say outweighs a name that says nothing else", says(words=1), says(name_share=1)),
    ("a name that says nothing else outweighs all of the question in the text", says(name_share=1), says(cover=1)),
    ("all of the question in the text outweighs all of it in the name", says(cover=1), says(name_cover=1)),
    ("all of the question in the name outweighs all of it in the file", says(name_cover=1), says(file_cover=1)),
    ("all of the question in the file outweighs a mention", says(file_cover=1), says(MENTIONED)),
    ("a mention outweighs a quarter of the question", says(MENTIONED), says(cover=0.25)),
    ("the best place of a file speaks more for it than a place's own words", says(file_best=1), says(words=1)),
    ("the best place of a file outweighs its relations", says(file_best=1), says(spreading=1)),
    ("relations outweigh words", says(spreading=1), says(words=1)),
    ("relations outweigh commits of the same file", says(spreading=1), says(file_episodes=1)),
    ("commits of the file outweigh a name", says(file_episodes=1), says(name_share=1)),
    ("commits that did the same outweigh the best place of a file", says(episodes=1), says(file_best=1)),
    ("words and a name together outweigh commits", says(words=1, name_share=1), says(episodes=1)),
    ("all of the question outweighs its context", says(cover=1), says(context_boost=0.5)),
    ("its context outweighs a file that has it all", says(context_boost=0.51), says(file_cover=1)),
    ("used today, not a year ago, outweighs a name with the question", says(recency=YEAR_OR_TODAY), says(name_cover=1)),
    ("all of the question outweighs being used today, not a year ago", says(cover=1), says(recency=YEAR_OR_TODAY)),
    ("a good experience outweighs a tenth of the question", says(learned=0.2), says(cover=0.1)),
    ("a fifth of the question outweighs a good experience", says(cover=0.2), says(learned=0.2)),
    ("a class that is called so comes first all the same", says(type_like=1, name_share=1), says()),
    ("a class that has all of the question comes behind", says(), says(type_like=1, cover=1)),
    ("a test that says it in other words best of all comes first all the same", says(test=1, words=1), says()),
    ("a test that has all of the question comes behind", says(), says(test=1, cover=1)),
    ("a document that says it all, in a file that does, comes first", says(document=1, words=1, file_cover=1), says()),
    ("a document that is called so comes behind", says(), says(document=1, name_share=1)),
    ("the rest of the file that says it best comes first all the same", says(remainder=1, file_best=1), says()),
    ("the rest of a file that says it comes behind", says(), says(remainder=1, words=1)),
    ("no words outweigh a name that was asked for", says(NAMED), says(words=1, cover=1, name_share=1, file_best=1)),
]


@pytest.mark.parametrize(("rule", "more", "less"), TRADES, ids=[rule for rule, *_ in TRADES])
def test_what_weighs_more(rule: str, more: Signals, less: Signals) -> None:
    assert more.strength() > less.strength(), rule


def test_a_good_answer_is_sure_and_a_poor_one_doubtful() -> None:
    good = says(words=0.8, cover=1, name_cover=0.5, name_share=0.5, file_cover=1, file_best=0.8)
    poor = says(words=0.4, cover=0.5, file_best=0.4)
    assert 0.8 < score(good.strength()) < 0.9
    assert 0.2 < score(poor.strength()) < 0.3


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("where is Session.login defined", True),
        ("class Session", True),
        ("`shop` and `cart`", True),
        ("how is the Session closed", False),
        ("close the session", False),
    ],
)
def test_a_question_is_nothing_but_names_or_it_is_more(query: str, names: bool) -> None:
    assert parse_question(query).by_name == names
