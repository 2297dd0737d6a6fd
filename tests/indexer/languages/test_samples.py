"""One sample per language: what becomes a chunk, what it is called, and which lines it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from aurora_indexer import languages
from aurora_indexer.documents.document_parser import parse_document
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.chunks import ChunkKind, CodeChunk, Import, ParsedFile, ReferenceKind

SAMPLES = Path(__file__).parents[1] / "samples"

# kind, qualified name, lines, and #ordinal where the name was defined before.
EXPECTED = {
    "Account.java": """
        class Account 6-40
        method Account.Account 14-17
        method Account.deposit 19-33
        method Account.deposit.run 30-30
        method Account.close 35-35
        enum Account.Currency 37-37
        method Account.Currency.isEuro 37-37
        class Account.Line 39-39
        method Account.Line.Line 39-39
        interface Owner 42-45
        method Owner.owner 43-43
        method Owner.label 44-44
        interface Audited 47-47
        method Audited.level 47-47
    """,
    "account.rb": """
        namespace Bank 6-45
        class Bank.Account 10-42
        method Bank.Account.open 15-18
        method Bank.Account.deposit 20-31
        method Bank.Account.build 34-34
        method Bank.Account.== 37-39
        method Bank.Account.secret 41-41
        class Bank.Vault.Branch 44-44
        class Point 47-51
        method Point.norm 48-50
        class Line 53-53
        method Line.length 53-53
    """,
    "auth.py": """
        module <module> 3-75
        function sign 20-38
        class AuthService 41-65
        method AuthService.login 47-56
        function AuthService.login.attempt 50-51
        method AuthService.name 58-59
        method AuthService.name 61-62 #1
        class AuthService.Config 64-65
        function path 69-69
        function path 71-72 #1
        type Alias 74-74
    """,
    "board.tsx": """
        module <module> 1-30
        function Board 9-18
        function Board.handle 12-15
        function Cell 20-20
        function Input 21-25
        method action.perform 29-29
        method action.nested.deep 30-30
        function pick 33-37
        class Panel 39-51
        method Panel.onKey 42-42
        method Panel.constructor 44-44
        method Panel.close 46-48
        method Panel.open 50-50
        class Shape 53-53
        method Shape.area 53-53
        interface Closable 54-54
        type Mode 55-55
        enum Level 56-56
        namespace Geo.Plane 57-57
        function Geo.Plane.rotate 57-57
        namespace virtual 58-58
        interface virtual.Config 58-58
        function default 60-60
    """,
    "legacy.js": """
        module <module> 2-32
        class Queue 7-13
        method Queue.#drain 9-9
        method Queue.push 10-10
        method Queue.[Symbol.asyncIterator] 11-11
        method Queue.quoted·key 12-12
        class Stack 15-15
        method Stack.pop 15-15
        function run 17-18
        function other 18-18
        method api.get 21-21
        method api.post 22-22
        method api.put-it 23-23
        function start 26-28
        function start.handler 27-27
        method stop 29-29
        method kill 29-29
        method Queue.clear 30-30
        function ip 31-31
        class default 34-34
        method default.peek 34-34
    """,
    "matrix.cpp": """
        namespace math.dense 6-29
        class math.dense.Matrix 8-20
        method math.dense.Matrix.Matrix 12-12
        method math.dense.Matrix.Matrix 14-14 #1
        method math.dense.Matrix.at 15-15
        method math.dense.Matrix.operator== 16-16
        struct math.dense.Matrix.Row 17-17
        method math.dense.Matrix.find 22-27
        function hidden 31-31
        method math.dense.Matrix.~Matrix 33-33
        function operator<< 35-35
        method geo.Point.operator·bool 37-37
        method geo.Point.origin 39-39
        type Grid 41-41
        enum Axis 42-42
        type Number 43-43
        function c_entry 44-44
        type Axes 45-45
        type GridRef 46-46
        struct Cell 48-51
        method Cell.Cell 49-49
        method Cell.Cell 50-50 #1
    """,
    "matrix.h": """
        namespace geo 2-9
        class geo.Point 3-8
        method geo.Point.x 5-5
    """,
    "repo.go": """
        module <module> 1-12
        struct Repo 14-21
        interface Finder 24-28
        method Finder.Find 27-27
        type ID 29-29
        type Alias 30-30
        method Repo.Find 33-49
        struct Repo.Find.row 36-36
        method Repo.Close 51-51
        function New 53-53
        function init 55-55
        function init 56-56 #1
    """,
    "ring.c": """
        module <module> 1-21
        macro MIN 4-4
        struct ring 7-10
        struct node 12-12
        type node_t 12-12
        struct point_t 13-13
        enum color_t 14-14
        type compare_fn 15-15
        type word_t 16-16
        enum mode 17-17
        function ring_push 23-29
        function names 31-31
        struct _slot 33-36
        type slot 36-36
        type slots 36-36
        function pushes 38-40
    """,
    "ring.h": """
        module <module> 3-5
    """,
    "shapes.ts": """
        module <module> 1-4
        function area 5-5
        function walk 6-8
        class Repo 9-9
        method Repo.find 9-9
        method Repo.save 9-9
    """,
    "store.rs": """
        module <module> 1-23
        struct Store 8-12
        struct Id 14-14
        trait Keep 16-20
        method Keep.keep 18-18
        method Keep.keep_all 19-19
        method Store.new 25-29
        method Store.fmt 33-36
        enum State 39-40
        struct Bits 42-42
        type Map 44-44
        macro square 46-48
        namespace inner 50-52
        function inner.helper 51-51
    """,
    "Basket.kt": """
        module <module> 5-9
        class Basket 11-33
        method Basket.total 17-17
        method Basket.constructor 19-19
        method Basket.add 21-29
        function Basket.add.twice 27-27
        method Basket.empty 31-31
        enum Basket.State 32-32
        method Basket.State.OPEN.next 32-32
        method Basket.State.isOpen 32-32
        interface Owner 35-35
        method Owner.owner 35-35
        class Single 36-36
        method Single.owner 36-36
        type Handler 37-37
        method String.shout 38-38
        class Till 40-47
        method Till.close 46-46
    """,
    "Ledger.cs": """
        class Ledger 9-38
        method Ledger.Ledger 18-18
        method Ledger.Deposit 20-28
        function Ledger.Deposit.Twice 26-26
        method Ledger.Total 31-31
        method Ledger.Name 32-32
        method Ledger.this 33-33
        method Ledger.+ 34-34
        method Ledger.Dispose 35-35
        enum Ledger.Currency 36-36
        type Ledger.Handler 37-37
        interface IOwner 40-40
        method IOwner.Owner 40-40
        struct Point 41-41
        class Line 42-42
    """,
    "Mailer.php": """
        module <module> 7-12
        class Mailer 14-35
        method Mailer.send 24-32
        method Mailer.close 34-34
        interface Sender 37-37
        method Sender.name 37-37
        trait Logs 38-38
        method Logs.log 38-38
        enum State 39-39
        method State.label 39-39
        function helper 40-40
        method helper.total 40-40
    """,
    "Registry.scala": """
        module <module> 3-34
        class Registry 8-29
        method Registry.this 15-15
        method Registry.find 17-24
        function Registry.find.twice 22-22
        method Registry.close 26-26
        method Registry.+ 27-27
        type Registry.Handler 28-28
        class Registry 31-31 #1
        method Registry.empty 31-31
        trait Owner 32-32
        method Owner.owner 32-32
        enum Color 33-33
        method Color.isRed 33-33
        method String.shout 34-34
        class ordering 35-36
        method ordering.compare 36-36
    """,
    "Session.swift": """
        module <module> 2-44
        class Session 8-30
        method Session.total 12-12
        method Session.init 14-14
        method Session.deinit 15-15
        method Session.subscript 16-16
        method Session.send 18-26
        function Session.send.twice 24-24
        method Session.== 28-28
        enum Session.State 29-29
        method Session.State.isOpen 29-29
        interface Sender 32-32
        method Sender.send 32-32
        struct Point 33-33
        method Session.send 34-34 #1
        class Pool 35-35
        method Pool.take 35-35
        type Handler 36-36
        function free 37-37
        method Session.State.close 41-41
        method Session.State.reopen 43-43
    """,
    "deploy.bats": """
        module <module> 3-3
        function setup 5-5
        function builds·what's·named:·a-b 7-11
    """,
    "deploy.sh": """
        module <module> 2-23
        function build 10-19
        function build.inner 17-17
        function close 21-21
        function log-info 22-22
    """,
    "queue.lua": """
        module <module> 2-24
        function take 6-14
        function take.inner 12-12
        method M.put 16-18
        method M.find 19-19
        method M.drop 20-20
        function last 21-21
        method handlers.open 22-22
        method handlers.to·close 22-22
        method handlers.deep.run 22-22
        method reset 24-24
    """,
}


def sample(name: str) -> ParsedFile:
    return parse_file(name, (SAMPLES / name).read_bytes())


def chunk(name: str, qualified: str, ordinal: int = 0) -> CodeChunk:
    return next(c for c in sample(name).chunks if (c.name, c.ordinal) == (qualified, ordinal))


def used(c: CodeChunk) -> set[str]:
    marks = {"inherits": "^", "calls": ""}
    return {
        marks[r.kind] + (f"{r.qualifier}." if r.qualifier else "") + r.name for r in c.references if r.kind in marks
    }


def texts(value: object) -> Iterator[str]:
    """All texts in a value of built-in types."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for each in value:
            yield from texts(each)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_nothing_is_told_but_of_what_is_shown(name: str) -> None:
    """A secret that only the grammar sees gets nowhere: of a source whose letters are all `z`, all words are."""
    source, path = (SAMPLES / name).read_bytes(), f"z{Path(name).suffix}"
    parsed = parse_file(path, source, shown=re.sub(rb"[A-Za-z]", b"z", source))
    assert parsed.chunks
    ours = {"<module>", path, parsed.language, "low", "medium", *get_args(ChunkKind), *get_args(ReferenceKind)}
    told = set(texts(msgspec.to_builtins(parsed, builtin_types=(bytes,))))
    assert {each for each in told - ours if re.search("[A-Ya-y]", each)} == set()


