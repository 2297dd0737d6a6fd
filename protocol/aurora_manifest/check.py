"""Check of a manifest (linter, validation): from the text of a manifest to its findings: the rules, asked one by one
(AURA-P "Validation and Tooling").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from aurora_manifest.consequences import without_consequences
from aurora_manifest.edited_parts import edited_parts
from aurora_manifest.findings import MAX_FINDINGS, Edit, Finding, Fix, Severity, in_order
from aurora_manifest.json.document import JsonDocument
from aurora_manifest.json.incremental_parse import reparse
from aurora_manifest.json.parser import parse
from aurora_manifest.json.value_text import alternatives, quoted
from aurora_manifest.model import Capability, Manifest, Resource
from aurora_manifest.rules.ignore import without_ignored
from aurora_manifest.rules.places import IGNORE
from aurora_manifest.rules.registry import RULES, Rule, Scope, ask
from aurora_manifest.rules.subject import ManifestPart, Subject
from aurora_manifest.schema import manifest_schema
from aurora_protocol.spelling import closest

__all__ = ["CheckStopped", "Checker", "check_document", "manifest_schema", "unknown_rules"]

SEVERITIES = ("error", "warning", "info", "hint", "off")
"""Settings of a rule."""

_ENOUGH = 3 * MAX_FINDINGS
"""After so many findings in single capabilities and resources no more are looked for: they would not be listed."""

_NEVER_CLOSED = '"]" is missing here'
"""How findings begin that tell of a list's end."""

_BEGINS_OBJECT = re.compile(r"[ \t]*+(?={)").match
_MISSPELT = "schema-unknown-member"


def check_document(document: JsonDocument, *, severities: Mapping[str, str] = {}) -> list[Finding]:
    """Everything that is wrong with a manifest, in the order of the text. Never raises, whatever the text.

    `severities` sets rules to `error`, `warning`, `info`, `hint` or `off`; what it says of unknown rules, or in unknown
    words, has no effect (`unknown_rules` tells). Takes some 200 ms for a thousand capabilities: call it off the event
    loop.
    """
    return Checker(severities).check(document)


def unknown_rules(severities: Mapping[str, str]) -> list[str]:
    """Complaints about a setting of severities, one sentence each: rules that do not exist, words that are none."""
    wrong = []
    for rule in severities:
        if rule not in RULES:
            meant = closest(rule, RULES)
            wrong.append(f"there is no rule {quoted(rule)}" + (f"; did you mean {quoted(meant)}?" if meant else ""))
    wrong += [
        f"{quoted(severity)} is not a severity for {quoted(rule)}: use {alternatives(SEVERITIES)}"
        for rule, severity in severities.items()
        if severity not in SEVERITIES
    ]
    return wrong


class CheckStopped(Exception):
    """Cancellation of a check: nobody wants to know any more what it would find."""


class PartAnswer(Struct, frozen=True, gc=False):
    """Answer about one capability or resource: its own findings, and whether the schema has nothing to say of it.

    `key` is its kind and text. `plain` is its value: an edit elsewhere takes over that very object (`reparse`), so who
    holds it needs not look at the text.
    """

    key: tuple[type, str]
    plain: object
    findings: list[Finding]
    sound: bool


class ManifestAnswer(Struct, frozen=True, gc=False):
    """Answer about a manifest: findings of rules about the whole of it, and those of single parts."""

    manifest: Manifest
    whole: list[Finding]
    local: list[Finding]


