"""References of an answer: every place and name that its text says, looked up in the workspace as a reader would.

A place (`src/a.py:12-20`, "lines 3 to 9 of a.py") has to be there; the name beside it has to stand there or near it; a
name written as code has to stand somewhere. What an answer proposes is not looked up: it is not there yet.
"""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Literal

from msgspec import Struct

from aurora_indexer.files.scan import known_by_name
from aurora_orchestration.soar.workspace_text import WorkspaceText

NEAR = 3
"""Lines around a place in which a name may stand."""

MAX_BLOCK = 400
MAX_MEANT = 50
"""Files of one name that a place may mean."""

MAX_TEXT = 100_000
MAX_FAULTS = 40
MAX_NAMES = 300
MAX_IN_ONE = 60
"""Places, and names, of one sentence that are looked up."""

_FAR = 60
"""Characters between a name and a place from which on they are not taken to belong together."""

Kind = Literal["place", "name at place", "name", "called name"]

_PATH = r"(?:[\w.@+-]+/)*[\w.@+-]*\.?[A-Za-z][\w+-]*"
_DOTTED = r"(?:[\w.@+-]+/)*[\w.@+-]+\.[A-Za-z]\w*"
_DASH = r"\s*(?:[-–—]|to|through|until)\s*"
_PLACE = re.compile(
    rf"(?<![\w/:.@])(?:code:)?(?P<file>{_PATH})(?::[A-Za-z_][\w.]*)?(?::L?|\#L)(?P<first>\d{{1,9}})"
    rf"(?:\s?[-–]\s?L?(?P<last>\d{{1,9}}))?(?![\w.]*\w)"
    rf"|\b[Ll]ines?\s+(?P<first2>\d{{1,9}})(?:{_DASH}(?P<last2>\d{{1,9}}))?\s+(?:of|in)\s+`?(?P<file2>{_PATH})"
    rf"|(?<![\w/:.@])(?P<file3>{_DOTTED})`?\s*[,(]?\s*(?:at\s+|on\s+)?lines?\s+(?P<first3>\d{{1,9}})"
    rf"(?:{_DASH}(?P<last3>\d{{1,9}}))?"
)
_BARE_PATH = re.compile(
    r"(?<![\w/:.@`-])`?(?P<file>(?:[\w.@+-]+/)+[\w.@+-]+\.[A-Za-z]\w{0,5}|[\w-]+\.[A-Za-z]\w{0,5})`?(?![\w/(-])"
)
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_DATA = re.compile(r"\S{400,}")
_GAP = re.compile(r"[^\S\n]{20,}")
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
_SENTENCE = re.compile(
    r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<! vs\.)(?<! cf\.)(?<! al\.)(?<! [A-Z]\.)\s+(?=\S)|\n+"
)
_PROPOSAL = re.compile(
    r"\b(?:should|could|would|might|propos\w+|suggest\w*|recommend\w*|consider|instead|let's|e\.g\.|for example|"
    r"for instance|such as|needs? to|to be added|there (?:is|are) no|no such|(?:does|do|did) not exist|not found|"
    r"unlike|"
    r"i\.e\.|if you|ha(?:s|ve|d) to|must)\b|"
    r"^\W*(?:\d+[.)]\s*)?(?:add|create|introduce|implement|write|rename|replace|move|extract)\b",
    re.IGNORECASE,
)
_CALLS = re.compile(
    r"^\W{0,3}\s*(?:(?:which|that|then|also|first|finally|itself|directly|in turn|only|just|and)\s+)*"
    r"(?:calls?|invokes?|uses?|delegates? to|raises?|throws?|returns?|wraps?|instantiates?|builds?|reads?|sets?|runs?|"
    r"emits?|relies on|depends on|goes through|makes use of|ends up in|contains (?:a|the) call to|hands over to|"
    r"triggers?|awaits?|starts?|creates?|constructs?|consults?|asks?|dispatches to|forwards to|"
    r"hands (?:it|them|this|that|over) (?:over )?to)\s+(?:the\s+|a\s+|an\s+|to\s+)?$"
)
_ELSEWHERE = re.compile(
    r"(?:\b(?:by|from|than|like|unlike|as|instead of|rather than|replaces?|replaced|before|after|with|against|beside|"
    r"alongside|counterpart of|version of|subclass of|equivalent of|versus|vs\.?|"
    r"when|if|see|also|not|never|and|or|nor|for)"
    r"\s+(?:the\s+|a\s+|an\s+|in\s+|it\s+|its\s+)*|[,(/]\s*)$",
    re.IGNORECASE,
)
"""What stands before a name that need not stand where the sentence's place is."""

