"""JavaScript and TypeScript nodes: what captures of JavaScript and TypeScript are, where a query that tells it would
take long to compile and to run; and the syntax of their names.

Their grammars are so large that a query which names what is inside of a node compiles for milliseconds, and these nodes
are so frequent that it runs long. So the query captures the nodes alone, and what they hold is looked up here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from aurora_indexer.languages.name_syntax import (
    ALIAS,
    CLASS,
    GENERIC,
    AssignmentSyntax,
    CallNodes,
    NameSyntax,
)

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node

    from aurora_indexer.languages.language import Captures

_VALUES = frozenset(
    {
        *("arrow_function", "function_expression", "generator_function", "class", "object"),
        *("parenthesized_expression", "as_expression", "satisfies_expression", "type_assertion"),
    }
)
"""What may be, or have in its brackets, a definition's value."""

_METHODS = _VALUES - {"generator_function", "class", "object"}
_WRAPPED = _VALUES - {"object"} | {"call_expression"}
_FUNCTIONS = frozenset({"arrow_function", "function_expression"})
_NAMES = frozenset({"identifier", "member_expression"})
_STRINGS = frozenset({"string", "template_string"})
_DECLARATIONS = frozenset({"lexical_declaration", "variable_declaration"})
_OVERLOADED = frozenset({"function_signature", "function_declaration", "method_signature", "method_definition"})
_MAX_GAP = 400
_MAX_BETWEEN = 16
"""Bytes of white space, and comments and semicolons, between an overload and what it stands above."""

_EXPORTED = re.compile(rb"(?:module\s*\.\s*)?exports\b")
_FACTORY = re.compile(rb"(?:React\.)?(?:memo|forwardRef|useCallback|lazy|observer|debounce|throttle)\b")


_CALLED = re.compile(rb"\n[ \t]{0,199}+(?<=[ \t])(?=<[ \t]{0,8}+[\w$\r\n])")
"""A line in a type that begins with `<`: `<T>(recipe: T): T`, below a member that ends without a semicolon."""

_BELOW = re.compile(rb"(?:[\w$\])}\"'`]|(?<!=)>)\s*\Z")
_COMMENTS = re.compile(rb"(?:\s*(?:/\*(?:[^*]|\*(?!/))*\*/|(?<=\n)[ \t]*//[^\n]*))+\s*\Z")
_NEAR = 2000
"""Bytes before such a line, comments with them, in which the end of a member is looked for."""


_NO_TYPE = rb"(?<![:|&<])(?<![:|&<] )$"
_NEW = rb"\s{0,20}(?:await\s{1,20})?new\s{1,20}"

NAMES = NameSyntax(
    calls=CallNodes(
        member="property",
        owner="object",
        calls=(("call_expression", "function"), ("new_expression", "constructor")),
        wrappers=frozenset({"parenthesized_expression", "await_expression", "non_null_expression"}),
    ),
    assignment=AssignmentSyntax(
        sign=(
            rb":(?=\s{0,20}(?P<type>" + CLASS + rb")" + GENERIC + rb"\s{0,20}"
            rb"(?:\|\s{0,20}(?:null|undefined)\s{0,20})?(?=[,)=;\n])(?P<type_end>)"
            rb"|[^=;\n]{0,80}+=" + _NEW + rb"(?P<new>" + CLASS + rb")(?P<new_end>))"
            rb"|=(?=" + _NEW + rb"(?P<made>" + CLASS + rb")(?P<made_end>)|[ \t]{0,20}" + ALIAS + rb")"
        ),
        reversed_name=rb"\s{0,20}+[?!]?\s{0,20}+(?P<name>[\w$]*[A-Za-z_$]#?(?:\.siht)?)(?![\w$.])",
    ),
    return_type=(
        rb"\)\s{0,9}:\s{0,9}(?:Promise<\s{0,9})?(?P<type>(?:" + CLASS + rb"|this\b))" + GENERIC + rb">?"
        rb"\s{0,9}(?:\|\s{0,9}(?:null|undefined)\s{0,9})?(?:=>)?\s{0,9}\{?\s{0,9}$"
    ),
    bindings=(
        (
            rb"\b(?:const|let|var)\s(?:[\w$, \t]{0,100}|[\[{][^=;\n]{0,100})$"
            rb"|\b(?:function|catch)\b[^()\n]{0,80}\([^()]{0,100}" + _NO_TYPE,
            rb"",
        ),
        (rb"\([^()]{0,100}" + _NO_TYPE, rb"[^()]{0,100}\)\s{0,9}(?::[^=\n]{1,80})?=>"),
        (_NO_TYPE, rb"\s{0,9}=>"),
    ),
)


