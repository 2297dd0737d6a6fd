"""Languages that AURORA brings (supported programming languages, file extensions): one row here and one `.scm` query
file each (AURORA §6.3.5)."""

from __future__ import annotations

from aurora_indexer.languages import (
    c_family,
    csharp,
    cython,
    ecmascript,
    go,
    imports,
    java,
    kotlin,
    php,
    python,
    ruby,
    rust,
    shell,
    single_file_components,
    swift,
)
from aurora_indexer.languages.language import CLASS_LIKE, Language
from aurora_indexer.languages.name_syntax import TYPED_AFTER


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ECMASCRIPT_WORDS = _words(
    "abstract any arguments as async await boolean class const constructor debugger default delete export exports"
    " extends false finally function implements import instanceof interface let module new null number object"
    " private promise protected public readonly require return static string super switch this throw true try type"
    " typeof undefined unknown var void yield props keyof namespace declare enum"
)
_C_WORDS = _words(
    "auto bool char const double enum extern float inline int long register return short signed sizeof static"
    " struct switch typedef union unsigned void volatile null size uint int8 int16 int32 int64 uint8 uint16 uint32"
    " uint64"
)
_EXPORTS = r"^(?:module\.)?exports$|^(?:module\.)?exports\.|^module$|^(?:this|window|globalThis)$|\.prototype$"

