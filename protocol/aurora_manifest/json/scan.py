"""Scan of JSON text, tolerant: one pass with exact source positions, and error recovery at every mistake it meets.

Two gears. Well-formed members and items go by one regular expression each; whatever that does not match takes one
tolerant step, after which the fast gear tries again. Nothing recurses, and no text is looked at more than a few times.
"""

from __future__ import annotations

import re
from typing import cast

from msgspec.structs import force_setattr

from aurora_manifest.json.document import Array, Broken, Member, Node, Object, Problem, Scalar
from aurora_manifest.json.late_quotes import given_back
from aurora_manifest.json.literals import read_number, read_string, read_word, typographic
from aurora_manifest.json.other_brackets import (
    closed_at_end,
    closer,
    closes_other,
    in_parentheses,
    items_in_object,
    lost_brace,
    lost_first_brace,
    members_in_array,
    opened_twice,
    stands_for_other,
)
from aurora_manifest.json.scan_state import MAX_DEPTH, MAX_NODES, MAX_SYNTAX_ERRORS, ScanState
from aurora_manifest.json.stray_quotes import (
    half_quoted_name,
    one_too_many,
    put_together,
    quotes_within,
    text_without_quote,
)
from aurora_manifest.json.value_text import excerpt, quoted
from aurora_manifest.json.well_formed import read_well_formed
from aurora_manifest.json.wrappings import wrapping

_WS = r"[ \t\n\r]*+"
_SPACE = re.compile(_WS).match
_COMMENT = re.compile(r"(?://|#)[^\n\r]*+|/\*(?:[^*]|\*(?!/))*+(\*/)?").match
_BARE_NAME = re.compile(r"[\w$.+-]++").match
_NAME_AND_BRACKET = re.compile(r"([A-Za-z_$][\w$-]*+)[ \t]++[{\[]", re.ASCII).match
_GAP = r"(?:[ \t\n\r]++|(?://|#)[^\n\r]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+"
_NAME_AND_COLON = re.compile(rf'(?:"[^"\\\n\r]*+"|[\w$.+-]++){_GAP}:').match
_TOKEN = re.compile(r'"(?:[^"\\\n\r]|\\[^\n\r])*+"?|[\w$.+-]{1,200}+|.', re.DOTALL).match
"""Of what is no text only so much: of `-0-0-0…` each step would look at all the rest."""
_JUNK = re.compile(r"(?:(?!/\*)[^\s\"',:;{}\[\]])++|.", re.DOTALL).match
_BRACKET = re.compile(r'"(?:[^"\\\n\r]|\\[^\n\r])*+"?|[{}\[\]]')
_NEXT_BRACKET = _BRACKET.search
_LINE_SEEN = 400
"""Characters of a line that are looked at."""

_TEXT_AND_END = re.compile(r'[ \t]*+"[^"\\\n\r]*+"[ \t]*+[,}\n\r]').match
"""A text that no colon follows."""

_LEFT_OUT = ("...", "…")
_SHORT_REST = 40
"""So much behind the JSON is offered to be removed."""

_BREAK = re.compile(r"[\n\r]").search


