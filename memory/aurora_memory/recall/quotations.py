"""Quotations (pasted messages, error texts, log lines, quoted phrases): where what a question says stands word for
word, and who says it: the function, or those that use the constant whose text it is.

No kind is guessed: a message is what stands in a file in the question's order, its values left out. The word index
tells in which few parts most of its rarest words stand; only their files are read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from aurora_memory.chunks import CHUNK_TYPES, MODULE_NAME, type_of
from aurora_memory.recall.constant_uses import users_of
from aurora_memory.recall.declarations import declarations
from aurora_memory.recall.places import is_aside, is_test, is_test_code
from aurora_memory.recall.question import Question
from aurora_memory.store import chunk_reader
from aurora_memory.store.reader import Reader
from aurora_memory.term_counts import LIMITS, SHIFTS
from aurora_memory.tokens import stem_word
from aurora_memory.views import ChunkHead, ChunkView

if TYPE_CHECKING:
    from aurora_memory.bm25 import Entries, Parts

MESSAGE_WORDS = range(3, 61)
"""Words of a message."""

SEVERAL = 4
"""Words of a message that are enough where others are not said: values, and what logs print before it."""

SAYS_IT = "says it"
"""What is told of the definition in which a message stands."""

LONG = 60
"""Lines of a definition beyond which one is led to the line that says a message, and to who uses its key."""

SEVERAL_WORDS = 2
MAX_PIECES = 3
"""Words that a key's stems are more than, one of which is all of it, and pieces of a text that are looked for."""

AS_TYPED = 0.85
"""Share of a message where it is typed as people type a question: in small letters, and nothing else."""

IN_ORDER = 0.7
"""Share of a message's words that stand in order, at least two at a time, where it is said."""

SAID_ALIKE = 0.15
"""How much less of the message than the best one another place may have."""

TELLING = 2
"""Words of a message that tell something, at least."""

RAREST = 5
IN_PART = 0.8
"""Words of a message, the rarest, of which all but one stand in a part that is looked at, and share of all of them."""

ANCHORS = 3
"""Words of a message, the rarest, by which it is looked for in a text."""

DOCUMENTED = 0.9
MAX_DOCUMENTED = 3
"""Share of a question in a chunk's documentation, and how many such are looked at whether they say it."""

SENTENCE_WORDS = 5
VERBATIM = 0.9
"""Words of a question that may be a sentence of documentation, and share of them that stand there in their order: who
asks so has it before them, and what is documented answers first.
"""

MAX_PHRASED = 32
"""Files that are read for a phrase."""

MAX_FILES = 8
MAX_PLACES = 3
MAX_USERS = 3
"""Files that are read for a message, places of it and users of each constant that are answers."""

MAX_USED_IN = 24
"""Files that are read for the users of a constant."""

MAX_SEEN = 60
"""Times that two words are looked for in one file."""

ABOVE = 40
"""Lines above a constant's text in which its name is looked for."""

_PREFIX = re.compile(
    r"(?:\s*(?:\[[^\]\n]{1,60}\]|\d{4}-\d\d-\d\d[T ][\d:.,]+Z?|(?i:error|warn(?:ing)?|info|debug|fatal|critical)\b:?"
    r"|[A-Za-z_][\w.]*(?:Error|Exception|Warning):))+\s*"
)
"""What logs and tracebacks print before a message."""

_VALUE = re.compile(
    r"(?<!\w)(?:'[^'\n]{1,80}'|\"[^\"\n]{1,80}\"|`[^`\n]{1,80}`)(?!\w)"
    r"|\b[a-z][a-z+]*://\S+|(?<![\w/.-])(?:[\w.-]+|\[[\w.:]*)?:\d+\]?(?!\w)|(?<!\S)[#/(]{0,2}\d[\d.,:]*(?!\w)"
)
"""What is filled into a message: what stands in quotation marks, addresses, ports and numbers."""
_APART = re.compile(r"[:=](?=\s)|\n")
_IN_MARKS = re.compile(r"(?<!\w)(?:'([^'\n]{8,300})'|\"([^\"\n]{8,300})\")(?!\w)")
_KEYED = re.compile(r"\s*[\"']?(?P<key>[A-Za-z_]\w*)[\"']?\s*:\s*[\"'`]")
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?;](?=\s)|\n[ \t]*\n")
_OPENING = ('"""', "'''", "`")
_MARKS = ("'", '"', "`")
_COMMENT = re.compile(r"[ \t]*(?:#(?![ \t]*define\b)|//|/\*|\*(?![\w(])|--[ \t]|;)")
"""How a line begins that is a comment: it tells what is done, and is nothing that anybody is told. `*error = …` is
none.
"""

