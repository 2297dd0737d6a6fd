"""Which definition a name means, from scope, imports and rarity."""

import pytest

from aurora_memory.catalogue import NO_LINKS, Catalogue
from aurora_memory.chunks import Import, Reference
from aurora_memory.name_lookup import LinkedFiles
from aurora_memory.scope import Relation, Scope
from aurora_memory.views import ReferenceTarget
from tests.memory.chunks import definition


def targets(
    source: ReferenceTarget, reference: Reference, imports: list[Import], *others: ReferenceTarget
) -> list[int]:
    scope = Scope(source.path, source.language, imports, Catalogue([source, *others]))
    return sorted(edge.to_id for edge in scope.resolve(source, [reference]))


def test_self_means_the_same_class() -> None:
    login = definition(1, "a.py", "Auth.login", "method")
    mine, other = definition(2, "a.py", "Auth.check", "method"), definition(3, "a.py", "Guest.check", "method")
    assert targets(login, Reference("calls", "check", "self"), [], mine, other) == [2]


def test_a_bare_name_means_the_same_file_first() -> None:
    source = definition(1, "a.py", "login")
    assert targets(
        source, Reference("calls", "check"), [], definition(2, "b.py", "check"), definition(3, "a.py", "check")
    ) == [3]


def test_a_bare_name_is_not_another_classes_method() -> None:
    source = definition(1, "a.py", "login")
    method, function = definition(2, "a.py", "Auth.check", "method"), definition(3, "b.py", "check")
    assert targets(source, Reference("calls", "check"), [Import("b", "check")], method, function) == [3]


def test_an_import_decides_among_many() -> None:
    source = definition(1, "pkg/web.py", "login")
    many = [definition(n, f"pkg/m{n}.py", "check") for n in range(2, 20)]
    assert targets(source, Reference("calls", "check"), [Import("pkg.m7", "check")], *many) == [7]
    assert targets(source, Reference("calls", "check"), [Import(".m8", "check")], *many) == [8]
    assert targets(source, Reference("calls", "verify"), [Import(".m9", "check", "verify")], *many) == [9]
    assert targets(source, Reference("calls", "check", "m5"), [Import("pkg", "m5")], *many) == [5]
    assert targets(source, Reference("calls", "check"), [], *many) == []


def test_a_name_from_outside_the_workspace_is_not_ours() -> None:
    source = definition(1, "a.py", "login")
    assert targets(source, Reference("calls", "dumps", "json"), [Import("json")], definition(2, "b.py", "dumps")) == []


def test_languages_do_not_call_each_other() -> None:
    source = definition(1, "a.py", "login")
    assert targets(source, Reference("calls", "check"), [], definition(2, "b.go", "check", language="go")) == []


def test_typescript_and_tsx_do() -> None:
    source = definition(1, "src/a.tsx", "Page", language="tsx")
    target = definition(2, "src/lib/auth.ts", "login", language="typescript")
    assert targets(source, Reference("calls", "login"), [Import("./lib/auth", "login")], target) == [2]


def test_a_name_bound_to_another_is_looked_up_as_that() -> None:
    source = definition(1, "main.py", "start")
    login = definition(2, "auth.py", "login")
    assert targets(source, Reference("calls", "enter"), [Import("auth", "login", "enter")], login) == [2]


MENTIONS = [
    ReferenceTarget(1, "src/auth.py", "AuthService", "AuthService", None, "class", "python"),
    ReferenceTarget(2, "src/auth.py", "AuthService.login", "login", "AuthService", "method", "python"),
    ReferenceTarget(3, "web/form.ts", "login", "login", None, "function", "typescript"),
    ReferenceTarget(4, "api.yaml", "AuthService", "AuthService", None, "schema", "openapi"),
    ReferenceTarget(5, "docs/a.md", "Guide", "Guide", None, "section", "markdown"),
    ReferenceTarget(6, "docs/a.md", "Guide.Log in!", "Log in!", "Guide", "section", "markdown"),
    ReferenceTarget(7, "other.yaml", "AuthService", "AuthService", None, "schema", "openapi"),
    ReferenceTarget(8, "other.yaml", "list", "list", None, "operation", "openapi"),
]


