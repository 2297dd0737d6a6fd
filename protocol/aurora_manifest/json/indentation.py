"""Error recovery by indentation (missing braces): where the lines of a text say that a bracket is missing, or one too
many.

A parser tells of a missing `}` at the end of the text, a hundred lines too late. Whoever indents says with each line
what it belongs to: a member that stands no deeper than the line that opened its object is not in that object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from aurora_manifest.json.document import Problem
from aurora_manifest.json.scan_state import MAX_DEPTH
from aurora_manifest.json.value_text import excerpt

MAX_BRACKETS = 3
"""Where more than so many would have to be put in or left out, the lines are not laid out by what they belong to."""

_LINE = re.compile(r"([ \t]*+)([^\n\r]*+)(?:\r\n|[\n\r])?")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|//.*|#.*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|[^\s"{}\[\],/#]++|\S').finditer
_NAMED = re.compile(r'"((?:[^"\\\n\r]|\\.){0,80})"\s*:\s*\Z')
_NAME = re.compile(r'"(?:[^"\\\n\r]|\\.)*+"[ \t]*:').match
_ALONE = re.compile(r'"(?:[^"\\\n\r]|\\.)*+"[ \t]*$', re.MULTILINE).match
_BRACKETS = re.compile(r"[{}\[\]/#]").search
_COMMA = re.compile(r"[ \t]*+,").match
_NEXT_LINE = re.compile(r"[ \t]*+,?+[ \t]*+[\n\r]++([ \t]*+)([^\s])").match
_CLOSERS = {"{": "}", "[": "]"}


def _tokens(line: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """The tokens of a line that count, with their places: all of them, or the whole line where it has no bracket."""
    if not _BRACKETS(line[2]):
        if content := line[2].rstrip():
            yield content, line.start(2), line.start(2) + len(content)
        return
    for token in _TOKEN(line.string, line.start(2), line.end(2)):
        if len(token[0]) == 1 or not token[0].startswith(("//", "#", "/*")):
            yield token[0], token.start(), token.end()


class Rebalanced(Struct, frozen=True):
    """A text of the same length whose brackets match, and what is wrong with the one it was."""

    text: str
    problems: tuple[Problem, ...]


class _Opened(Struct, frozen=True, gc=False):
    """Open bracket, and the indentation of its line."""

    char: str
    indent: int
    start: int
    line: int


def rebalanced(text: str) -> Rebalanced | None:
    """Put the missing brackets in place of white space, and white space in place of those too many.

    None where the lines do not tell, or there is no room. Takes one look at the text.
    """
    return _Balance(text).balanced() if "\n" in text or "\r" in text else None


class _Balance:
    """One pass over the lines of a text, with the brackets that are open."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[_Opened] = []
        self._changes: list[tuple[int, str]] = []
        self._problems: list[Problem] = []
        self._last = 0
        """Where the token before ends."""
        self._indent = 0
        """How deep its line is."""

    def balanced(self) -> Rebalanced | None:
        """Bracket matching over all lines; None where nothing is to be mended, or nothing can be told."""
        for number, line in enumerate(_LINE.finditer(self._text)):
            first = True
            indent = len(line[1].expandtabs())
            for token, start, end in _tokens(line):
                if first and indent > self._indent and self._text[self._last - 1 : self._last] == ":":
                    if not self._begin(start, number - 1):
                        return None
                elif not self._token(token, start, indent, number, first):
                    return None
                first, self._indent, self._last = False, indent, end
        if not self._problems:
            return None
        pieces, at = list[str](), 0
        for start, put in self._changes:
            pieces += (self._text[at:start], put)
            at = start + len(put)
        return Rebalanced("".join((*pieces, self._text[at:])), tuple(self._problems))

    def _token(self, token: str, start: int, indent: int, line: int, first: bool) -> bool:
        """Take in one token; False where nothing can be told."""
        closes = token in ("}", "]")
        if first and self._open:
            missing = self._deeper(indent, equal=not closes)
            if closes and len(missing) < len(self._open) and self._open[-1].indent == indent:
                missing = self._up_to(token, indent)
            if missing and not self._put_in(missing, token, start):
                return False
            if closes and not missing and (known := self._of_other_kind(token, start, indent)) is not None:
                return known
        if token in _CLOSERS:
            self._open.append(_Opened(token, indent, start, line))
            if len(self._open) > MAX_DEPTH:
                return False
        elif closes:
            fits = bool(self._open) and _CLOSERS[self._open[-1].char] == token
            if first and (not self._open or self._open[-1].indent < indent) and self._open != []:
                return self._leave_out(token, start)
            if not fits:
                return self._leave_out(token, start) if first and not self._open else False
            if not first and self._closes_too_much(start, indent):
                return self._leave_out(token, start)
            self._open.pop()
        return True

    def _of_other_kind(self, token: str, start: int, indent: int) -> bool | None:
        """A bracket alone on its line that stands where one of the other kind is due: it is that, or one too many.

        None where it is the right one; else whether the text can still be told.
        """
        top = self._open[-1] if self._open else None
        if top is None or top.indent != indent or _CLOSERS[top.char] == token:
            return None
        wanted = _CLOSERS[top.char]
        if self._text[start + 1 : start + 2] == wanted:
            return self._leave_out(token, start)
        if len(self._problems) >= MAX_BRACKETS:
            return False
        self._open.pop()
        self._changes.append((start, wanted))
        message = f'"{token}" cannot close the "{top.char}" that is open here: write "{wanted}"'
        self._problems.append(Problem("json-syntax", message, start, start + 1, wanted))
        return True

    def _closes_too_much(self, start: int, indent: int) -> bool:
        """Whether a bracket behind another closes what its line stands in, while the next line goes on in that."""
        around, after = self._open[-1], _NEXT_LINE(self._text, start + 1)
        if around.indent >= indent or after is None or self._text[self._last - 1] not in "}]":
            return False
        deeper = len(after[1].expandtabs())
        return deeper > around.indent and after[2] not in ("}", "]")

    def _begin(self, start: int, line: int) -> bool:
        """Open a bracket behind a colon, where what follows on the next line stands deeper; nothing is open there."""
        char = self._text[start]
        if char in _CLOSERS:  # an opening bracket on a line of its own
            self._open.append(_Opened(char, self._indent, start, line + 1))
            return True
        if char != '"' or len(self._problems) >= MAX_BRACKETS or self._last >= start:
            return False
        wanted = "{" if _NAME(self._text, start) else "["
        if wanted == "[" and _ALONE(self._text, start):  # a value on a line of its own
            return True
        self._changes.append((self._last, wanted))
        self._open.append(_Opened(wanted, self._indent, self._last, line))
        message = f'"{wanted}" is missing here'
        self._problems.append(Problem("json-syntax", message, self._last - 1, self._last, f": {wanted}"))
        return True

    def _deeper(self, indent: int, *, equal: bool) -> list[_Opened]:
        """Those that must have ended before a line of this indentation."""
        found: list[_Opened] = []
        for each in reversed(self._open):
            if not (each.indent > indent or (equal and each.indent == indent)):
                break
            found.insert(0, each)
        return found

    def _up_to(self, closer: str, indent: int) -> list[_Opened]:
        """Those of one line that stand above the one that a bracket closes; none where it closes none of them."""
        above: list[_Opened] = []
        for each in reversed(self._open):
            if each.indent != indent:
                break
            if _CLOSERS[each.char] == closer:
                return above
            above.insert(0, each)
        return []

    def _put_in(self, missing: list[_Opened], token: str, start: int) -> bool:
        """Close brackets before a token; False where there is no room, or too much would have to be put in."""
        if self._open[len(self._open) - len(missing) :] != missing:
            return False
        after_comma = self._text[self._last - 1] == "," and token not in ("}", "]")
        place = self._last - after_comma
        closers = "".join(_CLOSERS[each.char] for each in reversed(missing))
        put = closers + ("," if token not in ("}", "]", ",") else "")
        if len(self._problems) + len(missing) > MAX_BRACKETS or place + len(put) > start:
            return False
        del self._open[len(self._open) - len(missing) :]
        self._changes.append((place, put))
        before = "" if after_comma else self._text[self._last - 1]
        for each in missing:
            name = _NAMED.search(self._text, max(0, each.start - 120), each.start)
            of = f' of "{excerpt(name[1])}"' if name else ""
            wanted = _CLOSERS[each.char]
            message = f'"{wanted}" is missing here: the "{each.char}"{of} in line {each.line + 1} is not closed'
            lead = "\n" + self._text[self._text.rfind("\n", 0, each.start) + 1 :][: each.indent]
            lead = lead if lead.isspace() else "\n"
            instead = f"{before}{lead}{put}" if len(missing) == 1 else None
            self._problems.append(Problem("json-syntax", message, self._last - 1, self._last, instead))
        return True

    def _leave_out(self, token: str, start: int) -> bool:
        """Removal of a bracket that closes nothing."""
        if len(self._problems) >= MAX_BRACKETS:
            return False
        end = start + 1
        if self._text[self._last - 1] in ",{[" and (comma := _COMMA(self._text, end)):
            end = comma.end()  # it ends nothing, too
        self._changes.append((start, " " * (end - start)))
        self._problems.append(Problem("json-syntax", f'"{token}" closes nothing', start, end, ""))
        return True