def mended(source: bytes, _is_read: Callable[[bytes], bool]) -> bytes:
    """TypeScript with a semicolon before each line that begins with a call's type parameters, byte for byte as long:
    the grammar takes them for arguments of the type in the line before.
    """
    text = bytearray(source)
    for match in _CALLED.finditer(source):
        before = source[max(0, match.start() - _NEAR) : match.start() + 1]
        if _BELOW.search(_COMMENTS.sub(b"", before)):
            text[match.end() - 1 : match.end()] = b";"
    return bytes(text)


def refine(grammar: Grammar, source: bytes, captures: Captures) -> None:
    """Put in place of the captures that only this module knows (`@declarator`, `@pair`, …) what they turn out to be."""
    refiner = _Refiner(grammar, source, captures)
    refiner.declarators(captures.pop("declarator", []))
    refiner.pairs(captures.pop("pair", []))
    refiner.assignments(captures.pop("assignment", []))
    refiner.exports(captures.pop("export", []))
    refiner.properties(captures.pop("property", []))
    refiner.expressions(captures.pop("expression", []))
    refiner.signatures(captures.pop("signature", []))
    if b"require" in source:
        refiner.required(captures.get("call", []))
    refiner.made(captures.pop("made", []))
    for node in captures.pop("awaited", []):
        captures.setdefault("call", []).extend([child for child in node.named_children if child.type in _NAMES])
    refiner.imported(captures.pop("dynamic", []))


@cache
def _field_ids(grammar: Grammar) -> dict[str, int]:
    """A grammar's fields by name; looking one up in a node by its number takes half as long."""
    names = {number: grammar.field_name_for_id(number) for number in range(1, grammar.field_count + 1)}
    return {name: number for number, name in names.items() if name is not None}


def _first(node: Node) -> Node | None:
    return node.named_child(0) if node.named_child_count else None