_KEYWORDS = frozenset("const def export final global let local mut pub static val var".split())
_ESCAPED = re.compile(r"\\[abfnrtv]")
_ASSIGNED = re.compile(r"(?P<left>[^=\n]*[\w\]>?][ \t]*):?=(?![=>~])|[ \t]*#[ \t]*define[ \t]+(?P<defined>\w+)")
_BODY = LIMITS["body"] << SHIFTS["body"]
_CODE = CHUNK_TYPES.index("code")


class Quotations(Struct, frozen=True):
    """Quotations found, by row id: `answers` are who says a message, in their order, each with words about it, `lines`
    where remainders do. `is_whole`: it is all of a text.
    """

    answers: Mapping[int, str] = {}
    lines: Mapping[int, int] = {}
    is_whole: bool = False


NONE = Quotations()


class Message(NamedTuple):
    """Message as it may be written in code: its words in lower case, and pairs of neighbours as they stand, which are
    looked for in a text.
    """

    words: Sequence[str]
    pairs: Sequence[str]


class MessagePlace(NamedTuple):
    """Place of a message in a text: the share of its words that stand there in order, and the 1-based line on which
    they begin. `is_whole`: nothing else stands between the same marks.
    """

    share: float
    line: int
    is_whole: bool


def quoted(
    reader: Reader,
    question: Question,
    parts: Parts,
    entries: Mapping[str, Entries],
    likeliest: Sequence[int],
    documented: Sequence[int],
    read: Callable[[str], str],
) -> Quotations:
    """Who says what the question quotes, or what is documented in its words. `likeliest` are the parts that match these
    best, best first; `documented` the chunks whose documentation has most of them (DOCUMENTED).
    """
    documentation = _documentation(reader, documented)
    for documented_chunk, text in documentation.items():
        if _is_sentence_of(text, question.text):
            return Quotations({documented_chunk: ""}, {}, True)
    written = question.text.strip().lower()
    if question.kind == "how" or any(written in text for text in documentation.values()):  # as a rule word for word
        return NONE
    message, places = _places(reader, question, parts, entries, likeliest, list(documentation.values()), read)
    if not places:
        return NONE
    is_beside = {path: is_test(path) or is_aside(path) for path, _ in places}
    places.sort(key=lambda place: (is_beside[place[0]], not place[1].is_whole, -place[1].share))
    first, best = places[0]
    answers: dict[int, str] = {}
    lines: dict[int, int] = {}
    for path, place in places[:MAX_PLACES]:
        if place.share < best.share - SAID_ALIKE or is_beside[path] != is_beside[first]:
            continue
        for chunk, relation in _speakers(reader, path, place.line, message, read):
            answers.setdefault(chunk.id, relation)
            if chunk.name == MODULE_NAME or (relation == SAYS_IT and chunk.line_end - chunk.line_start > LONG):
                lines.setdefault(chunk.id, place.line)
    return Quotations(answers, lines, best.is_whole)


def _places(
    reader: Reader,
    question: Question,
    parts: Parts,
    entries: Mapping[str, Entries],
    likeliest: Sequence[int],
    documentation: Sequence[str],
    read: Callable[[str], str],
) -> tuple[Message, list[tuple[str, MessagePlace]]]:
    """The message that a question is, else the first of its pieces that is one, and the files in which that stands."""
    enough = AS_TYPED if question.is_in_small_letters else IN_ORDER
    for said in dict.fromkeys([message_text(question.text), *pieces_of(question.text)]):
        words = _WORD.findall(said)
        if len(words) not in MESSAGE_WORDS:
            continue
        telling = {term for word in words for term in stem_word(word) if term in entries and term in question.terms}
        rarest = sorted(telling, key=lambda term: (len(entries[term][0]), term))
        message = Message(words, _pairs(said, rarest))
        if len(rarest) < TELLING or any(standing_in(text, message) is not None for text in documentation):
            continue
        heads = _in_parts(reader, parts, [entries[term] for term in rarest], likeliest)
        standing = [(path, standing_in(read(path), message)) for path in _paths(heads)[:MAX_FILES]]
        places = [(path, place) for path, place in standing if place and place.share >= enough]
        if places:
            return message, places
    return Message((), ()), []


