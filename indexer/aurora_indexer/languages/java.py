"""Java's names: declarations that tell types, and its grammar's calls."""

from __future__ import annotations

from aurora_indexer.languages.name_syntax import CLASS, GENERIC, NAME, TYPE, AssignmentSyntax, CallNodes, NameSyntax

MADE = AssignmentSyntax(
    sign=rb"=(?=\s{0,20}new\s{1,20}(?P<made>" + CLASS + rb")(?P<made_end>))",
    reversed_name=rb"\s{0,20}+(?P<name>[\w$]*[A-Za-z_$])(?=\s{1,20}rav(?![\w.]))",
)
"""`var client = new Client()`"""

NAMES = NameSyntax(
    calls=CallNodes(
        member="field", owner="object", invocation="method_invocation", typed=frozenset({"object_creation_expression"})
    ),
    # A field, a parameter, a local or a pattern's variable.
    declaration=(rb"(?P<type>" + TYPE + rb")" + GENERIC + rb"\s{1,20}(?P<name>" + NAME + rb")\s{0,20}(?=[=;,):])"),
    assignment=MADE,
    has_bare_fields=True,
)
