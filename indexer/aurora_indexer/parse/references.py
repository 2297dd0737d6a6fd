"""References of chunks (edges of the call graph): each call, base, branch and loop goes to the innermost definition
around it (AURORA §6.3.5).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter

from msgspec import Struct, field
from tree_sitter import Node

from aurora_indexer.languages import Language
from aurora_indexer.languages.name_syntax import CallNodes
from aurora_indexer.parse.assignments import ELEMENT
from aurora_indexer.parse.callbacks import callbacks
from aurora_indexer.parse.definitions import CALLABLE, Definition, SourceOutline
from aurora_indexer.parse.leading_comments import Captures
from aurora_indexer.parse.local_names import LocalNames
from aurora_indexer.parse.receiver_types import ReceiverTypes
from aurora_memory.chunks import Import, Reference, ReferenceKind
from aurora_memory.name_lookup import bound_name
from aurora_memory.scope import CHAINED

MAX_REFERENCES = 200
"""References kept per chunk."""

MAX_CALLBACKS = 50
"""Names that a chunk hands on, kept beside them."""

MAX_WRITTEN = 120
"""Bytes of a name in use that are looked at, from its end: a long chain of calls is told by its last name."""

MAX_REMEMBERED = 8_192
"""Names in use of one kind; at some 100 bytes each."""

_MAX_CHAIN = 24
_MAX_CHAINS = 3000
"""Chains of calls that are read in one file: each costs more, the longer it is."""

_LOOKED_BACK = 24
_GIVING = (b"=", b"return", b"await", b"new", b"&")
"""What stands before a call whose result a name, or the caller, is given."""

_BEFORE_GIVEN = frozenset(b" \t\n\r\v\f").union(word[-1] for word in _GIVING)

_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]$")
_ARROWS = re.compile(r"\s*(?:::|->|\?\.|!\.|&\.|\.|:)\s*")
_PLAIN = re.compile(r"((?:[\w$@#-]++\.)*)([\w$#-]++[?!]?)")
"""A name with what it is in; in a shell's names `-` stands like a letter."""
_CHAIN = re.compile(r"((?:[\w$@#]++(?:\(\))*\.)*)([\w$#]++[?!]?)")
_TYPE_NAME = re.compile(rb"\*?([\w.$]+)")
_LAST_BACKWARDS = re.compile(r"\n?([?!]?[\w$#]+)")


class _Read(dict[bytes, Reference | None]):
    """Names in use read so far, equal ones as one object (interning)."""

    def __init__(self, kind: ReferenceKind) -> None:
        self._kind = kind
        self._one: dict[Reference, Reference] = {}

    def __missing__(self, written: bytes) -> Reference | None:
        read = reference(self._kind, written)
        if read is not None:
            read = self._one.setdefault(read, read)
        self[written] = read
        return read

    def forget_some(self) -> None:
        """Eviction: start over when too much is remembered; not within a chunk, whose references are compared by
        identity.
        """
        if len(self) >= MAX_REMEMBERED:
            self.clear()
            self._one.clear()


def reference(kind: ReferenceKind, written: bytes) -> Reference | None:
    """Reference by a name in use: `ns::Klass<T>::make` is `make`, qualifier `ns.Klass`; that of `f(x).go` is `f()`."""
    text = written.decode("utf-8", "replace").strip().lstrip("*&")
    match = _PLAIN.fullmatch(text)  # as most are written
    if match is None:
        while ("<" in text or "]" in text) and (shorter := _GENERICS.sub("", text)) != text:
            text = shorter
        if "(" not in text:
            match = _PLAIN.fullmatch(_ARROWS.sub(".", text))
    if match:
        return Reference(kind, match[2], match[1][:-1])
    if last := _LAST_BACKWARDS.match(text[::-1]):
        name = last[1][::-1]
        before = _ARROWS.sub(".", text[: len(text) - len(last[0])].rstrip())
        if chain := _CHAIN.fullmatch(f"{before}{name}"):
            return Reference(kind, name, chain[1][:-1])
        return Reference(kind, name, CHAINED if before.endswith(").") else "")
    return None


