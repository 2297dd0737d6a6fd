"""Parser of import statements (dependencies of a file): as text they become Import rows: one reader per family of
languages (AURORA §6.3.5).

Every reader takes one statement without comments and returns what it binds, in order. A statement that is cut off or
malformed yields what can still be read of it.
"""

from __future__ import annotations

import re

from aurora_memory.chunks import Import

_MAX_GROUPS = 64
"""Rust's nested `{…}` deeper than this are not code anyone wrote."""

_PYTHON_FROM = re.compile(r"from\s*(\.*\s*[\w.]*)\s*import\b\s*\(?(.*?)\)?\s*;?$", re.S)
_CIMPORT = re.compile(r"\bcimport\b")
_AS = re.compile(r"\s+as\s+")
_ES_SOURCE = re.compile(r"""(?:\bfrom|^\s*import|\brequire\s*\(|\bimport\s*\()\s*(['"`])(.*?)\1""", re.S)
_ES_REQUIRE = re.compile(
    r"""(?:([\w$]+)|(\{[^}]*\}))\s*(?::[^=]*)?=\s*require\s*\(\s*(['"`])(.*?)\3\s*\)(?:\s*\.\s*([\w$]+))?""", re.S
)
_ES_BRACES = re.compile(r"\{([^}]*)\}?", re.S)
_ES_NAMESPACE = re.compile(r"\*\s*(?:as\s+([\w$]+))?")
_ES_KEYWORD = re.compile(r"^(?:import|export)\b\s*(?:type\b(?!\s*(?:,|$)))?")
_ES_TYPE = re.compile(r"^\s*type\s+(?!as\b)")
_ES_DEFAULT = re.compile(r"export\s+default\s+([\w$]+)\s*;?\s*$")
_ES_NAME = re.compile(r"[\w$]+")
_ES_ASSIGNED = re.compile(r"(?:module\s*\.\s*)?exports(?:\s*\.\s*([\w$]+))?\s*=\s*([\w$]+)$")
_GO = re.compile(r"""(?:([\w.]+)\s*)?(["`])([^"`\n]+)\2""")
_JAVA = re.compile(r"import\s+(?:static\s+)?([\w.\s]+?)\s*(\.\s*\*)?\s*;?\s*$")
_INCLUDE = re.compile(r"""#\s*(?:include(?:_next)?|import)\s*[<"]([^>"\n]+)""")
_RUBY = re.compile(r"""(require_relative|require|load)\b[\s(]*(['"])(.*?)\2""")
_CSHARP = re.compile(r"using\s+(static\s+)?(?:unsafe\s+)?(?:(\w+)\s*=\s*)?(?:global\s*::\s*)?(\w[\w.\s]*)")
_PHP_USE = re.compile(r"use\s+(?:(?:function|const)\s+)?(.*?);?\s*$", re.S | re.I)
_PHP_GROUP = re.compile(r"(.*?)\{(.*?)\}?\s*", re.S)
_PHP_KIND = re.compile(r"^(?:function|const)\s+", re.I)
_PHP_AS = re.compile(r"\s+as\s+", re.I)
_QUOTED = re.compile(r"""(['"])([^'"\n]+)\1""")
_KOTLIN = re.compile(r"import\s+([\w.`]+?)(\.\*)?\s*(?:\bas\s+(\w+)\s*)?;?\s*$")
_SWIFT = re.compile(r"import\s+(?:(?:class|struct|enum|protocol|typealias|func|let|var|actor)\s+)?([\w.]+)")
_SCALA_BRACES = re.compile(r"([\w.`$]+)\s*\.\s*\{([^{}]*)\}?")
_SCALA_ALIAS = re.compile(r"\s*(?:=>|\bas\b)\s*")
_SHELL = re.compile(r"(?:source|\.)\s+(.+?)\s*$", re.S)
_SHELL_VARIABLE = re.compile(r".*[$)`}]\w*(?=/)", re.S)
"""What a sourced path begins with that only a running shell knows: `$HOME`, `${DIR}`, `$(dirname "$0")`."""
_RUST_USE = re.compile(r"\buse\s+(.*?);?\s*$", re.S)
_RUST_CRATE = re.compile(r"\bextern\s+crate\s+(\w+)(?:\s+as\s+(\w+))?")
_RUST_TOKEN = re.compile(r"[{},]|[^{},]+")


