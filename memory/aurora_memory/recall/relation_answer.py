"""Relation answer: who calls what a question names, imports, implements or usually changes with it, by the call graph.

Only what names a definition that memory knows is such a question; "who calls the shots" is one like any other. The
answer is what is related and nothing else, surest first; where there is nothing, that is said.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aurora_memory.chunks import type_of
from aurora_memory.language_families import family
from aurora_memory.module_paths import stem
from aurora_memory.recall.constant_uses import ConstantUses, constant_uses
from aurora_memory.recall.importers import FileImports, Importer, speakers
from aurora_memory.recall.mentions import without_unknown_fronts
from aurora_memory.recall.outside_types import OutsideHeirs, outside_heirs
from aurora_memory.recall.place_lookup import standing_in
from aurora_memory.recall.places import QueryPlace, is_test, is_test_code
from aurora_memory.recall.prefix import whole_name
from aurora_memory.recall.question import Question
from aurora_memory.recall.ranking import Hit
from aurora_memory.recall.recall import weigh
from aurora_memory.recall.relation_question import Asked, RelationQuestion, is_talked_of, is_vague, relation_question
from aurora_memory.recall.search import ReadText
from aurora_memory.recall.spaced_paths import spaced, with_whole_paths
from aurora_memory.store import chunk_reader, commit_reader, file_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.tokens import stem_word
from aurora_memory.views import ChunkView, ReferenceTarget
from aurora_protocol.spelling import OF_MANY, closest

MAX_MEANT = 20
"""Definitions of one name that are asked about together."""

MAX_COUNTED = 20_000
MAX_SORTED = 500
"""Related chunks, the surest, of which it is looked up whether they are tests."""

SURE_SCORE, LIKELY_SCORE = 0.95, 0.55
"""Scores of the first that is surely related, and of the first that only may be."""

HANDS_ON = "passes it on"
"""What is said of who names a definition without calling it: `map(parse, lines)`."""

STEP = 0.0005
"""What each next one's score is less."""

_SHOWN_OUTSIDE = 12
"""Modules from elsewhere that are told by name."""

_SHOWN_FILES = 3
"""Files that are named of those that define something."""

_SPELLED = 2
"""Letters that a name may have more or fewer than one that is meant by it."""
_GOODS = re.compile(r"\bimports\s+(?:of|for)\b", re.IGNORECASE)
_CODE_LIKE = re.compile(r"[._:/#$\\]|[a-z0-9][A-Z]|^[A-Z]")

_LINE = re.compile(r"(\d{1,9})(?:-\d{1,9})?")
_SAID: dict[Asked, tuple[str, str]] = {
    "callers": ("calls", "call"),
    "callees": ("is called by", "are called by"),
    "importers": ("file imports", "files import"),
    "imported": ("imports", "import"),
    "heirs": ("inherits from", "inherit from"),
    "together": ("changed with", "changed with"),
}


class RelatedHits(Struct, frozen=True):
    """Answer to such a question: what is related, surest first, and how much there is, in words.

    `is_unknown`: nothing here has the name that was asked about, as is said.
    """

    hits: list[Hit]
    said: str
    is_unknown: bool = False


def answer(
    reader: Reader,
    asked: Question,
    limit: int,
    now: float,
    read: ReadText | None = None,
    *,
    is_typing: bool = False,
) -> RelatedHits | None:
    """Answer a question about relations; None where it is none: where what it names is no name.

    `read` is a file's text: with it, who uses a constant is told too. To who `is_typing`, a name that nothing has may
    be the beginning of one.
    """
    question = relation_question(with_whole_paths(reader, asked.text))
    if question is None:
        return None
    question = replace(question, name=spaced(question.name))
    if question.asked == "importers":
        return _imported(reader, question, asked.text, limit, now)
    if question.asked == "imported":
        return _imports_of(reader, question, asked.text, limit, now)
    return _of_definitions(reader, question, asked.text, limit, now, read, is_typing=is_typing)


