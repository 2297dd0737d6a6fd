"""What Python's grammar gets to see of Cython, and what comes of it."""

from __future__ import annotations

import ast

import pytest

from aurora_indexer.languages.cython import MAX_HEADER, MAX_OPEN, hidden
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.chunks import Import
from tests.growth import grows_with_length

VECTORS = b'''"""Vectors of samples."""
cimport numpy as cnp
from libc.stdlib cimport malloc, free

DEF SIZE = 16
ctypedef fused floating:
    float
    double

cdef extern from "fast.h" nogil:
    int fast_sum(int *values, int count)

cdef struct Point:
    double x
    double y

cdef double EPSILON = 1e-9

cdef inline double dot(double* a, const double *b, int n) nogil:
    """The dot product of two vectors."""
    cdef int i
    cdef double total = 0, other = more(1)
    for i in range(n):
        total += a[i] * b[i]
    return total

cpdef double distance(double[:, ::1] left not None, double[:] right=None, *args, **kwargs) except? -1:
    cdef:
        Py_ssize_t i, n = left.shape[0]
    return sqrt(dot(&left[0, 0], &right[0], <int>n))

cdef class Buffer(Base) [object BufferObject, type BufferType]:
    """A buffer of points."""
    cdef readonly int size

    def __cinit__(self, int size, object owner not None):
        self.points = <Point*>malloc(size * sizeof(Point))

    cdef int grow(self, int by=2,
                  bint zero=True) except -1:
        return self.resize(self.size)

    cpdef resize(self, int size):
        pass

cdef void callback(int (*fn)(int, void*), void* data) noexcept with gil:
    pass
'''


def test_definitions_and_calls_are_found_where_they_stand_and_without_a_mistake() -> None:
    parsed = parse_file("lib/vectors.pyx", VECTORS)
    assert (parsed.language, parsed.syntax_errors) == ("python", 0)
    lines = VECTORS.decode().split("\n")
    told = {chunk.name: chunk for chunk in parsed.chunks}
    assert [(each.kind, name) for name, each in told.items() if each.kind != "module"] == [
        ("class", "floating"),
        ("class", "Point"),
        ("function", "dot"),
        ("function", "distance"),
        ("class", "Buffer"),
        ("method", "Buffer.__cinit__"),
        ("method", "Buffer.grow"),
        ("method", "Buffer.resize"),
        ("function", "callback"),
    ]
    assert lines[told["dot"].line_start - 1].startswith("cdef inline double dot")
    assert told["dot"].docstring == "The dot product of two vectors."
    assert told["dot"].signature == "cdef inline double dot(double* a, const double *b, int n) nogil"
    calls = {name: {each.name for each in chunk.references if each.kind == "calls"} for name, chunk in told.items()}
    assert calls["distance"] == {"sqrt", "dot"}
    assert calls["Buffer.__cinit__"] == {"malloc", "sizeof"}
    assert calls["Buffer.grow"] == {"resize"}
    assert "more" in calls["dot"]
    assert ("inherits", "Base") in [(each.kind, each.name) for each in told["Buffer"].references]
    assert parsed.imports == (
        Import("numpy", "", "cnp"),
        Import("libc.stdlib", "malloc"),
        Import("libc.stdlib", "free"),
    )


def test_what_is_seen_is_python_and_byte_for_byte_as_long() -> None:
    seen = hidden(VECTORS)
    assert [len(line) for line in seen.split(b"\n")] == [len(line) for line in VECTORS.split(b"\n")]
    ast.parse(seen)


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("cdef int x", "pass      "),
        ("cdef int x = f(1)", "pass;    x = f(1)"),
        ("cdef int *a = b, c = d", "pass;     a = b; c = d"),
        ("cdef class A", "pass        "),
        ("cdef class A:", "class      A:"),
        ("cdef int f(int x)", "pass             "),
        ("ctypedef int (*fn)(int, int)", "pass                        "),
        ("cpdef f(list x=[1, 2]):", "def   f(     x=[1, 2]):"),
        ("cdef f(self, *a, **k): # note", "def  f(self, *a, **k): # note"),
        ("cdef f(int[3] x, int y[3]):", "def  f(       x, _       ):"),
        ("def f(x: int, y=None):\n    cdef int z", "def f(x: int, y=None):\n    pass      "),
        ("cimport a\nIF X:\n    x = 1\nELSE:\n    x = 2", "import  a\nif X:\n    x = 1\nelse:\n    x = 2"),
        ("cdef x\ny = a <b> c", "pass  \ny = a <b> c"),
    ],
)
def test_each_declaration_becomes_what_python_has_in_its_place(written: str, seen: str) -> None:
    assert hidden(written.encode()).decode() == seen


@pytest.mark.parametrize("source", [b"def f(x):\n    return x\n", b'"""What cdef does."""\nx = "cimport"\n', b""])
def test_python_stays_as_it_is(source: bytes) -> None:
    assert hidden(source) == source


@pytest.mark.parametrize(
    "source", [b"cdef", b"cdef f(", b"cdef f(" + b"(" * MAX_HEADER, b"cdef class", b"cdef:", b"cdef int x ="]
)
def test_what_is_cut_off_is_no_mishap(source: bytes) -> None:
    assert len(hidden(source)) == len(source)
    parse_file("a.pyx", source)


@pytest.mark.parametrize(
    "piece", [b"cdef f(int x", b"cdef ", b"cdef a, b = <c>", b"cdef:\n  a\n", b"=<a,", b"cdef int a = "]
)
def test_it_takes_as_long_as_the_source_is(piece: bytes) -> None:
    assert grows_with_length(lambda count: hidden(b"cdef int x\n" + piece * count), 500, 20_000)


def test_a_source_of_brackets_that_nothing_closes_is_left_as_it_is() -> None:
    for opened, seen in ((1, b"def      f(    x):"), (MAX_OPEN + 1, b"cdef int f(int x):")):
        assert seen in hidden(b"cdef int z\n" + b"def a(\n" * opened + b"cdef int f(int x): 1\n"), opened
