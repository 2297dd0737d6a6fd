"""Documents of our own with a verdict: what a document must be, held where no reference is at hand.

`python -m tests.schemas.verdicts` makes them anew from changes drawn by chance; the verdicts are those of the
reference's schemas, which it needs (`AURORA_SHARED`). Where they are at
hand the tests hold the verdicts against them as well.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator, Draft202012Validator

from tests.documents import METRICS, OURS
from tests.manifests import REFERENCE, manifest, mutated

FILE = Path(__file__).parent / "data" / "verdicts.jsonl"
COUNT = 400
"""Of each schema; about as many are valid as are not."""

BASES: dict[str, list[dict[str, Any]]] = {"manifest-1.0": [manifest(4)], **OURS}

Change = list[Any]
"""A path with a value, or alone where what stands there goes."""


def cases(schema: str) -> Iterator[tuple[Any, bool]]:
    """The documents for a schema, each with whether it is valid."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        name, base, changes, valid = json.loads(line)
        if name == schema:
            yield changed(touched(BASES[name][base], changes), changes), valid


def touched(base: dict[str, Any], made: list[Change]) -> dict[str, Any]:
    """The base without the capabilities and resources that stay as they are, which have no part in the verdict."""
    names = {path[1] for path, *_ in made if len(path) > 1}
    return {
        member: {name: each for name, each in value.items() if name in names} or dict([*value.items()][:1])
        if member in ("capabilities", "resources")
        else value
        for member, value in base.items()
    }


def reference(schema: str) -> Draft7Validator | Draft202012Validator | None:
    """The reference's validator; None where it is not at hand."""
    kind = Draft7Validator if schema == "manifest-1.0" else Draft202012Validator
    file = REFERENCE / "aura-v1.0.schema.json" if kind is Draft7Validator else METRICS / f"schemas/{schema}.schema.json"
    return kind(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None


def changes(base: Any, document: Any, path: tuple[str, ...] = ()) -> Iterator[Change]:
    """What makes the base the document; lists change as a whole."""
    if not isinstance(base, dict) or not isinstance(document, dict):
        if json.dumps(base) != json.dumps(document):
            yield [path, document]
        return
    for key in base.keys() - document.keys():
        yield [(*path, key)]
    for key, value in document.items():
        if key in base:
            yield from changes(base[key], value, (*path, key))
        else:
            yield [(*path, key), value]


def changed(base: Any, made: list[Change]) -> Any:
    """The base with those changes."""
    whole = {"": copy.deepcopy(base)}
    for path, *value in made:
        place: Any = whole
        *above, last = ("", *path)
        for key in above:
            place = place[key]
        if value:
            place[last] = value[0]
        else:
            del place[last]
    return whole[""]


def main() -> None:
    """Write the file anew."""
    chance = random.Random(2026)
    lines: list[str] = []
    for schema, bases in BASES.items():
        validator = reference(schema)
        if validator is None:
            raise SystemExit("the reference's schemas are not here: set AURORA_SHARED")
        left = {True: COUNT // 2, False: COUNT // 2}
        seen = set[str]()
        while any(left.values()):
            base = chance.randrange(len(bases))
            document = mutated(bases[base], chance)
            verdict = validator.is_valid(document)
            made = sorted(changes(bases[base], document), key=lambda change: change[0])
            line = json.dumps([schema, base, made, verdict], ensure_ascii=False)
            if left[verdict] and line not in seen and "Infinity" not in line and len(line) < 400:
                assert changed(bases[base], made) == document
                assert validator.is_valid(changed(touched(bases[base], made), made)) == verdict
                left[verdict] -= 1
                seen.add(line)
                lines.append(line)
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
