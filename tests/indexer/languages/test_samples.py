"""One sample per language: what becomes a chunk, what it is called, and which lines it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_indexer import languages
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.chunks import CodeChunk, Import, ParsedFile

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
        module <module> 1-34
        function Board 9-18
        function Board.handle 12-15
        function Cell 20-20
        function Input 21-25
        method action.perform 29-29
        method action.nested.deep 30-30
        function pick 35-37
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
        module <module> 2-31
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
        method stop 29-29
        method kill 29-29
        method Queue.clear 30-30
        class default 33-33
        method default.peek 33-33
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
        struct point_t 13-13
        enum color_t 14-14
        type compare_fn 15-15
        type word_t 16-16
        enum mode 17-17
        function ring_push 23-29
        function names 31-31
    """,
    "ring.h": """
        module <module> 3-5
    """,
    "shapes.ts": """
        module <module> 2-4
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
}


def sample(name: str) -> ParsedFile:
    return parse_file(name, (SAMPLES / name).read_bytes())


def chunk(name: str, qualified: str, ordinal: int = 0) -> CodeChunk:
    return next(c for c in sample(name).chunks if (c.name, c.ordinal) == (qualified, ordinal))


def used(c: CodeChunk) -> set[str]:
    marks = {"inherits": "^", "calls": ""}
    return {marks[r.kind] + (f"{r.qualifier}." if r.qualifier else "") + r.name for r in c.references}


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
        ("board.tsx", "pick", ""),
        ("legacy.js", "run", "Runs it."),
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
        ("repo.go", "Repo.Find", "Errorf run r.db.Query User"),
        ("repo.go", "New", "Map"),
        ("store.rs", "Store", "^fmt.Display"),
        ("store.rs", "Keep", "^Display ^mem.Hold"),
        ("store.rs", "Store.new", "Self Vec.new"),
        ("store.rs", "Store.fmt", "self.items.get write self.items.len Ok"),
        ("store.rs", "inner.helper", "super.parse"),
        ("Account.java", "Account", "^Base ^Owner ^java.io.Serializable load"),
        ("Account.java", "Account.deposit", "log AccountException Runnable this.balance.add"),
        ("Account.java", "Owner", "^Named ^Closeable"),
        ("ring.c", "ring_push", "r.ops.flush alloc MIN"),
        ("matrix.cpp", "math.dense.Matrix", "^Base ^detail.Storage"),
        ("matrix.cpp", "math.dense.Matrix.find", "std.sort data_.begin data_.end Node"),
        ("account.rb", "Bank.Account", "^Base.Record ^Comparable include attr_reader"),
        ("account.rb", "Bank.Account.deposit", "@ledger.add amount.zero? done? puts log.warn"),
        ("board.tsx", "Board", "use items.map item.render shapes.Grid Cell"),
        ("board.tsx", "Board.handle", "shapes.draw"),
        ("board.tsx", "Panel", "^Widget ^Closable ^ui.Sized Component Input"),
        ("board.tsx", "Closable", "^Base ^ui.Item"),
        ("board.tsx", "pick", "Map"),
        ("legacy.js", "Queue", "^events.EventEmitter Queue"),
        ("legacy.js", "Queue.push", "this.emit"),
        ("shapes.ts", "walk", "report"),
        ("shapes.ts", "Repo.save", "db.put"),
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