def test_every_language_has_a_sample() -> None:
    sampled = {each.name for path in SAMPLES.iterdir() if (each := languages.for_path(path.name)) is not None}
    assert sampled == {each.name for each in languages.LANGUAGES}
    assert {path.name for path in SAMPLES.iterdir()} == EXPECTED.keys()


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_chunks(name: str) -> None:
    rows = [
        f"{c.kind} {c.name.replace(' ', '·')} {c.line_start}-{c.line_end}" + (f" #{c.ordinal}" if c.ordinal else "")
        for c in sample(name).chunks
    ]
    assert rows == [line.strip() for line in EXPECTED[name].strip().split("\n")]


LED = {
    "Account.java": {"Account": 11, "Account.Account": 15, "Account.deposit": 22},
    "Basket.kt": {"Basket": 16, "Basket.add": 23, "Till": 41},
    "Ledger.cs": {"Ledger": 14, "Ledger.Deposit": 22},
    "Mailer.php": {"Mailer": 18, "Mailer.send": 26},
    "Registry.scala": {"Registry": 12, "Registry.find": 18},
    "Session.swift": {"Session": 10, "Session.send": 20},
    "account.rb": {"Bank": 7, "Bank.Account": 11, "Bank.Account.open": 16, "Bank.Account.deposit": 21},
    "auth.py": {"sign": 24, "AuthService.name": 59, "AuthService.name#1": 62},
    "board.tsx": {"Board": 10, "Board.handle": 13, "pick": 35, "Panel": 40, "Panel.close": 48},
    "deploy.bats": {"builds what's named: a-b": 8},
    "deploy.sh": {"build": 12},
    "legacy.js": {"run": 18},
    "matrix.cpp": {"math.dense.Matrix": 10, "math.dense.Matrix.find": 23},
    "queue.lua": {"take": 8, "M.put": 18},
    "repo.go": {"Repo": 17, "Finder": 25, "Repo.Find": 35},
    "ring.c": {"ring": 8, "ring_push": 24, "_slot": 34},
    "store.rs": {"Store": 10, "Store.new": 27, "State": 40},
}
"""Lines of names that stand below what belongs to their chunk: comments, attributes, decorators."""


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_one_is_led_to_the_line_of_the_name(name: str) -> None:
    led = {
        c.name + (f"#{c.ordinal}" if c.ordinal else ""): c.line for c in sample(name).chunks if c.line != c.line_start
    }
    assert led == LED.get(name, {})


