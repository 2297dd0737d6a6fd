"""C and C++ before their grammars (preprocessing): the language of a header, and macros that a grammar stumbles over.

The name of a header, `.h`, leaves open which of both it is in. A grammar sees a source before the preprocessor does: in
`class MYLIB_EXPORT Widget : public Base { … }` it takes the macro for the class and the rest for a function without a
type, and what is in the braces for that function's body. Such macros are hidden from it, and from nothing else.
Declarations of C++ tell types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from aurora_indexer.languages import conditionals
from aurora_indexer.languages.name_syntax import CLASS, GENERIC, NAME, TYPE, AssignmentSyntax, NameSyntax

NAMES = NameSyntax(
    declaration=(
        rb"(?P<type>" + TYPE + rb")" + GENERIC + rb"(?:\s{1,20}const\b)?(?:\s{0,9}[&*]{1,2}\s{0,9}|\s{1,20})"
        rb"(?P<name>" + NAME + rb")\s{0,20}(?=[=;,){:])"
    ),
    assignment=AssignmentSyntax(
        sign=rb"=(?=\s{0,20}new\s{1,20}(?:\w{1,80}+::){0,4}(?P<made>" + CLASS + rb")(?P<made_end>))",
        reversed_name=rb"\s{0,20}+(?P<name>[\w]*[A-Za-z_](?:>-siht)?)(?![\w.>])",
    ),
    has_bare_fields=True,
    arrow=b"->",
)
"""C++'s names: declarations that tell types."""

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar

    from aurora_indexer.languages.language import Captures

_SIGNS = re.compile(
    rb"(?m)^[ \t]*(?:class[ \t]+\w+[^;\n]*$|(?:inline[ \t]+)?namespace\b|template[ \t]*<"
    rb"|using[ \t]+\w+|(?:public|private|protected)[ \t]*:)"
)

_OWN_SIGNS = (
    # struct X : Y, virtual void f(), ~X() {}, and a header of the standard library's
    re.compile(
        rb"(?m)^[ \t]*(?:struct[ \t]+\w+(?:[ \t]+final)?[ \t]*:(?!:)|virtual[ \t]+[\w~]"
        rb"|~\w+\((?:void)?\)[ \t]*(?:[{=]|noexcept|override)|#[ \t]*include[ \t]*<[a-z_]+>)"
    ),
    re.compile(rb"const[ \t]+\w+(?:::\w+)*[ \t]*&"),
    re.compile(rb"\)[ \t]*const[ \t]*[;{=]"),
    re.compile(rb"std::\w"),
    re.compile(rb"operator(?:[-+*/%^&|~!=<>]{1,3}|\(\)|\[\])\("),
)
"""Syntax that C has not; but a header for both languages may have it for C++ only."""

_FOR_BOTH = re.compile(rb"#[ \t]*(?:ifdef[ \t]+__cplusplus|if[ \t]+defined[ \t(]+__cplusplus)")

_NO_CODE = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?", re.DOTALL)


def is_cpp(source: bytes) -> bool:
    """Whether there is something in a source that is C++ and not C, out of its comments and strings."""
    signs = (_SIGNS,) if _FOR_BOTH.search(source) else (_SIGNS, *_OWN_SIGNS)
    found = next(filter(None, (sign.search(source) for sign in signs)), None)
    if found is None:
        return False
    # The first sign is nearly always code: as far as its line, then.
    for end in (source.find(b"\n", found.end()) + 1 or len(source), len(source)):
        code = _NO_CODE.sub(b" ", source[:end])
        if any(sign.search(code) for sign in signs):
            return True
    return False


_MAYBE = (re.compile(rb"ss\s+[A-Z_]{2}"), re.compile(rb"ct\s+[A-Z_]{2}"), re.compile(rb"ss\s+\w+_(?:EXPORT|API)\b"))
"""The ends of `class` and `struct` before capitals: what begins alike is found in a fifth of the time."""

_EXPORTED = re.compile(
    rb"\b(?:class|(struct))\s+"
    rb"((?:(?:[A-Z_][A-Z0-9_]{2,80}|[a-z]\w{1,60}_(?:EXPORT|API))(?:[ \t]{0,8}\([^()\n]{0,200}\))?\s{1,80}){1,3})"
    rb"(?:\[\[[^\]\n]{0,200}\]\]\s{0,80})?"
    rb"(?!final\b)[A-Za-z_]\w{0,200}(?:::\w{1,200}){0,8}"
    rb"(?:[ \t]{0,8}<(?:[^;{}()]|\([^;{}()]{0,80}+\)){0,200}>)?\s{0,80}(?:final\s{0,80})?"
    # `struct STAT found{1, 2};` is a variable: no member of a class ends without a semicolon.
    rb"(?::(?!:)|\{(?(1)(?!([^;{}]{0,200}\}\s{0,80};))))"
)