_CALLING = re.compile(
    r"\b(?:call\w*|invo(?:ke|ca)\w*|uses?|using|used|needs?|relies|rely|wraps?|touch\w*|results? of|"
    r"hand(?:s|ed)?|pass(?:es|ed)?|delegat\w*|through|depend\w*|rais\w+|throws?|returns?|reads?|writes?|implementation|body|inside|within)\b",
    re.IGNORECASE,
)
"""Words of sentences that speak of what stands within a definition."""

_GOES_ON = re.compile(
    r"^\W*(?:it|its|this|that|there|internally|inside|within|here|then|for its|in it|from there|where)\b", re.IGNORECASE
)
"""How a sentence begins that goes on with what the one before it was about."""

_NOT = re.compile(r"\b(?:not|never|no longer|n't|without|neither|nor)\b|n't\b", re.IGNORECASE)
_AHEAD = ("@", "#", "[", "template", "//", "/*", "*", "--")
"""How lines begin that stand before what they are about."""

_JOINED = re.compile(
    r"^\W*(?:(?:is|are|lives|lies|found|stands|defined|declared|implemented|located|starts|begins|in|at|on|"
    r"spans|covers|occupies|stretches|runs|reaches|over|"
    r"the|file|see|from|within|inside|here|comes|which|method|function|class)\b\W*)*$",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"^\W*(?:(?:that|this|it|we|see|sits|lies|begins|defines?|has|holds?|contains?|declares?|implements?|is|in|the|where|shows?|there|we|find|a|an|"
    r"function|method|class|struct|constant|starts?)\b\W*)*$",
    re.IGNORECASE,
)

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


class Fault(Struct, frozen=True):
    """A reference that is not so: of which kind, what it says, and what is wrong with it, in words."""

    kind: Kind
    text: str
    issue: str


class LookedUp(Struct, frozen=True):
    """References of a text: how many were looked up, and those that are not so."""

    count: int
    faults: tuple[Fault, ...]


class _Place(Struct, frozen=True):
    file: str
    first: int
    last: int
    begin: int
    end: int
    """Where the place stands in the text."""


class _Name(Struct, frozen=True):
    text: str
    begin: int
    end: int
    parts: tuple[str, ...]


class _Bound(Struct, frozen=True):
    """What a sentence is about: a name, its place, and the lines of the files that place can mean."""

    name: _Name
    place: _Place
    meant: list[list[str]]