@pytest.mark.parametrize(
    ("path", "source", "line"),
    [
        pytest.param("a.c", "/* one */\nstatic int\nopen_it(int a)\n{\n}\n", 3, id="a type on a line of its own"),
        pytest.param("a.c", "/* one */\ntypedef struct {\n  int a;\n} pair;\n", 2, id="no name before the body"),
        pytest.param("a.c", "/* one */\nint\n(*pick(int a))(int)\n{\n}\n", 3, id="a name in brackets"),
        pytest.param("a.py", "# one\n@cache\n# two\n@wraps(\n  f\n)\ndef g():\n    pass\n", 7, id="decorators"),
        pytest.param("a.rst", "=====\nTitle\n=====\n\nSome text.\n", 2, id="a heading below its line of marks"),
        pytest.param("a.rst", "Title\n=====\n\nSome text.\n", 1, id="or above it"),
        pytest.param("a.md", "Title\n=====\n\nSome text.\n", 1, id="a heading"),
        pytest.param("a.sql", "-- one\nCREATE TABLE IF NOT EXISTS\n  rows (id INT);\n", 3, id="a table"),
        pytest.param("a.py", '# one\n"""Says."""\nx = 1\n', 2, id="a file's remainder where it begins"),
    ],
)
def test_one_is_led_to_where_the_name_stands(path: str, source: str, line: int) -> None:
    read = parse_document(path, source.encode()) or parse_file(path, source.encode())
    assert [each.line for each in read.chunks] == [line]