_NAMESPACE = re.compile(rb"(?m)^[ \t]{0,80}([A-Z_][A-Z0-9_]{0,60}NAMESPACE[A-Z0-9_]{0,60})[ \t\r]{0,80}$")
"""A line of its own that opens or closes a namespace: the grammar takes it for the type of what comes next."""

_PRINTED = re.compile(rb"\S")


_CAPITALS = rb"[A-Z_][A-Z0-9_]{2,80}+"
_ARGUMENTS = rb"(?:[ \t]{0,8}+\((?:[^()\n]|\([^()\n]{0,200}+\)){0,200}+\))"

_SPACE = rb"(?:[ \t]{1,80}+|[ \t]{0,80}+\r?\n[ \t]{1,80}+)"
"""White space within a declaration: a line that goes on with it is indented."""

_SAID_OF_POINTERS = (
    (b"_N", re.compile(rb"_N(?<!\w..)(?:onnull|ullable|ull_unspecified)\b")),
    (b"absl_n", re.compile(rb"absl_n(?<!\w......)(?:onnull|ullable|ullability_unknown)\b")),
)
"""`T* _Nonnull x`. Each begins with what it is looked for by: a pattern that does is found fast."""

_SAID_LOUDLY = re.compile(rb"(?:NONNULL|NULLABLE|LIFETIME_?BOUND)\b(?![ \t]*\()")
_CAPITAL = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_LONGEST = 80
"""`T* MYLIB_NONNULL x`, `const T& x MYLIB_LIFETIME_BOUND`: told by the end, for what comes before is anyone's."""

_POINTED = re.compile(
    rb"[*&>][ \t]{0,8}+(" + _CAPITALS + rb")(?=\s{1,80}+[A-Za-z_:])(?!\s+(?:and|or|xor|bitand|bitor)\b)"
)
"""`char* MYLIB_RESTRICT name`: no two names are side by side in an expression."""

_BEHIND = re.compile(
    rb"\)(?:\s{0,80}+(?:const|volatile|noexcept|override|final|mutable|&&?+)(?!\w)){0,6}+"
    rb"((?:" + _SPACE + rb"(?![A-Z_]*TEST(?:_[A-Z]{1,2})?\()" + _CAPITALS + _ARGUMENTS + rb"?+){1,4}+)"
    rb"(?=\s{0,80}+(?:(?:const|noexcept|override|final|try)\b\s{0,80}+|->[^;{}()]{1,200}+){0,4}+(?:\{|:(?!:)))"
)
"""`void f() const MYLIB_GUARDED_BY(mu) {`: between a function's parameters and its body."""

_AHEAD = re.compile(
    rb"\n[ \t]{0,80}+(?:(?:static|inline|constexpr|virtual|explicit|friend|extern|\[\[[^\]\n]{0,80}+\]\])[ \t]+){0,4}+"
    rb"((?:" + _CAPITALS + _ARGUMENTS + rb"?+[ \t]{1,80}+){1,3}+)(?=[ \t]{0,8}+(?:::)?[a-z_A-Z])"
    rb"(?!(?:return|else|delete|new|throw|co_return|co_yield|co_await|case|goto|using|typedef|if|for|while|switch|do)\b)"
    rb"(?=extern\b|(?:::)?(?:\w++(?:<[^;{}()]{0,200}>)?+::){0,8}(\w++)(?:<[^;{}()]{0,200}>)?+::~?\2[ \t]?\("
    rb"|(?:::)?\w++(?:::\w++){0,8}+(?:<[^;{}()]{0,200}>)?+[*&]{0,3}+\s{1,80}+[*&]{0,3}+"
    rb"[\w:~][^;{}()=,\"'#+|!?]{0,200}+\()"
)
"""`MYLIB_INLINE int f(`, `static MYLIB_API Klass::Klass(`: before what a function returns, or its name and `(`."""

_CONSTRUCTOR = re.compile(
    rb"\n[ \t]{0,80}+(?:(?:constexpr|inline)[ \t]{1,8}+){0,2}+(?:explicit[ \t]{1,8}+(?="
    + _CAPITALS
    + rb"[ \t]{1,8}+\w)|(?="
    + _CAPITALS
    + rb"[ \t]{1,8}+(?:~|\w{1,80}+\((?:[^;{}()]|\([^;{}()]{0,80}+\)){0,400}+\)\s{0,80}+(?:noexcept\s{0,80}+)?+:)))"
    rb"(" + _CAPITALS + rb")"
)
"""`explicit MYLIB_CONSTEXPR Klass(int x)`, `MYLIB_CONSTEXPR Klass(int x) : x_(x) {`: within its class."""

