"""From names to chunks: which definition a call, base class or import most likely means.

Nothing here runs the code or a type checker; the evidence is scope (same class, same file), the file's imports, and
how rare the name is. Each relation carries a weight in (0, 1]: how sure that evidence makes us (AURORA §6.5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from aurora_memory.chunks import MODULE_NAME, Import, Reference

RelationKind = Literal["contains", "calls", "imports", "inherits"]

SELF_NAMES = frozenset({"self", "cls", "this", "super", "super()", "Self", "@"})
AMBIGUITY_LIMIT = 5
"""A name with more definitions than this, and no import to choose among them, says nothing about which is meant."""

FAMILIES = {"typescript": "ecmascript", "tsx": "ecmascript", "javascript": "ecmascript", "c": "c", "cpp": "c"}
"""Languages whose files call one another."""


class Definition(Struct, frozen=True, array_like=True):
    """A chunk as something to be referred to."""

    id: int
    path: str
    name: str
    leaf: str
    parent: str | None
    kind: str
    language: str


class Relation(Struct, frozen=True, array_like=True):
    """A directed edge between two chunks."""

    from_id: int
    kind: RelationKind
    to_id: int
    weight: float


def resolve(
    source: Definition,
    references: Sequence[Reference],
    imports: Sequence[Import],
    definitions: Mapping[str, Sequence[Definition]],
) -> list[Relation]:
    """Resolve one chunk's references. `definitions` maps a simple name to the chunks that define it."""
    by_alias = {bound_name(entry): entry for entry in imports}
    strongest: dict[tuple[RelationKind, int], float] = {}
    for reference in references:
        for target, weight in _targets(source, reference, by_alias, definitions):
            if target.id != source.id:
                key: tuple[RelationKind, int] = (reference.kind, target.id)
                strongest[key] = max(weight, strongest.get(key, 0.0))
    return [Relation(source.id, kind, to_id, weight) for (kind, to_id), weight in strongest.items()]


def resolve_imports(
    source: Definition, imports: Sequence[Import], definitions: Mapping[str, Sequence[Definition]]
) -> list[Relation]:
    """The chunks a file imports by name, as relations of the chunk that stands for the file."""
    found: dict[int, float] = {}
    for entry in imports:
        for target in definitions.get(entry.name, ()) if entry.name else ():
            if target.parent is None and _akin(source, target) and module_is(entry.module, source.path, target.path):
                found[target.id] = 1.0
    found.pop(source.id, None)
    return [Relation(source.id, "imports", to_id, weight) for to_id, weight in found.items()]


def _targets(
    source: Definition,
    reference: Reference,
    by_alias: Mapping[str, Import],
    definitions: Mapping[str, Sequence[Definition]],
) -> list[tuple[Definition, float]]:
    head = reference.qualifier.split(".", 1)[0].split("::", 1)[0]
    entry = by_alias.get(head if head else reference.name)
    name = reference.name
    if entry is not None and not head and entry.name:
        name = entry.name
    candidates = [found for found in definitions.get(name, ()) if _akin(source, found)]
    if not candidates:
        return []
    here = [found for found in candidates if found.path == source.path]
    if head in SELF_NAMES:
        own_class = source.name if source.kind == "class" else source.parent
        own = [found for found in here if found.parent == own_class]
        if own:
            return [(own[0], 1.0)]
    elif not head:
        visible = [found for found in here if _visible(found, source)]
        if visible:
            return [(max(visible, key=lambda found: len(found.parent or "")), 1.0)]
    if entry is not None:
        imported = _imported(entry, source.path, candidates)
        if imported:
            return [(found, 1.0 / len(imported)) for found in imported[:AMBIGUITY_LIMIT]]
        if not head:
            return []  # imported from somewhere that is not in this workspace
    if head and not entry:
        typed = [found for found in candidates if found.parent and found.parent.rsplit(".", 1)[-1] == head]
        if typed:
            return [(found, 1.0 / len(typed)) for found in typed[:AMBIGUITY_LIMIT]]
    elif head and entry:
        return []
    if len(candidates) > AMBIGUITY_LIMIT:
        return [(found, 0.3 / len(here)) for found in here] if 0 < len(here) <= AMBIGUITY_LIMIT else []
    return [(found, 0.6 / len(candidates)) for found in candidates]


