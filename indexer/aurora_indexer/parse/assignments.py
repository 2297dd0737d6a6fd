"""Assignments (local type inference): what type a text gives its variables plainly, in one statement: an object just
made, a type, or another name.

`client = Client()`, `with Client() as client`, `def f(client: Client)`, `this.client = new Client()`, `c := &Client{}`.
What is given stands behind `:` or `=`, so these signs are looked for, and the name is read backwards from there: a
pattern that began with a name would be tried at every letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

NAME = rb"[A-Za-z_$][\w$]*+"
CLASS = rb"(?:[A-Za-z_$][\w$]*+\.){0,3}_{0,2}\$?[A-Z][\w$]*+"
GO_TYPE = rb"(?:" + NAME + rb"\.)?" + NAME
GENERIC = rb"(?:<[^<>;={}]{0,200}(?:<[^<>;={}]{0,200}>[^<>;={}]{0,200}){0,4}>)?"
_PATH = rb"[A-Za-z_$][\w$]*+(?:\.[A-Za-z_$][\w$]*+){0,4}+"
_ALIAS = rb"(?P<same>" + _PATH + rb")[ \t]{0,20}(?=[\n;]|$)(?P<same_end>)"
_NEW = rb"\s{0,20}(?:await\s{1,20})?new\s{1,20}"
_CONSTANTS = frozenset({b"None", b"null", b"nil", b"True", b"False", b"true", b"false", b"undefined"})


class VariableAssignment(NamedTuple):
    """Assignment of `value` to the name that begins at `start`. `told`: a type says it; `same`: it is another name."""

    name: bytes
    start: int
    value: bytes
    told: bool = False
    same: bool = False


class _Syntax(NamedTuple):
    """Syntax of a language's assignments.

    `given` begins with the sign and looks ahead from it; of its groups the one that matched last says what was found,
    and ends with an empty one, `…_end`. `backwards` is the name before the sign, reversed. `whole` are statements that
    begin with a word, found only in texts that have `hint`.
    """

    given: re.Pattern[bytes]
    backwards: re.Pattern[bytes]
    whole: re.Pattern[bytes]
    hint: re.Pattern[bytes]
    tells_types: bool = False
    """Whether `whole` tell a type."""


_PYTHON = _Syntax(
    re.compile(
        rb":(?=\s{0,20}(?:t\.|typing\.)?(?:Optional\[\s{0,20})?[\"']?(?P<type>"
        + CLASS
        + rb")(?:\[[^\[\]]{0,200}\])?[\"']?\]?(?:\s{0,20}\|\s{0,20}None)?\s{0,20}(?=[,)=\n])(?P<type_end>))"
        rb"|=(?=\s{0,20}(?:await\s{1,20})?(?P<made>" + CLASS + rb")\((?P<made_end>)|[ \t]{0,20}" + _ALIAS + rb")"
    ),
    re.compile(rb"\s{0,20}+(?P<name>[\w$]*[A-Za-z_$](?:\.fles)?)(?![\w.])"),
    re.compile(
        rb"(?:with(?<![\w.]with)|,(?<![\w.],))\s{1,20}(?P<value>"
        + CLASS
        + rb")\([^()]{0,200}(?:\([^()]{0,200}\)[^()]{0,200}){0,4}\)\s{1,20}as\s{1,20}(?P<name>"
        + NAME
        + rb")"
    ),
    re.compile(rb"\)\s{1,20}as\s"),
)
_ECMASCRIPT = _Syntax(
    re.compile(
        rb":(?=\s{0,20}(?P<type>" + CLASS + rb")" + GENERIC + rb"\s{0,20}"
        rb"(?:\|\s{0,20}(?:null|undefined)\s{0,20})?(?=[,)=;\n])(?P<type_end>)"
        rb"|[^=;\n]{0,80}+=" + _NEW + rb"(?P<new>" + CLASS + rb")(?P<new_end>))"
        rb"|=(?=" + _NEW + rb"(?P<made>" + CLASS + rb")(?P<made_end>)|[ \t]{0,20}" + _ALIAS + rb")"
    ),
    re.compile(rb"\s{0,20}+[?!]?\s{0,20}+(?P<name>[\w$]*[A-Za-z_$]#?(?:\.siht)?)(?![\w$.])"),
    re.compile(rb"(?!)(?P<name>)(?P<value>)"),
    re.compile(rb"(?!)"),
)
_GO = _Syntax(
    re.compile(
        rb"=(?=\s{0,9}(?:(?:&\s{0,9})?(?P<made>" + GO_TYPE + rb")(?:\[[^\[\]\n]{0,80}\])?\{(?P<made_end>)"
        rb"|new\((?P<new>" + GO_TYPE + rb")\)(?P<new_end>)"
        rb"|" + _PATH + rb"\.\(\*?(?P<asserted>" + GO_TYPE + rb")\)(?P<asserted_end>)|" + _ALIAS + rb"))"
    ),
    re.compile(rb":?\s{0,9}+(?:\w+\s{0,9}+,\s{0,9}+){0,4}(?P<name>[\w$]*[A-Za-z_$])(?![\w.])"),
    re.compile(
        rb"var(?<![\w.]var)\s{1,9}(?P<name>" + NAME + rb")\s{1,9}\*?(?P<value>" + GO_TYPE + rb")\s{0,9}(?=[\n=])"
    ),
    re.compile(rb"var\s"),
    tells_types=True,
)
_JAVA = re.compile(
    rb"(?<![\w.$])(?P<type>" + CLASS + rb")" + GENERIC + rb"\s{1,20}(?P<name>" + NAME + rb")\s{0,20}(?=[=;,):])"
)
"""A declaration of Java, where the type comes first: a field, a parameter, a local or a pattern's variable."""

_SYNTAXES = {"python": _PYTHON, "javascript": _ECMASCRIPT, "typescript": _ECMASCRIPT, "tsx": _ECMASCRIPT, "go": _GO}
LANGUAGES = frozenset({*_SYNTAXES, "java"})
"""Languages whose assignments are read."""


def assignments(language: str, bare: bytes) -> Iterator[VariableAssignment]:
    """The assignments of a text whose comments are blanked, in its order, none within what another one has read."""
    if language == "java":
        for match in _JAVA.finditer(bare):
            yield VariableAssignment(match["name"], match.start("name"), match["type"] + b"()", told=True)
    syntax = _SYNTAXES.get(language)
    if syntax is None:
        return
    size = len(bare)
    reversed_ = bare[::-1]
    read_back = syntax.backwards.match
    look_for = syntax.whole.search
    whole = look_for(bare) if syntax.hint.search(bare) else None
    done = 0
    for match in syntax.given.finditer(bare):
        before = read_back(reversed_, size - match.start())
        if before is None:
            continue
        start = size - before.end()
        while whole is not None and whole.start() <= start:
            if whole.start() >= done:
                yield VariableAssignment(whole["name"], whole.start("name"), whole["value"] + b"()", syntax.tells_types)
                done = whole.end()
            whole = look_for(bare, done)
        if start < done:
            continue
        label = str(match.lastgroup).removesuffix("_end")
        value = match[label]
        done = match.end(f"{label}_end")
        name = bare[start : size - before.start("name")]
        if label != "same":
            yield VariableAssignment(name, start, value + b"()", told=label == "type")
        elif value != name and value not in _CONSTANTS:
            yield VariableAssignment(name, start, value, same=True)
    while whole is not None:
        if whole.start() >= done:
            yield VariableAssignment(whole["name"], whole.start("name"), whole["value"] + b"()", syntax.tells_types)
            done = whole.end()
        whole = look_for(bare, done)
