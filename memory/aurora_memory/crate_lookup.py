"""Crate lookup (name resolution of Rust): what a path such as `shop_core::cart::add` means, along `use`, re-exports,
globs and modules, from crate to crate.

Imports are known by file: one that holds only in a function, or a module inside of the file, counts for all of it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aurora_memory.chunks import Import
from aurora_memory.module_paths import STANDARD_CRATES, ModuleAlias, rust_folder, rust_parents, rust_roots
from aurora_memory.views import ReferenceTarget

MAX_STEPS = 24
"""Imports followed one after another."""

_BEGINNINGS = STANDARD_CRATES | {"crate", "self", "super"}
_TYPES = frozenset({"struct", "enum", "trait", "type", "union"})
_MODULES = frozenset({"namespace", "module", "section"})

_Module = tuple[str, str]
"""File, and the names of the modules around inside of it, with dots."""


class PathMeaning(Struct, frozen=True):
    """Meaning of a path: definitions, and the modules that are called so. Of what a type has, that is `owners`."""

    definitions: Sequence[ReferenceTarget] = ()
    modules: Sequence[_Module] = ()
    owners: Sequence[ReferenceTarget] = ()


NOTHING = PathMeaning()
OUTSIDE = PathMeaning(modules=())
"""Meaning of a path that begins with a crate that is not in this workspace."""
_SOUGHT = PathMeaning(definitions=())
_NO_MODULES: dict[_Module, None] = {}
"""What is known of what is being looked for."""

_UNKNOWN = (NOTHING, OUTSIDE, _SOUGHT)


class CrateLookup:
    """Name resolution of Rust among the definitions by name (`named`) and by file (`placed`, by path and simple name),
    by each file's imports and the crates' names (`aliases`).
    """

    def __init__(
        self,
        named: Mapping[str, Sequence[ReferenceTarget]],
        placed: Mapping[tuple[str, str], Sequence[ReferenceTarget]],
        imports: Mapping[str, Sequence[Import]],
        aliases: Sequence[ModuleAlias],
    ) -> None:
        self._named = named
        self._placed = placed
        self._imports = imports
        self._crates: dict[str, list[ModuleAlias]] = {}
        for alias in aliases:
            if alias.language == "rust":
                self._crates.setdefault(alias.pattern, []).append(alias)
        self._begin = {alias.targets[0] for some in self._crates.values() for alias in some}
        self._beginning_in: dict[str, list[str]] = {}
        self._files: dict[str, list[str]] = {}
        self._modules_of: dict[str, list[str]] = {}
        self._module_names: set[str] = set()
        self._with_modules: set[str] = set()
        self._bound: dict[str, dict[str, list[list[str]]]] = {}
        self._binding: dict[str, list[str]] = {}
        self._told_in: dict[str, list[str]] = {}
        self._available: dict[str, set[_Module]] = {}
        self._stars: dict[str, list[list[str]]] = {}
        self._globs: dict[str, dict[_Module, None]] = {}
        self._items: dict[tuple[str, str, str], PathMeaning] = {}
        self._absolute: dict[tuple[str, ...], PathMeaning] = {}
        self._members: dict[tuple[str, str, str], list[ReferenceTarget]] = {}
        self._free: dict[str, tuple[list[ReferenceTarget], list[ReferenceTarget]]] = {}
        self._roots: dict[str, tuple[str, ...]] = {}
        self._parents: dict[str, list[_Module]] = {}
        self._folders: dict[str, str] = {}
        self._circles = 0
        self._tentative: list[tuple[dict[Any, Any], Any]] = []
        if self._crates:
            self._know_modules()

    def holds(self) -> Iterator[object]:
        """All that it has found: for whoever takes it apart."""
        yield from vars(self).values()

    def knows(self, path: str) -> bool:
        """Whether the imports of that file, and the names of crates, are known here."""
        return bool(self._crates) and path in self._imports

    def bare(self, path: str, name: str) -> PathMeaning:
        """Meaning of a name alone that is defined nowhere around it in its file: imported, or given by globs."""
        if name in self._bindings(path):
            return self.meant(path, (name,))
        return self._by_globs((path, ""), name, 0)

    def may_begin(self, name: str) -> bool:
        """Whether a path may begin with that name where it is not imported: modules and crates are called so."""
        return name in self._module_names or name in self._crates or name in _BEGINNINGS

    def members(self, owner: ReferenceTarget, name: str) -> list[ReferenceTarget]:
        """What a type has of that name, anywhere in its crate."""
        crate = self._crate_of(owner.path)
        key = (crate, owner.name, name)
        found = self._members.get(key)
        if found is None:
            found = self._members[key] = [
                each
                for each in self._named.get(name, ())
                if each.parent == owner.name and self._crate_of(each.path) == crate
            ]
        return found

    def by_kind(self, name: str) -> tuple[list[ReferenceTarget], list[ReferenceTarget]]:
        """The methods that are called so, and what else is."""
        found = self._free.get(name)
        if found is None:
            found = self._free[name] = ([], [])
            for each in self._named.get(name, ()):
                found[each.kind != "method"].append(each)
        return found

    def meant(self, path: str, names: Sequence[str], inside: str | None = "", depth: int = 0) -> PathMeaning:
        """Meaning of the path of those names in a file, in the module named `inside` of it; None for an import of which
        that is not known.
        """
        meaning, at = self._beginning(path, names, inside, depth)
        last = len(names) - 1
        while at <= last and meaning not in _UNKNOWN:
            step = NOTHING
            # A module first: `pub use self::cart::cart` stands beside `mod cart`.
            if at < last and (inner := [each for one in meaning.modules for each in self._modules_in(one, names[at])]):
                step = PathMeaning(modules=inner)
            for module in meaning.modules:
                if step is NOTHING:
                    step = self._item(module, names[at], depth)
            if (
                step in _UNKNOWN
                and at == last
                and (owners := [each for each in meaning.definitions if each.kind in _TYPES])
            ):
                step = PathMeaning(owners=owners)
            meaning = step
            at += 1
        return meaning

    def _beginning(self, path: str, names: Sequence[str], inside: str | None, depth: int) -> tuple[PathMeaning, int]:
        """What a path begins with, and how many of its names that takes."""
        first = names[0]
        if first == "crate":
            return PathMeaning(modules=[(root, "") for root in self._roots_of(path)]), 1
        if first == "self":
            return PathMeaning(modules=[(path, inside or "")]), 1
        if first == "super":
            return self._above(path, names, inside)
        if first in STANDARD_CRATES and len(names) > 1:
            return OUTSIDE, len(names)
        if len(names) > 1:
            found = self._modules_in((path, inside), first) if inside else []
            found = found or self._modules_in((path, ""), first) or self._crate(path, first)
            if found:
                return PathMeaning(modules=found), 1
        meaning = self._item((path, inside), first, depth) if inside else NOTHING
        if meaning in _UNKNOWN:
            meaning = self._item((path, ""), first, depth)
        if meaning is not NOTHING or len(names) == 1:
            if meaning in _UNKNOWN and (crate := self._crate(path, first)):
                return PathMeaning(modules=crate), 1
            return meaning, 1
        for root in self._roots_of(path):  # as paths began until 2018
            if root != path and (modules := self._modules_in((root, ""), first)):
                return PathMeaning(modules=modules), 1
        return OUTSIDE, len(names)

    def _above(self, path: str, names: Sequence[str], inside: str | None) -> tuple[PathMeaning, int]:
        """What `super::super` is in a file; of an import, whose place is not known, the file around it may be meant."""
        modules: list[_Module] = [(path, inside or "")]
        at = 0
        while at < len(names) and names[at] == "super":
            above: list[_Module] = [(path, "")] if inside is None and at == 0 and self._has_modules(path) else []
            for file, within in modules:
                if within:
                    above.append((file, within.rpartition(".")[0]))
                else:
                    above += self._parents_of(file)
            modules = above
            at += 1
        return PathMeaning(modules=modules), at

    def _parents_of(self, file: str) -> list[_Module]:
        """The files that `super` can be in a file, outside of modules that are written in it."""
        known = self._parents.get(file)
        if known is None:
            found = [*rust_parents(file), *(self._beside(posixpath.dirname(file)) if file not in self._begin else ())]
            known = self._parents[file] = [(each, "") for each in dict.fromkeys(found) if each in self._imports]
        return known

    def _beside(self, folder: str) -> list[str]:
        """The files of a folder that crates begin in."""
        known = self._beginning_in.get(folder)
        if known is None:
            known = self._beginning_in[folder] = sorted(
                each for each in self._begin if posixpath.dirname(each) == folder
            )
        return known

    def _has_modules(self, path: str) -> bool:
        """Whether modules are written inside of a file."""
        return path in self._with_modules

    def _item(self, module: _Module, name: str, depth: int) -> PathMeaning:
        """What a module has of that name: its own, what it imports, what globs give it."""
        found = self._direct(module, name, depth)
        if found is not NOTHING and found is not _SOUGHT:
            return found
        return self._by_globs(module, name, depth)

    def _by_globs(self, module: _Module, name: str, depth: int) -> PathMeaning:
        """What globs give a module of that name."""
        globs = self._given_by_globs(module[0], depth)
        if not globs:
            return NOTHING
        places = self._available.get(name)
        if places is None:
            places = self._available[name] = self._having(name)
        both = globs.keys() & places
        for place in both if len(both) < 2 else [each for each in globs if each in both]:
            if place != module:
                given = self._direct(place, name, depth + 1)
                if given is not NOTHING and given is not OUTSIDE and given is not _SOUGHT:
                    return given
        return NOTHING

    def _having(self, name: str) -> set[_Module]:
        """The modules that may have something of that name without globs."""
        found = {(each.path, each.parent or "") for each in self.by_kind(name)[1]}
        found.update((path, "") for path in self._binding.get(name, ()))
        for each in self._named.get(name, ()):
            if each.kind == "namespace":
                found.add((each.path, each.parent or ""))
        for path in self._told_in.get(name, ()):
            found.add((path, ""))
        return found

    def _direct(self, module: _Module, name: str, depth: int) -> PathMeaning:
        """What a module has of that name without globs (memoized)."""
        key = (*module, name)
        known = self._items.get(key)
        if known is not None:
            self._circles += known is _SOUGHT
            return known
        if depth > MAX_STEPS:
            self._circles += 1
            return NOTHING
        self._items[key] = _SOUGHT  # a circle of imports ends here
        before = self._circles
        found = self._items[key] = self._looked_up(module, name, depth)
        if depth and found in _UNKNOWN and self._circles != before:
            self._tentative.append((self._items, key))
        self._settle(depth)
        return found

    def _looked_up(self, module: _Module, name: str, depth: int) -> PathMeaning:
        path, within = module
        own = [
            each
            for each in self._placed.get((path, name), ())
            if (each.parent or "") == within and each.kind not in _MODULES and each.kind != "method"
        ]
        modules = self._modules_in(module, name)
        if own:
            return PathMeaning(own, modules)
        is_outside = False
        for names in self._bindings(path).get(name, ()):
            found = self.imported(path, names, depth + 1)
            if found not in _UNKNOWN:
                return PathMeaning(found.definitions, [*modules, *found.modules], found.owners) if modules else found
            is_outside = is_outside or found is OUTSIDE
        return PathMeaning(modules=modules) if modules else OUTSIDE if is_outside else NOTHING

    def imported(self, path: str, names: Sequence[str], depth: int = 0) -> PathMeaning:
        """What an import leads to: one that begins with a crate leads to the same from everywhere (memoized)."""
        first = names[0]
        if first in STANDARD_CRATES:
            return OUTSIDE
        if first == "crate":
            crate = self._roots_of(path)
            place = crate[0] if len(crate) == 1 else ""
        else:
            crates = self._crates.get(first, ())
            place = crates[0].targets[0] if len(crates) == 1 and not crates[0].scope else ""
        if not place or place == path or len(names) == 1 or (first != "crate" and self._modules_in((path, ""), first)):
            return self.meant(path, names, None, depth)
        key = (place, *names[1:])
        found = self._absolute.get(key)
        if found is None:
            before = self._circles
            found = self.meant(place, ("self", *names[1:]), "", depth)
            if found not in _UNKNOWN or self._circles == before:
                self._absolute[key] = found
        return found

    def _given_by_globs(self, path: str, depth: int) -> dict[_Module, None]:
        """The modules of which globs give a file all that they have, and those of which they are given it."""
        known = self._globs.get(path)
        if known is not None or depth > MAX_STEPS:
            self._circles += known is None or known is _NO_MODULES
            return known or {}
        self._globs[path] = _NO_MODULES  # a circle of globs ends here
        before = self._circles
        found: dict[_Module, None] = {}
        waiting, seen = [path], set[str]()
        while waiting:
            file = waiting.pop(0)
            if file in seen:
                continue
            seen.add(file)
            self._bindings(file)
            for names in self._stars[file]:
                for module in self.imported(file, names, depth + 1).modules:
                    found.setdefault(module)
                    waiting.append(module[0])
        self._globs[path] = found
        if depth and self._circles != before:
            self._tentative.append((self._globs, path))
        self._settle(depth)
        return found

    def _settle(self, depth: int) -> None:
        """Forget what was not found within a circle of imports, once that is left: it may be found from elsewhere."""
        if depth == 0 and self._tentative:
            for known, key in self._tentative:
                known.pop(key, None)
            self._tentative.clear()

    def _modules_in(self, module: _Module, name: str) -> list[_Module]:
        """The modules of that name in a module: written inside of its file, or files themselves."""
        if name not in self._module_names:
            return []
        path, within = module
        full = f"{within}.{name}" if within else name
        found: list[_Module] = [
            (path, full)
            for each in self._placed.get((path, name), ())
            if each.kind == "namespace" and each.name == full
        ]
        if not within:
            found += [(each, "") for each in self._files.get(f"{self._folder_of(path)}/{name}", ())]
        return found

    def _folder_of(self, path: str) -> str:
        """The folder in which the modules of a file lie (memoized)."""
        folder = self._folders.get(path)
        if folder is None:
            folder = self._folders[path] = rust_folder(path, self._begin)
        return folder

    def _know_modules(self) -> None:
        """Index of modules: files by the folder that they are told from and their name, files in which
        modules are written, names of modules, and which files import what as which name.
        """
        for path in self._imports:
            if path.endswith(".rs"):
                folder, file = posixpath.split(path)
                place = folder if file == "mod.rs" else f"{folder}/{file.removesuffix('.rs')}"
                place = place if "/" in place else f"/{place}"
                self._files.setdefault(place, []).append(path)
                around, _, name = place.rpartition("/")
                self._module_names.add(name)
                self._modules_of.setdefault(around, []).append(name)
                for name in self._bindings(path):
                    self._binding.setdefault(name, []).append(path)
        for path in self._imports:
            for name in self._modules_of.get(self._folder_of(path), ()) if path.endswith(".rs") else ():
                self._told_in.setdefault(name, []).append(path)
        for name, some in self._named.items():
            inside = [each.path for each in some if each.kind == "namespace"]
            if inside:
                self._module_names.add(name)
                self._with_modules.update(inside)

    def _crate(self, path: str, name: str) -> list[_Module]:
        """The crate that is called so in a file."""
        for alias in self._crates.get(name, ()):
            if not alias.scope or path.startswith(f"{alias.scope}/"):
                return [(alias.targets[0], "")]
        return []

    def _crate_of(self, path: str) -> str:
        """The folder in which the crate of a file begins."""
        return posixpath.dirname(self._roots_of(path)[0])

    def _roots_of(self, path: str) -> tuple[str, ...]:
        """The files that `crate` can be in a file: the nearest that there are, else the file itself."""
        known = self._roots.get(path)
        if known is None:
            known = ()
            for some in () if path in self._begin else rust_roots(path):
                at = posixpath.dirname(some[0])
                there = some if some == (path,) else (*self._beside(at), *some)
                if known := tuple(each for each in dict.fromkeys(there) if each in self._imports):
                    break
            known = self._roots[path] = known or (path,)
        return known

    def _bindings(self, path: str) -> Mapping[str, list[list[str]]]:
        """Imports of a file by the names that they bind, each as a path of names; those of globs are put aside."""
        known = self._bound.get(path)
        if known is None:
            known = self._bound[path] = {}
            stars = self._stars[path] = []
            for entry in self._imports.get(path, ()):
                names = [part for part in entry.module.split("::") if part]
                if entry.name == "*":
                    if names:
                        stars.append(names)
                    continue
                if entry.name:
                    names.append(entry.name)
                if names:
                    known.setdefault(entry.alias or names[-1], []).append(names)
        return known
