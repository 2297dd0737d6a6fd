"""Manifest check: from what the command line names to checked manifests, one after the other; and mending them on the
way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from aurora_cli.atomic_write import Changed, replace_text
from aurora_cli.manifest_files import STANDARD_INPUT, Unreadable, matching, read, read_standard_input, shown
from aurora_cli.manifest_report import Checked
from aurora_manifest.check import check_document
from aurora_manifest.findings import Finding
from aurora_manifest.fix_all import fix_all
from aurora_manifest.json.document import JsonDocument
from aurora_manifest.json.scanner import parse
from aurora_manifest.model import Manifest


def checks(
    arguments: Sequence[str], here: Path, stdin_name: str, levels: Mapping[str, str], *, fix: bool
) -> Iterator[Checked | Unreadable]:
    """Check what the arguments name, each file once, in their order; what cannot be checked comes as an error."""
    done: set[str] = set()
    for argument in arguments:
        try:
            paths = [None] if argument == STANDARD_INPUT else matching(argument)
        except Unreadable as error:
            yield error
            continue
        for path in paths:
            name = stdin_name if path is None else shown(path, here)
            if name in done:
                continue
            done.add(name)
            try:
                yield _checked(path, name, levels, fix=fix)
            except Unreadable as error:
                yield error


def _checked(path: Path | None, name: str, levels: Mapping[str, str], *, fix: bool) -> Checked:
    source = read_standard_input(name) if path is None else read(path, name)
    if path is None or not fix:
        document = parse(source.text)
        return Checked(source, Manifest(document), _findings(document, levels))
    fixed = fix_all(source.text, lambda text: _findings(parse(text), levels))
    if fixed.applied:
        try:
            replace_text(path, source.text, fixed.text)
        except Changed as error:
            raise Unreadable(str(error)) from error
        except OSError as error:
            raise Unreadable(f"{name}: cannot be fixed: {error.strerror or error}") from error
    after = msgspec.structs.replace(source, text=fixed.text)
    return Checked(after, Manifest(parse(fixed.text)), fixed.left, fixed.applied)


def _findings(document: JsonDocument, levels: Mapping[str, str]) -> list[Finding]:
    return check_document(document, severities=levels)
