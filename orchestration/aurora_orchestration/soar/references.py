"""References of an answer, none of them hallucinated: every place and name it says is looked up in the workspace.

A place (`src/a.py:12-20`, "lines 3 to 9 of a.py") has to be there; the name beside it has to stand there or near it; a
name written as code has to stand somewhere. What an answer proposes is not looked up: it is not there yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

from msgspec import Struct

from aurora_indexer.files.scan import known_by_name
from aurora_orchestration.soar.said_calls import all_not_called, told_calls
from aurora_orchestration.soar.said_names import Name, found_names, lost_part, stands, telling_parts
from aurora_orchestration.soar.said_places import (
    MAX_MEANT,
    SaidPlace,
    bare_files,
    body_at,
    found_places,
    lines_of,
    shown,
)
from aurora_orchestration.soar.sentences import bounded, sentences
from aurora_orchestration.soar.workspace_text import WorkspaceText

MAX_FAULTS = 40
MAX_NAMES = 300

MAX_IN_ONE = 60
"""Places, and names, of one sentence that are looked up."""

MAX_CALLS = 5
"""Calls of one sentence that are looked up."""

MAX_ALL_CALLS = 60
"""Calls of a whole text that are looked up."""

_LONG_OWNER = 4
_HEAD = 3
"""Lines of a place on which the name of what begins there stands."""
_FAR = 60
"""Characters between a name and a place from which on they are not taken to belong together."""

Kind = Literal["place", "name at place", "name", "called name"]
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
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

_CALLED_BY = re.compile(
    r"^\W{0,3}\s*(?:is|are|gets?|was|were)\s+(?:then|also|first|only|directly|in turn)?\s*"
    r"(?:called|invoked|used|needed|raised|thrown|returned|wrapped|read|written|awaited|created|built|reached|run)\s+"
    r"(?:by|from|in|inside|within|through)\s+(?:the\s+)?(?:(?:function|method|class|body of)\s+)?`?$"
)
"""What stands between what is called and who calls it."""

_ELSEWHERE = re.compile(
    r"(?:\b(?:by|from|than|like|unlike|as|instead of|rather than|replaces?|replaced|before|after|with|against|beside|"
    r"alongside|counterpart of|version of|subclass of|equivalent of|versus|vs\.?|"
    r"when|if|see|also|not|never|and|or|nor|for)"
    r"\s+(?:the\s+|a\s+|an\s+|in\s+|it\s+|its\s+)*"
    r"|(?:[`)\]]|\w*_\w*|\b[a-z]+(?-i:[A-Z])\w*)\s*,\s*|[(/]\s*)$",
    re.IGNORECASE,
)
"""What stands before a name that need not stand where the sentence's place is."""

_LEANS_ON = re.compile(
    r"\b(?:(?:backed|powered|driven|helped|supported|assisted|fed) by"
    r"|(?:works?|deals?|starts?|begins?|ends?|finishes) (?:together )?with|with (?:the )?(?:help|aid|support) of"
    r"|(?:gets?|takes?|obtains?|fetches|receives?|pulls?|draws?|borrows?|built|made|composed)\b[^`,;]{0,25} from)\s+"
    r"(?:the\s+|a\s+|an\s+)?$",
    re.IGNORECASE,
)
"""What stands before a name that the code told of rests on, though a preposition stands there."""

_CALLING = re.compile(
    r"\b(?:call\w*|invo(?:ke|ca)\w*|uses?|using|used|needs?|relies|rely|wraps?|touch\w*|results? of|"
    r"follows?|appl(?:y|ies)|deals? with|works? with|does (?:most|much|all|the rest) of|"
    r"hand(?:s|ed)?|pass(?:es|ed)?|delegat\w*|through|depend\w*|rais\w+|throws?|returns?|reads?|writes?|implementation|body|inside|within)\b",
    re.IGNORECASE,
)
"""Words of sentences that speak of what stands within a definition."""

