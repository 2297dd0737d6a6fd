"""Every rule of the catalogue: documented, tested both ways, exact in its range, and mended by its fix."""

from __future__ import annotations

import json
import re
import runpy
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

from aurora_manifest.check import unknown_rules
from aurora_manifest.findings import Finding
from aurora_manifest.json.parser import parse
from aurora_manifest.rules import RuleInfo, catalogue, documentation, link, page
from aurora_manifest.rules.page import FILE
from aurora_manifest.violations import SchemaCheck
from tests.manifests import SHARED, check, manifest, reference_manifests
from tests.protocol.rule_cases import BASE, CASES, FINE, Case, around, patched, spelt

RULES = {info.id: info for info in catalogue()}
NOT_IN_MANIFESTS = {
    "schema-constraint": {"type": "object", "properties": {"port": {"type": "integer", "minimum": 1}}},
}


@cache
def looked_at(text: str) -> list[Finding]:
    return check(text)


def of_rule(rule: str, text: str) -> list[Finding]:
    if rule in NOT_IN_MANIFESTS:
        found = SchemaCheck(NOT_IN_MANIFESTS[rule], "the file").findings(parse(text))
        return [each for each in found if each.rule == rule]
    return [each for each in looked_at(text) if each.rule == rule]


def applied(text: str, finding: Finding) -> str:
    assert finding.fix is not None
    for edit in sorted(finding.fix.edits, key=lambda each: each.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def errors(text: str, scope: str) -> int:
    """How many errors there are; of a broken text only those of syntax, since more can be seen once it is mended."""
    found = [each for each in looked_at(text) if each.severity == "error"]
    return sum(scope != "text" or each.rule.startswith("json-") for each in found)


def example(info: RuleInfo, source: str) -> str:
    """A documented example as a whole text."""
    if source.startswith("("):
        return "[" + " " * 9_000_000 + "]"
    if info.scope == "text":
        return source.replace("\\ufeff", "\ufeff")
    if info.id in NOT_IN_MANIFESTS:
        return source
    return spelt(patched(BASE, around(info.scope, json.loads(source))))


def test_the_manifest_of_the_examples_has_nothing_wrong() -> None:
    assert check(spelt(BASE)) == []


def test_good_manifests_are_left_alone() -> None:
    demo = next(Path(__file__).parents[2].glob("*/*/demo_site/aura.json"))
    ours = [manifest(1), manifest(8), json.loads(demo.read_text(encoding="utf-8"))]
    texts = [json.dumps(each, indent=2) for each in [*ours, *reference_manifests()]]
    readme = SHARED / "seeds" / "aura-manifest-protocol.md"
    if readme.is_file():
        texts += re.findall(r"```json\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    assert [each.rule for text in texts for each in check(text)] == []


@pytest.mark.parametrize("info", catalogue(), ids=lambda info: info.id)
def test_every_rule_is_documented_with_two_examples_that_are_true(info: RuleInfo) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", info.id)
    assert info.summary.endswith(".")
    assert "\n" not in info.summary
    assert documentation(info.id) == info.documentation
    assert info.summary in info.documentation
    assert "Bad:" in info.documentation
    assert "Good:" in info.documentation
    assert of_rule(info.id, example(info, info.bad)), "the bad example has no such finding"
    assert not of_rule(info.id, example(info, info.good)), "the good example has such a finding"


def test_every_rule_has_cases_and_every_case_a_rule() -> None:
    cases = {case.rule for case in CASES}
    assert cases | set(NOT_IN_MANIFESTS) == set(RULES)
    assert set(FINE) <= set(RULES)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.rule} {case.covers[0][:20].encode().decode('ascii', 'replace')}"
)
def test_a_rule_finds_exactly_the_offending_text_and_mends_it(case: Case) -> None:
    scope = RULES[case.rule].scope
    text = case.text(scope)
    findings = of_rule(case.rule, text)
    assert tuple(text[each.start : each.end] for each in findings) == case.covers
    if case.message:
        assert findings[0].message == case.message
    assert (findings[0].fix is not None) == (case.fixed is not None)
    if case.fixed is None:
        return
    mended = applied(text, findings[0])
    if isinstance(case.fixed, str):
        assert mended == case.fixed
    else:
        expected = patched(BASE, case.fixed)
        if case.fixed == {}:
            assert patched(json.loads(mended), case.fixed) == expected
        else:
            assert json.loads(mended) == expected
    assert len(of_rule(case.rule, mended)) < len(findings)
    assert errors(mended, scope) <= errors(text, scope)


