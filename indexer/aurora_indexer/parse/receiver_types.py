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
from collections.abc import Callable, Iterable, Iterator, Sequence

from aurora_indexer.languages import Language
from aurora_indexer.languages.name_syntax import NAME, NameSyntax, pattern
from aurora_indexer.parse.assignments import ELEMENT, LIST, assignments, held, is_again
from aurora_indexer.parse.definitions import CALLABLE, MAX_HEADER, Definition
from aurora_memory.chunks import Reference, ReferenceKind
from aurora_memory.language_families import EXACT_FAMILIES, family

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
_MAX_STEPS = 4
_MAX_EXPRESSION = 200
_OWN = (b"self.", b"this.")
_CLASSES = frozenset({"class", "interface", "struct"})
_HOLDING = _CLASSES | {"type"}
"""Kinds of definitions of which it is noted what they hold."""

_Types = dict[bytes, bytes | None]


class ReceiverTypes:
    """Types of the receivers of one file. `owner_at` tells the index of the innermost definition, -1 the file.

    What a name holds is an expression: `Client()` is what calling the class makes, `open().conn` what is reached so.
    """

    def __init__(
        self,
        language: Language,
        bare: bytes,
        definitions: Sequence[Definition],
        owner_at: Callable[[int], int],
        literals: Sequence[tuple[int, int, int]],
    ) -> None:
        """`literals` are functions without a name: their start, the start of their body, and their end."""
        syntax = language.names
        self._assignment = syntax.assignment if syntax is not None else None
        self._has_bare_fields = syntax is not None and syntax.has_bare_fields
        self._are_noted = family(language.name) in EXACT_FAMILIES
        self._definitions = definitions
        self._bare = bare
        self._index = {id(definition): n for n, definition in enumerate(definitions)}
        self._classes = {each.name: n for n, each in enumerate(definitions) if each.kind in _CLASSES}
        self._known: dict[int, _Types] = {}
        self._told: set[tuple[int, bytes]] = set()  # whose types are written, and need no guess
        self._guessed: set[tuple[int, bytes]] = set()  # of which only a later assignment was seen
        self._read: set[int] = set()  # where assignments are whose values are known
        self._returned: dict[int, bytes | None] = {}
        self._headers: dict[int, frozenset[bytes]] = {}
        self._literals = sorted(literals)
        self._starts = [start for start, _, _ in self._literals]
        self._outer: list[int] = []
        self._taken: list[_Types] = []
        if syntax is None:
            return
        same: list[tuple[bytes, bytes, int, bool]] = []
        for written, start, value, told, is_same, again in assignments(syntax, bare):
            name = written.replace(syntax.arrow, b".") if syntax.arrow else written
            owner = owner_at(start)
            self._read.add(start)
            if is_same:
                same.append((name, value, owner, again))
            else:
                self._give(name, value, owner, told=told, again=again)
        self._declared(syntax)
        for name, value, owner, again in same:
            self._give(name, value, owner, again=again)

    def _declared(self, syntax: NameSyntax) -> None:
        """What headers and bodies say: the types of parameters and fields, and what functions return."""
        returned = pattern(syntax.return_type) if syntax.return_type else None
        parameter = pattern(syntax.parameter) if syntax.parameter else None
        field = pattern(syntax.field) if syntax.field else None
        container = pattern(syntax.container) if syntax.container else None
        for start, body, _ in self._literals:
            self._outer.append(self._innermost(start, len(self._outer) - 1))
            header = self._bare[start : min(body, start + MAX_HEADER)]
            taken: _Types = dict.fromkeys(_HEADER_NAME.findall(header))
            if parameter is not None:
                taken.update(_of_one_type(parameter.finditer(header)))
            self._taken.append(taken)
        for n, definition in enumerate(self._definitions):
            if definition.kind in CALLABLE:
                header = definition.header(self._bare)
                if parameter is not None:
                    for name, value in _of_one_type(parameter.finditer(header)):
                        self._note(n, name, value, told=True)
                if returned is not None and (told := returned.search(header)):
                    self._returned[n] = held(told)
                    self._told.add((n, _RESULT))
            elif field is not None and definition.kind == "struct":
                for name, value in _of_one_type(field.finditer(self._bare, definition.header_end, definition.end)):
                    self._note(n, b"." + name, value, told=True)
            elif (
                container is not None
                and definition.kind == "type"
                and (told := container.search(definition.header(self._bare)))
            ):
                self._note(n, ELEMENT, held(told).removeprefix(LIST), told=True)

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

    def note_call(self, written: bytes, start: int, end: int, owner: int) -> None:
        """Note of a call, in bytes of the source: what it gives a name or, where it is returned, the function."""
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
            at = start - len(before) + assigned.start(1)
            if at not in self._read:  # `c := new(Client)` is read already
                again = is_again(self._assignment, before.rstrip(b" \t=&")[::-1])
                self._give(assigned[1], expression, owner, again=again)
            return
        is_open = owner >= 0 and self._definitions[owner].kind in CALLABLE and (owner, _RESULT) not in self._told
        if is_open and self._returned.setdefault(owner, expression) != expression:
            self._returned[owner] = None

    def _give(self, name: bytes, value: bytes, owner: int, *, told: bool = False, again: bool = False) -> None:
        """Assignment to a variable or field, as far as it tells the type."""
        is_field = owner >= 0 and self._definitions[owner].kind in _CLASSES
        if name.startswith(_OWN):
            inside = self._in_class(value, owner)
            if inside is None:
                return
            owner, name, value = self._class_around(owner), name[5:], inside
        elif not is_field:
            self._note(owner, name, value, told=told, again=again)
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
        header = self._definitions[owner].header(self._bare)
        return re.search(rb"(?<![\w$.])" + re.escape(head) + rb"(?![\w$])", header) is not None

    def _note(self, owner: int, name: bytes, value: bytes, *, told: bool, again: bool = False) -> None:
        """Type of a variable; unknown once two assignments say different ones, of which neither only comes `again`."""
        types = self._known.setdefault(owner, {})
        if again and name in types and (owner, name) not in self._guessed:
            return
        if again and name not in types:
            self._guessed.add((owner, name))
        elif not again and (owner, name) in self._guessed:
            self._guessed.remove((owner, name))
            del types[name]
        if told and (owner, name) not in self._told:
            self._told.add((owner, name))
            types[name] = value
        elif not told and (owner, name) in self._told:
            return
        if types.setdefault(name, value) != value:
            types[name] = None

    def _around(self, owner: int) -> int:
        """Index of the enclosing definition, -1 outside of any; of what extends a class elsewhere in the file, that
        class."""
        around = self._definitions[owner].around if owner >= 0 else None
        if around is None and owner >= 0 and not self._are_noted:
            return self._classes.get(self._definitions[owner].name.rpartition(".")[0], -1)
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
            is_element = value.startswith(LIST) and (rest + b".").startswith(ELEMENT[1:] + b".")
            written = value[1:] + rest[1:] if is_element else value + b"." + rest
        return written

    def _parameters_of(self, owner: int) -> frozenset[bytes]:
        """The names in a definition's header, but for members of others: its parameters are among them."""
        known = self._headers.get(owner)
        if known is None:
            header = self._definitions[owner].header(self._bare)
            known = self._headers[owner] = frozenset(_HEADER_NAME.findall(header))
        return known

    def _visible(self, receiver: bytes, owner: int) -> bytes | None:
        """Scope chain: the type of a variable in a definition or those around it."""
        for _ in range(MAX_AROUND):
            types = self._known.get(owner, {})
            if receiver in types:
                return types[receiver]
            if self._has_bare_fields and (field := b"." + receiver) in types:
                return types[field]
            if owner < 0:
                return None
            if receiver in self._parameters_of(owner):
                return None  # a parameter of which nothing is said
            owner = self._around(owner)
        return None

    def notes(self, owner: int) -> Iterator[Reference]:
        """Notes for other files: what a definition returns, and what it, or (-1) the file, holds."""
        if not self._are_noted:
            return
        if returned := self._returned.get(owner):
            yield _noted("returns", b"", self.read(returned, owner))
        is_class = owner >= 0 and self._definitions[owner].kind in _HOLDING
        if owner >= 0 and not is_class:
            return
        held = [(name, value) for name, value in self._known.get(owner, {}).items() if value]
        for name, value in held[:MAX_NOTED]:
            if is_class == name.startswith(b"."):
                yield _noted("holds", name.removeprefix(b"."), self.read(value, owner))


def _of_one_type(found: Iterable[re.Match[bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """Parameters or fields with what they hold; several may share a type, as in `a, b int`."""
    for match in found:
        for name in match["names"].split(b","):
            yield name.strip(), held(match)


def _noted(kind: ReferenceKind, name: bytes, value: bytes) -> Reference:
    return Reference(kind, name.decode("utf-8", "replace"), value.decode("utf-8", "replace"))