class Checker:
    """Checker of one manifest, incremental: again and again as it changes.

    Rules about one capability or resource look at nothing but its text, so their answers are kept with that text and
    used again while it stays the same; so is the schema's, where it has nothing to say. Not for several threads at
    once.
    """

    def __init__(self, severities: Mapping[str, str] = {}) -> None:
        self._severities: dict[str, Severity | None] = {
            rule: None if severity == "off" else severity  # type: ignore[misc]
            for rule, severity in severities.items()
            if severity in SEVERITIES
        }
        self._kept: dict[tuple[type, str], PartAnswer] = {}
        self._by_value: dict[int, PartAnswer] = {}
        self._sound: JsonDocument | None = None
        self._last: ManifestAnswer | None = None
        self._text = self._rules("text")
        self._whole = self._rules("manifest")
        self._capability = self._rules("capability")
        self._resource = self._rules("resource")
        self._part = self._rules("part")

    def read(self, text: str) -> JsonDocument:
        """The text as a document; quick when it differs a little from the last sound one."""
        document = parse(text) if self._sound is None else reparse(self._sound, text)
        if not document.problems:
            self._sound = document
        return document

    def check(
        self, document: JsonDocument, stopped: Callable[[], bool] = lambda: False, manifest: Manifest | None = None
    ) -> list[Finding]:
        """Everything that is wrong with the document, in the order of the text.

        `manifest` is the same document as a manifest, where somebody has it already: of a thousand capabilities it
        takes longer to make after an edit than all that a hover looks at.

        After an edit inside one capability, a document from `read` takes a small part of the time of a first one.
        Raises CheckStopped soon after `stopped` tells that nobody waits any more; what was found until then is kept.
        """
        if stopped():
            raise CheckStopped
        manifest = Manifest(document) if manifest is None else manifest
        answer = self._after_edit(manifest) or self._whole_answer(manifest, stopped)
        self._last = answer
        findings = [*answer.whole, *answer.local]
        findings = _with_opened_for_none(document, _silent_at_broken(document, findings))
        findings = without_consequences(findings)
        return in_order(self._as_set(without_ignored(document, _with_safe_fixes(document, findings))))

    def _whole_answer(self, manifest: Manifest, stopped: Callable[[], bool]) -> ManifestAnswer:
        """Full check: every rule that is on, of the text, the whole and each part."""
        document, torn = manifest.document, manifest.document.torn
        told = self._severities.get(_MISSPELT, "error") == "error"
        local, sound = self._local([*manifest.capabilities.values(), *manifest.resources], document, stopped)
        subject = Subject(manifest, names_may_explain=told, sound=sound)
        findings = ask(self._text, subject)
        if torn is None:
            findings += ask(self._whole, subject)
            findings += ask(self._part, subject.rest, document)
        else:  # of what comes behind, and of what belongs together, nothing is known
            local = [each for each in local if each.end <= torn]
        return ManifestAnswer(manifest, findings, local)

    def _after_edit(self, manifest: Manifest) -> ManifestAnswer | None:
        """Incremental check: answer by the last one, where only parts were edited in ways that no rule about the whole
        looks at."""
        last, document = self._last, manifest.document
        edited = edited_parts(last.manifest, manifest) if last is not None else None
        if last is None or edited is None or len(last.local) > _ENOUGH or IGNORE in document.text:
            return None
        if not all(each.says_the_same for each in edited.parts) or not all(map(edited.apart, last.whole)):
            return None
        local = [edited.moved(each) for each in last.local if not edited.within(each)]
        for part in edited.parts:
            before = self._by_value.get(id(part.before.node.value))
            answer = self._answer(part.after, document, self._part)
            if before is None or not before.sound or not answer.sound:
                return None
            self._forget(before)
            self._keep(answer)
            local += (_moved(one, part.after.member.name_start) for one in answer.findings)
        return ManifestAnswer(manifest, [edited.moved(each) for each in last.whole], local)

    def _rules(self, scope: Scope) -> list[Rule]:
        """Enabled rules of a scope."""
        return [
            rule
            for rule in RULES.values()
            if rule.info.scope == scope and self._severities.get(rule.info.id, "error") is not None
        ]

    def _local(
        self, parts: list[Capability | Resource], document: JsonDocument, stopped: Callable[[], bool]
    ) -> tuple[list[Finding], frozenset[int]]:
        """Findings in single parts, and the parts that the schema has nothing to say of, by `id` of their values.

        Answers are kept by the part's text, with offsets from where the part begins.
        """
        before, by_value = self._kept, self._by_value
        self._kept, self._by_value = {}, {}
        findings: list[Finding] = []
        sound: list[int] = []
        anywhere = self._possible(parts, document) if not before else self._part
        for each in parts:
            if len(findings) > _ENOUGH:
                break
            base, plain = each.member.name_start, each.node.value
            answer = by_value.get(id(plain))
            if answer is None or answer.plain is not plain or not isinstance(plain, dict):
                answer = before.get(_key(each, document))
                if answer is None:
                    if stopped():
                        self._kept, self._by_value = before | self._kept, by_value | self._by_value
                        raise CheckStopped
                    answer = self._answer(each, document, anywhere)
                else:
                    answer = PartAnswer(answer.key, plain, answer.findings, answer.sound)
            self._keep(answer)
            findings += (_moved(one, base) for one in answer.findings)
            if answer.sound:
                sound.append(id(plain))
        return findings, frozenset(sound)

    def _answer(self, part: Capability | Resource, document: JsonDocument, anywhere: list[Rule]) -> PartAnswer:
        """Answer about one part by its own rules, and by those of `anywhere`."""
        base = part.member.name_start
        own = ask(self._capability if isinstance(part, Capability) else self._resource, part, document)
        own += ask(anywhere, ManifestPart(part.path[:1], (part.member,)), document)
        findings = [_moved(one, -base) for one in own]
        return PartAnswer(_key(part, document), part.node.value, findings, _is_sound(part))

    def _keep(self, answer: PartAnswer) -> None:
        self._kept[answer.key] = self._by_value[id(answer.plain)] = answer

    def _forget(self, answer: PartAnswer) -> None:
        """Cache eviction of one answer."""
        self._kept.pop(answer.key, None)
        self._by_value.pop(id(answer.plain), None)

    def _possible(self, parts: list[Capability | Resource], document: JsonDocument) -> list[Rule]:
        """Prefilter: rules about parts that may find something in any of them: one look at each different line of the
        text.

        A first check of a thousand capabilities takes 25 ms less with it (200 instead of 225).
        """
        if not parts:
            return self._part
        members = [each.member for each in parts]
        text = document.text[min(each.name_start for each in members) : max(each.value.end for each in members)]
        lines = "\n".join(set(text.split("\n")))
        return [rule for rule in self._part if rule.absent is None or not rule.absent(text, lines)]

    def _as_set(self, findings: list[Finding]) -> list[Finding]:
        """Findings by the configured severities (overrides); rules that are off were not asked."""
        wanted = self._severities
        return [replace(each, severity=said) if (said := wanted.get(each.rule)) else each for each in findings]


