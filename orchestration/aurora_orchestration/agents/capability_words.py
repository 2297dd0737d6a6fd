"""Capabilities from words (skills of an agent, by its description): what an agent that only describes itself in words
can do, told from these words.
"""

from __future__ import annotations

from aurora_memory.semantic_tags import domain_of, keywords_of
from aurora_memory.tag_lexicon import GENERAL

LANGUAGES = frozenset(
    "python javascript typescript go golang rust java kotlin swift ruby php scala haskell elixir erlang lua perl bash"
    " sql html css terraform docker kubernetes react vue angular django flask rails".split()
)
MAX_CAPABILITIES = 12


def capabilities_of(name: str, description: str, more: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The words that tell best what an agent is for; those of its name count most. `more` are names of its tools."""
    words = keywords_of(name, (description, " ".join(more)), limit=MAX_CAPABILITIES)
    return tuple(dict.fromkeys((*words, *(tool[:100] for tool in more[:MAX_CAPABILITIES]))))


def domains_of(name: str, description: str) -> tuple[str, ...]:
    """The languages and the area of work that name and description speak of; `general` where of none."""
    said = {word.strip(".,:;()`'\"").lower() for word in f"{name.replace('-', ' ')} {description}"[:20_000].split()}
    area = domain_of(((name, 3.0), (description, 1.0)))
    found = [*sorted(LANGUAGES & said), *([area] if area != GENERAL else [])]
    return tuple(found) or (GENERAL,)
