"""Literals of JSON (lexer), read tolerantly: strings, numbers and the three words (RFC 8259 §3, §6, §7)."""

from __future__ import annotations

import json
import re

from msgspec import Struct

from aurora_manifest.json.document import Problem
from aurora_manifest.json.value_text import excerpt

_NUMBER = re.compile(r"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+")
_NUMBER_LIKE = re.compile(r"[-+]?+\.?+[0-9][\w.]*+(?:(?<=[eE])[+-][\w.]*+)?+").match
_INTEGER = re.compile(r"-?+[0-9]++").fullmatch
_HEXADECIMAL = re.compile(r"([-+]?)0[xX]([0-9a-fA-F]++)").fullmatch
_SIGNS_AND_DOTS = re.compile(r"([-+]?+)([0-9]*+)(?:\.([0-9]*+))?+([eE][+-]?+[0-9]++)?+").fullmatch
_LIKE_DIGITS = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1", "_": None})
"""Letters that look like digits, and the sign between groups of them."""

_MAX_DIGITS = 600

_WORD = re.compile(r"[-+]?+[^\W\d][\w$]*+").match
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_OTHER_SPELLINGS = {"none": "null", "nil": "null", "undefined": "null", "yes": "true", "no": "false"}
_OTHER_SPELLINGS |= {word: word for word in _WORDS}
NOT_FINITE = frozenset({"nan", "infinity", "inf"})
"""Words of other languages for numbers that JSON has not."""

_SURE_SPELLINGS = frozenset(_WORDS)
"""Those that differ in case only. YAML's `no` may be a country, and for Python's `None` a member is left out here."""

_REGULAR = {
    '"': re.compile(r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+').match,
    "'": re.compile(r"[^'\\\x00-\x1f]*+").match,
}
_REST = {
    '"': re.compile(r'(?:[^"\\\n\r]++|\\[^\n\r])*+').match,
    "'": re.compile(r"(?:[^'\\\n\r]++|\\[^\n\r])*+").match,
}
_MAX_PROBLEMS = 50
_decoder = json.JSONDecoder()
_CONTROLS = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f]++").match
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONTROL_NAMES = {"\t": r"a tab must be written \t", "\b": r"a backspace must be written \b"}
_CONTROL_NAMES |= {"\f": r"a form feed must be written \f"}
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})").match
_UNICODE_PART = re.compile(r"\\u[0-9a-fA-F]{0,3}").match
_WORDS_ON = r"[^\s\"{}\[\],:/#][^\"\\\x00-\x1f]*+"
_GOES_ON = re.compile(
    rf"(?:\r\n|[\n\r])[ \t]*+(?=(?:{_WORDS_ON}(?:\r\n|[\n\r])[ \t]*+){{0,5}}+{_WORDS_ON}\"[ \t]*+(?:[,}}\]\n\r]|\Z))"
).match
"""A line break after which text follows, up to a quote that a string may end with, on one of the next six lines."""

_TYPOGRAPHIC = re.compile(r'(?:[“”„‟]([^“”„‟"\\\x00-\x1f]*+)[“”‟"]|`([^`"\\\x00-\x1f]*+)`)').match
_LINE = re.compile(r"[^\n\r]*+").match


class ReadString(Struct, frozen=True):
    """A string's decoded content, and where it ends."""

    value: str
    end: int
    problems: list[Problem]


_CLOSERS = re.compile(r"(?<=[^\s\"\\])[ \t]*[\]}]+\Z").search
"""Brackets at the end of a text that is not closed: they close what it is in."""

_MOST_CLOSERS = 40


class ReadNumber(Struct, frozen=True):
    """A number's value, and where it ends."""

    value: int | float
    end: int
    problems: list[Problem]


class ReadWord(Struct, frozen=True):
    """A bare word; `known` when its value is certain (`True` is, `NaN` is not)."""

    value: bool | None
    known: bool
    end: int
    problems: list[Problem]


def number_value(text: str) -> int | float:
    """The value of a well-formed number; infinite where a float cannot hold it."""
    return int(text) if len(text) <= _MAX_DIGITS and _INTEGER(text) else float(text)


def number_text(raw: str) -> str:
    """A number as JSON spells it: so a finding says the same before and after that is put right."""
    known = read_number(raw, 0)
    return (known.problems[0].instead or raw) if known is not None and known.problems else raw


def read_number(text: str, start: int) -> ReadNumber | None:
    """Read what is meant as a number at `start`: `1e3`, but also `01`, `+1`, `.5`, `1.` and `0x1F`, as errors."""
    match = _NUMBER_LIKE(text, start)
    if not match:
        return None
    raw, end = match[0], match.end()
    if _NUMBER.fullmatch(raw):
        return ReadNumber(number_value(raw), end, [])
    meant, certain = _meant_number(raw)
    advice = f": write {excerpt(meant)}" if meant else ""
    problem = Problem("json-syntax", f"{excerpt(raw)} is not a JSON number{advice}", start, end, meant, certain)
    return ReadNumber(number_value(meant) if meant else 0, end, [problem])


def _meant_number(raw: str) -> tuple[str | None, bool]:
    """The same number as JSON spells it, and whether it can be no other.

    `0123` can: some languages count it by eights, and it may be a code that was to be a string.
    """
    if match := _HEXADECIMAL(raw):
        return (f"{match[1].strip('+')}{int(match[2], 16)}", True) if len(raw) <= _MAX_DIGITS else (None, False)
    match = _SIGNS_AND_DOTS(raw)
    if not match:
        digits = raw.translate(_LIKE_DIGITS)
        return (digits, False) if _NUMBER.fullmatch(digits) else (None, False)
    sign, digits, fraction, exponent = match.groups(default="")
    whole = digits.lstrip("0") or "0"
    return f"{sign.strip('+')}{whole}{f'.{fraction}' if fraction else ''}{exponent}", whole == (digits or "0")