def _of_definitions(
    reader: Reader,
    question: RelationQuestion,
    text: str,
    limit: int,
    now: float,
    read: ReadText | None,
    *,
    is_typing: bool,
) -> RelatedHits | None:
    """The answer about definitions of a name, or what is known of it where there are none."""
    for name in _spellings(reader, question, text):
        named = replace(question, name=name)
        if ids := _meant(reader, named):
            return _of_meant(reader, named, ids, limit, now)
    found = constant_uses(reader, question.name, read) if read and question.asked == "callers" else None
    if found is not None:
        return _of_constant(reader, question.name, found, limit, now)
    outside = outside_heirs(reader, re.sub(r"::|->|#", ".", question.name)) if question.asked == "heirs" else None
    if outside is not None:
        return _from_elsewhere(reader, question, outside, text, limit, now)
    whole = whole_name(reader, question.name) if is_typing and not is_vague(text) else None
    if whole is not None:
        return _of_definitions(reader, replace(question, name=whole), text, limit, now, read, is_typing=False)
    return _unknown(reader, question, text)


def _of_meant(reader: Reader, question: RelationQuestion, ids: Sequence[int], limit: int, now: float) -> RelatedHits:
    """The answer about definitions, by their row ids."""
    meant = chunk_reader.by_id(reader, ids)
    of_members = question.asked == "heirs" and all(each.kind == "method" for each in meant.values())
    shared, changed = _together(reader, ids) if question.asked == "together" else ({}, False)
    handing = relation_reader.related(reader, ids, "hands on", MAX_COUNTED) if question.asked == "callers" else []
    if of_members:
        related = overriding(reader, list(meant.values()))
    else:
        related = [(each, True) for each in shared] if shared else _related(reader, ids, question.asked)
    if question.asked != "together":
        related = _tests_last(reader, related)
    calling = {each for each, _ in related}
    handing = [(each, surely) for each, surely in handing if each not in calling]
    sure = sum(surely for _, surely in related)
    unclear = _unclear(reader, question, list(meant.values())) if not of_members else NO_NAMESAKES
    using = [(each, False) for each in unclear.users if each not in calling and each not in ids]
    chosen = [*related[:sure], *handing, *related[sure:], *using][:limit]
    shared |= dict.fromkeys((each for each, _ in handing), HANDS_ON)
    shared |= dict.fromkeys((each for each, _ in using), f"one of {unclear.number:,} of the name")
    hits = _hits(reader, chosen, shared, now)
    if changed and not shared:
        return RelatedHits([], f"'{question.name}' changed only together with what changes with everything.")
    one, many = _SAID[question.asked]
    if of_members:
        one, many = "overrides", "override"
    elif question.asked == "heirs" and all(each.kind == "interface" for each in meant.values()):
        one, many = "implements", "implement"
    said = _said(question, sure, len(related) - sure, one, many, len(handing))
    if unclear.names:
        said = f"{said if related else ''} It calls {', '.join(unclear.names)}: too many are called so to tell which."
    if using:
        more, verb = ("more " if related else ""), (one if len(using) == 1 else many)
        known = said if related or handing else ""
        said = f"{known} {len(using):,} {more}{verb} '{unclear.name}', which may be any of {unclear.number:,}."
    return RelatedHits(hits, said.strip())


class Namesakes(Struct, frozen=True):
    """Namesakes: what else may be related since many definitions share a name, by row id, and how many those are.

    `names` are such names, where it is asked what something calls.
    """

    name: str = ""
    users: Sequence[int] = ()
    number: int = 0
    names: Sequence[str] = ()


NO_NAMESAKES = Namesakes()


def _unclear(reader: Reader, question: RelationQuestion, meant: Sequence[ChunkView]) -> Namesakes:
    if question.asked == "callees":
        return Namesakes(names=relation_reader.unclear_names(reader, [each.id for each in meant])[:_SHOWN_OUTSIDE])
    if question.asked not in ("callers", "heirs"):
        return NO_NAMESAKES
    name = meant[0].name.rpartition(".")[2]
    families = {family(each.language) for each in meant}
    users = relation_reader.unclear(reader, name, "may call" if question.asked == "callers" else "may inherit")
    named = [each for each in relation_reader.definitions(reader, name) if family(each.language) in families]
    return Namesakes(name, [each for each, language in users if family(language) in families], len(named))


