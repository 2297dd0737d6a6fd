"""What is made of statements of SQL: a row for each rule."""

from __future__ import annotations

import pytest

from aurora_indexer.workers.process_file import parse_source
from aurora_memory.chunks import CodeChunk


def chunks(text: str) -> list[CodeChunk]:
    """The definitions of a file, without the rest of it."""
    parsed = parse_source("a.sql", text.encode())
    assert parsed is not None
    return [each for each in parsed.chunks if each.name != "<module>"]


@pytest.mark.parametrize(
    ("statement", "name", "kind", "signature"),
    [
        ("CREATE TABLE a (x INT)", "a", "table", "CREATE TABLE a (x)"),
        ("create table A (X int)", "A", "table", "create table A (X)"),
        ("CREATE TABLE a", "a", "table", "CREATE TABLE a"),
        ("CREATE TEMP TABLE IF NOT EXISTS s.a (x INT)", "s.a", "table", "CREATE TEMP TABLE IF NOT EXISTS s.a (x)"),
        ('CREATE TABLE "my a" ("my x" INT)', "my a", "table", 'CREATE TABLE "my a" (my x)'),
        ("CREATE TABLE a (x INT, PRIMARY KEY (x), CHECK (x > 0), y INT)", "a", "table", "CREATE TABLE a (x, y)"),
        ('CREATE TABLE a ("key" INT, UNIQUE (x))', "a", "table", "CREATE TABLE a (key)"),  # quoted, it is a column
        ("CREATE TABLE a (x DECIMAL(1, 2), y INT)", "a", "table", "CREATE TABLE a (x, y)"),
        ("CREATE TABLE a AS SELECT x, y FROM b", "a", "table", "CREATE TABLE a"),
        ("CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT 1", "v", "view", "CREATE OR REPLACE MATERIALIZED VIEW v"),
        ("CREATE FUNCTION f(x int) AS $$ SELECT 1; $$", "f", "operation", "CREATE FUNCTION f(x int)"),
        ("CREATE PROCEDURE p() BEGIN SELECT 1; END", "p", "operation", "CREATE PROCEDURE p()"),
        ("CREATE TYPE mood AS ENUM ('a')", "mood", "schema", "CREATE TYPE mood"),
        ("CREATE DOMAIN d AS int", "d", "schema", "CREATE DOMAIN d"),
    ],
)  # fmt: skip
def test_a_definition(statement: str, name: str, kind: str, signature: str) -> None:
    (found,) = chunks(f"{statement};\n")
    assert (found.name, found.kind, found.signature) == (name, kind, signature)


@pytest.mark.parametrize(
    "statement", ["CREATE INDEX i ON a (b)", "INSERT INTO a VALUES (1)", '"CREATE" TABLE a', "CREATE TABLE"]
)
def test_no_definition(statement: str) -> None:
    assert chunks(f"{statement};\nCREATE TABLE z (a INT);\n")[0].name == "z"


@pytest.mark.parametrize(("columns", "more"), [(16, False), (17, True)])
def test_a_signature_names_sixteen_columns(columns: int, more: bool) -> None:
    (found,) = chunks(f"CREATE TABLE a ({', '.join(f'c{n} INT' for n in range(columns))});")
    assert found.signature.endswith(", c15, …)" if more else ", c15)")


@pytest.mark.parametrize(
    "routine",
    [
        "CREATE FUNCTION f() BEGIN SELECT 1; SELECT 2; END",
        "CREATE PROCEDURE p() BEGIN IF 1 THEN SELECT 1; END IF; SELECT 2; END",
        "CREATE PROCEDURE p() BEGIN CASE x WHEN 1 THEN SELECT 2; END CASE; SELECT 3; END",
        "CREATE PROCEDURE p() BEGIN SELECT CASE WHEN 1 THEN 2 END; SELECT 3; END",
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET x = 1; END",
    ],
)
def test_what_a_body_ends_is_no_end_of_a_routine(routine: str) -> None:
    routine_, table = chunks(f"{routine};\nCREATE TABLE z (a INT);\n")
    assert table.name == "z" and routine_.line_end == 1


