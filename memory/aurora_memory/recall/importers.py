"""Importers (reverse dependencies): the files that import a module, a file or a name, by their import statements.

In Python, JavaScript, TypeScript and Go an import is followed to the file that it means, so what is told of them is
sure. In other languages a module that ends as a file's path does means it, surely where no other file's path ends so.
What is defined nowhere here (`numpy`, `typing.Any`) is told by how it is written.
"""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct
from msgspec.structs import replace

from aurora_memory.chunks import Import
from aurora_memory.language_families import EXACT_FAMILIES, family
from aurora_memory.module_paths import BUILT, WRITTEN_IN, is_renamed, stem
from aurora_memory.name_lookup import LinkedFiles, NameLookup, bound_name, is_star, module_segments, unit
from aurora_memory.recall.places import is_test
from aurora_memory.store import chunk_reader, file_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView

MAX_IMPORTERS = 20_000

RENAMED = "imports it through another name"
"""What is said of who imports what another file calls otherwise: `export { find as search }`, `const t = new T()`."""

_UNNAMED = frozenset({"go", "c", "ruby", "lua", "bash"})
"""Families of languages whose imports tell a package or a file, and none of the names in it."""

_MAX_ALIKE = 20
"""Files told, at most, that one import may mean."""

_FEW_MODULES = 40
"""Modules asked about together, at most, that aliases are compared with one by one."""

_FRONTS = frozenset({"__init__", "index", "mod", "lib"})
"""Stems of files that stand for their folder when it is imported."""


class Importer(Struct, frozen=True):
    """File that imports what was asked about: if it surely does, and how that is written (`Context from .core`)."""

    path: str
    is_sure: bool
    written: str


class ImportedModules(Struct, frozen=True):
    """Files, and folders of Go (with `/` at their end), that a name or a path means as a module."""

    units: frozenset[str]
    alike: frozenset[str]
    """Other files of the same names, which an import that tells no more may mean as well."""

    def __bool__(self) -> bool:
        return bool(self.units)


