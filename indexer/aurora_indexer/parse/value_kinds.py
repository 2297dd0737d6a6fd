"""A definition that is a value under a name, `const f = () => …`, is of the kind that its value is.

The value may stand in brackets or be told a type, `((…) => …) as Handler`: that changes nothing of what it is. It may
do so at any depth, which a query cannot say. So a grammar's node types are named here, besides the `.scm` files.
"""

from __future__ import annotations

from tree_sitter import Node

_AROUND = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression"})

_VALUES = {
    "arrow_function": "function",
    "function_expression": "function",
    "generator_function": "function",
    "class": "class",
    "object": "members",
}

# By what is captured, and then by what the value is: what it would be captured as.
LABELS: dict[str, dict[str, str]] = {
    "valued": {"function": "function", "class": "class", "members": "scope"},
    "valued.default": {"function": "function", "class": "class"},
    "valued.member": {"function": "method.member", "members": "scope.member"},
    "valued.outer": {"function": "function.outer", "class": "class.outer"},
    "valued.field": {"function": "method"},
}


def value_of(node: Node) -> tuple[Node, Node, str]:
    """The value of a definition as written, what is in its brackets and casts, and what that is, or nothing."""
    written = value = node.child_by_field_name("value") or node.child_by_field_name("right") or node
    while value.type in _AROUND and (inner := [child for child in value.named_children if child.type != "comment"]):
        value = inner[0]
    return written, value, _VALUES.get(value.type, "")
