"""Fault injection: answers about a repository that are true, and the same with one fault planted, of a kind that is
known.

True answers are put together from what the parser finds: definitions, their lines, what they call, their docstrings'
first sentences (prose that people wrote), in forms that people and models write, some of them awkward on purpose: bare
file names, ranges, proposals of what is not there yet, conditions that look like contradictions. The checks see neither
the facts nor the fault. Agents' summaries say what the answer says, so that only the repository can tell.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from aurora_indexer.files.ignore import IgnoreRules
from aurora_indexer.files.scan import known_by_name, walk
from aurora_indexer.languages import for_path
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.references import look_up
from aurora_orchestration.soar.verify_synthesis import precheck
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import AgentResponse, Output, Subgoal, SubgoalResult, Verification
from tests.benchmarks.answer_phrases import DEVELOPMENT, Phrases

MAX_FILES = 250
MAX_BYTES = 200_000
FAR = 12
"""Lines by which a wrong place is off at least."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z ,'-]{15,110}\.")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Fact(Struct, frozen=True):
    """Definition of a repository: qualified name, place, what it calls, and its docstring's first sentence."""

    name: str
    file: str
    first: int
    last: int
    calls: tuple[str, ...]
    told: str

    @property
    def short(self) -> str:
        """Its own name."""
        return re.split(r"\.|::|#", self.name)[-1]


class Case(Struct, frozen=True):
    """Question, answer as its sentences, the facts it tells, and the kind of fault in it ("" for none)."""

    question: str
    sentences: tuple[str, ...]
    facts: tuple[Fact, ...]
    kind: str = ""
    planted: str = ""

    @property
    def answer(self) -> str:
        """The answer as text."""
        return "".join(each + (" " if each.endswith(".") else "\n") for each in self.sentences).strip()


class Repository:
    """Facts of the repository at `root`: those of at most `MAX_FILES` files, by a seeded choice."""

    def __init__(self, root: Path, seed: int = 0) -> None:
        self.text = WorkspaceText(root)
        chance = random.Random(f"{root.name}/{seed}")
        files = sorted(
            folder.folder.prefix + entry.name
            for folder in walk(IgnoreRules(root))
            for entry in folder.files
            if known_by_name(entry.name) and for_path(entry.name) is not None
        )
        chance.shuffle(files)
        self.facts = [fact for file in files[:MAX_FILES] for fact in self._facts(root, file)]

    def _facts(self, root: Path, file: str) -> Iterator[Fact]:
        lines = self.text.lines(file)
        path = root / file
        if lines is None or path.stat().st_size > MAX_BYTES:
            return
        for chunk in parse_file(file, path.read_bytes()).chunks:
            body = "\n".join(lines[chunk.line_start - 1 : chunk.line_end])
            own = re.split(r"\.|::|#", chunk.name)[-1]
            if chunk.kind not in ("function", "method", "class") or not _IDENTIFIER.match(own) or len(own) < 4:
                continue
            if not re.search(rf"\b{re.escape(own)}\b", "\n".join(lines[chunk.line_start - 1 : chunk.line_start + 2])):
                continue
            calls = tuple(
                dict.fromkeys(
                    each.name
                    for each in chunk.references
                    if each.kind == "calls"
                    and len(each.name) > 4
                    and each.name != own
                    and _IDENTIFIER.match(each.name)
                    and re.search(rf"\b{re.escape(each.name)}\b", body)
                )
            )
            told = _PLAIN.match(chunk.docstring.strip()) if chunk.docstring else None
            yield Fact(chunk.name, file, chunk.line_start, chunk.line_end, calls[:6], told[0] if told else "")

    def lines_of(self, fact: Fact) -> list[str]:
        """The lines of the file that a fact is of."""
        return self.text.lines(fact.file) or []


def true_cases(repository: Repository, count: int, seed: int, phrases: Phrases = DEVELOPMENT) -> Iterator[Case]:
    """So many answers that hold; the same ones for the same seed."""
    chance = random.Random(seed)
    rich = [fact for fact in repository.facts if fact.calls]
    for _ in range(count if len(rich) > 3 else 0):
        facts: list[Fact] = []
        while len(facts) < chance.choice((2, 2, 3)):
            fact = chance.choice(rich)
            if fact.short not in {each.short for each in facts}:
                facts.append(fact)
        names = [f"`{fact.short}`" for fact in facts]
        question = chance.choice(phrases.questions).format(", ".join(names[:-1]), names[-1])
        sentences: list[str] = []
        for fact in facts:
            sentences += _told(fact, repository, chance, phrases)
        if chance.random() < 0.5:
            sentences.append(_of(chance.choice(phrases.awkward), chance.choice(facts), chance))
        yield Case(question, tuple(sentences), tuple(facts))