@pytest.mark.parametrize(
    ("source", "reference", "target"),
    [
        (5, Reference("mentions", "AuthService"), 1),
        (5, Reference("mentions", "login"), None),
        (5, Reference("mentions", "login", "AuthService"), 2),
        (5, Reference("mentions", "login", "form"), 3),
        (5, Reference("mentions", "login", "db"), None),
        (5, Reference("mentions", "Guide"), None),
        (8, Reference("mentions", "AuthService"), 7),
        (5, Reference("mentions", "list"), 8),
        (1, Reference("links", "log-in", "docs/a.md"), 6),
        (1, Reference("links", "gone", "docs/a.md"), 5),
        (1, Reference("links", "", "docs/a.md"), 5),
        (1, Reference("links", "", "docs/b.md"), None),
        (3, Reference("holds", "login", "auth.AuthService"), 2),
        (3, Reference("holds", "login", "AuthService()"), None),
        (3, Reference("returns", "", "AuthService.login"), None),
    ],
)
def test_what_is_not_ambiguous_is_mentioned(source: int, reference: Reference, target: int | None) -> None:
    by_id = {each.id: each for each in MENTIONS}
    scope = Scope(by_id[source].path, by_id[source].language, (), Catalogue(MENTIONS))
    edges = scope.resolve(by_id[source], [reference])
    assert edges == ([] if target is None else [Relation(source, "mentions", target, 0.3)])


def weights(
    source: ReferenceTarget,
    references: list[Reference],
    *others: ReferenceTarget,
    imports: tuple[Import, ...] = (),
    followed: bool = False,
    known: tuple[str, ...] = (),
) -> dict[int, float]:
    """What the names in one chunk mean, each with how surely; `followed`: its file's imports are known, so are those of
    `known` files, which have none.
    """
    links = LinkedFiles({source.path: imports, **dict.fromkeys(known, ())}) if followed else NO_LINKS
    scope = Scope(source.path, source.language, imports, Catalogue([source, *others], links))
    return {edge.to_id: round(edge.weight, 3) for edge in scope.resolve(source, references)}


def elsewhere(count: int, name: str = "check") -> list[ReferenceTarget]:
    return [definition(n, f"m{n}.py", name) for n in range(10, 10 + count)]


CHECK = Reference("calls", "check")
LOGIN = definition(1, "a.py", "login")


@pytest.mark.parametrize("own", ["self", "cls", "this", "Self", "@"])
def test_every_word_for_oneself_means_the_class_around(own: str) -> None:
    mine, other = definition(2, "a.rb", "Auth.check", "method", "ruby"), definition(3, "b.rb", "check", language="ruby")
    source = definition(1, "a.rb", "Auth.login", "method", "ruby")
    assert weights(source, [Reference("calls", "check", own)], mine, other) == {2: 1.0}


@pytest.mark.parametrize(
    ("one", "other"),
    [("c", "cpp"), ("typescript", "tsx"), ("tsx", "javascript"), ("javascript", "typescript")],
)
def test_languages_of_one_family_call_each_other(one: str, other: str) -> None:
    source, target = definition(1, "a.x", "login", language=one), definition(2, "b.x", "check", language=other)
    assert weights(source, [CHECK], target) == {2: 0.6}


@pytest.mark.parametrize("above", ["super", "super()"])
def test_the_class_above_is_not_ones_own(above: str) -> None:
    mine, other = definition(2, "a.rb", "Auth.check", "method", "ruby"), definition(3, "b.rb", "check", language="ruby")
    source = definition(1, "a.rb", "Auth.login", "method", "ruby")
    assert weights(source, [Reference("calls", "check", above)], mine, other) == {2: 0.3, 3: 0.3}


def test_of_five_that_may_be_meant_each_may_and_of_six_none() -> None:
    assert weights(LOGIN, [CHECK], *elsewhere(5)) == dict.fromkeys(range(10, 15), 0.12)
    assert weights(LOGIN, [CHECK], *elsewhere(6)) == {}


def test_of_many_methods_that_something_may_have_those_of_the_same_file_may_be_meant() -> None:
    asked = Reference("calls", "check", "client")
    here = [definition(n, "a.py", f"{'ABCDEF'[n]}.check", "method") for n in range(2, 6)]
    assert weights(LOGIN, [asked], *here[:2], *elsewhere(6)) == {2: 0.15, 3: 0.15}
    more = [definition(n + 50, "a.py", f"G{n}.check", "method") for n in range(2)]
    assert weights(LOGIN, [asked], *here, *more, *elsewhere(6)) == {}, "six are too many to choose among"


