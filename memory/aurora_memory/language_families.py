"""Families of languages: those whose files call one another, and where a family's names are in reach.

A language that is named here in no family is one by itself, in which nothing of this holds.
"""

from __future__ import annotations

from msgspec import Struct


class Family(Struct, frozen=True):
    """Family of languages: its members, and what holds of names in their files."""

    languages: tuple[str, ...]
    is_exact: bool = False
    """Whether a name of another file, or package, has to be imported by name to be used: imports are followed."""
    has_crates: bool = False
    """Whether paths are followed from file to file and from crate to crate (`crate_lookup`)."""
    has_packages: bool = False
    """Whether a package's top-level names are in reach of all its files. A package is a folder."""
    has_namespaces: bool = False
    """Whether a file imports namespaces, and none of the types in them by name."""
    closed: tuple[str, ...] = ()
    """Those in whose files a type has no methods but what is written in it and in what it inherits from."""


FAMILIES = {
    "python": Family(("python",), is_exact=True),
    "ecmascript": Family(("typescript", "tsx", "javascript"), is_exact=True),
    "go": Family(("go",), is_exact=True),
    "rust": Family(("rust",), has_crates=True),
    "jvm": Family(("java", "kotlin", "scala"), has_packages=True, closed=("java",)),
    "csharp": Family(("csharp",), has_namespaces=True),
    "c": Family(("c", "cpp")),
}

EXACT_FAMILIES = frozenset(name for name, each in FAMILIES.items() if each.is_exact)
CRATED_FAMILIES = frozenset(name for name, each in FAMILIES.items() if each.has_crates)
PACKAGED_FAMILIES = frozenset(name for name, each in FAMILIES.items() if each.has_packages)
PACKAGED_LANGUAGES = tuple(language for each in FAMILIES.values() if each.has_packages for language in each.languages)
CLOSED_LANGUAGES = frozenset(language for each in FAMILIES.values() for language in each.closed)
NAMESPACED_FAMILIES = frozenset(name for name, each in FAMILIES.items() if each.has_namespaces)

_FAMILY_OF = {language: name for name, each in FAMILIES.items() for language in each.languages}


def family(language: str) -> str:
    """Name of a language's family."""
    return _FAMILY_OF.get(language, language)