def _hits(reader: Reader, chosen: Sequence[tuple[int, bool]], said: Mapping[int, str], now: float) -> list[Hit]:
    """The chunks of an answer, in its order, with what is said of their relation."""
    found = chunk_reader.by_id(reader, [each for each, _ in chosen])
    kept = [(found[each], surely) for each, surely in chosen if each in found]
    hits = []
    for n, (hit, (_, surely)) in enumerate(zip(weigh(reader, [chunk for chunk, _ in kept], now), kept, strict=True)):
        score = (SURE_SCORE if surely else LIKELY_SCORE) - n * STEP
        relation = said.get(hit.chunk.id, "")
        hits.append(
            replace(hit, score=round(score, 6), strength=100.0 * score, is_likely=not surely, relation=relation)
        )
    return hits


def _imported(reader: Reader, question: RelationQuestion, text: str, limit: int, now: float) -> RelatedHits | None:
    """The answer about who imports a module or a name; None where a plain word is rather a topic."""
    files = FileImports(reader)
    known: dict[str, Importer] = {}
    spelled = [re.sub(r"[()]+$", "", each) for each in _spellings(reader, question, text)]
    whole = question.name
    name = whole
    for each in spelled:
        found = _known_importers(reader, files, each)
        if found is None and each == whole and not files.modules(each.partition(".")[0]):
            literal = files.literally(each, below=True)
            found = {one.path: one for one in literal} or None
        if found is not None:
            known, name = found, each
            break
    else:
        known = {one.path: one for one in files.literally(whole, below=True)}
        if not known:
            return _imported_nowhere(reader, files, question, text)
    paths = sorted(known, key=lambda path: (not known[path].is_sure, is_test(path), path))
    sure = sum(each.is_sure for each in known.values())
    heads = speakers(reader, paths[:limit])
    chosen = [(heads[path].id, known[path].is_sure) for path in paths[:limit] if path in heads]
    hits = _hits(reader, chosen, {heads[path].id: known[path].written for path in heads}, now)
    likely = len(known) - sure
    if sure or not likely:
        one, many = _SAID["importers"] if sure else ("imports", "")
        return RelatedHits(hits, _said(replace(question, name=name), sure, likely, one, many, 0))
    return RelatedHits(hits, f"{likely:,} {'file' if likely == 1 else 'files'} may import '{name}'.")


def _imports_of(reader: Reader, question: RelationQuestion, text: str, limit: int, now: float) -> RelatedHits | None:
    """The answer about what a file imports; None where a plain word is no module, but rather a topic."""
    files = FileImports(reader)
    modules = files.modules(question.name)
    if not modules:
        meant = chunk_reader.by_id(reader, _meant(reader, question))
        if meant:
            where = ", ".join(sorted({each.path for each in meant.values()})[:_SHOWN_FILES])
            return RelatedHits(
                [], f"No file here is called '{question.name}'; it is defined in {where}.", is_unknown=True
            )
        return _unknown(reader, question, text)
    imported, outside = files.of_files(modules)
    imported.sort(key=lambda each: not each.is_sure)
    heads = speakers(reader, [each.path for each in imported[:limit]])
    chosen = [(heads[each.path].id, each.is_sure) for each in imported[:limit] if each.path in heads]
    said = {heads[each.path].id: each.written for each in imported[:limit] if each.path in heads}
    sure = sum(each.is_sure for each in imported)
    here = [f"{sure:,} {'file' if sure == 1 else 'files'} here"] if sure else []
    if likely := len(imported) - sure:
        here.append(f"maybe {likely:,}{' more' if sure else ' of the files here'}")
    shown = ", ".join(outside[:_SHOWN_OUTSIDE])
    more = f" and {len(outside) - _SHOWN_OUTSIDE:,} more" if len(outside) > _SHOWN_OUTSIDE else ""
    elsewhere = f"{shown}{more} from elsewhere" if outside else ""
    told = "; ".join(filter(None, (", and ".join(here), elsewhere))) or "nothing"
    return RelatedHits(_hits(reader, chosen, said, now), f"'{question.name}' imports {told}.")


