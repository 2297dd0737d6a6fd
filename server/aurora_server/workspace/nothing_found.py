"""Nothing found (empty results): why an answer is empty, in a sentence or two; nothing else is shown in its place. And
what of a question stands nowhere, where something answers the rest of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

from aurora_memory.recall import Question
from aurora_memory.recall.mentions import without_unknown_fronts
from aurora_memory.recall.places import is_test
from aurora_memory.recall.prefix import SHORTEST
from aurora_memory.recall.question_kind import QuestionKind
from aurora_memory.recall.relation_answer import near_name
from aurora_memory.recall.synonyms import synonyms_of
from aurora_memory.stopwords import QUESTION_WORDS, without_stop_words
from aurora_memory.store import chunk_reader
from aurora_memory.store.reader import Reader
from aurora_memory.tokens import MAX_WORD, is_unspaced, stem_word, words, words_in
from aurora_protocol.human_text import count
from aurora_protocol.methods import Freshness
from aurora_protocol.spelling import closest

NAMED = 3
"""Unknown words that are named."""

MISSPELLED = 0.88
"""Likeness (difflib's ratio) from which on a name can only mean the other: less may be a name of something else, of
which other code has the words.
"""

UNSAID = 0.3
"""Share of a question's telling words from which on it is said that they stand nowhere: one of three. Of 825 questions
that were answered well as many words were missing in 16, most of these misspelled; of 960 about other programs in 91.
"""

OWNERS = 20
"""Definitions of one name whose members are looked through."""

_TOLD: frozenset[QuestionKind] = frozenset({"report", "error", "issue"})
"""Kinds of questions that tell what happened: many of their words stand nowhere, whatever is answered."""

_TYPES = {"code": "code", "know": "documents", "reas": "earlier solutions"}


def why_nothing(reader: Reader, question: Question, freshness: Freshness, types: Collection[str] | None = None) -> str:
    """Reason why a question, completed as it was looked for, found nothing: no file is indexed, all are ignored, no
    such word or place, or not yet.
    """
    pending = freshness.pending_files
    busy = pending or freshness.state in ("scanning", "indexing")
    if not freshness.files:
        return _no_files(freshness, busy=bool(busy))
    said = _unknown(reader, question)
    if not said and types is not None and set(types) < _TYPES.keys():
        said = f"Nothing among {' and '.join(_TYPES[each] for each in sorted(types))} answers that; ask for every type."
    said = said or "Nothing in this workspace answers that; try other words, or the name of a function."
    return f"{said} {_still(pending)}" if busy else said


def not_here(reader: Reader, question: Question, said: str, freshness: Freshness) -> str:
    """What is said of a name or place that is not here; where no file is indexed, that is the reason."""
    if freshness.files:
        return said
    why = why_nothing(reader, question, freshness)
    return f"{said.partition(';')[0].rstrip('.')}; {why[0].lower()}{why[1:]}"


def too_short(question: Question) -> str | None:
    """Reason why a query that is still being typed finds nothing for its last word: of so few letters it may be the
    beginning of anything, and is not completed.
    """
    last = question.text[-SHORTEST:].replace("_", " ").split(" ")[-1]
    if not last.isalnum() or len(last) >= SHORTEST or is_unspaced(last):
        return None
    return f"'{last}' may begin anything yet: words are completed from {SHORTEST} letters on."


def unsaid(reader: Reader, question: Question) -> str | None:
    """Words of a question that stand nowhere here, nor anything that they may mean, where they are so much of it that
    its answers are to something else; of a name, any. None of a report.
    """
    if question.kind in _TOLD:
        return None
    if question.by_name:
        return _unsaid_of_names(reader, question)
    telling = _telling(question)
    unknown = [
        word
        for word in _unknown_words(reader, question, telling)
        if not any(reader.words.has(term) for term in synonyms_of([word]))
    ]
    if not unknown or len(unknown) < UNSAID * len(telling):
        return None
    return f"{_nowhere(reader, unknown)} These are answers to the rest."


def misspelled(reader: Reader, question: Question) -> str | None:
    """Reason why a query that is one name finds nothing: no file has it, and something here is spelled so much alike
    that it is meant. What has but some of its words is something else. None where it is the beginning of a word.
    """
    if not question.by_name or len(question.identifiers) != 1 or question.completions:
        return None
    if any(place.is_certain for place in question.places):
        return None
    name = question.identifiers[0]
    leaf = name.rpartition(".")[2]
    stems = stem_word(leaf)
    if (
        len(leaf) > MAX_WORD
        or not stems
        or reader.words.has(stems[-1])
        or (near := near_name(reader, leaf, MISSPELLED)) is None
    ):
        return None
    return f"No file here says '{name}'; did you mean {_with_place(reader, near)}?"


def _with_place(reader: Reader, name: str) -> str:
    """A name with where it is defined: who misspells one wants to go there."""
    found = [each for each in chunk_reader.named(reader, [name], OWNERS) if each.name.rpartition(".")[2] == name]
    found.sort(key=lambda each: is_test(each.path))
    if not found:
        return repr(name)
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0].name!r} ({found[0].path}:{found[0].line_start}{more})"


def _unsaid_of_names(reader: Reader, question: Question) -> str | None:
    """The pieces of names, of a dotted one each by itself, that stand nowhere. Not those that only the asker's file may
    call so, nor the beginning of a word or member.
    """
    if any(place.is_certain for place in question.places):
        return None
    names = [[name, *without_unknown_fronts(reader, name)][-1] for name in question.identifiers]
    pieces = list(dict.fromkeys(piece for name in names for piece in name.split(".")))
    begun = {name.rpartition(".")[2] for name in names if _may_become_more(reader, question, name)}
    unknown = [piece for piece in pieces if piece not in begun and not _is_said(reader, piece)]
    if not unknown:
        strange = next((name for name in names if _is_no_member(reader, name)), None)
        return f"Nothing here is called '{strange}'; these are answers to its words." if strange else None
    return (
        f"{_nowhere(reader, unknown)} These are answers to {'the rest' if len(unknown) < len(pieces) else 'its words'}."
    )


def _is_no_member(reader: Reader, name: str) -> bool:
    """Whether what a name begins with is here, and neither it nor anything in it says the rest: nothing is called so,
    or begins so.
    """
    front, _, leaf = name.rpartition(".")
    owners = chunk_reader.named(reader, [front], OWNERS) if front else []
    if not owners or chunk_reader.named(reader, [leaf], 1) or chunk_reader.members_from(reader, name, 1):
        return False
    own = {
        each.id
        for owner in owners
        for each in chunk_reader.of_file(reader, owner.path)
        if f"{each.name}.".startswith(f"{owner.name}.")
    }
    return not own & _chunks_with(reader, stem_word(leaf)[-1:])


def _may_become_more(reader: Reader, question: Question, name: str) -> bool:
    """Whether a name is the beginning of one: of any by its words, of a member by those of its owner."""
    if "." in name:
        return bool(chunk_reader.members_from(reader, name, 1))
    return bool(stem_word(name)) and stem_word(name)[-1] in question.completions


def _is_said(reader: Reader, piece: str) -> bool:
    """Whether a file has a name, whole, as it stands now, or may have: the longest ones are not indexed."""
    if len(piece) > MAX_WORD:
        return True
    stems = stem_word(piece)
    return bool(_chunks_with(reader, stems if is_unspaced(piece) else stems[-1:]))


def _chunks_with(reader: Reader, terms: Sequence[str]) -> set[int]:
    """The row ids of the chunks in which all of these terms stand."""
    parts, entries = reader.words.parts(reader.writes), reader.words.entries(terms)
    standing = [
        {chunk for chunk in parts.chunks[numbers[numbers < len(parts.chunks)]].tolist() if chunk}
        for numbers, _ in entries.values()
    ]
    return set.intersection(*standing) if standing and len(standing) == len({*terms}) else set()


def _no_files(freshness: Freshness, *, busy: bool) -> str:
    if busy:
        return f"No file is indexed yet. {_still(freshness.pending_files)}"
    if freshness.state == "error":
        return "No file is indexed: indexing failed; `aurora doctor` says why."
    if freshness.skipped_files:
        every = "its only file is" if freshness.skipped_files == 1 else f"all {freshness.skipped_files} files are"
        return f"No file of this workspace is indexed: {every} left out; `aurora doctor` says why."
    return (
        "No file of this workspace is indexed: it has none, none is in a language that memory reads, or all are "
        "ignored (.gitignore, .auroraignore)."
    )


def _still(pending: int) -> str:
    if not pending:
        return "Files are still being looked through."
    return f"{count(pending, 'file')} {'is' if pending == 1 else 'are'} still being indexed."


def _unknown(reader: Reader, question: Question) -> str:
    """The words and places that memory does not have, with what may be meant; "" where it has them all."""
    places = [place.path for place in question.places if place.is_certain]
    if places:
        return f"No file or place here is called '{places[0]}'."
    if (said := misspelled(reader, question)) is not None:
        return said
    unknown = _unknown_words(reader, question, _telling(question))
    return _nowhere(reader, unknown) if unknown else ""


def _telling(question: Question) -> list[str]:
    """Words of a question that say what it is about, as written."""
    telling = dict.fromkeys(without_stop_words(words_in(question.text), QUESTION_WORDS))
    return [word for word in telling if stem_word(word)]


def _unknown_words(reader: Reader, question: Question, telling: Sequence[str]) -> list[str]:
    """Those of a question's words that no file has, or ever had."""
    terms = {word: stem_word(word) for word in telling}
    reader.words.parts(reader.writes)  # what is kept of words holds as of then
    known = {*question.completions, *reader.words.entries(list(dict.fromkeys(chain.from_iterable(terms.values()))))}
    return [word for word, own in terms.items() if known.isdisjoint(own)]


def _nowhere(reader: Reader, unknown: Sequence[str]) -> str:
    """What is said of words that no file has, with what may be meant."""
    said = ", ".join(f"'{word}'" for word in unknown[:NAMED])
    meant = next((near for word in unknown if (near := _meant(reader, word.lower()))), None)
    return f"No file here says {said}{f'; did you mean {meant!r}?' if meant else '.'}"


def _meant(reader: Reader, word: str) -> str | None:
    """The word of a name that is spelled most alike, or the name, as it is spelled here."""
    if len(word) < 3:
        return None
    names = {*chunk_reader.names_with(reader, word[:2]), *chunk_reader.names_with(reader, word[-3:])}
    known = {name.lower(): name for name in sorted(names)}
    known |= {piece: piece for name in names for piece in words(name)}
    near = closest(word, known)
    return None if near is None else known[near]