def look_up(text: str, workspace: WorkspaceText, known: str = "", *, outside: frozenset[str] = frozenset()) -> LookedUp:
    """Look up every place and name of a text. Blocks: it reads files.

    `known` is text whose names need not stand in the workspace (the question, what was observed elsewhere); files in
    `outside` are no files of it (conversation logs).
    """
    text = _FENCE.sub(" ", bounded(text))
    count = 0
    faults: dict[tuple[str, str], Fault] = {}
    last: _Bound | None = None

    def told(kind: Kind, what: str, issue: str) -> None:
        faults.setdefault((kind, what), Fault(kind, what, issue))

    said = [(sentence, list(islice(_places(sentence), MAX_IN_ONE))) for sentence in sentences(text)]
    named = (name for sentence, places in said for name in islice(_names(sentence, places), MAX_IN_ONE))
    every = (part for name in named for part in _telling(name, known))
    wanted = list(dict.fromkeys(every))
    workspace.look_for(wanted[:MAX_NAMES])
    known = "\n".join((known, *wanted[MAX_NAMES:]))  # not looked at, and so not held against anybody
    for sentence, places in said:
        names = list(islice(_names(sentence, places), MAX_IN_ONE))
        good: list[tuple[_Place, list[tuple[str, list[str]]]]] = []
        for place in places:
            if place.file in outside or (not known_by_name(place.file) and not workspace.files_named(place.file)):
                continue
            count += 1
            found, issue = _lines_of(place, workspace)
            if issue:
                told("place", sentence[place.begin : place.end], issue)
            elif found:
                good.append((place, found))
        proposal = _PROPOSAL.search(sentence) is not None
        count += len(names)
        missing = set()
        if not proposal:
            files = list(_bare_files(sentence, places))
            for bare in files:
                count += 1
                file, there_are = bare.file, workspace.files_named(bare.file)
                if file not in outside and file.lower() not in known.lower() and not there_are:
                    told("place", file, f"there is no file {file}")
                beside = (
                    _beside(sentence, bare, names, [*places, *files]) if there_are and file not in outside else None
                )
                if beside is not None and not _in_one(beside, there_are, workspace):
                    told("name at place", f"{beside.text} {file}", f"`{beside.text}` does not stand in {file}")
            for name in names:
                lost = _lost(name, workspace, known)
                if lost is not None:
                    missing.add(name)
                    told("name", name.text, f"`{lost}` stands nowhere in the workspace")
        there = [name for name in names if name not in missing and (not proposal or not _lost(name, workspace, known))]
        for kind, what, issue in _misplaced(sentence, there, good):
            told(kind, what, issue)
        if places:
            last = _bound(sentence, there, good)
        elif not _GOES_ON.match(sentence):
            last = None
        elif last is not None and not proposal:
            for kind, what, issue in _not_inside(sentence, there, last):
                told(kind, what, issue)
        if len(faults) >= MAX_FAULTS:
            break
    return LookedUp(count, tuple(faults.values())[:MAX_FAULTS])


def bounded(text: str) -> str:
    """A text that patterns take linear time for: cut, without words and gaps that nobody would read."""
    return _GAP.sub(" ", _DATA.sub(" ", text[:MAX_TEXT]))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; each line, as of a list, is at least one."""
    cuts = [0, *(match.end() for match in _SENTENCE.finditer(text)), len(text)]
    for begin, end in pairwise(cuts):
        if text[begin:end].strip():
            yield text[begin:end]


def places_of(text: str) -> Iterator[tuple[str, int, int, int, int]]:
    """The places that a text names: file, first and last line, and where it says so (begin, end)."""
    for place in _places(text):
        yield place.file, place.first, place.last, place.begin, place.end


def _places(text: str) -> Iterator[_Place]:
    for match in _PLACE.finditer(text):
        for mark in ("", "2", "3"):
            file = match[f"file{mark}"]
            if file is not None and ("." in file or known_by_name(file.rpartition("/")[2])):
                first = int(match[f"first{mark}"])
                last = int(match[f"last{mark}"] or first)
                yield _Place(file.removeprefix("./"), first, last, match.start(), match.end())


def _in_one(name: _Name, files: Sequence[str], workspace: WorkspaceText) -> bool:
    """Whether a name stands in one of the files that a path can mean; what cannot be read may have it."""
    return any(
        (lines := workspace.lines(file)) is None or _stands(name, "\n".join(lines)) for file in files[:MAX_MEANT]
    )


def _bare_files(sentence: str, places: Sequence[_Place]) -> Iterator[_Place]:
    """Paths without lines that can only be files, as places of no line."""
    for match in _BARE_PATH.finditer(sentence):
        file = match["file"]
        if any(place.begin <= match.start() < place.end for place in places):
            continue
        if "://" not in sentence[max(0, match.start() - 8) : match.start()] and known_by_name(file.rpartition("/")[2]):
            yield _Place(file.removeprefix("./"), 0, 0, match.start(), match.end())


def _names(sentence: str, places: Sequence[_Place]) -> Iterator[_Name]:
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
                yield _Name(match["name"], begin, end, tuple(match["name"].split(".")))


def _quoted(text: str, begin: int, end: int) -> _Name | None:
    """What stands in backticks as a name; None for a command, a path, a literal, or a piece of text."""
    if _CODE_NAME.fullmatch(text) and not known_by_name(text):
        head = text.partition("(")[0]
        parts = tuple(part for part in re.split(r"\.|::|#|->", head.strip("@$#!?")) if part)
        inner = _IDENTIFIER.findall(_without_strings(text[len(head) :]))
        return _Name(text, begin, end, (*parts, *(each for each in inner if len(each) > 2)))
    words = text.split()
    if imported := _IMPORT.fullmatch(text):
        listed = re.sub(r"\bas\s+\w+", " ", imported["names"])
        parts = (*(imported["module"] or "").split("."), *_IDENTIFIER.findall(listed))
        return _Name(text, begin, end, tuple(part for part in parts if part))
    if not words or words[0] in _COMMANDS or text[0] in "-/\"'<{[~" or "/" in text:
        return None
    if re.search(r"[=(){};]|->|=>", text):
        found = tuple(dict.fromkeys(each for each in _IDENTIFIER.findall(_without_strings(text)) if len(each) > 2))
        return _Name(text, begin, end, found) if found else None
    return None


def _without_strings(code: str) -> str:
    return re.sub(r"\"[^\"]*\"|'[^']*'|(?://|#).*$", " ", code)


def _lost(name: _Name, workspace: WorkspaceText, known: str) -> str | None:
    """The part of a name that stands nowhere, if there is one."""
    return next((part for part in _telling(name, known) if not workspace.has(part)), None)


def _telling(name: _Name, known: str) -> Iterator[str]:
    """The parts of a name that have to stand somewhere: none of a library's, nor what is known without looking."""
    if name.parts and name.parts[0] in sys.stdlib_module_names and len(name.parts) > 1:
        return
    yield from (part for part in name.parts if len(part) >= 3 and part not in _OUTSIDE and part not in known)