def _imported(entry: Import, importer: str, candidates: Sequence[Definition]) -> list[Definition]:
    """The candidates an import can mean: in the submodule it names, else in the module, else in the class it names."""
    if entry.name:
        module = _join(entry.module, entry.name)
        if found := [candidate for candidate in candidates if module_is(module, importer, candidate.path)]:
            return found
    if found := [candidate for candidate in candidates if module_is(entry.module, importer, candidate.path)]:
        return found
    return [candidate for candidate in candidates if entry.name and candidate.parent == entry.name]


def _visible(found: Definition, source: Definition) -> bool:
    """Whether a bare name in `source` can mean `found`: module level, a sibling in the same scope, or nested inside."""
    if found.parent is None:
        return True
    return found.parent == source.name or source.name.startswith(found.parent + ".")


def _akin(source: Definition, found: Definition) -> bool:
    return FAMILIES.get(source.language, source.language) == FAMILIES.get(found.language, found.language)


def bound_name(entry: Import) -> str:
    """The name an import binds in its file: the alias, the imported name, or the module's last segment."""
    if entry.alias:
        return entry.alias
    if entry.name:
        return entry.name
    return _segments(entry.module)[-1] if _segments(entry.module) else entry.module


def _join(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith((".", "/")) else f"{module}.{name}" if module else name


def _segments(module: str) -> list[str]:
    """The folders and file a module names: `a.b`, `a/b`, `a::b` → [a, b]."""
    cleaned = module.replace("::", "/").replace("\\", "/")
    if "/" not in cleaned:
        cleaned = cleaned.replace(".", "/")
    return [part for part in cleaned.split("/") if part not in ("", ".", "..", "crate", "self", "super")]


def module_is(module: str, importer: str, path: str) -> bool:
    """Whether `module`, as written in the file `importer`, can be the file or package folder of `path`."""
    segments = _segments(module)
    relative = module.startswith(".")
    stem = _without_suffix(path)
    folder = path.rsplit("/", 1)[0] if "/" in path else ""
    if relative:
        base = _relative_base(module, importer)
        wanted = "/".join(part for part in (base, *segments) if part)
        return wanted in (stem, folder) or stem in (f"{wanted}/index", f"{wanted}/__init__")
    if not segments:
        return False
    wanted = _without_suffix("/".join(segments))
    return any(
        place == wanted or place.endswith("/" + wanted)
        for place in (stem, folder, stem.removesuffix("/__init__").removesuffix("/index").removesuffix("/mod"))
    ) or (len(segments) > 1 and bool(folder) and wanted.endswith("/" + folder))


def _relative_base(module: str, importer: str) -> str:
    """The folder a relative module starts from: `.x` and `./x` the importer's own, `..x` and `../x` the one above."""
    parts = importer.split("/")[:-1]
    if "/" in module or module in (".", ".."):
        ups = sum(1 for part in module.split("/") if part == "..")
    else:
        ups = len(module) - len(module.lstrip(".")) - 1
    return "/".join(parts[: len(parts) - ups] if ups else parts)


def _without_suffix(path: str) -> str:
    head, _, tail = path.rpartition("/")
    stem = tail.split(".", 1)[0] if not tail.startswith(".") else tail
    return f"{head}/{stem}" if head else stem


def stands_for_file(chunks: Sequence[Definition]) -> Definition | None:
    """The chunk that speaks for a whole file: its module remainder, else its first definition."""
    return next((chunk for chunk in chunks if chunk.name == MODULE_NAME), chunks[0] if chunks else None)
