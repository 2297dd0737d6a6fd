"""Misspellings: which known name is offered for one that nothing has, and when none is."""

import json

import pytest

import aurora_schemas
from aurora_manifest.json.parser import parse
from aurora_manifest.unread_settings import unread_settings
from aurora_protocol.spelling import OF_FEW, OF_MANY, closest
from aurora_server.configuration import schema_lookup


@pytest.mark.parametrize(
    ("typed", "known", "at_least", "offered"),
    [
        ("parse_ledger", ["parseLedger", "parse_ledgers"], OF_MANY, "parseLedger"),  # case and punctuation first
        ("recal", ["recall", "doctor"], OF_MANY, "recall"),
        ("reca", ["metrics", "doctor"], OF_MANY, None),
        ("budget", ["cost_budgets"], OF_MANY, None),  # among names that people chose that may be chance
        ("bugdet", ["cost_budgets"], OF_FEW, "cost_budgets"),
        ("budget", ["color"], OF_FEW, None),
        ("", ["level"], OF_FEW, None),
        ("x" * 65, ["x" * 65], OF_FEW, None),  # too long to guess at
        ("___", ["level"], OF_FEW, None),
        ("tryagian", ["tryint", "tryagain"], 0.88, "tryagain"),  # a slip of the fingers, at any likeness
        ("tryagian", ["tryagani"], 0.88, None),  # not of neighbours
        ("from", ["form"], 0.88, None),  # too short: both are words
        ("label", ["lable", "table"], 0.88, "lable"),
    ],
)
def test_what_is_offered(typed: str, known: list[str], at_least: float, offered: str | None) -> None:
    assert closest(typed, known, at_least) == offered


@pytest.mark.parametrize("typed", ["idle_mins", "idl", "minutes", "idle"])
def test_the_editor_and_the_command_line_offer_the_same_setting(typed: str) -> None:
    text = json.dumps({"daemon": {typed: 5}})
    (finding,) = unread_settings(parse(text), aurora_schemas.load("configuration"))
    (unknown,) = schema_lookup.unknown(json.loads(text))
    offered = unknown.meant.rpartition(".")[2] if unknown.meant else None
    assert (f"did you mean {json.dumps(offered)}" in finding.message) if offered else ("mean" not in finding.message)
