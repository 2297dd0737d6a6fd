"""Catalogue of definitions (symbol table): what is defined where, by name, file and module.

Which of them a name means is for `scope` to say; what imports surely lead to, for `name_lookup`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aurora_memory.chunks import MODULE_NAME
from aurora_memory.crate_lookup import CrateLookup
from aurora_memory.language_families import family
from aurora_memory.name_lookup import LinkedFiles, NameLookup, module_segments, unit
from aurora_memory.views import ReferenceTarget

NO_LINKS = LinkedFiles()


def _empty(known: object) -> None:
    """Take out all that a dict or set has, one by one; of dicts in it as well. Anything else is left alone."""
    if isinstance(known, set):
        while known:
            known.pop()
    elif isinstance(known, dict):
        while known:
            _empty(known.popitem()[1])


class Catalogue:
    """Catalogue of definitions (symbol table): by name within a family of languages, by name and file, files by
    module."""

    def __init__(self, definitions: Iterable[ReferenceTarget], links: LinkedFiles = NO_LINKS) -> None:
        self._named: dict[str, dict[str, list[ReferenceTarget]]] = {}
        self._placed: dict[tuple[str, str], list[ReferenceTarget]] = {}
        self._files: dict[str, set[str]] = {}
        self._stems: dict[str, list[str]] = {}
        self._folders: dict[str, list[str]] = {}
        self._known_imports: dict[tuple[str, str, str, str], list[ReferenceTarget]] = {}
        self._known_modules: dict[tuple[str, str], list[str]] = {}
        self._known_endings: dict[str, set[str]] = {}
        self._places: dict[str, tuple[str, str]] = {}
        self._headings: dict[str, dict[str, ReferenceTarget]] = {}
        self._by_path: dict[str, list[ReferenceTarget]] = {}
        self._by_id: dict[int, ReferenceTarget] = {}
        self._families: list[str] = []
        self._members: dict[tuple[str, str], dict[str, list[ReferenceTarget]]] = {}
        for definition in definitions:
            path, leaf = definition.path, definition.leaf
            mates = self._by_path.setdefault(path, [])
            if not mates:
                self._add_file(path)
            mates.append(definition)
            self._named.setdefault(family(definition.language), {}).setdefault(leaf, []).append(definition)
            self._placed.setdefault((path, leaf), []).append(definition)
            if definition.language == "go":
                self._placed.setdefault((unit(path, "go"), leaf), []).append(definition)
        self._families = sorted(self._named)
        self.lookup = NameLookup(self._placed, links)
        """Lookup along imports, of files whose imports are known here (`links`)."""
        self.crates = CrateLookup(self._named.get("rust", {}), self._placed, links.imports, links.aliases)
        """Lookup along the paths of Rust, of files whose imports are known here."""

    def let_go(self) -> None:
        """Let go of all that is known, piece by piece: at once it would hold every thread for as long as that takes.

        So does what was found in it meanwhile, and the links it was made of.
        """
        self._families = []
        for known in (*vars(self).values(), *self.lookup.holds(), *self.crates.holds()):
            _empty(known)

    def _add_file(self, path: str) -> None:
        """Index entry of a file, for look-ups by path segment, stem and folder."""
        stem = without_suffix(path)
        for segment in stem.split("/")[-2:]:  # its name, and that of the folder whose front it may be
            self._files.setdefault(segment, set()).add(path)
        self._stems.setdefault(stem, []).append(path)
        self._folders.setdefault(path.rpartition("/")[0], []).append(path)

    def names(self, language: str) -> Mapping[str, Sequence[ReferenceTarget]]:
        """Every definition in the language's family, by simple name."""
        return self._named.get(family(language), {})

    def members(self, owner: str, name: str, language: str) -> Sequence[ReferenceTarget]:
        """The definitions of that simple name, in the language's family, inside of what has the simple name `owner`.

        Sorted by owner once for each name: of those that hundreds have each use would look through all.
        """
        key = (family(language), name)
        known = self._members.get(key)
        if known is None:
            known = self._members[key] = {}
            for found in self._named.get(key[0], {}).get(name, ()):
                if found.parent:
                    known.setdefault(found.parent.rpartition(".")[2], []).append(found)
        return known.get(owner, ())

    def anywhere(self, name: str) -> list[ReferenceTarget]:
        """Every definition of that simple name, whatever its language."""
        return [found for known in self._families for found in self._named[known].get(name, ())]

    def with_ids(self, ids: Iterable[int]) -> list[ReferenceTarget]:
        """The definitions of these chunks, as far as they are known here, once it knows ids (`know_ids`)."""
        return [self._by_id[each] for each in ids if each in self._by_id]

    def know_ids(self) -> None:
        """Make ready for `with_ids`. Blocks: 17 ms for 22,000 definitions."""
        self._by_id.update({each.id: each for mates in self._by_path.values() for each in mates})

    def of_file(self, path: str) -> Sequence[ReferenceTarget]:
        """The definitions of one file, as far as they are known here, in the order they were given."""
        return self._by_path.get(path, ())

    def in_file(self, path: str, name: str) -> Sequence[ReferenceTarget]:
        """The definitions of that simple name in one file."""
        return self._placed.get((path, name), ())

    def headed(self, path: str, fragment: str) -> ReferenceTarget | None:
        """The first definition of a file with that heading, else what stands for the file; None for an unknown file."""
        here = self._headings.get(path)
        if here is None:
            here = self._headings[path] = {_letters(each.leaf): each for each in reversed(self.of_file(path))}
        wanted = _letters(fragment)
        return (here.get(wanted) if wanted else None) or stands_for_file(self.of_file(path))

    def imported(self, module: str, importer: str, name: str, language: str) -> list[ReferenceTarget]:
        """The definitions of `name` in the files that `module`, as written in `importer`, can be."""
        folder = importer.rpartition("/")[0] if module.startswith(".") else ""
        wanted = family(language)
        key = (module, folder, name, wanted)
        found = self._known_imports.get(key)
        if found is None:
            files = self._known_modules.get((module, folder))
            if files is None:
                files = self._known_modules[module, folder] = sorted(self._module(module, importer))
            placed = self._placed
            found = self._known_imports[key] = [
                each for path in files for each in placed.get((path, name), ()) if family(each.language) == wanted
            ]
        return found

    def _module(self, module: str, importer: str) -> set[str]:
        """The files that `module`, as written in the file `importer`, can be; those of a package's own folder too."""
        segments = module_segments(module)
        if module.startswith("."):
            wanted = "/".join(part for part in (_relative_base(module, importer), *segments) if part)
            return {*self._stems.get(without_suffix(wanted), ()), *self._folders.get(wanted, ())}
        return self._ending(without_suffix("/".join(segments)))

    def _ending(self, wanted: str) -> set[str]:
        """The files that can be imported as `wanted`."""
        found = self._known_endings.get(wanted)
        if found is None:
            places = self._places
            found = self._known_endings[wanted] = {
                path
                for path in self._files.get(wanted.rpartition("/")[2], ())
                if _can_be(wanted, places.get(path) or places.setdefault(path, _places_of(path)))
            }
        return found


