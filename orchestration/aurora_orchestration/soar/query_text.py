"""Query text, tokenized (sentences, clauses, words), and its shape, for the keyword tier and the signals. Pure.

Code is not wording: `list_users`, `src/security/token.py`, what stands in backquotes, code blocks and stack traces are
counted as identifiers and lines of code, and no keyword is looked for in them.
"""

from __future__ import annotations

import re

from msgspec import Struct

MAX_READ = 20_000
"""Characters of a question that are looked at; what makes it complex stands before that, or its length already does."""

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_TRACE_LINE = re.compile(
    r"""^(?:[ \t]*File\s".*|[ \t]+at\s\S.*|Traceback\s\(most.*|[ \t]*Caused\ by:.*|goroutine\s\d+.*|panic:.*
    |[ \t]+\S*\.(?:py|go|rs|js|ts|java):\d+.*
    |[\w.]*(?:Error|Exception|Warning)\b:?.*)$""",
    re.VERBOSE | re.MULTILINE,
)
_INLINE_CODE = re.compile(r"`[^`\n]{1,200}`")
_QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|(?<!\w)'[^'\n]{1,300}'(?!\w)")
_IDENTIFIER = re.compile(
    r"""(?<![\w/])(?:
        [~./]{0,2}[\w@-]+(?:/[\w@.*{}:-]+)+/?       # a path
      | /[\w.{}:-]+(?:/[\w.{}:-]+)*/?               # a route
      | [\w-]+\.(?:py|tsx?|jsx?|go|rs|java|kt|rb|c|h|cpp|cs|php|swift|sql|sh|ya?ml|json|toml|md|txt|html?|css)\b
      | [A-Za-z_]\w*(?:(?:\.|::|\#)[A-Za-z_]\w*)*\(\)?  # a call
      | [A-Za-z_]\w+(?:(?:\.|::|\#)[A-Za-z_]\w+)+   # qualified
      | [A-Za-z]\w*_\w+ | _\w+                      # snake_case
      | [a-z]+[a-z0-9]*[A-Z]\w* | [A-Z][a-z0-9]+[A-Z]\w*   # camelCase, PascalCase
      | --?[a-z][\w-]*                              # a flag
    )""",
    re.VERBOSE,
)
_WORD = re.compile(r"[^\W_]+(?:['.+][^\W_]+)*[+#]*")
_CLAUSE = re.compile(r"[,()]|\s[-–—]+\s|\b(?:and then|and|then|finally|afterwards|plus)\b", re.IGNORECASE)
_PIECE = re.compile(r"\S+")
_MAX_PIECE = 120
_NUMBERED = re.compile(r"(?m)(?:^|\s)(?:\(?\d{1,2}[.)]|[-*•])\s+\S")
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_TRACE = re.compile(r'(?m)^[ \t]*File ".+", line \d+|^[ \t]+at \S+.*[:(]|^Traceback \(most|^panic:|^goroutine \d')
_URL = re.compile(r"https?://\S+")

SPELLINGS = {
    "what's": "what is",
    "whats": "what is",
    "where's": "where is",
    "who's": "who is",
    "how's": "how is",
    "that's": "that is",
    "it's": "it is",
    "isn't": "is not",
    "doesn't": "does not",
    "don't": "do not",
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "didn't": "did not",
    "wasn't": "was not",
    "i'm": "i am",
    "i'd": "i would",
    "we're": "we are",
    "let's": "let us",
    "analyse": "analyze",
    "optimise": "optimize",
    "behaviour": "behavior",
}
"""Written otherwise, meant alike."""

_FILLERS = frozenset(
    """please pls plz hi hey hello so ok okay well now then also and but just quick question could can would you i we
    want need to like help me us kindly maybe actually aurora dear team must urgent urgently""".split()
)
"""Words before what is asked for; "can you" counts, "can I" asks something."""

_ASKING = ("can", "could", "would")


class Clause(Struct, frozen=True):
    """A part of a sentence, its words lower-cased; `opening` are those from where the asking begins."""

    words: tuple[str, ...]

    @property
    def opening(self) -> tuple[str, ...]:
        """The words without greetings, "please", "can you", "I want to" before them."""
        start = 0
        while start < len(self.words):
            word, after = self.words[start], self.words[start + 1 : start + 2]
            if word == "have" and after == ("to",):
                start += 1
            elif word not in _FILLERS or (word in _ASKING and after != ("you",)):
                break
            start += 1
        return self.words[start:]


class Sentence(Struct, frozen=True):
    """A sentence by its clauses, and whether it ends in a question mark."""

    clauses: tuple[Clause, ...]
    asks: bool

    @property
    def words(self) -> tuple[str, ...]:
        """All its words, without those that joined the clauses."""
        return tuple(word for clause in self.clauses for word in clause.words)


class QueryReading(Struct, frozen=True):
    """Parts of a question. `code_lines` are lines of code blocks and stack traces, `steps` numbered or listed
    items, `identifiers` distinct names of code; `words` are all the words of its prose."""

    sentences: tuple[Sentence, ...]
    words: tuple[str, ...]
    identifiers: tuple[str, ...]
    code_lines: int
    has_trace: bool
    steps: int
    questions: int


def read(query: str) -> QueryReading:
    """Read a question; anything is a question, the empty text too."""
    prose = query[:MAX_READ]
    fences = _FENCE.findall(prose)
    prose = _FENCE.sub("\n", prose)
    traces = _TRACE_LINE.findall(prose) if _TRACE.search(prose) else []
    if traces:
        prose = _TRACE_LINE.sub("\n", prose)
    steps = len(_NUMBERED.findall(prose))
    prose = _QUOTED.sub(" ", _URL.sub(" ", prose))
    identifiers = [code.strip("`") for code in _INLINE_CODE.findall(prose)]
    prose = _INLINE_CODE.sub(" ", prose)
    named, prose = _names(prose)
    identifiers += named
    sentences = tuple(sentence for part in _SENTENCE.split(prose) if (sentence := _sentence(part)).clauses)
    return QueryReading(
        sentences=sentences,
        words=_words(prose),
        identifiers=tuple(dict.fromkeys(identifiers)),
        code_lines=sum(fence.count("\n") for fence in fences) + len(traces),
        has_trace=bool(traces) or any(_TRACE.search(fence) for fence in fences),
        steps=steps if steps > 1 else 0,
        questions=sum(sentence.asks for sentence in sentences),
    )


def _names(prose: str) -> tuple[list[str], str]:
    """The names of code within `prose`, and `prose` without them. Looked for piece by piece, each of bounded length."""
    found: list[str] = []

    def take(match: re.Match[str]) -> str:
        piece = match.group()
        if len(piece) > _MAX_PIECE:
            found.append(piece[:_MAX_PIECE])
            return " "
        found.extend(_IDENTIFIER.findall(piece))
        return _IDENTIFIER.sub(" ", piece)

    return found, _PIECE.sub(take, prose)


def _sentence(text: str) -> Sentence:
    clauses = tuple(Clause(words) for part in _CLAUSE.split(text) if (words := _words(part)))
    return Sentence(clauses, text.rstrip().endswith("?"))


def _words(text: str) -> tuple[str, ...]:
    """Tokenizer: words in small letters, spellings normalized (contractions)."""
    found: list[str] = []
    for match in _WORD.finditer(text.lower().replace("’", "'")):
        found.extend(SPELLINGS.get(match.group(), match.group()).split())
    return tuple(found)
