"""Commands that documentation quotes exist, with the options it gives them, and README.md's do what it says."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from aurora_cli.app import aurora
from aurora_cli.global_options import GlobalOptions
from docs.generate.citations import ROOT
from tests.docs.quoted import commands, manifest, pages, repository
from tests.e2e.product import Product

NOT_RUN = {
    ("query",): "asks a model, but for --dry-run",
    ("manifest", "crawl"): "asks a site",
    ("manifest", "call"): "asks a site",
    ("manifest", "serve"): "runs until Ctrl-C",
    ("dashboard",): "runs until Ctrl-C",
    ("uninstall",): "asks first",
}


def kept_from_running(arguments: tuple[str, ...]) -> tuple[str, ...] | None:
    if "--dry-run" in arguments:
        return None
    return next((each for each in NOT_RUN if arguments[: len(each)] == each), None)


def understood(program: str, arguments: Sequence[str]) -> None:
    """Read the arguments as the program would, without doing anything. Raises ClickException."""
    command: click.Command = aurora
    context = aurora.make_context(program, list(arguments), obj=GlobalOptions())
    while isinstance(command, click.Group) and (rest := [*context._protected_args, *context.args]):
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None
        command, context = found, found.make_context(name, rest, parent=context)


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    product = Product(tmp_path / "home")
    yield product
    product.close()


@pytest.mark.parametrize("page", pages())
def test_quoted_commands_are_understood(page: str) -> None:
    for arguments in commands(page):
        try:
            understood(arguments[0], arguments[1:])
        except click.ClickException as error:
            pytest.fail(f"{page}: {' '.join(arguments)}: {error.format_message()}")


@pytest.mark.timeout(300)
@pytest.mark.long
def test_commands_of_the_readme_run(tmp_path: Path, product: Product) -> None:
    root = tmp_path / "some-project"
    repository(root)
    subprocess.run(["git", "init", "-q", root], check=True)
    kept: set[tuple[str, ...] | None] = set()
    run = 0
    for _, *arguments in commands("README.md"):
        why_not = kept_from_running(tuple(arguments))
        kept.add(why_not)
        if why_not is None:
            done = product.aurora(*arguments, cwd=root)
            assert done.returncode == 0, f"{' '.join(arguments)}: {done.stdout}{done.stderr}"
            assert "Traceback" not in done.stderr
            run += 1
    assert run >= 15
    assert kept - {None} == set(NOT_RUN), "what is kept from running is not quoted any more"


def test_the_tutorials_findings_are_those_of_its_manifest(tmp_path: Path, product: Product) -> None:
    (tmp_path / ".well-known").mkdir()
    (tmp_path / ".well-known/aura.json").write_text(manifest(), encoding="utf-8")
    tutorial = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    for arguments in (("--concise",), ("--fix",)):
        done = product.aurora("--workspace", tmp_path, "manifest", "validate", *arguments, cwd=tmp_path)
        assert f"$ aurora manifest validate {arguments[0]}\n{done.stdout}" in tutorial, done.stdout