def test_every_sample_is_expected_and_without_errors() -> None:
    assert sorted(EXPECTED) == sorted(file.name for file in SAMPLES.iterdir() if file.is_file())
    assert {name: sample(name).syntax_errors for name in EXPECTED} == dict.fromkeys(EXPECTED, 0)


@pytest.mark.parametrize(
    ("name", "qualified", "signature"),
    [
        ("auth.py", "sign", 'async def sign(name: str, *, key: bytes = b"k") -> bytes'),
        ("auth.py", "AuthService", "class AuthService(Base[int], store.Mixin, metaclass=Meta)"),
        ("auth.py", "AuthService.Config", "class Config"),
        ("auth.py", "path", "def path()"),
        ("repo.go", "Repo.Find", "func (r *Repo[T]) Find(ctx context.Context, id string) (*User, error)"),
        ("repo.go", "Repo", "type Repo[T any] struct"),
        ("store.rs", "Store.fmt", "fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result"),
        ("store.rs", "Id", "pub struct Id(u32)"),
        ("store.rs", "Keep", "pub trait Keep: Display + mem::Hold<u8>"),
        (
            "Account.java",
            "Account.deposit",
            "public long deposit(long amount, Currency currency) throws AccountException",
        ),
        ("Account.java", "Owner.owner", "String owner()"),
        ("ring.c", "ring_push", "static struct ring *ring_push(struct ring *r, int (*cb)(int))"),
        ("ring.c", "point_t", "typedef struct point_t"),
        ("ring.c", "MIN", "#define MIN(a, b)"),
        ("matrix.cpp", "math.dense.Matrix.find", "template <typename T> T *Matrix<T>::find(const T &value)"),
        ("matrix.cpp", "math.dense.Matrix.Matrix", "Matrix(int n)"),
        ("account.rb", "Bank.Account", "class Account < Base::Record"),
        ("account.rb", "Bank.Account.open", "def self.open(owner, amount: 0)"),
        ("account.rb", "Point.norm", "def norm"),
        ("Ledger.cs", "Ledger", "public sealed class Ledger<T> : Book<T>, IDisposable where T : class"),
        ("Ledger.cs", "Ledger.Deposit", "public async Task<int> Deposit<U>(decimal amount, U by) where U : new()"),
        ("Ledger.cs", "Ledger.Total", "public int Total"),
        ("Mailer.php", "Mailer", r"final class Mailer extends Base implements \Countable, Sender"),
        ("Mailer.php", "Mailer.send", "public static function send(Order $order, ?string $to = null): self"),
        ("Basket.kt", "Basket.add", "override suspend fun <U> add(row: T, by: U): Int where U : Any"),
        ("Basket.kt", "String.shout", "fun String.shout(n: Int): String"),
        ("Session.swift", "Session.total", "var total: Int"),
        ("Session.swift", "Session.init", "public init(retries: Int)"),
        ("Registry.scala", "Registry.find", "override def find[U](id: Int)(implicit by: U): Int"),
        ("Registry.scala", "ordering", "given ordering: Ordering[Color] with"),
        ("queue.lua", "M.put", "function M:put(row)"),
        ("queue.lua", "last", "local last = function()"),
        ("deploy.sh", "build", "build()"),
        ("deploy.sh", "close", "function close"),
        ("board.tsx", "Board", "export const Board: FC<Props> = ({ theme }) =>"),
        ("board.tsx", "Panel.close", "async close(): Promise<void>"),
        ("legacy.js", "start", "exports.start = function (port)"),
        ("shapes.ts", "area", "export const area = <T extends Shape>(shape: T): number =>"),
    ],
)
def test_signatures(name: str, qualified: str, signature: str) -> None:
    assert chunk(name, qualified).signature == signature


