"""Scope of a file (reference resolution: call graph, imports), from names to chunks: which definition a call, base
class or import most likely means.

Nothing here runs the code or a type checker; the evidence is scope (same class, same file), the file's imports, what
those lead to (`name_lookup`), and how rare the name is. Each relation carries a weight in (0, 1]: how sure that
evidence makes us (AURORA §6.5).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Literal

from msgspec import Struct

from aurora_memory.catalogue import Catalogue, without_suffix
from aurora_memory.chunks import KNOWLEDGE_KINDS, Import, Reference, ReferenceKind
from aurora_memory.crate_lookup import OUTSIDE
from aurora_memory.language_families import (
    CLOSED_LANGUAGES,
    CRATED_FAMILIES,
    EXACT_FAMILIES,
    NAMESPACED_FAMILIES,
    PACKAGED_FAMILIES,
    PACKAGED_LANGUAGES,
    family,
)
from aurora_memory.module_paths import STANDARD_CRATES
from aurora_memory.name_lookup import OWN_NAMES, bound_name, in_reach, is_star, unit
from aurora_memory.views import ReferenceTarget

RelationKind = Literal["contains", "calls", "hands on", "imports", "inherits", "mentions"]

SELF_NAMES = frozenset({"self", "cls", "this", "super", "super()", "Self", "@"})
_OWN = frozenset({"self", "Self"})
"""What a path begins with where a method's own value or type is meant, as a rule."""

_ROOTS = frozenset({"crate", "super"})

CHAINED = "()"
"""Qualifier of a name that is called on what a call returned: `get` of `client().get`."""

LIKELY = 0.6
"""Weight, at most, of what imports seem to lead to without being followed to it."""

AMBIGUITY_LIMIT = 5
"""A name with more definitions than this, and no import to choose among them, says nothing about which is meant: it is
told that it may be any of them.
"""

_UNCLEAR = 0.0
"""Weight of the definition that stands for more of its name than are told."""

_CALLED = frozenset({"function", "method"})

SURE = 0.75
"""Weight from which a relation is told as a fact: measured against resolvers of Python, TypeScript and Java, more
than 95 of 100 such hold. What weighs less is told as likely."""

MENTION_WEIGHT = 0.3
"""A document that names or links to something says less than code that calls it."""

_SOURCES = re.compile(rf"^(?:.*/)?src/[^/]+/(?:{'|'.join(PACKAGED_LANGUAGES)})(?:/|$)")
"""Folders below which packages lie: a class and its test are of one, `src/main/java/a/b` and `src/test/java/a/b`."""


class Relation(Struct, frozen=True, array_like=True, gc=False):
    """Relation: a directed edge between two chunks."""

    from_id: int
    kind: RelationKind
    to_id: int
    weight: float