def _lines_of(place: _Place, workspace: WorkspaceText) -> tuple[list[tuple[str, list[str]]], str]:
    """The files that a place can mean, with their lines, or what is wrong with it."""
    files = workspace.files_named(place.file)
    if not files:
        return [], f"there is no file {place.file}"
    most = 0
    fitting = []
    for file in files[:MAX_MEANT]:
        lines = workspace.lines(file) or []
        most = max(most, len(lines))
        if 1 <= place.first <= place.last <= len(lines):
            fitting.append((file, lines))
    return fitting, "" if fitting else f"there is no line {_shown(place)} in {place.file}, which has {most}"


def _shown(place: _Place) -> str:
    return f"{place.first}" if place.first == place.last else f"{place.first}-{place.last}"


def _misplaced(
    sentence: str, names: Sequence[_Name], places: Sequence[tuple[_Place, list[tuple[str, list[str]]]]]
) -> Iterator[tuple[Kind, str, str]]:
    """Names that do not stand at the place beside them, and names that the code there does not have."""
    for place, files in places:
        beside = _beside(sentence, place, names, [each for each, _ in places])
        if beside is None:
            continue
        at = f"{place.file}:{_shown(place)}"
        meant = [lines for _, lines in files if _stands(beside, _body(place, lines))]
        if not meant:
            yield "name at place", f"{beside.text} {at}", f"`{beside.text}` does not stand at {at}, nor near it"
            continue
        called = _called(sentence, max(place.end, beside.end), names)
        bound = _Bound(beside, place, meant)
        if called is not None:
            yield from _not_inside(sentence, [called], bound, surely=True)
        if len(places) == 1:
            yield from _not_inside(sentence, [each for each in names if each is not called], bound)


def _bound(
    sentence: str, names: Sequence[_Name], places: Sequence[tuple[_Place, list[tuple[str, list[str]]]]]
) -> _Bound | None:
    """What a sentence with one place is about, where its name does stand there."""
    if len(places) != 1:
        return None
    place, files = places[0]
    beside = _beside(sentence, place, names, [place])
    meant = [lines for _, lines in files if beside is not None and _stands(beside, _body(place, lines))]
    return _Bound(beside, place, meant) if beside is not None and meant else None


