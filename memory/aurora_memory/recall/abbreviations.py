"""Abbreviations: how programmers shorten words. A question may say one form and the code the other."""

from __future__ import annotations

from functools import cache

_SHORT_FORMS = """
    addr address | alloc allocate allocation | app application | arg argument | args arguments | arr array |
    async asynchronous | attr attribute | auth authentication authorization authenticate authorize | avg average |
    bg background | bin binary | bool boolean | btn button | buf buffer | calc calculate calculation | cb callback |
    cert certificate | cfg config configuration configure | chk check | char character | clr clear | cls class |
    cmd command | cmp compare comparison | col column | coll collection | comm communication | concat concatenate |
    cond condition | conf config configuration | conn connection connect | const constant | coord coordinate |
    cpy copy | ctl control | ctor constructor | ctrl control controller | ctx context | cur current | curr current |
    db database | dbg debug | deco decorator | decl declaration declare | def default definition | del delete |
    dep dependency | deps dependencies | desc description descriptor | dest destination | dev development device |
    diff difference | dim dimension | dir directory | dirs directories | disp display | doc document documentation |
    docs documentation documents | dst destination | dtor destructor | dup duplicate | el element | elem element |
    env environment | eq equal equality | err error | eval evaluate evaluation | evt event | exc exception |
    exec execute execution | exp expression exponent | expr expression | ext extension | fd descriptor | fn function |
    fmt format formatting | func function | gen generate generator | hdr header | hist history | idx index |
    impl implementation implement | inc increment include | info information | init initialize initialization |
    ins insert | inst instance | int integer | intf interface | iter iterate iterator iteration | len length |
    lang language | lhs left | lib library | lit literal | loc location | lvl level | max maximum | mem memory |
    mgr manager | mid middle | min minimum minify | misc miscellaneous | mod module modify | msg message |
    mul multiply | mut mutable mutate | nav navigation navigate | neg negative | net network | num number |
    obj object | op operation operator | opt option optimize | opts options | orig original | os operating |
    param parameter | params parameters | pkg package | pos position | pred predicate | pref preference |
    prefs preferences | prep prepare | prev previous | priv private | proc process procedure |
    prod product production | prog program progress | prop property | props properties | proto protocol prototype |
    ptr pointer | pub public publish | pwd password | qty quantity | ref reference | refs references |
    reg register registry | regex expression | rel relative relation | repo repository | repr representation |
    req request | res result response resource | resp response | ret return | rhs right | rm remove | rnd random |
    rng range random | sec second security | sel select selection | seq sequence | sess session | spec specification |
    sql database | src source | srv server | stat status statistics | std standard | stmt statement | str string |
    sub subtract substitute | subst substitute | sum summary | sync synchronize synchronous | sys system | tbl table |
    temp temporary temperature | tmp temporary | tmpl template | tok token | trans transaction translate transform |
    tx transaction | txt text | typ type | ui interface | univ universal | upd update | usr user | util utility |
    utils utilities | val value | var variable | vars variables | vec vector | ver version | vis visible visibility |
    win window | wrt write
"""


def other_forms(word: str) -> tuple[str, ...]:
    """What a lower-case word may be short for, or be shortened to."""
    return _forms().get(word, ())


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    forms: dict[str, dict[str, None]] = {}
    for entry in _SHORT_FORMS.split("|"):
        short, *longs = entry.split()
        for long in longs:
            forms.setdefault(short, {})[long] = None
            forms.setdefault(long, {})[short] = None
    return {word: tuple(others) for word, others in forms.items()}