def python(text: str) -> list[Import]:
    """Read `import a.b as x, c` or `from ..a import (b as c, d)`; Cython's `cimport` as well."""
    text = _CIMPORT.sub("import", " ".join(text.replace("\\", " ").split()), count=1)
    if match := _PYTHON_FROM.match(text):
        module = match[1].replace(" ", "")
        return [Import(module, name, alias) for name, alias in map(_aliased, match[2].split(",")) if name]
    return [
        Import(module, alias=alias) for module, alias in map(_aliased, text.removeprefix("import").split(",")) if module
    ]


def ecmascript(text: str) -> list[Import]:
    """Read `import`/`export … from`, `require` and dynamic `import()`; default imports have the name `default`."""
    found = _required(text) if "require" in text else []
    if found:
        return found
    source = _ES_SOURCE.search(text)
    if source is None:
        return _given(text)
    module = source[2]
    clause = text[: source.start()].strip()
    exporting = clause.startswith("export")
    clause = _ES_KEYWORD.sub("", clause).strip()
    braces = _ES_BRACES.search(clause)
    if braces:
        clause = clause[: braces.start()] + clause[braces.end() :]
    found = []
    namespace = _ES_NAMESPACE.search(clause)
    if namespace:
        found.append(Import(module, "*" if exporting and not namespace[1] else "", namespace[1] or ""))
        clause = clause[: namespace.start()]
    default = clause.strip(" ,\n\t=")
    if _ES_NAME.fullmatch(default):
        found.insert(0, Import(module, "default", default))
    for item in braces[1].split(",") if braces else ():
        name, alias = _aliased(_ES_TYPE.sub("", item))
        if name:
            found.append(Import(module, name, alias))
    return found or [Import(module)]


def _given(text: str) -> list[Import]:
    """What `export { a as b }`, `export default a` and `module.exports = a` give away under another name: of this file,
    the module "".
    """
    if default := _ES_DEFAULT.match(text):
        return [Import("", default[1], "default")]
    if assigned := _ES_ASSIGNED.match(text):
        name, alias = assigned[2], assigned[1] or "module.exports"
        return [Import("", name, alias)] if name != alias else []
    braces = _ES_BRACES.search(text) if text.startswith("export") else None
    pairs = [_aliased(_ES_TYPE.sub("", item)) for item in braces[1].split(",")] if braces else []
    return [Import("", name, alias) for name, alias in pairs if name and alias and name != alias]


def go(text: str) -> list[Import]:
    """Read an import declaration, grouped or not; `.` and `_` stay as aliases."""
    return [Import(path, alias="" if alias == "import" else alias) for alias, _, path in _GO.findall(text)]


def rust(text: str) -> list[Import]:
    """Read a `use`, its groups expanded, or an `extern crate`."""
    if match := _RUST_CRATE.search(text):
        return [Import(match[1], alias=match[2] or "")]
    use = _RUST_USE.search(text)
    if use is None:
        return []
    found = []
    prefixes = [""]
    for token in _RUST_TOKEN.findall(use[1]):
        token = " ".join(token.split())
        if token == "}":
            if len(prefixes) > 1:
                prefixes.pop()
        elif token.endswith("::") or token == "{":
            pass
        elif token != "," and token:
            found.append(_rust_path(prefixes[-1] + token))
        if token.endswith("::") and len(prefixes) < _MAX_GROUPS:
            prefixes.append(prefixes[-1] + token)
    return found


def java(text: str) -> list[Import]:
    """Read an import; a wildcard has the name `*`, a static member its class as module."""
    match = _JAVA.search(text)
    if match is None:
        return []
    path = "".join(match[1].split())
    if match[2]:
        return [Import(path, "*")]
    module, _, name = path.rpartition(".")
    return [Import(module, name)] if module else [Import(path)]


def c(text: str) -> list[Import]:
    """Read an `#include`; the module is the path as written."""
    return [Import(path.strip()) for path in _INCLUDE.findall(text)]


def ruby(text: str) -> list[Import]:
    """Read a `require`; `require_relative "a"` is the module `./a`."""
    match = _RUBY.search(text)
    if match is None or not match[3]:
        return []
    relative = match[1] == "require_relative" and not match[3].startswith((".", "/"))
    return [Import("./" + match[3] if relative else match[3])]


def csharp(text: str) -> list[Import]:
    """Read a `using`: of all that a namespace or a class has the name is `*`; of an alias, what it stands for."""
    match = _CSHARP.search(text)
    if match is None:
        return []
    path = "".join(match[3].split())
    if not match[2]:
        return [Import(path, "*")]
    module, _, name = path.rpartition(".")
    return [Import(module, name, match[2]) if module else Import(path, alias=match[2])]