@pytest.mark.parametrize(
    ("statement", "mentioned"),
    [
        ("CREATE VIEW v AS SELECT * FROM a JOIN s.b ON a.x = b.y", ["a", "b"]),
        ("CREATE TABLE a (o INT REFERENCES orgs (id) ON UPDATE CASCADE ON DELETE SET NULL)", ["orgs"]),
        ("CREATE TRIGGER t AFTER UPDATE ON users BEGIN UPDATE logs SET a = 1; END", ["users", "logs"]),
        ("CREATE TRIGGER t AFTER UPDATE OF x OR DELETE ON users BEGIN DELETE FROM logs; END", ["users", "logs"]),
        ("CREATE TRIGGER t BEFORE INSERT OR UPDATE OR DELETE ON users EXECUTE FUNCTION f()", ["users"]),
        ("CREATE PROCEDURE p() BEGIN INSERT INTO \"on\" VALUES (1); END", ["on"]),
        ("CREATE VIEW v AS SELECT * FROM (SELECT 1)", []),
    ],
)  # fmt: skip
def test_what_a_definition_mentions(statement: str, mentioned: list[str]) -> None:
    (found,) = chunks(f"{statement};\n")
    assert [each.name for each in found.references] == mentioned


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("-- One.\n-- Two.\n", "One.\nTwo."),
        ("-- Far.\n\n-- Near.\n", "Near."),
        ("-- Far.\n\n", ""),
        ("/* One. */\n", "One."),
        ("SELECT 1; -- of the other\n", ""),
        ("--- One.\n", "One."),
    ],
)
def test_a_definition_says_what_stands_directly_above(above: str, said: str) -> None:
    (found,) = chunks(f"SELECT 0;\n{above}CREATE TABLE a (x INT);\n")
    assert found.docstring == said


BEFORE = (
    "OR REPLACE ALTER TEMP TEMPORARY GLOBAL LOCAL UNLOGGED EXTERNAL FOREIGN VIRTUAL MATERIALIZED RECURSIVE CONSTRAINT"
    " EDITIONABLE NONEDITIONABLE TRANSIENT AGGREGATE"
).split()


@pytest.mark.parametrize("word", BEFORE)
@pytest.mark.parametrize("kind", ["TABLE", "VIEW", "FUNCTION", "PROCEDURE", "TRIGGER", "TYPE", "DOMAIN"])
def test_words_before_a_kind_are_no_kind(word: str, kind: str) -> None:
    assert [each.name for each in chunks(f"CREATE {word} {kind} a;\n")] == ["a"]


@pytest.mark.parametrize("word", ["INDEX", "ROLE", "SCHEMA", "EXTENSION", "UNIQUE INDEX"])
def test_other_kinds_are_no_definitions(word: str) -> None:
    assert chunks(f"CREATE {word} a;\n") == []


@pytest.mark.parametrize(
    "word", "PRIMARY FOREIGN UNIQUE CHECK CONSTRAINT KEY INDEX EXCLUDE LIKE PERIOD FULLTEXT SPATIAL".split()
)
def test_constraints_are_no_columns(word: str) -> None:
    (found,) = chunks(f"CREATE TABLE a (x INT, {word} y, z INT);\n")
    assert found.signature == "CREATE TABLE a (x, z)"


@pytest.mark.parametrize("words", ["REFERENCES b", "FROM b", "JOIN b", "INTO b", "UPDATE b"])
def test_words_before_a_name_refer_to_it(words: str) -> None:
    (found,) = chunks(f"CREATE VIEW v AS SELECT {words};\n")
    assert [(each.kind, each.name) for each in found.references] == [("mentions", "b")]


@pytest.mark.parametrize("quoted", ['"b c"', "`b c`", "[b c]"])
def test_names_are_quoted_in_three_ways(quoted: str) -> None:
    (found,) = chunks(f"CREATE TABLE {quoted} (x INT);\n")
    assert found.name == "b c"


@pytest.mark.parametrize("block", ["IF x THEN y; END IF", "LOOP x; END LOOP", "WHILE x DO y; END WHILE",
                                   "REPEAT x; UNTIL y END REPEAT", "FOR x IN y LOOP z; END FOR"])  # fmt: skip
def test_a_block_within_a_routine_ends_with_its_own_word(block: str) -> None:
    found = chunks(f"CREATE PROCEDURE p() BEGIN {block}; SELECT 1; END;\nCREATE TABLE z (a INT);\n")
    assert [each.name for each in found] == ["p", "z"]
    assert found[0].line_end == 1
