"""What a re-parsed file changes, rule by rule: which chunk is the same one, moved, renamed, new or gone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from aurora_memory.chunks import ChunkKind, CodeChunk
from aurora_memory.store.chunk_diff import FilePlan, claim_orphans, plan_file
from aurora_memory.store.chunk_identity import StoredChunk, body_terms
from tests.memory.chunks import chunk

LONG = "check the password against the hash and issue a token"


def stored(given: CodeChunk, row: int, *, gone: bool = False) -> StoredChunk:
    """The chunk as the store holds it."""
    return StoredChunk(
        row,
        given.path,
        given.name,
        given.ordinal,
        given.kind,
        given.parent,
        given.line_start,
        given.line_end,
        given.body_hash,
        given.shape_hash,
        len(given.parts),
        given.lead,
        gone,
    )


def made(name: str, body: str = LONG, *, path: str = "a.py", tokens: int = 50, **more: object) -> CodeChunk:
    return replace(chunk(path, name, body), tokens=tokens, **more)


def same(plan: FilePlan) -> dict[int, str]:
    """The rows that go on under whatever name."""
    return {old.id: new.name for old, new in [*plan.shifted, *plan.rewritten]}


def terms_of(*olds: tuple[int, CodeChunk]) -> dict[int, frozenset[str]]:
    return {row: body_terms(old) for row, old in olds}


def test_a_file_that_did_not_change_changes_nothing() -> None:
    chunks = [made("one"), made("two", "another body", line_start=9)]
    plan = plan_file([stored(each, row) for row, each in enumerate(chunks)], chunks)
    assert plan == FilePlan([], [], [], [], 2, [])


def test_by_other_rules_each_chunk_of_a_file_is_written_anew() -> None:
    chunks = [made("one"), made("two", "another body", line_start=9)]
    plan = plan_file([stored(each, row) for row, each in enumerate(chunks)], chunks, anew=True)
    assert same(plan) == {0: "one", 1: "two"} and (plan.shifted, plan.unchanged) == ([], 0)


def test_all_of_a_new_file_is_new() -> None:
    chunks = [made("one")]
    assert plan_file([], chunks) == FilePlan([], [], chunks, [], 0, [])


@pytest.mark.parametrize("moved", [{"line_start": 7}, {"line_end": 70}, {"lead": 2}])
def test_what_only_moved_is_shifted_and_its_words_are_kept(moved: dict[str, int]) -> None:
    old = made("one")
    plan = plan_file([stored(old, 1)], [made("one", **moved)])
    assert (len(plan.shifted), plan.rewritten, plan.unchanged) == (1, [], 0)


@pytest.mark.parametrize(
    "edited",
    [made("one", "another body"), made("one", kind="class"), made("one", path="b.py")],
    ids=["text", "kind", "path"],
)
def test_what_has_another_text_kind_or_path_is_written_anew_under_its_row(edited: CodeChunk) -> None:
    edited = replace(
        edited, body_hash=edited.body_hash if edited.shape_hash != made("one").shape_hash else made("one").body_hash
    )
    plan = plan_file([stored(made("one"), 1)], [edited])
    assert same(plan) == {1: "one"} and not plan.shifted and not plan.added and not plan.vanished


def test_what_was_gone_and_is_back_as_it_was_is_written_under_its_row() -> None:
    plan = plan_file([stored(made("one"), 1, gone=True)], [made("one")])
    assert same(plan) == {1: "one"} and plan.unchanged == 0 and not plan.added


def test_a_long_function_is_known_by_its_shape_under_another_name() -> None:
    plan = plan_file([stored(made("login"), 1)], [made("sign_in", tokens=15)])
    assert same(plan) == {1: "sign_in"} and not plan.added and not plan.vanished


def test_a_tiny_one_looks_like_many_others_and_is_known_by_its_name_only() -> None:
    tiny = made("sign_in", "pass", tokens=14)
    old = made("login", "pass")
    plan = plan_file([stored(old, 1)], [tiny])
    assert [new.name for new in plan.added] == ["sign_in"] and [gone.id for gone in plan.vanished] == [1]
    (moved,) = claim_orphans([plan_file([], [tiny])], [stored(replace(old, path="b.py"), 1)])
    assert same(moved) == {}
    (moved,) = claim_orphans([plan_file([], [tiny])], [stored(made("sign_in", "pass", path="b.py"), 1)])
    assert same(moved) == {1: "sign_in"}


def test_of_several_of_one_shape_the_same_name_wins_then_the_same_last_part_then_the_first() -> None:
    def olds(*names: str) -> list[StoredChunk]:
        return [stored(made(name, path="old.py"), row) for row, name in enumerate(names, 1)]

    def claims(name: str, *names: str) -> dict[int, str]:
        return same(claim_orphans([plan_file([], [made(name)])], olds(*names))[0])

    assert claims("A.run", "run", "B.run", "A.run") == {3: "A.run"}
    assert claims("A.run", "first", "B.run", "C.run") == {2: "A.run"}
    assert claims("A.run", "first", "second") == {1: "A.run"}


@pytest.mark.parametrize(
    ("was", "is_now", "known"),
    [
        ("function", "method", True),
        ("method", "function", True),
        ("class", "class", True),
        ("class", "function", False),
        ("interface", "class", False),
    ],
)
def test_a_function_may_become_a_method_and_nothing_else_another_kind(
    was: ChunkKind, is_now: ChunkKind, known: bool
) -> None:
    plan = plan_file([stored(made("login", kind=was), 1)], [made("sign_in", kind=is_now)])
    assert bool(same(plan)) == known


def test_one_chunk_is_claimed_by_one() -> None:
    plan = plan_file([stored(made("login"), 1)], [made("one"), made("two")])
    assert same(plan) == {1: "one"} and [new.name for new in plan.added] == ["two"]
    first, second = claim_orphans(
        [plan_file([], [made("one")]), plan_file([], [made("two", path="c.py")])], [stored(made("x", path="b.py"), 1)]
    )
    assert same(first) == {1: "one"} and same(second) == {}


def test_what_moved_between_two_files_of_a_save_does_not_vanish_from_the_first() -> None:
    left = plan_file([stored(made("login"), 1), stored(made("stays", "else"), 2)], [made("stays", "else")])
    came = plan_file([], [made("login", path="b.py")])
    left, came = claim_orphans([left, came], [])
    assert left.vanished == [] and same(came) == {1: "login"} and came.added == []


def test_what_is_back_by_its_name_is_not_claimed_by_its_copy() -> None:
    gone = stored(made("login"), 1, gone=True)
    back = plan_file([gone], [made("login")])
    copy = plan_file([], [made("login", path="b.py")])
    copy, back = claim_orphans([copy, back], [gone])
    assert same(copy) == {} and same(back) == {1: "login"}


WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa"


@pytest.mark.parametrize(
    ("kept", "known"),
    [
        ("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda", True),
        ("alpha beta gamma delta epsilon zeta", True),
        ("alpha beta gamma delta epsilon", False),
        ("other words", False),
    ],
)
def test_renamed_and_edited_at_once_is_the_same_with_six_words_of_ten(kept: str, known: bool) -> None:
    old = made("login", WORDS)
    plan = plan_file([stored(old, 1)], [made("sign_in", kept)], terms_of((1, old)))
    assert same(plan) == ({1: "sign_in"} if known else {})
    assert bool(plan.added) == bool(plan.vanished) == (not known)


@pytest.mark.parametrize(
    ("name", "kind", "known"),
    [
        ("Session.sign_in", "method", True),
        ("Other.login", "method", True),
        ("login", "function", True),
        ("Other.sign_in", "method", False),
        ("Session.sign_in", "class", False),
    ],
)
def test_renamed_and_edited_at_once_stays_by_its_parent_or_its_name(name: str, kind: ChunkKind, known: bool) -> None:
    old = made("Session.login", WORDS, kind="method")
    plan = plan_file([stored(old, 1)], [made(name, f"{WORDS} more", kind=kind)], terms_of((1, old)))
    assert bool(same(plan)) == known


def test_of_several_the_one_with_most_words_in_common_then_the_first() -> None:
    close, far = made("one", f"{WORDS} one"), made("two", f"{WORDS} two three four")
    olds = [stored(far, 1), stored(close, 2)]
    plan = plan_file(olds, [made("new", WORDS)], terms_of((1, far), (2, close)))
    assert same(plan) == {2: "new"} and [old.id for old in plan.vanished] == [1]
    plan = plan_file(
        [stored(far, 1), stored(replace(far, name="other"), 2)],
        [made("a", f"{WORDS} two x"), made("b", f"{WORDS} two x", line_start=9)],
        terms_of((1, far), (2, far)),
    )
    assert same(plan) == {1: "a", 2: "b"}


def test_words_are_not_asked_where_none_were_read() -> None:
    old = made("login", WORDS)
    assert same(plan_file([stored(old, 1)], [made("sign_in", f"{WORDS} more")])) == {}
    empty = made("login", "")
    assert same(plan_file([stored(empty, 1)], [made("sign_in", "")], {1: frozenset()})) == {1: "sign_in"}, (
        "by its shape"
    )


def overloads(*bodies: str) -> list[CodeChunk]:
    return [made("f", body, ordinal=n, line_start=10 * n, line_end=10 * n + 4) for n, body in enumerate(bodies)]


def rows_of(plan: FilePlan, before: Sequence[CodeChunk], after: Sequence[CodeChunk]) -> list[int | None]:
    """For each chunk as it is now, the row it has."""
    known = {new.ordinal: old.id for old, new in [*plan.shifted, *plan.rewritten]}
    for row, old in enumerate(before, 1):
        if len(after) > old.ordinal and after[old.ordinal] == old:
            known.setdefault(old.ordinal, row)
    return [known.get(new.ordinal) for new in after]


@pytest.mark.parametrize(
    ("rule", "before", "after", "rows"),
    [
        ("by their text", ["int", "str"], ["str", "int"], [2, 1]),
        ("one more before them is the new one", ["int", "str"], ["utf8", "int", "str"], [None, 1, 2]),
        ("one more behind them is the new one", ["int", "str"], ["int", "str", "utf8"], [1, 2, None]),
        ("one more between them is the new one", ["int", "str"], ["int", "utf8", "str"], [1, None, 2]),
        ("an edited one by its neighbours", ["int", "str", "any"], ["int", "text", "any"], [1, 2, 3]),
        ("an edited first one by the one behind", ["int", "str"], ["number", "str"], [1, 2]),
        ("an edited last one by the one before", ["int", "str"], ["int", "text"], [1, 2]),
        ("two edited ones by their order", ["int", "str", "any"], ["number", "text", "any"], [1, 2, 3]),
        ("the first goes", ["int", "str"], ["str"], [2]),
        ("the last goes", ["int", "str"], ["int"], [1]),
    ],
)
def test_overloads_are_known_again(rule: str, before: list[str], after: list[str], rows: list[int | None]) -> None:
    old, new = overloads(*before), overloads(*after)
    plan = plan_file([stored(each, row) for row, each in enumerate(old, 1)], new, terms_of(*enumerate(old, 1)))
    assert rows_of(plan, old, new) == rows, rule


THREE = ["count the days of a month", "check the password and the hash", "draw a line on the screen"]


@pytest.mark.parametrize(
    ("rule", "after", "rows"),
    [
        (
            "where neighbours leave a choice, by their words",
            ["new", f"{THREE[0]} now", f"{THREE[1]} too"],
            [None, 1, 2],
        ),
        ("in any order", ["new", f"{THREE[1]} too", f"{THREE[0]} now"], [None, 2, 1]),
        ("where words leave a choice, by their order", ["one", "two", "three"], [1, 2, None]),
    ],
)
def test_edited_overloads_are_known_by_their_words_and_last_by_order(
    rule: str, after: list[str], rows: list[int | None]
) -> None:
    old, new = overloads(*THREE[:2]), overloads(*after)
    olds = [stored(each, row) for row, each in enumerate(old, 1)]
    assert rows_of(plan_file(olds[::-1], new, terms_of(*enumerate(old, 1))), old, new) == rows, rule
    unread = plan_file(olds, new)
    assert not unread.rewritten and len(unread.added) == 3, "before words are read nothing is decided"


def test_an_edited_overload_is_known_by_the_one_behind_it_before_words_are_read() -> None:
    old, new = overloads("int", "str", "any"), overloads("any", "text", "str")
    plan = plan_file([stored(each, row) for row, each in enumerate(old, 1)], new)
    assert rows_of(plan, old, new) == [3, 1, 2]


def test_overloads_of_one_shape_are_known_by_their_text() -> None:
    old = [replace(each, shape_hash=b"one") for each in overloads("int", "str")]
    new = [replace(old[1], ordinal=0), replace(old[0], ordinal=1)]
    plan = plan_file([stored(each, row) for row, each in enumerate(old, 1)], new, {})
    assert [old.id for old, _ in plan.shifted] == [2, 1] and not plan.rewritten


def test_a_new_overload_is_one_that_is_gone_only_where_none_that_lives_is_left() -> None:
    old, new = overloads("int", "str"), overloads("int", "text")
    plan = plan_file([stored(old[0], 1), stored(old[1], 2, gone=True)], new)
    assert [row.id for row, _ in plan.rewritten] == [2] and not plan.added


def test_bodies_without_words_have_nothing_in_common() -> None:
    empty = made("login", "")
    plan = plan_file([stored(empty, 1)], [made("sign_in", "", shape_hash=b"other")], terms_of((1, empty)))
    assert same(plan) == {}


def test_a_chunk_whose_words_were_not_read_is_not_compared() -> None:
    one, two = made("one", WORDS), made("two", WORDS, shape_hash=b"other")
    plan = plan_file([stored(one, 1), stored(two, 2)], [made("new", f"{WORDS} more")], terms_of((2, two)))
    assert same(plan) == {2: "new"}


def test_of_two_of_one_name_the_living_one_comes_before_the_gone_one() -> None:
    (one,) = overloads("int")
    olds = [stored(one, 1, gone=True), stored(replace(one, ordinal=1), 2)]
    plan = plan_file(olds, [one], {})
    assert [old.id for old, _ in plan.shifted] == [2] and not plan.rewritten


def test_a_name_that_another_has_now_is_left_with_a_free_ordinal() -> None:
    first, second = overloads("int of some words", "str of other words")
    plan = plan_file([stored(first, 1), stored(second, 2)], [replace(second, ordinal=0)], {})
    assert [old.id for old in plan.vanished] == [1]
    assert [(old.id, ordinal) for old, ordinal in plan.displaced] == [(1, 2)]
    renamed = plan_file([stored(first, 1), stored(second, 2)], [made("g", first.docstring or "int of some words")], {})
    assert same(renamed) == {1: "g"} and renamed.displaced == [], "nothing else has its name"
    alone = plan_file([stored(first, 1)], [])
    assert alone.displaced == [] and [old.id for old in alone.vanished] == [1]


def test_what_is_gone_already_does_not_vanish_again() -> None:
    plan = plan_file([stored(made("login"), 1, gone=True)], [made("other", "else")])
    assert plan.vanished == [] and same(plan) == {}