def test_a_member_of_a_class_that_is_named_is_meant_however_many_are_called_so() -> None:
    asked = Reference("calls", "check", "Auth")
    inner = definition(3, "c.py", "web.Auth.check", "method")
    assert weights(LOGIN, [asked], definition(2, "b.py", "Auth.check", "method"), *elsewhere(99)) == {2: 1.0}
    assert weights(LOGIN, [asked], inner, *elsewhere(99)) == {3: 1.0}
    assert weights(LOGIN, [asked], inner, *elsewhere(1000)) == {3: 1.0}


def test_of_many_that_an_import_may_lead_to_five_may_be_meant() -> None:
    several = [definition(n, f"{n}/pkg.py", "check") for n in range(10, 20)]
    found = weights(LOGIN, [CHECK], *several, imports=(Import("pkg", "check"),))
    assert found == dict.fromkeys(range(10, 15), 0.1)


def test_the_innermost_function_in_reach_is_meant_though_an_outer_one_comes_first() -> None:
    source = definition(1, "a.rs", "outer.inner.go", language="rust")
    names = ("f", "outer.f", "outer.inner.f", "outer.g.f")
    others = [definition(n, "a.rs", name, language="rust") for n, name in enumerate(names, 2)]
    assert weights(source, [Reference("calls", "f")], *others) == {4: 1.0}


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_ways_in_which_a_chunk_names_another_the_surer_counts(order: int) -> None:
    ways = [CHECK, Reference("calls", "check", "client")]
    assert weights(LOGIN, ways[::order], definition(2, "a.py", "check")) == {2: 1.0}


def test_who_calls_itself_has_no_relation_to_itself() -> None:
    assert weights(LOGIN, [Reference("calls", "login")]) == {}


@pytest.mark.parametrize(
    ("imports", "found"),
    [
        pytest.param((Import("os"),), {}, id="another file's is not called by its bare name"),
        pytest.param((), {2: 0.6}, id="but in a script, where all may be global"),
        pytest.param((Import("os"), Import("x", "*")), {2: 0.6}, id="or where a star may have brought it"),
        pytest.param((Import("lib.b", "check"),), {2: 0.6}, id="where an import seems to lead, it may be meant"),
    ],
)
def test_a_bare_name_in_a_file_whose_imports_are_known(imports: tuple[Import, ...], found: dict[int, float]) -> None:
    assert weights(LOGIN, [CHECK], definition(2, "lib/b.py", "check"), imports=imports, followed=True) == found


@pytest.mark.parametrize(
    ("qualifier", "found"),
    [
        pytest.param("", {2: 1.0, 3: 1.0}, id="in an `if` and its `else`: each"),
        pytest.param("Other", {4: 0.6}, id="of a class that is named nowhere here, likely"),
    ],
)
def test_what_a_file_of_python_surely_means(qualifier: str, found: dict[int, float]) -> None:
    twins = [definition(n, "a.py", "check") for n in (2, 3)]
    other = definition(4, "b.py", "Other.check", "method")
    assert weights(LOGIN, [Reference("calls", "check", qualifier)], *twins, other, followed=True) == found


def test_a_member_of_ones_own_member_is_not_surely_ones_own() -> None:
    source, mine = definition(1, "a.py", "Auth.login", "method"), definition(2, "a.py", "Auth.check", "method")
    assert weights(source, [Reference("calls", "check", "self.client")], mine, followed=True) == {2: 0.6}


def test_two_of_one_name_in_a_file_of_javascript_are_likely_only() -> None:
    source = definition(1, "a.js", "login", language="javascript")
    twins = [definition(n, "a.js", "check", language="javascript") for n in (2, 3)]
    assert weights(source, [CHECK], *twins, followed=True) == {2: 0.6, 3: 0.6}
    assert weights(source, [Reference("hands on", "check")], *twins, followed=True) == {}, "which is not told"
    away = [definition(n, "b.js", "check", language="javascript") for n in (2, 3)]
    imports = (Import("./b", "check"),)
    found = weights(source, [CHECK], *away, imports=imports, followed=True, known=("b.js",))
    assert found == {2: 1.0, 3: 1.0}, "of another file each is what it gives away"
    assert weights(source, [Reference("hands on", "check")], twins[0], followed=True) == {2: 1.0}
    assert weights(source, [Reference("hands on", "check")], twins[0]) == {}, "nor where imports are not known"