_bases = _Read("inherits")
_calls = _Read("calls")
_callbacks = _Read("hands on")


class Uses(Struct, eq=False):
    """Uses: captures of a chunk, outside of the chunks inside it. Names are as written."""

    calls: list[bytes] = field(default_factory=list)
    bases: list[bytes] = field(default_factory=list)
    callbacks: list[bytes] = field(default_factory=list)
    notes: tuple[Reference, ...] = ()
    branches: int = 0
    loops: int = 0


def references(uses: Uses) -> tuple[Reference, ...]:
    """The distinct references of a chunk in order of first use, bases first, at most 200, and what is noted of it."""
    _bases.forget_some()
    _calls.forget_some()
    _callbacks.forget_some()
    rows = [*map(_bases.__getitem__, uses.bases), *map(_calls.__getitem__, dict.fromkeys(uses.calls))]
    # Equal references are one object, so distinct by identity is distinct, and cheaper.
    distinct = {id(row): row for row in rows if row is not None}
    handed = [row for row in map(_callbacks.__getitem__, dict.fromkeys(uses.callbacks)) if row is not None]
    return (*islice(distinct.values(), MAX_REFERENCES), *handed[:MAX_CALLBACKS], *uses.notes)


_place = attrgetter("byte_range")
"""Where a capture is: of those that start together, as all in a chain of calls do, the shortest comes first."""


def uses_of(
    source: bytes,
    bare: bytes,
    captures: Captures,
    found: SourceOutline,
    language: Language,
    imports: Sequence[Import],
    root: Node,
) -> tuple[list[Uses], Uses]:
    """Uses of each definition, and of the module: each capture belongs to the innermost definition around it.

    `bare` is the source without its comments, byte for byte; `imports` are the file's, `root` is its tree.
    """
    uses = [Uses() for _ in found.definitions]
    module = Uses()
    everyone = [*uses, module]  # Index -1, the file itself, is the last.
    bounds, holders = _owners(found.definitions)

    def owner_at(position: int) -> int:
        """Index of the innermost definition at a position, or -1."""
        return holders[bisect_right(bounds, position) - 1]

    receivers = {node.end_byte: node.start_byte for node in captures.get("receiver", ())}
    literals = [(node.start_byte, _body_of(node), node.end_byte) for node in captures.get("literal", ())]
    types = ReceiverTypes(language, bare, found.definitions, owner_at, literals)
    nodes = captures.get("call", ())
    calls = [(*node.byte_range, n) for n, node in enumerate(nodes)]
    if language.token_calls is not None:
        for node in captures.get("tokens", ()):
            calls += [(start, end, -1) for start, end in language.token_calls(bare, *node.byte_range)]
    calls.sort()
    starts = [start for start, _, _ in calls]
    written = [_text(source, start, end, receivers) for start, end, _ in calls]
    if language.names is not None and language.names.arrow:
        written = [each.lstrip(b"$").replace(language.names.arrow, b".") for each in written]
    if language.names is not None and language.names.calls is not None:
        written = _unfolded(source, bare, nodes, calls, written, language.names.calls, types, owner_at)
    shadows = _Shadows(bare, language, found, imports)
    at = 0
    for bound, holder in zip([*bounds[1:], len(source) + 1], holders, strict=True):
        # All calls up to where the innermost definition changes.
        until = bisect_left(starts, bound, at)
        if until > at:
            if literals:
                within = dict.fromkeys(zip(written[at:until], map(types.literal_at, starts[at:until]), strict=True))
                read = [types.read(each, holder, literal) if b"." in each else each for each, literal in within]
            else:
                within = dict.fromkeys((each, -1) for each in written[at:until])
                read = [types.read(each, holder) if b"." in each else each for each, _ in within]
            everyone[holder].calls += shadows.without(holder, [each for each, _ in within], read)
            at = until
    for node in sorted(captures.get("component", ()), key=_place):
        component = _written(source, node, receivers)
        if component[:1].isupper() or b"." in component:
            everyone[owner_at(node.start_byte)].calls.append(component)
    bases = sorted(captures.get("inherits", ()), key=_place)
    heirs = _Heirs(found) if bases and found.scopes else None
    for node in bases:
        index = owner_at(node.start_byte)
        if heirs is not None:
            index = heirs.of(node.start_byte, index)
        if index >= 0 and found.definitions[index].kind in CALLABLE:
            continue  # Go's struct without a name, in a function
        everyone[index].bases.append(_written(source, node, receivers))
    if language.names is not None and shadows.local is not None:
        given = callbacks(root, bare, language.names, found.definitions, shadows.imported, shadows.local, owner_at)
        for index, name in given:
            everyone[index].callbacks.append(name)
    for node in captures.get("branch", ()):
        everyone[owner_at(node.start_byte)].branches += 1
    for node in captures.get("loop", ()):
        everyone[owner_at(node.start_byte)].loops += 1
    for n, each in enumerate(uses):
        each.notes = tuple(types.notes(n))
    module.notes = tuple(types.notes(-1))
    return uses, module


