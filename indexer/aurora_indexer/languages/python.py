"""Python's names: annotations and assignments that tell types, its grammar's calls, and what binds a name."""

from __future__ import annotations

from aurora_indexer.languages.name_syntax import (
    ALIAS,
    CLASS,
    NAME,
    NAMES_BEFORE,
    AssignmentSyntax,
    CallNodes,
    NameSyntax,
)

NAMES = NameSyntax(
    calls=CallNodes(
        member="attribute",
        owner="object",
        calls=(("call", "function"),),
        wrappers=frozenset({"parenthesized_expression", "await"}),
    ),
    assignment=AssignmentSyntax(
        sign=(
            rb":(?=\s{0,20}(?:t\.|typing\.)?(?:Optional\[\s{0,20})?[\"']?(?P<type>"
            + CLASS
            + rb")(?:\[[^\[\]]{0,200}\])?[\"']?\]?(?:\s{0,20}\|\s{0,20}None)?[\"']?\s{0,20}(?=[,)=\n])(?P<type_end>))"
            rb"|=(?=\s{0,20}(?:await\s{1,20})?(?P<made>" + CLASS + rb")\((?P<made_end>)|[ \t]{0,20}" + ALIAS + rb")"
        ),
        reversed_name=rb"\s{0,20}+(?P<name>[\w$]*[A-Za-z_$](?:\.fles)?)(?![\w.])",
        statement=(
            rb"(?:with(?<![\w.]with)|,(?<![\w.],))\s{1,20}(?P<value>"
            + CLASS
            + rb")\([^()]{0,200}(?:\([^()]{0,200}\)[^()]{0,200}){0,4}\)\s{1,20}as\s{1,20}(?P<name>"
            + NAME
            + rb")"
        ),
        statement_hint=rb"\)\s{1,20}as\s",
    ),
    return_type=(
        rb"->\s{0,9}[\"']?(?:t\.|typing\.)?(?:(?:Optional|Awaitable)\[)?[\"']?(?P<type>" + CLASS + rb")"
        rb"(?:\[[^\[\]]{0,200}\])?[\"']?\]?(?:\s{0,9}\|\s{0,9}None)?[\"']?\s{0,9}:?\s{0,9}$"
    ),
    bindings=(
        (rb"^" + NAMES_BEFORE + rb"$", NAMES_BEFORE + rb"(?::[^=\n]{1,80}+)?(?<=[ \t])=[ \t]"),
        (rb"\bfor[ \t](?:[\w$*()]{0,60},[ \t]{0,9}){0,5}[*(]{0,3}$", rb"[\w$, \t*()]{0,100}?[ \t]in\b"),
        (rb"\bas[ \t]{1,9}$|\blambda\b[^:\n]{0,100}$", rb""),
        (rb"", rb"[ \t]{0,9}:="),
    ),
)