class Scope:
    """Scope of a file (import resolution), its view of the catalogue: what the names that its chunks use can mean.
    `imports` are the file's.
    """

    def __init__(self, path: str, language: str, imports: Sequence[Import], catalogue: Catalogue) -> None:
        self._path = path
        self._language = language
        self._imports = imports
        self._catalogue = catalogue
        self._bindings = {bound_name(entry): entry for entry in imports}
        self._names = catalogue.names(language)
        self._family = family(language)
        self._has_submodules = self._family != "ecmascript"
        self._has_stars = any(map(is_star, imports))
        self._exact = self._family in EXACT_FAMILIES and catalogue.lookup.knows(path)
        self._has_crates = self._family in CRATED_FAMILIES and catalogue.crates.knows(path)
        self._known: dict[tuple[str, str], list[ReferenceTarget]] = {}
        self._told: dict[tuple[str, str], list[tuple[ReferenceTarget, float]]] = {}
        self.unclear: set[tuple[int, str, ReferenceKind]] = set()
        """Row ids of chunks resolved so far, each with a name that it calls or inherits from and that too many
        definitions have, and how that is noted.
        """
        self._places = {path, unit(path, self._family)}

    def resolve(self, source: ReferenceTarget, references: Iterable[Reference]) -> list[Relation]:
        """Resolve the references of one chunk of the file."""
        strongest: dict[tuple[RelationKind, int], float] = {}
        names, bindings = self._names, self._bindings
        for reference in references:
            kind: RelationKind
            if reference.kind == "calls" or reference.kind == "inherits":
                if (
                    reference.name not in names
                    and reference.name not in bindings
                    and reference.qualifier.partition(".")[0].removesuffix("()") not in bindings
                ):
                    continue  # most names in use are defined elsewhere
                kind, targets = reference.kind, self._targets(source, reference)
                if kind == "inherits":
                    targets = _inherited(targets)
                    if self._family in NAMESPACED_FAMILIES and not reference.qualifier:
                        targets = _only_one_at_top(targets)
            elif reference.kind == "hands on":
                kind, targets = "hands on", self._handed(source, reference)
            elif reference.kind == "returns":
                continue  # read from `LinkedFiles` by `name_lookup`
            else:
                # What documents name and link to, and `holds` where a variable is only another name for something
                # (`read = shop.read`): what else is held, `Client()`, is no definition's name.
                meant = _mentioned(source, reference, self._catalogue)
                kind, targets = "mentions", [(meant, MENTION_WEIGHT)] if meant else []
            for target, weight in targets:
                if weight == _UNCLEAR:
                    self.unclear.add((source.id, target.leaf, "may call" if kind == "calls" else "may inherit"))
                elif target.id != source.id:
                    key: tuple[RelationKind, int] = (kind, target.id)
                    if weight > strongest.get(key, 0.0):
                        strongest[key] = weight
        return [Relation(source.id, kind, to_id, weight) for (kind, to_id), weight in strongest.items()]

    def resolve_imports(self, source: ReferenceTarget) -> list[Relation]:
        """The chunks that the file imports by name, as relations of `source`, the chunk that stands for it."""
        found: set[int] = set()
        for entry in self._imports:
            if not entry.name or not entry.module:  # what a file gives away of its own is not imported there
                continue
            targets: Sequence[ReferenceTarget] = ()
            if self._exact:
                targets = self._catalogue.lookup.imported(entry, self._path, self._family).definitions
            elif self._has_crates:
                path = [*filter(None, entry.module.split("::")), entry.name]
                meant = self._catalogue.crates.imported(self._path, path)
                if meant is OUTSIDE:
                    continue
                targets = meant.definitions
            targets = targets or self._catalogue.imported(entry.module, self._path, entry.name, self._language)
            found.update(target.id for target in targets if target.parent is None and target.id != source.id)
        return [Relation(source.id, "imports", to_id, 1.0) for to_id in sorted(found)]

    def _targets(self, source: ReferenceTarget, reference: Reference) -> list[tuple[ReferenceTarget, float]]:
        """Candidates of a reference, each with its weight; found once for all chunks of the file to which it means the
        same.
        """
        key = (reference.name, reference.qualifier)
        told = self._told.get(key)
        if told is None:
            told = self._candidates(source, reference)
            if self._is_same_everywhere(reference):
                self._told[key] = told
        return told

    def _is_same_everywhere(self, reference: Reference) -> bool:
        """Whether a reference means the same to every chunk of the file: it does not begin with the chunk's own class,
        nor with what is only in reach inside of something.
        """
        first = (reference.qualifier.partition(".")[0].partition("::")[0] or reference.name).rstrip("()")
        if first in SELF_NAMES or first in OWN_NAMES:
            return False
        entry = self._bindings.get(first)
        names = (first, entry.name) if entry is not None else (first,)
        in_file = self._catalogue.in_file
        for place in self._places:
            for name in names:
                for each in in_file(place, name):
                    if each.parent:
                        return False
        return True

    def _candidates(self, source: ReferenceTarget, reference: Reference) -> list[tuple[ReferenceTarget, float]]:
        """Candidates of a reference, each with its weight: by scope, import or receiver, else by the name's rarity."""
        if self._has_crates and (told := self._in_crates(source, reference)) is not None:
            return told
        qualifier = reference.qualifier
        head = qualifier.partition(".")[0].partition("::")[0]
        maker, called, _ = qualifier.partition(CHAINED)
        maker = maker.rpartition(".")[2]  # `Outer.Cache()`
        made = not self._exact and bool(called) and maker[:1].isupper()
        if made:
            head = maker
        bound = head or reference.name
        entry = self._bindings.get(bound)
        name = entry.name if entry is not None and not head and entry.name else reference.name
        names = self._names
        candidates = names.get(name, ())
        exact = self._exact
        if exact and qualifier != CHAINED and (head not in SELF_NAMES or qualifier not in SELF_NAMES):
            found = self._followed(source, reference.name, qualifier)
            if found:
                return self._alternatives(found)
        if not candidates:
            return []
        here = self._catalogue.in_file(self._path, name)
        if head in SELF_NAMES:
            if sure := self._own(source, name, qualifier, here):
                return sure
        elif exact:
            # What is in reach was found above; another file's is not called by its bare name but where all is global.
            if not head and entry is None and self._imports and not self._has_stars:
                return []
        elif here and not head:
            visible = [found for found in here if in_reach(found, source.name, self._family)]
            if visible:
                nearest = max(visible, key=lambda found: len(found.parent or ""))
                return _each_meant([found for found in visible if found.name == nearest.name], 1.0)
        if made:
            # What a method gives is often what it is called on: `builder.a().b()`.
            members = self._of_type(head, entry, name, 1.0 if qualifier.endswith(f"{head}{CHAINED}") else LIKELY)
            # What a type from outside the workspace has is nothing here, unless here it is given more; what one of here
            # inherits may be anything.
            if members or (head not in names and self._language in CLOSED_LANGUAGES):
                return members
            if self._has_crates:
                candidates, here = self._catalogue.crates.by_kind(name)[0], ()
            return self._by_rarity(candidates, here)
        if entry is not None:
            imported = self._known.get((bound, name))
            if imported is None:
                imported = self._known[bound, name] = self._imported(entry, name)
            # What is imported but not found here comes from outside the workspace.
            return _each_meant(imported, LIKELY if exact else 1.0)
        # `impl Read for ()` is of no name.
        if head and head != CHAINED and (typed := self._catalogue.members(head, name, self._language)):
            return _each_meant(self._of_package(typed) or typed, LIKELY if exact else 1.0)
        mates = [] if head else [found for found in self._of_package(candidates) if _is_at_top(found)]
        if mates:
            return _each_meant(mates, 1.0)
        return self._by_rarity(candidates, here)

    def _in_crates(self, source: ReferenceTarget, reference: Reference) -> list[tuple[ReferenceTarget, float]] | None:
        """What a path of Rust means, and nothing where it leads out of the workspace; None where nobody knows."""
        name, qualifier = reference.name, reference.qualifier
        around = qualifier.split(".") if qualifier else []
        first = around[0] if around else name
        if around and (first in _OWN or CHAINED in qualifier):
            return None
        crates, is_bound = self._catalogue.crates, first in self._bindings
        methods, free = crates.by_kind(name)
        if not around:
            if not free and not is_bound:
                return []
            if visible := [
                each
                for each in self._catalogue.in_file(self._path, name)
                if each.kind != "method" and in_reach(each, source.name, self._family)
            ]:
                nearest = max(visible, key=lambda each: len(each.parent or ""))
                return _each_meant([each for each in visible if each.name == nearest.name], 1.0)
        elif not is_bound and first[0].islower() and not crates.may_begin(first):  # a variable, as a rule
            return self._by_rarity(methods, ())
        if around:
            meant = crates.meant(self._path, [*around, name], self._module_of(source) if first == "super" else "")
        else:
            meant = crates.bare(self._path, name)
        if meant.definitions:
            return _each_meant(meant.definitions, 1.0)
        if meant.owners:
            members = [each for owner in meant.owners for each in crates.members(owner, name)]
            return _each_meant(members, 1.0) if members else None
        if is_bound or first in STANDARD_CRATES:
            return [] if meant is OUTSIDE else None
        if not around:
            # What is in reach was found above, but for macros.
            return self._by_rarity(free if self._has_stars else [each for each in free if each.kind == "macro"], ())
        if first[0].islower() and first not in _ROOTS:  # a variable that is called as a module
            return self._by_rarity(methods, ())
        return None

    def _module_of(self, source: ReferenceTarget) -> str:
        """The module, written inside of the file, that a definition is in."""
        around = source.parent
        while around:
            for each in self._catalogue.in_file(self._path, around.rpartition(".")[2]):
                if each.kind == "namespace" and each.name == around:
                    return around
            around = around.rpartition(".")[0]
        return ""

    def _by_rarity(
        self, candidates: Sequence[ReferenceTarget], here: Sequence[ReferenceTarget]
    ) -> list[tuple[ReferenceTarget, float]]:
        """What may be meant where nothing but the name tells: the fewer are called so, the likelier."""
        if len(candidates) > AMBIGUITY_LIMIT:
            near = here if len(here) <= AMBIGUITY_LIMIT else ()
            return [*((found, 0.3 / len(near)) for found in near), (candidates[0], _UNCLEAR)]
        return [(found, 0.6 / len(candidates)) for found in candidates]

    def _of_type(
        self, name_of_type: str, entry: Import | None, name: str, most: float
    ) -> list[tuple[ReferenceTarget, float]]:
        """Members of a type that a variable is declared with: where it is imported, else of the package's, else of any
        that is called so.
        """
        own = self._catalogue.members(name_of_type, name, self._language)
        if entry is not None and entry.module:
            ending = f"/{_join(entry.module, entry.name).replace('.', '/')}"
            own = [found for found in own if f"/{without_suffix(found.path)}".endswith(ending)] or own
        return _each_meant(self._of_package(own) or own, most)

    def _of_package(self, candidates: Iterable[ReferenceTarget]) -> list[ReferenceTarget]:
        """Those that lie in the file's package, where a package's names are in reach of all its files."""
        if self._family not in PACKAGED_FAMILIES:
            return []
        own = _package(self._path)
        return [found for found in candidates if _package(found.path) == own]

    def _handed(self, source: ReferenceTarget, reference: Reference) -> list[tuple[ReferenceTarget, float]]:
        """What surely is handed on by that name: of what may only be called so nothing is told."""
        if not self._exact:
            return []
        return [
            (found, weight)
            for found, weight in self._targets(source, reference)
            if weight >= SURE and found.kind not in ("module", "section")
        ]

    def _followed(self, source: ReferenceTarget, name: str, qualifier: str) -> Sequence[ReferenceTarget]:
        """What a name surely means: in reach in its file, or where its file's imports lead."""
        lookup = self._catalogue.lookup
        names = [*qualifier.split("."), name] if qualifier else [name]
        own = lookup.owner(source, self._family) if names[0] in OWN_NAMES else None
        if names[0] in SELF_NAMES and own is None:
            return ()
        meant = lookup.dotted(self._path, names, self._family, source.name, own)
        return () if meant.is_made else meant.definitions  # what is made is called itself nowhere

    def _own(
        self, source: ReferenceTarget, name: str, qualifier: str, here: Sequence[ReferenceTarget]
    ) -> list[tuple[ReferenceTarget, float]]:
        """Method resolution of `self.name`: the method of the same class, or of those it inherits from."""
        if qualifier not in SELF_NAMES and qualifier != "self.class":
            return []  # `self.client.get`: nobody said what `self.client` is
        own_class = source.name if source.kind == "class" else source.parent
        own = [found for found in here if found.parent == own_class]
        if own and self._exact and not qualifier.startswith("super"):
            return [(each, 1.0) for each in ([source] if own[0].name == source.name else own)]  # each of its overloads
        if not self._exact:
            return [] if qualifier.startswith("super") else _each_meant(own, 1.0)
        # A function inside a method speaks of the class around that.
        around = own_class
        while around:
            owner = next((each for each in self._catalogue.of_file(self._path) if each.name == around), None)
            if owner is not None and owner.kind == "class":
                above = qualifier.startswith("super")
                return self._alternatives(self._catalogue.lookup.member(owner, name, self._family, above=above))
            around = around.rpartition(".")[0]
        return []

    def _alternatives(self, found: Sequence[ReferenceTarget]) -> list[tuple[ReferenceTarget, float]]:
        """Weights of what one name means: alternatives in one place, as in an `if` and its `else`, are each meant.

        Several of one name in a JavaScript file lie in different functions, as a rule, that have no name.
        """
        # What a package of Go has in several files is for different systems; its tests may be a package of their own.
        places = {(unit(each.path, self._family), each.path.endswith("_test.go"), each.name) for each in found}
        weight = 1.0 / max(len(places), 1)
        if self._family == "ecmascript" and len(found) > len(places) and found[0].path == self._path:
            weight = min(weight, LIKELY)
        return [(each, weight) for each in found]

    def _imported(self, entry: Import, name: str) -> list[ReferenceTarget]:
        """Targets of an imported name: in the submodule it names, else in the module, else in the class it names."""
        imported = self._catalogue.imported
        if entry.name and self._has_submodules:
            module = _join(entry.module, entry.name)
            if found := imported(module, self._path, name, self._language):
                return found
        if found := imported(entry.module, self._path, name, self._language):
            return found
        if not entry.name:
            return []
        return [found for found in self._names.get(name, ()) if found.parent == entry.name]


