"""Identifiers that a text says as code (hallucinated names), and whether they stand somewhere: none of a language,
library or product.
"""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Iterator, Sequence

from msgspec import Struct

from aurora_indexer.files.scan import known_by_name
from aurora_orchestration.soar.said_places import SaidPlace
from aurora_orchestration.soar.workspace_text import WorkspaceText

_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_WRITTEN = re.compile(
    r"(?<![\w.`/$-])(?P<name>(?:[A-Za-z_]\w*\.)*(?:[A-Za-z]\w*_\w+|_\w*[A-Za-z]\w*"
    r"|[a-z]+[a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+"
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[A-Za-z_]\w+(?=\(\))))(?![\w`/-])"
)
_DEFINED = re.compile(
    r"\b(?:function|method|class|struct|interface|trait|enum|module|constant|variable|field|attribute|macro|property)\s+"
    r"(?P<name>[A-Za-z_]\w{2,})\b(?!\s+(?:of|in|that|which|is|are|has|for|to|and)\b)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_CODE_NAME = re.compile(r"[@$#]?(?:[A-Za-z_$][\w$]*(?:\.|::|#|->))*[A-Za-z_$][\w$]*[!?]?(?:\(.*\))?")

_IMPORT = re.compile(r"(?:from\s+(?P<module>[A-Za-z_][\w.]*)\s+)?import\s+(?P<names>[\w.,\s()]+)")
"""An import as Python writes it."""

_OUTSIDE = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *sys.stdlib_module_names}) | frozenset(
    """null undefined nil nullptr NULL this self super void int long float double bool boolean string str char byte
    bytes uint8 int32 int64 uint64 size_t usize u8 u32 u64 i32 i64 f32 f64 vec Vec Option Result Some Ok Err Box
    String Object Array Map Set Promise Date Error console window document process require module exports function
    var let const new delete typeof instanceof throw throws public private protected static final abstract interface
    extends implements package import func fn mut impl trait struct enum match where use mod pub crate unsafe async
    await defer go chan select switch case default try catch finally do end begin rescue ensure unless until elsif
    elif then fi done esac true false True False None TODO FIXME GET POST PUT PATCH DELETE HEAD OPTIONS HTTP HTTPS
    URL URI JSON XML HTML CSS SQL YAML TOML UTF ASCII API CLI README main args kwargs stdin stdout stderr npm pip
    git docker make bash sh curl JavaScript TypeScript GitHub GitLab PostgreSQL MySQL MongoDB SQLite GraphQL
    WebSocket WebSockets OpenAPI OpenTelemetry macOS iOS DevOps NodeJS YouTube LinkedIn StackOverflow VSCode
    DynamoDB CloudFront OAuth OAuth2 PowerShell RabbitMQ ElasticSearch Elasticsearch NumPy PyPI PyTorch TensorFlow
    FastAPI Redis CamelCase PascalCase camelCase snake_case
    kebab_case McDonald WiFi ReadTheDocs BigQuery""".split()
)
"""Words of languages, formats and products, which a workspace need not have."""

_COMMANDS = frozenset(
    """
    pip npm npx yarn pnpm git make cargo go python python3 node docker kubectl cd ls cat grep curl aurora aur sudo
    apt brew export mkdir rm cp mv pytest uv poetry bundle gem mvn gradle dotnet swift rake composer php ruby java bash
    sh""".split()
)


class Name(Struct, frozen=True):
    text: str
    begin: int
    end: int
    parts: tuple[str, ...]


def found_names(sentence: str, places: Sequence[SaidPlace]) -> Iterator[Name]:
    """Names that are written as code."""
    taken = [(place.begin, place.end) for place in places]
    for match in _QUOTED.finditer(sentence):
        inside = match[1].strip()
        if not any(begin < match.end() and match.start() < end for begin, end in taken):
            name = _quoted(inside, match.start(), match.end())
            if name is not None:
                yield name
        taken.append((match.start(), match.end()))
    for pattern in (_WRITTEN, _DEFINED):
        for match in pattern.finditer(sentence):
            begin, end = match.span("name")
            if any(start < end and begin < stop for start, stop in taken):
                continue
            taken.append((begin, end))
            if not known_by_name(match["name"]):
                yield Name(match["name"], begin, end, tuple(match["name"].split(".")))


def _quoted(text: str, begin: int, end: int) -> Name | None:
    """What stands in backticks as a name; None for a command, a path, a literal, or a piece of text."""
    if _CODE_NAME.fullmatch(text) and not known_by_name(text):
        head = text.partition("(")[0]
        parts = tuple(part for part in re.split(r"\.|::|#|->", head.strip("@$#!?")) if part)
        inner = _IDENTIFIER.findall(_without_strings(text[len(head) :]))
        return Name(text, begin, end, (*parts, *(each for each in inner if len(each) > 2)))
    words = text.split()
    if imported := _IMPORT.fullmatch(text):
        listed = re.sub(r"\bas\s+\w+", " ", imported["names"])
        parts = (*(imported["module"] or "").split("."), *_IDENTIFIER.findall(listed))
        return Name(text, begin, end, tuple(part for part in parts if part))
    if not words or words[0] in _COMMANDS or text[0] in "-/\"'<{[~" or "/" in text:
        return None
    if re.search(r"[=(){};]|->|=>", text):
        found = tuple(dict.fromkeys(each for each in _IDENTIFIER.findall(_without_strings(text)) if len(each) > 2))
        return Name(text, begin, end, found) if found else None
    return None


def _without_strings(code: str) -> str:
    return re.sub(r"\"[^\"]*\"|'[^']*'|(?://|#).*$", " ", code)


def lost_part(name: Name, workspace: WorkspaceText, known: str) -> str | None:
    """The part of a name that stands nowhere, if there is one."""
    return next((part for part in telling_parts(name, known) if not workspace.has(part)), None)


def telling_parts(name: Name, known: str) -> Iterator[str]:
    """The parts of a name that have to stand somewhere: none of a library's, nor what is known without looking."""
    if name.parts and name.parts[0] in sys.stdlib_module_names and len(name.parts) > 1:
        return
    yield from (part for part in name.parts if len(part) >= 3 and part not in _OUTSIDE and part not in known)


def stands(name: Name, text: str) -> bool:
    """Whether the last part of a name that says something stands in some lines."""
    head = name.text.partition("(")[0].strip("@$#!?`")
    last = re.split(r"\.|::|#|->", head)[-1] if _CODE_NAME.fullmatch(name.text) else ""
    wanted = [last] if last else [part for part in name.parts if part not in _OUTSIDE]
    return all(re.search(rf"(?<![A-Za-z0-9_]){re.escape(part)}(?![A-Za-z0-9_])", text) for part in wanted)
