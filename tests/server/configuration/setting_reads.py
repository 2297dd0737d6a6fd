"""Readers of settings (static analysis): which fields of which structs the product reads, by what each name may hold.

What a name may hold is what it is annotated with, what is put into it, and the section that is called so: an attribute
of that name elsewhere is no reader.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from aurora_server.configuration.marks import ConfigMember

Nodes = list[ast.AST]
Holds = dict[str, set[str]]
"""Structs that a name may hold, by the name."""


class SettingReads:
    """Reads of the fields of settings' structs, in some files of the product: pairs of a struct and a field."""

    def __init__(self, members: Iterable[ConfigMember]) -> None:
        self.found: set[tuple[str, str]] = set()
        self._fields: defaultdict[str, set[str]] = defaultdict(set)
        self._sections: Holds = defaultdict(set)
        for member in members:
            self._fields[member.owner.__name__].add(member.name)
            if member.section is not None:
                self._sections[member.name].add(member.section.__name__)
        self._attributes: Holds = defaultdict(set)
        self._here: Holds = defaultdict(set)

    def look_through(self, files: Iterable[Path]) -> None:
        """Find the reads in these files; those that define the structs read nothing."""
        texts = {file: file.read_text(encoding="utf-8") for file in files}
        is_struct = re.compile(rf"\b({'|'.join(self._fields)})\b")
        for text in texts.values():
            if is_struct.search(text):
                self._note_attributes(list(ast.walk(ast.parse(text))))
        names = {name for fields in self._fields.values() for name in fields}
        is_read = re.compile(rf"\.({'|'.join(names)})\b|\bgetattr\(")
        of = {*self._fields, *self._sections, *(name for name, structs in self._attributes.items() if structs)}
        is_held = re.compile(rf"\b({'|'.join(of)})\b")
        defines = re.compile(rf"^class ({'|'.join(self._fields)})\(", re.MULTILINE)
        for text in texts.values():
            if is_read.search(text) and is_held.search(text) and not defines.search(text):
                self._note_reads(list(ast.walk(ast.parse(text))))

    def _note_attributes(self, nodes: Nodes) -> None:
        """What attributes and functions hold or return, wherever they are read."""
        self._note_names(nodes)
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                for each in node.body:
                    if isinstance(each, ast.AnnAssign):
                        self._attributes[_last(each.target)] |= self._annotated(each.annotation)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._attributes[node.name] |= self._annotated(node.returns)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Attribute):
                        self._attributes[target.attr] |= self._held(node.value)

    def _note_names(self, nodes: Nodes) -> None:
        """What names hold in this file."""
        self._here = defaultdict(set)
        for node in nodes:
            if isinstance(node, ast.arg):
                self._here[node.arg] |= self._annotated(node.annotation)
            elif isinstance(node, ast.AnnAssign):
                self._here[_last(node.target)] |= self._annotated(node.annotation)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._here[node.name] |= self._annotated(node.returns)
        for _ in range(2):  # what is put into a name may be put into another one above it
            for target, value in _bindings(nodes):
                self._here[_last(target)] |= self._held(value)

    def _note_reads(self, nodes: Nodes) -> None:
        self._note_names(nodes)
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                self.found |= {(struct, node.attr) for struct in self._held(node.value)}
            elif (read := _got(node)) is not None:
                self.found |= {(struct, name) for struct in self._held(read) for name in self._fields[struct]}

    def _held(self, value: ast.expr) -> set[str]:
        """Structs that an expression may be."""
        if isinstance(value, ast.Tuple | ast.List):
            return set().union(*map(self._held, value.elts))
        if isinstance(value, ast.IfExp):
            return self._held(value.body) | self._held(value.orelse)
        if (read := _got(value)) is not None:
            names = {name for struct in self._held(read) for name in self._fields[struct]}
            return set().union(*(self._sections[name] for name in names))
        name = _last(value)
        elsewhere = self._attributes[name] if isinstance(value, ast.Attribute | ast.Call) else set()
        return self._sections[name] | self._here[name] | elsewhere | ({name} & self._fields.keys())

    def _annotated(self, annotation: ast.expr | None) -> set[str]:
        if annotation is None:
            return set()
        return set(re.findall(r"\w+", ast.unparse(annotation))) & self._fields.keys()


def _bindings(nodes: Nodes) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Names, and what is put into each."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    yield from zip(target.elts, node.value.elts, strict=False)
                else:
                    yield target, node.value
        elif isinstance(node, ast.NamedExpr):
            yield node.target, node.value
        elif isinstance(node, ast.For | ast.comprehension):
            yield node.target, node.iter


def _got(node: ast.AST) -> ast.expr | None:
    """What `getattr` reads a name of that is only known as the program runs."""
    if isinstance(node, ast.Call) and _last(node.func) == "getattr" and not isinstance(node.args[1], ast.Constant):
        return node.args[0]
    return None


def _last(value: ast.expr) -> str:
    """The last name of an expression: of a call, the function's."""
    if isinstance(value, ast.Await):
        return _last(value.value)
    if isinstance(value, ast.Call):
        return _last(value.func)
    if isinstance(value, ast.Attribute):
        return value.attr
    return value.id if isinstance(value, ast.Name) else ""