@pytest.mark.parametrize("rule", FINE)
def test_a_rule_lets_pass_what_is_fine(rule: str) -> None:
    for each in FINE[rule]:
        text = each if isinstance(each, str) else spelt(patched(BASE, around(RULES[rule].scope, each)))
        assert of_rule(rule, text) == [], each


def test_the_page_is_up_to_date_and_links_lead_to_its_sections() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert text == page(), "run: python -m aurora_manifest.rules"
    for info in catalogue():
        address = urlsplit(link(info.id))
        assert Path(url2pathname(address.path)) == FILE.resolve()
        assert f"\n## {address.fragment}\n" in text


def test_the_page_can_be_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["rules", "-"])
    runpy.run_module("aurora_manifest.rules", run_name="__main__")
    assert capsys.readouterr().out == page()


def test_severities_can_be_set() -> None:
    text = spelt(patched(BASE, {"capabilities": {"update_note": {"id": "edit"}}, "protocol": "aura"}))
    assert [(each.rule, each.severity) for each in check(text)] == [
        ("schema-const", "error"),
        ("capability-id", "warning"),
    ]
    changed = check(text, severities={"capability-id": "error", "schema-const": "hint", "json-syntax": "loud"})
    assert [(each.rule, each.severity) for each in changed] == [("schema-const", "hint"), ("capability-id", "error")]
    assert [each.rule for each in check(text, severities={"capability-id": "off"})] == ["schema-const"]


def test_a_name_that_is_not_told_any_more_does_not_hide_the_missing_member() -> None:
    text = spelt(patched(BASE, {"sites": BASE["site"], "site": None}))
    assert [each.rule for each in check(text)] == ["schema-unknown-member"]
    assert [each.rule for each in check(text, severities={"schema-unknown-member": "off"})] == ["schema-required"]


def test_wrong_settings_of_severities_are_told() -> None:
    assert unknown_rules({"capability-id": "off"}) == []
    assert unknown_rules({"capabilty-id": "off", "json-syntax": "loud"}) == [
        'there is no rule "capabilty-id"; did you mean "capability-id"?',
        '"loud" is not a severity for "json-syntax": use error, warning, info, hint or off',
    ]


def test_findings_can_be_ignored_where_they_are() -> None:
    wrong = {"capabilities": {"update_note": {"id": "edit", "v": 0}, "list_notes": {"id": "list"}}}
    text = spelt(patched(BASE, wrong))
    assert [each.rule for each in check(text)] == ["capability-id", "capability-id", "capability-version"]
    ignoring = patched(BASE, patched(wrong, {"capabilities": {"update_note": {"x-aurora-ignore": ["capability-id"]}}}))
    assert [each.path for each in check(spelt(ignoring))] == [
        "/capabilities/list_notes/id",
        "/capabilities/update_note/v",
    ]
    everywhere = patched(BASE, patched(wrong, {"x-aurora-ignore": ["capability-id", "capability-version"]}))
    assert check(spelt(everywhere)) == []
    unused = {"resources": {"notes": {"operations": {"GET": None}}}}
    assert [each.rule for each in check(spelt(patched(BASE, unused)))] == ["capability-unreferenced"]
    on_name = {**unused, "capabilities": {"list_notes": {"x-aurora-ignore": "capability-unreferenced"}}}
    assert check(spelt(patched(BASE, on_name))) == []


def test_what_decides_validity_cannot_be_ignored() -> None:
    text = spelt(patched(BASE, {"protocol": "aura", "x-aurora-ignore": ["schema-const", "json-syntax"]}))
    assert [each.rule for each in check(text)] == ["schema-const", "ignore-unknown", "ignore-unknown"]


def test_a_guess_can_be_ignored_but_not_one_that_explains_what_is_missing() -> None:
    guess = patched(BASE, {"site": {"descripton": "x", "x-aurora-ignore": "schema-unknown-member"}})
    assert check(spelt(guess)) == []
    missing = patched(BASE, {"site": {"nam": "x", "name": None, "x-aurora-ignore": "schema-unknown-member"}})
    assert [each.rule for each in check(spelt(missing))] == ["schema-unknown-member"]
