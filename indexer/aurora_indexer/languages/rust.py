"""Rust's names: types of variables, parameters and fields."""

from __future__ import annotations

from aurora_indexer.languages.name_syntax import GENERIC, AssignmentSyntax, NameSyntax

_PATH = rb"(?:\w{1,80}+::){0,4}"

NAMES = NameSyntax(
    assignment=AssignmentSyntax(
        sign=(
            # What a smart pointer points to has the methods that are called on it.
            rb":(?=\s{0,20}&{0,2}(?:'\w{1,40}+\s{1,9})?(?:mut\s{1,9})?(?:" + _PATH + rb"(?:Arc|Rc|Box)<)?"
            rb"(?:(?:dyn|impl)\s{1,9})?" + _PATH + rb"(?P<type>[A-Z]\w{0,80}+)" + GENERIC + rb">?\s{0,20}"
            rb"(?=[,)=;\n{}])(?P<type_end>))"
            rb"|=(?=\s{0,20}" + _PATH + rb"(?P<made>[A-Z]\w{0,80}+)::(?:new|default)\((?P<made_end>))"
        ),
        reversed_name=rb"\s{0,20}+(?P<name>[\w]*[A-Za-z_])(?![\w.:])",
    ),
)