class FileImports:
    """Imports of every file, as they are written, and what modules they can mean."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._families = {path: family(language) for path, language in file_reader.languages(reader).items()}
        known = dict.fromkeys(self._families, ())
        known |= {unit(path, "go"): () for path, of in self._families.items() if of == "go"}
        self._importing = {family(each) for each in relation_reader.importing_languages(reader)}
        self._aliases = relation_reader.module_aliases(reader)
        self._aliased = {"go", *("python" if each.is_python else "ecmascript" for each in self._aliases)}
        self._lookup = NameLookup({}, LinkedFiles(known, aliases=self._aliases))
        self._named: dict[frozenset[str], Mapping[str, Sequence[str]]] = {}
        self._packages = {posixpath.dirname(path) for path in known if path.endswith("/__init__.py")}

    def modules(self, name: str) -> ImportedModules:
        """What `name` means as a module: a path, its end, or dotted names; a folder is meant by the file in front."""
        exact = set(file_reader.files_like(self._reader, name.removeprefix("./"), MAX_IMPORTERS))
        paths = {path for path in exact if self._is_source(path)}
        wanted = "/".join(module_segments(name.removesuffix("/")))
        if not paths and wanted:
            last = wanted.rpartition("/")[2]
            paths = {
                path for path in self._families if last in path and _is_called(path, wanted) and self._is_source(path)
            }
        units = {unit(path, self._families[path]) for path in paths}
        folders = {unit(path, of) for path, of in self._families.items() if of == "go"} if wanted else set()
        units |= {each for each in folders if f"/{each}".endswith(f"/{wanted}/")}
        names = {stem(path) for path in paths}
        others = self._families if names else ()
        alike = {path for path in others if stem(path) in names and self._is_source(path)} - paths
        return ImportedModules(frozenset(units), frozenset(alike))

    def _is_source(self, path: str) -> bool:
        """Whether a file can be imported: documents are not."""
        return self._families[path] in self._importing

    def _written(self, modules: ImportedModules, more: Collection[str] = ()) -> Iterator[tuple[str, Sequence[Import]]]:
        """The files whose imports may mean one of these modules, or have one of `more` in them, and some others."""
        words, folders = {*more, *_called(modules)}, set[str]()
        for each in modules.units:
            of = "go" if each.endswith("/") else self._families.get(each, "")
            if stem(each) in _FRONTS:
                folders.add(posixpath.dirname(each))
            for alias in self._aliases if of in EXACT_FAMILIES and len(modules.units) <= _FEW_MODULES else ():
                if not is_renamed(alias, each, of):
                    continue
                if alias.pattern.startswith("/"):  # a folder, by its path or from within it
                    folders.add(alias.pattern[1:])
                    words |= {posixpath.basename(alias.pattern)} - {""}
                else:
                    words.add(alias.pattern.partition("*")[0])
        if self._aliases and len(modules.units) > _FEW_MODULES:
            words.add("")
        for path, entries in relation_reader.imports_written(self._reader, words, folders):
            if path in self._families:
                yield path, entries

    def of_modules(self, modules: ImportedModules) -> Iterator[Importer]:
        """The files that import one of these modules, or something from it."""
        called = _called(modules)
        for path, entries in self._written(modules) if modules else ():
            of = self._families[path]
            told: dict[bool, list[Import]] = {True: [], False: []}
            for entry in entries:
                # Following an import tries many paths: most end otherwise than what is asked for.
                hopeful = of not in EXACT_FAMILIES or of in self._aliased or _may_end(entry, called)
                is_sure = self._means(entry, path, of, modules) if entry.module and hopeful else None
                if is_sure is not None:
                    told[is_sure].append(entry)
            if path not in modules.units and (found := told[True] or told[False]):
                yield Importer(path, bool(told[True]), written(found))

    def _means(self, entry: Import, path: str, of: str, modules: ImportedModules) -> bool | None:
        """Whether an import surely means one of the modules; None where it means none of them."""
        if of in EXACT_FAMILIES:
            found = [each for each in self._meant(entry, path, of) if each in modules.units]
            return not all(self._is_shadowed(entry, path, each) for each in found) if found else None
        ends = list(_written_paths(entry, path, of))
        if not self._at(ends, of, modules.units):
            return None
        return not self._at(ends, of, modules.alike)

    def _at(self, ends: Sequence[str], of: str, paths: frozenset[str]) -> list[str]:
        """Those of some files of a family of languages whose paths end so."""
        named = self._named.get(paths)
        if named is None:
            named = self._named[paths] = _by_name(paths)
        return [
            each
            for name in {posixpath.basename(end).partition(".")[0] for end in ends}
            for each in named.get(name, ())
            if self._families.get(each) == of and _is_at(each, ends, of)
        ]

    def _meant(self, entry: Import, path: str, of: str) -> Iterator[str]:
        """The files that an import statement leads to: the module, in Python the packages around it and the module
        that it takes out of it, too.
        """
        inner = None
        if of == "python" and entry.name and entry.name != "*":
            joined = f"{entry.module}{'' if entry.module.endswith('.') else '.'}{entry.name}"
            inner = self._lookup.file_of(joined, path, of)
        if inner is not None:
            yield inner
        module = entry.module if inner is None or entry.module.strip(".") else ""  # `from . import core` names none
        while module:
            file = self._lookup.file_of(module, path, of)
            if file is not None:
                yield file
            module = module.rpartition(".")[0] if of == "python" and not module.startswith(".") else ""

    def _is_shadowed(self, entry: Import, path: str, found: str) -> bool:
        """Whether Python's own library is meant, but for a script: `import types` beside a package's `types.py`."""
        folder = posixpath.dirname(path)
        top = entry.module.partition(".")[0]
        return top in sys.stdlib_module_names and folder in self._packages and posixpath.dirname(found) == folder

    def of_definitions(self, ids: Sequence[int], names: Collection[str]) -> Iterator[Importer]:
        """The files whose imports were found to mean one of these definitions (row ids), which are called `names`."""
        related = dict(relation_reader.related(self._reader, ids, "imports", MAX_IMPORTERS))
        heads = chunk_reader.heads(self._reader, list(related))
        entries = relation_reader.imports_by_file(self._reader, sorted({head.path for head in heads}))
        for head in heads:
            some = [each for each in entries.get(head.path, ()) if each.name in names]
            some = some or [
                each for each in entries.get(head.path, ()) if each.name == "default" and each.alias in names
            ]
            yield Importer(head.path, related[head.id], written(some) or RENAMED)

    def of_names(self, names: Collection[str], places: Mapping[str, str]) -> Iterator[Importer]:
        """The files that may import one of `names`, which the files `places` define (with their families): all that
        such a file has, that name from where nobody can follow, or the file where nothing is imported by name.
        """
        families = set(places.values())
        modules = ImportedModules(frozenset(unit(path, of) for path, of in places.items()), frozenset())
        packages = {
            posixpath.basename(posixpath.dirname(path)) for path, of in places.items() if of not in EXACT_FAMILIES
        }
        for path, entries in self._written(modules, {*names, *packages}) if places else ():
            of = self._families[path]
            if of not in families or path in places:
                continue
            found = [each for each in entries if each.module and self._may_name(each, path, of, names, modules)]
            if found:
                yield Importer(path, False, written(found))

    def of_constants(self, name: str) -> Iterator[Importer]:
        """The files that import what is called so from a file here, which may have it, by whatever way: no definition
        here has that name.
        """
        for path, entries in relation_reader.imports_written(self._reader, {name}):
            of = self._families.get(path, "")
            found = [each for each in entries if each.name == name and each.module and of in EXACT_FAMILIES]
            if any(self._lookup.file_of(each.module, path, of) is not None for each in found):
                yield Importer(path, False, written(found))

    def _may_name(self, entry: Import, path: str, of: str, names: Collection[str], modules: ImportedModules) -> bool:
        if of in _UNNAMED:
            return self._means(entry, path, of, modules) is not None
        if is_star(entry):
            package = f"/{'/'.join(module_segments(entry.module))}"
            folders = () if of in EXACT_FAMILIES else {f"/{posixpath.dirname(each)}" for each in modules.units}
            return self._means(entry, path, of, modules) is not None or any(each.endswith(package) for each in folders)
        if entry.name not in names:
            return False
        # Of what is not here at all no file of these languages can tell something that is.
        return of not in EXACT_FAMILIES or self._lookup.file_of(entry.module, path, of) is not None

    def of_files(self, modules: ImportedModules) -> tuple[list[Importer], list[str]]:
        """What these files import, the other way round: files here, in the order of their imports with how that is
        written, and modules that are none, as they are written.
        """
        paths = sorted(path for path, of in self._families.items() if unit(path, of) in modules.units)
        told: dict[str, list[tuple[bool, Import]]] = {}
        outside: dict[str, None] = {}
        for path, entries in relation_reader.imports_by_file(self._reader, paths).items():
            of = self._families[path]
            for entry in entries:
                led = self._led_to(entry, path, of) if entry.module else {}
                for file, is_sure in led.items():
                    told.setdefault(file, []).append((is_sure, entry))
                if entry.module and not led and not entry.module.startswith("."):
                    outside[entry.module] = None
        found = []
        for file, some in told.items():
            sure = [entry for is_sure, entry in some if is_sure]
            found.append(Importer(file, bool(sure), written(sure or [entry for _, entry in some])))
        return found, list(outside)

    def _led_to(self, entry: Import, path: str, of: str) -> dict[str, bool]:
        """The files that an import statement leads to, each with whether it surely does: of a package of Go's the one
        that is called so, else its first.
        """
        if of in EXACT_FAMILIES:
            meant = next(self._meant(entry, path, of), None)
            if meant is None:
                return {}
            is_sure = not self._is_shadowed(entry, path, meant)
            if of != "go":
                return {meant: is_sure}
            files = self._of_folder.get(meant, ())
            name = bound_name(replace(entry, alias=""))
            return {min(files, key=lambda each: (stem(each) != name, is_test(each), each)): is_sure} if files else {}
        ends = list(_written_paths(entry, path, of))
        files = sorted({each for each in self._at(ends, of, self._paths) if each != path})
        return dict.fromkeys(files[:_MAX_ALIKE], len(files) == 1)

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(self._families)

    @cached_property
    def _of_folder(self) -> Mapping[str, Sequence[str]]:
        """Files of each Go package."""
        found: dict[str, list[str]] = {}
        for path, of in self._families.items():
            if of == "go":
                found.setdefault(unit(path, of), []).append(path)
        return found

    def names(self) -> set[str]:
        """Names that something here is imported by: of modules, their packages, and what is taken out of them."""
        entries = [each for _, some in relation_reader.all_imports(self._reader) for each in some]
        found = {segment for module in {each.module for each in entries} for segment in module_segments(module)}
        return found | {each.name for each in entries if each.name}

    def literally(self, name: str, *, below: bool) -> list[Importer]:
        """The files whose imports are written so: of a name, a module, or (`below`) what is in it."""
        wanted = tuple(module_segments(name)) if "/" not in name else (name,)
        found: list[Importer] = []
        for path, entries in relation_reader.imports_written(self._reader, wanted[-1:]) if wanted else ():
            entries = tuple(each for each in entries if each.module)
            some = [each for each in entries if _is_written(each, name, wanted, below=below)]
            if some:
                found.append(Importer(path, True, written(some)))
        return found


def speakers(reader: Reader, paths: Sequence[str]) -> dict[str, ChunkView]:
    """The chunk that stands for each of some files: what is left of it between its definitions, else its first."""
    found: dict[str, ChunkView] = {}
    for path in paths:
        chunks = chunk_reader.of_file(reader, path)
        if chunks:
            found[path] = next((each for each in chunks if each.kind == "module"), chunks[0])
    return found


def written(entries: Sequence[Import]) -> str:
    """How something is imported: `imports Context from .core`, `imports click.core as c and 2 more`."""
    if not entries:
        return ""
    first, *more = dict.fromkeys(map(_way, entries))
    return f"imports {first}{f' and {len(more)} more' if more else ''}"


def _way(entry: Import) -> str:
    alias = entry.alias if entry.alias not in ("", entry.name, ".", "_") else ""
    if is_star(entry):
        return f"all of {entry.module}"
    if not entry.name:
        return f"{entry.module} as {alias}" if alias else entry.module
    if entry.name == "default":
        return f"{alias or 'default'} from {entry.module}"
    return f"{entry.name} from {entry.module}{f' as {alias}' if alias else ''}"


def _is_called(path: str, wanted: str) -> bool:
    """Whether a file is meant by `a/b`: as `…/a/b.py`, or as what stands for the folder (`…/a/b/__init__.py`)."""
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    front = f"/{folder}".endswith(f"/{wanted}") and stem in _FRONTS
    return front or f"/{folder}/{stem}".endswith(f"/{wanted}")


def _called(modules: ImportedModules) -> set[str]:
    """The names that an import of these modules has one of as a rule: of the file, or the folder it stands for."""
    called = {stem(each.rstrip("/")) for each in modules.units}
    fronts = {posixpath.basename(posixpath.dirname(each)) for each in modules.units if stem(each) in _FRONTS}
    return {*called, *fronts, *(BUILT if fronts.intersection(WRITTEN_IN) else ())} - {""}


def _by_name(paths: frozenset[str]) -> Mapping[str, Sequence[str]]:
    """Files by their stem, and by their folder's name where they stand for that."""
    found: dict[str, list[str]] = {}
    for path in sorted(paths):
        fronts = {posixpath.basename(posixpath.dirname(path)).partition(".")[0]} if stem(path) in _FRONTS else ()
        for name in {stem(path), *fronts}:
            found.setdefault(name, []).append(path)
    return found