class _Refiner:
    """One file's captures; each method takes those of one label."""

    def __init__(self, grammar: Grammar, source: bytes, captures: Captures) -> None:
        fields = _field_ids(grammar)
        self._source = source
        self._captures = captures
        self._fields = fields
        self._name, self._value, self._body = fields["name"], fields["value"], fields["body"]
        self._function, self._arguments, self._object = fields["function"], fields["arguments"], fields["object"]

    def _add(self, label: str, node: Node) -> None:
        self._captures.setdefault(label, []).append(node)

    def declarators(self, nodes: list[Node]) -> None:
        """`const f = () => …`, `const C = memo(() => …)`, `const routes = register({ find() {} })`."""
        for node in nodes:
            value = node.child_by_field_id(self._value)
            if value is None:
                continue
            kind = value.type
            if kind == "call_expression":
                self._declared_call(node, value)
            elif kind in _VALUES and (name := self._declared(node)) is not None:
                self._add("valued", node)
                self._add("name", name)
                if kind != "object":
                    self._wrap(node)

    def _declared(self, declarator: Node) -> Node | None:
        name = declarator.child_by_field_id(self._name)
        return name if name is not None and name.type == "identifier" else None

    def _declared_call(self, node: Node, call: Node) -> None:
        """Definition by a call that wraps a function (`memo(() => …)`), or is given an object of methods."""
        start, end = call.start_byte, call.end_byte
        is_made = _FACTORY.match(self._source, start, end)
        if not is_made and self._source.find(b"{", start, end) < 0:
            return
        arguments = call.child_by_field_id(self._arguments)
        inside = arguments.named_children if arguments is not None else []
        objects = [each for each in inside if each.type == "object"]
        function = self._made_function(inside[0]) if is_made and inside else None
        if (objects or function is not None) and (name := self._declared(node)) is not None:
            self._add("name", name)
            if function is not None:
                self._add("function.outer", node)
                self._add("fields", function)
                self._wrap(node)
            if objects:
                self._add("scope", node)
                self._captures.setdefault("members", []).extend(objects)

    def _made_function(self, argument: Node) -> Node | None:
        """The function that another is made of: `() => …` in `memo(() => …)` and `memo(forwardRef(() => …))`."""
        if argument.type in _FUNCTIONS:
            return argument
        arguments = argument.child_by_field_id(self._arguments)
        if arguments is None or argument.child_by_field_id(self._function) is None:
            return None
        first = _first(arguments)
        return first if first is not None and first.type in _FUNCTIONS else None

    def _wrap(self, node: Node) -> None:
        """Have a definition begin and end where its declaration does, if that begins with something like it."""
        parent = node.parent
        if parent is not None and parent.type in _DECLARATIONS and (first := _first(parent)) is not None:
            value = first.child_by_field_id(self._value)
            if value is not None and value.type in _WRAPPED:
                self._add("wrapper", parent)

    def pairs(self, nodes: list[Node]) -> None:
        """`{ find: () => …, "all": { … } }`."""
        key_id = self._fields["key"]
        for node in nodes:
            value = node.child_by_field_id(self._value)
            if value is not None and value.type in _VALUES:
                key = node.child_by_field_id(key_id)
                if key is not None and key.type in ("property_identifier", "string"):
                    self._add("valued.member", node)
                    self._add("name", key)

    def assignments(self, nodes: list[Node]) -> None:
        """`exports.f = function …`, `Klass.prototype.f = () => …`, `resolve = () => …`."""
        left_id, right_id, property_id = self._fields["left"], self._fields["right"], self._fields["property"]
        for node in nodes:
            right = node.child_by_field_id(right_id)
            left = node.child_by_field_id(left_id)
            if right is None or left is None:
                continue
            if right.type == "identifier" and _EXPORTED.match(self._source, left.start_byte, left.end_byte):
                self._add("import.inner", node)  # `module.exports = a`
                continue
            if right.type not in _VALUES:
                continue
            if left.type == "identifier":
                if right.type in _FUNCTIONS and right.child_by_field_id(self._name) is None:
                    self._add("valued", node)
                    self._add("name", left)
                continue
            of, name = left.child_by_field_id(self._object), left.child_by_field_id(property_id)
            if of is not None and name is not None:
                self._add("valued.assigned", node)
                own = right.child_by_field_id(self._name)
                if own is not None and self._source[left.start_byte : left.end_byte] == b"module.exports":
                    self._add("name", own)
                else:
                    self._add("qualifier", of)
                    self._add("name", name)
                parent = node.parent
                if right.type == "object" or parent is None:
                    continue
                if parent.type == "expression_statement":
                    self._add("wrapper", parent)
                elif parent.type == "variable_declarator":  # const a = make(), b = exports.b = () => …
                    self._wrap(parent)

    def exports(self, nodes: list[Node]) -> None:
        """`export …` in all its forms."""
        declaration_id, source_id = self._fields["declaration"], self._fields["source"]
        for node in nodes:
            if node.child_by_field_id(declaration_id) is not None:
                self._add("wrapper", node)
            elif node.child_by_field_id(source_id) is not None:
                self._add("import", node)
            elif (value := node.child_by_field_id(self._value)) is None:
                if any(child.type == "export_clause" for child in node.named_children):
                    self._add("trivia", node)
                    self._add("import.inner", node)  # `export { a as b }`
            elif value.type == "identifier":
                self._add("import.inner", node)  # `export default a`
            elif value.type in _VALUES:
                for child in node.children:
                    if child.type == "default":
                        self._add("valued.default", node)
                        self._add("name", child)
            elif (arguments := value.child_by_field_id(self._arguments)) is not None:
                first = _first(arguments)
                if first is not None and first.type == "object":
                    self._add("members", first)

    def properties(self, nodes: list[Node]) -> None:
        """`class C { find = () => … }`."""
        for node in nodes:
            value = node.child_by_field_id(self._value)
            if value is not None and value.type in _METHODS:
                self._add("valued.field", node)
                self._add("fields", node)

    def expressions(self, nodes: list[Node]) -> None:
        """`define(request, function ip() {})`, `observer(class Panel {})`: named, though nothing is called so."""
        for node in nodes:
            name = node.child_by_field_id(self._name)
            if name is not None:
                self._add("class.named" if node.type == "class" else "function.named", node)
                self._add("name", name)
                if (body := node.child_by_field_id(self._body)) is not None:
                    self._add("body", body)

    def signatures(self, nodes: list[Node]) -> None:
        """`function f(a: A): B;`, `find(id: Id): Row;`: an overload belongs to what it stands above, if named alike."""
        declaration_id = self._fields["declaration"]
        for node in nodes:
            written, parent = node, node.parent
            is_member = node.type == "method_signature"
            if parent is None or (is_member and parent.type != "class_body"):
                continue
            if parent.type in ("export_statement", "ambient_declaration"):
                written = parent
            below = written.next_sibling
            for _ in range(_MAX_BETWEEN):  # a node's next sibling is looked up among all of them
                if below is None or below.type not in (";", "comment"):
                    break
                below = below.next_sibling
            if below is not None and below.type == "export_statement":
                below = below.child_by_field_id(declaration_id)
            if below is not None and below.type in _OVERLOADED and self._is_right_above(written):
                name, other = node.child_by_field_id(self._name), below.child_by_field_id(self._name)
                if name is not None and other is not None and name.text == other.text:
                    self._add("attribute", written)
                    continue
            self._add("method.member" if is_member else "function", node)
            self._add("fields", node)

    def _is_right_above(self, node: Node) -> bool:
        """Whether there is no blank line behind a node, and so what is below can begin where it does."""
        at = node.end_byte
        following = self._source[at : at + _MAX_GAP]
        return following[: len(following) - len(following.lstrip(b" \t\r\n;"))].count(b"\n") < 2

    def made(self, nodes: list[Node]) -> None:
        """`new Klass()`."""
        constructor_id = self._fields["constructor"]
        for node in nodes:
            constructor = node.child_by_field_id(constructor_id)
            if constructor is not None and constructor.type in _NAMES:
                self._add("call", constructor)

    def imported(self, calls: list[Node]) -> None:
        """`import("m")`; one of anything but a string is not read, however much it holds."""
        for call in calls:
            arguments = call.child_by_field_id(self._arguments)
            inside = arguments.named_children if arguments is not None else []
            first = next((child for child in inside if child.type != "comment"), None)
            if first is not None and first.type in _STRINGS:
                self._add("import.inner", call)

    def required(self, functions: list[Node]) -> None:
        """`require("m")` as a statement, `const m = require("m")`, `const { f } = require("m").inner`."""
        for function in functions:
            start, end = function.start_byte, function.end_byte
            if end - start != len(b"require") or not self._source.startswith(b"require", start):
                continue
            if (call := function.parent) is None:
                continue
            arguments = call.child_by_field_id(self._arguments)
            first = _first(arguments) if arguments is not None else None
            parent = call.parent
            if first is None or first.type != "string" or parent is None:
                continue
            if parent.type == "expression_statement":
                self._add("import", parent)
                continue
            is_inner = parent.child_by_field_id(self._object) == call
            declarator = parent.parent if is_inner else parent
            if declarator is not None and declarator.type == "variable_declarator":
                declaration = declarator.parent
                if declaration is not None and (declaration.type == "lexical_declaration" or not is_inner):
                    self._add("import", declaration)