_GOES_ON = re.compile(
    r"^\W*(?:(?:step|no)\W*\d+\W*|next\W+|and\W+|then\W+|after that\W+)?"
    r"(?:it|its|this|that|there|internally|inside|within|here|then|for (?:its|that|this)|in it|from there|where|"
    r"under the hood|behind the scenes|to (?:do (?:so|that|this)|that end)|on the way|along the way|in doing so|"
    r"(?:most of |all of )?the (?:(?:actual|real|hard|main) )?(?:work|rest|heavy lifting))\b"
    r"|^\W*(?:have a look at|look at|see|note|notice|watch) (?:how|what|where) it\b"
    r"|\bdoes (?:most|much|all|the rest) of (?:the|its) (?:work|job)\b"
    r"|\bits (?:own )?(?:calls|callees|dependenc\w+|helpers?|body|code|implementation)\b",
    re.IGNORECASE,
)
"""How a sentence begins that goes on with what the one before it was about."""

_BOLD = re.compile(
    r"(?:\*\*|^\W*(?:[-*•]|\d+[.)])\s+)(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*)(?:\*\*|(?=\s*[(\[–—:]))"
)
"""A name that is set apart from what is said of it: in bold, or at the head of an item of a list."""
_NOT = re.compile(r"\b(?:not|never|no longer|n't|without|neither|nor)\b|n't\b", re.IGNORECASE)
_JOINED = re.compile(
    r"^\W*(?:(?:is|are|can|may|be|being|been|was|were|has|its|lives?|lies|found|stands?|sits|resides|defined|declared|"
    r"implemented|located|introduced|written|placed|kept|housed|spelt|seen|visible|starts|begins|in|at|on|"
    r"does|do|read|looked|up|studied|spans|covers|occupies|stretches|runs|reaches|over|under|around|to|"
    r"the|file|see|from|within|inside|here|comes|which|method|function|class|definition|home|body|code|source|line|lines)"
    r"\b\W*)*$",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"^\W*(?:(?:that|this|it|we|see|sits|lies|begins|defines?|has|holds?|contains?|declares?|implements?|is|in|the|where|shows?|there|we|find|a|an|"
    r"function|method|class|struct|constant|starts?)\b\W*)*$",
    re.IGNORECASE,
)


class ReferenceFault(Struct, frozen=True):
    """Hallucinated reference, one that is not so: of which kind, what it says, and what is wrong with it, in words."""

    kind: Kind
    text: str
    issue: str


class LookedUp(Struct, frozen=True):
    """References of a text: how many were looked up, and those that are not so."""

    count: int
    faults: tuple[ReferenceFault, ...]


class _Bound(Struct, frozen=True):
    """What a sentence is about: a name, its place, and the lines of the files that place can mean."""

    name: Name
    place: SaidPlace
    meant: list[list[str]]