@pytest.mark.parametrize(
    ("name", "qualified", "docstring"),
    [
        ("auth.py", "<module>", "Sign people in.\n\nTokens live in Redis."),
        ("auth.py", "sign", "Sign a name with the account's secret key."),
        ("auth.py", "AuthService", "Sign in and out."),
        ("auth.py", "AuthService.login", "Check the password \\d and hand out a token."),
        ("auth.py", "AuthService.name", ""),
        ("repo.go", "<module>", "Package repo keeps users."),
        ("repo.go", "Repo", "Repo finds users."),
        ("repo.go", "Finder", "Finder is what a handler needs."),
        ("repo.go", "Repo.Find", "Find returns the user with this id,\nor an error."),
        ("store.rs", "<module>", "Storage of chunks.\nIn two lines."),
        ("store.rs", "Store", "A place for chunks."),
        ("store.rs", "Store.new", "Makes an empty one."),
        ("store.rs", "State", "a block comment"),
        ("Account.java", "Account", "An account.\n@see Owner"),
        ("ring.c", "ring", "A ring of bytes."),
        ("matrix.cpp", "math.dense.Matrix", "A matrix of numbers."),
        ("account.rb", "Bank", "Money and who owns it."),
        ("account.rb", "Bank.Account.open", "Opens one."),
        ("board.tsx", "Board", "Draws the board."),
        ("board.tsx", "Panel.close", "Closes it."),
        ("board.tsx", "pick", "Picks."),
        ("legacy.js", "run", "Runs it."),
        ("Ledger.cs", "Ledger", "A ledger of Bank.Entry.\nKept in Redis."),
        ("Ledger.cs", "Ledger.Deposit", "Pays in."),
        ("Mailer.php", "Mailer", "Sends mails."),
        ("Mailer.php", "Mailer.send", "Sends one."),
        ("Basket.kt", "Basket", "A basket of rows."),
        ("Basket.kt", "Basket.add", "Adds one."),
        ("Session.swift", "Session", "A session of requests."),
        ("Session.swift", "Session.send", "Sends one."),
        ("Registry.scala", "Registry", "Orders by id."),
        ("Registry.scala", "Registry.find", "Finds one."),
        ("queue.lua", "take", "Takes one.\n@param name whose"),
        ("queue.lua", "M.put", "Puts one.\nTwice."),
        ("deploy.sh", "build", "Builds one.\nSlowly."),
        ("deploy.bats", "builds what's named: a-b", "Once."),
    ],
)
def test_docstrings(name: str, qualified: str, docstring: str) -> None:
    assert chunk(name, qualified).docstring == docstring


