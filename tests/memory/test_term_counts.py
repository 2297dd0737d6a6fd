"""Counts of terms by field, packed in one number: where each saturates, and what two of them are together."""

from __future__ import annotations

import pytest

from aurora_memory.term_counts import Field, add_terms, most_of, packed, terms_in, together, unpacked

MOST: dict[Field, int] = {"name": 7, "signature": 7, "calls": 7, "path": 3, "doc": 15, "body": 31}


@pytest.mark.parametrize(("field", "most"), MOST.items())
def test_a_count_saturates_where_more_would_tell_nothing(field: Field, most: int) -> None:
    for count, kept in ((1, 1), (most - 1, most - 1), (most, most), (most + 1, most), (10_000, most)):
        assert unpacked(packed(field, {"x": count})["x"]) == {field: kept}
        added: dict[str, int] = {}
        add_terms(added, field, ["x"] * min(count, most + 5))
        assert unpacked(added["x"]) == {field: kept}


def test_all_fields_fit_beside_each_other() -> None:
    every = together([packed(field, {"x": 99, field: 1}) for field in MOST])
    assert unpacked(every["x"]) == MOST and every["x"] < 1 << 20
    for field in MOST:
        assert unpacked(every[field]) == {field: 1} and terms_in(field, every) == {"x", field}


def test_of_two_counts_the_larger_of_each_field_counts() -> None:
    one = together([packed("name", {"x": 1}), packed("body", {"x": 9})])["x"]
    other = together([packed("name", {"x": 2}), packed("body", {"x": 3}), packed("doc", {"x": 1})])["x"]
    assert unpacked(most_of(one, other)) == unpacked(most_of(other, one)) == {"name": 2, "body": 9, "doc": 1}
    assert most_of(0, other) == other and most_of(one, 0) == one
