"""Qualified names: what a definition is called, from its name as written: the segments of its qualified name."""

from __future__ import annotations

import re

from tree_sitter import Node

MAX_SEGMENT = 200
"""Characters of one segment of a qualified name."""

_GENERICS = re.compile(r"<[^<>]*>")
_OPERATOR = re.compile(r"(?:(.*)::)?(operator\b.*)")
_CONVERSION = re.compile(r"(?<=[\w>*&])(?<!operator)\s*\(\).*$")
_MACRO = re.compile(rb"[A-Z][A-Z0-9_]{2,}")
_ARGUMENT = re.compile(r"[A-Za-z_]\w*")


def segments(written: bytes, separator: re.Pattern[str]) -> list[str]:
    """Segments of a qualified name, as written."""
    text = flat(written)
    if text.isidentifier():
        return [text[:MAX_SEGMENT]]
    if text[:1] in "\"'`[":
        # A quoted or computed key is one segment, whatever is in it.
        found = [text.strip("\"'`")]
    elif operator := _OPERATOR.fullmatch(text):
        found = [*_without_generics(operator[1] or "").split("::"), _CONVERSION.sub("", operator[2])]
    else:
        found = separator.split(_without_generics(text))
    return [segment[:MAX_SEGMENT] for segment in found if segment]


def of_macro(node: Node, macro: bytes, source: bytes) -> list[str]:
    """Name defined by a macro that stands where a function's name does: `Parser.Fails` for `TEST(Parser, Fails)`.

    Two words are one segment, for the first holds nothing; of more the first is the name, as in `SYSCALL_DEFINE3(read,
    unsigned int, fd, …)`. Nothing where the function has a type, or no word is the first argument.
    """
    declarator = node.child_by_field_name("declarator")
    if declarator is None or node.child_by_field_name("type") is not None or not _MACRO.fullmatch(macro):
        return []
    arguments = declarator.child_by_field_name("parameters")
    if arguments is None:
        return []
    words = [word.strip() for word in flat(source[arguments.start_byte + 1 : arguments.end_byte - 1]).split(",")]
    if len(words) == 2 and all(map(_ARGUMENT.fullmatch, words)):
        return [".".join(words)[:MAX_SEGMENT]]
    return [words[0][:MAX_SEGMENT]] if _ARGUMENT.fullmatch(words[0]) else []


def declared(name: Node) -> Node:
    """The name in a declarator with brackets: `signal` in `(*signal(int sig))`."""
    while name.type.endswith("_declarator"):
        inner = name.child_by_field_name("declarator") or next(iter(name.named_children), None)
        if inner is None:
            break
        name = inner
    return name


def declared_function(node: Node) -> Node | None:
    """The name of a function that returns what has to be written around it: `f` in `int (*f(void))[3]`."""
    name = node.child_by_field_name("declarator")
    while name is not None and name.type.endswith("_declarator"):
        inner = name.child_by_field_name("declarator") or next(iter(name.named_children), None)
        if inner is not None and name.type == "function_declarator":
            return declared(inner)
        name = inner
    return None


def flat(written: bytes) -> str:
    """As far as anyone reads, in one line."""
    return " ".join(written[: 8 * MAX_SEGMENT].decode("utf-8", "replace").split())


def _without_generics(text: str) -> str:
    """Name without its type parameters (generics) and spaces."""
    if not any(map(str.isalpha, text)):  # an operator, as Ruby's `<=>`
        return text
    while "<" in text and (shorter := _GENERICS.sub("", text)) != text:
        text = shorter
    return text.replace(" ", "")