def _each_meant(found: Sequence[ReferenceTarget], most: float) -> list[tuple[ReferenceTarget, float]]:
    """Weights, `most` at most, of definitions in several places of which one is meant. Those of one place, overloads or
    a class and its constructors, are each told as surely, but pass on less (`SURE`) than what is there alone.
    """
    if len(found) == 1:
        return [(found[0], most)]
    places = Counter(map(_place, found))
    kept = set(islice(sorted(places), AMBIGUITY_LIMIT))
    told = [(each, place) for each in found if (place := _place(each)) in kept]
    return [(each, min(most, (1.0 if places[place] == 1 else SURE) / len(places))) for each, place in told]


def _place(found: ReferenceTarget) -> tuple[str, str]:
    """Where overloads lie: their file and name, of a constructor its class's."""
    return found.path, found.name.rpartition(".")[0] if _is_constructor(found) else found.name


def _is_constructor(found: ReferenceTarget) -> bool:
    """Whether it is called like the class that it is in."""
    return (found.parent or "").rpartition(".")[2] == found.leaf


def _is_at_top(found: ReferenceTarget) -> bool:
    """Whether its bare name is in reach of its package: a file's top level, and constructors of classes there."""
    return found.parent is None or (_is_constructor(found) and "." not in found.parent)