def test_a_function_inside_a_method_speaks_of_the_class_around_that() -> None:
    owner, method = definition(2, "a.py", "Auth", "class"), definition(3, "a.py", "Auth.check", "method")
    source = definition(1, "a.py", "Auth.login.retry")
    assert weights(source, [Reference("calls", "check", "self")], owner, method, followed=True) == {3: 1.0}


def test_a_file_imports_what_stands_at_the_top_of_another() -> None:
    here = definition(1, "a.py", "<module>", "module")
    others = [definition(2, "b.py", "check"), definition(3, "b.py", "Auth.check", "method")]
    scope = Scope("a.py", "python", [Import("b", "check"), Import("", "check")], Catalogue([here, *others]))
    assert scope.resolve_imports(here) == [Relation(1, "imports", 2, 1.0)]


def test_a_file_imports_what_another_only_hands_on() -> None:
    here, there = definition(1, "a.py", "<module>", "module"), definition(2, "lib/c.py", "check")
    imports = {"a.py": (Import("b", "check"),), "b.py": (Import("lib.c", "check"),), "lib/c.py": ()}
    scope = Scope("a.py", "python", imports["a.py"], Catalogue([here, there], LinkedFiles(imports)))
    assert scope.resolve_imports(here) == [Relation(1, "imports", 2, 1.0)]


def test_who_asks_the_class_above_does_not_mean_his_own() -> None:
    source, own = definition(1, "a.py", "Auth.login", "method"), definition(2, "a.py", "Auth.check", "method")
    above = [definition(3, "a.py", "Base", "class"), definition(4, "a.py", "Base.check", "method")]
    auth = definition(5, "a.py", "Auth", "class")
    links = LinkedFiles({"a.py": ()}, bases={5: [("Base", "")]})
    scope = Scope("a.py", "python", (), Catalogue([source, own, auth, *above], links))
    for qualifier, meant in (("self", 2), ("super()", 4)):
        (edge,) = scope.resolve(source, [Reference("calls", "check", qualifier)])
        assert (edge.to_id, edge.weight) == (meant, 1.0), qualifier


def java(number: int, path: str, name: str, kind: str = "method") -> ReferenceTarget:
    return definition(number, path, name, kind, "java")


MAIN = "core/src/main/java/org/shop"
CART = [
    java(10, f"{MAIN}/Cart.java", "Cart", "class"),
    java(11, f"{MAIN}/Cart.java", "Cart.Cart"),
    java(12, f"{MAIN}/Cart.java", "Cart.Cart"),
    java(13, f"{MAIN}/Cart.java", "Cart.add"),
    java(14, f"{MAIN}/Cart.java", "Cart.add"),
]
OTHER_CART = [
    java(20, f"{MAIN}/old/Cart.java", "Cart", "class"),
    java(21, f"{MAIN}/old/Cart.java", "Cart.Cart"),
    java(22, f"{MAIN}/old/Cart.java", "Cart.add"),
]
SHOP = java(1, f"{MAIN}/Shop.java", "Shop.open")
SHOP_TEST = java(1, "core/src/test/java/org/shop/ShopTest.java", "ShopTest.open")
APP = java(1, "app/src/main/java/org/app/App.java", "App.main")
ADD = Reference("calls", "add", "Cart()")
MAKE = Reference("calls", "Cart")


@pytest.mark.parametrize("source", [SHOP, SHOP_TEST])
@pytest.mark.parametrize("add", [ADD, Reference("calls", "add", "Cart")])
def test_a_package_means_its_own_class_with_all_its_overloads_and_constructors(
    source: ReferenceTarget, add: Reference
) -> None:
    assert weights(source, [MAKE], *CART, *OTHER_CART) == {10: 0.75, 11: 0.75, 12: 0.75}
    assert weights(source, [add], *CART, *OTHER_CART) == {13: 0.75, 14: 0.75}


def test_of_classes_of_other_packages_each_may_be_meant() -> None:
    assert weights(APP, [ADD], *CART, *OTHER_CART) == {13: 0.375, 14: 0.375, 22: 0.5}
    assert weights(APP, [ADD], *CART) == {13: 0.75, 14: 0.75}, "there is only one"
    assert weights(APP, [MAKE], *CART) == {10: 0.2, 11: 0.2, 12: 0.2}, "which nobody says is this one"


@pytest.mark.parametrize(
    ("package", "found"), [("org.shop", {13: 0.75, 14: 0.75}), ("org.shop.old", {22: 1.0}), ("com.else", {13: 0.375})]
)
def test_an_import_says_which_class_a_variable_is_of(package: str, found: dict[int, float]) -> None:
    told = weights(APP, [ADD], *CART, *OTHER_CART, imports=(Import(package, "Cart"),))
    assert {number: told[number] for number in found} == found


