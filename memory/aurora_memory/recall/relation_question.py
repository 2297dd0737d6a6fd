"""Relation question: a query about callers, callees, importers, imports, implementations or co-changes ("who calls X",
"what implements Y", "what usually changes with Z"), read by its form. What answers it is `relation_answer`. Pure.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from aurora_memory.stopwords import QUESTION_WORDS, STOP_WORDS

Asked = Literal["callers", "callees", "importers", "imported", "heirs", "together"]

MAX_QUESTION = 400
"""Characters of a question with the path of a file in it."""

_VAGUE = re.compile(r"\b(?:us(?:e|es|ed|ing|ers?|ages?)|depends?|the)\b", re.IGNORECASE)
"""What sentences have that rather ask for a topic: "what uses sessions"."""
_RATHER_WORDS = re.compile(
    r"\b(?:calls|references?|children|implementations?|overrides)\s+(?:of|to|for)\b"
    r"|\b(?:all|where|which)\s+(?:call|extend|implement|include|instantiate|invoke|override|require)s?\b",
    re.IGNORECASE,
)
"""How a name is asked for by some, and other things by many: "references to memory", "which calls block"."""
_NO_NAME = re.compile(r"\w{3,}(?:ing|[^s]s|ation)|exist|fail|happen|occur", re.IGNORECASE)
"""Words that stand in a sentence without an article, as names do: what is many or no thing that is counted ("what
implements caching"), and what is said of calls and overrides ("what overrides exist").
"""

_NAME = r"[`'\"]?(?P<name>[\w$@#./:\\-]*[\w$]|[^\s`\"]*[./][^\s`\"]*[\w$])(?:\(\))?[`'\"]?"
"""A name, or a path of whatever letters files may have: `app/(auth)/page.tsx:Login`."""
_THING = r"(?:the\s+)?(?:(?:function|method|class|interface|trait|type|file|module|struct|macro)s?\s+)?"
_AFTER = r"(?:\s+(?:function|method|class|interface|trait|file|module))?\s*[?.!]*$"
_BEFORE = r"\s*(?:(?:please\s+)?(?:find|show|list|tell|give)\s+(?:me\s+)?)?(?:all\s+|the\s+)*"
_WHO = r"(?:who|what|which(?:\s+\w+)?|all|where)"
_USES = r"(?:calls?|uses?|invokes?|instantiates?|depends?\s+on|(?:is|are)\s+(?:calling|using))"
_IMPORTS = r"(?:imports?|importing|(?:is|are)\s+importing)"
_MODULE = r"(?:the\s+)?(?:(?:module|package|library|header|constant|variable)s?\s+)?" + _THING
_INHERITS = r"(?:implements?|extends?|inherits?(?:\s+from)?|subclass(?:es)?|derives?\s+from|overrides?)"
_USUALLY = r"(?:(?:usually|often|normally|also|mostly)\s+)*"
_CHANGES = r"(?:(?:co-?)?chang(?:es?|ed)|(?:is|are|gets?)\s+(?:changed|edited|modified)|edited|modified)"
_WRITTEN: tuple[tuple[Asked, str], ...] = (
    ("callers", rf"{_WHO}\s+{_USES}\s+{_THING}{_NAME}"),
    (
        "callers",
        rf"(?:callers?|users?|usages?|uses|references?|call\s*sites?|calls)\s+(?:of|to|for)\s+{_THING}{_NAME}",
    ),
    (
        "callers",
        rf"where\s+(?:is|are|does|do)\s+{_THING}{_NAME}\s+(?:called|used|invoked|instantiated)(?:\s+from)?",
    ),
    ("callers", rf"what\s+is\s+{_THING}{_NAME}\s+(?:called|used)\s+by"),
    ("callees", rf"(?:what|which\s+\w+)\s+(?:does|do|is)\s+{_THING}{_NAME}\s+(?:calls?|uses?|invokes?)"),
    ("callees", rf"(?:callees\s+of|what\s+is\s+called\s+by)\s+{_THING}{_NAME}"),
    ("importers", rf"(?:{_WHO}|files|modules)\s+(?:that\s+)?{_IMPORTS}\s+{_MODULE}{_NAME}"),
    ("importers", rf"(?:importers|imports)\s+(?:of|for)\s+{_MODULE}{_NAME}"),
    ("importers", rf"where\s+(?:is|are|does|do)\s+{_MODULE}{_NAME}\s+(?:imported|included)"),
    ("importers", rf"what\s+is\s+{_MODULE}{_NAME}\s+imported\s+by"),
    ("importers", rf"{_WHO}\s+(?:includes?|requires?)\s+{_MODULE}(?=\S*[./])\S*?{_NAME}"),
    ("imported", rf"(?:what|which\s+\w+)\s+(?:does|do|is|are)\s+{_MODULE}{_NAME}\s+(?:imports?|importing)"),
    ("imported", rf"(?:what|which\s+\w+)\s+(?:is|are)\s+imported\s+by\s+{_MODULE}{_NAME}"),
    ("heirs", rf"{_WHO}\s+{_INHERITS}\s+{_THING}{_NAME}"),
    (
        "heirs",
        r"(?:(?:sub|child)[-\s]?class(?:es)?|sub-?types?|heirs|children|implementations?|implement[eo]rs?|overrides)"
        rf"\s+(?:of|for)\s+{_THING}{_NAME}",
    ),
    (
        "together",
        rf"(?:{_WHO}\s+)?{_USUALLY}{_CHANGES}\s+{_USUALLY}(?:together\s+)?(?:with|along\s+with)\s+{_THING}{_NAME}",
    ),
    ("together", rf"co-?chang(?:es?|ing)\s+(?:of|with|for)\s+{_THING}{_NAME}"),
)
_QUESTIONS = tuple((asked, re.compile(rf"{_BEFORE}{written}{_AFTER}", re.IGNORECASE)) for asked, written in _WRITTEN)


class RelationQuestion(Struct, frozen=True):
    """Question about relations of what is called `name`."""

    asked: Asked
    name: str


def relation_question(text: str) -> RelationQuestion | None:
    """Read a question; None for one about something else."""
    if len(text) > MAX_QUESTION:
        return None
    for asked, pattern in _QUESTIONS:
        if match := pattern.fullmatch(text):
            return RelationQuestion(asked, match["name"])
    return None


def is_vague(text: str) -> bool:
    """Whether it is put as sentences are that rather ask for a topic."""
    return _VAGUE.search(text) is not None


def is_talked_of(word: str, text: str) -> bool:
    """Whether a word in the place of a name may be none, as the question is put: "who calls save" asks for what is
    called so, "what implements caching" need not.
    """
    said = {word.lower()}
    return bool(said & QUESTION_WORDS or said & STOP_WORDS or _NO_NAME.fullmatch(word) or _RATHER_WORDS.search(text))


def answered_as_words(text: str) -> str | None:
    """What is said below answers to words that name nothing here, where a name may have been meant by one of them."""
    question = relation_question(text)
    if question is None or question.asked in ("importers", "imported"):
        return None
    if is_vague(text) or _RATHER_WORDS.search(text):
        return None
    return f"Nothing here is called '{question.name}'; these are answers to the words."