def _paths(heads: Sequence[ChunkHead]) -> list[str]:
    return list(dict.fromkeys(head.path for head in heads))


def phrased(
    reader: Reader, question: Question, parts: Parts, likeliest: Sequence[int], read: Callable[[str], str]
) -> dict[int, float]:
    """By row id the share of a question's phrases that stand in a chunk word for word, or are a name in it."""
    found: dict[int, float] = {}
    for phrase in question.phrases:
        holding: set[int] = set()
        pattern = _of_phrase(phrase)
        for path in _with_phrase(reader, parts, phrase, likeliest):
            text = read(path).lower()
            lines = [text.count("\n", 0, each.start()) + 1 for each in islice(pattern.finditer(text), MAX_SEEN)]
            chunks = chunk_reader.of_file(reader, path) if lines else []
            for line in lines:
                if (around := _innermost(chunks, line)) is not None:
                    holding.add(around.id)
        for chunk in holding:
            found[chunk] = found.get(chunk, 0.0) + 1 / len(question.phrases)
    return found


def message_text(text: str) -> str:
    """What of a text a message would have as well, in lower case: without its values (a null in the place of each) and
    what logs print before it.
    """
    said = text.strip()
    if len(said) > 2 and said[0] == said[-1] and said[0] in _MARKS:
        said = said[1:-1]
    bare = (said[found.end() :] if (found := _PREFIX.match(said)) else said).lower()
    # A message may begin with a word that logs print before others, too: `Error processing feed …`.
    for each in (bare, said.lower()):
        fixed = _VALUE.sub("\0", each)
        if len(_WORD.findall(fixed)) >= SEVERAL:
            return fixed
    return bare


def pieces_of(text: str) -> list[str]:
    """Pieces of a text that may be a message each, the longest first, as `message_text` tells them: what stands in
    quotation marks, before and behind a colon. Programs print more around a message, and values behind it.
    """
    if len(_WORD.findall(text)) not in MESSAGE_WORDS:  # a report tells more than a message
        return []
    pieces = [*(found[1] or found[2] for found in _IN_MARKS.finditer(text)), *_APART.split(text)]
    known = [message_text(each) for each in pieces if each != text and len(_WORD.findall(each)) >= SEVERAL]
    return sorted(known, key=lambda each: -len(each))[:MAX_PIECES]


def standing_in(text: str, message: Message) -> MessagePlace | None:
    """Where in a text a message stands, at the place that has most of it; None where none has enough."""
    lowered = text.lower()
    words = list(message.words)
    wanted = set(words)
    width = sum(map(len, words)) + 4 * len(words)
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(words)
    best: MessagePlace | None = None
    for pair in message.pairs:
        end = -1
        for at in _occurrences(lowered, pair):
            if at < end:
                continue
            begin = max(0, at - width)
            window = _ESCAPED.sub("  ", lowered[begin : at + width])
            there = list(_WORD.finditer(window))
            if len(wanted.intersection(each[0] for each in there)) < IN_ORDER * len(wanted):
                continue
            matcher.set_seq1([each[0] for each in there])
            runs = [block for block in matcher.get_matching_blocks() if block.size > 1]
            said = sum(block.size for block in runs)
            share = said / len(words)
            if said < min(SEVERAL, len(words)) or share < IN_ORDER or (best is not None and share <= best.share):
                continue
            start = begin + there[runs[0].a].start()
            end = begin + there[runs[-1].a + runs[-1].size - 1].end()
            if not _COMMENT.match(lowered, lowered.rfind("\n", 0, start) + 1):
                is_whole = share == 1 and lowered[start - 1 : start] in _MARKS and lowered[end : end + 1] in _MARKS
                best = MessagePlace(share, lowered.count("\n", 0, start) + 1, is_whole)
        if best is not None:
            return best
    return None