def test_a_package_whose_name_only_ends_alike_is_another() -> None:
    other = java(50, "core/src/main/java/theorg/shop/Cart.java", "Cart.add")
    assert weights(APP, [ADD], *CART, other, imports=(Import("org.shop", "Cart"),)) == {13: 0.75, 14: 0.75}


def test_what_is_imported_counts_before_what_the_package_has() -> None:
    told = weights(SHOP, [MAKE, ADD], *CART, *OTHER_CART, imports=(Import("org.shop.old", "Cart"),))
    assert told == {20: 0.75, 21: 0.75, 22: 1.0}


def test_a_type_from_elsewhere_has_no_member_here() -> None:
    assert weights(SHOP, [Reference("calls", "add", "List()")], *CART) == {}
    assert weights(SHOP, [Reference("calls", "add", "list")], *CART) == {13: 0.3, 14: 0.3}


def test_a_type_of_here_may_inherit_what_it_has_not() -> None:
    sub = java(30, f"{MAIN}/Basket.java", "Basket", "class")
    assert weights(SHOP, [Reference("calls", "add", "Basket()")], *CART, sub) == {13: 0.3, 14: 0.3}


def test_what_a_method_gives_is_likely_what_it_is_called_on() -> None:
    assert weights(SHOP, [Reference("calls", "add", "Cart().with()")], *CART, *OTHER_CART) == {13: 0.6, 14: 0.6}


def test_ones_own_overloads_are_each_meant_and_no_constructor_is_inherited() -> None:
    source = java(1, f"{MAIN}/Cart.java", "Cart.fill")
    assert weights(source, [Reference("calls", "add")], *CART) == {13: 0.75, 14: 0.75}
    assert weights(source, [Reference("calls", "add", "this")], *CART) == {13: 0.75, 14: 0.75}
    heir = java(1, f"{MAIN}/Basket.java", "Basket", "class")
    assert weights(heir, [Reference("inherits", "Cart")], *CART) == {10: 0.75}


def test_a_nested_class_of_another_file_is_not_in_reach_by_its_bare_name() -> None:
    nested = [
        java(40, f"{MAIN}/Cart.java", "Cart.Row", "class"),
        java(41, f"{MAIN}/Cart.java", "Cart.Row.Row"),
    ]
    assert weights(SHOP, [Reference("calls", "Row")], *nested) == {40: 0.3, 41: 0.3}


def test_five_places_at_most_are_told_with_all_that_lies_there() -> None:
    many = [java(100 * n + twice, f"p{n}/Cart.java", "Cart.add") for n in range(1, 8) for twice in range(2)]
    told = weights(APP, [ADD], *many)
    assert sorted(told) == sorted(100 * n + twice for n in range(1, 6) for twice in range(2))
    assert set(told.values()) == {round(0.75 / 7, 3)}


@pytest.mark.parametrize(
    ("others", "qualifier", "found"),
    [
        pytest.param(["Cart"], "", {10: 0.75}, id="the only one that is called so"),
        pytest.param(["Shop.Cart"], "", {10: 0.6}, id="one inside of another class: who is not in that names it too"),
        pytest.param(["Cart", "Cart"], "", {10: 0.3, 11: 0.3}, id="one of two"),
        pytest.param(["Cart"], "Other", {10: 0.6}, id="what is called so somewhere else"),
    ],
)
def test_where_namespaces_are_imported_the_only_type_of_a_name_is_inherited_from(
    others: list[str], qualifier: str, found: dict[int, float]
) -> None:
    heir = definition(1, "Web/Basket.cs", "Basket", "class", "csharp")
    known = [definition(10 + n, f"Shop/{n}.cs", name, "class", "csharp") for n, name in enumerate(others)]
    assert weights(heir, [Reference("inherits", "Cart", qualifier)], *known) == found
    called = weights(heir, [Reference("calls", "Cart")], definition(10, "Shop/0.cs", "Cart", "class", "csharp"))
    assert called == {10: 0.6}, "what is called may be a method as well"
    swift = [definition(1, "a.swift", "B", "class", "swift"), definition(10, "c.swift", "Cart", "class", "swift")]
    assert weights(swift[0], [Reference("inherits", "Cart")], swift[1]) == {10: 0.6}, (
        "of other languages nobody counted"
    )