@pytest.mark.parametrize(
    ("name", "qualified", "references"),
    [
        ("auth.py", "sign", "cached ValueError hmac.new().digest hmac.new range"),
        ("auth.py", "AuthService", "^Base ^store.Mixin"),
        ("auth.py", "AuthService.login", "attempt Token().renewed Token"),
        ("auth.py", "AuthService.login.attempt", "self.db.get_user"),
        ("repo.go", "Repo", "^Base ^log.Logger"),
        ("repo.go", "Finder", "^io.Reader"),
        ("repo.go", "Repo.Find", "Errorf run Repo().db.Query User"),
        ("repo.go", "New", "Map"),
        ("store.rs", "Store", "^fmt.Display"),
        ("store.rs", "Keep", "^Display ^mem.Hold"),
        ("store.rs", "Store.new", "Self Vec.new"),
        ("store.rs", "Store.fmt", "Vec().get write Vec().len Ok"),
        ("store.rs", "inner.helper", "super.parse"),
        ("Account.java", "Account", "^Base ^Owner ^java.io.Serializable load"),
        ("Account.java", "Account.deposit", "log AccountException Runnable this.balance.add"),
        ("Account.java", "Owner", "^Named ^Closeable"),
        ("ring.c", "ring_push", "r.ops.flush alloc MIN"),
        ("matrix.cpp", "math.dense.Matrix", "^Base ^detail.Storage"),
        ("matrix.cpp", "math.dense.Matrix.find", "std.sort data_.begin data_.end Node"),
        ("account.rb", "Bank.Account", "^Base.Record ^Comparable include attr_reader"),
        ("account.rb", "Bank.Account.deposit", "@ledger.add amount.zero? done? step quiet puts log log.warn"),
        ("board.tsx", "Board", "use items.map item.render shapes.Grid Cell"),
        ("board.tsx", "Board.handle", "shapes.draw"),
        ("board.tsx", "Panel", "^Widget ^Closable ^ui.Sized Component Input"),
        ("board.tsx", "Closable", "^Base ^ui.Item"),
        ("board.tsx", "pick", "Map"),
        ("legacy.js", "Queue", "^events.EventEmitter Queue"),
        ("legacy.js", "Queue.push", "this.emit"),
        ("shapes.ts", "walk", "report"),
        ("shapes.ts", "Repo.save", "db.put"),
        ("Ledger.cs", "Ledger", "^Book ^IDisposable"),
        ("Ledger.cs", "Ledger.Deposit", "this.Log _rows.Load row.Touch Task.FromResult Twice Entry"),
        ("Mailer.php", "Mailer", "^Base ^Countable ^Sender ^Logs"),
        ("Mailer.php", "Mailer.send", "static Order().isPaid helper this.log self.check strlen Buyer.find"),
        ("Basket.kt", "Basket", "^Base ^Closeable ^Runnable"),
        ("Basket.kt", "Basket.add", "T().isFree ledger.add U().touch Line twice"),
        ("Session.swift", "Session", "^Base ^Codable ^Sender"),
        ("Session.swift", "Session.send", "log.warn open.write twice"),
        ("Registry.scala", "Registry", "^Base ^Closeable"),
        ("Registry.scala", "Registry.find", "ledger.add log Line ().next Cursor twice"),
        ("queue.lua", "take", "util.find ipairs M.push inner"),
        ("queue.lua", "M.put", "self.rows.add"),
        ("deploy.sh", "build", "log-info ready return run_step foo bar compute sort"),
    ],
)
def test_references(name: str, qualified: str, references: str) -> None:
    assert used(chunk(name, qualified)) == set(references.split())