_NUMBERED = re.compile(
    rb"\([ \t]{0,2}+\d{1,2}[ \t]{0,2}+(?:,[ \t]{0,2}+\d{1,2}[ \t]{0,2}+){0,2}\)(?=\s{1,80}+\w{1,200}+\()"
)
_BEFORE_NUMBERS = re.compile(rb"\n[\w* \t]{0,200}[ \t*](\w{3,40})\Z")
"""`static void printflike(1, 2) f(const char *, …)`: what is said of a function's arguments by their numbers."""

_LONGEST_HEAD = 240
"""Bytes before such numbers in which a declaration's line begins."""

_AROUND_HEAD = re.compile(
    rb"\n(" + _CAPITALS + rb"\()(?=[ \t]{0,8}(?:\w{1,80}+[\s*]{1,8}+){1,6}\w{1,80}\([^;{}()]{0,400}\)(\))\s{1,8}\{)"
)
"""`MYLIB_UNUSED(static void f(int x)) {`"""

_CONVENTION = re.compile(rb"\((" + _CAPITALS + rb")(?=[ \t]{1,8}+\*[ \t]{0,8}+\w{1,80}+\)\s{0,8}+\()")
"""`typedef BOOL (WINAPI *f)(int);`"""

_NOTED = re.compile(rb"/\*[^\n]{0,300}?\*/(?=[ \t]{0,80}+\\\r?\n)")
"""A comment at the end of a macro's line that is not its last, which the grammar takes for the end of all."""

_ALONE = re.compile(
    rb"\n[ \t]{0,80}+([A-Z0-9_]{0,60}(?:PRAGMA|PUSH|POP|DIAGNOSTIC)[A-Z0-9_]{0,60}"
    + _ARGUMENTS
    + rb"?+)(?=[ \t\r]{0,80}+\n)"
)
"""`MYLIB_WARNINGS_PUSH(4100)`, without a semicolon: taken for the start of what comes next."""


_TYPED = re.compile(
    rb"\((?<=[A-Z_][A-Z0-9_]{2}\()\s{0,80}"
    rb"((?:(?:un)?signed|bool|char|int|float|double|long|short|void|auto|u?int(?:8|16|32|64)_t|s?size_t)\b"
    rb"[ \t]{0,8}(?:\w{1,80}[ \t]{0,8}){0,2}\*{0,2})(?=[,)])"
)
"""`MYLIB_FLAG(int, depth, …)`: what is a type cannot be an argument, for the grammar; a name can."""


_BRACKETED = re.compile(rb"(\()(?:std::|::)?+(?:min|max)(\))(?=[ \t]{0,8}+\()")
"""`T (min)() { … }`, `(std::max)(a, b)`: names in brackets, for a macro of that name not to take them."""

_CONVERTED = re.compile(
    rb"\n[ \t]{0,80}+((?:(?:constexpr|inline|explicit)\b[ \t]{1,8}+){1,3}+)"
    rb"(?=(?:\w{1,80}+::){1,8}+operator[ \t]{1,8}+\w)"
)
"""`constexpr Klass::operator bool() const {`: with a word before it, `Klass::operator` is a type for the grammar."""

_CASE = re.compile(
    rb"(?m)^([ \t]{0,80}+(?:\w{0,40}TEST_CASE\w{0,40}|\w{0,40}SCENARIO\w{0,40}))"
    rb"(\(\s{0,80}+(?:[\w:]{1,80}+(?:<[^;{}()]{0,80}>)?\s{0,8}+,\s{0,80}+)?)"
    rb"\"((?:\\[^\n]|[^\"\\\n]){1,300}+)\"([^{};]{0,400}?)\)(?=\s{0,80}+\{)"
)
"""`TEST_CASE("adds two", "[math]") {`, of Catch2 and doctest: a call and a block, for the grammar."""

_QUALIFIED = rb"(?!(?:sizeof|new|not|delete|throw|return|co_await)\b)(?:\w{1,80}+::){0,4}\w{1,80}+"
_DECLARED = re.compile(
    rb"\((?<=[A-Z_][A-Z0-9_]{2}\()\s{0,80}"
    rb"((?:(?:const[ \t]{1,8}+)(?:\w{1,80}+::){0,4}\w{1,80}+(?:<[^;{}()]{0,200}>)?"
    rb"[ \t]{0,8}[*&]{0,2}[ \t]{0,8}\w{1,80}+|" + _QUALIFIED + rb"(?:<[^;{}()]{0,200}>)?[*&]{0,2}[ \t]{1,8}+\w{1,80}+)"
    rb"(?:[ \t]{0,8}+\[\[[^\]\n]{0,80}+\]\])?)(?=,)"
)
"""`MYLIB_ASSIGN_OR_RETURN(const T& value, …)`: what a macro declares is no argument, for the grammar."""