def constant_at(text: str, line: int, language: str) -> Iterator[str]:
    """The names to which a line of a file's top level may be assigned, the nearest above first."""
    lines = text.split("\n")
    indent = 1 << 16
    for number in range(line, max(0, line - ABOVE), -1):
        written = lines[number - 1] if number <= len(lines) else ""
        own = len(written) - len(written.lstrip())
        found = _ASSIGNED.match(written) if own < indent else None
        if found is None or not _goes_on("\n".join(lines[number - 1 : line - 1])):
            continue
        for name in _WORD.findall(found["defined"] or found["left"]):
            if name not in _KEYWORDS and number in declarations(name, text, language):
                indent = own
                yield name


def _innermost(chunks: Sequence[ChunkView], line: int) -> ChunkView | None:
    """The smallest chunk of a file around a line, its remainder where no other is."""
    holding = [each for each in chunks if each.line_start <= line <= each.line_end]
    return min(holding, key=lambda each: (each.name == MODULE_NAME, each.line_end - each.line_start), default=None)


def _of_phrase(phrase: str) -> re.Pattern[str]:
    """Pattern of words that stand one behind the other, in a text or as a name: `did you mean`, `did_you_mean`."""
    return re.compile(r"[\W_]{0,12}".join(map(re.escape, _WORD.findall(phrase.lower()))))


def _with_phrase(reader: Reader, parts: Parts, phrase: str, likeliest: Sequence[int]) -> list[str]:
    """The files of code in one of whose parts all words of a phrase stand, or its words as one name, the likeliest
    first, of tests last.
    """
    import numpy as np

    words = _WORD.findall(phrase)
    terms = dict.fromkeys(term for word in words for term in stem_word(word))
    joined = stem_word("_".join(words))[-1]
    entries = reader.words.entries([*terms, joined])
    holding = [entries[joined][0]] if joined in entries else []
    if all(term in entries for term in terms):
        holding.append(reduce(np.intersect1d, [entries[term][0] for term in terms]))
    if not holding:
        return []
    numbers = np.unique(np.concatenate(holding)).astype(np.intp)
    numbers = numbers[numbers < len(parts.chunks)]
    numbers = numbers[(parts.types[numbers] == _CODE) & (parts.chunks[numbers] != 0)]
    ranks = {part: n for n, part in enumerate(likeliest)}
    ordered = sorted(numbers.tolist(), key=lambda part: ranks.get(part, len(ranks)))[: 4 * MAX_PHRASED]
    order = {chunk: n for n, chunk in enumerate(dict.fromkeys(parts.chunks[ordered].tolist()))}
    heads = sorted(
        chunk_reader.heads(reader, list(order)), key=lambda head: (is_test_code(head.path, head.name), order[head.id])
    )
    return _paths(heads)[:MAX_PHRASED]


def _goes_on(text: str) -> bool:
    """Whether what begins in a text ends behind it: a bracket or a string is open, or its line is continued."""
    is_open = sum(map(text.count, "([{")) > sum(map(text.count, ")]}"))
    return not text or is_open or any(text.count(marks) % 2 for marks in _OPENING) or text.endswith("\\")


def _speakers(
    reader: Reader, path: str, line: int, message: Message, read: Callable[[str], str]
) -> Iterator[tuple[ChunkView, str]]:
    """Who says what stands on a line: the innermost definition around it, else those that use the constant whose text
    it is, or the key of that text in a long table, then the remainder; nobody where it is documentation.
    """
    around = _innermost(chunk_reader.of_file(reader, path), line)
    if around is None or standing_in(around.docstring, message) is not None:
        return
    is_long = around.name == MODULE_NAME or around.line_end - around.line_start > LONG
    if is_long and (key := _key_at(read(path), line)):
        elsewhere = [each for each, _ in users_of(reader, key, {path}, read, MAX_USED_IN) if each.path != path]
        yield from ((each, f"uses {key}") for each in elsewhere[:MAX_USERS])
    if around.name == MODULE_NAME:
        for name in constant_at(read(path), line, around.language):
            users = users_of(reader, name, {path}, read, MAX_USED_IN)[:MAX_USERS]
            yield from ((chunk, f"uses {name}") for chunk, _ in users)
            if users:
                break
    yield around, SAYS_IT


