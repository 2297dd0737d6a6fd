"""Semantic tags (topic classification, keyword extraction) without a language model: role, domain and five to seven
keywords (AURORA §6.3.7).

Everything here is a pure function of words and the tables in `tag_lexicon`: the same chunk always gets the same tags.
Tags are computed when a document is read or made; none are stored for code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from aurora_memory.chunks import MODULE_NAME
from aurora_memory.stopwords import STOP_WORDS
from aurora_memory.tag_lexicon import ACTIONS, AGENT_NOUNS, DOMAINS, GENERAL, KIND_ROLES, SPEAKING_NOUNS, WHOLE_ROLES
from aurora_memory.tokens import MAX_WORD, split_word, stem_word, terms

MAX_KEYWORDS = 7
TELLING = 2.0
"""The least score that makes a domain: a word of the name will do, a lone word of the path or of a call will not."""

MAX_TEXT = 200_000
"""Characters of a text that are looked at; what it is about is said by then."""

MAX_ROLE = 80

_WORD = re.compile(r"[^\W\d]\w*")
_ANY_WORD = re.compile(r"[^\W_]\w*")
_CLASS_LIKE = frozenset({"class", "interface", "struct", "trait", "enum", "type", "namespace"})
_REASONING_ROLE = "decomposition-pattern"
_KNOWLEDGE_ROLE = "knowledge"
_SECURITY = "security"
"""The domain that is a compliance tag as well."""


class Tags(Struct, frozen=True):
    """Semantic tags of a chunk: role (`token-validator`), domain, and the words that tell it best, best first."""

    semantic_role: str
    domain: str
    keywords: tuple[str, ...]


def code_tags(
    name: str, kind: str, path: str, docstring: str = "", keywords: Sequence[str] = (), calls: Iterable[str] = ()
) -> Tags:
    """Tags of a code chunk. `name` is qualified with dots; `keywords` are those the indexer chose."""
    leaf = name.rpartition(".")[2] if name != MODULE_NAME else _stem_of(path)
    domain = domain_of(
        (
            (leaf, 3.0),
            (" ".join(keywords), 2.0),
            (name.rpartition(".")[0], 2.0),
            (path, 1.5),
            (docstring[:400], 1.0),
            (" ".join(list(calls)[:100]), 1.0),
        )
    )
    return Tags(_code_role(name, kind, path), domain, tuple(dict.fromkeys(keywords))[:MAX_KEYWORDS])


def reasoning_tags(query: str, texts: Iterable[str] = ()) -> Tags:
    """Tags of a way of working: the question counts most, `texts` (subgoals, tools) fill up."""
    texts = list(texts)
    asked = _asked(query)[0]
    found = keywords_of(query, texts, silent=frozenset({asked})) or keywords_of(query, texts)
    topic = topic_of(query) or found
    domain = domain_of(((query, 3.0), (" ".join(texts), 1.0)))
    return Tags(_spelled((*topic[:1], _REASONING_ROLE)), domain, found)


def knowledge_tags(topic: str, texts: Iterable[str] = ()) -> Tags:
    """Tags of facts on a topic."""
    texts = list(texts)
    found = keywords_of(topic, texts)
    domain = domain_of(((topic, 3.0), (" ".join(texts), 1.0)))
    return Tags(_spelled((*(topic_of(topic) or found)[:2], _KNOWLEDGE_ROLE)), domain, found)


def keywords_of(
    title: str, texts: Iterable[str] = (), limit: int = MAX_KEYWORDS, silent: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Keyword extraction: the words that tell a text best, by how often they stand in it; those of its title count four
    times.

    Of words with one stem the one seen first stands for all; ties keep the order of the text. `silent` are stems that
    tell nothing here.
    """
    spelled: dict[str, str] = {}
    scores: dict[str, float] = {}
    left = MAX_TEXT
    for text, weight in ((title, 4.0), *((text, 1.0) for text in texts)):
        for word in _WORD.findall(text[:left]):
            for piece, stem in _telling(word):
                if stem not in silent:
                    spelled.setdefault(stem, piece)
                    scores[stem] = scores.get(stem, 0.0) + weight
        left -= min(left, len(text))
    return tuple(spelled[stem] for stem in sorted(scores, key=scores.__getitem__, reverse=True)[:limit])


def domain_of(weighted: Iterable[tuple[str, float]]) -> str:
    """The domain most of the words speak for, `general` where none is told. Each distinct term counts once a text."""
    table = _stemmed(_DOMAINS)
    scores = dict.fromkeys(DOMAINS, 0.0)
    for text, weight in weighted:
        for term in dict.fromkeys(terms(text[:MAX_TEXT])):
            for domain in table.get(term, ()):
                scores[domain] += weight
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] >= TELLING else GENERAL


def compliance_of(domain: str) -> tuple[str, ...]:
    """The compliance tags that a chunk of a domain has by that alone."""
    return (_SECURITY,) if domain == _SECURITY else ()


def pattern_name(query: str) -> str:
    """Name for the way of answering a question: `oauth2-authentication-implementation`. Never empty."""
    return _spelled((*topic_of(query)[:3], _asked(query)[1])) or "query"