def _known_importers(reader: Reader, files: FileImports, name: str) -> dict[str, Importer] | None:
    """Who imports definitions of that name, and modules, by path; None where nothing here is called so."""
    ids = _meant(reader, RelationQuestion("importers", name))
    meant = [each for each in chunk_reader.by_id(reader, ids).values() if type_of(each.kind) == "code"]
    modules = files.modules(name)
    if not meant and not modules:
        return None
    names = {re.split(r"\.|::|->|#|:", name)[-1]}
    places = {each.path: family(each.language) for each in meant if each.parent is None}
    told = [
        *files.of_definitions([each.id for each in meant], names),
        *files.of_modules(modules),
        *files.of_names(names, places),
    ]
    # `json` may be Python's as well as a module of that name here; `@scope/name` is what is written so.
    is_bare = re.fullmatch(r"\w+", name) is not None
    told += [replace(each, is_sure=not is_bare) for each in files.literally(name, below=False)]
    told += files.of_constants(name) if is_bare and not meant else ()
    found: dict[str, Importer] = {}
    for each in sorted(told, key=lambda one: not one.is_sure):
        found.setdefault(each.path, each)
    return found


def _imported_nowhere(reader: Reader, files: FileImports, question: RelationQuestion, text: str) -> RelatedHits | None:
    """The answer about what is neither here nor imported: None for a plain word that something here imports."""
    name = question.name
    leaf = re.split(r"\.|::|->|#|:|/", name)[-1]
    imports_it = any("import" in each.lower() for each in chunk_reader.names_with(reader, leaf.removesuffix("s")))
    if not _CODE_LIKE.search(name) and (imports_it or is_vague(text) or _GOODS.search(text)):
        return None
    near = near_name(reader, leaf)
    if not near and len(leaf) > 2:
        near = closest(leaf.lower(), {each.lower(): each for each in sorted(files.names())}, OF_MANY)
    if near:
        return RelatedHits([], f"Nothing here imports '{name}'; did you mean {near!r}?", is_unknown=True)
    return RelatedHits([], f"Nothing here imports '{name}', as far as is known.")


def _of_constant(reader: Reader, name: str, found: ConstantUses, limit: int, now: float) -> RelatedHits:
    """The answer about what a file declares at its top level: who uses it, and where it stands."""
    sure = sum(surely for _, surely in found.users)
    likely = len(found.users) - sure
    where = f"'{name}' is defined at {', '.join(found.declared)}"
    uses = f"{sure:,} {'uses' if sure == 1 else 'use'} it" if sure else ""
    maybe = f"maybe {likely:,}{' more' if sure else ''}" if likely else ""
    said = ", and ".join(filter(None, (uses, maybe if sure else f"{maybe} use it" if maybe else "")))
    return RelatedHits(_hits(reader, found.users[:limit], {}, now), f"{where}; {said or 'nothing here uses it'}.")


def _from_elsewhere(
    reader: Reader, question: RelationQuestion, outside: OutsideHeirs, text: str, limit: int, now: float
) -> RelatedHits:
    """The answer about who implements what is not defined here."""
    name, related = question.name, _tests_last(reader, outside.heirs)
    if not related and outside.is_embedded:
        said = f"'{name}' is not defined here: its methods are unknown, and so is what implements it."
        return RelatedHits([], said, is_unknown=True)
    one, many = ("implements", "implement") if re.search("implement", text, re.IGNORECASE) else _SAID["heirs"]
    if outside.is_embedded:
        one, many = "embeds", "embed"
    sure = sum(surely for _, surely in related)
    said = _said(question, sure, len(related) - sure, one, many, 0).removesuffix(".")
    more = "; its methods are unknown, so more may implement it" if outside.is_embedded else ""
    return RelatedHits(_hits(reader, related[:limit], {}, now), f"{said}, which is not defined here{more}.")


def _spellings(reader: Reader, question: RelationQuestion, text: str) -> Iterator[str]:
    """What the name may be: with a mark of Ruby's at its end, without what only the asker's file calls so.

    `empty?` is a name in Ruby, a question's end elsewhere; nobody ends a question as `route!` ends. `ctx.fail` asks for
    what is called `fail`, unless something here is called `ctx`: then that has no such member.
    """
    name = question.name
    yield from (f"{name}!", name, f"{name}?") if f"{name}!" in text else (name, f"{name}?", f"{name}!")
    if ":" not in name.replace("::", "") and "/" not in name:
        yield from without_unknown_fronts(reader, re.sub(r"::|->|#", ".", name))


