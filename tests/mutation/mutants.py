"""Mutants of a source text, by mutation operators: one choice each, turned the other way. Pure.

A choice is a comparison, a number, a word of a list, a way to sort, a default, an early return, a step that can be left
out. What only words a message, types a value or tells a log is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
}
OTHER_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
SORTS = frozenset({"sorted", "sort", "min", "max"})
UNOBSERVED = frozenset({"lru_cache", "debug", "info", "warning", "exception", "TypeVar", "NewType", "getLogger"})
"""Calls whose arguments decide nothing that a test should hold."""

LONG_LIST = 4
"""A string of more words than this that is split is a list of words: its first, middle and last are taken out."""


@dataclass(frozen=True)
class Mutant:
    """A span of the text (characters), what is put there, and the function around it (0: none, 1-based line)."""

    start: int
    end: int
    text: str
    line: int
    function: int
    told: str

    def of(self, source: str) -> str:
        """The mutated source."""
        return source[: self.start] + self.text + source[self.end :]


def mutants(source: str) -> list[Mutant]:
    """All mutants of a source text that can be parsed, in its order, none twice."""
    found: dict[tuple[int, int, str], Mutant] = {}
    for mutant in _Walk(source).all():
        if mutant.of(source) != source and _parses(mutant.of(source)):
            found.setdefault((mutant.start, mutant.end, mutant.text), mutant)
    return sorted(found.values(), key=lambda each: (each.start, each.end))


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


_LEAVING = (ast.Return, ast.Continue, ast.Break, ast.Raise)
_AROUND: dict[type[ast.AST], str] = {ast.Tuple: "(%s,)", ast.Set: "{%s}", ast.List: "[%s]"}


class _Walk:
    def __init__(self, source: str) -> None:
        self._source = source
        self._tree = ast.parse(source)
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._encoded = source.splitlines(keepends=True)

    def all(self) -> Iterator[Mutant]:
        yield from self._below(self._tree, 0)

    def _below(self, node: ast.AST, function: int) -> Iterator[Mutant]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        yield from self._at(node, function)
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list", "bases"}:
                continue
            if isinstance(node, ast.ClassDef) and name == "keywords":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_silent(child):
                    yield from self._below(child, function)

    def _at(self, node: ast.AST, function: int) -> Iterator[Mutant]:
        match node:
            case ast.Compare():
                yield from self._comparisons(node, function)
            case ast.Constant(value=bool() | int() | float()):
                for other in _other_values(node.value):
                    yield self._change(node, repr(other), function)
            case ast.BoolOp():
                yield from self._operands(node, function)
            case ast.UnaryOp(op=ast.Not() | ast.USub()) if not isinstance(node.operand, ast.Constant):
                yield self._change(node, f"({self._text(node.operand)})", function)
            case ast.BinOp() if type(node.op) in ARITHMETIC and not _is_wording(node):
                yield from self._between(node.left, node.right, *ARITHMETIC[type(node.op)], function)
            case ast.Call():
                yield from self._calls(node, function)
            case ast.If() | ast.IfExp() | ast.While():
                yield from self._conditions(node, function)
            case ast.comprehension():
                for test in node.ifs:
                    yield self._change(test, "True", function)
            case ast.Continue():
                yield self._change(node, "break", function)
            case ast.Break():
                yield self._change(node, "continue", function)
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete():
                yield self._change(node, "pass", function)
            case ast.Subscript(slice=ast.Slice()):
                yield from self._slices(node.slice, function)
            case ast.Tuple(ctx=ast.Load()) | ast.List(ctx=ast.Load()) | ast.Set():
                yield from self._members(node, function)
            case _:
                return

    def _comparisons(self, node: ast.Compare, function: int) -> Iterator[Mutant]:
        for (left, right), op in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
            yield from self._between(left, right, *COMPARISONS[type(op)], function)
            if isinstance(right, ast.Constant) and isinstance(right.value, str):
                yield self._change(right, repr(right.value + "~"), function)

    def _operands(self, node: ast.BoolOp, function: int) -> Iterator[Mutant]:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            yield from self._between(left, right, *words, function)
        for place in range(len(node.values)):
            rest = [f"({self._text(value)})" for n, value in enumerate(node.values) if n != place]
            yield self._change(node, f" {words[0]} ".join(rest), function)

    def _calls(self, node: ast.Call, function: int) -> Iterator[Mutant]:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if isinstance(node.func, ast.Name) and name in OTHER_CALLS:
            yield self._change(node.func, OTHER_CALLS[name], function)
        for keyword in node.keywords if name in SORTS else ():
            if keyword.arg == "key":
                yield self._change(keyword.value, "lambda _: 0", function)
                body = keyword.value.body if isinstance(keyword.value, ast.Lambda) else None
                if body is not None and not isinstance(body, ast.UnaryOp | ast.Tuple):
                    yield self._change(body, "0", function)
        if name == "sorted" and node.args and not node.keywords:
            yield self._change(node, f"list({self._text(node.args[0])})[::-1]", function)
        if name == "compile":
            for argument in node.args[:1]:
                yield from self._alternatives(argument, function)
        text = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "split" and isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield from self._words(text, function)

    def _conditions(self, node: ast.If | ast.IfExp | ast.While, function: int) -> Iterator[Mutant]:
        if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], _LEAVING):
            yield self._change(node.test, "False", function)
        else:
            yield self._change(node.test, f"not ({self._text(node.test)})", function)

    def _slices(self, node: ast.Slice, function: int) -> Iterator[Mutant]:
        for bound in (node.lower, node.upper):
            if bound is not None and not isinstance(bound, ast.Constant):
                yield self._change(bound, "", function)

    def _members(self, node: ast.Tuple | ast.Set | ast.List, function: int) -> Iterator[Mutant]:
        """Each word of a literal left out once (of long ones three), each key of a tuple made the same for all."""
        if len(node.elts) < 2 or any(isinstance(each, ast.Starred) for each in node.elts):
            return
        words = [isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.elts]
        places = range(len(words)) if len(words) <= LONG_LIST else (0, len(words) // 2, len(words) - 1)
        for place in places:
            if all(words):
                rest = ", ".join(self._text(each) for n, each in enumerate(node.elts) if n != place)
                yield self._change(node, _AROUND[type(node)] % rest, function)
            elif isinstance(node, ast.Tuple) and not isinstance(node.elts[place], ast.Constant):
                yield self._change(node.elts[place], "0", function)

    def _words(self, node: ast.Constant, function: int) -> Iterator[Mutant]:
        start, end = self._span(node)
        spans = [match.span() for match in re.finditer(r"[^\s\"']+", self._source[start:end])]
        for n in sorted({0, len(spans) // 2, len(spans) - 1}):
            begin, stop = spans[n]
            yield self._put(start + begin, start + stop, "", node, function)

    def _alternatives(self, node: ast.AST, function: int) -> Iterator[Mutant]:
        """Each alternative of a regular expression left out once."""
        start, end = self._span(node)
        text = self._source[start:end]
        for bar in (n for n, sign in enumerate(text) if sign == "|" and text[n - 1] != "\\"):
            depth, stop = 0, bar + 1
            while stop < len(text):
                sign = text[stop]
                if sign == "\\":
                    stop += 1
                elif sign in "([":
                    depth += 1
                elif sign in ")]":
                    depth -= 1
                if depth < 0 or (depth == 0 and sign in "|\"'\n"):
                    break
                stop += 1
            yield self._put(start + bar, start + stop, "", node, function)

    def _between(self, left: ast.AST, right: ast.AST, old: str, new: str, function: int) -> Iterator[Mutant]:
        start, end = self._span(left)[1], self._span(right)[0]
        pattern = r"\s+".join(map(re.escape, old.split()))
        match = re.search(rf"(?<!\w){pattern}(?!\w)" if old[0].isalpha() else pattern, self._source[start:end])
        if match is not None:
            yield self._put(start + match.start(), start + match.end(), new, right, function)

    def _change(self, node: ast.AST, text: str, function: int) -> Mutant:
        return self._put(*self._span(node), text, node, function)

    def _put(self, start: int, end: int, text: str, node: ast.AST, function: int) -> Mutant:
        line = self._source.count("\n", 0, start) + 1
        old = " ".join(self._source[start:end].split())
        return Mutant(start, end, text, line, function, f"{_short(old)} → {_short(text) or 'nothing'}")

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self._source[start:end]

    def _span(self, node: ast.AST) -> tuple[int, int]:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        last, until = getattr(node, "end_lineno", 1), getattr(node, "end_col_offset", 0)
        return self._place(line, column), self._place(last, until)

    def _place(self, line: int, column: int) -> int:
        """Columns of a tree are bytes of UTF-8."""
        return self._lines[line - 1] + len(self._encoded[line - 1].encode()[:column].decode())


def _is_silent(node: ast.AST) -> bool:
    """Whether nothing below decides anything: messages, types, logging, exports."""
    match node:
        case ast.Raise() | ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Expr(value=ast.Constant()) | ast.keyword(arg="strict" | "exc_info" | "daemon"):
            return True
        case ast.Expr(value=ast.Call(func=function)) | ast.Call(func=function):
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            return name in UNOBSERVED
        case _:
            return False


def _is_wording(node: ast.BinOp) -> bool:
    """Whether texts are put together, or types."""
    sides = (node.left, node.right)
    return any(isinstance(each, ast.JoinedStr) or getattr(each, "value", 0) in {None, ""} for each in sides) or any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) for each in sides
    )


def _other_values(value: bool | float) -> list[bool | float]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value * 2, value // 2] if value > 9 else [value + 1, value - 1] if value > 0 else [value + 1]
    return [value * 2, value / 2] if value else [1.0]


def _short(text: str, most: int = 50) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
