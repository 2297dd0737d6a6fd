"""Settings that nothing reads: each is told of once, with the nearest name of its section as a fix."""

from __future__ import annotations

import json

from aurora_manifest.fix_all import edited
from aurora_manifest.kinds import CONFIGURATION
from aurora_schemas.retired_settings import RETIRED
from tests.manifests import check_text


def test_names_far_from_any_setting_are_warnings() -> None:
    text = json.dumps({"memory": {"top_k": 5}, "bugdet": {}, "daemon": {"idle_minuts": 5}})
    found = check_text(text, CONFIGURATION)
    assert [(each.rule, each.severity, text[each.start : each.end]) for each in found] == [
        ("schema-unknown-member", "warning", f'"{name}"') for name in ("top_k", "bugdet", "idle_minuts")
    ]
    fix = found[1].fix
    assert fix is not None
    assert "cost_budgets" in json.loads(edited(text, fix.edits))


def test_what_earlier_versions_had_is_no_finding() -> None:
    for path in RETIRED:
        *sections, name = path.split(".")
        document: dict[str, object] = {name: "x"}
        for section in reversed(sections):
            document = {section: document}
        assert check_text(json.dumps(document), CONFIGURATION) == []
