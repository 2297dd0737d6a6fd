"""Name lookup across files (symbol resolution): what a name means by its imports, through re-exports, barrels and base
classes.

`export * from`, a package's `__init__`, `import * as z` and what a class inherits are followed to the definition.
Nothing is guessed: where a step is not known, there is no answer.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aurora_memory.chunks import Import
from aurora_memory.language_families import EXACT_FAMILIES
from aurora_memory.module_paths import ModuleAlias, candidates, stem
from aurora_memory.views import ReferenceTarget

MAX_STEPS = 12
"""Re-exports, or base classes, followed one after another."""

WHOLE = "module.exports"
"""Name of what a module is that Node.js loads, where it is not the names that it gives away."""

_MAJOR = re.compile(r"v\d+")
_NAMELESS = "exports"
"""Name of what `module.exports = () => …` assigns: it has no other."""

_EXPORTING = frozenset({None, "exports", "module.exports"})
CLASS_LIKE = frozenset({"class", "interface", "struct", "trait", "enum"})
INSTANTIABLE = CLASS_LIKE | {"type"}
LIST = ELEMENT = "#"
"""What stands before what a list is of, and the name of the member that an element of it is."""

OWN_NAMES = frozenset({"self", "cls", "this"})

_SELVES = frozenset({"self", "this", "Self", "typing.Self", "t.Self", "te.Self"})


class Meaning(Struct, frozen=True):
    """Meaning of a name: definitions, the files of a module that it is bound to, or an object with members.

    `is_made` says that what is meant is an instance of the classes. `holder` is the file and name of an object whose
    members are definitions, and itself none: `const api = { find() {} }`. `depth` is of how many lists, one in another,
    it is an element.
    """

    definitions: Sequence[ReferenceTarget] = ()
    modules: Sequence[str] = ()
    is_made: bool = False
    holder: tuple[str, str] | None = None
    depth: int = 0

    def __bool__(self) -> bool:
        return bool(self.definitions or self.modules or self.holder)


NOTHING = Meaning()


class LinkedFiles(Struct, frozen=True):
    """Links among files: each known file's imports, aliases of modules, and what is noted of definitions (by row id).

    That are classes' bases as written, what functions return, and what fields of classes and variables of files hold.
    """

    imports: Mapping[str, Sequence[Import]] = {}
    bases: Mapping[int, Sequence[tuple[str, str]]] = {}
    aliases: Sequence[ModuleAlias] = ()
    returns: Mapping[int, str] = {}
    holds: Mapping[int, Mapping[str, str]] = {}
    variables: Mapping[str, Mapping[str, tuple[str, str]]] = {}
    """By unit and name: the file that gives it its value, and that."""


class NameLookup:
    """Symbol resolution: lookup of names among the definitions by file (`placed`, by path and simple name), along
    `links`."""

    def __init__(self, placed: Mapping[tuple[str, str], Sequence[ReferenceTarget]], links: LinkedFiles) -> None:
        self._placed = placed
        self._links = links
        self._bound: dict[str, dict[str, Import]] = {}
        self._stars: dict[str, list[str]] = {}
        self._files: dict[tuple[str, str, str], str | None] = {}
        self._stems: set[str] | None = None
        self._exports: dict[tuple[str, str], Meaning] = {}
        self._tops: dict[str, list[ReferenceTarget]] | None = None
        self._values: dict[tuple[str, str, str], Meaning] = {}
        self._holders: set[tuple[str, str]] | None = None

    def holds(self) -> Iterator[object]:
        """All that it is made of, and what it has found: for whoever takes it apart."""
        yield from vars(self).values()
        yield from (getattr(self._links, field) for field in self._links.__struct_fields__)

    def knows(self, path: str) -> bool:
        """Whether the imports of that file are known here."""
        return path in self._links.imports

    def file_of(self, module: str, importer: str, family: str) -> str | None:
        """The file of this workspace that a module is, as written in the file `importer`."""
        key = (module, importer.rpartition("/")[0], family)
        if key not in self._files:
            known = self._links.imports
            hopeless = family == "python" and not self._ends_like_a_file(module)
            tried = () if hopeless else candidates(module, importer, family, self._links.aliases)
            self._files[key] = next((unit(path, family) for path in tried if path in known), None)
        return self._files[key]

    def _ends_like_a_file(self, module: str) -> bool:
        """Whether some file or package is called like the last name of a Python module: of most that are installed,
        and of most things in modules, none is, and many places would be tried for each.
        """
        if self._stems is None:
            stems = {stem(path) for path in self._links.imports}
            folders = {posixpath.dirname(path) for path in self._links.imports if path.endswith("__init__.py")}
            self._stems = stems | {folder.rpartition("/")[2] for folder in folders}
        last = module.replace(".", "/").rpartition("/")[2]
        return not last or last in self._stems

    def imported(self, entry: Import, importer: str, family: str) -> Meaning:
        """Meaning of what an import statement binds."""
        file = self.file_of(entry.module, importer, family) if entry.module else importer
        if not entry.name:
            return self._module(file, family, entry.alias) if file is not None else NOTHING
        if file is not None and (found := self.exported(file, entry.name, family, entry.alias)):
            return found
        if family == "python":
            joined = f"{entry.module}{'' if entry.module.endswith('.') else '.'}{entry.name}"
            module = self.file_of(joined, importer, family)
            if module is not None:
                return Meaning(modules=(module,))
        return NOTHING

    def exported(self, path: str, name: str, family: str, wanted: str = "", steps: int = MAX_STEPS) -> Meaning:
        """Meaning of a name that the file at `path` gives away; `wanted` is what an importer calls it."""
        key = (path, name if name not in ("default", WHOLE) else f"{name} {wanted}")
        if key in self._exports:
            return self._exports[key]
        self._exports[key] = NOTHING  # a circle of re-exports ends here
        found = self._exported(path, name, family, wanted, steps)
        if found or steps == MAX_STEPS:
            self._exports[key] = found
        else:
            del self._exports[key]
        return found

    def _exported(self, path: str, name: str, family: str, wanted: str, steps: int) -> Meaning:
        """Export of a file: its own definition or variable, else what it re-exports."""
        own = [each for each in self._placed.get((path, name), ()) if each.parent in _EXPORTING]
        if own:
            return Meaning(own)
        if steps == 0:
            return NOTHING
        if (held := self._held(path, name, family)) or family == "go":
            return held
        entry = self._bindings(path).get(name)
        if entry is not None and not entry.module:  # `export { a as b }`
            return self.exported(path, entry.name, family, wanted, steps - 1) if entry.name != name else NOTHING
        if entry is not None:
            file = self.file_of(entry.module, path, family)
            if not entry.name:
                return self._module(file, family, wanted, steps - 1) if file is not None else NOTHING
            if file is not None and file != path:
                found = self.exported(file, entry.name, family, name, steps - 1)
                if found:
                    return found
            if family == "python":
                joined = f"{entry.module}{'' if entry.module.endswith('.') else '.'}{entry.name}"
                module = self.file_of(joined, path, family)
                return Meaning(modules=(module,)) if module is not None else NOTHING
            return NOTHING
        if name == "default" and WHOLE in self._bindings(path):
            return self.exported(path, WHOLE, family, wanted, steps - 1)
        if name in ("default", WHOLE):
            return self._default(path, wanted)
        for module in self._stars.get(path, ()):
            file = self.file_of(module, path, family)
            if file is not None and file != path and (found := self.exported(file, name, family, "", steps - 1)):
                return found
        if family == "python" and posixpath.basename(path) == "__init__.py":
            module = self.file_of(f".{name}", path, family)
            return Meaning(modules=(module,)) if module is not None else NOTHING
        declared = f"{posixpath.splitext(path)[0]}.d.ts"  # types, of what is written in JavaScript
        if family == "ecmascript" and path.endswith(".js") and self.knows(declared):
            return self.exported(declared, name, family, wanted, steps - 1)
        return NOTHING

    def _module(self, path: str, family: str, wanted: str, steps: int = MAX_STEPS) -> Meaning:
        """A whole module; one that Node.js loads may be called: `module.exports = f`."""
        if family != "ecmascript" or steps <= 0:
            return Meaning(modules=(path,))
        itself = self.exported(path, WHOLE, family, wanted, steps)
        return Meaning(itself.definitions, (path,), itself.is_made, itself.holder)

    def _default(self, path: str, wanted: str) -> Meaning:
        """A module's default: what is assigned to it without a name, what it calls as its importer or its file does,
        else the only thing it defines.
        """
        if self._tops is None:
            self._tops = {}
            for (file, _), found in self._placed.items():
                self._tops.setdefault(file, []).extend(
                    each for each in found if each.parent is None and each.kind not in ("module", "section")
                )
        tops = self._tops.get(path, [])
        stem = posixpath.basename(path).split(".", 1)[0]
        for name in (_NAMELESS, wanted, stem):
            if named := [each for each in tops if each.leaf == name]:
                return Meaning(named)
        alike = _spelled(stem)  # `content-type.js` is ContentType
        if named := [each for each in tops if _spelled(each.leaf) == alike]:
            return Meaning(named) if len({each.leaf for each in named}) == 1 else NOTHING
        return Meaning(tops) if len(tops) == 1 else NOTHING

    def _held(self, path: str, name: str, family: str) -> Meaning:
        """What a variable of a file holds: an object written there, or what an expression there gives."""
        file, value = self._links.variables.get(path, {}).get(name, ("", ""))
        if value and (found := self._value(file, value, family, "")):
            return found
        if self._holders is None:
            self._holders = {
                (file, each.parent) for (file, _), some in self._placed.items() for each in some if each.parent
            }
        return Meaning(holder=(path, name)) if (path, name) in self._holders else NOTHING

    def _bindings(self, path: str) -> Mapping[str, Import]:
        """Import bindings of a file (memoized): its imports by the names that they bind."""
        known = self._bound.get(path)
        if known is None:
            entries = self._links.imports.get(path, ())
            known = self._bound[path] = {bound_name(entry): entry for entry in entries if not is_star(entry)}
            self._stars[path] = [entry.module for entry in entries if is_star(entry)]
        return known

    def seen(self, path: str, name: str, family: str, around: str = "") -> Meaning:
        """Meaning of a bare name in a file, in the definition named `around`: what is in reach there, or imported."""
        place = unit(path, family)
        here = [each for each in self._placed.get((place, name), ()) if in_reach(each, around, family)]
        if here:
            deepest = max(len(each.parent or "") for each in here)
            return Meaning([each for each in here if len(each.parent or "") == deepest])
        entry = self._bindings(path).get(name)
        if entry is not None:
            return self.imported(entry, path, family)
        for module in self._stars.get(path, ()):
            file = self.file_of(module, path, family)
            if file is not None and (found := self.exported(file, name, family)):
                return found
        return self._held(place, name, family)

    def dotted(
        self, path: str, names: Sequence[str], family: str, around: str = "", own: ReferenceTarget | None = None
    ) -> Meaning:
        """Meaning of `a.b().c` in a file, step by step from what `a` is there; `own` is the class that `self` is of."""
        meaning = receiver = NOTHING
        whole, known = self._by_path(path, names, family)
        for n, written in enumerate(names):
            name = written.rstrip("()")
            if n < known:
                meaning = whole
            elif n == 0:
                is_own = own is not None and name in OWN_NAMES
                meaning = Meaning([own], is_made=True) if own and is_own else self.seen(path, name, family, around)
            else:
                receiver = meaning
                meaning = self._step(meaning, name, family)
            for _ in range((len(written) - len(name)) // 2):
                meaning = self._called(meaning, receiver, family)
            if not meaning:
                break
        return meaning

    def _by_path(self, path: str, names: Sequence[str], family: str) -> tuple[Meaning, int]:
        """The module that `import a.b` binds by its whole path, and how many of the names that takes."""
        for taken in range(len(names) - 1, 1, -1) if family == "python" else ():
            entry = self._bindings(path).get(names[taken - 1])
            if entry is not None and not entry.name and not entry.alias and entry.module == ".".join(names[:taken]):
                file = self.file_of(entry.module, path, family)
                return (Meaning(modules=(file,)), taken) if file is not None else (NOTHING, 0)
        return NOTHING, 0

    def _step(self, meaning: Meaning, name: str, family: str) -> Meaning:
        """What a member of something is."""
        if meaning.depth:
            return replace(meaning, depth=meaning.depth - 1) if name == ELEMENT else NOTHING
        if meaning.modules and (given := self.exported(meaning.modules[0], name, family)):
            return given
        if meaning.holder is not None:
            path, holder = meaning.holder
            found = [each for each in self._placed.get((path, name), ()) if each.parent == holder]
            deeper = Meaning(holder=(path, f"{holder}.{name}"))
            return Meaning(found) if found else deeper if deeper.holder in (self._holders or ()) else NOTHING
        for each in meaning.definitions:
            if not _has_members(each):  # a property, or a function with members
                value = self._returned(each, NOTHING, family)
                if value.is_made and (deeper := self._step(value, name, family)):
                    return deeper
                found = [one for one in self._placed.get((each.path, name), ()) if one.parent == each.name]
                if found and family == "ecmascript":
                    return Meaning(found)
            elif found := self.member(each, name, family):
                return Meaning(found)
            elif value := self._field(each, name, family):
                return value
        return NOTHING

    def _called(self, meaning: Meaning, receiver: Meaning, family: str) -> Meaning:
        """What a call of something gives: an instance of a class, what a function says that it returns."""
        if meaning.depth:
            return NOTHING
        if meaning.definitions and all(each.kind in INSTANTIABLE for each in meaning.definitions):
            return NOTHING if meaning.is_made else Meaning(meaning.definitions, is_made=True)
        for each in meaning.definitions:
            if found := self._returned(each, receiver, family):
                return found
        return NOTHING

    def _returned(self, function: ReferenceTarget, receiver: Meaning, family: str) -> Meaning:
        """Return type of a function, as what a call of it means."""
        value = self._links.returns.get(function.id)
        if value is None:
            return NOTHING
        if value.removesuffix("()") in _SELVES:
            return Meaning(receiver.definitions, is_made=True) if receiver else NOTHING
        own = self.owner(function, family)
        return self._value(function.path, value, family, function.name, own)

    def _field(self, owner: ReferenceTarget, name: str, family: str) -> Meaning:
        """What a field of a class holds, its own or an inherited one."""
        waiting, known = [owner], {owner.id}
        while waiting and len(known) <= 4 * MAX_STEPS:
            each = waiting.pop(0)
            value = self._links.holds.get(each.id, {}).get(name)
            if value:
                return self._value(each.path, value, family, each.name, each)
            if family == "go" and (embedded := self._embedded(each, name, family)):
                return embedded
            bases = [base for base in self.bases(each, family) if base.id not in known]
            known.update(base.id for base in bases)
            waiting = [*bases, *waiting]
        return NOTHING

    def _value(
        self, path: str, expression: str, family: str, around: str, own: ReferenceTarget | None = None
    ) -> Meaning:
        """What an expression gives that stands in the definition `around` of a file."""
        key = (path, expression, around)
        if key not in self._values:
            self._values[key] = NOTHING  # what is told of itself is not told
            alone = expression.lstrip(LIST)
            meaning = self.dotted(path, alone.split("."), family, around, own)
            lists = len(expression) - len(alone)
            self._values[key] = replace(meaning, depth=meaning.depth + lists) if lists and meaning else meaning
        return self._values[key]

    def _embedded(self, owner: ReferenceTarget, name: str, family: str) -> Meaning:
        """Embedded field of a struct of Go, which is called as its type is."""
        for base, qualifier in self._links.bases.get(owner.id, ()):
            if base == name:
                found = self.dotted(owner.path, [*filter(None, [qualifier]), base], family).definitions
                return Meaning(found, is_made=True) if found else NOTHING
        return NOTHING

    def owner(self, member: ReferenceTarget, family: str) -> ReferenceTarget | None:
        """The class that a method, or a function inside of one, belongs to."""
        around = member.name if member.kind in CLASS_LIKE else member.parent
        while around:
            leaf = around.rpartition(".")[2]
            for each in self._placed.get((unit(member.path, family), leaf), ()):
                if each.name == around and each.kind in CLASS_LIKE:
                    return each
            around = around.rpartition(".")[0]
        return None

    def member(self, owner: ReferenceTarget, name: str, family: str, *, above: bool = False) -> list[ReferenceTarget]:
        """Members of that name of a class (method resolution), its own or inherited; `above`: inherited only."""
        waiting, known = [owner], {owner.id}
        while waiting and len(known) <= 4 * MAX_STEPS:
            each = waiting.pop(0)
            if not (above and each.id == owner.id):
                place = unit(each.path, family)
                found = [one for one in self._placed.get((place, name), ()) if one.parent == each.name]
                if found:
                    return found
            bases = [base for base in self.bases(each, family) if base.id not in known]
            known.update(base.id for base in bases)
            waiting = [*bases, *waiting]
        return []

    def bases(self, owner: ReferenceTarget, family: str) -> list[ReferenceTarget]:
        """Class hierarchy: base classes (superclasses), the classes that a class inherits from, as far as they are
        known here."""
        return [
            base
            for name, qualifier in self._links.bases.get(owner.id, ())
            for base in self.dotted(owner.path, [*filter(None, qualifier.split(".")), name], family).definitions
            if _has_members(base)
        ]


def _has_members(found: ReferenceTarget) -> bool:
    """Whether it is a type that may have members of its own: in Go any that has a name."""
    return found.kind in CLASS_LIKE or (found.kind == "type" and found.language == "go")


def _spelled(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def in_reach(found: ReferenceTarget, around: str, family: str) -> bool:
    """Lexical scope: whether a bare name in the definition `around` can mean `found`: module level, the same scope, or
    inside it.

    A class's members are not in reach by their bare name in Python, JavaScript and Go.
    """
    if found.parent is None:
        return True
    if family in EXACT_FAMILIES and found.kind == "method":
        return False
    return found.parent == around or around.startswith(found.parent + ".")


def unit(path: str, family: str) -> str:
    """What names of a file's top level are known in: the file, in Go the package, which is a folder."""
    return f"{posixpath.dirname(path)}/" if family == "go" and not path.endswith("/") else path


def is_star(entry: Import) -> bool:
    """Whether an import binds all that a module has: `from m import *`, Go's `import . "m"`."""
    return entry.name == "*" or entry.alias == "."


def bound_name(entry: Import) -> str:
    """The name an import binds in its file: the alias, the imported name, or the module's last segment."""
    if entry.alias or entry.name:
        return entry.alias or entry.name
    segments = module_segments(entry.module)
    if not segments:
        return entry.module
    if len(segments) > 1 and "/" in entry.module and _MAJOR.fullmatch(segments[-1]):  # `example.org/yaml/v3` is `yaml`
        segments.pop()
    return segments[-1]


def module_segments(module: str) -> list[str]:
    """The folders and file a module names: `a.b`, `a/b`, `a::b` → [a, b]."""
    cleaned = module.replace("::", "/").replace("\\", "/")
    if "/" not in cleaned:
        cleaned = cleaned.replace(".", "/")
    return [part for part in cleaned.split("/") if part not in ("", ".", "..", "crate", "self", "super")]