def php(text: str) -> list[Import]:
    """Read a `use`, its group expanded, modules with `.` between segments; or the file of a `require` or `include`."""
    use = _PHP_USE.match(text)
    if use is None:
        path = _QUOTED.search(text)
        return [Import(_file_module(path[2]))] if path else []
    group = _PHP_GROUP.fullmatch(use[1])
    prefix, items = (group[1], group[2]) if group else ("", use[1])
    found = []
    for item in items.split(","):
        path_of, *alias = _PHP_AS.split(_PHP_KIND.sub("", item.strip()), maxsplit=1)
        module, _, name = (prefix + path_of).strip().strip("\\").replace("\\", ".").rpartition(".")
        if name:
            found.append(Import(module, name, *map(str.strip, alias)) if module else Import(name))
    return found


def kotlin(text: str) -> list[Import]:
    """Read an import; a wildcard has the name `*`."""
    match = _KOTLIN.search(text)
    if match is None:
        return []
    path = match[1].replace("`", "")
    if match[2]:
        return [Import(path, "*")]
    module, _, name = path.rpartition(".")
    return [Import(module, name, match[3] or "") if module else Import(path, alias=match[3] or "")]


def swift(text: str) -> list[Import]:
    """Read an import of a module, or of one thing in it (`import class UIKit.UIView`)."""
    match = _SWIFT.search(text)
    if match is None:
        return []
    module, _, name = match[1].rpartition(".")
    return [Import(module, name) if module else Import(name)]


def scala(text: str) -> list[Import]:
    """Read an import, its selectors expanded; a wildcard, `_` or `*` or of givens, has the name `*`."""
    text = " ".join(text.removeprefix("import").split())
    found = [entry for path, items in _SCALA_BRACES.findall(text) for entry in _scala_selected(path, items)]
    for path in _SCALA_BRACES.sub("", text).split(","):
        module, _, selector = path.strip().rpartition(".")
        if selector:
            found.extend(_scala_selected(module, selector))
    return found


def lua(text: str) -> list[Import]:
    """Read a `require`."""
    match = _QUOTED.search(text)
    return [Import(match[2])] if match else []


def shell(text: str) -> list[Import]:
    """Read a `source` or `.`; of a path that begins with a variable, what comes after."""
    match = _SHELL.match(text)
    if match is None:
        return []
    path = match[1].replace('"', "").replace("'", "")
    known = _SHELL_VARIABLE.sub("", path)
    if "$" in known or " " in known or not known.strip("/"):
        return []
    return [Import(_file_module(known))]


def _file_module(path: str) -> str:
    """The module of a file's path as written; one name alone is without its suffix, whose dot would be a folder's."""
    path = path if path.startswith("./") else path.lstrip("/")
    return path if "/" in path else path.partition(".")[0] or path


def _scala_selected(module: str, selectors: str) -> list[Import]:
    """Import selectors of Scala: renamed, hidden, wildcards."""
    found = []
    for item in selectors.split(","):
        name, *alias = _SCALA_ALIAS.split(item.strip(), maxsplit=1)
        name = name.replace("`", "")
        if not name or alias == ["_"]:  # left out of a wildcard
            continue
        name = "*" if name in ("_", "*") or name.partition(" ")[0] == "given" else name
        found.append(Import(module, name, *alias) if module else Import(name, alias=alias[0] if alias else ""))
    return found


def _aliased(item: str) -> tuple[str, str]:
    """Name and alias of `a as b`."""
    name, *alias = _AS.split(item.strip(), maxsplit=1)
    return name.strip("'\""), alias[0].strip() if alias else ""


def _required(text: str) -> list[Import]:
    """CommonJS `require` calls, names taken apart (destructuring) each by itself."""
    found = []
    for name, pattern, _, module, member in _ES_REQUIRE.findall(text):
        if name:
            found.append(Import(module, member, name))
        for item in pattern.strip("{}").split(",") if pattern else ():
            key, _, alias = item.partition("=")[0].partition(":")
            if key.strip():
                found.append(Import(module, key.strip(), alias.strip()))
    return found


def _rust_path(path: str) -> Import:
    """Import of one path of a `use`."""
    path, alias = _aliased(path)
    module, separator, name = path.rpartition("::")
    if not separator:
        return Import(path, alias=alias)
    return Import(module, alias=alias) if name == "self" else Import(module, name, alias)