def _key_at(text: str, line: int) -> str | None:
    """The key of a table of messages, of several words, whose text begins on a line: `CannotSave: "It cannot …"`."""
    written = text.split("\n", line)[line - 1]
    found = _KEYED.match(written)
    return found["key"] if found is not None and len(stem_word(found["key"])) > SEVERAL_WORDS else None


def _documentation(reader: Reader, documented: Sequence[int]) -> dict[int, str]:
    """The documentation of code, but for tests, that may say what the question says, by row id: nobody is told that."""
    chunks = chunk_reader.by_id(reader, documented[:MAX_DOCUMENTED]).values() if documented else ()
    return {
        each.id: each.docstring.lower() for each in chunks if type_of(each.kind) == "code" and not is_test(each.path)
    }


def _is_sentence_of(text: str, asked: str) -> bool:
    """Whether nearly all words of a question stand in one sentence of a text in their order, in whichever forms."""
    wanted = _stems(asked)
    if len(wanted) < SENTENCE_WORDS:
        return False
    for sentence in _SENTENCE_END.split(text):
        said = _stems(sentence)
        if len(set(wanted) & set(said)) >= VERBATIM * len(set(wanted)):
            blocks = SequenceMatcher(None, said, wanted, autojunk=False).get_matching_blocks()
            if sum(block.size for block in blocks) >= VERBATIM * len(wanted):
                return True
    return False


def _stems(text: str) -> list[str]:
    return [stems[-1] for word in _WORD.findall(text) if (stems := stem_word(word))]


def _pairs(said: str, rarest: Sequence[str]) -> list[str]:
    """Neighbours in a message, as they stand, that begin or end with a word of one of its rarest terms."""
    words = list(_WORD.finditer(said))
    telling = [n for term in rarest[:ANCHORS] for n, word in enumerate(words) if term in stem_word(word[0])]
    ends = dict.fromkeys(
        pair for n in telling for pair in ((n - 1, n), (n, n + 1)) if pair[0] >= 0 and pair[1] < len(words)
    )
    pairs = [said[words[one].start() : words[other].end()] for one, other in ends]
    return [pair for pair in pairs if "\0" not in pair and "\n" not in pair]


def _in_parts(reader: Reader, parts: Parts, standing: Sequence[Entries], likeliest: Sequence[int]) -> list[ChunkHead]:
    """The chunks of code in one of whose parts, but not only in its documentation, most of some terms stand, and all
    but one of the rarest; the likeliest first, of tests last. `standing` are where each term stands, the rarest first.
    """
    import numpy as np

    rarest = min(RAREST, len(standing))
    enough = rarest - (rarest == RAREST)
    some = [numbers for numbers, _ in standing[: 1 + rarest - enough]]  # what has enough has one of these
    numbers = some[0] if len(some) == 1 else np.union1d(*some)
    numbers = numbers[: numbers.searchsorted(len(parts.chunks))]
    often = np.zeros(len(numbers), dtype=np.int16)
    for n, (there, counts) in enumerate(standing):
        at = np.minimum(there.searchsorted(numbers), len(there) - 1)
        often += (there[at] == numbers) & ((counts[at] & _BODY) != 0)
        if n + 1 == rarest:
            kept = often >= enough
            if not kept.any():
                return []
            numbers, often = numbers[kept], often[kept]
    places = numbers[often >= math.ceil(IN_PART * len(standing))].astype(np.intp)
    places = places[(parts.types[places] == _CODE) & (parts.chunks[places] != 0)]
    if not len(places):
        return []
    ranks = {part: n for n, part in enumerate(likeliest)}
    ordered = sorted(places.tolist(), key=lambda part: ranks.get(part, len(ranks)))[: 4 * MAX_FILES]
    order = {chunk: n for n, chunk in enumerate(dict.fromkeys(parts.chunks[ordered].tolist()))}
    return sorted(
        chunk_reader.heads(reader, list(order)), key=lambda head: (is_test_code(head.path, head.name), order[head.id])
    )


def _occurrences(text: str, words: str) -> Iterator[int]:
    at = text.find(words)
    for _ in range(MAX_SEEN):
        if at < 0:
            return
        yield at
        at = text.find(words, at + 1)