class _Shadows:
    """Names of a file that functions in it have for something of their own."""

    def __init__(self, bare: bytes, language: Language, found: SourceOutline, imports: Sequence[Import]) -> None:
        names = language.names
        is_told = names is not None and bool(names.bindings)
        self.local = LocalNames(bare, names, found.definitions) if names is not None and is_told else None
        self.imported = frozenset(bound_name(entry).encode() for entry in imports) if is_told else frozenset()
        self._own = self.imported.union(each.written for each in found.definitions)
        self._is_any_known = names is not None and names.has_package_names
        self._words = language.words

    def without(self, holder: int, written: Sequence[bytes], read: Sequence[bytes]) -> Iterable[bytes]:
        """Calls in a definition without those of what a function around binds itself; a member of such is one of what
        nobody knows. `read` are the names as they are with what their receivers hold.
        """
        return read if self.local is None or holder < 0 else self._without(self.local, holder, written, read)

    def _without(
        self, local: LocalNames, holder: int, written: Sequence[bytes], read: Sequence[bytes]
    ) -> Iterator[bytes]:
        for each, name in zip(written, read, strict=True):
            head, dot, rest = each.partition(b".")
            bare = head.rstrip(b"()") if dot else head
            is_known = bare in self._own or (
                self._is_any_known and not dot and bare.decode("utf-8", "replace") not in self._words
            )
            if not is_known or each != name or not local.has(bare, holder):
                yield name
            elif dot:
                yield CHAINED.encode() + b"." + rest.rpartition(b".")[2]


def _body_of(literal: Node) -> int:
    """Start of a function literal's body."""
    body = literal.child_by_field_name("body")
    return body.start_byte if body is not None else literal.end_byte


def _unfolded(
    source: bytes,
    bare: bytes,
    nodes: Sequence[Node],
    calls: Sequence[tuple[int, int, int]],
    written: list[bytes],
    syntax: CallNodes,
    types: ReceiverTypes,
    owner_at: Callable[[int], int],
) -> list[bytes]:
    """Names in use with the arguments of calls in them left out; what calls give names is noted in `types`.

    `calls` are start, end and number of the node, in the order of `written`.
    """
    read = list(written)
    chains = 0
    called = dict(syntax.calls)
    for n, ((start, end, number), name) in enumerate(zip(calls, written, strict=True)):
        if number < 0:
            continue  # of tokens
        is_chain = b"(" in name or (syntax.element and (b"[" in name or b"{" in name))
        if (is_chain and len(name) < MAX_WRITTEN) or end - start > MAX_WRITTEN:
            chains += 1
            read[n] = (_chain(source, nodes[number], syntax, called) if chains <= _MAX_CHAINS else b"") or name
        if not called or (start and bare[start - 1] not in _BEFORE_GIVEN):
            continue
        before = bare[max(0, start - _LOOKED_BACK) : start].rstrip()
        if before.endswith(_GIVING):
            call = nodes[number].parent
            if call is not None and call.type in called:
                types.note_call(read[n], start, call.end_byte, owner_at(start))
    return read


