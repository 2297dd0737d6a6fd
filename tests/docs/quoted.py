"""Commands as documentation quotes them: each line of a code block that calls `aur` or `aurora`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from docs.generate.citations import ROOT

_COMMENT = re.compile(r"\s{2,}#.*| # .*")


def commands(page: str) -> Iterator[tuple[str, ...]]:
    """The arguments of each command in a page, in its order. `;` parts them; what is behind `#` and `|` is left out."""
    text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
    language: str | None = None
    for line in map(str.strip, text.splitlines()):
        if line.startswith("```"):
            language = line.removeprefix("```") if language is None else None
        elif language in ("", "sh", "console"):
            said = _COMMENT.sub("", line.removeprefix("$ "))
            if said.startswith(("aur ", "aurora ")) and "──" not in said:  # a picture
                yield from _split(said)


def _split(said: str) -> Iterator[tuple[str, ...]]:
    words = shlex.shlex(said, posix=True, punctuation_chars=";|")
    words.whitespace_split = True
    command: list[str] = []
    skipped = False
    for word in [*words, ";"]:
        if word == ";":
            if command[:1] in (["aur"], ["aurora"]):
                yield tuple(command)
            command, skipped = [], False
        elif word == "|":
            skipped = True
        elif not skipped:
            command.append(word)


def pages() -> list[str]:
    """The pages that quote commands."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/how-to/*.md")]
    return sorted(str(each.relative_to(ROOT)) for each in found if any(commands(str(each.relative_to(ROOT)))))


def repository(root: Path) -> None:
    """A repository with what README.md's commands ask for."""
    files = {
        "src/auth.py": (
            '"""Who may come in."""\n\n\nclass AuthService:\n    """Keeps sessions."""\n\n'
            '    def login(self, name: str) -> str:\n        """Begin a session."""\n        return name\n\n\n'
            "def login(name: str) -> str:\n    return AuthService().login(name)\n"
        ),
        "src/retry.py": (
            "import time\n\n\ndef retry_with_backoff(call, times=3):\n"
            '    """Retry a request, waiting longer each time."""\n    for n in range(times):\n'
            "        time.sleep(2**n)\n        call()\n"
        ),
        "src/templates.py": (
            'def expand_url_template(template: str, values: dict[str, str]) -> str:\n    """Expand a URL template."""\n'
            "    return template.format(**values)\n"
        ),
        ".well-known/aura.json": manifest().replace('"list_note"', '"list_notes"'),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def manifest() -> str:
    """The manifest of the tutorial, with its mistakes."""
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    return text.split("```json\n", 1)[1].split("```", 1)[0]