def look_up(text: str, workspace: WorkspaceText, known: str = "", *, outside: frozenset[str] = frozenset()) -> LookedUp:
    """Hallucination check: every place and identifier of a text, looked up. Blocks: it reads files.

    `known` is text whose names need not stand in the workspace (the question, what was observed elsewhere); files in
    `outside` are no files of it (conversation logs).
    """
    text = _FENCE.sub(" ", bounded(text))
    count = 0
    faults: dict[tuple[str, str], ReferenceFault] = {}
    last: _Bound | None = None
    calls: list[tuple[Name, Name]] = []

    def told(kind: Kind, what: str, issue: str) -> None:
        faults.setdefault((kind, what), ReferenceFault(kind, what, issue))

    said = [(sentence, list(islice(found_places(sentence), MAX_IN_ONE))) for sentence in sentences(text)]
    named = (name for sentence, places in said for name in islice(found_names(sentence, places), MAX_IN_ONE))
    every = (part for name in named for part in telling_parts(name, known))
    wanted = list(dict.fromkeys(every))
    workspace.look_for(wanted[:MAX_NAMES])
    known = "\n".join((known, *wanted[MAX_NAMES:]))  # not looked at, and so not held against anybody
    for sentence, places in said:
        names = list(islice(found_names(sentence, places), MAX_IN_ONE))
        good: list[tuple[SaidPlace, list[tuple[str, list[str]]]]] = []
        for place in places:
            if place.file in outside or (not known_by_name(place.file) and not workspace.files_named(place.file)):
                continue
            count += 1
            found, issue = lines_of(place, workspace)
            if issue:
                told("place", sentence[place.begin : place.end], issue)
            elif found:
                good.append((place, found))
        proposal = _PROPOSAL.search(sentence) is not None
        count += len(names)
        missing = set()
        if not proposal:
            files = list(bare_files(sentence, places))
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
                lost = lost_part(name, workspace, known)
                if lost is not None:
                    missing.add(name)
                    told("name", name.text, f"`{lost}` stands nowhere in the workspace")
        there = [
            name for name in names if name not in missing and (not proposal or not lost_part(name, workspace, known))
        ]
        for kind, what, issue in _misplaced(sentence, there, good):
            told(kind, what, issue)
        if not proposal and not places:
            calls += islice(told_calls(sentence, there), MAX_CALLS)
        if places:
            last = _bound(sentence, there, good)
        elif not _GOES_ON.search(sentence):
            last = None
        elif last is not None and not proposal:
            for kind, what, issue in _not_inside(sentence, there, last):
                told(kind, what, issue)
        if len(faults) >= MAX_FAULTS:
            break
    for caller, called in all_not_called(calls[:MAX_ALL_CALLS], workspace):
        what = f"`{caller.text}` does not call `{called.text}`: it does not stand there"
        told("called name", f"{called.text} {caller.text}", what)
    return LookedUp(count, tuple(faults.values())[:MAX_FAULTS])


def _in_one(name: Name, files: Sequence[str], workspace: WorkspaceText) -> bool:
    """Whether a name stands in one of the files that a path can mean; what cannot be read may have it."""
    return any((lines := workspace.lines(file)) is None or stands(name, "\n".join(lines)) for file in files[:MAX_MEANT])


def _misplaced(
    sentence: str, names: Sequence[Name], places: Sequence[tuple[SaidPlace, list[tuple[str, list[str]]]]]
) -> Iterator[tuple[Kind, str, str]]:
    """Names that do not stand at the place beside them, and names that the code there does not have."""
    for place, files in places:
        beside = _beside(sentence, place, names, [each for each, _ in places]) or _seen_at(
            sentence, place, names, files
        )
        if beside is None:
            continue
        others = [name for name in names if name.end <= beside.begin or name.begin >= beside.end]
        at = f"{place.file}:{shown(place)}"
        meant = [lines for _, lines in files if stands(beside, body_at(place, lines))]
        if not meant:
            yield "name at place", f"{beside.text} {at}", f"`{beside.text}` does not stand at {at}, nor near it"
            continue
        if (owner := _owner(beside, place)) and not any(stands(owner, "\n".join(lines)) for lines in meant):
            yield "name at place", f"{beside.text} {at}", f"`{owner.text}` does not stand in {place.file}"
            continue
        called = _called(sentence, max(place.end, beside.end), others)
        bound = _Bound(beside, place, meant)
        surely = [each for each in (called, _called_by(sentence, beside, others)) if each is not None]
        if surely:
            yield from _not_inside(sentence, surely, bound, surely=True)
        if len(places) == 1:
            yield from _not_inside(sentence, [each for each in others if each not in surely], bound)


def _bound(
    sentence: str, names: Sequence[Name], places: Sequence[tuple[SaidPlace, list[tuple[str, list[str]]]]]
) -> _Bound | None:
    """What a sentence with one place is about, where its name does stand there."""
    if len(places) != 1:
        return None
    place, files = places[0]
    beside = _beside(sentence, place, names, [place]) or _seen_at(sentence, place, names, files)
    meant = [lines for _, lines in files if beside is not None and stands(beside, body_at(place, lines))]
    return _Bound(beside, place, meant) if beside is not None and meant else None


