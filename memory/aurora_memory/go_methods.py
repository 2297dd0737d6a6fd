"""Method sets of Go types (structural interfaces, duck typing): their names, and the types that they take and give.
Pure.

Go types implement an interface by having its methods; no file says that they do. Types are compared by their last names
(`Writer` is what another package calls `io.Writer`), without those of parameters; functions are all one type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_RECEIVED = re.compile(r"func\s*\([^)]*\)\s*")
_NAME = re.compile(r"\s*(\w+)\s*(?=\()")
_NAMED = re.compile(r"(?!(?:chan|func|map|struct|interface)\b)\w+\s+(?=\S)")
_PACKAGE = re.compile(r"\b\w+\.(?=\w)")
_FUNCTION = re.compile(r"\bfunc\s*\(.*", re.S)
_ANY = re.compile(r"\bany\b")
_OPEN, _CLOSED = "([{", ")]}"

STANDARD: Mapping[str, Mapping[str, str]] = {
    "error": {"Error": "():string"},
    "fmt.Stringer": {"String": "():string"},
    "io.Reader": {"Read": "([]byte):int,error"},
    "io.Writer": {"Write": "([]byte):int,error"},
    "io.Closer": {"Close": "():error"},
    "io.Seeker": {"Seek": "(int64,int):int64,error"},
    "io.ReaderAt": {"ReadAt": "([]byte,int64):int,error"},
    "io.WriterTo": {"WriteTo": "(Writer):int64,error"},
    "io.ReaderFrom": {"ReadFrom": "(Reader):int64,error"},
    "io.StringWriter": {"WriteString": "(string):int,error"},
    "io.ReadCloser": {"Read": "([]byte):int,error", "Close": "():error"},
    "io.WriteCloser": {"Write": "([]byte):int,error", "Close": "():error"},
    "io.ReadWriter": {"Read": "([]byte):int,error", "Write": "([]byte):int,error"},
    "io.ReadWriteCloser": {"Read": "([]byte):int,error", "Write": "([]byte):int,error", "Close": "():error"},
    "sort.Interface": {"Len": "():int", "Less": "(int,int):bool", "Swap": "(int,int):"},
    "http.Handler": {"ServeHTTP": "(ResponseWriter,*Request):"},
    "http.RoundTripper": {"RoundTrip": "(*Request):*Response,error"},
}
"""Interfaces of Go's own library that are embedded most, with their methods."""


def method(text: str) -> tuple[str, str] | None:
    """Name and types (`(int,...string):error`) of a method's signature, of an interface's or with `func`.

    None where it is none, or was cut off.
    """
    text = _COMMENT.sub(" ", text)
    received = _RECEIVED.match(text)
    named = _NAME.match(text, received.end() if received else 0)
    if named is None:
        return None
    taken, end = _list(text, named.end())
    if end < 0:
        return None
    given = text[end:].strip()
    if given.startswith("("):
        several, end = _list(given, 0)
        return (named[1], f"({taken}):{several}") if end >= 0 else None
    return named[1], f"({taken}):{_type(given)}"


def _list(text: str, start: int) -> tuple[str, int]:
    """The types in the list in brackets that begins at `start`, and where it ends; -1 where it does not."""
    depth, begun = 0, start + 1
    items: list[str] = []
    for at in range(start, len(text)):
        letter = text[at]
        if letter in _OPEN:
            depth += 1
        elif letter in _CLOSED:
            depth -= 1
            if depth == 0:
                items.append(text[begun:at].strip())
                return ",".join(_types([each for each in items if each])), at + 1
        elif letter == "," and depth == 1:
            items.append(text[begun:at].strip())
            begun = at + 1
    return "", -1


def _types(items: list[str]) -> list[str]:
    """The types of parameters; where one has a name all have, and `a, b int` are two of one type."""
    if not any(_NAMED.match(each) for each in items):
        return [_type(each) for each in items]
    found: list[str] = []
    last = ""
    for each in reversed(items):
        named = _NAMED.match(each)
        last = _type(each[named.end() :]) if named else last
        found.append(last)
    return found[::-1]


def _type(text: str) -> str:
    return "".join(_FUNCTION.sub("func", _ANY.sub("interface{}", _PACKAGE.sub("", text))).split())