def _letters(text: str) -> str:
    """Anchor: what is left of a heading, and of the link to it, when spelling rules are put aside."""
    return "".join(filter(str.isalnum, text.lower()))


def _places_of(path: str) -> tuple[str, str]:
    """Module names of a file: itself, and its folder, of which it may be the front or, in Go, a part."""
    return without_suffix(path), path.rpartition("/")[0]


def _can_be(wanted: str, places: tuple[str, str]) -> bool:
    """Whether what is wanted ends one of the places, or a folder ends what is wanted."""
    stem, folder = places
    ending = f"/{wanted}"
    return wanted in places or stem.endswith(ending) or folder.endswith(ending) or wanted.endswith(f"/{folder}")


def _relative_base(module: str, importer: str) -> str:
    """The folder a relative module starts from: `.x` and `./x` the importer's own, `..x` and `../x` the one above."""
    parts = importer.split("/")[:-1]
    if "/" in module or module in (".", ".."):
        ups = sum(1 for part in module.split("/") if part == "..")
    else:
        ups = len(module) - len(module.lstrip(".")) - 1
    return "/".join(parts[: len(parts) - ups] if ups else parts)


def without_suffix(path: str) -> str:
    """Path without its file extension."""
    head, _, tail = path.rpartition("/")
    stem = tail.split(".", 1)[0] if not tail.startswith(".") else tail
    return f"{head}/{stem}" if head else stem


def stands_for_file(chunks: Sequence[ReferenceTarget]) -> ReferenceTarget | None:
    """The chunk that speaks for a whole file: its module remainder, else its first definition."""
    return next((chunk for chunk in chunks if chunk.name == MODULE_NAME), chunks[0] if chunks else None)