def hidden_in_cpp(source: bytes) -> bytes:
    """The source as by `hidden`, with those macros blanked as well that stand like attributes of functions and of
    pointers, with names for types that are handed to a macro, and with functions for tests that are told in words.
    """
    if b"TEST_CASE" in source or b"SCENARIO" in source:
        source = _CASE.sub(_case, source)
    spans = _macros(source)
    for beginning, said in _SAID_OF_POINTERS:
        if beginning in source:
            spans += [match.span() for match in said.finditer(source)]
    if any(end in source for end in (b"NONNULL", b"NULLABLE", b"LIFETIME")):
        for match in _SAID_LOUDLY.finditer(source):
            start, end = match.span()
            before = source[max(0, start - _LONGEST) : start]
            spans.append((start - len(before) + len(before.rstrip(_CAPITAL)), end))
    for around in (_POINTED, _BEHIND, _CONSTRUCTOR, _ALONE, _CONVERTED):
        spans += [match.span(1) for match in around.finditer(source)]
    if b"(min)" in source or b"(max)" in source or b"::min)" in source or b"::max)" in source:
        spans += [match.span(bracket) for match in _BRACKETED.finditer(source) for bracket in (1, 2)]
    typed = [match.span(1) for match in _TYPED.finditer(source)]
    return _blanked(source, spans, typed)


def _case(match: re.Match[bytes]) -> bytes:
    """A function whose name begins with the quote, so that it is read as a quoted key is."""
    macro, before, words, behind = match.groups()
    return b"".join(
        (macro, _PRINTED.sub(b" ", before), b"x" * (1 + len(words)), b"(", _PRINTED.sub(b" ", behind), b")")
    )


def hidden(source: bytes) -> bytes:
    """The source with macros blanked, byte for byte: those between `class` and a name, for a namespace, and those that
    stand like attributes of functions.
    """
    return _blanked(source, _macros(source))


def _macros(source: bytes) -> list[tuple[int, int]]:
    """Spans of macros for exports, namespaces and functions, and of comments within macros."""
    spans = [match.span(1) for around in (_AHEAD, _CONVENTION) for match in around.finditer(source)]
    for numbers in _NUMBERED.finditer(source):
        before = max(0, numbers.start() - _LONGEST_HEAD)
        if name := _BEFORE_NUMBERS.search(source[before : numbers.start()]):
            spans.append((before + name.start(1), numbers.end()))
    spans += [match.span(part) for match in _AROUND_HEAD.finditer(source) for part in (1, 2)]
    spans += [match.span() for match in _NOTED.finditer(source)]
    if any(maybe.search(source) for maybe in _MAYBE):
        spans += [match.span(2) for match in _EXPORTED.finditer(source)]
    if b"NAMESPACE" in source:
        spans += [match.span(1) for match in _NAMESPACE.finditer(source)]
    return spans


def _blanked(source: bytes, spans: list[tuple[int, int]], named: Sequence[tuple[int, int]] = ()) -> bytes:
    """Masking of spans by spaces, or by a name; line ends stay."""
    if not spans and not named:
        return source
    text = bytearray(source)
    for start, end in spans:
        text[start:end] = (
            b" " * (end - start) if source.find(b"\n", start, end) < 0 else _PRINTED.sub(b" ", text[start:end])
        )
    for start, end in named:
        text[start:end] = b"x" * (end - start)
    return bytes(text)


_STATEMENT = re.compile(
    rb"(?<=[^\\]\n)[ \t]{0,80}+([A-Z][A-Z0-9_]{2,80}+"
    + _ARGUMENTS
    + rb"?+)(?=[ \t\r]{0,80}+\n(?!\s{0,400}+[{:<.?+|&=,)-]))"
)
"""`MYLIB_ERRORS(Base, Error)`, alone on its line without a semicolon: taken for the type of what comes next."""


def mended(source: bytes, _is_read: Callable[[bytes], bool]) -> bytes:
    """The source without macros that stand like statements but have no semicolon, with names for what is declared in
    macros, and with one branch left of each conditional that stands within a statement, or is no whole one.

    `: a_(a),` / `#if DEBUG` / `b_(b),` / `#endif`, or two heads of a function with one body: a grammar, which knows
    conditionals between statements only, loses all that follows.
    """
    partial = conditionals.partial(source, lists=True)
    declared = [match.span(1) for match in _DECLARED.finditer(source)]
    return _blanked(source, [*partial, *(match.span(1) for match in _STATEMENT.finditer(source))], declared)


_STATED = re.compile(rb"else\s{1,8}if\b")


def refine(_grammar: Grammar, source: bytes, captures: Captures) -> None:
    """Take from the functions those that are statements, as a grammar reads `else if (a) {` behind what it cannot."""
    if "function" in captures:
        captures["function"] = [node for node in captures["function"] if not _STATED.match(source, node.start_byte)]