def _key(part: Capability | Resource, document: JsonDocument) -> tuple[type, str]:
    return type(part), document.text[part.member.name_start : part.member.value.end]


def _is_sound(part: Capability | Resource) -> bool:
    """Whether the schema surely has nothing to say of a part, nor of the names in it."""
    shape = manifest_schema().shapes.at("#/$defs/capability" if isinstance(part, Capability) else "#/$defs/resource")
    plain = part.node.value
    return isinstance(plain, dict) and shape.accepts(plain) and shape.knows(plain)


def _with_safe_fixes(document: JsonDocument, findings: list[Finding]) -> list[Finding]:
    """Without fixes where the text is broken: what is put right there could land in the wrong place.

    Fixes of the broken text itself stay, and those in other capabilities and resources.
    """
    broken = {_part_of(document.pointer_at(each.start)) for each in document.problems if each.rule == "json-syntax"}
    if not broken:
        return findings
    return [
        replace(each, fix=None, others=())
        if (each.fix is not None or each.others)
        and not each.rule.startswith("json-")
        and ("" in broken or _part_of(each.path) in broken)
        else each
        for each in findings
    ]


def _silent_at_broken(document: JsonDocument, findings: list[Finding]) -> list[Finding]:
    """Without what is said of a value that is no JSON and could be anything: its finding is that it is none."""
    ranges = [(each.start, each.end) for each in document.problems if each.rule == "json-syntax" and not each.certain]
    if not ranges or len(ranges) > MAX_FINDINGS:
        return findings
    return [
        each
        for each in findings
        if each.rule.startswith("json-") or not any(start <= each.start and each.end <= end for start, end in ranges)
    ]


def _with_opened_for_none(document: JsonDocument, findings: list[Finding]) -> list[Finding]:
    """With one finding of a bracket that opens a list where none may be, and is never closed: it is one too many."""
    text, told = document.text, list(findings)
    for each in findings:
        if each.rule == "schema-type" and text[each.start] == "[" and text[each.end - 1] != "]":
            within = (one for one in told if each.start < one.end <= each.end)
            unclosed = [one for one in within if one.message.startswith(_NEVER_CLOSED)]
            lead = _BEGINS_OBJECT(text, each.start + 1)
            if len(unclosed) == 1 and lead is not None:
                told.remove(unclosed[0])
                fix = Fix('Remove the "["', (Edit(each.start, lead.end(), ""),))
                message = f'{each.message}: this "[" is one too many'
                end = each.start + 1
                told[told.index(each)] = replace(each, rule="json-syntax", message=message, end=end, fix=fix)
    return told


def _part_of(pointer: str) -> str:
    """The first two steps of a path; nothing when it has fewer."""
    steps = pointer.split("/")
    return "/".join(steps[:3]) if len(steps) > 2 else ""


def _moved(each: Finding, by: int) -> Finding:
    fix = _moved_fix(each.fix, by) if each.fix else None
    others = tuple(_moved_fix(one, by) for one in each.others)
    return replace(each, start=each.start + by, end=each.end + by, fix=fix, others=others)


def _moved_fix(fix: Fix, by: int) -> Fix:
    return replace(fix, edits=tuple(Edit(edit.start + by, edit.end + by, edit.text) for edit in fix.edits))
