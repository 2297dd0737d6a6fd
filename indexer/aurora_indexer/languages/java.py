"""Java's names: declarations that tell types, and its grammar's calls."""

from __future__ import annotations

from aurora_indexer.languages.name_syntax import CLASS, GENERIC, NAME, CallNodes, NameSyntax

NAMES = NameSyntax(
    calls=CallNodes(
        member="field", owner="object", invocation="method_invocation", typed=frozenset({"object_creation_expression"})
    ),
    # A field, a parameter, a local or a pattern's variable.
    declaration=(
        rb"(?<![\w.$])(?P<type>" + CLASS + rb")" + GENERIC + rb"\s{1,20}(?P<name>" + NAME + rb")\s{0,20}(?=[=;,):])"
    ),
    has_bare_fields=True,
)