def _told(fact: Fact, repository: Repository, chance: random.Random, phrases: Phrases) -> list[str]:
    """Sentences about a fact, all of them so."""
    bare = fact.file.rpartition("/")[2]
    unique = len(repository.text.files_named(bare)) == 1 and "/" in fact.file
    file = bare if unique and chance.random() < 0.25 else fact.file
    found = [_of(chance.choice(phrases.told), fact, chance, file=file)]
    if fact.told:
        found.append(_of(chance.choice(phrases.docs), fact, chance))
    if len(fact.calls) > 1 and chance.random() < 0.5:
        found.append(_of(chance.choice(phrases.more), fact, chance))
    return found


def _of(phrase: str, fact: Fact, chance: random.Random, *, file: str = "", **more: str) -> str:
    """A phrase about a fact."""
    file = file or fact.file
    line, span = f"{file}:{fact.first}", f"{file}:{fact.first}-{fact.last}"
    calls = chance.sample(fact.calls, min(2, len(fact.calls)))
    return phrase.format(
        n=fact.name if chance.random() < 0.4 and "." in fact.name else fact.short,
        s=fact.short,
        p=span if chance.random() < 0.5 and fact.last > fact.first else line,
        f=file,
        l=fact.first,
        e=fact.last,
        c=calls[0],
        d=calls[-1],
        t=fact.told,
        **more,
    )


def _wrong_line(case: Case, repository: Repository, chance: random.Random, phrases: Phrases) -> Case | None:
    """A place moved elsewhere in its file, or beyond its end."""
    for fact in chance.sample(case.facts, len(case.facts)):
        lines = repository.lines_of(fact)
        bare = re.escape(fact.file.rpartition("/")[2])
        match = re.search(
            rf"(?P<before>{bare}(?::|#L|, lines? )|line (?={fact.first} of)){fact.first}"
            rf"(?P<after>(?:-L?| to ){fact.last}\b)?(?!\d)",
            case.answer,
        )
        if match is None:
            continue
        if chance.random() < 0.3:
            first = len(lines) + chance.randint(1, 5_000)
        else:
            free = [
                number
                for number in range(1, len(lines) + 1)
                if not fact.first - FAR <= number <= fact.last + FAR
                and not re.search(rf"\b{fact.short}\b", "\n".join(lines[max(0, number - 1 - FAR) : number + FAR]))
            ]
            if not free:
                continue
            first = chance.choice(free)
        # A block there that has the name further down would be a place of it.
        if first <= len(lines) and re.search(rf"\b{fact.short}\b", "\n".join(lines[first - 1 : first + 400])):
            continue
        after = (match["after"] or "").replace(str(fact.last), str(first))
        return _changed(case, match[0], f"{match['before']}{first}{after}", "wrong line")
    return None


def _wrong_name(case: Case, repository: Repository, chance: random.Random, phrases: Phrases) -> Case | None:
    """Another real name where a place is told."""
    fact = chance.choice(case.facts)
    lines = repository.lines_of(fact)
    near = "\n".join(lines[max(0, fact.first - 1 - FAR) : fact.last + FAR])
    others = [
        each.short
        for each in chance.sample(repository.facts, min(40, len(repository.facts)))
        if not re.search(rf"\b{each.short}\b", near)
    ]
    sentence = next(
        (each for each in case.sentences if f":{fact.first}" in each or f"line {fact.first} " in each), None
    )
    told = re.search(rf"`(?:[\w.:#]*\b)?{fact.short}(\(\))?`", sentence or "")
    if not others or sentence is None or told is None:
        return None
    changed = sentence.replace(told[0], f"`{others[0]}{told[1] or ''}`")
    return _changed(case, sentence, changed, "wrong name")


def _wrong_call(case: Case, repository: Repository, chance: random.Random, phrases: Phrases) -> Case | None:
    """Another real name where a call is told with its place."""
    for sentence in case.sentences:
        fact = next((each for each in case.facts if re.search(rf"(?::|#L|lines? ){each.first}\b", sentence)), None)
        called = next((call for call in fact.calls if f"`{call}" in sentence), None) if fact is not None else None
        if fact is None or called is None:
            continue
        body = "\n".join(repository.lines_of(fact)[max(0, fact.first - 1 - FAR) : fact.last + FAR])
        others = [
            each.short
            for each in chance.sample(repository.facts, min(40, len(repository.facts)))
            if not re.search(rf"\b{each.short}\b", body)
        ]
        if others:
            return _changed(case, sentence, sentence.replace(f"`{called}", f"`{others[0]}"), "wrong call")
    return None


