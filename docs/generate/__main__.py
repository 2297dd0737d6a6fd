"""`python -m docs.generate`: writes every generated page; `--check` lists those out of date and exits with 1."""

from __future__ import annotations

import sys

from docs.generate import commands, decisions, events, limits, methods, requirements, rules, settings, signals
from docs.generate.citations import ROOT

MAKERS = (
    commands.pages,
    settings.pages,
    methods.pages,
    limits.pages,
    events.pages,
    rules.pages,
    signals.pages,
    decisions.pages,
    requirements.pages,
)
"""Requirements last: pages that cite are made before their citations are counted."""


def stale() -> dict[str, str]:
    """Pages that are not as they would be made now: new text by path."""
    made = {path: text for maker in MAKERS for path, text in maker(ROOT).items()}
    return {
        path: text
        for path, text in made.items()
        if not (ROOT / path).is_file() or (ROOT / path).read_text(encoding="utf-8") != text
    }


def main() -> int:
    """Exit code: 0, or 1 where `--check` found pages out of date."""
    found = stale()
    check = "--check" in sys.argv[1:]
    for path, text in found.items():
        sys.stdout.write(f"{'out of date' if check else 'written'}: {path}\n")
        if not check:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")
    return int(check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