@pytest.mark.parametrize(
    ("name", "qualified", "branches", "loops", "complexity"),
    [
        ("auth.py", "sign", 3, 2, "medium"),
        ("auth.py", "AuthService", 0, 0, "low"),
        ("repo.go", "Repo.Find", 2, 1, "low"),
        ("store.rs", "Store.fmt", 3, 1, "medium"),
        ("Account.java", "Account.deposit", 3, 1, "medium"),
        ("ring.c", "ring_push", 2, 1, "low"),
        ("matrix.cpp", "math.dense.Matrix.find", 2, 1, "low"),
        ("account.rb", "Bank.Account.deposit", 4, 1, "medium"),
        ("board.tsx", "Panel.close", 0, 1, "low"),
        ("shapes.ts", "walk", 1, 0, "low"),
        ("Ledger.cs", "Ledger.Deposit", 3, 1, "medium"),
        ("Mailer.php", "Mailer.send", 3, 1, "medium"),
        ("Basket.kt", "Basket.add", 3, 1, "medium"),
        ("Session.swift", "Session.send", 2, 1, "low"),
        ("Registry.scala", "Registry.find", 3, 1, "medium"),
        ("queue.lua", "take", 2, 2, "medium"),
        ("deploy.sh", "build", 4, 1, "medium"),
    ],
)
def test_complexity(name: str, qualified: str, branches: int, loops: int, complexity: str) -> None:
    summary = chunk(name, qualified).ast_summary
    assert (summary.branches, summary.loops, summary.complexity) == (branches, loops, complexity)


def test_parents() -> None:
    assert chunk("auth.py", "AuthService.login.attempt").parent == "AuthService.login"
    assert chunk("auth.py", "sign").parent is None
    assert chunk("repo.go", "Repo.Find").parent == "Repo"
    assert chunk("store.rs", "Store.fmt").parent == "Store"
    assert chunk("matrix.cpp", "geo.Point.origin").parent == "geo.Point"
    assert chunk("matrix.cpp", "math.dense").parent is None


def test_a_header_with_classes_is_cpp() -> None:
    assert (sample("matrix.h").language, sample("ring.h").language) == ("cpp", "c")


def test_imports() -> None:
    assert sample("auth.py").imports[:5] == (
        Import("__future__", "annotations"),
        Import("os.path", alias="osp"),
        Import("sys"),
        Import("..store", "Redis", "Store"),
        Import("..store", "errors"),
    )
    assert sample("repo.go").imports == (
        Import("context"),
        Import("database/sql", alias="sq"),
        Import("fmt", alias="."),
        Import("embed", alias="_"),
    )
    assert Import("./load", "load", "load") in sample("legacy.js").imports
    assert Import("./lazy.mjs") in sample("legacy.js").imports
    assert Import("./legend", "Legend") in sample("board.tsx").imports
    assert sample("ring.c").imports == (Import("stdio.h"), Import("ring.h"))
    assert sample("account.rb").imports == (Import("json"), Import("./lib/owner"))
    assert sample("Ledger.cs").imports[2:] == (Import("System.Math", "*"), Import("Bank.Storage", "RowSet", "Rows"))
    assert sample("Mailer.php").imports == (
        Import("Psr.Log", "LoggerInterface"),
        Import("Shop", "Order"),
        Import("Shop", "Customer", "Buyer"),
        Import("Shop", "helper"),
        Import("lib/setup.php"),
    )
    assert sample("Basket.kt").imports == (
        Import("java.util", "Date"),
        Import("shop.money", "*"),
        Import("shop.rows", "Row", "Line"),
    )
    assert sample("Session.swift").imports == (Import("Foundation"), Import("Network"), Import("UIKit", "UIView"))
    assert sample("Registry.scala").imports == (
        Import("scala.collection", "mutable"),
        Import("shop", "Order"),
        Import("shop", "Row", "Line"),
        Import("shop", "*"),
        Import("shop.money", "*"),
        Import("a", "b", "c"),
    )
    assert sample("queue.lua").imports == (Import("json"), Import("lib.util"))
    assert sample("deploy.sh").imports == (Import("./lib/log.sh"), Import("util"), Import("ci/env"))