def _chain(source: bytes, node: Node, syntax: CallNodes, called: Mapping[str, str]) -> bytes:
    """A chain of calls without their arguments: `a(1).b` of `a(1).b(2)` is `a().b`; nothing for other expressions.

    `called` are the `calls` of the syntax, by node.
    """
    pieces: list[bytes] = []
    calls = b""
    each: Node | None = node
    # Asked only where it may be one: a node's parent is looked for from the root of the tree.
    if syntax.invocation and (around := node.parent) is not None and around.type == syntax.invocation:
        each = around
    for _ in range(_MAX_CHAIN):
        if each is None:
            return b""
        kind = each.type
        if kind in called:
            calls += b"()"
            each = each.child_by_field_name(called[kind])
        elif kind in syntax.typed:
            made = each.child_by_field_name("type")
            if made is None or made.end_byte - made.start_byte > MAX_WRITTEN:
                return b""
            named = _TYPE_NAME.match(source, made.start_byte, made.end_byte)
            if named is None:
                return b""
            pieces.append(named[1] + b"()" + calls)
            return b".".join(reversed(pieces))
        elif kind == syntax.element:
            pieces.append(ELEMENT[1:] + calls)
            calls = b""
            each = each.child_by_field_name(syntax.owner)
        elif kind == syntax.invocation:
            name = each.child_by_field_name("name")
            if name is None:
                return b""
            pieces.append(source[name.start_byte : name.end_byte] + (b"()" if pieces else b""))
            each = each.child_by_field_name("object")
            if each is None:  # of the class around
                return b".".join(reversed(pieces))
        elif (name := each.child_by_field_name(syntax.member)) is not None:
            pieces.append(source[name.start_byte : name.end_byte] + calls)
            calls = b""
            each = each.child_by_field_name(syntax.owner)
        elif (each.child_count == 0 or kind in syntax.paths) and each.end_byte - each.start_byte <= MAX_WRITTEN:
            pieces.append(source[each.start_byte : each.end_byte] + calls)
            return b".".join(reversed(pieces))
        elif kind in syntax.wrappers and each.named_child_count == 1:
            each = each.named_child(0)
        else:
            return b""
    return b""


def _written(source: bytes, node: Node, receivers: dict[int, int]) -> bytes:
    """The name in use as written, from its end: a chain of calls may be as long as the file."""
    return _text(source, *node.byte_range, receivers)


def _text(source: bytes, start: int, end: int, receivers: dict[int, int]) -> bytes:
    if receivers:
        # What a method is called on ends at `.`, or two bytes further left at `&.` and `::`.
        start = receivers.get(start - 1, receivers.get(start - 2, start))
    return source[start:end] if end - start <= MAX_WRITTEN else source[end - MAX_WRITTEN : end]


class _Heirs:
    """Whose a base is that is named in a scope: in `impl Trait for Type`, it is `Type`'s."""

    def __init__(self, found: SourceOutline) -> None:
        self._definitions = found.definitions
        self._scopes = found.scopes
        self._starts = [start for start, _, _ in found.scopes]
        self._by_name = {definition.name: index for index, definition in reversed([*enumerate(found.definitions)])}

    def of(self, position: int, index: int) -> int:
        """Index of the heir of a base at a position, where `index` is that of the innermost definition there."""
        at = bisect_right(self._starts, position) - 1
        if at >= 0:
            start, end, name = self._scopes[at]
            if position < end and (index < 0 or self._definitions[index].start < start):
                return self._by_name.get(name, index)
        return index


def _owners(definitions: list[Definition]) -> tuple[list[int], list[int]]:
    """Owners of a file's bytes: where the innermost definition changes, and the index of the definition from there on.

    Index -1 is the file itself.
    """
    bounds = [0]
    holders = [-1]
    open_: list[tuple[int, int]] = []
    for index, definition in enumerate(definitions):
        while open_ and open_[-1][0] <= definition.start:
            bounds.append(open_.pop()[0])
            holders.append(open_[-1][1] if open_ else -1)
        bounds.append(definition.start)
        holders.append(index)
        open_.append((definition.end, index))
    while open_:
        bounds.append(open_.pop()[0])
        holders.append(open_[-1][1] if open_ else -1)
    return bounds, holders
