"""Types of receivers: which class a variable holds an instance of, as far as the text around it says so plainly.

`client = Client()`, `with Client() as client`, `def f(client: Client)`, `this.client = new Client()`: a call of
`client.get` is then read as one of `Client().get`. A name that is given different classes in one definition has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from aurora_indexer.parse.definitions import Definition

_NAME = rb"[A-Za-z_$][\w$]*"
_CLASS = rb"(?:[A-Za-z_$][\w$]*\.){0,3}_{0,2}\$?[A-Z][\w$]*"
_PYTHON = re.compile(
    rb"(?<![\w.])(?:with|,)\s{1,20}(?P<opened>"
    + _CLASS
    + rb")\([^()]{0,200}(?:\([^()]{0,200}\)[^()]{0,200}){0,4}\)\s{1,20}as\s{1,20}(?P<as>"
    + _NAME
    + rb")"
    rb"|(?<![\w.])(?P<name>(?:self\.)?" + _NAME + rb")\s{0,20}(?:"
    rb":\s{0,20}(?:t\.|typing\.)?(?:Optional\[\s{0,20})?[\"']?(?P<type>"
    + _CLASS
    + rb")(?:\[[^\[\]]{0,200}\])?[\"']?\]?"
    rb"(?:\s{0,20}\|\s{0,20}None)?\s{0,20}(?=[,)=\n])"
    rb"|=\s{0,20}(?:await\s{1,20})?(?P<made>" + _CLASS + rb")\()"
)
_ECMASCRIPT = re.compile(
    rb"(?<![\w$.])(?P<name>(?:this\.)?#?" + _NAME + rb")\s{0,20}[?!]?\s{0,20}(?:"
    rb":\s{0,20}(?P<type>" + _CLASS + rb")(?:<[^<>;={}]{0,200}(?:<[^<>;={}]{0,200}>[^<>;={}]{0,200}){0,4}>)?"
    rb"\s{0,20}(?:\|\s{0,20}(?:null|undefined)\s{0,20})?(?=[,)=;\n])"
    rb"|(?::[^=;\n]{0,80})?=\s{0,20}(?:await\s{1,20})?new\s{1,20}(?P<made>" + _CLASS + rb"))"
)
_PATTERNS = {"python": _PYTHON, "javascript": _ECMASCRIPT, "typescript": _ECMASCRIPT, "tsx": _ECMASCRIPT}
MAX_AROUND = 12
"""Definitions around a name in use that are looked at for what its receiver is."""

_MAX_HEADER = 2000
_OWN = (b"self.", b"this.")
_CLASSES = frozenset({"class", "interface"})

_Types = dict[bytes, bytes | None]


class ReceiverTypes:
    """Types of the receivers of one file. `owner_at` tells the index of the innermost definition, -1 the file."""

    def __init__(
        self, language: str, bare: bytes, definitions: Sequence[Definition], owner_at: Callable[[int], int]
    ) -> None:
        self._definitions = definitions
        self._bare = bare
        self._index = {id(definition): n for n, definition in enumerate(definitions)}
        self._known: dict[int, _Types] = {}
        pattern = _PATTERNS.get(language)
        for match in pattern.finditer(bare) if pattern else ():
            groups = match.groupdict()
            name = groups.get("as") or groups["name"]
            kind = groups.get("opened") or groups["type"] or groups["made"]
            if name is None or kind is None:
                continue
            owner = owner_at(match.start("as") if groups.get("as") else match.start("name"))
            self._give(name, kind, owner)

    def _give(self, name: bytes, kind: bytes, owner: int) -> None:
        is_field = owner >= 0 and self._definitions[owner].kind in _CLASSES
        if name.startswith(_OWN):
            owner, name = self._class_around(owner), name[5:]
        elif not is_field:
            self._note(owner, name, kind)
            if owner < 0 or not self._bare.startswith(b"constructor", self._definitions[owner].head):
                return
            owner = self._class_around(owner)  # `constructor(private client: Client)`
        if owner >= 0:
            self._note(owner, b"." + name, kind)

    def _note(self, owner: int, name: bytes, kind: bytes) -> None:
        types = self._known.setdefault(owner, {})
        if types.setdefault(name, kind) != kind:
            types[name] = None

    def _around(self, owner: int) -> int:
        around = self._definitions[owner].around if owner >= 0 else None
        return self._index[id(around)] if around is not None else -1

    def _class_around(self, owner: int) -> int:
        for _ in range(MAX_AROUND):
            if owner < 0 or self._definitions[owner].kind in _CLASSES:
                return owner
            owner = self._around(owner)
        return -1

    def read(self, written: bytes, owner: int) -> bytes:
        """A name in use in a definition with the class of its receiver in place of it, where that is known."""
        receiver, dot, rest = written.replace(b"?.", b".").replace(b"!.", b".").rpartition(b".")
        if not dot or not self._known:
            return written
        kind: bytes | None
        if receiver.startswith(_OWN):
            inner = receiver[5:]
            around = self._class_around(owner)
            kind = self._known.get(around, {}).get(b"." + inner) if around >= 0 else None
        else:
            kind = self._visible(receiver, owner)
        return kind + b"()." + rest if kind else written

    def _visible(self, receiver: bytes, owner: int) -> bytes | None:
        for _ in range(MAX_AROUND):
            types = self._known.get(owner, {})
            if receiver in types:
                return types[receiver]
            if owner < 0:
                return None
            definition = self._definitions[owner]
            header = self._bare[definition.head : min(definition.header_end, definition.head + _MAX_HEADER)]
            if re.search(rb"(?<![\w$.])" + re.escape(receiver) + rb"(?![\w$])", header):
                return None  # a parameter of which nothing is said
            owner = self._around(owner)
        return None
