"""Go's names: types of variables, parameters and fields, its grammar's calls, and what binds a name."""

from __future__ import annotations

from aurora_indexer.languages.name_syntax import (
    NAME,
    NAMES_BEFORE,
    PATH,
    AssignmentSyntax,
    CallNodes,
    NameSyntax,
)

_BEFORE_TYPE = rb"(?:\s{0,9},\s{0,9}\w{1,60}){0,5}\s{1,9}[\w*(\[.<]"
_TYPE = rb"(?:" + NAME + rb"\.)?" + NAME
_MANY = rb"(?:\[\w{0,20}\]|map\[[\w.*]{1,80}\])\*?"
_GIVEN = rb"(?:\([^()\n]{0,100}\)|\[[^\[\]\n]{0,60}\])?"

NAMES = NameSyntax(
    calls=CallNodes(
        member="field",
        owner="operand",
        calls=(("call_expression", "function"),),
        wrappers=frozenset({"parenthesized_expression", "unary_expression"}),
        typed=frozenset({"composite_literal", "type_assertion_expression"}),
        element="index_expression",
    ),
    assignment=AssignmentSyntax(
        sign=(
            rb"=(?=\s{0,9}(?:(?:&\s{0,9})?(?P<made>" + _TYPE + rb")(?:\[[^\[\]\n]{0,80}\])?\{(?P<made_end>)"
            rb"|new\((?P<new>" + _TYPE + rb")\)(?P<new_end>)"
            rb"|(?:make\()?" + _MANY + rb"(?P<many>" + _TYPE + rb")(?=[{,)])(?P<many_end>)"
            rb"|(?P<same>" + PATH + rb")(?:[ \t]{0,20}(?=[\n;]|$)(?P<same_end>)"
            rb"|\[[^\[\]\n:]{1,60}\][ \t]{0,20}(?=[\n;])(?P<element_end>)"
            rb"|"
            + _GIVEN
            + rb"(?:\."
            + NAME
            + _GIVEN
            + rb"){0,5}\.\(\*?(?P<asserted>"
            + _TYPE
            + rb")\)(?P<asserted_end>))))"
        ),
        reversed_name=rb":?\s{0,9}+(?:\w+\s{0,9}+,\s{0,9}+){0,4}(?P<name>[\w$]*[A-Za-z_$])(?![\w.])",
        statement=(
            rb"var(?<![\w.]var)\s{1,9}(?P<name>" + NAME + rb")\s{1,9}"
            rb"(?:(?P<many>" + _MANY + rb")|\*?)(?P<value>" + _TYPE + rb")\s{0,9}(?=[\n=])"
        ),
        statement_hint=rb"var\s",
        statement_tells_type=True,
        reversed_declaration=rb":|[ \t]{0,9}[\w$]*[A-Za-z_$][ \t]{1,9}rav(?![\w.])",
        iteration=(
            rb"for\s{1,9}" + NAME + rb"\s{0,9},\s{0,9}(?P<name>" + NAME + rb")\s{0,9}:?=\s{0,9}range\s{1,9}"
            rb"(?P<value>" + PATH + rb")(?P<given>\([^()\n]{0,100}\))?\s{0,9}\{"
        ),
    ),
    return_type=(
        rb"\)\s{0,9}(?:\(\s{0,9}(?:" + NAME + rb"\s{1,9})?)?(?:(?P<many>" + _MANY + rb")|\*?)"
        rb"(?P<type>" + _TYPE + rb")(?:\[[^\[\]]{0,80}\])?"
        rb"\s{0,9}(?:,[^()]{0,200})?\)?\s{0,9}\{?\s{0,9}$"
    ),
    parameter=(
        rb"[(,]\s{0,20}(?P<names>" + NAME + rb"(?:\s{0,9},\s{0,9}" + NAME + rb"){0,5})\s{1,9}"
        rb"(?:(?P<many>" + _MANY + rb"|\.{3}\*?)|\*?)(?P<type>" + _TYPE + rb")(?:\[[^\[\]]{0,80}\])?(?=\s{0,9}[,)])"
    ),
    field=(
        rb"(?m)(?:^|[{;])[ \t]{0,20}(?P<names>" + NAME + rb"(?:[ \t]{0,9},[ \t]{0,9}" + NAME + rb"){0,5})"
        rb"[ \t]{1,40}(?:(?P<many>" + _MANY + rb")|\*?)(?P<type>" + _TYPE + rb")(?:\[[^\[\]\n]{0,80}\])?"
        rb"[ \t]{0,40}(?:`[^`\n]{0,400}`)?[ \t]{0,200}(?=[;}]|$)"
    ),
    container=rb"\A(?:type\s{1,9})?"
    + NAME
    + rb"\s{1,9}=?\s{0,9}(?P<many>"
    + _MANY
    + rb")(?P<type>"
    + _TYPE
    + rb")\s{0,9}\Z",
    bindings=(
        (rb"", NAMES_BEFORE + rb":="),
        (rb"\bvar[ \t]{1,9}(?:\w{1,60},[ \t]{0,9}){0,5}$", rb""),
        (rb"\bfunc\((?:[^()]{0,100},)?[ \t]{0,9}$", _BEFORE_TYPE),
    ),
    parameter_name=rb"[(,]\s{0,200}(" + NAME + rb")(?=" + _BEFORE_TYPE + rb")",
    has_package_names=True,
)