def _unknown(reader: Reader, question: RelationQuestion, text: str) -> RelatedHits | None:
    """The answer about a name that nothing has: what may be meant. None where it is a word of the language."""
    name = question.name
    is_word = not _CODE_LIKE.search(name) and not re.search(rf"[`'\"]{re.escape(name)}|{re.escape(name)}\(", text)
    leaf = re.split(r"\.|::|->|#|:|/", name)[-1]
    near = near_name(reader, leaf)
    stems = stem_word(leaf)
    stands = not stems or reader.words.has(stems[-1])
    if is_word and (is_vague(text) or (near is None and stands and is_talked_of(name, text))):
        return None
    more = (
        f"; did you mean {near!r}?" if near else f"; '{name}' alone finds what says it." if is_word and stands else "."
    )
    return RelatedHits([], f"Nothing here is called '{name}'{more}", is_unknown=True)


def near_name(reader: Reader, leaf: str, at_least: float = OF_MANY) -> str | None:
    """Fuzzy match: the name that is spelled most alike, `at_least` so much (difflib's ratio)."""
    if len(leaf) < 3:
        return None
    names = {*chunk_reader.names_from(reader, leaf[0]), *chunk_reader.names_with(reader, leaf[-3:])}
    alike = [name for name in sorted(names) if abs(len(name) - len(leaf)) <= _SPELLED]
    alike.sort(key=lambda name: name[0].isupper() == leaf[0].isupper())
    known = {name.lower(): name for name in alike}  # `Option` before `option` for `Opton`
    near = closest(leaf.lower(), known, at_least)
    return known[near] if near else None


def _meant(reader: Reader, question: RelationQuestion) -> list[int]:
    """The row ids of the definitions that a name means; of a file's, where changes are asked for."""
    path, colon, name = re.sub(r"::|->", ".", question.name).rpartition(":")
    name = name.replace("#", ".")
    if colon and (line := _LINE.fullmatch(name)):
        at_line = QueryPlace(path, None, int(line[1]))
        standing = [standing_in(reader, at_line, file) for file in file_reader.files_like(reader, path, 1)]
        return [each.id for each in standing if each is not None]
    leaf = name.rpartition(".")[2]
    found: Sequence[ReferenceTarget] = [
        each
        for each in relation_reader.definitions(reader, leaf)
        if (each.name == name or each.name.endswith(f".{name}") or is_of_module(each, name))
        and (not colon or each.path == path or each.path.endswith(f"/{path}"))
    ]
    found = [each for each in found if _is_packaged(each, name)] or found
    if question.asked == "heirs":
        found = [each for each in found if each.kind not in ("function", "method")] or found
    if not found and question.asked == "together":
        files = sorted(file_reader.files_like(reader, question.name, MAX_MEANT), key=is_test)[:1]
        return [chunk.id for path in files for chunk in chunk_reader.of_file(reader, path)]
    return [each.id for each in found[:MAX_MEANT]]


def is_of_module(found: ReferenceTarget | ChunkView, name: str) -> bool:
    """Whether `module.name` names a definition of that module, package of Go's or crate."""
    return name == f"{stem(found.path)}.{found.name}" or _is_packaged(found, name)


def _is_packaged(found: ReferenceTarget | ChunkView, name: str) -> bool:
    """Whether `package.name` names a definition of that package of Go's, a folder, or of that crate of Rust's."""
    if not name.endswith(f".{found.name}"):
        return False
    front, folders = name.removesuffix(f".{found.name}"), found.path.split("/")[:-1]
    if found.language == "go":
        return front in folders[-1:]
    return found.language == "rust" and front in [each.replace("-", "_") for each in folders]


def _tests_last(reader: Reader, related: Sequence[tuple[int, bool]]) -> list[tuple[int, bool]]:
    """Sure ones before likely ones, of each what is made before what tests it, else as they are."""
    some, others = related[:MAX_SORTED], related[MAX_SORTED:]
    heads = chunk_reader.heads(reader, [each for each, _ in some])
    tests = {head.id for head in heads if is_test_code(head.path, head.name)}
    return [*sorted(some, key=lambda one: (not one[1], one[0] in tests)), *others]


