"""`aurora demo` (guided tour): a walk of two minutes through a small shop, in a sandbox: a folder, a home and a daemon
of its own.

Every step is a command that is run as one types it, and what it prints is what it printed just now. Nothing of this
user's is read or written, and nothing is left behind.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import click

from aurora_cli.errors import NO_DAEMON, CommandError
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import TerminalStyle, print_json, style_of_output
from aurora_protocol.human_text import plain

_STEP_ENDS_WITHIN = 120.0
_SAVE_SEEN_WITHIN = 30.0
_GIT_ENDS_WITHIN = 20.0
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "COLUMNS", "NO_COLOR", "SYSTEMROOT", "TMPDIR", "TEMP")

_FILES = {
    "shop/basket.py": '''"""Baskets of a small shop."""

from shop.discounts import apply_discount


class Basket:
    """What a customer is about to buy; prices in cents."""

    def __init__(self) -> None:
        self.lines: list[int] = []

    def add_line(self, cents: int) -> None:
        """Put one thing into the basket."""
        self.lines.append(cents)

    def total(self, code: str = "") -> int:
        """Sum of all lines, less what a voucher takes off."""
        return apply_discount(sum(self.lines), code)
''',
    "shop/discounts.py": '''"""Vouchers and what they take off a price."""

RATES = {"WELCOME": 10, "FRIENDS": 20}


def apply_discount(cents: int, code: str) -> int:
    """Price after a voucher; an unknown code takes nothing off."""
    return cents - cents * RATES.get(code, 0) // 100
''',
    "shop/checkout.py": '''"""Checkout: from a basket to a receipt."""

from shop.basket import Basket


def receipt(basket: Basket, code: str = "") -> str:
    """Lines and total, as they are printed for a customer."""
    return f"{len(basket.lines)} things, {basket.total(code) / 100:.2f}"
''',
    "docs/vouchers.md": "# Vouchers\n\nA voucher is redeemed at the checkout. It is worth a share of the price.\n",
}
_LATER = '''

def wrap_as_gift(basket: Basket) -> None:
    """Gift wrapping costs three euros, whatever is in the basket."""
    basket.add_line(300)
'''
_MANIFEST = {
    "$schema": "https://unpkg.com/aura-protocol@1.0.5/dist/aura-v1.0.schema.json",
    "protocol": "AURA",
    "version": "1.0",
    "site": {"name": "Shop", "url": "https://shop.example"},
    "resources": {
        "basket": {
            "uriPattern": "/basket",
            "description": "The basket",
            "operations": {"POST": {"capabilityId": "add_lines"}},
        }
    },
    "capabilities": {
        "add_line": {
            "id": "add_line",
            "v": 1,
            "description": "Put one thing into the basket",
            "action": {"type": "HTTP", "method": "POST", "urlTemplate": "/basket", "parameterMapping": {}},
        }
    },
}


@dataclass(frozen=True)
class Step:
    """Step of the demo: what it shows ("" where it goes with the one before), the command, and what files get before
    it.
    """

    says: str
    command: Sequence[str]
    edits: Mapping[str, str] = field(default_factory=dict)


STEPS = (
    Step("A daemon reads the folder once; from then on it watches it.", ("index",)),
    Step("Recall is by name or by topic, best first.", ("mem", "how is a voucher redeemed", "--limit", "3")),
    Step("Callers are read from the code, not guessed.", ("mem", "who calls apply_discount", "--limit", "3")),
    Step("All that memory knows of one function:", ("explain", "apply_discount")),
    Step(
        "A function was saved just now; it is found at once.",
        ("mem", "gift wrapping", "--limit", "1"),
        {"shop/checkout.py": _LATER},
    ),
    Step(
        "A manifest (aura.json) tells agents what a site can do; it is checked as you type, or here.",
        ("manifest", "validate"),
    ),
    Step(
        "How reliably changes are delivered is tracked, from the proposal …",
        ("deliverable", "start", "gifts", "--description", "Gift wrapping", "--requirements", "1"),
    ),
    Step("… over its work and its tests …", ("deliverable", "phase", "gifts", "apply")),
    Step("", ("deliverable", "tests", "gifts", "--passed", "4", "--failed", "0")),
    Step("", ("deliverable", "conform", "gifts", "--completed", "1", "--violations", "0")),
    Step("… to its end.", ("deliverable", "complete", "gifts")),
    Step("Five metrics of all that was delivered in the last days:", ("metrics",)),
    Step("And everything at one look.", ("status",)),
)


class StepTooLong(CommandError):
    """A step of the walk did not end; a daemon that hangs is the reason there is."""

    exit_code = NO_DAEMON


@click.command()
@click.pass_obj
def demo(settings: GlobalOptions) -> int:
    """Walk through AURORA in two minutes, in a small shop of its own; nothing of yours is touched."""
    style = style_of_output(settings)
    told = []
    with _shop() as (folder, environment):
        for number, step in enumerate(STEPS, start=1):
            if number > 1 and step.says and not settings.json and not _goes_on():
                break
            if not settings.json:
                print("\n".join(_heading(number, step, style)), flush=True)
            if step.edits:
                _save(step, folder, environment)
            done = _run(step.command, folder, environment, captured=settings.json)
            told.append({"command": _typed(step), "exit": done.returncode, "output": done.stdout or ""})
    if settings.json:
        print_json({"steps": told})
    else:
        print(f'\n{style.dim("the shop and its daemon are gone again; in a folder of yours:")} aur "words"')
    return 0


def _save(step: Step, folder: Path, environment: Mapping[str, str]) -> None:
    """Append to files as an editor would, and go on once the daemon has noticed: some tenths of a second."""
    for name, text in step.edits.items():
        with (folder / name).open("a") as file:
            file.write(text)
    ends = time.monotonic() + _SAVE_SEEN_WITHIN
    while time.monotonic() < ends:
        found = _run((*step.command, "--json"), folder, environment, captured=True).stdout
        if '"results": []' not in found:
            break


def _heading(number: int, step: Step, style: TerminalStyle) -> list[str]:
    says = [f"{style.dim(f'{number}/{len(STEPS)}')} {step.says}"] if step.says else []
    return ["", *says, style.bold(f"$ {_typed(step)}")]


def _typed(step: Step) -> str:
    program = "aur" if step.command[0] == "mem" else "aurora"
    return " ".join([program, *(f'"{word}"' if " " in word else word for word in step.command)])


def _goes_on() -> bool:
    """Whether the reader wants to see more: Enter says so on a terminal; without one nobody is asked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    try:
        return input("\nEnter goes on, q ends: ").strip().lower() not in ("q", "quit")
    except EOFError:
        return False


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], *, captured: bool
) -> subprocess.CompletedProcess[str]:
    """Run a command of ours. Raises `StepTooLong`."""
    try:
        return subprocess.run(
            [sys.executable, "-P", "-m", "aurora_cli", *command],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if captured else None,
            stderr=subprocess.STDOUT if captured else None,
            text=True,
            errors="replace",
            timeout=_STEP_ENDS_WITHIN,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        typed = " ".join(("aurora", *command))
        raise StepTooLong(
            f"{typed} did not end within {_STEP_ENDS_WITHIN:.0f} seconds; run it again: aurora demo"
        ) from error


@contextmanager
def _shop() -> Iterator[tuple[Path, dict[str, str]]]:
    """The shop's folder, and an environment with a home of its own; both go, and the daemon ends."""
    base = Path(tempfile.mkdtemp(prefix="aurora-demo-")).resolve()
    folder, home = base / "shop", base / "home"
    environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    environment |= {"AURORA_HOME": str(home), "HOME": str(base), "GIT_CONFIG_GLOBAL": os.devnull}
    try:
        for name, text in (*_FILES.items(), (".well-known/aura.json", json.dumps(_MANIFEST, indent=2))):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        _commit(folder, environment)
        yield folder, environment
    finally:
        if home.exists():
            with suppress(StepTooLong):  # what hangs has been told
                _run(("daemon", "stop"), base, environment, captured=True)
        shutil.rmtree(base, ignore_errors=True)


def _commit(folder: Path, environment: Mapping[str, str]) -> None:
    """Give the shop a history of three days, where there is a git that works; the walk needs none."""
    git = shutil.which("git")
    if git is None:
        return
    who = ["-c", "user.name=Demo", "-c", "user.email=demo@shop.example", "-c", "commit.gpgsign=false"]
    try:
        _git([git, "init", "-q"], folder, environment)
        for days, name in zip((3, 2, 1), _FILES, strict=False):
            at = f"@{time.time() - days * 86_400:.0f} +0000"
            dated = {**environment, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
            for command in (["add", name], ["commit", "-q", "-m", f"{Path(name).stem}: first version"]):
                _git([git, *who, *command], folder, dated)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or b"").decode("utf-8", "replace").strip() or str(error)
        print(f"aurora: git made no history of the shop ({plain(said)}); the walk goes on without", file=sys.stderr)


def _git(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    """Run git. Raises OSError, SubprocessError."""
    subprocess.run(
        command, cwd=folder, env=dict(environment), check=True, capture_output=True, timeout=_GIT_ENDS_WITHIN,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