def _package(path: str) -> str:
    """Package of a file: its folder, below the folder of sources."""
    return _SOURCES.sub("", f"{path.rpartition('/')[0]}/")


def _inherited(targets: list[tuple[ReferenceTarget, float]]) -> list[tuple[ReferenceTarget, float]]:
    """Base classes without what is called: constructors are named as their classes are."""
    classes = [(found, weight) for found, weight in targets if found.kind not in _CALLED]
    return classes or targets


def _only_one_at_top(targets: list[tuple[ReferenceTarget, float]]) -> list[tuple[ReferenceTarget, float]]:
    """Base classes, where the one that is called so stands at the top of its file and all is in reach by namespaces: it
    surely is meant (of 658 in a workspace of 2,000 files all but two).
    """
    if len(targets) != 1 or targets[0][1] < LIKELY or targets[0][0].parent:
        return targets
    return [(target, max(weight, SURE)) for target, weight in targets]


def _mentioned(source: ReferenceTarget, reference: Reference, catalogue: Catalogue) -> ReferenceTarget | None:
    """The one definition that a document's name or link can mean: in its own file, in code, in other documents."""
    if reference.kind == "links":
        return catalogue.headed(reference.qualifier, reference.name)
    found = [each for each in catalogue.anywhere(reference.name) if each.kind not in ("module", "section")]
    if reference.qualifier:
        around = re.split(r"\.|::", reference.qualifier)[-1]
        found = [
            each
            for each in found
            if (each.parent.rsplit(".", 1)[-1] if each.parent else without_suffix(each.path).rsplit("/", 1)[-1])
            == around
        ]
    here = [each for each in found if each.path == source.path]
    code = [each for each in found if each.kind not in KNOWLEDGE_KINDS]
    pool = here or code or found
    return pool[0] if len(pool) == 1 else None


def _join(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith((".", "/")) else f"{module}.{name}" if module else name