def _related(reader: Reader, ids: Sequence[int], asked: Asked) -> list[tuple[int, bool]]:
    if asked == "together":
        return []
    kind = "inherits" if asked == "heirs" else "calls"
    return relation_reader.related(reader, ids, kind, MAX_COUNTED, forward=asked == "callees")


def overriding(reader: Reader, methods: Sequence[ChunkView]) -> list[tuple[int, bool]]:
    """The methods of heirs, and of theirs, that are called as one of `methods`: row id, if surely; sure ones first.
    Some of them may override others.
    """
    found: dict[int, bool] = {}
    for method in methods:
        owner, _, leaf = method.name.rpartition(".")
        below_it: dict[int, bool] = {}
        waiting = [(each.id, True) for each in chunk_reader.by_name(reader, method.path, owner)]
        known = {each for each, _ in waiting}
        while waiting and len(known) < MAX_COUNTED:
            below: dict[int, bool] = {}
            for each, surely in waiting:
                for heir, is_sure in relation_reader.related(reader, [each], "inherits", MAX_COUNTED):
                    below[heir] = below.get(heir, False) or (surely and is_sure)
            waiting = [(heir, surely) for heir, surely in below.items() if heir not in known]
            known.update(below)
            heirs = chunk_reader.by_id(reader, [heir for heir, _ in waiting])
            for heir, surely in waiting:
                for each in _members(reader, heirs[heir], leaf) if heir in heirs else ():
                    below_it[each] = below_it.get(each, False) or surely
        below_it.pop(method.id, None)  # in a circle of bases
        for each, surely in below_it.items():  # of several that are called so some override others
            found[each] = found.get(each, False) or surely
    return sorted(found.items(), key=lambda item: not item[1])


def _members(reader: Reader, owner: ChunkView, leaf: str) -> list[int]:
    """The members of that name of a class, which may stand in another file of its folder (Go, Rust)."""
    name, folder = f"{owner.name}.{leaf}", posixpath.dirname(owner.path)
    named = chunk_reader.named(reader, [name], MAX_MEANT)
    there = [each for each in named if each.name == name and posixpath.dirname(each.path) == folder]
    return [each.id for each in there if each.path == owner.path] or [each.id for each in there]


def _together(reader: Reader, ids: Sequence[int]) -> tuple[dict[int, str], bool]:
    """What changed in commits that changed one of `ids` and elsewhere less often, likeliest to do so again first: by
    row id, in how many of that one's. And whether anything did at all.
    """
    own = ids[: 4 * MAX_MEANT]
    changes = commit_reader.change_counts(reader, own)
    shared: dict[int, tuple[tuple[float, int, float], float, str]] = {}
    known = commit_reader.companions(reader, own)
    for each, companions in known.items():
        for other in companions[: 4 * MAX_MEANT]:
            of = changes.get(each, other.commits)
            told = other.rank, other.commits / of, f"{other.commits} of {of} commits"
            shared[other.id] = max(told, shared.get(other.id, told))
    for each in ids:
        shared.pop(each, None)
    ordered = sorted(shared.items(), key=lambda item: item[1][:2], reverse=True)
    return {other: said for other, (_, _, said) in ordered}, bool(known)


def _said(question: RelationQuestion, sure: int, likely: int, one: str, many: str, handing: int) -> str:
    name = question.name
    if handing:
        passes = f"{handing:,} {'passes' if handing == 1 else 'pass'} "
        called = "" if not sure and not likely else _said(question, sure, likely, one, many, 0)
        return f"{called} {passes}it on without calling it." if called else f"{passes}'{name}' on without calling it."
    if not sure and not likely:
        if question.asked == "together":
            return f"No two commits known here changed '{name}' together with something else."
        return f"Nothing here {one} '{name}', as far as is known."
    maybe = f"Maybe {likely:,} {one if likely == 1 else many} '{name}'"
    said = f"{sure:,} {one if sure == 1 else many} '{name}'" if sure else maybe
    return f"{said}, and maybe {likely:,} more." if sure and likely else f"{said}."