def _not_inside(
    sentence: str, names: Sequence[_Name], bound: _Bound, *, surely: bool = False
) -> Iterator[tuple[Kind, str, str]]:
    """Names of a sentence that the code it is about does not have: the definition, or the file.

    A sentence that denies something, and names that are told to be elsewhere, are left alone, but for what is `surely`
    said.
    """
    if not surely and _NOT.search(sentence):
        return
    within = surely or _CALLING.search(sentence) is not None
    at = f"{bound.place.file}:{_shown(bound.place)}"
    for name in names if surely else _inside(sentence, names):
        if name.text == bound.name.text:
            continue
        if not any(_stands(name, _body(bound.place, lines) if within else "\n".join(lines)) for lines in bound.meant):
            where = f"in `{bound.name.text}` at {at}" if within else f"in {bound.place.file}, of which that is said"
            yield "called name", f"{name.text} {at}", f"`{name.text}` does not stand {where}"


def _inside(sentence: str, names: Sequence[_Name]) -> Iterator[_Name]:
    """Names of a sentence that can only be where its place is: none that is told to be elsewhere."""
    for name in names:
        if not _ELSEWHERE.search(sentence[: name.begin].rstrip("`*")):
            yield name


def _body(place: _Place, lines: Sequence[str]) -> str:
    """The lines of a place and those near it, and of a single line the block that it begins."""
    block = block_of(lines, place.first - 1) if place.first == place.last else ()
    return "\n".join((_window(place, lines), *block))


def _beside(sentence: str, place: _Place, names: Sequence[_Name], places: Sequence[_Place]) -> _Name | None:
    """The name that a place is told for: right before it, or right after it where it says what stands there."""
    before = [name for name in names if name.end <= place.begin]
    if before:
        nearest = max(before, key=lambda name: name.end)
        between = sentence[nearest.end : place.begin]
        if (
            len(between) <= _FAR
            and _JOINED.search(between.strip("`"))
            and not _other_between(places, nearest.end, place.begin)
        ):
            return nearest
    after = [name for name in names if name.begin >= place.end]
    if after:
        nearest = min(after, key=lambda name: name.begin)
        between = sentence[place.end : nearest.begin]
        if (
            len(between) <= _FAR
            and _HOLDS.search(between.strip("`"))
            and not _other_between(places, place.end, nearest.begin)
        ):
            return nearest
    return None


def _other_between(places: Sequence[_Place], begin: int, end: int) -> bool:
    return any(begin <= place.begin < end for place in places if place.end != begin and place.begin != end)


def _called(sentence: str, after: int, names: Sequence[_Name]) -> _Name | None:
    """The name that what stands at a place is said to call, right after it."""
    following = [name for name in names if name.begin >= after]
    if not following:
        return None
    nearest = min(following, key=lambda name: name.begin)
    between = sentence[after : nearest.begin].lstrip(")]`, ")
    return nearest if _CALLS.search(between) and not _NOT.search(between) else None


def _stands(name: _Name, text: str) -> bool:
    """Whether the last part of a name that says something stands in some lines."""
    head = name.text.partition("(")[0].strip("@$#!?`")
    last = re.split(r"\.|::|#|->", head)[-1] if _CODE_NAME.fullmatch(name.text) else ""
    wanted = [last] if last else [part for part in name.parts if part not in _OUTSIDE]
    return all(re.search(rf"(?<![A-Za-z0-9_]){re.escape(part)}(?![A-Za-z0-9_])", text) for part in wanted)


def _window(place: _Place, lines: Sequence[str]) -> str:
    """The lines of a place and those near it; of a single line that begins a block also its first ones."""
    return "\n".join(lines[max(0, place.first - 1 - NEAR) : place.last + NEAR])


def block_of(lines: Sequence[str], begin: int) -> list[str]:
    """The lines from one on that belong to it: those that are indented more, and the closing one.

    A comment, a decorator or an attribute belongs to what follows it.
    """
    indent = _indent(lines[begin])
    found = [lines[begin]]
    inside = not lines[begin].lstrip().startswith(_AHEAD)
    for line in lines[begin + 1 : begin + MAX_BLOCK]:
        text = line.strip()
        if text and _indent(line) <= indent and text[0] not in ")}]:{" and not text.startswith(("end", "->", "where")):
            if inside:
                break
            inside = not text.startswith(_AHEAD)
        found.append(line)
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