def _contradiction(case: Case, repository: Repository, chance: random.Random, phrases: Phrases) -> Case | None:
    """A sentence that denies another one, somewhere after it."""
    fact = chance.choice(case.facts)
    count = chance.randint(2, 9)
    what = chance.choice(("result", "reply", "template", "connection", "token list"))
    pair = chance.choice(phrases.contradictions)
    state = chance.getstate()
    one, other = "", ""
    for each in pair:
        chance.setstate(state)  # both name the same call
        said = _of(each, fact, chance, w=what, k=str(count), m=str(count + 2))
        one, other = (said, other) if not one else (one, said)
    at = chance.randint(1, len(case.sentences))
    sentences = (*case.sentences[:at], one, *case.sentences[at:], other)
    return replace(case, sentences=sentences, kind="contradiction", planted=f"{one} {other}")


def _missing_part(case: Case, repository: Repository, chance: random.Random, phrases: Phrases) -> Case | None:
    """Nothing any more of one thing that was asked for."""
    fact = chance.choice(case.facts)
    kept: list[str] = []
    theirs = False
    for sentence in case.sentences:
        named = [each for each in case.facts if re.search(rf"\b{each.short}\b", sentence)]
        theirs = fact in named if named else theirs
        if not theirs:
            kept.append(sentence)
    if not kept or re.search(rf"\b{fact.short}\b", " ".join(kept), re.IGNORECASE):
        return None
    return replace(case, sentences=tuple(kept), kind="missing part", planted=fact.short)


def _invented(case: Case, repository: Repository, chance: random.Random, phrases: Phrases) -> Case | None:
    """A name that is nowhere, made of names that are somewhere: as a call, an argument, a method, a file."""
    fact, other = chance.choice(case.facts), chance.choice(repository.facts)
    name = chance.choice((f"{fact.short}_{other.short}", f"{other.short}With{fact.short[:1].upper()}{fact.short[1:]}"))
    if repository.text.has(name):
        return None
    folder = fact.file.rpartition("/")[0] or "src"
    sentence = _of(chance.choice(phrases.inventions), fact, chance, i=name, o=other.short, g=folder)
    at = chance.randint(1, len(case.sentences))
    return replace(
        case, sentences=(*case.sentences[:at], sentence, *case.sentences[at:]), kind="invented API", planted=sentence
    )


def _changed(case: Case, old: str, new: str, kind: str) -> Case | None:
    sentences = tuple(each.replace(old, new, 1) for each in case.sentences)
    if sentences == case.sentences:
        return None
    return replace(case, sentences=sentences, kind=kind, planted=f"{old} → {new}")


Plant = Callable[[Case, Repository, random.Random, Phrases], Case | None]
PLANTS: dict[str, Plant] = {
    "wrong line": _wrong_line,
    "wrong name": _wrong_name,
    "wrong call": _wrong_call,
    "contradiction": _contradiction,
    "missing part": _missing_part,
    "invented API": _invented,
}


def faulty_cases(repository: Repository, count: int, seed: int, phrases: Phrases = DEVELOPMENT) -> Iterator[Case]:
    """So many answers with one fault each, every kind as often as it can be planted."""
    chance = random.Random(seed)
    cases = list(true_cases(repository, count, seed + 1, phrases))
    for number, case in enumerate(cases):
        for kind in (list(PLANTS)[(number + turn) % len(PLANTS)] for turn in range(len(PLANTS))):
            planted = PLANTS[kind](case, repository, chance, phrases)
            if planted is not None:
                yield planted
                break


def verified(case: Case, workspace: WorkspaceText, settings: ScoringSettings | None = None) -> Verification:
    """The verdict on a case by rules alone, without a model."""
    subgoal = Subgoal(id="SG1", description=case.question, agent="llm-executor")
    output = Output(summary=case.answer, confidence=0.9)
    response = AgentResponse(subgoal_id="SG1", agent_id="llm-executor", status="success", output=output)
    looked_up = look_up(case.answer, workspace, case.question)
    return precheck(
        case.question,
        (SubgoalResult(subgoal=subgoal, response=response),),
        case.answer,
        (),
        settings or ScoringSettings(),
        looked_up=looked_up,
    )


def found_out(case: Case, workspace: WorkspaceText) -> bool:
    """Whether a case's answer is told to be wrong: it scores below what is kept as a pattern, and says why."""
    settings = ScoringSettings()
    found = verified(case, workspace, settings)
    return found.overall_score < settings.cache_threshold and any(check.issues for check in found.checks.values())