def _not_inside(
    sentence: str, names: Sequence[Name], bound: _Bound, *, surely: bool = False
) -> Iterator[tuple[Kind, str, str]]:
    """Names of a sentence that the code it is about does not have: the definition, or the file.

    A sentence that denies something, and names that are told to be elsewhere, are left alone, but for what is `surely`
    said.
    """
    if not surely and _NOT.search(sentence):
        return
    within = surely or _CALLING.search(sentence) is not None
    at = f"{bound.place.file}:{shown(bound.place)}"
    for name in names if surely else _inside(sentence, names):
        if name.text == bound.name.text:
            continue
        if not any(stands(name, body_at(bound.place, lines) if within else "\n".join(lines)) for lines in bound.meant):
            where = f"in `{bound.name.text}` at {at}" if within else f"in {bound.place.file}, of which that is said"
            yield "called name", f"{name.text} {at}", f"`{name.text}` does not stand {where}"


def _owner(name: Name, place: SaidPlace) -> Name | None:
    """What a qualified name says its last part belongs to, where its file has to name that: no package, no variable."""
    if "(" in name.text or len(name.parts) < 2:
        return None
    owner = name.parts[-2]
    if len(owner) < _LONG_OWNER or owner.islower() or owner.lower() in re.split(r"\W+", place.file.lower()):
        return None
    return Name(owner, name.begin, name.end, (owner,))


def _inside(sentence: str, names: Sequence[Name]) -> Iterator[Name]:
    """Names of a sentence that can only be where its place is: none that is told to be elsewhere."""
    for name in names:
        before = sentence[: name.begin].rstrip("`*")
        if not _ELSEWHERE.search(before) or _LEANS_ON.search(before):
            yield name


def _beside(sentence: str, place: SaidPlace, names: Sequence[Name], places: Sequence[SaidPlace]) -> Name | None:
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


def _seen_at(
    sentence: str, place: SaidPlace, names: Sequence[Name], files: Sequence[tuple[str, list[str]]]
) -> Name | None:
    """What a reader sees to be told of at a place, however it is put: the one name that the first lines there have."""
    if (bold := _bold(sentence, place, files)) is not None:
        return bold
    first = [lines[max(0, place.first - 1) : place.first - 1 + _HEAD] for _, lines in files]
    here = [name for name in names if any(stands(name, "\n".join(lines)) for lines in first)]
    return here[0] if len({name.text for name in here}) == 1 else None


def _bold(sentence: str, place: SaidPlace, files: Sequence[tuple[str, list[str]]]) -> Name | None:
    """What is written bold right before a place and stands there: a name, where a heading might be anything."""
    found = list(_BOLD.finditer(sentence[: place.begin]))
    if not found or not _JOINED.search(sentence[found[-1].end() : place.begin].strip("`")):
        return None
    text = found[-1]["name"]
    name = Name(text, *found[-1].span(), tuple(re.split(r"\.|::|#", text)))
    return name if any(stands(name, body_at(place, lines)) for _, lines in files) else None


def _other_between(places: Sequence[SaidPlace], begin: int, end: int) -> bool:
    return any(begin <= place.begin < end for place in places if place.end != begin and place.begin != end)


def _called_by(sentence: str, name: Name, names: Sequence[Name]) -> Name | None:
    """The name that a sentence says the one it is about calls, told the other way round."""
    before = [each for each in names if each.end <= name.begin]
    if not before:
        return None
    nearest = max(before, key=lambda each: each.end)
    return nearest if _CALLED_BY.search(sentence[nearest.end : name.begin]) else None


def _called(sentence: str, after: int, names: Sequence[Name]) -> Name | None:
    """The name that what stands at a place is said to call, right after it."""
    following = [name for name in names if name.begin >= after]
    if not following:
        return None
    nearest = min(following, key=lambda name: name.begin)
    between = sentence[after : nearest.begin].lstrip(")]`, ")
    return nearest if _CALLS.search(between) and not _NOT.search(between) else None
