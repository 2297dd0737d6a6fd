"""PHP's names: declarations that tell types."""

from __future__ import annotations

from aurora_indexer.languages.name_syntax import CLASS, NAME, TYPE, AssignmentSyntax, NameSyntax

NAMES = NameSyntax(
    declaration=rb"(?P<type>" + TYPE + rb")\s{1,20}&?\$(?P<name>" + NAME + rb")\s{0,20}(?=[=;,){])",
    assignment=AssignmentSyntax(
        sign=rb"=(?=\s{0,20}new\s{1,20}(?:\w{0,80}+\\){0,6}(?P<made>" + CLASS + rb")(?P<made_end>))",
        reversed_name=rb"\s{0,20}+(?P<name>[\w]*[A-Za-z_](?:>-siht)?)(?=\$)",
    ),
    arrow=b"->",
)
