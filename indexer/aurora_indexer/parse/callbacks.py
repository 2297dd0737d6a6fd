"""Callbacks (functions passed as arguments): names that are handed on to a call, as `parse` in `map(parse, lines)`.

Told where the file says what the name is: a definition of its own, something imported, a method of the class around. A
parameter or variable that is called so is something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from tree_sitter import Node

from aurora_indexer.languages.name_syntax import NAME, NameSyntax
from aurora_indexer.parse.definitions import CALLABLE, Definition
from aurora_indexer.parse.local_names import LocalNames

MAX_LOOKED_AT = 1000
"""Names of one file that are looked up in its tree, which takes longer the deeper that is."""

_ARGUMENT = re.compile(rb"[(,=]\s{0,200}(" + NAME + rb"(?:\." + NAME + rb"){0,4})(?=\s{0,200}[,)])")
_ARGUMENTS = frozenset({"argument_list", "arguments"})
_OWN = (b"self", b"cls", b"this")
_PROPERTY = re.compile(rb"@[\w.]{0,80}(?:property|setter|getter)\b|^\s{0,20}(?:static\s{1,9})?[gs]et\s")


def callbacks(
    root: Node,
    bare: bytes,
    syntax: NameSyntax,
    definitions: Sequence[Definition],
    imported: frozenset[bytes],
    local: LocalNames,
    owner_at: Callable[[int], int],
) -> Iterator[tuple[int, bytes]]:
    """Callbacks, as written, each with the index of the innermost definition around it.

    `imported` are the names that the file's imports bind; where files of a package share theirs, any may be known.
    They are looked for in the text, as a query that waits for arguments is kept for every call that is open.
    """
    methods: dict[tuple[int, bytes], Definition] = {}
    own = set(imported)
    for each in definitions:
        own.add(each.written)
        if each.around is not None:
            methods[id(each.around), each.written] = each
    looked_at = 0
    for match in _ARGUMENT.finditer(bare):
        head, dot, rest = match[1].partition(b".")
        if head not in _OWN and head not in own and (dot or not syntax.has_package_names):
            continue
        index = owner_at(match.start(1))
        if head in _OWN and (not dot or not _is_method(bare, rest, _class_around(definitions, index), methods)):
            continue
        looked_at += 1
        if looked_at > MAX_LOOKED_AT:
            return
        if not _is_argument(root.descendant_for_byte_range(*match.span(1))):
            continue
        if head in _OWN or not local.has(head, index):
            yield index, match[1]


def _is_argument(node: Node | None) -> bool:
    """Whether a name is what a call is given, rather than a base, an element or a parameter."""
    around = node.parent if node is not None else None
    if around is not None and around.type == "keyword_argument":
        around = around.parent
    if around is None or around.type not in _ARGUMENTS:
        return False
    return around.parent is None or around.parent.type != "class_definition"


def _is_method(
    bare: bytes, name: bytes, owner: Definition | None, methods: dict[tuple[int, bytes], Definition]
) -> bool:
    """Whether a class has a method of that name, and no property."""
    method = methods.get((id(owner), name)) if owner is not None else None
    return method is not None and _PROPERTY.search(bare[method.start : method.header_end]) is None


def _class_around(definitions: Sequence[Definition], index: int) -> Definition | None:
    """Enclosing class of a definition; None outside of classes."""
    each = definitions[index] if index >= 0 else None
    while each is not None and each.kind in CALLABLE:
        each = each.around
    return each
