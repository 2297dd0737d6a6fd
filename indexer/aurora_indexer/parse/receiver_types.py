"""Types of receivers (type inference for method calls): what a variable or field holds, as far as the text around it
says so plainly.

Assignments say it (`assignments.py`), headers (`func (c *Client)`), and calls whose result is given a name
(`c := open()`): a call of `client.get` is then read as one of `Client().get`, or `open().get`. A name that is given
different things in one definition holds none of them. What fields, and variables of a module, hold, and what functions
return, is noted for other files, whose names lead here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from aurora_indexer.parse.assignments import CLASS, GENERIC, GO_TYPE, LANGUAGES, NAME, assignments
from aurora_indexer.parse.definitions import Definition
from aurora_memory.chunks import Reference, ReferenceKind

_GO_PARAMETER = re.compile(
    rb"[(,]\s{0,20}(?P<names>"
    + NAME
    + rb"(?:\s{0,9},\s{0,9}"
    + NAME
    + rb"){0,5})\s{1,9}\*?(?P<type>"
    + GO_TYPE
    + rb")(?:\[[^\[\]]{0,80}\])?(?=\s{0,9}[,)])"
)
_GO_FIELD = re.compile(
    rb"(?:^|[{;])[ \t]{0,20}(?P<names>"
    + NAME
    + rb"(?:[ \t]{0,9},[ \t]{0,9}"
    + NAME
    + rb"){0,5})[ \t]{1,40}\*?(?P<type>"
    + GO_TYPE
    + rb")(?:\[[^\[\]\n]{0,80}\])?[ \t]{0,40}(?:`[^`\n]{0,400}`)?[ \t]{0,200}(?=[;}]|$)",
    re.M,
)
_ES_RETURNS = re.compile(
    rb"\)\s{0,9}:\s{0,9}(?:Promise<\s{0,9})?(?P<type>(?:" + CLASS + rb"|this\b))" + GENERIC + rb">?"
    rb"\s{0,9}(?:\|\s{0,9}(?:null|undefined)\s{0,9})?(?:=>)?\s{0,9}\{?\s{0,9}$"
)
_RETURNS = {
    "python": re.compile(
        rb"->\s{0,9}[\"']?(?:t\.|typing\.)?(?:(?:Optional|Awaitable)\[)?[\"']?(?P<type>" + CLASS + rb")"
        rb"(?:\[[^\[\]]{0,200}\])?[\"']?\]?(?:\s{0,9}\|\s{0,9}None)?[\"']?\s{0,9}:?\s{0,9}$"
    ),
    "go": re.compile(
        rb"\)\s{0,9}(?:\(\s{0,9}(?:" + NAME + rb"\s{1,9})?)?\*?(?P<type>" + GO_TYPE + rb")(?:\[[^\[\]]{0,80}\])?"
        rb"\s{0,9}(?:,[^()]{0,200})?\)?\s{0,9}\{?\s{0,9}$"
    ),
    "javascript": _ES_RETURNS,
    "typescript": _ES_RETURNS,
    "tsx": _ES_RETURNS,
}
_ASSIGNED = re.compile(
    rb"(?<![\w.$])((?:self\.|this\.)?#?" + NAME + rb")(?:\s{0,9},\s{0,9}\w+){0,4}\s{0,9}"
    rb"(?::[^=\n;,(){}]{0,80})?:?=\s{0,9}(await\s{1,9})?$"
)
_RETURNED = re.compile(rb"(?<![\w.$])return\s{1,9}(?:await\s{1,9})?(?:new\s{1,9})?&?$")
_AFTER_CALL = re.compile(rb"[ \t]{0,200}(?:;|\{|\}|\n(?!\s{0,200}[.?])|$)")
_HEADER_NAME = re.compile(rb"(?<![\w$.])[\w$]+")
_BEFORE = 120

MAX_AROUND = 12
"""Definitions around a name in use that are looked at for what its receiver is."""

MAX_NOTED = 200
"""Fields noted of one class or file."""

_RESULT = b"()"
_MAX_HEADER = 2000
_MAX_STEPS = 4
_MAX_EXPRESSION = 200
_OWN = (b"self.", b"this.")
_BARE_FIELDS = frozenset({"java"})
"""Languages in which a field needs no `this`, and what is noted of one file is not followed from others."""

_CLASSES = frozenset({"class", "interface", "struct"})
_FUNCTIONS = frozenset({"function", "method"})

_Types = dict[bytes, bytes | None]


class ReceiverTypes:
    """Types of the receivers of one file. `owner_at` tells the index of the innermost definition, -1 the file.

    What a name holds is an expression: `Client()` is what calling the class makes, `open().conn` what is reached so.
    """

    def __init__(
        self,
        language: str,
        bare: bytes,
        definitions: Sequence[Definition],
        owner_at: Callable[[int], int],
        literals: Sequence[tuple[int, int, int]] = (),
    ) -> None:
        """`literals` are functions without a name in Go: their start, the start of their body, and their end."""
        self._language = language
        self._definitions = definitions
        self._bare = bare
        self._index = {id(definition): n for n, definition in enumerate(definitions)}
        self._known: dict[int, _Types] = {}
        self._told: set[tuple[int, bytes]] = set()  # whose types are written, and need no guess
        self._returned: dict[int, bytes | None] = {}
        self._headers: dict[int, frozenset[bytes]] = {}
        self._literals = sorted(literals)
        self._starts = [start for start, _, _ in self._literals]
        self._outer: list[int] = []
        self._taken: list[_Types] = []
        if language not in LANGUAGES:
            return
        same: list[tuple[bytes, bytes, int]] = []
        for name, start, value, told, is_same in assignments(language, bare):
            owner = owner_at(start)
            if is_same:
                same.append((name, value, owner))
            else:
                self._give(name, value, owner, told=told)
        self._declared(owner_at)
        for name, value, owner in same:
            self._give(name, value, owner)

    def _declared(self, owner_at: Callable[[int], int]) -> None:
        """What headers say: the types of Go's parameters and fields, and what functions return."""
        for start, body, _ in self._literals:
            self._outer.append(self._innermost(start, len(self._outer) - 1))
            header = self._bare[start : min(body, start + _MAX_HEADER)]
            taken: _Types = dict.fromkeys(_HEADER_NAME.findall(header))
            for match in _GO_PARAMETER.finditer(header):
                taken.update({name.strip(): match["type"] + b"()" for name in match["names"].split(b",")})
            self._taken.append(taken)
        returns = _RETURNS.get(self._language)
        for n, definition in enumerate(self._definitions):
            start, end = definition.head, min(definition.header_end, definition.head + _MAX_HEADER)
            if definition.kind in _FUNCTIONS:
                header = self._bare[start:end]
                if self._language == "go":
                    self._parameters(n, start, end)
                if returns is not None and (told := returns.search(header)):
                    self._returned[n] = told["type"] + b"()"
                    self._told.add((n, _RESULT))
            elif self._language == "go" and definition.kind == "struct":
                for field in _GO_FIELD.finditer(self._bare, definition.header_end, definition.end):
                    for name in field["names"].split(b","):
                        self._note(n, b"." + name.strip(), field["type"] + b"()", told=True)

    def _innermost(self, at: int, literal: int) -> int:
        """The innermost literal around a place, from one outward that begins before it; -1 where there is none."""
        while literal >= 0 and self._literals[literal][2] <= at:
            literal = self._outer[literal]
        return literal

    def literal_at(self, at: int) -> int:
        """The number of the innermost function without a name around a place; -1 where there is none."""
        return self._innermost(at, bisect_right(self._starts, at) - 1) if self._literals else -1

    def _taken_by(self, name: bytes, literal: int) -> tuple[bool, bytes | None]:
        """Whether a literal, or one around it, has a parameter of that name, and what that holds."""
        while literal >= 0:
            if name in self._taken[literal]:
                return True, self._taken[literal][name]
            literal = self._outer[literal]
        return False, None

    def _parameters(self, owner: int, start: int, end: int) -> None:
        for match in _GO_PARAMETER.finditer(self._bare, start, end):
            for name in match["names"].split(b","):
                self._note(owner, name.strip(), match["type"] + b"()", told=True)

    def called(self, written: bytes, start: int, end: int, owner: int) -> None:
        """Take note of a call, in bytes of the source: what it gives a name or, where it is returned, the function."""
        before = self._bare[max(0, start - _BEFORE) : start].rsplit(b"\n", 1)[-1]
        if before.endswith(b"new "):
            before = before[:-4]
        if not before.rstrip().endswith((b"=", b"await", b"return", b"&")):
            return
        assigned = _ASSIGNED.search(before)
        if assigned is None and _RETURNED.search(before) is None:
            return
        if _AFTER_CALL.match(self._bare, end) is None:
            return
        if written == b"require":
            return  # an import, as which it is read
        literal = self.literal_at(start)
        expression = self.read(written, -1, literal) if literal >= 0 else written
        expression += b"()"
        if assigned is not None:
            self._give(assigned[1], expression, owner)
            return
        is_open = owner >= 0 and self._definitions[owner].kind in _FUNCTIONS and (owner, _RESULT) not in self._told
        if is_open and self._returned.setdefault(owner, expression) != expression:
            self._returned[owner] = None

    def _give(self, name: bytes, value: bytes, owner: int, *, told: bool = False) -> None:
        """Assignment to a variable or field, as far as it tells the type."""
        is_field = owner >= 0 and self._definitions[owner].kind in _CLASSES
        if name.startswith(_OWN):
            inside = self._in_class(value, owner)
            if inside is None:
                return
            owner, name, value = self._class_around(owner), name[5:], inside
        elif not is_field:
            self._note(owner, name, value, told=told)
            if owner < 0 or not self._bare.startswith(b"constructor", self._definitions[owner].head):
                return
            owner = self._class_around(owner)  # `constructor(private client: Client)`
        if owner >= 0:
            self._note(owner, b"." + name, value, told=told)

    def _in_class(self, value: bytes, owner: int) -> bytes | None:
        """What a method gives a field, in names that mean the same for the whole class; None where there are none."""
        head = re.split(rb"[.(]", value, maxsplit=1)[0]
        if owner < 0 or head in (b"self", b"this") or self._definitions[owner].kind in _CLASSES:
            return value
        known = self._visible(head, owner)
        if known is not None:
            return known + value[len(head) :]
        return None if self._in_header(head, owner) else value

    def _in_header(self, head: bytes, owner: int) -> bool:
        """Whether a definition's header has a word, or what else an expression begins with."""
        if _HEADER_NAME.fullmatch(head):
            return head in self._parameters_of(owner)
        definition = self._definitions[owner]
        header = self._bare[definition.head : min(definition.header_end, definition.head + _MAX_HEADER)]
        return re.search(rb"(?<![\w$.])" + re.escape(head) + rb"(?![\w$])", header) is not None

    def _note(self, owner: int, name: bytes, value: bytes, *, told: bool) -> None:
        """Type of a variable; unknown once two assignments say different ones."""
        types = self._known.setdefault(owner, {})
        if told and (owner, name) not in self._told:
            self._told.add((owner, name))
            types[name] = value
        elif not told and (owner, name) in self._told:
            return
        if types.setdefault(name, value) != value:
            types[name] = None

    def _around(self, owner: int) -> int:
        """Index of the enclosing definition, -1 outside of any."""
        around = self._definitions[owner].around if owner >= 0 else None
        return self._index[id(around)] if around is not None else -1

    def _class_around(self, owner: int) -> int:
        """Index of the enclosing class, -1 outside of classes."""
        for _ in range(MAX_AROUND):
            if owner < 0 or self._definitions[owner].kind in _CLASSES:
                return owner
            owner = self._around(owner)
        return -1

    def read(self, written: bytes, owner: int, literal: int = -1) -> bytes:
        """A name in use in a definition, and in the function without a name there, with what its receiver holds in
        place of it, where that is known.
        """
        written = written.replace(b"?.", b".").replace(b"!.", b".")
        if literal >= 0:
            head, dot, rest = written.partition(b".")
            is_taken, held = self._taken_by(head, literal)
            if is_taken and dot:
                return held + b"." + rest if held and len(held) + len(rest) <= _MAX_EXPRESSION else written
        for _ in range(_MAX_STEPS):
            head, dot, rest = written.partition(b".")
            if not dot or not self._known or head.endswith(b")"):
                break
            value: bytes | None
            if written.startswith(_OWN):
                name, dot, rest = rest.partition(b".")
                around = self._class_around(owner)
                value = self._known.get(around, {}).get(b"." + name) if dot and around >= 0 else None
            else:
                value = self._visible(head, owner)
            if not value or len(value) + len(rest) > _MAX_EXPRESSION or value.startswith(head + b"."):
                break
            written = value + b"." + rest
        return written

    def _parameters_of(self, owner: int) -> frozenset[bytes]:
        """The names in a definition's header, but for members of others: its parameters are among them."""
        known = self._headers.get(owner)
        if known is None:
            definition = self._definitions[owner]
            header = self._bare[definition.head : min(definition.header_end, definition.head + _MAX_HEADER)]
            known = self._headers[owner] = frozenset(_HEADER_NAME.findall(header))
        return known

    def _visible(self, receiver: bytes, owner: int) -> bytes | None:
        """Scope chain: the type of a variable in a definition or those around it."""
        for _ in range(MAX_AROUND):
            types = self._known.get(owner, {})
            if receiver in types:
                return types[receiver]
            if self._language in _BARE_FIELDS and (field := b"." + receiver) in types:
                return types[field]
            if owner < 0:
                return None
            if receiver in self._parameters_of(owner):
                return None  # a parameter of which nothing is said
            owner = self._around(owner)
        return None

    def noted(self, owner: int) -> Iterator[Reference]:
        """What others may have to know of a definition, or (-1) of the file: what it returns, and what it holds."""
        if self._language in _BARE_FIELDS:
            return
        if returned := self._returned.get(owner):
            yield _noted("returns", b"", self.read(returned, owner))
        is_class = owner >= 0 and self._definitions[owner].kind in _CLASSES
        if owner >= 0 and not is_class:
            return
        held = [(name, value) for name, value in self._known.get(owner, {}).items() if value]
        for name, value in held[:MAX_NOTED]:
            if is_class == name.startswith(b"."):
                yield _noted("holds", name.removeprefix(b"."), self.read(value, owner))


def _noted(kind: ReferenceKind, name: bytes, value: bytes) -> Reference:
    return Reference(kind, name.decode("utf-8", "replace"), value.decode("utf-8", "replace"))