def read_word(text: str, start: int) -> ReadWord | None:
    """Read a bare word at `start`: the three JSON has, other languages' spellings of them, or text without quotes."""
    match = _WORD(text, start)
    if not match:
        return None
    word, end = match[0], match.end()
    if word in _WORDS:
        return ReadWord(_WORDS[word], True, end, [])
    meant = _OTHER_SPELLINGS.get(word.lower())
    if meant:
        message = f"{word} is not JSON: write {meant}"
    elif word.lstrip("+-").lower() in NOT_FINITE:
        message = f"JSON has no {word}: numbers are finite"
    else:
        message = f"{excerpt(word)} is not JSON: text needs double quotes"
    instead = meant or (None if message.startswith("JSON has no") else f'"{word}"')
    problem = Problem("json-syntax", message, start, end, instead, word.lower() in _SURE_SPELLINGS)
    return ReadWord(_WORDS[meant] if meant else None, meant is not None, end, [problem])


def read_string(text: str, start: int, quote: str = '"') -> ReadString:
    """Read the string whose opening quote is at `start`.

    After fifty problems the rest of a string is taken as it stands. An unclosed string ends with its line, before a
    comma that ends the line: that comma is more likely the separator.
    """
    regular, pos, pieces = _REGULAR[quote], start + 1, []
    problems: list[Problem] = []
    while True:
        if len(problems) >= _MAX_PROBLEMS and (match := _REST[quote](text, pos)):
            pieces.append(match[0])
            pos = match.end()
        match = regular(text, pos)
        if match:
            pieces.append(_decoder.decode(f'"{match[0]}"') if "\\" in match[0] else match[0])
            pos = match.end()
        char = text[pos : pos + 1]
        if char == quote:
            pos += 1
            if quote == "'":
                instead = json.dumps(_joined(pieces), ensure_ascii=False)
                message = 'JSON strings need double quotes: "…"'
                problems.append(Problem("json-syntax", message, start, pos, instead, not problems))
            return ReadString(_joined(pieces), pos, problems)
        if char == "\\" and text[pos + 1 : pos + 2] not in ("", "\n", "\r"):
            pos = _escape(text, pos, quote, pieces, problems)
        elif match := _CONTROLS(text, pos):
            message = _CONTROL_NAMES.get(match[0][0], f"a control character must be written \\u{ord(match[0][0]):04x}")
            instead = json.dumps(match[0])[1:-1]
            problems.append(Problem("json-syntax", message, pos, match.end(), instead, True))
            pieces.append(match[0])
            pos = match.end()
        elif quote == '"' and (match := _GOES_ON(text, pos)):
            message = r"a string ends on its line: a line break in it is written \n"
            problems.append(Problem("json-syntax", message, pos, match.end(), r"\n"))
            pieces.append("\n")
            pos = match.end()
        else:
            return _unclosed(text, start, pos, pieces, problems)


def typographic(text: str, start: int) -> ReadString | None:
    """Read a string in other quotes at `start`, as an error: those of printed text, or JavaScript's backticks."""
    match = _TYPOGRAPHIC(text, start)
    if match is None:
        return None
    content = match[1] or match[2] or ""
    instead = json.dumps(content, ensure_ascii=False)
    message = 'JSON strings need straight double quotes: "…"'
    return ReadString(content, match.end(), [Problem("json-syntax", message, start, match.end(), instead)])


def _escape(text: str, pos: int, quote: str, pieces: list[str], problems: list[Problem]) -> int:
    """Escape sequence of a string (`\\n`, `\\u0041`), at `pos`; where it ends."""
    char = text[pos + 1]
    if char in _ESCAPES:
        pieces.append(_ESCAPES[char])
        return pos + 2
    if char == "u":
        match = _UNICODE(text, pos)
        if match:
            pieces.append(chr(int(match[1], 16)))
            return pos + 6
        part = _UNICODE_PART(text, pos)
        end = part.end() if part else pos + 2
        problems.append(Problem("json-syntax", r"\u needs four hexadecimal digits", pos, end))
    else:
        end = pos + 2
        if char != quote:
            message = rf"\{excerpt(char)} is not a JSON escape: write \\ for a backslash"
            problems.append(Problem("json-syntax", message, pos, end, "\\" + text[pos:end]))
    pieces.append(text[pos + 1 : end])
    return end


def _unclosed(text: str, start: int, end: int, pieces: list[str], problems: list[Problem]) -> ReadString:
    """Unterminated string, which ends with its line, without closing brackets and a comma."""
    line = _LINE(text, end)
    shown = text[start : line.end() if line else end].rstrip()
    if shown.endswith(",") and len(shown) > 1:
        shown = shown[:-1].rstrip()
    if (closers := _CLOSERS(shown, max(0, len(shown) - _MOST_CLOSERS))) and not any(each in shown for each in "{["):
        shown = shown[: closers.start()]
    value = _joined(pieces)[: max(0, len(shown) - 1)]
    inside = [problem for problem in problems if problem.end <= start + len(shown)]
    instead = json.dumps(value, ensure_ascii=False) if not inside and value.isprintable() else None
    unclosed = Problem("json-syntax", "this string is never closed", start, start + len(shown), instead)
    return ReadString(value, start + len(shown), [unclosed, *inside])


def _joined(pieces: list[str]) -> str:
    """Put a string's pieces together; two escaped halves of a surrogate pair become the one character they mean."""
    value = "".join(pieces)
    if len(pieces) < 2 or value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