@lru_cache(maxsize=1024)
def _segments(module: str) -> tuple[str, ...]:
    """The folders and file a module names: of a thousand files, most name the same ones."""
    return tuple(module_segments(module))


def _may_end(entry: Import, called: Collection[str]) -> bool:
    """Whether an import has one of those names, or tells none: `from . import core`."""
    segments = _segments(entry.module)
    return not segments or entry.name in called or any(each.partition(".")[0] in called for each in segments)


def _written_paths(entry: Import, path: str, of: str) -> Iterator[str]:
    """What the path of an imported file may end with; from the root on, with `/` before it."""
    if of == "c":
        yield posixpath.normpath(entry.module)
        return
    if entry.module.startswith("."):
        base = posixpath.normpath(posixpath.join("/", posixpath.dirname(path), *entry.module.split("/")))
        yield base
        return
    segments = module_segments(entry.module)
    if entry.name and entry.name != "*":
        yield "/".join([*segments, entry.name])
    if segments:
        yield "/".join(segments)


def _is_at(file: str, ends: Sequence[str], of: str) -> bool:
    """Whether a file's path ends so: with its suffix or, but in C, without."""
    spelled = [f"/{file}"] if of == "c" else [f"/{file}", f"/{file}".rpartition("/")[0] + "/" + stem(file)]
    if of != "c" and stem(file) in _FRONTS:
        spelled.append(posixpath.dirname(f"/{file}"))
    return any(each == end if end.startswith("/") else each.endswith(f"/{end}") for each in spelled for end in ends)


def _is_written(entry: Import, name: str, wanted: tuple[str, ...], *, below: bool) -> bool:
    """Whether an import is written as what is asked for: its module or the end of it, what it takes out of that, or
    (`below`) the beginning.
    """
    if name == entry.module or (below and name in (entry.name, entry.alias)):
        return True
    if "/" in name:
        return entry.module.startswith(f"{name}/")
    count = len(wanted)
    if count == 1 and not below:
        return False  # other things have that name as well
    segments = _segments(entry.module)
    whole = (*segments, entry.name) if entry.name and entry.name not in ("*", "default") else segments
    return wanted in (whole[-count:], segments[-count:], segments[:count] if below else ())