class Scan(ScanState):
    """Tolerant parser: one pass over one text; with `fast` off, every step is a tolerant one (the result is
    the same).
    """

    def __init__(self, text: str, *, fast: bool = True) -> None:
        super().__init__(text)
        self.fast = fast
        self.name = ("", 0, 0)
        self.was_cut = False
        self.torn: int | None = None
        self.doubled = False

    def document(self) -> None:
        """Top level: byte order mark, wrapping, one value, and what should not follow it."""
        text = self.text
        if text.startswith("\ufeff"):
            self.problem("json-byte-order-mark", "a byte order mark is not part of JSON: save without it", 0, 1)
            self.pos = 1
        self.trivia()
        if self.pos == len(text):
            self.problem("json-syntax", "the file holds no JSON value", 0, len(text))
            return
        if wrapped := wrapping(text, self.pos):
            self.problems.append(wrapped)
            self.pos = wrapped.end
        elif self.pos and _NAME_AND_COLON(text, self.pos):
            lost_first_brace(self)
        self.whole_value()
        self.trivia()
        if self.pos < len(text) and self.nodes <= MAX_NODES and not (wrapped and self.pos == wrapped.also[0][0]):
            end = len(text.rstrip())
            self.panic = False
            self.tear(self.pos)
            said, rest = "the JSON value has ended before this text", "" if end - self.pos <= _SHORT_REST else None
            self.problem("json-syntax", said, self.pos, max(end, self.pos + 1), rest)

    def whole_value(self) -> None:
        """A value with everything in it."""
        if not self.stack:
            self.value()
        while self.stack and self.nodes <= MAX_NODES:
            if self.fast and read_well_formed(self):
                continue
            if self.syntax_errors > MAX_SYNTAX_ERRORS:
                self.give_up()
            elif self.expects_comma:
                self.separator()
            elif isinstance(top := self.stack[-1], Object):
                self.member(top)
            else:
                self.item()

    # The tolerant gear: one step each

    def separator(self) -> None:
        """After a value: a comma, a closing bracket, or an error."""
        self.trivia()
        char = self.peek()
        if not char:
            self.unclosed()
        elif char in ",;":
            if char == ";":
                self.problem("json-syntax", 'JSON separates with ",", not ";"', self.pos, self.pos + 1, ",", True)
            self.comma = self.pos
            self.expects_comma = self.panic = self.left_out = False
            self.pos += 1
        elif char in "})]":
            self.close(char)
        elif given_back(self):
            pass
        elif char == "+" and (joined := put_together(self.text, self.pos)):
            self.structural(joined.message, joined.start, joined.end, joined.instead)
            self.pos = joined.end
            self.panic = False
        elif stray := one_too_many(self.text, self.pos) or quotes_within(self.text, self.pos):
            self.structural(stray.message, stray.start, stray.end, stray.instead)
            self.pos = max(stray.end, self.pos)
            self.pos += self.peek() == '"'
            force_setattr(self.stack[-1], "broken", True)
        elif char == ":" and (lost_brace(self) or members_in_array(self)):
            pass
        elif self.begins_next(char):
            end = _end(_TOKEN(self.text, self.pos), self.pos)
            token = self.text[self.pos : end]
            message = f"a comma is missing before {excerpt(token)}"
            self.structural(message, self.pos, end, f",{token}", self.surely_begins_next(char))
            self.expects_comma = False
            self.comma = -1
        else:
            self.junk()

    def begins_next(self, char: str) -> bool:
        if isinstance(self.stack[-1], Object):
            return char in "\"'" or _NAME_AND_COLON(self.text, self.pos) is not None
        return char in "\"'{[-+." or char.isalnum()

    def surely_begins_next(self, char: str) -> bool:
        """Whether nothing but a comma can be missing: `"a" "b"` may be one string, and `1 000` one number."""
        if isinstance(self.stack[-1], Object):
            return _NAME_AND_COLON(self.text, self.pos) is not None
        return char in "{["

    def member(self, top: Object) -> None:
        """A name, a colon and the beginning of a value; or the end of the object."""
        self.trivia()
        char = self.peek()
        start = self.pos
        if self.ends(char):
            return
        if half := half_quoted_name(self.text, start):
            name, self.pos = half.name, half.end
            self.problem("json-syntax", half.message, start, half.end, f'"{name}"')
        elif char and (char in "\"'" or typographic(self.text, start)):
            name = self.string(char)
        elif _NAME_AND_COLON(self.text, start) and (bare := _BARE_NAME(self.text, start)):
            name, self.pos = bare[0], bare.end()
            self.problem(
                "json-syntax",
                f'the name {excerpt(name)} needs double quotes: "{excerpt(name)}"',
                start,
                self.pos,
                f'"{name}"',
                True,
            )
        elif (bare := _NAME_AND_BRACKET(self.text, start)) and not self.panic:
            name, self.pos = bare[1], bare.end(1)
            self.structural(f'{excerpt(name)} needs double quotes and ":"', start, self.pos, f'"{name}":')
            self.panic = False
            self.name = (name, start, self.pos)
            self.trivia()
            self.value()
            return
        elif char == "{" and opened_twice(self, top):
            return
        else:
            self.junk()
            return
        self.name = (name, start, self.pos)
        self.trivia()
        char = self.peek()
        if char and char in ":=":
            if char == "=":
                sign = "=>" if self.text.startswith("=>", self.pos) else "="
                said = f'JSON puts ":" between name and value, not "{sign}"'
                self.problem("json-syntax", said, self.pos, self.pos + len(sign), ":", True)
                self.pos += len(sign) - 1
            self.pos += 1
            after_colon = self.pos
            self.trivia()
            if self.value_is_missing(after_colon):
                self.structural(f"{quoted(name)} has no value", start, after_colon)
                self.attach(Broken(after_colon, after_colon))
                return
        elif char == "," and items_in_object(self, top):
            return
        elif char == "," and _TEXT_AND_END(self.text, self.pos + 1):
            self.structural(f'":" is missing after {quoted(name)}, not ","', self.pos, self.pos + 1, ":")
            self.panic = False
            self.pos += 1
            self.trivia()
        elif self.value_is_missing(start):
            self.structural(f'{quoted(name)} needs ":" and a value', start, self.name[2])
            self.attach(Broken(self.name[2], self.name[2]))
            return
        else:
            end = _end(_TOKEN(self.text, self.pos), self.pos)
            instead = f": {self.text[self.pos : end]}"
            self.structural(f'":" is missing after {quoted(name)}', self.pos, end, instead)
        if name in top.value:
            self.duplicate(name, self.name[1], self.name[2])
        self.value()

    def item(self) -> None:
        """The beginning of a value; or the end of the array."""
        self.trivia()
        char = self.peek()
        if self.ends(char):
            return
        if char in ":=;":
            self.junk()
        else:
            self.value()

    def ends(self, char: str) -> bool:
        """Where a member or item could begin: deal with what ends or repeats a separator instead."""
        if not char:
            self.unclosed()
        elif char in "}]":
            if self.comma >= 0 and not self.panic:
                self.problem("json-trailing-comma", f'no comma before "{char}"', self.comma, self.comma + 1)
            self.close(char)
        elif char == "," and self.left_out:
            self.comma = self.pos  # it ends what was not understood
            self.left_out = False
            self.pos += 1
        elif char == ",":
            in_object = isinstance(self.stack[-1], Object)
            self.structural("a value is missing before this comma", self.pos, self.pos + 1, "", in_object)
            self.comma = -1
            self.pos += 1
        else:
            return False
        return True

    def value_is_missing(self, since: int) -> bool:
        """Whether what comes next is a delimiter, or the next member on a later line."""
        char = self.peek()
        if not char or char in ",;}]":
            return True
        return _NAME_AND_COLON(self.text, self.pos) is not None and _BREAK(self.text, since, self.pos) is not None

    def value(self) -> None:
        """A value of any kind, attached to what is open; at least one character is read."""
        text, start = self.text, self.pos
        char = text[start]
        if char in "{[":
            self.open(char)
        elif char in "\"'" or typographic(text, start):
            content = self.string(char)
            self.attach(Scalar(start, self.pos, content))
        elif number := read_number(text, start):
            self.pos = number.end
            self.lexical(number.problems)
            known = number.value if not number.problems or number.problems[0].instead else None
            self.attach(Broken(start, number.end) if known is None else Scalar(start, number.end, known))
        elif words := text_without_quote(
            text, start, in_object=bool(self.stack) and isinstance(self.stack[-1], Object)
        ):
            self.pos = words.end
            self.structural(words.message, words.start, words.end, words.instead)
            self.panic = False
            self.attach(Scalar(start, words.end, text[start : words.end].rstrip('"')))
        elif word := read_word(text, start):
            self.pos = word.end
            for problem in word.problems:
                self.structural(problem.message, problem.start, problem.end, problem.instead, problem.certain)
            self.attach(Scalar(start, word.end, word.value) if word.known else Broken(start, word.end))
        elif char == "(" and in_parentheses(self):
            pass
        else:
            self.junk()
            self.attach(Broken(start, self.pos))

    # Pieces

    def string(self, quote: str) -> str:
        """String literal, its problems told; its decoded value."""
        string = typographic(self.text, self.pos) or read_string(self.text, self.pos, quote)
        if not self.is_consequence(self.pos):
            self.lexical(string.problems)
        self.pos = string.end
        return string.value

    def open(self, char: str) -> None:
        """Opening bracket: a container is pushed onto the stack, to a nesting depth of MAX_DEPTH."""
        start = self.pos
        if len(self.stack) >= MAX_DEPTH:
            self.problem("json-too-deep", f"nothing is checked below {MAX_DEPTH} levels", start, start + 1)
            self.skip_brackets()
            self.attach(Broken(start, self.pos))
            return
        node: Object | Array = Object(start, start, {}, [], {}) if char == "{" else Array(start, start, [], [])
        self.attach(node)
        self.stack.append(node)
        self.pos = start + 1
        self.comma = -1
        self.expects_comma = self.left_out = False

    def close(self, char: str) -> None:
        """Closing bracket: the open container ends, or a mismatched bracket is told."""
        top = self.stack[-1]
        if char == closer(top) or closes_other(self, char):
            self.pos += 1
            self.panic = False
        elif char == ")" or stands_for_other(self, char, top):
            opener, wanted = self.text[top.start], closer(top)
            message = f'"{char}" cannot close the "{opener}" that is open here: write "{wanted}"'
            self.structural(message, self.pos, self.pos + 1, wanted)
            self.pos += 1
            self.panic = False
        elif any(char == closer(node) for node in self.stack):
            opener = self.text[top.start]
            self.tear(top.start)
            self.structural(f'"{char}" cannot close the "{opener}" that is open here', self.pos, self.pos + 1)
            force_setattr(top, "broken", True)
        else:
            self.tear(self.pos)
            self.structural(f'"{char}" closes nothing', self.pos, self.pos + 1, "")
            force_setattr(top, "broken", True)
            self.pos += 1
            return
        force_setattr(top, "end", self.pos)
        self.stack.pop()
        self.comma = -1
        self.expects_comma = True
        self.left_out = False

    def unclosed(self) -> None:
        """Unclosed bracket at the end of the text, told once for all that are open."""
        top, end = self.stack[-1], len(self.text.rstrip())
        self.tear(top.start)
        # What is half written where the text ends follows from that.
        self.problems = [each for each in self.problems if each.rule != "json-syntax" or each.end < end]
        around = f", nor are {len(self.stack) - 1} around it" if len(self.stack) > 1 else ""
        opener = "[" if isinstance(top, Array) else "{"
        also = closed_at_end(self, end)
        message = f'"{opener}" is never closed{around}'
        problem = Problem("json-syntax", message, top.start, top.start + 1, opener if also else None, also=also)
        self.note(problem)
        self.close_all()

    def give_up(self) -> None:
        """Stop where recovery makes no sense any more. Told even when no more problems are."""
        message = "too much here is not JSON: the rest was not read"
        self.tear(self.pos)
        self.problems.append(Problem("json-syntax", message, self.pos, min(self.pos + 1, len(self.text))))
        self.close_all()
        self.pos = len(self.text)

    def tear(self, start: int) -> None:
        """Note from where on nobody knows what belongs to what, since brackets do not match."""
        self.torn = start if self.torn is None else min(self.torn, start)

    def close_all(self) -> None:
        """End of every open container, where the text ends early."""
        self.was_cut = True
        for node in self.stack:
            force_setattr(node, "end", len(self.text))
            force_setattr(node, "broken", True)
        self.stack.clear()

    def attach(self, node: Node) -> None:
        """Put a value where it belongs: into the open array, under the pending name, or at the root."""
        self.nodes += 1
        self.expects_comma = True
        self.left_out = False
        self.comma = -1
        if not self.stack:
            self.root = node
            return
        top = self.stack[-1]
        if isinstance(node, Broken):
            force_setattr(top, "broken", True)
        if isinstance(top, Object):
            name, start, end = self.name
            top.value[name] = node.value
            cast("list[Member]", top.members).append(Member(name, start, end, node))
        else:
            top.value.append(node.value)
            cast("list[Node]", top.items).append(node)

    def junk(self) -> None:
        """Unexpected token: told and skipped."""
        start = self.pos
        self.pos = _end(_JUNK(self.text, start), start)
        token = self.text[start : self.pos]
        self.structural(f"{excerpt(token)} does not belong here", start, self.pos, "" if token in _LEFT_OUT else None)
        self.left_out = True
        if self.stack:
            force_setattr(self.stack[-1], "broken", True)
        if self.text[start] in "{[":
            self.pos = start
            self.skip_brackets()

    def skip_brackets(self) -> None:
        """Skip to the bracket that matches the next one."""
        depth = 0
        while match := _NEXT_BRACKET(self.text, self.pos):
            self.pos = match.end()
            if match[0] in ("{", "["):
                depth += 1
            elif match[0] in ("}", "]"):
                depth -= 1
                if depth == 0:
                    return
        self.pos = len(self.text)

    def trivia(self) -> None:
        """Go past white space and comments."""
        while True:
            self.pos = _end(_SPACE(self.text, self.pos), self.pos)
            match = _COMMENT(self.text, self.pos)
            if not match:
                return
            start, self.pos = match.span()
            if match[0].startswith("/*") and not match[1]:
                self.problem("json-syntax", "this comment is never closed", start, start + 2)
            else:
                self.problem("json-comment", "JSON has no comments", start, self.pos)

    def peek(self) -> str:
        return self.text[self.pos : self.pos + 1]


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return match.end() if match else otherwise