LANGUAGES: tuple[Language, ...] = (
    Language(
        name="python",
        suffixes=(".py", ".pyi", ".pyx", ".pxd", ".pxi"),
        interpreters=("python",),
        hidden=cython.hidden,
        read_imports=imports.python,
        names=python.NAMES,
        words=_words(
            "args async await bool class cls def dict elif except float import init int kwargs lambda list none"
            " object pass raise return self set str super true false tuple typing union optional any yield"
        ),
    ),
    Language(
        name="typescript",
        suffixes=(".ts", ".mts", ".cts", ".vue", ".svelte"),
        interpreters=("ts-node", "deno", "tsx"),
        hidden=single_file_components.hidden,
        read_imports=imports.ecmascript,
        words=_ECMASCRIPT_WORDS,
        unqualified=_EXPORTS,
        names=ecmascript.NAMES,
        refine=ecmascript.refine,
        mended=ecmascript.mended,
    ),
    Language(
        name="tsx",
        suffixes=(".tsx",),
        read_imports=imports.ecmascript,
        words=_ECMASCRIPT_WORDS,
        unqualified=_EXPORTS,
        names=ecmascript.NAMES,
        refine=ecmascript.refine,
    ),
    Language(
        name="javascript",
        suffixes=(".js", ".jsx", ".mjs", ".cjs"),
        interpreters=("node", "bun"),
        read_imports=imports.ecmascript,
        words=_ECMASCRIPT_WORDS,
        unqualified=_EXPORTS,
        names=ecmascript.NAMES,
        refine=ecmascript.refine,
    ),
    Language(
        name="go",
        suffixes=(".go",),
        read_imports=imports.go,
        names=go.NAMES,
        words=_words(
            "any bool byte chan const defer err error fallthrough float32 float64 func go int int32 int64"
            " interface len make map nil package range return rune select string struct switch type uint var"
        ),
    ),
    Language(
        name="rust",
        suffixes=(".rs",),
        separator=r"::",
        read_imports=imports.rust,
        names=rust.NAMES,
        token_calls=rust.calls_of_tokens,
        words=_words(
            "async await bool box const crate dyn enum err extern fn impl let match mod mut none ok option pub"
            " ref result return self some static str string struct super trait type u8 u32 u64 i32 i64 unsafe"
            " usize vec where"
        ),
    ),
    Language(
        name="java",
        suffixes=(".java",),
        read_imports=imports.java,
        names=java.NAMES,
        words=_words(
            "abstract boolean byte char class double extends final float implements import int interface long new"
            " null object override package private protected public return short static string super synchronized"
            " this throw throws void volatile"
        ),
    ),
    Language(
        name="c",
        suffixes=(".c", ".h"),
        read_imports=imports.c,
        hidden=c_family.hidden,
        mended=c_family.mended,
        refine=c_family.refine,
        words=_C_WORDS,
        separator=r"::",
        really=(c_family.is_cpp, "cpp"),
    ),
    Language(
        name="cpp",
        suffixes=(".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".h++", ".c++"),
        read_imports=imports.c,
        hidden=c_family.hidden_in_cpp,
        names=c_family.NAMES,
        mended=c_family.mended,
        refine=c_family.refine,
        words=_C_WORDS
        | _words(
            "class constexpr delete explicit final friend mutable namespace new noexcept nullptr operator"
            " override private protected public std string template this throw typename using virtual"
        ),
        separator=r"::",
    ),
    Language(
        name="ruby",
        suffixes=(".rb", ".rake", ".gemspec", ".ru"),
        file_names=("Gemfile", "Rakefile"),
        interpreters=("ruby",),
        read_imports=imports.ruby,
        refine=ruby.refine,
        words=_words("begin class def do elsif end ensure module nil rescue return self super then unless yield"),
        class_like=CLASS_LIKE | {"namespace"},
        separator=r"::",
    ),
    Language(
        name="csharp",
        suffixes=(".cs", ".csx"),
        read_imports=imports.csharp,
        names=csharp.NAMES,
        hidden=csharp.hidden,
        mended=csharp.mended,
        watched=True,
        words=_words(
            "abstract async await base bool byte char class const decimal delegate double enum event explicit float get"
            " implicit init int interface internal long namespace new null object operator out override params partial"
            " private protected public readonly record ref return sealed set short static string struct summary task"
            " this throw uint ulong using value var virtual void where"
        ),
    ),
    Language(
        name="php",
        suffixes=(".php", ".phtml"),
        interpreters=("php",),
        read_imports=imports.php,
        names=php.NAMES,
        words=_words(
            "abstract array bool class const echo enum extends false final float function global implements int"
            " interface mixed namespace new null object param parent private protected public readonly require return"
            " self static string this throw trait true use var void"
        ),
        separator=r"\\",
    ),
    Language(
        name="kotlin",
        suffixes=(".kt", ".kts"),
        interpreters=("kotlin", "kotlinc"),
        read_imports=imports.kotlin,
        names=TYPED_AFTER,
        hidden=kotlin.hidden,
        mended=kotlin.mended,
        watched=True,
        words=_words(
            "abstract any as boolean by class companion constructor data enum false final fun get import in init inline"
            " inner int interface internal is it lateinit list long null object open operator out override package"
            " param private protected public return sealed set string super suspend this throw true typealias unit val"
            " var when"
        ),
    ),
    Language(
        name="swift",
        suffixes=(".swift",),
        interpreters=("swift",),
        read_imports=imports.swift,
        names=TYPED_AFTER,
        hidden=swift.hidden,
        mended=swift.mended,
        watched=True,
        words=_words(
            "any as async await bool case class deinit enum extension false fileprivate final for func get guard import"
            " in init inout int internal is let mutating nil open override parameter private protocol public rethrows"
            " return returns self set some static string struct super throw throws true try typealias var void where"
        ),
    ),
    Language(
        name="scala",
        suffixes=(".scala", ".sc", ".sbt"),
        interpreters=("scala", "scala-cli", "amm"),
        read_imports=imports.scala,
        names=TYPED_AFTER,
        watched=True,
        words=_words(
            "abstract any boolean case class def extends extension false final given implicit import int lazy list"
            " match new none null object option override package param private protected return sealed some string"
            " super this throw trait true type unit using val var with yield"
        ),
    ),
    Language(
        name="lua",
        suffixes=(".lua", ".rockspec"),
        interpreters=("lua", "luajit", "texlua"),
        read_imports=imports.lua,
        words=_words(
            "and boolean elseif end false function ipairs local nil not number or pairs param repeat require return"
            " self string table then true until"
        ),
        separator=r"[.:]",
    ),
    Language(
        name="bash",
        suffixes=(".sh", ".bash", ".bats", ".ksh", ".zsh"),
        file_names=(".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", "PKGBUILD"),
        interpreters=("sh", "bash", "dash", "ksh", "zsh", "bats"),
        read_imports=imports.shell,
        words=_words(
            "case cat command declare done echo elif else esac eval exec exit export false fi for function grep local"
            " printf read readonly return sed set shift source test then trap true unset while"
        ),
        separator=r"(?!)",
        hidden=shell.hidden,
        watched=True,
        mended=shell.mended,
    ),
)
