"""Name lookup across files: what a name means by its imports, through re-exports, barrels and base classes.

`export * from`, a package's `__init__`, `import * as z` and what a class inherits are followed to the definition.
Nothing is guessed: where a step is not known, there is no answer.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from msgspec import Struct

from aurora_memory.chunks import Import
from aurora_memory.module_paths import ModuleAlias, candidates
from aurora_memory.views import ReferenceTarget

MAX_STEPS = 12
"""Re-exports, or base classes, followed one after another."""

_EXPORTING = frozenset({None, "exports", "module.exports"})
CLASS_LIKE = frozenset({"class", "interface", "struct", "trait", "enum"})


class Meaning(Struct, frozen=True):
    """Meaning of a name: definitions, or the files of a module that it is bound to."""

    definitions: Sequence[ReferenceTarget] = ()
    modules: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.definitions or self.modules)


NOTHING = Meaning()


class LinkedFiles(Struct, frozen=True):
    """Links among files: each known file's imports, classes' bases as written (by row id), aliases of modules."""

    imports: Mapping[str, Sequence[Import]] = {}
    bases: Mapping[int, Sequence[tuple[str, str]]] = {}
    aliases: Sequence[ModuleAlias] = ()


class NameLookup:
    """Lookup of names among the definitions by file (`placed`, by path and simple name), along `links`."""

    def __init__(self, placed: Mapping[tuple[str, str], Sequence[ReferenceTarget]], links: LinkedFiles) -> None:
        self._placed = placed
        self._links = links
        self._bound: dict[str, dict[str, Import]] = {}
        self._stars: dict[str, list[str]] = {}
        self._files: dict[tuple[str, str, str], str | None] = {}
        self._exports: dict[tuple[str, str], Meaning] = {}
        self._tops: dict[str, list[ReferenceTarget]] | None = None

    def knows(self, path: str) -> bool:
        """Whether the imports of that file are known here."""
        return path in self._links.imports

    def file_of(self, module: str, importer: str, family: str) -> str | None:
        """The file of this workspace that a module is, as written in the file `importer`."""
        folder = posixpath.dirname(importer)
        key = (module, folder, family)
        if key not in self._files:
            known = self._links.imports
            tried = candidates(module, importer, family, self._links.aliases)
            self._files[key] = next((path for path in tried if path in known), None)
        return self._files[key]

    def imported(self, entry: Import, importer: str, family: str) -> Meaning:
        """Meaning of what an import statement binds."""
        file = self.file_of(entry.module, importer, family) if entry.module else importer
        if not entry.name:
            return Meaning(modules=(file,)) if file is not None else NOTHING
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
        key = (path, name if name != "default" else f"default {wanted}")
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
        own = [each for each in self._placed.get((path, name), ()) if each.parent in _EXPORTING]
        if own:
            return Meaning(own)
        if steps == 0:
            return NOTHING
        entry = self._bindings(path).get(name)
        if entry is not None and not entry.module:  # `export { a as b }`
            return self.exported(path, entry.name, family, wanted, steps - 1) if entry.name != name else NOTHING
        if entry is not None:
            file = self.file_of(entry.module, path, family)
            if not entry.name:
                return Meaning(modules=(file,)) if file is not None else NOTHING
            if file is not None and file != path:
                found = self.exported(file, entry.name, family, name, steps - 1)
                if found:
                    return found
            if family == "python":
                joined = f"{entry.module}{'' if entry.module.endswith('.') else '.'}{entry.name}"
                module = self.file_of(joined, path, family)
                return Meaning(modules=(module,)) if module is not None else NOTHING
            return NOTHING
        if name == "default":
            return self._default(path, wanted)
        for module in self._stars.get(path, ()):
            file = self.file_of(module, path, family)
            if file is not None and file != path and (found := self.exported(file, name, family, "", steps - 1)):
                return found
        if family == "python" and posixpath.basename(path) == "__init__.py":
            module = self.file_of(f".{name}", path, family)
            return Meaning(modules=(module,)) if module is not None else NOTHING
        return NOTHING

    def _default(self, path: str, wanted: str) -> Meaning:
        """A module's default: what it calls as its importer or its file does, else the only thing it defines."""
        if self._tops is None:
            self._tops = {}
            for (file, _), found in self._placed.items():
                self._tops.setdefault(file, []).extend(
                    each for each in found if each.parent is None and each.kind not in ("module", "section")
                )
        tops = self._tops.get(path, [])
        stem = posixpath.basename(path).split(".", 1)[0]
        for name in (wanted, stem):
            if named := [each for each in tops if each.leaf == name]:
                return Meaning(named)
        return Meaning(tops) if len(tops) == 1 else NOTHING

    def _bindings(self, path: str) -> Mapping[str, Import]:
        known = self._bound.get(path)
        if known is None:
            entries = self._links.imports.get(path, ())
            known = self._bound[path] = {bound_name(entry): entry for entry in entries if entry.name != "*"}
            self._stars[path] = [entry.module for entry in entries if entry.name == "*"]
        return known

    def seen(self, path: str, name: str, family: str, around: str = "") -> Meaning:
        """Meaning of a bare name in a file, in the definition named `around`: what is in reach there, or imported."""
        here = [each for each in self._placed.get((path, name), ()) if in_reach(each, around, family)]
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
        return NOTHING

    def dotted(self, path: str, names: Sequence[str], family: str, around: str = "") -> Meaning:
        """Meaning of `a.b.c` in a file: from what `a` is there, step by step."""
        meaning = self.seen(path, names[0], family, around)
        for name in names[1:]:
            if meaning.modules:
                meaning = self.exported(meaning.modules[0], name, family)
            else:
                meaning = next(
                    (Meaning(found) for each in meaning.definitions if (found := self.member(each, name, family))),
                    NOTHING,
                )
            if not meaning:
                break
        return meaning

    def member(self, owner: ReferenceTarget, name: str, family: str, *, above: bool = False) -> list[ReferenceTarget]:
        """The members of that name of a class, its own or inherited; `above`: inherited only."""
        waiting, known = [owner], {owner.id}
        while waiting and len(known) <= 4 * MAX_STEPS:
            each = waiting.pop(0)
            if not (above and each.id == owner.id):
                found = [one for one in self._placed.get((each.path, name), ()) if one.parent == each.name]
                if found:
                    return found
            bases = [base for base in self.bases(each, family) if base.id not in known]
            known.update(base.id for base in bases)
            waiting = [*bases, *waiting]
        return []

    def bases(self, owner: ReferenceTarget, family: str) -> list[ReferenceTarget]:
        """The classes that a class inherits from, as far as they are known here."""
        return [
            base
            for name, qualifier in self._links.bases.get(owner.id, ())
            for base in self.dotted(owner.path, [*filter(None, qualifier.split(".")), name], family).definitions
            if base.kind in CLASS_LIKE
        ]


def in_reach(found: ReferenceTarget, around: str, family: str) -> bool:
    """Whether a bare name in the definition `around` can mean `found`: module level, the same scope, or inside it.

    A class's members are not in reach by their bare name in Python and JavaScript.
    """
    if found.parent is None:
        return True
    if family in ("python", "ecmascript") and found.kind == "method":
        return False
    return found.parent == around or around.startswith(found.parent + ".")


def bound_name(entry: Import) -> str:
    """The name an import binds in its file: the alias, the imported name, or the module's last segment."""
    return entry.alias or entry.name or module_segments(entry.module)[-1:][0] if _binds(entry) else entry.module


def _binds(entry: Import) -> bool:
    return bool(entry.alias or entry.name or module_segments(entry.module))


def module_segments(module: str) -> list[str]:
    """The folders and file a module names: `a.b`, `a/b`, `a::b` → [a, b]."""
    cleaned = module.replace("::", "/").replace("\\", "/")
    if "/" not in cleaned:
        cleaned = cleaned.replace(".", "/")
    return [part for part in cleaned.split("/") if part not in ("", ".", "..", "crate", "self", "super")]