def topic_of(query: str) -> tuple[str, ...]:
    """The telling words of a question, without the one that says what is to be done, in order, none twice."""
    asked = _asked(query)[0]
    found: dict[str, str] = {}
    for word in _WORD.findall(query[:MAX_TEXT]):
        for piece, stem in zip(_pieces(word), _stems(word), strict=True):
            if _says_something(piece) and stem != asked:
                found.setdefault(stem, piece)
    return tuple(found.values())


def stems_of(text: str) -> set[str]:
    """The stem of each word of a text as people count words (`OAuth2` and `oauth2` are one), without everyday words."""
    words = (word for word in _ANY_WORD.findall(text[:MAX_TEXT]) if len(word) <= MAX_WORD)
    pairs = ((piece, stem) for word in words for piece, stem in zip(_pieces(word), _stems(word), strict=True))
    return {stem for piece, stem in pairs if piece not in STOP_WORDS}


def _asked(query: str) -> tuple[str, str]:
    """Action that a question wants done: the stem of the first word that says so, and the action's name; else empty."""
    actions = _stemmed(_ACTIONS)
    return next(((term, actions[term][0]) for term in terms(query[:MAX_TEXT]) if term in actions), ("", ""))


def _code_role(name: str, kind: str, path: str) -> str:
    """Role of a code chunk (`token-validator`), by the naming conventions of its kind."""
    file = _stem_of(path)
    if name == MODULE_NAME or kind == "module":
        return _spelled((*_pieces(file), "module"))
    outer, _, leaf = name.rpartition(".")
    whole = _stemmed(_WHOLE_ROLES).get(leaf.lower().strip("_"))
    words = [word for part in _WORD.findall(leaf) for word in _pieces(part)]
    around = [word for part in _WORD.findall(outer.rpartition(".")[2]) for word in _pieces(part)]
    if whole:
        role = whole[0]
        return role if role.endswith("handler") else _spelled((*around[-2:], role))
    if kind in _CLASS_LIKE:
        telling = bool(words) and (words[-1] in AGENT_NOUNS or words[-1] in SPEAKING_NOUNS)
        return _spelled((*words[-3:], "" if telling else KIND_ROLES[kind])) or kind
    if words and words[0] == "test":
        return _spelled((*words[1:4], "test"))
    noun = _stemmed(_AGENT_NOUNS).get(_stems(words[0])[0], ("",))[0] if words else ""
    if not noun:
        return _spelled((*words[-3:], KIND_ROLES.get(kind, kind))) or kind
    thing = [word for word in words[1:] if word not in _JOINTS][:2] or around[-2:] or list(_pieces(file))[-2:]
    return _spelled((*thing, noun))


_JOINTS = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "with"}
)

_DOMAINS, _ACTIONS, _AGENT_NOUNS, _WHOLE_ROLES = "domains", "actions", "agent nouns", "whole roles"
_TABLES: Mapping[str, Mapping[str, str]] = {
    _DOMAINS: DOMAINS,
    _ACTIONS: ACTIONS,
    _AGENT_NOUNS: AGENT_NOUNS,
    _WHOLE_ROLES: WHOLE_ROLES,
}


@cache
def _stemmed(table: str) -> dict[str, tuple[str, ...]]:
    """One of the tables turned round: from a word's stem to what it speaks for, in the table's order."""
    found: dict[str, tuple[str, ...]] = {}
    for entry, words in _TABLES[table].items():
        for word in words.split():
            key = word.strip("_") if table == _WHOLE_ROLES else stem_word(word)[-1]
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), entry)))
    return found


@lru_cache(maxsize=2048)
def _pieces(word: str) -> tuple[str, ...]:
    """Words in an identifier (camel case, snake case) as people count them: `OAuth2` is one, `parseHTTPResponse`
    three.
    """
    pieces = split_word(word)
    found: list[str] = []
    for piece in pieces[:-1] if len(pieces) > 1 else pieces:
        if found and (piece.isdigit() or len(found[-1]) == 1):
            found[-1] += piece
        else:
            found.append(piece)
    whole = pieces[-1] if pieces else ""
    return (whole,) if len(found) == 1 else tuple(found)


def _stems(word: str) -> tuple[str, ...]:
    """The stems of `_pieces`, one for one."""
    return tuple((stem_word(piece) or (piece,))[-1] for piece in _pieces(word))


@lru_cache(maxsize=1024)
def _telling(word: str) -> tuple[tuple[str, str], ...]:
    """Those of `_pieces` that say something, each with its stem."""
    return tuple(
        (piece, stem) for piece, stem in zip(_pieces(word), _stems(word), strict=True) if _says_something(piece)
    )


def _stem_of(path: str) -> str:
    """A file's name without folders and endings."""
    return path.rsplit("/", 1)[-1].split(".", 1)[0]


def _says_something(word: str) -> bool:
    return len(word) >= 3 and word not in STOP_WORDS and not word.isdigit()


def _spelled(words: Iterable[str]) -> str:
    """Words as one, with hyphens, without repeats side by side, and not too long."""
    kept: list[str] = []
    for word in words:
        if word and (not kept or kept[-1] != word):
            kept.append(word)
    return "-".join(kept)[:MAX_ROLE].strip("-")
